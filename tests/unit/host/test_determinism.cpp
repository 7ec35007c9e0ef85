// SPDX-License-Identifier: Apache-2.0
// A whole story on the Verilated toy device: the same seed repeats it to the cycle, and neither
// jumps nor neighbours change it.
#include "sim/host/host.h"
#include "tests/contract/image.h"
#include "tests/contract/toy.h"

#include <gtest/gtest.h>

#include <memory>

namespace
{

struct Choice {
    uint64_t seed = 1;
    uint32_t lat_max = 1;
    bool no_skip = false;
    bdy_host_order order = BDY_ORDER_RELAXED;
};

/** A host with a toy that copies buffers about, told what to do by interrupts and timers. */
class Story
{
  public:
    explicit Story(const Choice &c)
    {
        bdy_host_cfg cfg;
        bdy_host_cfg_init(&cfg);
        cfg.seed = c.seed;
        cfg.lat_max = c.lat_max;
        cfg.no_skip = c.no_skip;
        cfg.order = c.order;
        cfg.trace_hash = 1;
        EXPECT_EQ(bdy_host_create(&cfg, &bdy_toy_ops, &host), 0);
        const auto img = image::make({1, 2, 3, 4});
        EXPECT_EQ(bdy_host_boot(host, img.data(), img.size()), 0);
        pci = bdy_host_pci(host);
        EXPECT_EQ(ops().dma_alloc(pci, kBytes, &from), 0);
        EXPECT_EQ(ops().dma_alloc(pci, kBytes, &to), 0);
        for (size_t i = 0; i < kBytes; i++)
            static_cast<uint8_t *>(from.cpu)[i] = static_cast<uint8_t>(i * 31 >> 3);
        for (unsigned v = 0; v < BDY_MSIX_VECTORS; v++)
            set_vector(v);
        ops().bar_write64(pci, BDY_REG_BAR_BUS_MASTER_OFFSET, 1);
    }
    ~Story()
    {
        ops().dma_free(pci, &from);
        ops().dma_free(pci, &to);
        bdy_host_destroy(host);
    }

    /** One round: every channel works, a timer is set, all interrupts are awaited. */
    void round(unsigned n)
    {
        for (unsigned c = 0; c < toy::kChannels; c++) {
            const auto op = static_cast<toy::Op>(1 + (c + n) % 3);
            const unsigned bursts = op == toy::Copy ? 1 : 1 + n % 4;
            ops().bar_write64(pci, toy::src(c), from.bus + 0x4000 * c);
            ops().bar_write64(pci, toy::dst(c), to.bus + 0x4000 * c);
            ops().bar_write64(pci, toy::go(c),
                              toy::command(op, 1 + (n * 37 + c) % 128, bursts, true));
        }
        ops().bar_write64(pci, toy::kTimer, ops().now(pci) + 3000 + n);
        const size_t wanted = irqs + toy::kChannels + 1;
        while (irqs < wanted)
            ASSERT_EQ(ops().wait(pci, ops().now(pci) + 20000), 0);
    }
    /** With what a round has moved. */
    std::tuple<uint64_t, uint64_t, uint64_t, uint64_t> end()
    {
        for (unsigned n = 0; n < 12; n++)
            round(n);
        return outcome();
    }
    std::tuple<uint64_t, uint64_t, uint64_t, uint64_t> outcome()
    {
        struct bdy_host_stats s;
        bdy_host_stats(host, &s);
        EXPECT_GT(s.trace_events, 50u);
        EXPECT_EQ(s.dma_errors, 0u);
        uint64_t memory = 0;
        for (size_t i = 0; i < kBytes; i++)
            memory = memory * 31 + static_cast<uint8_t *>(to.cpu)[i];
        return {s.trace_hash, s.trace_events, memory, ops().now(pci)};
    }
    ::bdy_host *host = nullptr;
    bdy_pci *pci = nullptr;
    size_t irqs = 0;
    bdy_dma_buf from{}, to{};

  private:
    static constexpr size_t kBytes = 0x10000;
    const bdy_pci_ops &ops() const
    {
        return *pci->ops;
    }
    void set_vector(unsigned v)
    {
        uint64_t address;
        uint32_t data;
        ops().msix_message(pci, v, &address, &data);
        ops().bar_write64(pci, BDY_REG_BAR_MSIX_ADDR_OFFSET + 16 * v, address);
        ops().bar_write64(pci, BDY_REG_BAR_MSIX_ADDR_OFFSET + 16 * v + 8, data);
        // Vector 0 carries channel 0 and the timer: the toy keeps them apart in time.
        ops().irq_set(
            pci, v, [](void *arg, unsigned) { static_cast<Story *>(arg)->irqs++; }, this);
    }
};

TEST(Determinism, TheSameSeedIsTheSameRun)
{
    const auto first = Story({7, 150}).end();
    EXPECT_EQ(first, Story({7, 150}).end());
    EXPECT_NE(std::get<0>(first), std::get<0>(Story({8, 150}).end()));
}

TEST(Determinism, WhatIsMovedDoesNotDependOnLatencyOrOrder)
{
    const auto memory = std::get<2>(Story({1, 1}).end());
    for (auto order : {BDY_ORDER_RELAXED, BDY_ORDER_PCIE, BDY_ORDER_STRICT})
        EXPECT_EQ(memory, std::get<2>(Story({11, 200, false, order}).end()));
}

TEST(Determinism, JumpsChangeNothingH19)
{
    for (uint32_t lat : {1u, 60u}) {
        Story jumping({5, lat}), walking({5, lat, true});
        EXPECT_EQ(jumping.end(), walking.end());
        struct bdy_host_stats j, w;
        bdy_host_stats(jumping.host, &j);
        bdy_host_stats(walking.host, &w);
        EXPECT_GT(j.cycles_skipped, 1000u);
        EXPECT_EQ(w.cycles_skipped, 0u);
    }
}

TEST(Determinism, TwoHostsInAProcessDoNotDisturbEachOther)
{
    const auto alone_a = Story({21, 90}).end(), alone_b = Story({22, 30}).end();
    Story a({21, 90}), b({22, 30});
    for (unsigned n = 0; n < 12; n++) {
        a.round(n);
        b.round(n);
    }
    EXPECT_EQ(a.outcome(), alone_a);
    EXPECT_EQ(b.outcome(), alone_b);
}

TEST(Determinism, ADeadNeighbourIsNoHarm)
{
    auto dead = std::make_unique<Story>(Choice{1, 1});
    dead->pci->ops->bar_write64(dead->pci, toy::kDie, toy::Assert);
    EXPECT_EQ(dead->pci->ops->wait(dead->pci, dead->pci->ops->now(dead->pci) + 100), -EIO);
    const auto alone = Story({3, 20}).end();
    dead.reset();
    EXPECT_EQ(Story({3, 20}).end(), alone);
}

TEST(Determinism, ResetBringsTheFirmwareBack)
{
    Story s({2, 40});
    s.round(0);
    EXPECT_EQ(s.pci->ops->reset(s.pci), 0);
    s.round(1);
}

TEST(Determinism, NextCycleMemoryIsNextCycleAtTheDevice)
{
    Story s({1, 1});
    s.round(1); // channels 0 and 3 write... and read
    uint64_t latency;
    for (unsigned c = 0; c < toy::kChannels; c++) {
        ASSERT_EQ(s.pci->ops->bar_read64(s.pci, toy::latency(c), &latency), 0);
        EXPECT_GE(latency, 1u);
    }
    s.pci->ops->bar_write64(s.pci, toy::go(1), toy::command(toy::Read, 1, 1));
    s.pci->ops->wait(s.pci, s.pci->ops->now(s.pci) + 100);
    ASSERT_EQ(s.pci->ops->bar_read64(s.pci, toy::latency(1), &latency), 0);
    EXPECT_EQ(latency, 1u);
}

} // namespace
