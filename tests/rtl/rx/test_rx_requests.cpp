// SPDX-License-Identifier: Apache-2.0
// SEND and WRITE at the responder: effects, checks and their order, acknowledgements.
#include "fixture.h"

namespace rx {

using ResponderRequests = Rx;
INSTANTIATE_TEST_SUITE_P(Latency, ResponderRequests, ::testing::Values(0u, 60u));

// ---------------------------------------------------------------- effects
TEST_P(ResponderRequests, SendLandsInTheReceiveBufferAndCompletesBeforeItsAck)
{
    Bytes data = pattern(3, 200);
    b.post_recv(kQp, {{kRecv + 16, 300, kLocal}});
    deliver(r.send(data, true, 0xcafe1234, true));

    EXPECT_EQ(b.peek(kRecv + 16, 200), data);
    EXPECT_EQ(b.bytes_written, 200u);
    ASSERT_EQ(b.cqes.size(), 1u);
    const Cqe &c = b.cqes[0];
    EXPECT_EQ(c.cqn, 40 + kQp);
    EXPECT_EQ(c.qpn(), kQpnBase + kQp);
    EXPECT_EQ(c.op(), BDY_CQE_OP_RECV);
    EXPECT_EQ(c.status(), BDY_WC_SUCCESS);
    EXPECT_EQ(c.byte_len(), 200u);
    EXPECT_EQ(c.wqe_index(), 0u);
    EXPECT_TRUE(bdy_cqe_get_recv(c.w.data()));
    EXPECT_TRUE(bdy_cqe_get_solicited(c.w.data()));
    EXPECT_TRUE(bdy_cqe_get_with_imm(c.w.data()));
    EXPECT_EQ(bdy_cqe_get_imm(c.w.data()), 0xcafe1234u);
    expect_answer(BDY_AETH_ACK, kPsn);
    EXPECT_EQ(last().msn(), 1u);
    EXPECT_GT(last().cycle, b.cqe_done_at.at(0));
}

TEST_P(ResponderRequests, T4AckGoesToThePeerOfTheAddressVector)
{
    uint64_t *c0 = b.qps[kQp].c0.data(), *c1 = b.qps[kQp].c1.data();
    bdy_qp_ctx0_set_grh(c0, 1);
    bdy_qp_ctx1_set_dgid_lo(c1, 0x1122334455667788);
    bdy_qp_ctx1_set_dgid_hi(c1, 0x99aabbccddeeff00);
    bdy_qp_ctx1_set_flow_label(c1, 0xabcde);
    bdy_qp_ctx1_set_tclass(c1, 0x5a);
    bdy_qp_ctx1_set_hop_limit(c1, 64);
    bdy_qp_ctx1_set_sgid_index(c1, 2);
    deliver(r.write(kTarget, kRemote, pattern(3, 8)));
    expect_answer(BDY_AETH_ACK, kPsn);
    const uint64_t *h = b.out[0].h.data();
    EXPECT_EQ(b.out[0].dest_qp(), 0x900u + kQp);
    EXPECT_EQ(bdy_pkt_hdr_get_dlid(h), 0x111u + kQp);
    EXPECT_EQ(bdy_pkt_hdr_get_sl(h), kQp & 7);
    EXPECT_EQ(bdy_pkt_hdr_get_pkey(h), 0xffffu);
    EXPECT_TRUE(bdy_pkt_hdr_get_grh(h));
    EXPECT_EQ(bdy_pkt_hdr_get_gid_lo(h), 0x1122334455667788u);
    EXPECT_EQ(bdy_pkt_hdr_get_gid_hi(h), 0x99aabbccddeeff00u);
    EXPECT_EQ(bdy_pkt_hdr_get_flow_label(h), 0xabcdeu);
    EXPECT_EQ(bdy_pkt_hdr_get_tclass(h), 0x5au);
    EXPECT_EQ(bdy_pkt_hdr_get_hop_limit(h), 64u);
    EXPECT_EQ(bdy_pkt_hdr_get_sgid_index(h), 2u);
}

TEST_P(ResponderRequests, LongSendFillsSixteenSgesAndLeavesGapsAlone)
{
    // Odd lengths, zero-length elements, page crossings.
    std::vector<Sge> sges;
    uint64_t va = kRecv + 5;
    uint32_t room = 0;
    for (unsigned i = 0; i < 16; i++) {
        uint32_t len = i == 3 ? 0 : 37 + 531 * i % 1400;
        sges.push_back({va, len, kLocal});
        va += len + 13;
        room += len;
    }
    b.make_rtr(kQp, kPsn, 3, 0x0f, 0, 2, 3);
    r = Requester(kQp, kPsn, 3);
    Bytes data = pattern(5, room);
    Bytes old = b.peek(kRecv, kRecvLen);
    b.post_recv(kQp, sges);
    deliver(r.send(data));

    size_t at = 0;
    for (const auto &s : sges) {
        for (uint32_t k = 0; k < s.len; k++) old[s.va - kRecv + k] = data[at++];
    }
    EXPECT_EQ(b.peek(kRecv, kRecvLen), old);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].byte_len(), room);
    expect_answer(BDY_AETH_ACK, kPsn + r.packets(room) - 1);
}

TEST_P(ResponderRequests, EveryStrideHoldsItsSges)
{
    for (unsigned stride = 0; stride < 4; stride++) {
        unsigned n = stride == 0 ? 3 : stride == 1 ? 7 : stride == 2 ? 15 : 16;
        unsigned qp = 10 + stride;
        Requester q(qp, 77);
        b.make_rtr(qp, 77, 1, 0x0f, 0, 2, stride);
        std::vector<Sge> sges;
        for (unsigned i = 0; i < n; i++) sges.push_back({kRecv + 256 * (16 * stride + i), 10, kLocal});
        b.post_recv(qp, sges);
        Bytes data = pattern(stride, 10 * n);
        deliver(q.send(data));
        for (unsigned i = 0; i < n; i++)
            EXPECT_EQ(b.peek(sges[i].va, 10), Bytes(data.begin() + 10 * i, data.begin() + 10 * i + 10)) << stride << " " << i;
        ASSERT_EQ(b.cqes.size(), stride + 1);
        EXPECT_EQ(b.cqes.back().status(), BDY_WC_SUCCESS);
    }
}

TEST_P(ResponderRequests, InterleavedMessagesOfManyQueuePairsKeepTheirBuffers)
{
    constexpr unsigned kN = 4;
    std::vector<std::vector<Packet>> messages;
    std::vector<Bytes> data;
    for (unsigned i = 0; i < kN; i++) {
        unsigned qp = 20 + i;
        b.make_rtr(qp, 100 * i);
        // Two elements that each packet straddles differently.
        b.post_recv(qp, {{kRecv + 0x2000 * i, 100 + 40 * i, kLocal}, {kRecv + 0x2000 * i + 0x1000, 2000, kLocal}});
        Requester q(qp, 100 * i);
        data.push_back(pattern(50 + i, 1000));
        messages.push_back(q.send(data.back()));
    }
    std::vector<Packet> mixed;
    for (size_t k = 0; k < messages[0].size(); k++)
        for (auto &m : messages) mixed.push_back(m[k]);
    deliver(mixed);
    ASSERT_EQ(b.cqes.size(), kN);
    for (unsigned i = 0; i < kN; i++) {
        uint32_t first = 100 + 40 * i;
        EXPECT_EQ(b.peek(kRecv + 0x2000 * i, first), Bytes(data[i].begin(), data[i].begin() + first));
        EXPECT_EQ(b.peek(kRecv + 0x2000 * i + 0x1000, 1000 - first), Bytes(data[i].begin() + first, data[i].end()));
    }
}

TEST_P(ResponderRequests, WriteLandsAndMakesNoCompletion)
{
    Bytes data = pattern(6, 1000);
    deliver(r.write(kTarget + 4090, kRemote, data));
    EXPECT_EQ(b.peek(kTarget + 4090, 1000), data);
    EXPECT_EQ(b.bytes_written, 1000u);
    EXPECT_TRUE(b.cqes.empty());
    expect_answer(BDY_AETH_ACK, kPsn + 3);
    EXPECT_EQ(last().msn(), 1u);
}

TEST_P(ResponderRequests, WriteWithImmediateConsumesAReceive)
{
    Bytes data = pattern(7, 600);
    b.post_recv(kQp, {});
    b.post_recv(kQp, {});
    deliver(r.write(kTarget, kRemote, data, true, 0x01020304));
    EXPECT_EQ(b.peek(kTarget, 600), data);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].op(), BDY_CQE_OP_RECV_WRITE_IMM);
    EXPECT_EQ(b.cqes[0].byte_len(), 600u);
    EXPECT_EQ(bdy_cqe_get_imm(b.cqes[0].w.data()), 0x01020304u);
    deliver(r.write(kTarget, kRemote, pattern(8, 4), true, 5));
    ASSERT_EQ(b.cqes.size(), 2u);
    EXPECT_EQ(b.cqes[1].wqe_index(), 1u);
}

TEST_P(ResponderRequests, T13A12ZeroLengthNeedsNoKey)
{
    b.post_recv(kQp, {});
    b.post_recv(kQp, {});
    deliver(r.write(0x123, 0xdeadbeef, {}));
    expect_answer(BDY_AETH_ACK, kPsn);
    deliver(r.write(0x123, 0xdeadbeef, {}, true, 9));
    expect_answer(BDY_AETH_ACK, kPsn + 1, 2);
    deliver(r.send({}));
    expect_answer(BDY_AETH_ACK, kPsn + 2, 3);
    ASSERT_EQ(b.cqes.size(), 2u);
    EXPECT_EQ(b.cqes[0].op(), BDY_CQE_OP_RECV_WRITE_IMM);
    EXPECT_EQ(b.cqes[1].op(), BDY_CQE_OP_RECV);
    EXPECT_EQ(b.cqes[1].byte_len(), 0u);
    EXPECT_EQ(b.acc_requests[0], 0u);
    expect_untouched();
}

TEST_P(ResponderRequests, H6FirstPacketChecksTheWholeRange)
{
    // The last byte lies outside: nothing of the message lands.
    auto packets = r.write(kTarget + kTargetLen - 999, kRemote, pattern(1, 1000));
    deliver(packets);
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A9);
    EXPECT_EQ(b.acc_requests[0], 1u);
    expect_untouched();
}

TEST_P(ResponderRequests, A22EachLaterPacketIsCheckedAgain)
{
    Bytes data = pattern(9, 1000);
    auto packets = r.write(kTarget, kRemote, data);
    for (int i = 0; i < 2; i++) deliver(packets[i]);
    b.keys.erase(kRemote);
    deliver({packets[2], packets[3]});
    expect_fatal(BDY_AETH_NAK_ACC, kPsn + 2, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A1);
    EXPECT_EQ(b.bytes_written, 512u);
    EXPECT_EQ(b.peek(kTarget + 512, 488), Bytes(before.begin() + 512, before.begin() + 1000));
}

// ---------------------------------------------------------------- refusals
TEST_P(ResponderRequests, A26E1RefusedWriteTouchesNothingAndRaisesOneEvent)
{
    auto packets = r.write(kTarget, kRemote ^ 1, pattern(1, 64));
    packets.push_back(r.write(kTarget, kRemote, pattern(1, 64))[0]);   // E4: behind the refusal
    deliver(packets);
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A1);
    EXPECT_EQ(b.out.size(), 1u);
    EXPECT_EQ(b.counts[kBadState], 1u);
    expect_untouched();
}

TEST_P(ResponderRequests, A7RightsOfTheKeyAreNeeded)
{
    b.keys[kRemote].rights = BDY_ACCESS_BIT_REMOTE_READ;
    deliver(r.write(kTarget, kRemote, pattern(1, 4)));
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A7);
    expect_untouched();
}

TEST_P(ResponderRequests, A19A20QueuePairsRightsAreNeededToo)
{
    b.make_rtr(kQp, kPsn, 1, BDY_ACCESS_BIT_REMOTE_READ);
    deliver(r.write(kTarget, kRemote, pattern(1, 4)));
    expect_fatal(BDY_AETH_NAK_INV, kPsn, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_A19);
    EXPECT_EQ(b.acc_requests[0], 0u);
    expect_untouched();
}

TEST_P(ResponderRequests, H7QueuePairsRightsComeBeforeLengthAndLengthBeforeKey)
{
    b.make_rtr(kQp, kPsn, 1, BDY_ACCESS_BIT_REMOTE_READ);
    auto p = r.write(kTarget, 0xbad, pattern(1, 256));
    set_reth(p[0], kTarget, 0xbad, 0x80000001);
    deliver(p[0]);
    expect_fatal(BDY_AETH_NAK_INV, kPsn, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_A19);
}

TEST_P(ResponderRequests, A14WriteLongerThanTwoGigabytesIsInvalid)
{
    Packet p = r.write(kTarget, 0xbad, pattern(1, 512))[0];
    set_reth(p, kTarget, 0xbad, 0x80000001);
    deliver(p);
    expect_fatal(BDY_AETH_NAK_INV, kPsn, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_A14);
    EXPECT_EQ(b.acc_requests[0], 0u);
}

TEST_P(ResponderRequests, T14WriteOfTwoGigabytesMayBegin)
{
    b.keys[kRemote] = {kTarget, 0x80000000, kRemoteRights, 1, false};
    Packet p = r.write(kTarget, kRemote, pattern(1, 512))[0];
    set_reth(p, kTarget, kRemote, 0x80000000);
    bdy_pkt_hdr_set_ackreq(p.h.data(), 1);
    deliver(p);
    expect_answer(BDY_AETH_ACK, kPsn);
    EXPECT_EQ(last().msn(), 0u);
    EXPECT_EQ(b.bytes_written, 256u);
}

TEST_P(ResponderRequests, E2A25RefusedWriteWithImmediateCompletesItsReceiveInError)
{
    b.post_recv(kQp, {});
    b.post_recv(kQp, {});
    deliver(r.write(kTarget, kRemote ^ 1, pattern(1, 64), true, 3));
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, 0, BDY_RULE_A25);
    ASSERT_EQ(b.cqes.size(), 2u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_ACCESS_ERR);
    EXPECT_EQ(b.cqes[0].rule(), BDY_RULE_A25);
    EXPECT_EQ(b.cqes[0].wqe_index(), 0u);
    EXPECT_EQ(b.cqes[1].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.cqes[1].wqe_index(), 1u);
    expect_untouched();
}

TEST_P(ResponderRequests, A25RefusalOnTheFirstPacketTakesNoReceive)
{
    b.post_recv(kQp, {});
    deliver(r.write(kTarget, kRemote ^ 1, pattern(1, 600), true, 3));
    expect_fatal(BDY_AETH_NAK_ACC, kPsn, BDY_EQE_KIND_QP_ACCESS_ERR, BDY_RULE_A1);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_WR_FLUSH_ERR);
}

struct Sequence {
    const char *name;
    std::vector<uint8_t> good;
    uint8_t bad;
};

TEST_P(ResponderRequests, T1OpcodeSequenceIsChecked)
{
    const std::vector<Sequence> cases = {
        {"middle without first", {}, BDY_BTH_OP_SEND_MIDDLE},
        {"last without first", {}, BDY_BTH_OP_SEND_LAST},
        {"write last without first", {}, BDY_BTH_OP_WRITE_LAST},
        {"write middle without first", {}, BDY_BTH_OP_WRITE_MIDDLE},
        {"write last with immediate without first", {}, BDY_BTH_OP_WRITE_LAST_IMM},
        {"first in a send", {BDY_BTH_OP_SEND_FIRST}, BDY_BTH_OP_SEND_FIRST},
        {"only in a send", {BDY_BTH_OP_SEND_FIRST, BDY_BTH_OP_SEND_MIDDLE}, BDY_BTH_OP_SEND_ONLY},
        {"write middle in a send", {BDY_BTH_OP_SEND_FIRST}, BDY_BTH_OP_WRITE_MIDDLE},
        {"read in a send", {BDY_BTH_OP_SEND_FIRST}, BDY_BTH_OP_READ_REQ},
        {"send last in a write", {BDY_BTH_OP_WRITE_FIRST}, BDY_BTH_OP_SEND_LAST},
        {"write only in a write", {BDY_BTH_OP_WRITE_FIRST}, BDY_BTH_OP_WRITE_ONLY},
        {"write first in a write", {BDY_BTH_OP_WRITE_FIRST}, BDY_BTH_OP_WRITE_FIRST},
        {"read in a write", {BDY_BTH_OP_WRITE_FIRST}, BDY_BTH_OP_READ_REQ},
        {"atomic is not offered", {}, BDY_BTH_OP_CMP_SWAP},
        {"fetch and add is not offered", {}, BDY_BTH_OP_FETCH_ADD},
        {"send with invalidate is not offered", {}, BDY_BTH_OP_SEND_ONLY_INV},
        {"a hole among the opcodes", {}, 0x15},
        {"a response", {}, BDY_BTH_OP_ACK},
    };
    unsigned qp = 30;
    for (const auto &c : cases) {
        b.make_rtr(qp, 1);
        b.post_recv(qp, {{kRecv, 4096, kLocal}});
        Requester q(qp, 1);
        uint32_t psn = 1;
        std::vector<uint8_t> ops = c.good;
        ops.push_back(c.bad);
        for (uint8_t op : ops) {
            Packet p = q.base(op, psn++);
            p.data = pattern(op, 256);
            if (op == BDY_BTH_OP_READ_REQ) p.data.clear();
            bdy_pkt_hdr_set_paylen(p.h.data(), p.data.size());
            bdy_pkt_hdr_set_ackreq(p.h.data(), 0);
            set_reth(p, kTarget, kRemote, op == BDY_BTH_OP_WRITE_ONLY ? 256 : 1024);
            b.send(p);
        }
        b.out.clear();
        b.events.clear();
        ASSERT_TRUE(b.settle()) << c.name;
        ASSERT_EQ(b.out.size(), 1u) << c.name;
        EXPECT_EQ(b.out[0].syndrome(), BDY_AETH_NAK_INV) << c.name;
        EXPECT_EQ(b.out[0].psn(), psn - 1) << c.name;
        EXPECT_EQ(b.refused_rules.back(), BDY_RULE_T1) << c.name;
        ASSERT_EQ(b.events.size(), 1u) << c.name;
        EXPECT_EQ(b.events[0].kind, BDY_EQE_KIND_QP_REQ_ERR) << c.name;
        qp++;
    }
}

struct Length {
    const char *name;
    uint8_t op;
    size_t payload;
    uint32_t reth;
    int after;         // bytes of the message before: -1 none
};

TEST_P(ResponderRequests, T2PacketLengthsAreChecked)
{
    const std::vector<Length> bad = {
        {"short first", BDY_BTH_OP_SEND_FIRST, 252, 0, -1},
        {"long first", BDY_BTH_OP_SEND_FIRST, 260, 0, -1},
        {"long only", BDY_BTH_OP_SEND_ONLY, 260, 0, -1},
        {"short middle", BDY_BTH_OP_SEND_MIDDLE, 255, 0, 256},
        {"empty last", BDY_BTH_OP_SEND_LAST, 0, 0, 256},
        {"long last", BDY_BTH_OP_SEND_LAST, 257, 0, 256},
        {"write only shorter than told", BDY_BTH_OP_WRITE_ONLY, 100, 101, -1},
        {"write only longer than told", BDY_BTH_OP_WRITE_ONLY, 100, 99, -1},
        {"write first of one packet", BDY_BTH_OP_WRITE_FIRST, 256, 256, -1},
        {"write middle that ends it", BDY_BTH_OP_WRITE_MIDDLE, 256, 512, 256},
        {"write last too short", BDY_BTH_OP_WRITE_LAST, 100, 400, 256},
        {"write last too long", BDY_BTH_OP_WRITE_LAST, 200, 400, 256},
        {"read with payload", BDY_BTH_OP_READ_REQ, 4, 64, -1},
    };
    unsigned qp = 60;
    for (const auto &c : bad) {
        b.make_rtr(qp, 1);
        b.post_recv(qp, {{kRecv, 4096, kLocal}});
        Requester q(qp, 1);
        if (c.after >= 0) {
            bool write = c.op >= BDY_BTH_OP_WRITE_FIRST;
            Packet p = q.base(write ? BDY_BTH_OP_WRITE_FIRST : BDY_BTH_OP_SEND_FIRST, 1);
            p.data = pattern(1, 256);
            bdy_pkt_hdr_set_paylen(p.h.data(), 256);
            set_reth(p, kTarget, kRemote, c.reth);
            b.send(p);
            q.psn++;
        }
        Packet p = q.base(c.op, q.psn);
        p.data = pattern(2, c.payload);
        bdy_pkt_hdr_set_paylen(p.h.data(), c.payload);
        bdy_pkt_hdr_set_pad(p.h.data(), -c.payload & 3);
        set_reth(p, kTarget, kRemote, c.reth);
        b.send(p);
        b.events.clear();
        ASSERT_TRUE(b.settle()) << c.name;
        EXPECT_EQ(last().syndrome(), BDY_AETH_NAK_INV) << c.name;
        EXPECT_EQ(b.refused_rules.back(), BDY_RULE_T2) << c.name;
        EXPECT_EQ(b.events.size(), 1u) << c.name;
        qp++;
    }
}

TEST_P(ResponderRequests, T2PadCountMustFitThePayload)
{
    b.post_recv(kQp, {{kRecv, 4096, kLocal}});
    Packet p = r.send(pattern(1, 33))[0];
    bdy_pkt_hdr_set_pad(p.h.data(), 2);
    deliver(p);
    expect_fatal(BDY_AETH_NAK_INV, kPsn, BDY_EQE_KIND_QP_REQ_ERR, BDY_RULE_T2);
}

// ---------------------------------------------------------------- receive side faults
TEST_P(ResponderRequests, T5NoReceivePostedIsAnRnrNakThatChangesNothing)
{
    auto packets = r.send(pattern(4, 700));
    deliver(packets);
    // One RNR NAK; the packets behind it stay silent.
    expect_answer(BDY_AETH_RNR | (5 + kQp), kPsn);
    EXPECT_EQ(last().msn(), 0u);
    EXPECT_EQ(b.counts[kRnr], 1u);
    EXPECT_EQ(b.counts[kOutOfSeq], packets.size() - 1);
    EXPECT_TRUE(b.cqes.empty());
    EXPECT_EQ(b.qps[kQp].st(), BDY_QP_ST_RTR);
    deliver(packets[0]);
    expect_answer(BDY_AETH_RNR | (5 + kQp), kPsn, 2);
    b.post_recv(kQp, {{kRecv, 700, kLocal}});
    deliver(packets);
    expect_answer(BDY_AETH_ACK, kPsn + packets.size() - 1, 3);
    EXPECT_EQ(b.peek(kRecv, 700), pattern(4, 700));
    ASSERT_EQ(b.cqes.size(), 1u);
}

TEST_P(ResponderRequests, T5ReceivePostedWhileASendArrivesIsTakenOrMissedWhole)
{
    // The doorbell meets the lookup at every distance.
    for (unsigned gap = 0; gap < 30; gap++) {
        Bytes data = pattern(gap, 100);
        auto p = r.send(data);
        b.send(p[0]);
        b.run(gap);
        b.post_recv(kQp, {{kRecv + 128 * (gap % 2), 100, kLocal}});
        ASSERT_TRUE(b.settle());
        if (last().syndrome() != BDY_AETH_ACK) {
            EXPECT_EQ(last().syndrome(), BDY_AETH_RNR | (5 + kQp));
            deliver(p);
        }
        EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);
        ASSERT_EQ(b.cqes.size(), gap + 1) << gap;
        EXPECT_EQ(b.cqes.back().status(), BDY_WC_SUCCESS) << gap;
        EXPECT_EQ(b.peek(kRecv + 128 * (gap % 2), 100), data) << gap;
    }
}

TEST_P(ResponderRequests, T5WriteWithImmediateIsRnrBeforeItsLastPacketMovesData)
{
    auto packets = r.write(kTarget, kRemote, pattern(4, 300), true, 1);
    deliver(packets);
    expect_answer(BDY_AETH_RNR | (5 + kQp), kPsn + 1);
    EXPECT_EQ(b.bytes_written, 256u);
    b.post_recv(kQp, {});
    deliver(packets[1]);
    expect_answer(BDY_AETH_ACK, kPsn + 1, 2);
    EXPECT_EQ(b.peek(kTarget, 300), pattern(4, 300));
}

TEST_P(ResponderRequests, T9SendLongerThanTheBufferIsALengthErrorHere)
{
    b.post_recv(kQp, {{kRecv, 300, kLocal}});
    deliver(r.send(pattern(4, 301)));
    expect_fatal(BDY_AETH_NAK_INV, kPsn + 1, 0, BDY_RULE_T9);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_LEN_ERR);
    EXPECT_EQ(b.cqes[0].rule(), BDY_RULE_T9);
    EXPECT_EQ(b.bytes_written, 256u);
}

TEST_P(ResponderRequests, T9BadReceiveKeyIsAProtectionErrorHere)
{
    b.post_recv(kQp, {{kRecv, 10, kLocal}, {kRecv + 100, 100, kLocal ^ 1}});
    deliver(r.send(pattern(4, 50)));
    expect_fatal(BDY_AETH_NAK_OP, kPsn, 0, BDY_RULE_M8);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_PROT_ERR);
    EXPECT_EQ(b.cqes[0].rule(), BDY_RULE_M8);
}

TEST_P(ResponderRequests, K11WindowKeyIsNoReceiveKey)
{
    b.keys[kRemote].rights |= BDY_ACCESS_BIT_LOCAL_WRITE;
    b.post_recv(kQp, {{kTarget, 100, kRemote}});
    deliver(r.send(pattern(4, 50)));
    expect_fatal(BDY_AETH_NAK_OP, kPsn, 0, BDY_RULE_K11);
    expect_untouched();
}

TEST_P(ResponderRequests, T9UnusedBadElementDoesNoHarm)
{
    b.post_recv(kQp, {{kRecv, 64, kLocal}, {kRecv + 100, 100, kLocal ^ 1}});
    deliver(r.send(pattern(4, 64)));
    expect_answer(BDY_AETH_ACK, kPsn);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_SUCCESS);
}

TEST_P(ResponderRequests, ReceiveBufferThatNoMemoryAnswersForIsAProtectionError)
{
    b.unmapped_va = kRecv + 4096;
    b.post_recv(kQp, {{kRecv + 4096, 100, kLocal}});
    deliver(r.send(pattern(4, 50)));
    expect_fatal(BDY_AETH_NAK_OP, kPsn, 0, BDY_RULE_DMA);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_PROT_ERR);
}

TEST_P(ResponderRequests, WriteThatNoMemoryAnswersForEndsTheQueuePair)
{
    b.unmapped_va = kTarget;
    deliver(r.write(kTarget, kRemote, pattern(1, 8)));
    expect_fatal(BDY_AETH_NAK_OP, kPsn, BDY_EQE_KIND_QP_FATAL, BDY_RULE_DMA);
}

TEST_P(ResponderRequests, MalformedReceiveWqeIsAnOperationError)
{
    for (int fault = 0; fault < 4; fault++) {
        unsigned qp = 80 + fault;
        b.make_rtr(qp, 9);
        b.post_recv(qp, {{kRecv, 64, kLocal}}, false);
        uint64_t head[2] = {0, 0};
        bdy_rwqe_set_num_sge(head, fault == 0 ? 17 : fault == 1 ? 8 : 1);   // stride 128 holds 7
        bdy_rwqe_set_index(head, fault == 2 ? 1 : 0);
        if (fault == 3) head[1] = 1ull << 40;
        Bytes raw(16);
        memcpy(raw.data(), head, 16);
        b.poke(b.rwqe_va(qp, 0), raw);
        b.doorbell(qp, 1);
        b.run(20);
        Requester q(qp, 9);
        deliver(q.send(pattern(1, 8)));
        ASSERT_EQ(b.cqes.size(), fault + 1u);
        EXPECT_EQ(b.cqes.back().status(), BDY_WC_LOC_QP_OP_ERR) << fault;
        EXPECT_EQ(b.cqes.back().rule(), BDY_RULE_P15) << fault;
        EXPECT_EQ(last().syndrome(), BDY_AETH_NAK_OP);
        EXPECT_EQ(b.qps[qp].st(), BDY_QP_ST_ERR);
    }
}

TEST_P(ResponderRequests, UnreadableReceiveRingIsAnOperationError)
{
    b.post_recv(kQp, {{kRecv, 64, kLocal}});
    bdy_qp_ctx0_set_rq_base(b.qps[kQp].c0.data(), 0x1000);
    deliver(r.send(pattern(1, 8)));
    expect_fatal(BDY_AETH_NAK_OP, kPsn, 0, BDY_RULE_DMA);
    ASSERT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), BDY_WC_LOC_QP_OP_ERR);
}

TEST_P(ResponderRequests, C1LostCompletionEndsTheQueuePair)
{
    b.cqe_fails = true;
    b.post_recv(kQp, {{kRecv, 64, kLocal}});
    deliver(r.send(pattern(1, 8)));
    expect_fatal(BDY_AETH_NAK_OP, kPsn, 0, BDY_RULE_NONE);
}

// ---------------------------------------------------------------- PSN
TEST_P(ResponderRequests, T3OneNakForAGapUntilRecovery)
{
    auto a = r.write(kTarget, kRemote, pattern(1, 8));
    auto lost = r.write(kTarget + 8, kRemote, pattern(2, 8));
    auto c = r.write(kTarget + 16, kRemote, pattern(3, 8));
    auto d = r.write(kTarget + 24, kRemote, pattern(4, 8));
    deliver({a[0], c[0], d[0], c[0]});
    expect_answer(BDY_AETH_NAK_SEQ, kPsn + 1, b.out.size());
    unsigned naks = 0;
    for (const auto &p : b.out) naks += p.syndrome() == BDY_AETH_NAK_SEQ;
    EXPECT_EQ(naks, 1u);
    EXPECT_EQ(b.counts[kOutOfSeq], 3u);
    EXPECT_EQ(b.peek(kTarget + 16, 16), Bytes(before.begin() + 16, before.begin() + 32));
    deliver({lost[0], c[0], d[0]});
    EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);
    EXPECT_EQ(last().psn(), (kPsn + 3) & 0xffffff);
    EXPECT_EQ(last().msn(), 4u);
    // A second gap is reported again.
    r.write(kTarget, kRemote, pattern(1, 8));
    auto e = r.write(kTarget, kRemote, pattern(1, 8));
    deliver(e);
    EXPECT_EQ(last().syndrome(), BDY_AETH_NAK_SEQ);
    EXPECT_EQ(last().psn(), (kPsn + 4) & 0xffffff);
}

TEST_P(ResponderRequests, T3H11DuplicatesAreAcknowledgedAndNotExecuted)
{
    b.post_recv(kQp, {{kRecv, 64, kLocal}});
    b.post_recv(kQp, {{kRecv + 64, 64, kLocal}});
    auto s = r.send(pattern(1, 16));
    auto w = r.write(kTarget, kRemote, pattern(2, 16));
    deliver({s[0], w[0]});
    b.poke(kTarget, pattern(9, 16));
    b.poke(kRecv, pattern(9, 16));
    size_t n = b.out.size();
    unsigned long written = b.bytes_written;
    deliver({s[0], w[0]});
    EXPECT_EQ(b.counts[kDuplicate], 2u);
    EXPECT_EQ(b.cqes.size(), 1u);
    EXPECT_EQ(b.bytes_written, written);
    ASSERT_GT(b.out.size(), n);
    EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);
    EXPECT_EQ(last().psn(), (kPsn + 1) & 0xffffff);   // up to the last complete one
    EXPECT_EQ(last().msn(), 2u);
}

TEST_P(ResponderRequests, T3WindowIsHalfThePsnSpace)
{
    for (uint32_t ahead : {1u, 0x7fffffu, 0x800000u, 0xffffffu}) {
        Packet p = r.base(BDY_BTH_OP_WRITE_ONLY, kPsn + ahead);
        size_t n = b.out.size();
        deliver(p);
        bool duplicate = ahead >= 0x800000;
        EXPECT_EQ(b.out.size(), n + (duplicate || ahead == 1)) << ahead;
        if (duplicate) {
            EXPECT_EQ(last().psn(), (kPsn - 1) & 0xffffff) << ahead;
        }
    }
    EXPECT_EQ(b.counts[kOutOfSeq], 2u);
    EXPECT_EQ(b.counts[kDuplicate], 2u);
}

TEST_P(ResponderRequests, T4AckOnlyWhereAskedAndCoalesced)
{
    b.framer_blocked = true;
    std::vector<Packet> all;
    for (int i = 0; i < 20; i++) {
        auto p = r.write(kTarget + 4 * i, kRemote, pattern(i, 4));
        bdy_pkt_hdr_set_ackreq(p[0].h.data(), i != 19);
        all.push_back(p[0]);
    }
    for (auto &p : all) b.send(p);
    ASSERT_TRUE(b.run_until([&] { return b.bytes_written == 80; }));
    b.run(50);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    ASSERT_GE(b.out.size(), 1u);
    EXPECT_LE(b.out.size(), 4u);
    EXPECT_EQ(last().psn(), (kPsn + 18) & 0xffffff);
    EXPECT_EQ(last().msn(), 19u);
}

TEST_P(ResponderRequests, T3NakSequenceIsNotHiddenByADuplicatesAck)
{
    auto a = r.write(kTarget, kRemote, pattern(1, 8));
    deliver(a);
    r.write(kTarget, kRemote, pattern(1, 8));
    auto c = r.write(kTarget, kRemote, pattern(1, 8));
    b.framer_blocked = true;
    for (auto &p : {a[0], a[0], a[0], c[0], a[0]}) b.send(p);
    b.run(2000);
    b.framer_blocked = false;
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(last().syndrome(), BDY_AETH_NAK_SEQ);
    EXPECT_EQ(last().psn(), (kPsn + 1) & 0xffffff);
}

// ---------------------------------------------------------------- drops
TEST_P(ResponderRequests, T11WrongQueuePairStateOrPkeyIsDroppedAndCounted)
{
    Packet p = r.write(kTarget, kRemote, pattern(1, 8))[0];
    Packet q = p;
    for (uint32_t qpn : {0u, 1u, kQpnBase - 1, kQpnBase + 256, 0xffffffu, kQpnBase + kQp + 0x10000}) {
        bdy_pkt_hdr_set_dest_qp(q.h.data(), qpn);
        deliver(q);
    }
    EXPECT_EQ(b.counts[kUnknownQp], 6u);

    q = p;
    bdy_pkt_hdr_set_dest_qp(q.h.data(), kQpnBase + 99);     // RESET
    deliver(q);
    EXPECT_EQ(b.counts[kBadState], 1u);
    b.set_state(99, BDY_QP_ST_INIT);
    deliver(q);
    EXPECT_EQ(b.counts[kBadState], 2u);

    for (uint32_t pkey : {0u, 0x8000u, 0x7ffeu, 0xfffeu}) {
        q = p;
        bdy_pkt_hdr_set_pkey(q.h.data(), pkey);
        deliver(q);
    }
    EXPECT_EQ(b.counts[kBadPkey], 4u);
    EXPECT_TRUE(b.out.empty());
    expect_untouched();

    bdy_pkt_hdr_set_pkey(p.h.data(), 0x7fff);               // a limited member may talk to a full one
    deliver(p);
    expect_answer(BDY_AETH_ACK, kPsn);
}

TEST_P(ResponderRequests, T11ReceivesInRtrRtsAndSqdOnly)
{
    for (unsigned st : {BDY_QP_ST_RTS, BDY_QP_ST_SQD, BDY_QP_ST_RTS}) {
        b.set_state(kQp, st);
        deliver(r.write(kTarget, kRemote, pattern(1, 8)));
        EXPECT_EQ(last().syndrome(), BDY_AETH_ACK);
        EXPECT_EQ(last().psn(), (r.psn - 1) & 0xffffff);
    }
    b.set_state(kQp, BDY_QP_ST_ERR);
    size_t n = b.out.size();
    deliver(r.write(kTarget, kRemote, pattern(1, 8)));
    EXPECT_EQ(b.out.size(), n);
    EXPECT_EQ(b.counts[kBadState], 1u);
}

TEST_P(ResponderRequests, H4RequestWhoseGenerationChangedIsDroppedWithoutNak)
{
    Packet p = r.write(kTarget, kRemote, pattern(1, 8))[0];
    b.on_access = [&](unsigned, uint64_t, uint32_t) { b.qps[kQp].gen++; };
    deliver(p);
    EXPECT_TRUE(b.out.empty());
    EXPECT_TRUE(b.events.empty());
    EXPECT_EQ(b.counts[kStale], 1u);
    expect_untouched();
}

// ---------------------------------------------------------------- H9
TEST(ResponderNakTiming, H9RefusalsLeaveAtArrivalPlusRWhateverTheReason)
{
    // Reasons and lookup latencies differ; the distance from arrival to departure does not.
    struct Case { uint32_t key; uint64_t va; unsigned latency; };
    std::vector<uint64_t> gaps;
    for (const Case &c : {Case{0xbad, kTarget, 0}, Case{kRemote, kTarget - 1, 0}, Case{kRemote, kTarget - 1, 77},
                          Case{0xbad, kTarget, 150}, Case{kRemote, ~0ull - 3, 31}}) {
        Bench b(3, 0);
        b.nak_delay = 500;
        b.acc_latency_min = c.latency;
        b.keys[kRemote] = {kTarget, kTargetLen, kRemoteRights, 1, false};
        b.make_rtr(1, 7);
        Requester q(1, 7);
        b.run(c.latency % 7);
        b.send(q.write(c.va, c.key, pattern(1, 16))[0]);
        uint64_t arrival = b.now();
        ASSERT_TRUE(b.settle());
        ASSERT_EQ(b.out.size(), 1u);
        EXPECT_EQ(b.out[0].syndrome(), BDY_AETH_NAK_ACC);
        gaps.push_back(b.out[0].cycle - arrival);
    }
    for (uint64_t g : gaps) EXPECT_EQ(g, gaps[0]);
    EXPECT_GE(gaps[0], 500u);
    EXPECT_LT(gaps[0], 520u);
}

TEST(ResponderNakTiming, H9ALateRefusalLeavesAtTheNextMultiple)
{
    uint64_t gap[2];
    for (int i = 0; i < 2; i++) {
        Bench b(3, 0);
        b.nak_delay = 100;
        b.acc_latency_min = i ? 260 : 230;
        b.make_rtr(1, 7);
        Requester q(1, 7);
        b.send(q.write(kTarget, 0xbad, pattern(1, 16))[0]);
        uint64_t arrival = b.now();
        ASSERT_TRUE(b.settle());
        ASSERT_EQ(b.out.size(), 1u);
        gap[i] = b.out[0].cycle - arrival;
    }
    EXPECT_EQ(gap[0], gap[1]);
    EXPECT_GE(gap[0], 300u);
    EXPECT_LT(gap[0], 320u);
}

TEST(ResponderNakTiming, H9DelayHoldsUpNobodyElse)
{
    Bench b(3, 0);
    b.nak_delay = 5000;
    b.keys[kRemote] = {kTarget, kTargetLen, kRemoteRights, 1, false};
    for (unsigned qp = 1; qp <= 12; qp++) b.make_rtr(qp, 7);
    for (unsigned qp = 1; qp <= 11; qp++) {
        Requester q(qp, 7);
        b.send(q.write(kTarget, 0xbad, pattern(1, 16))[0]);
    }
    Requester good(12, 7);
    b.send(good.write(kTarget, kRemote, pattern(1, 16))[0]);
    uint64_t start = b.now();
    ASSERT_TRUE(b.run_until([&] { return !b.out.empty(); }));
    EXPECT_EQ(b.out[0].syndrome(), BDY_AETH_ACK);
    EXPECT_LT(b.now() - start, 1000u);
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.out.size(), 12u);
    EXPECT_EQ(b.events.size(), 11u);
}

}  // namespace rx
