// SPDX-License-Identifier: Apache-2.0
// Cycle counts at the ports: latency, throughput, hit under miss, misses in flight.
#include "tests/rtl/prot/prot_fixture.h"

namespace prot {

class ProtTiming : public ProtTest {
protected:
    static constexpr int kMany = 400;

    void SetUp() override
    {
        ProtTest::SetUp();
        Entry e = paged_mr(mr, kPd, LW | RW | RR | MB, kStart, 0x10000, 0, 16, 0);
        e.st = BDY_MPT_ST_FREE;
        ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
        for (uint32_t i = 0; i < 16; i++)
            ok(mtt_op(mr, i, 0x100000 * (i + 1)));
        e.st = BDY_MPT_ST_VALID;
        ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, e));
        ok(entry_op(BDY_PROT_OP_MR_OPEN, direct, direct_mr(direct, kPd, LW | RW | RR | MB, kStart, kLen, kBus)));
        alloc_windows();
        b.access(remote(mr, kStart, 8));
        b.access(remote(direct, kStart, 8));
        b.settle();
    }

    uint64_t latency(const Req &r)
    {
        auto a = b.post(1, r);
        b.run_until([&] { return a->done; });
        b.settle();
        EXPECT_TRUE(a->rsp.granted());
        return a->answered - a->taken;
    }

    uint32_t direct = make_key(0x1234, 9, 9);
};

TEST_F(ProtTiming, HitLatencyIsAtMostSixCycles)
{
    EXPECT_LE(latency(remote(mr, kStart + 8, 8)), 6u);
    EXPECT_LE(latency(remote(mr, kStart + 0xffc, 8)), 6u); // two pages
    EXPECT_LE(latency(remote(direct, kStart + 8, 8)), 6u);
    std::cout << "hit latency: " << latency(remote(mr, kStart, 8)) << " cycles paged, "
              << latency(remote(direct, kStart, 8)) << " direct\n";
}

TEST_F(ProtTiming, OneVerdictPerCycleSustained)
{
    for (bool crossing : {false, true}) {
        std::vector<std::shared_ptr<Answer>> all;
        for (int i = 0; i < kMany; i++)
            all.push_back(b.post(i % kAcc, remote(i % 2 ? mr : direct, kStart + (crossing && i % 2 ? 0xffe : i), 4)));
        b.settle();
        uint64_t first = ~0ull, last = 0, first_answer = ~0ull, last_answer = 0;
        for (auto &a : all) {
            EXPECT_TRUE(a->rsp.granted());
            first = std::min(first, a->taken);
            last = std::max(last, a->taken);
            first_answer = std::min(first_answer, a->answered);
            last_answer = std::max(last_answer, a->answered);
        }
        EXPECT_EQ(last - first, (uint64_t)kMany - 1);
        EXPECT_LE(last_answer - first_answer, (uint64_t)kMany + 4);
    }
}

TEST_F(ProtTiming, OneBindOrInvalidatePerTwoCyclesSustained)
{
    std::vector<std::shared_ptr<OpAnswer>> all;
    uint32_t key1 = mw1, key2 = mw2;
    for (int i = 0; i < 100; i++) {
        const uint32_t bound2 = make_key(key_slot(key2), key_nonce(key2), 0x40 + i % 8);
        all.push_back(b.post_op(1, bind_op(BDY_PROT_OP_BIND2, key2, direct, kPd, kQp, RR, kStart, 8, 0x40 + i % 8)));
        all.push_back(b.post_op(1, inv_op(bound2, kPd, kQp)));
        key2 = bound2;
        all.push_back(b.post_op(2, bind_op(BDY_PROT_OP_BIND1, key1, direct, kPd, kQp2, RR, kStart, 8)));
        key1 = make_key(key_slot(key1), key_nonce(key1), key_low(key1) + 1);
    }
    b.settle();
    uint64_t first = ~0ull, last = 0;
    for (auto &a : all) {
        expect_ok(*a);
        first = std::min(first, a->taken);
        last = std::max(last, a->taken);
    }
    std::cout << all.size() << " binds and invalidates in " << last - first + 2 << " cycles\n";
    EXPECT_LE(last - first, 2 * (all.size() - 1) + 8); // the first ones are fetched
    EXPECT_LE(all.back()->executed_at - all.back()->taken, 3u);
}

TEST_F(ProtTiming, BindsDoNotDisturbAccesses)
{
    std::vector<std::shared_ptr<Answer>> all;
    uint32_t key1 = mw1;
    for (int i = 0; i < 60; i++) {
        b.post_op(1, bind_op(BDY_PROT_OP_BIND1, key1, direct, kPd, kQp, RR, kStart, 8));
        key1 = make_key(key_slot(key1), key_nonce(key1), key_low(key1) + 1);
    }
    b.cycles(20);
    const uint64_t ops = b.operations();
    for (int i = 0; i < 80; i++)
        all.push_back(b.post(i % kAcc, remote(i % 2 ? mr : direct, kStart + i, 4)));
    b.run_until([&] { return all.back()->done; });
    EXPECT_GT(b.operations(), ops + 20); // they did run at the same time
    uint64_t first = ~0ull, last = 0;
    for (auto &a : all) {
        first = std::min(first, a->taken);
        last = std::max(last, a->taken);
    }
    EXPECT_EQ(last - first, 79u);
}

TEST_F(ProtTiming, HitsUnderMisses)
{
    b.set_delay(200, false, 5);
    const uint32_t far = make_key(0x800, 1, 1);
    auto miss = b.post(1, remote(far, kStart, 8));
    b.run_until([&] { return miss->taken != 0; });
    std::vector<std::shared_ptr<Answer>> hits;
    for (int i = 0; i < 20; i++)
        hits.push_back(b.post(1, remote(direct, kStart + i, 4)));
    b.run_until([&] { return hits.back()->done; }, 40);
    EXPECT_FALSE(miss->done);
    b.settle();
    expect_rule(miss->rsp, "A1");
}

TEST_F(ProtTiming, SixtyFourMissesInFlight)
{
    // The slowest table: nothing comes back before the 64th has been taken.
    b.set_delay(255, false, 5);
    std::vector<std::shared_ptr<Answer>> all;
    for (int i = 0; i < 70; i++)
        all.push_back(b.post(i % kAcc, remote(make_key(0x900 + i, 1, 1), kStart, 8)));
    int most = 0;
    for (int i = 0; i < 600; i++) {
        int in_flight = 0;
        for (auto &a : all)
            in_flight += a->taken && !a->done;
        most = std::max(most, in_flight);
        b.cycle();
    }
    EXPECT_GE(most, 64);
    b.settle();
    for (auto &a : all)
        expect_rule(a->rsp, "A1");
}

TEST_F(ProtTiming, TranslationsOfManyPagesInFlight)
{
    b.set_delay(200, true, 9);
    std::vector<std::shared_ptr<Answer>> all;
    for (int i = 0; i < 300; i++)
        all.push_back(b.post(i % kAcc, remote(mr, kStart + 0x1000 * (i % 15) + 0xff0, 32)));
    int most = 0;
    while (b.waiting()) {
        int in_flight = 0;
        for (auto &a : all)
            in_flight += a->taken && !a->done;
        most = std::max(most, in_flight);
        b.cycle();
    }
    EXPECT_GE(most, 64);
    for (auto &a : all)
        EXPECT_TRUE(a->rsp.granted() && a->rsp.len1 == 16);
}

TEST_F(ProtTiming, IdleAfterWorkAndAwakeWithIt)
{
    EXPECT_TRUE(b.idle());
    auto a = b.post(0, remote(make_key(0xa00, 1, 1), 0, 8));
    b.cycle();
    EXPECT_FALSE(b.idle());
    b.run_until([&] { return a->done; });
    b.cycles(6);
    EXPECT_TRUE(b.idle());
}

} // namespace prot
