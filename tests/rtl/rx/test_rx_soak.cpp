// SPDX-License-Identifier: Apache-2.0
// Random traffic of several queue pairs over a link that loses, doubles and reorders, with a small go-back-N requester, while
// other queue pairs are refused, flushed and reset: everything arrives exactly once and in order.
#include <algorithm>
#include <deque>

#include "fixture.h"

namespace rx {
namespace {

constexpr uint64_t kWriteArea = kVaBase + 0x100000;    // 16 KiB a queue pair
constexpr uint64_t kReadArea = kVaBase + 0x180000;     // 16 KiB, never written
constexpr uint64_t kRecvArea = kVaBase + 0x200000;     // 32 KiB a queue pair: 8 buffers
constexpr uint32_t kArea = 0x4000;
constexpr unsigned kBuffers = 8;

struct Message {
    std::vector<Packet> packets;     // READ: the request alone
    uint32_t first = 0, count = 0;   // PSNs
    bool read = false, receives = false;
    uint64_t va = 0;
    Bytes data;                      // what a receive or a READ must show
    uint32_t got = 0;                // READ: response packets taken
    uint8_t cqe_op = 0;
    bool with_imm = false;
    uint32_t imm = 0;
};

uint32_t ahead(uint32_t a, uint32_t b) { return (a - b) & 0xffffff; }
bool before(uint32_t a, uint32_t b) { return ahead(a, b) & 0x800000; }

class Peer {
  public:
    Peer(Bench &b, unsigned qp, unsigned mtu, uint32_t psn)
        : b(b), qp(qp), r(qp, psn, mtu), mtu(128u << mtu), next(psn & 0xffffff), receives(psn) {}

    // Some work for this cycle.
    void step(unsigned to_make)
    {
        if (made < to_make && open.size() < 12 && b.rng() % 4 == 0) make();
        if (posted < made_receives + 2 && posted - completed < kBuffers && b.rng() % 1000 == 0) post();
        if (hold) hold--;
        else if (b.pending() < 3 && b.rng() % 3 == 0) transmit();
        if (!open.empty() && ++silence > 4000) {
            rewind(oldest());
            timeouts++;
        }
    }

    void response(const Packet &p)
    {
        if (open.empty()) return;
        uint8_t op = p.op();
        if (op == BDY_BTH_OP_ACK) {
            uint32_t kind = p.syndrome() >> 5;
            if (kind == 0) acknowledge((p.psn() + 1) & 0xffffff);
            if (kind == 0) return;
            if (before(p.psn(), oldest())) return;
            acknowledge(p.psn());
            ASSERT_TRUE(p.syndrome() == BDY_AETH_NAK_SEQ || kind == 1) << "syndrome " << int(p.syndrome());
            rewind(p.psn());
            if (kind == 1) hold = 200, rnrs++;
            return;
        }
        read_response(p);
    }

    void completion(const Cqe &c)
    {
        ASSERT_LT(completed, expected.size()) << "a completion too many";
        const Message &m = expected[completed];
        EXPECT_EQ(c.status(), BDY_WC_SUCCESS) << "rule " << unsigned(c.rule());
        EXPECT_EQ(c.op(), m.cqe_op);
        EXPECT_EQ(c.wqe_index(), completed & 0xffff);
        EXPECT_EQ(c.byte_len(), m.data.size());
        EXPECT_EQ(bdy_cqe_get_with_imm(c.w.data()), m.with_imm);
        if (m.with_imm) {
            EXPECT_EQ(bdy_cqe_get_imm(c.w.data()), m.imm);
        }
        if (m.cqe_op == BDY_CQE_OP_RECV) {
            Bytes data;
            for (const Sge &s : buffers[completed % kBuffers]) {
                Bytes part = b.peek(s.va, s.len);
                data.insert(data.end(), part.begin(), part.end());
            }
            data.resize(m.data.size());
            EXPECT_EQ(data, m.data) << "qp " << qp << " message " << completed;
        }
        completed++;
    }

    bool done(unsigned to_make) const { return made == to_make && open.empty(); }
    void check_area() { EXPECT_EQ(b.peek(kWriteArea + qp * kArea, kArea), area); }
    void start() { area = b.peek(kWriteArea + qp * kArea, kArea); }

    unsigned timeouts = 0, rnrs = 0, completed = 0, reads_done = 0;

  private:
    uint32_t oldest() const
    {
        const Message &m = open.front();
        return (m.first + m.got) & 0xffffff;
    }

    void post()
    {
        auto &sges = buffers[posted % kBuffers];
        sges.clear();
        uint64_t va = kRecvArea + qp * 0x8000 + posted % kBuffers * 0x1000 + b.rng() % 16;
        unsigned n = 1 + b.rng() % 7;
        uint32_t left = 4000;
        for (unsigned i = 0; i < n; i++) {
            uint32_t len = i == n - 1 ? left : b.rng() % std::min<uint32_t>(left, 800);
            sges.push_back({va, len, kLocal});
            va += len;
            left -= len;
        }
        b.post_recv(qp, sges);
        posted++;
    }

    void make()
    {
        Message m;
        unsigned kind = b.rng() % 6;
        uint32_t len = b.rng() % 8 == 0 ? 0 : 1 + b.rng() % (4 * mtu < 4000 ? 4 * mtu : 3900);
        m.first = r.psn & 0xffffff;
        m.with_imm = kind & 1;
        m.imm = b.rng();
        if (kind < 2) {
            m.data = pattern(b.rng(), len);
            m.packets = r.send(m.data, m.with_imm, m.imm);
            m.receives = true;
            m.cqe_op = BDY_CQE_OP_RECV;
        } else if (kind < 4) {
            m.va = kWriteArea + qp * kArea + b.rng() % (kArea - 4000);
            m.data = pattern(b.rng(), len);
            m.packets = r.write(m.va, kRemote, m.data, m.with_imm, m.imm);
            m.receives = m.with_imm;
            m.cqe_op = BDY_CQE_OP_RECV_WRITE_IMM;
            std::copy(m.data.begin(), m.data.end(), area.begin() + static_cast<long>(m.va - kWriteArea - qp * kArea));
        } else {
            if (reads_open >= 16) return;
            reads_open++;
            m.read = true;
            m.va = kReadArea + b.rng() % (kArea - 4000);
            m.data = b.peek(m.va, len);
            m.packets = {r.read(m.va, kRemote, len)};
        }
        m.count = ahead(r.psn & 0xffffff, m.first);
        made++;
        if (m.receives) {
            made_receives++;
            expected.push_back(m);
        }
        open.push_back(m);
    }

    // One packet at `next`, through the link.
    void transmit()
    {
        for (Message &m : open) {
            uint32_t at = ahead(next, m.first);
            if (at >= m.count) continue;
            Packet p = m.packets[m.read ? 0 : at];
            if (m.read) {
                set_reth(p, m.va + at * mtu, kRemote, static_cast<uint32_t>(m.data.size()) - at * mtu);
                bdy_pkt_hdr_set_psn(p.h.data(), next);
                next = (m.first + m.count) & 0xffffff;
            } else {
                next = (next + 1) & 0xffffff;
            }
            bdy_pkt_hdr_set_ackreq(p.h.data(), bdy_pkt_hdr_get_ackreq(p.h.data()) && b.rng() % 4 != 0 ? 1 : open.size() == 1);
            link(p);
            return;
        }
    }

    void link(const Packet &p)
    {
        unsigned luck = b.rng() % 100;
        if (luck < 3) return;
        if (luck < 6) late.push_back(p);            // behind the next one
        else b.send(p);
        if (luck > 96) b.send(p);
        if (luck >= 6 && !late.empty()) {
            b.send(late.front());
            late.pop_front();
        }
    }

    void rewind(uint32_t psn)
    {
        if (before(psn, oldest())) psn = oldest();
        next = psn & 0xffffff;
        silence = 0;
    }

    // Everything before `psn` is known to the responder.
    void acknowledge(uint32_t psn)
    {
        while (!open.empty()) {
            Message &m = open.front();
            if (m.read) {
                if (before(oldest(), psn)) rewind(oldest());    // its data never came
                return;
            }
            if (before(psn, (m.first + m.count) & 0xffffff)) return;
            finish();
        }
    }

    void read_response(const Packet &p)
    {
        for (size_t i = 0; i < open.size(); i++) {
            if (!open[i].read) continue;
            Message &m = open[i];
            uint32_t want = (m.first + m.got) & 0xffffff;
            if (p.psn() != want) {
                if (before(want, p.psn())) rewind(oldest());
                return;
            }
            while (!open.front().read) finish();    // acknowledged by the response
            Message &f = open.front();
            size_t at = static_cast<size_t>(f.got) * mtu;
            ASSERT_LE(at + p.data.size(), f.data.size());
            EXPECT_EQ(p.data, Bytes(f.data.begin() + static_cast<long>(at), f.data.begin() + static_cast<long>(at + p.data.size())));
            f.got++;
            silence = 0;
            if (f.got == f.count) {
                EXPECT_EQ(at + p.data.size(), f.data.size());
                reads_open--;
                reads_done++;
                finish();
            }
            return;
        }
    }

    void finish()
    {
        const Message &m = open.front();
        // Never sent again, even if a rewind stood inside it.
        uint32_t end = (m.first + m.count) & 0xffffff;
        if (before(next, end)) next = end;
        silence = 0;
        open.pop_front();
    }

    Bench &b;
    unsigned qp;
    Requester r;
    uint32_t mtu;
    uint32_t next;
    uint32_t receives;
    std::deque<Message> open;
    std::vector<Message> expected;
    std::deque<Packet> late;
    std::array<std::vector<Sge>, kBuffers> buffers;
    Bytes area;
    unsigned made = 0, made_receives = 0, posted = 0, silence = 0, hold = 0, reads_open = 0;
};

}  // namespace

class ResponderSoak : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ResponderSoak, ::testing::Range(1u, 9u));

TEST_P(ResponderSoak, T3T4T5T8H11EverythingArrivesExactlyOnceAndInOrder)
{
    const uint32_t seed = GetParam();
    RecordProperty("seed", std::to_string(seed));
    Bench b(seed, seed % 2 ? 0 : 40);
    b.resp_stall = seed % 4 * 20;
    b.nak_delay = seed % 3 ? 300 : 0;
    b.keys[kRemote] = {kVaBase, kPages * 4096ull, kRemoteRights, 1, false};
    b.keys[kLocal] = {kRecvArea, 0x100000, BDY_ACCESS_BIT_LOCAL_WRITE, 1, true};
    b.poke(kReadArea, pattern(seed, kArea));

    constexpr unsigned kPeers = 5, kMessages = 150;
    std::vector<std::unique_ptr<Peer>> peers;
    for (unsigned i = 0; i < kPeers; i++) {
        unsigned mtu = 1 + b.rng() % 3;
        uint32_t psn = b.rng() & 0xffffff;
        b.make_rtr(i, psn, mtu, 0x0f, 0, 3, 1);
        peers.push_back(std::make_unique<Peer>(b, i, mtu, psn));
        peers.back()->start();
    }

    // A queue pair beside them lives and dies.
    constexpr unsigned kVictim = 77;
    unsigned victim_lives = 0;
    b.make_rtr(kVictim, 1, 1, 0x0f, kVaBase + (kPages - 20) * 4096ull);

    size_t seen_out = 0, seen_cqe = 0;
    auto done = [&] {
        return std::all_of(peers.begin(), peers.end(), [&](auto &p) { return p->done(kMessages); });
    };
    for (unsigned cycle = 0; cycle < 3000000 && !done() && !HasFailure(); cycle++) {
        for (auto &p : peers) p->step(kMessages);
        if (b.rng() % 1500 == 0) {
            switch (b.rng() % 4) {
            case 0: b.send(Requester(kVictim, 1).write(kVaBase, 0xbad, pattern(1, 64))[0]); break;
            case 1: b.send(Requester(kVictim, 1).read(kVaBase, kRemote, 2000)); break;
            case 2: b.post_recv(kVictim, {}); break;
            default:
                b.set_state(kVictim, BDY_QP_ST_RESET, true);
                b.make_rtr(kVictim, 1, 1, 0x0f, kVaBase + (kPages - 20) * 4096ull);
                victim_lives++;
            }
        }
        b.tick();
        for (; seen_cqe < b.cqes.size(); seen_cqe++) {
            unsigned qp = b.cqes[seen_cqe].qpn() - kQpnBase;
            if (qp < kPeers) peers[qp]->completion(b.cqes[seen_cqe]);
            else EXPECT_EQ(b.cqes[seen_cqe].status(), BDY_WC_WR_FLUSH_ERR);
        }
        // A response is complete when the next one begins or the framer is idle: look one behind.
        while (seen_out < b.out.size() &&
               b.out[seen_out].data.size() == bdy_pkt_hdr_get_paylen(b.out[seen_out].h.data())) {
            unsigned qp = b.out[seen_out].dest_qp() - 0x900;
            if (qp < kPeers && b.rng() % 100 >= 3) peers[qp]->response(b.out[seen_out]);
            seen_out++;
        }
    }
    EXPECT_TRUE(done()) << "traffic does not end";
    ASSERT_TRUE(b.settle());
    unsigned timeouts = 0, rnrs = 0, completed = 0, reads = 0;
    for (auto &p : peers) {
        p->check_area();
        timeouts += p->timeouts;
        rnrs += p->rnrs;
        completed += p->completed;
        reads += p->reads_done;
    }
    for (unsigned i = 0; i < kPeers; i++) EXPECT_EQ(b.qps[i].st(), BDY_QP_ST_RTR);
    for (const auto &f : b.faults) ADD_FAILURE() << f;
    for (const auto &e : b.events) EXPECT_EQ(e.number, kQpnBase + kVictim);
    // The run must have met what it is for.
    EXPECT_GT(b.counts[kDuplicate], 0u);
    EXPECT_GT(b.counts[kOutOfSeq], 0u);
    EXPECT_GT(rnrs, 0u);
    EXPECT_GT(completed, 50u);
    EXPECT_GT(reads, 30u);
    EXPECT_GT(victim_lives, 0u);
    RecordProperty("timeouts", std::to_string(timeouts));
}

}  // namespace rx
