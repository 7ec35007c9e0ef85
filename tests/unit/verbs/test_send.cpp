// SPDX-License-Identifier: Apache-2.0
// What a posted work request looks like to hardware, and which ones are refused.

#include <cerrno>
#include <numeric>

#include "fixture.h"

namespace
{

class Send : public Provider
{
  protected:
    void SetUp() override
    {
        Provider::SetUp();
        hca.executes = false;
        std::iota(memory.begin(), memory.end(), uint8_t{0});
    }

    const fake::Doorbell &last_doorbell() const
    {
        return hca.doorbells.back();
    }
};

TEST_F(Send, SendWithTwoSgesIsOneSlot)
{
    ibv_qp *qp = new_qp();
    ibv_sge list[2] = {sge(100), sge(28, 512)};
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND, list, 2)), 0);
    const uint64_t *w = slot(qp, 0);
    EXPECT_EQ(bdy_wqe_get_op(w), BDY_WQE_OP_SEND);
    EXPECT_EQ(bdy_wqe_get_num_sge(w), 2u);
    EXPECT_EQ(bdy_wqe_get_slots(w), 1u);
    EXPECT_EQ(bdy_wqe_get_index(w), 0u);
    EXPECT_EQ(bdy_wqe_get_signaled(w), 1u);
    EXPECT_EQ(bdy_wqe_get_fence(w), 0u);
    EXPECT_EQ(bdy_wqe_get_inl(w), 0u);
    EXPECT_TRUE(bdy_wqe_rsvd_zero(w));
    EXPECT_EQ(bdy_sge_get_addr(w + 4), list[0].addr);
    EXPECT_EQ(bdy_sge_get_len(w + 4), 100u);
    EXPECT_EQ(bdy_sge_get_lkey(w + 4), mr->lkey);
    EXPECT_EQ(bdy_sge_get_addr(w + 6), list[1].addr);
    EXPECT_EQ(bdy_sge_get_len(w + 6), 28u);
    EXPECT_EQ(last_doorbell().offset, 0u);
    EXPECT_EQ(bdy_db_wq_get_qpn(&last_doorbell().value), qp->qp_num);
    EXPECT_EQ(bdy_db_wq_get_index(&last_doorbell().value), 1u);
    EXPECT_TRUE(bdy_db_wq_rsvd_zero(&last_doorbell().value));
}

TEST_F(Send, WriteAndReadCarryTheRemoteRange)
{
    ibv_qp *qp = new_qp();
    ibv_sge list[1] = {sge(64)};
    const struct {
        ibv_wr_opcode opcode;
        uint8_t op;
        bool imm;
    } cases[] = {{IBV_WR_RDMA_WRITE, BDY_WQE_OP_WRITE, false},
                 {IBV_WR_RDMA_WRITE_WITH_IMM, BDY_WQE_OP_WRITE_IMM, true},
                 {IBV_WR_RDMA_READ, BDY_WQE_OP_READ, false}};
    uint32_t index = 0;
    for (const auto &c : cases) {
        ibv_send_wr wr = send_wr(c.opcode, list, 1, IBV_SEND_FENCE);
        wr.wr.rdma.remote_addr = 0xfedcba9876543210;
        wr.wr.rdma.rkey = 0x89abcdef;
        wr.imm_data = 0x01020304;
        ASSERT_EQ(post(qp, wr), 0);
        const uint64_t *w = slot(qp, index);
        EXPECT_EQ(bdy_wqe_get_op(w), c.op);
        EXPECT_EQ(bdy_wqe_get_index(w), index++);
        EXPECT_EQ(bdy_wqe_get_addr(w), 0xfedcba9876543210u);
        EXPECT_EQ(bdy_wqe_get_rkey(w), 0x89abcdefu);
        EXPECT_EQ(bdy_wqe_get_imm(w), c.imm ? 0x01020304u : 0u);
        EXPECT_EQ(bdy_wqe_get_fence(w), 1u);
        EXPECT_EQ(bdy_wqe_get_signaled(w), 0u);
        EXPECT_TRUE(bdy_wqe_rsvd_zero(w));
    }
}

TEST_F(Send, SolicitedReachesHardwareOnlyWhereItMeansSomething)
{
    ibv_qp *qp = new_qp();
    const struct {
        ibv_wr_opcode opcode;
        bool solicits;
    } cases[] = {{IBV_WR_SEND, true},
                 {IBV_WR_SEND_WITH_IMM, true},
                 {IBV_WR_RDMA_WRITE_WITH_IMM, true},
                 {IBV_WR_RDMA_WRITE, false},
                 {IBV_WR_RDMA_READ, false}};
    uint32_t index = 0;
    for (const auto &c : cases) {
        ASSERT_EQ(post(qp, send_wr(c.opcode, nullptr, 0, IBV_SEND_SOLICITED)), 0);
        EXPECT_EQ(bdy_wqe_get_solicited(slot(qp, index++)), c.solicits);
    }
}

TEST_F(Send, SgesRunOnFromSlotToSlotAndWrapAtTheRingsEnd)
{
    ibv_qp_init_attr attr = qp_attr();
    attr.cap = {4, 1, 16, 1, 0};
    ibv_qp *qp = new_qp(attr, IBV_QPS_RTS); // 5 slots a WQE: ring of 32
    ASSERT_EQ(fake_qp(qp).sq_log, 5u);
    std::vector<ibv_sge> list;
    for (uint32_t i = 0; i < 16; i++)
        list.push_back(sge(i + 1, i * 32));
    for (uint32_t start = 0; start < 100; start += 5) {
        ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND, list.data(), 16)), 0);
        EXPECT_EQ(bdy_wqe_get_slots(slot(qp, start)), 5u);
        EXPECT_EQ(bdy_wqe_get_index(slot(qp, start)), start);
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t at = 32 + 16 * i;
            const uint64_t *s = slot(qp, start + at / 64) + at % 64 / 8;
            EXPECT_EQ(bdy_sge_get_addr(s), list[i].addr);
            EXPECT_EQ(bdy_sge_get_len(s), i + 1);
        }
        complete(qp, start);
        poll_one();
    }
}

TEST_F(Send, InlineDataIsCopiedAtPostFromSeveralPieces)
{
    ibv_qp_init_attr attr = qp_attr();
    attr.cap.max_inline_data = 200;
    ibv_qp *qp = new_qp(attr, IBV_QPS_RTS);
    ibv_sge list[3] = {sge(50), sge(0, 1000), sge(71, 200)};
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND, list, 3, IBV_SEND_INLINE)), 0);
    const std::vector<uint8_t> sent = [&] {
        std::vector<uint8_t> v(memory.begin(), memory.begin() + 50);
        v.insert(v.end(), memory.begin() + 200, memory.begin() + 271);
        return v;
    }();
    std::fill(memory.begin(), memory.end(), 0xff);
    const uint64_t *w = slot(qp, 0);
    EXPECT_EQ(bdy_wqe_get_inl(w), 1u);
    EXPECT_EQ(bdy_wqe_get_inl_len(w), 121u);
    EXPECT_EQ(bdy_wqe_get_num_sge(w), 0u);
    EXPECT_EQ(bdy_wqe_get_slots(w), 3u);
    for (uint32_t i = 0; i < sent.size(); i++)
        ASSERT_EQ(reinterpret_cast<const uint8_t *>(slot(qp, (32 + i) / 64))[(32 + i) % 64],
                  sent[i])
            << i;
}

TEST_F(Send, InlineLimitIsExact_N3)
{
    ibv_qp *qp = new_qp();
    ibv_sge fits[2] = {sge(63), sge(1)}, over[2] = {sge(63), sge(2)},
            wraps[2] = {sge(0xffffffff), sge(2)};
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, fits, 2, IBV_SEND_INLINE)), 0);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, over, 2, IBV_SEND_INLINE)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, wraps, 2, IBV_SEND_INLINE)), EINVAL);
}

TEST_F(Send, FlagsOfAnEarlierWqeDoNotStayInItsSlot)
{
    ibv_qp_init_attr attr = qp_attr();
    attr.cap = {2, 1, 1, 1, 0};
    ibv_qp *qp = new_qp(attr, IBV_QPS_RTS);
    ibv_send_wr inv = send_wr(IBV_WR_LOCAL_INV, nullptr, 0, IBV_SEND_FENCE | IBV_SEND_SIGNALED);
    inv.invalidate_rkey = 0xffffffff;
    for (uint32_t i = 0; i < 2; i++) {
        ASSERT_EQ(post(qp, inv), 0);
        complete(qp, i);
        poll_one();
    }
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND, nullptr, 0, 0)), 0);
    const uint64_t *w = slot(qp, 2);
    EXPECT_EQ(bdy_wqe_get_fence(w), 0u);
    EXPECT_EQ(bdy_wqe_get_signaled(w), 0u);
    EXPECT_EQ(bdy_wqe_get_inv_key(w), 0u);
}

TEST_F(Send, SigAllSignalsEverything_W1)
{
    ibv_qp_init_attr attr = qp_attr();
    attr.sq_sig_all = 1;
    ibv_qp *qp = new_qp(attr, IBV_QPS_RTS);
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND, nullptr, 0, 0)), 0);
    EXPECT_EQ(bdy_wqe_get_signaled(slot(qp, 0)), 1u);
}

TEST_F(Send, LocalInvalidateCarriesTheFullKey_K10)
{
    ibv_qp *qp = new_qp();
    ibv_send_wr wr = send_wr(IBV_WR_LOCAL_INV);
    wr.invalidate_rkey = 0xcafef00d;
    wr.sg_list = reinterpret_cast<ibv_sge *>(1); // P20: not to be read
    ASSERT_EQ(post(qp, wr), 0);
    EXPECT_EQ(bdy_wqe_get_op(slot(qp, 0)), BDY_WQE_OP_LOCAL_INV);
    EXPECT_EQ(bdy_wqe_get_inv_key(slot(qp, 0)), 0xcafef00du);
    EXPECT_TRUE(bdy_wqe_rsvd_zero(slot(qp, 0)));
}

TEST_F(Send, FlagsAndOpcodesPassByAllowList_P12_P15)
{
    ibv_qp *qp = new_qp();
    const unsigned csum = IBV_SEND_IP_CSUM;
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, nullptr, 0, csum)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, nullptr, 0, 1u << 31)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_RDMA_READ, nullptr, 0, IBV_SEND_INLINE)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_LOCAL_INV, nullptr, 0, IBV_SEND_SOLICITED)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_LOCAL_INV, nullptr, 0, IBV_SEND_INLINE)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(static_cast<ibv_wr_opcode>(99))), EINVAL);
    EXPECT_EQ(post(qp, send_wr(static_cast<ibv_wr_opcode>(-1))), EINVAL);
    for (ibv_wr_opcode op : {IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
                             IBV_WR_SEND_WITH_INV, IBV_WR_TSO, IBV_WR_DRIVER1, IBV_WR_ATOMIC_WRITE})
        EXPECT_EQ(post(qp, send_wr(op)), EOPNOTSUPP);
    EXPECT_TRUE(hca.doorbells.empty());
}

TEST_F(Send, SgeCountIsChecked_P15_P20)
{
    ibv_qp *qp = new_qp();
    ibv_sge list[5] = {sge(1), sge(1), sge(1), sge(1), sge(1)};
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list, 4)), 0);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list, 5)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list, -1)), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_LOCAL_INV, list, 1)), EINVAL);
}

TEST_F(Send, AFullQueueIsEnomemAndEarlierRequestsStay_P14)
{
    ibv_qp *qp = new_qp(); // max_send_wr 8
    std::vector<ibv_send_wr> chain(10, send_wr(IBV_WR_SEND));
    for (size_t i = 0; i + 1 < chain.size(); i++)
        chain[i].next = &chain[i + 1];
    ibv_send_wr *bad = nullptr;
    EXPECT_EQ(ibv_post_send(qp, chain.data(), &bad), ENOMEM);
    EXPECT_EQ(bad, &chain[8]);
    ASSERT_EQ(hca.doorbells.size(), 1u); // one doorbell for the eight
    EXPECT_EQ(bdy_db_wq_get_index(&last_doorbell().value), 8u);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), ENOMEM);
    complete(qp, 2); // and with it all before: three places
    EXPECT_EQ(poll_one().status, IBV_WC_SUCCESS);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), 0);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), ENOMEM);
}

TEST_F(Send, ARingFullOfLongRequestsIsFull_P14)
{
    hca.counts_slots = true;
    ibv_qp_init_attr attr = qp_attr();
    attr.cap = {4, 1, 16, 1, 0};
    ibv_qp *qp = new_qp(attr, IBV_QPS_RTS); // 32 slots, 5 a request
    std::vector<ibv_sge> list(16, sge(1));
    for (int i = 0; i < 6; i++)
        EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list.data(), 16)), 0);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list.data(), 16)), ENOMEM);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list.data(), 3)), 0); // takes the last two slots
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list.data(), 1)), ENOMEM);
    complete(qp, 0);
    EXPECT_EQ(poll_one().status, IBV_WC_SUCCESS);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND, list.data(), 16)), 0);
}

TEST_F(Send, ABadRequestStopsAChainBehindTheGoodOnes_P14_P16)
{
    ibv_qp *qp = new_qp();
    ibv_send_wr third = send_wr(IBV_WR_SEND), second = send_wr(static_cast<ibv_wr_opcode>(77)),
                first = send_wr(IBV_WR_SEND), *bad = nullptr;
    first.next = &second;
    second.next = &third;
    EXPECT_EQ(ibv_post_send(qp, &first, &bad), EINVAL);
    EXPECT_EQ(bad, &second);
    EXPECT_EQ(bdy_db_wq_get_index(&last_doorbell().value), 1u);
}

TEST_F(Send, RefusedBeforeRts_Q1)
{
    for (ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR}) {
        ibv_qp *qp = new_qp(state);
        EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), EINVAL);
    }
    EXPECT_TRUE(hca.doorbells.empty());
}

TEST_F(Send, AcceptedInErr_Q2)
{
    hca.executes = true;
    ibv_qp *qp = new_qp();
    ASSERT_EQ(move(qp, IBV_QPS_ERR), 0);
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND, nullptr, 0, 0)), 0);
    EXPECT_EQ(poll_one().status, IBV_WC_WR_FLUSH_ERR);
}

class SendEarly : public Send
{
  protected:
    void SetUp() override
    {
        setenv("BINDERY_POST_BEFORE_RTS", "accept", 1);
        Send::SetUp();
        unsetenv("BINDERY_POST_BEFORE_RTS");
        hca.executes = true;
    }
};

TEST_F(SendEarly, AcceptedBeforeRtsOnRequestAndFlushedInErr_Q1)
{
    ibv_qp *qp = new_qp(IBV_QPS_INIT);
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND)), 0);
    EXPECT_TRUE(hca.doorbells.empty()); // hardware hears of it when it may
    EXPECT_TRUE(cq_is_empty());
    ASSERT_EQ(move(qp, IBV_QPS_ERR), 0);
    const ibv_wc wc = poll_one();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.wr_id, 0x1122334455667788u);
}

TEST_F(SendEarly, ResetForgetsWhatWasAcceptedEarly_Q1)
{
    ibv_qp *qp = new_qp(IBV_QPS_INIT);
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND)), 0);
    ASSERT_EQ(move(qp, IBV_QPS_RESET), 0);
    ASSERT_EQ(move(qp, IBV_QPS_ERR), 0);
    EXPECT_TRUE(hca.doorbells.empty());
    EXPECT_TRUE(cq_is_empty());
}

class Recv : public Send
{
};

TEST_F(Recv, ReceiveWqeHasItsSgesAndNothingOfTheOneBefore)
{
    ibv_qp *qp = new_qp();
    ibv_sge list[4] = {sge(1), sge(2, 64), sge(3, 128), sge(4, 192)};
    for (uint32_t i = 0; i < 8; i++)
        ASSERT_EQ(post_recv(qp, i, list, 4), 0);
    for (uint32_t i = 0; i < 8; i++)
        hca.push_cqe(cq->handle, cqe(qp, i, BDY_WC_SUCCESS, true));
    for (uint64_t i = 0; i < 8; i++)
        EXPECT_EQ(poll_one().wr_id, i);
    ASSERT_EQ(post_recv(qp, 8, list, 1), 0);
    const uint64_t *w = rwqe(qp, 8);
    EXPECT_EQ(bdy_rwqe_get_num_sge(w), 1u);
    EXPECT_EQ(bdy_rwqe_get_index(w), 8u);
    EXPECT_EQ(bdy_sge_get_addr(w + 2), list[0].addr);
    EXPECT_EQ(bdy_sge_get_len(w + 2), 1u);
    EXPECT_EQ(bdy_sge_get_lkey(w + 2), mr->lkey);
    for (int i = 4; i < 16; i++)
        EXPECT_EQ(w[i], 0u) << i;
    EXPECT_EQ(last_doorbell().offset, 8u);
    EXPECT_EQ(bdy_db_wq_get_index(&last_doorbell().value), 9u);
}

TEST_F(Recv, PastTheEndIsEnomemAndTooManySgesEinval_C6)
{
    ibv_qp *qp = new_qp(IBV_QPS_INIT);
    ibv_sge list[5] = {};
    for (int i = 0; i < 8; i++)
        EXPECT_EQ(post_recv(qp, 0, list, 4), 0);
    EXPECT_EQ(post_recv(qp, 0, list, 4), ENOMEM);
    EXPECT_EQ(post_recv(qp, 0, list, 5), EINVAL);
    EXPECT_EQ(post_recv(qp, 0, list, -1), EINVAL);
}

TEST_F(Recv, AChainStopsAtTheFirstThatDoesNotFit_C6)
{
    ibv_qp *qp = new_qp(IBV_QPS_INIT);
    std::vector<ibv_recv_wr> chain(9);
    for (size_t i = 0; i + 1 < chain.size(); i++)
        chain[i].next = &chain[i + 1];
    ibv_recv_wr *bad = nullptr;
    EXPECT_EQ(ibv_post_recv(qp, chain.data(), &bad), ENOMEM);
    EXPECT_EQ(bad, &chain[8]);
    EXPECT_EQ(bdy_db_wq_get_index(&last_doorbell().value), 8u);
}

TEST_F(Recv, RefusedInReset)
{
    ibv_qp *qp = new_qp(IBV_QPS_RESET);
    EXPECT_EQ(post_recv(qp, 0, nullptr, 0), EINVAL);
}

TEST_F(Recv, AQueueOfNoneTakesNone_N3)
{
    ibv_qp_init_attr attr = qp_attr();
    attr.cap.max_recv_wr = 0;
    ibv_qp *qp = new_qp(attr, IBV_QPS_INIT);
    EXPECT_EQ(post_recv(qp, 0, nullptr, 0), ENOMEM);
}

} // namespace
