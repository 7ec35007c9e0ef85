// SPDX-License-Identifier: Apache-2.0
// Queue pairs: creation and destruction. Attributes are in qp_attr.c.
#include "priv.h"

static uint32_t log2_ceil(uint32_t value)
{
    return value <= 1u ? 0 : 32u - (uint32_t)__builtin_clz(value - 1u);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/** Slots of the longest send WQE with that many SGEs, or that many bytes of inline data in their
 * place. */
static uint32_t send_slots(uint32_t sges, uint32_t inline_bytes)
{
    uint32_t body = BDY_SGE_BYTES * sges > inline_bytes ? BDY_SGE_BYTES * sges : inline_bytes;
    return (BDY_SQ_SGE_OFFSET + body + BDY_WQE_SLOT_BYTES - 1u) / BDY_WQE_SLOT_BYTES;
}

/** log2 of a receive WQE's stride in units of 64 bytes. */
static uint32_t recv_log_stride(uint32_t sges)
{
    uint32_t bytes = BDY_RQ_SGE_OFFSET + BDY_SGE_BYTES * sges;
    return log2_ceil((bytes + 63u) / 64u);
}

/** Ring sizes for what was asked, and what they really hold (N4). */
static void size_rings(const struct bdy_u_create_qp_in *in, struct bdy_u_create_qp_out *cap)
{
    uint32_t slots = send_slots(in->max_send_sge, in->max_inline);
    cap->sq_log = log2_ceil(in->max_send_wr * slots);
    cap->max_send_wr = least((1u << cap->sq_log) / slots, CORE_MAX_WR);
    uint32_t body = slots * BDY_WQE_SLOT_BYTES - BDY_SQ_SGE_OFFSET;
    cap->max_send_sge = least(body / BDY_SGE_BYTES, BDY_MAX_SGE);
    cap->max_inline = least(body, CORE_MAX_INLINE);
    if (cap->max_send_wr == 0) { // room for less than one of the longest: a queue of at least one
        cap->sq_log = log2_ceil(slots);
        cap->max_send_wr = 1;
    }
    cap->rq_log = log2_ceil(in->max_recv_wr);
    cap->rq_log_stride = recv_log_stride(in->max_recv_sge);
    cap->max_recv_wr = least(1u << cap->rq_log, CORE_MAX_WR);
    cap->max_recv_sge =
        least(((64u << cap->rq_log_stride) - BDY_RQ_SGE_OFFSET) / BDY_SGE_BYTES, BDY_MAX_SGE);
}

static bool sizes_ok(const struct bdy_u_create_qp_in *in)
{
    return in->rsvd == 0 && in->srq == 0 && in->xrcd == 0 && in->sig_all <= 1u &&
           in->max_send_wr <= CORE_MAX_WR && in->max_recv_wr <= CORE_MAX_WR &&
           in->max_send_sge <= BDY_MAX_SGE && in->max_recv_sge <= BDY_MAX_SGE &&
           in->max_inline <= CORE_MAX_INLINE;
}

/** Types that exist but that the device does not offer (yet) say so; others are nonsense. */
static int type_ok(uint32_t type)
{
    switch (type) {
    case V_QPT_RC:
        return 0;
    case V_QPT_UC:
    case V_QPT_UD:
    case V_QPT_XRC_SEND:
    case V_QPT_XRC_RECV:
        return -EOPNOTSUPP;
    default:
        return -EINVAL;
    }
}

static void free_rings(struct qp *qp)
{
    struct bdy_pci *pci = qp->obj.uctx->core->pci;
    if (qp->rq.cpu) {
        pci->ops->dma_free(pci, &qp->rq);
    }
    if (qp->sq.cpu) {
        pci->ops->dma_free(pci, &qp->sq);
    }
}

static int alloc_rings(struct qp *qp)
{
    struct bdy_pci *pci = qp->obj.uctx->core->pci;
    int rc = pci->ops->dma_alloc(pci, (size_t)BDY_WQE_SLOT_BYTES << qp->cap.sq_log, &qp->sq);
    if (rc == 0) {
        rc = pci->ops->dma_alloc(pci, ((size_t)64u << qp->cap.rq_log_stride) << qp->cap.rq_log,
                                 &qp->rq);
    }
    return rc;
}

static int create(struct qp *qp, const struct pd *pd, const struct cq *scq, const struct cq *rcq)
{
    struct bdy_uctx *uctx = qp->obj.uctx;
    uint64_t *ctx = cmd_in(uctx->core);
    bdy_os_zero(ctx, BDY_QP_CTX0_BYTES);
    bdy_qp_ctx0_set_st(ctx, BDY_QP_ST_RESET);
    bdy_qp_ctx0_set_kind(ctx, BDY_QP_KIND_RC);
    bdy_qp_ctx0_set_sig_all(ctx, qp->sig_all);
    bdy_qp_ctx0_set_uar(ctx, uctx->uar);
    bdy_qp_ctx0_set_pd(ctx, pd->number);
    bdy_qp_ctx0_set_scqn(ctx, scq->number);
    bdy_qp_ctx0_set_rcqn(ctx, rcq->number);
    bdy_qp_ctx0_set_sq_base(ctx, qp->sq.bus);
    bdy_qp_ctx0_set_rq_base(ctx, qp->rq.bus);
    bdy_qp_ctx0_set_sq_log(ctx, qp->cap.sq_log);
    bdy_qp_ctx0_set_rq_log(ctx, qp->cap.rq_log);
    bdy_qp_ctx0_set_rq_log_stride(ctx, qp->cap.rq_log_stride);
    struct cmd cmd = {.op = BDY_CMD_OP_CREATE_QP, .uctx = uctx->uar, .in_len = BDY_QP_CTX0_BYTES};
    int rc = cmd_run(uctx->core, &cmd);
    qp->number = (uint32_t)cmd.out0;
    return rc;
}

int u_create_qp(struct bdy_uctx *uctx, const struct bdy_u_create_qp_in *in,
                struct bdy_u_create_qp_out *out, struct bdy_dma_buf *rings[2])
{
    const struct pd *pd = obj_find(uctx, in->pd, OBJ_PD);
    const struct cq *scq = obj_find(uctx, in->scq, OBJ_CQ);
    const struct cq *rcq = obj_find(uctx, in->rcq, OBJ_CQ);
    if (type_ok(in->qp_type) != 0) {
        return type_ok(in->qp_type);
    }
    if (!pd || !scq || !rcq || !sizes_ok(in)) {
        return -EINVAL;
    }
    struct qp *qp = bdy_os_alloc(sizeof *qp);
    if (!qp) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &qp->obj, OBJ_QP);
    if (rc != 0) {
        goto free_qp;
    }
    qp->type = in->qp_type;
    qp->sig_all = in->sig_all;
    qp->user_handle = in->user_handle;
    size_rings(in, &qp->cap);
    rc = alloc_rings(qp);
    if (rc == 0) {
        rc = create(qp, pd, scq, rcq);
    }
    if (rc != 0) {
        goto rings;
    }
    uctx->core->qp[qp->number - BDY_QPN_BASE] = qp;
    qp->cap.handle = qp->obj.handle;
    qp->cap.qpn = qp->number;
    *out = qp->cap;
    rings[0] = &qp->sq;
    rings[1] = &qp->rq;
    return 0;

rings:
    free_rings(qp);
    obj_remove(&qp->obj);
free_qp:
    bdy_os_free(qp);
    return rc;
}

int qp_destroy(struct qp *qp, bool force)
{
    struct bdy_uctx *uctx = qp->obj.uctx;
    int rc = cmd_simple(uctx->core, BDY_CMD_OP_DESTROY_QP, uctx->uar, qp->number);
    if (rc != 0 && !force) {
        return rc;
    }
    eq_poll_all(uctx->core); // events that tell of it come before its number is anyone else's
    uctx->core->qp[qp->number - BDY_QPN_BASE] = NULL;
    free_rings(qp);
    obj_remove(&qp->obj);
    bdy_os_free(qp);
    return rc;
}

int u_destroy_qp(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct qp *qp = obj_find(uctx, in->handle, OBJ_QP);
    return qp ? qp_destroy(qp, false) : -ENOENT;
}
