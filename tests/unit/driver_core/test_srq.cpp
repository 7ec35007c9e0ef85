// SPDX-License-Identifier: Apache-2.0
// Shared receive queues and address handles.
#include "core_test.h"

using namespace coretest;

namespace
{

using CoreSrq = Core;
using CoreAh = Core;

TEST_F(CoreSrq, N3_N4_TheRingHoldsWhatWasAskedFor)
{
    uint32_t pd = user_.Pd();
    for (uint32_t wr : {1u, 2u, 3u, 100u, 4096u}) {
        for (uint32_t sge : {0u, 1u, 3u, 4u, 16u}) {
            auto in = User::SrqIn(pd, wr);
            in.max_sge = sge;
            in.limit = wr;
            bdy_u_create_srq_out out{};
            bdy_dma_buf *rings[2];
            ASSERT_EQ(user_.Call(BDY_U_CREATE_SRQ, in, &out, rings), 0);
            EXPECT_GE(out.max_wr, wr);
            EXPECT_GE(out.max_sge, sge);
            EXPECT_LE(out.max_wr, 4096u);
            EXPECT_GE(64u << out.log_stride, 16 + 16 * out.max_sge);
            EXPECT_GE(rings[0]->bytes, (uint64_t{64} << out.log_stride) << out.log_size);
            EXPECT_EQ(rings[1], nullptr);
            const uint64_t *ctx = Model()->srq[out.srqn - BDY_SRQN_BASE];
            EXPECT_EQ(bdy_srq_ctx_get_base(ctx), rings[0]->bus);
            EXPECT_EQ(bdy_srq_ctx_get_log_size(ctx), out.log_size);
            EXPECT_EQ(bdy_srq_ctx_get_log_stride(ctx), out.log_stride);
            EXPECT_EQ(bdy_srq_ctx_get_uar(ctx), user_.info.uar);
            EXPECT_EQ(bdy_srq_ctx_get_limit(ctx), wr);
            EXPECT_EQ(bdy_srq_ctx_get_xrc(ctx), 0u);
            EXPECT_EQ(user_.Handle(BDY_U_DESTROY_SRQ, out.handle), 0);
        }
    }
    EXPECT_EQ(pci_.Held(), held_);
}

TEST_F(CoreSrq, N3_BadRequestsAreRefused)
{
    uint32_t pd = user_.Pd(), cq = user_.Cq().handle, xrcd = user_.Xrcd();
    const std::vector<std::function<void(bdy_u_create_srq_in &)>> bad = {
        [](bdy_u_create_srq_in &in) { in.pd = 0; },
        [&](bdy_u_create_srq_in &in) { in.pd = cq; },
        [](bdy_u_create_srq_in &in) { in.max_wr = 0; },
        [](bdy_u_create_srq_in &in) { in.max_wr = 4097; },
        [](bdy_u_create_srq_in &in) { in.max_sge = 17; },
        [](bdy_u_create_srq_in &in) { in.limit = in.max_wr + 1; },
        [](bdy_u_create_srq_in &in) { in.type = 2; },
        [](bdy_u_create_srq_in &in) { in.rsvd = 1; },
        [&](bdy_u_create_srq_in &in) { in.xrcd = xrcd; },
        [&](bdy_u_create_srq_in &in) { in.cq = cq; },
        [&](bdy_u_create_srq_in &in) { in.type = V_SRQT_XRC, in.cq = cq; },
        [&](bdy_u_create_srq_in &in) { in.type = V_SRQT_XRC, in.xrcd = xrcd; },
    };
    bdy_u_create_srq_out out{};
    for (size_t i = 0; i < bad.size(); i++) {
        auto in = User::SrqIn(pd);
        bad[i](in);
        EXPECT_EQ(user_.Call(BDY_U_CREATE_SRQ, in, &out), -EINVAL) << i;
    }
}

TEST_F(CoreSrq, N4_FailedCreatesLeaveNothing)
{
    uint32_t pd = user_.Pd();
    bdy_u_create_srq_out out{};
    pci_.dma_alloc_fails_after = 1;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_SRQ, User::SrqIn(pd), &out), -ENOMEM);
    Model()->refuse_after = 1;
    Model()->refuse_rule = BDY_RULE_N1;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_SRQ, User::SrqIn(pd), &out), -EINVAL);
    EXPECT_EQ(pci_.Held(), held_);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd), 0);
}

TEST_F(CoreSrq, N5_C4_TheLimitIsSetAndGivenBackUntilItHasFired)
{
    auto srq = user_.Srq(user_.Pd());
    bdy_u_srq_attr a{}, out{};
    a.handle = srq.handle;
    a.mask = V_SRQ_LIMIT;
    a.limit = 7;
    ASSERT_EQ(user_.Do(BDY_U_MODIFY_SRQ, a), 0);
    ASSERT_EQ(user_.Call(BDY_U_QUERY_SRQ, bdy_u_handle{srq.handle, 0}, &out), 0);
    EXPECT_EQ(out.limit, 7u);
    EXPECT_EQ(out.max_wr, srq.max_wr);
    EXPECT_EQ(out.max_sge, srq.max_sge);
    bdy_srq_ctx_set_limit(Model()->srq[srq.srqn - BDY_SRQN_BASE], 0);
    ASSERT_EQ(user_.Call(BDY_U_QUERY_SRQ, bdy_u_handle{srq.handle, 0}, &out), 0);
    EXPECT_EQ(out.limit, 0u);
    a.limit = srq.max_wr + 1;
    EXPECT_EQ(user_.Do(BDY_U_MODIFY_SRQ, a), -EINVAL);
    a.limit = 1;
    a.mask = V_SRQ_LIMIT | V_SRQ_MAX_WR;
    EXPECT_EQ(user_.Do(BDY_U_MODIFY_SRQ, a), -EINVAL);
    a.mask = 0;
    EXPECT_EQ(user_.Do(BDY_U_MODIFY_SRQ, a), 0);
    a.handle = 0;
    EXPECT_EQ(user_.Do(BDY_U_MODIFY_SRQ, a), -EINVAL);
}

TEST_F(CoreSrq, N2_BusyWhileAQueuePairReceivesFromIt)
{
    uint32_t pd = user_.Pd(), cq = user_.Cq().handle;
    auto srq = user_.Srq(pd);
    auto in = User::QpIn(pd, cq, cq);
    in.srq = srq.handle;
    bdy_u_create_qp_out qp{};
    bdy_dma_buf *rings[2];
    ASSERT_EQ(user_.Call(BDY_U_CREATE_QP, in, &qp, rings), 0);
    EXPECT_EQ(rings[1], nullptr) << "no receive ring of its own";
    EXPECT_EQ(qp.max_recv_wr, 0u);
    const uint64_t *ctx = Model()->qp[qp.qpn - BDY_QPN_BASE];
    EXPECT_EQ(bdy_qp_ctx0_get_srq(ctx), 1u);
    EXPECT_EQ(bdy_qp_ctx0_get_srqn(ctx), srq.srqn);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_SRQ, srq.handle), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_QP, qp.handle), 0);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_SRQ, srq.handle), 0);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_SRQ, srq.handle), -ENOENT);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd), 0);
    in.pd = user_.Pd();
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &qp), -EINVAL) << "a freed one";
}

TEST_F(CoreAh, U4_HoldsThePathAndItsPd)
{
    uint32_t pd = user_.Pd();
    auto in = User::AhIn(pd);
    in.is_global = 1;
    in.sgid_index = 1;
    in.hop_limit = 64;
    in.tclass = 5;
    in.flow_label = 0x12345;
    for (int i = 0; i < 16; i++) {
        in.dgid[i] = static_cast<uint8_t>(i + 1);
    }
    bdy_u_create_ah_out out{};
    ASSERT_EQ(user_.Call(BDY_U_CREATE_AH, in, &out), 0);
    const uint64_t *ctx = Model()->ah[out.ahn];
    const uint64_t gid[2] = {bdy_ah_ctx_get_dgid_lo(ctx), bdy_ah_ctx_get_dgid_hi(ctx)};
    EXPECT_EQ(std::memcmp(gid, in.dgid, 16), 0);
    EXPECT_EQ(bdy_ah_ctx_get_grh(ctx), 1u);
    EXPECT_EQ(bdy_ah_ctx_get_dlid(ctx), 9u);
    EXPECT_EQ(bdy_ah_ctx_get_sl(ctx), 3u);
    EXPECT_EQ(bdy_ah_ctx_get_flow_label(ctx), 0x12345u);
    EXPECT_EQ(bdy_ah_ctx_get_sgid_index(ctx), 1u);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_AH, out.handle), 0);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_AH, out.handle), -ENOENT);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd), 0);
}

TEST_F(CoreAh, N3_BadAttributesAreRefused)
{
    uint32_t pd = user_.Pd();
    const std::vector<std::function<void(bdy_u_create_ah_in &)>> bad = {
        [](bdy_u_create_ah_in &in) { in.pd = 0; },
        [](bdy_u_create_ah_in &in) { in.port_num = 0; },
        [](bdy_u_create_ah_in &in) { in.port_num = 2; },
        [](bdy_u_create_ah_in &in) { in.sl = 16; },
        [](bdy_u_create_ah_in &in) { in.src_path_bits = 128; },
        [](bdy_u_create_ah_in &in) { in.is_global = 2; },
        [](bdy_u_create_ah_in &in) { in.is_global = 1, in.sgid_index = 2; },
        [](bdy_u_create_ah_in &in) { in.is_global = 1, in.sgid_index = 3; },
        [](bdy_u_create_ah_in &in) { in.is_global = 1, in.flow_label = 0x100000; },
    };
    bdy_u_create_ah_out out{};
    for (size_t i = 0; i < bad.size(); i++) {
        auto in = User::AhIn(pd);
        bad[i](in);
        EXPECT_EQ(user_.Call(BDY_U_CREATE_AH, in, &out), -EINVAL) << i;
    }
    auto in = User::AhIn(pd); // what a local path does not use may hold anything
    in.dgid[3] = 1;
    in.sgid_index = 77;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_AH, in, &out), 0);
}

} // namespace
