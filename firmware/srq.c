// SPDX-License-Identifier: Apache-2.0
// Shared receive queues. The hardware disarms a limit when it has fired, so the present one is
// always read.
#include "fw.h"

#define MAX_LOG_SIZE 15u

static bool context_ok(const struct fw_cmd *cmd, const uint64_t *ctx)
{
    uint64_t log_size = bdy_srq_ctx_get_log_size(ctx);
    uint64_t bytes = (UINT64_C(64) << bdy_srq_ctx_get_log_stride(ctx)) << log_size;
    bool xrc = bdy_srq_ctx_get_xrc(ctx) != 0;
    return bdy_srq_ctx_rsvd_zero(ctx) && bdy_srq_ctx_get_valid(ctx) == 1 &&
           log_size <= MAX_LOG_SIZE && bdy_srq_ctx_get_limit(ctx) <= 1u << log_size &&
           fw_ring_ok(bdy_srq_ctx_get_base(ctx), bytes) &&
           fw_uar_ok(cmd, bdy_srq_ctx_get_uar(ctx)) &&
           (xrc || (bdy_srq_ctx_get_xrcd(ctx) | bdy_srq_ctx_get_cqn(ctx)) == 0);
}

/** PD, and for XRC its domain and completion queue, exist, may be named, and are of one owner. */
static enum bdy_cmd_st references_ok(struct fw *fw, const struct fw_cmd *cmd, const uint64_t *ctx)
{
    uint64_t pd = bdy_srq_ctx_get_pd(ctx), cqn = bdy_srq_ctx_get_cqn(ctx);
    enum bdy_cmd_st st = fw_pd_check(fw, cmd, pd);
    if (st != BDY_CMD_ST_OK || !bdy_srq_ctx_get_xrc(ctx)) {
        return st;
    }
    st = fw_xrcd_check(fw, bdy_srq_ctx_get_xrcd(ctx));
    if (st == BDY_CMD_ST_OK) {
        st = fw_cq_check(fw, cmd, cqn);
    }
    if (st == BDY_CMD_ST_OK && fw->cq[cqn - BDY_CQN_BASE].owner != fw->pd[pd].owner) {
        st = BDY_CMD_ST_NOT_OWNER;
    }
    return st;
}

static uint32_t unused_slot(const struct fw *fw)
{
    for (uint32_t i = 0; i < fw->nsrqs; i++) {
        uint32_t slot = (fw->next_srq + i) % fw->nsrqs;
        if (!fw->srq[slot].used) {
            return slot;
        }
    }
    return FW_NONE;
}

/** Count it, or (by -1) count it out, at all that it refers to (N2). */
static void count(struct fw *fw, const struct fw_srq *srq, int by)
{
    fw_count(&fw->pd[srq->pd].refs, by);
    if (srq->xrcd != 0) {
        fw_count(&fw->xrcd[srq->xrcd].refs, by);
        fw_count(&fw->cq[srq->cqn - BDY_CQN_BASE].refs, by);
    }
}

enum bdy_cmd_st fw_create_srq(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[BDY_SRQ_CTX_WORDS];
    fw_buf_get(fw, FW_BUF_IN, ctx, BDY_SRQ_CTX_WORDS);
    if (!context_ok(cmd, ctx)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    enum bdy_cmd_st st = references_ok(fw, cmd, ctx);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    uint32_t slot = unused_slot(fw);
    if (slot == FW_NONE) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_SRQ, slot, 0, ctx);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->srq[slot] = (struct fw_srq){.pd = (uint16_t)bdy_srq_ctx_get_pd(ctx),
                                    .cqn = (uint16_t)bdy_srq_ctx_get_cqn(ctx),
                                    .xrcd = (uint16_t)bdy_srq_ctx_get_xrcd(ctx),
                                    .owner = cmd->uctx,
                                    .log_size = (uint8_t)bdy_srq_ctx_get_log_size(ctx),
                                    .used = true};
    count(fw, &fw->srq[slot], 1);
    fw->next_srq = slot + 1u;
    fw->objects++;
    cmd->out0 = BDY_SRQN_BASE + slot;
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_srq_check(const struct fw *fw, const struct fw_cmd *cmd, uint64_t srqn)
{
    uint64_t slot = srqn - BDY_SRQN_BASE;
    if (slot >= fw->nsrqs || !fw->srq[slot].used) {
        return BDY_CMD_ST_BAD_INDEX;
    }
    return fw_may_name(cmd, fw->srq[slot].owner) ? BDY_CMD_ST_OK : BDY_CMD_ST_NOT_OWNER;
}

/** Arms or disarms the limit (C4). */
enum bdy_cmd_st fw_modify_srq(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[BDY_SRQ_CTX_WORDS];
    enum bdy_cmd_st st = fw_srq_check(fw, cmd, cmd->in0);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    uint32_t slot = (uint32_t)cmd->in0 - BDY_SRQN_BASE;
    if (cmd->in1 > 1u << fw->srq[slot].log_size) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    if (!fw_table_read(fw, FW_READ_SRQ, slot, ctx)) {
        return BDY_CMD_ST_INTERNAL;
    }
    bdy_srq_ctx_set_limit(ctx, cmd->in1);
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_SRQ, slot, 0, ctx);
    return rule == BDY_RULE_NONE ? BDY_CMD_ST_OK : fw_refused(cmd, rule);
}

enum bdy_cmd_st fw_query_srq(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[BDY_SRQ_CTX_WORDS];
    enum bdy_cmd_st st = fw_srq_check(fw, cmd, cmd->in0);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    if (!fw_table_read(fw, FW_READ_SRQ, (uint32_t)cmd->in0 - BDY_SRQN_BASE, ctx)) {
        return BDY_CMD_ST_INTERNAL;
    }
    fw_buf_put(fw, FW_BUF_OUT, ctx, BDY_SRQ_CTX_WORDS);
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_destroy_srq(struct fw *fw, struct fw_cmd *cmd)
{
    static const uint64_t gone[BDY_SRQ_CTX_WORDS];
    enum bdy_cmd_st st = fw_srq_check(fw, cmd, cmd->in0);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    struct fw_srq *srq = &fw->srq[cmd->in0 - BDY_SRQN_BASE];
    if (srq->refs > 0) {
        return BDY_CMD_ST_BUSY;
    }
    enum bdy_rule rule =
        fw_op_ctx(fw, BDY_CTX_KIND_SRQ, (uint32_t)cmd->in0 - BDY_SRQN_BASE, 0, gone);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    count(fw, srq, -1);
    srq->used = false;
    fw->objects--;
    return BDY_CMD_ST_OK;
}
