// SPDX-License-Identifier: Apache-2.0
// H8 at the table ports: reads and writes pass each other freely; reads and writes fail.
#include "tests/rtl/prot/prot_random.h"

namespace prot {

class ProtTable : public ProtTest {
protected:
    ProtTable() : ProtTest(make_core_dut()) {}
};

TEST_F(ProtTable, H8_FailedReadRefusesAndIsNotCached)
{
    b.check = false;
    open_mr();
    const uint32_t other = make_key(0x111, 1, 1); // the same line of the cache: `mr` is evicted
    ok(entry_op(BDY_PROT_OP_MR_OPEN, other, direct_mr(other, kPd, RR, kStart, kLen, kBus)));
    b.pins().fail_mpt_read = true;
    expect_rule(b.access(remote(mr, kStart, 8)), "H8");
    expect_rule(b.access(remote(mr, kStart, 8)), "H8");
    expect_rule(b.access(remote(other, kStart, 8)), "NONE"); // a hit asks nobody
    expect_rule(b.op(key_op(BDY_PROT_OP_MR_CLOSE, mr)), "H8");
    b.pins().fail_mpt_read = false;
    expect_rule(b.access(remote(mr, kStart, 8)), "NONE");
    EXPECT_FALSE(b.fatal());
    EXPECT_FALSE(b.read(0, key_slot(mr)).err);
    b.pins().fail_mpt_read = true;
    EXPECT_TRUE(b.read(0, key_slot(mr)).err);
    b.pins().fail_mpt_read = false;
}

// What the host hears of a failed read: kind TABLE_READ, data 0 for entries, 1 for translations.
static uint64_t table_read_event(bool translation) { return uint64_t{translation} << 32 | BDY_EQE_KIND_TABLE_READ; }

TEST_F(ProtTable, H8_FailedReadsRaiseAnEvent)
{
    b.check = false;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, paged_mr(mr, kPd, LW | RR, kStart, 0x1000, 0, 1, 0)));
    EXPECT_TRUE(b.eqes().empty());
    b.pins().fail_mtt_read = true;
    expect_rule(b.access(remote(mr, kStart, 8)), "H8");
    b.cycles(4);
    b.pins().fail_mtt_read = false;
    EXPECT_EQ(b.eqes(), std::vector<uint64_t>{table_read_event(true)});
    // Failures while the event queue is busy: nobody waits for it, and one event tells of them.
    b.pins().ev_ready = false;
    b.pins().fail_mpt_read = true;
    for (uint32_t slot : {0x111u, 0x112u, 0x113u})
        expect_rule(b.access(remote(make_key(slot, 1, 1), kStart, 8)), "H8");
    b.pins().fail_mpt_read = false;
    EXPECT_TRUE(b.pins().ev_valid);
    EXPECT_FALSE(b.idle());
    b.pins().ev_ready = true;
    b.cycles(4);
    EXPECT_EQ(b.eqes(), (std::vector<uint64_t>{table_read_event(true), table_read_event(false)}));
    EXPECT_TRUE(b.idle());
    // An operation and firmware's raw read tell, too.
    b.pins().fail_mpt_read = true;
    expect_rule(b.op(key_op(BDY_PROT_OP_MR_CLOSE, make_key(0x114, 1, 1))), "H8");
    EXPECT_TRUE(b.read(0, 0x115).err);
    b.cycles(4);
    EXPECT_EQ(b.eqes().size(), 4u);
}

TEST_F(ProtTable, H8_FailedReadRefusesABindAndLeavesTheWindow)
{
    b.check = false;
    open_mr();
    alloc_windows();
    expect_ok(bind1(kStart, 64, RR));
    const uint32_t other = make_key(0x111, 1, 1);
    ok(entry_op(BDY_PROT_OP_MR_OPEN, other, direct_mr(other, kPd, RR, kStart, kLen, kBus)));
    b.pins().fail_mpt_read = true;
    expect_rule(b.op(bind_op(BDY_PROT_OP_BIND1, mw1, mr, kPd, kQp, RR, kStart, 8), 1), "H8");
    b.pins().fail_mpt_read = false;
    expect_rule(b.access(remote(mw1, kStart, 64)), "NONE");
    expect_ok(bind1(kStart, 8, RR));
}

TEST_F(ProtTable, H8_FailedTranslationRefusesAndGivesItsGrantBack)
{
    b.check = false;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, paged_mr(mr, kPd, LW | RR, kStart, 0x1000, 0, 1, 0)));
    b.pins().fail_mtt_read = true;
    expect_rule(b.access(remote(mr, kStart, 8)), "H8");
    b.pins().fail_mtt_read = false;
    ok(key_op(BDY_PROT_OP_MR_CLOSE, mr)); // is drained
}

TEST_F(ProtTable, H8_FailedWriteIsFatal)
{
    b.check = false;
    EXPECT_FALSE(b.fatal());
    b.pins().fail_mpt_write = true;
    open_mr();
    b.cycles(50);
    EXPECT_TRUE(b.fatal());
}

TEST_F(ProtTable, H8_FailedTranslationWriteIsFatal)
{
    b.check = false;
    Entry e = paged_mr(mr, kPd, LW | RR, kStart, 0x1000, 0, 1, 0);
    e.st = BDY_MPT_ST_FREE;
    ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
    b.pins().fail_mtt_write = true;
    ok(mtt_op(mr, 0, 0x1000));
    b.cycles(50);
    EXPECT_TRUE(b.fatal());
}

// A fill under way while the entry changes is discarded, whatever it brings; the access sees the change.
TEST_F(ProtTable, H8_FillAgainstUpdate)
{
    alloc_windows();
    open_mr();
    const uint32_t rival = make_key(0x122, 1, 1); // shares mw1's line
    for (int i = 0; i < 300; i++) {
        b.set_delay(20, true, 1);
        ok(entry_op(BDY_PROT_OP_MW_ALLOC, rival, window(rival, kPd, BDY_MPT_KIND_MW1))); // evicts mw1
        std::vector<std::shared_ptr<Answer>> all;
        auto bind = b.post_op(1, bind_op(BDY_PROT_OP_BIND1, mw1, mr, kPd, kQp, RR, kStart, 64));
        const uint32_t next = make_key(key_slot(mw1), key_nonce(mw1), key_low(mw1) + 1);
        for (int k = 0; k < 8; k++) {
            b.cycles(i % 7);
            all.push_back(b.post(k % kAcc, remote(k % 2 ? next : mw1, kStart + k, 4)));
        }
        b.settle(); // the bench compares every verdict with the order of the trace
        ASSERT_EQ(bind->rule, (unsigned)BDY_RULE_NONE);
        mw1 = next;
        ok(key_op(BDY_PROT_OP_MW_FREE, rival));
    }
}

// A region opens only when its last translation is in the table: from then on no access is refused for want of it.
TEST_F(ProtTable, H2_H8_OpeningWaitsForTheLastTranslation)
{
    Entry e = paged_mr(mr, kPd, LW | RR, kStart, 0x1000, 7, 1, 0);
    uint64_t granted = 0;
    for (int i = 0; i < 100; i++) {
        b.set_delay(60, true, 1);
        e.st = BDY_MPT_ST_FREE;
        ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
        e.st = BDY_MPT_ST_VALID;
        b.post_op(0, mtt_op(mr, 7, 0x1000ull * (i + 1)));
        auto open = b.post_op(0, entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
        b.run_until([&] { return open->executed; });
        std::vector<std::shared_ptr<Answer>> all;
        for (int k = 0; k < 6; k++)
            all.push_back(b.post(k % kAcc, remote(mr, kStart + k, 4)));
        b.settle();
        for (auto &a : all)
            granted += a->rsp.granted();
        ok(key_op(BDY_PROT_OP_MR_CLOSE, mr));
    }
    EXPECT_EQ(granted, 600u);
}

class ProtTableRandom : public ::testing::TestWithParam<int> {};

TEST_P(ProtTableRandom, EveryVerdictEqualsTheReference)
{
    const int slowest = GetParam();
    Bench b(make_core_dut(), (uint64_t)slowest);
    RandomWork w(b, 77 + (uint64_t)slowest, 14);
    w.prepare();
    for (int phase = 0; phase < 8 && !HasFailure(); phase++) {
        b.set_delay((unsigned)slowest, true, 1);
        b.ret_latency = phase * 9;
        b.ack_latency = phase * 5;
        w.access_percent = 10 + phase * 12;
        w.op_percent = 90 - phase * 5;
        w.run(4000);
    }
    w.compare_tables();
}

INSTANTIATE_TEST_SUITE_P(Latency, ProtTableRandom, ::testing::Values(0, 5, 30, 100));

} // namespace prot
