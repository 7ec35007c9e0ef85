// SPDX-License-Identifier: Apache-2.0
// From doorbell to bind pipeline and back: form of work requests, order, completions, latency.
#include <gtest/gtest.h>

#include "bench.h"

using namespace sq;

namespace
{

Wr bind1(uint32_t key = 0x1234500, bool signaled = true)
{
    Wr w;
    w.op = BDY_WQE_OP_BIND1;
    w.inv_key = key;
    w.rkey = 0x777700;
    w.addr = 0x10000;
    w.bind_len = 0x1'2345'6789ull;
    w.rights = BDY_ACCESS_BIT_REMOTE_READ | BDY_ACCESS_BIT_REMOTE_WRITE;
    w.signaled = signaled;
    return w;
}

OpReply executed(const Op &op, bool drain = false)
{
    OpReply r;
    r.res = op.key() + 1;
    r.drain = drain;
    return r;
}

} // namespace

TEST(SqPost, BindCarriesEveryFieldToTheBindPipeline)
{
    Bench b;
    b.to_rts(3);
    b.on_op = [](const Op &op) { return executed(op); };
    Wr w = bind1();
    w.op = BDY_WQE_OP_BIND2;
    w.new_key = 0xba;
    b.go(3, w);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.ops.size(), 1u);
    const uint64_t *o = b.ops[0].w.data();
    EXPECT_EQ(bdy_prot_op_get_op(o), BDY_PROT_OP_BIND2);
    EXPECT_EQ(bdy_prot_op_get_key(o), 0x1234500u);
    EXPECT_EQ(bdy_prot_op_get_mr_key(o), 0x777700u);
    EXPECT_EQ(bdy_prot_op_get_addr(o), 0x10000u);
    EXPECT_EQ(bdy_prot_op_get_len(o), 0x1'2345'6789ull);
    EXPECT_EQ(bdy_prot_op_get_rights(o), w.rights);
    EXPECT_EQ(bdy_prot_op_get_new_key(o), 0xbau);
    EXPECT_EQ(bdy_prot_op_get_pd(o), 7u);
    EXPECT_EQ(bdy_prot_op_get_qpn(o), BDY_QPN_BASE + 3);
    EXPECT_TRUE(bdy_prot_op_rsvd_zero(o));
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_SUCCESS);
    EXPECT_EQ(b.cqes[0].op(), BDY_CQE_OP_BIND_MW);
    EXPECT_EQ(b.cqes[0].qp(), 3u);
    EXPECT_EQ(b.cqes[0].cqn, 0x43u);
    EXPECT_EQ(b.cqes[0].index(), 0u);
    EXPECT_EQ(b.cqes[0].rkey(), 0x1234501u);
    EXPECT_TRUE(b.cqes[0].executed());
    EXPECT_EQ(b.next_timer(), ~0ull);
}

TEST(SqPost, LatencyOfABindFitsItsShare)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [](const Op &op) { return executed(op); };
    b.go(0, bind1());
    ASSERT_TRUE(b.settle());
    b.ops.clear();
    b.cqes.clear();
    uint64_t start = b.now();
    b.go(0, bind1());
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.ops.size(), 1u);
    ASSERT_EQ(b.cqes.size(), 1u);
    RecordProperty("db_to_op", int(b.ops[0].cycle - start));
    RecordProperty("answer_to_cqe", int(b.cqes[0].cycle - b.ops[0].cycle - 1));
    EXPECT_LE(b.ops[0].cycle - start, 14u);
    EXPECT_LE(b.cqes[0].cycle - (b.ops[0].cycle + 1), 4u); // answered one cycle after it was taken
}

TEST(SqPost, W1_UnsignaledSuccessIsSilentButRetiredByTheNext)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [](const Op &op) { return executed(op); };
    b.post(0, bind1(0x100, false));
    b.post(0, bind1(0x200, false));
    uint16_t last = b.go(0, bind1(0x300));
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].index(), last);
    EXPECT_EQ(b.ops.size(), 3u);
}

TEST(SqPost, W1_SigAllSignalsEverything)
{
    Bench b;
    b.make_qp(0);
    bdy_qp_ctx0_set_sig_all(b.ctx0(0).data(), 1);
    b.set_state(0, BDY_QP_ST_RTS);
    b.on_op = [](const Op &op) { return executed(op); };
    b.go(0, bind1(0x100, false));
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.cqes.size(), 1u);
}

TEST(SqPost, O1_O6_NothingPassesABindWithoutItsAnswer)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [](const Op &op) {
        OpReply r = executed(op);
        r.exec_delay = 100;
        return r;
    };
    b.post(0, bind1(0x100));
    b.post(0, bind1(0x200));
    Wr send;
    b.post(0, send);
    b.ring(0);
    b.run(40);
    b.ring(0); // wakes the queue pair
    b.run(50);
    EXPECT_EQ(b.ops.size(), 1u);
    EXPECT_TRUE(b.packets.empty());
    b.run(150);
    EXPECT_EQ(b.ops.size(), 2u);
    EXPECT_TRUE(b.until([&] { return b.packets.size() == 1; }));
}

TEST(SqPost, O7_H3_RetirementWaitsForTheDrainButNotTheQueue)
{
    Bench b;
    b.to_rts(0);
    b.to_rts(1);
    b.on_op = [](const Op &op) {
        OpReply r = executed(op, true);
        r.drain_delay = op.qp() == 0 && op.key() == 0x100 ? 500 : 1;
        return r;
    };
    b.post(0, bind1(0x100));
    b.post(0, bind1(0x200));
    b.ring(0);
    b.go(1, bind1(0x300));
    b.run(300);
    // Later work requests execute once the table write is done, and another queue pair is not held
    // up; with room for one operation all wait.
    EXPECT_EQ(b.ops.size(), Shallow ? 1u : 3u);
    ASSERT_EQ(b.cqes.size(), Shallow ? 0u : 1u);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 3u);
    EXPECT_EQ(b.cqes[0].qp(), Shallow ? 0u : 1u);
    std::vector<uint32_t> keys;
    for (const Cqe &c : b.cqes)
        if (c.qp() == 0)
            keys.push_back(c.rkey());
    EXPECT_EQ(keys, (std::vector<uint32_t>{0x101, 0x201}));
}

TEST(SqPost, W2_W5_W6_Q5_RefusedBindFailsThenFlushes)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [](const Op &op) {
        OpReply r;
        if (bdy_prot_op_get_rights(op.w.data()) == 0x80) {
            r.rule = BDY_RULE_P8;
            r.res = 0x100;
        } else if (op.key() == 0x200) {
            r.rule = BDY_RULE_B7;
            r.res = 0x100;
        } else {
            r.res = op.key();
        }
        return r;
    };
    b.post(0, bind1(0x100));
    uint16_t bad = b.post(0, bind1(0x200, false));
    uint16_t f1 = b.post(0, bind1(0x201, false));
    Wr send;
    send.signaled = false;
    uint16_t f2 = b.post(0, send);
    b.ring(0);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 4u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_SUCCESS);
    EXPECT_EQ(b.cqes[1].status(), BDY_WC_MW_BIND_ERR);
    EXPECT_EQ(b.cqes[1].rule(), BDY_RULE_B7);
    EXPECT_EQ(b.cqes[1].index(), bad);
    EXPECT_EQ(b.cqes[1].rkey(), 0x100u);
    EXPECT_FALSE(b.cqes[1].executed());
    EXPECT_EQ(b.cqes[2].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.cqes[2].index(), f1);
    EXPECT_EQ(b.cqes[2].rkey(), 0x100u); // H12: the present key, asked for without a chance to bind
    EXPECT_FALSE(b.cqes[2].executed());
    EXPECT_EQ(b.cqes[3].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.cqes[3].index(), f2);
    EXPECT_EQ(bdy_qp_ctx0_get_st(b.ctx0(0).data()), uint64_t(BDY_QP_ST_ERR));
    EXPECT_TRUE(b.packets.empty());
    // Q2: posted later, flushed as well.
    b.go(0, bind1(0x300));
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 5u);
    EXPECT_EQ(b.cqes[4].status(), BDY_WC_WR_FLUSH_ERR);
    for (const Op &op : b.ops) {
        if (op.cycle > b.cqes[1].cycle) {
            EXPECT_EQ(bdy_prot_op_get_rights(op.w.data()), 0x80u);
        }
    }
}

TEST(SqPost, H12_ExecutedBindKeepsItsEffectWhenFlushed)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [](const Op &op) { return executed(op); };
    Wr send; // never acknowledged: holds retirement
    b.post(0, send);
    b.post(0, bind1(0x100));
    b.ring(0);
    ASSERT_TRUE(b.until([&] { return b.ops.size() == 1; }));
    b.run(20);
    b.set_state(0, BDY_QP_ST_ERR);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 2u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.cqes[1].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_TRUE(b.cqes[1].executed());
    EXPECT_EQ(b.cqes[1].rkey(), 0x101u);
}

TEST(SqPost, H12_RefusalForTheStateIsAFlush)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [&](const Op &) {
        OpReply r;
        r.rule = BDY_RULE_Q1;
        r.res = 0x100;
        b.set_state(0, BDY_QP_ST_ERR);
        return r;
    };
    b.go(0, bind1(0x100));
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.cqes[0].rkey(), 0x100u);
    EXPECT_FALSE(b.cqes[0].executed());
}

namespace
{

struct BadWqe {
    const char *name;
    std::function<void(std::vector<uint64_t> &)> spoil;
};

} // namespace

TEST(SqPost, P15_EveryUnknownFormIsRefused)
{
    const std::vector<BadWqe> cases = {
        {"op 0", [](auto &w) { bdy_wqe_set_op(w.data(), 0); }},
        {"op 9", [](auto &w) { bdy_wqe_set_op(w.data(), 9); }},
        {"atomic without SGE", [](auto &w) { bdy_wqe_set_op(w.data(), BDY_WQE_OP_CMP_SWAP); }},
        {"atomic with two SGEs",
         [](auto &w) {
             w.resize(8);
             bdy_wqe_set_op(w.data(), BDY_WQE_OP_FETCH_ADD);
             bdy_wqe_set_num_sge(w.data(), 2);
             bdy_sge_set_len(w.data() + 4, 8);
         }},
        {"atomic of 7 bytes",
         [](auto &w) {
             bdy_wqe_set_op(w.data(), BDY_WQE_OP_FETCH_ADD);
             bdy_wqe_set_num_sge(w.data(), 1);
             bdy_sge_set_len(w.data() + 4, 7);
         }},
        {"inline atomic",
         [](auto &w) {
             bdy_wqe_set_op(w.data(), BDY_WQE_OP_CMP_SWAP);
             bdy_wqe_set_inl(w.data(), 1);
             bdy_wqe_set_inl_len(w.data(), 8);
         }},
        {"op 255", [](auto &w) { bdy_wqe_set_op(w.data(), 255); }},
        {"reserved 12", [](auto &w) { w[0] |= 1ull << 12; }},
        {"reserved 63", [](auto &w) { w[0] |= 1ull << 63; }},
        {"17 SGEs",
         [](auto &w) {
             bdy_wqe_set_num_sge(w.data(), 17);
             bdy_wqe_set_slots(w.data(), 5);
         }},
        {"slots 0", [](auto &w) { bdy_wqe_set_slots(w.data(), 0); }},
        {"slots 2 instead of 1", [](auto &w) { bdy_wqe_set_slots(w.data(), 2); }},
        {"slots 9", [](auto &w) { bdy_wqe_set_slots(w.data(), 9); }},
        {"inline length without inline", [](auto &w) { bdy_wqe_set_inl_len(w.data(), 4); }},
        {"inline with SGEs",
         [](auto &w) {
             bdy_wqe_set_inl(w.data(), 1);
             bdy_wqe_set_num_sge(w.data(), 1);
         }},
        {"inline 481",
         [](auto &w) {
             bdy_wqe_set_inl(w.data(), 1);
             bdy_wqe_set_inl_len(w.data(), 481);
             bdy_wqe_set_slots(w.data(), 9);
         }},
        {"inline read",
         [](auto &w) {
             bdy_wqe_set_op(w.data(), BDY_WQE_OP_READ);
             bdy_wqe_set_inl(w.data(), 1);
         }},
        {"bind with SGE",
         [](auto &w) {
             bdy_wqe_set_op(w.data(), BDY_WQE_OP_BIND1);
             bdy_wqe_set_num_sge(w.data(), 1);
         }},
        {"solicited bind",
         [](auto &w) {
             bdy_wqe_set_op(w.data(), BDY_WQE_OP_BIND1);
             bdy_wqe_set_solicited(w.data(), 1);
         }},
        {"index", [](auto &w) { bdy_wqe_set_index(w.data(), 77); }},
    };
    for (const BadWqe &c : cases) {
        SCOPED_TRACE(c.name);
        Bench b;
        b.to_rts(0);
        auto words = b.image(0, Wr{});
        c.spoil(words);
        uint16_t at = b.post_raw(0, words);
        b.ring(0);
        ASSERT_TRUE(b.settle());
        ASSERT_EQ(b.cqes.size(), 1u);
        EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_QP_OP_ERR);
        EXPECT_EQ(b.cqes[0].rule(), BDY_RULE_P15);
        EXPECT_EQ(b.cqes[0].index(), at);
        EXPECT_TRUE(b.packets.empty());
        ASSERT_EQ(b.ops.size(), 1u);
        EXPECT_EQ(b.ops[0].op(), BDY_PROT_OP_QP_ERR);
    }
}

TEST(SqPost, P15_TornSlotDoesNotHideTheWorkRequestsBehindIt)
{
    Bench b;
    b.to_rts(0);
    auto words = b.image(0, Wr{});
    bdy_wqe_set_index(words.data(), 9);
    b.post_raw(0, words);
    uint16_t next = b.post(0, Wr{});
    b.ring(0);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 2u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_QP_OP_ERR);
    EXPECT_EQ(b.cqes[1].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.cqes[1].index(), next);
}

TEST(SqPost, P15_W6_FlushPassesOverSlotsThatStartNothing)
{
    Bench b;
    b.to_rts(0);
    auto bad = b.image(0, Wr{});
    bdy_wqe_set_op(bad.data(), 99);
    b.post_raw(0, bad);
    auto torn = b.image(0, Wr{});
    bdy_wqe_set_index(torn.data(), 77);
    b.post_raw(0, torn);
    uint16_t last = b.post(0, Wr{});
    b.ring(0);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 2u);
    EXPECT_EQ(b.cqes[1].index(), last);
    EXPECT_EQ(b.cqes[1].status(), BDY_WC_WR_FLUSH_ERR);
}

TEST(SqPost, SlotIndicesWrapAfter65536)
{
    Bench b;
    b.to_rts(0);
    uint32_t lkey = b.region(0x50'0000, 4096);
    auto answer = [&](const Packet &p) {
        Packet a;
        uint64_t *h = a.hdr.data();
        bool read = p.op() == BDY_BTH_OP_READ_REQ;
        bdy_pkt_hdr_set_op(h, read ? BDY_BTH_OP_READ_RESP_ONLY : BDY_BTH_OP_ACK);
        bdy_pkt_hdr_set_pkey(h, 0xffff);
        bdy_pkt_hdr_set_dest_qp(h, BDY_QPN_BASE);
        bdy_pkt_hdr_set_psn(h, p.psn());
        bdy_pkt_hdr_set_paylen(h, read ? 4 : 0);
        if (read)
            a.data = {1, 2, 3, 4};
        b.respond(a);
    };
    b.on_packet = answer;
    Wr read;
    read.op = BDY_WQE_OP_READ;
    read.sges = {{0x50'0000, 4, lkey}};
    Wr big;
    big.is_inline = true;
    big.inl = Bytes(480, 7);
    big.signaled = false;
    b.go(0, read);
    ASSERT_TRUE(b.settle());
    for (int i = 1; i < 8; i++)
        b.post(0, Wr{});
    b.ring(0);
    ASSERT_TRUE(b.settle());
    for (int i = 8; i < 65536; i += 8) {
        b.go(0, big);
        if (i % 32 == 0) {
            ASSERT_TRUE(b.settle());
        }
    }
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.qps[0].pi, 0u);
    read.sges = {{0x50'0100, 4, lkey}};
    b.go(0, read);
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.cqes.back().status(), BDY_WC_SUCCESS);
    EXPECT_EQ(b.cqes.back().index(), 0u);
    EXPECT_EQ(b.get(0x50'0100, 4), (Bytes{1, 2, 3, 4}));
}

TEST(SqPost, DmaErrorOfTheRingFailsTheWorkRequest)
{
    Bench b;
    b.to_rts(0);
    b.post(0, Wr{});
    b.mem.bad.insert(b.qps[0].ring >> 12);
    b.ring(0);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_QP_OP_ERR);
    EXPECT_EQ(b.cqes[0].rule(), BDY_RULE_DMA);
}

TEST(SqPost, H23_ProducerIndexBeyondTheRingIsFatalToItsQueuePairOnly)
{
    Bench b;
    b.to_rts(0);
    b.to_rts(1);
    b.on_op = [](const Op &op) { return executed(op); };
    b.doorbell(0, 65); // ring of 64
    b.go(1, bind1(0x100));
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(bdy_qp_ctx0_get_st(b.ctx0(0).data()), uint64_t(BDY_QP_ST_ERR));
    ASSERT_EQ(b.events.size(), 1u);
    EXPECT_EQ(bdy_eqe_get_kind(&b.events[0]), BDY_EQE_KIND_QP_FATAL);
    EXPECT_EQ(bdy_eqe_get_number(&b.events[0]), BDY_QPN_BASE);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].qp(), 1u);
}

TEST(SqPost, H23_ProducerIndexGoingBackIsRefused)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [](const Op &op) { return executed(op); };
    b.post(0, bind1(0x100));
    b.post(0, bind1(0x200));
    b.ring(0);
    ASSERT_TRUE(b.settle());
    b.doorbell(0, 1);
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(bdy_qp_ctx0_get_st(b.ctx0(0).data()), uint64_t(BDY_QP_ST_ERR));
    EXPECT_EQ(b.cqes.size(), 2u);
}

TEST(SqPost, FullRingWrapsManyTimes)
{
    Bench b;
    b.make_qp(0, 3);
    b.set_state(0, BDY_QP_ST_RTS);
    ASSERT_TRUE(b.wait_acked());
    b.on_op = [](const Op &op) { return executed(op); };
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++)
            b.post(0, bind1(uint32_t(round * 256 + i)));
        b.ring(0);
        ASSERT_TRUE(b.settle());
        ASSERT_EQ(b.cqes.size(), size_t(8 * (round + 1)));
    }
    for (size_t i = 0; i < b.cqes.size(); i++) {
        EXPECT_EQ(b.cqes[i].index(), i);
        EXPECT_EQ(b.cqes[i].status(), BDY_WC_SUCCESS);
    }
}

TEST(SqPost, C1_DeadCompletionQueueMovesTheQueuePairToError)
{
    Bench b;
    b.to_rts(0);
    b.cq_dead = true;
    b.on_op = [](const Op &op) { return executed(op); };
    b.go(0, bind1());
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(bdy_qp_ctx0_get_st(b.ctx0(0).data()), uint64_t(BDY_QP_ST_ERR));
    size_t seen = b.cqes.size();
    b.go(0, bind1());
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.cqes.size(), seen); // nothing more for a dead queue
}

TEST(SqPost, ManyQueuePairsTakeTurns)
{
    Bench b;
    b.on_op = [](const Op &op) { return executed(op); };
    for (unsigned q = 0; q < 256; q += 5) {
        b.to_rts(q);
        for (unsigned i = 0; i < 3; i++)
            b.post(q, bind1(q * 16 + i));
        b.ring(q);
    }
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.cqes.size(), 52u * 3);
    std::map<unsigned, unsigned> next;
    for (const Cqe &c : b.cqes)
        EXPECT_EQ(c.index(), next[c.qp()]++);
}
