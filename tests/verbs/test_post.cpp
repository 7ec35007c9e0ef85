// SPDX-License-Identifier: Apache-2.0
// What posting refuses, and what it takes (S2, S3, P1 to P20, Q1 to Q3), through verbs on the RTL.
#include "rig.hpp"

namespace {

using rig::Pair;
using rig::Region;

constexpr unsigned kRead = IBV_ACCESS_REMOTE_READ, kWrite = IBV_ACCESS_REMOTE_WRITE;

class Post : public Pair {};
class PostStrict : public Pair {
    void configure() override { cfg_.strict_ibta = true; }
};

TEST_F(Post, P1_P2_EachTypeOnItsOwnWayOnly) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    const uint32_t k1 = one->rkey, k2 = two->rkey;
    EXPECT_EQ(bind1(own, two, mem.mr, mem.addr(), 64, kRead), EINVAL);
    EXPECT_EQ(bind2(own, one, k1 + 1, mem.mr, mem.addr(), 64, kRead), EINVAL);
    EXPECT_EQ(one->rkey, k1);
    EXPECT_EQ(two->rkey, k2);
    EXPECT_TRUE(nothing(cq_));
    EXPECT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(bound(bind2(own, two, k2, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
}

TEST_F(Post, P3_P4_P6_P8_P12_P16_P17_RefusedAtPostAndNothingChanges) {
    Region foreign = region(4096, rig::kAllAccess, pd());
    Region zero = region(4096, rig::kAllAccess | IBV_ACCESS_ZERO_BASED);
    ibv_mw *mw = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    const uint32_t key = mw->rkey, key2 = two->rkey;
    EXPECT_EQ(bind1(own, mw, nullptr, 8, 0, 0), EINVAL);
    EXPECT_EQ(bind1(own, mw, nullptr, 0, 8, 0), EINVAL);
    EXPECT_EQ(bind1(own, mw, foreign.mr, foreign.addr(), 64, kRead), EPERM);
    EXPECT_EQ(bind1(own, mw, zero.mr, 0, 64, kRead), EINVAL);
    EXPECT_EQ(bind2(own, two, 1, zero.mr, 0, 64, kRead), EINVAL);
    for (unsigned bits : {unsigned(IBV_ACCESS_MW_BIND), 1u << 15, 1u << 25}) {
        EXPECT_EQ(bind1(own, mw, mem.mr, mem.addr(), 64, kRead | bits), EINVAL) << bits;
        EXPECT_EQ(bind2(own, two, 1, mem.mr, mem.addr(), 64, kRead | bits), EINVAL) << bits;
    }
    for (unsigned flag : {IBV_SEND_SOLICITED, IBV_SEND_INLINE, IBV_SEND_IP_CSUM}) {
        EXPECT_EQ(bind1(own, mw, mem.mr, mem.addr(), 64, kRead, flag | IBV_SEND_SIGNALED), EINVAL) << flag;
        EXPECT_EQ(bind2(own, two, 1, mem.mr, mem.addr(), 64, kRead, flag | IBV_SEND_SIGNALED), EINVAL) << flag;
    }
    EXPECT_EQ(mw->rkey, key);
    EXPECT_EQ(two->rkey, key2);
    EXPECT_TRUE(nothing(cq_));
    EXPECT_EQ(read(mem.addr(), key, 64), IBV_WC_SUCCESS) << "the old binding works on";
}

TEST_F(Post, P8_LocalWriteIsToleratedAndGrantsNothing) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind2(own, mw, 3, mem.mr, mem.addr(), 64, IBV_ACCESS_LOCAL_WRITE)), IBV_WC_SUCCESS);
    EXPECT_EQ(write(mem.addr(), mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Post, P7_B13_A11_ZeroBasedType2CountsFromZeroAndStartIsChecked) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind2(own, mw, 3, mem.mr, mem.addr() + 100, 64, kWrite | IBV_ACCESS_ZERO_BASED)), IBV_WC_SUCCESS);
    memset(buf.p, 0x77, 64);
    EXPECT_EQ(write(0, mw->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(memcmp(mem.p + 100, buf.p, 64), 0);
    EXPECT_EQ(mem.p[99] | mem.p[164], 0);
    EXPECT_EQ(write(1, mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    ibv_mw *other = window(IBV_MW_TYPE_2);
    EXPECT_EQ(bound(bind2(own, other, 3, mem.mr, 0, 64, kRead | IBV_ACCESS_ZERO_BASED)), IBV_WC_MW_BIND_ERR);
}

TEST_F(PostStrict, P7_ZeroBasedType1IsRefusedAtPostType2IsNot) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    const uint32_t key = one->rkey;
    EXPECT_EQ(bind1(own, one, mem.mr, mem.addr(), 64, kRead | IBV_ACCESS_ZERO_BASED), EINVAL);
    EXPECT_EQ(one->rkey, key);
    EXPECT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(bound(bind2(own, two, 1, mem.mr, mem.addr(), 64, kRead | IBV_ACCESS_ZERO_BASED)), IBV_WC_SUCCESS);
}

TEST_F(Post, P5_P18_WhatTheProgramWritesIntoRkeyChangesNothing) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    const uint32_t k1 = one->rkey, k2 = two->rkey;
    one->rkey = two->rkey = 0xdeadbeef;
    ASSERT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(one->rkey, ibv_inc_rkey(k1));
    ASSERT_EQ(bound(bind2(own, two, 0xBA, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(two->rkey, (k2 & ~0xffu) | 0xBA); // K6: a bare byte
    EXPECT_EQ(bound(bind1(own, one, nullptr, 0, 0, 0)), IBV_WC_SUCCESS);
}

TEST_F(Post, P14_AFullQueueIsEnomemAndTheEarlierOnesStayPosted) {
    ibv_qp *a = qp(nullptr, 0, nullptr, nullptr, 8), *b = qp(nullptr, 0, peer_cq, peer_cq);
    connect(a, b);
    ibv_qp_attr qa = {};
    ibv_qp_init_attr ia = {};
    ASSERT_EQ(ibv_query_qp(a, &qa, IBV_QP_CAP, &ia), 0);
    const unsigned max = qa.cap.max_send_wr;
    std::vector<ibv_send_wr> wrs(max + 2);
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    for (unsigned i = 0; i < wrs.size(); i++) {
        wrs[i] = {};
        wrs[i].wr_id = i;
        wrs[i].opcode = IBV_WR_RDMA_WRITE; // of zero length
        wrs[i].send_flags = IBV_SEND_SIGNALED;
        wrs[i].next = i + 1 < wrs.size() ? &wrs[i + 1] : nullptr;
    }
    wrs[max].opcode = IBV_WR_BIND_MW;
    wrs[max].bind_mw.mw = mw;
    wrs[max].bind_mw.rkey = 1;
    wrs[max].bind_mw.bind_info = {mem.mr, mem.addr(), 64, kRead};
    const uint32_t key = mw->rkey;
    ibv_send_wr *bad = nullptr;
    EXPECT_EQ(ibv_post_send(a, wrs.data(), &bad), ENOMEM);
    EXPECT_EQ(bad, &wrs[max]);
    EXPECT_EQ(mw->rkey, key);
    for (unsigned i = 0; i < max; i++) {
        ibv_wc wc = next();
        ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << i;
        EXPECT_EQ(wc.wr_id, i);
    }
    EXPECT_TRUE(nothing(cq_));
}

TEST_F(Post, P15_P16_P20_BadOpcodesListsAndUnusedFields) {
    ibv_mw *mw = window(IBV_MW_TYPE_2);
    ibv_send_wr wr = {}, *bad = nullptr;
    for (int op : {int(IBV_WR_TSO), int(IBV_WR_DRIVER1), 99}) {
        wr.opcode = ibv_wr_opcode(op);
        bad = nullptr;
        EXPECT_GT(ibv_post_send(own, &wr, &bad), 0) << op;
        EXPECT_EQ(bad, &wr);
    }
    ibv_sge many[32] = {};
    wr.opcode = IBV_WR_SEND;
    wr.sg_list = many;
    wr.num_sge = 32;
    EXPECT_EQ(ibv_post_send(own, &wr, &bad), EINVAL);
    wr.opcode = IBV_WR_BIND_MW;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.bind_mw.mw = mw;
    wr.bind_mw.rkey = 1;
    wr.bind_mw.bind_info = {mem.mr, mem.addr(), 64, kRead};
    wr.num_sge = 1;
    EXPECT_EQ(ibv_post_send(own, &wr, &bad), EINVAL);
    wr.num_sge = 0;
    wr.sg_list = reinterpret_cast<ibv_sge *>(0x10); // must not be read
    wr.imm_data = 0xffffffff;
    EXPECT_EQ(bound(ibv_post_send(own, &wr, &bad)), IBV_WC_SUCCESS);
}

TEST_F(Post, S3_W1_EveryFlagWithAndWithoutSignalAll) {
    for (int all : {0, 1}) {
        ibv_cq *c = cq();
        ibv_qp *a = qp(nullptr, all, c), *b = qp(nullptr, 0, peer_cq, peer_cq);
        connect(a, b);
        ibv_mw *mw = window(IBV_MW_TYPE_1);
        for (unsigned flags : {0u, unsigned(IBV_SEND_FENCE), unsigned(IBV_SEND_SIGNALED), unsigned(IBV_SEND_FENCE | IBV_SEND_SIGNALED)}) {
            ASSERT_EQ(bind1(a, mw, mem.mr, mem.addr(), 64, kRead, flags, 70 + flags), 0);
            if (all || flags & IBV_SEND_SIGNALED) {
                ibv_wc wc = next(c);
                EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
                EXPECT_EQ(wc.wr_id, 70 + flags);
            }
            EXPECT_TRUE(nothing(c)) << flags;
        }
    }
}

TEST_F(Post, S2_P10_Q1_BeforeRtsIsEinvalAndNothingIsPosted) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    const uint32_t k1 = one->rkey, k2 = two->rkey;
    ibv_qp *a = qp(), *b = qp(nullptr, 0, peer_cq, peer_cq);
    auto refuses = [&](const char *where) {
        EXPECT_EQ(bind1(a, one, mem.mr, mem.addr(), 64, kRead), EINVAL) << where;
        EXPECT_EQ(bind2(a, two, 1, mem.mr, mem.addr(), 64, kRead), EINVAL) << where;
        EXPECT_EQ(invalidate(a, k2), EINVAL) << where;
        EXPECT_EQ(post(a, IBV_WR_SEND, sge(mem, 0, 8), 0, 0), EINVAL) << where;
        EXPECT_EQ(one->rkey, k1);
        EXPECT_EQ(two->rkey, k2);
    };
    refuses("RESET");
    ASSERT_EQ(to_init(a, kRead), 0);
    refuses("INIT");
    ASSERT_EQ(to_rtr(a, b->qp_num, link), 0);
    refuses("RTR");
    ASSERT_EQ(to_rts(a, link), 0);
    EXPECT_TRUE(nothing(cq_));
    EXPECT_EQ(bound(bind1(a, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
}

TEST_F(Post, Q2_InErrorBindsAndInvalidatesAreFlushedAndChangeNothing) {
    ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
    ASSERT_EQ(bound(bind1(own, one, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(bound(bind2(own, two, 1, mem.mr, mem.addr(), 64, kRead)), IBV_WC_SUCCESS);
    const uint32_t key = one->rkey;
    ASSERT_EQ(to_state(own, IBV_QPS_ERR), 0);
    ASSERT_EQ(bind1(own, one, mem.mr, mem.addr() + 64, 64, kRead, 0, 90), 0);
    ASSERT_EQ(invalidate(own, two->rkey, 0, 91), 0);
    for (uint64_t id : {90, 91}) {
        ibv_wc wc = next();
        EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
        EXPECT_EQ(wc.wr_id, id);
        EXPECT_EQ(wc.vendor_err >> 31, 0u) << "H12: not executed";
    }
    one->rkey = key;
    reconnect();
    EXPECT_EQ(read(mem.addr(), key, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(bound(bind1(own, one, mem.mr, mem.addr() + 64, 64, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(one->rkey, ibv_inc_rkey(key));
}

TEST_F(Post, Q3_InSqdWorkIsTakenAndStartsInRts) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(to_state(own, IBV_QPS_SQD), 0);
    ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr(), 64, kRead), 0);
    EXPECT_TRUE(nothing(cq_));
    ASSERT_EQ(to_state(own, IBV_QPS_RTS), 0);
    EXPECT_EQ(next().status, IBV_WC_SUCCESS);
    EXPECT_EQ(read(mem.addr(), mw->rkey, 64), IBV_WC_SUCCESS);
}

TEST_F(Post, P19_ABindMayBeAsLongAsItsRegion) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), mem.bytes, kRead)), IBV_WC_SUCCESS);
    EXPECT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 3ull << 30, kRead)), IBV_WC_MW_BIND_ERR) << "taken at post";
}

}  // namespace
