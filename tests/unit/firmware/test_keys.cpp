// SPDX-License-Identifier: Apache-2.0
// The key generator (H10, K9).
#include <map>
#include <set>

#include "fw_test.h"

using namespace fwtest;

namespace
{

class FwKeys : public Device
{
  protected:
    void Seed(uint64_t lo, uint64_t hi)
    {
        fw_keys_init(&m_->fw, lo, hi);
    }

    uint32_t Alloc()
    {
        return fw_key_alloc(&m_->fw, BDY_MPT_KIND_MR, 3);
    }

    static uint32_t Slot(uint32_t key)
    {
        return key >> 12;
    }

    static uint32_t Nonce(uint32_t key)
    {
        return key >> 8 & 15;
    }
};

TEST_F(FwKeys, CipherGivesThePublishedTestVector)
{
    // Speck64/128's published vector, through the key schedule and rounds as fw_permute uses them.
    Seed(0x0b0a090803020100, 0x1b1a191813121110);
    uint32_t x = 0x3b726574, y = 0x7475432d;
    for (uint32_t k : m_->fw.round_keys) {
        x = ((x >> 8 | x << 24) + y) ^ k;
        y = (y << 3 | y >> 29) ^ x;
    }
    EXPECT_EQ(x, 0x8c6fa548u);
    EXPECT_EQ(y, 0x454e028bu);
}

TEST_F(FwKeys, PermutationHasNoDuplicatesAtAnyWidth)
{
    Seed(42, 43);
    for (uint32_t width = 2; width <= 14; width++) {
        std::set<uint32_t> seen;
        for (uint32_t i = 0; i < 1u << width; i++) {
            uint32_t v = fw_permute(&m_->fw, width, i);
            ASSERT_LT(v, 1u << width);
            ASSERT_TRUE(seen.insert(v).second) << "width " << width << " value " << i;
        }
    }
}

TEST_F(FwKeys, SlotsDoNotCount)
{
    Seed(42, 43);
    unsigned steps = 0;
    uint32_t before = Slot(Alloc());
    for (int i = 0; i < 1000; i++) {
        uint32_t now = Slot(Alloc());
        steps += now == before + 1;
        before = now;
    }
    EXPECT_LT(steps, 5u);
}

TEST_F(FwKeys, AnotherSeedGivesOtherSlotsNoncesAndBytes)
{
    std::vector<uint32_t> a, b;
    Seed(1, 0);
    for (int i = 0; i < 256; i++) {
        a.push_back(Alloc());
    }
    Reset();
    Seed(1, 1);
    for (int i = 0; i < 256; i++) {
        b.push_back(Alloc());
    }
    unsigned slots = 0, nonces = 0, bytes = 0;
    for (size_t i = 0; i < a.size(); i++) {
        slots += Slot(a[i]) == Slot(b[i]);
        nonces += Nonce(a[i]) == Nonce(b[i]);
        bytes += (a[i] & 255) == (b[i] & 255);
    }
    EXPECT_LT(slots, 4u);
    EXPECT_LT(nonces, 48u); // 16 expected
    EXPECT_LT(bytes, 10u);  // 1 expected
}

TEST_F(FwKeys, SameSeedGivesTheSameKeys)
{
    Seed(5, 6);
    uint32_t first = Alloc(), second = Alloc();
    Reset();
    Seed(5, 6);
    EXPECT_EQ(Alloc(), first);
    EXPECT_EQ(Alloc(), second);
}

TEST_F(FwKeys, K9_EverySlotOnceThenFull)
{
    Seed(7, 8);
    std::set<uint32_t> slots;
    for (uint32_t i = 0; i < FW_KEYS; i++) {
        uint32_t key = Alloc();
        ASSERT_NE(key, FW_NONE);
        ASSERT_LT(Slot(key), FW_KEYS);
        ASSERT_TRUE(slots.insert(Slot(key)).second);
    }
    EXPECT_EQ(Alloc(), FW_NONE);
    EXPECT_EQ(m_->fw.keys_used, FW_KEYS);
}

TEST_F(FwKeys, K9_SlotsOfASmallerBuildStayInside)
{
    m_->cap = 5 | 8 << 8 | 3 << 16 | 2 << 24;
    Reset();
    Seed(7, 8);
    std::set<uint32_t> slots;
    for (int i = 0; i < 32; i++) {
        slots.insert(Slot(Alloc()));
    }
    EXPECT_EQ(slots.size(), 32u);
    EXPECT_EQ(*slots.rbegin(), 31u);
    EXPECT_EQ(Alloc(), FW_NONE);
}

TEST_F(FwKeys, AReusedSlotGoesThroughAllSixteenNonces)
{
    m_->cap = 4 | 8 << 8 | 3 << 16 | 2 << 24;
    Reset();
    Seed(9, 10);
    std::map<uint32_t, std::vector<uint32_t>> nonces;
    for (int round = 0; round < 32; round++) {
        std::vector<uint32_t> keys;
        for (int i = 0; i < 16; i++) {
            keys.push_back(Alloc());
            nonces[Slot(keys.back())].push_back(Nonce(keys.back()));
        }
        for (uint32_t key : keys) {
            fw_key_free(&m_->fw, Slot(key));
        }
    }
    std::set<std::vector<uint32_t>> sequences;
    for (auto &[slot, list] : nonces) {
        ASSERT_EQ(list.size(), 32u);
        for (size_t i = 0; i + 16 <= list.size(); i++) {
            std::set<uint32_t> window(list.begin() + i, list.begin() + i + 16);
            EXPECT_EQ(window.size(), 16u) << "slot " << slot;
        }
        sequences.insert(list);
    }
    EXPECT_GT(sequences.size(), 12u) << "each slot has a sequence of its own";
}

TEST_F(FwKeys, FirstKeyBytesAreSpread)
{
    Seed(11, 12);
    std::array<int, 256> count{};
    for (uint32_t i = 0; i < FW_KEYS; i++) {
        count[Alloc() & 255]++;
    }
    for (int n : count) { // 32 expected
        EXPECT_GT(n, 8);
        EXPECT_LT(n, 64);
    }
}

TEST_F(FwKeys, TheLongestFreeSlotIsReusedFirst)
{
    m_->cap = 4 | 8 << 8 | 3 << 16 | 2 << 24;
    Reset();
    Seed(13, 14);
    std::vector<uint32_t> slots;
    for (int i = 0; i < 16; i++) {
        slots.push_back(Slot(Alloc()));
    }
    for (int i : {3, 9, 1}) {
        fw_key_free(&m_->fw, slots[i]);
    }
    EXPECT_EQ(Slot(Alloc()), slots[3]);
    fw_key_free(&m_->fw, slots[3]);
    EXPECT_EQ(Slot(Alloc()), slots[9]);
    EXPECT_EQ(Slot(Alloc()), slots[1]);
    EXPECT_EQ(Slot(Alloc()), slots[3]);
    EXPECT_EQ(Alloc(), FW_NONE);
    fw_key_free(&m_->fw, slots[5]);
    EXPECT_EQ(Slot(Alloc()), slots[5]);
}

TEST_F(FwKeys, GarbageInTheKeyStoreIsNeverTakenForAKey)
{
    Seed(15, 16);
    for (uint32_t slot = 0; slot < FW_KEYS; slot++) {
        ASSERT_EQ(fw_key_kind(&m_->fw, slot), BDY_MPT_KIND_NONE);
    }
    EXPECT_EQ(fw_key_kind(&m_->fw, FW_KEYS), BDY_MPT_KIND_NONE);
    EXPECT_EQ(fw_key_kind(&m_->fw, 0xfffff), BDY_MPT_KIND_NONE);
}

TEST_F(FwKeys, ASlotKeepsWhatItWasGiven)
{
    Seed(17, 18);
    uint32_t key = fw_key_alloc(&m_->fw, BDY_MPT_KIND_MW2, 1023);
    uint32_t slot = Slot(key);
    m_->fw.pd[1023].owner = 255;
    EXPECT_EQ(fw_key_kind(&m_->fw, slot), BDY_MPT_KIND_MW2);
    EXPECT_EQ(fw_key_owner(&m_->fw, slot), 255u);
    EXPECT_EQ(fw_key_pd(&m_->fw, slot), 1023u);
    EXPECT_EQ(fw_key_first(&m_->fw, slot), key);
}

} // namespace
