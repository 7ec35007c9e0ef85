// SPDX-License-Identifier: Apache-2.0
// bdy_fifo at several depths and bdy_skid: order, bounds, throughput.
#include <deque>

#include "Vfifo1.h"
#include "Vfifo4.h"
#include "Vfifo5.h"
#include "Vskid.h"
#include "tests/rtl/dp/bench.h"

namespace {

struct Figures {
    unsigned passed = 0;
    unsigned most = 0; // entries inside at one time
};

template <class Top> void drive(Top &t, bool wr, uint32_t data, bool rd)
{
    t.wr_valid_i = wr;
    t.wr_data_i = data;
    t.rd_ready_i = rd;
}

// Random pushes and pops against a deque; each valid stays with its data until taken.
template <class Top> Figures churn(unsigned percent_in, unsigned percent_out, unsigned cycles)
{
    bench::Bench<Top> b;
    bench::Random r(percent_in * 100 + percent_out);
    std::deque<uint32_t> model;
    Figures f;
    bool offering = false;
    uint32_t offer = 0;

    for (unsigned c = 0; c < cycles; c++) {
        if (!offering && r.chance(percent_in)) {
            offering = true;
            offer = static_cast<uint32_t>(r.bits());
        }
        drive(b.top, offering, offer, r.chance(percent_out));
        b.settle();
        EXPECT_EQ(b.top.rd_valid_o, !model.empty());
        EXPECT_EQ(b.top.count_o, model.size());
        if (b.top.rd_valid_o && b.top.rd_ready_i && !model.empty()) {
            EXPECT_EQ(b.top.rd_data_o, model.front());
            model.pop_front();
            f.passed++;
        }
        if (b.top.wr_valid_i && b.top.wr_ready_o) {
            model.push_back(offer);
            offering = false;
        }
        f.most = std::max<unsigned>(f.most, model.size());
        b.tick();
    }
    return f;
}

TEST(Fifo, KeepsOrderAndFillsToItsDepth)
{
    EXPECT_EQ(churn<Vfifo1>(90, 30, 2000).most, 1u);
    EXPECT_EQ(churn<Vfifo4>(90, 30, 2000).most, 4u);
    EXPECT_EQ(churn<Vfifo5>(90, 30, 2000).most, 5u);
    EXPECT_GT(churn<Vfifo5>(30, 90, 2000).passed, 400u);
}

TEST(Fifo, PassesOneEntryPerCycleFromDepthTwoOn)
{
    EXPECT_EQ(churn<Vfifo4>(100, 100, 1000).passed, 999u);
    EXPECT_EQ(churn<Vfifo5>(100, 100, 1000).passed, 999u);
    EXPECT_EQ(churn<Vfifo1>(100, 100, 1000).passed, 500u);
}

TEST(Skid, PassesOneTransferPerCycleAndLosesNone)
{
    for (unsigned out : {100u, 50u, 10u}) {
        bench::Bench<Vskid> b;
        bench::Random r(out);
        std::deque<uint32_t> model;
        bool offering = false;
        unsigned passed = 0;
        for (unsigned c = 0; c < 1000; c++) {
            if (!offering) {
                offering = true;
                b.top.in_data_i = static_cast<uint32_t>(r.bits());
            }
            b.top.in_valid_i = 1;
            b.top.out_ready_i = r.chance(out);
            b.settle();
            if (b.top.out_valid_o && b.top.out_ready_i) {
                ASSERT_FALSE(model.empty());
                ASSERT_EQ(b.top.out_data_o, model.front());
                model.pop_front();
                passed++;
            }
            if (b.top.in_ready_o) {
                model.push_back(b.top.in_data_i);
                offering = false;
            }
            b.tick();
            ASSERT_LE(model.size(), 2u);
        }
        EXPECT_GT(passed, out == 100 ? 998u : out * 6);
    }
}

} // namespace
