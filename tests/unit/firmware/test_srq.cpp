// SPDX-License-Identifier: Apache-2.0
// Shared receive queues, XRC domains and address handles.
#include <functional>
#include <set>

#include "fw_test.h"

using namespace fwtest;

namespace
{

using Change = std::function<void(uint64_t *)>;

class FwSrq : public Running
{
  protected:
    void SetUp() override
    {
        Running::SetUp();
        pd_ = Pd();
        cq_ = Cq();
    }

    static Cmd Create(const std::vector<uint64_t> &in, uint32_t uctx = 1)
    {
        return {BDY_CMD_OP_CREATE_SRQ, 0, 0, in, 0, uctx};
    }

    uint32_t pd_ = 0, cq_ = 0;
};

TEST_F(FwSrq, CreateWritesTheContextAndQueryReadsIt)
{
    auto in = SrqCtx(pd_);
    bdy_srq_ctx_set_limit(in.data(), 7);
    uint32_t srqn = static_cast<uint32_t>(Ok(Create(in)));
    EXPECT_TRUE(std::equal(in.begin(), in.end(), m_->srq[srqn - BDY_SRQN_BASE]));
    bdy_srq_ctx_set_limit(m_->srq[srqn - BDY_SRQN_BASE], 0); // the limit has fired
    Ok({BDY_CMD_OP_QUERY_SRQ, srqn, 0, {}, BDY_SRQ_CTX_BYTES, 1});
    EXPECT_EQ(bdy_srq_ctx_get_limit(At(kOut)), 0u);
    EXPECT_EQ(bdy_srq_ctx_get_base(At(kOut)), bdy_srq_ctx_get_base(in.data()));
}

TEST_F(FwSrq, C4_ModifyArmsTheLimitAndChangesNothingElse)
{
    uint32_t srqn = Srq(pd_);
    auto want = SrqCtx(pd_);
    for (uint64_t limit : {uint64_t{1}, uint64_t{32}, uint64_t{0}}) {
        Ok({BDY_CMD_OP_MODIFY_SRQ, srqn, limit, {}, 0, 1});
        bdy_srq_ctx_set_limit(want.data(), limit);
        EXPECT_TRUE(std::equal(want.begin(), want.end(), m_->srq[srqn - BDY_SRQN_BASE]));
    }
    Refused({BDY_CMD_OP_MODIFY_SRQ, srqn, 33, {}, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_MODIFY_SRQ, srqn, uint64_t{1} << 32, {}, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    m_->rd_fail_after = 1;
    EXPECT_EQ(Run({BDY_CMD_OP_MODIFY_SRQ, srqn, 1, {}, 0, 1}).status, BDY_CMD_ST_INTERNAL);
    m_->rd_fail_after = 1;
    EXPECT_EQ(Run({BDY_CMD_OP_QUERY_SRQ, srqn, 0, {}, BDY_SRQ_CTX_BYTES, 1}).status,
              BDY_CMD_ST_INTERNAL);
}

TEST_F(FwSrq, BadFieldsAreRefused)
{
    const std::vector<Change> bad = {
        [](uint64_t *w) { bdy_srq_ctx_set_valid(w, 0); },
        [](uint64_t *w) { bdy_srq_ctx_set_uar(w, 0); },
        [](uint64_t *w) { bdy_srq_ctx_set_uar(w, 2); },
        [](uint64_t *w) { bdy_srq_ctx_set_base(w, 0); },
        [](uint64_t *w) { bdy_srq_ctx_set_base(w, kRings + 64); },
        [](uint64_t *w) { bdy_srq_ctx_set_base(w, ~uint64_t{0xfff}); },
        [](uint64_t *w) { bdy_srq_ctx_set_limit(w, 33); },
        [](uint64_t *w) { bdy_srq_ctx_set_xrcd(w, 1); },
        [](uint64_t *w) { bdy_srq_ctx_set_cqn(w, 1); },
        [](uint64_t *w) { w[0] |= 1u << 15; },
        [](uint64_t *w) { w[7] = 1; },
    };
    for (size_t i = 0; i < bad.size(); i++) {
        SCOPED_TRACE(i);
        auto in = SrqCtx(pd_);
        bad[i](in.data());
        Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
    }
}

TEST_F(FwSrq, N1_UnknownFreedAndForeignNumbersAreRefused)
{
    uint32_t srqn = Srq(pd_), foreign_pd = Pd(2), foreign_cq = Cq(2);
    for (uint32_t op : {BDY_CMD_OP_MODIFY_SRQ, BDY_CMD_OP_QUERY_SRQ, BDY_CMD_OP_DESTROY_SRQ}) {
        uint32_t out = op == BDY_CMD_OP_QUERY_SRQ ? BDY_SRQ_CTX_BYTES : 0;
        Refused({op, srqn + 1, 0, {}, out, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, uint64_t{1} << 32 | srqn, 0, {}, out, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, FW_SRQS, 0, {}, out, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, srqn, 0, {}, out, 2}, BDY_CMD_ST_NOT_OWNER);
    }
    Refused(Create(SrqCtx(foreign_pd)), BDY_CMD_ST_NOT_OWNER);
    Refused(Create(SrqCtx(900)), BDY_CMD_ST_BAD_INDEX);
    uint32_t xrcd = static_cast<uint32_t>(Ok({BDY_CMD_OP_ALLOC_XRCD}));
    auto xrc = [&](uint32_t domain, uint32_t cqn) {
        auto in = SrqCtx(pd_);
        bdy_srq_ctx_set_xrc(in.data(), 1);
        bdy_srq_ctx_set_xrcd(in.data(), domain);
        bdy_srq_ctx_set_cqn(in.data(), cqn);
        return in;
    };
    Refused(Create(xrc(xrcd + 1, cq_)), BDY_CMD_ST_BAD_INDEX);
    Refused(Create(xrc(0, cq_)), BDY_CMD_ST_BAD_INDEX);
    Refused(Create(xrc(xrcd, 200)), BDY_CMD_ST_BAD_INDEX);
    Refused(Create(xrc(xrcd, foreign_cq)), BDY_CMD_ST_NOT_OWNER);
    Refused(Create(xrc(xrcd, foreign_cq), 0), BDY_CMD_ST_NOT_OWNER);
    Ok({BDY_CMD_OP_DESTROY_SRQ, srqn, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DESTROY_SRQ, srqn, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    EXPECT_EQ(bdy_srq_ctx_get_valid(m_->srq[srqn - BDY_SRQN_BASE]), 0u);
}

TEST_F(FwSrq, N2_HoldsItsPdDomainAndCompletionQueue)
{
    uint32_t xrcd = static_cast<uint32_t>(Ok({BDY_CMD_OP_ALLOC_XRCD}));
    uint32_t srqn = XrcSrq(pd_, xrcd, cq_);
    Refused({BDY_CMD_OP_DEALLOC_PD, pd_, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
    Refused({BDY_CMD_OP_DESTROY_CQ, cq_, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
    Refused({BDY_CMD_OP_DEALLOC_XRCD, xrcd}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_SRQ, srqn, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DEALLOC_PD, pd_, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DESTROY_CQ, cq_, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DEALLOC_XRCD, xrcd});
    Ok({BDY_CMD_OP_TEARDOWN_HCA});
}

TEST_F(FwSrq, N3_N7_AsManyAsPromisedAndNotOneMoreAndAgain)
{
    for (int round = 0; round < 2; round++) {
        std::set<uint32_t> numbers;
        for (uint32_t i = 0; i < FW_SRQS; i++) {
            numbers.insert(Srq(pd_));
        }
        EXPECT_EQ(numbers.size(), FW_SRQS);
        Refused(Create(SrqCtx(pd_)), BDY_CMD_ST_NO_RESOURCE);
        for (uint32_t n : numbers) {
            Ok({BDY_CMD_OP_DESTROY_SRQ, n, 0, {}, 0, 1});
        }
    }
}

TEST_F(FwSrq, N4_ARefusalLeavesNothing)
{
    m_->refuse_after = 1;
    m_->refuse_rule = BDY_RULE_N1;
    EXPECT_EQ(Run(Create(SrqCtx(pd_))).status, BDY_CMD_ST_REFUSED);
    Ok({BDY_CMD_OP_DEALLOC_PD, pd_, 0, {}, 0, 1});
}

TEST_F(FwSrq, N3_XrcDomainsAsManyAsPromisedAndTheDriversAlone)
{
    Refused({BDY_CMD_OP_ALLOC_XRCD, 0, 0, {}, 0, 1}, BDY_CMD_ST_NOT_OWNER);
    std::set<uint32_t> numbers;
    for (uint32_t i = 1; i < BDY_XRCD_COUNT; i++) {
        numbers.insert(static_cast<uint32_t>(Ok({BDY_CMD_OP_ALLOC_XRCD})));
    }
    EXPECT_EQ(numbers.size(), BDY_XRCD_COUNT - 1);
    EXPECT_EQ(numbers.count(0), 0u);
    Refused({BDY_CMD_OP_ALLOC_XRCD}, BDY_CMD_ST_NO_RESOURCE);
    Refused({BDY_CMD_OP_DEALLOC_XRCD, 0}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DEALLOC_XRCD, BDY_XRCD_COUNT}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DEALLOC_XRCD, 5, 0, {}, 0, 1}, BDY_CMD_ST_NOT_OWNER);
    Ok({BDY_CMD_OP_DEALLOC_XRCD, 5});
    Refused({BDY_CMD_OP_DEALLOC_XRCD, 5}, BDY_CMD_ST_BAD_INDEX);
    EXPECT_EQ(Ok({BDY_CMD_OP_ALLOC_XRCD}), 5u);
}

TEST_F(FwSrq, ABuildWithoutTheTablesPromisesNone)
{
    m_->cap2 = 0;
    Reset();
    Init();
    uint32_t pd = Pd();
    Ok({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, BDY_QUERY_HCA_OUT_BYTES});
    EXPECT_EQ(bdy_query_hca_out_get_log_srqs(At(kOut)), 0u);
    EXPECT_EQ(bdy_query_hca_out_get_max_xrcd(At(kOut)), 0u);
    Refused(Create(SrqCtx(pd)), BDY_CMD_ST_NO_RESOURCE);
    Refused({BDY_CMD_OP_ALLOC_XRCD}, BDY_CMD_ST_NO_RESOURCE);
}

class FwAh : public Running
{
  protected:
    void SetUp() override
    {
        Running::SetUp();
        pd_ = Pd();
    }

    std::vector<uint64_t> Ctx() const
    {
        std::vector<uint64_t> w(BDY_AH_CTX_WORDS);
        bdy_ah_ctx_set_valid(w.data(), 1);
        bdy_ah_ctx_set_pd(w.data(), pd_);
        bdy_ah_ctx_set_port(w.data(), 1);
        bdy_ah_ctx_set_dlid(w.data(), 9);
        bdy_ah_ctx_set_sl(w.data(), 3);
        return w;
    }

    static Cmd Create(const std::vector<uint64_t> &in, uint32_t uctx = 1)
    {
        return {BDY_CMD_OP_CREATE_AH, 0, 0, in, 0, uctx};
    }

    uint32_t pd_ = 0;
};

TEST_F(FwAh, U4_AHandleBelongsToItsPdAndHoldsIt)
{
    auto in = Ctx();
    bdy_ah_ctx_set_grh(in.data(), 1);
    bdy_ah_ctx_set_sgid_index(in.data(), 2);
    bdy_ah_ctx_set_dgid_lo(in.data(), 5);
    uint32_t n = static_cast<uint32_t>(Ok(Create(in)));
    EXPECT_TRUE(std::equal(in.begin(), in.end(), m_->ah[n]));
    Refused({BDY_CMD_OP_DEALLOC_PD, pd_, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
    Refused({BDY_CMD_OP_DESTROY_AH, n, 0, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    Ok({BDY_CMD_OP_DESTROY_AH, n, 0, {}, 0, 1});
    EXPECT_EQ(bdy_ah_ctx_get_valid(m_->ah[n]), 0u);
    Refused({BDY_CMD_OP_DESTROY_AH, n, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Ok({BDY_CMD_OP_DEALLOC_PD, pd_, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_TEARDOWN_HCA});
}

TEST_F(FwAh, BadFieldsAreRefused)
{
    const std::vector<Change> bad = {
        [](uint64_t *w) { bdy_ah_ctx_set_valid(w, 0); },
        [](uint64_t *w) { bdy_ah_ctx_set_port(w, 0); },
        [](uint64_t *w) { bdy_ah_ctx_set_port(w, 2); },
        [](uint64_t *w) { bdy_ah_ctx_set_dgid_hi(w, 1); },
        [](uint64_t *w) { bdy_ah_ctx_set_hop_limit(w, 1); },
        [](uint64_t *w) { bdy_ah_ctx_set_sgid_index(w, 1); },
        [](uint64_t *w) { bdy_ah_ctx_set_grh(w, 1), bdy_ah_ctx_set_sgid_index(w, 3); },
        [](uint64_t *w) { w[0] |= 4; },
        [](uint64_t *w) { w[5] = 1; },
    };
    for (size_t i = 0; i < bad.size(); i++) {
        SCOPED_TRACE(i);
        auto in = Ctx();
        bad[i](in.data());
        Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
    }
    Refused(Create(Ctx(), 2), BDY_CMD_ST_NOT_OWNER);
    Refused({BDY_CMD_OP_DESTROY_AH, FW_AHS}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DESTROY_AH, ~uint64_t{0}}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwAh, N3_AsManyAsPromisedAndNotOneMore)
{
    for (uint32_t i = 0; i < FW_AHS; i++) {
        Ok(Create(Ctx()));
    }
    Refused(Create(Ctx()), BDY_CMD_ST_NO_RESOURCE);
    Ok({BDY_CMD_OP_DESTROY_AH, 17, 0, {}, 0, 1});
    EXPECT_EQ(Ok(Create(Ctx())), 17u);
}

} // namespace
