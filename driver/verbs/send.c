// SPDX-License-Identifier: Apache-2.0
// ibv_post_send and the bind of type 1 windows: post-time rules (P, Q1), then the work queue entry.

#include <errno.h>
#include <string.h>

#include "bdy_regs.h"
#include "objects.h"

#define FLAGS_ANY (IBV_SEND_FENCE | IBV_SEND_SIGNALED)
// SOLICITED means something only with SEND and immediate data; elsewhere it is accepted and left
// out.
#define FLAGS_READ (FLAGS_ANY | IBV_SEND_SOLICITED)
#define FLAGS_DATA (FLAGS_READ | IBV_SEND_INLINE)

enum shape { SHAPE_NONE, SHAPE_SEND, SHAPE_RDMA, SHAPE_BIND, SHAPE_INV };

struct send_op {
    enum shape shape;
    uint8_t op;
    unsigned flags;
    int immediate, solicits;
};

// The opcodes that this device offers; the rest of enum ibv_wr_opcode is zero here.
static const struct send_op send_ops[] = {
    [IBV_WR_RDMA_WRITE] = {SHAPE_RDMA, BDY_WQE_OP_WRITE, FLAGS_DATA, 0, 0},
    [IBV_WR_RDMA_WRITE_WITH_IMM] = {SHAPE_RDMA, BDY_WQE_OP_WRITE_IMM, FLAGS_DATA, 1, 1},
    [IBV_WR_SEND] = {SHAPE_SEND, BDY_WQE_OP_SEND, FLAGS_DATA, 0, 1},
    [IBV_WR_SEND_WITH_IMM] = {SHAPE_SEND, BDY_WQE_OP_SEND_IMM, FLAGS_DATA, 1, 1},
    [IBV_WR_RDMA_READ] = {SHAPE_RDMA, BDY_WQE_OP_READ, FLAGS_READ, 0, 0},
    [IBV_WR_LOCAL_INV] = {SHAPE_INV, BDY_WQE_OP_LOCAL_INV, FLAGS_ANY, 0, 0},
    [IBV_WR_BIND_MW] = {SHAPE_BIND, BDY_WQE_OP_BIND2, FLAGS_ANY, 0, 0},
    [IBV_WR_ATOMIC_WRITE] = {SHAPE_NONE, 0, 0, 0, 0},
};
#define SEND_OPS (sizeof(send_ops) / sizeof(send_ops[0]))

static struct bdy_ctx *ctx_of(const struct bdy_qp *qp)
{
    return bdy_ctx_of(qp->prov.ibv.context);
}

static int before_rts(const struct bdy_qp *qp)
{
    return qp->state == IBV_QPS_RESET || qp->state == IBV_QPS_INIT || qp->state == IBV_QPS_RTR;
}

// Q1, decision 7.
static int may_post(const struct bdy_qp *qp)
{
    struct bdy_ctx *ctx = ctx_of(qp);
    int err = bdy_ctx_check(ctx);
    if (err != 0)
        return err;
    return before_rts(qp) && !ctx->post_early ? EINVAL : 0;
}

static uint32_t slots_for(uint32_t payload_bytes)
{
    return (BDY_SQ_SGE_OFFSET + payload_bytes + BDY_WQE_SLOT_BYTES - 1) / BDY_WQE_SLOT_BYTES;
}

// Slot 0 of a new WQE at the tail, everything but the common fields zero.
static uint64_t *start_wqe(struct bdy_qp *qp, uint8_t op, unsigned flags, uint32_t slots)
{
    struct bdy_wq *sq = &qp->sq;
    for (uint32_t i = 0; i < slots; i++)
        memset(bdy_wq_unit(sq, sq->tail + i), 0, BDY_WQE_SLOT_BYTES);
    uint64_t *w = bdy_wq_unit(sq, sq->tail);
    bdy_wqe_set_op(w, op);
    bdy_wqe_set_fence(w, (flags & IBV_SEND_FENCE) != 0);
    bdy_wqe_set_signaled(w, qp->sig_all || (flags & IBV_SEND_SIGNALED));
    bdy_wqe_set_slots(w, slots);
    bdy_wqe_set_index(w, sq->tail);
    return w;
}

static void push(struct bdy_qp *qp, uint64_t wr_id, uint8_t op, uint32_t slots)
{
    const struct bdy_wr wr = {.wr_id = wr_id, .slots = (uint8_t)slots, .op = op};
    bdy_wq_push(&qp->sq, &wr);
}

// Where the payload area's byte `at` of the WQE at the tail lies: SGEs and inline data run on from
// slot to slot.
static unsigned char *payload(const struct bdy_wq *sq, uint32_t at)
{
    at += BDY_SQ_SGE_OFFSET;
    unsigned char *slot = (unsigned char *)bdy_wq_unit(sq, sq->tail + at / BDY_WQE_SLOT_BYTES);
    return slot + at % BDY_WQE_SLOT_BYTES;
}

static void put_sges(const struct bdy_wq *sq, const struct ibv_send_wr *wr)
{
    for (int i = 0; i < wr->num_sge; i++) {
        uint64_t sge[BDY_SGE_WORDS] = {0};
        bdy_sge_set_addr(sge, wr->sg_list[i].addr);
        bdy_sge_set_len(sge, wr->sg_list[i].length);
        bdy_sge_set_lkey(sge, wr->sg_list[i].lkey);
        memcpy(payload(sq, (uint32_t)i * BDY_SGE_BYTES), sge, BDY_SGE_BYTES);
    }
}

static void put_inline(const struct bdy_wq *sq, const struct ibv_send_wr *wr)
{
    uint32_t at = 0;
    for (int i = 0; i < wr->num_sge; i++) {
        const unsigned char *from = (const unsigned char *)(uintptr_t)wr->sg_list[i].addr;
        uint32_t left = wr->sg_list[i].length;
        while (left != 0) {
            uint32_t room = BDY_WQE_SLOT_BYTES - (BDY_SQ_SGE_OFFSET + at) % BDY_WQE_SLOT_BYTES;
            uint32_t n = left < room ? left : room;
            memcpy(payload(sq, at), from, n);
            at += n;
            from += n;
            left -= n;
        }
    }
}

static uint64_t inline_bytes(const struct ibv_send_wr *wr)
{
    uint64_t sum = 0;
    for (int i = 0; i < wr->num_sge; i++)
        sum += wr->sg_list[i].length;
    return sum;
}

static int post_data(struct bdy_qp *qp, const struct ibv_send_wr *wr, const struct send_op *op)
{
    const int inl = (wr->send_flags & IBV_SEND_INLINE) != 0;
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge) // P15
        return EINVAL;
    const uint64_t bytes = inl ? inline_bytes(wr) : (uint64_t)wr->num_sge * BDY_SGE_BYTES;
    if (inl && bytes > qp->max_inline)
        return EINVAL;
    const uint32_t slots = slots_for((uint32_t)bytes);
    if (!bdy_wq_has_room(&qp->sq, slots)) // P14
        return ENOMEM;

    uint64_t *w = start_wqe(qp, op->op, wr->send_flags, slots);
    bdy_wqe_set_solicited(w, op->solicits && (wr->send_flags & IBV_SEND_SOLICITED));
    if (op->immediate)
        bdy_wqe_set_imm(w, wr->imm_data);
    if (op->shape == SHAPE_RDMA) {
        bdy_wqe_set_addr(w, wr->wr.rdma.remote_addr);
        bdy_wqe_set_rkey(w, wr->wr.rdma.rkey);
    }
    bdy_wqe_set_inl(w, (uint64_t)inl);
    if (inl) {
        bdy_wqe_set_inl_len(w, bytes);
        put_inline(&qp->sq, wr);
    } else {
        bdy_wqe_set_num_sge(w, (uint64_t)wr->num_sge);
        put_sges(&qp->sq, wr);
    }
    push(qp, wr->wr_id, op->op, slots);
    return 0;
}

static int post_invalidate(struct bdy_qp *qp, const struct ibv_send_wr *wr)
{
    if (wr->num_sge != 0)
        return EINVAL;
    if (!bdy_wq_has_room(&qp->sq, 1))
        return ENOMEM;
    uint64_t *w = start_wqe(qp, BDY_WQE_OP_LOCAL_INV, wr->send_flags, 1);
    bdy_wqe_set_inv_key(w, wr->invalidate_rkey);
    push(qp, wr->wr_id, BDY_WQE_OP_LOCAL_INV, 1);
    return 0;
}

static uint32_t next_key(const struct bdy_mw *mw, uint32_t consumer_key)
{
    // Type 1: the low byte moves by one (K3, K7). Type 2: the consumer's low byte; the index is the
    // window's (K4, K6).
    const uint32_t low = mw->ibv.type == IBV_MW_TYPE_1 ? mw->key + 1 : consumer_key;
    return mw->index << 8 | (low & 0xff);
}

// *old_rkey: what the program saw in mw->rkey before.
static int put_bind(struct bdy_qp *qp, const struct bdy_bind *b, uint32_t *old_rkey)
{
    struct bdy_mw *mw = b->mw;
    const uint8_t op = mw->ibv.type == IBV_MW_TYPE_1 ? BDY_WQE_OP_BIND1 : BDY_WQE_OP_BIND2;
    if (!bdy_wq_has_room(&qp->sq, 1)) // P14
        return ENOMEM;
    int err = bdy_mw_begin_bind(ctx_of(qp), mw);
    if (err != 0)
        return err;
    *old_rkey = mw->ibv.rkey;
    const uint32_t new_key = next_key(mw, b->consumer_key);
    uint64_t *w = start_wqe(qp, op, b->send_flags, 1);
    bdy_wqe_set_inv_key(w, mw->key);
    bdy_wqe_set_addr(w, b->info->addr);
    bdy_wqe_set_rkey(w, b->info->mr != NULL ? b->info->mr->lkey : 0); // P5
    bdy_wqe_set_rights(w, b->info->mw_access_flags & ~(unsigned)IBV_ACCESS_LOCAL_WRITE);
    bdy_wqe_set_new_key(w, op == BDY_WQE_OP_BIND2 ? new_key & 0xff : 0);
    bdy_wqe_set_w4(w, b->info->length);
    const struct bdy_wr wr = {.wr_id = b->wr_id,
                              .slots = 1,
                              .op = op,
                              .window = mw->index,
                              .bind = bdy_mw_end_bind(mw, new_key)};
    bdy_wq_push(&qp->sq, &wr);
    return 0;
}

static int post_bind2(struct bdy_qp *qp, const struct ibv_send_wr *wr)
{
    struct ibv_mw *mw = wr->bind_mw.mw;
    if (wr->num_sge != 0 || mw == NULL || mw->type != IBV_MW_TYPE_2) // P20, P2
        return EINVAL;
    int err = bdy_bind_check(ctx_of(qp), mw, &wr->bind_mw.bind_info, wr->send_flags);
    if (err != 0)
        return err;
    const struct bdy_bind request = {.mw = bdy_mw_of(mw),
                                     .info = &wr->bind_mw.bind_info,
                                     .wr_id = wr->wr_id,
                                     .send_flags = wr->send_flags,
                                     .consumer_key = wr->bind_mw.rkey};
    uint32_t old_rkey;
    return put_bind(qp, &request, &old_rkey);
}

static int post_one(struct bdy_qp *qp, const struct ibv_send_wr *wr)
{
    if ((unsigned)wr->opcode >= SEND_OPS)
        return EINVAL;
    const struct send_op *op = &send_ops[wr->opcode];
    if (op->shape == SHAPE_NONE) // atomics, SEND_WITH_INV: the capabilities do not offer them
        return EOPNOTSUPP;
    if (wr->send_flags & ~op->flags)
        return EINVAL;
    if (op->shape == SHAPE_BIND)
        return post_bind2(qp, wr);
    return op->shape == SHAPE_INV ? post_invalidate(qp, wr) : post_data(qp, wr, op);
}

int bdy_ring_sq(struct bdy_qp *qp)
{
    uint64_t db = 0;
    if (qp->sq.rung == qp->sq.tail || before_rts(qp))
        return 0;
    bdy_db_wq_set_qpn(&db, qp->prov.ibv.qp_num);
    bdy_db_wq_set_index(&db, qp->sq.tail);
    qp->sq.rung = qp->sq.tail;
    return bdy_ctx_doorbell(ctx_of(qp), BDY_UAR_SQ, db);
}

int bdy_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct bdy_qp *qp = bdy_qp_of(ibqp);
    struct ibv_send_wr *first = wr;
    pthread_mutex_lock(&qp->sq.lock);
    int err = may_post(qp);
    for (; wr != NULL && err == 0; wr = err == 0 ? wr->next : wr)
        err = post_one(qp, wr);
    const int gone = bdy_ring_sq(qp);
    pthread_mutex_unlock(&qp->sq.lock);
    if (err != 0 || gone != 0)
        *bad = gone != 0 ? first : wr;
    return gone != 0 ? gone : err;
}

int bdy_post_bind(struct bdy_qp *qp, const struct bdy_bind *bind)
{
    uint32_t old_rkey;
    pthread_mutex_lock(&qp->sq.lock);
    int err = may_post(qp);
    if (err == 0)
        err = put_bind(qp, bind, &old_rkey);
    if (err == 0 && (err = bdy_ring_sq(qp)) != 0)
        bdy_mw_show_key(bind->mw, old_rkey); // P17
    pthread_mutex_unlock(&qp->sq.lock);
    return err;
}
