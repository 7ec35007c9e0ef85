// SPDX-License-Identifier: Apache-2.0
// Keys of windows and regions (K1 to K11, S4 to S6), through verbs on the RTL.
#include "rig.hpp"

#include <set>

namespace {

using rig::Pair;
using rig::Region;

constexpr unsigned kRead = IBV_ACCESS_REMOTE_READ, kWrite = IBV_ACCESS_REMOTE_WRITE;

class Keys : public Pair {};

TEST_F(Keys, K1_K2_K3_K7_K8_Type1KeyWrapsAfter256BindsAndTheIndexStays) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    const uint32_t first = mw->rkey;
    uint32_t last = first;
    for (int i = 0; i < 256; i++) {
        ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr(), 64, kRead, i % 32 == 31 ? IBV_SEND_SIGNALED : 0), 0) << i;
        ASSERT_EQ(mw->rkey, ibv_inc_rkey(last));
        last = mw->rkey;
        if (i % 32 == 31) { ASSERT_EQ(next().status, IBV_WC_SUCCESS) << i; }
    }
    EXPECT_EQ(mw->rkey, first) << "K8: the documented weakness";
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), mw->rkey - 1, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Keys, K4_K5_K6_Type2KeyIsTheConsumersByteOnTheWindowsIndex) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    const uint32_t index = mw->rkey & ~0xffu;
    for (uint32_t key : {0u, 0xffu, 0x7fu, 0x7fu, 0x123456ABu, ~index | 0x11u}) {
        ASSERT_EQ(bound(bind2(own, mw, key, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS) << key;
        EXPECT_EQ(mw->rkey, index | (key & 0xff));
        EXPECT_EQ(read(mem.addr(), index | (key & 0xff), 64), IBV_WC_SUCCESS);
        ASSERT_EQ(invalidate(own, mw->rkey), 0);
        ASSERT_EQ(next().status, IBV_WC_SUCCESS);
    }
}

TEST_F(Keys, K9_IndicesOfLiveWindowsAndRegionsAreDistinct) {
    std::set<uint32_t> seen;
    std::vector<ibv_mw *> mws;
    std::vector<ibv_mr *> mrs;
    for (int i = 0; i < 200; i++) {
        ibv_mw *mw = ibv_alloc_mw(pd_, i % 2 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
        ASSERT_NE(mw, nullptr) << i;
        mws.push_back(mw);
        EXPECT_TRUE(seen.insert(mw->rkey >> 8).second) << i;
        if (i % 10) continue;
        ibv_mr *mr = ibv_reg_mr(pd_, mem.p, 64, IBV_ACCESS_REMOTE_READ);
        ASSERT_NE(mr, nullptr);
        mrs.push_back(mr);
        EXPECT_TRUE(seen.insert(mr->rkey >> 8).second) << i;
    }
    for (ibv_mw *mw : mws) ASSERT_EQ(ibv_dealloc_mw(mw), 0);
    for (ibv_mr *mr : mrs) ASSERT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Keys, K10_EveryPartOfTheKeyIsCompared) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    for (uint32_t flip : {1u, 0x80u, 0x100u, 0x80000u, 0x10000000u, 0x80000000u}) {
        EXPECT_EQ(read(mem.addr(), mw->rkey ^ flip, 64), IBV_WC_REM_ACCESS_ERR) << flip;
        reconnect();
    }
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_SUCCESS);
}

TEST_F(Keys, K11_AWindowsKeyIsNoLocalKey) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead | kWrite)), IBV_WC_SUCCESS);
    ibv_sge s = {mem.addr(), 64, mw->rkey};
    ASSERT_EQ(post(own, IBV_WR_RDMA_WRITE, s, buf.addr(), buf.mr->rkey), 0);
    ibv_wc wc = next();
    EXPECT_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(wc.vendor_err & 0xffff, unsigned(BDY_RULE_K11));
    reconnect();
    ASSERT_EQ(post(own, IBV_WR_RDMA_READ, s, buf.addr(), buf.mr->rkey), 0);
    EXPECT_EQ(next().status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(Keys, B3_AWindowsKeyIsNoRegion) {
    ibv_mw *mw = window(IBV_MW_TYPE_1), *over = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    const uint32_t lkey = mem.mr->lkey;
    mem.mr->lkey = mw->rkey;
    EXPECT_EQ(bind1(own, over, mem.mr, mem.addr(), 64, kRead), 0);
    mem.mr->lkey = lkey;
    ibv_wc wc = next();
    EXPECT_EQ(wc.status, IBV_WC_MW_BIND_ERR);
    EXPECT_EQ(wc.vendor_err, unsigned(BDY_RULE_B3));
}

TEST_F(Keys, S5_S6_ReturnMeansPostedAndTheCompletionIsTheProof) {
    Region ro = region(4096, IBV_ACCESS_MW_BIND);
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    const uint32_t old = mw->rkey;
    EXPECT_EQ(bind1(own, mw, ro.mr, ro.addr(), 64, kWrite), 0) << "taken, though it will fail";
    EXPECT_EQ(mw->rkey, ibv_inc_rkey(old));
    EXPECT_EQ(next().status, IBV_WC_MW_BIND_ERR);
    mw->rkey = old;
    reconnect();
    EXPECT_EQ(read(ro.addr(), ibv_inc_rkey(old), 64), IBV_WC_REM_ACCESS_ERR);
}

}  // namespace
