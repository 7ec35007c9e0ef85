// SPDX-License-Identifier: Apache-2.0
// The shim between a Verilated top and seam S3, driven by a device whose every move the test
// orders.
#include "tests/contract/contract.h"
#include "tests/contract/image.h"
#include "tests/contract/toy.h"

#include <algorithm>
#include <cerrno>
#include <random>

using namespace contract;

namespace
{

class Toy : public ::testing::Test
{
  protected:
    explicit Toy(uint64_t seed = 1) : d(bdy_toy_ops, seed)
    {
    }
    void SetUp() override
    {
        ASSERT_EQ(d.created, 0);
        std::vector<uint8_t> payload{1, 2, 3, 4, 5};
        const auto img = image::make(payload);
        ASSERT_EQ(d.ops.boot(d.dev, img.data(), img.size()), 0);
        ASSERT_TRUE(wait_ready(d));
    }
    uint64_t value(uint32_t offset)
    {
        uint64_t v = ~0ull;
        EXPECT_EQ(d.read(offset, &v), 1);
        return v;
    }
    /** Data that a read of [bus, bus + bytes) must bring: a function of the address. */
    static std::vector<uint8_t> memory(uint64_t bus, uint32_t bytes)
    {
        std::vector<uint8_t> data(bytes);
        for (uint32_t i = 0; i < bytes; i++)
            data[i] = static_cast<uint8_t>(((bus + i) * 0x9e3779b97f4a7c15ull) >> 56);
        return data;
    }
    void answer(const Request &r)
    {
        const auto data = memory(r.bus, r.bytes);
        ASSERT_EQ(d.complete(r, BDY_DMA_OK, data.data()), 0);
    }
    Device d;
};

TEST_F(Toy, TheBootPortBringsEveryWordOnce)
{
    EXPECT_EQ(value(toy::kBoot) & 0xffffffff, 2u) << "five bytes are two words";
    // sum: rotate left, xor data, xor address
    const uint32_t first = 0x04030201u, second = ((first << 1 | first >> 31) ^ 0x05u ^ 4u);
    EXPECT_EQ(value(toy::kBoot) >> 32, second);
}

TEST_F(Toy, WritesReachTheDeviceInOrder)
{
    uint64_t expect = 0;
    for (uint64_t i = 1; i <= 300; i++) {
        const uint64_t v = i * 0x123456789abcdull;
        while (d.write(toy::kOrder, v) == -ENOSPC)
            d.run_for(3);
        expect = (expect << 5 | expect >> 59) ^ v;
    }
    EXPECT_EQ(value(toy::kOrder), expect);
}

TEST_F(Toy, AStalledBarKeepsEverythingWaiting)
{
    ASSERT_EQ(d.write(toy::kStall, 500), 0);
    ASSERT_TRUE(d.run_for(20) == BDY_STOP_UNTIL);
    for (unsigned i = 0; i < 64; i++)
        ASSERT_EQ(d.write(scratch(0), i), 0);
    ASSERT_EQ(d.ops.mmio_read(d.dev, scratch(0)), 0);
    d.run_for(400);
    EXPECT_EQ(d.write(scratch(0), 99), -ENOSPC);
    uint64_t v = 0;
    EXPECT_EQ(d.ops.mmio_read_done(d.dev, &v), 0);
    d.run_for(1000);
    EXPECT_EQ(d.ops.mmio_read_done(d.dev, &v), 1);
    EXPECT_EQ(v, 63u);
}

TEST_F(Toy, ReadsCompleteInAnyOrderAndArriveInTheirOwn)
{
    std::mt19937 rng(7);
    for (int round = 0; round < 40; round++) {
        d.requests.clear();
        const unsigned beats = 1 + rng() % 128, bursts = 1 + rng() % 8;
        for (unsigned c = 0; c < toy::kChannels; c++) {
            d.write(toy::src(c), 0x100000000ull * (c + 1));
            d.write(toy::go(c), toy::command(toy::Read, beats, bursts));
        }
        d.run_for(400);
        ASSERT_EQ(d.requests.size(), toy::kChannels * bursts);
        auto order = d.requests;
        std::shuffle(order.begin(), order.end(), rng);
        for (const Request &r : order) {
            EXPECT_EQ(r.bytes, beats * 32);
            answer(r);
            d.run_for(rng() % 30);
        }
        ASSERT_TRUE(d.run_to_idle());
        for (unsigned c = 0; c < toy::kChannels; c++) {
            uint32_t sum = 0;
            for (unsigned b = 0; b < bursts; b++) {
                const auto data = memory(0x100000000ull * (c + 1) + 4096ull * b, beats * 32);
                sum = toy::sum_of(data.data(), data.size(), sum);
            }
            const uint64_t result = value(toy::result(c));
            EXPECT_FALSE(toy::busy(result));
            EXPECT_EQ(toy::errors(result), 0u);
            EXPECT_EQ(toy::sum(result), sum) << "channel " << c << " round " << round;
        }
    }
}

TEST_F(Toy, BeatsOfDifferentIdsInterleave)
{
    for (unsigned c = 0; c < 2; c++) {
        d.write(toy::src(c), 0x1000 * (c + 1));
        d.write(toy::go(c), toy::command(toy::Read, 64, 1));
    }
    d.run_for(100);
    ASSERT_EQ(d.requests.size(), 2u);
    for (const Request &r : d.requests)
        answer(r);
    // Were one delivered after the other, some cycle would see one of them over and the other
    // untouched: both end within a few beats of each other instead.
    uint64_t end[2] = {0, 0};
    while (!end[0] || !end[1]) {
        ASSERT_LT(d.trace.size(), 1000u);
        d.run_for(1);
        for (const Event &e : d.trace)
            if (e.kind == BDY_TRC_KIND_CQE)
                for (unsigned c = 0; c < 2; c++)
                    if ((e.words[4] >> c) & 1)
                        end[c] = e.cycle;
        ASSERT_LT(d.status().now, 100000u);
    }
    EXPECT_LT(end[0] > end[1] ? end[0] - end[1] : end[1] - end[0], 60u);
}

TEST_F(Toy, AReadWithAnErrorIsBadInEveryBeatAndHurtsNoOther)
{
    d.write(toy::src(0), 0x5000);
    d.write(toy::go(0), toy::command(toy::Read, 4, 3));
    d.run_for(100);
    ASSERT_EQ(d.requests.size(), 3u);
    answer(d.requests[0]);
    ASSERT_EQ(d.complete(d.requests[1], BDY_DMA_ERROR), 0);
    answer(d.requests[2]);
    ASSERT_TRUE(d.run_to_idle());
    EXPECT_EQ(toy::errors(value(toy::result(0))), 4u);
}

TEST_F(Toy, AnUnalignedReadAsksForItsBytesOnly)
{
    d.write(toy::src(0), 0x7000 + 32 + 5);
    d.write(toy::go(0), toy::command(toy::Read, 2, 1));
    d.run_for(100);
    ASSERT_EQ(d.requests.size(), 1u);
    EXPECT_EQ(d.requests[0].bus, 0x7000u + 32 + 5);
    EXPECT_EQ(d.requests[0].bytes, 64u - 5);
    std::vector<uint8_t> data(64 - 5, 0x11);
    ASSERT_EQ(d.complete(d.requests[0], BDY_DMA_OK, data.data()), 0);
    ASSERT_TRUE(d.run_to_idle());
    std::vector<uint8_t> lanes(64, 0x11);
    std::fill(lanes.begin(), lanes.begin() + 5, 0);
    EXPECT_EQ(toy::sum(value(toy::result(0))), toy::sum_of(lanes.data(), 64));
}

TEST_F(Toy, WritesCarryTheirDataAndAnswerInAnyOrder)
{
    d.write(toy::dst(1), 0x40000);
    d.write(toy::dst(2), 0x80000);
    d.write(toy::go(1), toy::command(toy::Write, 128, 3));
    d.write(toy::go(2), toy::command(toy::Write, 1, 5));
    d.run_for(1000);
    ASSERT_EQ(d.requests.size(), 8u);
    for (const Request &r : d.requests) {
        const unsigned c = r.bus < 0x80000 ? 1 : 2, burst = (r.bus >> 12) & 15;
        ASSERT_EQ(r.kind, BDY_DMA_WRITE);
        ASSERT_EQ(r.bytes, c == 1 ? 4096u : 32u);
        ASSERT_TRUE(r.strobe.empty()) << "all bytes: no strobes";
        for (unsigned i = 0; i < r.bytes / 8; i++) {
            uint64_t word;
            std::memcpy(&word, &r.data[8 * i], 8);
            ASSERT_EQ(word, toy::pattern(c, burst, i / 4, i % 4));
        }
    }
    for (size_t i = d.requests.size(); i-- > 0;) {
        ASSERT_EQ(d.complete(d.requests[i], i == 0 ? BDY_DMA_ERROR : BDY_DMA_OK), 0);
        d.run_for(5);
    }
    ASSERT_TRUE(d.run_to_idle());
    EXPECT_EQ(toy::errors(value(toy::result(1))) + toy::errors(value(toy::result(2))), 1u);
}

TEST_F(Toy, StrobesBecomeARangeAndABitmap)
{
    // Lanes 3..29 without 10..12, in both beats: from byte 3 to byte 61.
    const uint32_t strobes = 0x3ffffff8u & ~0x1c00u;
    d.write(toy::dst(0), 0xc000);
    d.write(toy::go(0), toy::command(toy::Write, 2, 1, false, strobes));
    d.run_for(100);
    ASSERT_EQ(d.requests.size(), 1u);
    const Request &r = d.requests[0];
    EXPECT_EQ(r.bus, 0xc003u);
    ASSERT_EQ(r.bytes, 59u);
    ASSERT_FALSE(r.strobe.empty());
    for (uint32_t i = 0; i < r.bytes; i++)
        EXPECT_EQ((r.strobe[i / 8] >> (i % 8)) & 1u, (strobes >> ((i + 3) % 32)) & 1u) << i;
}

TEST_F(Toy, ContiguousStrobesNeedNoBitmap)
{
    d.write(toy::dst(0), 0xc000);
    d.write(toy::go(0), toy::command(toy::Write, 1, 1, false, 0x00ffff00u));
    d.run_for(100);
    ASSERT_EQ(d.requests.size(), 1u);
    EXPECT_EQ(d.requests[0].bus, 0xc008u);
    EXPECT_EQ(d.requests[0].bytes, 16u);
    EXPECT_TRUE(d.requests[0].strobe.empty());
}

TEST_F(Toy, AWriteWithoutBytesAsksNobody)
{
    d.write(toy::dst(0), 0xc000);
    d.write(toy::go(0), toy::command(toy::Write, 4, 2, false, 0));
    ASSERT_TRUE(d.run_to_idle());
    EXPECT_TRUE(d.requests.empty());
    EXPECT_EQ(value(toy::result(0)), 0u);
}

TEST_F(Toy, ManyRequestsWaitWithoutLoss)
{
    for (unsigned c = 0; c < toy::kChannels; c++) {
        d.write(toy::src(c), 0x1000000ull * (c + 1));
        d.write(toy::dst(c), 0x9000000ull * (c + 1));
        d.write(toy::go(c), toy::command(c % 2 ? toy::Write : toy::Read, 1, 60));
    }
    size_t done = 0;
    uint64_t most = 0;
    while (!d.run_to_idle(200)) {
        most = std::max<uint64_t>(most, d.requests.size() - done);
        // Newest first, and never all of them.
        std::reverse(d.requests.begin() + static_cast<long>(done), d.requests.end());
        const size_t end = d.requests.size() - (d.requests.size() - done) / 2;
        for (; done < end; done++)
            answer(d.requests[done]);
        ASSERT_LT(d.status().now, 1000000u);
    }
    EXPECT_EQ(d.requests.size(), 240u);
    EXPECT_GT(most, 32u);
    for (unsigned c = 0; c < toy::kChannels; c++)
        EXPECT_EQ(toy::errors(value(toy::result(c))), 0u);
}

TEST_F(Toy, AnAnswerInTheNextCycleArrivesInTheNextCycle)
{
    d.write(toy::src(0), 0x3000);
    d.write(toy::go(0), toy::command(toy::Read, 1, 1));
    ASSERT_EQ(d.run_for(100, true), BDY_STOP_UPCALL);
    answer(d.requests.at(0));
    ASSERT_TRUE(d.run_to_idle());
    EXPECT_EQ(value(toy::latency(0)), 1u);
    d.write(toy::dst(1), 0x3000);
    d.write(toy::go(1), toy::command(toy::Write, 1, 1));
    ASSERT_EQ(d.run_for(100, true), BDY_STOP_UPCALL);
    answer(d.requests.at(1));
    ASSERT_TRUE(d.run_to_idle());
    EXPECT_LE(value(toy::latency(1)), 2u) << "the last W beat may come a cycle after AW";
}

TEST_F(Toy, StopOnUpcallStopsInTheCycleOfTheRequest)
{
    d.write(toy::src(0), 0x3000);
    d.write(toy::go(0), toy::command(toy::Read, 1, 2));
    ASSERT_EQ(d.run_for(1000, true), BDY_STOP_UPCALL);
    ASSERT_EQ(d.requests.size(), 1u);
    const uint64_t first = d.status().now;
    ASSERT_EQ(d.run_for(1000, true), BDY_STOP_UPCALL);
    ASSERT_EQ(d.requests.size(), 2u);
    EXPECT_LT(d.status().now - first, 5u);
    d.write(BDY_REG_BAR_MSIX_ADDR_OFFSET, 0xfee00000);
    d.write(BDY_REG_BAR_MSIX_ADDR_OFFSET + 8, 77);
    d.write(toy::kMsix, 0);
    ASSERT_EQ(d.run_for(1000, true), BDY_STOP_UPCALL);
    ASSERT_EQ(d.messages.size(), 1u);
    EXPECT_EQ(d.messages[0].address, 0xfee00000u);
    EXPECT_EQ(d.messages[0].data, 77u);
}

TEST_F(Toy, TimersLimitSkipsAndFireAtTheirCycle)
{
    ASSERT_TRUE(d.run_to_idle());
    const uint64_t due = d.status().now + 100000;
    d.write(toy::kTimer, due);
    ASSERT_TRUE(d.run_to_idle());
    ASSERT_EQ(d.status().next_timer, due);
    EXPECT_EQ(d.ops.skip(d.dev, due + 1), -EINVAL);
    EXPECT_EQ(d.ops.skip(d.dev, due - 10), 0);
    EXPECT_TRUE(d.messages.empty());
    EXPECT_EQ(d.ops.skip(d.dev, due), 0);
    ASSERT_EQ(d.run_for(10, true), BDY_STOP_UPCALL);
    EXPECT_EQ(d.messages.size(), 1u);
    EXPECT_LE(d.status().now, due + 3);
    ASSERT_TRUE(d.run_to_idle());
    EXPECT_EQ(d.status().next_timer, UINT64_MAX);
}

TEST_F(Toy, ASkippedWaitIsTheSameAsAWaitRunThrough)
{
    const auto story = [](bool skip) {
        Device t(bdy_toy_ops, 4);
        const auto img = image::make({1, 2, 3, 4});
        t.ops.boot(t.dev, img.data(), img.size());
        wait_ready(t);
        for (uint64_t due : {3000u, 4001u, 9000u}) {
            t.write(toy::kTimer, due);
            const uint64_t end = due + 50;
            while (t.status().now < end) {
                t.run_to_idle(end - t.status().now);
                const uint64_t to = std::min(t.status().next_timer, end);
                if (skip && t.status().idle)
                    t.ops.skip(t.dev, to);
                t.run_through(to);
                if (to < end)
                    t.run_for(1);
            }
        }
        EXPECT_EQ(t.status().now, 9050u);
        return t.trace;
    };
    const auto run = story(false);
    EXPECT_EQ(run.size(), 3u);
    EXPECT_EQ(run, story(true));
}

TEST_F(Toy, TraceEventsOfACycleComeInTheOrderOfEffects)
{
    d.trace.clear();
    d.write(toy::kTrace, 0xff);
    ASSERT_TRUE(d.run_to_idle());
    const std::vector<uint32_t> order = {
        BDY_TRC_KIND_DOORBELL, BDY_TRC_KIND_WQE,    BDY_TRC_KIND_ACCESS, BDY_TRC_KIND_OP,
        BDY_TRC_KIND_PKT_TX,   BDY_TRC_KIND_PKT_RX, BDY_TRC_KIND_CQE,    BDY_TRC_KIND_EQE};
    const std::vector<uint32_t> words = {1, 8, 8, 16, 16, 16, 8, 8};
    ASSERT_EQ(d.trace.size(), order.size());
    for (size_t i = 0; i < order.size(); i++) {
        EXPECT_EQ(d.trace[i].kind, order[i]);
        EXPECT_EQ(d.trace[i].words.size(), words[i]);
        EXPECT_EQ(d.trace[i].cycle, d.trace[0].cycle);
    }
    EXPECT_EQ(d.trace[0].words[0], 0xffu);
    EXPECT_EQ(d.trace[2].words[7], ~0xffull);
    EXPECT_EQ(d.trace[3].words[15], 0xffu);
}

TEST_F(Toy, WithoutATraceUpcallNothingIsTraced)
{
    Device quiet(bdy_toy_ops, 1, nullptr, false);
    quiet.write(toy::kTrace, 0xff);
    quiet.run_for(100);
    EXPECT_TRUE(quiet.trace.empty());
    EXPECT_EQ(quiet.fatal_texts, 0u);
}

// ---------------------------------------------------------------- dying

struct Death {
    const char *name;
    uint64_t how;
    const char *says;
};

class ToyDies : public Toy, public ::testing::WithParamInterface<Death>
{
};

TEST_P(ToyDies, WithoutEndingTheProcess)
{
    if (GetParam().how == toy::EarlyLast) {
        d.write(toy::dst(0), 0xc000);
        d.write(toy::kDie, GetParam().how);
        d.write(toy::go(0), toy::command(toy::Write, 4, 1));
    } else {
        d.write(toy::kDie, GetParam().how);
    }
    EXPECT_EQ(d.run_for(200), BDY_STOP_DEAD);
    EXPECT_TRUE(d.status().dead);
    EXPECT_FALSE(d.status().idle);
    EXPECT_EQ(d.fatal_texts, 1u);
    bool said = false;
    for (const std::string &text : d.texts)
        said = said || text.find(GetParam().says) != std::string::npos;
    EXPECT_TRUE(said) << (d.texts.empty() ? "nothing" : d.texts.back());

    uint64_t v = 0;
    const uint64_t now = d.status().now;
    EXPECT_EQ(d.run_for(10), BDY_STOP_DEAD);
    EXPECT_EQ(d.run_result, 0);
    EXPECT_EQ(d.status().now, now);
    EXPECT_EQ(d.write(scratch(0), 1), -EIO);
    EXPECT_EQ(d.ops.mmio_read(d.dev, scratch(0)), -EIO);
    EXPECT_EQ(d.ops.mmio_read_done(d.dev, &v), -EIO);
    EXPECT_EQ(d.ops.skip(d.dev, now + 1), -EIO);
    EXPECT_EQ(d.ops.dma_cpl(d.dev, BDY_DMA_READ, 0, BDY_DMA_OK, &v, 8), -EIO);
    EXPECT_EQ(d.fatal_texts, 1u) << "told once";

    Device other(bdy_toy_ops, 2); // and the process can have another
    EXPECT_EQ(other.read(BDY_REG_BAR_ID_OFFSET, &v), 1);
}

INSTANTIATE_TEST_SUITE_P(Ways, ToyDies,
                         ::testing::Values(Death{"Fatal", toy::Fatal, "toy says fatal"},
                                           Death{"Stop", toy::Stop, "$stop"},
                                           Death{"Finish", toy::Finish, "$finish"},
                                           Death{"Assert", toy::Assert, "Assertion failed"},
                                           Death{"Cross", toy::Cross, "crosses 4 KiB"},
                                           Death{"Spin", toy::Spin, "converge"},
                                           Death{"EarlyLast", toy::EarlyLast, "WLAST"}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_F(Toy, DisplayReachesTheMessageUpcall)
{
    d.write(toy::kDie, toy::Display);
    d.run_for(50);
    ASSERT_FALSE(d.texts.empty());
    EXPECT_EQ(d.texts.back(), "toy says hello");
    EXPECT_FALSE(d.status().dead);
}

TEST_F(Toy, AFatalDeviceStateIsToldOnceAndTheBarStaysReadable)
{
    d.write(toy::kDie, toy::FatalPort);
    d.run_for(200);
    EXPECT_EQ(d.texts.size(), 1u);
    EXPECT_EQ(d.fatal_texts, 0u);
    EXPECT_EQ(value(BDY_REG_BAR_ID_OFFSET) & 0xffffffff, BDY_DEV_MAGIC);
}

TEST_F(Toy, OneDiesTheOtherLives)
{
    Device other(bdy_toy_ops, 9);
    d.write(toy::kDie, toy::Fatal);
    EXPECT_EQ(d.run_for(100), BDY_STOP_DEAD);
    uint64_t v = 0;
    EXPECT_EQ(other.read(BDY_REG_BAR_ID_OFFSET, &v), 1);
    EXPECT_TRUE(other.texts.empty());
}

} // namespace
