// SPDX-License-Identifier: Apache-2.0
// From S2 calls to the functions that serve them: sizes checked, structs copied to aligned memory,
// results zeroed first.
#include "priv.h"

/** Room for the struct of any call, aligned. */
union any {
    struct bdy_u_handle handle;
    struct bdy_u_device_attr device;
    struct bdy_u_port_attr port;
    struct bdy_u_reg_mr_in reg_mr;
    struct bdy_u_key_out key;
    struct bdy_u_alloc_mw_in alloc_mw;
    struct bdy_u_create_cq_in create_cq;
    struct bdy_u_create_cq_out created_cq;
    struct bdy_u_create_qp_in create_qp;
    struct bdy_u_create_qp_out created_qp;
    struct bdy_u_qp_attr qp_attr;
    struct bdy_u_clock clock;
    struct bdy_u_rereg_mr_in rereg_mr;
    struct bdy_u_resize_cq_in resize_cq;
    struct bdy_u_create_srq_in create_srq;
    struct bdy_u_create_srq_out created_srq;
    struct bdy_u_srq_attr srq_attr;
    struct bdy_u_create_ah_in create_ah;
    struct bdy_u_create_ah_out created_ah;
    struct bdy_u_open_xrcd_in open_xrcd;
    struct bdy_u_open_qp_in open_qp;
};

typedef int (*call_fn)(struct bdy_uctx *uctx, const union any *in, union any *out,
                       struct bdy_dma_buf *rings[2]);

#define CALL(name)                                                                                 \
    static int call_##name(struct bdy_uctx *u, const union any *in, union any *out,                \
                           struct bdy_dma_buf *rings[2])
#define UNUSED(x) (void)(x)

CALL(query_device)
{
    UNUSED(in), UNUSED(rings);
    return u_query_device(u, &out->device);
}

CALL(query_port)
{
    UNUSED(in), UNUSED(rings);
    return u_query_port(u, &out->port);
}

CALL(query_clock)
{
    UNUSED(in), UNUSED(rings);
    return u_query_clock(u, &out->clock);
}

CALL(alloc_pd)
{
    UNUSED(in), UNUSED(rings);
    return u_alloc_pd(u, &out->handle);
}

CALL(dealloc_pd)
{
    UNUSED(out), UNUSED(rings);
    return u_dealloc_pd(u, &in->handle);
}

CALL(reg_mr)
{
    UNUSED(rings);
    return u_reg_mr(u, &in->reg_mr, &out->key);
}

CALL(dereg_mr)
{
    UNUSED(out), UNUSED(rings);
    return u_dereg_mr(u, &in->handle);
}

CALL(alloc_mw)
{
    UNUSED(rings);
    return u_alloc_mw(u, &in->alloc_mw, &out->key);
}

CALL(dealloc_mw)
{
    UNUSED(out), UNUSED(rings);
    return u_dealloc_mw(u, &in->handle);
}

CALL(query_mw)
{
    UNUSED(rings);
    return u_query_mw(u, &in->handle, &out->key);
}

CALL(create_channel)
{
    UNUSED(in), UNUSED(rings);
    return u_create_channel(u, &out->handle);
}

CALL(destroy_channel)
{
    UNUSED(out), UNUSED(rings);
    return u_destroy_channel(u, &in->handle);
}

CALL(create_cq)
{
    return u_create_cq(u, &in->create_cq, &out->created_cq, rings);
}

CALL(destroy_cq)
{
    UNUSED(out), UNUSED(rings);
    return u_destroy_cq(u, &in->handle);
}

CALL(create_qp)
{
    return u_create_qp(u, &in->create_qp, &out->created_qp, rings);
}

CALL(modify_qp)
{
    UNUSED(out), UNUSED(rings);
    return u_modify_qp(u, &in->qp_attr);
}

CALL(query_qp)
{
    UNUSED(rings);
    return u_query_qp(u, &in->handle, &out->qp_attr);
}

CALL(destroy_qp)
{
    UNUSED(out), UNUSED(rings);
    return u_destroy_qp(u, &in->handle);
}

CALL(rereg_mr)
{
    UNUSED(rings);
    return u_rereg_mr(u, &in->rereg_mr, &out->key);
}

CALL(alloc_null_mr)
{
    UNUSED(rings);
    return u_alloc_null_mr(u, &in->handle, &out->key);
}

CALL(resize_cq)
{
    return u_resize_cq(u, &in->resize_cq, &out->created_cq, rings);
}

CALL(create_srq)
{
    return u_create_srq(u, &in->create_srq, &out->created_srq, rings);
}

CALL(modify_srq)
{
    UNUSED(out), UNUSED(rings);
    return u_modify_srq(u, &in->srq_attr);
}

CALL(query_srq)
{
    UNUSED(rings);
    return u_query_srq(u, &in->handle, &out->srq_attr);
}

CALL(destroy_srq)
{
    UNUSED(out), UNUSED(rings);
    return u_destroy_srq(u, &in->handle);
}

CALL(create_ah)
{
    UNUSED(rings);
    return u_create_ah(u, &in->create_ah, &out->created_ah);
}

CALL(destroy_ah)
{
    UNUSED(out), UNUSED(rings);
    return u_destroy_ah(u, &in->handle);
}

CALL(open_xrcd)
{
    UNUSED(rings);
    return u_open_xrcd(u, &in->open_xrcd, &out->handle);
}

CALL(close_xrcd)
{
    UNUSED(out), UNUSED(rings);
    return u_close_xrcd(u, &in->handle);
}

CALL(open_qp)
{
    UNUSED(rings);
    return u_open_qp(u, &in->open_qp, &out->created_qp);
}

#define HANDLE sizeof(struct bdy_u_handle)
#define KEY sizeof(struct bdy_u_key_out)

static const struct call {
    uint32_t op;
    size_t in, out;
    call_fn run;
    bool by_handle; /**< the input is a bdy_u_handle */
} calls[] = {
    {BDY_U_QUERY_DEVICE, 0, sizeof(struct bdy_u_device_attr), call_query_device, false},
    {BDY_U_QUERY_PORT, 0, sizeof(struct bdy_u_port_attr), call_query_port, false},
    {BDY_U_ALLOC_PD, 0, HANDLE, call_alloc_pd, false},
    {BDY_U_DEALLOC_PD, HANDLE, 0, call_dealloc_pd, true},
    {BDY_U_REG_MR, sizeof(struct bdy_u_reg_mr_in), KEY, call_reg_mr, false},
    {BDY_U_DEREG_MR, HANDLE, 0, call_dereg_mr, true},
    {BDY_U_ALLOC_MW, sizeof(struct bdy_u_alloc_mw_in), KEY, call_alloc_mw, false},
    {BDY_U_DEALLOC_MW, HANDLE, 0, call_dealloc_mw, true},
    {BDY_U_QUERY_MW, HANDLE, KEY, call_query_mw, true},
    {BDY_U_CREATE_CHANNEL, 0, HANDLE, call_create_channel, false},
    {BDY_U_DESTROY_CHANNEL, HANDLE, 0, call_destroy_channel, true},
    {BDY_U_CREATE_CQ, sizeof(struct bdy_u_create_cq_in), sizeof(struct bdy_u_create_cq_out),
     call_create_cq, false},
    {BDY_U_DESTROY_CQ, HANDLE, 0, call_destroy_cq, true},
    {BDY_U_CREATE_QP, sizeof(struct bdy_u_create_qp_in), sizeof(struct bdy_u_create_qp_out),
     call_create_qp, false},
    {BDY_U_MODIFY_QP, sizeof(struct bdy_u_modify_qp_in), 0, call_modify_qp, false},
    {BDY_U_QUERY_QP, HANDLE, sizeof(struct bdy_u_qp_attr), call_query_qp, true},
    {BDY_U_DESTROY_QP, HANDLE, 0, call_destroy_qp, true},
    {BDY_U_QUERY_CLOCK, 0, sizeof(struct bdy_u_clock), call_query_clock, false},
    {BDY_U_REREG_MR, sizeof(struct bdy_u_rereg_mr_in), KEY, call_rereg_mr, false},
    {BDY_U_ALLOC_NULL_MR, HANDLE, KEY, call_alloc_null_mr, true},
    {BDY_U_RESIZE_CQ, sizeof(struct bdy_u_resize_cq_in), sizeof(struct bdy_u_create_cq_out),
     call_resize_cq, false},
    {BDY_U_CREATE_SRQ, sizeof(struct bdy_u_create_srq_in), sizeof(struct bdy_u_create_srq_out),
     call_create_srq, false},
    {BDY_U_MODIFY_SRQ, sizeof(struct bdy_u_srq_attr), 0, call_modify_srq, false},
    {BDY_U_QUERY_SRQ, HANDLE, sizeof(struct bdy_u_srq_attr), call_query_srq, true},
    {BDY_U_DESTROY_SRQ, HANDLE, 0, call_destroy_srq, true},
    {BDY_U_CREATE_AH, sizeof(struct bdy_u_create_ah_in), sizeof(struct bdy_u_create_ah_out),
     call_create_ah, false},
    {BDY_U_DESTROY_AH, HANDLE, 0, call_destroy_ah, true},
    {BDY_U_OPEN_XRCD, sizeof(struct bdy_u_open_xrcd_in), HANDLE, call_open_xrcd, false},
    {BDY_U_CLOSE_XRCD, HANDLE, 0, call_close_xrcd, true},
    {BDY_U_OPEN_QP, sizeof(struct bdy_u_open_qp_in), sizeof(struct bdy_u_create_qp_out),
     call_open_qp, false},
};

static const struct call *find(uint32_t op)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].op == op) {
            return &calls[i];
        }
    }
    return NULL;
}

static int serve(struct bdy_uctx *uctx, const struct call *c, const void *in, void *out,
                 struct bdy_dma_buf *rings[2])
{
    union any args, results;
    bdy_os_zero(&args, sizeof args);
    bdy_os_zero(&results, sizeof results);
    if (c->in > 0) {
        bdy_os_copy(&args, in, c->in);
    }
    if (c->by_handle && args.handle.rsvd != 0) {
        return -EINVAL;
    }
    int rc = c->run(uctx, &args, &results, rings);
    if (rc == 0 && c->out > 0) {
        bdy_os_copy(out, &results, c->out);
    }
    return rc;
}

int bdy_core_call(struct bdy_uctx *uctx, uint32_t op, const void *in, size_t in_len, void *out,
                  size_t out_len, struct bdy_dma_buf *rings[2])
{
    struct bdy_dma_buf *none[2];
    struct bdy_dma_buf **to = rings ? rings : none;
    const struct call *c = find(op);
    to[0] = NULL;
    to[1] = NULL;
    if (!c) {
        return -EOPNOTSUPP;
    }
    if (in_len != c->in || out_len != c->out || (c->in && !in) || (c->out && !out)) {
        return -EINVAL;
    }
    bdy_os_lock_take(&uctx->core->lock);
    int rc = uctx->core->dead ? -EIO : serve(uctx, c, in, out, to);
    bdy_os_lock_drop(&uctx->core->lock);
    return rc;
}

int bdy_core_doorbell(struct bdy_uctx *uctx, uint32_t offset, uint64_t value)
{
    struct bdy_core *core = uctx->core;
    if (offset >= 4096u || offset % 8u != 0) {
        return -EINVAL;
    }
    bdy_os_lock_take(&core->lock);
    int rc =
        core->dead ? -EIO : core_bar_write(core, BDY_UAR_BASE + 4096u * uctx->uar + offset, value);
    bdy_os_lock_drop(&core->lock);
    return rc;
}
