// SPDX-License-Identifier: Apache-2.0
// Packets, acknowledges, retries, READ data.
#include <gtest/gtest.h>

#include "peer.h"

using namespace sq;

namespace
{

Bytes pattern(size_t n, unsigned seed = 1)
{
    Bytes b(n);
    for (size_t i = 0; i < n; i++)
        b[i] = uint8_t(i * 13 + seed + (i >> 8));
    return b;
}

// A queue pair with a peer and one local region.
struct Pair {
    Bench b;
    std::unique_ptr<Peer> peer;
    uint32_t lkey = 0;
    explicit Pair(uint32_t seed = 1, const std::function<void(uint64_t *)> &ctx = {}) : b(seed)
    {
        b.make_qp(0);
        if (ctx)
            ctx(b.ctx0(0).data());
        b.set_state(0, BDY_QP_ST_RTS);
        b.wait_acked();
        peer.reset(new Peer(b, 0));
        b.on_packet = [this](const Packet &p) { peer->request(p); };
        lkey = b.region(0x50'0000, 1 << 20);
    }
    Wr rdma(unsigned op, uint64_t off, std::vector<Sge> sges) const
    {
        Wr w;
        w.op = op;
        w.addr = peer->base + off;
        w.rkey = peer->rkey;
        w.sges = std::move(sges);
        return w;
    }
    // Jumps over timers until nothing is left to happen.
    bool finish()
    {
        for (int i = 0; i < 200; i++) {
            if (!b.settle())
                return false;
            if (b.next_timer() == ~0ull)
                return true;
            b.jump(std::max(b.now(), b.next_timer()));
            b.run(4);
        }
        return false;
    }
};

Packet ack(uint32_t psn, unsigned syndrome = BDY_AETH_ACK, unsigned op = BDY_BTH_OP_ACK,
           Bytes data = {})
{
    Packet p;
    bdy_pkt_hdr_set_op(p.hdr.data(), op);
    bdy_pkt_hdr_set_pkey(p.hdr.data(), 0xffff);
    bdy_pkt_hdr_set_dest_qp(p.hdr.data(), BDY_QPN_BASE);
    bdy_pkt_hdr_set_psn(p.hdr.data(), psn);
    bdy_pkt_hdr_set_syndrome(p.hdr.data(), syndrome);
    bdy_pkt_hdr_set_paylen(p.hdr.data(), data.size());
    p.data = std::move(data);
    return p;
}

} // namespace

TEST(SqTransport, T13_ZeroLengthSendWriteAndRead)
{
    Pair t;
    Wr send;
    send.op = BDY_WQE_OP_SEND_IMM;
    send.imm = 0xcafe;
    send.solicited = true;
    t.b.post(0, send);
    t.b.post(0, t.rdma(BDY_WQE_OP_WRITE_IMM, 0, {}));
    t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {}));
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 3u);
    for (const Cqe &c : t.b.cqes)
        EXPECT_EQ(c.status(), BDY_WC_SUCCESS);
    EXPECT_EQ(t.b.cqes[0].op(), BDY_CQE_OP_SEND);
    EXPECT_EQ(t.b.cqes[1].op(), BDY_CQE_OP_WRITE);
    EXPECT_EQ(t.b.cqes[2].op(), BDY_CQE_OP_READ);
    ASSERT_EQ(t.peer->received.size(), 1u);
    EXPECT_TRUE(t.peer->received[0].has_imm);
    EXPECT_EQ(t.peer->received[0].imm, 0xcafeu);
    EXPECT_TRUE(t.peer->received[0].solicited);
    EXPECT_EQ(t.peer->write_imms, 1u);
    EXPECT_EQ(t.b.packets.size(), 3u);
    EXPECT_EQ(t.b.payload_reads, 0u);
    EXPECT_EQ(t.b.next_timer(), ~0ull);
}

TEST(SqTransport, HeaderComesFromTheContext)
{
    Pair t(1, [](uint64_t *c) {
        bdy_qp_ctx0_set_grh(c, 1);
        bdy_qp_ctx0_set_sl(c, 9);
        bdy_qp_ctx0_set_dlid(c, 0x1234);
    });
    uint64_t *c1 = t.b.ctx1(0).data();
    bdy_qp_ctx1_set_dgid_lo(c1, 0x1111);
    bdy_qp_ctx1_set_dgid_hi(c1, 0x2222);
    bdy_qp_ctx1_set_flow_label(c1, 0xabcde);
    bdy_qp_ctx1_set_tclass(c1, 0x77);
    bdy_qp_ctx1_set_hop_limit(c1, 0x40);
    bdy_qp_ctx1_set_sgid_index(c1, 3);
    t.b.go(0, Wr{});
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.packets.size(), 1u);
    const uint64_t *h = t.b.packets[0].hdr.data();
    EXPECT_EQ(bdy_pkt_hdr_get_grh(h), 1u);
    EXPECT_EQ(bdy_pkt_hdr_get_sl(h), 9u);
    EXPECT_EQ(bdy_pkt_hdr_get_dlid(h), 0x1234u);
    EXPECT_EQ(bdy_pkt_hdr_get_dest_qp(h), 0x999u);
    EXPECT_EQ(bdy_pkt_hdr_get_pkey(h), 0xffffu);
    EXPECT_EQ(bdy_pkt_hdr_get_psn(h), 100u);
    EXPECT_EQ(bdy_pkt_hdr_get_gid_lo(h), 0x1111u);
    EXPECT_EQ(bdy_pkt_hdr_get_gid_hi(h), 0x2222u);
    EXPECT_EQ(bdy_pkt_hdr_get_flow_label(h), 0xabcdeu);
    EXPECT_EQ(bdy_pkt_hdr_get_tclass(h), 0x77u);
    EXPECT_EQ(bdy_pkt_hdr_get_hop_limit(h), 0x40u);
    EXPECT_EQ(bdy_pkt_hdr_get_sgid_index(h), 3u);
    EXPECT_TRUE(bdy_pkt_hdr_rsvd_zero(h));
}

TEST(SqTransport, T1_T2_SegmentationAtEveryMtu)
{
    for (unsigned mtu = 1; mtu <= 5; mtu++) {
        SCOPED_TRACE(mtu);
        Pair t(mtu, [mtu](uint64_t *c) { bdy_qp_ctx0_set_mtu(c, mtu); });
        const uint32_t size = 128u << mtu;
        uint64_t at = 0x50'0003;
        unsigned messages = 0;
        size_t packets = 0;
        for (uint32_t len : {1u, size - 1, size, size + 1, 2 * size, 3 * size - 5}) {
            t.b.put(at, pattern(len, len));
            Wr w;
            w.sges = {{at, len, t.lkey}};
            t.b.go(0, w);
            t.b.go(0, t.rdma(BDY_WQE_OP_WRITE, 17, {{at, len, t.lkey}}));
            ASSERT_TRUE(t.b.settle());
            ASSERT_EQ(t.peer->received.size(), ++messages);
            EXPECT_EQ(t.peer->received.back().data, pattern(len, len));
            EXPECT_TRUE(std::equal(t.peer->memory.begin() + 17, t.peer->memory.begin() + 17 + len,
                                   pattern(len, len).begin()));
            packets += 2 * ((len + size - 1) / size);
            EXPECT_EQ(t.b.packets.size(), packets);
        }
        for (const Packet &p : t.b.packets) {
            bool open = p.op() == BDY_BTH_OP_SEND_FIRST || p.op() == BDY_BTH_OP_SEND_MIDDLE ||
                        p.op() == BDY_BTH_OP_WRITE_FIRST || p.op() == BDY_BTH_OP_WRITE_MIDDLE;
            if (open) {
                EXPECT_EQ(p.data.size(), size);
            }
            if (!open) {
                EXPECT_TRUE(p.ackreq());
            }
        }
        EXPECT_EQ(t.b.grants_out, 0);
    }
}

TEST(SqTransport, N3_SixteenSgesOverAWrappedWqe)
{
    Pair t;
    for (int i = 0; i < 62; i++)
        t.b.post(0, Wr{});
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    Wr w;
    Bytes all;
    for (unsigned i = 0; i < 16; i++) {
        Bytes part = pattern(i == 5 ? 0 : 100 + 37 * i, i);
        t.b.put(0x50'0000 + i * 0x1000 + 0xf80, part);
        w.sges.push_back({0x50'0000 + i * 0x1000 + 0xf80, uint32_t(part.size()), t.lkey});
        all.insert(all.end(), part.begin(), part.end());
    }
    t.b.go(0, w); // five slots from slot 62 of 64
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.peer->received.back().data, all);
    Wr r = t.rdma(BDY_WQE_OP_READ, 5, w.sges);
    t.b.go(0, r);
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.back().status(), BDY_WC_SUCCESS);
    EXPECT_EQ(t.b.cqes.back().byte_len(), all.size());
    size_t off = 5;
    for (const Sge &s : w.sges) {
        Bytes want(t.peer->memory.begin() + long(off), t.peer->memory.begin() + long(off + s.len));
        EXPECT_EQ(t.b.get(s.addr, s.len), want);
        off += s.len;
    }
}

// A packet's payload is gathered while the one before leaves; with one buffer one after the other.
TEST(SqTransport, GatherOverlapsTheStreamOfThePacketBefore)
{
    Pair t(1, [](uint64_t *c) { bdy_qp_ctx0_set_mtu(c, 5); });
    t.b.put(0x50'0000, pattern(16 * 4096));
    std::vector<uint64_t> at;
    t.b.on_packet = [&](const Packet &) { at.push_back(t.b.now()); };
    t.b.go(0, t.rdma(BDY_WQE_OP_WRITE, 0, {{0x50'0000, 16 * 4096, t.lkey}}));
    ASSERT_TRUE(t.b.until([&] { return at.size() == 16; }));
    const uint64_t each = (at[15] - at[1]) / 14;
    RecordProperty("cycles_per_packet", int(each));
    EXPECT_LE(each, Shallow ? 310u : 150u);
    Bytes sent;
    for (const Packet &p : t.b.packets)
        sent.insert(sent.end(), p.data.begin(), p.data.end());
    EXPECT_EQ(sent, pattern(16 * 4096));
}

TEST(SqTransport, T14_LengthIsTheSumOfTheSgesInHardware)
{
    Pair t;
    t.b.regions[0x99] = {0, ~0ull, BDY_ACCESS_BIT_LOCAL_WRITE, 7};
    Wr w = t.rdma(BDY_WQE_OP_READ, 0, {{0x1000, 1u << 31, 0x99}});
    t.peer->silent = true;
    t.b.on_packet = {};
    t.b.go(0, w); // exactly 2^31: asked for
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 1; }));
    EXPECT_EQ(bdy_pkt_hdr_get_dmalen(t.b.packets[0].hdr.data()), 1ull << 31);
    t.b.go(0, Wr{});
    t.b.run(300);
    EXPECT_EQ(t.b.packets.size(), 2u);
    // 2^23 PSNs are the window: nothing goes behind them.
    Pair small(1, [](uint64_t *c) { bdy_qp_ctx0_set_mtu(c, 1); });
    small.b.regions[0x99] = {0, ~0ull, BDY_ACCESS_BIT_LOCAL_WRITE, 7};
    small.b.on_packet = {};
    small.b.post(0, w);
    small.b.post(0, Wr{});
    small.b.ring(0);
    small.b.run(500);
    ASSERT_EQ(small.b.packets.size(), 1u);
    small.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_FIRST, pattern(256)));
    ASSERT_TRUE(small.b.until([&] { return small.b.packets.size() == 2; }));
    EXPECT_EQ(small.b.packets[1].psn(), 100u + (1u << 23));
    Wr longer;
    for (int i = 0; i < 16; i++)
        longer.sges.push_back({0x1000, 0xffffffff, 0x99});
    Pair u;
    u.b.go(0, longer);
    ASSERT_TRUE(u.b.settle());
    ASSERT_EQ(u.b.cqes.size(), 1u);
    EXPECT_EQ(u.b.cqes[0].status(), BDY_WC_LOC_LEN_ERR);
    EXPECT_EQ(u.b.cqes[0].rule(), BDY_RULE_A14);
    EXPECT_TRUE(u.b.packets.empty());
    Pair v;
    Wr one_more;
    one_more.sges = {{0x1000, 1u << 31, 0x99}, {0x1000, 1, 0x99}};
    v.b.go(0, one_more);
    ASSERT_TRUE(v.b.settle());
    ASSERT_EQ(v.b.cqes.size(), 1u);
    EXPECT_EQ(v.b.cqes[0].status(), BDY_WC_LOC_LEN_ERR);
}

TEST(SqTransport, M8_PayloadOfABadKeyFailsAfterWhatWasPostedBefore)
{
    Pair t;
    t.peer->coalesce = true;
    t.b.post(0, Wr{});
    Wr bad;
    bad.signaled = false;
    bad.sges = {{0x50'0000, 8, 0xdead}};
    t.b.post(0, bad);
    t.b.post(0, Wr{});
    t.b.ring(0);
    t.b.run(600);
    EXPECT_TRUE(t.b.cqes.empty()); // W5: the first one is not acknowledged yet
    t.peer->flush();
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 3u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
    EXPECT_EQ(t.b.cqes[1].status(), BDY_WC_LOC_PROT_ERR);
    EXPECT_EQ(t.b.cqes[1].rule(), BDY_RULE_A1);
    EXPECT_EQ(t.b.cqes[2].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(t.b.packets.size(), 1u);
    EXPECT_EQ(t.b.grants_out, 0);
}

TEST(SqTransport, DmaErrorOfThePayloadIsALocalError)
{
    Pair t;
    Wr w;
    w.sges = {{0x50'0000, 8, t.lkey}};
    for (uint64_t p = 0; p < 0x100000; p++)
        t.b.mem.bad.insert(p);
    for (uint64_t p = 0x40000; p < 0x40100; p++)
        t.b.mem.bad.erase(p);
    t.b.go(0, w);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_LOC_PROT_ERR);
    EXPECT_EQ(t.b.cqes[0].rule(), BDY_RULE_DMA);
}

TEST(SqTransport, T4_OneAcknowledgeCompletesSeveralMessages)
{
    Pair t;
    t.peer->coalesce = true;
    for (int i = 0; i < 7; i++)
        t.b.post(0, Wr{});
    t.b.ring(0);
    t.b.run(700);
    EXPECT_TRUE(t.b.cqes.empty());
    t.peer->flush();
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.size(), 7u);
    EXPECT_EQ(t.b.packets.size(), 7u);
}

TEST(SqTransport, AtMostSixteenMessagesAreOutstanding)
{
    Pair t;
    t.peer->coalesce = true;
    for (int i = 0; i < 20; i++)
        t.b.post(0, Wr{});
    t.b.ring(0);
    t.b.run(3000);
    EXPECT_EQ(t.b.packets.size(), 16u);
    while (t.b.cqes.size() < 20) {
        t.peer->flush();
        t.b.run(200);
        ASSERT_LT(t.b.now(), 20000u);
    }
    EXPECT_EQ(t.b.packets.size(), 20u);
}

TEST(SqTransport, T3_GhostsAreIgnored)
{
    Pair t;
    t.peer->silent = true;
    t.b.go(0, Wr{});
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 1; }));
    t.b.respond(ack(99));  // before
    t.b.respond(ack(101)); // not sent
    t.b.respond(ack(101, BDY_AETH_NAK_ACC));
    t.b.respond(ack(101, BDY_AETH_NAK_SEQ));
    t.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_ONLY, pattern(8))); // nobody reads
    Packet wrong = ack(100);
    bdy_pkt_hdr_set_dest_qp(wrong.hdr.data(), BDY_QPN_BASE + 256);
    t.b.respond(wrong); // T11
    bdy_pkt_hdr_set_dest_qp(wrong.hdr.data(), 0);
    t.b.respond(wrong);
    wrong = ack(100);
    bdy_pkt_hdr_set_pkey(wrong.hdr.data(), 0x8001);
    t.b.respond(wrong);
    t.b.run(200);
    EXPECT_TRUE(t.b.cqes.empty());
    EXPECT_EQ(t.b.packets.size(), 1u);
    t.b.respond(ack(100));
    t.b.respond(ack(100)); // twice
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
}

TEST(SqTransport, T3_NakSequenceGoesBackToItsPsn)
{
    Pair t;
    t.peer->silent = true;
    t.b.put(0x50'0000, pattern(5000));
    Wr w;
    w.sges = {{0x50'0000, 5000, t.lkey}};
    t.b.go(0, w);
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 5; }));
    t.b.respond(ack(102, BDY_AETH_NAK_SEQ));
    t.b.respond(ack(102, BDY_AETH_NAK_SEQ), 2); // a second sign of the same gap
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 8; }));
    t.b.run(300);
    ASSERT_EQ(t.b.packets.size(), 8u);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_EQ(t.b.packets[5 + i].psn(), 102 + i);
        EXPECT_EQ(t.b.packets[5 + i].op(), t.b.packets[2 + i].op());
        EXPECT_EQ(t.b.packets[5 + i].data, t.b.packets[2 + i].data);
    }
    t.b.respond(ack(104));
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.next_timer(), ~0ull);
}

TEST(SqTransport, H11_RewindTakesOpcodeAndPsnFromTheRecordAndExecutesNothingTwice)
{
    Pair t;
    t.peer->silent = true;
    int binds = 0;
    t.b.on_op = [&](const Op &op) {
        OpReply r;
        r.res = op.key();
        binds++;
        return r;
    };
    Wr bind;
    bind.op = BDY_WQE_OP_BIND1;
    bind.inv_key = 0x100;
    bind.bind_len = 4;
    Wr send;
    send.sges = {{0x50'0000, 40, t.lkey}};
    t.b.post(0, send);
    t.b.post(0, bind);
    t.b.post(0, send);
    t.b.ring(0);
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 2 && binds == 1; }));
    // The program rewrites its posted slots, all but the SGEs: a READ, a SEND, a bind.
    t.b.qps[0].pi = 0;
    auto words = t.b.image(0, t.rdma(BDY_WQE_OP_READ, 0, send.sges));
    t.b.post_raw(0, words);
    t.b.post_raw(0, t.b.image(0, send));
    bdy_wqe_set_op(words.data(), BDY_WQE_OP_BIND1);
    bdy_wqe_set_num_sge(words.data(), 9);
    t.b.post_raw(0, words);
    t.b.respond(ack(100, BDY_AETH_NAK_SEQ));
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 4; }));
    for (unsigned i = 0; i < 2; i++) {
        EXPECT_EQ(t.b.packets[2 + i].op(), BDY_BTH_OP_SEND_ONLY);
        EXPECT_EQ(t.b.packets[2 + i].psn(), 100 + i);
        EXPECT_EQ(t.b.packets[2 + i].data.size(), 40u);
    }
    t.b.respond(ack(101));
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(binds, 1);
    ASSERT_EQ(t.b.cqes.size(), 3u);
    for (const Cqe &c : t.b.cqes)
        EXPECT_EQ(c.status(), BDY_WC_SUCCESS);
    EXPECT_EQ(t.b.cqes[1].op(), BDY_CQE_OP_BIND_MW);
}

TEST(SqTransport, RemoteErrorsGiveTheirStatusAndSyndrome)
{
    const unsigned table[][2] = {{BDY_AETH_NAK_INV, BDY_WC_REM_INV_REQ_ERR},
                                 {BDY_AETH_NAK_ACC, BDY_WC_REM_ACCESS_ERR},
                                 {BDY_AETH_NAK_OP, BDY_WC_REM_OP_ERR}};
    for (auto &row : table) {
        Pair t;
        t.b.post(0, Wr{});
        t.b.post(0, t.rdma(BDY_WQE_OP_WRITE, 0, {}));
        t.b.post(0, Wr{});
        t.peer->coalesce = true;
        t.b.on_packet = [&](const Packet &p) {
            if (p.psn() == 101)
                t.peer->refuse = row[0];
            t.peer->request(p);
        };
        t.b.ring(0);
        ASSERT_TRUE(t.b.settle());
        ASSERT_EQ(t.b.cqes.size(), 3u);
        EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS); // acknowledged by the NAK
        EXPECT_EQ(t.b.cqes[1].status(), row[1]);
        EXPECT_EQ(t.b.cqes[1].syndrome(), row[0]);
        EXPECT_EQ(t.b.cqes[1].rule(), BDY_RULE_NONE); // H12: never the responder's rule
        EXPECT_EQ(t.b.cqes[2].status(), BDY_WC_WR_FLUSH_ERR);
        EXPECT_EQ(t.b.next_timer(), ~0ull);
    }
}

TEST(SqTransport, T6_TimeoutRetriesThenGivesUp)
{
    Pair t(1, [](uint64_t *c) {
        bdy_qp_ctx0_set_retry_cnt(c, 2);
        bdy_qp_ctx0_set_timeout(c, 3);
    });
    t.peer->silent = true;
    t.b.go(0, Wr{});
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.packets.size(), 1u);
    for (unsigned sent = 2; sent <= 3; sent++) {
        uint64_t due = t.b.next_timer();
        EXPECT_GT(due, t.b.now());
        EXPECT_LE(due - t.b.now(), 1024u << 3);
        t.b.jump(due - 3);
        t.b.run(2);
        EXPECT_EQ(t.b.packets.size(), sent - 1); // not before
        ASSERT_TRUE(t.b.settle());
        EXPECT_EQ(t.b.packets.size(), sent);
        EXPECT_TRUE(t.b.cqes.empty());
    }
    t.b.jump(t.b.next_timer());
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_RETRY_EXC_ERR);
    EXPECT_EQ(t.b.next_timer(), ~0ull);
}

TEST(SqTransport, T6_TimeoutZeroIsNever)
{
    Pair t(1, [](uint64_t *c) { bdy_qp_ctx0_set_timeout(c, 0); });
    t.peer->silent = true;
    t.b.go(0, Wr{});
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.next_timer(), ~0ull);
    t.b.jump(1ull << 50);
    t.b.run(100);
    EXPECT_EQ(t.b.packets.size(), 1u);
}

TEST(SqTransport, T6_ProgressRestartsTimerAndCounter)
{
    Pair t(1, [](uint64_t *c) { bdy_qp_ctx0_set_retry_cnt(c, 1); });
    t.peer->silent = true;
    t.b.post(0, Wr{});
    t.b.post(0, Wr{});
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    t.b.jump(t.b.next_timer());
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.packets.size(), 4u);
    t.b.respond(ack(100));
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.size(), 1u);
    t.b.jump(t.b.next_timer());
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.packets.size(), 5u); // one more retry is there
    t.b.respond(ack(101));
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.size(), 2u);
}

TEST(SqTransport, T5_RnrWaitsForTheCodesTime)
{
    const unsigned table[][2] = {{1, 2500},    {2, 5000},       {5, 15000},
                                 {14, 320000}, {31, 122880000}, {0, 163840000}};
    for (auto &row : table) {
        Pair t;
        t.peer->rnr = 1;
        t.peer->rnr_code = row[0];
        t.b.go(0, Wr{});
        ASSERT_TRUE(t.b.settle());
        EXPECT_EQ(t.b.packets.size(), 1u);
        uint64_t wait = t.b.next_timer() - t.b.now();
        EXPECT_LE(wait, row[1]);
        EXPECT_GT(wait + 100, row[1]);
        t.b.jump(t.b.next_timer());
        ASSERT_TRUE(t.b.settle());
        EXPECT_EQ(t.b.packets.size(), 2u);
        ASSERT_EQ(t.b.cqes.size(), 1u);
        EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
    }
}

TEST(SqTransport, T5_RnrRetryCountsAndSevenIsForEver)
{
    Pair t(1, [](uint64_t *c) { bdy_qp_ctx0_set_rnr_retry(c, 2); });
    t.peer->rnr = 100;
    t.b.go(0, Wr{});
    ASSERT_TRUE(t.finish());
    EXPECT_EQ(t.b.packets.size(), 3u);
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_RNR_RETRY_EXC_ERR);

    Pair u;
    u.peer->rnr = 50;
    u.b.go(0, Wr{});
    ASSERT_TRUE(u.finish());
    EXPECT_EQ(u.b.packets.size(), 51u);
    ASSERT_EQ(u.b.cqes.size(), 1u);
    EXPECT_EQ(u.b.cqes[0].status(), BDY_WC_SUCCESS);
}

TEST(SqTransport, T5_NothingIsSentWhileWaitingForTheReceiver)
{
    Pair t;
    t.peer->rnr = 1;
    t.peer->rnr_code = 5;
    t.b.go(0, Wr{});
    t.b.run(200);
    t.b.go(0, Wr{});
    t.b.respond(ack(100, BDY_AETH_NAK_SEQ));
    t.b.respond(ack(100, BDY_AETH_RNR | 9));
    t.b.run(300);
    EXPECT_EQ(t.b.packets.size(), 1u);
    ASSERT_TRUE(t.finish());
    EXPECT_EQ(t.b.cqes.size(), 2u);
}

TEST(SqTransport, T8_LostReadResponseIsAskedForFromThereOn)
{
    Pair t;
    Bytes all(t.peer->memory.begin() + 64, t.peer->memory.begin() + 64 + 10000);
    t.b.on_packet = {};
    t.b.go(0, t.rdma(BDY_WQE_OP_READ, 64, {{0x50'0100, 10000, t.lkey}}));
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 1; }));
    auto piece = [&](unsigned k) {
        return Bytes(all.begin() + 1024 * k, all.begin() + std::min(10000u, 1024 * (k + 1)));
    };
    t.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_FIRST, piece(0)));
    t.b.respond(ack(101, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_MIDDLE, piece(1)));
    for (unsigned k = 3; k < 9; k++)
        t.b.respond(ack(100 + k, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_MIDDLE, piece(k)));
    t.b.respond(ack(109, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_LAST, piece(9)));
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 2; }));
    const uint64_t *h = t.b.packets[1].hdr.data();
    EXPECT_EQ(t.b.packets[1].psn(), 102u);
    EXPECT_EQ(bdy_pkt_hdr_get_va(h), t.peer->base + 64 + 2048);
    EXPECT_EQ(bdy_pkt_hdr_get_dmalen(h), 10000u - 2048);
    t.b.run(500);
    EXPECT_EQ(t.b.packets.size(), 2u); // the old responses ask for nothing more
    t.b.respond(ack(102, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_FIRST, piece(2)));
    for (unsigned k = 3; k < 9; k++)
        t.b.respond(ack(100 + k, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_MIDDLE, piece(k)));
    t.b.respond(ack(109, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_LAST, piece(9)));
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
    EXPECT_EQ(t.b.get(0x50'0100, 10000), all);
    EXPECT_EQ(t.b.grants_out, 0);
}

TEST(SqTransport, ReadResponseAcknowledgesWhatWasSentBefore)
{
    Pair t;
    t.peer->coalesce = true;
    t.b.post(0, Wr{});
    t.b.post(0, Wr{});
    t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 100, t.lkey}}));
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.size(), 3u);
}

TEST(SqTransport, AcknowledgeBehindAMissingReadAsksForTheReadAgain)
{
    Pair t;
    t.b.on_packet = {};
    t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 100, t.lkey}}));
    t.b.post(0, Wr{});
    t.b.ring(0);
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 2; }));
    t.b.respond(ack(101));
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 4; }));
    EXPECT_EQ(t.b.packets[2].op(), BDY_BTH_OP_READ_REQ);
    EXPECT_EQ(t.b.packets[2].psn(), 100u);
    EXPECT_TRUE(t.b.cqes.empty());
}

TEST(SqTransport, ResponseOfAnotherLengthNeverLands)
{
    const size_t lens[] = {101, 99, 0, 1024};
    for (size_t n : lens) {
        Pair t;
        t.b.on_packet = {};
        t.b.put(0x50'0000, Bytes(2048, 0xee));
        t.b.go(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 100, t.lkey}}));
        ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 1; }));
        t.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_ONLY, pattern(n)));
        ASSERT_TRUE(t.b.settle());
        ASSERT_EQ(t.b.cqes.size(), 1u);
        EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_BAD_RESP_ERR);
        EXPECT_EQ(t.b.get(0x50'0000, 2048), Bytes(2048, 0xee));
    }
}

TEST(SqTransport, M8_ReadIntoMemoryWithoutLocalWriteIsALocalError)
{
    Pair t;
    uint32_t ro = t.b.region(0x90'0000, 4096, 0);
    t.b.go(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x90'0000, 100, ro}}));
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_LOC_PROT_ERR);
    EXPECT_EQ(t.b.cqes[0].rule(), BDY_RULE_M8);
    EXPECT_EQ(t.b.get(0x90'0000, 100), Bytes(100, 0));
}

TEST(SqTransport, T7_ReadsOutstandingAreLimited)
{
    Pair t(1, [](uint64_t *c) { bdy_qp_ctx0_set_max_rd(c, 2); });
    t.b.on_packet = {};
    for (int i = 0; i < 4; i++)
        t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 4, t.lkey}}));
    t.b.ring(0);
    t.b.run(500);
    EXPECT_EQ(t.b.packets.size(), 2u);
    t.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_ONLY, pattern(4)));
    t.b.run(300);
    EXPECT_EQ(t.b.packets.size(), 3u);

    Pair u(1, [](uint64_t *c) { bdy_qp_ctx0_set_max_rd(c, 0); });
    u.b.go(0, u.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 4, u.lkey}}));
    ASSERT_TRUE(u.b.settle());
    ASSERT_EQ(u.b.cqes.size(), 1u);
    EXPECT_EQ(u.b.cqes[0].status(), BDY_WC_LOC_QP_OP_ERR);
    EXPECT_EQ(u.b.cqes[0].rule(), BDY_RULE_T7);
}

TEST(SqTransport, O5_FenceWaitsUntilReadDataIsInHostMemory)
{
    Pair t;
    t.b.on_packet = {};
    t.b.hold_write = true;
    t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 4, t.lkey}}));
    Wr fenced;
    fenced.fence = true;
    t.b.post(0, fenced);
    t.b.ring(0);
    t.b.run(300);
    EXPECT_EQ(t.b.packets.size(), 1u);
    t.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_ONLY, pattern(4)));
    t.b.run(500);
    EXPECT_EQ(t.b.packets.size(), 1u); // answered, but not stored
    t.b.hold_write = false;
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 2; }));
    EXPECT_EQ(t.b.get(0x50'0000, 4), pattern(4));
}

TEST(SqTransport, O4_BindPassesAnOutstandingReadUnlessFenced)
{
    for (bool fence : {false, true}) {
        Pair t;
        t.b.on_packet = {};
        Wr bind;
        bind.op = BDY_WQE_OP_LOCAL_INV;
        bind.inv_key = 0x100;
        bind.fence = fence;
        t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 4, t.lkey}}));
        t.b.post(0, bind);
        t.b.ring(0);
        t.b.run(300);
        EXPECT_EQ(t.b.ops.size(), fence ? 0u : 1u);
        t.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_ONLY, pattern(4)));
        ASSERT_TRUE(t.b.settle());
        EXPECT_EQ(t.b.ops.size(), 1u);
        ASSERT_EQ(t.b.cqes.size(), 2u);
        EXPECT_EQ(t.b.cqes[1].op(), BDY_CQE_OP_LOCAL_INV);
    }
}

TEST(SqTransport, H13_ResponsesAreTakenWhileRequestsAreStuck)
{
    Pair t;
    t.b.on_packet = {};
    t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 4, t.lkey}}));
    t.b.ring(0);
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 1; }));
    t.b.hold_framer = true;
    t.b.go(0, Wr{});
    t.b.run(100);
    t.b.respond(ack(100, BDY_AETH_ACK, BDY_BTH_OP_READ_RESP_ONLY, pattern(4)));
    ASSERT_TRUE(t.b.until([&] { return t.b.cqes.size() == 1; }, 200));
    t.b.hold_framer = false;
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 2; }));
}

TEST(SqTransport, GatherOfAnAcknowledgedMessageMayFailWithoutHarm)
{
    Pair t;
    t.peer->silent = true;
    Wr w;
    w.sges = {{0x50'0000, 100, t.lkey}};
    t.b.go(0, w);
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 1; }));
    // Sent again; the first one's acknowledge arrives while the payload is being read, then the
    // region goes away.
    t.b.run(20);
    t.b.hold_payload_read = true;
    t.b.jump(t.b.next_timer());
    t.b.run(60);
    t.b.respond(ack(100));
    t.b.run(60);
    for (uint64_t p = 0; p < 0x100000; p++)
        t.b.mem.bad.insert(p);
    t.b.hold_payload_read = false;
    for (uint64_t p = 0x40000; p < 0x40100; p++)
        t.b.mem.bad.erase(p);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
    EXPECT_EQ(bdy_qp_ctx0_get_st(t.b.ctx0(0).data()), uint64_t(BDY_QP_ST_RTS));
    t.b.go(0, Wr{}); // and the queue goes on
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.back().psn() == 101; }));
}

TEST(SqTransport, LateAcknowledgeEndsTheRepetition)
{
    Pair t;
    t.peer->silent = true;
    for (int i = 0; i < 6; i++)
        t.b.post(0, Wr{});
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.packets.size(), 6u);
    t.b.jump(t.b.next_timer());
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 7; }));
    t.b.hold_framer = true; // the second packet is on its way again
    t.b.run(50);
    t.b.respond(ack(105));
    ASSERT_TRUE(t.b.until([&] { return t.b.cqes.size() == 6; }, 300));
    t.b.hold_framer = false;
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.packets.size(), 8u);
    EXPECT_EQ(t.b.next_timer(), ~0ull);
    t.b.go(0, Wr{});
    ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 9; }));
    EXPECT_EQ(t.b.packets[8].psn(), 106u);
}

TEST(SqTransport, LongMessageAsksForAcknowledgesOnItsWay)
{
    Pair t(1, [](uint64_t *c) { bdy_qp_ctx0_set_mtu(c, 1); });
    Wr w;
    w.sges = {{0x50'0000, 256 * 40, t.lkey}};
    t.b.go(0, w);
    ASSERT_TRUE(t.b.settle());
    unsigned asked = 0;
    for (const Packet &p : t.b.packets)
        asked += p.ackreq();
    EXPECT_EQ(t.b.packets.size(), 40u);
    EXPECT_EQ(asked, 3u); // PSN 111, 127 and the last
}

TEST(SqTransport, PsnsWrap)
{
    Pair t(1, [](uint64_t *c) { bdy_qp_ctx0_set_sq_psn(c, 0xfffffe); });
    for (int i = 0; i < 6; i++) {
        t.b.post(0, Wr{});
        t.b.post(0, t.rdma(BDY_WQE_OP_READ, 0, {{0x50'0000, 3000, t.lkey}}));
    }
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.size(), 12u);
    EXPECT_EQ(t.peer->epsn, (0xfffffe + 6 + 18) & 0xffffffu);
}
