// SPDX-License-Identifier: Apache-2.0
// Completion queues.
#include "fw.h"

bool fw_ring_ok(uint64_t base, uint64_t bytes)
{
    return base != 0 && (base & 4095u) == 0 && base <= UINT64_MAX - bytes;
}

/** A UAR page that the asking context may use: its own; the driver may name any but page 0. */
bool fw_uar_ok(const struct fw_cmd *cmd, uint64_t uar)
{
    return uar != 0 && uar < BDY_UAR_COUNT && fw_may_name(cmd, (uint8_t)uar);
}

static bool context_ok(const struct fw_cmd *cmd, const uint64_t *ctx)
{
    uint64_t log_size = bdy_cq_ctx_get_log_size(ctx);
    uint64_t dbr = bdy_cq_ctx_get_dbr(ctx);
    return bdy_cq_ctx_rsvd_zero(ctx) && bdy_cq_ctx_get_valid(ctx) == 1 && log_size <= 16u &&
           fw_ring_ok(bdy_cq_ctx_get_base(ctx), (uint64_t)BDY_CQE_BYTES << log_size) && dbr != 0 &&
           (dbr & 7u) == 0 && fw_uar_ok(cmd, bdy_cq_ctx_get_uar(ctx));
}

static uint32_t unused_slot(struct fw *fw)
{
    for (uint32_t i = 0; i < fw->ncqs; i++) {
        uint32_t slot = (fw->next_cq + i) % fw->ncqs;
        if (!fw->cq[slot].used) {
            return slot;
        }
    }
    return FW_NONE;
}

enum bdy_cmd_st fw_create_cq(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[BDY_CQ_CTX_WORDS];
    fw_buf_get(fw, FW_BUF_IN, ctx, BDY_CQ_CTX_WORDS);
    if (!context_ok(cmd, ctx)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    uint32_t eqn = (uint32_t)bdy_cq_ctx_get_eqn(ctx);
    if (eqn >= FW_EQS || !fw->eq[eqn].used) {
        return BDY_CMD_ST_BAD_INDEX;
    }
    uint32_t slot = unused_slot(fw);
    if (slot == FW_NONE) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_CQ, slot, 0, ctx);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->cq[slot] = (struct fw_cq){.dbr = bdy_cq_ctx_get_dbr(ctx),
                                  .owner = cmd->uctx,
                                  .uar = (uint8_t)bdy_cq_ctx_get_uar(ctx),
                                  .eqn = (uint8_t)eqn,
                                  .used = true};
    fw->eq[eqn].refs++;
    fw->next_cq = slot + 1u;
    fw->objects++;
    cmd->out0 = BDY_CQN_BASE + slot;
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_cq_check(const struct fw *fw, const struct fw_cmd *cmd, uint64_t cqn)
{
    uint64_t slot = cqn - BDY_CQN_BASE;
    if (slot >= fw->ncqs || !fw->cq[slot].used) {
        return BDY_CMD_ST_BAD_INDEX;
    }
    return fw_may_name(cmd, fw->cq[slot].owner) ? BDY_CMD_ST_OK : BDY_CMD_ST_NOT_OWNER;
}

/** A new ring and nothing else; answered when the old one has its RESIZE entry (C2). */
enum bdy_cmd_st fw_resize_cq(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[BDY_CQ_CTX_WORDS];
    enum bdy_cmd_st st = fw_cq_check(fw, cmd, cmd->in0);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    uint32_t slot = (uint32_t)cmd->in0 - BDY_CQN_BASE;
    const struct fw_cq *cq = &fw->cq[slot];
    fw_buf_get(fw, FW_BUF_IN, ctx, BDY_CQ_CTX_WORDS);
    if (!context_ok(cmd, ctx) || bdy_cq_ctx_get_uar(ctx) != cq->uar ||
        bdy_cq_ctx_get_eqn(ctx) != cq->eqn || bdy_cq_ctx_get_dbr(ctx) != cq->dbr) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_CQ, slot, 0, ctx);
    return rule == BDY_RULE_NONE ? BDY_CMD_ST_OK : fw_refused(cmd, rule);
}

enum bdy_cmd_st fw_destroy_cq(struct fw *fw, struct fw_cmd *cmd)
{
    static const uint64_t gone[BDY_CQ_CTX_WORDS];
    enum bdy_cmd_st st = fw_cq_check(fw, cmd, cmd->in0);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    uint32_t slot = (uint32_t)cmd->in0 - BDY_CQN_BASE;
    if (fw->cq[slot].refs > 0) {
        return BDY_CMD_ST_BUSY;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_CQ, slot, 0, gone);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->eq[fw->cq[slot].eqn].refs--;
    fw->cq[slot].used = false;
    fw->objects--;
    return BDY_CMD_ST_OK;
}
