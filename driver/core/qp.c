// SPDX-License-Identifier: Apache-2.0
// Queue pairs: creation and destruction. Attributes are in qp_attr.c.
#include "priv.h"

/** Slots of the longest send WQE with that many SGEs, or that many bytes of inline data in their
 * place. */
static uint32_t send_slots(uint32_t sges, uint32_t inline_bytes)
{
    uint32_t body = BDY_SGE_BYTES * sges > inline_bytes ? BDY_SGE_BYTES * sges : inline_bytes;
    return (BDY_SQ_SGE_OFFSET + body + BDY_WQE_SLOT_BYTES - 1u) / BDY_WQE_SLOT_BYTES;
}

static bool has_sends(uint32_t type)
{
    return type != V_QPT_XRC_RECV;
}

/** A receive ring of its own. */
static bool has_receives(const struct bdy_u_create_qp_in *in)
{
    return in->qp_type != V_QPT_XRC_SEND && in->qp_type != V_QPT_XRC_RECV && in->srq == 0;
}

static void size_send(const struct bdy_u_create_qp_in *in, struct bdy_u_create_qp_out *cap)
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
}

/** Ring sizes for what was asked, and what they really hold (N4). */
static void size_rings(const struct bdy_u_create_qp_in *in, struct bdy_u_create_qp_out *cap)
{
    if (has_sends(in->qp_type)) {
        size_send(in, cap);
    }
    if (has_receives(in)) {
        cap->rq_log = log2_ceil(in->max_recv_wr);
        cap->rq_log_stride = recv_log_stride(in->max_recv_sge);
        cap->max_recv_wr = least(1u << cap->rq_log, CORE_MAX_WR);
        cap->max_recv_sge = recv_sges(cap->rq_log_stride);
    }
}

static bool sizes_ok(const struct bdy_u_create_qp_in *in)
{
    return in->rsvd == 0 && in->sig_all <= 1u && in->max_send_wr <= CORE_MAX_WR &&
           in->max_recv_wr <= CORE_MAX_WR && in->max_send_sge <= BDY_MAX_SGE &&
           in->max_recv_sge <= BDY_MAX_SGE && in->max_inline <= CORE_MAX_INLINE;
}

/** A type's kind in the context, or why not: types that exist but that the device does not offer
 * (yet) say so; others are nonsense. */
static int kind_of(uint32_t type, uint32_t *kind)
{
    static const struct {
        uint32_t type, kind, feature;
    } kinds[] = {
        {V_QPT_RC, BDY_QP_KIND_RC, 0},
        {V_QPT_UC, BDY_QP_KIND_UC, FEATURE_UC},
        {V_QPT_UD, BDY_QP_KIND_UD, FEATURE_UD},
        {V_QPT_XRC_SEND, BDY_QP_KIND_XRC_SEND, FEATURE_XRC},
        {V_QPT_XRC_RECV, BDY_QP_KIND_XRC_RECV, FEATURE_XRC},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].type == type) {
            *kind = kinds[i].kind;
            return kinds[i].feature & ~CORE_FEATURES ? -EOPNOTSUPP : 0;
        }
    }
    return -EINVAL;
}

/** The objects that a new queue pair refers to. */
struct parts {
    const struct pd *pd;
    const struct cq *scq, *rcq;
    const struct srq *srq;
    struct xrcd *xrcd;
};

/** Which ones there must be depends on the type; one that is named must be there in any case. */
static int find_parts(struct bdy_uctx *uctx, const struct bdy_u_create_qp_in *in, struct parts *p)
{
    bool target = in->qp_type == V_QPT_XRC_RECV, initiator = in->qp_type == V_QPT_XRC_SEND;
    *p = (struct parts){.pd = obj_find(uctx, in->pd, OBJ_PD),
                        .scq = obj_find(uctx, in->scq, OBJ_CQ),
                        .rcq = obj_find(uctx, in->rcq, OBJ_CQ),
                        .srq = obj_find(uctx, in->srq, OBJ_SRQ),
                        .xrcd = obj_find(uctx, in->xrcd, OBJ_XRCD)};
    if (target) {
        return p->xrcd && (in->pd | in->scq | in->rcq | in->srq) == 0 ? 0 : -EINVAL;
    }
    if (!p->pd || !p->scq || in->xrcd != 0 || (in->srq != 0 && (!p->srq || p->srq->xrcd)) ||
        (initiator && in->srq != 0)) {
        return -EINVAL;
    }
    return p->rcq || (initiator && in->rcq == 0) ? 0 : -EINVAL;
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

static int alloc_rings(struct qp *qp, const struct bdy_u_create_qp_in *in)
{
    struct bdy_pci *pci = qp->obj.uctx->core->pci;
    int rc = 0;
    if (has_sends(qp->type)) {
        rc = pci->ops->dma_alloc(pci, (size_t)BDY_WQE_SLOT_BYTES << qp->cap.sq_log, &qp->sq);
    }
    if (rc == 0 && has_receives(in)) {
        rc = pci->ops->dma_alloc(pci, ((size_t)64u << qp->cap.rq_log_stride) << qp->cap.rq_log,
                                 &qp->rq);
    }
    return rc;
}

uint32_t qp_asker(const struct qp *qp)
{
    return qp->type == V_QPT_XRC_RECV ? 0 : qp->obj.uctx->uar;
}

static int create(struct qp *qp, uint32_t kind, const struct parts *p)
{
    struct bdy_core *core = qp->obj.uctx->core;
    uint64_t *ctx = cmd_in(core);
    bdy_os_zero(ctx, BDY_QP_CTX0_BYTES);
    bdy_qp_ctx0_set_st(ctx, BDY_QP_ST_RESET);
    bdy_qp_ctx0_set_kind(ctx, kind);
    if (qp->type == V_QPT_XRC_RECV) {
        bdy_qp_ctx0_set_xrcd(ctx, p->xrcd->domain->number);
    } else {
        bdy_qp_ctx0_set_sig_all(ctx, qp->sig_all);
        bdy_qp_ctx0_set_uar(ctx, qp->obj.uctx->uar);
        bdy_qp_ctx0_set_pd(ctx, p->pd->number);
        bdy_qp_ctx0_set_scqn(ctx, p->scq->number);
        bdy_qp_ctx0_set_rcqn(ctx, qp->type == V_QPT_XRC_SEND ? 0 : p->rcq->number);
        bdy_qp_ctx0_set_srq(ctx, p->srq != NULL);
        bdy_qp_ctx0_set_srqn(ctx, p->srq ? p->srq->number : 0);
        bdy_qp_ctx0_set_sq_base(ctx, qp->sq.bus);
        bdy_qp_ctx0_set_rq_base(ctx, qp->rq.cpu ? qp->rq.bus : 0);
        bdy_qp_ctx0_set_sq_log(ctx, qp->cap.sq_log);
        bdy_qp_ctx0_set_rq_log(ctx, qp->cap.rq_log);
        bdy_qp_ctx0_set_rq_log_stride(ctx, qp->cap.rq_log_stride);
    }
    struct cmd cmd = {
        .op = BDY_CMD_OP_CREATE_QP, .uctx = qp_asker(qp), .in_len = BDY_QP_CTX0_BYTES};
    int rc = cmd_run(core, &cmd);
    qp->number = (uint32_t)cmd.out0;
    return rc;
}

/** Enter one more owner of `number`. */
static void own(struct qp *qp, uint32_t number)
{
    struct qp **head = &qp->obj.uctx->core->qp[number - BDY_QPN_BASE];
    qp->number = number;
    qp->owner_next = *head;
    *head = qp;
    qp->cap.handle = qp->obj.handle;
    qp->cap.qpn = number;
    if (qp->xrcd) {
        qp->xrcd->users++;
    }
}

int u_create_qp(struct bdy_uctx *uctx, const struct bdy_u_create_qp_in *in,
                struct bdy_u_create_qp_out *out, struct bdy_dma_buf *rings[2])
{
    struct parts parts;
    uint32_t kind;
    int rc = kind_of(in->qp_type, &kind);
    if (rc == 0) {
        rc = sizes_ok(in) ? find_parts(uctx, in, &parts) : -EINVAL;
    }
    if (rc != 0) {
        return rc;
    }
    struct qp *qp = bdy_os_alloc(sizeof *qp);
    if (!qp) {
        return -ENOMEM;
    }
    rc = obj_add(uctx, &qp->obj, OBJ_QP);
    if (rc != 0) {
        goto free_qp;
    }
    qp->type = in->qp_type;
    qp->sig_all = in->sig_all;
    qp->user_handle = in->user_handle;
    qp->xrcd = parts.xrcd;
    size_rings(in, &qp->cap);
    rc = alloc_rings(qp, in);
    if (rc == 0) {
        rc = create(qp, kind, &parts);
    }
    if (rc != 0) {
        goto rings;
    }
    own(qp, qp->number);
    *out = qp->cap;
    rings[0] = qp->sq.cpu ? &qp->sq : NULL;
    rings[1] = qp->rq.cpu ? &qp->rq : NULL;
    return 0;

rings:
    free_rings(qp);
    obj_remove(&qp->obj);
free_qp:
    bdy_os_free(qp);
    return rc;
}

/** A further owner of an XRC target; the queue pair lives as long as it has one. */
int u_open_qp(struct bdy_uctx *uctx, const struct bdy_u_open_qp_in *in,
              struct bdy_u_create_qp_out *out)
{
    struct xrcd *xrcd = obj_find(uctx, in->xrcd, OBJ_XRCD);
    uint32_t slot = in->qpn - BDY_QPN_BASE;
    const struct qp *first = slot < 1u << BDY_LOG_QPS ? uctx->core->qp[slot] : NULL;
    if (!xrcd || !first || !first->xrcd || first->xrcd->domain != xrcd->domain) {
        return -EINVAL;
    }
    struct qp *qp = bdy_os_alloc(sizeof *qp);
    if (!qp) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &qp->obj, OBJ_QP);
    if (rc != 0) {
        bdy_os_free(qp);
        return rc;
    }
    qp->type = first->type;
    qp->user_handle = in->user_handle;
    qp->xrcd = xrcd;
    own(qp, in->qpn);
    *out = qp->cap;
    return 0;
}

static void disown(struct qp *qp)
{
    struct qp **at = &qp->obj.uctx->core->qp[qp->number - BDY_QPN_BASE];
    while (*at != qp) {
        at = &(*at)->owner_next;
    }
    *at = qp->owner_next;
    if (qp->xrcd) {
        qp->xrcd->users--;
    }
}

int qp_destroy(struct qp *qp, bool force)
{
    struct bdy_core *core = qp->obj.uctx->core;
    const struct qp *first = core->qp[qp->number - BDY_QPN_BASE];
    bool last = first == qp && !qp->owner_next;
    int rc = last ? cmd_simple(core, BDY_CMD_OP_DESTROY_QP, qp_asker(qp), qp->number) : 0;
    if (rc != 0 && !force) {
        return rc;
    }
    eq_poll_all(core); // events that tell of it come before its number is anyone else's
    disown(qp);
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
