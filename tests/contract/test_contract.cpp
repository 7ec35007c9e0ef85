// SPDX-License-Identifier: Apache-2.0
// What any device behind seam S3 must do. Backends are listed at the end.
#include "tests/contract/contract.h"
#include "tests/contract/image.h"
#include "tests/contract/toy.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#ifdef HAVE_RTL
#include "sim/rtl/rtl.h"
#endif

using namespace contract;

namespace
{
constexpr uint64_t kBus = 0x9abcdef000; // any 4 KiB line

// ---------------------------------------------------------------- boot

TEST_P(Contract, SpeaksThisVersionOfTheSeam)
{
    EXPECT_EQ(GetParam().ops->abi, BDY_DEV_ABI);
    EXPECT_STRNE(GetParam().ops->name, "");
}

TEST_P(Contract, BootRefusesAMissingImage)
{
    auto d = make();
    EXPECT_EQ(d->ops.boot(d->dev, nullptr, 0), -ENOENT);
}

TEST_P(Contract, BootRefusesEveryKindOfBadImage)
{
    auto d = make();
    const auto good = GetParam().image();
    ASSERT_GT(good.size(), 20u);
    const auto refused = [&](std::vector<uint8_t> bad) {
        return d->ops.boot(d->dev, bad.data(), bad.size()) == -EBADMSG;
    };
    for (size_t at : {0u, 4u, 8u, 12u, 16u, static_cast<unsigned>(good.size() - 1)}) {
        auto bad = good;
        bad[at] ^= 0x10;
        EXPECT_TRUE(refused(bad)) << "byte " << at << " changed";
    }
    EXPECT_TRUE(refused({good.begin(), good.begin() + 15})) << "no whole head";
    EXPECT_TRUE(refused({good.begin(), good.begin() + 16})) << "no payload";
    EXPECT_TRUE(refused({good.begin(), good.end() - 1})) << "a byte short";
    auto longer = good;
    longer.push_back(0);
    EXPECT_TRUE(refused(longer)) << "a byte long";
    auto shorter = good; // its checksum is that of all there is
    const uint32_t less = static_cast<uint32_t>(good.size() - 16 - 1);
    std::memcpy(&shorter[8], &less, sizeof(less));
    EXPECT_TRUE(refused(shorter)) << "length and checksum disagree";
    EXPECT_TRUE(refused(image::make({}))) << "empty";
    EXPECT_TRUE(refused(image::make(std::vector<uint8_t>(BDY_FW_RAM_BYTES + 4, 1))))
        << "larger than the RAM";
}

TEST_P(Contract, BootAfterRefusalsBringsTheDeviceUp)
{
    auto d = make();
    auto bad = GetParam().image();
    bad[16] ^= 1;
    ASSERT_EQ(d->ops.boot(d->dev, bad.data(), bad.size()), -EBADMSG);
    const auto img = GetParam().image();
    ASSERT_EQ(d->ops.boot(d->dev, img.data(), img.size()), 0);
    EXPECT_TRUE(wait_ready(*d));
    EXPECT_EQ(d->ops.boot(d->dev, img.data(), img.size()), -EBUSY);
    EXPECT_EQ(d->fatal_texts, 0u);
}

TEST_P(Contract, WithoutFirmwareTheStateRegisterSaysReset)
{
    auto d = make();
    d->run_for(2000);
    uint64_t state = ~0ull;
    ASSERT_EQ(d->read(BDY_REG_BAR_STATE_OFFSET, &state), 1);
    EXPECT_EQ(bdy_field_get(state, BDY_REG_BAR_STATE_ST_LSB, BDY_REG_BAR_STATE_ST_W),
              unsigned{BDY_DEV_ST_RESET});
}

// ---------------------------------------------------------------- BAR

TEST_P(Contract, AReadSeesTheWritesBeforeIt)
{
    auto d = booted();
    ASSERT_TRUE(d);
    for (uint64_t round = 1; round < 20; round++) {
        for (unsigned i = 0; i < 6; i++)
            ASSERT_EQ(d->write(scratch(i), round * 0x0101010101010101ull + i), 0);
        uint64_t value = 0;
        ASSERT_EQ(d->read(scratch(round % 6), &value), 1);
        ASSERT_EQ(value, round * 0x0101010101010101ull + round % 6);
    }
}

TEST_P(Contract, WritesToOneRegisterKeepTheirOrder)
{
    auto d = booted();
    ASSERT_TRUE(d);
    for (uint64_t i = 1; i <= 64; i++)
        ASSERT_EQ(d->write(scratch(0), i), 0);
    uint64_t value = 0;
    ASSERT_EQ(d->read(scratch(0), &value), 1);
    EXPECT_EQ(value, 64u);
}

TEST_P(Contract, SixtyFourWritesWaitTheNextIsRefusedUntilTimePasses)
{
    auto d = booted();
    ASSERT_TRUE(d);
    for (unsigned i = 0; i < 64; i++)
        ASSERT_EQ(d->write(scratch(1), i), 0) << i;
    EXPECT_EQ(d->write(scratch(1), 64), -ENOSPC);
    d->run_for(2000);
    EXPECT_EQ(d->write(scratch(1), 65), 0);
    uint64_t value = 0;
    ASSERT_EQ(d->read(scratch(1), &value), 1);
    EXPECT_EQ(value, 65u);
}

TEST_P(Contract, OneReadAtATime)
{
    auto d = booted();
    ASSERT_TRUE(d);
    ASSERT_EQ(d->ops.mmio_read(d->dev, scratch(0)), 0);
    EXPECT_EQ(d->ops.mmio_read(d->dev, scratch(1)), -EBUSY);
    uint64_t value;
    EXPECT_EQ(d->ops.mmio_read_done(d->dev, &value), 0) << "no time has passed";
    d->run_for(1000);
    EXPECT_EQ(d->ops.mmio_read(d->dev, scratch(1)), -EBUSY) << "the value has not been fetched";
    EXPECT_EQ(d->ops.mmio_read_done(d->dev, &value), 1);
    EXPECT_EQ(d->ops.mmio_read(d->dev, scratch(1)), 0);
}

TEST_P(Contract, AWriteAfterAReadDoesNotChangeItsValue)
{
    auto d = booted();
    ASSERT_TRUE(d);
    ASSERT_EQ(d->write(scratch(2), 1), 0);
    ASSERT_EQ(d->ops.mmio_read(d->dev, scratch(2)), 0);
    ASSERT_EQ(d->write(scratch(2), 2), 0);
    d->run_for(1000);
    uint64_t value = 0;
    ASSERT_EQ(d->ops.mmio_read_done(d->dev, &value), 1);
    EXPECT_EQ(value, 1u);
    ASSERT_EQ(d->read(scratch(2), &value), 1);
    EXPECT_EQ(value, 2u);
}

TEST_P(Contract, OffsetsOutsideTheBarAreRefused)
{
    auto d = booted();
    ASSERT_TRUE(d);
    EXPECT_EQ(d->write(BDY_BAR_BYTES, 0), -EINVAL);
    EXPECT_EQ(d->write(4, 0), -EINVAL);
    EXPECT_EQ(d->ops.mmio_read(d->dev, BDY_BAR_BYTES), -EINVAL);
    EXPECT_EQ(d->ops.mmio_read(d->dev, 1), -EINVAL);
}

TEST_P(Contract, ARegisterThatDoesNotExistReadsAsAnError)
{
    auto d = booted();
    ASSERT_TRUE(d);
    uint64_t value = 0;
    EXPECT_EQ(d->read(0x8000, &value), -EIO);
    EXPECT_EQ(d->read(BDY_REG_BAR_ID_OFFSET, &value), 1) << "and the next read works";
    EXPECT_EQ(value & 0xffffffff, BDY_DEV_MAGIC);
}

TEST_P(Contract, AWriteThatTheDeviceRefusesIsToldAndHarmless)
{
    auto d = booted();
    ASSERT_TRUE(d);
    const size_t texts = d->texts.size();
    ASSERT_EQ(d->write(0x8000, 1), 0);
    ASSERT_TRUE(d->run_to_idle());
    EXPECT_EQ(d->texts.size(), texts + 1);
    EXPECT_EQ(d->fatal_texts, 0u);
}

// ---------------------------------------------------------------- DMA

TEST_P(Contract, ARequestStaysWithinItsPageAndLimits)
{
    auto d = booted();
    ASSERT_TRUE(d);
    GetParam().start_read(*d, kBus);
    ASSERT_EQ(d->run_for(20000, true), BDY_STOP_UPCALL);
    ASSERT_EQ(d->requests.size(), 1u);
    const Request &r = d->requests[0];
    EXPECT_EQ(r.kind, BDY_DMA_READ);
    EXPECT_EQ(r.bus & ~4095ull, kBus);
    EXPECT_GE(r.bytes, 1u);
    EXPECT_LE((r.bus & 4095) + r.bytes, 4096u);
    EXPECT_TRUE(r.data.empty());
    EXPECT_FALSE(d->status().idle) << "a request is outstanding";
}

TEST_P(Contract, UnknownTagsAreRefused)
{
    auto d = booted();
    ASSERT_TRUE(d);
    GetParam().start_read(*d, kBus);
    ASSERT_EQ(d->run_for(20000, true), BDY_STOP_UPCALL);
    const Request r = d->requests.at(0);
    const std::vector<uint8_t> zeros(r.bytes);
    EXPECT_EQ(d->ops.dma_cpl(d->dev, BDY_DMA_WRITE, r.tag, BDY_DMA_OK, nullptr, r.bytes), -ENOENT)
        << "other kind";
    EXPECT_EQ(d->ops.dma_cpl(d->dev, BDY_DMA_READ, r.tag + 1, BDY_DMA_OK, zeros.data(), r.bytes),
              -ENOENT);
    EXPECT_EQ(d->ops.dma_cpl(d->dev, BDY_DMA_READ, ~0u, BDY_DMA_OK, zeros.data(), r.bytes),
              -ENOENT);
    EXPECT_EQ(d->ops.dma_cpl(d->dev, BDY_DMA_READ, r.tag, BDY_DMA_OK, zeros.data(), r.bytes - 1),
              -EINVAL);
    EXPECT_EQ(d->complete(r, BDY_DMA_OK, zeros.data()), 0);
    EXPECT_EQ(d->complete(r, BDY_DMA_OK, zeros.data()), -ENOENT) << "completed twice";
}

TEST_P(Contract, AnErrorCompletionIsTakenAndTheDeviceLives)
{
    auto d = booted();
    ASSERT_TRUE(d);
    GetParam().start_read(*d, kBus);
    ASSERT_EQ(d->run_for(20000, true), BDY_STOP_UPCALL);
    ASSERT_EQ(d->complete(d->requests.at(0), BDY_DMA_ERROR), 0);
    EXPECT_TRUE(d->run_to_idle());
    uint64_t value = 0;
    EXPECT_EQ(d->read(BDY_REG_BAR_ID_OFFSET, &value), 1);
    EXPECT_EQ(d->fatal_texts, 0u);
}

TEST_P(Contract, UpcallsComeOnlyInsideRun)
{
    auto d = booted();
    ASSERT_TRUE(d);
    GetParam().start_read(*d, kBus);
    ASSERT_EQ(d->run_for(20000, true), BDY_STOP_UPCALL);
    ASSERT_EQ(d->complete(d->requests.at(0), BDY_DMA_ERROR), 0);
    ASSERT_TRUE(d->run_to_idle());
    EXPECT_EQ(d->ops.skip(d->dev, d->status().now + 1), 0);
    EXPECT_EQ(d->outside, 0u);
}

TEST_P(Contract, RunDoesNotNest)
{
    auto d = booted();
    ASSERT_TRUE(d);
    int nested = 0;
    d->inside = [&] {
        bdy_dev_stop why;
        nested = d->ops.run(d->dev, UINT64_MAX, 0, &why);
    };
    GetParam().start_read(*d, kBus);
    ASSERT_EQ(d->run_for(20000, true), BDY_STOP_UPCALL);
    EXPECT_EQ(nested, -EBUSY);
}

// ---------------------------------------------------------------- time

TEST_P(Contract, RunStopsExactlyAtUntil)
{
    auto d = make();
    for (uint64_t cycles : {1u, 2u, 17u, 1000u}) {
        const uint64_t until = d->status().now + cycles;
        d->run_through(until);
        EXPECT_EQ(d->status().now, until);
    }
    const uint64_t now = d->status().now;
    EXPECT_EQ(d->run(now), BDY_STOP_UNTIL) << "nothing to run";
    EXPECT_EQ(d->status().now, now);
}

TEST_P(Contract, TheCycleRegisterIsTheCycleCounter)
{
    auto d = booted();
    ASSERT_TRUE(d);
    const uint64_t before = d->status().now;
    uint64_t value = 0;
    ASSERT_EQ(d->read(BDY_REG_BAR_CYCLE_OFFSET, &value), 1);
    EXPECT_GE(value, before);
    EXPECT_LE(value, d->status().now);
}

TEST_P(Contract, ABootedDeviceGetsIdleAndStays)
{
    auto d = booted();
    ASSERT_TRUE(d);
    ASSERT_TRUE(d->run_to_idle());
    for (int i = 0; i < 50; i++) {
        EXPECT_EQ(d->run_for(100), BDY_STOP_IDLE);
        EXPECT_TRUE(d->status().idle);
    }
}

TEST_P(Contract, AnIdleRunPassesACycleAtLeast)
{
    auto d = booted();
    ASSERT_TRUE(d);
    ASSERT_TRUE(d->run_to_idle());
    const uint64_t now = d->status().now;
    EXPECT_EQ(d->run_for(100), BDY_STOP_IDLE);
    EXPECT_GT(d->status().now, now);
}

TEST_P(Contract, SkipJumpsTheCounterOfAnIdleDevice)
{
    auto d = booted();
    ASSERT_TRUE(d);
    ASSERT_TRUE(d->run_to_idle());
    const uint64_t to = d->status().now + 123456789;
    ASSERT_EQ(d->status().next_timer, UINT64_MAX);
    ASSERT_EQ(d->ops.skip(d->dev, to), 0);
    EXPECT_EQ(d->status().now, to);
    EXPECT_TRUE(d->status().idle);
    uint64_t value = 0;
    ASSERT_EQ(d->read(BDY_REG_BAR_CYCLE_OFFSET, &value), 1);
    EXPECT_GE(value, to);
    ASSERT_TRUE(d->run_to_idle());
    EXPECT_EQ(d->ops.skip(d->dev, to), -EINVAL) << "backwards";
}

TEST_P(Contract, SkipIsRefusedWhenNotIdle)
{
    auto d = booted();
    ASSERT_TRUE(d);
    ASSERT_TRUE(d->run_to_idle());
    ASSERT_EQ(d->write(scratch(0), 1), 0);
    EXPECT_FALSE(d->status().idle) << "a write is waiting";
    EXPECT_EQ(d->ops.skip(d->dev, d->status().now + 10), -EBUSY);
    ASSERT_TRUE(d->run_to_idle());
    GetParam().start_read(*d, kBus);
    ASSERT_EQ(d->run_for(20000, true), BDY_STOP_UPCALL);
    d->run_for(1000);
    EXPECT_EQ(d->ops.skip(d->dev, d->status().now + 10), -EBUSY) << "a request is outstanding";
}

// ---------------------------------------------------------------- several, waves, repetition

TEST_P(Contract, TwoDevicesDoNotKnowOfEachOther)
{
    auto a = booted(1), b = booted(2);
    ASSERT_TRUE(a && b);
    ASSERT_EQ(a->write(scratch(0), 111), 0);
    ASSERT_EQ(b->write(scratch(0), 222), 0);
    GetParam().start_read(*a, kBus);
    ASSERT_EQ(a->run_for(20000, true), BDY_STOP_UPCALL);
    EXPECT_TRUE(b->run_to_idle());
    EXPECT_TRUE(b->requests.empty());
    uint64_t va = 0, vb = 0;
    ASSERT_EQ(a->read(scratch(0), &va), 1);
    ASSERT_EQ(b->read(scratch(0), &vb), 1);
    EXPECT_EQ(va, 111u);
    EXPECT_EQ(vb, 222u);
}

TEST_P(Contract, TheSameSeedDoesTheSameInTheSameCycles)
{
    const auto story = [&](uint64_t seed) {
        auto d = booted(seed);
        d->write(scratch(3), 7);
        GetParam().start_read(*d, kBus);
        d->run_for(20000, true);
        const uint64_t asked = d->status().now;
        d->complete(d->requests.at(0), BDY_DMA_ERROR);
        d->run_to_idle();
        return std::make_tuple(asked, d->status().now, d->trace, d->requests.at(0).tag);
    };
    EXPECT_EQ(story(5), story(5));
}

long size_of(const std::string &path)
{
    std::FILE *f = std::fopen(path.c_str(), "rb");
    if (!f)
        return -1;
    std::fseek(f, 0, SEEK_END);
    const long size = std::ftell(f);
    std::fclose(f);
    return size;
}

std::string temp_path(const char *name)
{
    const char *dir = std::getenv("TMPDIR");
    return std::string(dir ? dir : "/tmp") + "/" + name + "." + std::to_string(getpid()) + ".fst";
}

TEST_P(Contract, WavesStartAndStopAtAnyTime)
{
    auto d = booted();
    ASSERT_TRUE(d);
    const std::string first = temp_path("first"), second = temp_path("second");
    ASSERT_EQ(d->ops.wave(d->dev, first.c_str()), 0);
    d->write(scratch(0), 1);
    d->run_for(100);
    ASSERT_EQ(d->ops.wave(d->dev, nullptr), 0);
    const long size = size_of(first);
    EXPECT_GT(size, 500);
    d->run_for(100);
    EXPECT_EQ(size_of(first), size) << "stopped";
    ASSERT_EQ(d->ops.wave(d->dev, second.c_str()), 0);
    d->run_for(100);
    ASSERT_EQ(d->ops.wave(d->dev, nullptr), 0);
    EXPECT_GT(size_of(second), 500);
    std::remove(first.c_str());
    std::remove(second.c_str());
}

TEST_P(Contract, AWaveFileThatCannotBeOpenedIsAnError)
{
    auto d = make();
    EXPECT_EQ(d->ops.wave(d->dev, "/nowhere/at/all.fst"), -ENOENT);
    Device e(*GetParam().ops, 1, "/nowhere/at/all.fst");
    EXPECT_EQ(e.created, -ENOENT);
}

TEST_P(Contract, WavesChangeNothing)
{
    const std::string path = temp_path("same");
    const auto story = [&](const char *wave) {
        Device d(*GetParam().ops, 3, wave);
        const auto img = GetParam().image();
        d.ops.boot(d.dev, img.data(), img.size());
        wait_ready(d);
        return d.status().now;
    };
    EXPECT_EQ(story(nullptr), story(path.c_str()));
    EXPECT_GT(size_of(path), 500);
    std::remove(path.c_str());
}

// ---------------------------------------------------------------- backends

std::vector<uint8_t> toy_image()
{
    std::vector<uint8_t> payload(301);
    for (size_t i = 0; i < payload.size(); i++)
        payload[i] = static_cast<uint8_t>(i * 7 + 1);
    return image::make(payload);
}

void toy_read(Device &d, uint64_t bus)
{
    d.write(toy::src(0), bus);
    d.write(toy::go(0), toy::command(toy::Read, 2, 1));
}

INSTANTIATE_TEST_SUITE_P(Toy, Contract,
                         ::testing::Values(Backend{"toy", &bdy_toy_ops, toy_image, toy_read}));

#ifdef HAVE_RTL
// The embedded core fetches the command queue's first entry.
void hca_read(Device &d, uint64_t bus)
{
    d.write(BDY_REG_BAR_BUS_MASTER_OFFSET, 1);
    d.write(BDY_REG_BAR_CMDQ_OFFSET, bus);
    d.write(BDY_REG_BAR_CMDQ_DB_OFFSET, 1);
}

INSTANTIATE_TEST_SUITE_P(Rtl, Contract,
                         ::testing::Values(Backend{
                             "rtl", &bdy_rtl_ops, [] { return image::load(FIRMWARE); }, hca_read}));
#endif
} // namespace
