// SPDX-License-Identifier: Apache-2.0
// Random work: every verdict equals the reference in the order of the trace, whatever the tables' latency and order.
#include "tests/rtl/prot/prot_random.h"

#include <cstdlib>
#include <iostream>

namespace prot {

struct Setting {
    const char *name;
    bool small;
    unsigned delay;
    bool reorder;
    int cycles;
};

static void PrintTo(const Setting &s, std::ostream *os) { *os << s.name; }

class ProtRandom : public ::testing::TestWithParam<Setting> {
protected:
    // BINDERY_SEED reproduces a run.
    static uint64_t seed()
    {
        const char *s = getenv("BINDERY_SEED");
        return s ? strtoull(s, nullptr, 0) : 1;
    }
};

TEST_P(ProtRandom, EveryVerdictEqualsTheReference)
{
    const Setting &s = GetParam();
    std::cout << "seed " << seed() << " (BINDERY_SEED)\n";
    Bench b(s.small ? make_small_dut() : make_default_dut(), seed());
    RandomWork w(b, seed() * 1000 + s.delay);
    std::mt19937_64 rng(seed());
    w.prepare();
    for (int phase = 0; phase < 10 && !HasFailure(); phase++) {
        b.set_delay(s.delay, s.reorder, (uint32_t)rng() | 1);
        b.ret_latency = (int)(rng() % 60);
        b.ack_latency = (int)(rng() % 30);
        w.access_percent = 5 + (int)(rng() % 95);
        w.op_percent = (int)(rng() % 100);
        if (phase % 4 == 3)
            b.set_strict(!b.model().strict);
        w.run(s.cycles / 10);
    }
    w.compare_tables();
    std::cout << b.accesses() << " accesses, " << b.operations() << " operations, " << b.drains() << " drains; verdicts:";
    for (auto &r : b.rules_seen())
        std::cout << " " << rule_name(r.first) << ":" << r.second;
    std::cout << "\n";
    EXPECT_GT(b.rules_seen().at(BDY_RULE_NONE), b.accesses() / 10);
}

INSTANTIATE_TEST_SUITE_P(Tables, ProtRandom,
                         ::testing::Values(Setting{"fast", false, 0, false, 30000}, Setting{"slow", false, 20, false, 30000},
                                           Setting{"reordered", false, 40, true, 40000},
                                           Setting{"slowest", false, 200, true, 40000},
                                           Setting{"small", true, 0, false, 30000},
                                           Setting{"smallReordered", true, 30, true, 30000}),
                         [](const ::testing::TestParamInfo<Setting> &i) { return i.param.name; });

} // namespace prot
