// SPDX-License-Identifier: Apache-2.0
// User contexts: a UAR page each, and the end of all they own.
#include "priv.h"

/** Page 0 is nobody's: a queue context of zeros, as a destroyed one has, belongs to it. */
static uint32_t unused_uar(const struct bdy_core *core)
{
    uint32_t pages = core->limits.uars - 1u;
    for (uint32_t i = 0; i < pages; i++) {
        uint32_t uar = 1u + (core->next_uar + i) % pages;
        if (!core->uctx[uar]) {
            return uar;
        }
    }
    return 0;
}

static int open_locked(struct bdy_core *core, struct bdy_uctx **uctx)
{
    uint32_t uar = unused_uar(core);
    if (core->dead) {
        return -EIO;
    }
    if (uar == 0) {
        return -ENOSPC;
    }
    struct bdy_uctx *u = bdy_os_alloc(sizeof *u);
    if (!u) {
        return -ENOMEM;
    }
    u->core = core;
    u->uar = uar;
    core->uctx[uar] = u;
    core->next_uar = uar;
    *uctx = u;
    return 0;
}

int bdy_core_uctx_open(struct bdy_core *core, struct bdy_aspace *as, bdy_core_event_fn event,
                       void *arg, const struct bdy_u_open_in *in, struct bdy_u_open_out *out,
                       struct bdy_uctx **uctx)
{
    if (in->abi != BDY_UCTX_ABI || in->rsvd != 0) {
        return -EINVAL;
    }
    bdy_os_lock_take(&core->lock);
    int rc = open_locked(core, uctx);
    bdy_os_lock_drop(&core->lock);
    if (rc == 0) {
        (*uctx)->as = as;
        (*uctx)->event = event;
        (*uctx)->arg = arg;
        *out = (struct bdy_u_open_out){.uar = (*uctx)->uar,
                                       .core_clock_khz = BDY_CORE_CLOCK_KHZ,
                                       .device_id = core->cfg.device_id};
    }
    return rc;
}

static int destroy(struct obj *obj)
{
    switch (obj->kind) {
    case OBJ_QP:
        return qp_destroy((struct qp *)obj, true);
    case OBJ_MW:
        return mw_destroy((struct mw *)obj, true);
    case OBJ_MR:
        return mr_destroy((struct mr *)obj, true);
    case OBJ_CQ:
        return cq_destroy((struct cq *)obj, true);
    case OBJ_SRQ:
        return srq_destroy((struct srq *)obj, true);
    case OBJ_AH:
        return ah_destroy((struct ah *)obj, true);
    case OBJ_XRCD:
        return xrcd_destroy((struct xrcd *)obj, true);
    case OBJ_CHANNEL:
        return channel_destroy((struct channel *)obj, true);
    default:
        return pd_destroy((struct pd *)obj, true);
    }
}

/** H5: first no access at all, by one operation a PD. */
static void kill_pds(struct bdy_uctx *uctx)
{
    for (struct obj *obj = uctx->first; obj; obj = obj->next) {
        if (obj->kind == OBJ_PD) {
            cmd_simple(uctx->core, BDY_CMD_OP_PD_KILL, 0, ((struct pd *)obj)->number);
        }
    }
}

/** Users before what they use. */
static void destroy_all(struct bdy_uctx *uctx)
{
    static const enum obj_kind order[] = {OBJ_QP, OBJ_SRQ,     OBJ_AH,   OBJ_MW, OBJ_MR,
                                          OBJ_CQ, OBJ_CHANNEL, OBJ_XRCD, OBJ_PD};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        for (struct obj *obj = uctx->first, *next; obj; obj = next) {
            next = obj->next;
            enum obj_kind kind = obj->kind;
            int rc = kind == order[i] ? destroy(obj) : 0;
            if (rc != 0 && !uctx->core->dead) {
                bdy_os_log(BDY_OS_ERROR, "bindery: UAR page %u: object of kind %d left behind (%d)",
                           uctx->uar, (int)kind, rc);
            }
        }
    }
}

void bdy_core_uctx_close(struct bdy_uctx *uctx)
{
    struct bdy_core *core = uctx->core;
    bdy_os_lock_take(&core->lock);
    uctx->event = NULL; // nobody listens any more
    kill_pds(uctx);
    destroy_all(uctx);
    core->uctx[uctx->uar] = NULL;
    bdy_os_lock_drop(&core->lock);
    bdy_os_free(uctx);
}
