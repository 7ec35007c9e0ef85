// SPDX-License-Identifier: Apache-2.0
// Seam S1: BAR accesses, interrupts, waiting, time (H19).
#include "tests/unit/host/fake_device.h"

#include <chrono>

using namespace fake;

namespace
{

struct Irqs {
    std::vector<std::pair<uint64_t, unsigned>> seen; // cycle, vector
    Rig *rig;
    std::function<void(unsigned)> inside;
    static void fn(void *arg, unsigned vector)
    {
        auto &i = *static_cast<Irqs *>(arg);
        i.seen.emplace_back(i.rig->pci->ops->now(i.rig->pci), vector);
        if (i.inside)
            i.inside(vector);
    }
};

class Pci : public ::testing::Test
{
  protected:
    Pci()
    {
        irqs.rig = &rig;
        for (unsigned v = 0; v < BDY_MSIX_VECTORS; v++)
            EXPECT_EQ(ops.irq_set(rig.pci, v, Irqs::fn, &irqs), 0);
    }
    void message_at(uint64_t cycle, unsigned vector)
    {
        rig.dev->at(cycle, [this, vector](bdy_dev &d) { rig.msix(vector, d); });
    }
    uint64_t now() const
    {
        return ops.now(rig.pci);
    }
    int wait(uint64_t deadline) const
    {
        return ops.wait(rig.pci, deadline);
    }
    Rig rig;
    const bdy_pci_ops &ops = *rig.pci->ops;
    Irqs irqs;
};

TEST_F(Pci, SpeaksThisVersionOfTheSeam)
{
    EXPECT_EQ(ops.abi, BDY_PCI_ABI);
}

// ---------------------------------------------------------------- BAR

TEST_F(Pci, AReadSeesTheWritesBeforeIt)
{
    for (uint64_t i = 0; i < 200; i++)
        ASSERT_EQ(ops.bar_write64(rig.pci, 0x80, i), 0) << "a full queue waits";
    uint64_t value = 0;
    ASSERT_EQ(ops.bar_read64(rig.pci, 0x80, &value), 0);
    EXPECT_EQ(value, 199u);
    EXPECT_EQ(rig.stats().mmio_writes, 200u);
    EXPECT_EQ(rig.stats().mmio_reads, 1u);
}

TEST_F(Pci, ADeviceThatNeverAnswersIsATimeout)
{
    Rig deaf([](bdy_host_cfg &c) { c.mmio_timeout = 500; });
    deaf.dev->deaf = true;
    uint64_t value = 1;
    EXPECT_EQ(deaf.pci->ops->bar_read64(deaf.pci, 0x80, &value), -ETIMEDOUT);
    EXPECT_EQ(value, UINT64_MAX);
    EXPECT_EQ(deaf.pci->ops->now(deaf.pci), 500u);
    deaf.dev->mmio_room = 0;
    EXPECT_EQ(deaf.pci->ops->bar_write64(deaf.pci, 0x80, 1), -ETIMEDOUT);
}

TEST_F(Pci, ADeadDeviceIsEioEverywhere)
{
    rig.dev->at(10, [](bdy_dev &d) { d.die("done for"); });
    EXPECT_EQ(wait(1000), -EIO);
    uint64_t value;
    EXPECT_EQ(ops.bar_write64(rig.pci, 0x80, 1), -EIO);
    EXPECT_EQ(ops.bar_read64(rig.pci, 0x80, &value), -EIO);
    EXPECT_EQ(wait(1000), -EIO);
    EXPECT_EQ(ops.reset(rig.pci), -EIO);
    bdy_host_why why;
    EXPECT_EQ(bdy_host_run(rig.host, 10, &why), 0);
    EXPECT_EQ(why, BDY_HOST_DEAD);
    bool told = false;
    for (const auto &l : rig.log)
        told = told || (l.ev.kind == BDY_EV_MESSAGE && l.ev.status == 1 && l.text == "done for");
    EXPECT_TRUE(told);
}

// ---------------------------------------------------------------- interrupts

TEST_F(Pci, WaitReturnsOnceAHandlerRan)
{
    message_at(500, 3);
    EXPECT_EQ(wait(10000), 0);
    ASSERT_EQ(irqs.seen.size(), 1u);
    EXPECT_EQ(irqs.seen[0], std::make_pair(uint64_t{501}, 3u));
    EXPECT_EQ(wait(10000), -ETIMEDOUT);
    EXPECT_EQ(now(), 10000u);
    EXPECT_EQ(irqs.seen.size(), 1u);
}

TEST_F(Pci, HandlersRunOnlyInsideWaitAndBarRead)
{
    message_at(0, 1);
    for (int i = 0; i < 200; i++)
        ASSERT_EQ(ops.bar_write64(rig.pci, 0x80, 1), 0); // runs the device
    bdy_dma_buf buf;
    ASSERT_EQ(ops.dma_alloc(rig.pci, 4096, &buf), 0);
    ops.dma_free(rig.pci, &buf);
    EXPECT_TRUE(irqs.seen.empty());
    uint64_t value;
    ASSERT_EQ(ops.bar_read64(rig.pci, 0x80, &value), 0);
    EXPECT_EQ(irqs.seen.size(), 1u);
}

TEST_F(Pci, AMessageThatCameBeforeWaitEndsItAtOnce)
{
    message_at(0, 1);
    for (int i = 0; i < 70; i++)
        ops.bar_write64(rig.pci, 0x80, 1);
    const uint64_t before = now();
    EXPECT_EQ(wait(before), 0) << "even with a deadline that is now";
    EXPECT_EQ(irqs.seen.size(), 1u);
    EXPECT_EQ(now(), before);
}

TEST_F(Pci, MessagesOfACycleComeInTheirOrderAndEqualOnesMerge)
{
    rig.dev->at(100, [this](bdy_dev &d) {
        for (unsigned v : {5u, 2u, 5u, 7u, 2u})
            rig.msix(v, d);
    });
    EXPECT_EQ(wait(1000), 0);
    std::vector<unsigned> vectors;
    for (auto &s : irqs.seen)
        vectors.push_back(s.second);
    EXPECT_EQ(vectors, (std::vector<unsigned>{5, 2, 7}));
    EXPECT_EQ(rig.stats().msix, 5u);
}

TEST_F(Pci, AnUnknownMessageIsCountedAndDropped)
{
    uint64_t address;
    uint32_t data;
    ASSERT_EQ(ops.msix_message(rig.pci, 4, &address, &data), 0);
    rig.dev->at(1, [=](bdy_dev &d) {
        d.msix(address, data ^ 0x100);
        d.msix(address + 4, data);
    });
    EXPECT_EQ(wait(100), -ETIMEDOUT);
    EXPECT_TRUE(irqs.seen.empty());
    EXPECT_EQ(rig.stats().msix_spurious, 2u);
    EXPECT_EQ(ops.msix_message(rig.pci, BDY_MSIX_VECTORS, &address, &data), -EINVAL);
    EXPECT_EQ(ops.irq_set(rig.pci, BDY_MSIX_VECTORS, Irqs::fn, &irqs), -EINVAL);
}

TEST_F(Pci, ARemovedHandlerIsNotCalled)
{
    ops.irq_set(rig.pci, 6, nullptr, nullptr);
    message_at(1, 6);
    message_at(50, 1);
    EXPECT_EQ(wait(100), 0);
    ASSERT_EQ(irqs.seen.size(), 1u);
    EXPECT_EQ(irqs.seen[0].second, 1u);
}

TEST_F(Pci, AHandlerMayUseTheBarButNotWait)
{
    int wait_result = 0, depth = 0, deepest = 0;
    irqs.inside = [&](unsigned vector) {
        deepest = std::max(deepest, ++depth);
        if (vector == 1) {
            uint64_t value;
            message_at(now(), 2); // arrives while we are here
            EXPECT_EQ(ops.bar_write64(rig.pci, 0x88, 42), 0);
            EXPECT_EQ(ops.bar_read64(rig.pci, 0x88, &value), 0);
            EXPECT_EQ(value, 42u);
            wait_result = wait(now() + 100);
        }
        depth--;
    };
    message_at(5, 1);
    EXPECT_EQ(wait(1000), 0);
    EXPECT_EQ(wait_result, -EBUSY);
    EXPECT_EQ(irqs.seen.size(), 2u);
    EXPECT_EQ(deepest, 1) << "handlers do not nest";
}

// ---------------------------------------------------------------- time

TEST_F(Pci, AnIdleWaitJumpsToItsDeadlineExactlyH19)
{
    EXPECT_EQ(wait(123456789012), -ETIMEDOUT);
    EXPECT_EQ(now(), 123456789012u);
    EXPECT_EQ(rig.dev->skips, 1u);
    EXPECT_EQ(rig.stats().cycles_skipped + rig.stats().cycles_run, 123456789012u);
    ASSERT_FALSE(rig.log.empty());
    EXPECT_EQ(rig.log.back().ev.kind, BDY_EV_JUMP);
    EXPECT_EQ(rig.log.back().ev.address, 123456789012u);
    EXPECT_EQ(rig.log.back().ev.value, 0u);
}

TEST_F(Pci, WithoutTimerAndDeadlineTimeStandsStillH19)
{
    EXPECT_EQ(wait(UINT64_MAX), -ETIMEDOUT);
    EXPECT_EQ(now(), 0u);
}

TEST_F(Pci, TimersAreReachedByJumps)
{
    message_at(1000000, 1);
    message_at(2000000, 1);
    EXPECT_EQ(wait(UINT64_MAX), 0);
    EXPECT_EQ(wait(UINT64_MAX), 0);
    ASSERT_EQ(irqs.seen.size(), 2u);
    EXPECT_EQ(irqs.seen[0].first, 1000001u);
    EXPECT_EQ(irqs.seen[1].first, 2000001u);
    EXPECT_LT(rig.stats().cycles_run, 10u);
    EXPECT_EQ(wait(5), -ETIMEDOUT) << "a deadline in the past";
}

TEST_F(Pci, UnskippedTakesTheLongWayToTheSameCyclesH19)
{
    Rig slow([](bdy_host_cfg &c) { c.no_skip = 1; });
    Irqs seen;
    seen.rig = &slow;
    slow.pci->ops->irq_set(slow.pci, 1, Irqs::fn, &seen);
    slow.dev->at(5000, [&](bdy_dev &d) { slow.msix(1, d); });
    EXPECT_EQ(slow.pci->ops->wait(slow.pci, UINT64_MAX), 0);
    EXPECT_EQ(seen.seen.at(0).first, 5001u);
    EXPECT_EQ(slow.pci->ops->wait(slow.pci, 7000), -ETIMEDOUT);
    EXPECT_EQ(slow.pci->ops->now(slow.pci), 7000u);
    EXPECT_EQ(slow.dev->skips, 0u);
    EXPECT_EQ(slow.stats().cycles_run, 7000u);
}

struct Pacer {
    std::vector<uint64_t> asked;
    uint64_t grant = UINT64_MAX;
    static uint64_t wait(void *arg, uint64_t ns)
    {
        auto &p = *static_cast<Pacer *>(arg);
        p.asked.push_back(ns);
        return std::min(ns, p.grant);
    }
};

TEST_F(Pci, AJumpIsNotFasterThanThePaceAllowsH19)
{
    Pacer pacer;
    Rig paced([&](bdy_host_cfg &c) {
        c.pace = 0.5;
        c.pace_wait = Pacer::wait;
        c.log = nullptr;
        c.arg = &pacer;
    });
    EXPECT_EQ(paced.pci->ops->wait(paced.pci, 1000), -ETIMEDOUT);
    ASSERT_EQ(pacer.asked.size(), 1u);
    EXPECT_EQ(pacer.asked[0], 1000u * 4 * 2) << "4 ns a cycle, at half the speed";
    pacer.grant = 800; // a host event came after 800 ns: 100 cycles
    EXPECT_EQ(bdy_host_skip(paced.host, 2000), 0) << "the loop does its own waiting";
    EXPECT_EQ(paced.pci->ops->now(paced.pci), 2000u);
    EXPECT_EQ(pacer.asked.size(), 1u);
    EXPECT_EQ(paced.pci->ops->wait(paced.pci, 2250), -ETIMEDOUT);
    EXPECT_EQ(pacer.asked, (std::vector<uint64_t>{8000, 2000, 1200, 400}));
    EXPECT_EQ(paced.pci->ops->now(paced.pci), 2250u);
}

TEST_F(Pci, WithoutAHookThePaceSleeps)
{
    Rig paced([](bdy_host_cfg &c) { c.pace = 1.0; });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(paced.pci->ops->wait(paced.pci, 5000000), -ETIMEDOUT); // 20 ms
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_GE(took, std::chrono::milliseconds(20));
}

// ---------------------------------------------------------------- for an event loop

TEST_F(Pci, RunStopsAtItsBudgetAtIdleAndDeliversInterrupts)
{
    bdy_host_why why;
    message_at(10, 1);
    rig.dev->reading = 0; // busy
    ASSERT_EQ(bdy_host_run(rig.host, 100, &why), 0);
    EXPECT_EQ(why, BDY_HOST_BUDGET);
    EXPECT_EQ(now(), 100u);
    EXPECT_EQ(irqs.seen.size(), 1u);
    rig.dev->reading = -1;
    message_at(1000, 2);
    ASSERT_EQ(bdy_host_run(rig.host, 5000, &why), 0);
    EXPECT_EQ(why, BDY_HOST_IDLE);
    bdy_dev_status st;
    bdy_host_status(rig.host, &st);
    EXPECT_EQ(st.next_timer, 1000u);
    EXPECT_LT(st.now, 110u);
    EXPECT_EQ(bdy_host_skip(rig.host, 50), -EINVAL) << "backwards";
    EXPECT_EQ(bdy_host_skip(rig.host, 500), 0);
    EXPECT_EQ(now(), 500u);
    EXPECT_EQ(bdy_host_skip(rig.host, 5000), 0) << "no further than the timer";
    EXPECT_EQ(now(), 1000u);
    ASSERT_EQ(bdy_host_run(rig.host, 5000, &why), 0);
    EXPECT_EQ(why, BDY_HOST_IDLE);
    EXPECT_EQ(irqs.seen.size(), 2u);
}

TEST_F(Pci, SkipIsRefusedWhileARequestIsOutstanding)
{
    Rig slow([](bdy_host_cfg &c) { c.lat_min = c.lat_max = 1000; });
    slow.dev->at(0, [](bdy_dev &d) { d.dma_read(0x1000, 8); });
    bdy_host_why why;
    bdy_host_run(slow.host, 10, &why);
    EXPECT_EQ(why, BDY_HOST_BUDGET);
    EXPECT_EQ(bdy_host_skip(slow.host, 500), -EBUSY);
    slow.settle();
}

// ---------------------------------------------------------------- life

TEST_F(Pci, ConfigurationsThatMakeNoSenseAreRefused)
{
    const auto create = [](const std::function<void(bdy_host_cfg &)> &change) {
        bdy_host_cfg cfg;
        bdy_host_cfg_init(&cfg);
        change(cfg);
        ::bdy_host *h = nullptr;
        const int err = bdy_host_create(&cfg, &fake::ops, &h);
        if (err == 0)
            bdy_host_destroy(h);
        return err;
    };
    EXPECT_EQ(create([](bdy_host_cfg &) {}), 0);
    EXPECT_EQ(create([](bdy_host_cfg &c) { c.lat_min = 0; }), -EINVAL);
    EXPECT_EQ(create([](bdy_host_cfg &c) { c.lat_min = 5; }), -EINVAL) << "above lat_max";
    EXPECT_EQ(create([](bdy_host_cfg &c) { c.share_4k = 900; }), -EINVAL)
        << "more than all mappings";
    EXPECT_EQ(create([](bdy_host_cfg &c) { c.order = static_cast<bdy_host_order>(3); }), -EINVAL);
    EXPECT_EQ(create([](bdy_host_cfg &c) { c.mmio_timeout = 0; }), -EINVAL);
}

TEST_F(Pci, BootPassesOnWhatTheDeviceSays)
{
    EXPECT_EQ(bdy_host_boot(rig.host, nullptr, 0), -ENOENT);
    EXPECT_EQ(bdy_host_boot(rig.host, "x", 1), 0);
    rig.dev->regs[BDY_REG_BAR_STATE_OFFSET] = BDY_DEV_ST_FATAL;
    EXPECT_EQ(bdy_host_boot(rig.host, "x", 1), -EIO);
    Rig never([](bdy_host_cfg &c) { c.mmio_timeout = 1000; });
    never.dev->regs[BDY_REG_BAR_STATE_OFFSET] = BDY_DEV_ST_BOOT;
    EXPECT_EQ(bdy_host_boot(never.host, "x", 1), -ETIMEDOUT);
}

TEST_F(Pci, ResetStopsBusMasteringAndDrainsFirst)
{
    Rig slow([](bdy_host_cfg &c) { c.lat_min = c.lat_max = 400; });
    slow.dev->at(0, [](bdy_dev &d) { d.dma_read(0x1000, 8); });
    slow.dev->regs[BDY_REG_BAR_BUS_MASTER_OFFSET] = 1;
    bdy_host_why why;
    bdy_host_run(slow.host, 10, &why);
    EXPECT_EQ(slow.pci->ops->reset(slow.pci), 0);
    EXPECT_EQ(slow.dev->outstanding, 0u);
    EXPECT_EQ(slow.dev->regs[BDY_REG_BAR_BUS_MASTER_OFFSET], 0u);
    EXPECT_EQ(slow.dev->regs[BDY_REG_BAR_CTRL_OFFSET], 1u);
    EXPECT_GE(slow.pci->ops->now(slow.pci), 400u);
}

struct Heard {
    std::vector<uint32_t> kinds;
    uint64_t sum = 0;
};

TEST_F(Pci, TheTraceIsPassedOnAndHashedWithItsCycle)
{
    const auto story = [](uint64_t cycle, uint32_t kind, uint64_t word, bool listen) {
        Heard heard;
        Rig traced([&](bdy_host_cfg &c) {
            c.trace_hash = 1;
            c.log = nullptr;
            c.arg = &heard;
            if (listen)
                c.trace = [](void *arg, const bdy_trace *ev) {
                    static_cast<Heard *>(arg)->kinds.push_back(ev->kind);
                    static_cast<Heard *>(arg)->sum += ev->words[0];
                };
        });
        traced.in_device([&](bdy_dev &d) {
            const bdy_trace ev = {cycle, kind, 1, &word};
            d.up.trace(d.up_arg, &ev);
        });
        EXPECT_EQ(traced.stats().trace_events, 1u);
        EXPECT_EQ(heard.kinds, listen ? std::vector<uint32_t>{kind} : std::vector<uint32_t>{});
        EXPECT_EQ(heard.sum, listen ? word : 0);
        return traced.stats().trace_hash;
    };
    const uint64_t hash = story(5, 1, 77, true);
    EXPECT_EQ(story(5, 1, 77, false), hash);
    EXPECT_NE(story(6, 1, 77, false), hash);
    EXPECT_NE(story(5, 2, 77, false), hash);
    EXPECT_NE(story(5, 1, 78, false), hash);
    EXPECT_EQ(rig.dev->up.trace, nullptr) << "nobody listens: the device need not speak";
}

TEST_F(Pci, TheLogTellsEveryHostEvent)
{
    bdy_dma_buf buf;
    ASSERT_EQ(ops.dma_alloc(rig.pci, 4096, &buf), 0);
    static_cast<uint8_t *>(buf.cpu)[1] = 9;
    uint64_t value;
    ops.bar_write64(rig.pci, 0x80, 5);
    ops.bar_read64(rig.pci, 0x80, &value);
    rig.read(buf.bus, 4);
    rig.write(buf.bus, {1, 2});
    message_at(now(), 3);
    wait(now() + 10);
    std::vector<bdy_host_event_kind> kinds;
    uint64_t cycle = 0;
    for (const auto &l : rig.log) {
        kinds.push_back(l.ev.kind);
        EXPECT_GE(l.ev.cycle, cycle);
        cycle = l.ev.cycle;
    }
    ASSERT_EQ(kinds,
              (std::vector<bdy_host_event_kind>{BDY_EV_MMIO_WRITE, BDY_EV_MMIO_READ,
                                                BDY_EV_DMA_READ, BDY_EV_DMA_WRITE, BDY_EV_MSIX}));
    EXPECT_EQ(rig.log[0].ev.address, 0x80u);
    EXPECT_EQ(rig.log[1].ev.value, 5u);
    EXPECT_EQ(rig.log[2].data, (std::vector<uint8_t>{0, 9, 0, 0}));
    EXPECT_EQ(rig.log[3].data, (std::vector<uint8_t>{1, 2}));
    EXPECT_EQ(rig.log[4].ev.status, 3);
    ops.dma_free(rig.pci, &buf);
}

} // namespace
