// SPDX-License-Identifier: Apache-2.0
// XRC domains. Contexts share one by opening it with descriptors of the same file (H18); it lives
// as long as any of them has it open.
#include "priv.h"

static struct domain *find(const struct bdy_core *core, uint64_t dev, uint64_t ino)
{
    struct domain *d = core->domains;
    while (d && !(d->has_file && d->dev == dev && d->ino == ino)) {
        d = d->next;
    }
    return d;
}

static struct domain *make(struct bdy_core *core, int *rc)
{
    struct cmd cmd = {.op = BDY_CMD_OP_ALLOC_XRCD};
    struct domain *d = bdy_os_alloc(sizeof *d);
    *rc = d ? cmd_run(core, &cmd) : -ENOMEM;
    if (*rc != 0) {
        if (d) {
            bdy_os_free(d);
        }
        return NULL;
    }
    d->number = (uint32_t)cmd.out0;
    d->next = core->domains;
    core->domains = d;
    return d;
}

/** One handle less; with the last one the domain goes. */
static int drop(struct bdy_core *core, struct domain *d, bool force)
{
    if (d->handles > 1u) {
        d->handles--;
        return 0;
    }
    int rc = cmd_simple(core, BDY_CMD_OP_DEALLOC_XRCD, 0, d->number);
    if (rc != 0 && !force) {
        return rc;
    }
    struct domain **at = &core->domains;
    while (*at != d) {
        at = &(*at)->next;
    }
    *at = d->next;
    bdy_os_free(d);
    return rc;
}

/** `d` is an existing domain or NULL: then a new one is made. */
static int add(struct bdy_uctx *uctx, struct domain *d, struct bdy_u_handle *out,
               struct domain **to)
{
    struct xrcd *xrcd = bdy_os_alloc(sizeof *xrcd);
    if (!xrcd) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &xrcd->obj, OBJ_XRCD);
    if (rc != 0) {
        goto free_xrcd;
    }
    d = d ? d : make(uctx->core, &rc);
    if (!d) {
        goto remove;
    }
    d->handles++;
    xrcd->domain = d;
    *to = d;
    out->handle = xrcd->obj.handle;
    return 0;

remove:
    obj_remove(&xrcd->obj);
free_xrcd:
    bdy_os_free(xrcd);
    return rc;
}

static int check(const struct bdy_u_open_xrcd_in *in)
{
    bool known = in->oflags == 0 || in->oflags == V_O_CREAT || in->oflags == (V_O_CREAT | V_O_EXCL);
    if (!known || in->has_fd > 1u) {
        return -EINVAL;
    }
    return CORE_FEATURES & FEATURE_XRC ? 0 : -EOPNOTSUPP;
}

/** Without a descriptor: nobody else can open it. */
int u_open_xrcd(struct bdy_uctx *uctx, const struct bdy_u_open_xrcd_in *in,
                struct bdy_u_handle *out)
{
    struct domain *d;
    int rc = in->has_fd ? -EBADF : check(in);
    return rc ? rc : add(uctx, NULL, out, &d);
}

static int open_file(struct bdy_uctx *uctx, const struct bdy_u_open_xrcd_in *in, uint64_t dev,
                     uint64_t ino, struct bdy_u_handle *out)
{
    struct domain *d = find(uctx->core, dev, ino);
    int rc = check(in);
    if (rc != 0) {
        return rc;
    }
    if (d && (in->oflags & V_O_EXCL)) {
        return -EINVAL;
    }
    if (!d && !(in->oflags & V_O_CREAT)) {
        return -EAGAIN;
    }
    rc = add(uctx, d, out, &d);
    if (rc == 0) {
        d->dev = dev;
        d->ino = ino;
        d->has_file = true;
    }
    return rc;
}

int bdy_core_open_xrcd(struct bdy_uctx *uctx, const struct bdy_u_open_xrcd_in *in, uint64_t dev,
                       uint64_t ino, struct bdy_u_handle *out)
{
    struct bdy_core *core = uctx->core;
    *out = (struct bdy_u_handle){0};
    if (in->has_fd != 1u) {
        return -EINVAL;
    }
    bdy_os_lock_take(&core->lock);
    int rc = core->dead ? -EIO : open_file(uctx, in, dev, ino, out);
    bdy_os_lock_drop(&core->lock);
    return rc;
}

int xrcd_destroy(struct xrcd *xrcd, bool force)
{
    if (xrcd->users > 0 && !force) {
        return -EBUSY;
    }
    int rc = drop(xrcd->obj.uctx->core, xrcd->domain, force);
    if (rc != 0 && !force) {
        return rc;
    }
    obj_remove(&xrcd->obj);
    bdy_os_free(xrcd);
    return rc;
}

int u_close_xrcd(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct xrcd *xrcd = obj_find(uctx, in->handle, OBJ_XRCD);
    return xrcd ? xrcd_destroy(xrcd, false) : -ENOENT;
}
