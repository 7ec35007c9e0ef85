// SPDX-License-Identifier: Apache-2.0
/** @file priv.h  What the core's files share. */
#ifndef BDY_CORE_PRIV_H
#define BDY_CORE_PRIV_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bdy_regs.h"
#include "core.h"
#include "mtt.h"
#include "os.h"
#include "verbs_abi.h"

/** What the hardware does not do yet is not offered: query_device says so and the calls refuse. */
enum feature {
    FEATURE_UC = 1,
    FEATURE_UD = 2,
    FEATURE_SRQ = 4,
    FEATURE_XRC = 8,
    FEATURE_ATOMIC = 16,
    FEATURE_SEND_INV = 32,
    FEATURE_INLINE = 64,
    FEATURE_RESIZE = 128,
    FEATURE_NULL_MR = 256
};
#ifndef CORE_FEATURES
#define CORE_FEATURES ((unsigned)FEATURE_INLINE)
#endif

#define CORE_EQS (1u << BDY_LOG_EQS)
#define CORE_EQ_LOG 12u
#define CORE_CMD_LOG 4u
#define CORE_MAX_WR 4096u
#define CORE_MAX_CQE 65535u
#define CORE_MAX_INLINE (CORE_FEATURES & FEATURE_INLINE ? 256u : 0u)
#define CORE_GIDS 3u
#define CORE_CMD_CYCLES UINT64_C(20000000)

enum obj_kind {
    OBJ_PD = 1,
    OBJ_MR,
    OBJ_MW,
    OBJ_CHANNEL,
    OBJ_CQ,
    OBJ_QP,
    OBJ_SRQ,
    OBJ_AH,
    OBJ_XRCD,
    OBJ_KINDS
};

/** Head of every object that a context owns. */
struct obj {
    enum obj_kind kind;
    uint32_t handle;
    struct bdy_uctx *uctx;
    struct obj *prev, *next; /**< the context's objects, in order of creation */
};

struct pd {
    struct obj obj;
    uint32_t number;
};

/** What a region is registered as. */
struct mr_as {
    uint64_t va, bytes, iova;
    uint32_t pd; /**< number */
    uint32_t access;
    bool mapped; /**< an empty region and the null region have no mapping */
    bool null;
    struct bdy_dma_map map;
};

struct mr {
    struct obj obj;
    uint32_t key;
    bool unsure; /**< the device may have lost it in a failed re-registration */
    struct mr_as as;
};

struct mw {
    struct obj obj;
    uint32_t key; /**< the first one; names the window by slot and nonce for good */
};

struct channel {
    struct obj obj;
    uint32_t cqs;
};

struct cq {
    struct obj obj;
    uint32_t number;
    uint64_t user_handle;
    struct channel *channel; /**< or NULL */
    uint32_t vector;
    struct bdy_dma_buf ring, dbr;
    struct bdy_dma_buf old; /**< ring before the last resize: its entries may still be read (C2) */
};

/** An XRC domain, known by the file of the descriptor that it was opened with (H18). */
struct domain {
    uint32_t number, handles;
    uint64_t dev, ino;
    bool has_file;
    struct domain *next;
};

struct xrcd {
    struct obj obj;
    struct domain *domain;
    uint32_t users; /**< queue pairs and shared receive queues of this handle (N2) */
};

struct srq {
    struct obj obj;
    uint32_t number;
    uint64_t user_handle;
    struct xrcd *xrcd; /**< or NULL */
    uint32_t max_wr, max_sge;
    struct bdy_dma_buf ring;
};

struct ah {
    struct obj obj;
    uint32_t number;
};

/** One owner's end of a queue pair. XRC_RECV ones may have several, chained at core->qp[]. */
struct qp {
    struct obj obj;
    struct qp *owner_next;
    struct xrcd *xrcd; /**< XRC_RECV */
    uint32_t number;
    uint64_t user_handle;
    uint32_t type, sig_all;
    struct bdy_u_create_qp_out cap;
    struct bdy_dma_buf sq, rq;
};

struct eq {
    bool made;
    uint32_t number, ci;
    struct bdy_dma_buf ring;
};

/** Handles of all contexts: {12 bits of use count, 20 bits of index + 1}; a freed or foreign one
 * does not match. */
struct handle_slot {
    struct obj *obj;
    uint32_t uses;
    uint32_t next_free; /**< index, or HANDLE_NONE */
};
#define HANDLE_NONE UINT32_MAX

struct handles {
    struct handle_slot *slots;
    uint32_t count, free_head, free_tail;
};

struct limits {
    uint32_t quota[OBJ_KINDS]; /**< most objects of a kind that one context may have (H23) */
    uint32_t uars;
    uint64_t max_mr_size;
    uint64_t fw_ver;
    uint32_t hw_rev;
};

struct bdy_uctx {
    struct bdy_core *core;
    struct bdy_aspace *as;
    bdy_core_event_fn event;
    void *arg;
    uint32_t uar;
    struct obj *first, *last;
    uint32_t count[OBJ_KINDS]; /**< objects by kind */
};

struct bdy_core {
    struct bdy_pci *pci;
    struct bdy_core_cfg cfg;
    struct bdy_os_lock lock;
    struct limits limits;
    uint8_t gid[CORE_GIDS][16];
    bool dead, initialised;
    uint32_t irqs; /**< vectors with a handler */

    struct bdy_dma_buf cmdq, in_mbox, out_mbox;
    uint32_t cmd_pi;
    uint16_t token;
    bool cmd_done; /**< CMD_DONE with `token` has come */

    uint32_t neqs; /**< [0] commands and asynchronous events, [1]… completions */
    struct eq eq[CORE_EQS];

    struct handles handles;
    struct bdy_uctx *uctx[BDY_UAR_COUNT];
    uint32_t next_uar;
    struct cq *cq[1u << BDY_LOG_CQS];
    struct qp *qp[1u << BDY_LOG_QPS];
    struct srq *srq[1u << BDY_LOG_SRQS];
    struct domain *domains;
};

/** One command for firmware. Mailboxes are core->in_mbox and core->out_mbox. */
struct cmd {
    enum bdy_cmd_op op;
    uint32_t uctx, in_len, out_len;
    uint64_t in0, in1;
    uint64_t out0, out1;
    enum bdy_cmd_st status;
};

/* device.c */
int core_bar_read(struct bdy_core *core, uint32_t offset, uint64_t *value);
int core_bar_write(struct bdy_core *core, uint32_t offset, uint64_t value);
/** The device has failed: say why, tell every context once. */
void core_die(struct bdy_core *core, const char *why);

/* cmd.c */
int cmd_setup(struct bdy_core *core);
void cmd_free(struct bdy_core *core);
/** Run a command and wait for its end. 0, or the errno of its status; -EIO when the device has
 * failed. */
int cmd_run(struct bdy_core *core, struct cmd *cmd);
/** A command without mailboxes. */
int cmd_simple(struct bdy_core *core, enum bdy_cmd_op op, uint32_t uctx, uint64_t in0);
static inline uint64_t *cmd_in(struct bdy_core *core)
{
    return core->in_mbox.cpu;
}
static inline const uint64_t *cmd_out(struct bdy_core *core)
{
    return core->out_mbox.cpu;
}

/* eq.c */
int eq_setup(struct bdy_core *core);
void eq_stop(struct bdy_core *core); /**< the device's part of the end */
void eq_free(struct bdy_core *core); /**< the host's part */
void eq_poll(struct bdy_core *core, struct eq *eq);
void eq_poll_all(struct bdy_core *core);
int eq_irqs(struct bdy_core *core);
void eq_irqs_off(struct bdy_core *core);
void event_to(struct bdy_uctx *uctx, uint64_t user_handle, uint32_t type, uint32_t channel);

/* object.c */
/** Enter `obj` (zeroed but for its body) as one of `uctx`; -ENOMEM, also when its quota is used up.
 */
int obj_add(struct bdy_uctx *uctx, struct obj *obj, enum obj_kind kind);
/** Take it off its context and free its handle; the memory stays the caller's. */
void obj_remove(struct obj *obj);
/** The context's object of that kind, or NULL. */
void *obj_find(struct bdy_uctx *uctx, uint32_t handle, enum obj_kind kind);
void handles_free(struct handles *handles);

/* The calls, one file an object. */
int u_query_device(struct bdy_uctx *uctx, struct bdy_u_device_attr *out);
int u_query_port(struct bdy_uctx *uctx, struct bdy_u_port_attr *out);
int u_query_clock(struct bdy_uctx *uctx, struct bdy_u_clock *out);
int u_alloc_pd(struct bdy_uctx *uctx, struct bdy_u_handle *out);
int u_dealloc_pd(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_reg_mr(struct bdy_uctx *uctx, const struct bdy_u_reg_mr_in *in, struct bdy_u_key_out *out);
int u_rereg_mr(struct bdy_uctx *uctx, const struct bdy_u_rereg_mr_in *in,
               struct bdy_u_key_out *out);
int u_alloc_null_mr(struct bdy_uctx *uctx, const struct bdy_u_handle *in,
                    struct bdy_u_key_out *out);
int u_dereg_mr(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_alloc_mw(struct bdy_uctx *uctx, const struct bdy_u_alloc_mw_in *in,
               struct bdy_u_key_out *out);
int u_dealloc_mw(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_query_mw(struct bdy_uctx *uctx, const struct bdy_u_handle *in, struct bdy_u_key_out *out);
int u_create_channel(struct bdy_uctx *uctx, struct bdy_u_handle *out);
int u_destroy_channel(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_create_cq(struct bdy_uctx *uctx, const struct bdy_u_create_cq_in *in,
                struct bdy_u_create_cq_out *out, struct bdy_dma_buf *rings[2]);
int u_destroy_cq(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_resize_cq(struct bdy_uctx *uctx, const struct bdy_u_resize_cq_in *in,
                struct bdy_u_create_cq_out *out, struct bdy_dma_buf *rings[2]);
int u_create_srq(struct bdy_uctx *uctx, const struct bdy_u_create_srq_in *in,
                 struct bdy_u_create_srq_out *out, struct bdy_dma_buf *rings[2]);
int u_modify_srq(struct bdy_uctx *uctx, const struct bdy_u_srq_attr *in);
int u_query_srq(struct bdy_uctx *uctx, const struct bdy_u_handle *in, struct bdy_u_srq_attr *out);
int u_destroy_srq(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_create_ah(struct bdy_uctx *uctx, const struct bdy_u_create_ah_in *in,
                struct bdy_u_create_ah_out *out);
int u_destroy_ah(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_open_xrcd(struct bdy_uctx *uctx, const struct bdy_u_open_xrcd_in *in,
                struct bdy_u_handle *out);
int u_close_xrcd(struct bdy_uctx *uctx, const struct bdy_u_handle *in);
int u_open_qp(struct bdy_uctx *uctx, const struct bdy_u_open_qp_in *in,
              struct bdy_u_create_qp_out *out);
int u_create_qp(struct bdy_uctx *uctx, const struct bdy_u_create_qp_in *in,
                struct bdy_u_create_qp_out *out, struct bdy_dma_buf *rings[2]);
int u_modify_qp(struct bdy_uctx *uctx, const struct bdy_u_modify_qp_in *in);
int u_query_qp(struct bdy_uctx *uctx, const struct bdy_u_handle *in, struct bdy_u_qp_attr *out);
int u_destroy_qp(struct bdy_uctx *uctx, const struct bdy_u_handle *in);

/* What a destroy does once its object is found, also used when a context dies: the device's part,
 * then the host's. With `force` the host's part is done whatever the device says. */
int pd_destroy(struct pd *pd, bool force);
int mr_destroy(struct mr *mr, bool force);
int mw_destroy(struct mw *mw, bool force);
int channel_destroy(struct channel *channel, bool force);
int cq_destroy(struct cq *cq, bool force);
int qp_destroy(struct qp *qp, bool force);
/** User context that a command about the queue pair is from: 0, the driver, where it has several
 * owners. */
uint32_t qp_asker(const struct qp *qp);
int srq_destroy(struct srq *srq, bool force);
int ah_destroy(struct ah *ah, bool force);
int xrcd_destroy(struct xrcd *xrcd, bool force);

/** A source GID index that has a GID. */
bool gid_in_use(const struct bdy_core *core, unsigned index);

/** Smallest n with 2^n >= value. */
static inline uint32_t log2_ceil(uint32_t value)
{
    return value <= 1u ? 0 : 32u - (uint32_t)__builtin_clz(value - 1u);
}

static inline uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/** log2 of a receive WQE's stride in units of 64 bytes, and the SGEs that such a stride holds. */
static inline uint32_t recv_log_stride(uint32_t sges)
{
    return log2_ceil((BDY_RQ_SGE_OFFSET + BDY_SGE_BYTES * sges + 63u) / 64u);
}
static inline uint32_t recv_sges(uint32_t log_stride)
{
    return least(((64u << log_stride) - BDY_RQ_SGE_OFFSET) / BDY_SGE_BYTES, BDY_MAX_SGE);
}

#endif
