// SPDX-License-Identifier: Apache-2.0
// What the device reaches through the IOMMU, and what it does not (H25).
#include "tests/unit/host/fake_device.h"

#include "sim/host/iommu.h"

#include <fcntl.h>
#include <memory>
#include <random>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace fake;

namespace
{

/** Anonymous memory with a byte pattern that tells every address apart. */
class Memory
{
  public:
    explicit Memory(size_t bytes, int prot = PROT_READ | PROT_WRITE)
        : bytes(bytes), p(static_cast<uint8_t *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
    {
        for (size_t i = 0; i < bytes; i++)
            p[i] = byte(i);
        mprotect(p, bytes, prot);
    }
    ~Memory()
    {
        munmap(p, bytes);
    }
    static uint8_t byte(size_t i)
    {
        return static_cast<uint8_t>((i * 0x9e3779b97f4a7c15ull) >> 48);
    }
    uint64_t va(size_t at = 0) const
    {
        return reinterpret_cast<uint64_t>(p) + at;
    }
    size_t bytes;
    uint8_t *p;
};

TEST(IommuTree, FindsWhatAListFinds)
{
    std::mt19937_64 rng(1);
    bdy_iommu mmu = {nullptr, 99};
    std::vector<std::unique_ptr<bdy_iommu_range>> live;
    const auto listed = [&](uint64_t bus, uint64_t bytes) {
        for (auto &r : live)
            if (bus >= r->bus && bytes <= r->bytes && bus - r->bus <= r->bytes - bytes)
                return r.get();
        return static_cast<bdy_iommu_range *>(nullptr);
    };
    for (int step = 0; step < 4000; step++) {
        if (live.empty() || rng() % 3) {
            auto r = std::make_unique<bdy_iommu_range>();
            const uint64_t block = 4096ull << (rng() % 12);
            const uint64_t at = (rng() % (block / 4096)) * 4096;
            r->bytes = 4096 * (1 + rng() % ((block - at) / 4096));
            bdy_iommu_enter(&mmu, r.get(), block, block, at);
            ASSERT_EQ(r->block % block, 0u);
            ASSERT_EQ(r->bus, r->block + at);
            live.push_back(std::move(r));
        } else {
            const size_t i = rng() % live.size();
            bdy_iommu_remove(&mmu, live[i].get());
            live.erase(live.begin() + static_cast<long>(i));
        }
        for (int probe = 0; probe < 5 && !live.empty(); probe++) {
            const auto &r = live[rng() % live.size()];
            const uint64_t bus = r->block + rng() % (2 * r->block_bytes) - 4096;
            const uint64_t bytes = 1 + rng() % 5000;
            ASSERT_EQ(bdy_iommu_find(&mmu, bus, bytes), listed(bus, bytes));
        }
    }
    for (auto &r : live)
        bdy_iommu_remove(&mmu, r.get());
    EXPECT_EQ(mmu.root, nullptr);
}

TEST(IommuTree, BlocksNeverOverlap)
{
    // There is room for two of this size.
    for (uint64_t seed = 0; seed < 20; seed++) {
        bdy_iommu mmu = {nullptr, seed};
        bdy_iommu_range a{}, b{};
        bdy_iommu_enter(&mmu, &a, 1ull << 50, 1ull << 50, 0);
        bdy_iommu_enter(&mmu, &b, 1ull << 50, 1ull << 50, 0);
        EXPECT_NE(a.block, b.block);
    }
}

class Iommu : public ::testing::Test
{
  protected:
    bdy_dma_map map(Rig &rig, uint64_t va, uint64_t bytes, unsigned dir = kBoth)
    {
        bdy_dma_map m;
        EXPECT_EQ(rig.pci->ops->dma_map(rig.pci, rig.self, va, bytes, dir, &m), 0);
        return m;
    }
    int map_error(Rig &rig, uint64_t va, uint64_t bytes, unsigned dir)
    {
        bdy_dma_map m;
        const int err = rig.pci->ops->dma_map(rig.pci, rig.self, va, bytes, dir, &m);
        if (err == 0)
            rig.pci->ops->dma_unmap(rig.pci, &m);
        return err;
    }
};

TEST_F(Iommu, PagesAreAlignedPowersOfTwoAndCoverTheRange)
{
    std::mt19937_64 rng(2);
    Memory mem(6 << 20);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Rig rig([&](bdy_host_cfg &c) { c.seed = seed; });
        const uint64_t at = rng() % (1 << 20), bytes = 1 + rng() % (seed % 2 ? 4 << 20 : 20000);
        auto m = map(rig, mem.va(at), bytes);
        uint64_t covered = 0;
        std::set<uint64_t> frames;
        for (size_t i = 0; i < m.npages; i++) {
            ASSERT_GE(m.pages[i].bytes, 4096u);
            ASSERT_EQ(m.pages[i].bytes & (m.pages[i].bytes - 1), 0u);
            ASSERT_EQ(m.pages[i].bus % m.pages[i].bytes, 0u);
            ASSERT_TRUE(m.pages[i].bus & BDY_BUS_BIT) << "no process address";
            ASSERT_TRUE(frames.insert(m.pages[i].bus).second);
            covered += m.pages[i].bytes;
        }
        ASSERT_LT(m.offset, m.pages[0].bytes);
        ASSERT_GE(covered, m.offset + bytes);
        ASSERT_LT(covered - m.pages[m.npages - 1].bytes, m.offset + bytes)
            << "no useless last page";
        rig.pci->ops->dma_unmap(rig.pci, &m);
    }
}

TEST_F(Iommu, EveryByteIsReachedAtItsBusAddress)
{
    std::mt19937_64 rng(3);
    Memory mem(3 << 20);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        Rig rig([&](bdy_host_cfg &c) { c.seed = seed; });
        const uint64_t at = rng() % (1 << 20), bytes = 1 + rng() % (2 << 20);
        auto m = map(rig, mem.va(at), bytes);
        for (int i = 0; i < 60; i++) {
            const uint64_t o = i == 0 ? 0 : i == 1 ? bytes - 1 : rng() % bytes;
            const uint64_t bus = bus_of(m, o);
            const uint32_t n = static_cast<uint32_t>(
                std::min<uint64_t>({1 + rng() % 4096, bytes - o, 4096 - (bus & 4095)}));
            const auto &r = rig.read(bus, n);
            ASSERT_EQ(r.status, BDY_DMA_OK);
            for (uint32_t b = 0; b < n; b++)
                ASSERT_EQ(r.data[b], Memory::byte(at + o + b));
        }
        rig.pci->ops->dma_unmap(rig.pci, &m);
    }
}

TEST_F(Iommu, AllPageMixesOccur)
{
    Memory mem(1 << 20);
    Rig rig;
    int all_4k = 0, mixed = 0, large = 0;
    for (int i = 0; i < 300; i++) {
        auto m = map(rig, mem.va(), mem.bytes);
        std::set<uint64_t> sizes;
        for (size_t p = 0; p < m.npages; p++)
            sizes.insert(m.pages[p].bytes);
        (sizes.size() > 1 ? mixed : *sizes.begin() == 4096 ? all_4k : large)++;
        rig.pci->ops->dma_unmap(rig.pci, &m);
    }
    EXPECT_GT(all_4k, 60);
    EXPECT_GT(mixed, 25) << "half of the draws stop at the first frame";
    EXPECT_GT(large, 60);
}

TEST_F(Iommu, FourKPagesCanBeForcedAndAreScattered)
{
    Memory mem(64 * 4096);
    Rig rig([](bdy_host_cfg &c) { c.share_4k = 1000, c.share_mixed = 0; });
    auto m = map(rig, mem.va(), mem.bytes);
    ASSERT_EQ(m.npages, 64u);
    for (size_t i = 1; i < m.npages; i++)
        EXPECT_NE(m.pages[i].bus, m.pages[i - 1].bus + 4096);
    rig.pci->ops->dma_unmap(rig.pci, &m);
}

TEST_F(Iommu, TheLargestFrameIsUsedWhenNoneIsForced)
{
    Rig rig([](bdy_host_cfg &c) { c.share_4k = c.share_mixed = 0; });
    Memory mem(8 << 20);
    const uint64_t aligned = (mem.va() + (2 << 20) - 1) & ~uint64_t{(2 << 20) - 1};
    auto one = map(rig, aligned + 100, (2 << 20) - 200);
    EXPECT_EQ(one.npages, 1u);
    EXPECT_EQ(one.offset, 100u);
    auto two = map(rig, aligned + 4096, 2 << 20);
    EXPECT_EQ(two.npages, 2u);
    EXPECT_EQ(two.pages[1].bytes, 2u << 20);
    rig.pci->ops->dma_unmap(rig.pci, &one);
    rig.pci->ops->dma_unmap(rig.pci, &two);
}

TEST_F(Iommu, OutsideAMappingIsAnErrorThatIsLoggedAndCounted)
{
    Memory mem(16 * 4096);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        Rig rig([&](bdy_host_cfg &c) { c.seed = seed; });
        auto m = map(rig, mem.va(5 * 4096 + 10), 2 * 4096);
        const uint64_t first = bus_of(m, 0) & ~4095ull, last = bus_of(m, 2 * 4096 - 1) & ~4095ull;
        EXPECT_EQ(rig.read(first, 4096).status, BDY_DMA_OK) << "whole pages translate";
        EXPECT_EQ(rig.read(first - 4096, 64).status, BDY_DMA_ERROR);
        EXPECT_EQ(rig.write(last + 4096, {1, 2, 3}), BDY_DMA_ERROR);
        EXPECT_EQ(rig.read(mem.va(5 * 4096), 8).status, BDY_DMA_ERROR)
            << "a process address is no bus address";
        EXPECT_EQ(rig.read(0, 8).status, BDY_DMA_ERROR);
        EXPECT_EQ(rig.read(UINT64_MAX & ~4095ull, 4096).status, BDY_DMA_ERROR);
        EXPECT_EQ(rig.stats().dma_errors, 5u);
        size_t faults = 0;
        for (const auto &l : rig.log)
            faults += l.ev.kind == BDY_EV_FAULT && l.ev.status == -EFAULT;
        EXPECT_EQ(faults, 5u);
        rig.pci->ops->dma_unmap(rig.pci, &m);
    }
}

TEST_F(Iommu, OfAPartialFrameOnlyTheMappedPagesTranslate)
{
    Rig rig([](bdy_host_cfg &c) { c.share_4k = c.share_mixed = 0; });
    Memory mem(32 * 4096);
    for (uint64_t first = 0; first < 16; first++) {
        for (uint64_t pages = 1; pages <= 5; pages++) {
            auto m = map(rig, mem.va(4096 * first), 4096 * pages);
            for (size_t f = 0; f < m.npages; f++) {
                for (uint64_t at = 0; at < m.pages[f].bytes; at += 4096) {
                    const bool head = f == 0 && at < m.offset;
                    const bool tail =
                        f == m.npages - 1 && bus_of(m, 4096 * pages - 1) < m.pages[f].bus + at;
                    const auto expect = head || tail ? BDY_DMA_ERROR : BDY_DMA_OK;
                    ASSERT_EQ(rig.read(m.pages[f].bus + at, 32).status, expect)
                        << first << " " << pages << " " << at;
                }
            }
            rig.pci->ops->dma_unmap(rig.pci, &m);
        }
    }
    EXPECT_GT(rig.stats().dma_errors, 100u);
}

TEST_F(Iommu, DirectionsAreEnforced)
{
    Memory mem(4 * 4096);
    Rig rig;
    auto to = map(rig, mem.va(), 4096, BDY_DMA_TO_DEVICE);
    auto from = map(rig, mem.va(8192), 4096, BDY_DMA_FROM_DEVICE);
    EXPECT_EQ(rig.read(bus_of(to, 0), 64).status, BDY_DMA_OK);
    EXPECT_EQ(rig.write(bus_of(to, 0), {1}), BDY_DMA_ERROR);
    EXPECT_EQ(rig.read(bus_of(from, 0), 64).status, BDY_DMA_ERROR);
    EXPECT_EQ(rig.write(bus_of(from, 0), {1}), BDY_DMA_OK);
    EXPECT_EQ(mem.p[0], Memory::byte(0));
    EXPECT_EQ(mem.p[8192], 1);
    rig.pci->ops->dma_unmap(rig.pci, &to);
    rig.pci->ops->dma_unmap(rig.pci, &from);
}

TEST_F(Iommu, AnUnmappedRangeIsAnErrorEvenForATransferUnderWay)
{
    Memory mem(4096);
    Rig rig([](bdy_host_cfg &c) { c.lat_min = c.lat_max = 100; });
    auto m = map(rig, mem.va(), 4096);
    const uint64_t bus = bus_of(m, 0);
    rig.dev->at(0, [&](bdy_dev &d) { d.dma_write(bus, {9, 9}); });
    bdy_host_why why;
    bdy_host_run(rig.host, 10, &why);
    rig.pci->ops->dma_unmap(rig.pci, &m);
    rig.settle();
    EXPECT_TRUE(rig.dev->dma[0].is_done);
    EXPECT_EQ(rig.dev->dma[0].status, BDY_DMA_ERROR);
    EXPECT_EQ(mem.p[0], Memory::byte(0));
    EXPECT_EQ(rig.read(bus, 8).status, BDY_DMA_ERROR);
    EXPECT_EQ(rig.stats().mappings, 0u);
}

TEST_F(Iommu, StrobesChooseTheBytes)
{
    Memory mem(4096);
    Rig rig;
    auto m = map(rig, mem.va(), 4096);
    std::vector<uint8_t> data(20, 0xee);
    const uint8_t strobe[3] = {0b10000101, 0b00000011, 0b1100};
    EXPECT_EQ(rig.write(bus_of(m, 100), data, strobe), BDY_DMA_OK);
    for (unsigned i = 0; i < 20; i++)
        EXPECT_EQ(mem.p[100 + i], (strobe[i / 8] >> (i % 8)) & 1 ? 0xee : Memory::byte(100 + i))
            << i;
    rig.pci->ops->dma_unmap(rig.pci, &m);
}

TEST_F(Iommu, ARequestAcrossAPageIsRefused)
{
    Rig rig;
    bdy_dma_buf buf;
    ASSERT_EQ(rig.pci->ops->dma_alloc(rig.pci, 8192, &buf), 0);
    EXPECT_EQ(rig.read(buf.bus + 4000, 97).status, BDY_DMA_ERROR);
    EXPECT_EQ(rig.read(buf.bus + 4000, 96).status, BDY_DMA_OK);
    rig.pci->ops->dma_free(rig.pci, &buf);
}

// ---------------------------------------------------------------- mapping

TEST_F(Iommu, MappingWhatIsNotThereIsEfault)
{
    Rig rig;
    Memory mem(8 * 4096);
    EXPECT_EQ(map_error(rig, mem.va(), 8 * 4096, kBoth), 0);
    munmap(mem.p + 4 * 4096, 4096);
    EXPECT_EQ(map_error(rig, mem.va(), 8 * 4096, kBoth), -EFAULT) << "a hole";
    EXPECT_EQ(map_error(rig, mem.va(), 4 * 4096, kBoth), 0);
    EXPECT_EQ(map_error(rig, mem.va(), 4 * 4096 + 1, kBoth), -EFAULT);
    EXPECT_EQ(map_error(rig, 4096, 10, kBoth), -EFAULT);
    EXPECT_EQ(map_error(rig, UINT64_MAX - 4095, 4096, kBoth), -EFAULT);
    EXPECT_EQ(map_error(rig, UINT64_MAX - 100, 4096, kBoth), -EFAULT) << "wraps";
    EXPECT_EQ(map_error(rig, mem.va(), 0, kBoth), -EINVAL);
    EXPECT_EQ(map_error(rig, mem.va(), 8, 0), -EINVAL);
    EXPECT_EQ(map_error(rig, mem.va(), 8, 4), -EINVAL);
    bdy_dma_map m;
    EXPECT_EQ(rig.pci->ops->dma_map(rig.pci, nullptr, mem.va(), 8, kBoth, &m), -EINVAL);
    EXPECT_EQ(rig.stats().mappings, 0u);
}

TEST_F(Iommu, ReadOnlyMemoryMapsForReadingOnly)
{
    Rig rig;
    Memory mem(2 * 4096, PROT_READ), none(4096, PROT_NONE);
    EXPECT_EQ(map_error(rig, mem.va(), 4096, BDY_DMA_TO_DEVICE), 0);
    EXPECT_EQ(map_error(rig, mem.va(), 4096, BDY_DMA_FROM_DEVICE), -EFAULT);
    EXPECT_EQ(map_error(rig, mem.va(), 4096, kBoth), -EFAULT);
    EXPECT_EQ(map_error(rig, none.va(), 4096, BDY_DMA_TO_DEVICE), -EFAULT);
    mprotect(mem.p + 4096, 4096, PROT_READ | PROT_WRITE);
    EXPECT_EQ(map_error(rig, mem.va(), 8192, BDY_DMA_FROM_DEVICE), -EFAULT) << "half of it";
    EXPECT_EQ(map_error(rig, mem.va(4096), 4096, BDY_DMA_FROM_DEVICE), 0);
}

TEST_F(Iommu, BehindTheEndOfAFileIsEfault)
{
    Rig rig;
    const int fd = memfd_create("short", 0);
    ASSERT_EQ(ftruncate(fd, 4096), 0);
    void *p = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT_EQ(map_error(rig, reinterpret_cast<uint64_t>(p), 4096, kBoth), 0);
    EXPECT_EQ(map_error(rig, reinterpret_cast<uint64_t>(p), 8192, BDY_DMA_TO_DEVICE), -EFAULT);
    EXPECT_EQ(map_error(rig, reinterpret_cast<uint64_t>(p), 8192, BDY_DMA_FROM_DEVICE), -EFAULT);
    munmap(p, 8192);
    close(fd);
}

TEST_F(Iommu, MappingChangesNoByteAndBringsPagesIn)
{
    Rig rig;
    auto *p = static_cast<uint8_t *>(
        mmap(nullptr, 1200 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    p[77] = 5;
    auto m = map(rig, reinterpret_cast<uint64_t>(p), 1200 * 4096);
    unsigned char in[1200];
    ASSERT_EQ(mincore(p, 1200 * 4096, in), 0);
    for (unsigned char c : in)
        ASSERT_TRUE(c & 1);
    EXPECT_EQ(p[77], 5);
    EXPECT_EQ(p[78], 0);
    rig.pci->ops->dma_unmap(rig.pci, &m);
    munmap(p, 1200 * 4096);
}

// ---------------------------------------------------------------- coherent buffers

TEST_F(Iommu, BuffersAreZeroedContiguousAndShared)
{
    Rig rig;
    bdy_dma_buf buf;
    ASSERT_EQ(rig.pci->ops->dma_alloc(rig.pci, 3 * 4096 + 1, &buf), 0);
    EXPECT_EQ(buf.bytes, 4u * 4096);
    EXPECT_EQ(buf.bus % 4096, 0u);
    auto *cpu = static_cast<uint8_t *>(buf.cpu);
    for (size_t i = 0; i < buf.bytes; i++)
        ASSERT_EQ(cpu[i], 0);
    auto *peer = static_cast<uint8_t *>(
        mmap(nullptr, buf.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buf.fd, 0));
    ASSERT_NE(peer, MAP_FAILED);
    for (uint64_t page = 0; page < 4; page++)
        EXPECT_EQ(rig.write(buf.bus + 4096 * page + 9, {static_cast<uint8_t>(page + 1)}),
                  BDY_DMA_OK);
    for (uint64_t page = 0; page < 4; page++)
        EXPECT_EQ(peer[4096 * page + 9], page + 1);
    peer[5000] = 44;
    EXPECT_EQ(rig.read(buf.bus + 5000, 1).data.at(0), 44);
    munmap(peer, buf.bytes);
    const uint64_t bus = buf.bus;
    rig.pci->ops->dma_free(rig.pci, &buf);
    EXPECT_EQ(rig.read(bus, 8).status, BDY_DMA_ERROR) << "gone";
}

TEST_F(Iommu, BuffersAreSealedH23)
{
    Rig rig;
    bdy_dma_buf buf;
    ASSERT_EQ(rig.pci->ops->dma_alloc(rig.pci, 4096, &buf), 0);
    EXPECT_EQ(ftruncate(buf.fd, 0), -1);
    EXPECT_EQ(ftruncate(buf.fd, 8192), -1);
    EXPECT_TRUE(fcntl(buf.fd, F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(fcntl(buf.fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    rig.pci->ops->dma_free(rig.pci, &buf);
    EXPECT_EQ(rig.pci->ops->dma_alloc(rig.pci, 0, &buf), -EINVAL);
    EXPECT_EQ(rig.pci->ops->dma_alloc(rig.pci, SIZE_MAX, &buf), -ENOMEM);
    rig.pci->ops->dma_free(rig.pci, &buf); // of a failed allocation: nothing
}

} // namespace
