// SPDX-License-Identifier: Apache-2.0
// Capabilities, limits and the allocation of windows (V1 to V11, N3), through verbs on the RTL.
#include "rig.hpp"

namespace {

using rig::kAllAccess;
using rig::Pair;
using rig::Region;
using rig::Verbs;

class Device : public Verbs {
  protected:
    ibv_device_attr attr() {
        ibv_device_attr a = {};
        EXPECT_EQ(ibv_query_device(ctx_, &a), 0);
        return a;
    }
};
class FreshWindow : public Pair, public ::testing::WithParamInterface<ibv_mw_type> {};

TEST_F(Device, V1_V2_FlagsSayWindowsOfType1And2B) {
    const unsigned flags = attr().device_cap_flags;
    EXPECT_TRUE(flags & 1u << 17) << "IBV_DEVICE_MEM_WINDOW";
    EXPECT_TRUE(flags & 1u << 24) << "IBV_DEVICE_MEM_WINDOW_TYPE_2B";
    EXPECT_FALSE(flags & 1u << 23) << "never 2A beside 2B";
}

TEST_F(Device, V4_N3_LimitsAreAtLeastWhatIsPromised) {
    const ibv_device_attr a = attr();
    EXPECT_GE(a.max_mw, 4096);
    EXPECT_GE(a.max_mr, 1);
    EXPECT_GE(a.max_qp_wr, 4096);
    EXPECT_GE(a.max_sge, 16);
    EXPECT_GE(a.max_qp_rd_atom, 16);
    EXPECT_GE(a.max_qp_init_rd_atom, 16);
    ibv_port_attr p = {};
    ASSERT_EQ(ibv_query_port(ctx_, 1, &p), 0);
    EXPECT_EQ(p.active_mtu, IBV_MTU_4096);
    EXPECT_EQ(p.state, IBV_PORT_ACTIVE);
    EXPECT_NE(p.lid, 0);
    EXPECT_EQ(ibv_query_port(ctx_, 2, &p), EINVAL);
}

TEST_F(Device, N3_N4_ALargestQueuePairIsMadeAndALargerOneIsNot) {
    const ibv_device_attr d = attr();
    ibv_qp_init_attr a = {};
    a.send_cq = a.recv_cq = cq_;
    a.qp_type = IBV_QPT_RC;
    a.cap.max_send_wr = a.cap.max_recv_wr = d.max_qp_wr;
    a.cap.max_send_sge = a.cap.max_recv_sge = d.max_sge;
    ibv_qp_init_attr asked = a;
    ibv_qp *q = ibv_create_qp(pd_, &a);
    ASSERT_NE(q, nullptr) << strerror(errno);
    EXPECT_GE(a.cap.max_send_wr, asked.cap.max_send_wr);
    EXPECT_GE(a.cap.max_recv_wr, asked.cap.max_recv_wr);
    EXPECT_GE(a.cap.max_send_sge, asked.cap.max_send_sge);
    EXPECT_GE(a.cap.max_recv_sge, asked.cap.max_recv_sge);
    EXPECT_EQ(ibv_destroy_qp(q), 0);
    for (int which = 0; which < 4; which++) {
        a = asked;
        (which == 0 ? a.cap.max_send_wr : which == 1 ? a.cap.max_recv_wr : which == 2 ? a.cap.max_send_sge : a.cap.max_recv_sge)++;
        errno = 0;
        EXPECT_EQ(ibv_create_qp(pd_, &a), nullptr) << which;
        EXPECT_TRUE(errno == EINVAL || errno == ENOMEM) << errno;
    }
    ibv_cq *c = ibv_create_cq(ctx_, d.max_cqe, nullptr, nullptr, 0);
    ASSERT_NE(c, nullptr) << strerror(errno);
    EXPECT_GE(c->cqe, d.max_cqe);
    EXPECT_EQ(ibv_destroy_cq(c), 0);
    errno = 0;
    EXPECT_EQ(ibv_create_cq(ctx_, d.max_cqe + 1, nullptr, nullptr, 0), nullptr);
    EXPECT_TRUE(errno == EINVAL || errno == ENOMEM) << errno;
}

TEST_F(Device, N3_AsManyQueuePairsAsPromisedOneMoreIsRefusedAndAFreedOneComesBack) {
    const int max = attr().max_qp;
    auto make = [this] {
        ibv_qp_init_attr a = {};
        a.send_cq = a.recv_cq = cq_;
        a.qp_type = IBV_QPT_RC;
        a.cap.max_send_wr = a.cap.max_recv_wr = 1;
        a.cap.max_send_sge = a.cap.max_recv_sge = 1;
        errno = 0;
        return ibv_create_qp(pd_, &a);
    };
    std::vector<ibv_qp *> all;
    while (ibv_qp *q = make()) all.push_back(q);
    EXPECT_EQ(int(all.size()), max);
    EXPECT_EQ(errno, ENOMEM);
    ASSERT_FALSE(all.empty());
    ASSERT_EQ(ibv_destroy_qp(all.back()), 0);
    all.back() = make();
    EXPECT_NE(all.back(), nullptr);
    EXPECT_EQ(make(), nullptr);
    for (ibv_qp *q : all)
        if (q) { ASSERT_EQ(ibv_destroy_qp(q), 0); }
}

TEST_F(Device, V5_AWindowOfNoTypeIsRefused) {
    for (int type : {0, 3, 4, 255}) {
        errno = 0;
        EXPECT_EQ(ibv_alloc_mw(pd_, ibv_mw_type(type)), nullptr);
        EXPECT_EQ(errno, EINVAL);
    }
}

TEST_F(Device, V7_N1_AWindowOfAnUnknownFreedOrForeignDomainIsRefused) {
    ibv_pd bad = *pd_;
    ibv_context *other = hca_->open();
    ASSERT_NE(other, nullptr);
    ibv_pd *foreign = ibv_alloc_pd(other);
    ASSERT_NE(foreign, nullptr);
    ibv_pd *freed = ibv_alloc_pd(ctx_);
    ASSERT_NE(freed, nullptr);
    const uint32_t was = freed->handle;
    ASSERT_EQ(ibv_dealloc_pd(freed), 0);
    for (uint32_t handle : {0xffffffffu, 0u, was, cq_->handle}) {
        bad.handle = handle;
        errno = 0;
        EXPECT_EQ(ibv_alloc_mw(&bad, IBV_MW_TYPE_1), nullptr) << handle;
        EXPECT_EQ(errno, EINVAL) << handle;
    }
    if (foreign->handle != pd_->handle) {
        bad.handle = foreign->handle;
        EXPECT_EQ(ibv_alloc_mw(&bad, IBV_MW_TYPE_2), nullptr);
        EXPECT_EQ(errno, EINVAL);
    }
    EXPECT_EQ(ibv_dealloc_pd(foreign), 0);
    EXPECT_EQ(ibv_close_device(other), 0);
}

TEST_F(Device, V10_N2_ADomainWithAWindowIsBusy) {
    for (ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
        ibv_pd *p = ibv_alloc_pd(ctx_);
        ASSERT_NE(p, nullptr);
        ibv_mw *mw = ibv_alloc_mw(p, type);
        ASSERT_NE(mw, nullptr);
        EXPECT_EQ(mw->pd, p);
        EXPECT_EQ(mw->type, type);
        EXPECT_EQ(ibv_dealloc_pd(p), EBUSY);
        EXPECT_EQ(ibv_dealloc_mw(mw), 0);
        EXPECT_EQ(ibv_dealloc_pd(p), 0);
    }
}

TEST_P(FreshWindow, V8_V9_V11_NothingIsReachedThroughIt) {
    ibv_mw *mw = window(GetParam());
    memset(mem.p, 0x11, mem.bytes);
    memset(buf.p, 0x22, buf.bytes);
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(buf.p[0], 0x22);
    reconnect();
    EXPECT_EQ(write(mem.addr(), mw->rkey, 1), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(write(0, mw->rkey, 8), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(mem.p[0], 0x11);
}
INSTANTIATE_TEST_SUITE_P(Types, FreshWindow, ::testing::Values(IBV_MW_TYPE_1, IBV_MW_TYPE_2));

class DeviceWork : public Pair {};

TEST_F(DeviceWork, V3_WhatTheFlagsDoNotOfferIsRefusedAndWhatTheyOfferWorks) {
    ibv_device_attr a = {};
    ASSERT_EQ(ibv_query_device(ctx_, &a), 0);
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind2(own, mw, mw->rkey + 1, mem.mr, mem.addr(), 64, IBV_ACCESS_REMOTE_READ)), IBV_WC_SUCCESS);
    ASSERT_EQ(invalidate(own, mw->rkey), 0); // goes with 2B
    EXPECT_EQ(next().status, IBV_WC_SUCCESS);
    ASSERT_FALSE(a.device_cap_flags & 1u << 21) << "MEM_MGT_EXTENSIONS: then this test must see a SEND_WITH_INV work";
    ibv_sge s = sge(mem, 0, 8);
    ibv_send_wr wr = {}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND_WITH_INV;
    wr.sg_list = &s;
    wr.num_sge = 1;
    EXPECT_GT(ibv_post_send(own, &wr, &bad), 0);
    EXPECT_EQ(bad, &wr);
    EXPECT_EQ(a.atomic_cap, IBV_ATOMIC_NONE);
    wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    bad = nullptr;
    EXPECT_GT(ibv_post_send(own, &wr, &bad), 0);
    EXPECT_EQ(bad, &wr);
    EXPECT_TRUE(nothing(cq_));
}

}  // namespace
