// SPDX-License-Identifier: Apache-2.0
// Random work on several queue pairs over a lossy way, slow memory and reluctant neighbours; every
// payload, key and completion is compared with a model.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "peer.h"

using namespace sq;

namespace
{

struct Posted {
    uint16_t index;
    Wr wr;
    Bytes data;         // sent or to be read
    uint64_t local = 0; // where READ data lands
};

class Soak
{
  public:
    Soak(uint32_t seed, int loss) : b_(seed, seed % 2 == 0), rng_(seed * 77 + 1)
    {
        b_.on_op = [this](const Op &op) { return op_reply(op); };
        b_.on_packet = [this](const Packet &p) { peers_.at(p.qpn() - 0x900)->request(p); };
        for (unsigned q = 0; q < Pairs; q++)
            start(q, loss);
    }

    void run(int rounds)
    {
        for (int i = 0; i < rounds && !::testing::Test::HasFatalFailure(); i++) {
            for (unsigned q = 0; q < Pairs; q++)
                if (rng_() % 3 == 0)
                    post_some(q);
            b_.run(int(rng_() % 200));
            check();
            skip_if_idle();
        }
        for (int i = 0; i < 3000 && outstanding() != 0; i++) {
            ASSERT_TRUE(b_.settle());
            for (auto &p : peers_)
                p->flush();
            check();
            skip_if_idle();
        }
        EXPECT_EQ(outstanding(), 0u);
        for (unsigned q = 0; q < Pairs; q++)
            verify_peer(q);
        EXPECT_EQ(b_.grants_out, 0);
    }

  private:
    static constexpr unsigned Pairs = 4;

    void start(unsigned q, int loss)
    {
        const unsigned slot = slot_of(q);
        b_.make_qp(slot, 6);
        uint64_t *c = b_.ctx0(slot).data();
        bdy_qp_ctx0_set_kind(c, q % 2 ? BDY_QP_KIND_XRC_SEND : BDY_QP_KIND_RC);
        bdy_qp_ctx0_set_mtu(c, 1 + rng_() % 5);
        bdy_qp_ctx0_set_dest_qpn(c, 0x900 + q);
        bdy_qp_ctx0_set_max_rd(c, 1 + rng_() % 16);
        bdy_qp_ctx0_set_sq_psn(c, q == 0 ? 0xffff00 : rng_() & 0xffffff);
        bdy_qp_ctx0_set_timeout(c, 4);
        b_.set_state(slot, BDY_QP_ST_RTS);
        ASSERT_TRUE(b_.wait_acked());
        peers_.emplace_back(new Peer(b_, slot));
        Peer &p = *peers_.back();
        p.drop = loss;
        p.dup = loss;
        p.reorder = loss;
        p.delay_max = 30;
        lkey_[q] = b_.region(base(q), 1 << 22);
        memcpy(&word_[q], &p.memory[Word], 8);
        keys_[q] = 0x10000 * (q + 1);
    }

    static constexpr size_t Word = 0xf000; // of a peer's memory, for atomics

    static unsigned slot_of(unsigned q)
    {
        return q * 61;
    }
    static uint64_t base(unsigned q)
    {
        return 0x1'0000'0000ull + (uint64_t(q) << 24);
    }

    Bytes noise(size_t n)
    {
        Bytes d(n);
        for (auto &x : d)
            x = uint8_t(rng_());
        return d;
    }

    std::vector<Sge> split(unsigned q, uint64_t at, uint32_t len)
    {
        std::vector<Sge> s;
        while (len != 0 && s.size() < 15) {
            uint32_t n = std::min(len, uint32_t(1 + rng_() % 900));
            s.push_back({at, n, lkey_[q]});
            at += n;
            len -= n;
        }
        if (len != 0)
            s.push_back({at, len, lkey_[q]});
        return s;
    }

    void post_some(unsigned q)
    {
        unsigned n = 1 + rng_() % 6;
        for (unsigned i = 0; i < n; i++)
            post_one(q);
        b_.ring(slot_of(q));
    }

    void post_one(unsigned q)
    {
        Posted p;
        p.wr.fence = rng_() % 8 == 0;
        p.wr.signaled = rng_() % 4 != 0;
        uint32_t len = rng_() % 4 == 0 ? 0 : uint32_t(rng_() % 5000);
        uint64_t at = next_[q] + base(q);
        switch (rng_() % 7) {
        case 0:
        case 1: {
            p.wr.op = BDY_WQE_OP_SEND + rng_() % 3;
            p.wr.imm = p.wr.op == BDY_WQE_OP_SEND_IMM ? uint32_t(rng_()) : 0;
            p.wr.inv_key = p.wr.op == BDY_WQE_OP_SEND_INV ? uint32_t(rng_()) | 1 : 0;
            p.wr.solicited = rng_() % 2;
            p.wr.is_inline = rng_() % 3 == 0;
            if (p.wr.is_inline)
                len %= 481;
            p.data = noise(len);
            break;
        }
        case 2:
            p.wr.op = rng_() % 2 ? BDY_WQE_OP_WRITE : BDY_WQE_OP_WRITE_IMM;
            p.wr.addr = peers_[q]->base + 0x8000 + rng_() % 0x2000;
            p.data = noise(len);
            break;
        case 3:
            p.wr.op = BDY_WQE_OP_READ;
            p.wr.addr = peers_[q]->base + rng_() % 0x2000; // never written to
            p.data.assign(peers_[q]->memory.begin() + long(p.wr.addr - peers_[q]->base),
                          peers_[q]->memory.begin() + long(p.wr.addr - peers_[q]->base + len));
            p.local = at;
            break;
        case 4:
            p.wr.op = rng_() % 2 ? BDY_WQE_OP_FETCH_ADD : BDY_WQE_OP_CMP_SWAP;
            p.wr.addr = peers_[q]->base + Word;
            p.wr.swap_add = rng_();
            p.wr.compare = rng_() % 2 ? word_[q] : rng_();
            p.data.resize(8);
            memcpy(p.data.data(), &word_[q], 8);
            p.local = at;
            len = 8;
            break;
        default:
            p.wr.op = rng_() % 2 ? BDY_WQE_OP_BIND1 : BDY_WQE_OP_LOCAL_INV;
            p.wr.inv_key = keys_[q];
            len = 0;
            break;
        }
        p.wr.rkey = peers_[q]->rkey;
        p.wr.xrc_srqn = q % 2 ? rng_() % 0x10000 : 0;
        if (p.wr.is_inline)
            p.wr.inl = p.data;
        else if (len != 0)
            p.wr.sges = p.wr.is_atomic() ? std::vector<Sge>{{at, 8, lkey_[q]}} : split(q, at, len);
        unsigned slots = unsigned(b_.image(slot_of(q), p.wr).size() / 8);
        if (used_[q] + slots > 64)
            return;
        if (next_[q] + 8192 > 1 << 22)
            next_[q] = 0;
        if (!p.wr.is_inline && p.local == 0)
            b_.put(at, p.data);
        next_[q] += len;
        used_[q] += slots;
        if (p.wr.op == BDY_WQE_OP_BIND1 || p.wr.op == BDY_WQE_OP_LOCAL_INV)
            keys_[q]++;
        if (p.wr.op == BDY_WQE_OP_FETCH_ADD)
            word_[q] += p.wr.swap_add;
        if (p.wr.op == BDY_WQE_OP_CMP_SWAP && p.wr.compare == word_[q])
            word_[q] = p.wr.swap_add;
        p.index = b_.post(slot_of(q), p.wr);
        queue_[q].push_back(p);
        if (p.wr.op <= BDY_WQE_OP_SEND_INV)
            sends_[q].push_back(p);
    }

    OpReply op_reply(const Op &op)
    {
        OpReply r;
        unsigned q = op.qp() / 61;
        // O6, H11: in order, each once.
        EXPECT_EQ(op.key(), executed_[q] + 0x10000 * (q + 1));
        executed_[q]++;
        r.res = op.key() + 1;
        r.drain = rng_() % 2;
        r.exec_delay = 1 + int(rng_() % 30);
        r.drain_delay = 1 + int(rng_() % 90);
        return r;
    }

    void check()
    {
        for (; seen_ < b_.cqes.size(); seen_++) {
            const Cqe &c = b_.cqes[seen_];
            unsigned q = c.qp() / 61;
            while (!queue_[q].empty() && queue_[q].front().index != c.index()) {
                ASSERT_FALSE(queue_[q].front().wr.signaled)
                    << "skipped " << queue_[q].front().index;
                retire(q);
            }
            ASSERT_FALSE(queue_[q].empty());
            ASSERT_EQ(c.status(), BDY_WC_SUCCESS) << "qp " << q << " index " << c.index();
            ASSERT_TRUE(queue_[q].front().wr.signaled);
            const Posted &p = queue_[q].front();
            if (p.local != 0) {
                EXPECT_EQ(c.byte_len(), p.data.size());
            }
            if (p.wr.op == BDY_WQE_OP_BIND1) {
                EXPECT_EQ(c.rkey(), p.wr.inv_key + 1);
            }
            retire(q);
        }
    }

    void retire(unsigned q)
    {
        const Posted &p = queue_[q].front();
        if (p.local != 0) {
            EXPECT_EQ(b_.get(p.local, p.data.size()), p.data);
        }
        used_[q] -= unsigned(b_.image(slot_of(q), p.wr).size() / 8);
        queue_[q].pop_front();
    }

    // Unsignaled tails have no completion.
    size_t outstanding()
    {
        size_t n = 0;
        for (auto &q : queue_) {
            for (const Posted &p : q)
                n += p.wr.signaled;
        }
        for (unsigned q = 0; q < Pairs; q++)
            n += sends_[q].size() - peers_[q]->received.size();
        return n;
    }

    void verify_peer(unsigned q)
    {
        ASSERT_EQ(peers_[q]->received.size(), sends_[q].size());
        for (size_t i = 0; i < sends_[q].size(); i++) {
            const Message &m = peers_[q]->received[i];
            EXPECT_EQ(m.data, sends_[q][i].data) << "qp " << q << " send " << i;
            EXPECT_EQ(m.imm, sends_[q][i].wr.imm);
            EXPECT_EQ(m.solicited, sends_[q][i].wr.solicited);
            EXPECT_EQ(m.inv, sends_[q][i].wr.inv_key);
            EXPECT_EQ(m.srqn, sends_[q][i].wr.xrc_srqn);
        }
        EXPECT_EQ(memcmp(&peers_[q]->memory[Word], &word_[q], 8), 0);
    }

    void skip_if_idle()
    {
        if (b_.idle() && b_.next_timer() != ~0ull)
            b_.jump(std::max(b_.now(), b_.next_timer()));
    }

    Bench b_;
    std::mt19937 rng_;
    std::vector<std::unique_ptr<Peer>> peers_;
    std::deque<Posted> queue_[Pairs];
    std::vector<Posted> sends_[Pairs];
    uint32_t lkey_[Pairs] = {}, keys_[Pairs] = {}, executed_[Pairs] = {};
    uint64_t next_[Pairs] = {}, word_[Pairs] = {};
    unsigned used_[Pairs] = {};
    size_t seen_ = 0;
};

} // namespace

class SqSoak : public ::testing::TestWithParam<int>
{
};

TEST_P(SqSoak, W6_H11_EveryWorkRequestOnceOverAnyWay)
{
    const uint32_t seed = uint32_t(GetParam());
    const int loss = GetParam() % 3 == 0 ? 0 : GetParam() % 3 == 1 ? 2 : 6;
    RecordProperty("seed", int(seed));
    Soak soak(seed, loss);
    soak.run(120);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SqSoak, ::testing::Range(1, 13));
