// SPDX-License-Identifier: Apache-2.0
// Memory regions (M1 to M6, M8): what registers, and what a local key allows.
#include <sys/mman.h>

#include "rig.hpp"

namespace {

using rig::Region;

class Mr : public rig::Pair {
  protected:
    int refusal(void *p, size_t len, uint64_t iova, unsigned access) {
        errno = 0;
        ibv_mr *mr = ibv_reg_mr_iova2(pd_, p, len, iova, access);
        if (!mr) return errno;
        ibv_dereg_mr(mr);
        return 0;
    }
    ibv_wc_status sent(ibv_sge s) {
        EXPECT_EQ(recv(own, sge(mem)), 0);
        if (post(peer, IBV_WR_SEND, s, 0, 0)) return ibv_wc_status(-2);
        const ibv_wc_status st = done(peer_cq);
        reconnect();
        ibv_wc wc;
        while (ibv_poll_cq(cq_, 1, &wc) > 0) {}
        return st;
    }
    ibv_wc_status read_into(ibv_sge s) {
        if (post(peer, IBV_WR_RDMA_READ, s, mem.addr(), mem.mr->rkey)) return ibv_wc_status(-2);
        const ibv_wc_status st = done(peer_cq);
        reconnect();
        return st;
    }
};

TEST_F(Mr, M1_M2_AccessFlags) {
    const uint64_t at = mem.addr();
    EXPECT_EQ(refusal(mem.p, 64, at, IBV_ACCESS_REMOTE_WRITE), EINVAL);
    EXPECT_EQ(refusal(mem.p, 64, at, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
    EXPECT_EQ(refusal(mem.p, 64, at, 1u << 15), EINVAL) << "an unknown flag that must be understood";
    EXPECT_EQ(refusal(mem.p, 64, at, 1u << 25), 0) << "a hint";
    EXPECT_EQ(refusal(mem.p, 64, at, 0), 0);
    EXPECT_EQ(refusal(mem.p, 64, at, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE), 0);
}

TEST_F(Mr, M3_AnEmptyRegionRegistersAndHoldsNoByte) {
    ibv_mr *none = ibv_reg_mr(pd_, mem.p, 0, rig::kAllAccess);
    ASSERT_NE(none, nullptr) << strerror(errno);
    EXPECT_EQ(write(mem.addr(), none->rkey, 1), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(sent({mem.addr(), 1, none->lkey}), IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(ibv_dereg_mr(none), 0);
}

TEST_F(Mr, M4_M5_TooLongOrWrappingIsRefused) {
    ibv_device_attr attr;
    ASSERT_EQ(ibv_query_device(ctx_, &attr), 0);
    EXPECT_NE(refusal(mem.p, attr.max_mr_size + 1, mem.addr(), 0), 0);
    EXPECT_EQ(refusal(mem.p, 4096, 0ull - 4095, 0), EINVAL) << "M5: the iova wraps";
    EXPECT_EQ(refusal(mem.p, 4096, 0ull - 4096, 0), 0) << "decision 10: it may end exactly there";
    EXPECT_EQ(refusal(reinterpret_cast<void *>(0ull - 4096), 8192, 4096, 0), EINVAL) << "M5: the start wraps";
}

TEST_F(Mr, H25_WhatIsNotMappedIsEfault) {
    void *hole = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(hole, MAP_FAILED);
    ASSERT_EQ(munmap(static_cast<uint8_t *>(hole) + 4096, 4096), 0);
    EXPECT_EQ(refusal(hole, 8192, uint64_t(hole), IBV_ACCESS_LOCAL_WRITE), EFAULT);
    EXPECT_EQ(refusal(hole, 4096, uint64_t(hole), IBV_ACCESS_LOCAL_WRITE), 0);
    munmap(hole, 4096);
}

TEST_F(Mr, M6_ARegionAcrossA4GiBLineIsRightAtEveryOffset) {
    uint8_t *want = reinterpret_cast<uint8_t *>(0x610000000000ull - 8192);
    uint8_t *p = static_cast<uint8_t *>(
        mmap(want, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    ASSERT_EQ(p, want);
    ibv_mr *mr = ibv_reg_mr(pd_, p, 16384, rig::kAllAccess);
    ASSERT_NE(mr, nullptr);
    for (size_t off : {size_t(0), size_t(8191), size_t(8192), size_t(8192 - 700), size_t(4090), size_t(16384 - 1400)}) {
        const size_t len = off == 8191 ? 2 : 1400;
        for (size_t i = 0; i < len; i++) buf.p[i] = uint8_t(rig::mix(off + i));
        EXPECT_EQ(write(uint64_t(p) + off, mr->rkey, len), IBV_WC_SUCCESS);
        EXPECT_EQ(memcmp(p + off, buf.p, len), 0) << off;
        memset(buf.p, 0, len);
        EXPECT_EQ(read(uint64_t(p) + off, mr->rkey, len), IBV_WC_SUCCESS);
        EXPECT_EQ(memcmp(p + off, buf.p, len), 0) << off;
    }
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    munmap(p, 16384);
}

TEST_F(Mr, M8_K11_LocalKeys) {
    Region foreign = region(4096, rig::kAllAccess, pd()), ro = region(4096, 0);
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 4096, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)), IBV_WC_SUCCESS);
    EXPECT_EQ(sent(sge(ro, 0, 64)), IBV_WC_SUCCESS) << "reading needs no right";
    EXPECT_EQ(sent({ro.addr() + 4095, 2, ro.mr->lkey}), IBV_WC_LOC_PROT_ERR) << "one byte too far";
    EXPECT_EQ(sent({ro.addr() - 1, 2, ro.mr->lkey}), IBV_WC_LOC_PROT_ERR) << "one byte before";
    EXPECT_EQ(sent({ro.addr(), 64, ro.mr->lkey ^ 1}), IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(sent(sge(foreign, 0, 64)), IBV_WC_LOC_PROT_ERR) << "another domain";
    EXPECT_EQ(sent({mem.addr(), 64, mw->rkey}), IBV_WC_LOC_PROT_ERR) << "K11";
    EXPECT_EQ(read_into(sge(ro, 0, 64)), IBV_WC_LOC_PROT_ERR) << "a sink needs LOCAL_WRITE";
    EXPECT_EQ(read_into(sge(buf, 0, 64)), IBV_WC_SUCCESS);
}

}  // namespace
