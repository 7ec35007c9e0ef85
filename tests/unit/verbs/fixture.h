// SPDX-License-Identifier: Apache-2.0
// One context on the test double, with a protection domain, a completion queue, memory and queue
// pairs on demand.
#ifndef BDY_TESTS_VERBS_FIXTURE_H
#define BDY_TESTS_VERBS_FIXTURE_H

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstring>
#include <vector>

#include "bdy_verbs.h"
#include "fake_hca.h"
#include "hooks.h"

inline constexpr int kAllRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_MW_BIND;

class Provider : public ::testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        ASSERT_EQ(bdy_client_install_hooks(), 0);
    }

    void SetUp() override
    {
        open();
        pd = ibv_alloc_pd(ctx);
        cq = ibv_create_cq(ctx, 64, nullptr, nullptr, 0);
        ASSERT_TRUE(pd != nullptr && cq != nullptr);
        memory.resize(4096);
        mr = ibv_reg_mr(pd, memory.data(), memory.size(), kAllRights);
        ASSERT_NE(mr, nullptr);
    }

    void TearDown() override
    {
        if (ctx != nullptr)
            ibv_close_device(ctx); // what a test has left open goes with the context
    }

    void open()
    {
        ctx = bdy_verbs_open(fake::direct_transport(&hca));
        ASSERT_NE(ctx, nullptr);
    }

    ibv_qp_init_attr qp_attr() const
    {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq;
        attr.cap = {8, 8, 4, 4, 64};
        attr.qp_type = IBV_QPT_RC;
        return attr;
    }

    static int move(ibv_qp *qp, ibv_qp_state state, uint32_t peer = 0)
    {
        ibv_qp_attr attr{};
        attr.qp_state = state;
        attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        attr.dest_qp_num = peer;
        attr.ah_attr.port_num = attr.port_num = 1;
        attr.ah_attr.dlid = fake::Hca::port_attr().lid;
        int mask = IBV_QP_STATE;
        if (state == IBV_QPS_INIT)
            mask |= IBV_QP_ACCESS_FLAGS | IBV_QP_PORT;
        if (state == IBV_QPS_RTR)
            mask |= IBV_QP_DEST_QPN | IBV_QP_AV;
        return ibv_modify_qp(qp, &attr, mask);
    }

    ibv_qp *new_qp(ibv_qp_init_attr attr, ibv_qp_state state, uint32_t peer = 0)
    {
        ibv_qp *qp = ibv_create_qp(pd, &attr);
        EXPECT_NE(qp, nullptr);
        for (int s = IBV_QPS_INIT; qp != nullptr && s <= static_cast<int>(state); s++)
            EXPECT_EQ(move(qp, static_cast<ibv_qp_state>(s), peer), 0);
        return qp;
    }

    ibv_qp *new_qp(ibv_qp_state state = IBV_QPS_RTS)
    {
        return new_qp(qp_attr(), state);
    }

    // Two queue pairs connected to each other.
    void connect(ibv_qp **a, ibv_qp **b)
    {
        *a = new_qp(IBV_QPS_RESET);
        *b = new_qp(IBV_QPS_RESET);
        for (int s = IBV_QPS_INIT; s <= IBV_QPS_RTS; s++) {
            ASSERT_EQ(move(*a, static_cast<ibv_qp_state>(s), (*b)->qp_num), 0);
            ASSERT_EQ(move(*b, static_cast<ibv_qp_state>(s), (*a)->qp_num), 0);
        }
    }

    ibv_sge sge(uint32_t length, uint32_t at = 0) const
    {
        return {reinterpret_cast<uintptr_t>(memory.data()) + at, length, mr->lkey};
    }

    // One work request; EXPECTs that bad_wr names it exactly when it fails.
    static int post(ibv_qp *qp, ibv_send_wr wr)
    {
        ibv_send_wr *bad = nullptr;
        const int err = ibv_post_send(qp, &wr, &bad);
        EXPECT_EQ(bad, err != 0 ? &wr : nullptr);
        return err;
    }

    static ibv_send_wr send_wr(ibv_wr_opcode opcode, ibv_sge *list = nullptr, int n = 0,
                               unsigned flags = IBV_SEND_SIGNALED)
    {
        ibv_send_wr wr{};
        wr.wr_id = 0x1122334455667788;
        wr.opcode = opcode;
        wr.sg_list = list;
        wr.num_sge = n;
        wr.send_flags = flags;
        return wr;
    }

    static int post_recv(ibv_qp *qp, uint64_t wr_id, ibv_sge *list, int n)
    {
        ibv_recv_wr wr{}, *bad = nullptr;
        wr.wr_id = wr_id;
        wr.sg_list = list;
        wr.num_sge = n;
        const int err = ibv_post_recv(qp, &wr, &bad);
        EXPECT_EQ(bad, err != 0 ? &wr : nullptr);
        return err;
    }

    fake::Qp &fake_qp(const ibv_qp *qp)
    {
        return hca.qps.at(qp->qp_num);
    }

    // The slot of the send ring, as the HCA sees it.
    const uint64_t *slot(const ibv_qp *qp, uint32_t index)
    {
        const fake::Qp &f = fake_qp(qp);
        return f.sq->words() + (index & ((1u << f.sq_log) - 1)) * 8;
    }

    const uint64_t *rwqe(const ibv_qp *qp, uint32_t index)
    {
        const fake::Qp &f = fake_qp(qp);
        return f.rq->words() + ((index & ((1u << f.rq_log) - 1)) * 8 << f.rq_log_stride);
    }

    // A completion as hardware would write it.
    fake::Cqe cqe(const ibv_qp *qp, uint32_t index, uint8_t status = BDY_WC_SUCCESS,
                  bool recv = false) const
    {
        fake::Cqe c{};
        bdy_cqe_set_qpn(c.data(), qp->qp_num);
        bdy_cqe_set_wqe_index(c.data(), index);
        bdy_cqe_set_status(c.data(), status);
        bdy_cqe_set_recv(c.data(), recv);
        bdy_cqe_set_op(c.data(), recv ? BDY_CQE_OP_RECV : BDY_CQE_OP_SEND);
        return c;
    }

    void complete(const ibv_qp *qp, uint32_t index, uint8_t status = BDY_WC_SUCCESS)
    {
        hca.push_cqe(cq->handle, cqe(qp, index, status));
    }

    ibv_wc poll_one()
    {
        ibv_wc wc{};
        EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
        return wc;
    }

    bool cq_is_empty()
    {
        ibv_wc wc;
        return ibv_poll_cq(cq, 1, &wc) == 0;
    }

    unsigned calls(uint32_t op) const
    {
        unsigned n = 0;
        for (const uint32_t call : hca.calls)
            n += call == op;
        return n;
    }

    fake::Hca hca;
    ibv_context *ctx = nullptr;
    ibv_pd *pd = nullptr;
    ibv_cq *cq = nullptr;
    ibv_mr *mr = nullptr;
    std::vector<uint8_t> memory;
};

#endif
