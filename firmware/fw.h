// SPDX-License-Identifier: Apache-2.0
/**
 * @file fw.h  Firmware's state and the functions that its files share.
 *
 * Firmware owns the life-cycle rules: which objects exist, who owns them, what still refers to
 * them. It changes tables and contexts only by operations of the bind pipeline (H2), and trusts
 * neither the driver nor the mailbox.
 */
#ifndef FW_H
#define FW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bdy_regs.h"
#include "mmio.h"

#define FW_VERSION_MAJOR 0u
#define FW_VERSION_MINOR 1u
#define FW_VERSION_PATCH 0u

#define FW_KEYS (1u << BDY_LOG_KEYS)
#define FW_MTTS (1u << BDY_LOG_MTT)
#define FW_QPS (1u << BDY_LOG_QPS)
#define FW_CQS (1u << BDY_LOG_CQS)
#define FW_EQS (1u << BDY_LOG_EQS)
#define FW_SRQS (1u << BDY_LOG_SRQS)
#define FW_AHS (1u << BDY_LOG_AHS)
#define FW_PDS 1024u
#define FW_GIDS 3u
#define FW_PORTS 1u
#define FW_BUILDS 8u
#define FW_FEISTEL_ROUNDS 6u
#define FW_FEISTEL_BITS 7u
#define FW_NONE 0xffffffffu

/** Places in the DMA buffer. */
#define FW_BUF_ENTRY 0u
#define FW_BUF_IN 4096u
#define FW_BUF_OUT 8192u

#define FW_MR_RIGHTS                                                                               \
    (BDY_ACCESS_BIT_LOCAL_WRITE | BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_READ |       \
     BDY_ACCESS_BIT_REMOTE_ATOMIC | BDY_ACCESS_BIT_MW_BIND)

/** A region whose pages are still being written: it grants nothing. */
struct fw_build {
    uint32_t root;    /**< first MTT entry */
    uint32_t npages;  /**< 0: this slot is unused */
    uint32_t written; /**< pages so far, in order */
    uint16_t slot;
};

struct fw_pd {
    uint16_t
        refs; /**< regions, windows, queue pairs, shared receive queues, address handles (N2) */
    uint8_t owner;
    uint8_t st; /**< enum fw_pd_st */
};

enum fw_pd_st { FW_PD_UNUSED = 0, FW_PD_ALIVE = 1, FW_PD_DEAD = 2 };

struct fw_cq {
    uint64_t dbr;  /**< consumer index record */
    uint16_t refs; /**< queue pair ends (one QP counts twice when both its ends are here) and
                      shared receive queues (N2) */
    uint8_t owner;
    uint8_t uar;
    uint8_t eqn;
    bool used;
};

enum fw_qp_st { FW_QP_UNUSED = 0, FW_QP_USED = 1, FW_QP_RETIRED = 2 };

struct fw_qp {
    uint8_t owner;
    uint8_t st; /**< enum fw_qp_st */
};

struct fw_srq {
    uint16_t refs; /**< queue pairs (N2) */
    uint16_t pd, cqn;
    uint16_t xrcd; /**< 0: not of an XRC domain */
    uint8_t owner;
    uint8_t log_size;
    bool used;
};

struct fw_ah {
    uint16_t pd;
    uint8_t owner;
    bool used;
};

/** The driver's: which contexts may name a domain is the driver's to know (H18). */
struct fw_xrcd {
    uint16_t refs; /**< shared receive queues and XRC_RECV queue pairs (N2) */
    bool used;
};

struct fw_eq {
    uint16_t refs; /**< completion queues */
    bool used;
};

struct fw {
    void *hw; /**< host tests: the peripheral model */

    uint16_t ci;  /**< command consumer index */
    bool dead;    /**< HEALTH was written; nothing is served any more */
    bool running; /**< between INIT_HCA and TEARDOWN_HCA */
    bool strict;  /**< strict IBTA mode */
    uint8_t async_eqn;
    bool op_body; /**< the operation image's second half is not all zero */

    uint32_t log_keys, log_mtt, nqps, ncqs;
    uint32_t nsrqs, nahs; /**< 0: the build has none */

    uint32_t round_keys[27]; /**< of the seeded generator */
    uint32_t
        feistel_made[FW_FEISTEL_ROUNDS]; /**< bit set: these eight bytes of the row are there */
    uint8_t feistel[FW_FEISTEL_ROUNDS][1u << FW_FEISTEL_BITS];
    uint64_t key_bytes; /**< first key bytes yet to be given out */
    uint32_t fresh;     /**< next number of the permutation; slots that were never used */
    uint32_t free_head, free_tail;
    uint32_t keys_made;
    uint32_t keys_used;
    uint32_t objects;  /**< PDs, queues, address handles and XRC domains that exist */
    uint32_t mtt_hint; /**< no free entry lies in a word below this one */
    uint32_t next_qp, next_cq, next_pd, next_srq, next_ah, next_xrcd;

    struct fw_build build[FW_BUILDS];
    struct fw_eq eq[FW_EQS];
    struct fw_qp qp[FW_QPS];
    struct fw_cq cq[FW_CQS];
    struct fw_pd pd[FW_PDS];
    struct fw_srq srq[FW_SRQS];
    struct fw_ah ah[FW_AHS];
    struct fw_xrcd xrcd[BDY_XRCD_COUNT];
    uint32_t mtt[FW_MTTS / 32];   /**< bit set: entry in use */
    uint32_t known[FW_KEYS / 32]; /**< bit set: key[slot] has been written since the start */
    uint32_t *key;                /**< FW_KEYS words of anything, see keys.c */
};

/** One command while it is served. */
struct fw_cmd {
    uint64_t entry[BDY_CMD_ENTRY_WORDS];
    uint32_t in_len, out_len;
    uint8_t uctx;
    uint64_t in0, in1;
    uint64_t out0, out1;
};

typedef enum bdy_cmd_st (*fw_handler)(struct fw *fw, struct fw_cmd *cmd);

/* loop.c */
/** `fw` is all zero but for `hw`; `key` is room for FW_KEYS words that need not be zero. */
void fw_init(struct fw *fw, uint32_t *key);
void fw_step(struct fw *fw); /**< serve every command that waits, then return */
void fw_idle(struct fw *fw); /**< sleep until a command comes */
void fw_fatal(struct fw *fw, enum bdy_health health);
/** Whether the asking user context may name an object of `owner`; context 0 is the driver and may
 * name any. */
bool fw_may_name(const struct fw_cmd *cmd, uint8_t owner);

/* hw.c: each waits for the end of what it starts. */
bool fw_dma_read(struct fw *fw, uint64_t bus, uint32_t buf, uint32_t bytes);
bool fw_dma_write(struct fw *fw, uint64_t bus, uint32_t buf, uint32_t bytes);
void fw_buf_get(struct fw *fw, uint32_t buf, uint64_t *words, uint32_t nwords);
void fw_buf_put(struct fw *fw, uint32_t buf, const uint64_t *words, uint32_t nwords);
/** RD_CTRL.what */
enum fw_read {
    FW_READ_MPT = 0,
    FW_READ_QP_CTX0 = 2,
    FW_READ_QP_CTX1 = 3,
    FW_READ_QP_VIOL = 6,
    FW_READ_PD_VIOL = 7,
    FW_READ_SRQ = 8
};
bool fw_table_read(struct fw *fw, enum fw_read what, uint32_t index, uint64_t words[8]);
void fw_event(struct fw *fw, uint32_t eqn, uint32_t kind, uint32_t number, uint32_t data);
/** Post `op` (BDY_PROT_OP_WORDS words; body ignored without `with_body`). Returns the rule that
 * refused, or NONE. */
enum bdy_rule fw_op(struct fw *fw, const uint64_t *op, bool with_body, uint32_t *result);
/** The short forms of fw_op. */
enum bdy_rule fw_op_key(struct fw *fw, enum bdy_prot_op kind, uint32_t key, const uint64_t *entry);
enum bdy_rule fw_op_pd(struct fw *fw, enum bdy_prot_op kind, uint32_t pd);
enum bdy_rule fw_op_qp(struct fw *fw, enum bdy_prot_op kind, uint32_t slot, uint32_t *result);
enum bdy_rule fw_op_ctx(struct fw *fw, enum bdy_ctx_kind kind, uint32_t index, uint32_t half,
                        const uint64_t *ctx);
/** `count` translation entries from MTT index `first`, page addresses from `buf` of the DMA buffer.
 */
enum bdy_rule fw_op_mtt(struct fw *fw, uint32_t key, uint32_t first, uint32_t buf, uint32_t count);
/** A refusal becomes status REFUSED with the rule in inline_out1. */
enum bdy_cmd_st fw_refused(struct fw_cmd *cmd, enum bdy_rule rule);

/* keys.c (H10) */
void fw_keys_init(struct fw *fw, uint64_t seed_lo, uint64_t seed_hi);
uint32_t fw_permute(struct fw *fw, uint32_t width, uint32_t value);
/** Take a slot: its key, or FW_NONE when all are used. */
uint32_t fw_key_alloc(struct fw *fw, enum bdy_mpt_kind kind, uint32_t pd);
void fw_key_free(struct fw *fw, uint32_t slot);
enum bdy_mpt_kind fw_key_kind(const struct fw *fw, uint32_t slot);
/** An object in a PD is its owner's. */
uint8_t fw_key_owner(const struct fw *fw, uint32_t slot);
uint32_t fw_key_pd(const struct fw *fw, uint32_t slot);
/** The key that the slot was given at its allocation (a window's low byte moves on with binds). */
uint32_t fw_key_first(const struct fw *fw, uint32_t slot);
/** The slot's object gets another low byte and PD; the PDs' counts move along. */
void fw_key_move(struct fw *fw, uint32_t slot, uint32_t key, uint32_t pd);
static inline uint32_t fw_key_slot(uint32_t key)
{
    return key >> 12;
}

/* mtt.c */
uint32_t fw_mtt_alloc(struct fw *fw, uint32_t count); /**< first index, or FW_NONE */
void fw_mtt_free(struct fw *fw, uint32_t first, uint32_t count);

/* pd.c */
/** A PD that the command may use for a new object, or why not. */
enum bdy_cmd_st fw_pd_check(struct fw *fw, const struct fw_cmd *cmd, uint64_t number);

/* cq.c */
enum bdy_cmd_st fw_cq_check(const struct fw *fw, const struct fw_cmd *cmd, uint64_t cqn);
/** A ring in host memory: page aligned, not at 0, not beyond 2^64. */
bool fw_ring_ok(uint64_t base, uint64_t bytes);
bool fw_uar_ok(const struct fw_cmd *cmd, uint64_t uar);

/* srq.c, xrcd.c */
enum bdy_cmd_st fw_srq_check(const struct fw *fw, const struct fw_cmd *cmd, uint64_t srqn);
enum bdy_cmd_st fw_xrcd_check(const struct fw *fw, uint64_t number);

static inline void fw_count(uint16_t *refs, int by)
{
    *refs = (uint16_t)(*refs + by);
}

/* hca.c: nothing is left that TEARDOWN_HCA would have to wait for. */
bool fw_objects_gone(const struct fw *fw);

/* Handlers, one file a family. */
enum bdy_cmd_st fw_nop(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_query_hca(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_init_hca(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_teardown_hca(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_alloc_pd(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_dealloc_pd(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_pd_kill(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_flush_pd(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_query_pd(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_alloc_xrcd(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_dealloc_xrcd(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_create_mr(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_write_mtt(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_open_mr(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_rereg_mr(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_destroy_mr(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_alloc_mw(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_dealloc_mw(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_query_mw(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_create_cq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_destroy_cq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_resize_cq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_create_eq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_destroy_eq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_create_qp(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_modify_qp(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_query_qp(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_destroy_qp(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_query_viol(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_create_srq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_modify_srq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_query_srq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_destroy_srq(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_create_ah(struct fw *fw, struct fw_cmd *cmd);
enum bdy_cmd_st fw_destroy_ah(struct fw *fw, struct fw_cmd *cmd);

#endif
