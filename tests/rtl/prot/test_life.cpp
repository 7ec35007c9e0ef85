// SPDX-License-Identifier: Apache-2.0
// Life-cycle operations, queue pair state, contexts and firmware's reads.
#include "tests/rtl/prot/prot_fixture.h"

namespace prot {

class ProtLife : public ProtTest {
protected:
    void refuse(const Op &o, const char *rule) { expect_rule(b.op(o), rule); }
    Op open_op(uint32_t key, const Entry &e) { return entry_op(BDY_PROT_OP_MR_OPEN, key, e); }
};

TEST_F(ProtLife, N1_UnknownOperationIsRefused)
{
    for (unsigned code : {0x05u, 0x0fu, 0x16u, 0x17u, 0x1du, 0x80u, 0xffu})
        refuse(op_of(code), "N1");
    ok(op_of(BDY_PROT_OP_NOP));
}

TEST_F(ProtLife, L1_L2_FreeOfAWindowBoundOrNot)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart, 8, RR));
    expect_ok(bind2(kStart, 8, RR));
    OpAnswer a = b.op(key_op(BDY_PROT_OP_MW_FREE, mw1 ^ 0x3c)); // any key byte of it
    expect_ok(a);
    EXPECT_TRUE(a.drain);
    expect_rule(b.access(remote(mw1, kStart, 8)), "A1");
    refuse(key_op(BDY_PROT_OP_MW_FREE, mw1), "L2");
    refuse(key_op(BDY_PROT_OP_MW_FREE, mw2 ^ 0x100), "L2"); // nonce
    refuse(key_op(BDY_PROT_OP_MW_FREE, mr), "L2");
    refuse(key_op(BDY_PROT_OP_MW_FREE, mw2 ^ 0x80000000), "L2");
    EXPECT_EQ(b.read(1, key_slot(mr)).data[0], 1u);
    ok(key_op(BDY_PROT_OP_MW_FREE, mw2));
    EXPECT_EQ(b.read(1, key_slot(mr)).data[0], 0u);
    ok(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, window(mw1, kPd, BDY_MPT_KIND_MW1)));
    a = b.op(key_op(BDY_PROT_OP_MW_FREE, mw1));
    EXPECT_FALSE(a.drain); // nothing was bound
}

TEST_F(ProtLife, L3_RegionWithBoundWindowsStaysAndWorks)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart, 8, RR));
    refuse(key_op(BDY_PROT_OP_MR_CLOSE, mr), "L3");
    Entry e = direct_mr(mr, kPd, LW | MB, kStart, kLen, kBus + 0x1000);
    refuse(entry_op(BDY_PROT_OP_MR_REPLACE, mr, e), "L3");
    expect_rule(b.access(remote(mw1, kStart, 8)), "NONE");
    ok(bind_op(BDY_PROT_OP_BIND1, mw1, 0, kPd, kQp, 0, 0, 0));
    ok(entry_op(BDY_PROT_OP_MR_REPLACE, mr, e));
    EXPECT_EQ(b.access(local(mr, kStart, 8)).bus0, kBus + 0x1000);
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    refuse(key_op(BDY_PROT_OP_MR_CLOSE, mr), "N1");
}

TEST_F(ProtLife, N1_OpenRefusesWhatDoesNotFit)
{
    const Entry good = direct_mr(mr, kPd, LW | RR, kStart, kLen, kBus);
    Entry e = good;
    refuse(open_op(mr ^ 1, e), "N1");
    refuse(open_op(mr ^ 0x100, e), "N1");
    refuse(open_op(mr | 0x80000000, e), "N1");
    e.kind = BDY_MPT_KIND_MW1;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.st = BDY_MPT_ST_INVALID;
    refuse(open_op(mr, e), "N1");
    e.st = 3;
    refuse(open_op(mr, e), "N1");
    for (unsigned bit : {0x20u, 0x40u, 0x80u}) {
        e = good;
        e.rights |= bit;
        refuse(open_op(mr, e), "N1");
    }
    e = good;
    e.qpn = 1;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.mr_slot = 1;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.qp_gen = 1;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.npages = 1; // direct has none
    refuse(open_op(mr, e), "N1");
    e = good;
    e.base = 0ull - kLen + 1;
    refuse(open_op(mr, e), "N1"); // bus range wraps
    e = good;
    e.base = 0ull - kLen;
    ok(open_op(mr, e));
    refuse(open_op(mr, e), "N1"); // slot is taken
    Op o = open_op(make_key(0x99, 1, 1), direct_mr(make_key(0x99, 1, 1), kPd, LW, kStart, kLen, kBus));
    o.body[0] |= 1ull << 6; // a null region
    refuse(o, "N1");
    o.body[0] ^= 1ull << 6;
    o.body[7] = 1;
    refuse(o, "N1");
}

TEST_F(ProtLife, N1_PagedRegionMustLieInItsListAndTheTable)
{
    const Entry good = paged_mr(mr, kPd, LW, kStart, 0x3000, 0xfffc, 4, 0x1000);
    Entry e = good;
    e.npages = 5;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.base = 0x10000;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.base = 1ull << 40;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.npages = 0xffffffff;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.list_off = 0x1001;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.len = 0x3001;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.log_ps = 11;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.log_ps = 31;
    refuse(open_op(mr, e), "N1");
    e = good;
    e.log_ps = 63;
    refuse(open_op(mr, e), "N1");
    ok(open_op(mr, good));
}

TEST_F(ProtLife, M5_WrapOfTheVirtualRange)
{
    refuse(open_op(mr, direct_mr(mr, kPd, LW, 0ull - 0x1000, 0x1001, kBus)), "M5");
    refuse(open_op(mr, direct_mr(mr, kPd, LW, 1, ~0ull, 0)), "NONE"); // [1, 2^64): legal
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    ok(open_op(mr, direct_mr(mr, kPd, LW, 0ull - 0x1000, 0x1000, kBus)));
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    ok(open_op(mr, direct_mr(mr, kPd, LW, ~0ull, 0, kBus))); // length 0 always registers
}

TEST_F(ProtLife, H5_NothingNewInADeadDomain)
{
    refuse(open_op(mr, direct_mr(mr, 9, LW, kStart, kLen, kBus)), "H5");
    refuse(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, window(mw1, 9, BDY_MPT_KIND_MW1)), "H5");
    refuse(pd_op(BDY_PROT_OP_PD_OPEN, 1024), "N1");
    refuse(pd_op(BDY_PROT_OP_PD_KILL, 0xffffff), "N1");
    ok(pd_op(BDY_PROT_OP_PD_OPEN, 1023));
    ok(open_op(mr, direct_mr(mr, 1023, LW, kStart, kLen, kBus)));
}

TEST_F(ProtLife, V5_V11_AllocationOfWindows)
{
    Entry e = window(mw1, kPd, BDY_MPT_KIND_MW1);
    e.st = BDY_MPT_ST_VALID;
    refuse(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, e), "N1");
    e = window(mw1, kPd, BDY_MPT_KIND_MR);
    refuse(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, e), "N1");
    e = window(mw1, kPd, BDY_MPT_KIND_NONE);
    refuse(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, e), "N1");
    e = window(mw1, kPd, BDY_MPT_KIND_MW2);
    e.start = 7; // only kind, key, nonce and PD are taken
    const OpAnswer a = b.op(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, e));
    expect_ok(a);
    EXPECT_EQ(a.res, mw1);
    EXPECT_TRUE(Entry::decode(b.read(0, key_slot(mw1)).data) == window(mw1, kPd, BDY_MPT_KIND_MW2));
    refuse(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, e), "N1");
}

TEST_F(ProtLife, H2_TranslationsOnlyForAReservedRegion)
{
    Entry e = paged_mr(mr, kPd, LW | RR, kStart, 0x2000, 0x40, 2, 0);
    e.st = BDY_MPT_ST_FREE;
    ok(open_op(mr, e));
    ok(mtt_op(mr, 0x40, 0x8000));
    ok(mtt_op(mr, 0x41, 0x9000));
    refuse(mtt_op(mr, 0x3f, 0x8000), "N1");
    refuse(mtt_op(mr, 0x42, 0x8000), "N1");
    refuse(mtt_op(mr, 0x10040, 0x8000), "N1");
    refuse(mtt_op(mr, 0x40, 0x8008), "N1");
    refuse(mtt_op(mr ^ 1, 0x40, 0x8000), "N1");
    Op o = mtt_op(mr, 0x40, 0x8000);
    bdy_mtt_entry_set_owner(o.body, 0x12);
    refuse(o, "N1");
    bdy_mtt_entry_set_owner(o.body, key_slot(mr));
    bdy_mtt_entry_set_nonce(o.body, key_nonce(mr) ^ 1);
    refuse(o, "N1");
    bdy_mtt_entry_set_nonce(o.body, key_nonce(mr));
    ok(o);
    e.st = BDY_MPT_ST_VALID;
    ok(open_op(mr, e));
    refuse(mtt_op(mr, 0x40, 0xa000), "H2");
    const RawRead r = b.read(5, 0x41);
    EXPECT_EQ(bdy_mtt_entry_get_addr(r.data), 0x9000u);
    EXPECT_EQ(bdy_mtt_entry_get_owner(r.data), key_slot(mr));
    EXPECT_EQ(bdy_mtt_entry_get_nonce(r.data), key_nonce(mr));
    EXPECT_EQ(bdy_mtt_entry_get_valid(r.data), 1u);

    // A region reserved over the same range cannot take the open one's entries.
    const uint32_t thief = make_key(0x123, 1, 1);
    Entry t = paged_mr(thief, kPd, LW | RR, kStart, 0x3000, 0x40, 3, 0);
    t.st = BDY_MPT_ST_FREE;
    ok(open_op(thief, t));
    refuse(mtt_op(thief, 0x40, 0xb000), "H2");
    ok(mtt_op(thief, 0x42, 0xb000));
    EXPECT_EQ(b.access(remote(mr, kStart, 8)).bus0, 0x8000u);
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    ok(mtt_op(thief, 0x40, 0xb000));
}

TEST_F(ProtLife, MrOpen_ReserveThenOpenNeedsTheSameKey)
{
    Entry e = direct_mr(mr, kPd, LW, kStart, kLen, kBus);
    e.st = BDY_MPT_ST_FREE;
    ok(open_op(mr, e));
    refuse(open_op(mr, e), "N1"); // reserved already
    Entry other = direct_mr(mr ^ 0x300, kPd, LW, kStart, kLen, kBus);
    refuse(open_op(mr ^ 0x300, other), "N1");
    e.st = BDY_MPT_ST_VALID;
    ok(open_op(mr, e));
    refuse(open_op(mr, e), "N1");
}

TEST_F(ProtLife, H4_BumpKillsType2WindowsForGood_L5_L6_L8)
{
    open_mr();
    alloc_windows();
    expect_ok(bind2(kStart, 8, RR));
    expect_ok(bind1(kStart, 8, RR));
    const uint32_t old_gen = b.model().qp(kQp).gen;
    const OpAnswer bump = b.op(qp_op(BDY_PROT_OP_QP_BUMP, kQp));
    expect_ok(bump);
    EXPECT_EQ(bump.res, old_gen + 1);
    Req r = remote(mw2, kStart, 8);
    r.gen = old_gen;
    EXPECT_TRUE(b.access(r).stale);
    r.gen = old_gen + 1;
    EXPECT_TRUE(b.access(r).stale); // not alive yet
    up(kQp, kPd);
    r.gen = old_gen;
    EXPECT_TRUE(b.access(r).stale); // received by the old life
    const Rsp a = b.access(remote(mw2, kStart, 8));
    expect_rule(a, "H4"); // the number lives again, the binding does not
    EXPECT_FALSE(a.stale);
    expect_rule(b.access(remote(mw1, kStart, 8)), "NONE"); // type 1 is the domain's
    expect_rule(b.op(inv_op(mw2, kPd, kQp), 1), "H4");     // L7: deallocation only
    expect_rule(b.op(bind_op(BDY_PROT_OP_BIND2, mw2, mr, kPd, kQp, RR, kStart, 8, 1), 1), "B20");
    refuse(key_op(BDY_PROT_OP_MR_CLOSE, mr), "L3"); // still counts
    ok(key_op(BDY_PROT_OP_MW_FREE, mw2));
    ok(key_op(BDY_PROT_OP_MW_FREE, mw1));
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
}

TEST_F(ProtLife, QpErrKeepsTheGenerationAndTheWindows)
{
    open_mr();
    alloc_windows();
    expect_ok(bind2(kStart, 8, RR));
    ok(qp_op(BDY_PROT_OP_QP_ERR, kQp));
    EXPECT_EQ(b.model().qp(kQp).st, (unsigned)BDY_QP_ST_ERR);
    expect_rule(b.access(remote(mw2, kStart, 8)), "NONE");
    refuse(qp_op(BDY_PROT_OP_QP_ERR, kQp), "Q1"); // again: nothing new, no event (E4)
    Op o = qp_op(BDY_PROT_OP_QP_ERR, kQp);
    o.sqe = 1;
    refuse(o, "Q1");
    EXPECT_EQ(b.read(4, kQp - kQpnBase).data[0] >> 32 & 7, (unsigned)BDY_QP_ST_ERR);
    o.qpn = kQp2;
    ok(o);
    EXPECT_EQ(b.read(4, kQp2 - kQpnBase).data[0] >> 32 & 7, (unsigned)BDY_QP_ST_SQE);
    ok(ctx_op(kQp2, BDY_QP_ST_RTS));
    refuse(qp_op(BDY_PROT_OP_QP_ERR, 0x180), "Q1");
    refuse(qp_op(BDY_PROT_OP_QP_ERR, 0xff), "N1");
    refuse(qp_op(BDY_PROT_OP_QP_BUMP, 0x200), "N1");
    ok(ctx_op(0x180, BDY_QP_ST_INIT));
    o.qpn = 0x180;
    expect_rule(b.op(o), "Q1"); // SQE only from a state that sends
}

TEST_F(ProtLife, N5_EveryTransitionOfAContext)
{
    const uint32_t qpn = 0x1ff;
    const std::vector<std::vector<unsigned>> way_to = {
        {}, {1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}, {}, {6}}; // states to write from RESET
    for (unsigned from = 0; from <= 6; from++) {
        for (unsigned to = 0; to <= 7; to++) {
            ok(ctx_op(qpn, BDY_QP_ST_RESET));
            for (unsigned st : from == 5 ? way_to[3] : way_to[from])
                ok(ctx_op(qpn, st));
            if (from == 5) {
                Op o = qp_op(BDY_PROT_OP_QP_ERR, qpn);
                o.sqe = 1;
                ok(o);
            }
            ASSERT_EQ(b.model().qp(qpn).st, from);
            b.op(ctx_op(qpn, to)); // the bench compares with the reference
        }
    }
    EXPECT_GT(b.rules_seen().at(BDY_RULE_N5), 20u);
}

TEST_F(ProtLife, N1_ContextWritesAreChecked)
{
    Op o = ctx_op(0x180, BDY_QP_ST_INIT);
    o.index = 256;
    refuse(o, "N1");
    o = ctx_op(0x180, BDY_QP_ST_INIT);
    o.body[7] |= 1ull << 63;
    refuse(o, "N1");
    o = ctx_op(0x180, BDY_QP_ST_RESET);
    o.half = 1;
    ok(o);
    o.body[5] = 1;
    refuse(o, "N1");
    o = ctx_op(0x180, 0);
    o.ctx_kind = BDY_CTX_KIND_SRQ;
    refuse(o, "N1");
    o.ctx_kind = 9;
    refuse(o, "N1");
}

TEST_F(ProtLife, ContextsAreSeenOnEveryPortWithTheLiveState)
{
    Op o = ctx_op(0x1a0, BDY_QP_ST_INIT, 5);
    bdy_qp_ctx0_set_dest_qpn(o.body, 0xabcdef);
    ok(o);
    Op h = op_of(BDY_PROT_OP_CTX_WRITE);
    h.index = 0xa0;
    h.half = 1;
    bdy_qp_ctx1_set_dgid_lo(h.body, 0x1122334455667788);
    ok(h);
    for (int p = 0; p < kCtx; p++)
        b.pins().ctx_idx[p] = 0xa0;
    b.cycles(2);
    for (int p = 0; p < kCtx; p++) {
        EXPECT_EQ(bdy_qp_ctx0_get_dest_qpn(b.pins().ctx0[p]), 0xabcdefu);
        EXPECT_EQ(bdy_qp_ctx0_get_pd(b.pins().ctx0[p]), 5u);
        EXPECT_EQ(bdy_qp_ctx0_get_st(b.pins().ctx0[p]), (unsigned)BDY_QP_ST_INIT);
        EXPECT_EQ(bdy_qp_ctx1_get_dgid_lo(b.pins().ctx1[p]), 0x1122334455667788u);
    }
    ok(qp_op(BDY_PROT_OP_QP_ERR, 0x1a0)); // the image says INIT, the state is ERR
    b.cycle();
    EXPECT_EQ(bdy_qp_ctx0_get_st(b.pins().ctx0[3]), (unsigned)BDY_QP_ST_ERR);
    EXPECT_EQ(bdy_qp_ctx0_get_st(b.read(2, 0xa0).data), (unsigned)BDY_QP_ST_ERR);
    EXPECT_EQ(bdy_qp_ctx1_get_dgid_lo(b.read(3, 0xa0).data), 0x1122334455667788u);
    ok(qp_op(BDY_PROT_OP_QP_BUMP, 0x1a0));
    b.cycle();
    EXPECT_EQ(b.pins().ctx_gen[4], 1u);
    EXPECT_EQ(bdy_qp_ctx0_get_st(b.pins().ctx0[4]), (unsigned)BDY_QP_ST_RESET);
    // One cycle from index to context, each cycle another one.
    ok(ctx_op(0x1a1, BDY_QP_ST_INIT, 6));
    ok(ctx_op(0x1a0, BDY_QP_ST_INIT, 5));
    b.cycles(3);
    for (int i = 0; i < 10; i++) {
        b.pins().ctx_idx[0] = i & 1 ? 0xa1 : 0xa0;
        b.cycle();
        b.pins().ctx_idx[0] = i & 1 ? 0xa0 : 0xa1;
        b.cycle();
        EXPECT_EQ(bdy_qp_ctx0_get_pd(b.pins().ctx0[0]), i & 1 ? 6u : 5u);
    }
}

TEST_F(ProtLife, ContextWritesOfOtherBlocksWaitForTheirAcknowledge)
{
    Op o = op_of(BDY_PROT_OP_CTX_WRITE);
    o.ctx_kind = BDY_CTX_KIND_CQ;
    o.index = 0x42;
    o.body[0] = 0x0000001100000c01;
    o.body[1] = 0x123000;
    b.hold_acks = true;
    auto a = b.post_op(0, o);
    b.run_until([&] { return a->executed; });
    EXPECT_TRUE(a->drain);
    b.cycles(100);
    EXPECT_FALSE(a->drained);
    EXPECT_TRUE(b.pins().ctxw_valid);
    EXPECT_EQ(b.pins().ctxw_kind, (unsigned)BDY_CTX_KIND_CQ);
    EXPECT_EQ(b.pins().ctxw_idx, 0x42u);
    EXPECT_EQ(b.pins().ctxw_data[1], 0x123000u);
    auto second = b.post_op(0, o); // waits, but only its own port
    expect_ok(b.op(op_of(BDY_PROT_OP_NOP), 1));
    EXPECT_FALSE(second->executed);
    b.hold_acks = false;
    b.settle();
    EXPECT_TRUE(a->drained && second->drained);
}

TEST_F(ProtLife, EventsReachBothEnginesOnceAndInOrder)
{
    b.ack_latency = 40;
    for (int i = 0; i < 20; i++) {
        auto a = b.post_op(1, qp_op(i % 3 ? BDY_PROT_OP_QP_ERR : BDY_PROT_OP_QP_BUMP, kQp + i % 2));
        ok(ctx_op(kQp + i % 2, BDY_QP_ST_RESET));
        ok(ctx_op(kQp + i % 2, BDY_QP_ST_INIT));
    }
    b.settle();
    EXPECT_TRUE(b.events(0) == b.model().events());
    EXPECT_TRUE(b.events(1) == b.model().events());
    EXPECT_GT(b.events(0).size(), 40u);
}

TEST_F(ProtLife, EventBlocksNeitherAccessesNorBinds)
{
    open_mr();
    alloc_windows();
    b.hold_acks = true;
    auto a = b.post_op(0, qp_op(BDY_PROT_OP_QP_BUMP, kQp2));
    auto c = b.post_op(1, qp_op(BDY_PROT_OP_QP_ERR, kQpPd2)); // a second one behind it
    b.run_until([&] { return a->executed && c->executed; });
    expect_ok(bind1(kStart, 8, RR));
    expect_ok(bind2(kStart, 8, RR));
    expect_rule(b.access(remote(mw1, kStart, 8)), "NONE");
    b.cycles(200);
    EXPECT_FALSE(a->drained || c->drained);
    b.hold_acks = false;
    b.settle();
    EXPECT_TRUE(a->drained && c->drained);
}

TEST_F(ProtLife, RawReadsOutsideTheTablesFail)
{
    EXPECT_TRUE(b.read(0, 1 << kLogKeys).err);
    EXPECT_TRUE(b.read(1, 0xffffff).err);
    EXPECT_TRUE(b.read(2, 256).err);
    EXPECT_TRUE(b.read(4, 0x800000).err);
    EXPECT_TRUE(b.read(5, 1 << kLogMtt).err);
    EXPECT_TRUE(b.read(6, 0).err);
    EXPECT_FALSE(b.read(0, (1 << kLogKeys) - 1).err);
    EXPECT_FALSE(b.read(5, (1 << kLogMtt) - 1).err);
}

TEST_F(ProtLife, RawReadSeesTheOperationBeforeItWithSlowTables)
{
    b.set_delay(200, true, 77);
    for (int i = 0; i < 20; i++) {
        const Entry e = direct_mr(mr, kPd, RR, kStart + i, kLen, kBus);
        ok(open_op(mr, e));
        EXPECT_TRUE(Entry::decode(b.read(0, key_slot(mr)).data) == e);
        ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
        EXPECT_TRUE(Entry::decode(b.read(0, key_slot(mr)).data) == Entry());
    }
}

} // namespace prot
