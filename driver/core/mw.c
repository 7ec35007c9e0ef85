// SPDX-License-Identifier: Apache-2.0
// Memory windows.
#include "priv.h"

int u_alloc_mw(struct bdy_uctx *uctx, const struct bdy_u_alloc_mw_in *in, struct bdy_u_key_out *out)
{
    const struct pd *pd = obj_find(uctx, in->pd, OBJ_PD);
    if (!pd || (in->type != 1u && in->type != 2u)) { // V5, V7
        return -EINVAL;
    }
    struct mw *mw = bdy_os_alloc(sizeof *mw);
    if (!mw) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &mw->obj, OBJ_MW);
    if (rc != 0) {
        goto free_mw;
    }
    struct cmd cmd = {
        .op = BDY_CMD_OP_ALLOC_MW, .uctx = uctx->uar, .in0 = pd->number, .in1 = in->type};
    rc = cmd_run(uctx->core, &cmd);
    if (rc != 0) {
        goto remove;
    }
    mw->key = (uint32_t)cmd.out0;
    *out = (struct bdy_u_key_out){.handle = mw->obj.handle, .key = mw->key, .st = BDY_MPT_ST_FREE};
    return 0;

remove:
    obj_remove(&mw->obj);
free_mw:
    bdy_os_free(mw);
    return rc;
}

int mw_destroy(struct mw *mw, bool force)
{
    struct bdy_uctx *uctx = mw->obj.uctx;
    int rc = cmd_simple(uctx->core, BDY_CMD_OP_DEALLOC_MW, uctx->uar, mw->key);
    if (rc != 0 && !force) {
        return rc;
    }
    obj_remove(&mw->obj);
    bdy_os_free(mw);
    return rc;
}

int u_dealloc_mw(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct mw *mw = obj_find(uctx, in->handle, OBJ_MW);
    return mw ? mw_destroy(mw, false) : -ENOENT;
}

/** The present key: a program whose bind was purged asks for it before the next one (H12). */
int u_query_mw(struct bdy_uctx *uctx, const struct bdy_u_handle *in, struct bdy_u_key_out *out)
{
    const struct mw *mw = obj_find(uctx, in->handle, OBJ_MW);
    if (!mw) {
        return -EINVAL;
    }
    struct cmd cmd = {.op = BDY_CMD_OP_QUERY_MW, .uctx = uctx->uar, .in0 = mw->key};
    int rc = cmd_run(uctx->core, &cmd);
    if (rc == 0) {
        *out = (struct bdy_u_key_out){
            .handle = mw->obj.handle, .key = (uint32_t)cmd.out0, .st = (uint32_t)cmd.out1};
    }
    return rc;
}
