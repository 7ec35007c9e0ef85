// SPDX-License-Identifier: Apache-2.0
// bdy_rr_arb: turn-taking, hold until taken.
#include "Vrr_arb5.h"
#include "tests/rtl/dp/bench.h"

namespace {

TEST(RrArb, GivesEachOfFiveBusyRequestersTheSameShare)
{
    bench::Bench<Vrr_arb5> b;
    unsigned grants[5] = {};
    b.top.req_i = 0x1f;
    b.top.take_i = 1;
    for (unsigned c = 0; c < 100; c++) {
        b.settle();
        ASSERT_TRUE(b.top.valid_o);
        ASSERT_EQ(b.top.gnt_o, 1u << b.top.idx_o);
        grants[b.top.idx_o]++;
        b.tick();
    }
    for (unsigned g : grants) {
        EXPECT_EQ(g, 20u);
    }
}

TEST(RrArb, HoldsAGrantUntilItIsTakenEvenWhileItsRequesterPauses)
{
    bench::Bench<Vrr_arb5> b;
    bench::Random r(1);
    unsigned held = 0;
    for (unsigned c = 0; c < 5000; c++) {
        b.top.req_i = static_cast<uint8_t>(r.below(32));
        b.top.take_i = r.chance(25);
        b.settle();
        uint32_t grant = b.top.gnt_o;
        bool stays = b.top.valid_o && !b.top.take_i;
        b.tick();
        if (stays) {
            b.top.req_i = static_cast<uint8_t>(r.below(32));
            b.settle();
            ASSERT_EQ(b.top.gnt_o, grant);
            held++;
        }
    }
    EXPECT_GT(held, 1000u);
}

} // namespace
