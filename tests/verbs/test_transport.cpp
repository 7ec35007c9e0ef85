// SPDX-License-Identifier: Apache-2.0
// The reliable connection as a program sees it (T1 to T14): every packet size, receivers that are not ready, peers that are gone, bad links.
#include <algorithm>

#include "rig.hpp"

namespace {

using rig::Region;

class Transport : public rig::Pair {
  protected:
    void SetUp() override {
        rig::Pair::SetUp();
        fill(1);
    }
    void fill(unsigned salt) {
        for (size_t i = 0; i < buf.bytes; i++) buf.p[i] = uint8_t(rig::mix(i * 64 + salt));
        memset(mem.p, 0, mem.bytes);
    }
    void again() {
        ASSERT_EQ(to_state(own, IBV_QPS_RESET), 0);
        ASSERT_EQ(to_state(peer, IBV_QPS_RESET), 0);
        connect(own, peer, link);
    }
    ibv_wc got(ibv_cq *cq) { return next(cq, 60000000); }
};

class TransportMtu : public Transport, public ::testing::WithParamInterface<ibv_mtu> {};

TEST_P(TransportMtu, T1_T2_MessagesAroundEveryPacketSizeArriveWhole) {
    link.mtu = GetParam();
    again();
    const size_t mtu = 128u << GetParam();
    for (size_t len : {size_t(1), size_t(3), mtu - 1, mtu, mtu + 1, 2 * mtu, std::min<size_t>(3 * mtu + 5, 8192)}) {
        SCOPED_TRACE(len);
        if (len > 8191) continue;
        fill(unsigned(len));
        ASSERT_EQ(recv(own, sge(mem)), 0);
        ASSERT_EQ(post(peer, IBV_WR_SEND, sge(buf, 0, len), 0, 0), 0);
        EXPECT_EQ(got(peer_cq).status, IBV_WC_SUCCESS);
        const ibv_wc wc = got(cq_);
        EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
        EXPECT_EQ(wc.byte_len, len);
        EXPECT_EQ(memcmp(mem.p, buf.p, len), 0);
        EXPECT_EQ(mem.p[len], 0);
        memset(mem.p, 0, mem.bytes);
        EXPECT_EQ(write(mem.addr() + 1, mem.mr->rkey, len), IBV_WC_SUCCESS);
        EXPECT_EQ(memcmp(mem.p + 1, buf.p, len), 0);
        EXPECT_EQ(mem.p[0], 0);
        memset(buf.p, 0, buf.bytes);
        EXPECT_EQ(read(mem.addr() + 1, mem.mr->rkey, len), IBV_WC_SUCCESS);
        EXPECT_EQ(memcmp(mem.p + 1, buf.p, len), 0);
        EXPECT_EQ(buf.p[len], 0);
    }
}
INSTANTIATE_TEST_SUITE_P(All, TransportMtu,
                         ::testing::Values(IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096));

TEST_F(Transport, T5_ASendWaitsForAReceive) {
    ASSERT_EQ(post(peer, IBV_WR_SEND, sge(buf, 0, 3000), 0, 0), 0);
    EXPECT_TRUE(nothing(peer_cq));
    ASSERT_EQ(recv(own, sge(mem)), 0);
    EXPECT_EQ(got(peer_cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(got(cq_).byte_len, 3000u);
    EXPECT_EQ(memcmp(mem.p, buf.p, 3000), 0);
}

TEST_F(Transport, T5_RetriesForAReceiveAreCounted) {
    link.rnr_retry = 2;
    again();
    ASSERT_EQ(post(peer, IBV_WR_SEND, sge(buf, 0, 100), 0, 0), 0);
    EXPECT_EQ(got(peer_cq).status, IBV_WC_RNR_RETRY_EXC_ERR);
    EXPECT_EQ(state(peer), IBV_QPS_ERR);
    EXPECT_EQ(state(own), IBV_QPS_RTS);
}

TEST_F(Transport, T6_T11_APeerThatIsGoneEndsInRetriesExceeded) {
    link.timeout = 8;
    link.retry = 2;
    again();
    ASSERT_EQ(to_state(own, IBV_QPS_RESET), 0);
    const uint64_t start = hca_->now();
    ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE, sge(buf, 0, 100), mem.addr(), mem.mr->rkey), 0);
    EXPECT_EQ(got(peer_cq).status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_GE(hca_->now() - start, 3u * (1024u << 8)) << "4.096 us x 2^8, three times";
    EXPECT_EQ(mem.p[0], 0);
}

TEST_F(Transport, T7_ReadsBeyondTheLimitWaitTheirTurn) {
    for (uint8_t limit : {uint8_t(1), uint8_t(4)}) {
        link.max_rd = link.max_dest_rd = limit;
        again();
        for (size_t i = 0; i < mem.bytes; i++) mem.p[i] = uint8_t(rig::mix(i));
        for (unsigned i = 0; i < 12; i++) {
            ASSERT_EQ(post(peer, IBV_WR_RDMA_READ, sge(buf, i * 600, 600), mem.addr() + i * 600, mem.mr->rkey, IBV_SEND_SIGNALED, i), 0);
        }
        for (unsigned i = 0; i < 12; i++) {
            const ibv_wc wc = got(peer_cq);
            EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            EXPECT_EQ(wc.wr_id, i);
        }
        EXPECT_EQ(memcmp(mem.p, buf.p, 7200), 0);
    }
}

TEST_F(Transport, T9_ASendLongerThanItsReceive) {
    ASSERT_EQ(recv(own, sge(mem, 0, 2000)), 0);
    ASSERT_EQ(post(peer, IBV_WR_SEND, sge(buf, 0, 2001), 0, 0), 0);
    EXPECT_EQ(got(cq_).status, IBV_WC_LOC_LEN_ERR);
    EXPECT_EQ(got(peer_cq).status, IBV_WC_REM_INV_REQ_ERR);
    EXPECT_EQ(mem.p[2000], 0);
}

TEST_F(Transport, T9_M8_AReceiveThatMayNotBeWritten) {
    Region ro = region(4096, IBV_ACCESS_REMOTE_READ);
    ASSERT_EQ(recv(own, sge(ro)), 0);
    ASSERT_EQ(post(peer, IBV_WR_SEND, sge(buf, 0, 100), 0, 0), 0);
    EXPECT_EQ(got(cq_).status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(got(peer_cq).status, IBV_WC_REM_OP_ERR);
    EXPECT_EQ(ro.p[0], 0);
}

TEST_F(Transport, T13_ZeroLengthSendAndWriteWithImmediateTakeAReceiveEach) {
    ASSERT_EQ(recv(own, {0, 0, 0}, 10), 0);
    ASSERT_EQ(recv(own, sge(mem), 11), 0);
    ASSERT_EQ(post(peer, IBV_WR_SEND, {0, 0, 0}, 0, 0), 0);
    ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE_WITH_IMM, {0, 0, 0}, 0, 0), 0);
    for (uint64_t id : {10, 11}) {
        EXPECT_EQ(got(peer_cq).status, IBV_WC_SUCCESS);
        const ibv_wc wc = got(cq_);
        EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
        EXPECT_EQ(wc.wr_id, id);
        EXPECT_EQ(wc.byte_len, 0u);
        EXPECT_EQ(wc.opcode, id == 10 ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM);
        EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, id == 10 ? 0u : unsigned(IBV_WC_WITH_IMM));
    }
    EXPECT_EQ(mem.p[0], 0);
}

TEST_F(Transport, T12_N5_MasksAndTransitionsAreChecked) {
    ibv_qp *q = qp();
    ibv_qp_attr a = {};
    a.qp_state = IBV_QPS_RTS;
    EXPECT_EQ(ibv_modify_qp(q, &a, IBV_QP_STATE), EINVAL) << "RESET to RTS";
    a.qp_state = IBV_QPS_INIT;
    EXPECT_EQ(ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_PORT), EINVAL) << "attributes are missing";
    EXPECT_EQ(state(q), IBV_QPS_RESET);
    ASSERT_EQ(to_init(q, 0), 0);
    Link wide;
    wide.mtu = ibv_mtu(6);
    EXPECT_EQ(to_rtr(q, own->qp_num, wide), EINVAL) << "larger than the active MTU";
    EXPECT_EQ(state(q), IBV_QPS_INIT);
    EXPECT_EQ(to_rtr(q, own->qp_num, Link()), 0);
}

/// Loopback packets are lost, doubled and reordered.
class TransportFaults : public Transport, public ::testing::WithParamInterface<uint64_t> {
  protected:
    void configure() override { cfg_.link_fault = GetParam(); }
};

TEST_P(TransportFaults, T3_T4_T6_T8_EveryMessageArrivesOnceInOrderAndWhole) {
    link.timeout = 7;
    again();
    const uint64_t start = hca_->now();
    for (unsigned round = 0; round < 12; round++) {
        SCOPED_TRACE(round);
        fill(round);
        const size_t len = 1 + rig::mix(round + cfg_.seed) % 4000;
        ASSERT_EQ(recv(own, sge(mem, 0, 4096), round), 0);
        ASSERT_EQ(post(peer, IBV_WR_SEND, sge(buf, 0, len), 0, 0, IBV_SEND_SIGNALED, 1), 0);
        ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE, sge(buf, 0, len), mem.addr() + 4096, mem.mr->rkey, IBV_SEND_SIGNALED, 2), 0);
        ASSERT_EQ(post(peer, IBV_WR_RDMA_READ, sge(buf, 4096, len), mem.addr() + 4096, mem.mr->rkey, IBV_SEND_SIGNALED, 3), 0);
        for (uint64_t id : {1, 2, 3}) {
            const ibv_wc wc = got(peer_cq);
            ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << id;
            ASSERT_EQ(wc.wr_id, id);
        }
        const ibv_wc wc = got(cq_);
        ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
        EXPECT_EQ(wc.wr_id, round);
        EXPECT_EQ(wc.byte_len, len);
        for (const uint8_t *there : {mem.p, mem.p + 4096, buf.p + 4096}) EXPECT_EQ(memcmp(there, buf.p, len), 0);
    }
    if (GetParam() & 0xffff) { EXPECT_GT(hca_->now() - start, 1024u << 7) << "no loss, no time-out: the link was not bad at all"; }
    EXPECT_TRUE(nothing(cq_)) << "a message arrived twice";
    EXPECT_TRUE(nothing(peer_cq));
}
INSTANTIATE_TEST_SUITE_P(Faults, TransportFaults,
                         ::testing::Values(4000ull, 6000ull << 16, 6000ull << 32, 3000ull | 3000ull << 16 | 3000ull << 32));

}  // namespace
