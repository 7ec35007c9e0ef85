// SPDX-License-Identifier: Apache-2.0
// Contexts, the dispatch of calls, doorbells, and what happens when a process dies.
#include <set>

#include "core_test.h"

using namespace coretest;

namespace
{

class CoreUctx : public Core
{
  protected:
    /** Objects of every kind, used together. */
    void Populate(User &u)
    {
        uint32_t pd = u.Pd(), pd2 = u.Pd();
        uint32_t channel = u.Channel();
        uint32_t cq = u.Cq(100, channel).handle;
        auto qp = u.Qp(pd, cq);
        u.Qp(pd2, u.Cq().handle);
        auto mr = u.Mr(pd, 0x7000, 1 << 20), mw = u.Mw(pd), mw2 = u.Mw(pd, 2);
        mcu_model_bind(Model(), mw.key, mr.key);
        mcu_model_bind(Model(), mw2.key, mr.key);
        mcu_model_qp_state(Model(), qp.qpn, BDY_QP_ST_ERR);
        u.Mr(pd2, 0, 0);
        auto srq = u.Srq(pd);
        auto in = User::QpIn(pd, cq, cq);
        in.srq = srq.handle;
        bdy_u_create_qp_out out{};
        EXPECT_EQ(u.Call(BDY_U_CREATE_QP, in, &out), 0);
        u.Ah(pd);
        u.Xrcd();
        u.XrcRecv(u.Xrcd(5));
        bdy_u_key_out null_mr{};
        EXPECT_EQ(u.Call(BDY_U_ALLOC_NULL_MR, bdy_u_handle{pd, 0}, &null_mr), 0);
        bdy_u_create_cq_out resized{};
        EXPECT_EQ(u.Call(BDY_U_RESIZE_CQ, bdy_u_resize_cq_in{cq, 300}, &resized), 0);
    }

    std::vector<unsigned> OpsSince(uint32_t from)
    {
        std::vector<unsigned> list;
        for (uint32_t i = from; i < Model()->nops; i++) {
            list.push_back(mcu_model_op(Model(), i));
        }
        return list;
    }
};

TEST_F(CoreUctx, OpenGivesAUarPageOfItsOwn)
{
    std::set<uint32_t> pages = {user_.info.uar};
    std::vector<User> users(BDY_UAR_COUNT - 2);
    for (User &u : users) {
        ASSERT_EQ(u.Open(core_), 0);
        pages.insert(u.info.uar);
        EXPECT_EQ(u.info.core_clock_khz, BDY_CORE_CLOCK_KHZ);
    }
    EXPECT_EQ(pages.size(), BDY_UAR_COUNT - 1);
    EXPECT_EQ(*pages.begin(), 1u) << "page 0 is nobody's";
    User more;
    EXPECT_EQ(more.Open(core_), -ENOSPC);
    users[10].Close();
    EXPECT_EQ(more.Open(core_), 0);
}

TEST_F(CoreUctx, AUarPageIsNotReusedAtOnce)
{
    User u;
    ASSERT_EQ(u.Open(core_), 0);
    uint32_t page = u.info.uar;
    u.Close();
    ASSERT_EQ(u.Open(core_), 0);
    EXPECT_NE(u.info.uar, page);
}

TEST_F(CoreUctx, OpenRefusesAnotherVersionAndReservedFields)
{
    bdy_u_open_in in{};
    bdy_u_open_out out{};
    bdy_uctx *u = nullptr;
    in.abi = BDY_UCTX_ABI + 1;
    EXPECT_EQ(bdy_core_uctx_open(core_, nullptr, nullptr, nullptr, &in, &out, &u), -EINVAL);
    in.abi = BDY_UCTX_ABI;
    in.rsvd = 1;
    EXPECT_EQ(bdy_core_uctx_open(core_, nullptr, nullptr, nullptr, &in, &out, &u), -EINVAL);
}

TEST_F(CoreUctx, UnknownCallsAndWrongSizesAreRefused)
{
    uint64_t buf[64] = {};
    for (uint32_t op : {0u, uint32_t{BDY_U_OPEN}, uint32_t{BDY_U_OPEN_QP} + 1, 0xffffffffu}) {
        EXPECT_EQ(bdy_core_call(user_.uctx, op, buf, 8, buf, 8, nullptr), -EOPNOTSUPP) << op;
    }
    for (uint32_t op = BDY_U_QUERY_DEVICE; op <= BDY_U_OPEN_QP; op++) {
        EXPECT_EQ(bdy_core_call(user_.uctx, op, buf, 3, buf, sizeof buf, nullptr), -EINVAL) << op;
        EXPECT_EQ(bdy_core_call(user_.uctx, op, buf, 0, buf, 1, nullptr), -EINVAL) << op;
    }
    EXPECT_EQ(bdy_core_call(user_.uctx, BDY_U_ALLOC_PD, nullptr, 0, nullptr, 8, nullptr), -EINVAL);
    EXPECT_EQ(bdy_core_call(user_.uctx, BDY_U_DEALLOC_PD, nullptr, 8, nullptr, 0, nullptr),
              -EINVAL);
}

TEST_F(CoreUctx, ReservedFieldsAreRefused)
{
    uint32_t pd = user_.Pd();
    EXPECT_EQ(user_.Do(BDY_U_DEALLOC_PD, bdy_u_handle{pd, 1}), -EINVAL);
    bdy_u_create_cq_out cq{};
    EXPECT_EQ(user_.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{0, 4, 0, 0, 1}, &cq), -EINVAL);
    auto in = User::QpIn(pd, user_.Cq().handle, user_.Cq().handle);
    in.rsvd = 1;
    bdy_u_create_qp_out qp{};
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &qp), -EINVAL);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd), 0);
}

TEST_F(CoreUctx, N1_UnknownFreedForeignAndMixedUpHandles)
{
    User other;
    ASSERT_EQ(other.Open(core_), 0);
    uint32_t pd = user_.Pd(), channel = user_.Channel(), cq = user_.Cq().handle;
    uint32_t mr = user_.Mr(pd).handle, mw = user_.Mw(pd).handle, qp = user_.Qp(pd, cq).handle;
    const std::vector<std::pair<uint32_t, uint32_t>> all = {
        {BDY_U_DEALLOC_PD, pd},           {BDY_U_DEREG_MR, mr},   {BDY_U_DEALLOC_MW, mw},
        {BDY_U_DESTROY_CHANNEL, channel}, {BDY_U_DESTROY_CQ, cq}, {BDY_U_DESTROY_QP, qp}};
    uint32_t ops = Model()->nops;
    for (auto [op, own] : all) {
        EXPECT_EQ(other.Handle(op, own), -ENOENT) << "foreign";
        EXPECT_EQ(user_.Handle(op, 0), -ENOENT);
        EXPECT_EQ(user_.Handle(op, 0xffffffff), -ENOENT);
        EXPECT_EQ(user_.Handle(op, own ^ 0x100000), -ENOENT) << "an older use";
        for (auto [unused, handle] : all) {
            EXPECT_TRUE(handle == own || user_.Handle(op, handle) == -ENOENT) << "another kind";
        }
    }
    bdy_u_key_out key{};
    bdy_u_qp_attr attr{};
    EXPECT_EQ(other.Call(BDY_U_QUERY_MW, bdy_u_handle{mw, 0}, &key), -EINVAL);
    EXPECT_EQ(user_.Call(BDY_U_QUERY_MW, bdy_u_handle{mr, 0}, &key), -EINVAL);
    EXPECT_EQ(other.Call(BDY_U_QUERY_QP, bdy_u_handle{qp, 0}, &attr), -EINVAL);
    attr.handle = qp;
    EXPECT_EQ(other.Do(BDY_U_MODIFY_QP, attr), -EINVAL);
    EXPECT_EQ(other.Call(BDY_U_REG_MR, User::MrIn(pd), &key), -EINVAL);
    EXPECT_EQ(other.Call(BDY_U_ALLOC_MW, bdy_u_alloc_mw_in{pd, 1}, &key), -EINVAL);
    bdy_u_create_cq_out made{};
    EXPECT_EQ(other.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{0, 4, channel, 0, 0}, &made), -EINVAL);
    bdy_u_create_qp_out made_qp{};
    EXPECT_EQ(other.Call(BDY_U_CREATE_QP, User::QpIn(pd, cq, cq), &made_qp), -EINVAL);
    uint32_t pd2 = other.Pd(), cq2 = other.Cq().handle;
    ops = Model()->nops;
    EXPECT_EQ(other.Call(BDY_U_CREATE_QP, User::QpIn(pd2, cq2, cq), &made_qp), -EINVAL);
    EXPECT_EQ(Model()->nops, ops) << "nothing changed";
    for (auto [op, own] : {all[5], all[4], all[2], all[1], all[3], all[0]}) {
        EXPECT_EQ(user_.Handle(op, own), 0);
        EXPECT_EQ(user_.Handle(op, own), -ENOENT) << "freed";
    }
}

TEST_F(CoreUctx, DoorbellsGoToTheContextsOwnPage)
{
    EXPECT_EQ(bdy_core_doorbell(user_.uctx, 0x10, 0x123456789), 0);
    ASSERT_EQ(pci_.doorbells.size(), 1u);
    EXPECT_EQ(pci_.doorbells[0].offset, BDY_UAR_BASE + 4096 * user_.info.uar + 0x10);
    EXPECT_EQ(pci_.doorbells[0].value, 0x123456789u);
    for (uint32_t bad : {4u, 1u, 4096u, 4104u, 0xfffffff8u}) {
        EXPECT_EQ(bdy_core_doorbell(user_.uctx, bad, 1), -EINVAL) << bad;
    }
    EXPECT_EQ(pci_.doorbells.size(), 1u);
}

TEST_F(CoreUctx, N7_DeathOfAContextFreesAllItOwned)
{
    User doomed;
    ASSERT_EQ(doomed.Open(core_), 0);
    uint32_t pd = user_.Pd(), mr = user_.Mr(pd).key;
    size_t held = pci_.Held();
    Populate(doomed);
    ASSERT_GT(pci_.Held(), held);
    doomed.Close();
    EXPECT_EQ(pci_.Held(), held);
    EXPECT_EQ(Model()->fw.keys_used, 1u);
    EXPECT_EQ(bdy_mpt_entry_get_st(Model()->mpt[mr >> 12]), BDY_MPT_ST_VALID) << "others go on";
    for (uint32_t n : Model()->bound) {
        ASSERT_EQ(n, 0u);
    }
    user_.Mw(pd);
}

TEST_F(CoreUctx, H5_DeathKillsProtectionDomainsBeforeAnythingElse)
{
    User doomed;
    ASSERT_EQ(doomed.Open(core_), 0);
    Populate(doomed);
    uint32_t ops = Model()->nops;
    doomed.Close();
    auto list = OpsSince(ops);
    ASSERT_GT(list.size(), 8u);
    EXPECT_EQ(list[0], BDY_PROT_OP_PD_KILL);
    EXPECT_EQ(list[1], BDY_PROT_OP_PD_KILL);
    // then queue pairs, windows, regions, each kind as a whole
    auto first = [&](unsigned op) {
        return std::find(list.begin(), list.end(), op) - list.begin();
    };
    auto last = [&](unsigned op) {
        return list.rend() - std::find(list.rbegin(), list.rend(), op) - 1;
    };
    EXPECT_LT(last(BDY_PROT_OP_QP_BUMP), first(BDY_PROT_OP_MW_FREE));
    EXPECT_LT(last(BDY_PROT_OP_MW_FREE), first(BDY_PROT_OP_MR_CLOSE));
}

TEST_F(CoreUctx, N7_FullTablesCanBeMadeAgainAfterDeath)
{
    for (int round = 0; round < 3; round++) {
        User u;
        ASSERT_EQ(u.Open(core_), 0);
        uint32_t pd = u.Pd();
        for (int i = 0; i < 4096; i++) {
            u.Mw(pd, 1 + i % 2);
        }
        for (int i = 0; i < 3072; i++) {
            u.Mr(pd, 0x10000 * i, 4096 * 2);
        }
        bdy_u_key_out key{};
        EXPECT_EQ(u.Call(BDY_U_ALLOC_MW, bdy_u_alloc_mw_in{pd, 1}, &key), -ENOMEM);
        EXPECT_EQ(u.Call(BDY_U_REG_MR, User::MrIn(pd), &key), -ENOMEM);
        uint32_t cq = 0;
        for (uint32_t i = 0; i < 224; i++) {
            cq = u.Cq().handle;
        }
        for (uint32_t i = 0; i < 224; i++) {
            u.Qp(pd, cq);
        }
        bdy_u_create_cq_out cq_out{};
        bdy_u_create_qp_out qp_out{};
        EXPECT_EQ(u.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{0, 1, 0, 0, 0}, &cq_out), -ENOMEM);
        EXPECT_EQ(u.Call(BDY_U_CREATE_QP, User::QpIn(pd, cq, cq), &qp_out), -ENOMEM);
        for (uint32_t i = 1; i < 896; i++) {
            u.Pd();
        }
        bdy_u_handle pd_out{};
        EXPECT_EQ(u.Get(BDY_U_ALLOC_PD, &pd_out), -ENOMEM);
        bdy_u_create_srq_out srq_out{};
        bdy_u_create_ah_out ah_out{};
        bdy_u_handle xrcd_out{};
        for (uint32_t i = 0; i < 224; i++) {
            u.Srq(pd);
            u.Ah(pd);
            u.Xrcd(i % 2 ? 1000 + i : 0);
        }
        EXPECT_EQ(u.Call(BDY_U_CREATE_SRQ, User::SrqIn(pd), &srq_out), -ENOMEM);
        EXPECT_EQ(u.Call(BDY_U_CREATE_AH, User::AhIn(pd), &ah_out), -ENOMEM);
        EXPECT_EQ(u.Call(BDY_U_OPEN_XRCD, bdy_u_open_xrcd_in{0, 0}, &xrcd_out), -ENOMEM);
        u.Close();
        EXPECT_EQ(pci_.Held(), held_);
    }
}

TEST_F(CoreUctx, H23_OneContextCannotTakeWhatOthersNeed)
{
    User greedy;
    ASSERT_EQ(greedy.Open(core_), 0);
    bdy_u_key_out key{};
    bdy_u_handle pd_out{};
    bdy_u_create_cq_out cq_out{};
    bdy_u_create_qp_out qp_out{};
    uint32_t pd = greedy.Pd(), cq = greedy.Cq().handle;
    while (greedy.Call(BDY_U_ALLOC_MW, bdy_u_alloc_mw_in{pd, 2}, &key) == 0) {
    }
    while (greedy.Call(BDY_U_REG_MR, User::MrIn(pd), &key) == 0) {
    }
    while (greedy.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{0, 1, 0, 0, 0}, &cq_out) == 0) {
    }
    while (greedy.Call(BDY_U_CREATE_QP, User::QpIn(pd, cq, cq), &qp_out) == 0) {
    }
    while (greedy.Get(BDY_U_ALLOC_PD, &pd_out) == 0) {
    }
    while (greedy.Get(BDY_U_CREATE_CHANNEL, &pd_out) == 0) {
    }
    EXPECT_EQ(greedy.Call(BDY_U_ALLOC_MW, bdy_u_alloc_mw_in{pd, 2}, &key), -ENOMEM);
    EXPECT_EQ(greedy.Call(BDY_U_CREATE_QP, User::QpIn(pd, cq, cq), &qp_out), -ENOMEM);
    uint32_t own = user_.Pd(), own_cq = user_.Cq().handle;
    for (int i = 0; i < 30; i++) {
        user_.Mr(own);
        user_.Mw(own);
        user_.Qp(own, own_cq);
        user_.Cq();
        user_.Pd();
    }
}

TEST_F(CoreUctx, ClosingTheCoreClosesContexts)
{
    Populate(user_);
    bdy_core_close(core_);
    core_ = nullptr;
    EXPECT_EQ(pci_.Held(), 0u);
    EXPECT_EQ(Model()->dev_state, BDY_DEV_ST_READY);
}

TEST_F(CoreUctx, ADeadDeviceGivesEioTellsOnceAndIsCleanedUp)
{
    User other;
    ASSERT_EQ(other.Open(core_), 0);
    Populate(user_);
    pci_.Raise(0, BDY_EQE_KIND_DEVICE_FATAL, 0, BDY_HEALTH_TABLE_WRITE);
    pci_.Settle();
    EXPECT_EQ(bdy_core_dead(core_), 1);
    pci_.Raise(0, BDY_EQE_KIND_DEVICE_FATAL, 0, BDY_HEALTH_TABLE_WRITE);
    pci_.Settle();
    for (User *u : {&user_, &other}) {
        ASSERT_EQ(u->events.size(), 1u);
        EXPECT_EQ(u->events[0].type, uint32_t{V_EVENT_DEVICE_FATAL});
        bdy_u_handle out{};
        EXPECT_EQ(u->Get(BDY_U_ALLOC_PD, &out), -EIO);
        EXPECT_EQ(bdy_core_doorbell(u->uctx, 0, 0), -EIO);
    }
    User more;
    EXPECT_EQ(more.Open(core_), -EIO);
    user_.Close();
    EXPECT_EQ(pci_.Held(), held_);
}

TEST_F(CoreUctx, ACommandWithoutAnswerKillsTheDeviceInBoundedTime)
{
    pci_.hang = true;
    uint64_t before = pci_.now_;
    bdy_u_handle out{};
    EXPECT_EQ(user_.Get(BDY_U_ALLOC_PD, &out), -EIO);
    EXPECT_LT(pci_.now_ - before, 21000000u);
    ASSERT_EQ(user_.events.size(), 1u);
    EXPECT_EQ(user_.events[0].type, uint32_t{V_EVENT_DEVICE_FATAL});
}

TEST_F(CoreUctx, AnInterruptThatNeverComesIsAFailureToo)
{
    pci_.deaf = true;
    bdy_u_handle out{};
    EXPECT_EQ(user_.Get(BDY_U_ALLOC_PD, &out), -EIO);
}

TEST_F(CoreUctx, AFailingBusKillsTheDevice)
{
    bdy_u_clock clock{};
    EXPECT_EQ(user_.Get(BDY_U_QUERY_CLOCK, &clock), 0);
    EXPECT_EQ(clock.cycle, pci_.now_);
    pci_.bar_error = -EIO;
    EXPECT_EQ(user_.Get(BDY_U_QUERY_CLOCK, &clock), -EIO);
    EXPECT_EQ(bdy_core_dead(core_), 1);
}

} // namespace
