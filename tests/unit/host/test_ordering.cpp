// SPDX-License-Identifier: Apache-2.0
// When DMA requests complete, in which order, and what they see (H8, H16, H20).
#include "tests/unit/host/fake_device.h"

#include <algorithm>
#include <memory>

using namespace fake;

namespace
{

class Ordering : public ::testing::Test
{
  protected:
    void start(bdy_host_order order, uint32_t lat_min, uint32_t lat_max, uint64_t seed = 1)
    {
        rig = std::make_unique<Rig>([&](bdy_host_cfg &c) {
            c.order = order;
            c.lat_min = lat_min;
            c.lat_max = lat_max;
            c.seed = seed;
        });
        ASSERT_EQ(rig->pci->ops->dma_alloc(rig->pci, 4096, &buf), 0);
        word = static_cast<uint64_t *>(buf.cpu);
    }
    ~Ordering() override
    {
        if (rig)
            rig->pci->ops->dma_free(rig->pci, &buf);
    }
    static std::vector<uint8_t> bytes(uint64_t value)
    {
        std::vector<uint8_t> b(8);
        std::memcpy(b.data(), &value, 8);
        return b;
    }
    /** Reads and writes in turn, one a cycle. */
    void issue(unsigned n)
    {
        for (unsigned i = 0; i < n; i++)
            rig->dev->at(rig->dev->now + i, [this, i](bdy_dev &d) {
                if (i % 2)
                    d.dma_read(buf.bus, 8);
                else
                    d.dma_write(buf.bus + 8 * (i % 500), bytes(i));
            });
        rig->settle();
        ASSERT_EQ(rig->dev->dma.size(), n);
    }
    /** Pairs (earlier, later) of these kinds where the later one completed first. */
    unsigned overtakings(bdy_dma_kind earlier, bdy_dma_kind later) const
    {
        unsigned n = 0;
        const auto &dma = rig->dev->dma;
        for (size_t i = 0; i < dma.size(); i++)
            for (size_t j = i + 1; j < dma.size(); j++)
                n += dma[i].kind == earlier && dma[j].kind == later && dma[j].cycle < dma[i].cycle;
        return n;
    }
    std::unique_ptr<Rig> rig;
    bdy_dma_buf buf{};
    uint64_t *word = nullptr;
};

TEST_F(Ordering, LatenciesStayWithinTheirBoundsAndUseThem)
{
    start(BDY_ORDER_RELAXED, 20, 29);
    issue(600);
    std::vector<unsigned> seen(30);
    for (const auto &r : rig->dev->dma) {
        ASSERT_GE(r.cycle - r.asked, 20u);
        ASSERT_LE(r.cycle - r.asked, 29u);
        seen[r.cycle - r.asked]++;
    }
    for (unsigned lat = 20; lat < 30; lat++)
        EXPECT_GT(seen[lat], 20u) << lat;
}

TEST_F(Ordering, NextCycleMeansNextCycle)
{
    start(BDY_ORDER_RELAXED, 1, 1);
    issue(50);
    for (const auto &r : rig->dev->dma)
        EXPECT_EQ(r.cycle, r.asked + 1);
}

TEST_F(Ordering, RelaxedLetsEverythingOvertakeH8)
{
    start(BDY_ORDER_RELAXED, 1, 200);
    issue(200);
    for (auto earlier : {BDY_DMA_READ, BDY_DMA_WRITE})
        for (auto later : {BDY_DMA_READ, BDY_DMA_WRITE})
            EXPECT_GT(overtakings(earlier, later), 100u) << earlier << later;
}

TEST_F(Ordering, PcieKeepsWritesInOrderAndReadsBehindThem)
{
    start(BDY_ORDER_PCIE, 1, 200);
    issue(400);
    EXPECT_EQ(overtakings(BDY_DMA_WRITE, BDY_DMA_WRITE), 0u);
    EXPECT_EQ(overtakings(BDY_DMA_WRITE, BDY_DMA_READ), 0u);
    EXPECT_GT(overtakings(BDY_DMA_READ, BDY_DMA_WRITE), 0u);
    EXPECT_GT(overtakings(BDY_DMA_READ, BDY_DMA_READ), 0u);
}

TEST_F(Ordering, PcieReadsSeeTheWritesBeforeThem)
{
    start(BDY_ORDER_PCIE, 1, 100);
    for (uint64_t i = 1; i <= 200; i++)
        rig->dev->at(i, [this, i](bdy_dev &d) {
            d.dma_write(buf.bus, bytes(i));
            d.dma_read(buf.bus, 8);
        });
    rig->settle();
    for (size_t i = 1; i < rig->dev->dma.size(); i += 2) {
        uint64_t got;
        std::memcpy(&got, rig->dev->dma[i].data.data(), 8);
        ASSERT_GE(got, (i + 1) / 2);
    }
}

TEST_F(Ordering, StrictCompletesAsIssued)
{
    start(BDY_ORDER_STRICT, 1, 200);
    issue(300);
    for (auto earlier : {BDY_DMA_READ, BDY_DMA_WRITE})
        for (auto later : {BDY_DMA_READ, BDY_DMA_WRITE})
            EXPECT_EQ(overtakings(earlier, later), 0u);
}

TEST_F(Ordering, ReadsSampleAndWritesAppearAtTheirCompletionH20)
{
    start(BDY_ORDER_RELAXED, 100, 100);
    word[0] = 1;
    rig->dev->at(0, [&](bdy_dev &d) {
        d.dma_read(buf.bus, 8);
        d.dma_write(buf.bus + 8, bytes(77));
    });
    bdy_host_why why;
    bdy_host_run(rig->host, 99, &why);
    ASSERT_EQ(rig->pci->ops->now(rig->pci), 99u);
    word[0] = 2; // after the request, before its completion
    EXPECT_EQ(word[1], 0u);
    EXPECT_FALSE(rig->dev->dma[1].is_done);
    bdy_host_run(rig->host, 2, &why);
    EXPECT_EQ(word[1], 77u);
    EXPECT_EQ(rig->dev->dma[0].data, bytes(2));
}

TEST_F(Ordering, TheSameSeedDrawsTheSameLatencies)
{
    const auto story = [this](uint64_t seed) {
        start(BDY_ORDER_RELAXED, 1, 200, seed);
        issue(100);
        std::vector<uint64_t> cycles;
        for (const auto &r : rig->dev->dma)
            cycles.push_back(r.cycle);
        rig->pci->ops->dma_free(rig->pci, &buf);
        return cycles;
    };
    const auto first = story(3);
    EXPECT_EQ(first, story(3));
    EXPECT_NE(first, story(4));
}

// ---------------------------------------------------------------- messages and answers behind
// writes

TEST_F(Ordering, AMessageDoesNotPassTheWritesBeforeItH16)
{
    start(BDY_ORDER_RELAXED, 100, 100);
    uint64_t seen = 0;
    const bdy_irq_fn handler = [](void *arg, unsigned) {
        auto &o = *static_cast<std::pair<uint64_t *, uint64_t *> *>(arg);
        *o.first = *o.second;
    };
    std::pair<uint64_t *, uint64_t *> arg = {&seen, word};
    rig->pci->ops->irq_set(rig->pci, 2, handler, &arg);
    rig->dev->at(0, [&](bdy_dev &d) { d.dma_write(buf.bus, bytes(5)); });
    rig->dev->at(1, [&](bdy_dev &d) { rig->msix(2, d); });
    EXPECT_EQ(rig->pci->ops->wait(rig->pci, 1000), 0);
    EXPECT_EQ(seen, 5u);
    EXPECT_GE(rig->pci->ops->now(rig->pci), 100u);
}

TEST_F(Ordering, AMessageDoesNotWaitForLaterWrites)
{
    start(BDY_ORDER_RELAXED, 100, 100);
    unsigned ran = 0;
    rig->pci->ops->irq_set(
        rig->pci, 0, [](void *arg, unsigned) { ++*static_cast<unsigned *>(arg); }, &ran);
    rig->dev->at(0, [&](bdy_dev &d) {
        rig->msix(0, d);
        d.dma_write(buf.bus, bytes(5));
    });
    EXPECT_EQ(rig->pci->ops->wait(rig->pci, 1000), 0);
    EXPECT_EQ(ran, 1u);
    EXPECT_LT(rig->pci->ops->now(rig->pci), 10u);
    rig->settle();
}

TEST_F(Ordering, AReadOfTheBarPushesTheDevicesWrites)
{
    start(BDY_ORDER_RELAXED, 300, 300);
    rig->dev->at(0, [&](bdy_dev &d) { d.dma_write(buf.bus, bytes(6)); });
    bdy_host_why why;
    bdy_host_run(rig->host, 2, &why);
    ASSERT_EQ(word[0], 0u);
    uint64_t value;
    ASSERT_EQ(rig->pci->ops->bar_read64(rig->pci, BDY_REG_BAR_STATE_OFFSET, &value), 0);
    EXPECT_EQ(word[0], 6u);
}

} // namespace
