// SPDX-License-Identifier: Apache-2.0
// Registration: rules M1 to M6 and the page lists.
#include "core_test.h"

extern "C" {
#include "mtt.h"
}

using namespace coretest;

namespace
{

class CoreMr : public Core
{
  protected:
    void SetUp() override
    {
        Core::SetUp();
        pd_ = user_.Pd();
    }

    int Reg(uint64_t va, uint64_t bytes, uint64_t iova, uint32_t access,
            bdy_u_key_out *out = nullptr)
    {
        bdy_u_key_out local{};
        return user_.Call(BDY_U_REG_MR, bdy_u_reg_mr_in{va, bytes, iova, pd_, access},
                          out ? out : &local);
    }

    const uint64_t *Entry(uint32_t key)
    {
        return Model()->mpt[key >> 12];
    }

    /** The bus address that the device's tables give for an address of the region, as the hardware
     * computes it. */
    uint64_t Translate(uint32_t key, uint64_t address)
    {
        const uint64_t *e = Entry(key);
        uint64_t off = bdy_mpt_entry_get_list_off(e) + (address - bdy_mpt_entry_get_start(e));
        if (bdy_mpt_entry_get_direct(e)) {
            return bdy_mpt_entry_get_base(e) + off;
        }
        uint64_t log_ps = bdy_mpt_entry_get_log_ps(e), page = off >> log_ps;
        EXPECT_LT(page, bdy_mpt_entry_get_npages(e));
        const uint64_t *t = Model()->mtt[bdy_mpt_entry_get_base(e) + page];
        EXPECT_EQ(bdy_mtt_entry_get_owner(t), key >> 12);
        EXPECT_EQ(bdy_mtt_entry_get_valid(t), 1u);
        return bdy_mtt_entry_get_addr(t) + (off & ((uint64_t{1} << log_ps) - 1));
    }

    uint32_t pd_ = 0;
};

TEST_F(CoreMr, LkeyAndEntryOfASmallRegion)
{
    bdy_u_key_out out{};
    ASSERT_EQ(Reg(0x1234, 100, 0x1234, V_ACCESS_LOCAL_WRITE | V_ACCESS_REMOTE_READ, &out), 0);
    const uint64_t *e = Entry(out.key);
    EXPECT_EQ(bdy_mpt_entry_get_direct(e), 1u) << "one frame: no list";
    EXPECT_EQ(bdy_mpt_entry_get_start(e), 0x1234u);
    EXPECT_EQ(bdy_mpt_entry_get_len(e), 100u);
    EXPECT_EQ(bdy_mpt_entry_get_rights(e), V_ACCESS_LOCAL_WRITE | V_ACCESS_REMOTE_READ);
    EXPECT_EQ(Translate(out.key, 0x1234) & 4095, 0x234u);
}

TEST_F(CoreMr, M1_WritesNeedLocalWrite)
{
    for (uint32_t access = 0; access < 64; access++) {
        bool writes = access & (V_ACCESS_REMOTE_WRITE | V_ACCESS_REMOTE_ATOMIC);
        int want = writes && !(access & V_ACCESS_LOCAL_WRITE) ? -EINVAL : 0;
        EXPECT_EQ(Reg(0x1000, 4096, access & V_ACCESS_ZERO_BASED ? 0 : 0x1000, access), want)
            << access;
    }
}

TEST_F(CoreMr, M2_UnknownFlagsAreRefusedAndHintsIgnored)
{
    for (unsigned bit = 6; bit < 32; bit++) {
        int want = bit >= 20 && bit < 30 ? 0 : -EINVAL;
        EXPECT_EQ(Reg(0x1000, 4096, 0x1000, 1u << bit | V_ACCESS_LOCAL_WRITE), want) << bit;
    }
}

TEST_F(CoreMr, M3_AnEmptyRegionRegistersWithoutAMapping)
{
    size_t maps = pci_.Maps();
    for (uint64_t va : {uint64_t{0}, uint64_t{0x1001}, ~uint64_t{0}}) {
        bdy_u_key_out out{};
        ASSERT_EQ(Reg(va, 0, va, V_ACCESS_LOCAL_WRITE, &out), 0);
        EXPECT_EQ(pci_.Maps(), maps);
        EXPECT_EQ(bdy_mpt_entry_get_len(Entry(out.key)), 0u);
        EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, out.handle), 0);
    }
}

TEST_F(CoreMr, M4_LongerThanPromisedIsRefusedAndTheLongestWorks)
{
    bdy_u_device_attr attr{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &attr), 0);
    bdy_u_key_out out{};
    EXPECT_EQ(Reg(0x1fff, attr.max_mr_size + 1, 0x1fff, 0), -EINVAL);
    ASSERT_EQ(Reg(0x1fff, attr.max_mr_size, 0x1fff, 0, &out), 0)
        << "in 4 KiB frames, off a page line";
    EXPECT_EQ(Translate(out.key, 0x1fff) & 4095, 4095u);
    EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, out.handle), 0);
    EXPECT_EQ(Reg(0, ~uint64_t{0}, 0, 0), -EINVAL);
}

TEST_F(CoreMr, M5_WrapsAreRefusedAndTheEndIsLegal)
{
    const uint64_t top = ~uint64_t{0};
    EXPECT_EQ(Reg(top, 2, 0x1000, 0), -EINVAL);
    EXPECT_EQ(Reg(0x1000, 2, top, 0), -EINVAL);
    EXPECT_EQ(Reg(0x1000, 0x2001, top - 0x1fff, 0), -EINVAL);
    EXPECT_EQ(Reg(0x1000, 0x2000, top - 0x1fff, 0), 0);
    EXPECT_EQ(Reg(0x1000, 1, top, 0), 0);
    EXPECT_EQ(Reg(0x1000, 0x2000, top, V_ACCESS_ZERO_BASED), 0) << "an iova that is not used";
}

TEST_F(CoreMr, ZeroBasedStartsAtZero)
{
    bdy_u_key_out out{};
    ASSERT_EQ(Reg(0x5678, 0x3000, 0x5678, V_ACCESS_ZERO_BASED, &out), 0);
    EXPECT_EQ(bdy_mpt_entry_get_zero_based(Entry(out.key)), 1u);
    EXPECT_EQ(bdy_mpt_entry_get_start(Entry(out.key)), 0u);
    EXPECT_EQ(Translate(out.key, 0) & 4095, 0x678u);
}

TEST_F(CoreMr, MemoryIsMappedForWritingOnlyWhenTheDeviceMayWrite)
{
    ASSERT_EQ(Reg(0x1000, 10, 0x1000, V_ACCESS_REMOTE_READ | V_ACCESS_MW_BIND), 0);
    EXPECT_EQ(pci_.map_calls.back().second, BDY_DMA_TO_DEVICE);
    ASSERT_EQ(Reg(0x1000, 10, 0x1000, V_ACCESS_LOCAL_WRITE), 0);
    EXPECT_EQ(pci_.map_calls.back().second, BDY_DMA_TO_DEVICE | BDY_DMA_FROM_DEVICE);
}

TEST_F(CoreMr, H25_MemoryThatIsNotThereIsEfaultAndLeavesNothing)
{
    size_t held = pci_.Held();
    pci_.map_error = -EFAULT;
    EXPECT_EQ(Reg(0x1000, 4096, 0x1000, 0), -EFAULT);
    pci_.map_error = -ENOMEM;
    EXPECT_EQ(Reg(0x1000, 4096, 0x1000, 0), -ENOMEM);
    EXPECT_EQ(pci_.Held(), held);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd_), 0);
}

TEST_F(CoreMr, N4_ARefusalOfTheDeviceLeavesNothing)
{
    size_t held = pci_.Held();
    for (unsigned step :
         {1u, 2u, 600u, 1030u}) { // reserve, a page, a page of the second mailbox, of the third
        Model()->refuse_after = step;
        Model()->refuse_rule = BDY_RULE_H2;
        EXPECT_EQ(Reg(0x1000, 4096 * 1100, 0x1000, 0), -EINVAL) << step;
        EXPECT_EQ(pci_.Held(), held);
        EXPECT_EQ(Model()->fw.keys_used, 0u);
    }
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd_), 0);
}

TEST_F(CoreMr, L3_BusyWhileAWindowIsBoundAndTheMappingStays)
{
    bdy_u_key_out mr{};
    ASSERT_EQ(Reg(0x1000, 4096, 0x1000, V_ACCESS_MW_BIND, &mr), 0);
    auto mw = user_.Mw(pd_);
    uint32_t bound = mcu_model_bind(Model(), mw.key, mr.key);
    size_t maps = pci_.Maps();
    EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, mr.handle), -EBUSY);
    EXPECT_EQ(pci_.Maps(), maps);
    bdy_u_key_out now{};
    ASSERT_EQ(user_.Call(BDY_U_QUERY_MW, bdy_u_handle{mw.handle, 0}, &now), 0);
    EXPECT_EQ(now.key, bound);
    EXPECT_EQ(now.st, BDY_MPT_ST_VALID);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_MW, mw.handle), 0);
    EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, mr.handle), 0);
    EXPECT_EQ(pci_.Maps(), maps - 1);
}

TEST_F(CoreMr, V5_V7_WindowsOfUnknownTypeOrPd)
{
    bdy_u_key_out out{};
    for (uint32_t type : {0u, 3u, 0xffffffffu}) {
        EXPECT_EQ(user_.Call(BDY_U_ALLOC_MW, bdy_u_alloc_mw_in{pd_, type}, &out), -EINVAL);
    }
    EXPECT_EQ(user_.Call(BDY_U_ALLOC_MW, bdy_u_alloc_mw_in{pd_ + 1, 1}, &out), -EINVAL);
}

TEST_F(CoreMr, N2_APdWithObjectsIsBusy)
{
    auto mw = user_.Mw(pd_);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd_), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_MW, mw.handle), 0);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd_), 0);
}

TEST_F(CoreMr, M6_EveryOffsetOverA4GiBLineTranslatesRight)
{
    const uint64_t line = uint64_t{1} << 32;
    for (uint64_t back : {1u, 2u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 8191u, 8192u, 10000u}) {
        for (uint64_t over : {1u, 2u, 4095u, 4096u, 4097u, 9000u}) {
            uint64_t va = line - back, bytes = back + over;
            bdy_u_key_out out{};
            ASSERT_EQ(Reg(va, bytes, va, 0, &out), 0);
            EXPECT_EQ(bdy_mpt_entry_get_start(Entry(out.key)), va);
            EXPECT_EQ(bdy_mpt_entry_get_len(Entry(out.key)), bytes);
            for (uint64_t a : {va, line - 1, line, va + bytes - 1}) {
                EXPECT_EQ(Translate(out.key, a) & 4095, a & 4095);
            }
            EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, out.handle), 0);
        }
    }
}

/** Random frame mixes and alignments: every byte probed translates to the byte of its frame. */
TEST_F(CoreMr, EveryMixOfFramesAndAlignmentsTranslatesRight)
{
    std::mt19937 random(20261130);
    const uint64_t sizes[] = {4096, 8192, 16384, 65536, 2 << 20, 16 << 20};
    unsigned direct = 0, large = 0;
    for (int round = 0; round < 600; round++) {
        pci_.frames.clear();
        std::vector<uint64_t> starts;
        uint64_t uniform = sizes[random() % 6];
        for (int i = 0; i < 7; i++) {
            pci_.frames.push_back(random() % 2 ? uniform : sizes[random() % (round % 3 ? 4 : 6)]);
        }
        if (round % 4 == 0) {
            pci_.frames.assign(1, uniform);
        }
        std::vector<std::pair<uint64_t, uint64_t>> frames; // bus, bytes, as handed out
        uint64_t at = 0x600000000000 + (uint64_t{random()} << 24);
        pci_.bus = [&](size_t n) {
            uint64_t size = pci_.frames[n % pci_.frames.size()];
            at = (at + size - 1) / size * size;
            if (random() % 3) { // otherwise it may follow the frame before: one run
                at += size * (1 + random() % 5);
            }
            frames.emplace_back(at, size);
            at += size;
            return frames.back().first;
        };
        uint64_t va = uint64_t{random()} << 12 | (random() % 2 ? random() % 4096 : 0);
        uint64_t bytes = 1 + random() % (random() % 2 ? 70000 : 30000000);
        uint64_t iova = random() % 2 ? va : uint64_t{random()} << 20 | random() % 4096;
        bdy_u_key_out out{};
        ASSERT_EQ(Reg(va, bytes, iova, 0, &out), 0);
        direct += bdy_mpt_entry_get_direct(Entry(out.key)) != 0;
        large += bdy_mpt_entry_get_log_ps(Entry(out.key)) > 12;

        uint64_t first = va % pci_.frames[0]; // offset of the first byte in the first frame
        auto expect = [&](uint64_t o) {
            uint64_t rest = first + o;
            for (auto [bus, size] : frames) {
                if (rest < size) {
                    return bus + rest;
                }
                rest -= size;
            }
            return uint64_t{0};
        };
        std::vector<uint64_t> probes = {0, bytes - 1, bytes / 2};
        uint64_t edge = 0;
        for (auto [bus, size] : frames) { // both sides of every frame's end
            edge += size;
            probes.push_back(edge - first - 1);
            probes.push_back(edge - first);
        }
        for (int i = 0; i < 20; i++) {
            probes.push_back(random() % bytes);
        }
        for (uint64_t o : probes) {
            if (o < bytes) {
                ASSERT_EQ(Translate(out.key, iova + o), expect(o))
                    << "round " << round << " offset " << o;
            }
        }
        ASSERT_EQ(user_.Handle(BDY_U_DEREG_MR, out.handle), 0);
    }
    EXPECT_GT(direct, 20u);
    EXPECT_GT(large, 50u);
}

TEST(CoreMtt, PicksTheLargestPageThatFits)
{
    const uint64_t K = 1024, M = K * K, G = K * M;
    struct Case {
        std::vector<bdy_dma_page> pages;
        uint64_t offset, bytes;
        bool direct;
        uint32_t log_ps, npages;
        uint64_t list_off;
    };
    const Case cases[] = {
        // one frame, and frames that follow each other on the bus
        {{{8 * M, 2 * M}}, 5, 100, true, 0, 0, 0},
        {{{8 * M, 4 * K}, {8 * M + 4 * K, 4 * K}}, 5, 8000, true, 0, 0, 0},
        // whole frames of one size
        {{{8 * M, 2 * M}, {32 * M, 2 * M}}, 0, 4 * M, false, 21, 2, 0},
        // a large frame split for a small one beside it
        {{{8 * M, 2 * M}, {32 * M + 4 * K, 4 * K}}, 0, 2 * M + 1, false, 12, 513, 0},
        // the first run only ends, the last only begins: their outer ends do not matter
        {{{8 * M - 4 * K, 4 * K}, {32 * M, 2 * M}},
         7,
         4 * K - 7 + 2 * M,
         false,
         23,
         2,
         8 * M - 4 * K + 7},
        {{{8 * M, 2 * M}, {32 * M, 4 * K}}, 2 * M - 1, 2, false, 21, 2, 2 * M - 1},
        {{{4 * G, G}, {16 * G, G}}, 0, 2 * G, false, 30, 2, 0},
    };
    for (const Case &c : cases) {
        std::vector<bdy_dma_page> pages = c.pages;
        bdy_dma_map map{pages.data(), pages.size(), c.offset, nullptr};
        struct mtt_plan plan {
        };
        ASSERT_EQ(mtt_plan(&map, c.bytes, &plan), 0);
        EXPECT_EQ(plan.direct, c.direct);
        EXPECT_EQ(plan.log_ps, c.log_ps);
        EXPECT_EQ(plan.npages, c.npages);
        EXPECT_EQ(plan.list_off, c.list_off);
        if (c.direct) {
            EXPECT_EQ(plan.base, pages[0].bus + c.offset);
        }
    }
}

class CoreRereg : public CoreMr
{
  protected:
    bdy_u_rereg_mr_in In(uint32_t flags) const
    {
        bdy_u_rereg_mr_in in{};
        in.handle = mr_.handle;
        in.flags = flags;
        in.va = 0x900000;
        in.bytes = 5 * 4096;
        in.iova = 0x123000;
        in.pd = pd2_;
        in.access = V_ACCESS_LOCAL_WRITE | V_ACCESS_REMOTE_WRITE;
        return in;
    }

    void SetUp() override
    {
        CoreMr::SetUp();
        pd2_ = user_.Pd();
        SetUpOne();
    }

    /** One more region. */
    void SetUpOne()
    {
        ASSERT_EQ(Reg(0x10000, 3 * 4096, 0x10000, V_ACCESS_REMOTE_READ | V_ACCESS_MW_BIND, &mr_),
                  0);
    }

    int Rereg(const bdy_u_rereg_mr_in &in)
    {
        return user_.Call(BDY_U_REREG_MR, in, &mr_);
    }

    uint32_t pd2_ = 0;
    bdy_u_key_out mr_{};
};

TEST_F(CoreRereg, M7_EveryCombinationOfFlagsChangesWhatItNamesAndNothingElse)
{
    for (uint32_t flags = 1; flags < 8; flags++) {
        SCOPED_TRACE(flags);
        SetUpOne();
        std::array<uint64_t, 8> before;
        std::copy_n(Entry(mr_.key), 8, before.begin());
        uint32_t key = mr_.key;
        uint64_t page = Translate(key, 0x10000);
        ASSERT_EQ(Rereg(In(flags)), 0);
        EXPECT_EQ(mr_.key >> 8, key >> 8);
        EXPECT_NE(mr_.key, key);
        const uint64_t *e = Entry(mr_.key), *old = before.data();
        bool tr = flags & V_REREG_TRANSLATION;
        EXPECT_EQ(bdy_mpt_entry_get_start(e), tr ? 0x123000 : 0x10000u);
        EXPECT_EQ(bdy_mpt_entry_get_len(e), (tr ? 5 : 3) * 4096u);
        EXPECT_EQ(bdy_mpt_entry_get_pd(e) != bdy_mpt_entry_get_pd(old), (flags & V_REREG_PD) != 0);
        EXPECT_EQ(bdy_mpt_entry_get_rights(e), flags & V_REREG_ACCESS
                                                   ? V_ACCESS_LOCAL_WRITE | V_ACCESS_REMOTE_WRITE
                                                   : V_ACCESS_REMOTE_READ | V_ACCESS_MW_BIND);
        uint64_t start = bdy_mpt_entry_get_start(e);
        bool moved = tr || (flags & V_REREG_ACCESS); // read-only memory is mapped again for writing
        EXPECT_EQ(Translate(mr_.key, start) != page, moved);
        EXPECT_EQ(pci_.Maps(), 2u);
        EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, mr_.handle), 0);
        EXPECT_EQ(pci_.Maps(), 1u);
    }
}

TEST_F(CoreRereg, M7_ManyPagesAndZeroLength)
{
    auto in = In(V_REREG_TRANSLATION);
    for (uint64_t bytes : {uint64_t{2000 * 4096}, uint64_t{0}, uint64_t{4096}}) {
        in.bytes = bytes;
        ASSERT_EQ(Rereg(in), 0);
        EXPECT_EQ(bdy_mpt_entry_get_st(Entry(mr_.key)), BDY_MPT_ST_VALID);
        EXPECT_EQ(bdy_mpt_entry_get_len(Entry(mr_.key)), bytes);
    }
    EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, mr_.handle), 0);
    EXPECT_EQ(pci_.Maps(), 0u);
    EXPECT_EQ(fw_mtt_alloc(&Model()->fw, FW_MTTS), 0u) << "no page entry left behind";
    fw_mtt_free(&Model()->fw, 0, FW_MTTS);
}

TEST_F(CoreRereg, L10_BusyWithBoundWindowsAndNothingChanges)
{
    auto mw = user_.Mw(pd_);
    mcu_model_bind(Model(), mw.key, mr_.key);
    for (uint32_t flags = 1; flags < 8; flags++) {
        std::array<uint64_t, 8> before;
        std::copy_n(Entry(mr_.key), 8, before.begin());
        auto kept = mr_;
        EXPECT_EQ(Rereg(In(flags)), -EBUSY) << flags;
        EXPECT_EQ(mr_.key, kept.key);
        EXPECT_TRUE(std::equal(before.begin(), before.end(), Entry(mr_.key)));
        EXPECT_EQ(pci_.Maps(), 1u);
    }
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_MW, mw.handle), 0);
    EXPECT_EQ(Rereg(In(7)), 0);
}

TEST_F(CoreRereg, N1_BadRequestsAreRefusedAndNothingChanges)
{
    const std::vector<std::function<void(bdy_u_rereg_mr_in &)>> bad = {
        [](bdy_u_rereg_mr_in &in) { in.flags = 0; },
        [](bdy_u_rereg_mr_in &in) { in.flags = 8; },
        [](bdy_u_rereg_mr_in &in) { in.handle = 0; },
        [](bdy_u_rereg_mr_in &in) { in.pd = 0; },
        [](bdy_u_rereg_mr_in &in) { in.access = V_ACCESS_REMOTE_WRITE; },
        [](bdy_u_rereg_mr_in &in) { in.access = 1 << 9; },
        [](bdy_u_rereg_mr_in &in) { in.va = ~uint64_t{0}; },
        [](bdy_u_rereg_mr_in &in) { in.iova = ~uint64_t{0}; },
        [](bdy_u_rereg_mr_in &in) { in.bytes = uint64_t{1} << 60; },
    };
    auto kept = mr_;
    for (size_t i = 0; i < bad.size(); i++) {
        auto in = In(7);
        bad[i](in);
        EXPECT_EQ(Rereg(in), -EINVAL) << i;
    }
    pci_.map_error = -EFAULT;
    EXPECT_EQ(Rereg(In(V_REREG_TRANSLATION)), -EFAULT);
    EXPECT_EQ(mr_.key, kept.key);
    EXPECT_EQ(Translate(mr_.key, 0x10000) & 4095, 0u);
    auto in = In(V_REREG_PD); // what is not flagged is ignored
    in.access = ~0u;
    in.va = in.iova = in.bytes = ~uint64_t{0};
    EXPECT_EQ(Rereg(in), 0);
}

TEST_F(CoreRereg, N4_ALostRegionCanStillBeDeregistered)
{
    for (unsigned step = 1; step <= 4; step++) {
        SetUpOne();
        Model()->refuse_after = step;
        Model()->refuse_rule = BDY_RULE_H5;
        EXPECT_EQ(Rereg(In(V_REREG_TRANSLATION)), -EINVAL) << step;
        EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, mr_.handle), 0);
        EXPECT_EQ(pci_.Maps(), 1u);
    }
    EXPECT_EQ(Model()->fw.keys_used, 1u);
}

TEST_F(CoreMr, ANullRegionHasNoMemory)
{
    bdy_u_key_out out{};
    ASSERT_EQ(user_.Call(BDY_U_ALLOC_NULL_MR, bdy_u_handle{pd_, 0}, &out), 0);
    EXPECT_EQ(bdy_mpt_entry_get_null_mr(Entry(out.key)), 1u);
    EXPECT_EQ(bdy_mpt_entry_get_rights(Entry(out.key)), V_ACCESS_LOCAL_WRITE);
    EXPECT_EQ(pci_.Maps(), 0u);
    bdy_u_rereg_mr_in in{};
    in.handle = out.handle;
    in.flags = V_REREG_ACCESS;
    EXPECT_EQ(user_.Call(BDY_U_REREG_MR, in, &out), -EINVAL);
    EXPECT_EQ(user_.Handle(BDY_U_DEALLOC_PD, pd_), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DEREG_MR, out.handle), 0);
    EXPECT_EQ(user_.Call(BDY_U_ALLOC_NULL_MR, bdy_u_handle{out.handle, 0}, &out), -EINVAL);
}

} // namespace
