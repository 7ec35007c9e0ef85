// SPDX-License-Identifier: Apache-2.0
// Protection domains.
#include "priv.h"

int u_alloc_pd(struct bdy_uctx *uctx, struct bdy_u_handle *out)
{
    struct pd *pd = bdy_os_alloc(sizeof *pd);
    if (!pd) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &pd->obj, OBJ_PD);
    if (rc != 0) {
        goto free_pd;
    }
    struct cmd cmd = {.op = BDY_CMD_OP_ALLOC_PD, .uctx = uctx->uar};
    rc = cmd_run(uctx->core, &cmd);
    if (rc != 0) {
        goto remove;
    }
    pd->number = (uint32_t)cmd.out0;
    out->handle = pd->obj.handle;
    return 0;

remove:
    obj_remove(&pd->obj);
free_pd:
    bdy_os_free(pd);
    return rc;
}

int pd_destroy(struct pd *pd, bool force)
{
    struct bdy_uctx *uctx = pd->obj.uctx;
    int rc = cmd_simple(uctx->core, BDY_CMD_OP_DEALLOC_PD, uctx->uar, pd->number);
    if (rc != 0 && !force) {
        return rc;
    }
    obj_remove(&pd->obj);
    bdy_os_free(pd);
    return rc;
}

int u_dealloc_pd(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct pd *pd = obj_find(uctx, in->handle, OBJ_PD);
    return pd ? pd_destroy(pd, false) : -ENOENT;
}
