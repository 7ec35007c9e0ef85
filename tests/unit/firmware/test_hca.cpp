// SPDX-License-Identifier: Apache-2.0
#include "fw_test.h"

using namespace fwtest;

using FwHca = Device;

TEST_F(FwHca, QueryTellsTheSizes)
{
    Ok({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, BDY_QUERY_HCA_OUT_BYTES});
    const uint64_t *w = At(kOut);
    EXPECT_EQ(bdy_query_hca_out_get_log_keys(w), BDY_LOG_KEYS);
    EXPECT_EQ(bdy_query_hca_out_get_log_mtt(w), BDY_LOG_MTT);
    EXPECT_EQ(bdy_query_hca_out_get_log_qps(w), BDY_LOG_QPS);
    EXPECT_EQ(bdy_query_hca_out_get_log_cqs(w), BDY_LOG_CQS);
    EXPECT_EQ(bdy_query_hca_out_get_max_pd(w), FW_PDS);
    EXPECT_EQ(bdy_query_hca_out_get_mw1(w), 1u);
    EXPECT_EQ(bdy_query_hca_out_get_mw2b(w), 1u);
    EXPECT_EQ(bdy_query_hca_out_get_strict_ibta(w), 0u);
    EXPECT_NE(bdy_query_hca_out_get_fw_ver(w), 0u);
    EXPECT_TRUE(bdy_query_hca_out_rsvd_zero(w));
}

TEST_F(FwHca, QueryFollowsASmallerBuild)
{
    m_->cap = 6 | 8 << 8 | 3 << 16 | 2 << 24;
    Reset();
    Ok({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, BDY_QUERY_HCA_OUT_BYTES});
    EXPECT_EQ(bdy_query_hca_out_get_log_keys(At(kOut)), 6u);
    EXPECT_EQ(bdy_query_hca_out_get_log_mtt(At(kOut)), 8u);
    EXPECT_EQ(bdy_query_hca_out_get_log_qps(At(kOut)), 3u);
    EXPECT_EQ(bdy_query_hca_out_get_log_cqs(At(kOut)), 2u);
}

TEST_F(FwHca, ABuildTooSmallIsFatalNotWrong)
{
    m_->cap = 1 | 4 << 8 | 3 << 16 | 2 << 24;
    mcu_model_reset(m_);
    EXPECT_EQ(m_->health, BDY_HEALTH_FW_FATAL);
}

TEST_F(FwHca, ObjectsNeedInit)
{
    for (uint32_t op : {BDY_CMD_OP_ALLOC_PD, BDY_CMD_OP_TEARDOWN_HCA}) {
        Refused({op}, BDY_CMD_ST_BAD_STATE);
    }
}

TEST_F(FwHca, InitSetsStateStrictModeAndEventQueue)
{
    Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()});
    Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx(1)});
    auto in = InitIn(7, true);
    bdy_init_hca_in_set_eqn(in.data(), 1);
    bdy_init_hca_in_set_viol_limit(in.data(), 77);
    Ok({BDY_CMD_OP_INIT_HCA, 0, 0, in});
    EXPECT_EQ(m_->dev_state, BDY_DEV_ST_RUN);
    EXPECT_EQ(m_->strict, 1u);
    EXPECT_EQ(m_->async_eqn, 1u);
    EXPECT_EQ(m_->viol_limit, 77u);
    Ok({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, BDY_QUERY_HCA_OUT_BYTES});
    EXPECT_EQ(bdy_query_hca_out_get_strict_ibta(At(kOut)), 1u);
    Refused({BDY_CMD_OP_INIT_HCA, 0, 0, in}, BDY_CMD_ST_BAD_STATE);
}

TEST_F(FwHca, InitRefusesBadFields)
{
    Refused({BDY_CMD_OP_INIT_HCA, 0, 0, InitIn()}, BDY_CMD_ST_BAD_INDEX); // no such event queue
    Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()});
    auto in = InitIn();
    bdy_init_hca_in_set_eqn(in.data(), 200);
    Refused({BDY_CMD_OP_INIT_HCA, 0, 0, in}, BDY_CMD_ST_BAD_INDEX);
    in = InitIn();
    in[2] |= uint64_t{1} << 20;
    Refused({BDY_CMD_OP_INIT_HCA, 0, 0, in}, BDY_CMD_ST_BAD_PARAM);
    in = InitIn();
    in[7] = 1;
    Refused({BDY_CMD_OP_INIT_HCA, 0, 0, in}, BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwHca, TeardownWaitsForEveryKindOfObject)
{
    Init();
    uint32_t pd = Pd();
    Refused({BDY_CMD_OP_TEARDOWN_HCA}, BDY_CMD_ST_BUSY);
    uint32_t mw = Mw(pd);
    uint32_t cq = Cq();
    uint32_t qp = Qp(pd, cq, cq);
    Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx(1)});
    Ok({BDY_CMD_OP_DESTROY_QP, qp});
    Refused({BDY_CMD_OP_TEARDOWN_HCA}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DEALLOC_MW, mw});
    Refused({BDY_CMD_OP_TEARDOWN_HCA}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DEALLOC_PD, pd});
    Refused({BDY_CMD_OP_TEARDOWN_HCA}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_CQ, cq});
    Refused({BDY_CMD_OP_TEARDOWN_HCA}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_EQ, 1});
    size_t told = events_.size();
    Ok({BDY_CMD_OP_TEARDOWN_HCA});
    EXPECT_EQ(events_.size(), told + 1) << "its own end is still told by an event";
    EXPECT_EQ(m_->dev_state, BDY_DEV_ST_READY);
    Refused({BDY_CMD_OP_ALLOC_PD}, BDY_CMD_ST_BAD_STATE);
    Ok({BDY_CMD_OP_DESTROY_EQ, 0});
    Init(2); // and all again
    Pd();
}
