// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "fw_test.h"

using namespace fwtest;

using FwPd = Running;

TEST_F(FwPd, AllocOpensAndDeallocKills)
{
    uint32_t ops = m_->nops;
    uint32_t pd = Pd();
    EXPECT_TRUE(m_->pd_alive[pd]);
    Ok({BDY_CMD_OP_DEALLOC_PD, pd, 0, {}, 0, 1});
    EXPECT_FALSE(m_->pd_alive[pd]);
    EXPECT_EQ(Ops(ops), (std::vector<unsigned>{BDY_PROT_OP_PD_OPEN, BDY_PROT_OP_PD_KILL}));
}

TEST_F(FwPd, N3_AsManyAsPromisedAndNotOneMore)
{
    std::set<uint32_t> numbers;
    for (uint32_t i = 0; i < FW_PDS; i++) {
        numbers.insert(Pd());
    }
    EXPECT_EQ(numbers.size(), FW_PDS);
    EXPECT_EQ(*numbers.rbegin(), FW_PDS - 1);
    Refused({BDY_CMD_OP_ALLOC_PD}, BDY_CMD_ST_NO_RESOURCE);
    Ok({BDY_CMD_OP_DEALLOC_PD, 500});
    EXPECT_EQ(Pd(), 500u);
}

TEST_F(FwPd, N1_UnknownFreedAndForeignNumbersAreRefused)
{
    uint32_t pd = Pd(1);
    for (uint32_t op : {BDY_CMD_OP_DEALLOC_PD, BDY_CMD_OP_PD_KILL}) {
        Refused({op, pd + 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, FW_PDS}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, uint64_t{1} << 32 | pd}, BDY_CMD_ST_BAD_INDEX);
    }
    Refused({BDY_CMD_OP_DEALLOC_PD, pd, 0, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    Ok({BDY_CMD_OP_DEALLOC_PD, pd, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DEALLOC_PD, pd, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwPd, N2_BusyWhileAnyObjectIsLeft)
{
    uint32_t pd = Pd(), cq = Cq();
    uint32_t mr = Mr(pd);
    uint32_t mw = Mw(pd);
    uint32_t qp = Qp(pd, cq, cq);
    const Cmd dealloc{BDY_CMD_OP_DEALLOC_PD, pd, 0, {}, 0, 1};
    Refused(dealloc, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_MR, mr, 0, {}, 0, 1});
    Refused(dealloc, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DEALLOC_MW, mw, 0, {}, 0, 1});
    Refused(dealloc, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_QP, qp, 0, {}, 0, 1});
    Ok(dealloc);
}

TEST_F(FwPd, H5_AKilledPdTakesNoNewObjectAndIsKeptUntilTheLastIsGone)
{
    uint32_t pd = Pd(), cq = Cq();
    uint32_t mw = Mw(pd);
    Ok({BDY_CMD_OP_PD_KILL, pd});
    EXPECT_FALSE(m_->pd_alive[pd]);
    uint32_t ops = m_->nops;
    Ok({BDY_CMD_OP_PD_KILL, pd}); // dead already
    EXPECT_EQ(m_->nops, ops);
    Refused({BDY_CMD_OP_ALLOC_MW, pd, 1, {}, 0, 1}, BDY_CMD_ST_BAD_STATE);
    Refused({BDY_CMD_OP_CREATE_MR, 0, 0, DirectMr(pd), 0, 1}, BDY_CMD_ST_BAD_STATE);
    Refused({BDY_CMD_OP_CREATE_QP, 0, 0, QpCtx(pd, cq, cq), 0, 1}, BDY_CMD_ST_BAD_STATE);
    Refused({BDY_CMD_OP_DEALLOC_PD, pd}, BDY_CMD_ST_BUSY);
    for (uint32_t i = 0; i < FW_PDS - 1; i++) {
        ASSERT_NE(Pd(), pd);
    }
    Refused({BDY_CMD_OP_ALLOC_PD}, BDY_CMD_ST_NO_RESOURCE);
    Ok({BDY_CMD_OP_DEALLOC_MW, mw});
    Ok({BDY_CMD_OP_DEALLOC_PD, pd});
    EXPECT_EQ(Pd(), pd);
}

TEST_F(FwPd, ARefusalOfThePipelineIsPassedOnAndLeavesNothing)
{
    m_->refuse_after = 1;
    m_->refuse_rule = BDY_RULE_N1;
    Result r = Run({BDY_CMD_OP_ALLOC_PD});
    EXPECT_EQ(r.status, BDY_CMD_ST_REFUSED);
    EXPECT_EQ(r.rule, BDY_RULE_N1);
    for (uint32_t i = 0; i < FW_PDS; i++) {
        Pd();
    }
}

TEST_F(FwPd, FlushAndRefusalsAreTheOwners)
{
    uint32_t pd = Pd(1);
    m_->pd_viol[pd] = 12;
    uint32_t ops = m_->nops;
    Ok({BDY_CMD_OP_FLUSH_PD, pd, 0, {}, 0, 1});
    EXPECT_EQ(Ops(ops), (std::vector<unsigned>{BDY_PROT_OP_PD_FLUSH}));
    EXPECT_EQ(bdy_prot_op_get_pd(m_->ops[ops]), pd);
    EXPECT_EQ(Ok({BDY_CMD_OP_QUERY_PD, pd, 0, {}, 0, 1}), 12u);
    for (uint32_t op : {BDY_CMD_OP_FLUSH_PD, BDY_CMD_OP_QUERY_PD}) {
        Refused({op, pd, 0, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
        Refused({op, pd + 1, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, FW_PDS, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    }
    m_->rd_fail_after = 1;
    EXPECT_EQ(Run({BDY_CMD_OP_QUERY_PD, pd, 0, {}, 0, 1}).status, BDY_CMD_ST_INTERNAL);
}
