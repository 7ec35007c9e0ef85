// SPDX-License-Identifier: Apache-2.0
// Shared receive queues.
#include "priv.h"

static int create(struct srq *srq, const struct bdy_u_create_srq_in *in, const struct pd *pd,
                  const struct cq *cq, const struct bdy_u_create_srq_out *size)
{
    struct bdy_uctx *uctx = srq->obj.uctx;
    uint64_t *ctx = cmd_in(uctx->core);
    bdy_os_zero(ctx, BDY_SRQ_CTX_BYTES);
    bdy_srq_ctx_set_valid(ctx, 1);
    bdy_srq_ctx_set_log_size(ctx, size->log_size);
    bdy_srq_ctx_set_log_stride(ctx, size->log_stride);
    bdy_srq_ctx_set_uar(ctx, uctx->uar);
    bdy_srq_ctx_set_limit(ctx, in->limit);
    bdy_srq_ctx_set_pd(ctx, pd->number);
    bdy_srq_ctx_set_base(ctx, srq->ring.bus);
    if (srq->xrcd) {
        bdy_srq_ctx_set_xrc(ctx, 1);
        bdy_srq_ctx_set_xrcd(ctx, srq->xrcd->domain->number);
        bdy_srq_ctx_set_cqn(ctx, cq->number);
    }
    struct cmd cmd = {.op = BDY_CMD_OP_CREATE_SRQ, .uctx = uctx->uar, .in_len = BDY_SRQ_CTX_BYTES};
    int rc = cmd_run(uctx->core, &cmd);
    srq->number = (uint32_t)cmd.out0;
    return rc;
}

static int check(struct bdy_uctx *uctx, const struct bdy_u_create_srq_in *in)
{
    uint32_t need = in->type == V_SRQT_XRC ? FEATURE_XRC : FEATURE_SRQ;
    if (in->rsvd != 0 || in->type > V_SRQT_XRC || in->max_wr < 1u || in->max_wr > CORE_MAX_WR ||
        in->max_sge > BDY_MAX_SGE || in->limit > in->max_wr) {
        return -EINVAL;
    }
    if (in->type == V_SRQT_XRC
            ? !obj_find(uctx, in->xrcd, OBJ_XRCD) || !obj_find(uctx, in->cq, OBJ_CQ)
            : in->xrcd != 0 || in->cq != 0) {
        return -EINVAL;
    }
    return CORE_FEATURES & need ? 0 : -EOPNOTSUPP;
}

int u_create_srq(struct bdy_uctx *uctx, const struct bdy_u_create_srq_in *in,
                 struct bdy_u_create_srq_out *out, struct bdy_dma_buf *rings[2])
{
    struct bdy_pci *pci = uctx->core->pci;
    const struct pd *pd = obj_find(uctx, in->pd, OBJ_PD);
    int rc = pd ? check(uctx, in) : -EINVAL;
    if (rc != 0) {
        return rc;
    }
    struct srq *srq = bdy_os_alloc(sizeof *srq);
    if (!srq) {
        return -ENOMEM;
    }
    rc = obj_add(uctx, &srq->obj, OBJ_SRQ);
    if (rc != 0) {
        goto free_srq;
    }
    struct bdy_u_create_srq_out size = {.handle = srq->obj.handle,
                                        .log_size = log2_ceil(in->max_wr),
                                        .log_stride = recv_log_stride(in->max_sge)};
    size.max_wr = 1u << size.log_size;
    size.max_sge = recv_sges(size.log_stride);
    srq->user_handle = in->user_handle;
    srq->xrcd = in->type == V_SRQT_XRC ? obj_find(uctx, in->xrcd, OBJ_XRCD) : NULL;
    srq->max_wr = size.max_wr;
    srq->max_sge = size.max_sge;
    rc = pci->ops->dma_alloc(pci, ((size_t)64u << size.log_stride) << size.log_size, &srq->ring);
    if (rc != 0) {
        goto remove;
    }
    rc = create(srq, in, pd, obj_find(uctx, in->cq, OBJ_CQ), &size);
    if (rc != 0) {
        goto ring;
    }
    if (srq->xrcd) {
        srq->xrcd->users++;
    }
    uctx->core->srq[srq->number - BDY_SRQN_BASE] = srq;
    size.srqn = srq->number;
    *out = size;
    rings[0] = &srq->ring;
    return 0;

ring:
    pci->ops->dma_free(pci, &srq->ring);
remove:
    obj_remove(&srq->obj);
free_srq:
    bdy_os_free(srq);
    return rc;
}

/** The limit alone can be changed; the ring's size cannot. */
int u_modify_srq(struct bdy_uctx *uctx, const struct bdy_u_srq_attr *in)
{
    const struct srq *srq = obj_find(uctx, in->handle, OBJ_SRQ);
    if (!srq || in->rsvd != 0 || (in->mask & ~(uint32_t)V_SRQ_LIMIT) ||
        ((in->mask & V_SRQ_LIMIT) && in->limit > srq->max_wr)) {
        return -EINVAL;
    }
    struct cmd cmd = {
        .op = BDY_CMD_OP_MODIFY_SRQ, .uctx = uctx->uar, .in0 = srq->number, .in1 = in->limit};
    return in->mask ? cmd_run(uctx->core, &cmd) : 0;
}

int u_query_srq(struct bdy_uctx *uctx, const struct bdy_u_handle *in, struct bdy_u_srq_attr *out)
{
    const struct srq *srq = obj_find(uctx, in->handle, OBJ_SRQ);
    if (!srq) {
        return -EINVAL;
    }
    struct cmd cmd = {.op = BDY_CMD_OP_QUERY_SRQ,
                      .uctx = uctx->uar,
                      .out_len = BDY_SRQ_CTX_BYTES,
                      .in0 = srq->number};
    int rc = cmd_run(uctx->core, &cmd);
    if (rc == 0) {
        *out =
            (struct bdy_u_srq_attr){.handle = in->handle,
                                    .max_wr = srq->max_wr,
                                    .max_sge = srq->max_sge,
                                    .limit = (uint32_t)bdy_srq_ctx_get_limit(cmd_out(uctx->core))};
    }
    return rc;
}

int srq_destroy(struct srq *srq, bool force)
{
    struct bdy_core *core = srq->obj.uctx->core;
    int rc = cmd_simple(core, BDY_CMD_OP_DESTROY_SRQ, srq->obj.uctx->uar, srq->number);
    if (rc != 0 && !force) {
        return rc;
    }
    eq_poll_all(core); // events that tell of it come before its number is anyone else's
    core->srq[srq->number - BDY_SRQN_BASE] = NULL;
    if (srq->xrcd) {
        srq->xrcd->users--;
    }
    core->pci->ops->dma_free(core->pci, &srq->ring);
    obj_remove(&srq->obj);
    bdy_os_free(srq);
    return rc;
}

int u_destroy_srq(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct srq *srq = obj_find(uctx, in->handle, OBJ_SRQ);
    return srq ? srq_destroy(srq, false) : -ENOENT;
}
