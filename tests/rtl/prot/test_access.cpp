// SPDX-License-Identifier: Apache-2.0
// Access rules at the port of the protection engine. The bench compares every verdict with the reference besides.
#include "tests/rtl/prot/prot_fixture.h"

namespace prot {

class ProtAccess : public ProtTest {};

TEST_F(ProtAccess, RegionGrantsItsRangeAndTellsTheBusAddress)
{
    open_mr();
    const Rsp r = b.access(remote(mr, kStart + 0x123, 64));
    expect_rule(r, "NONE");
    EXPECT_EQ(r.bus0, kBus + 0x123);
    EXPECT_EQ(r.len0, 64u);
    EXPECT_EQ(r.len1, 0u);
    expect_rule(b.access(remote(mr, kStart, kLen)), "NONE");
}

TEST_F(ProtAccess, A1_EveryPartOfTheKeyCounts)
{
    open_mr();
    expect_rule(b.access(remote(mr ^ 0x01, kStart, 8)), "A1");       // key byte
    expect_rule(b.access(remote(mr ^ 0x80, kStart, 8)), "A1");
    expect_rule(b.access(remote(mr ^ 0x100, kStart, 8)), "A1");      // nonce
    expect_rule(b.access(remote(mr ^ 0x800, kStart, 8)), "A1");
    expect_rule(b.access(remote(mr ^ 0x1000, kStart, 8)), "A1");     // slot
    expect_rule(b.access(remote(mr ^ 0x02000000, kStart, 8)), "A1"); // slot bit 13, beyond the table
    expect_rule(b.access(remote(mr ^ 0x80000000, kStart, 8)), "A1");
    expect_rule(b.access(remote(0, kStart, 8)), "A1");
    expect_rule(b.access(remote(0xffffffff, kStart, 8)), "A1");
    expect_rule(b.access(remote(mr, kStart, 8)), "NONE");
}

TEST_F(ProtAccess, A1_FreshAndReservedEntriesGrantNothing)
{
    alloc_windows();
    Entry e = direct_mr(mr, kPd, RR, kStart, kLen, kBus);
    e.st = BDY_MPT_ST_FREE;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
    expect_rule(b.access(remote(mr, kStart, 8)), "A1");
    expect_rule(b.access(remote(mw1, 0, 8)), "A1"); // V8
    expect_rule(b.access(remote(mw2, 0, 8)), "A1"); // V9
}

TEST_F(ProtAccess, A2_RegionOfAnotherDomain)
{
    open_mr();
    expect_rule(b.access(remote(mr, kStart, 8, RR, kQpPd2)), "A2");
}

TEST_F(ProtAccess, A3_Type1WindowOfAnotherDomain_A4_AnyQpOfTheDomain)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart, 0x100, RR));
    expect_rule(b.access(remote(mw1, kStart, 8, RR, kQpPd2)), "A3");
    expect_rule(b.access(remote(mw1, kStart, 8, RR, kQp)), "NONE");
    expect_rule(b.access(remote(mw1, kStart, 8, RR, kQp2)), "NONE");
}

TEST_F(ProtAccess, A5_Type2WindowOnlyThroughItsQp)
{
    open_mr();
    alloc_windows();
    expect_ok(bind2(kStart, 0x100, RR));
    expect_rule(b.access(remote(mw2, kStart, 8, RR, kQp)), "NONE");
    expect_rule(b.access(remote(mw2, kStart, 8, RR, kQp2)), "A5");
    expect_rule(b.access(remote(mw2, kStart, 8, RR, kQpPd2)), "A5");
    Req r = remote(mw2, kStart, 8);
    r.pd = kPd2;
    expect_rule(b.access(r), "A5");
}

TEST_F(ProtAccess, A7_RightsMustBeASubsetNotAnOverlap)
{
    const unsigned rights[] = {0, RW, RR, RA, RW | RR, RR | RA, RW | RA, RW | RR | RA};
    for (unsigned held : rights) {
        Bench &bench = b;
        open_mr(held | LW);
        for (unsigned asked : rights) {
            const bool subset = (asked & held) == asked;
            EXPECT_EQ(bench.access(remote(mr, kStart, 8, asked)).granted(), subset) << held << " asked " << asked;
        }
        expect_rule(bench.access(remote(mr, kStart, 8, ZB)), "A7");
        expect_rule(bench.access(remote(mr, kStart, 8, 0x80)), "A7");
        ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    }
}

TEST_F(ProtAccess, A7_A8_WindowRightsCountAloneAndNeverLocalWrite)
{
    open_mr(LW | MB); // no remote right at the region (B8)
    alloc_windows();
    expect_ok(bind1(kStart, 0x100, RW | RR | LW));
    expect_rule(b.access(remote(mw1, kStart, 8, RW)), "NONE");
    expect_rule(b.access(remote(mw1, kStart, 8, RA)), "A7");
    expect_rule(b.access(remote(mw1, kStart, 8, LW)), "A7");
    expect_rule(b.access(remote(mw1, kStart, 8, MB)), "A7");
    expect_rule(b.access(remote(mr, kStart, 8, RW)), "A7");
}

TEST_F(ProtAccess, A9_OneByteOverFrontAndRear)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart + 0x100, 0x200, RR | RW));
    for (uint32_t key : {mr, mw1}) {
        const uint64_t s = key == mr ? kStart : kStart + 0x100, n = key == mr ? kLen : 0x200;
        expect_rule(b.access(remote(key, s, (uint32_t)n)), "NONE");
        expect_rule(b.access(remote(key, s, 1)), "NONE");
        expect_rule(b.access(remote(key, s + n - 1, 1)), "NONE");
        expect_rule(b.access(remote(key, s - 1, 1)), "A9");
        expect_rule(b.access(remote(key, s - 1, 2)), "A9");
        expect_rule(b.access(remote(key, s - 1, (uint32_t)n + 2)), "A9");
        expect_rule(b.access(remote(key, s + n, 1)), "A9");
        expect_rule(b.access(remote(key, s + n - 1, 2)), "A9");
        expect_rule(b.access(remote(key, s + 1, (uint32_t)n)), "A9");
        expect_rule(b.access(remote(key, s, (uint32_t)n + 1)), "A9");
        expect_rule(b.access(remote(key, s, 0x80000000u)), "A9");
        expect_rule(b.access(remote(key, 0, 8)), "A9");
    }
}

TEST_F(ProtAccess, A9_InsideTheRegionIsNotEnoughForAWindow)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart + 0x100, 0x100, RR));
    expect_rule(b.access(remote(mw1, kStart + 0x200, 8)), "A9");
    expect_rule(b.access(remote(mr, kStart + 0x200, 8)), "NONE");
}

TEST_F(ProtAccess, A9_WholeRangeIsCheckedThoughOnlyAPieceIsTranslated)
{
    open_mr();
    Req r = remote(mr, kStart, (uint32_t)kLen + 1);
    r.xlen = 16;
    expect_rule(b.access(r), "A9");
    r.len = (uint32_t)kLen;
    expect_rule(b.access(r), "NONE");
    r.len = 16;
    r.xlen = 17; // more than was checked
    expect_rule(b.access(r), "A9");
}

TEST_F(ProtAccess, A9_StartBeyond4GiBAndLongRegions)
{
    open_mr(RR | LW, 0xfffffff0ull, 0x300000000ull);
    expect_rule(b.access(remote(mr, 0xfffffff0ull, 0x80000000u)), "NONE");
    expect_rule(b.access(remote(mr, 0x3ffffffefull, 1)), "NONE");
    expect_rule(b.access(remote(mr, 0x3fffffff0ull, 1)), "A9");
    expect_rule(b.access(remote(mr, 0x37ffffff0ull, 0x80000000u)), "NONE");
    expect_rule(b.access(remote(mr, 0x37ffffff1ull, 0x80000000u)), "A9");
}

TEST_F(ProtAccess, A10_WrapIsRefusedAndEndingAt2To64IsNot)
{
    const uint64_t top = 0xfffffffffffff000ull;
    open_mr(RR | RW | LW, top, 0x1000);
    expect_rule(b.access(remote(mr, top, 0x1000)), "NONE");
    expect_rule(b.access(remote(mr, 0xffffffffffffffffull, 1)), "NONE");
    expect_rule(b.access(remote(mr, 0xfffffffffffffc00ull, 0x400, RW)), "NONE");
    expect_rule(b.access(remote(mr, 0xffffffffffffffffull, 2)), "A10");
    expect_rule(b.access(remote(mr, top, 0x1001)), "A10");
    expect_rule(b.access(remote(mr, 0xfffffffffffffc00ull, 0x401)), "A10");
    expect_rule(b.access(remote(mr, 0xffffffff80000001ull, 0x80000000u)), "A10");
    expect_rule(b.access(remote(mr, 0xffffffff80000000ull, 0x80000000u)), "A9");
}

TEST_F(ProtAccess, A10_WrapWithAKeyThatDoesNotReachThere)
{
    open_mr();
    expect_rule(b.access(remote(mr, 0xfffffffffffffc00ull, 0x400, RW)), "A9");
    expect_rule(b.access(remote(mr, 0xfffffffffffffc00ull, 0x800, RW)), "A10");
}

TEST_F(ProtAccess, A11_ZeroBasedWindowRunsFromZero)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart + 0x123, 0x80, RR | ZB));
    const Rsp r = b.access(remote(mw1, 5, 8));
    expect_rule(r, "NONE");
    EXPECT_EQ(r.bus0, kBus + 0x128);
    expect_rule(b.access(remote(mw1, 0, 0x80)), "NONE");
    expect_rule(b.access(remote(mw1, 0x7f, 1)), "NONE");
    expect_rule(b.access(remote(mw1, 0x7f, 2)), "A9");
    expect_rule(b.access(remote(mw1, 0x80, 1)), "A9");
    expect_rule(b.access(remote(mw1, kStart + 0x123, 8)), "A9");
    expect_rule(b.access(remote(mw1, 0xffffffffffffffffull, 1)), "A9");
    expect_rule(b.access(remote(mw1, 0xffffffffffffffffull, 2)), "A10");
}

TEST_F(ProtAccess, M3_ZeroLengthRegionGrantsNoByte)
{
    open_mr(RR | LW, kStart, 0);
    expect_rule(b.access(remote(mr, kStart, 1)), "A9");
    expect_rule(b.access(local(mr, kStart, 1)), "M8");
}

TEST_F(ProtAccess, K11_WindowKeyIsNoLocalKey)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart, 0x100, RR | RW));
    expect_ok(bind2(kStart, 0x100, RR | RW));
    expect_rule(b.access(local(mw1, kStart, 8)), "K11");
    expect_rule(b.access(local(mw2, kStart, 8, LW)), "K11");
}

TEST_F(ProtAccess, M8_LocalAccess)
{
    open_mr(RR);
    expect_rule(b.access(local(mr, kStart, 8)), "NONE"); // reading needs no right
    expect_rule(b.access(local(mr, kStart, 8, LW)), "M8");
    expect_rule(b.access(local(mr, kStart - 1, 8)), "M8");
    expect_rule(b.access(local(mr, kStart + kLen, 1)), "M8");
    expect_rule(b.access(local(mr, 0xffffffffffffffffull, 2)), "M8");
    expect_rule(b.access(local(mr, kStart, 8, 0, kQpPd2)), "M8");
    expect_rule(b.access(local(mr ^ 1, kStart, 8)), "A1");
}

TEST_F(ProtAccess, H5_DeathOfADomainStopsEveryKeyAtOnce)
{
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart, 0x100, RR));
    ok(pd_op(BDY_PROT_OP_PD_KILL, kPd));
    expect_rule(b.access(remote(mr, kStart, 8)), "H5");
    expect_rule(b.access(remote(mw1, kStart, 8)), "H5");
    expect_rule(b.access(local(mr, kStart, 8)), "H5");
    expect_rule(b.op(bind_op(BDY_PROT_OP_BIND1, mw1, mr, kPd, kQp, RR, kStart, 8), 1), "H5");
    ok(pd_op(BDY_PROT_OP_PD_OPEN, kPd));
    expect_rule(b.access(remote(mr, kStart, 8)), "NONE");
}

TEST_F(ProtAccess, H4_OldGenerationIsStale)
{
    open_mr();
    Req r = remote(mr, kStart, 8);
    r.gen++;
    Rsp a = b.access(r);
    expect_rule(a, "H4");
    EXPECT_TRUE(a.stale);
    r = remote(mr, kStart, 8, RR, 0x180); // never left RESET
    a = b.access(r);
    expect_rule(a, "H4");
    EXPECT_TRUE(a.stale);
    for (uint32_t qpn : {0u, 1u, 0xffu, 0x200u, 0x10100u, 0xffffffu}) {
        r.qpn = qpn;
        EXPECT_TRUE(b.access(r).stale) << qpn;
    }
}

TEST_F(ProtAccess, H4_StaleWinsOverEveryOtherReason)
{
    Req r = remote(0xdeadbe00, 0, 8);
    r.gen = 7;
    EXPECT_TRUE(b.access(r).stale);
    r.gen = b.model().qp(kQp).gen;
    const Rsp a = b.access(r);
    expect_rule(a, "A1");
    EXPECT_FALSE(a.stale);
}

TEST_F(ProtAccess, H6_TwoBusRangesForAPieceThatCrossesAPage)
{
    Entry e = paged_mr(mr, kPd, RR | LW, kStart + 0x234, 0x3000, 0x100, 4, 0x234);
    e.st = BDY_MPT_ST_FREE;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
    for (int i = 0; i < 4; i++)
        ok(mtt_op(mr, 0x100 + i, 0x900000000ull - 0x10000 * i));
    e.st = BDY_MPT_ST_VALID;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));

    Rsp r = b.access(remote(mr, kStart + 0xff0, 0x20));
    expect_rule(r, "NONE");
    EXPECT_EQ(r.bus0, 0x900000ff0ull);
    EXPECT_EQ(r.len0, 0x10u);
    EXPECT_EQ(r.bus1, 0x8ffff0000ull);
    EXPECT_EQ(r.len1, 0x10u);
    r = b.access(remote(mr, kStart + 0xff0, 0x10)); // up to the page's last byte
    EXPECT_EQ(r.len0, 0x10u);
    EXPECT_EQ(r.len1, 0u);
    r = b.access(remote(mr, kStart + 0x1000, 0x1000));
    EXPECT_EQ(r.bus0, 0x8ffff0000ull);
    EXPECT_EQ(r.len0, 0x1000u);
    EXPECT_EQ(r.len1, 0u);
    r = b.access(remote(mr, kStart + 0x1001, 0x1000));
    EXPECT_EQ(r.len0, 0xfffu);
    EXPECT_EQ(r.len1, 1u);
    EXPECT_EQ(r.bus1, 0x8fffe0000ull);
}

TEST_F(ProtAccess, M6_EveryPageSizeAndFourGiBBorders)
{
    for (unsigned log_ps = 12; log_ps <= 30; log_ps++) {
        const uint64_t ps = 1ull << log_ps, start = 0x100000000ull - ps / 2;
        Entry e = paged_mr(mr, kPd, RR | LW, start, 2 * ps, 0xfffc, 3, ps / 2, log_ps);
        e.st = BDY_MPT_ST_FREE;
        ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
        for (int i = 0; i < 3; i++)
            ok(mtt_op(mr, 0xfffc + i, (0x1000000000ull + 5 * i * ps) & ~(ps - 1)));
        e.st = BDY_MPT_ST_VALID;
        ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
        const Rsp r = b.access(remote(mr, 0x100000000ull - 7, 4096));
        expect_rule(r, "NONE");
        EXPECT_EQ(r.len0 + r.len1, 4096u);
        EXPECT_EQ(r.len0, 7u);
        expect_rule(b.access(remote(mr, start + 2 * ps - 1, 1)), "NONE");
        expect_rule(b.access(remote(mr, start + 2 * ps, 1)), "A9");
        ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    }
}

TEST_F(ProtAccess, H8_TranslationOfAnotherRegionOrNeverWritten)
{
    Entry e = paged_mr(mr, kPd, RR | LW, kStart, 0x2000, 0x200, 2, 0);
    e.st = BDY_MPT_ST_FREE;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
    ok(mtt_op(mr, 0x200, 0x5000));
    e.st = BDY_MPT_ST_VALID;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e)); // second page was never written
    expect_rule(b.access(remote(mr, kStart, 8)), "NONE");
    const Rsp r = b.access(remote(mr, kStart + 0xffc, 8));
    expect_rule(r, "H8");
    EXPECT_EQ(r.bus0, 0u);
    EXPECT_EQ(r.len0, 0u);
    expect_rule(b.access(remote(mr, kStart + 0x1000, 8)), "H8");
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr)); // drains although H8 returned no grant to anybody

    const uint32_t other = make_key(0x44, 1, 1);
    ok(entry_op(BDY_PROT_OP_MR_OPEN, other, paged_mr(other, kPd, RR | LW, kStart, 0x1000, 0x200, 1, 0)));
    expect_rule(b.access(remote(other, kStart, 8)), "H8"); // still the old owner's page
}

TEST_F(ProtAccess, H8_TranslationOfAnEarlierLifeOfTheSlot)
{
    Entry e = paged_mr(mr, kPd, RR | LW, kStart, 0x1000, 0x200, 1, 0);
    e.st = BDY_MPT_ST_FREE;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
    ok(mtt_op(mr, 0x200, 0x5000));
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    const uint32_t next = make_key(key_slot(mr), key_nonce(mr) + 1, 1); // the slot again, its page not written
    ok(entry_op(BDY_PROT_OP_MR_OPEN, next, paged_mr(next, kPd, RR | LW | MB, kStart, 0x1000, 0x200, 1, 0)));
    expect_rule(b.access(remote(next, kStart, 8)), "H8");
    alloc_windows();
    const OpAnswer bound = b.op(bind_op(BDY_PROT_OP_BIND1, mw1, next, kPd, kQp, RR, kStart, 64), 1);
    expect_ok(bound);
    expect_rule(b.access(remote(bound.res, kStart, 8)), "H8"); // nor through a window
}

TEST_F(ProtAccess, CheckOnlyTakesNoGrant)
{
    open_mr();
    Req r = remote(mr, kStart, 0x800);
    r.xlen = 0;
    b.hold_grants = true;
    const Rsp a = b.access(r);
    expect_rule(a, "NONE");
    EXPECT_EQ(a.len0, 0u);
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr)); // is drained
    b.give_back_all();
}

TEST_F(ProtAccess, EveryPortGetsItsOwnAnswer)
{
    open_mr();
    std::vector<std::shared_ptr<Answer>> all;
    for (int i = 0; i < 100; i++)
        for (unsigned p = 0; p < kAcc; p++)
            all.push_back(b.post(p, remote(mr, kStart + 4 * i + p, 1 + i % 3)));
    b.settle();
    for (auto &a : all)
        EXPECT_TRUE(a->done && a->rsp.granted() && a->rsp.bus0 == kBus + (a->req.va - kStart));
}

} // namespace prot
