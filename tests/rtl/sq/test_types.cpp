// SPDX-License-Identifier: Apache-2.0
// What is not a plain reliable connection: SEND_WITH_INV and atomics, UC, UD, XRC, SQE and SQD.
#include <gtest/gtest.h>

#include <cstring>

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

// A queue pair of a type, in RTS, with a local region; with a peer where there are answers.
struct Typed {
    Bench b;
    std::unique_ptr<Peer> peer;
    uint32_t lkey = 0;
    explicit Typed(unsigned kind, uint32_t seed = 1, const std::function<void(uint64_t *)> &ctx = {})
        : b(seed)
    {
        b.make_qp(0);
        uint64_t *c = b.ctx0(0).data();
        bdy_qp_ctx0_set_kind(c, kind);
        if (ctx)
            ctx(c);
        b.set_state(0, BDY_QP_ST_RTS);
        b.wait_acked();
        lkey = b.region(0x50'0000, 1 << 20);
        if (kind == BDY_QP_KIND_RC || kind == BDY_QP_KIND_XRC_SEND) {
            peer.reset(new Peer(b, 0));
            b.on_packet = [this](const Packet &p) { peer->request(p); };
        }
    }
    unsigned state()
    {
        return unsigned(bdy_qp_ctx0_get_st(b.ctx0(0).data()));
    }
    bool finish() // jumps over timers until nothing is left to happen
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

Wr of(unsigned op)
{
    Wr w;
    w.op = op;
    return w;
}

Wr atomic(const Typed &t, unsigned op, uint64_t off, uint64_t local, uint64_t swap_add,
          uint64_t compare = 0)
{
    Wr w = of(op);
    w.addr = t.peer->base + off;
    w.rkey = t.peer->rkey;
    w.swap_add = swap_add;
    w.compare = compare;
    w.sges = {{local, 8, t.lkey}};
    return w;
}

uint64_t word(const Bytes &b, size_t at = 0)
{
    uint64_t v;
    memcpy(&v, &b.at(at + 7) - 7, 8);
    return v;
}

void expect_refused(Bench &b, unsigned status, unsigned rule)
{
    ASSERT_TRUE(b.settle());
    ASSERT_GE(b.cqes.size(), 1u);
    EXPECT_EQ(b.cqes[0].status(), status);
    EXPECT_EQ(b.cqes[0].rule(), rule);
}

std::array<uint64_t, 8> handle(uint32_t pd = 7)
{
    std::array<uint64_t, 8> ah{};
    bdy_ah_ctx_set_valid(ah.data(), 1);
    bdy_ah_ctx_set_grh(ah.data(), 1);
    bdy_ah_ctx_set_sl(ah.data(), 6);
    bdy_ah_ctx_set_dlid(ah.data(), 0x4321);
    bdy_ah_ctx_set_pd(ah.data(), pd);
    bdy_ah_ctx_set_flow_label(ah.data(), 0x98765);
    bdy_ah_ctx_set_tclass(ah.data(), 0x5a);
    bdy_ah_ctx_set_hop_limit(ah.data(), 0x3c);
    bdy_ah_ctx_set_sgid_index(ah.data(), 2);
    bdy_ah_ctx_set_dgid_lo(ah.data(), 0x1122334455667788);
    bdy_ah_ctx_set_dgid_hi(ah.data(), 0x99aabbccddeeff00);
    return ah;
}

Wr datagram(unsigned ah, uint32_t qkey, uint32_t qpn)
{
    Wr w;
    w.rkey = ah;
    w.addr = uint64_t(qpn) << 32 | qkey;
    return w;
}

void add_handle(Bench &b, unsigned num, const std::array<uint64_t, 8> &ah)
{
    b.write_ah(num, ah);
    ASSERT_TRUE(b.until([&] { return b.ah_written(); }));
}

} // namespace

// ------------------------------------------------------------------ SEND_WITH_INV, inline
TEST(SqTypes, I7_SendWithInvalidateCarriesTheKeyInItsLastPacket)
{
    for (size_t n : {0u, 100u, 1024u, 3000u}) {
        Typed t(BDY_QP_KIND_RC);
        t.b.put(0x50'0000, pattern(n));
        Wr w = of(BDY_WQE_OP_SEND_INV);
        w.inv_key = 0xabc12345;
        if (n != 0)
            w.sges = {{0x50'0000, uint32_t(n), t.lkey}};
        t.b.go(0, w);
        ASSERT_TRUE(t.b.settle());
        ASSERT_EQ(t.peer->received.size(), 1u);
        EXPECT_TRUE(t.peer->received[0].has_inv);
        EXPECT_FALSE(t.peer->received[0].has_imm);
        EXPECT_EQ(t.peer->received[0].inv, 0xabc12345u);
        EXPECT_EQ(t.peer->received[0].data, pattern(n));
        ASSERT_EQ(t.b.cqes.size(), 1u);
        EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
        EXPECT_EQ(t.b.cqes[0].op(), BDY_CQE_OP_SEND);
        EXPECT_TRUE(t.b.ops.empty()); // the responder invalidates
    }
}

TEST(SqTypes, N3_InlineDataOfEverySizeWithEveryOpcode)
{
    Typed t(BDY_QP_KIND_RC, 1, [](uint64_t *c) { bdy_qp_ctx0_set_mtu(c, 1); });
    for (size_t n = 0; n <= 480; n++) {
        for (unsigned op : {BDY_WQE_OP_SEND, BDY_WQE_OP_SEND_IMM, BDY_WQE_OP_SEND_INV,
                            BDY_WQE_OP_WRITE, BDY_WQE_OP_WRITE_IMM}) {
            Wr w = of(op);
            w.is_inline = true;
            w.inl = pattern(n, unsigned(n) + op);
            w.addr = t.peer->base + 0x4000;
            w.rkey = t.peer->rkey;
            t.b.go(0, w);
            ASSERT_TRUE(t.b.settle());
            if (op <= BDY_WQE_OP_SEND_INV) {
                ASSERT_EQ(t.peer->received.back().data, w.inl) << n;
            } else {
                ASSERT_EQ(Bytes(t.peer->memory.begin() + 0x4000,
                                t.peer->memory.begin() + 0x4000 + long(n)),
                          w.inl)
                    << n;
            }
        }
    }
    EXPECT_EQ(t.b.payload_reads, 0u);
    ASSERT_EQ(t.b.cqes.size(), 481u * 5);
    for (const Cqe &c : t.b.cqes)
        ASSERT_EQ(c.status(), BDY_WC_SUCCESS);
}

// ------------------------------------------------------------------ atomics
TEST(SqTypes, A17_AtomicsBringTheOriginalValueBeforeTheirCompletion)
{
    Typed t(BDY_QP_KIND_RC);
    const uint64_t old = word(t.peer->memory, 64);
    t.b.post(0, atomic(t, BDY_WQE_OP_FETCH_ADD, 64, 0x50'0ffc, 5)); // its SGE crosses a page
    t.b.post(0, atomic(t, BDY_WQE_OP_CMP_SWAP, 64, 0x50'2000, 77, old + 5));
    t.b.post(0, atomic(t, BDY_WQE_OP_CMP_SWAP, 64, 0x50'3000, 99, 1));
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 3u);
    EXPECT_EQ(t.b.cqes[0].op(), BDY_CQE_OP_FETCH_ADD);
    EXPECT_EQ(t.b.cqes[1].op(), BDY_CQE_OP_CMP_SWAP);
    for (const Cqe &c : t.b.cqes) {
        EXPECT_EQ(c.status(), BDY_WC_SUCCESS);
        EXPECT_EQ(c.byte_len(), 8u);
    }
    EXPECT_EQ(word(t.b.get(0x50'0ffc, 8)), old);
    EXPECT_EQ(word(t.b.get(0x50'2000, 8)), old + 5);
    EXPECT_EQ(word(t.b.get(0x50'3000, 8)), 77u);
    EXPECT_EQ(word(t.peer->memory, 64), 77u);
    const uint64_t *h = t.b.packets[0].hdr.data();
    EXPECT_EQ(bdy_pkt_hdr_get_paylen(h), 0u);
    EXPECT_EQ(bdy_pkt_hdr_get_cmp(h), 0u);
    EXPECT_TRUE(bdy_pkt_hdr_rsvd_zero(h));
    EXPECT_EQ(t.b.payload_reads, 0u);
    EXPECT_EQ(t.b.grants_out, 0);
}

TEST(SqTypes, M9_AtomicWithABadLocalKeyTouchesNoRemoteMemory)
{
    for (int bad = 0; bad < 3; bad++) {
        Typed t(BDY_QP_KIND_RC);
        Wr w = atomic(t, BDY_WQE_OP_FETCH_ADD, 0, 0x50'0000, 1);
        if (bad == 0)
            w.sges[0].lkey = 0xdead00;
        if (bad == 1)
            w.sges[0].lkey = t.b.region(0x50'0000, 4096, 0); // no LOCAL_WRITE
        if (bad == 2)
            w.sges[0].addr = 0x50'0000 + (1 << 20) - 7; // one byte beyond
        t.b.go(0, w);
        expect_refused(t.b, BDY_WC_LOC_PROT_ERR, bad == 0 ? BDY_RULE_A1 : BDY_RULE_M8);
        EXPECT_TRUE(t.b.packets.empty());
        EXPECT_EQ(t.state(), BDY_QP_ST_ERR);
        EXPECT_EQ(t.b.grants_out, 0);
    }
}

TEST(SqTypes, A24_LostResultIsAskedForWithTheSamePsn)
{
    Typed t(BDY_QP_KIND_RC);
    const uint64_t old = word(t.peer->memory, 8);
    t.peer->silent = true;
    t.b.go(0, atomic(t, BDY_WQE_OP_FETCH_ADD, 8, 0x50'0000, 3));
    ASSERT_TRUE(t.b.settle());
    t.peer->silent = false;
    ASSERT_TRUE(t.finish());
    ASSERT_EQ(t.b.packets.size(), 2u);
    EXPECT_EQ(t.b.packets[0].hdr, t.b.packets[1].hdr);
    EXPECT_EQ(t.peer->atomics, 1u);
    EXPECT_EQ(word(t.peer->memory, 8), old + 3);
    EXPECT_EQ(word(t.b.get(0x50'0000, 8)), old);
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
}

TEST(SqTypes, T7_O5_AtomicsCountWithReadsAndFencesWaitForThem)
{
    Typed t(BDY_QP_KIND_RC, 1, [](uint64_t *c) { bdy_qp_ctx0_set_max_rd(c, 2); });
    t.peer->silent = true;
    Wr read = of(BDY_WQE_OP_READ);
    read.addr = t.peer->base;
    read.sges = {{0x50'0000, 8, t.lkey}};
    t.b.post(0, read);
    t.b.post(0, atomic(t, BDY_WQE_OP_FETCH_ADD, 0, 0x50'1000, 1));
    t.b.post(0, atomic(t, BDY_WQE_OP_CMP_SWAP, 0, 0x50'2000, 1));
    t.b.ring(0);
    t.b.run(500);
    EXPECT_EQ(t.b.packets.size(), 2u);
    t.peer->silent = false;
    ASSERT_TRUE(t.finish());
    EXPECT_EQ(t.b.cqes.size(), 3u);

    Typed u(BDY_QP_KIND_RC);
    u.b.hold_write = true;
    u.b.post(0, atomic(u, BDY_WQE_OP_FETCH_ADD, 0, 0x50'0000, 1));
    Wr fenced;
    fenced.fence = true;
    u.b.post(0, fenced);
    u.b.ring(0);
    u.b.run(500);
    EXPECT_EQ(u.b.packets.size(), 1u); // answered, but not stored
    u.b.hold_write = false;
    ASSERT_TRUE(u.b.until([&] { return u.b.packets.size() == 2; }));

    Typed none(BDY_QP_KIND_RC, 1, [](uint64_t *c) { bdy_qp_ctx0_set_max_rd(c, 0); });
    none.b.go(0, atomic(none, BDY_WQE_OP_FETCH_ADD, 0, 0x50'0000, 1));
    expect_refused(none.b, BDY_WC_LOC_QP_OP_ERR, BDY_RULE_T7);
}

TEST(SqTypes, ReadDataIsNoAnswerToAnAtomicNorAnAcknowledge)
{
    Typed t(BDY_QP_KIND_RC);
    t.b.on_packet = {};
    t.b.put(0x50'0000, Bytes(8, 0xee));
    t.b.go(0, atomic(t, BDY_WQE_OP_FETCH_ADD, 0, 0x50'0000, 1));
    ASSERT_TRUE(t.b.settle());
    const unsigned ghosts[] = {BDY_BTH_OP_READ_RESP_ONLY, BDY_BTH_OP_ACK,
                               BDY_BTH_TR_XRC << 5 | BDY_BTH_OP_ATOMIC_ACK};
    for (unsigned op : ghosts) {
        Packet p;
        bdy_pkt_hdr_set_op(p.hdr.data(), op);
        bdy_pkt_hdr_set_pkey(p.hdr.data(), 0xffff);
        bdy_pkt_hdr_set_dest_qp(p.hdr.data(), BDY_QPN_BASE);
        bdy_pkt_hdr_set_psn(p.hdr.data(), 100);
        bdy_pkt_hdr_set_syndrome(p.hdr.data(), BDY_AETH_ACK);
        p.data = Bytes(op == BDY_BTH_OP_ACK ? 0 : 8, 0x11);
        bdy_pkt_hdr_set_paylen(p.hdr.data(), p.data.size());
        t.b.respond(p);
        ASSERT_TRUE(t.b.settle());
        EXPECT_TRUE(t.b.cqes.empty());
        EXPECT_EQ(t.b.get(0x50'0000, 8), Bytes(8, 0xee));
    }
}

// ------------------------------------------------------------------ UC
TEST(SqTypes, UcCompletesWhenTheLastPacketHasGone)
{
    Typed t(BDY_QP_KIND_UC);
    t.b.put(0x50'0000, pattern(3000));
    Wr write = of(BDY_WQE_OP_WRITE_IMM);
    write.addr = 0x7000;
    write.rkey = 0x42;
    write.imm = 0x1234;
    write.sges = {{0x50'0000, 3000, t.lkey}};
    t.b.hold_framer = true;
    t.b.post(0, write);
    t.b.post(0, of(BDY_WQE_OP_SEND));
    t.b.ring(0);
    t.b.run(500);
    EXPECT_TRUE(t.b.cqes.empty());
    t.b.hold_framer = false;
    ASSERT_TRUE(t.b.settle());
    const unsigned ops[] = {BDY_BTH_OP_WRITE_FIRST, BDY_BTH_OP_WRITE_MIDDLE,
                            BDY_BTH_OP_WRITE_LAST_IMM, BDY_BTH_OP_SEND_ONLY};
    ASSERT_EQ(t.b.packets.size(), 4u);
    Bytes sent;
    for (unsigned i = 0; i < 4; i++) {
        EXPECT_EQ(t.b.packets[i].op(), unsigned(BDY_BTH_TR_UC << 5 | ops[i]));
        EXPECT_EQ(t.b.packets[i].psn(), 100u + i);
        EXPECT_FALSE(t.b.packets[i].ackreq());
        sent.insert(sent.end(), t.b.packets[i].data.begin(), t.b.packets[i].data.end());
    }
    EXPECT_EQ(sent, pattern(3000));
    ASSERT_EQ(t.b.cqes.size(), 2u);
    for (const Cqe &c : t.b.cqes)
        EXPECT_EQ(c.status(), BDY_WC_SUCCESS);
    EXPECT_EQ(t.b.next_timer(), ~0ull);
}

TEST(SqTypes, UcSendsManyMessagesWithoutAnyAnswer)
{
    Typed t(BDY_QP_KIND_UC);
    Wr fenced; // P13: FENCE has no effect
    fenced.fence = true;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 50; i++)
            t.b.post(0, fenced);
        t.b.ring(0);
        ASSERT_TRUE(t.b.settle());
    }
    ASSERT_EQ(t.b.packets.size(), 1000u);
    ASSERT_EQ(t.b.cqes.size(), 1000u);
    for (unsigned i = 0; i < 1000; i++) {
        EXPECT_EQ(t.b.packets[i].psn(), 100u + i);
        EXPECT_EQ(t.b.cqes[i].status(), BDY_WC_SUCCESS);
    }
}

TEST(SqTypes, I16_P10_OperationsThatATypeDoesNotOfferAreRefused)
{
    for (unsigned op : {BDY_WQE_OP_SEND_INV, BDY_WQE_OP_READ, BDY_WQE_OP_FETCH_ADD}) {
        Typed t(BDY_QP_KIND_UC);
        Wr w = of(op);
        if (w.is_atomic())
            w.sges = {{0x50'0000, 8, t.lkey}};
        t.b.go(0, w);
        expect_refused(t.b, BDY_WC_LOC_QP_OP_ERR, BDY_RULE_P10);
        EXPECT_TRUE(t.b.packets.empty());
        EXPECT_EQ(t.state(), BDY_QP_ST_SQE);
    }
    for (unsigned op : {BDY_WQE_OP_SEND_INV, BDY_WQE_OP_READ, BDY_WQE_OP_WRITE,
                        BDY_WQE_OP_WRITE_IMM, BDY_WQE_OP_BIND1, BDY_WQE_OP_BIND2,
                        BDY_WQE_OP_LOCAL_INV}) {
        Typed t(BDY_QP_KIND_UD);
        t.b.go(0, of(op));
        expect_refused(t.b, BDY_WC_LOC_QP_OP_ERR, BDY_RULE_P10);
        EXPECT_TRUE(t.b.packets.empty());
        ASSERT_EQ(t.b.ops.size(), 1u);
        EXPECT_EQ(t.b.ops[0].op(), BDY_PROT_OP_QP_ERR);
    }
    Typed target(BDY_QP_KIND_XRC_RECV);
    target.b.go(0, of(BDY_WQE_OP_SEND));
    expect_refused(target.b, BDY_WC_LOC_QP_OP_ERR, BDY_RULE_P10);
}

TEST(SqTypes, Q5_P13_UcBindsAndARefusedOneLeadsToSqe)
{
    Typed t(BDY_QP_KIND_UC);
    t.b.on_op = [](const Op &op) {
        OpReply r;
        r.res = op.key() + 1;
        r.rule = op.key() == 0x200 ? BDY_RULE_B1 : BDY_RULE_NONE;
        return r;
    };
    Wr bind = of(BDY_WQE_OP_BIND1);
    bind.inv_key = 0x100;
    bind.bind_len = 16;
    bind.fence = true;
    t.b.go(0, bind);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 1u);
    EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
    EXPECT_EQ(t.b.cqes[0].rkey(), 0x101u);
    bind.inv_key = 0x200;
    t.b.post(0, bind);
    t.b.post(0, of(BDY_WQE_OP_SEND));
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.cqes.size(), 3u);
    EXPECT_EQ(t.b.cqes[1].status(), BDY_WC_MW_BIND_ERR);
    EXPECT_EQ(t.b.cqes[2].status(), BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(t.state(), BDY_QP_ST_SQE);
    EXPECT_TRUE(t.b.packets.empty());
}

// ------------------------------------------------------------------ SQE
TEST(SqTypes, Q4_SqeFlushesAndRtsGoesOn)
{
    Typed t(BDY_QP_KIND_UC);
    Wr bad;
    bad.sges = {{0x50'0000, 2000, 0xdead00}};
    for (int round = 0; round < 5; round++) {
        SCOPED_TRACE(round);
        t.b.cqes.clear();
        t.b.packets.clear();
        t.b.post(0, of(BDY_WQE_OP_SEND));
        t.b.post(0, bad);
        for (int i = 0; i < 30; i++)
            t.b.post(0, of(BDY_WQE_OP_SEND));
        t.b.ring(0);
        ASSERT_TRUE(t.b.settle());
        EXPECT_EQ(t.state(), BDY_QP_ST_SQE);
        t.b.go(0, of(BDY_WQE_OP_SEND)); // posted in SQE
        if (round % 2 == 0) {
            ASSERT_TRUE(t.b.settle());
        }
        ASSERT_TRUE(t.b.until([&] { return t.b.d->db_valid_i == 0; }));
        t.b.step();
        t.b.set_state(0, BDY_QP_ST_RTS); // perhaps before everything is flushed
        ASSERT_TRUE(t.b.wait_acked());
        t.b.go(0, of(BDY_WQE_OP_SEND));
        ASSERT_TRUE(t.b.settle());
        ASSERT_EQ(t.b.cqes.size(), 34u);
        EXPECT_EQ(t.b.cqes[0].status(), BDY_WC_SUCCESS);
        EXPECT_EQ(t.b.cqes[1].status(), BDY_WC_LOC_PROT_ERR);
        for (unsigned i = 2; i < 33; i++)
            EXPECT_EQ(t.b.cqes[i].status(), BDY_WC_WR_FLUSH_ERR) << i;
        EXPECT_EQ(t.b.cqes[33].status(), BDY_WC_SUCCESS);
        EXPECT_EQ(t.b.packets.size(), 2u);
    }
}

TEST(SqTypes, Q4_WhatIsPostedAfterSqeWaitsUntilAllBeforeIsFlushed)
{
    for (int n : {5, 30}) { // all in the ring of work requests, or more
        SCOPED_TRACE(n);
        Typed t(BDY_QP_KIND_UC);
        Wr bad;
        bad.sges = {{0x50'0000, 20, 0xdead00}};
        t.b.go(0, bad);
        ASSERT_TRUE(t.b.settle());
        t.b.hold_cqe = true; // nothing is retired
        for (int i = 0; i < n; i++)
            t.b.post(0, of(BDY_WQE_OP_SEND));
        t.b.ring(0);
        t.b.run(600);
        t.b.set_state(0, BDY_QP_ST_RTS);
        ASSERT_TRUE(t.b.wait_acked());
        t.b.go(0, of(BDY_WQE_OP_SEND));
        t.b.run(600);
        EXPECT_TRUE(t.b.packets.empty());
        t.b.hold_cqe = false;
        ASSERT_TRUE(t.b.settle());
        ASSERT_EQ(t.b.cqes.size(), unsigned(n) + 2);
        for (int i = 1; i <= n; i++)
            EXPECT_EQ(t.b.cqes[unsigned(i)].status(), BDY_WC_WR_FLUSH_ERR) << i;
        EXPECT_EQ(t.b.cqes.back().status(), BDY_WC_SUCCESS);
        EXPECT_EQ(t.b.packets.size(), 1u);
    }
}

TEST(SqTypes, SqeMayLeadToErrorAndReset)
{
    for (bool again : {false, true}) {
        Typed t(BDY_QP_KIND_UC);
        Wr bad;
        bad.sges = {{0x50'0000, 20, 0xdead00}};
        t.b.go(0, bad);
        ASSERT_TRUE(t.b.settle());
        if (again) {
            t.b.set_state(0, BDY_QP_ST_RTS);
            ASSERT_TRUE(t.b.settle());
        }
        t.b.set_state(0, BDY_QP_ST_ERR);
        t.b.go(0, of(BDY_WQE_OP_SEND));
        ASSERT_TRUE(t.b.settle());
        ASSERT_EQ(t.b.cqes.size(), 2u);
        EXPECT_EQ(t.b.cqes[1].status(), BDY_WC_WR_FLUSH_ERR);
        EXPECT_EQ(t.state(), BDY_QP_ST_ERR);
        t.b.set_state(0, BDY_QP_ST_RESET);
        ASSERT_TRUE(t.b.wait_acked());
        t.b.to_rts(0);
        t.b.go(0, of(BDY_WQE_OP_SEND));
        ASSERT_TRUE(t.b.until([&] { return t.b.packets.size() == 1; }));
    }
}

// ------------------------------------------------------------------ UD
TEST(SqTypes, U4_DatagramGoesWhereItsAddressHandleSays)
{
    Typed t(BDY_QP_KIND_UD, 1, [](uint64_t *c) {
        bdy_qp_ctx0_set_mtu(c, 0);
        bdy_qp_ctx0_set_qkey(c, 0xcafe0001);
    });
    add_handle(t.b, 200, handle());
    t.b.put(0x50'0000, pattern(4096));
    Wr w = datagram(200, 0x11223344, 0x555);
    w.sges = {{0x50'0000, 4096, t.lkey}}; // as long as the port's MTU
    t.b.post(0, w);
    Wr own = datagram(200, 0x80000000, 0x556);
    own.op = BDY_WQE_OP_SEND_IMM;
    own.imm = 0x77;
    own.solicited = true;
    t.b.post(0, own);
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.packets.size(), 2u);
    const uint64_t *h = t.b.packets[0].hdr.data();
    EXPECT_EQ(t.b.packets[0].op(), unsigned(BDY_BTH_TR_UD << 5 | BDY_BTH_OP_SEND_ONLY));
    EXPECT_EQ(t.b.packets[0].data, pattern(4096));
    EXPECT_EQ(t.b.packets[0].psn(), 100u);
    EXPECT_EQ(t.b.packets[0].qpn(), 0x555u);
    EXPECT_FALSE(t.b.packets[0].ackreq());
    EXPECT_EQ(bdy_pkt_hdr_get_qkey(h), 0x11223344u);
    EXPECT_EQ(bdy_pkt_hdr_get_src_qp(h), uint64_t(BDY_QPN_BASE));
    EXPECT_EQ(bdy_pkt_hdr_get_grh(h), 1u);
    EXPECT_EQ(bdy_pkt_hdr_get_sl(h), 6u);
    EXPECT_EQ(bdy_pkt_hdr_get_dlid(h), 0x4321u);
    EXPECT_EQ(bdy_pkt_hdr_get_flow_label(h), 0x98765u);
    EXPECT_EQ(bdy_pkt_hdr_get_tclass(h), 0x5au);
    EXPECT_EQ(bdy_pkt_hdr_get_hop_limit(h), 0x3cu);
    EXPECT_EQ(bdy_pkt_hdr_get_sgid_index(h), 2u);
    EXPECT_EQ(bdy_pkt_hdr_get_gid_lo(h), 0x1122334455667788u);
    EXPECT_EQ(bdy_pkt_hdr_get_gid_hi(h), 0x99aabbccddeeff00u);
    h = t.b.packets[1].hdr.data();
    EXPECT_EQ(t.b.packets[1].op(), unsigned(BDY_BTH_TR_UD << 5 | BDY_BTH_OP_SEND_ONLY_IMM));
    EXPECT_EQ(bdy_pkt_hdr_get_qkey(h), 0xcafe0001u); // the queue pair's own
    EXPECT_EQ(bdy_pkt_hdr_get_imm(h), 0x77u);
    EXPECT_EQ(bdy_pkt_hdr_get_se(h), 1u);
    EXPECT_EQ(t.b.packets[1].psn(), 101u);
    ASSERT_EQ(t.b.cqes.size(), 2u);
    EXPECT_EQ(t.b.cqes[1].status(), BDY_WC_SUCCESS);
}

TEST(SqTypes, U4_UnknownRemovedOrForeignAddressHandleIsRefused)
{
    for (int bad = 0; bad < 4; bad++) {
        SCOPED_TRACE(bad);
        Typed t(BDY_QP_KIND_UD);
        add_handle(t.b, 3, handle(bad == 1 ? 8 : 7));
        if (bad == 2)
            add_handle(t.b, 3, {});
        t.b.go(0, datagram(bad == 0 ? 4 : bad == 3 ? 0x103 : 3, 1, 2));
        expect_refused(t.b, BDY_WC_LOC_QP_OP_ERR, BDY_RULE_U4);
        EXPECT_TRUE(t.b.packets.empty());
        EXPECT_EQ(t.state(), BDY_QP_ST_SQE);
        add_handle(t.b, 3, handle());
        t.b.set_state(0, BDY_QP_ST_RTS);
        t.b.wait_acked();
        t.b.go(0, datagram(3, 1, 2));
        ASSERT_TRUE(t.b.settle());
        EXPECT_EQ(t.b.packets.size(), 1u);
        EXPECT_EQ(t.b.cqes.size(), 2u);
    }
}

TEST(SqTypes, U3_DatagramLongerThanTheMtuIsALengthError)
{
    Typed t(BDY_QP_KIND_UD);
    add_handle(t.b, 0, handle());
    Wr w = datagram(0, 1, 2);
    w.sges = {{0x50'0000, 4000, t.lkey}, {0x50'2000, 97, t.lkey}};
    t.b.go(0, w);
    expect_refused(t.b, BDY_WC_LOC_LEN_ERR, BDY_RULE_U3);
    EXPECT_TRUE(t.b.packets.empty());
    EXPECT_EQ(t.state(), BDY_QP_ST_SQE);
}

// ------------------------------------------------------------------ XRC
TEST(SqTypes, H18_XrcRequestsNameTheSharedReceiveQueue)
{
    Typed t(BDY_QP_KIND_XRC_SEND);
    t.b.put(0x50'0000, pattern(2000));
    t.b.on_op = [](const Op &op) {
        OpReply r;
        r.res = op.key() + 1;
        return r;
    };
    Wr send = of(BDY_WQE_OP_SEND_INV);
    send.xrc_srqn = 0xbeef;
    send.inv_key = 0x99;
    send.sges = {{0x50'0000, 2000, t.lkey}};
    Wr read = of(BDY_WQE_OP_READ);
    read.xrc_srqn = 0x12;
    read.addr = t.peer->base;
    read.sges = {{0x50'4000, 2000, t.lkey}};
    Wr bind = of(BDY_WQE_OP_BIND1); // P11
    bind.inv_key = 0x100;
    bind.bind_len = 16;
    t.b.post(0, send);
    t.b.post(0, read);
    t.b.post(0, bind);
    t.b.post(0, atomic(t, BDY_WQE_OP_FETCH_ADD, 0, 0x50'8000, 1));
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    ASSERT_EQ(t.b.packets.size(), 4u);
    for (const Packet &p : t.b.packets)
        EXPECT_EQ(p.op() >> 5, unsigned(BDY_BTH_TR_XRC));
    EXPECT_EQ(bdy_pkt_hdr_get_xrc_srqn(t.b.packets[0].hdr.data()), 0xbeefu);
    EXPECT_EQ(bdy_pkt_hdr_get_xrc_srqn(t.b.packets[1].hdr.data()), 0xbeefu);
    EXPECT_EQ(bdy_pkt_hdr_get_xrc_srqn(t.b.packets[2].hdr.data()), 0x12u);
    ASSERT_EQ(t.peer->received.size(), 1u);
    EXPECT_EQ(t.peer->received[0].inv, 0x99u);
    EXPECT_EQ(t.peer->received[0].srqn, 0xbeefu);
    ASSERT_EQ(t.b.cqes.size(), 4u);
    for (const Cqe &c : t.b.cqes)
        EXPECT_EQ(c.status(), BDY_WC_SUCCESS);
}

TEST(SqTypes, XrcTakesNoResponseOfAnotherTransport)
{
    Typed t(BDY_QP_KIND_XRC_SEND);
    t.b.on_packet = {};
    t.b.go(0, of(BDY_WQE_OP_SEND));
    ASSERT_TRUE(t.b.settle());
    for (unsigned tr : {BDY_BTH_TR_RC, BDY_BTH_TR_XRC}) {
        Packet p;
        bdy_pkt_hdr_set_op(p.hdr.data(), tr << 5 | BDY_BTH_OP_ACK);
        bdy_pkt_hdr_set_pkey(p.hdr.data(), 0xffff);
        bdy_pkt_hdr_set_dest_qp(p.hdr.data(), BDY_QPN_BASE);
        bdy_pkt_hdr_set_psn(p.hdr.data(), 100);
        bdy_pkt_hdr_set_syndrome(p.hdr.data(), BDY_AETH_ACK);
        t.b.respond(p);
        ASSERT_TRUE(t.b.settle());
        EXPECT_EQ(t.b.cqes.size(), tr == BDY_BTH_TR_XRC ? 1u : 0u);
    }
}

// ------------------------------------------------------------------ SQD
TEST(SqTypes, Q3_SqDrainedIsToldOnceAfterTheLastCompletion)
{
    Typed t(BDY_QP_KIND_RC);
    t.peer->silent = true;
    t.b.post(0, of(BDY_WQE_OP_SEND));
    t.b.post(0, of(BDY_WQE_OP_SEND));
    t.b.ring(0);
    ASSERT_TRUE(t.b.settle());
    bdy_qp_ctx0_set_sqd_event(t.b.ctx0(0).data(), 1);
    t.b.set_state(0, BDY_QP_ST_SQD);
    t.b.go(0, of(BDY_WQE_OP_SEND)); // waits
    ASSERT_TRUE(t.b.settle());
    EXPECT_TRUE(t.b.events.empty());
    t.peer->silent = false;
    t.b.hold_cqe_done = true;
    t.b.jump(t.b.next_timer());
    ASSERT_TRUE(t.b.until([&] { return !t.b.cqes.empty(); }));
    t.b.run(500);
    EXPECT_TRUE(t.b.events.empty()); // its completions are not in memory yet (H16)
    t.b.hold_cqe_done = false;
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.cqes.size(), 2u);
    ASSERT_EQ(t.b.events.size(), 1u);
    EXPECT_EQ(bdy_eqe_get_kind(&t.b.events[0]), unsigned(BDY_EQE_KIND_SQ_DRAINED));
    EXPECT_EQ(bdy_eqe_get_number(&t.b.events[0]), uint64_t(BDY_QPN_BASE));
    t.b.set_state(0, BDY_QP_ST_RTS);
    ASSERT_TRUE(t.finish());
    EXPECT_EQ(t.b.cqes.size(), 3u);
    EXPECT_EQ(t.b.events.size(), 1u);
    t.b.set_state(0, BDY_QP_ST_SQD); // at once: nothing to drain
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.events.size(), 2u);
    bdy_qp_ctx0_set_sqd_event(t.b.ctx0(0).data(), 0);
    t.b.set_state(0, BDY_QP_ST_RTS);
    t.b.set_state(0, BDY_QP_ST_SQD); // nobody asked
    ASSERT_TRUE(t.b.settle());
    EXPECT_EQ(t.b.events.size(), 2u);
}

TEST(SqTypes, SqDrainedIsForgottenWhenSqdEndsBeforeIt)
{
    for (unsigned next : {BDY_QP_ST_RTS, BDY_QP_ST_ERR}) {
        Typed t(BDY_QP_KIND_RC);
        t.peer->silent = true;
        t.b.go(0, of(BDY_WQE_OP_SEND));
        ASSERT_TRUE(t.b.settle());
        bdy_qp_ctx0_set_sqd_event(t.b.ctx0(0).data(), 1);
        t.b.set_state(0, BDY_QP_ST_SQD);
        ASSERT_TRUE(t.b.settle());
        t.b.set_state(0, next);
        t.peer->silent = false;
        ASSERT_TRUE(t.finish());
        EXPECT_EQ(t.b.cqes.size(), 1u);
        EXPECT_TRUE(t.b.events.empty());
        if (next == BDY_QP_ST_RTS) {
            t.b.set_state(0, BDY_QP_ST_SQD);
            ASSERT_TRUE(t.b.settle());
            EXPECT_EQ(t.b.events.size(), 1u);
        }
    }
}
