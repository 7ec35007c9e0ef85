// SPDX-License-Identifier: Apache-2.0
// Windows: what a bind checks at post, which keys it uses, and what failed and lost binds do to
// them.

#include <cerrno>

#include "fixture.h"

namespace
{

constexpr unsigned kReadWrite = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

class Bind : public Provider
{
  protected:
    void SetUp() override
    {
        Provider::SetUp();
        hca.executes = false;
        mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
        mw2 = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
        ASSERT_TRUE(mw != nullptr && mw2 != nullptr);
        qp = new_qp();
    }

    uint64_t base() const
    {
        return reinterpret_cast<uintptr_t>(memory.data());
    }

    ibv_mw_bind request(unsigned access = kReadWrite, unsigned flags = IBV_SEND_SIGNALED) const
    {
        ibv_mw_bind bind{};
        bind.wr_id = 0xb1bd;
        bind.send_flags = flags;
        bind.bind_info = {mr, base() + 16, 32, access};
        return bind;
    }

    int bind1(unsigned access = kReadWrite, unsigned flags = IBV_SEND_SIGNALED)
    {
        ibv_mw_bind bind = request(access, flags);
        return ibv_bind_mw(qp, mw, &bind);
    }

    ibv_send_wr request2(uint32_t key) const
    {
        ibv_send_wr wr = send_wr(IBV_WR_BIND_MW);
        wr.bind_mw = {mw2, key, {mr, base() + 16, 32, kReadWrite}};
        return wr;
    }

    // A bind's completion: what became of it, and the window's present key.
    void complete_bind(uint32_t index, uint8_t status, uint32_t present_key, bool executed = false,
                       const ibv_qp *on = nullptr)
    {
        fake::Cqe c = cqe(on != nullptr ? on : qp, index, status);
        bdy_cqe_set_op(c.data(), BDY_CQE_OP_BIND_MW);
        bdy_cqe_set_rkey(c.data(), present_key);
        bdy_cqe_set_executed(c.data(), executed);
        bdy_cqe_set_rule(c.data(), status == BDY_WC_MW_BIND_ERR ? BDY_RULE_B7 : 0);
        hca.push_cqe(cq->handle, c);
    }

    uint32_t old_key_in(uint32_t index)
    {
        return static_cast<uint32_t>(bdy_wqe_get_inv_key(slot(qp, index)));
    }

    ibv_mw *mw = nullptr, *mw2 = nullptr;
    ibv_qp *qp = nullptr;
};

TEST_F(Bind, Type1WqeHasTheWindowsKeyAndTheRange_S1)
{
    const uint32_t before = mw->rkey;
    ASSERT_EQ(bind1(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED, IBV_SEND_FENCE), 0);
    const uint64_t *w = slot(qp, 0);
    EXPECT_EQ(bdy_wqe_get_op(w), BDY_WQE_OP_BIND1);
    EXPECT_EQ(bdy_wqe_get_fence(w), 1u);
    EXPECT_EQ(bdy_wqe_get_signaled(w), 0u);
    EXPECT_EQ(bdy_wqe_get_slots(w), 1u);
    EXPECT_EQ(bdy_wqe_get_inv_key(w), before);
    EXPECT_EQ(bdy_wqe_get_rkey(w), mr->lkey);
    EXPECT_EQ(bdy_wqe_get_addr(w), base() + 16);
    EXPECT_EQ(bdy_wqe_get_w4(w), 32u);
    EXPECT_EQ(bdy_wqe_get_rights(w), BDY_ACCESS_BIT_REMOTE_READ | BDY_ACCESS_BIT_ZERO_BASED);
    EXPECT_EQ(bdy_wqe_get_new_key(w), 0u);
    EXPECT_TRUE(bdy_wqe_rsvd_zero(w));
    EXPECT_EQ(hca.doorbells.size(), 1u);
}

TEST_F(Bind, Type1KeyMovesByOneAndWraps_K2_K3_K7_P17)
{
    const uint32_t first = mw->rkey;
    for (uint32_t n = 1; n <= 300; n++) {
        ASSERT_EQ(bind1(), 0);
        EXPECT_EQ(mw->rkey,
                  (first & ~0xffu) | ((first + n) & 0xff)); // visible before any completion
        EXPECT_EQ(old_key_in(n - 1), (first & ~0xffu) | ((first + n - 1) & 0xff));
        complete_bind(n - 1, BDY_WC_SUCCESS, mw->rkey);
        EXPECT_EQ(poll_one().opcode, IBV_WC_BIND_MW);
    }
}

TEST_F(Bind, Type2KeyIsTheConsumersLowByteOnTheWindowsIndex_K4_K6_P18)
{
    const uint32_t before = mw2->rkey;
    ibv_send_wr wr = request2(0xffffff42);
    ASSERT_EQ(post(qp, wr), 0);
    EXPECT_EQ(mw2->rkey, (before & ~0xffu) | 0x42);
    const uint64_t *w = slot(qp, 0);
    EXPECT_EQ(bdy_wqe_get_op(w), BDY_WQE_OP_BIND2);
    EXPECT_EQ(bdy_wqe_get_inv_key(w), before);
    EXPECT_EQ(bdy_wqe_get_new_key(w), 0x42u);
    EXPECT_EQ(bdy_wqe_get_rkey(w), mr->lkey);
    EXPECT_EQ(bdy_wqe_get_rights(w), kReadWrite);
    EXPECT_EQ(bdy_wqe_get_w4(w), 32u);
    EXPECT_TRUE(bdy_wqe_rsvd_zero(w));
}

TEST_F(Bind, Type2MayKeepItsKey_K5)
{
    const uint32_t before = mw2->rkey;
    ASSERT_EQ(post(qp, request2(before)), 0);
    EXPECT_EQ(mw2->rkey, before);
}

TEST_F(Bind, WhatTheProgramWritesIntoRkeyChangesNothing_K6)
{
    const uint32_t first = mw->rkey, first2 = mw2->rkey;
    mw->rkey = 0xdeadbeef;
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(old_key_in(0), first);
    EXPECT_EQ(mw->rkey, (first & ~0xffu) | ((first + 1) & 0xff));
    mw2->rkey = 0xdeadbeef;
    ASSERT_EQ(post(qp, request2(7)), 0);
    EXPECT_EQ(old_key_in(1), first2);
    EXPECT_EQ(mw2->rkey, (first2 & ~0xffu) | 7);
}

TEST_F(Bind, OfATypeOnTheOtherTypesWay_P1_P2)
{
    ibv_mw_bind bind = request();
    EXPECT_EQ(ibv_bind_mw(qp, mw2, &bind), EINVAL);
    EXPECT_EQ(ctx->ops.bind_mw(qp, mw2, &bind), EINVAL); // past the library's own check
    ibv_send_wr wr = request2(1);
    wr.bind_mw.mw = mw;
    EXPECT_EQ(post(qp, wr), EINVAL);
    wr.bind_mw.mw = nullptr;
    EXPECT_EQ(post(qp, wr), EINVAL);
    EXPECT_TRUE(hca.doorbells.empty());
}

TEST_F(Bind, WithoutRegionOnlyAsAnUnbind_P3_P5)
{
    ibv_mw_bind bind = request();
    bind.bind_info.mr = nullptr;
    EXPECT_EQ(ctx->ops.bind_mw(qp, mw, &bind), EINVAL);
    bind.bind_info.addr = 0;
    EXPECT_EQ(ctx->ops.bind_mw(qp, mw, &bind), EINVAL);
    bind.bind_info.length = 0;
    EXPECT_EQ(ibv_bind_mw(qp, mw, &bind), 0);
    EXPECT_EQ(bdy_wqe_get_rkey(slot(qp, 0)), 0u);
    EXPECT_EQ(bdy_wqe_get_w4(slot(qp, 0)), 0u);
}

TEST_F(Bind, RegionOfAnotherDomainIsEpermAndTheKeyStays_P4_P17)
{
    ibv_pd *other = ibv_alloc_pd(ctx);
    ibv_mr *foreign = ibv_reg_mr(other, memory.data(), 64, kAllRights);
    const uint32_t before = mw->rkey;
    ibv_mw_bind bind = request();
    bind.bind_info.mr = foreign;
    EXPECT_EQ(ctx->ops.bind_mw(qp, mw, &bind), EPERM);
    EXPECT_EQ(mw->rkey, before);
    EXPECT_TRUE(hca.doorbells.empty());
}

TEST_F(Bind, Type2WithAForeignRegionReachesHardware_B5)
{
    ibv_pd *other = ibv_alloc_pd(ctx);
    ibv_mr *foreign = ibv_reg_mr(other, memory.data(), 64, kAllRights);
    ibv_send_wr wr = request2(1);
    wr.bind_mw.bind_info.mr = foreign;
    EXPECT_EQ(post(qp, wr), 0);
    EXPECT_EQ(bdy_wqe_get_rkey(slot(qp, 0)), foreign->lkey);
}

TEST_F(Bind, HardwaresRulesReachHardware_B6_B7_B10_B11_B18)
{
    ibv_mr *bare = ibv_reg_mr(pd, memory.data(), 64, IBV_ACCESS_LOCAL_WRITE);
    ibv_mw_bind bind = request();
    bind.bind_info.mr = bare;
    EXPECT_EQ(ibv_bind_mw(qp, mw, &bind), 0);
    bind.bind_info = {mr, base() - 1, 1, kReadWrite};
    EXPECT_EQ(ibv_bind_mw(qp, mw, &bind), 0);
    bind.bind_info = {mr, ~uint64_t{0}, ~uint64_t{0}, kReadWrite};
    EXPECT_EQ(ibv_bind_mw(qp, mw, &bind), 0);
    ibv_send_wr wr = request2(1);
    wr.bind_mw.bind_info.length = 0;
    EXPECT_EQ(post(qp, wr), 0);
    wr.bind_mw.bind_info.mr = nullptr;
    EXPECT_EQ(post(qp, wr), 0);
    EXPECT_EQ(hca.doorbells.size(), 5u);
}

TEST_F(Bind, ZeroBasedRegionIsRefusedForBothTypes_P6)
{
    ibv_mr *zero = ibv_reg_mr(pd, memory.data(), 64, kAllRights | IBV_ACCESS_ZERO_BASED);
    ASSERT_NE(zero, nullptr);
    ibv_mw_bind bind = request();
    bind.bind_info.mr = zero;
    EXPECT_EQ(ibv_bind_mw(qp, mw, &bind), EINVAL);
    ibv_send_wr wr = request2(1);
    wr.bind_mw.bind_info.mr = zero;
    EXPECT_EQ(post(qp, wr), EINVAL);
}

TEST_F(Bind, ZeroBasedType1WindowIsRefusedInStrictModeOnly_P7)
{
    EXPECT_EQ(bind1(kReadWrite | IBV_ACCESS_ZERO_BASED), 0);
    hca.strict_ibta = true;
    ibv_context *strict = bdy_verbs_open(fake::direct_transport(&hca));
    ASSERT_NE(strict, nullptr);
    ibv_pd *spd = ibv_alloc_pd(strict);
    ibv_mr *smr = ibv_reg_mr(spd, memory.data(), 64, kAllRights);
    ibv_qp_init_attr attr = qp_attr();
    attr.send_cq = attr.recv_cq = ibv_create_cq(strict, 4, nullptr, nullptr, 0);
    ibv_qp *sqp = ibv_create_qp(spd, &attr);
    ASSERT_NE(sqp, nullptr);
    for (ibv_qp_state s : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
        ASSERT_EQ(move(sqp, s), 0);
    ibv_mw_bind bind{};
    bind.bind_info = {smr, base(), 8, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED};
    EXPECT_EQ(ibv_bind_mw(sqp, ibv_alloc_mw(spd, IBV_MW_TYPE_1), &bind), EINVAL);
    ibv_send_wr wr = send_wr(IBV_WR_BIND_MW);
    wr.bind_mw = {ibv_alloc_mw(spd, IBV_MW_TYPE_2), 1, bind.bind_info};
    EXPECT_EQ(post(sqp, wr), 0); // type 2 may
    ibv_close_device(strict);
}

TEST_F(Bind, LocalWriteAmongWindowRightsGrantsNothing_P8)
{
    EXPECT_EQ(bind1(IBV_ACCESS_LOCAL_WRITE), 0);
    EXPECT_EQ(bdy_wqe_get_rights(slot(qp, 0)), 0u);
}

TEST_F(Bind, UnknownRightsAreRefused_P8)
{
    for (unsigned bad :
         {unsigned{IBV_ACCESS_MW_BIND}, unsigned{IBV_ACCESS_ON_DEMAND},
          unsigned{IBV_ACCESS_HUGETLB}, unsigned{IBV_ACCESS_RELAXED_ORDERING}, 1u << 31}) {
        EXPECT_EQ(bind1(kReadWrite | bad), EINVAL);
        ibv_send_wr wr = request2(1);
        wr.bind_mw.bind_info.mw_access_flags |= bad;
        EXPECT_EQ(post(qp, wr), EINVAL);
    }
}

TEST_F(Bind, EveryCombinationOfWindowRightsIsPosted_S4)
{
    for (unsigned rights = 0; rights < 8; rights++) {
        ASSERT_EQ(bind1(rights << 1), 0);
        EXPECT_EQ(bdy_wqe_get_rights(slot(qp, rights)), rights << 1);
        complete_bind(rights, BDY_WC_SUCCESS, mw->rkey);
        poll_one();
    }
}

TEST_F(Bind, OnlyFenceAndSignaledAreFlagsOfABind_P12_S3)
{
    for (unsigned flags : {0u, 1u, 2u, 3u})
        EXPECT_EQ(bind1(kReadWrite, flags), 0);
    for (unsigned flags : {unsigned{IBV_SEND_SOLICITED}, unsigned{IBV_SEND_INLINE},
                           unsigned{IBV_SEND_IP_CSUM}, 1u << 20}) {
        EXPECT_EQ(bind1(kReadWrite, flags), EINVAL);
        ibv_send_wr wr = request2(1);
        wr.send_flags = flags;
        EXPECT_EQ(post(qp, wr), EINVAL);
    }
}

TEST_F(Bind, SgesOfABindMustBeNoneAndTheListIsNotRead_P20)
{
    ibv_send_wr wr = request2(1);
    wr.sg_list = reinterpret_cast<ibv_sge *>(1);
    EXPECT_EQ(post(qp, wr), 0);
    wr.num_sge = 1;
    EXPECT_EQ(post(qp, wr), EINVAL);
}

TEST_F(Bind, AFailedCallLeavesTheKey_P14_P17_Q1)
{
    for (int i = 0; i < 8; i++)
        ASSERT_EQ(bind1(), 0);
    const uint32_t before = mw->rkey, before2 = mw2->rkey;
    EXPECT_EQ(bind1(), ENOMEM);
    EXPECT_EQ(post(qp, request2(0x99)), ENOMEM);
    EXPECT_EQ(mw->rkey, before);
    EXPECT_EQ(mw2->rkey, before2);
    qp = new_qp(IBV_QPS_RTR);
    EXPECT_EQ(bind1(), EINVAL);
    EXPECT_EQ(mw->rkey, before);
    qp = new_qp();
    hca.gone = true;
    EXPECT_EQ(bind1(), EIO);
    EXPECT_EQ(mw->rkey, before);
}

TEST_F(Bind, AWindowOfAnotherContextIsRefused)
{
    ibv_context *other = bdy_verbs_open(fake::direct_transport(&hca));
    ibv_pd *there = ibv_alloc_pd(other);
    ibv_mw *foreign = ibv_alloc_mw(there, IBV_MW_TYPE_1);
    ibv_mw_bind bind{};
    EXPECT_EQ(ctx->ops.bind_mw(qp, foreign, &bind), EINVAL);
    ibv_close_device(other);
}

TEST_F(Bind, AFailedBindIsTakenBack_S7)
{
    const uint32_t first = mw->rkey;
    ASSERT_EQ(bind1(), 0);
    complete_bind(0, BDY_WC_MW_BIND_ERR, first);
    const ibv_wc wc = poll_one();
    EXPECT_EQ(wc.status, IBV_WC_MW_BIND_ERR);
    EXPECT_EQ(wc.opcode, IBV_WC_BIND_MW); // W3
    EXPECT_EQ(wc.wr_id, 0xb1bdu);
    EXPECT_EQ(wc.vendor_err, static_cast<uint32_t>(BDY_RULE_B7));
    mw->rkey = first; // as the man page asks
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(old_key_in(1), first);
    EXPECT_EQ(mw->rkey, (first & ~0xffu) | ((first + 1) & 0xff));
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 0u);
}

TEST_F(Bind, ExecutedThenFlushedKeepsItsKey_H12)
{
    const uint32_t first = mw->rkey;
    ASSERT_EQ(bind1(), 0);
    const uint32_t moved = mw->rkey;
    complete_bind(0, BDY_WC_WR_FLUSH_ERR, moved, true);
    const ibv_wc wc = poll_one();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.vendor_err, 0x80000000u);
    mw->rkey = first; // harmless
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(old_key_in(1), moved);
}

TEST_F(Bind, OfSeveralFlushedTheLatestTells_H12)
{
    const uint32_t first = mw->rkey;
    ASSERT_EQ(bind1(), 0);
    ASSERT_EQ(bind1(), 0);
    ASSERT_EQ(bind1(), 0);
    const uint32_t after_one = (first & ~0xffu) | ((first + 1) & 0xff);
    complete_bind(0, BDY_WC_SUCCESS, after_one, true);
    complete_bind(1, BDY_WC_MW_BIND_ERR, after_one);
    complete_bind(2, BDY_WC_WR_FLUSH_ERR, after_one);
    for (int i = 0; i < 3; i++)
        poll_one();
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(old_key_in(3), after_one);
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 0u);
}

TEST_F(Bind, ASuccessBehindLaterPostsDoesNotTurnTheKeyBack_K3)
{
    const uint32_t first = mw->rkey;
    ASSERT_EQ(bind1(), 0);
    const uint32_t after_one = mw->rkey;
    ASSERT_EQ(bind1(kReadWrite, 0), 0); // unsignaled: nothing will tell
    complete_bind(0, BDY_WC_SUCCESS, after_one);
    poll_one();
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(old_key_in(2), (first & ~0xffu) | ((first + 2) & 0xff));
}

TEST_F(Bind, ALostCompletionMakesTheNextBindAsk_H12_C3)
{
    ASSERT_EQ(bind1(), 0);
    const uint32_t index = mw->rkey >> 8;
    hca.keys.at(index).low = 0x5c; // what hardware has made of it
    complete_bind(0, BDY_WC_WR_FLUSH_ERR, index << 8 | 0x5c, true);
    ASSERT_EQ(move(qp, IBV_QPS_RESET), 0); // purges the completion unread
    EXPECT_TRUE(cq_is_empty());
    for (ibv_qp_state s : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
        ASSERT_EQ(move(qp, s), 0);
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 1u);
    EXPECT_EQ(old_key_in(0), index << 8 | 0x5c);
    EXPECT_EQ(mw->rkey, index << 8 | 0x5d);
    ASSERT_EQ(bind1(), 0); // asked once
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 1u);
}

TEST_F(Bind, DestroyingTheQueuePairLosesItsBindsToo_H12)
{
    ASSERT_EQ(bind1(), 0);
    ASSERT_EQ(ibv_destroy_qp(qp), 0);
    qp = new_qp();
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 1u);
}

TEST_F(Bind, TheQuestionsFailureIsTheBindsAndTheKeyStays_H12)
{
    ASSERT_EQ(bind1(), 0);
    const uint32_t before = mw->rkey;
    ASSERT_EQ(ibv_destroy_qp(qp), 0);
    qp = new_qp();
    hca.fail[BDY_U_QUERY_MW] = ENOMEM;
    EXPECT_EQ(bind1(), ENOMEM);
    EXPECT_EQ(mw->rkey, before);
    EXPECT_EQ(bind1(), 0);
}

TEST_F(Bind, AnOlderFlushOfAnotherQueuePairDoesNotDisturb_H12)
{
    ibv_qp *second = new_qp();
    const uint32_t first = mw->rkey;
    ASSERT_EQ(bind1(), 0);
    ASSERT_EQ(bind1(), 0);
    complete_bind(0, BDY_WC_MW_BIND_ERR, first);
    poll_one(); // not the latest: unsure
    std::swap(qp, second);
    hca.keys.at(first >> 8).low = first & 0xff;
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 1u);
    EXPECT_EQ(old_key_in(0), first);
    complete_bind(1, BDY_WC_WR_FLUSH_ERR, first, false, second); // long superseded
    poll_one();
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 1u);
    EXPECT_EQ(old_key_in(1), (first & ~0xffu) | ((first + 1) & 0xff));
}

TEST_F(Bind, OverlappingBindsOnTwoQueuePairsMakeTheNextOneAsk_H12)
{
    ibv_qp *first_qp = qp, *second_qp = new_qp();
    const uint32_t first = mw->rkey, after_one = (first & ~0xffu) | ((first + 1) & 0xff);
    ASSERT_EQ(bind1(), 0);
    qp = second_qp;
    ASSERT_EQ(bind1(), 0);
    complete_bind(0, BDY_WC_MW_BIND_ERR,
                  first); // executed before the other, so its old key was too new
    poll_one();
    complete_bind(0, BDY_WC_SUCCESS, after_one, true, first_qp);
    poll_one();
    hca.keys.at(first >> 8).low = after_one & 0xff;
    qp = first_qp;
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(calls(BDY_U_QUERY_MW), 1u);
    EXPECT_EQ(old_key_in(1), after_one);
}

TEST_F(Bind, EachOfManyWindowsGetsItsOwnCompletion)
{
    std::vector<ibv_mw *> windows;
    std::vector<uint32_t> keys;
    for (int i = 0; i < 600; i++) {
        windows.push_back(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
        ASSERT_NE(windows.back(), nullptr);
        keys.push_back(windows.back()->rkey);
    }
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < windows.size(); i++) {
            const uint32_t at = static_cast<uint32_t>(round) * 600 + i;
            mw = windows[i];
            ASSERT_EQ(bind1(), 0);
            ASSERT_EQ(old_key_in(at), keys[i]);
            complete_bind(at, BDY_WC_MW_BIND_ERR, keys[i]);
            poll_one();
        }
}

TEST_F(Bind, AWindowFreedBeforeItsCompletionIsPolled)
{
    ASSERT_EQ(bind1(), 0);
    complete_bind(0, BDY_WC_MW_BIND_ERR, mw->rkey);
    ASSERT_EQ(ibv_dealloc_mw(mw), 0);
    EXPECT_EQ(poll_one().status, IBV_WC_MW_BIND_ERR);
}

TEST_F(Bind, TheManPagesStoryOnTheDouble_S5_S7_S8)
{
    hca.executes = true;
    ibv_qp *owner, *peer;
    connect(&owner, &peer);
    qp = owner;
    ASSERT_EQ(bind1(), 0);
    EXPECT_EQ(poll_one().status, IBV_WC_SUCCESS);
    std::vector<uint8_t> local(4096, 0x66);
    ibv_mr *lmr = ibv_reg_mr(pd, local.data(), local.size(), IBV_ACCESS_LOCAL_WRITE);
    ibv_sge list[1] = {{reinterpret_cast<uintptr_t>(local.data()), 32, lmr->lkey}};
    ibv_send_wr write = send_wr(IBV_WR_RDMA_WRITE, list, 1);
    write.wr.rdma = {base() + 16, mw->rkey};
    ASSERT_EQ(post(peer, write), 0);
    EXPECT_EQ(poll_one().status, IBV_WC_SUCCESS);
    EXPECT_EQ(memory[47], 0x66);
    EXPECT_EQ(memory[48], 0);
    EXPECT_EQ(ibv_dereg_mr(mr), EBUSY); // L3
    write.wr.rdma.remote_addr++;
    ASSERT_EQ(post(peer, write), 0);
    const ibv_wc wc = poll_one();
    EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(wc.vendor_err, static_cast<uint32_t>(BDY_AETH_NAK_ACC)); // the syndrome only
}

} // namespace
