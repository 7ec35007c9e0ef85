// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <set>

#include "fw_test.h"

using namespace fwtest;

using FwEq = Device;
using FwCq = Running;
using Change = std::function<void(uint64_t *)>;

TEST_F(FwEq, CreateWritesTheContextAndDestroyClearsIt)
{
    auto ctx = EqCtx(5);
    EXPECT_EQ(Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, ctx}), 0u);
    EXPECT_TRUE(std::equal(ctx.begin(), ctx.end(), m_->eq[0]));
    Ok({BDY_CMD_OP_DESTROY_EQ, 0});
    EXPECT_EQ(m_->eq[0][0], 0u);
}

TEST_F(FwEq, AllOfThemAndNotOneMore)
{
    for (uint32_t i = 0; i < FW_EQS; i++) {
        EXPECT_EQ(Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx(i)}), i);
    }
    Refused({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()}, BDY_CMD_ST_NO_RESOURCE);
    Ok({BDY_CMD_OP_DESTROY_EQ, 3});
    EXPECT_EQ(Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()}), 3u);
}

TEST_F(FwEq, BadFieldsAreRefused)
{
    const std::vector<Change> changes = {
        [](uint64_t *w) { bdy_eq_ctx_set_valid(w, 0); },
        [](uint64_t *w) { bdy_eq_ctx_set_log_size(w, 17); },
        [](uint64_t *w) { bdy_eq_ctx_set_vector(w, BDY_MSIX_VECTORS); },
        [](uint64_t *w) { bdy_eq_ctx_set_base(w, 0); },
        [](uint64_t *w) { bdy_eq_ctx_set_base(w, kRings + 8); },
        [](uint64_t *w) { bdy_eq_ctx_set_base(w, ~uint64_t{0xfff}); },
        [](uint64_t *w) { w[0] |= 2; },
        [](uint64_t *w) { w[7] = 1; },
    };
    for (size_t i = 0; i < changes.size(); i++) {
        auto in = EqCtx();
        changes[i](in.data());
        SCOPED_TRACE(i);
        Refused({BDY_CMD_OP_CREATE_EQ, 0, 0, in}, BDY_CMD_ST_BAD_PARAM);
    }
    Refused({BDY_CMD_OP_DESTROY_EQ, 0}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DESTROY_EQ, FW_EQS}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DESTROY_EQ, uint64_t{1} << 32}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwEq, BusyWhileInUse)
{
    Init();
    Refused({BDY_CMD_OP_DESTROY_EQ, 0}, BDY_CMD_ST_BUSY); // commands end there
    Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx(1)});
    auto in = CqCtx();
    bdy_cq_ctx_set_eqn(in.data(), 1);
    uint64_t cq = Ok({BDY_CMD_OP_CREATE_CQ, 0, 0, in, 0, 1});
    Refused({BDY_CMD_OP_DESTROY_EQ, 1}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_CQ, cq, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DESTROY_EQ, 1});
}

TEST_F(FwCq, CreateWritesTheContextAndDestroyClearsIt)
{
    auto ctx = CqCtx();
    uint64_t cqn = Ok({BDY_CMD_OP_CREATE_CQ, 0, 0, ctx, 0, 1});
    EXPECT_TRUE(std::equal(ctx.begin(), ctx.end(), m_->cq[cqn - BDY_CQN_BASE]));
    Ok({BDY_CMD_OP_DESTROY_CQ, cqn, 0, {}, 0, 1});
    EXPECT_EQ(m_->cq[cqn - BDY_CQN_BASE][0], 0u);
}

TEST_F(FwCq, N3_AsManyAsPromisedAndNotOneMore)
{
    std::set<uint32_t> numbers;
    for (uint32_t i = 0; i < FW_CQS; i++) {
        numbers.insert(Cq());
    }
    EXPECT_EQ(numbers.size(), FW_CQS);
    Refused({BDY_CMD_OP_CREATE_CQ, 0, 0, CqCtx(), 0, 1}, BDY_CMD_ST_NO_RESOURCE);
    Ok({BDY_CMD_OP_DESTROY_CQ, BDY_CQN_BASE + 77, 0, {}, 0, 1});
    EXPECT_EQ(Cq(), BDY_CQN_BASE + 77);
}

TEST_F(FwCq, ANumberIsNotReusedAtOnce)
{
    uint32_t first = Cq();
    Ok({BDY_CMD_OP_DESTROY_CQ, first, 0, {}, 0, 1});
    EXPECT_NE(Cq(), first);
}

TEST_F(FwCq, BadFieldsAreRefused)
{
    const std::vector<Change> changes = {
        [](uint64_t *w) { bdy_cq_ctx_set_valid(w, 0); },
        [](uint64_t *w) { bdy_cq_ctx_set_log_size(w, 17); },
        [](uint64_t *w) { bdy_cq_ctx_set_uar(w, 0); },
        [](uint64_t *w) { bdy_cq_ctx_set_uar(w, 2); },
        [](uint64_t *w) { bdy_cq_ctx_set_uar(w, 257); },
        [](uint64_t *w) { bdy_cq_ctx_set_base(w, 0); },
        [](uint64_t *w) { bdy_cq_ctx_set_base(w, kRings + 64); },
        [](uint64_t *w) { bdy_cq_ctx_set_base(w, ~uint64_t{0xfff}); },
        [](uint64_t *w) { bdy_cq_ctx_set_dbr(w, 0); },
        [](uint64_t *w) { bdy_cq_ctx_set_dbr(w, kRings + 4); },
        [](uint64_t *w) { w[0] |= uint64_t{1} << 40; },
        [](uint64_t *w) { w[7] = 1; },
    };
    for (size_t i = 0; i < changes.size(); i++) {
        auto in = CqCtx();
        changes[i](in.data());
        SCOPED_TRACE(i);
        Refused({BDY_CMD_OP_CREATE_CQ, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    }
    auto in = CqCtx();
    bdy_cq_ctx_set_eqn(in.data(), 1);
    Refused({BDY_CMD_OP_CREATE_CQ, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwCq, N1_UnknownFreedAndForeignNumbersAreRefused)
{
    uint32_t cq = Cq();
    Refused({BDY_CMD_OP_DESTROY_CQ, cq + 1u, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DESTROY_CQ, ~uint64_t{0}, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DESTROY_CQ, uint64_t{1} << 32 | cq, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Refused({BDY_CMD_OP_DESTROY_CQ, cq, 0, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    Ok({BDY_CMD_OP_DESTROY_CQ, cq, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DESTROY_CQ, cq, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwCq, N2_BusyWhileEitherEndOfAQueuePairUsesIt)
{
    uint32_t pd = Pd(), send = Cq(), recv = Cq();
    uint32_t qp = Qp(pd, send, recv);
    Refused({BDY_CMD_OP_DESTROY_CQ, send, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
    Refused({BDY_CMD_OP_DESTROY_CQ, recv, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
    uint32_t both = Qp(pd, send, send);
    Ok({BDY_CMD_OP_DESTROY_QP, qp, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DESTROY_CQ, recv, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DESTROY_CQ, send, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_QP, both, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DESTROY_CQ, send, 0, {}, 0, 1});
}

TEST_F(FwCq, C2_ResizeGivesANewRingAndNothingElse)
{
    uint32_t cqn = Cq();
    auto want = CqCtx();
    bdy_cq_ctx_set_log_size(want.data(), 3);
    bdy_cq_ctx_set_base(want.data(), kRings + 0x18000);
    Ok({BDY_CMD_OP_RESIZE_CQ, cqn, 0, want, 0, 1});
    EXPECT_TRUE(std::equal(want.begin(), want.end(), m_->cq[cqn - BDY_CQN_BASE]));
    Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx(1)});
    const std::vector<Change> bad = {
        [](uint64_t *w) { bdy_cq_ctx_set_valid(w, 0); },
        [](uint64_t *w) { bdy_cq_ctx_set_eqn(w, 1); },
        [](uint64_t *w) { bdy_cq_ctx_set_uar(w, 0); },
        [](uint64_t *w) { bdy_cq_ctx_set_uar(w, 2); },
        [](uint64_t *w) { bdy_cq_ctx_set_dbr(w, kRings + 0x8008); },
        [](uint64_t *w) { bdy_cq_ctx_set_base(w, 0); },
        [](uint64_t *w) { bdy_cq_ctx_set_log_size(w, 17); },
        [](uint64_t *w) { w[7] = 1; },
    };
    for (size_t i = 0; i < bad.size(); i++) {
        auto in = want;
        bad[i](in.data());
        SCOPED_TRACE(i);
        Refused({BDY_CMD_OP_RESIZE_CQ, cqn, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    }
    Refused({BDY_CMD_OP_RESIZE_CQ, cqn, 0, want, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    Refused({BDY_CMD_OP_RESIZE_CQ, cqn + 1, 0, want, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    m_->refuse_after = 1;
    m_->refuse_rule = BDY_RULE_N1;
    EXPECT_EQ(Run({BDY_CMD_OP_RESIZE_CQ, cqn, 0, want, 0, 1}).status, BDY_CMD_ST_REFUSED);
}
