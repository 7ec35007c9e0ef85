// SPDX-License-Identifier: Apache-2.0
// Queue pairs: creation, the transition table (N5), generations (H4).
#include <functional>
#include <set>

#include "fw_test.h"

extern "C" {
#include "qp_table.h"
}

using namespace fwtest;

namespace
{

using Change = std::function<void(uint64_t *)>;

constexpr uint32_t kToInit = FW_ATTR_STATE | FW_ATTR_PKEY_INDEX | FW_ATTR_PORT | FW_ATTR_ACCESS;
constexpr uint32_t kToRtr = FW_ATTR_STATE | FW_ATTR_AV | FW_ATTR_MTU | FW_ATTR_DEST_QPN |
                            FW_ATTR_RQ_PSN | FW_ATTR_MAX_DEST_RD | FW_ATTR_MIN_RNR;
constexpr uint32_t kToRts = FW_ATTR_STATE | FW_ATTR_TIMEOUT | FW_ATTR_RETRY_CNT |
                            FW_ATTR_RNR_RETRY | FW_ATTR_SQ_PSN | FW_ATTR_MAX_RD;

class FwQp : public Running
{
  protected:
    void SetUp() override
    {
        Running::SetUp();
        pd_ = Pd();
        cq_ = Cq();
        qpn_ = Qp(pd_, cq_, cq_);
    }

    uint64_t *Ctx()
    {
        return m_->qp[qpn_ - BDY_QPN_BASE];
    }

    unsigned State()
    {
        return static_cast<unsigned>(bdy_qp_ctx0_get_st(Ctx()));
    }

    /** MODIFY_QP's input: the present context with `change` made. */
    std::vector<uint64_t> Modify(uint32_t mask, const Change &change)
    {
        std::vector<uint64_t> w(BDY_MODIFY_QP_IN_WORDS + 16);
        bdy_modify_qp_in_set_qpn(w.data(), qpn_);
        bdy_modify_qp_in_set_mask(w.data(), mask);
        std::copy_n(Ctx(), 16, w.begin() + BDY_MODIFY_QP_IN_WORDS);
        change(w.data() + BDY_MODIFY_QP_IN_WORDS);
        return w;
    }

    Cmd Command(uint32_t mask, const Change &change)
    {
        return {BDY_CMD_OP_MODIFY_QP, 0, 0, Modify(mask, change), 0, 1};
    }

    static void SetInit(uint64_t *c)
    {
        bdy_qp_ctx0_set_st(c, BDY_QP_ST_INIT);
        bdy_qp_ctx0_set_port(c, 1);
        bdy_qp_ctx0_set_rights(c, BDY_ACCESS_BIT_REMOTE_WRITE);
    }

    static void SetRtr(uint64_t *c)
    {
        bdy_qp_ctx0_set_st(c, BDY_QP_ST_RTR);
        bdy_qp_ctx0_set_mtu(c, 5);
        bdy_qp_ctx0_set_dest_qpn(c, 0x123456);
        bdy_qp_ctx0_set_rq_psn(c, 0xabcdef);
        bdy_qp_ctx0_set_max_dest_rd(c, 16);
        bdy_qp_ctx0_set_min_rnr(c, 12);
        bdy_qp_ctx0_set_dlid(c, 7);
    }

    static void SetRts(uint64_t *c)
    {
        bdy_qp_ctx0_set_st(c, BDY_QP_ST_RTS);
        bdy_qp_ctx0_set_timeout(c, 14);
        bdy_qp_ctx0_set_retry_cnt(c, 7);
        bdy_qp_ctx0_set_rnr_retry(c, 6);
        bdy_qp_ctx0_set_sq_psn(c, 0x654321);
        bdy_qp_ctx0_set_max_rd(c, 16);
    }

    void To(unsigned st)
    {
        if (st == BDY_QP_ST_ERR || st == BDY_QP_ST_SQE) {
            mcu_model_qp_state(m_, qpn_, static_cast<bdy_qp_st>(st));
            return;
        }
        if (st >= BDY_QP_ST_INIT) {
            Ok(Command(kToInit, SetInit));
        }
        if (st >= BDY_QP_ST_RTR) {
            Ok(Command(kToRtr, SetRtr));
        }
        if (st >= BDY_QP_ST_RTS) {
            Ok(Command(kToRts, SetRts));
        }
        if (st == BDY_QP_ST_SQD) {
            Ok(Command(FW_ATTR_STATE, [](uint64_t *c) { bdy_qp_ctx0_set_st(c, BDY_QP_ST_SQD); }));
        }
        ASSERT_EQ(State(), st);
    }

    void NewQp()
    {
        Ok({BDY_CMD_OP_DESTROY_QP, qpn_, 0, {}, 0, 1});
        qpn_ = Qp(pd_, cq_, cq_);
    }

    uint32_t pd_ = 0, cq_ = 0, qpn_ = 0;
};

TEST_F(FwQp, CreateWritesTheContextInReset)
{
    auto in = QpCtx(pd_, cq_, cq_);
    EXPECT_TRUE(std::equal(in.begin(), in.end(), Ctx()));
    for (int i = 8; i < 16; i++) {
        EXPECT_EQ(Ctx()[i], 0u);
    }
    EXPECT_EQ(State(), BDY_QP_ST_RESET);
}

TEST_F(FwQp, N3_AsManyAsPromisedAndNotOneMore)
{
    std::set<uint32_t> numbers = {qpn_};
    for (uint32_t i = 1; i < FW_QPS; i++) {
        numbers.insert(Qp(pd_, cq_, cq_));
    }
    EXPECT_EQ(numbers.size(), FW_QPS);
    EXPECT_GE(*numbers.begin(), BDY_QPN_BASE); // 0 and 1 are never QPs
    Refused({BDY_CMD_OP_CREATE_QP, 0, 0, QpCtx(pd_, cq_, cq_), 0, 1}, BDY_CMD_ST_NO_RESOURCE);
}

TEST_F(FwQp, CreateRefusesBadFields)
{
    const std::vector<Change> changes = {
        [](uint64_t *w) { bdy_qp_ctx0_set_kind(w, BDY_QP_KIND_XRC_RECV); },
        [](uint64_t *w) { bdy_qp_ctx0_set_kind(w, 5); },
        [](uint64_t *w) { bdy_qp_ctx0_set_kind(w, BDY_QP_KIND_XRC_SEND); },
        [](uint64_t *w) { bdy_qp_ctx0_set_kind(w, 7); },
        [](uint64_t *w) { bdy_qp_ctx0_set_st(w, BDY_QP_ST_INIT); },
        [](uint64_t *w) { bdy_qp_ctx0_set_rights(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_uar(w, 0); },
        [](uint64_t *w) { bdy_qp_ctx0_set_uar(w, 2); },
        [](uint64_t *w) { bdy_qp_ctx0_set_mtu(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_port(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_dest_qpn(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_srq(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_srqn(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_xrcd(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_qkey(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_grh(w, 1); },
        [](uint64_t *w) { bdy_qp_ctx0_set_sq_base(w, 0); },
        [](uint64_t *w) { bdy_qp_ctx0_set_sq_base(w, kRings + 64); },
        [](uint64_t *w) { bdy_qp_ctx0_set_rq_base(w, 0); },
        [](uint64_t *w) { bdy_qp_ctx0_set_rq_base(w, kRings + 2048); },
        [](uint64_t *w) { w[0] |= uint64_t{1} << 35 << 28; }, // no owner: beyond the timeout
        [](uint64_t *w) { w[7] |= uint64_t{1} << 63; },
    };
    for (size_t i = 0; i < changes.size(); i++) {
        auto in = QpCtx(pd_, cq_, cq_);
        auto before = in;
        changes[i](in.data());
        if (i == 20) { // bit 63 belongs to the PD number: an unknown PD
            Refused({BDY_CMD_OP_CREATE_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_INDEX);
            continue;
        }
        ASSERT_NE(in, before);
        SCOPED_TRACE(i);
        Refused({BDY_CMD_OP_CREATE_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    }
}

TEST_F(FwQp, CreateRefusesReferencesThatAreUnknownOrOfAnother)
{
    uint32_t pd2 = Pd(2), cq2 = Cq(2);
    auto create = [](std::vector<uint64_t> in, uint32_t uctx) {
        return Cmd{BDY_CMD_OP_CREATE_QP, 0, 0, std::move(in), 0, uctx};
    };
    Refused(create(QpCtx(900, cq_, cq_), 1), BDY_CMD_ST_BAD_INDEX);
    Refused(create(QpCtx(pd_, 200, cq_), 1), BDY_CMD_ST_BAD_INDEX);
    Refused(create(QpCtx(pd_, cq_, 0xffffff), 1), BDY_CMD_ST_BAD_INDEX);
    Refused(create(QpCtx(pd2, cq_, cq_), 1), BDY_CMD_ST_NOT_OWNER);
    Refused(create(QpCtx(pd_, cq2, cq_), 1), BDY_CMD_ST_NOT_OWNER);
    Refused(create(QpCtx(pd_, cq_, cq2), 1), BDY_CMD_ST_NOT_OWNER);
    Refused(create(QpCtx(pd_, cq_, cq2), 0),
            BDY_CMD_ST_NOT_OWNER); // not even the driver mixes owners
}

TEST_F(FwQp, N1_UnknownFreedAndForeignNumbersAreRefused)
{
    for (uint32_t op : {BDY_CMD_OP_DESTROY_QP, BDY_CMD_OP_QUERY_QP}) {
        uint32_t out = op == BDY_CMD_OP_QUERY_QP ? 128 : 0;
        Refused({op, qpn_ + 1u, 0, {}, out, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, 0, 0, {}, out, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, 1, 0, {}, out, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, uint64_t{1} << 32 | qpn_, 0, {}, out, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, qpn_, 0, {}, out, 2}, BDY_CMD_ST_NOT_OWNER);
    }
    auto in = Modify(kToInit, SetInit);
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    bdy_modify_qp_in_set_qpn(in.data(), qpn_ + 1);
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Ok({BDY_CMD_OP_DESTROY_QP, qpn_, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DESTROY_QP, qpn_, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwQp, N5_QueryGivesBackWhatWasSet)
{
    To(BDY_QP_ST_RTS);
    Ok({BDY_CMD_OP_QUERY_QP, qpn_, 0, {}, 128, 1});
    const uint64_t *c = At(kOut);
    EXPECT_EQ(bdy_qp_ctx0_get_st(c), BDY_QP_ST_RTS);
    EXPECT_EQ(bdy_qp_ctx0_get_mtu(c), 5u);
    EXPECT_EQ(bdy_qp_ctx0_get_dest_qpn(c), 0x123456u);
    EXPECT_EQ(bdy_qp_ctx0_get_sq_psn(c), 0x654321u);
    EXPECT_EQ(bdy_qp_ctx0_get_rights(c), BDY_ACCESS_BIT_REMOTE_WRITE);
    EXPECT_TRUE(std::equal(c, c + 16, Ctx()));
}

TEST_F(FwQp, N5_EveryPairOfStatesFollowsTheTable)
{
    // RESET INIT RTR RTS SQD SQE ERR, rows: from. What IBTA allows for RC.
    static const bool legal[7][7] = {
        {true, true, false, false, false, false, true},  // RESET
        {true, true, true, false, false, false, true},   // INIT
        {true, false, false, true, false, false, true},  // RTR
        {true, false, false, true, true, false, true},   // RTS
        {true, false, false, true, true, false, true},   // SQD
        {true, false, false, false, false, false, true}, // SQE
        {true, false, false, false, false, false, true}, // ERR
    };
    for (unsigned from = 0; from < 7; from++) {
        for (unsigned to = 0; to < 7; to++) {
            SCOPED_TRACE(::testing::Message() << from << " to " << to);
            const fw_transition *t = fw_transition_find(BDY_QP_KIND_RC, from, to);
            EXPECT_EQ(t != nullptr, legal[from][to]);
            NewQp();
            To(from);
            uint32_t mask = FW_ATTR_STATE | (t ? t->required : 0);
            Cmd c = Command(mask, [&](uint64_t *x) {
                to == BDY_QP_ST_INIT                          ? SetInit(x)
                : to == BDY_QP_ST_RTR                         ? SetRtr(x)
                : from == BDY_QP_ST_RTR &&to == BDY_QP_ST_RTS ? SetRts(x)
                                                              : bdy_qp_ctx0_set_st(x, to);
            });
            // INIT to INIT must not change what its mask does not name
            if (from == BDY_QP_ST_INIT && to == BDY_QP_ST_INIT) {
                c = Command(mask, [](uint64_t *) {});
            }
            if (legal[from][to]) {
                Ok(c);
                EXPECT_EQ(State(), to);
            } else {
                Refused(c, BDY_CMD_ST_BAD_STATE);
                EXPECT_EQ(State(), from);
            }
        }
    }
}

TEST_F(FwQp, N5_AMissingRequiredAttributeIsRefused)
{
    const struct {
        unsigned from, to;
        uint32_t mask;
        void (*set)(uint64_t *);
    } steps[] = {{BDY_QP_ST_RESET, BDY_QP_ST_INIT, kToInit, SetInit},
                 {BDY_QP_ST_INIT, BDY_QP_ST_RTR, kToRtr, SetRtr},
                 {BDY_QP_ST_RTR, BDY_QP_ST_RTS, kToRts, SetRts}};
    for (const auto &s : steps) {
        for (unsigned bit = 1; bit < 21; bit++) {
            if (!(s.mask & 1u << bit)) {
                continue;
            }
            SCOPED_TRACE(::testing::Message()
                         << s.from << " to " << s.to << " without bit " << bit);
            NewQp();
            To(s.from);
            Refused(Command(s.mask & ~(1u << bit), s.set), BDY_CMD_ST_BAD_PARAM);
            EXPECT_EQ(State(), s.from);
        }
    }
}

TEST_F(FwQp, N5_AForbiddenAttributeIsRefused)
{
    static const uint32_t optional[3] = {0, FW_ATTR_PKEY_INDEX | FW_ATTR_ACCESS,
                                         FW_ATTR_CUR_STATE | FW_ATTR_ACCESS | FW_ATTR_MIN_RNR};
    const struct {
        unsigned from;
        uint32_t mask;
        void (*set)(uint64_t *);
    } steps[] = {{BDY_QP_ST_RESET, kToInit, SetInit},
                 {BDY_QP_ST_INIT, kToRtr, SetRtr},
                 {BDY_QP_ST_RTR, kToRts, SetRts}};
    for (unsigned step = 0; step < 3; step++) {
        for (unsigned bit = 1; bit < 32; bit++) {
            uint32_t one = uint32_t{1} << bit;
            if ((steps[step].mask | optional[step]) & one) {
                continue;
            }
            SCOPED_TRACE(::testing::Message() << "step " << step << " with bit " << bit);
            NewQp();
            To(steps[step].from);
            auto in = Modify(steps[step].mask | one, steps[step].set);
            bdy_modify_qp_in_set_has_cur(in.data(), one == FW_ATTR_CUR_STATE);
            bdy_modify_qp_in_set_cur_st(in.data(), one == FW_ATTR_CUR_STATE ? steps[step].from : 0);
            Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
            EXPECT_EQ(State(), steps[step].from);
        }
    }
    NewQp();
    Refused(Command(FW_ATTR_STATE | FW_ATTR_ACCESS,
                    [](uint64_t *c) { bdy_qp_ctx0_set_st(c, BDY_QP_ST_ERR); }),
            BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwQp, N5_OptionalAttributesWithoutAStateChange)
{
    To(BDY_QP_ST_RTS);
    Ok(Command(FW_ATTR_ACCESS, [](uint64_t *c) { bdy_qp_ctx0_set_rights(c, 0x0e); }));
    EXPECT_EQ(bdy_qp_ctx0_get_rights(Ctx()), 0x0eu);
    Ok(Command(FW_ATTR_MIN_RNR, [](uint64_t *c) { bdy_qp_ctx0_set_min_rnr(c, 3); }));
    EXPECT_EQ(bdy_qp_ctx0_get_min_rnr(Ctx()), 3u);
    EXPECT_EQ(State(), BDY_QP_ST_RTS);
}

TEST_F(FwQp, AChangeOutsideTheMaskIsRefused)
{
    To(BDY_QP_ST_RTS);
    // one bit at a time, over both halves; the mask names MIN_RNR alone
    for (unsigned bit = 0; bit < 1024; bit++) {
        unsigned lsb = BDY_QP_CTX0_MIN_RNR_LSB;
        if (bit >= lsb && bit < lsb + BDY_QP_CTX0_MIN_RNR_W) {
            continue;
        }
        SCOPED_TRACE(bit);
        Refused(
            Command(FW_ATTR_MIN_RNR, [&](uint64_t *c) { c[bit / 64] ^= uint64_t{1} << bit % 64; }),
            BDY_CMD_ST_BAD_PARAM);
    }
}

TEST_F(FwQp, ValuesOutOfRangeAreRefused)
{
    auto init = [&](const Change &more) {
        return Command(kToInit, [&](uint64_t *c) { SetInit(c), more(c); });
    };
    Refused(init([](uint64_t *c) { bdy_qp_ctx0_set_port(c, 0); }), BDY_CMD_ST_BAD_PARAM);
    Refused(init([](uint64_t *c) { bdy_qp_ctx0_set_port(c, 2); }), BDY_CMD_ST_BAD_PARAM);
    Refused(init([](uint64_t *c) { bdy_qp_ctx0_set_pkey_index(c, 1); }), BDY_CMD_ST_BAD_PARAM);
    Refused(init([](uint64_t *c) { bdy_qp_ctx0_set_rights(c, 0x20); }), BDY_CMD_ST_BAD_PARAM);
    To(BDY_QP_ST_INIT);
    auto rtr = [&](const Change &more) {
        return Command(kToRtr, [&](uint64_t *c) { SetRtr(c), more(c); });
    };
    Refused(rtr([](uint64_t *c) { bdy_qp_ctx0_set_mtu(c, 0); }), BDY_CMD_ST_BAD_PARAM); // T12
    Refused(rtr([](uint64_t *c) { bdy_qp_ctx0_set_mtu(c, 6); }), BDY_CMD_ST_BAD_PARAM);
    Refused(rtr([](uint64_t *c) { bdy_qp_ctx0_set_max_dest_rd(c, 17); }), BDY_CMD_ST_BAD_PARAM);
    Refused(rtr([](uint64_t *c) { bdy_qp_ctx1_set_hop_limit(c + 8, 1); }), BDY_CMD_ST_BAD_PARAM);
    Refused(
        rtr([](uint64_t *c) { bdy_qp_ctx0_set_grh(c, 1), bdy_qp_ctx1_set_sgid_index(c + 8, 3); }),
        BDY_CMD_ST_BAD_PARAM);
    Ok(rtr([](uint64_t *c) {
        bdy_qp_ctx0_set_grh(c, 1);
        bdy_qp_ctx1_set_dgid_lo(c + 8, 0x80fe);
        bdy_qp_ctx1_set_sgid_index(c + 8, 2);
        bdy_qp_ctx1_set_hop_limit(c + 8, 64);
    }));
    Refused(Command(kToRts, [](uint64_t *c) { SetRts(c), bdy_qp_ctx0_set_max_rd(c, 17); }),
            BDY_CMD_ST_BAD_PARAM);
    To(BDY_QP_ST_ERR);
}

TEST_F(FwQp, TheStateThatTheCallerBelievesInMustBeTheStateItIsIn)
{
    To(BDY_QP_ST_RTS);
    auto in = Modify(FW_ATTR_ACCESS | FW_ATTR_CUR_STATE,
                     [](uint64_t *c) { bdy_qp_ctx0_set_rights(c, 2); });
    bdy_modify_qp_in_set_has_cur(in.data(), 1);
    bdy_modify_qp_in_set_cur_st(in.data(), BDY_QP_ST_SQD);
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_STATE);
    bdy_modify_qp_in_set_cur_st(in.data(), BDY_QP_ST_RTS);
    Ok({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1});
    bdy_modify_qp_in_set_has_cur(in.data(), 0); // mask and flag must agree
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwQp, ReservedBitsAreRefused)
{
    auto in = Modify(kToInit, SetInit);
    in[0] |= uint64_t{1} << 24;
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    in = Modify(kToInit, SetInit);
    in[1] |= uint64_t{1} << 63;
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    in = Modify(kToInit, SetInit);
    in[17] = 1;
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwQp, TheDataPathMayMoveToErrBetween)
{
    To(BDY_QP_ST_RTS);
    auto in = Modify(FW_ATTR_ACCESS, [](uint64_t *c) { bdy_qp_ctx0_set_rights(c, 2); });
    mcu_model_qp_state(m_, qpn_, BDY_QP_ST_ERR);
    Refused({BDY_CMD_OP_MODIFY_QP, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM); // ERR takes no attribute
    EXPECT_EQ(State(), BDY_QP_ST_ERR);
}

TEST_F(FwQp, AModifyOfNothingChangesNothing)
{
    for (unsigned st :
         {BDY_QP_ST_RESET, BDY_QP_ST_INIT, BDY_QP_ST_RTR, BDY_QP_ST_RTS, BDY_QP_ST_ERR}) {
        NewQp();
        To(st);
        std::vector<uint64_t> before(Ctx(), Ctx() + 16);
        uint32_t generation = m_->qp_gen[qpn_ - BDY_QPN_BASE];
        bool legal = fw_transition_find(BDY_QP_KIND_RC, st, st) != nullptr;
        EXPECT_EQ(Run(Command(0, [](uint64_t *) {})).status,
                  legal ? BDY_CMD_ST_OK : BDY_CMD_ST_BAD_STATE);
        EXPECT_EQ(m_->qp_gen[qpn_ - BDY_QPN_BASE], generation);
        EXPECT_TRUE(std::equal(before.begin(), before.end(), Ctx()));
    }
}

TEST_F(FwQp, ToErrIsOneOperationAndToErrAgainNone)
{
    To(BDY_QP_ST_RTS);
    uint32_t ops = m_->nops;
    Cmd err = Command(FW_ATTR_STATE, [](uint64_t *c) { bdy_qp_ctx0_set_st(c, BDY_QP_ST_ERR); });
    Ok(err);
    EXPECT_EQ(Ops(ops), (std::vector<unsigned>{BDY_PROT_OP_QP_ERR}));
    Ok(err);
    EXPECT_EQ(m_->nops, ops + 1);
    EXPECT_EQ(m_->qp_gen[qpn_ - BDY_QPN_BASE], 0u) << "the generation stays";
}

TEST_F(FwQp, ToErrSucceedsWhenTheDataPathWasQuicker)
{
    To(BDY_QP_ST_RTS);
    m_->refuse_after = 1;
    m_->refuse_rule = BDY_RULE_Q1;
    Ok(Command(FW_ATTR_STATE, [](uint64_t *c) { bdy_qp_ctx0_set_st(c, BDY_QP_ST_ERR); }));
}

TEST_F(FwQp, L8_ToResetRaisesTheGenerationFirstAndForgetsTheConnection)
{
    auto created = QpCtx(pd_, cq_, cq_);
    To(BDY_QP_ST_RTS);
    uint32_t ops = m_->nops;
    Ok(Command(FW_ATTR_STATE, [](uint64_t *c) { bdy_qp_ctx0_set_st(c, BDY_QP_ST_RESET); }));
    EXPECT_EQ(Ops(ops), (std::vector<unsigned>{BDY_PROT_OP_QP_BUMP, BDY_PROT_OP_CTX_WRITE,
                                               BDY_PROT_OP_CTX_WRITE}));
    EXPECT_EQ(m_->qp_gen[qpn_ - BDY_QPN_BASE], 1u);
    EXPECT_TRUE(std::equal(created.begin(), created.end(), Ctx()));
    To(BDY_QP_ST_RTS); // and lives again
}

TEST_F(FwQp, L5_DestroyRaisesTheGenerationAndLeavesAForeignContext)
{
    To(BDY_QP_ST_RTS);
    uint32_t ops = m_->nops;
    Ok({BDY_CMD_OP_DESTROY_QP, qpn_, 0, {}, 0, 1});
    EXPECT_EQ(mcu_model_op(m_, ops), BDY_PROT_OP_QP_BUMP);
    for (int i = 0; i < 16; i++) {
        EXPECT_EQ(Ctx()[i], 0u) << "RESET, and of UAR page 0 that nobody has";
    }
    EXPECT_NE(Qp(pd_, cq_, cq_), qpn_) << "the number is not reused at once";
}

TEST_F(FwQp, H4_ANumberWhoseGenerationsAreUsedUpIsRetired)
{
    m_->qp_gen[qpn_ - BDY_QPN_BASE] = 0xfffffffe;
    Ok({BDY_CMD_OP_DESTROY_QP, qpn_, 0, {}, 0, 1});
    for (uint32_t i = 0; i < FW_QPS - 1; i++) {
        ASSERT_NE(Qp(pd_, cq_, cq_), qpn_);
    }
    Refused({BDY_CMD_OP_CREATE_QP, 0, 0, QpCtx(pd_, cq_, cq_), 0, 1}, BDY_CMD_ST_NO_RESOURCE);
}

TEST_F(FwQp, N4_ARefusedCreateLeavesNothing)
{
    for (unsigned step : {1u, 2u}) {
        m_->refuse_after = step;
        m_->refuse_rule = BDY_RULE_N5;
        Result r = Run({BDY_CMD_OP_CREATE_QP, 0, 0, QpCtx(pd_, cq_, cq_), 0, 1});
        EXPECT_EQ(r.status, BDY_CMD_ST_REFUSED);
        EXPECT_EQ(r.rule, BDY_RULE_N5);
    }
    Ok({BDY_CMD_OP_DESTROY_QP, qpn_, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DESTROY_CQ, cq_, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DEALLOC_PD, pd_, 0, {}, 0, 1});
}

TEST_F(FwQp, AFailedTableReadChangesNothing)
{
    for (unsigned n : {1u, 2u}) {
        uint32_t ops = m_->nops;
        m_->rd_fail_after = n;
        EXPECT_EQ(Run(Command(kToInit, SetInit)).status, BDY_CMD_ST_INTERNAL);
        m_->rd_fail_after = n;
        EXPECT_EQ(Run({BDY_CMD_OP_DESTROY_QP, qpn_, 0, {}, 0, 1}).status, BDY_CMD_ST_INTERNAL);
        m_->rd_fail_after = n;
        EXPECT_EQ(Run({BDY_CMD_OP_QUERY_QP, qpn_, 0, {}, 128, 1}).status, BDY_CMD_ST_INTERNAL);
        EXPECT_EQ(m_->nops, ops);
    }
}

/** Queue pairs of the other types. */
class FwQpKinds : public Running
{
  protected:
    void SetUp() override
    {
        Running::SetUp();
        pd_ = Pd();
        cq_ = Cq();
        cq2_ = Cq();
        xrcd_ = static_cast<uint32_t>(Ok({BDY_CMD_OP_ALLOC_XRCD}));
    }

    std::vector<uint64_t> Ctx(unsigned kind, uint32_t srq = FW_NONE)
    {
        auto w = QpCtx(pd_, cq_, kind == BDY_QP_KIND_XRC_SEND ? 0 : cq2_);
        bdy_qp_ctx0_set_kind(w.data(), kind);
        if (srq != FW_NONE) {
            bdy_qp_ctx0_set_srq(w.data(), 1);
            bdy_qp_ctx0_set_srqn(w.data(), srq);
        }
        if (srq != FW_NONE || kind >= BDY_QP_KIND_XRC_SEND) {
            bdy_qp_ctx0_set_rq_base(w.data(), 0);
            bdy_qp_ctx0_set_rq_log(w.data(), 0);
            bdy_qp_ctx0_set_rq_log_stride(w.data(), 0);
        }
        if (kind == BDY_QP_KIND_XRC_RECV) {
            std::fill(w.begin(), w.end(), 0);
            bdy_qp_ctx0_set_kind(w.data(), kind);
            bdy_qp_ctx0_set_xrcd(w.data(), xrcd_);
        }
        return w;
    }

    Cmd Create(const std::vector<uint64_t> &in)
    {
        uint32_t uctx = bdy_qp_ctx0_get_kind(in.data()) == BDY_QP_KIND_XRC_RECV ? 0 : 1;
        return {BDY_CMD_OP_CREATE_QP, 0, 0, in, 0, uctx};
    }

    Cmd Modify(uint32_t qpn, uint32_t mask, unsigned to)
    {
        const uint64_t *now = m_->qp[qpn - BDY_QPN_BASE];
        std::vector<uint64_t> w(BDY_MODIFY_QP_IN_WORDS + 16);
        uint64_t *c = w.data() + BDY_MODIFY_QP_IN_WORDS;
        bdy_modify_qp_in_set_qpn(w.data(), qpn);
        bdy_modify_qp_in_set_mask(w.data(), mask | FW_ATTR_STATE);
        std::copy_n(now, 16, c);
        bdy_qp_ctx0_set_st(c, to);
        if (mask & FW_ATTR_PORT) {
            bdy_qp_ctx0_set_port(c, 1);
        }
        if (mask & FW_ATTR_MTU) {
            bdy_qp_ctx0_set_mtu(c, 3);
        }
        if (mask & FW_ATTR_QKEY) {
            bdy_qp_ctx0_set_qkey(c, 0x11111111);
        }
        if (mask & FW_ATTR_SQD_NOTIFY) {
            bdy_qp_ctx0_set_sqd_event(c, 1);
        }
        if (mask & FW_ATTR_CUR_STATE) {
            bdy_modify_qp_in_set_has_cur(w.data(), 1);
            bdy_modify_qp_in_set_cur_st(w.data(), bdy_qp_ctx0_get_st(now));
        }
        return {BDY_CMD_OP_MODIFY_QP, 0, 0, w, 0, 0};
    }

    uint32_t pd_ = 0, cq_ = 0, cq2_ = 0, xrcd_ = 0;
};

/** IBTA's tables, written down a second time: required and optional attributes by type. */
struct Row {
    unsigned kind, from, to;
    uint32_t required, optional;
};

constexpr uint32_t kPp = FW_ATTR_PKEY_INDEX | FW_ATTR_PORT;
constexpr uint32_t kAv = FW_ATTR_AV | FW_ATTR_MTU | FW_ATTR_DEST_QPN | FW_ATTR_RQ_PSN;
constexpr uint32_t kRtry =
    FW_ATTR_TIMEOUT | FW_ATTR_RETRY_CNT | FW_ATTR_RNR_RETRY | FW_ATTR_SQ_PSN | FW_ATTR_MAX_RD;
constexpr uint32_t kCurAcc = FW_ATTR_CUR_STATE | FW_ATTR_ACCESS;
constexpr uint32_t kCurQkey = FW_ATTR_CUR_STATE | FW_ATTR_QKEY;
constexpr uint32_t kPkAcc = FW_ATTR_PKEY_INDEX | FW_ATTR_ACCESS;

const Row kRows[] = {
    {BDY_QP_KIND_UC, BDY_QP_ST_RESET, BDY_QP_ST_INIT, kPp | FW_ATTR_ACCESS, 0},
    {BDY_QP_KIND_UC, BDY_QP_ST_INIT, BDY_QP_ST_RTR, kAv, kPkAcc},
    {BDY_QP_KIND_UC, BDY_QP_ST_RTR, BDY_QP_ST_RTS, FW_ATTR_SQ_PSN, kCurAcc},
    {BDY_QP_KIND_UC, BDY_QP_ST_RTS, BDY_QP_ST_SQD, 0, FW_ATTR_SQD_NOTIFY},
    {BDY_QP_KIND_UC, BDY_QP_ST_SQD, BDY_QP_ST_RTS, 0, kCurAcc},
    {BDY_QP_KIND_UC, BDY_QP_ST_SQE, BDY_QP_ST_RTS, 0, kCurAcc},
    {BDY_QP_KIND_UD, BDY_QP_ST_RESET, BDY_QP_ST_INIT, kPp | FW_ATTR_QKEY, 0},
    {BDY_QP_KIND_UD, BDY_QP_ST_INIT, BDY_QP_ST_RTR, 0, FW_ATTR_PKEY_INDEX | FW_ATTR_QKEY},
    {BDY_QP_KIND_UD, BDY_QP_ST_RTR, BDY_QP_ST_RTS, FW_ATTR_SQ_PSN, kCurQkey},
    {BDY_QP_KIND_UD, BDY_QP_ST_RTS, BDY_QP_ST_RTS, 0, kCurQkey},
    {BDY_QP_KIND_UD, BDY_QP_ST_SQD, BDY_QP_ST_RTS, 0, kCurQkey},
    {BDY_QP_KIND_UD, BDY_QP_ST_SQE, BDY_QP_ST_RTS, 0, kCurQkey},
    {BDY_QP_KIND_XRC_SEND, BDY_QP_ST_RESET, BDY_QP_ST_INIT, kPp | FW_ATTR_ACCESS, 0},
    {BDY_QP_KIND_XRC_SEND, BDY_QP_ST_INIT, BDY_QP_ST_RTR, kAv, kPkAcc},
    {BDY_QP_KIND_XRC_SEND, BDY_QP_ST_RTR, BDY_QP_ST_RTS, kRtry, kCurAcc},
    {BDY_QP_KIND_XRC_RECV, BDY_QP_ST_RESET, BDY_QP_ST_INIT, kPp | FW_ATTR_ACCESS, 0},
    {BDY_QP_KIND_XRC_RECV, BDY_QP_ST_INIT, BDY_QP_ST_RTR,
     kAv | FW_ATTR_MAX_DEST_RD | FW_ATTR_MIN_RNR, kPkAcc},
    {BDY_QP_KIND_XRC_RECV, BDY_QP_ST_RTR, BDY_QP_ST_RTS, FW_ATTR_TIMEOUT | FW_ATTR_SQ_PSN,
     kCurAcc | FW_ATTR_MIN_RNR},
};

TEST_F(FwQpKinds, N5_T12_EachTypeHasItsOwnTableOfAttributes)
{
    for (const Row &row : kRows) {
        SCOPED_TRACE(::testing::Message() << row.kind << ": " << row.from << " to " << row.to);
        uint32_t qpn = static_cast<uint32_t>(Ok(Create(Ctx(row.kind))));
        auto start = [&] { bdy_qp_ctx0_set_st(m_->qp[qpn - BDY_QPN_BASE], row.from); };
        start();
        for (unsigned bit = 1; bit < 21; bit++) {
            uint32_t one = uint32_t{1} << bit;
            SCOPED_TRACE(bit);
            start();
            if (row.required & one) {
                Refused(Modify(qpn, row.required & ~one, row.to), BDY_CMD_ST_BAD_PARAM);
            } else if (row.optional & one) {
                Ok(Modify(qpn, row.required | one, row.to));
            } else {
                Refused(Modify(qpn, row.required | one, row.to), BDY_CMD_ST_BAD_PARAM);
            }
        }
        start();
        Ok(Modify(qpn, row.required, row.to));
        EXPECT_EQ(bdy_qp_ctx0_get_st(m_->qp[qpn - BDY_QPN_BASE]), row.to);
        Ok({BDY_CMD_OP_DESTROY_QP, qpn});
    }
}

TEST_F(FwQpKinds, Q4_OnlyUcAndUdLeaveSqeForRts)
{
    for (unsigned kind = 0; kind <= BDY_QP_KIND_XRC_RECV; kind++) {
        uint32_t qpn = static_cast<uint32_t>(Ok(Create(Ctx(kind))));
        mcu_model_qp_state(m_, qpn, BDY_QP_ST_SQE);
        Cmd c = Modify(qpn, 0, BDY_QP_ST_RTS);
        if (kind == BDY_QP_KIND_UC || kind == BDY_QP_KIND_UD) {
            Ok(c);
        } else {
            Refused(c, BDY_CMD_ST_BAD_STATE);
        }
    }
}

TEST_F(FwQpKinds, Q3_TheWishForADrainedEventLastsOneStayInSqd)
{
    uint32_t qpn = static_cast<uint32_t>(Ok(Create(Ctx(BDY_QP_KIND_RC))));
    uint64_t *ctx = m_->qp[qpn - BDY_QPN_BASE];
    bdy_qp_ctx0_set_st(ctx, BDY_QP_ST_RTS);
    Ok(Modify(qpn, FW_ATTR_SQD_NOTIFY, BDY_QP_ST_SQD));
    EXPECT_EQ(bdy_qp_ctx0_get_sqd_event(ctx), 1u);
    Ok(Modify(qpn, 0, BDY_QP_ST_RTS));
    EXPECT_EQ(bdy_qp_ctx0_get_sqd_event(ctx), 0u);
    Ok(Modify(qpn, 0, BDY_QP_ST_SQD));
    EXPECT_EQ(bdy_qp_ctx0_get_sqd_event(ctx), 0u);
}

TEST_F(FwQpKinds, N2_EachTypeHoldsWhatItRefersToAndNothingElse)
{
    uint32_t srq = Srq(pd_);
    struct {
        unsigned kind;
        uint32_t srq;
        bool pd, scq, rcq, srq_held, xrcd;
    } cases[] = {
        {BDY_QP_KIND_UC, FW_NONE, true, true, true, false, false},
        {BDY_QP_KIND_UD, srq, true, true, true, true, false},
        {BDY_QP_KIND_RC, srq, true, true, true, true, false},
        {BDY_QP_KIND_XRC_SEND, FW_NONE, true, true, false, false, false},
        {BDY_QP_KIND_XRC_RECV, FW_NONE, false, false, false, false, true},
    };
    uint16_t pd_refs = m_->fw.pd[pd_].refs;
    for (const auto &c : cases) {
        SCOPED_TRACE(c.kind);
        uint32_t qpn = static_cast<uint32_t>(Ok(Create(Ctx(c.kind, c.srq))));
        EXPECT_EQ(m_->fw.pd[pd_].refs - pd_refs, c.pd);
        EXPECT_EQ(m_->fw.cq[cq_].refs, c.scq);
        EXPECT_EQ(m_->fw.cq[cq2_].refs, c.rcq);
        EXPECT_EQ(m_->fw.srq[srq].refs, c.srq_held);
        EXPECT_EQ(m_->fw.xrcd[xrcd_].refs, c.xrcd);
        if (c.srq_held) {
            Refused({BDY_CMD_OP_DESTROY_SRQ, srq, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
        }
        if (c.xrcd) {
            Refused({BDY_CMD_OP_DEALLOC_XRCD, xrcd_}, BDY_CMD_ST_BUSY);
        }
        Ok({BDY_CMD_OP_DESTROY_QP, qpn});
        EXPECT_EQ(m_->fw.pd[pd_].refs, pd_refs);
        EXPECT_EQ(m_->fw.cq[cq_].refs + m_->fw.cq[cq2_].refs + m_->fw.srq[srq].refs +
                      m_->fw.xrcd[xrcd_].refs,
                  0);
    }
}

TEST_F(FwQpKinds, CreateRefusesWhatTheTypeDoesNotHave)
{
    uint32_t srq = Srq(pd_);
    const struct {
        unsigned kind;
        Change change;
    } cases[] = {
        {BDY_QP_KIND_RC, [&](uint64_t *w) { bdy_qp_ctx0_set_srq(w, 1); }},
        {BDY_QP_KIND_UC, [&](uint64_t *w) { bdy_qp_ctx0_set_xrcd(w, xrcd_); }},
        {BDY_QP_KIND_UD, [&](uint64_t *w) { bdy_qp_ctx0_set_qkey(w, 1); }},
        {BDY_QP_KIND_XRC_SEND, [&](uint64_t *w) { bdy_qp_ctx0_set_rcqn(w, cq2_); }},
        {BDY_QP_KIND_XRC_SEND, [&](uint64_t *w) { bdy_qp_ctx0_set_rq_base(w, kRings); }},
        {BDY_QP_KIND_XRC_SEND, [&](uint64_t *w) { bdy_qp_ctx0_set_srq(w, 1); }},
        {BDY_QP_KIND_XRC_SEND, [&](uint64_t *w) { bdy_qp_ctx0_set_xrcd(w, xrcd_); }},
        {BDY_QP_KIND_XRC_RECV, [&](uint64_t *w) { bdy_qp_ctx0_set_uar(w, 1); }},
        {BDY_QP_KIND_XRC_RECV, [&](uint64_t *w) { bdy_qp_ctx0_set_scqn(w, cq2_); }},
        {BDY_QP_KIND_XRC_RECV, [&](uint64_t *w) { bdy_qp_ctx0_set_rcqn(w, cq2_); }},
        {BDY_QP_KIND_XRC_RECV, [&](uint64_t *w) { bdy_qp_ctx0_set_sq_base(w, kRings); }},
        {BDY_QP_KIND_XRC_RECV, [&](uint64_t *w) { bdy_qp_ctx0_set_srqn(w, srq + 1); }},
    };
    for (size_t i = 0; i < std::size(cases); i++) {
        SCOPED_TRACE(i);
        auto in = Ctx(cases[i].kind);
        cases[i].change(in.data());
        Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
    }
    auto in = Ctx(BDY_QP_KIND_XRC_RECV);
    bdy_qp_ctx0_set_xrcd(in.data(), xrcd_ + 1);
    Refused(Create(in), BDY_CMD_ST_BAD_INDEX);
    bdy_qp_ctx0_set_xrcd(in.data(), 0);
    Refused(Create(in), BDY_CMD_ST_BAD_INDEX);
    Refused(Create(Ctx(BDY_QP_KIND_RC, 77)), BDY_CMD_ST_BAD_INDEX);
    uint32_t foreign = Srq(Pd(2), 2);
    Refused(Create(Ctx(BDY_QP_KIND_RC, foreign)), BDY_CMD_ST_NOT_OWNER);
    uint32_t xrc = XrcSrq(pd_, xrcd_, cq_);
    Refused(Create(Ctx(BDY_QP_KIND_RC, xrc)), BDY_CMD_ST_BAD_PARAM); // H18
}

TEST_F(FwQp, ViolationsAreTold)
{
    m_->qp_viol[qpn_ - BDY_QPN_BASE] = 41;
    EXPECT_EQ(Ok({BDY_CMD_OP_QUERY_VIOL, qpn_, 0, {}, 0, 1}), 41u);
    Refused({BDY_CMD_OP_QUERY_VIOL, qpn_, 0, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    Refused({BDY_CMD_OP_QUERY_VIOL, qpn_ + 1, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
    m_->rd_fail_after = 1;
    EXPECT_EQ(Run({BDY_CMD_OP_QUERY_VIOL, qpn_, 0, {}, 0, 1}).status, BDY_CMD_ST_INTERNAL);
}

} // namespace
