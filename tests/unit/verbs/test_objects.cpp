// SPDX-License-Identifier: Apache-2.0
// Device, protection domains, regions, windows, completion queues and queue pairs: what is asked of
// the HCA, and what comes back.

#include <cerrno>

#include "fixture.h"

namespace
{

class Objects : public Provider
{
};

TEST_F(Objects, QueryDeviceGivesWhatTheHcaSays_V1_V2)
{
    ibv_device_attr attr{};
    ASSERT_EQ(ibv_query_device(ctx, &attr), 0);
    EXPECT_STREQ(attr.fw_ver, "0.1.0");
    EXPECT_EQ(attr.device_cap_flags, IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B);
    EXPECT_EQ(attr.atomic_cap, IBV_ATOMIC_NONE);
    EXPECT_EQ(attr.max_qp_wr, 4096);
    EXPECT_EQ(attr.max_sge, 16);
    EXPECT_EQ(attr.vendor_id, 0xbd1u);
    EXPECT_EQ(attr.phys_port_cnt, 1);
}

TEST_F(Objects, QueryDeviceExFillsOnlyAsMuchAsTheCallerKnows)
{
    struct {
        ibv_device_attr_ex attr;
        uint64_t guard;
    } room{};
    room.guard = 0x5a5a5a5a5a5a5a5a;
    ASSERT_EQ(ibv_query_device_ex(ctx, nullptr, &room.attr), 0);
    EXPECT_EQ(room.attr.hca_core_clock, 250000u);
    EXPECT_EQ(room.attr.phys_port_cnt_ex, 1u);
    EXPECT_EQ(room.guard, 0x5a5a5a5a5a5a5a5au);
}

TEST_F(Objects, QueryPortKnowsPortOneOnly)
{
    ibv_port_attr attr{};
    ASSERT_EQ(ibv_query_port(ctx, 1, &attr), 0);
    EXPECT_EQ(attr.lid, 7);
    EXPECT_EQ(attr.state, IBV_PORT_ACTIVE);
    EXPECT_EQ(attr.active_mtu, IBV_MTU_4096);
    EXPECT_EQ(attr.link_layer, IBV_LINK_LAYER_INFINIBAND);
    EXPECT_EQ(ibv_query_port(ctx, 2, &attr), EINVAL);
}

TEST_F(Objects, RawClockIsTheCycleCounterAndAnswersTheMask)
{
    ibv_values_ex a{}, b{}, none{};
    a.comp_mask = IBV_VALUES_MASK_RAW_CLOCK | 0x80;
    b.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    ASSERT_EQ(ibv_query_rt_values_ex(ctx, &a), 0);
    ASSERT_EQ(ibv_query_rt_values_ex(ctx, &b), 0);
    EXPECT_EQ(a.comp_mask, static_cast<uint32_t>(IBV_VALUES_MASK_RAW_CLOCK));
    EXPECT_EQ(b.raw_clock.tv_nsec - a.raw_clock.tv_nsec, 10); // a call costs the double ten cycles
    none.comp_mask = 0x80;
    EXPECT_EQ(ibv_query_rt_values_ex(ctx, &none), 0);
    EXPECT_EQ(none.comp_mask, 0u);
}

TEST_F(Objects, RegMrHandsOverAddressLengthRightsAndIova)
{
    ibv_mr *there =
        ibv_reg_mr_iova(pd, memory.data() + 16, 100, 0x7000'0010, IBV_ACCESS_LOCAL_WRITE);
    ASSERT_NE(there, nullptr);
    const bdy_u_reg_mr_in &in = hca.registrations.back();
    EXPECT_EQ(in.va, reinterpret_cast<uintptr_t>(memory.data() + 16));
    EXPECT_EQ(in.bytes, 100u);
    EXPECT_EQ(in.iova, 0x7000'0010u);
    EXPECT_EQ(in.access, static_cast<uint32_t>(IBV_ACCESS_LOCAL_WRITE));
    EXPECT_EQ(there->lkey, there->rkey);
    EXPECT_EQ(ibv_dereg_mr(there), 0);
}

TEST_F(Objects, ZeroBasedRegionStartsAtIovaZero)
{
    ibv_mr *zero =
        ibv_reg_mr(pd, memory.data(), 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
    ASSERT_NE(zero, nullptr);
    EXPECT_EQ(hca.registrations.back().iova, 0u);
}

TEST_F(Objects, RefusedCallsGiveTheHcasErrno_M1_V5_V7_L3_N2)
{
    errno = 0;
    EXPECT_EQ(ibv_reg_mr(pd, memory.data(), 64, IBV_ACCESS_REMOTE_WRITE), nullptr);
    EXPECT_EQ(errno, EINVAL);
    errno = 0;
    EXPECT_EQ(ibv_alloc_mw(pd, static_cast<ibv_mw_type>(3)), nullptr);
    EXPECT_EQ(errno, EINVAL);
    hca.fail[BDY_U_ALLOC_MW] = ENOMEM;
    errno = 0;
    EXPECT_EQ(ibv_alloc_mw(pd, IBV_MW_TYPE_1), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    hca.fail[BDY_U_DEREG_MR] = EBUSY;
    EXPECT_EQ(ibv_dereg_mr(mr), EBUSY);
    EXPECT_EQ(ibv_dereg_mr(mr), 0); // the object has survived the refusal
    ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    ASSERT_NE(mw, nullptr);
    EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
    EXPECT_EQ(ibv_dealloc_mw(mw), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(Objects, CreateCqRefusesNonsense_N3)
{
    for (int cqe : {0, -1}) {
        errno = 0;
        EXPECT_EQ(ibv_create_cq(ctx, cqe, nullptr, nullptr, 0), nullptr);
        EXPECT_EQ(errno, EINVAL);
    }
    errno = 0;
    EXPECT_EQ(ibv_create_cq(ctx, 1, nullptr, nullptr, 1), nullptr); // one vector: number 0
    EXPECT_EQ(errno, EINVAL);
    ibv_cq *odd = ibv_create_cq(ctx, 65, nullptr, nullptr, 0);
    ASSERT_NE(odd, nullptr);
    EXPECT_GE(odd->cqe, 65); // N4
    EXPECT_EQ(ibv_destroy_cq(odd), 0);
}

TEST_F(Objects, DestroyCqWithQueuePairsIsBusy_N2)
{
    ibv_qp *qp = new_qp();
    EXPECT_EQ(ibv_destroy_cq(cq), EBUSY);
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    cq = nullptr;
}

TEST_F(Objects, OnlyRcQueuePairsAreOffered_P10)
{
    for (ibv_qp_type type : {IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND}) {
        ibv_qp_init_attr attr = qp_attr();
        attr.qp_type = type;
        errno = 0;
        EXPECT_EQ(ibv_create_qp(pd, &attr), nullptr);
        EXPECT_EQ(errno, EOPNOTSUPP);
    }
    EXPECT_EQ(calls(BDY_U_CREATE_QP), 0u);
}

TEST_F(Objects, CreateQpNeedsBothCompletionQueuesOfItsContext)
{
    ibv_qp_init_attr attr = qp_attr();
    attr.recv_cq = nullptr;
    errno = 0;
    EXPECT_EQ(ibv_create_qp(pd, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    ibv_context *other = bdy_verbs_open(fake::direct_transport(&hca));
    ibv_cq *foreign = ibv_create_cq(other, 4, nullptr, nullptr, 0);
    attr.recv_cq = foreign;
    errno = 0;
    EXPECT_EQ(ibv_create_qp(pd, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(ibv_close_device(other), 0);
}

TEST_F(Objects, CreateQpExWithoutExtensionsWorks)
{
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq;
    attr.cap = {4, 4, 1, 1, 0};
    attr.qp_type = IBV_QPT_RC;
    attr.pd = pd;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    ibv_qp *qp = ibv_create_qp_ex(ctx, &attr);
    ASSERT_NE(qp, nullptr);
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    errno = 0;
    EXPECT_EQ(ibv_create_qp_ex(ctx, &attr), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Objects, ModifyPassesOnlyWhatTheMaskNames_N5)
{
    ibv_qp *qp = new_qp(IBV_QPS_INIT);
    ibv_qp_attr attr;
    memset(&attr, 0xee, sizeof(attr));
    attr.qp_state = IBV_QPS_RTR;
    attr.dest_qp_num = 0x1234;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN), 0);
    bdy_u_qp_attr want{};
    want.handle = qp->handle;
    want.mask = IBV_QP_STATE | IBV_QP_DEST_QPN;
    want.qp_state = IBV_QPS_RTR;
    want.dest_qp_num = 0x1234;
    EXPECT_EQ(memcmp(&hca.modifies.back(), &want, sizeof(want)), 0);
}

TEST_F(Objects, ModifyCarriesEachAttribute_N5)
{
    ibv_qp *qp = new_qp(IBV_QPS_RESET);
    ibv_qp_attr a{};
    a.cur_qp_state = IBV_QPS_INIT;
    a.path_mtu = IBV_MTU_2048;
    a.qkey = 0x11;
    a.rq_psn = 0x22;
    a.sq_psn = 0x33;
    a.qp_access_flags = IBV_ACCESS_REMOTE_READ;
    a.pkey_index = 4;
    a.max_rd_atomic = 5;
    a.max_dest_rd_atomic = 6;
    a.min_rnr_timer = 7;
    a.port_num = 1;
    a.timeout = 8;
    a.retry_cnt = 3;
    a.rnr_retry = 2;
    a.en_sqd_async_notify = 1;
    a.ah_attr.port_num = 1;
    a.ah_attr.dlid = 0x4455;
    a.ah_attr.sl = 9;
    a.ah_attr.src_path_bits = 3;
    a.ah_attr.static_rate = 2;
    a.ah_attr.is_global = 1;
    a.ah_attr.grh.dgid.raw[15] = 0x77;
    a.ah_attr.grh.flow_label = 0x12345;
    a.ah_attr.grh.sgid_index = 1;
    a.ah_attr.grh.hop_limit = 64;
    a.ah_attr.grh.traffic_class = 0x20;
    const int mask = IBV_QP_CUR_STATE | IBV_QP_PATH_MTU | IBV_QP_QKEY | IBV_QP_RQ_PSN |
                     IBV_QP_SQ_PSN | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
                     IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
                     IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                     IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_AV;
    ASSERT_EQ(ibv_modify_qp(qp, &a, mask), 0);
    const bdy_u_qp_attr &m = hca.modifies.back();
    EXPECT_EQ(m.cur_qp_state, 1u);
    EXPECT_EQ(m.path_mtu, 4u);
    EXPECT_EQ(m.qkey, 0x11u);
    EXPECT_EQ(m.rq_psn, 0x22u);
    EXPECT_EQ(m.sq_psn, 0x33u);
    EXPECT_EQ(m.access, 4u);
    EXPECT_EQ(m.pkey_index, 4);
    EXPECT_EQ(m.max_rd_atomic, 5);
    EXPECT_EQ(m.max_dest_rd_atomic, 6);
    EXPECT_EQ(m.min_rnr_timer, 7);
    EXPECT_EQ(m.port_num, 1);
    EXPECT_EQ(m.timeout, 8);
    EXPECT_EQ(m.retry_cnt, 3);
    EXPECT_EQ(m.rnr_retry, 2);
    EXPECT_EQ(m.en_sqd_async, 1);
    EXPECT_EQ(m.dlid, 0x4455);
    EXPECT_EQ(m.sl, 9);
    EXPECT_EQ(m.src_path_bits, 3);
    EXPECT_EQ(m.static_rate, 2);
    EXPECT_EQ(m.is_global, 1);
    EXPECT_EQ(m.dgid[15], 0x77);
    EXPECT_EQ(m.flow_label, 0x12345u);
    EXPECT_EQ(m.sgid_index, 1);
    EXPECT_EQ(m.hop_limit, 64);
    EXPECT_EQ(m.tclass, 0x20);
}

TEST_F(Objects, ModifyRefusesAttributesThatDoNotExistHere_N5)
{
    ibv_qp *qp = new_qp(IBV_QPS_INIT);
    ibv_qp_attr attr{};
    const size_t before = hca.modifies.size();
    for (int mask : {int{IBV_QP_ALT_PATH}, int{IBV_QP_CAP}, int{IBV_QP_RATE_LIMIT}, 1 << 30})
        EXPECT_EQ(ibv_modify_qp(qp, &attr, mask), EINVAL);
    EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_AV), EINVAL); // port 0
    EXPECT_EQ(hca.modifies.size(), before);
}

TEST_F(Objects, ARefusedTransitionLeavesTheState_N5)
{
    ibv_qp *qp = new_qp(IBV_QPS_INIT);
    hca.fail[BDY_U_MODIFY_QP] = EINVAL;
    EXPECT_EQ(move(qp, IBV_QPS_RTS), EINVAL);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), EINVAL); // still INIT: Q1
}

TEST_F(Objects, QueryQpGivesBackWhatWasSet_N5)
{
    ibv_qp *qp = new_qp(IBV_QPS_RESET);
    ibv_qp_attr attr{}, got{};
    ibv_qp_init_attr init{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.rq_psn = 77;
    attr.dest_qp_num = 0x2222;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.dlid = 0x99;
    attr.ah_attr.sl = 3;
    ASSERT_EQ(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_DEST_QPN | IBV_QP_AV),
        0);
    ASSERT_EQ(ibv_query_qp(qp, &got, IBV_QP_STATE, &init), 0);
    EXPECT_EQ(got.qp_state, IBV_QPS_RTR);
    EXPECT_EQ(got.path_mtu, IBV_MTU_1024);
    EXPECT_EQ(got.rq_psn, 77u);
    EXPECT_EQ(got.dest_qp_num, 0x2222u);
    EXPECT_EQ(got.ah_attr.dlid, 0x99);
    EXPECT_EQ(got.ah_attr.sl, 3);
    EXPECT_EQ(got.cap.max_send_wr, 8u);
    EXPECT_EQ(init.send_cq, cq);
    EXPECT_EQ(init.qp_type, IBV_QPT_RC);
    EXPECT_EQ(init.cap.max_inline_data, 64u);
}

TEST_F(Objects, TwoHcasInOneProcessDoNotMeet)
{
    fake::Hca second;
    ibv_context *other = bdy_verbs_open(fake::direct_transport(&second));
    ASSERT_NE(other, nullptr);
    ibv_pd *there = ibv_alloc_pd(other);
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(second.calls.back(), static_cast<uint32_t>(BDY_U_ALLOC_PD));
    EXPECT_EQ(ibv_dealloc_pd(there), 0);
    EXPECT_EQ(ibv_close_device(other), 0);
    EXPECT_TRUE(second.contexts.empty());
    EXPECT_EQ(hca.contexts.size(), 1u);
}

TEST_F(Objects, ADeadHcaGivesEioEverywhere_H24)
{
    ibv_qp *qp = new_qp();
    ibv_wc wc;
    hca.gone = true;
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), EIO);
    EXPECT_EQ(post_recv(qp, 1, nullptr, 0), EIO);
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), -1);
    errno = 0;
    EXPECT_EQ(ibv_alloc_pd(ctx), nullptr);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(ibv_req_notify_cq(cq, 0), EIO);
    hca.gone = false; // it does not come back
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), EIO);
}

TEST_F(Objects, AFailedOpenReportsAndClosesTheTransport)
{
    hca.fail[BDY_U_QUERY_DEVICE] = ENOMEM;
    errno = 0;
    EXPECT_EQ(bdy_verbs_open(fake::direct_transport(&hca)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hca.contexts.size(), 1u); // the fixture's own
}

} // namespace
