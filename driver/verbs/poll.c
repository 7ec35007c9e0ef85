// SPDX-License-Identifier: Apache-2.0
// ibv_poll_cq: completion entries become work completions.

#include <errno.h>

#include "bdy_regs.h"
#include "objects.h"

#define SAME(name) _Static_assert((int)BDY_WC_##name == (int)IBV_WC_##name, #name)
SAME(SUCCESS);
SAME(LOC_LEN_ERR);
SAME(LOC_QP_OP_ERR);
SAME(LOC_PROT_ERR);
SAME(WR_FLUSH_ERR);
SAME(MW_BIND_ERR);
SAME(BAD_RESP_ERR);
SAME(LOC_ACCESS_ERR);
SAME(REM_INV_REQ_ERR);
SAME(REM_ACCESS_ERR);
SAME(REM_OP_ERR);
SAME(RETRY_EXC_ERR);
SAME(RNR_RETRY_EXC_ERR);

/** Empty polls before the CPU goes to the HCA (H26). */
#define PATIENCE 3u

static enum ibv_wc_status status_of(uint64_t status)
{
    if (status == BDY_WC_FATAL_ERR)
        return IBV_WC_FATAL_ERR;
    return status <= BDY_WC_RNR_RETRY_EXC_ERR ? (enum ibv_wc_status)status : IBV_WC_GENERAL_ERR;
}

// From the work request, not from the entry: valid whatever the status (W3).
static enum ibv_wc_opcode send_opcode(uint8_t op)
{
    switch (op) {
    case BDY_WQE_OP_WRITE:
    case BDY_WQE_OP_WRITE_IMM:
        return IBV_WC_RDMA_WRITE;
    case BDY_WQE_OP_READ:
        return IBV_WC_RDMA_READ;
    case BDY_WQE_OP_BIND1:
    case BDY_WQE_OP_BIND2:
        return IBV_WC_BIND_MW;
    case BDY_WQE_OP_LOCAL_INV:
        return IBV_WC_LOCAL_INV;
    default:
        return IBV_WC_SEND;
    }
}

// A responder's NAK tells its syndrome and nothing else (H12).
static uint32_t vendor_err(const uint64_t *cqe)
{
    const uint32_t executed = bdy_cqe_get_executed(cqe) ? BDY_VENDOR_EXECUTED : 0;
    const uint32_t syndrome = (uint32_t)bdy_cqe_get_syndrome(cqe);
    return executed | (syndrome != 0 ? syndrome : (uint32_t)bdy_cqe_get_rule(cqe));
}

static void fill_recv(const uint64_t *cqe, struct ibv_wc *wc)
{
    wc->opcode =
        bdy_cqe_get_op(cqe) == BDY_CQE_OP_RECV_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
    wc->imm_data = (uint32_t)bdy_cqe_get_imm(cqe);
    wc->wc_flags = (bdy_cqe_get_with_imm(cqe) ? (unsigned)IBV_WC_WITH_IMM : 0) |
                   (bdy_cqe_get_with_inv(cqe) ? (unsigned)IBV_WC_WITH_INV : 0) |
                   (bdy_cqe_get_grh(cqe) ? (unsigned)IBV_WC_GRH : 0);
    wc->src_qp = (uint32_t)bdy_cqe_get_src_qp(cqe);
    wc->slid = (uint16_t)bdy_cqe_get_slid(cqe);
}

static int is_bind(uint8_t op)
{
    return op == BDY_WQE_OP_BIND1 || op == BDY_WQE_OP_BIND2;
}

// 0 when the entry names no outstanding work request: its queue pair is gone.
static int fill(struct bdy_ctx *ctx, const uint64_t *cqe, struct ibv_wc *wc)
{
    struct bdy_wr wr;
    const int recv = bdy_cqe_get_recv(cqe) != 0;
    struct bdy_qp *qp = bdy_table_find_qp(ctx, (uint32_t)bdy_cqe_get_qpn(cqe));
    if (qp == NULL ||
        !bdy_wq_retire(recv ? &qp->rq : &qp->sq, (uint16_t)bdy_cqe_get_wqe_index(cqe), &wr))
        return 0;
    *wc = (struct ibv_wc){
        .wr_id = wr.wr_id,
        .status = status_of(bdy_cqe_get_status(cqe)),
        .byte_len = (uint32_t)bdy_cqe_get_byte_len(cqe),
        .qp_num = qp->prov.ibv.qp_num,
    };
    if (wc->status != IBV_WC_SUCCESS)
        wc->vendor_err = vendor_err(cqe);
    if (recv)
        fill_recv(cqe, wc);
    else
        wc->opcode = send_opcode(wr.op);
    if (!recv && is_bind(wr.op))
        bdy_mw_completed(ctx, &wr, wc->status != IBV_WC_SUCCESS, (uint32_t)bdy_cqe_get_rkey(cqe));
    return 1;
}

static int drain(struct bdy_ctx *ctx, struct bdy_cq *cq, int entries, struct ibv_wc *wc)
{
    int filled = 0;
    const uint32_t before = cq->ci;
    const uint64_t *cqe;
    while (filled < entries && (cqe = bdy_cq_entry(cq, cq->ci)) != NULL) {
        filled += fill(ctx, cqe, &wc[filled]);
        cq->ci++;
    }
    if (cq->ci != before)
        atomic_store_explicit(cq->consumer, cq->ci, memory_order_release);
    return filled;
}

int bdy_poll_cq(struct ibv_cq *ibcq, int entries, struct ibv_wc *wc)
{
    struct bdy_ctx *ctx = bdy_ctx_of(ibcq->context);
    struct bdy_cq *cq = bdy_cq_of(ibcq);
    int err = bdy_ctx_check(ctx);
    if (err == EPERM) { // a child must not move its parent's consumer index (H21)
        errno = err;
        return -1;
    }
    pthread_mutex_lock(&cq->lock);
    int filled = drain(ctx, cq, entries, wc);
    cq->empty = filled == 0 ? cq->empty + 1 : 0;
    const int tired = entries > 0 && cq->empty > PATIENCE;
    pthread_mutex_unlock(&cq->lock);
    if (tired && err == 0)
        err = bdy_ctx_relax(ctx);
    if (filled == 0 && err != 0) { // H24
        errno = err;
        return -1;
    }
    return filled;
}
