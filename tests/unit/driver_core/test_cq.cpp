// SPDX-License-Identifier: Apache-2.0
// Channels, completion queues and events.
#include "core_test.h"

using namespace coretest;

namespace
{

using CoreCq = Core;
using CoreEvents = Core;

TEST_F(CoreCq, RingAndRecordAreZeroAndWhereTheContextSays)
{
    bdy_dma_buf *rings[2];
    bdy_u_create_cq_out out{};
    ASSERT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 100, 0, 0, 0}, &out, rings), 0);
    EXPECT_EQ(out.cqe, 128u);
    const uint64_t *ctx = Model()->cq[out.cqn - BDY_CQN_BASE];
    EXPECT_EQ(bdy_cq_ctx_get_base(ctx), rings[0]->bus);
    EXPECT_EQ(bdy_cq_ctx_get_dbr(ctx), rings[1]->bus);
    EXPECT_EQ(bdy_cq_ctx_get_log_size(ctx), 7u);
    EXPECT_EQ(bdy_cq_ctx_get_uar(ctx), user_.info.uar);
    EXPECT_EQ(bdy_cq_ctx_get_eqn(ctx), 1u);
    EXPECT_GE(rings[0]->bytes, 128 * BDY_CQE_BYTES);
}

TEST_F(CoreCq, N3_SizesAreRoundedUpAndBounded)
{
    bdy_u_device_attr attr{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &attr), 0);
    bdy_dma_buf *rings[2];
    bdy_u_create_cq_out out{};
    for (uint32_t cqe : {1u, 2u, 3u, 255u, 256u, 257u, attr.max_cqe}) {
        ASSERT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, cqe, 0, 0, 0}, &out, rings), 0);
        EXPECT_GT(out.cqe, cqe) << "one entry is kept for a resize";
        EXPECT_LE(out.cqe, 2 * cqe);
        EXPECT_GE(rings[0]->bytes, uint64_t{out.cqe} * BDY_CQE_BYTES);
    }
    EXPECT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 0, 0, 0, 0}, &out, rings), -EINVAL);
    EXPECT_EQ(
        user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, attr.max_cqe + 1, 0, 0, 0}, &out, rings),
        -EINVAL);
    EXPECT_EQ(rings[0], nullptr);
    EXPECT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 4, 0, 1, 0}, &out, rings), -EINVAL);
}

TEST_F(CoreCq, C2_ResizeGivesANewRingAndKeepsTheOldOneForItsReader)
{
    bdy_dma_buf *rings[2];
    bdy_u_create_cq_out out{}, out2{};
    ASSERT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 100, 0, 0, 0}, &out, rings), 0);
    const uint64_t *ctx = Model()->cq[out.cqn - BDY_CQN_BASE];
    uint64_t dbr = bdy_cq_ctx_get_dbr(ctx);
    auto *old = static_cast<uint64_t *>(rings[0]->cpu);
    size_t held = pci_.Held();
    for (uint32_t cqe : {5u, 127u, 128u, 1000u}) {
        ASSERT_EQ(user_.Call(BDY_U_RESIZE_CQ, bdy_u_resize_cq_in{out.handle, cqe}, &out2, rings),
                  0);
        EXPECT_EQ(out2.cqn, out.cqn);
        EXPECT_GT(out2.cqe, cqe);
        EXPECT_EQ(rings[1], nullptr);
        EXPECT_EQ(bdy_cq_ctx_get_base(ctx), rings[0]->bus);
        EXPECT_EQ(1u << bdy_cq_ctx_get_log_size(ctx), out2.cqe);
        EXPECT_EQ(bdy_cq_ctx_get_dbr(ctx), dbr);
        EXPECT_EQ(*old, 0u) << "still there";
        EXPECT_EQ(pci_.Held(), held + 1) << "the new one and the one before it";
        old = static_cast<uint64_t *>(rings[0]->cpu);
    }
    bdy_u_resize_cq_in in{out.handle, 0};
    EXPECT_EQ(user_.Call(BDY_U_RESIZE_CQ, in, &out2), -EINVAL);
    in.cqe = 65536;
    EXPECT_EQ(user_.Call(BDY_U_RESIZE_CQ, in, &out2), -EINVAL);
    in = {out.handle ^ 1, 4};
    EXPECT_EQ(user_.Call(BDY_U_RESIZE_CQ, in, &out2), -EINVAL);
    in = {out.handle, 4};
    pci_.dma_alloc_fails_after = 1;
    EXPECT_EQ(user_.Call(BDY_U_RESIZE_CQ, in, &out2), -ENOMEM);
    uint64_t base = bdy_cq_ctx_get_base(ctx);
    Model()->refuse_after = 1;
    Model()->refuse_rule = BDY_RULE_N1;
    EXPECT_EQ(user_.Call(BDY_U_RESIZE_CQ, in, &out2), -EINVAL);
    EXPECT_EQ(bdy_cq_ctx_get_base(ctx), base);
    EXPECT_EQ(pci_.Held(), held + 1);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_CQ, out.handle), 0);
    EXPECT_EQ(pci_.Held(), held_);
}

TEST_F(CoreCq, N4_FailedCreatesLeaveNothing)
{
    bdy_u_create_cq_out out{};
    for (int n : {1, 2}) {
        pci_.dma_alloc_fails_after = n;
        EXPECT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 4, 0, 0, 0}, &out), -ENOMEM);
        EXPECT_EQ(pci_.Held(), held_);
    }
    Model()->refuse_after = 1;
    Model()->refuse_rule = BDY_RULE_N1;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 4, 0, 0, 0}, &out), -EINVAL);
    EXPECT_EQ(pci_.Held(), held_);
}

TEST_F(CoreCq, N2_BusyWhileUsed)
{
    uint32_t channel = user_.Channel(), pd = user_.Pd();
    uint32_t cq = user_.Cq(4, channel).handle;
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_CHANNEL, channel), -EBUSY);
    uint32_t qp = user_.Qp(pd, cq).handle;
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_CQ, cq), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_QP, qp), 0);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_CQ, cq), 0);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_CHANNEL, channel), 0);
    EXPECT_EQ(pci_.Held(), held_);
}

TEST_F(CoreEvents, CompletionsGoToTheChannelOfTheirQueue)
{
    uint32_t channel = user_.Channel();
    auto with = user_.Cq(4, channel, 0xabc), without = user_.Cq(4, 0, 0xdef);
    pci_.Raise(1, BDY_EQE_KIND_COMP, with.cqn, 1);
    pci_.Raise(1, BDY_EQE_KIND_COMP, without.cqn, 1);
    pci_.Settle();
    ASSERT_EQ(user_.events.size(), 1u);
    EXPECT_EQ(user_.events[0].type, BDY_U_EV_COMP);
    EXPECT_EQ(user_.events[0].user_handle, 0xabcu);
    EXPECT_EQ(user_.events[0].channel, channel);
}

TEST_F(CoreEvents, AsynchronousEventsHaveTheVerbsNumbers)
{
    uint32_t pd = user_.Pd();
    auto cq = user_.Cq();
    auto qp = user_.Qp(pd, cq.handle);
    auto srq = user_.Srq(pd);
    const struct {
        unsigned kind;
        uint32_t number, type;
        uint64_t handle;
    } all[] = {
        {BDY_EQE_KIND_CQ_ERR, cq.cqn, V_EVENT_CQ_ERR, 0xc0},
        {BDY_EQE_KIND_QP_FATAL, qp.qpn, V_EVENT_QP_FATAL, 0x9d},
        {BDY_EQE_KIND_QP_REQ_ERR, qp.qpn, V_EVENT_QP_REQ_ERR, 0x9d},
        {BDY_EQE_KIND_QP_ACCESS_ERR, qp.qpn, V_EVENT_QP_ACCESS_ERR, 0x9d},
        {BDY_EQE_KIND_COMM_EST, qp.qpn, V_EVENT_COMM_EST, 0x9d},
        {BDY_EQE_KIND_SQ_DRAINED, qp.qpn, V_EVENT_SQ_DRAINED, 0x9d},
        {BDY_EQE_KIND_LAST_WQE, qp.qpn, V_EVENT_LAST_WQE, 0x9d},
        {BDY_EQE_KIND_SRQ_LIMIT, srq.srqn, V_EVENT_SRQ_LIMIT, 0x59},
        {BDY_EQE_KIND_PORT_ACTIVE, 0, V_EVENT_PORT_ACTIVE, 0},
        {BDY_EQE_KIND_PORT_ERR, 0, V_EVENT_PORT_ERR, 0},
    };
    for (const auto &e : all) {
        pci_.Raise(0, e.kind, e.number);
        pci_.Settle();
        ASSERT_EQ(user_.events.size(), 1u) << e.kind;
        EXPECT_EQ(user_.events[0].type, e.type);
        EXPECT_EQ(user_.events[0].user_handle, e.handle);
        user_.events.clear();
    }
}

TEST_F(CoreEvents, UnknownNumbersAndKindsAreIgnored)
{
    for (uint32_t number : {0u, 5u, 255u, 256u, 300u, 511u, 512u, 0xffffffu}) {
        const unsigned kinds[] = {BDY_EQE_KIND_COMP,       BDY_EQE_KIND_CQ_ERR,
                                  BDY_EQE_KIND_QP_FATAL,   BDY_EQE_KIND_DB_VIOLATION,
                                  BDY_EQE_KIND_SRQ_LIMIT,  BDY_EQE_KIND_VIOLATIONS,
                                  BDY_EQE_KIND_TABLE_READ, 0x77};
        for (unsigned kind : kinds) {
            pci_.Raise(1, kind, number);
        }
    }
    pci_.Settle();
    EXPECT_TRUE(user_.events.empty());
    user_.Pd();
}

TEST_F(CoreEvents, EventsGoToTheOwnerAlone)
{
    User other;
    ASSERT_EQ(other.Open(core_), 0);
    uint32_t channel = user_.Channel();
    auto cq = user_.Cq(4, channel);
    pci_.Raise(1, BDY_EQE_KIND_COMP, cq.cqn);
    pci_.Settle();
    EXPECT_EQ(user_.events.size(), 1u);
    EXPECT_TRUE(other.events.empty());
}

TEST_F(CoreEvents, NoneComesAfterDestroy)
{
    uint32_t channel = user_.Channel(), pd = user_.Pd();
    auto cq = user_.Cq(4, channel), scq = user_.Cq();
    auto qp = user_.Qp(pd, scq.handle);
    pci_.Raise(1, BDY_EQE_KIND_COMP, cq.cqn);
    pci_.Raise(0, BDY_EQE_KIND_QP_FATAL, qp.qpn);
    ASSERT_EQ(user_.Handle(BDY_U_DESTROY_CQ, cq.handle), 0);
    ASSERT_EQ(user_.Handle(BDY_U_DESTROY_QP, qp.handle), 0);
    size_t told = user_.events.size(); // on the way, at most
    pci_.Raise(1, BDY_EQE_KIND_COMP, cq.cqn);
    pci_.Raise(0, BDY_EQE_KIND_QP_FATAL, qp.qpn);
    pci_.Settle();
    EXPECT_EQ(user_.events.size(), told);
}

TEST_F(CoreEvents, ManyPassesOverTheQueueWithBurstsNeverLoseOne)
{
    uint32_t channel = user_.Channel();
    auto cq = user_.Cq(4, channel);
    size_t sent = 0;
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 1 + round * 60 % 4000; i++, sent++) {
            pci_.Raise(1, BDY_EQE_KIND_COMP, cq.cqn);
        }
        pci_.Settle();
        ASSERT_EQ(user_.events.size(), sent);
    }
    EXPECT_GT(sent, 5u * 4096);
}

TEST_F(CoreEvents, EventsDuringACommandAreDelivered)
{
    uint32_t channel = user_.Channel();
    auto cq = user_.Cq(4, channel);
    pci_.Raise(1, BDY_EQE_KIND_COMP, cq.cqn);
    user_.Pd();
    EXPECT_EQ(user_.events.size(), 1u);
}

TEST_F(CoreEvents, TheCommandQueueWrapsWithItsPhases)
{
    for (int i = 0; i < 70000; i++) { // past the producer index's 16 bits too
        uint32_t pd = user_.Pd();
        ASSERT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd), 0);
    }
}

} // namespace
