// SPDX-License-Identifier: Apache-2.0
// Address handles: where datagrams of one protection domain may go (U4).
#include "fw.h"

static bool path_ok(const uint64_t *ctx)
{
    if (bdy_ah_ctx_get_grh(ctx)) {
        return bdy_ah_ctx_get_sgid_index(ctx) < FW_GIDS;
    }
    return (bdy_ah_ctx_get_dgid_lo(ctx) | bdy_ah_ctx_get_dgid_hi(ctx) |
            bdy_ah_ctx_get_flow_label(ctx) | bdy_ah_ctx_get_tclass(ctx) |
            bdy_ah_ctx_get_hop_limit(ctx) | bdy_ah_ctx_get_sgid_index(ctx)) == 0;
}

static bool context_ok(const uint64_t *ctx)
{
    uint64_t port = bdy_ah_ctx_get_port(ctx);
    return bdy_ah_ctx_rsvd_zero(ctx) && bdy_ah_ctx_get_valid(ctx) == 1 && port >= 1u &&
           port <= FW_PORTS && path_ok(ctx);
}

static uint32_t unused_slot(const struct fw *fw)
{
    for (uint32_t i = 0; i < fw->nahs; i++) {
        uint32_t slot = (fw->next_ah + i) % fw->nahs;
        if (!fw->ah[slot].used) {
            return slot;
        }
    }
    return FW_NONE;
}

enum bdy_cmd_st fw_create_ah(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[BDY_AH_CTX_WORDS];
    fw_buf_get(fw, FW_BUF_IN, ctx, BDY_AH_CTX_WORDS);
    if (!context_ok(ctx)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    uint64_t pd = bdy_ah_ctx_get_pd(ctx);
    enum bdy_cmd_st st = fw_pd_check(fw, cmd, pd);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    uint32_t slot = unused_slot(fw);
    if (slot == FW_NONE) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_AH, slot, 0, ctx);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->ah[slot] = (struct fw_ah){.pd = (uint16_t)pd, .owner = cmd->uctx, .used = true};
    fw->pd[pd].refs++;
    fw->next_ah = slot + 1u;
    fw->objects++;
    cmd->out0 = slot;
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_destroy_ah(struct fw *fw, struct fw_cmd *cmd)
{
    static const uint64_t gone[BDY_AH_CTX_WORDS];
    if (cmd->in0 >= fw->nahs || !fw->ah[cmd->in0].used) {
        return BDY_CMD_ST_BAD_INDEX;
    }
    struct fw_ah *ah = &fw->ah[cmd->in0];
    if (!fw_may_name(cmd, ah->owner)) {
        return BDY_CMD_ST_NOT_OWNER;
    }
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_AH, (uint32_t)cmd->in0, 0, gone);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->pd[ah->pd].refs--;
    ah->used = false;
    fw->objects--;
    return BDY_CMD_ST_OK;
}
