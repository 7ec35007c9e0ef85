// SPDX-License-Identifier: Apache-2.0
// READ at the responder: responses, order, limits, duplicates, refusals.
#include "fixture.h"

namespace rx {

using ResponderReads = Rx;
INSTANTIATE_TEST_SUITE_P(Latency, ResponderReads, ::testing::Values(0u, 60u));

TEST_P(ResponderReads, ReadReturnsTheBytesInMtuPackets)
{
    for (uint32_t len : {1u, 31u, 256u, 257u, 1000u, 1024u}) {
        b.out.clear();
        uint32_t psn = r.psn;
        deliver(r.read(kTarget + 4000, kRemote, len));
        EXPECT_EQ(read_data(), Bytes(before.begin() + 4000, before.begin() + 4000 + len)) << len;
        uint32_t n = r.packets(len);
        ASSERT_EQ(b.out.size(), n);
        for (uint32_t i = 0; i < n; i++) {
            uint8_t op = n == 1 ? BDY_BTH_OP_READ_RESP_ONLY : i == 0 ? BDY_BTH_OP_READ_RESP_FIRST :
                         i == n - 1 ? BDY_BTH_OP_READ_RESP_LAST : BDY_BTH_OP_READ_RESP_MIDDLE;
            EXPECT_EQ(b.out[i].op(), op);
            EXPECT_EQ(b.out[i].psn(), (psn + i) & 0xffffff);
            EXPECT_EQ(b.out[i].syndrome(), BDY_AETH_ACK);
            EXPECT_EQ(b.out[i].dest_qp(), 0x900 + kQp);
        }
    }
    EXPECT_EQ(last().msn(), 6u);
}

TEST_P(ResponderReads, EveryMtuIsHonoured)
{
    for (unsigned mtu = 1; mtu <= 5; mtu++) {
        b.out.clear();
        b.make_rtr(20 + mtu, 3, mtu);
        Requester q(20 + mtu, 3, mtu);
        deliver(q.read(kTarget + 1, kRemote, 9000));
        EXPECT_EQ(read_data(), Bytes(before.begin() + 1, before.begin() + 9001));
        EXPECT_EQ(b.out.size(), (9000u + (128u << mtu) - 1) / (128u << mtu));
    }
}

TEST_P(ResponderReads, T13A12ZeroLengthNeedsNoKey)
{
    deliver(r.read(0x123, 0xdeadbeef, 0));
    ASSERT_EQ(b.out.size(), 1u);
    EXPECT_EQ(last().op(), BDY_BTH_OP_READ_RESP_ONLY);
    EXPECT_EQ(last().psn(), kPsn & 0xffffff);
    EXPECT_EQ(b.acc_requests[1], 0u);
    deliver(r.write(kTarget, kRemote, pattern(1, 4)));     // it took one PSN
    expect_answer(BDY_AETH_ACK, kPsn + 1, 2);
}

TEST_P(ResponderReads, A20QueuePairAndKeyBothMustGrant)
{
    b.make_rtr(kQp, kPsn, 1, BDY_ACCESS_BIT_REMOTE_WRITE);
    deliver(r.read(kTarget, kRemote, 16));
    expect_fatal(BDY_AETH_NAK_INV, kPsn, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_A19);
    EXPECT_EQ(b.acc_requests[1], 0u);

    b.keys[kRemote].rights = BDY_ACCESS_BIT_REMOTE_WRITE;
    b.make_rtr(6, 1);
    b.refused_rules.clear();
    deliver(Requester(6, 1).read(kTarget, kRemote, 16));
    EXPECT_EQ(last().syndrome(), BDY_AETH_NAK_ACC);
    EXPECT_EQ(b.refused_rules.at(0), BDY_RULE_A7);
}

TEST_P(ResponderReads, H6WholeRangeIsCheckedBeforeTheFirstByteLeaves)
{
    deliver(r.read(kTarget + kTargetLen - 1000, kRemote, 1001));
    ASSERT_EQ(b.out.size(), 1u);
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A9);
    EXPECT_EQ(b.acc_requests[1], 1u);
    EXPECT_EQ(last().msn(), 0u);
}

TEST_P(ResponderReads, A14LongerThanTwoGigabytesIsInvalid)
{
    Packet p = r.read(kTarget, 0xbad, 16);
    set_reth(p, kTarget, 0xbad, 0x80000001);
    deliver(p);
    expect_fatal(BDY_AETH_NAK_INV, kPsn, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_A14);
}

TEST_P(ResponderReads, A23RefusalInsideTheResponseIsANakAtThatPsn)
{
    unsigned seen = 0;
    b.on_access = [&](unsigned port, uint64_t, uint32_t) {
        if (port == 1 && ++seen == 3) b.keys.erase(kRemote);
    };
    deliver(r.read(kTarget, kRemote, 1000));
    ASSERT_EQ(b.out.size(), 3u);
    EXPECT_EQ(read_data(), Bytes(before.begin(), before.begin() + 512));
    expect_fatal(BDY_AETH_NAK_ACC, kPsn + 2, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A1);
    EXPECT_EQ(last().msn(), 0u);
}

TEST_P(ResponderReads, A23DuplicateIsCheckedAgain)
{
    Packet p = r.read(kTarget, kRemote, 600);
    deliver(p);
    b.keys[kRemote].len = 599;
    deliver(p);
    ASSERT_EQ(b.out.size(), 4u);
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A9);
}

TEST_P(ResponderReads, T8DuplicateMayBeginInsideTheOriginal)
{
    Packet p = r.read(kTarget, kRemote, 1000);
    deliver(p);
    deliver(r.write(kTarget + 0x8000, kRemote, pattern(1, 4)));
    b.out.clear();
    Packet again = r.base(BDY_BTH_OP_READ_REQ, kPsn + 2);
    set_reth(again, kTarget + 512, kRemote, 488);
    deliver(again);
    ASSERT_EQ(b.out.size(), 2u);
    EXPECT_EQ(read_data(), Bytes(before.begin() + 512, before.begin() + 1000));
    EXPECT_EQ(b.out[0].op(), BDY_BTH_OP_READ_RESP_FIRST);
    EXPECT_EQ(b.out[0].psn(), (kPsn + 2) & 0xffffff);
    EXPECT_EQ(b.counts[kDuplicate], 1u);
    // And it left the expected PSN alone.
    deliver(r.write(kTarget, kRemote, pattern(1, 4)));
    EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);
    EXPECT_EQ(last().psn(), (kPsn + 5) & 0xffffff);
}

TEST_P(ResponderReads, T8DuplicateThatReachesBeyondWhatWasAskedIsDropped)
{
    Packet p = r.read(kTarget, kRemote, 600);
    deliver(p);
    b.out.clear();
    Packet again = p;
    set_reth(again, kTarget, kRemote, 1000);      // four packets, three were asked
    deliver(again);
    EXPECT_TRUE(b.out.empty());
    EXPECT_EQ(b.qps[kQp].st(), BDY_QP_ST_RTR);
}

TEST_P(ResponderReads, H14ResponsesLeaveInPsnOrder)
{
    std::vector<Packet> all;
    b.post_recv(kQp, {{kRecv, 4096, kLocal}});
    for (auto &p : r.write(kTarget + 0x8000, kRemote, pattern(1, 300))) all.push_back(p);
    all.push_back(r.read(kTarget, kRemote, 1000));
    all.push_back(r.read(kTarget + 2000, kRemote, 10));
    for (auto &p : r.send(pattern(2, 40))) all.push_back(p);
    all.push_back(r.read(kTarget + 3000, kRemote, 700));
    for (auto &p : r.write(kTarget + 0x9000, kRemote, pattern(1, 4))) all.push_back(p);
    b.resp_stall = 70;
    deliver(all);
    ASSERT_FALSE(b.out.empty());
    for (size_t i = 1; i < b.out.size(); i++) {
        uint32_t step = (b.out[i].psn() - b.out[i - 1].psn()) & 0xffffff;
        EXPECT_GE(step, 1u) << i;
        EXPECT_LT(step, 0x800000u) << i;
        uint32_t msn_step = (b.out[i].msn() - b.out[i - 1].msn()) & 0xffffff;
        EXPECT_LT(msn_step, 0x800000u) << i;
    }
    EXPECT_EQ(last().psn(), (r.psn - 1) & 0xffffff);
    EXPECT_EQ(last().msn(), 6u);
    Bytes want(before.begin(), before.begin() + 1000);
    want.insert(want.end(), before.begin() + 2000, before.begin() + 2010);
    want.insert(want.end(), before.begin() + 3000, before.begin() + 3700);
    EXPECT_EQ(read_data(), want);
}

TEST_P(ResponderReads, T4AckThatAReadResponseCoversIsNotSentBehindIt)
{
    b.make_rtr(6, 1);
    Requester other(6, 1);
    b.framer_blocked = true;
    for (int i = 0; i < 3; i++) b.send(other.read(kTarget, kRemote, 600));   // fill the buffers
    b.run(3000);
    b.send(r.write(kTarget + 0x8000, kRemote, pattern(1, 8))[0]);
    ASSERT_TRUE(b.run_until([&] { return b.bytes_written == 8; }));
    b.run(100);
    b.send(r.read(kTarget, kRemote, 600));
    b.run(100);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    std::vector<uint32_t> psns;
    for (const auto &p : b.out) {
        if (p.dest_qp() == 0x900 + kQp) psns.push_back(p.psn());
    }
    const uint32_t first = (kPsn + 1) & 0xffffff;
    EXPECT_EQ(psns, (std::vector<uint32_t>{first, (first + 1) & 0xffffff, (first + 2) & 0xffffff}));
}

TEST_P(ResponderReads, H14AWriteWaitsForTheHostReadsOfAnEarlierRead)
{
    b.framer_blocked = true;
    Packet rd = r.read(kTarget, kRemote, 2000);
    b.send(rd);
    for (auto &p : r.write(kTarget, kRemote, pattern(3, 2000))) b.send(p);
    b.run(3000);
    EXPECT_EQ(b.bytes_written, 0u);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(read_data(), Bytes(before.begin(), before.begin() + 2000));
    EXPECT_EQ(b.peek(kTarget, 2000), pattern(3, 2000));
}

TEST_P(ResponderReads, H13AnotherQueuePairsRequestsGoOnWhileResponsesAreBlocked)
{
    b.make_rtr(6, 1);
    b.framer_blocked = true;
    b.send(r.read(kTarget, kRemote, 2000));
    Requester q(6, 1);
    b.send(q.write(kTarget + 0x4000, kRemote, pattern(3, 200))[0]);
    EXPECT_TRUE(b.run_until([&] { return b.bytes_written == 200; }, 5000));
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
}

TEST_P(ResponderReads, T7ExcessReadIsAnInvalidRequest)
{
    bdy_qp_ctx0_set_max_dest_rd(b.qps[kQp].c0.data(), 3);
    b.framer_blocked = true;
    for (int i = 0; i < 8; i++) b.send(r.read(kTarget + 16 * i, kRemote, 3 * 256));
    b.run(3000);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    // Packets of one READ may already have left the queue for the two buffers when the limit strikes.
    ASSERT_GE(b.out.size(), 3u * 3 + 1);
    size_t served = (b.out.size() - 1) / 3;
    EXPECT_LE(served, 4u);
    expect_fatal(BDY_AETH_NAK_INV, kPsn + 3 * served, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_T7);
}

TEST_P(ResponderReads, T7NoResourcesMeansNoReads)
{
    bdy_qp_ctx0_set_max_dest_rd(b.qps[kQp].c0.data(), 0);
    deliver(r.read(kTarget, kRemote, 8));
    expect_fatal(BDY_AETH_NAK_INV, kPsn, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_T7);
}

TEST_P(ResponderReads, N3SixteenReadsOutstanding)
{
    b.framer_blocked = true;
    for (int i = 0; i < 16; i++) b.send(r.read(kTarget + 100 * i, kRemote, 100));
    b.run(3000);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.out.size(), 16u);
    EXPECT_EQ(read_data(), Bytes(before.begin(), before.begin() + 1600));
    EXPECT_EQ(last().msn(), 16u);
}

TEST_P(ResponderReads, DuplicatesNeverCostAQueuePairItsLife)
{
    bdy_qp_ctx0_set_max_dest_rd(b.qps[kQp].c0.data(), 4);
    std::vector<Packet> reads;
    for (int i = 0; i < 4; i++) reads.push_back(r.read(kTarget + 300 * i, kRemote, 300));
    b.framer_blocked = true;
    for (int round = 0; round < 10; round++)
        for (auto &p : reads) b.send(p);
    b.run(4000);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.qps[kQp].st(), BDY_QP_ST_RTR);
    Bytes data = read_data();
    ASSERT_GE(data.size(), 1200u);
    EXPECT_EQ(Bytes(data.begin(), data.begin() + 1200), Bytes(before.begin(), before.begin() + 1200));
    deliver(r.read(kTarget, kRemote, 8));
    EXPECT_EQ(last().op(), BDY_BTH_OP_READ_RESP_ONLY);
}

TEST_P(ResponderReads, InvalidRequestBehindReadsIsRefusedAfterTheirResponses)
{
    std::vector<Packet> all;
    all.push_back(r.read(kTarget, kRemote, 1000));
    all.push_back(r.read(kTarget + 1000, kRemote, 1000));
    all.push_back(r.base(BDY_BTH_OP_SEND_LAST, r.psn));
    b.resp_stall = 80;
    deliver(all);
    EXPECT_EQ(read_data(), Bytes(before.begin(), before.begin() + 2000));
    EXPECT_EQ(b.out.size(), 9u);
    expect_fatal(BDY_AETH_NAK_INV, kPsn + 8, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_T1);
}

TEST_P(ResponderReads, RequestsBehindARefusedReadAreNotExecuted)
{
    std::vector<Packet> all;
    all.push_back(r.read(kTarget - 1, kRemote, 10));
    all.push_back(r.write(kTarget, kRemote, pattern(1, 10))[0]);
    all.push_back(r.read(kTarget, kRemote, 10));
    deliver(all);
    ASSERT_EQ(b.out.size(), 1u);
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A9);
    expect_untouched();
}

TEST_P(ResponderReads, UnreadableMemoryEndsTheQueuePairAsAnOperationError)
{
    b.unmapped_va = kTarget + 4096;
    deliver(r.read(kTarget + 4096 - 300, kRemote, 1000));
    EXPECT_EQ(read_data(), Bytes(before.begin() + 4096 - 300, before.begin() + 4096 - 300 + 256));
    expect_fatal(BDY_AETH_NAK_OP, kPsn + 1, BDY_EQE_KIND_QP_FATAL, BDY_RULE_DMA);
}

TEST_P(ResponderReads, H4StaleGenerationAnswersNothing)
{
    b.on_access = [&](unsigned, uint64_t, uint32_t) { b.qps[kQp].gen++; };
    deliver(r.read(kTarget, kRemote, 100));
    EXPECT_TRUE(read_data().empty());
    EXPECT_TRUE(b.events.empty());
    for (const auto &p : b.out) EXPECT_EQ(p.syndrome(), BDY_AETH_ACK);
}

TEST_P(ResponderReads, ReadsOfManyQueuePairsShareTheResponder)
{
    std::vector<Packet> all;
    for (unsigned qp = 100; qp < 108; qp++) b.make_rtr(qp, 0);
    for (int k = 0; k < 3; k++) {
        for (unsigned qp = 100; qp < 108; qp++) {
            Requester q(qp, 4 * k);
            all.push_back(q.read(kTarget + 1024 * (qp - 100), kRemote, 1024));
        }
    }
    deliver(all);
    std::map<uint32_t, Bytes> data;
    std::map<uint32_t, uint32_t> next;
    for (const auto &p : b.out) {
        EXPECT_EQ(p.psn(), next[p.dest_qp()]++);
        auto &d = data[p.dest_qp()];
        d.insert(d.end(), p.data.begin(), p.data.end());
    }
    ASSERT_EQ(data.size(), 8u);
    for (auto &d : data) {
        size_t at = 1024 * (d.first - 0x900 - 100);
        ASSERT_EQ(d.second.size(), 3072u);
        for (int k = 0; k < 3; k++)
            EXPECT_EQ(Bytes(d.second.begin() + 1024 * k, d.second.begin() + 1024 * (k + 1)),
                      Bytes(before.begin() + at, before.begin() + at + 1024));
    }
}

}  // namespace rx
