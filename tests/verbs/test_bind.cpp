// SPDX-License-Identifier: Apache-2.0
// Bind rules (S1 to S8, B1 to B24) end to end: ibv_bind_mw() and ibv_post_send() down to the RTL and back.
#include "rig.hpp"

namespace {

using rig::Pair;
using rig::Region;

constexpr unsigned kRead = IBV_ACCESS_REMOTE_READ, kWrite = IBV_ACCESS_REMOTE_WRITE;

class Bind1 : public Pair {};
class Bind2 : public Pair {};

TEST_F(Bind1, S1_EveryFieldIsHonouredAndTheWrIdComesBack) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr() + 256, 512, kRead | kWrite, IBV_SEND_SIGNALED, 0xfeedfacecafebeefull), 0);
    ibv_wc wc = next();
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.wr_id, 0xfeedfacecafebeefull);
    EXPECT_EQ(wc.opcode, IBV_WC_BIND_MW);
    EXPECT_EQ(wc.qp_num, own->qp_num);
    memset(buf.p, 0x5a, 512);
    EXPECT_EQ(write(mem.addr() + 256, mw->rkey, 512), IBV_WC_SUCCESS);
    EXPECT_EQ(memcmp(mem.p + 256, buf.p, 512), 0);
    EXPECT_EQ(mem.p[255], 0);
    EXPECT_EQ(mem.p[768], 0);
    EXPECT_EQ(read(mem.addr() + 256, mw->rkey, 512), IBV_WC_SUCCESS);
}

TEST_F(Bind1, S5_P17_NewKeyIsInTheStructAtReturn) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    uint32_t old = mw->rkey;
    ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr(), 64, kRead), 0);
    EXPECT_EQ(mw->rkey, ibv_inc_rkey(old)); // K2, K3: index stays, low byte moves by one
    EXPECT_EQ(next().status, IBV_WC_SUCCESS);
}

TEST_F(Bind1, S7_AfterAFailedBindTheOldBindingWorksAndTheOldKeyIsGoodAgain) {
    Region ro = region(4096, IBV_ACCESS_MW_BIND);
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    uint32_t good = mw->rkey;
    EXPECT_EQ(bound(bind1(own, mw, ro.mr, ro.addr(), 64, kWrite)), IBV_WC_MW_BIND_ERR);
    mw->rkey = good;
    reconnect();
    EXPECT_EQ(read(mem.addr(), good, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr() + 64, 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr() + 64, mw->rkey, 64), IBV_WC_SUCCESS);
}

TEST_F(Bind1, S8_O1_KeySentRightBehindTheBindWorks) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    for (int i = 0; i < 20; i++) {
        ASSERT_EQ(recv(peer, sge(buf, 4096, 4)), 0);
        ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr() + 64 * i, 64, kRead, 0), 0);
        memcpy(mem.p + 4096, &mw->rkey, 4);
        ASSERT_EQ(post(own, IBV_WR_SEND, sge(mem, 4096, 4), 0, 0, 0), 0);
        ASSERT_EQ(next(peer_cq).status, IBV_WC_SUCCESS);
        uint32_t key;
        memcpy(&key, buf.p + 4096, 4);
        ASSERT_EQ(read(mem.addr() + 64 * i, key, 64), IBV_WC_SUCCESS) << i;
    }
    EXPECT_TRUE(nothing(cq_)) << "W1: unsignaled successes leave no completion";
}

struct Right { int mr; unsigned mw; bool binds; };
class BindMatrix : public Pair, public ::testing::WithParamInterface<Right> {};

TEST_P(BindMatrix, B6_B7_B8_B9_RightsOfRegionAgainstRightsOfWindow) {
    Region r = region(4096, GetParam().mr);
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    EXPECT_EQ(bound(bind1(own, mw, r.mr, r.addr(), 64, GetParam().mw)), GetParam().binds ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR);
    if (!GetParam().binds) return;
    EXPECT_EQ(read(r.addr(), mw->rkey, 64), GetParam().mw & kRead ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(write(r.addr(), mw->rkey, 64), GetParam().mw & kWrite ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
}
INSTANTIATE_TEST_SUITE_P(All, BindMatrix,
                         ::testing::Values(Right{IBV_ACCESS_MW_BIND, kRead, true}, Right{IBV_ACCESS_MW_BIND, kWrite, false},
                                           Right{IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_ATOMIC, false},
                                           Right{IBV_ACCESS_MW_BIND, 0, true},
                                           Right{IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE, kWrite, true},
                                           Right{IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE, kWrite | kRead, true},
                                           Right{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, kRead, false},
                                           Right{IBV_ACCESS_LOCAL_WRITE, 0, false}));

struct Edge { int64_t off; uint64_t len; bool binds; };
class BindRange : public Pair, public ::testing::WithParamInterface<Edge> {};

TEST_P(BindRange, B10_B11_RangeMustLieInsideTheRegion) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr() + uint64_t(GetParam().off), GetParam().len, kRead)),
              GetParam().binds ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR);
}
INSTANTIATE_TEST_SUITE_P(Edges, BindRange,
                         ::testing::Values(Edge{0, 8192, true}, Edge{-1, 64, false}, Edge{8191, 1, true}, Edge{8192, 1, false},
                                           Edge{8192 - 64, 64, true}, Edge{8192 - 63, 64, false}, Edge{0, 8193, false},
                                           Edge{0x800, ~0ull - 0x800 + 1, false}, Edge{-0x400, 0x1800, false}));

TEST_F(Bind1, B15_B16_P5_UnbindKillsOldAndNewKeyAndMovesTheKey) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    uint32_t old = mw->rkey;
    EXPECT_EQ(bound(bind1(own, mw, nullptr, 0, 0, 0)), IBV_WC_SUCCESS);
    EXPECT_EQ(mw->rkey, ibv_inc_rkey(old));
    EXPECT_EQ(read(mem.addr(), old, 64), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 0, kRead)), IBV_WC_SUCCESS) << "the other form: region and length 0";
}

TEST_F(Bind1, B19_RebindInOneStepAlsoFromAnotherQueuePair) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    uint32_t old = mw->rkey;
    ASSERT_EQ(bind1(peer, mw, mem.mr, mem.addr() + 64, 64, kRead), 0);
    ASSERT_EQ(done(peer_cq), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr() + 64, mw->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), old, 64), IBV_WC_REM_ACCESS_ERR); // O8
}

TEST_F(Bind1, P7_ZeroBasedWindowCountsFromZero) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr() + 100, 64, kRead | kWrite | IBV_ACCESS_ZERO_BASED)), IBV_WC_SUCCESS);
    memset(buf.p, 0x77, 64);
    EXPECT_EQ(write(0, mw->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(memcmp(mem.p + 100, buf.p, 64), 0);
    EXPECT_EQ(read(mem.addr() + 100, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR); // A11
}

TEST_F(Bind2, B18_B20_I1_I17_Type2LifeOfBindAndInvalidate) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    uint32_t index = mw->rkey & ~0xffu;
    ASSERT_EQ(bind2(own, mw, mw->rkey ^ 0x5a, mem.mr, mem.addr(), 128, kRead | kWrite), 0);
    EXPECT_EQ(mw->rkey & ~0xffu, index); // K2, decision 5
    ASSERT_EQ(next().status, IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), mw->rkey, 128), IBV_WC_SUCCESS);
    ASSERT_EQ(invalidate(own, mw->rkey), 0);
    ibv_wc wc = next();
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.opcode, IBV_WC_LOCAL_INV); // W4
    EXPECT_EQ(read(mem.addr(), mw->rkey, 128), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(bound(bind2(own, mw, mw->rkey, mem.mr, mem.addr(), 128, kRead)), IBV_WC_SUCCESS) << "K5: the same key again";
    EXPECT_EQ(bound(bind2(own, mw, mw->rkey + 1, mem.mr, mem.addr(), 128, kRead)), IBV_WC_MW_BIND_ERR) << "B20";
}

TEST_F(Bind2, B18_LengthZeroIsRefused) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    EXPECT_EQ(bound(bind2(own, mw, mw->rkey, mem.mr, mem.addr(), 0, kRead)), IBV_WC_MW_BIND_ERR);
    EXPECT_EQ(state(own), IBV_QPS_ERR); // decision 19
}

TEST_F(Bind2, A5_OnlyTheQueuePairItIsBoundToReachesIt) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind2(own, mw, mw->rkey, mem.mr, mem.addr(), 128, kRead)), IBV_WC_SUCCESS);
    ibv_qp *a = qp(), *b = qp(nullptr, 0, peer_cq, peer_cq);
    connect(a, b);
    ASSERT_EQ(post(b, IBV_WR_RDMA_READ, sge(buf, 0, 64), mem.addr(), mw->rkey), 0);
    EXPECT_EQ(done(peer_cq), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_SUCCESS);
}

TEST_F(Bind1, W2_W5_Q2_AFailedBindCompletesEvenUnsignaledAndTheRestIsFlushedInOrder) {
    Region ro = region(4096, IBV_ACCESS_LOCAL_WRITE);
    ibv_mw *mw = window(IBV_MW_TYPE_1), *later = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bind1(own, mw, ro.mr, ro.addr(), 64, 0, 0, 100), 0);
    ASSERT_EQ(bind1(own, later, mem.mr, mem.addr(), 64, kRead, 0, 101), 0);
    ASSERT_EQ(post(own, IBV_WR_SEND, sge(mem, 0, 16), 0, 0, 0, 102), 0);
    ibv_wc wc = next();
    EXPECT_EQ(wc.status, IBV_WC_MW_BIND_ERR);
    EXPECT_EQ(wc.wr_id, 100u);
    EXPECT_EQ(wc.vendor_err & 0xffff, unsigned(BDY_RULE_B6));
    for (uint64_t id : {101, 102}) {
        wc = next();
        EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
        EXPECT_EQ(wc.wr_id, id);
    }
    ASSERT_EQ(post(own, IBV_WR_SEND, sge(mem, 0, 16), 0, 0, 0, 103), 0);
    wc = next();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.wr_id, 103u);
}

TEST_F(Bind1, O2_AfterTheCompletionTheKeyWorksThroughAnotherQueuePair) {
    ibv_qp *a = qp(), *b = qp(nullptr, 0, peer_cq, peer_cq);
    connect(a, b);
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    memset(mem.p, 0x3c, 64);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(post(b, IBV_WR_RDMA_READ, sge(buf, 0, 64), mem.addr(), mw->rkey), 0); // the key went by the program's own memory
    EXPECT_EQ(done(peer_cq), IBV_WC_SUCCESS);
    EXPECT_EQ(memcmp(mem.p, buf.p, 64), 0);
}

TEST_F(Bind2, O3_O6_BindInvalidateAndSendKeepTheirOrderWithoutAFenceRoundTheRing) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    for (int i = 0; i < 40; i++) { // 160 work requests on a queue of 64
        memset(mem.p, i + 1, 64);
        ASSERT_EQ(recv(peer, sge(buf, 4096, 4)), 0);
        ASSERT_EQ(bind2(own, mw, uint32_t(i), mem.mr, mem.addr(), 64, kRead, 0), 0);
        memcpy(mem.p + 4096, &mw->rkey, 4);
        ASSERT_EQ(post(own, IBV_WR_SEND, sge(mem, 4096, 4), 0, 0, 0), 0);
        ASSERT_EQ(next(peer_cq).status, IBV_WC_SUCCESS);
        uint32_t key;
        memcpy(&key, buf.p + 4096, 4);
        ASSERT_EQ(read(mem.addr(), key, 64), IBV_WC_SUCCESS) << i;
        ASSERT_EQ(buf.p[0], i + 1);
        ASSERT_EQ(invalidate(own, key, 0), 0);
        ASSERT_EQ(bind2(own, mw, uint32_t(i + 128), mem.mr, mem.addr(), 64, kRead, 0), 0) << "B20 unless the invalidate is done";
        ASSERT_EQ(invalidate(own, mw->rkey), 0);
        ibv_wc wc = next();
        ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << i;
        ASSERT_EQ(wc.opcode, IBV_WC_LOCAL_INV);
    }
}

}  // namespace
