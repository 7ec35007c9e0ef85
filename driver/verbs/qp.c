// SPDX-License-Identifier: Apache-2.0
// Queue pairs: create, modify, query, destroy.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bdy_regs.h"
#include "objects.h"

// What struct bdy_u_qp_attr can carry; the HCA decides which of them a transition takes (N5).
#define MODIFIABLE                                                                                 \
    (IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ACCESS_FLAGS |          \
     IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_AV | IBV_QP_PATH_MTU |                 \
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN |                        \
     IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |  \
     IBV_QP_DEST_QPN)

static int creatable(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    if (attr->qp_type != IBV_QPT_RC || attr->srq != NULL)
        return EOPNOTSUPP;
    if (attr->send_cq == NULL || attr->recv_cq == NULL)
        return EINVAL;
    if (attr->send_cq->context != pd->context || attr->recv_cq->context != pd->context)
        return EINVAL;
    return 0;
}

static int set_up_queues(struct bdy_qp *qp, const struct bdy_u_create_qp_out *out,
                         const struct bdy_u_ring rings[2])
{
    qp->sq.ring = rings[0];
    qp->rq.ring = rings[1];
    qp->sq.max_wr = out->max_send_wr;
    qp->sq.max_sge = out->max_send_sge;
    qp->rq.max_wr = out->max_recv_wr;
    qp->rq.max_sge = out->max_recv_sge;
    qp->max_inline = out->max_inline;
    const uint32_t slot_words = BDY_WQE_SLOT_BYTES / 8u;
    int err = bdy_wq_init(&qp->sq, 1u << out->sq_log, slot_words);
    if (err == 0)
        err = bdy_wq_init(&qp->rq, 1u << out->rq_log, slot_words << out->rq_log_stride);
    return err;
}

static int create(struct bdy_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    const struct bdy_u_create_qp_in in = {
        .user_handle = (uintptr_t)&qp->prov.ibv,
        .pd = pd->handle,
        .scq = attr->send_cq->handle,
        .rcq = attr->recv_cq->handle,
        .qp_type = attr->qp_type,
        .sig_all = attr->sq_sig_all != 0,
        .max_send_wr = attr->cap.max_send_wr,
        .max_recv_wr = attr->cap.max_recv_wr,
        .max_send_sge = attr->cap.max_send_sge,
        .max_recv_sge = attr->cap.max_recv_sge,
        .max_inline = attr->cap.max_inline_data,
    };
    struct bdy_ctx *ctx = bdy_ctx_of(pd->context);
    struct bdy_u_create_qp_out out;
    struct bdy_u_ring rings[2] = {{0}};
    int err = bdy_ctx_call_rings(ctx, BDY_U_CREATE_QP, &in, sizeof(in), &out, sizeof(out), rings);
    if (err != 0)
        return err;
    qp->prov.ibv.handle = out.handle;
    qp->prov.ibv.qp_num = out.qpn;
    err = set_up_queues(qp, &out, rings);
    if (err != 0)
        bdy_ctx_call_handle(ctx, BDY_U_DESTROY_QP, out.handle);
    return err;
}

static void release(struct bdy_ctx *ctx, struct bdy_qp *qp)
{
    bdy_ctx_unmap(ctx, &qp->sq.ring);
    bdy_ctx_unmap(ctx, &qp->rq.ring);
    bdy_wq_fini(&qp->sq);
    bdy_wq_fini(&qp->rq);
    free(qp);
}

static struct ibv_qp_cap caps_of(const struct bdy_qp *qp)
{
    return (struct ibv_qp_cap){
        .max_send_wr = qp->sq.max_wr,
        .max_recv_wr = qp->rq.max_wr,
        .max_send_sge = qp->sq.max_sge,
        .max_recv_sge = qp->rq.max_sge,
        .max_inline_data = qp->max_inline,
    };
}

struct ibv_qp *bdy_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct bdy_ctx *ctx = bdy_ctx_of(pd->context);
    struct bdy_qp *qp = NULL;
    int err = creatable(pd, attr);
    if (err == 0 && (qp = calloc(1, sizeof(*qp))) == NULL)
        err = ENOMEM;
    if (err == 0)
        err = create(qp, pd, attr);
    if (err != 0) {
        if (qp != NULL)
            release(ctx, qp);
        errno = err;
        return NULL;
    }
    struct ibv_qp *ibqp = &qp->prov.ibv;
    ibqp->context = pd->context;
    ibqp->qp_context = attr->qp_context;
    ibqp->pd = pd;
    ibqp->send_cq = attr->send_cq;
    ibqp->recv_cq = attr->recv_cq;
    ibqp->qp_type = attr->qp_type;
    ibqp->state = IBV_QPS_RESET;
    pthread_mutex_init(&ibqp->mutex, NULL);
    pthread_cond_init(&ibqp->cond, NULL);
    qp->state = IBV_QPS_RESET;
    qp->sig_all = attr->sq_sig_all != 0;
    attr->cap = caps_of(qp);
    bdy_table_add_qp(ctx, qp);
    bdy_events_add_qp(ctx, qp);
    return ibqp;
}

// struct ibv_qp_init_attr_ex begins with a struct ibv_qp_init_attr; none of its extensions is
// offered.
struct ibv_qp *bdy_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    const uint32_t plain = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    int err = 0;
    if (attr->comp_mask & ~plain ||
        (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags != 0))
        err = EOPNOTSUPP;
    else if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || attr->pd->context != context)
        err = EINVAL;
    if (err != 0) {
        errno = err;
        return NULL;
    }
    return bdy_create_qp(attr->pd, (struct ibv_qp_init_attr *)attr);
}

// C3, and H12: what its outstanding binds did will not be told.
static void forget_work(struct bdy_ctx *ctx, struct bdy_qp *qp)
{
    struct bdy_cq *scq = bdy_cq_of(qp->prov.ibv.send_cq), *rcq = bdy_cq_of(qp->prov.ibv.recv_cq);
    bdy_cq_purge(scq, qp->prov.ibv.qp_num);
    if (rcq != scq)
        bdy_cq_purge(rcq, qp->prov.ibv.qp_num);
    for (uint32_t at = qp->sq.head; at != qp->sq.tail; at += bdy_wq_wr(&qp->sq, at)->slots) {
        const struct bdy_wr *wr = bdy_wq_wr(&qp->sq, at);
        if (wr->op == BDY_WQE_OP_BIND1 || wr->op == BDY_WQE_OP_BIND2)
            bdy_mw_lost(ctx, wr);
    }
    bdy_wq_reset(&qp->sq);
    bdy_wq_reset(&qp->rq);
}

static void put_address(struct bdy_u_qp_attr *out, const struct ibv_ah_attr *ah)
{
    out->dlid = ah->dlid;
    out->sl = ah->sl;
    out->src_path_bits = ah->src_path_bits;
    out->static_rate = ah->static_rate;
    out->is_global = ah->is_global;
    if (!ah->is_global)
        return;
    memcpy(out->dgid, ah->grh.dgid.raw, sizeof(out->dgid));
    out->flow_label = ah->grh.flow_label;
    out->sgid_index = ah->grh.sgid_index;
    out->hop_limit = ah->grh.hop_limit;
    out->tclass = ah->grh.traffic_class;
}

static void get_address(const struct bdy_u_qp_attr *in, struct ibv_ah_attr *ah)
{
    ah->dlid = in->dlid;
    ah->sl = in->sl;
    ah->src_path_bits = in->src_path_bits;
    ah->static_rate = in->static_rate;
    ah->is_global = in->is_global;
    ah->port_num = in->port_num;
    memcpy(ah->grh.dgid.raw, in->dgid, sizeof(in->dgid));
    ah->grh.flow_label = in->flow_label;
    ah->grh.sgid_index = in->sgid_index;
    ah->grh.hop_limit = in->hop_limit;
    ah->grh.traffic_class = in->tclass;
}

// Only what `mask` names: the rest of `a` may be garbage.
static struct bdy_u_qp_attr flatten(uint32_t handle, const struct ibv_qp_attr *a, int mask)
{
    struct bdy_u_qp_attr out = {.handle = handle, .mask = (uint32_t)mask};
#define TAKE(bit, to, from)                                                                        \
    do {                                                                                           \
        if (mask & (bit))                                                                          \
            out.to = a->from;                                                                      \
    } while (0)
    TAKE(IBV_QP_STATE, qp_state, qp_state);
    TAKE(IBV_QP_CUR_STATE, cur_qp_state, cur_qp_state);
    TAKE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async, en_sqd_async_notify);
    TAKE(IBV_QP_ACCESS_FLAGS, access, qp_access_flags);
    TAKE(IBV_QP_PKEY_INDEX, pkey_index, pkey_index);
    TAKE(IBV_QP_PORT, port_num, port_num);
    TAKE(IBV_QP_QKEY, qkey, qkey);
    TAKE(IBV_QP_PATH_MTU, path_mtu, path_mtu);
    TAKE(IBV_QP_TIMEOUT, timeout, timeout);
    TAKE(IBV_QP_RETRY_CNT, retry_cnt, retry_cnt);
    TAKE(IBV_QP_RNR_RETRY, rnr_retry, rnr_retry);
    TAKE(IBV_QP_RQ_PSN, rq_psn, rq_psn);
    TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, max_rd_atomic);
    TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, min_rnr_timer);
    TAKE(IBV_QP_SQ_PSN, sq_psn, sq_psn);
    TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, max_dest_rd_atomic);
    TAKE(IBV_QP_DEST_QPN, dest_qp_num, dest_qp_num);
#undef TAKE
    if (mask & IBV_QP_AV)
        put_address(&out, &a->ah_attr);
    return out;
}

static void enter(struct bdy_ctx *ctx, struct bdy_qp *qp, enum ibv_qp_state state)
{
    qp->state = state;
    if (state == IBV_QPS_RESET)
        forget_work(ctx, qp);
    else
        bdy_ring_sq(qp); // decision 7: what was accepted before RTS
}

int bdy_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
    struct bdy_ctx *ctx = bdy_ctx_of(ibqp->context);
    struct bdy_qp *qp = bdy_qp_of(ibqp);
    if (mask & ~MODIFIABLE)
        return EINVAL;
    if (mask & IBV_QP_AV && attr->ah_attr.port_num != 1)
        return EINVAL;
    const struct bdy_u_qp_attr in = flatten(ibqp->handle, attr, mask);
    // No post of this queue pair runs beside it: it sees the state before or after.
    pthread_mutex_lock(&qp->sq.lock);
    pthread_mutex_lock(&qp->rq.lock);
    int err = bdy_ctx_call(ctx, BDY_U_MODIFY_QP, &in, sizeof(in), NULL, 0);
    if (err == 0 && mask & IBV_QP_STATE)
        enter(ctx, qp, attr->qp_state);
    pthread_mutex_unlock(&qp->rq.lock);
    pthread_mutex_unlock(&qp->sq.lock);
    return err;
}

int bdy_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init)
{
    const struct bdy_u_handle in = {.handle = ibqp->handle};
    struct bdy_qp *qp = bdy_qp_of(ibqp);
    struct bdy_u_qp_attr a;
    (void)mask; // ibv_query_qp(3): more than was asked may be given
    int err =
        bdy_ctx_call(bdy_ctx_of(ibqp->context), BDY_U_QUERY_QP, &in, sizeof(in), &a, sizeof(a));
    if (err != 0)
        return err;
    *attr = (struct ibv_qp_attr){
        .qp_state = (enum ibv_qp_state)a.qp_state,
        .cur_qp_state = (enum ibv_qp_state)a.qp_state,
        .path_mtu = (enum ibv_mtu)a.path_mtu,
        .path_mig_state = IBV_MIG_MIGRATED,
        .qkey = a.qkey,
        .rq_psn = a.rq_psn,
        .sq_psn = a.sq_psn,
        .dest_qp_num = a.dest_qp_num,
        .qp_access_flags = a.access,
        .cap = caps_of(qp),
        .pkey_index = a.pkey_index,
        .en_sqd_async_notify = a.en_sqd_async,
        .sq_draining = a.sq_draining,
        .max_rd_atomic = a.max_rd_atomic,
        .max_dest_rd_atomic = a.max_dest_rd_atomic,
        .min_rnr_timer = a.min_rnr_timer,
        .port_num = a.port_num,
        .timeout = a.timeout,
        .retry_cnt = a.retry_cnt,
        .rnr_retry = a.rnr_retry,
    };
    get_address(&a, &attr->ah_attr);
    *init = (struct ibv_qp_init_attr){
        .qp_context = ibqp->qp_context,
        .send_cq = ibqp->send_cq,
        .recv_cq = ibqp->recv_cq,
        .cap = attr->cap,
        .qp_type = ibqp->qp_type,
        .sq_sig_all = qp->sig_all,
    };
    return 0;
}

int bdy_destroy_qp(struct ibv_qp *ibqp)
{
    struct bdy_ctx *ctx = bdy_ctx_of(ibqp->context);
    struct bdy_qp *qp = bdy_qp_of(ibqp);
    int err = bdy_ctx_call_handle(ctx, BDY_U_DESTROY_QP, ibqp->handle);
    if (err != 0)
        return err;
    forget_work(ctx, qp);
    bdy_table_del_qp(ctx, qp);
    bdy_events_del_qp(ctx, qp);
    pthread_cond_destroy(&ibqp->cond);
    pthread_mutex_destroy(&ibqp->mutex);
    release(ctx, qp);
    return 0;
}
