// SPDX-License-Identifier: Apache-2.0
// Invalidation, deallocation, dependencies and generations (I1 to I17, L1 to L11, N1 to N5, H4, H5), through verbs on the RTL.
#include "rig.hpp"

namespace {

using rig::Pair;
using rig::Region;

constexpr unsigned kRead = IBV_ACCESS_REMOTE_READ, kWrite = IBV_ACCESS_REMOTE_WRITE;

class Invalidate : public Pair {
  protected:
    void refused(int rc, unsigned rule) {
        ASSERT_EQ(rc, 0);
        ibv_wc wc = next();
        EXPECT_EQ(wc.status, IBV_WC_MW_BIND_ERR); // I4, decision 2
        EXPECT_EQ(wc.vendor_err, rule);
        EXPECT_EQ(state(own), IBV_QPS_ERR);
    }
};
class Life : public Pair {};

TEST_F(Invalidate, I2_I3_I6_I13_AFailedOneIsABindErrorEvenUnsignaledAndChangesNothing) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    refused(invalidate(own, one->rkey, 0), BDY_RULE_I2);
    reconnect();
    EXPECT_EQ(read(mem.addr(), one->rkey, 64), IBV_WC_SUCCESS);
    refused(invalidate(own, mem.mr->rkey, 0), BDY_RULE_I13);
    reconnect();
    EXPECT_EQ(read(mem.addr(), mem.mr->rkey, 64), IBV_WC_SUCCESS);
    refused(invalidate(own, two->rkey), BDY_RULE_I6);
    reconnect();
    ASSERT_EQ(bound(bind2(own, two, 0x77, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    refused(invalidate(own, two->rkey ^ 1), BDY_RULE_I3);
}

TEST_F(Invalidate, I5_OfAnotherQueuePairsWindowIsRefusedAndTheWindowWorksOn) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind2(own, mw, 0x31, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ibv_cq *c = cq();
    ibv_qp *a = qp(nullptr, 0, c, c), *b = qp(nullptr, 0, c, c);
    connect(a, b);
    ASSERT_EQ(invalidate(a, mw->rkey), 0);
    ibv_wc wc = next(c);
    EXPECT_EQ(wc.status, IBV_WC_MW_BIND_ERR);
    EXPECT_EQ(wc.vendor_err, unsigned(BDY_RULE_I5));
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_SUCCESS);
}

TEST_F(Invalidate, I1_I17_FreedWindowIsBoundByAnotherQueuePair) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind2(own, mw, 0x31, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    const uint32_t old = mw->rkey;
    ASSERT_EQ(invalidate(own, old), 0);
    ASSERT_EQ(next().status, IBV_WC_SUCCESS);
    ASSERT_EQ(bind2(peer, mw, 0x32, mem.mr, mem.addr(), 64, kRead), 0);
    ASSERT_EQ(done(peer_cq), IBV_WC_SUCCESS);
    ASSERT_EQ(post(own, IBV_WR_RDMA_READ, sge(buf, 0, 64), mem.addr(), mw->rkey), 0);
    EXPECT_EQ(next().status, IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), old, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Life, L1_ABoundWindowIsFreedAndItsKeyIsDead) {
    for (ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
        ibv_mw *mw = ibv_alloc_mw(pd_, type);
        ASSERT_NE(mw, nullptr);
        if (type == IBV_MW_TYPE_1)
            ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
        else
            ASSERT_EQ(bound(bind2(own, mw, 9, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
        const uint32_t key = mw->rkey;
        ASSERT_EQ(read(mem.addr(), key, 64), IBV_WC_SUCCESS);
        EXPECT_EQ(ibv_dealloc_mw(mw), 0);
        EXPECT_EQ(read(mem.addr(), key, 64), IBV_WC_REM_ACCESS_ERR);
        reconnect();
    }
}

TEST_F(Life, L2_N1_UnknownAndFreedHandlesAreNotFound) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    const uint32_t handle = mw->handle;
    for (uint32_t bad : {0u, 0xffffffffu, mem.mr->handle}) {
        mw->handle = bad;
        EXPECT_EQ(ibv_dealloc_mw(mw), ENOENT) << bad;
    }
    mw->handle = handle;
    ibv_mw *freed = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
    ASSERT_NE(freed, nullptr);
    mw->handle = freed->handle;
    ASSERT_EQ(ibv_dealloc_mw(freed), 0);
    EXPECT_EQ(ibv_dealloc_mw(mw), ENOENT);
    mw->handle = handle;
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
}

TEST_F(Life, L3_L11_ARegionIsBusyUntilItsLastWindowIsGone) {
    Region r = region(4096);
    forget(r.mr);
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2), *three = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
    ASSERT_NE(three, nullptr);
    ASSERT_EQ(bound(bind1(own, one, r.mr, r.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(bound(bind1(own, one, r.mr, r.addr() + 64, 64, kRead)), IBV_WC_SUCCESS) << "rebind: the count stays one";
    ASSERT_EQ(bound(bind2(own, two, 1, r.mr, r.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(bound(bind2(own, three, 1, r.mr, r.addr(), 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_dereg_mr(r.mr), EBUSY);
    EXPECT_EQ(read(r.addr() + 64, one->rkey, 64), IBV_WC_SUCCESS) << "the window works on";
    ASSERT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS); // moves to another region
    EXPECT_EQ(ibv_dereg_mr(r.mr), EBUSY);
    ASSERT_EQ(invalidate(own, two->rkey), 0);
    ASSERT_EQ(next().status, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_dereg_mr(r.mr), EBUSY);
    ASSERT_EQ(ibv_dealloc_mw(three), 0);
    const uint32_t key = r.mr->rkey;
    EXPECT_EQ(ibv_dereg_mr(r.mr), 0);
    EXPECT_EQ(read(r.addr(), key, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Life, L5_L6_L7_L11_ADestroyedQueuePairsWindowsAreDeadAndCountOnUntilFreed) {
    Region r = region(4096);
    forget(r.mr);
    ibv_mw *mw = window(IBV_MW_TYPE_2), *one = window(IBV_MW_TYPE_1);
    forget(mw);
    ASSERT_EQ(bound(bind2(own, mw, 1, r.mr, r.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(read(r.addr(), mw->rkey, 64), IBV_WC_SUCCESS);
    const uint32_t number = own->qp_num;
    forget(own);
    ASSERT_EQ(ibv_destroy_qp(own), 0);
    ASSERT_EQ(to_state(peer, IBV_QPS_RESET), 0);
    // Take queue pairs until the number is there again.
    ibv_qp *again = nullptr;
    for (int i = 0; i < 256 && !again; i++) {
        ibv_qp_init_attr a = {};
        a.send_cq = a.recv_cq = cq_;
        a.cap.max_send_wr = a.cap.max_recv_wr = 16;
        a.cap.max_send_sge = a.cap.max_recv_sge = 1;
        a.qp_type = IBV_QPT_RC;
        ibv_qp *q = ibv_create_qp(pd_, &a);
        ASSERT_NE(q, nullptr) << strerror(errno);
        if (q->qp_num == number) again = q;
        else ASSERT_EQ(ibv_destroy_qp(q), 0);
    }
    ASSERT_NE(again, nullptr) << "number not reused";
    connect(again, peer, link);
    EXPECT_EQ(read(mem.addr(), one->rkey, 64), IBV_WC_SUCCESS) << "type 1 belongs to the domain";
    EXPECT_EQ(read(r.addr(), mw->rkey, 64), IBV_WC_REM_ACCESS_ERR); // L6
    ASSERT_EQ(to_state(again, IBV_QPS_RESET), 0);
    ASSERT_EQ(to_state(peer, IBV_QPS_RESET), 0);
    connect(again, peer, link);
    ASSERT_EQ(invalidate(again, mw->rkey), 0); // L7: only deallocation frees it
    EXPECT_EQ(next().status, IBV_WC_MW_BIND_ERR);
    EXPECT_EQ(ibv_dereg_mr(r.mr), EBUSY);
    EXPECT_EQ(ibv_dealloc_mw(mw), 0);
    EXPECT_EQ(ibv_dereg_mr(r.mr), 0);
    EXPECT_EQ(ibv_destroy_qp(again), 0);
}

TEST_F(Life, L8_ResetKillsType2WindowsAndLeavesType1) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(bound(bind2(own, two, 1, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    reconnect();
    EXPECT_EQ(read(mem.addr(), one->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), two->rkey, 64), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    ASSERT_EQ(bind2(own, two, 2, mem.mr, mem.addr(), 64, kRead), 0);
    EXPECT_EQ(next().status, IBV_WC_MW_BIND_ERR) << "L7";
}

TEST_F(Life, L9_NoWriteLandsAfterDeallocationReturns) {
    for (int round = 0; round < 3; round++) {
        ibv_mw *mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
        ASSERT_NE(mw, nullptr);
        ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 8192, kWrite)), IBV_WC_SUCCESS);
        memset(buf.p, 0xee, buf.bytes);
        for (int i = 0; i < 8; i++) ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE, sge(buf, 0, 8192), mem.addr(), mw->rkey), 0);
        hca_->settle(500 + 400 * round);
        ASSERT_EQ(ibv_dealloc_mw(mw), 0);
        memset(mem.p, 0, mem.bytes);
        bool failed = false;
        for (int i = 0; i < 8; i++) {
            const ibv_wc_status st = done(peer_cq);
            if (failed) { EXPECT_EQ(st, IBV_WC_WR_FLUSH_ERR); }
            else EXPECT_TRUE(st == IBV_WC_SUCCESS || st == IBV_WC_REM_ACCESS_ERR) << st;
            failed |= st != IBV_WC_SUCCESS;
        }
        for (size_t i = 0; i < mem.bytes; i++) ASSERT_EQ(mem.p[i], 0) << i;
        reconnect();
    }
}

TEST_F(Life, N2_UsersMakeBusyAndTheLastOneFrees) {
    ibv_pd *p = ibv_alloc_pd(ctx_);
    ASSERT_NE(p, nullptr);
    ibv_cq *c = ibv_create_cq(ctx_, 16, nullptr, nullptr, 0);
    ASSERT_NE(c, nullptr);
    ibv_qp_init_attr a = {};
    a.send_cq = cq_;
    a.recv_cq = c;
    a.cap.max_send_wr = a.cap.max_recv_wr = a.cap.max_send_sge = a.cap.max_recv_sge = 1;
    a.qp_type = IBV_QPT_RC;
    ibv_qp *q = ibv_create_qp(p, &a);
    ASSERT_NE(q, nullptr);
    EXPECT_EQ(ibv_dealloc_pd(p), EBUSY);
    EXPECT_EQ(ibv_destroy_cq(c), EBUSY);
    EXPECT_EQ(ibv_destroy_qp(q), 0);
    EXPECT_EQ(ibv_destroy_cq(c), 0);
    ibv_mr *mr = ibv_reg_mr(p, mem.p, 64, 0);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(ibv_dealloc_pd(p), EBUSY);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_dealloc_pd(p), 0);
}

TEST_F(Life, N5_WrongAttributesLeaveTheStateAndQueryGivesWhatWasSet) {
    ibv_qp *q = qp();
    ibv_qp_attr a = {};
    ibv_qp_init_attr i = {};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qp_access_flags = kRead;
    EXPECT_EQ(ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL) << "missing";
    EXPECT_EQ(ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_SQ_PSN), EINVAL);
    EXPECT_EQ(to_state(q, IBV_QPS_RTS), EINVAL);
    EXPECT_EQ(state(q), IBV_QPS_RESET);
    ASSERT_EQ(to_init(q, kRead), 0);
    Link l;
    l.mtu = IBV_MTU_2048;
    ASSERT_EQ(to_rtr(q, 0x123, l), 0);
    ASSERT_EQ(to_rts(q, l), 0);
    ASSERT_EQ(ibv_query_qp(q, &a, -1, &i), 0);
    EXPECT_EQ(a.qp_state, IBV_QPS_RTS);
    EXPECT_EQ(a.qp_access_flags, kRead);
    EXPECT_EQ(a.path_mtu, IBV_MTU_2048);
    EXPECT_EQ(a.dest_qp_num, 0x123u);
    EXPECT_EQ(a.timeout, l.timeout);
    EXPECT_EQ(a.rnr_retry, l.rnr_retry);
    EXPECT_EQ(a.max_rd_atomic, l.max_rd);
    EXPECT_EQ(a.min_rnr_timer, l.min_rnr);
}

TEST_F(Life, H5_N7_AProcessThatDiesTakesItsWindowsAlong) {
    bdy_transport *t = nullptr;
    ibv_context *dying = hca_->open(&t);
    ASSERT_NE(dying, nullptr);
    ibv_pd *p = ibv_alloc_pd(dying);
    ASSERT_NE(p, nullptr);
    ibv_cq *c = ibv_create_cq(dying, 64, nullptr, nullptr, 0);
    ASSERT_NE(c, nullptr);
    ibv_qp_init_attr a = {};
    a.send_cq = a.recv_cq = c;
    a.cap.max_send_wr = a.cap.max_recv_wr = 16;
    a.cap.max_send_sge = a.cap.max_recv_sge = 1;
    a.qp_type = IBV_QPT_RC;
    ibv_qp *q = ibv_create_qp(p, &a);
    ASSERT_NE(q, nullptr);
    std::vector<uint8_t> m(4096, 0x44);
    ibv_mr *mr = ibv_reg_mr(p, m.data(), m.size(), rig::kAllAccess);
    ASSERT_NE(mr, nullptr);
    ibv_mw *mw = ibv_alloc_mw(p, IBV_MW_TYPE_1);
    ASSERT_NE(mw, nullptr);
    ASSERT_EQ(to_state(peer, IBV_QPS_RESET), 0);
    connect(q, peer, link);
    ASSERT_EQ(bind1(q, mw, mr, uint64_t(m.data()), 4096, kRead | kWrite), 0);
    ASSERT_EQ(next(c).status, IBV_WC_SUCCESS);
    ASSERT_EQ(write(uint64_t(m.data()), mw->rkey, 64), IBV_WC_SUCCESS);
    const uint32_t key = mw->rkey;
    const uint64_t at = uint64_t(m.data());
    bdy_direct_kill(t);
    memset(m.data(), 0x55, m.size());
    ASSERT_EQ(to_state(peer, IBV_QPS_RESET), 0);
    ASSERT_EQ(to_state(own, IBV_QPS_RESET), 0);
    connect(own, peer, link);
    EXPECT_EQ(write(at, key, 64), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(m[0], 0x55);
    ibv_close_device(dying);
}

}  // namespace
