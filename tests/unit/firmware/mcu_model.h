// SPDX-License-Identifier: Apache-2.0
/**
 * @file mcu_model.h  The embedded core's peripherals and a small bind pipeline, for firmware
 * compiled for the host.
 *
 * The model is strict: a use that the register page does not allow is counted in `faults` and told
 * on stderr, so that a test that ends with faults == 0 has also checked how firmware handles its
 * hardware.
 */
#ifndef MCU_MODEL_H
#define MCU_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "fw.h"

enum mcu_engine { MCU_DMA, MCU_OP, MCU_RD, MCU_EVT, MCU_ENGINES };

struct mcu_model {
    struct fw fw;
    uint32_t key_store[FW_KEYS]; /**< starts as garbage: firmware may not count on zeros there */

    /** Host memory: 0, or anything else for a bus error. */
    int (*memory)(void *arg, uint64_t bus, void *data, uint32_t bytes, bool write);
    /** An event for queue `eqn`; `word0` is the entry's first word. */
    void (*event)(void *arg, uint32_t eqn, uint64_t word0);
    void *arg;

    uint64_t cmdq_base;
    uint32_t cmdq_log;
    uint16_t pi;
    uint32_t cap, cap2; /**< CAP, CAP2 registers */

    uint32_t ci, dev_state, health, strict, async_eqn, viol_limit, event_mask;
    uint32_t dma[4]; /**< LO HI BUF LEN */
    uint32_t op_word[32], rd_word[16], evt_word[2];
    uint32_t buf[3072];
    uint32_t op_stat, op_res, dma_stat, rd_stat;

    unsigned lag; /**< sleeps before an engine ends; 0: at once */
    unsigned left[MCU_ENGINES];
    bool busy[MCU_ENGINES], ended[MCU_ENGINES];

    uint64_t mpt[FW_KEYS][8];
    uint32_t bound[FW_KEYS]; /**< windows bound to the region */
    uint64_t mtt[FW_MTTS][2];
    uint64_t qp[FW_QPS][16];
    uint32_t qp_gen[FW_QPS];
    uint64_t cq[FW_CQS][8], eq[FW_EQS][8], srq[FW_SRQS][8], ah[FW_AHS][8];
    uint32_t qp_viol[FW_QPS], pd_viol[FW_PDS];
    bool pd_alive[FW_PDS];

    uint64_t (*ops)[BDY_PROT_OP_WORDS]; /**< every operation, in order */
    uint32_t nops, room;

    unsigned
        refuse_after; /**< the n-th operation from now is refused with `refuse_rule`; 0: none */
    uint32_t refuse_rule;
    unsigned dma_fail_after, rd_fail_after; /**< likewise; a bus error, a failed table read */

    unsigned faults;
};

struct mcu_model *mcu_model_new(void);
void mcu_model_free(struct mcu_model *m);
/** What CTRL.reset does: everything but the host's hooks starts again, firmware on a dirty RAM. */
void mcu_model_reset(struct mcu_model *m);

/** What the data path does on a bind of window `key` to region `mr_key`: the window's new key. */
uint32_t mcu_model_bind(struct mcu_model *m, uint32_t key, uint32_t mr_key);
/** The data path moves the queue pair to `st` on its own account. */
void mcu_model_qp_state(struct mcu_model *m, uint32_t qpn, enum bdy_qp_st st);

static inline enum bdy_prot_op mcu_model_op(const struct mcu_model *m, uint32_t i)
{
    return (enum bdy_prot_op)bdy_prot_op_get_op(m->ops[i]);
}

#ifdef __cplusplus
}
#endif
#endif
