// SPDX-License-Identifier: Apache-2.0
#include "mcu_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fault(struct mcu_model *m, const char *what, uint32_t value)
{
    m->faults++;
    fprintf(stderr, "mcu_model: %s (0x%x)\n", what, value);
}

/* ------------------------------------------------------------------ bind pipeline */

static uint32_t slot_of(uint64_t key)
{
    return (uint32_t)(key >> 12) % FW_KEYS;
}

static bool same_key(const uint64_t *e, uint64_t key, bool with_byte)
{
    return bdy_mpt_entry_get_nonce(e) == (key >> 8 & 15u) &&
           (!with_byte || bdy_mpt_entry_get_key(e) == (key & 255u));
}

/** What the pipeline wants of a region's image. */
static bool image_ok(const uint64_t *b)
{
    uint64_t len = bdy_mpt_entry_get_len(b), at = bdy_mpt_entry_get_base(b);
    uint64_t off = bdy_mpt_entry_get_list_off(b), pages = bdy_mpt_entry_get_npages(b);
    uint64_t log_ps = bdy_mpt_entry_get_log_ps(b);
    if (bdy_mpt_entry_get_qpn(b) || bdy_mpt_entry_get_mr_slot(b) || bdy_mpt_entry_get_mr_nonce(b) ||
        bdy_mpt_entry_get_qp_gen(b) || bdy_mpt_entry_get_rights(b) > 0x1f ||
        (bdy_mpt_entry_get_zero_based(b) && bdy_mpt_entry_get_start(b))) {
        return false;
    }
    if (bdy_mpt_entry_get_direct(b)) {
        return pages == 0 && at <= UINT64_MAX - off &&
               (len == 0 || at + off <= UINT64_MAX - (len - 1u));
    }
    return log_ps >= 12 && log_ps <= 30 && at + pages <= FW_MTTS && off <= UINT64_MAX - len &&
           off + len <= pages << log_ps;
}

static enum bdy_rule mr_open(struct mcu_model *m, const uint64_t *op)
{
    uint64_t key = bdy_prot_op_get_key(op);
    uint64_t *e = m->mpt[slot_of(key)];
    const uint64_t *body = op + 8;
    bool reopen = bdy_mpt_entry_get_kind(e) == BDY_MPT_KIND_MR &&
                  bdy_mpt_entry_get_st(e) == BDY_MPT_ST_FREE && same_key(e, key, true) &&
                  bdy_mpt_entry_get_st(body) == BDY_MPT_ST_VALID;
    if ((bdy_mpt_entry_get_kind(e) != BDY_MPT_KIND_NONE && !reopen) ||
        bdy_mpt_entry_get_kind(body) != BDY_MPT_KIND_MR || !same_key(body, key, true) ||
        !bdy_mpt_entry_rsvd_zero(body) || !image_ok(body)) {
        return BDY_RULE_N1;
    }
    if (!m->pd_alive[bdy_mpt_entry_get_pd(body) % FW_PDS]) {
        return BDY_RULE_H5;
    }
    memcpy(e, body, sizeof m->mpt[0]);
    return BDY_RULE_NONE;
}

static enum bdy_rule mr_close(struct mcu_model *m, const uint64_t *op)
{
    uint64_t key = bdy_prot_op_get_key(op);
    uint64_t *e = m->mpt[slot_of(key)];
    if (bdy_mpt_entry_get_kind(e) != BDY_MPT_KIND_MR || !same_key(e, key, true)) {
        return BDY_RULE_N1;
    }
    if (m->bound[slot_of(key)] > 0) {
        return BDY_RULE_L3;
    }
    memset(e, 0, sizeof m->mpt[0]);
    return BDY_RULE_NONE;
}

static enum bdy_rule mr_replace(struct mcu_model *m, const uint64_t *op)
{
    uint64_t key = bdy_prot_op_get_key(op);
    uint64_t *e = m->mpt[slot_of(key)];
    const uint64_t *body = op + 8;
    if (bdy_mpt_entry_get_kind(e) != BDY_MPT_KIND_MR || !same_key(e, key, true) ||
        bdy_mpt_entry_get_st(e) != BDY_MPT_ST_VALID ||
        bdy_mpt_entry_get_st(body) != BDY_MPT_ST_VALID ||
        bdy_mpt_entry_get_kind(body) != BDY_MPT_KIND_MR || !same_key(body, key, false) ||
        !bdy_mpt_entry_rsvd_zero(body) || !image_ok(body)) {
        return BDY_RULE_N1;
    }
    if (m->bound[slot_of(key)] > 0) {
        return BDY_RULE_L3;
    }
    if (!m->pd_alive[bdy_mpt_entry_get_pd(body) % FW_PDS]) {
        return BDY_RULE_H5;
    }
    memcpy(e, body, sizeof m->mpt[0]);
    return BDY_RULE_NONE;
}

static enum bdy_rule mw_alloc(struct mcu_model *m, const uint64_t *op)
{
    uint64_t key = bdy_prot_op_get_key(op);
    uint64_t *e = m->mpt[slot_of(key)];
    const uint64_t *body = op + 8;
    if (bdy_mpt_entry_get_kind(e) != BDY_MPT_KIND_NONE || !same_key(body, key, true) ||
        bdy_mpt_entry_get_kind(body) < BDY_MPT_KIND_MW1 || !bdy_mpt_entry_rsvd_zero(body) ||
        bdy_mpt_entry_get_st(body) != BDY_MPT_ST_FREE) {
        return BDY_RULE_N1;
    }
    memcpy(e, body, sizeof m->mpt[0]);
    m->op_res = (uint32_t)key;
    return BDY_RULE_NONE;
}

static enum bdy_rule mw_free(struct mcu_model *m, const uint64_t *op)
{
    uint64_t key = bdy_prot_op_get_key(op);
    uint64_t *e = m->mpt[slot_of(key)];
    if (bdy_mpt_entry_get_kind(e) < BDY_MPT_KIND_MW1 || !same_key(e, key, false)) {
        return BDY_RULE_L2;
    }
    if (bdy_mpt_entry_get_st(e) == BDY_MPT_ST_VALID) {
        m->bound[bdy_mpt_entry_get_mr_slot(e) % FW_KEYS]--;
    }
    memset(e, 0, sizeof m->mpt[0]);
    return BDY_RULE_NONE;
}

static enum bdy_rule mtt_write(struct mcu_model *m, const uint64_t *op)
{
    uint64_t key = bdy_prot_op_get_key(op), index = bdy_prot_op_get_index(op);
    const uint64_t *e = m->mpt[slot_of(key)];
    if (bdy_mpt_entry_get_kind(e) != BDY_MPT_KIND_MR || !same_key(e, key, true) ||
        bdy_mpt_entry_get_st(e) != BDY_MPT_ST_FREE) {
        return BDY_RULE_H2;
    }
    if ((bdy_mtt_entry_get_addr(op + 8) & ((UINT64_C(1) << bdy_mpt_entry_get_log_ps(e)) - 1u)) !=
            0 ||
        index < bdy_mpt_entry_get_base(e) ||
        index - bdy_mpt_entry_get_base(e) >= bdy_mpt_entry_get_npages(e) ||
        bdy_mtt_entry_get_owner(op + 8) != slot_of(key) ||
        bdy_mtt_entry_get_nonce(op + 8) != (key >> 8 & 15u) || !bdy_mtt_entry_get_valid(op + 8)) {
        return BDY_RULE_N1;
    }
    memcpy(m->mtt[index], op + 8, sizeof m->mtt[0]);
    return BDY_RULE_NONE;
}

static bool transition_ok(uint64_t from, uint64_t to)
{
    static const uint8_t legal[][2] = {
        {BDY_QP_ST_RESET, BDY_QP_ST_INIT}, {BDY_QP_ST_INIT, BDY_QP_ST_RTR},
        {BDY_QP_ST_RTR, BDY_QP_ST_RTS},    {BDY_QP_ST_RTS, BDY_QP_ST_SQD},
        {BDY_QP_ST_SQD, BDY_QP_ST_RTS},    {BDY_QP_ST_SQE, BDY_QP_ST_RTS},
    };
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
        if (legal[i][0] == from && legal[i][1] == to) {
            return true;
        }
    }
    return from == to || to == BDY_QP_ST_RESET || to == BDY_QP_ST_ERR;
}

static enum bdy_rule ctx_write(struct mcu_model *m, const uint64_t *op)
{
    uint64_t index = bdy_prot_op_get_index(op);
    uint64_t kind = bdy_prot_op_get_ctx_kind(op), half = bdy_prot_op_get_half(op);
    if (kind == BDY_CTX_KIND_CQ && index < FW_CQS) {
        memcpy(m->cq[index], op + 8, sizeof m->cq[0]);
    } else if (kind == BDY_CTX_KIND_EQ && index < FW_EQS) {
        memcpy(m->eq[index], op + 8, sizeof m->eq[0]);
    } else if (kind == BDY_CTX_KIND_SRQ && index < FW_SRQS) {
        memcpy(m->srq[index], op + 8, sizeof m->srq[0]);
    } else if (kind == BDY_CTX_KIND_AH && index < FW_AHS) {
        memcpy(m->ah[index], op + 8, sizeof m->ah[0]);
    } else if (kind == BDY_CTX_KIND_QP && index < FW_QPS) {
        uint64_t from = bdy_qp_ctx0_get_st(m->qp[index]), to = bdy_qp_ctx0_get_st(op + 8);
        if (half == 0 && m->qp_gen[index] == UINT32_MAX && to != BDY_QP_ST_RESET) {
            return BDY_RULE_H4;
        }
        if (half == 0 && !transition_ok(from, to)) {
            return BDY_RULE_N5;
        }
        memcpy(m->qp[index] + 8u * half, op + 8, 64);
    } else {
        return BDY_RULE_N1;
    }
    return BDY_RULE_NONE;
}

static enum bdy_rule qp_op(struct mcu_model *m, const uint64_t *op)
{
    uint64_t slot = bdy_prot_op_get_qpn(op) - BDY_QPN_BASE;
    if (slot >= FW_QPS) {
        return BDY_RULE_N1;
    }
    if (bdy_prot_op_get_op(op) == BDY_PROT_OP_QP_ERR) {
        uint64_t st = bdy_qp_ctx0_get_st(m->qp[slot]);
        if (st == BDY_QP_ST_RESET || st == BDY_QP_ST_ERR) {
            return BDY_RULE_Q1;
        }
        bdy_qp_ctx0_set_st(m->qp[slot], BDY_QP_ST_ERR);
        return BDY_RULE_NONE;
    }
    m->qp_gen[slot]++;
    bdy_qp_ctx0_set_st(m->qp[slot], BDY_QP_ST_RESET);
    m->op_res = m->qp_gen[slot];
    return BDY_RULE_NONE;
}

static enum bdy_rule execute(struct mcu_model *m, const uint64_t *op)
{
    uint64_t pd = bdy_prot_op_get_pd(op) % FW_PDS;
    switch (bdy_prot_op_get_op(op)) {
    case BDY_PROT_OP_MR_OPEN:
        return mr_open(m, op);
    case BDY_PROT_OP_MR_CLOSE:
        return mr_close(m, op);
    case BDY_PROT_OP_MR_REPLACE:
        return mr_replace(m, op);
    case BDY_PROT_OP_MW_ALLOC:
        return mw_alloc(m, op);
    case BDY_PROT_OP_MW_FREE:
        return mw_free(m, op);
    case BDY_PROT_OP_MTT_WRITE:
        return mtt_write(m, op);
    case BDY_PROT_OP_QP_BUMP:
    case BDY_PROT_OP_QP_ERR:
        return qp_op(m, op);
    case BDY_PROT_OP_PD_OPEN:
    case BDY_PROT_OP_PD_KILL:
        m->pd_alive[pd] = bdy_prot_op_get_op(op) == BDY_PROT_OP_PD_OPEN;
        return BDY_RULE_NONE;
    case BDY_PROT_OP_PD_FLUSH:
        return BDY_RULE_NONE;
    case BDY_PROT_OP_CTX_WRITE:
        return ctx_write(m, op);
    default:
        return BDY_RULE_N1;
    }
}

static void record(struct mcu_model *m, const uint64_t *op)
{
    if (m->nops == m->room) {
        m->room = m->room ? 2u * m->room : 1024u;
        m->ops = realloc(m->ops, m->room * sizeof m->ops[0]);
    }
    memcpy(m->ops[m->nops++], op, sizeof m->ops[0]);
}

/* ------------------------------------------------------------------ engines */

static bool fails_now(unsigned *after)
{
    return *after > 0 && --*after == 0;
}

static bool takes_body(uint64_t op)
{
    return op == BDY_PROT_OP_MR_OPEN || op == BDY_PROT_OP_MR_REPLACE ||
           op == BDY_PROT_OP_MW_ALLOC || op == BDY_PROT_OP_MTT_WRITE || op == BDY_PROT_OP_CTX_WRITE;
}

static bool body_is_zero(const uint64_t *op)
{
    uint64_t any = 0;
    for (unsigned i = 8; i < BDY_PROT_OP_WORDS; i++) {
        any |= op[i];
    }
    return any == 0;
}

static void run_op(struct mcu_model *m)
{
    uint64_t op[BDY_PROT_OP_WORDS];
    memcpy(op, m->op_word, sizeof op);
    record(m, op);
    if (!bdy_prot_op_rsvd_zero(op) || bdy_prot_op_get_res(op) || bdy_prot_op_get_rule(op)) {
        fault(m, "reserved bits in an operation", (uint32_t)bdy_prot_op_get_op(op));
    }
    if (!takes_body(bdy_prot_op_get_op(op)) && !body_is_zero(op)) {
        fault(m, "leftovers in the body of an operation", (uint32_t)bdy_prot_op_get_op(op));
    }
    m->op_res = 0;
    uint32_t rule = fails_now(&m->refuse_after) ? m->refuse_rule : (uint32_t)execute(m, op);
    m->op_stat = BDY_REG_MCU_OP_STAT_DONE_MASK | rule << BDY_REG_MCU_OP_STAT_RULE_LSB;
}

static void run_dma(struct mcu_model *m, bool write)
{
    uint64_t bus = m->dma[0] | (uint64_t)m->dma[1] << 32;
    uint32_t at = m->dma[2], bytes = m->dma[3];
    bool bad = at % 8u || bytes % 8u || bytes == 0 || bytes > 4096u || at + bytes > sizeof m->buf ||
               bus % 8u || bus / 4096u != (bus + bytes - 1u) / 4096u;
    if (bad) {
        fault(m, "DMA that the engine cannot do", bytes);
    }
    bool err = bad || fails_now(&m->dma_fail_after) ||
               m->memory(m->arg, bus, (uint8_t *)m->buf + at, bytes, write) != 0;
    m->dma_stat = BDY_REG_MCU_DMA_STAT_DONE_MASK | (err ? BDY_REG_MCU_DMA_STAT_ERR_MASK : 0u);
}

static void run_read(struct mcu_model *m, uint32_t ctrl)
{
    uint32_t what = (ctrl & BDY_REG_MCU_RD_CTRL_WHAT_MASK) >> BDY_REG_MCU_RD_CTRL_WHAT_LSB;
    uint32_t index = ctrl >> BDY_REG_MCU_RD_CTRL_INDEX_LSB;
    memset(m->rd_word, 0, sizeof m->rd_word);
    bool err = fails_now(&m->rd_fail_after);
    if (what == 0 && index < FW_KEYS) {
        memcpy(m->rd_word, m->mpt[index], 64);
    } else if ((what == 2 || what == 3) && index < FW_QPS) {
        memcpy(m->rd_word, m->qp[index] + 8u * (what - 2u), 64);
    } else if (what == 6 && index < FW_QPS) {
        m->rd_word[0] = m->qp_viol[index];
    } else if (what == 7 && index < FW_PDS) {
        m->rd_word[0] = m->pd_viol[index];
    } else if (what == 8 && index < FW_SRQS) {
        memcpy(m->rd_word, m->srq[index], sizeof m->srq[0]);
    } else {
        fault(m, "table read of an unknown kind or index", ctrl);
    }
    m->rd_stat = BDY_REG_MCU_RD_STAT_DONE_MASK | (err ? BDY_REG_MCU_RD_STAT_ERR_MASK : 0u);
}

static void run_event(struct mcu_model *m, uint32_t ctrl)
{
    uint32_t eqn = (ctrl & BDY_REG_MCU_EVT_CTRL_EQN_MASK) >> BDY_REG_MCU_EVT_CTRL_EQN_LSB;
    if (eqn >= FW_EQS || !bdy_eq_ctx_get_valid(m->eq[eqn])) {
        fault(m, "event for a queue that is not there", eqn);
        return;
    }
    m->event(m->arg, eqn, m->evt_word[0] | (uint64_t)m->evt_word[1] << 32);
}

static void start(struct mcu_model *m, enum mcu_engine engine, uint32_t ctrl)
{
    if (m->busy[engine]) {
        fault(m, "engine started while it runs", engine);
    }
    if (!(ctrl & 1u)) {
        fault(m, "control written without go", engine);
    }
    m->busy[engine] = true;
    m->ended[engine] = false;
    m->left[engine] = m->lag;
    switch (engine) {
    case MCU_OP:
        run_op(m);
        break;
    case MCU_DMA:
        run_dma(m, (ctrl & BDY_REG_MCU_DMA_CTRL_WR_MASK) != 0);
        break;
    case MCU_RD:
        run_read(m, ctrl);
        break;
    default:
        run_event(m, ctrl);
        break;
    }
}

static uint32_t event_bits(struct mcu_model *m)
{
    static const uint32_t bit[MCU_ENGINES] = {BDY_REG_MCU_EVENT_DMA_MASK, BDY_REG_MCU_EVENT_OP_MASK,
                                              BDY_REG_MCU_EVENT_RD_MASK,
                                              BDY_REG_MCU_EVENT_EVT_MASK};
    uint32_t bits = (uint16_t)(m->pi - m->ci) ? BDY_REG_MCU_EVENT_CMD_MASK : 0u;
    for (unsigned i = 0; i < MCU_ENGINES; i++) {
        if (m->busy[i] && m->left[i] == 0) {
            m->busy[i] = false;
            m->ended[i] = true;
        }
        bits |= m->ended[i] ? bit[i] : 0u;
    }
    return bits;
}

void mmio_wfi(struct fw *fw)
{
    struct mcu_model *m = fw->hw;
    bool running = false;
    for (unsigned i = 0; i < MCU_ENGINES; i++) {
        if (m->busy[i] && m->left[i] > 0) {
            m->left[i]--;
            running = true;
        }
    }
    if (!running && !(event_bits(m) & m->event_mask)) {
        fault(m, "sleep that nothing can end", m->event_mask);
        abort(); // a hang is worse than a dead test
    }
}

/** A result may only be read once its engine has ended. */
static uint32_t result(struct mcu_model *m, enum mcu_engine engine, uint32_t value)
{
    event_bits(m);
    if (!m->ended[engine]) {
        fault(m, "result read before the engine has ended", engine);
    }
    return value;
}

uint32_t mmio_read32(struct fw *fw, uint32_t offset)
{
    struct mcu_model *m = fw->hw;
    if (offset >= BDY_REG_MCU_BUF_OFFSET && offset - BDY_REG_MCU_BUF_OFFSET < sizeof m->buf) {
        return m->buf[(offset - BDY_REG_MCU_BUF_OFFSET) / 4u];
    }
    if (offset >= BDY_REG_MCU_RD_WORD_OFFSET && offset < BDY_REG_MCU_RD_WORD_OFFSET + 64u) {
        return result(m, MCU_RD, m->rd_word[(offset - BDY_REG_MCU_RD_WORD_OFFSET) / 4u]);
    }
    switch (offset) {
    case BDY_REG_MCU_EVENT_OFFSET:
        return event_bits(m);
    case BDY_REG_MCU_CMDQ_LO_OFFSET:
        return (uint32_t)m->cmdq_base;
    case BDY_REG_MCU_CMDQ_HI_OFFSET:
        return (uint32_t)(m->cmdq_base >> 32);
    case BDY_REG_MCU_CMDQ_LOG_OFFSET:
        return m->cmdq_log;
    case BDY_REG_MCU_CMD_PI_OFFSET:
        return m->pi;
    case BDY_REG_MCU_CAP_OFFSET:
        return m->cap;
    case BDY_REG_MCU_CAP2_OFFSET:
        return m->cap2;
    case BDY_REG_MCU_DMA_STAT_OFFSET:
        return result(m, MCU_DMA, m->dma_stat);
    case BDY_REG_MCU_OP_STAT_OFFSET:
        return result(m, MCU_OP, m->op_stat);
    case BDY_REG_MCU_OP_RES_OFFSET:
        return result(m, MCU_OP, m->op_res);
    case BDY_REG_MCU_RD_STAT_OFFSET:
        return result(m, MCU_RD, m->rd_stat);
    default:
        fault(m, "read of an unknown register", offset);
        return 0;
    }
}

void mmio_write32(struct fw *fw, uint32_t offset, uint32_t value)
{
    struct mcu_model *m = fw->hw;
    if (offset >= BDY_REG_MCU_BUF_OFFSET && offset - BDY_REG_MCU_BUF_OFFSET < sizeof m->buf) {
        m->buf[(offset - BDY_REG_MCU_BUF_OFFSET) / 4u] = value;
        return;
    }
    if (offset >= BDY_REG_MCU_OP_WORD_OFFSET && offset < BDY_REG_MCU_OP_WORD_OFFSET + 128u) {
        m->op_word[(offset - BDY_REG_MCU_OP_WORD_OFFSET) / 4u] = value;
        return;
    }
    switch (offset) {
    case BDY_REG_MCU_EVENT_MASK_OFFSET:
        m->event_mask = value;
        break;
    case BDY_REG_MCU_CMD_CI_OFFSET:
        m->ci = value;
        break;
    case BDY_REG_MCU_DEV_STATE_OFFSET:
        m->dev_state = value;
        break;
    case BDY_REG_MCU_HEALTH_OFFSET:
        m->health = value;
        break;
    case BDY_REG_MCU_STRICT_OFFSET:
        m->strict = value;
        break;
    case BDY_REG_MCU_VIOL_LIMIT_OFFSET:
        m->viol_limit = value;
        break;
    case BDY_REG_MCU_ASYNC_EQN_OFFSET:
        m->async_eqn = value;
        break;
    case BDY_REG_MCU_DMA_LO_OFFSET:
    case BDY_REG_MCU_DMA_HI_OFFSET:
    case BDY_REG_MCU_DMA_BUF_OFFSET:
    case BDY_REG_MCU_DMA_LEN_OFFSET:
        m->dma[(offset - BDY_REG_MCU_DMA_LO_OFFSET) / 4u] = value;
        break;
    case BDY_REG_MCU_DMA_CTRL_OFFSET:
        start(m, MCU_DMA, value);
        break;
    case BDY_REG_MCU_OP_CTRL_OFFSET:
        start(m, MCU_OP, value);
        break;
    case BDY_REG_MCU_RD_CTRL_OFFSET:
        start(m, MCU_RD, value);
        break;
    case BDY_REG_MCU_EVT_WORD0_OFFSET:
    case BDY_REG_MCU_EVT_WORD1_OFFSET:
        m->evt_word[(offset - BDY_REG_MCU_EVT_WORD0_OFFSET) / 4u] = value;
        break;
    case BDY_REG_MCU_EVT_CTRL_OFFSET:
        start(m, MCU_EVT, value);
        break;
    default:
        fault(m, "write of an unknown register", offset);
        break;
    }
}

/* ------------------------------------------------------------------ tests' side */

struct mcu_model *mcu_model_new(void)
{
    struct mcu_model *m = calloc(1, sizeof *m);
    m->cap =
        BDY_LOG_KEYS << BDY_REG_MCU_CAP_LOG_KEYS_LSB | BDY_LOG_MTT << BDY_REG_MCU_CAP_LOG_MTT_LSB |
        BDY_LOG_QPS << BDY_REG_MCU_CAP_LOG_QPS_LSB | BDY_LOG_CQS << BDY_REG_MCU_CAP_LOG_CQS_LSB;
    m->cap2 = BDY_LOG_SRQS << BDY_REG_MCU_CAP2_LOG_SRQS_LSB | BDY_LOG_AHS
                                                                  << BDY_REG_MCU_CAP2_LOG_AHS_LSB;
    return m;
}

void mcu_model_free(struct mcu_model *m)
{
    free(m->ops);
    free(m);
}

void mcu_model_reset(struct mcu_model *m)
{
    struct mcu_model *fresh = mcu_model_new();
    fresh->memory = m->memory;
    fresh->event = m->event;
    fresh->arg = m->arg;
    fresh->cap = m->cap;
    fresh->cap2 = m->cap2;
    fresh->lag = m->lag;
    fresh->faults = m->faults;
    free(m->ops);
    *m = *fresh;
    free(fresh);
    for (uint32_t i = 0; i < FW_KEYS; i++) {
        m->key_store[i] = 0x9e3779b9u * (i + 1u);
    }
    m->fw.hw = m;
    fw_init(&m->fw, m->key_store);
}

uint32_t mcu_model_bind(struct mcu_model *m, uint32_t key, uint32_t mr_key)
{
    uint64_t *e = m->mpt[slot_of(key)];
    if (bdy_mpt_entry_get_st(e) == BDY_MPT_ST_VALID) {
        m->bound[bdy_mpt_entry_get_mr_slot(e)]--;
    }
    m->bound[slot_of(mr_key)]++;
    bdy_mpt_entry_set_st(e, BDY_MPT_ST_VALID);
    bdy_mpt_entry_set_mr_slot(e, slot_of(mr_key));
    bdy_mpt_entry_set_key(e, bdy_mpt_entry_get_key(e) + 1u);
    return (key & ~0xffu) | (uint32_t)bdy_mpt_entry_get_key(e);
}

void mcu_model_qp_state(struct mcu_model *m, uint32_t qpn, enum bdy_qp_st st)
{
    bdy_qp_ctx0_set_st(m->qp[qpn - BDY_QPN_BASE], st);
}
