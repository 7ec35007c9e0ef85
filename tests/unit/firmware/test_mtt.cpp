// SPDX-License-Identifier: Apache-2.0
// The allocator of translation entries.
#include <random>

#include "fw_test.h"

using namespace fwtest;

namespace
{

class FwMtt : public Device
{
  protected:
    uint32_t Alloc(uint32_t n)
    {
        return fw_mtt_alloc(&m_->fw, n);
    }

    void Free(uint32_t first, uint32_t n)
    {
        fw_mtt_free(&m_->fw, first, n);
    }
};

TEST_F(FwMtt, IsFirstFit)
{
    EXPECT_EQ(Alloc(10), 0u);
    EXPECT_EQ(Alloc(5), 10u);
    EXPECT_EQ(Alloc(100), 15u);
    Free(10, 5);
    EXPECT_EQ(Alloc(6), 115u);
    EXPECT_EQ(Alloc(3), 10u);
    EXPECT_EQ(Alloc(2), 13u);
}

TEST_F(FwMtt, GivesTheWholeTableAtOnceAndInPieces)
{
    EXPECT_EQ(Alloc(FW_MTTS), 0u);
    EXPECT_EQ(Alloc(1), FW_NONE);
    Free(0, FW_MTTS);
    for (uint32_t i = 0; i < FW_MTTS; i++) {
        ASSERT_EQ(Alloc(1), i);
    }
    EXPECT_EQ(Alloc(1), FW_NONE);
    Free(FW_MTTS - 1, 1);
    EXPECT_EQ(Alloc(2), FW_NONE);
    EXPECT_EQ(Alloc(1), FW_MTTS - 1);
}

TEST_F(FwMtt, RefusesMoreThanTheTable)
{
    EXPECT_EQ(Alloc(FW_MTTS + 1), FW_NONE);
    EXPECT_EQ(Alloc(FW_MTTS), 0u);
}

TEST_F(FwMtt, CoalescesNeighboursInAnyOrder)
{
    uint32_t a = Alloc(33), b = Alloc(70), c = Alloc(1);
    ASSERT_EQ(Alloc(FW_MTTS - 104), 104u);
    Free(a, 33);
    Free(c, 1);
    EXPECT_EQ(Alloc(104), FW_NONE);
    Free(b, 70);
    EXPECT_EQ(Alloc(104), 0u);
}

TEST_F(FwMtt, RandomAllocationsNeverOverlapAndAreAllGivenBack)
{
    std::mt19937 random(20261130);
    std::vector<bool> used(FW_MTTS);
    std::vector<std::pair<uint32_t, uint32_t>> held;
    for (int step = 0; step < 20000; step++) {
        if (random() % 2 && !held.empty()) {
            std::swap(held[random() % held.size()], held.back());
            auto [first, n] = held.back();
            held.pop_back();
            Free(first, n);
            std::fill_n(used.begin() + first, n, false);
            continue;
        }
        uint32_t n = 1 + random() % (random() % 8 ? 40 : 3000);
        uint32_t first = Alloc(n);
        if (first == FW_NONE) {
            continue;
        }
        ASSERT_LE(n, FW_MTTS - first);
        for (uint32_t i = 0; i < n; i++) {
            ASSERT_FALSE(used[first + i]);
            used[first + i] = true;
        }
        held.emplace_back(first, n);
    }
    for (auto [first, n] : held) {
        Free(first, n);
    }
    EXPECT_EQ(Alloc(FW_MTTS), 0u);
}

} // namespace
