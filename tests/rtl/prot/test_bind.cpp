// SPDX-License-Identifier: Apache-2.0
// Bind and invalidate rules at the port of the protection engine. The bench compares every verdict with the reference besides.
#include "tests/rtl/prot/prot_fixture.h"

namespace prot {

class ProtBind : public ProtTest {
protected:
    void SetUp() override
    {
        ProtTest::SetUp();
        open_mr();
        alloc_windows();
    }

    OpAnswer try1(uint32_t key, uint32_t region, unsigned rights, uint64_t addr, uint64_t len, uint32_t qpn = kQp,
                  uint32_t pd = kPd)
    {
        return b.op(bind_op(BDY_PROT_OP_BIND1, key, region, pd, qpn, rights, addr, len), 1);
    }

    OpAnswer try2(uint32_t key, uint32_t region, unsigned rights, uint64_t addr, uint64_t len, uint32_t qpn = kQp,
                  uint32_t pd = kPd, unsigned low = 0x55)
    {
        return b.op(bind_op(BDY_PROT_OP_BIND2, key, region, pd, qpn, rights, addr, len, low), 1);
    }

    uint64_t count() { return b.read(1, key_slot(mr)).data[0]; }
};

TEST_F(ProtBind, K2_K3_Type1KeyMovesByOneAndWraps)
{
    ASSERT_EQ(key_low(mw1), 0xfeu);
    const uint32_t index = mw1 >> 8;
    expect_ok(bind1(kStart, 8, RR));
    EXPECT_EQ(mw1, index << 8 | 0xff);
    expect_ok(bind1(kStart, 8, RR));
    EXPECT_EQ(mw1, index << 8 | 0x00); // K7
    expect_ok(bind1(kStart, 8, RR));
    EXPECT_EQ(mw1, index << 8 | 0x01);
}

TEST_F(ProtBind, K4_K5_Type2KeyIsTheConsumersEvenTheOldOne)
{
    const uint32_t index = mw2 >> 8;
    for (unsigned low : {0x00u, 0xffu, 0x10u, 0x10u}) {
        expect_ok(bind2(kStart, 8, RR, kQp, low));
        EXPECT_EQ(mw2, index << 8 | low);
        expect_rule(b.access(remote(mw2, kStart, 8)), "NONE");
        ok(inv_op(mw2, kPd, kQp));
        expect_rule(b.access(remote(mw2, kStart, 8)), "A1");
    }
}

TEST_F(ProtBind, B1_B24_WholeWindowKeyIsCompared)
{
    const uint32_t stale = mw1;
    expect_ok(bind1(kStart, 8, RR));
    expect_rule(try1(stale, mr, RR, kStart, 8), "B1"); // B24: lost the race
    expect_rule(try1(mw1 ^ 0x100, mr, RR, kStart, 8), "B1");
    expect_rule(try1(mw1 ^ 0x1000, mr, RR, kStart, 8), "B1");
    expect_rule(try1(mw1 ^ 0x02000000, mr, RR, kStart, 8), "B1");
    expect_rule(try1(mr, mr, RR, kStart, 8), "B1"); // names a region
    expect_rule(try2(mw2 ^ 0x40, mr, RR, kStart, 8), "B1");
    expect_rule(b.access(remote(mw1, kStart, 8)), "NONE"); // unchanged
    EXPECT_EQ(count(), 1u);
}

TEST_F(ProtBind, B2_B3_RegionMustBeOpenAndItsKeyFull)
{
    expect_rule(try1(mw1, mr ^ 0x1, RR, kStart, 8), "B2");
    expect_rule(try1(mw1, mr ^ 0x100, RR, kStart, 8), "B2");
    expect_rule(try1(mw1, mr ^ 0x1000, RR, kStart, 8), "B2");
    expect_rule(try1(mw1, mr ^ 0x80000000, RR, kStart, 8), "B2");
    expect_rule(try1(mw1, mw2, RR, kStart, 8), "B3");
    expect_rule(try1(mw1, mw1, RR, kStart, 8), "B3");
    const uint32_t reserved = make_key(0x55, 2, 9);
    Entry e = direct_mr(reserved, kPd, LW | MB, kStart, kLen, kBus);
    e.st = BDY_MPT_ST_FREE;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, reserved, e));
    expect_rule(try1(mw1, reserved, RR, kStart, 8), "B2");
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    expect_rule(try1(mw1, mr, RR, kStart, 8), "B2"); // dead region
}

TEST_F(ProtBind, B4_B5_DomainsOfQpWindowAndRegionAreOne)
{
    expect_rule(try1(mw1, mr, RR, kStart, 8, kQpPd2, kPd2), "B4");
    expect_rule(try2(mw2, mr, RR, kStart, 8, kQpPd2, kPd2), "B4");
    const uint32_t other = make_key(0x66, 4, 2);
    ok(entry_op(BDY_PROT_OP_MR_OPEN, other, direct_mr(other, kPd2, LW | MB | RR, kStart, kLen, kBus)));
    expect_rule(try1(mw1, other, RR, kStart, 8), "B5");
    expect_rule(try2(mw2, other, RR, kStart, 8), "B5");
}

TEST_F(ProtBind, B6_RegionWithoutMwBind)
{
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    open_mr(LW | RW | RR | RA);
    expect_rule(try1(mw1, mr, RR, kStart, 8), "B6");
    expect_rule(try1(mw1, mr, 0, kStart, 8), "B6");
    expect_rule(try2(mw2, mr, RR, kStart, 8), "B6");
}

TEST_F(ProtBind, B7_B8_B9_EveryCombinationOfRights)
{
    for (unsigned region = 0; region < 16; region++) {
        ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
        open_mr(region | MB);
        for (unsigned asked = 0; asked < 16; asked++) {
            const bool legal = !(asked & (RW | RA)) || (region & LW);
            for (unsigned zb : {0u, (unsigned)ZB}) {
                const OpAnswer a = bind1(kStart, 64, asked | zb);
                expect_rule(a, legal ? "NONE" : "B7");
                if (!legal)
                    continue;
                const uint64_t va = zb ? 0 : kStart;
                for (unsigned use : {(unsigned)RR, (unsigned)RW, (unsigned)RA})
                    EXPECT_EQ(b.access(remote(mw1, va, 8, use)).granted(), (asked & use) != 0) << region << " " << asked;
            }
        }
        ok(bind_op(BDY_PROT_OP_BIND1, mw1, 0, kPd, kQp, 0, 0, 0));
        mw1 = make_key(key_slot(mw1), key_nonce(mw1), key_low(mw1) + 1);
    }
}

TEST_F(ProtBind, B10_OneByteAtFrontAndRear)
{
    expect_rule(try1(mw1, mr, RR, kStart - 1, 8), "B10");
    expect_rule(try1(mw1, mr, RR, kStart - 1, kLen + 1), "B10");
    expect_rule(try1(mw1, mr, RR, kStart, kLen + 1), "B10");
    expect_rule(try1(mw1, mr, RR, kStart + kLen - 1, 2), "B10");
    expect_rule(try1(mw1, mr, RR, kStart + kLen, 1), "B10");
    expect_rule(try1(mw1, mr, RR, kStart + 1, kLen), "B10");
    expect_rule(try2(mw2, mr, RR, kStart + 1, kLen), "B10");
    expect_ok(bind1(kStart, kLen, RR));
    expect_ok(bind1(kStart + kLen - 1, 1, RR));
    expect_ok(bind2(kStart, 1, RR));
}

TEST_F(ProtBind, B11_Wrap)
{
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    open_mr(LW | MB | RR, 0x1000, 0x1000);
    expect_rule(try1(mw1, mr, RR, 0ull - 0x400, 0x1800), "B11");
    expect_rule(try1(mw1, mr, RR, 0x1800, 0ull - 0x800), "B11");
    expect_rule(try1(mw1, mr, RR, 0x1001, ~0ull), "B11");
    expect_rule(try1(mw1, mr, RR, 0x1000, ~0ull - 0xfff), "B10"); // ends exactly at 2^64
    expect_rule(try2(mw2, mr, RR | ZB, 0x1800, 0ull - 0x800), "B11");
}

TEST_F(ProtBind, B12_RangeEndingAt2To64IsLegal)
{
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    open_mr(LW | MB | RR, 0ull - 0x1000, 0x1000);
    expect_ok(bind1(0ull - 0x10, 0x10, RR));
    expect_rule(b.access(remote(mw1, 0ull - 0x10, 0x10)), "NONE");
    expect_rule(b.access(remote(mw1, 0ull - 0x10, 0x11)), "A10");
    expect_rule(try1(mw1, mr, RR, 0ull - 0x10, 0x11), "B11");
}

TEST_F(ProtBind, B13_ZeroBasedStartIsChecked)
{
    expect_rule(try2(mw2, mr, RR | ZB, kStart - 1, 8), "B13");
    expect_rule(try2(mw2, mr, RR | ZB, 0, 8), "B13");
    expect_rule(try2(mw2, mr, RR | ZB, kStart + kLen, 8), "B13");
    expect_ok(bind2(kStart + 8, 8, RR | ZB));
    EXPECT_EQ(b.access(remote(mw2, 1, 2)).bus0, kBus + 9);
}

TEST_F(ProtBind, B14_ZeroBasedRegion)
{
    const uint32_t zb = make_key(0x77, 1, 1);
    Entry e = direct_mr(zb, kPd, LW | MB | RR, 0, kLen, kBus);
    e.zero_based = 1;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, zb, e));
    expect_rule(try1(mw1, zb, RR, 0, 8), "B14");
    expect_rule(try2(mw2, zb, RR, 0, 8), "B14");
    expect_rule(b.access(remote(zb, 0, 8)), "NONE");
}

TEST_F(ProtBind, B15_B16_B17_UnbindOfType1)
{
    expect_ok(bind1(kStart, 64, RR));
    const uint32_t bound = mw1;
    const OpAnswer a = try1(mw1, 0xdeadbeef, RR, 12345, 0); // region's key is not looked at
    expect_rule(a, "NONE");
    EXPECT_TRUE(a.drain);
    EXPECT_EQ(a.res, make_key(key_slot(bound), key_nonce(bound), key_low(bound) + 1));
    mw1 = a.res;
    expect_rule(b.access(remote(bound, kStart, 8)), "A1");
    expect_rule(b.access(remote(mw1, kStart, 8)), "A1");
    EXPECT_EQ(count(), 0u);
    const OpAnswer again = try1(mw1, 0, 0, 0, 0); // of an unbound window: success, key moves, nothing to drain
    expect_rule(again, "NONE");
    EXPECT_FALSE(again.drain);
    mw1 = again.res;
    expect_rule(try1(mw1, 0, 0, 0, 0, kQpPd2, kPd2), "B4");
    expect_ok(bind1(kStart, 64, RR));
}

TEST_F(ProtBind, B18_Type2OfLengthZero)
{
    expect_rule(try2(mw2, mr, RR, kStart, 0), "B18");
    expect_rule(try2(mw2, 0, RR, 0, 0), "B18");
}

TEST_F(ProtBind, B19_L11_RebindMovesTwoCounts)
{
    const uint32_t other = make_key(0x88, 4, 2);
    ok(entry_op(BDY_PROT_OP_MR_OPEN, other, direct_mr(other, kPd, LW | MB | RR, 0x900000, kLen, 0x123000)));
    expect_ok(bind1(kStart, 64, RR));
    const uint32_t old = mw1;
    EXPECT_EQ(count(), 1u);
    const OpAnswer a = try1(mw1, other, RR, 0x900010, 16, kQp2); // any QP of the domain
    expect_rule(a, "NONE");
    EXPECT_TRUE(a.drain);
    mw1 = a.res;
    EXPECT_EQ(count(), 0u);
    EXPECT_EQ(b.read(1, key_slot(other)).data[0], 1u);
    expect_rule(b.access(remote(old, kStart, 8)), "A1");
    EXPECT_EQ(b.access(remote(mw1, 0x900010, 8)).bus0, 0x123010u);
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    expect_rule(b.op(key_op(BDY_PROT_OP_MR_CLOSE, other)), "L3");
    const OpAnswer same = try1(mw1, other, RR, 0x900020, 16);
    expect_rule(same, "NONE");
    mw1 = same.res;
    EXPECT_EQ(b.read(1, key_slot(other)).data[0], 1u);
}

TEST_F(ProtBind, B20_B21_BoundType2MustBeInvalidatedFirst)
{
    expect_ok(bind2(kStart, 64, RR));
    expect_rule(try2(mw2, mr, RR, kStart, 64, kQp), "B20");
    expect_rule(try2(mw2, mr, RR, kStart, 64, kQp2), "B20");
    expect_rule(b.access(remote(mw2, kStart, 8)), "NONE");
}

TEST_F(ProtBind, B22_OverlappingWindowsAreIndependent)
{
    expect_ok(bind1(kStart, 64, RR));
    expect_ok(bind2(kStart + 32, 64, RW));
    EXPECT_EQ(count(), 2u);
    expect_rule(b.access(remote(mw1, kStart + 32, 32)), "NONE");
    expect_rule(b.access(remote(mw2, kStart + 32, 32, RW)), "NONE");
    ok(inv_op(mw2, kPd, kQp));
    expect_rule(b.access(remote(mw1, kStart + 32, 32)), "NONE");
    EXPECT_EQ(count(), 1u);
}

TEST_F(ProtBind, B23_Type2RecordsQpNumberAndGeneration)
{
    expect_ok(bind2(kStart, 64, RR, kQp2));
    const Entry e = Entry::decode(b.read(0, key_slot(mw2)).data);
    EXPECT_EQ(e.qpn, kQp2);
    EXPECT_EQ(e.qp_gen, b.model().qp(kQp2).gen);
    EXPECT_EQ(e.pd, kPd);
    EXPECT_EQ(e.mr_slot, key_slot(mr));
    EXPECT_EQ(e.mr_nonce, key_nonce(mr));
    expect_ok(bind1(kStart, 64, RR));
    EXPECT_EQ(Entry::decode(b.read(0, key_slot(mw1)).data).qpn, 0u);
}

TEST_F(ProtBind, P2_OpcodeOfTheOtherType)
{
    expect_rule(try1(mw2, mr, RR, kStart, 8), "P2");
    expect_rule(try2(mw1, mr, RR, kStart, 8), "P2");
    expect_rule(try1(mw2, 0, 0, 0, 0), "P2"); // type 2 is not unbound by length zero
}

TEST_F(ProtBind, P7_ZeroBasedType1OnlyOutsideOfStrictMode)
{
    b.set_strict(true);
    expect_rule(try1(mw1, mr, RR | ZB, kStart, 8), "P7");
    expect_ok(bind2(kStart, 8, RR | ZB));
    expect_ok(bind1(kStart, 8, RR));
    b.set_strict(false);
    expect_ok(bind1(kStart, 8, RR | ZB));
    expect_rule(b.access(remote(mw1, 0, 8)), "NONE");
}

TEST_F(ProtBind, P8_UnknownBitsAreRefusedAndLocalWriteGrantsNothing)
{
    for (unsigned bit : {(unsigned)MB, 0x40u, 0x80u}) {
        expect_rule(try1(mw1, mr, RR | bit, kStart, 8), "P8");
        expect_rule(try2(mw2, mr, RR | bit, kStart, 8), "P8");
    }
    expect_ok(bind2(kStart, 8, LW));
    expect_rule(b.access(remote(mw2, kStart, 8, RW)), "A7");
    EXPECT_EQ(Entry::decode(b.read(0, key_slot(mw2)).data).rights, 0u);
    ok(key_op(BDY_PROT_OP_MW_FREE, mw2)); // an error before left nothing behind
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
}

TEST_F(ProtBind, Q1_Q2_H12_OnlyForAQpThatWorks)
{
    expect_rule(try1(mw1, mr, RR, kStart, 8, 0x180), "Q1");
    expect_rule(try1(mw1, mr, RR, kStart, 8, 0x80), "Q1");
    ok(qp_op(BDY_PROT_OP_QP_BUMP, kQp));
    expect_rule(try1(mw1, mr, RR, kStart, 8, kQp), "Q1");
    expect_rule(b.op(inv_op(mw2, kPd, kQp), 1), "Q1");
    expect_ok(bind2(kStart, 8, RR, kQp2));
    expect_ok(bind1(kStart, 8, RR, kQp2));
    ok(ctx_op(kQp2, BDY_QP_ST_SQD));
    expect_ok(bind1(kStart, 16, RR, kQp2));
    ok(qp_op(BDY_PROT_OP_QP_ERR, kQp2));
    const OpAnswer late = try1(mw1, mr, RR, kStart, 8, kQp2); // flushed: nothing changes
    expect_rule(late, "Q1");
    EXPECT_EQ(late.res, mw1);
    expect_rule(b.op(inv_op(mw2, kPd, kQp2), 1), "Q1");
    expect_rule(b.access(remote(mw1, kStart, 16, RR, kQp2)), "NONE"); // executed before: stays
    ok(ctx_op(kQp, BDY_QP_ST_INIT));
    ok(ctx_op(kQp, BDY_QP_ST_RTR));
    expect_rule(b.op(inv_op(mw2, kPd, kQp), 1), "Q1");
    expect_rule(b.op(inv_op(mw2, kPd, kQp, BDY_PROT_OP_REMOTE_INV), 2), "I5"); // may receive
    expect_rule(try1(mw1, mr, RR, kStart, 8, kQp), "Q1");
}

TEST_F(ProtBind, H12_PresentKeyComesBackAlsoWhenRefused)
{
    expect_ok(bind1(kStart, 8, RR));
    const OpAnswer a = try1(mw1 ^ 0x0f, mr, RR, kStart, 8); // stale key byte
    expect_rule(a, "B1");
    EXPECT_EQ(a.res, mw1);
    EXPECT_EQ(try1(mw1, mr, RR, kStart, kLen + 1).res, mw1);
    EXPECT_EQ(b.op(inv_op(mw1, kPd, kQp), 1).res, mw1);
    EXPECT_EQ(try1(mw1, mr, RR, kStart, 8, kQpPd2, kPd2).res, 0u); // not to another domain
    EXPECT_EQ(try1(mr, mr, RR, kStart, 8).res, 0u);                // no window
    EXPECT_EQ(try1(mw1 ^ 0x100, mr, RR, kStart, 8).res, 0u);       // another index
}

TEST_F(ProtBind, I1_I17_InvalidateThenBindByAnyQp)
{
    expect_ok(bind2(kStart, 64, RR));
    const OpAnswer a = b.op(inv_op(mw2, kPd, kQp), 1);
    expect_rule(a, "NONE");
    EXPECT_TRUE(a.drain);
    EXPECT_EQ(a.res, mw2);
    EXPECT_EQ(count(), 0u);
    expect_rule(b.access(remote(mw2, kStart, 8)), "A1");
    expect_ok(bind2(kStart, 64, RR, kQp2));
    expect_rule(b.access(remote(mw2, kStart, 8, RR, kQp2)), "NONE");
    expect_rule(b.op(inv_op(mw2, kPd, kQp2, BDY_PROT_OP_REMOTE_INV), 2), "NONE");
}

TEST_F(ProtBind, I2_I3_I5_I6_I13_RefusedInvalidatesChangeNothing)
{
    expect_ok(bind1(kStart, 64, RR));
    expect_rule(b.op(inv_op(mw1, kPd, kQp), 1), "I2");
    expect_rule(b.op(inv_op(mw2, kPd, kQp), 1), "I6");
    expect_ok(bind2(kStart, 64, RR));
    expect_rule(b.op(inv_op(mw2 ^ 0x01, kPd, kQp), 1), "I3");
    expect_rule(b.op(inv_op(mw2 ^ 0x200, kPd, kQp), 1), "I3");
    expect_rule(b.op(inv_op(mw2 ^ 0x1000, kPd, kQp), 1), "I3");
    expect_rule(b.op(inv_op(mw2 ^ 0x80000000, kPd, kQp), 1), "I3");
    expect_rule(b.op(inv_op(mw2, kPd, kQp2), 1), "I5");
    expect_rule(b.op(inv_op(mw2, kPd2, kQpPd2), 1), "I5");
    expect_rule(b.op(inv_op(mw2, kPd2, kQp), 1), "I5");
    expect_rule(b.op(inv_op(mr, kPd, kQp), 1), "I13");
    EXPECT_EQ(count(), 2u);
    expect_rule(b.access(remote(mw2, kStart, 8)), "NONE");
    expect_rule(b.access(remote(mw1, kStart, 8)), "NONE");
    expect_rule(b.access(remote(mr, kStart, 8)), "NONE");
}

TEST_F(ProtBind, RefusedBindLeavesTheOldBindingWorking)
{
    expect_ok(bind1(kStart, 64, RR));
    expect_rule(try1(mw1, mr, RR | MB, kStart, 64), "P8");
    expect_rule(try1(mw1, mr, RR, kStart, kLen + 1), "B10");
    expect_rule(b.access(remote(mw1, kStart, 64)), "NONE");
    EXPECT_EQ(count(), 1u);
    expect_ok(bind1(kStart + 64, 64, RR)); // restored key binds again (S7)
}

TEST_F(ProtBind, K9_4096WindowsOnOneRegion)
{
    std::vector<std::shared_ptr<OpAnswer>> all;
    std::vector<uint32_t> keys;
    for (uint32_t i = 0; i < 4096; i++) {
        const uint32_t key = make_key(0x1000 + i, i % 16, i % 256);
        all.push_back(b.post_op(0, entry_op(BDY_PROT_OP_MW_ALLOC, key, window(key, kPd, BDY_MPT_KIND_MW1))));
        keys.push_back(key);
    }
    b.settle();
    for (uint32_t i = 0; i < 4096; i++)
        all.push_back(b.post_op(1 + i % 2, bind_op(BDY_PROT_OP_BIND1, keys[i], mr, kPd, kQp, RR, kStart + i % kLen, 1)));
    b.settle();
    for (auto &a : all)
        expect_ok(*a);
    EXPECT_EQ(count(), 4096u);
    expect_rule(b.op(key_op(BDY_PROT_OP_MR_CLOSE, mr)), "L3");
    for (uint32_t i = 0; i < 4096; i++)
        all.push_back(b.post_op(0, key_op(BDY_PROT_OP_MW_FREE, keys[i])));
    b.settle();
    EXPECT_EQ(count(), 0u);
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
}

} // namespace prot
