// SPDX-License-Identifier: Apache-2.0
// Lives and ends of queue pairs at the responder: events of the bind pipeline, flush, receive doorbells, reset.
#include "fixture.h"

namespace rx {

using ResponderLife = Rx;
INSTANTIATE_TEST_SUITE_P(Latency, ResponderLife, ::testing::Values(0u, 60u));

TEST_P(ResponderLife, Q2ErrorFlushesPostedReceivesInOrderAndLaterOnesToo)
{
    for (int i = 0; i < 5; i++) b.post_recv(kQp, {{kRecv, 64, kLocal}});
    ASSERT_TRUE(b.settle());
    EXPECT_TRUE(b.cqes.empty());
    b.set_state(kQp, BDY_QP_ST_ERR);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 5u);
    for (int i = 0; i < 3; i++) b.post_recv(kQp, {{kRecv, 64, kLocal}});
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.cqes.size(), 8u);
    for (unsigned i = 0; i < 8; i++) {
        EXPECT_EQ(b.cqes[i].status(), BDY_WC_WR_FLUSH_ERR);
        EXPECT_EQ(b.cqes[i].wqe_index(), i);
        EXPECT_EQ(b.cqes[i].qpn(), kQpnBase + kQp);
        EXPECT_EQ(b.cqes[i].cqn, 40 + kQp);
        EXPECT_EQ(b.cqes[i].op(), BDY_CQE_OP_RECV);
        EXPECT_TRUE(bdy_cqe_get_recv(b.cqes[i].w.data()));
    }
}

TEST_P(ResponderLife, Q2NoReceivePostedInErrorIsMissed)
{
    // Two posts at every distance: the second one may meet the flush of the first one in any of its steps.
    b.set_state(kQp, BDY_QP_ST_ERR);
    ASSERT_TRUE(b.settle());
    for (unsigned gap = 0; gap < 40; gap++) {
        b.post_recv(kQp, {{kRecv, 64, kLocal}});
        b.run(gap);
        b.post_recv(kQp, {{kRecv, 64, kLocal}});
        ASSERT_TRUE(b.settle());
        ASSERT_EQ(b.cqes.size(), 2 * (gap + 1)) << gap;
    }
}

TEST_P(ResponderLife, Q2AMessageHalfReceivedIsFlushed)
{
    b.post_recv(kQp, {{kRecv, 4096, kLocal}});
    auto packets = r.send(pattern(1, 1000));
    deliver({packets[0], packets[1]});
    b.set_state(kQp, BDY_QP_ST_ERR);
    deliver({packets[2], packets[3]});
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.bytes_written, 512u);
}

TEST_P(ResponderLife, C3ResetForgetsReceivesMessageAndPsn)
{
    b.post_recv(kQp, {{kRecv, 4096, kLocal}});
    b.post_recv(kQp, {{kRecv, 4096, kLocal}});
    auto packets = r.send(pattern(1, 1000));
    deliver({packets[0], packets[1]});
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    ASSERT_TRUE(b.settle());
    b.make_rtr(kQp, 500);
    EXPECT_TRUE(b.cqes.empty());
    Requester again(kQp, 500);
    b.out.clear();
    Packet first = again.send(pattern(2, 10))[0];
    deliver(first);
    EXPECT_EQ(last().syndrome(), BDY_AETH_RNR | (5 + kQp));     // nothing is posted any more
    EXPECT_EQ(last().psn(), 500u);
    b.post_recv(kQp, {{kRecv + 64, 64, kLocal}});               // indices begin at 0 again
    deliver(first);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_SUCCESS);
    EXPECT_EQ(b.cqes[0].wqe_index(), 0u);
    EXPECT_EQ(last().msn(), 1u);
}

TEST_P(ResponderLife, H4PacketThatArrivedInAnOlderLifeIsDropped)
{
    Packet old = r.write(kTarget, kRemote, pattern(1, 8))[0];
    bdy_pkt_hdr_set_psn(old.h.data(), 0x300);
    bdy_pkt_hdr_set_arrival(old.h.data(), b.now());
    b.run(10);
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    b.make_rtr(kQp, 0x300);
    deliver(old);
    EXPECT_TRUE(b.out.empty());
    EXPECT_EQ(b.counts[kBadState], 1u);
    expect_untouched();
    bdy_pkt_hdr_set_arrival(old.h.data(), b.now());
    deliver(old);
    EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);
}

TEST_P(ResponderLife, T4ResetIsAcknowledgedOnlyAfterTheAckHasLeft)
{
    b.framer_blocked = true;
    b.send(r.write(kTarget, kRemote, pattern(1, 8))[0]);
    ASSERT_TRUE(b.run_until([&] { return b.bytes_written == 8; }));
    b.run(30);
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    b.run(2000);
    EXPECT_EQ(b.events_pending(), 1u);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    expect_answer(BDY_AETH_ACK, kPsn);
}

TEST_P(ResponderLife, T4AckBehindARunningReadSurvivesResetWhereItCan)
{
    // SEND, then READs that cannot leave: the SEND is acknowledged before the destroy returns, the READs are dropped.
    b.framer_blocked = true;
    b.make_rtr(6, 1);
    Requester other(6, 1);
    for (int i = 0; i < 3; i++) b.send(other.read(kTarget, kRemote, 600));   // fill the buffers
    b.run(3000);
    b.send(r.write(kTarget, kRemote, pattern(1, 8))[0]);
    ASSERT_TRUE(b.run_until([&] { return b.bytes_written == 8; }));
    b.run(100);
    b.send(r.read(kTarget, kRemote, 600));
    b.run(100);
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    b.run(500);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    unsigned answers = 0;
    for (const auto &p : b.out) {
        if (p.dest_qp() != 0x900 + kQp) continue;
        answers++;
        EXPECT_EQ(p.op(), BDY_BTH_OP_ACK);
        EXPECT_EQ(p.syndrome(), BDY_AETH_ACK);
        EXPECT_EQ(p.psn(), kPsn & 0xffffff);
        EXPECT_EQ(p.msn(), 1u);
    }
    EXPECT_EQ(answers, 1u);
}

TEST_P(ResponderLife, ResetWaitsForTheWriteInProgress)
{
    b.mem_blocked = true;
    b.send(r.write(kTarget, kRemote, pattern(1, 200))[0]);
    b.run(500);
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    b.run(1000);
    EXPECT_EQ(b.events_pending(), 1u);
    b.mem_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.events_pending(), 0u);
}

TEST_P(ResponderLife, ResetDropsReadsThatWait)
{
    b.framer_blocked = true;
    for (int i = 0; i < 6; i++) b.send(r.read(kTarget, kRemote, 1000));
    b.run(2000);
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    b.run(2000);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_LE(b.out.size(), 3u);
    b.out.clear();
    b.make_rtr(kQp, 9);
    deliver(Requester(kQp, 9).read(kTarget, kRemote, 300));
    EXPECT_EQ(read_data(), Bytes(before.begin(), before.begin() + 300));
    EXPECT_EQ(last().msn(), 1u);
}

TEST_P(ResponderLife, ErrorStopsReadsThatWait)
{
    b.framer_blocked = true;
    for (int i = 0; i < 6; i++) b.send(r.read(kTarget, kRemote, 1000));
    b.run(2000);
    b.set_state(kQp, BDY_QP_ST_ERR);
    b.run(200);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_LE(b.out.size(), 3u);
    EXPECT_TRUE(b.events.empty());
}

TEST_P(ResponderLife, EventsAreAcknowledgedWhileAnOperationWaits)
{
    // The refusal's operation stands at the port; events of other queue pairs are answered all the same.
    b.op_blocked = true;
    b.send(r.write(kTarget, 0xbad, pattern(1, 8))[0]);
    ASSERT_TRUE(b.run_until([&] { return !b.out.empty(); }));
    for (unsigned qp = 40; qp < 44; qp++) {
        b.set_state(qp, BDY_QP_ST_INIT);
        b.set_state(qp, BDY_QP_ST_RTR);
        b.set_state(qp, BDY_QP_ST_ERR);
        b.set_state(qp, BDY_QP_ST_RESET, true);
    }
    EXPECT_TRUE(b.run_until([&] { return b.events_pending() == 0; }, 3000));
    // More refusals pile up behind it.
    for (unsigned qp = 50; qp < 54; qp++) {
        b.make_rtr(qp, 1);
        b.send(Requester(qp, 1).write(kTarget, 0xbad, pattern(1, 8))[0]);
    }
    b.run(3000);
    b.set_state(60, BDY_QP_ST_INIT);
    EXPECT_TRUE(b.run_until([&] { return b.events_pending() == 0; }, 3000));
    b.op_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.events.size(), 5u);
}

TEST_P(ResponderLife, E4QueuePairAlreadyInErrorRaisesNoEvent)
{
    // The queue pair goes to ERR on its own while the refusal is on its way to the operation port.
    b.op_blocked = true;
    b.send(r.write(kTarget, 0xbad, pattern(1, 8))[0]);
    ASSERT_TRUE(b.run_until([&] { return !b.out.empty(); }));
    b.set_state(kQp, BDY_QP_ST_ERR);
    b.run(200);
    b.op_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_TRUE(b.events.empty());
}

TEST_P(ResponderLife, L5DestroyedQueuePairRaisesNoEventAndItsNextLifeIsSafe)
{
    b.op_blocked = true;
    b.send(r.write(kTarget, 0xbad, pattern(1, 8))[0]);
    ASSERT_TRUE(b.run_until([&] { return !b.out.empty(); }));
    b.run(20);
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    b.run(500);
    EXPECT_EQ(b.events_pending(), 1u);      // its operation is of the old life
    b.op_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_TRUE(b.events.empty());
    b.make_rtr(kQp, 9);
    deliver(Requester(kQp, 9).write(kTarget, kRemote, pattern(1, 8)));
    EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);
    EXPECT_EQ(b.qps[kQp].st(), BDY_QP_ST_RTR);
}

TEST_P(ResponderLife, H9ResetWaitsForARefusalsTime)
{
    b.nak_delay = 3000;
    b.send(r.write(kTarget, 0xbad, pattern(1, 8))[0]);
    b.run(500);
    b.set_state(kQp, BDY_QP_ST_RESET, true);
    b.run(1000);
    EXPECT_EQ(b.events_pending(), 1u);
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.out.size(), 1u);
    EXPECT_EQ(last().syndrome(), BDY_AETH_NAK_ACC);
}

TEST_P(ResponderLife, H23ProducerIndexBeyondTheRingEndsTheQueuePair)
{
    b.doorbell(kQp, 17);                       // a ring of 16
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.qps[kQp].st(), BDY_QP_ST_ERR);
    ASSERT_EQ(b.events.size(), 1u);
    EXPECT_EQ(b.events[0].kind, BDY_EQE_KIND_QP_FATAL);
    EXPECT_EQ(b.events[0].number, kQpnBase + kQp);
    EXPECT_TRUE(b.cqes.empty());               // nothing was posted
}

TEST_P(ResponderLife, ReceiveRingWrapsManyTimes)
{
    b.make_rtr(kQp, kPsn, 1, 0x0f, 0, 2, 0);   // four receives
    unsigned done = 0;
    for (int i = 0; i < 4; i++) b.post_recv(kQp, {{kRecv + 64 * i, 64, kLocal}});
    for (unsigned i = 0; i < 41; i++) {
        Bytes data = pattern(i, 1 + i);
        deliver(r.send(data));
        ASSERT_EQ(b.cqes.size(), ++done);
        EXPECT_EQ(b.cqes.back().status(), BDY_WC_SUCCESS);
        EXPECT_EQ(b.cqes.back().wqe_index(), i);
        EXPECT_EQ(b.peek(kRecv + 64 * (i % 4), data.size()), data);
        b.post_recv(kQp, {{kRecv + 64 * (i % 4), 64, kLocal}});
    }
    EXPECT_TRUE(b.events.empty());
}

TEST_P(ResponderLife, FullReceiveRingOfOneEntryWorks)
{
    b.make_rtr(kQp, kPsn, 1, 0x0f, 0, 0, 0);
    for (unsigned i = 0; i < 5; i++) {
        b.post_recv(kQp, {{kRecv, 64, kLocal}});
        deliver(r.send(pattern(i, 20)));
        ASSERT_EQ(b.cqes.size(), i + 1);
        EXPECT_EQ(b.cqes.back().wqe_index(), i);
    }
}

TEST_P(ResponderLife, OldDoorbellChangesNothingAndResetDropsDoorbells)
{
    b.post_recv(kQp, {{kRecv, 64, kLocal}});
    b.post_recv(kQp, {{kRecv, 64, kLocal}});
    b.doorbell(kQp, 1);
    ASSERT_TRUE(b.settle());
    deliver(r.send(pattern(1, 8)));
    deliver(r.send(pattern(1, 8)));
    EXPECT_EQ(b.cqes.size(), 2u);
    EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);

    b.set_state(kQp, BDY_QP_ST_RESET, true);
    ASSERT_TRUE(b.settle());
    b.doorbell(kQp, 3);
    ASSERT_TRUE(b.settle());
    b.make_rtr(kQp, 1);
    deliver(Requester(kQp, 1).send(pattern(1, 8)));
    EXPECT_EQ(last().syndrome(), BDY_AETH_RNR | (5 + kQp));
    EXPECT_EQ(b.qps[kQp].st(), BDY_QP_ST_RTR);
}

TEST(ResponderIndices, WrapAt65536)
{
    constexpr unsigned kQp = 3;
    Bench b(1, 0);
    b.cqe_latency = 1;
    b.make_rtr(kQp, 1, 5, 0x0f, 0, 4, 0);
    // Counted up quickly by flushing: indices last until RESET.
    b.set_state(kQp, BDY_QP_ST_ERR);
    for (unsigned i = 0; i < 65530 / 16; i++) {
        b.qps[kQp].pi = static_cast<uint16_t>(b.qps[kQp].pi + 16);
        b.doorbell(kQp, b.qps[kQp].pi);
        ASSERT_TRUE(b.run_until([&] { return b.cqes.size() == 16u * (i + 1); }, 20000));
    }
    size_t n = b.cqes.size();
    for (unsigned i = 0; i < 24; i++) {
        b.doorbell(kQp, ++b.qps[kQp].pi);
        ASSERT_TRUE(b.run_until([&] { return b.cqes.size() == n + i + 1; }, 2000));
    }
    EXPECT_EQ(b.cqes.back().wqe_index(), (n + 23) & 0xffff);
    EXPECT_TRUE(b.events.empty());
}

}  // namespace rx
