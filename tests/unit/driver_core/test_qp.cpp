// SPDX-License-Identifier: Apache-2.0
// Queue pairs: sizes, attributes, states.
#include "core_test.h"

using namespace coretest;

namespace
{

constexpr uint32_t kInit = V_ATTR_STATE | V_ATTR_PKEY_INDEX | V_ATTR_PORT | V_ATTR_ACCESS;
constexpr uint32_t kRtr = V_ATTR_STATE | V_ATTR_AV | V_ATTR_MTU | V_ATTR_DEST_QPN | V_ATTR_RQ_PSN |
                          V_ATTR_MAX_DEST_RD | V_ATTR_MIN_RNR;
constexpr uint32_t kRts = V_ATTR_STATE | V_ATTR_TIMEOUT | V_ATTR_RETRY_CNT | V_ATTR_RNR_RETRY |
                          V_ATTR_SQ_PSN | V_ATTR_MAX_RD;

class CoreQp : public Core
{
  protected:
    void SetUp() override
    {
        Core::SetUp();
        pd_ = user_.Pd();
        cq_ = user_.Cq().handle;
        qp_ = user_.Qp(pd_, cq_);
    }

    bdy_u_qp_attr Attr(uint32_t state, uint32_t mask)
    {
        bdy_u_qp_attr a{};
        a.handle = qp_.handle;
        a.mask = mask;
        a.qp_state = state;
        a.port_num = 1;
        a.access = V_ACCESS_REMOTE_WRITE | V_ACCESS_REMOTE_READ;
        a.path_mtu = 5;
        a.dest_qp_num = 0x123456;
        a.rq_psn = 0xabcdef;
        a.sq_psn = 0x654321;
        a.max_rd_atomic = 16;
        a.max_dest_rd_atomic = 15;
        a.min_rnr_timer = 12;
        a.timeout = 14;
        a.retry_cnt = 6;
        a.rnr_retry = 7;
        a.dlid = 0x77;
        a.sl = 3;
        return a;
    }

    int Modify(const bdy_u_qp_attr &a)
    {
        return user_.Do(BDY_U_MODIFY_QP, a);
    }

    void ToRts()
    {
        ASSERT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit)), 0);
        ASSERT_EQ(Modify(Attr(BDY_QP_ST_RTR, kRtr)), 0);
        ASSERT_EQ(Modify(Attr(BDY_QP_ST_RTS, kRts)), 0);
    }

    bdy_u_qp_attr Query()
    {
        bdy_u_qp_attr out{};
        EXPECT_EQ(user_.Call(BDY_U_QUERY_QP, bdy_u_handle{qp_.handle, 0}, &out), 0);
        return out;
    }

    uint32_t pd_ = 0, cq_ = 0;
    bdy_u_create_qp_out qp_{};
};

TEST_F(CoreQp, N3_N4_RingsHoldWhatIsPromisedAndPromisesHoldWhatWasAsked)
{
    bdy_u_device_attr attr{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &attr), 0);
    for (uint32_t wr : {0u, 1u, 2u, 3u, 100u, 128u, 129u, 4096u}) {
        for (uint32_t sge : {0u, 1u, 2u, 3u, 4u, 6u, 7u, 15u, 16u}) {
            auto in = User::QpIn(pd_, cq_, cq_);
            in.max_send_wr = in.max_recv_wr = wr;
            in.max_send_sge = in.max_recv_sge = sge;
            bdy_dma_buf *rings[2];
            bdy_u_create_qp_out out{};
            ASSERT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out, rings), 0) << wr << "x" << sge;
            EXPECT_GE(out.max_send_wr, wr);
            EXPECT_GE(out.max_recv_wr, wr);
            EXPECT_GE(out.max_send_sge, sge);
            EXPECT_GE(out.max_recv_sge, sge);
            EXPECT_LE(out.max_send_wr, attr.max_qp_wr);
            EXPECT_LE(out.max_recv_wr, attr.max_qp_wr);
            EXPECT_LE(out.max_send_sge, attr.max_sge);
            EXPECT_LE(out.max_recv_sge, attr.max_sge);
            uint64_t slots = (32 + 16 * out.max_send_sge + 63) / 64;
            EXPECT_GE(uint64_t{1} << out.sq_log, slots * out.max_send_wr);
            EXPECT_GE(rings[0]->bytes, uint64_t{64} << out.sq_log);
            EXPECT_GE(64u << out.rq_log_stride, 16 + 16 * out.max_recv_sge);
            EXPECT_GE(1u << out.rq_log, out.max_recv_wr);
            EXPECT_GE(rings[1]->bytes, (uint64_t{64} << out.rq_log_stride) << out.rq_log);
            const uint64_t *ctx = Model()->qp[out.qpn - BDY_QPN_BASE];
            EXPECT_EQ(bdy_qp_ctx0_get_sq_base(ctx), rings[0]->bus);
            EXPECT_EQ(bdy_qp_ctx0_get_rq_base(ctx), rings[1]->bus);
            EXPECT_EQ(bdy_qp_ctx0_get_sq_log(ctx), out.sq_log);
            EXPECT_EQ(bdy_qp_ctx0_get_rq_log_stride(ctx), out.rq_log_stride);
            EXPECT_EQ(user_.Handle(BDY_U_DESTROY_QP, out.handle), 0);
        }
    }
}

TEST_F(CoreQp, N3_OneMoreThanAnyLimitIsRefused)
{
    bdy_u_device_attr attr{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &attr), 0);
    uint32_t bdy_u_create_qp_in::*const fields[] = {
        &bdy_u_create_qp_in::max_send_wr,  &bdy_u_create_qp_in::max_recv_wr,
        &bdy_u_create_qp_in::max_send_sge, &bdy_u_create_qp_in::max_recv_sge,
        &bdy_u_create_qp_in::max_inline,   &bdy_u_create_qp_in::sig_all};
    const uint32_t limits[] = {attr.max_qp_wr, attr.max_qp_wr,  attr.max_sge,
                               attr.max_sge,   attr.max_inline, 1};
    bdy_u_create_qp_out out{};
    for (int i = 0; i < 6; i++) {
        for (uint32_t value : {limits[i] + 1, 0xffffffffu}) {
            auto in = User::QpIn(pd_, cq_, cq_);
            in.*fields[i] = value;
            EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL) << i;
        }
    }
}

TEST_F(CoreQp, S2_EachTypeHasTheSidesThatItNeeds)
{
    const struct {
        uint32_t type, kind;
        bool recv;
    } types[] = {{V_QPT_RC, BDY_QP_KIND_RC, true},
                 {V_QPT_UC, BDY_QP_KIND_UC, true},
                 {V_QPT_UD, BDY_QP_KIND_UD, true},
                 {V_QPT_XRC_SEND, BDY_QP_KIND_XRC_SEND, false}};
    for (const auto &t : types) {
        auto in = User::QpIn(pd_, cq_, t.recv ? cq_ : 0);
        in.qp_type = t.type;
        bdy_u_create_qp_out out{};
        bdy_dma_buf *rings[2];
        ASSERT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out, rings), 0) << t.type;
        EXPECT_NE(rings[0], nullptr);
        EXPECT_EQ(rings[1] != nullptr, t.recv);
        EXPECT_EQ(out.max_recv_wr > 0, t.recv);
        EXPECT_EQ(bdy_qp_ctx0_get_kind(Model()->qp[out.qpn - BDY_QPN_BASE]), t.kind);
        bdy_u_qp_attr attr{};
        EXPECT_EQ(user_.Call(BDY_U_QUERY_QP, bdy_u_handle{out.handle, 0}, &attr), 0);
        EXPECT_EQ(attr.qp_type, t.type);
        in.scq = 0;
        EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL);
    }
    auto in = User::QpIn(pd_, cq_, 0);
    bdy_u_create_qp_out out{};
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL);
    for (uint32_t type : {0u, 1u, 5u, 6u, 7u, 8u, 11u, 255u}) {
        in = User::QpIn(pd_, cq_, cq_);
        in.qp_type = type;
        EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL) << type;
    }
}

TEST_F(CoreQp, U1_TheQKeyIsSetAndGivenBack)
{
    auto in = User::QpIn(pd_, cq_, cq_);
    in.qp_type = V_QPT_UD;
    ASSERT_EQ(user_.Call(BDY_U_CREATE_QP, in, &qp_), 0);
    bdy_u_qp_attr a = Attr(BDY_QP_ST_INIT, V_ATTR_STATE | V_ATTR_PKEY_INDEX | V_ATTR_PORT);
    EXPECT_EQ(Modify(a), -EINVAL) << "without Q_Key";
    a.mask |= V_ATTR_QKEY;
    a.qkey = 0x80010000;
    ASSERT_EQ(Modify(a), 0);
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_RTR, V_ATTR_STATE)), 0);
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_RTS, V_ATTR_STATE)), -EINVAL) << "without PSN";
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_RTS, V_ATTR_STATE | V_ATTR_SQ_PSN)), 0);
    EXPECT_EQ(Query().qkey, 0x80010000u);
}

TEST_F(CoreQp, N4_AnInlineSizeThatWasAskedForIsThere)
{
    for (uint32_t bytes : {1u, 32u, 33u, 64u, 256u}) {
        auto in = User::QpIn(pd_, cq_, cq_);
        in.max_inline = bytes;
        bdy_u_create_qp_out out{};
        ASSERT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), 0);
        EXPECT_GE(out.max_inline, bytes);
        EXPECT_LE(out.max_inline, 256u);
        uint32_t slots = (32 + out.max_inline + 63) / 64;
        EXPECT_GE(1u << out.sq_log, slots * out.max_send_wr);
    }
    auto in = User::QpIn(pd_, cq_, cq_);
    in.max_inline = 257;
    bdy_u_create_qp_out out{};
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL);
}

TEST_F(CoreQp, N4_FailedCreatesLeaveNothing)
{
    size_t held = pci_.Held();
    bdy_u_create_qp_out out{};
    for (int n : {1, 2}) {
        pci_.dma_alloc_fails_after = n;
        EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, User::QpIn(pd_, cq_, cq_), &out), -ENOMEM);
        EXPECT_EQ(pci_.Held(), held);
    }
    Model()->refuse_after = 1;
    Model()->refuse_rule = BDY_RULE_N5;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, User::QpIn(pd_, cq_, cq_), &out), -EINVAL);
    EXPECT_EQ(pci_.Held(), held);
}

TEST_F(CoreQp, N5_QueryGivesBackWhatWasSet)
{
    ToRts();
    bdy_u_qp_attr q = Query();
    bdy_u_qp_attr a = Attr(BDY_QP_ST_RTS, 0);
    EXPECT_EQ(q.qp_state, uint32_t{BDY_QP_ST_RTS});
    EXPECT_EQ(q.cur_qp_state, uint32_t{BDY_QP_ST_RTS});
    EXPECT_EQ(q.access, a.access) << "not swapped";
    EXPECT_EQ(q.path_mtu, a.path_mtu);
    EXPECT_EQ(q.dest_qp_num, a.dest_qp_num);
    EXPECT_EQ(q.rq_psn, a.rq_psn);
    EXPECT_EQ(q.sq_psn, a.sq_psn);
    EXPECT_EQ(q.max_rd_atomic, a.max_rd_atomic);
    EXPECT_EQ(q.max_dest_rd_atomic, a.max_dest_rd_atomic);
    EXPECT_EQ(q.min_rnr_timer, a.min_rnr_timer);
    EXPECT_EQ(q.timeout, a.timeout);
    EXPECT_EQ(q.retry_cnt, a.retry_cnt);
    EXPECT_EQ(q.rnr_retry, a.rnr_retry);
    EXPECT_EQ(q.port_num, 1u);
    EXPECT_EQ(q.dlid, a.dlid);
    EXPECT_EQ(q.sl, a.sl);
    EXPECT_EQ(q.is_global, 0u);
    EXPECT_EQ(q.max_send_wr, qp_.max_send_wr);
    EXPECT_EQ(q.max_recv_sge, qp_.max_recv_sge);
    EXPECT_EQ(q.qp_type, uint32_t{V_QPT_RC});
}

TEST_F(CoreQp, AGlobalPathKeepsItsGid)
{
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit)), 0);
    bdy_u_qp_attr a = Attr(BDY_QP_ST_RTR, kRtr);
    a.is_global = 1;
    a.sgid_index = 1;
    a.hop_limit = 64;
    a.tclass = 9;
    a.flow_label = 0xabcde;
    for (uint8_t i = 0; i < 16; i++) {
        a.dgid[i] = static_cast<uint8_t>(0xf0 + i);
    }
    a.sgid_index = 2;
    EXPECT_EQ(Modify(a), -EINVAL) << "an empty slot of the GID table";
    a.sgid_index = 3;
    EXPECT_EQ(Modify(a), -EINVAL);
    a.sgid_index = 1;
    ASSERT_EQ(Modify(a), 0);
    bdy_u_qp_attr q = Query();
    EXPECT_EQ(q.is_global, 1u);
    EXPECT_EQ(std::memcmp(q.dgid, a.dgid, 16), 0);
    EXPECT_EQ(q.sgid_index, 1u);
    EXPECT_EQ(q.hop_limit, 64u);
    EXPECT_EQ(q.tclass, 9u);
    EXPECT_EQ(q.flow_label, 0xabcdeu);
}

TEST_F(CoreQp, ALocalPathIgnoresGrhFieldsThatMeanNothing)
{
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit)), 0);
    bdy_u_qp_attr a = Attr(BDY_QP_ST_RTR, kRtr);
    a.sgid_index = 200;
    a.dgid[3] = 9;
    a.flow_label = 0xffffffff;
    ASSERT_EQ(Modify(a), 0);
    EXPECT_EQ(Query().dgid[3], 0u);
}

TEST_F(CoreQp, N5_ValuesThatAFieldWouldCutAreRefused)
{
    const std::vector<std::pair<uint32_t, std::function<void(bdy_u_qp_attr &)>>> bad = {
        {V_ATTR_STATE, [](bdy_u_qp_attr &a) { a.qp_state = 7; }},
        {V_ATTR_STATE, [](bdy_u_qp_attr &a) { a.qp_state = 8 + BDY_QP_ST_RTR; }},
        {V_ATTR_ACCESS, [](bdy_u_qp_attr &a) { a.access = 0x20; }},
        {V_ATTR_ACCESS, [](bdy_u_qp_attr &a) { a.access = 0x100; }},
        {V_ATTR_PORT, [](bdy_u_qp_attr &a) { a.port_num = 2; }},
        {V_ATTR_PORT, [](bdy_u_qp_attr &a) { a.port_num = 0; }},
        {V_ATTR_PKEY_INDEX, [](bdy_u_qp_attr &a) { a.pkey_index = 1; }},
        {V_ATTR_MTU, [](bdy_u_qp_attr &a) { a.path_mtu = 0; }},
        {V_ATTR_MTU, [](bdy_u_qp_attr &a) { a.path_mtu = 6; }},
        {V_ATTR_MTU, [](bdy_u_qp_attr &a) { a.path_mtu = 13; }},
        {V_ATTR_DEST_QPN, [](bdy_u_qp_attr &a) { a.dest_qp_num = 1 << 24; }},
        {V_ATTR_RQ_PSN, [](bdy_u_qp_attr &a) { a.rq_psn = 1 << 24; }},
        {V_ATTR_MIN_RNR, [](bdy_u_qp_attr &a) { a.min_rnr_timer = 32; }},
        {V_ATTR_MAX_DEST_RD, [](bdy_u_qp_attr &a) { a.max_dest_rd_atomic = 17; }},
        {V_ATTR_AV, [](bdy_u_qp_attr &a) { a.sl = 16; }},
        {V_ATTR_AV, [](bdy_u_qp_attr &a) { a.src_path_bits = 128; }},
        {V_ATTR_AV, [](bdy_u_qp_attr &a) { a.is_global = 2; }},
        {V_ATTR_AV, [](bdy_u_qp_attr &a) { a.is_global = 1, a.flow_label = 1 << 20; }},
        {V_ATTR_TIMEOUT, [](bdy_u_qp_attr &a) { a.timeout = 32; }},
        {V_ATTR_RETRY_CNT, [](bdy_u_qp_attr &a) { a.retry_cnt = 8; }},
        {V_ATTR_RNR_RETRY, [](bdy_u_qp_attr &a) { a.rnr_retry = 8; }},
        {V_ATTR_SQ_PSN, [](bdy_u_qp_attr &a) { a.sq_psn = 0xffffffff; }},
        {V_ATTR_MAX_RD, [](bdy_u_qp_attr &a) { a.max_rd_atomic = 17; }},
    };
    for (size_t i = 0; i < bad.size(); i++) {
        // where the attribute belongs
        auto qp = qp_;
        qp_ = user_.Qp(pd_, cq_);
        uint32_t state = BDY_QP_ST_INIT, mask = kInit;
        if ((bad[i].first & kInit) == 0) {
            ASSERT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit)), 0);
            state = BDY_QP_ST_RTR, mask = kRtr;
            if ((bad[i].first & kRtr) == 0) {
                ASSERT_EQ(Modify(Attr(BDY_QP_ST_RTR, kRtr)), 0);
                state = BDY_QP_ST_RTS, mask = kRts;
            }
        }
        bdy_u_qp_attr a = Attr(state, mask);
        bad[i].second(a);
        EXPECT_EQ(Modify(a), -EINVAL) << i;
        EXPECT_EQ(Query().qp_state, state - 1) << i << ": the state stays";
        EXPECT_EQ(Modify(Attr(state, mask)), 0) << i << ": and the right one goes through";
        EXPECT_EQ(user_.Handle(BDY_U_DESTROY_QP, qp_.handle), 0);
        qp_ = qp;
    }
}

TEST_F(CoreQp, N5_MasksFollowTheTable)
{
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit & ~uint32_t{V_ATTR_PORT})), -EINVAL);
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit | V_ATTR_QKEY)), -EINVAL);
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit | 1 << 14)), -EINVAL) << "alternate path";
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_INIT, kInit | 1 << 21)), -EINVAL) << "unknown";
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_RTR, kRtr)), -EINVAL) << "from RESET";
    EXPECT_EQ(Query().qp_state, uint32_t{BDY_QP_ST_RESET});
    ToRts();
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_RTR, kRtr)), -EINVAL) << "backwards";
    bdy_u_qp_attr a = Attr(0, V_ATTR_ACCESS | V_ATTR_CUR_STATE);
    a.cur_qp_state = BDY_QP_ST_RTS;
    a.access = 0;
    EXPECT_EQ(Modify(a), 0);
    EXPECT_EQ(Query().access, 0u);
    a.cur_qp_state = BDY_QP_ST_SQD;
    EXPECT_EQ(Modify(a), -EINVAL);
}

TEST_F(CoreQp, ModifyFollowsTheDevicesOwnMoves)
{
    ToRts();
    mcu_model_qp_state(Model(), qp_.qpn, BDY_QP_ST_ERR);
    EXPECT_EQ(Query().qp_state, uint32_t{BDY_QP_ST_ERR});
    EXPECT_EQ(Modify(Attr(0, V_ATTR_ACCESS)), -EINVAL);
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_ERR, V_ATTR_STATE)), 0);
    EXPECT_EQ(Modify(Attr(BDY_QP_ST_RESET, V_ATTR_STATE)), 0);
    EXPECT_EQ(Query().qp_state, uint32_t{BDY_QP_ST_RESET});
    ToRts();
}

TEST_F(CoreQp, Q3_TheDrainedEventComesOnlyWhenAskedFor)
{
    const uint64_t *ctx = Model()->qp[qp_.qpn - BDY_QPN_BASE];
    ToRts();
    bdy_u_qp_attr a = Attr(BDY_QP_ST_SQD, V_ATTR_STATE);
    ASSERT_EQ(Modify(a), 0);
    EXPECT_EQ(bdy_qp_ctx0_get_sqd_event(ctx), 0u);
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_RTS, V_ATTR_STATE)), 0);
    a.mask |= V_ATTR_SQD_NOTIFY;
    a.en_sqd_async = 1;
    ASSERT_EQ(Modify(a), 0);
    EXPECT_EQ(bdy_qp_ctx0_get_sqd_event(ctx), 1u);
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_RTS, V_ATTR_STATE)), 0);
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_SQD, V_ATTR_STATE)), 0);
    EXPECT_EQ(bdy_qp_ctx0_get_sqd_event(ctx), 0u);
}

TEST_F(CoreQp, ResetToErrIsAllowed)
{
    ASSERT_EQ(Modify(Attr(BDY_QP_ST_ERR, V_ATTR_STATE)), 0);
    EXPECT_EQ(Query().qp_state, uint32_t{BDY_QP_ST_ERR});
}

} // namespace
