// SPDX-License-Identifier: Apache-2.0
// ibv_post_recv (C6).

#include <errno.h>
#include <string.h>

#include "bdy_regs.h"
#include "objects.h"

static void put_rwqe(const struct bdy_wq *rq, const struct ibv_recv_wr *wr)
{
    uint64_t *w = bdy_wq_unit(rq, rq->tail);
    memset(w, 0, (size_t)rq->unit_words * sizeof(*w));
    bdy_rwqe_set_num_sge(w, (uint64_t)wr->num_sge);
    bdy_rwqe_set_index(w, rq->tail);
    for (int i = 0; i < wr->num_sge; i++) {
        uint64_t *sge = w + (BDY_RQ_SGE_OFFSET + (uint32_t)i * BDY_SGE_BYTES) / sizeof(*w);
        bdy_sge_set_addr(sge, wr->sg_list[i].addr);
        bdy_sge_set_len(sge, wr->sg_list[i].length);
        bdy_sge_set_lkey(sge, wr->sg_list[i].lkey);
    }
}

static int post_one(struct bdy_qp *qp, const struct ibv_recv_wr *wr)
{
    const struct bdy_wr record = {.wr_id = wr->wr_id, .slots = 1};
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->rq.max_sge)
        return EINVAL;
    if (!bdy_wq_has_room(&qp->rq, 1))
        return ENOMEM;
    put_rwqe(&qp->rq, wr);
    bdy_wq_push(&qp->rq, &record);
    return 0;
}

static int ring(struct bdy_qp *qp)
{
    uint64_t db = 0;
    if (qp->rq.rung == qp->rq.tail)
        return 0;
    bdy_db_wq_set_qpn(&db, qp->prov.ibv.qp_num);
    bdy_db_wq_set_index(&db, qp->rq.tail);
    qp->rq.rung = qp->rq.tail;
    return bdy_ctx_doorbell(bdy_ctx_of(qp->prov.ibv.context), BDY_UAR_RQ, db);
}

int bdy_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct bdy_qp *qp = bdy_qp_of(ibqp);
    struct ibv_recv_wr *first = wr;
    pthread_mutex_lock(&qp->rq.lock);
    int err = bdy_ctx_check(bdy_ctx_of(ibqp->context));
    if (err == 0 && qp->state == IBV_QPS_RESET)
        err = EINVAL;
    for (; wr != NULL && err == 0; wr = err == 0 ? wr->next : wr)
        err = post_one(qp, wr);
    const int gone = ring(qp);
    pthread_mutex_unlock(&qp->rq.lock);
    if (err != 0 || gone != 0)
        *bad = gone != 0 ? first : wr;
    return gone != 0 ? gone : err;
}
