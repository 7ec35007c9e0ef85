// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "fw_test.h"

using namespace fwtest;

using FwMw = Running;

TEST_F(FwMw, V8_V9_AFreshWindowIsAllocatedButGrantsNothing)
{
    uint32_t pd = Pd();
    for (uint32_t type : {1u, 2u}) {
        uint32_t key = Mw(pd, type);
        const uint64_t *e = m_->mpt[key >> 12];
        EXPECT_EQ(bdy_mpt_entry_get_st(e), BDY_MPT_ST_FREE);
        EXPECT_EQ(bdy_mpt_entry_get_kind(e), type == 1 ? BDY_MPT_KIND_MW1 : BDY_MPT_KIND_MW2);
        EXPECT_EQ(bdy_mpt_entry_get_pd(e), pd);
        EXPECT_EQ(bdy_mpt_entry_get_key(e), key & 255);
        EXPECT_EQ(bdy_mpt_entry_get_nonce(e), key >> 8 & 15);
        EXPECT_EQ(bdy_mpt_entry_get_rights(e), 0u);
        EXPECT_EQ(bdy_mpt_entry_get_len(e), 0u);
    }
}

TEST_F(FwMw, V5_OtherTypesAreRefused)
{
    uint32_t pd = Pd();
    for (uint64_t type : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 32 | 1}) {
        Refused({BDY_CMD_OP_ALLOC_MW, pd, type, {}, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    }
}

TEST_F(FwMw, V7_UnknownAndForeignPdsAreRefused)
{
    uint32_t pd = Pd(1);
    Refused({BDY_CMD_OP_ALLOC_MW, pd + 1, 1, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_ALLOC_MW, ~uint64_t{0}, 1, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_ALLOC_MW, pd, 1, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
}

TEST_F(FwMw, K9_4096WindowsAndRegionsHaveDistinctIndices)
{
    uint32_t pd = Pd();
    std::set<uint32_t> indices;
    for (int i = 0; i < 4096; i++) {
        indices.insert(Mw(pd, 1 + i % 2) >> 8);
        indices.insert(Mr(pd) >> 8);
    }
    EXPECT_EQ(indices.size(), 8192u);
    Refused({BDY_CMD_OP_ALLOC_MW, pd, 1, {}, 0, 1}, BDY_CMD_ST_NO_RESOURCE);
    Refused({BDY_CMD_OP_CREATE_MR, 0, 0, DirectMr(pd), 0, 1}, BDY_CMD_ST_NO_RESOURCE);
}

TEST_F(FwMw, L1_ABoundWindowIsFreedByAnyOfItsKeys)
{
    uint32_t pd = Pd(), mr = Mr(pd);
    uint32_t mw = Mw(pd);
    uint32_t bound = mcu_model_bind(m_, mw, mr);
    ASSERT_NE(bound, mw);
    Ok({BDY_CMD_OP_DEALLOC_MW, mw, 0, {}, 0, 1});
    EXPECT_EQ(m_->bound[mr >> 12], 0u);
    Ok({BDY_CMD_OP_DESTROY_MR, mr, 0, {}, 0, 1});
}

TEST_F(FwMw, L2_N1_UnknownFreedForeignAndRegionKeysAreRefused)
{
    uint32_t pd = Pd(), mr = Mr(pd);
    uint32_t mw = Mw(pd);
    for (uint32_t op : {BDY_CMD_OP_DEALLOC_MW, BDY_CMD_OP_QUERY_MW}) {
        Refused({op, mr, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, mw ^ 0x100, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX); // another nonce
        Refused({op, mw ^ 0x80000000, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, uint64_t{1} << 32 | mw, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, mw, 0, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    }
    Ok({BDY_CMD_OP_DEALLOC_MW, mw, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DEALLOC_MW, mw, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwMw, H12_QueryTellsThePresentKeyAndState)
{
    uint32_t pd = Pd(), mr = Mr(pd);
    uint32_t mw = Mw(pd);
    Result r = Run({BDY_CMD_OP_QUERY_MW, mw, 0, {}, 0, 1});
    EXPECT_EQ(r.out0, mw);
    EXPECT_EQ(r.out1, BDY_MPT_ST_FREE);
    uint32_t bound = mcu_model_bind(m_, mw, mr);
    for (uint32_t name : {mw, bound}) {
        r = Run({BDY_CMD_OP_QUERY_MW, name, 0, {}, 0, 1});
        EXPECT_EQ(r.out0, bound);
        EXPECT_EQ(r.out1, BDY_MPT_ST_VALID);
    }
    m_->rd_fail_after = 1;
    EXPECT_EQ(Run({BDY_CMD_OP_QUERY_MW, mw, 0, {}, 0, 1}).status, BDY_CMD_ST_INTERNAL);
}

TEST_F(FwMw, ARefusalOfThePipelineIsPassedOnAndLeavesNothing)
{
    uint32_t pd = Pd();
    m_->refuse_after = 1;
    m_->refuse_rule = BDY_RULE_H5;
    Result r = Run({BDY_CMD_OP_ALLOC_MW, pd, 1, {}, 0, 1});
    EXPECT_EQ(r.status, BDY_CMD_ST_REFUSED);
    EXPECT_EQ(r.rule, BDY_RULE_H5);
    EXPECT_EQ(m_->fw.keys_used, 0u);
    Ok({BDY_CMD_OP_DEALLOC_PD, pd});
}
