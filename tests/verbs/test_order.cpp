// SPDX-License-Identifier: Apache-2.0
// Order of binds, invalidates, transfers and completions (O1 to O8, W1 to W7, H12), through verbs on the RTL.
#include "rig.hpp"

namespace {

using rig::Pair;
using rig::Region;

constexpr unsigned kRead = IBV_ACCESS_REMOTE_READ, kWrite = IBV_ACCESS_REMOTE_WRITE;

class Order : public Pair {};

TEST_F(Order, W1_W4_W5_W6_OneCompletionEachInPostOrderWithItsOpcode) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    const struct { ibv_wc_opcode op; bool signaled; } plan[] = {
        {IBV_WC_BIND_MW, true}, {IBV_WC_RDMA_WRITE, true}, {IBV_WC_BIND_MW, false}, {IBV_WC_RDMA_READ, true},
        {IBV_WC_LOCAL_INV, true}, {IBV_WC_BIND_MW, true}, {IBV_WC_RDMA_WRITE, false}, {IBV_WC_LOCAL_INV, true}};
    for (int round = 0; round < 4; round++) {
        uint64_t id = 1000 * round;
        for (const auto &p : plan) {
            const unsigned f = p.signaled ? IBV_SEND_SIGNALED : 0;
            id++;
            if (p.op == IBV_WC_RDMA_WRITE) ASSERT_EQ(post(own, IBV_WR_RDMA_WRITE, sge(mem, 0, 3000), buf.addr(), buf.mr->rkey, f, id), 0);
            else if (p.op == IBV_WC_RDMA_READ) ASSERT_EQ(post(own, IBV_WR_RDMA_READ, sge(mem, 4096, 2000), buf.addr(), buf.mr->rkey, f, id), 0);
            else if (p.op == IBV_WC_LOCAL_INV) ASSERT_EQ(invalidate(own, two->rkey, f, id), 0);
            else if (id % 1000 == 1) ASSERT_EQ(bind1(own, one, mem.mr, mem.addr(), 64, kRead, f, id), 0);
            else ASSERT_EQ(bind2(own, two, uint32_t(id), mem.mr, mem.addr(), 64, kRead, f, id), 0);
        }
        id = 1000 * round;
        for (const auto &p : plan) {
            id++;
            if (!p.signaled) continue;
            ibv_wc wc = next();
            ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << id;
            EXPECT_EQ(wc.wr_id, id);
            EXPECT_EQ(wc.opcode, p.op);
            EXPECT_EQ(wc.qp_num, own->qp_num);
        }
    }
    EXPECT_TRUE(nothing(cq_));
}

TEST_F(Order, O6_BindsAndInvalidatesOfOneQueuePairExecuteInOrder) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    for (uint32_t i = 0; i < 20; i++) {
        ASSERT_EQ(bind2(own, mw, i, mem.mr, mem.addr() + 64 * i, 64, kRead, 0), 0);
        ASSERT_EQ(invalidate(own, mw->rkey, 0), 0);
    }
    ASSERT_EQ(bind2(own, mw, 0x99, mem.mr, mem.addr() + 4096, 64, kRead), 0);
    EXPECT_EQ(next().status, IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr() + 4096, mw->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Order, O7_NoWriteLandsAfterTheInvalidatesCompletion) {
    for (int round = 0; round < 3; round++) {
        ibv_mw *mw = window(IBV_MW_TYPE_2);
        ASSERT_EQ(bound(bind2(own, mw, 7, mem.mr, mem.addr(), 8192, kWrite)), IBV_WC_SUCCESS);
        memset(buf.p, 0xee, buf.bytes);
        for (int i = 0; i < 8; i++) ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE, sge(buf, 0, 8192), mem.addr(), mw->rkey), 0);
        hca_->settle(300 + 700 * round);
        ASSERT_EQ(invalidate(own, mw->rkey), 0);
        ibv_wc wc = next();
        ASSERT_TRUE(wc.status == IBV_WC_SUCCESS || (wc.status == IBV_WC_WR_FLUSH_ERR && wc.vendor_err >> 31)) << wc.status;
        memset(mem.p, 0, mem.bytes);
        bool failed = false;
        for (int i = 0; i < 8; i++) failed |= done(peer_cq) != IBV_WC_SUCCESS;
        EXPECT_TRUE(failed) << "else nothing was in flight";
        for (size_t i = 0; i < mem.bytes; i++) ASSERT_EQ(mem.p[i], 0) << i;
        reconnect();
    }
}

TEST_F(Order, O4_O5_FenceWaitsForTheReadsData) {
    for (int round = 0; round < 5; round++) {
        memset(mem.p, 0, 4096);
        memset(buf.p, 0x60 + round, 4096);
        ASSERT_EQ(post(own, IBV_WR_RDMA_READ, sge(mem, 0, 4096), buf.addr(), buf.mr->rkey, 0), 0);
        ASSERT_EQ(post(own, IBV_WR_RDMA_WRITE, sge(mem, 0, 4096), buf.addr() + 4096, buf.mr->rkey,
                       IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
        ASSERT_EQ(next().status, IBV_WC_SUCCESS);
        EXPECT_EQ(memcmp(buf.p, buf.p + 4096, 4096), 0) << round;
    }
}

TEST_F(Order, W2_W3_H12_WhatABrokenQueuePairHadBoundIsToldAndTheNextBindWorks) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    const uint32_t before = mw->rkey;
    // The write fails at the peer; the bind behind it is executed or not, and its completion says which.
    ASSERT_EQ(post(own, IBV_WR_RDMA_WRITE, sge(mem, 0, 64), buf.addr(), buf.mr->rkey ^ 1, 0, 50), 0);
    ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr(), 64, kRead, 0, 51), 0);
    const uint32_t after = mw->rkey;
    ibv_wc wc = next();
    EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(wc.wr_id, 50u);
    wc = next();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.wr_id, 51u);
    const bool executed = wc.vendor_err >> 31;
    mw->rkey = before; // what the man page tells programs to do
    reconnect();
    EXPECT_EQ(read(mem.addr(), after, 64), executed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr() + 64, 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr() + 64, mw->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), after, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Order, H12_C3_ABindWhoseCompletionWasPurgedIsAskedFor) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr(), 64, kRead), 0);
    reconnect(); // RESET takes the completion away
    EXPECT_TRUE(nothing(cq_));
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr() + 64, 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr() + 64, mw->rkey, 64), IBV_WC_SUCCESS);
}

}  // namespace
