// SPDX-License-Identifier: Apache-2.0
// States of queue pairs: start, drain, error, reset.
#include <gtest/gtest.h>

#include "peer.h"

using namespace sq;

namespace
{

Wr bind1(uint32_t key)
{
    Wr w;
    w.op = BDY_WQE_OP_BIND1;
    w.inv_key = key;
    w.bind_len = 16;
    return w;
}

unsigned state(Bench &b, unsigned qp)
{
    return unsigned(bdy_qp_ctx0_get_st(b.ctx0(qp).data()));
}

} // namespace

TEST(SqLife, Q1_NothingStartsBeforeRts)
{
    for (unsigned st : {BDY_QP_ST_INIT, BDY_QP_ST_RTR}) {
        Bench b;
        b.make_qp(0);
        b.set_state(0, st);
        ASSERT_TRUE(b.wait_acked());
        b.post(0, bind1(0x100));
        b.ring(0);
        ASSERT_TRUE(b.settle());
        EXPECT_TRUE(b.ops.empty());
        EXPECT_EQ(b.wqe_reads, 0u);
        b.set_state(0, BDY_QP_ST_RTS);
        ASSERT_TRUE(b.settle());
        EXPECT_EQ(b.ops.size(), 1u);
        EXPECT_EQ(b.cqes.size(), 1u);
    }
}

TEST(SqLife, Q2_PostedBeforeRtsIsFlushedInError)
{
    Bench b;
    b.make_qp(0);
    b.set_state(0, BDY_QP_ST_INIT);
    b.go(0, Wr{});
    ASSERT_TRUE(b.settle());
    b.set_state(0, BDY_QP_ST_ERR);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_WR_FLUSH_ERR);
}

TEST(SqLife, Q3_SqdHoldsNewWorkRequestsUntilRts)
{
    Bench b;
    b.to_rts(0);
    b.go(0, Wr{});
    ASSERT_TRUE(b.until([&] { return b.packets.size() == 1; }));
    b.set_state(0, BDY_QP_ST_SQD);
    ASSERT_TRUE(b.wait_acked());
    b.go(0, Wr{});
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.packets.size(), 1u);
    b.jump(b.next_timer()); // retries go on
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.packets.size(), 2u);
    EXPECT_EQ(b.packets[1].psn(), b.packets[0].psn());
    Packet a;
    bdy_pkt_hdr_set_op(a.hdr.data(), BDY_BTH_OP_ACK);
    bdy_pkt_hdr_set_pkey(a.hdr.data(), 0xffff);
    bdy_pkt_hdr_set_dest_qp(a.hdr.data(), BDY_QPN_BASE);
    bdy_pkt_hdr_set_psn(a.hdr.data(), 100);
    b.respond(a);
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.cqes.size(), 1u);
    b.set_state(0, BDY_QP_ST_RTS);
    ASSERT_TRUE(b.until([&] { return b.packets.size() == 3; }));
    EXPECT_EQ(b.packets[2].psn(), 101u); // PSNs are not loaded again
}

TEST(SqLife, W6_ErrorFromOutsideFlushesEverythingOnceInOrder)
{
    Bench b;
    b.to_rts(0);
    for (int i = 0; i < 40; i++)
        b.post(0, i % 3 == 0 ? bind1(unsigned(i)) : Wr{});
    b.ring(0);
    b.run(400); // sixteen under way, none acknowledged
    b.set_state(0, BDY_QP_ST_ERR);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 40u);
    bool flushing = false;
    for (unsigned i = 0; i < 40; i++) {
        EXPECT_EQ(b.cqes[i].index(), i);
        if (b.cqes[i].status() != BDY_WC_SUCCESS)
            flushing = true;
        if (flushing) {
            EXPECT_EQ(b.cqes[i].status(), BDY_WC_WR_FLUSH_ERR);
        }
    }
    EXPECT_EQ(b.next_timer(), ~0ull);
    EXPECT_EQ(b.grants_out, 0);
}

TEST(SqLife, ErrorIsAcknowledgedAtOnceWhileABindHasNoAnswer)
{
    Bench b;
    b.to_rts(0);
    b.on_op = [](const Op &op) {
        OpReply r;
        r.res = op.key() + 1;
        r.exec_delay = 400;
        r.drain = true;
        return r;
    };
    b.go(0, bind1(0x100));
    ASSERT_TRUE(b.until([&] { return b.ops.size() == 1; }));
    b.set_state(0, BDY_QP_ST_ERR);
    EXPECT_TRUE(b.wait_acked(6));
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_TRUE(b.cqes[0].executed());
    EXPECT_EQ(b.cqes[0].rkey(), 0x101u);
}

TEST(SqLife, H3_FlushWaitsForReadDataOnItsWayToMemory)
{
    Bench b;
    b.to_rts(0);
    Peer peer(b, 0);
    b.on_packet = [&](const Packet &p) { peer.request(p); };
    b.hold_write = true;
    Wr r;
    r.op = BDY_WQE_OP_READ;
    r.addr = peer.base;
    r.rkey = peer.rkey;
    r.sges = {{0x50'0000, 64, b.region(0x50'0000, 4096)}};
    b.go(0, r);
    b.run(300);
    b.set_state(0, BDY_QP_ST_ERR);
    EXPECT_TRUE(b.wait_acked(10));
    b.run(300);
    EXPECT_TRUE(b.cqes.empty());
    b.hold_write = false;
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.grants_out, 0);
}

TEST(SqLife, ResetWaitsForEveryPieceOfTheOldLife)
{
    // What is held back, one at a time.
    for (int what = 0; what < 6; what++) {
        SCOPED_TRACE(what);
        Bench b;
        b.to_rts(0);
        Peer peer(b, 0);
        b.on_packet = [&](const Packet &p) { peer.request(p); };
        uint32_t lkey = b.region(0x50'0000, 4096);
        Wr w;
        w.sges = {{0x50'0000, 64, lkey}};
        int held = 600;
        if (what == 0)
            b.hold_payload_read = true;
        if (what == 1)
            b.hold_framer = true;
        if (what == 2) {
            b.hold_write = true;
            w.op = BDY_WQE_OP_READ;
            w.addr = peer.base;
        }
        if (what == 3) {
            w = bind1(0x100);
            b.on_op = [&](const Op &op) {
                OpReply r;
                r.res = op.key();
                r.exec_delay = 100;
                r.drain = true;
                r.drain_delay = held;
                return r;
            };
        }
        if (what == 4)
            b.hold_cqe = true;
        if (what == 5)
            b.hold_cqe_done = true;
        b.go(0, w);
        b.run(what == 3 ? 20 : 200);
        b.set_state(0, BDY_QP_ST_RESET, true);
        b.run(400);
        EXPECT_FALSE(b.acked());
        b.hold_payload_read = b.hold_framer = b.hold_write = b.hold_cqe = b.hold_cqe_done = false;
        EXPECT_TRUE(b.wait_acked());
        ASSERT_TRUE(b.settle());
        EXPECT_EQ(b.grants_out, 0);
        EXPECT_EQ(b.cqes.size(), what >= 4 ? 1u : 0u); // C3: purged, not flushed
        EXPECT_EQ(b.next_timer(), ~0ull);
        // The next life starts afresh.
        b.on_op = {};
        b.make_qp(0);
        bdy_qp_ctx0_set_sq_psn(b.ctx0(0).data(), 5000);
        b.set_state(0, BDY_QP_ST_RTS);
        ASSERT_TRUE(b.wait_acked());
        peer.epsn = 5000;
        size_t before = b.cqes.size();
        b.go(0, w);
        ASSERT_TRUE(b.settle());
        ASSERT_EQ(b.cqes.size(), before + 1);
        EXPECT_EQ(b.cqes.back().status(), BDY_WC_SUCCESS);
        EXPECT_EQ(b.cqes.back().index(), 0u);
    }
}

TEST(SqLife, T4_ResetWaitsForThePacketThatStreamsOut)
{
    Bench b;
    b.to_rts(0);
    Wr w;
    w.sges = {{0x50'0000, 100, b.region(0x50'0000, 4096)}};
    b.hold_stream = true;
    b.go(0, w);
    ASSERT_TRUE(b.until([&] { return b.d->pl_valid_o != 0; }));
    b.run(50);
    b.set_state(0, BDY_QP_ST_RESET, true);
    b.run(500);
    EXPECT_FALSE(b.acked());
    b.hold_stream = false;
    ASSERT_TRUE(b.wait_acked());
    EXPECT_EQ(b.packets.size(), 1u);
}

TEST(SqLife, ResetInTheMiddleOfAFlushEndsIt)
{
    for (int k = 0; k < 60; k++) {
        SCOPED_TRACE(k);
        Bench b;
        b.to_rts(0);
        Wr wrong; // flushed or not, its form is bad
        wrong.op = BDY_WQE_OP_CMP_SWAP;
        for (int i = 0; i < 20; i++)
            b.post(0, i % 2 != 0 ? bind1(unsigned(i)) : wrong);
        b.set_state(0, BDY_QP_ST_ERR);
        b.ring(0);
        b.run(k);
        b.set_state(0, BDY_QP_ST_RESET, true);
        ASSERT_TRUE(b.wait_acked());
        size_t cqes = b.cqes.size(), ops = b.ops.size();
        ASSERT_TRUE(b.settle());
        EXPECT_EQ(b.cqes.size(), cqes);
        EXPECT_EQ(b.ops.size(), ops);
        b.to_rts(0);
        b.go(0, bind1(0x100));
        ASSERT_TRUE(b.settle());
        EXPECT_EQ(b.cqes.size(), cqes + 1);
        EXPECT_EQ(b.cqes.back().status(), BDY_WC_SUCCESS);
    }
}

TEST(SqLife, ResetDoesNotWaitForAQpErrOfOursBehindIt)
{
    Bench b;
    b.to_rts(0);
    b.to_rts(1);
    Wr bad;
    bad.op = 0;
    b.go(1, bad);
    ASSERT_TRUE(b.until([&] { return b.d->op_valid_o != 0; }, 200) || !b.ops.empty());
    b.set_state(0, BDY_QP_ST_RESET, true);
    EXPECT_TRUE(b.wait_acked());
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(state(b, 1), unsigned(BDY_QP_ST_ERR));
    EXPECT_EQ(b.cqes.size(), 1u);
}

TEST(SqLife, LateAnswersOfTheOldLifeDoNotTouchTheNew)
{
    Bench b;
    b.to_rts(0);
    b.go(0, Wr{});
    ASSERT_TRUE(b.until([&] { return b.packets.size() == 1; }));
    b.set_state(0, BDY_QP_ST_RESET, true);
    ASSERT_TRUE(b.wait_acked());
    b.to_rts(0);
    b.go(0, Wr{});
    ASSERT_TRUE(b.until([&] { return b.packets.size() == 2; }));
    Packet a;
    bdy_pkt_hdr_set_op(a.hdr.data(), BDY_BTH_OP_ACK);
    bdy_pkt_hdr_set_pkey(a.hdr.data(), 0xffff);
    bdy_pkt_hdr_set_dest_qp(a.hdr.data(), BDY_QPN_BASE);
    bdy_pkt_hdr_set_psn(a.hdr.data(), 99);
    b.respond(a);
    b.run(100);
    EXPECT_TRUE(b.cqes.empty());
}

TEST(SqLife, EventsBackToBackAreEachTaken)
{
    Bench b;
    for (unsigned q = 0; q < 20; q++) {
        b.make_qp(q);
        b.set_state(q, BDY_QP_ST_RTS);
    }
    ASSERT_TRUE(b.wait_acked());
    for (unsigned q = 0; q < 20; q++)
        b.go(q, bind1(q));
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.cqes.size(), 20u);
    for (unsigned q = 0; q < 20; q++)
        b.set_state(q, q % 2 ? BDY_QP_ST_ERR : BDY_QP_ST_RESET, q % 2 == 0);
    ASSERT_TRUE(b.wait_acked());
    for (unsigned q = 1; q < 20; q += 2)
        b.go(q, bind1(q));
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.cqes.size(), 30u);
}

TEST(SqLife, H19_IdleMeansNothingMoves)
{
    Bench b;
    b.to_rts(0);
    b.go(0, Wr{}); // unanswered: a timer runs
    ASSERT_TRUE(b.settle());
    uint64_t due = b.next_timer();
    ASSERT_NE(due, ~0ull);
    size_t sent = b.packets.size();
    while (b.now() + 1 < due) {
        b.step();
        ASSERT_TRUE(b.d->idle_o);
        ASSERT_EQ(b.next_timer(), due);
    }
    EXPECT_EQ(b.packets.size(), sent);
    uint64_t skipped_at = 0, walked_at = 0;
    ASSERT_TRUE(b.until([&] { return b.packets.size() > sent; }));
    walked_at = b.now() - due;

    Bench c;
    c.to_rts(0);
    c.go(0, Wr{});
    ASSERT_TRUE(c.settle());
    ASSERT_EQ(c.next_timer(), due);
    c.jump(due - 1);
    ASSERT_TRUE(c.until([&] { return c.packets.size() > sent; }));
    skipped_at = c.now() - due;
    EXPECT_EQ(skipped_at, walked_at);
}
