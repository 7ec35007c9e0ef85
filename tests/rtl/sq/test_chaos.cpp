// SPDX-License-Identifier: Apache-2.0
// Random failures of every kind in random lives of queue pairs: each work request ends in exactly
// one completion, in order, first the error and then flushes, none after a reset; binds tell the
// truth about themselves.
#include <gtest/gtest.h>

#include "peer.h"

using namespace sq;

namespace
{

struct Posted {
    uint16_t index;
    bool signaled, is_op;
    uint32_t key;
};

struct Life {
    std::deque<Posted> queue;
    bool failed = false; // a completion in error was seen
    bool up = false;
    uint32_t next_key = 0; // what the program believes
    unsigned used = 0;
};

class Chaos
{
  public:
    explicit Chaos(uint32_t seed) : b_(seed, seed % 2 == 0), rng_(seed * 31 + 5)
    {
        b_.on_op = [this](const Op &op) { return op_reply(op); };
        b_.on_packet = [this](const Packet &p) { peers_.at(p.qpn() - 0x900)->request(p); };
        for (unsigned q = 0; q < Pairs; q++) {
            b_.make_qp(slot(q));
            peers_.emplace_back(new Peer(b_, slot(q)));
            lkey_[q] = b_.region(0x1000'0000ull * (q + 1), 1 << 20);
            present_[q] = 0x10000 * (q + 1);
            start(q);
        }
    }

    void run(int rounds)
    {
        for (int i = 0; i < rounds && !::testing::Test::HasFailure(); i++) {
            unsigned q = rng_() % Pairs;
            act(q);
            b_.run(int(rng_() % 120));
            check();
            if (b_.idle() && b_.next_timer() != ~0ull)
                b_.jump(std::max(b_.now(), b_.next_timer()));
        }
        for (unsigned q = 0; q < Pairs; q++) {
            b_.set_state(slot(q), BDY_QP_ST_ERR);
            lives_[q].up = false;
        }
        for (int i = 0; i < 200 && !(b_.acked() && b_.idle() && b_.next_timer() == ~0ull); i++) {
            ASSERT_TRUE(b_.settle());
            if (b_.next_timer() != ~0ull)
                b_.jump(std::max(b_.now(), b_.next_timer()));
        }
        check();
        for (unsigned q = 0; q < Pairs; q++) {
            size_t left = 0;
            for (const Posted &p : lives_[q].queue)
                left += p.signaled || lives_[q].failed;
            EXPECT_EQ(left, 0u) << "qp " << q;
        }
        EXPECT_EQ(b_.grants_out, 0);
    }

    unsigned resets = 0, errors = 0;

  private:
    static constexpr unsigned Pairs = 5;
    static unsigned slot(unsigned q)
    {
        return 250 - q * 50;
    }
    static unsigned pair_of(unsigned s)
    {
        return (250 - s) / 50;
    }

    void start(unsigned q)
    {
        b_.make_qp(slot(q));
        uint64_t *c = b_.ctx0(slot(q)).data();
        bdy_qp_ctx0_set_dest_qpn(c, 0x900 + q);
        bdy_qp_ctx0_set_sq_psn(c, rng_() & 0xffffff);
        bdy_qp_ctx0_set_max_rd(c, 1 + rng_() % 4);
        bdy_qp_ctx0_set_retry_cnt(c, rng_() % 8);
        bdy_qp_ctx0_set_rnr_retry(c, rng_() % 8);
        bdy_qp_ctx0_set_timeout(c, 2);
        peers_[q].reset(new Peer(b_, slot(q)));
        peers_[q]->drop = peers_[q]->dup = peers_[q]->reorder = int(rng_() % 3);
        b_.set_state(slot(q), BDY_QP_ST_RTS);
        ASSERT_TRUE(b_.wait_acked());
        lives_[q] = Life{};
        lives_[q].up = true;
        lives_[q].next_key = present_[q];
    }

    void act(unsigned q)
    {
        switch (rng_() % 24) {
        case 0:
            peers_[q]->refuse = BDY_AETH_NAK_INV + rng_() % 3;
            break;
        case 1:
            peers_[q]->rnr = int(rng_() % 4);
            break;
        case 2:
            if (state(q) == BDY_QP_ST_RTS)
                b_.set_state(slot(q), BDY_QP_ST_ERR);
            break;
        case 3:
        case 4:
            reset(q);
            break;
        case 5:
            if (state(q) == BDY_QP_ST_RTS)
                b_.set_state(slot(q), BDY_QP_ST_SQD);
            break;
        case 6:
        case 7:
            if (state(q) == BDY_QP_ST_SQD)
                b_.set_state(slot(q), BDY_QP_ST_RTS);
            break;
        case 8:
            peers_[q]->silent = !peers_[q]->silent;
            break;
        default:
            for (unsigned n = 1 + rng_() % 5; n > 0; n--)
                post(q);
            b_.ring(slot(q));
        }
    }

    unsigned state(unsigned q)
    {
        return unsigned(bdy_qp_ctx0_get_st(b_.ctx0(slot(q)).data()));
    }

    void reset(unsigned q)
    {
        b_.set_state(slot(q), BDY_QP_ST_RESET, true);
        ASSERT_TRUE(b_.wait_acked(20000));
        check();
        size_t quiet = b_.cqes.size();
        b_.run(50);
        for (size_t i = quiet; i < b_.cqes.size(); i++)
            EXPECT_NE(b_.cqes[i].qp(), slot(q)) << "completion after reset";
        resets++;
        start(q);
    }

    void post(unsigned q)
    {
        Life &l = lives_[q];
        Wr w;
        w.signaled = rng_() % 3 != 0;
        w.fence = rng_() % 6 == 0;
        uint32_t len = uint32_t(rng_() % 3000);
        uint32_t key = rng_() % 60 == 0 ? 0xbad : lkey_[q];
        w.sges = {{0x1000'0000ull * (q + 1) + rng_() % 5000, len, key}};
        w.addr = peers_[q]->base + 0x100;
        w.rkey = peers_[q]->rkey;
        switch (rng_() % 5) {
        case 0:
            w.op = BDY_WQE_OP_SEND;
            break;
        case 1:
            w.op = BDY_WQE_OP_WRITE;
            break;
        case 2:
            w.op = BDY_WQE_OP_READ;
            break;
        default:
            w.op = rng_() % 2 ? BDY_WQE_OP_BIND1 : BDY_WQE_OP_BIND2;
            w.sges.clear();
            w.inv_key = l.next_key;
            w.bind_len = 8;
        }
        std::vector<uint64_t> words = b_.image(slot(q), w);
        unsigned slots = unsigned(words.size() / 8);
        if (l.used + slots > 64)
            return;
        bool is_op = w.inv_key != 0;
        if (is_op)
            l.next_key++;
        if (rng_() % 80 == 0) {
            bdy_wqe_set_op(words.data(), 200);
            is_op = false;
        }
        l.used += slots;
        l.queue.push_back({b_.post_raw(slot(q), words), w.signaled, is_op, w.inv_key});
    }

    // One window per queue pair; its key moves by one at each bind.
    OpReply op_reply(const Op &op)
    {
        unsigned q = pair_of(op.qp());
        OpReply r;
        r.exec_delay = 1 + int(rng_() % 40);
        r.drain_delay = 1 + int(rng_() % 200);
        r.drain = rng_() % 3 == 0;
        if (bdy_prot_op_get_rights(op.w.data()) == 0x80)
            r.rule = BDY_RULE_P8;
        else if (op.key() != present_[q])
            r.rule = BDY_RULE_B1;
        else if (rng_() % 20 == 0)
            r.rule = BDY_RULE_B7;
        else
            executed_[q].insert(present_[q]++);
        if (r.rule != BDY_RULE_NONE)
            r.drain = false;
        r.res = present_[q];
        return r;
    }

    void check()
    {
        for (; seen_ < b_.cqes.size(); seen_++)
            completion(b_.cqes[seen_]);
    }

    void completion(const Cqe &c)
    {
        unsigned q = pair_of(c.qp());
        Life &l = lives_[q];
        while (!l.queue.empty() && l.queue.front().index != c.index()) {
            ASSERT_FALSE(l.failed) << "flush missed index " << l.queue.front().index;
            ASSERT_FALSE(l.queue.front().signaled) << "missed index " << l.queue.front().index;
            l.used -= 1;
            l.queue.pop_front();
        }
        ASSERT_FALSE(l.queue.empty()) << "doubled or unknown index " << c.index();
        const Posted p = l.queue.front();
        l.queue.pop_front();
        l.used -= 1;
        if (l.failed) {
            ASSERT_EQ(c.status(), BDY_WC_WR_FLUSH_ERR);
        } else if (c.status() == BDY_WC_SUCCESS) {
            ASSERT_TRUE(p.signaled);
        }
        if (c.status() != BDY_WC_SUCCESS) {
            if (!l.failed)
                errors++;
            l.failed = true;
        }
        if (!p.is_op)
            return;
        EXPECT_EQ(c.executed(), executed_[q].count(p.key) != 0) << "key " << p.key;
        if (c.status() == BDY_WC_SUCCESS) {
            EXPECT_EQ(c.rkey(), p.key + 1);
        }
        if (c.executed()) {
            EXPECT_EQ(c.rkey(), p.key + 1);
        }
        executed_[q].erase(p.key);
    }

    Bench b_;
    std::mt19937 rng_;
    std::vector<std::unique_ptr<Peer>> peers_;
    Life lives_[Pairs];
    uint32_t lkey_[Pairs] = {}, present_[Pairs] = {};
    std::set<uint32_t> executed_[Pairs];
    size_t seen_ = 0;
};

} // namespace

class SqChaos : public ::testing::TestWithParam<int>
{
};

TEST_P(SqChaos, W2_W5_W6_Q2_H12_LivesAndDeathsAtRandom)
{
    RecordProperty("seed", GetParam());
    Chaos chaos{uint32_t(GetParam())};
    chaos.run(400);
    EXPECT_GT(chaos.resets, 5u);
    EXPECT_GT(chaos.errors, 3u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SqChaos, ::testing::Range(1, 25));
