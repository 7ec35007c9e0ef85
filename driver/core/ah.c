// SPDX-License-Identifier: Apache-2.0
// Address handles.
#include "priv.h"

static bool attr_ok(const struct bdy_core *core, const struct bdy_u_create_ah_in *in)
{
    return in->port_num == 1u && in->sl <= 15u && in->src_path_bits <= 127u &&
           in->is_global <= 1u && (in->is_global || !core->cfg.eth) &&
           (!in->is_global || (in->flow_label <= 0xfffffu && gid_in_use(core, in->sgid_index)));
}

static int create(struct ah *ah, const struct bdy_u_create_ah_in *in, const struct pd *pd)
{
    struct bdy_uctx *uctx = ah->obj.uctx;
    uint64_t gid[2] = {0};
    uint64_t *ctx = cmd_in(uctx->core);
    bdy_os_zero(ctx, BDY_AH_CTX_BYTES);
    bdy_ah_ctx_set_valid(ctx, 1);
    bdy_ah_ctx_set_pd(ctx, pd->number);
    bdy_ah_ctx_set_port(ctx, in->port_num);
    bdy_ah_ctx_set_sl(ctx, in->sl);
    bdy_ah_ctx_set_dlid(ctx, in->dlid);
    bdy_ah_ctx_set_src_path_bits(ctx, in->src_path_bits);
    bdy_ah_ctx_set_static_rate(ctx, in->static_rate);
    if (in->is_global) {
        bdy_os_copy(gid, in->dgid, sizeof gid);
        bdy_ah_ctx_set_grh(ctx, 1);
        bdy_ah_ctx_set_dgid_lo(ctx, gid[0]);
        bdy_ah_ctx_set_dgid_hi(ctx, gid[1]);
        bdy_ah_ctx_set_flow_label(ctx, in->flow_label);
        bdy_ah_ctx_set_tclass(ctx, in->tclass);
        bdy_ah_ctx_set_hop_limit(ctx, in->hop_limit);
        bdy_ah_ctx_set_sgid_index(ctx, in->sgid_index);
    }
    struct cmd cmd = {.op = BDY_CMD_OP_CREATE_AH, .uctx = uctx->uar, .in_len = BDY_AH_CTX_BYTES};
    int rc = cmd_run(uctx->core, &cmd);
    ah->number = (uint32_t)cmd.out0;
    return rc;
}

int u_create_ah(struct bdy_uctx *uctx, const struct bdy_u_create_ah_in *in,
                struct bdy_u_create_ah_out *out)
{
    const struct pd *pd = obj_find(uctx, in->pd, OBJ_PD);
    if (!(CORE_FEATURES & FEATURE_UD)) {
        return -EOPNOTSUPP;
    }
    if (!pd || !attr_ok(uctx->core, in)) {
        return -EINVAL;
    }
    struct ah *ah = bdy_os_alloc(sizeof *ah);
    if (!ah) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &ah->obj, OBJ_AH);
    if (rc != 0) {
        goto free_ah;
    }
    rc = create(ah, in, pd);
    if (rc != 0) {
        goto remove;
    }
    *out = (struct bdy_u_create_ah_out){.handle = ah->obj.handle, .ahn = ah->number};
    return 0;

remove:
    obj_remove(&ah->obj);
free_ah:
    bdy_os_free(ah);
    return rc;
}

int ah_destroy(struct ah *ah, bool force)
{
    int rc = cmd_simple(ah->obj.uctx->core, BDY_CMD_OP_DESTROY_AH, ah->obj.uctx->uar, ah->number);
    if (rc != 0 && !force) {
        return rc;
    }
    obj_remove(&ah->obj);
    bdy_os_free(ah);
    return rc;
}

int u_destroy_ah(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct ah *ah = obj_find(uctx, in->handle, OBJ_AH);
    return ah ? ah_destroy(ah, false) : -ENOENT;
}
