// SPDX-License-Identifier: Apache-2.0
// Event queues: the driver's alone.
#include "fw.h"

static bool context_ok(const uint64_t *ctx)
{
    uint64_t base = bdy_eq_ctx_get_base(ctx);
    uint64_t log_size = bdy_eq_ctx_get_log_size(ctx);
    return bdy_eq_ctx_rsvd_zero(ctx) && bdy_eq_ctx_get_valid(ctx) == 1 && log_size <= 16u &&
           bdy_eq_ctx_get_vector(ctx) < BDY_MSIX_VECTORS &&
           fw_ring_ok(base, (uint64_t)BDY_EQE_BYTES << log_size);
}

enum bdy_cmd_st fw_create_eq(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[BDY_EQ_CTX_WORDS];
    fw_buf_get(fw, FW_BUF_IN, ctx, BDY_EQ_CTX_WORDS);
    if (!context_ok(ctx)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    uint32_t eqn = 0;
    while (eqn < FW_EQS && fw->eq[eqn].used) {
        eqn++;
    }
    if (eqn == FW_EQS) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_EQ, eqn, 0, ctx);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->eq[eqn] = (struct fw_eq){.refs = 0, .used = true};
    cmd->out0 = eqn;
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_destroy_eq(struct fw *fw, struct fw_cmd *cmd)
{
    static const uint64_t gone[BDY_EQ_CTX_WORDS];
    if (cmd->in0 >= FW_EQS || !fw->eq[cmd->in0].used) {
        return BDY_CMD_ST_BAD_INDEX;
    }
    struct fw_eq *eq = &fw->eq[cmd->in0];
    if (eq->refs > 0 || (fw->running && cmd->in0 == fw->async_eqn)) {
        return BDY_CMD_ST_BUSY;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_EQ, (uint32_t)cmd->in0, 0, gone);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    eq->used = false;
    return BDY_CMD_ST_OK;
}
