// SPDX-License-Identifier: Apache-2.0
// H3: what revokes is drained only when the grants before it are over, and never blocks others.
#include "tests/rtl/prot/prot_fixture.h"

namespace prot {

class ProtDrain : public ProtTest {
protected:
    void SetUp() override
    {
        ProtTest::SetUp();
        open_mr();
        alloc_windows();
        expect_ok(bind1(kStart, 64, RR));
        expect_ok(bind2(kStart, 64, RR));
        b.hold_grants = true;
    }

    void TearDown() override
    {
        b.give_back_all();
        b.settle();
    }

    std::shared_ptr<Answer> grant(uint32_t key, unsigned port = 1)
    {
        auto a = b.post(port, key == mr && port % 3 == 0 ? local(key, kStart + n_++, 4) : remote(key, kStart + n_++ % 60, 4));
        b.run_until([&] { return a->done; });
        EXPECT_TRUE(a->rsp.granted());
        return a;
    }

    std::shared_ptr<OpAnswer> start(const Op &o, unsigned port = 0)
    {
        auto a = b.post_op(port, o);
        b.run_until([&] { return a->executed; });
        EXPECT_EQ(rule_name(a->rule), "NONE");
        EXPECT_TRUE(a->drain);
        return a;
    }

    void finish(const std::shared_ptr<OpAnswer> &a) { b.run_until([&] { return a->drained; }, 50); }
    void stays(const std::shared_ptr<OpAnswer> &a)
    {
        b.cycles(100);
        EXPECT_FALSE(a->drained);
    }

private:
    unsigned n_ = 0;
};

TEST_F(ProtDrain, WithoutGrantsItIsImmediate)
{
    const auto a = start(inv_op(mw2, kPd, kQp), 1);
    finish(a);
    EXPECT_LE(a->drained_at - a->executed_at, 4u);
}

TEST_F(ProtDrain, InvalidateWaitsForItsOwnGrant)
{
    const auto g = grant(mw2);
    const auto a = start(inv_op(mw2, kPd, kQp), 1);
    expect_rule(b.access(remote(mw2, kStart, 4)), "A1"); // refused from the verdict on
    stays(a);
    b.give_back(g);
    finish(a);
}

TEST_F(ProtDrain, LocalKeysAreDrainedToo)
{
    const auto g = grant(mr, 0), h = grant(mr, 3);
    const auto a = start(inv_op(mw2, kPd, kQp), 1);
    b.give_back(g);
    stays(a);
    b.give_back(h);
    finish(a);
}

TEST_F(ProtDrain, GrantsAfterTheRevocationAreNotWaitedFor)
{
    const auto g = grant(mw1);
    const auto a = start(inv_op(mw2, kPd, kQp), 1);
    const auto later = grant(mw1); // still open when the drain ends
    EXPECT_NE(later->rsp.epoch, g->rsp.epoch);
    b.give_back(g);
    finish(a);
    EXPECT_EQ(later->returned, 0u);
}

TEST_F(ProtDrain, SecondRevocationJoinsTheNextChangeOfEpoch)
{
    const auto g1 = grant(mw1);
    const auto a1 = start(inv_op(mw2, kPd, kQp), 1);
    const auto g2 = grant(mw1);
    const auto a2 = start(bind_op(BDY_PROT_OP_BIND1, mw1, mr, kPd, kQp, RR, kStart, 32), 1);
    mw1 = a2->res;
    const auto a3 = start(pd_op(BDY_PROT_OP_PD_KILL, 7), 0);
    const auto g3 = grant(mw1);
    b.give_back(g1);
    finish(a1);
    stays(a2);
    b.give_back(g2);
    stays(a2); // g3 was granted in the epoch that a2 joined: the wait is at most two transfers
    EXPECT_FALSE(a3->drained);
    b.give_back(g3);
    finish(a2);
    finish(a3);
}

TEST_F(ProtDrain, AParkedRevocationBlocksNobody)
{
    const auto g = grant(mw2);
    const auto a = start(inv_op(mw2, kPd, kQp), 1);
    const auto c = start(key_op(BDY_PROT_OP_MW_FREE, mw1), 0);
    for (int i = 0; i < 50; i++) {
        const uint32_t key = make_key(0x500 + i, 1, 1);
        expect_ok(b.op(entry_op(BDY_PROT_OP_MW_ALLOC, key, window(key, kPd, BDY_MPT_KIND_MW1)), 0));
        expect_ok(b.op(bind_op(BDY_PROT_OP_BIND1, key, mr, kPd, kQp2, RR, kStart, 8), 1));
        expect_rule(b.access(local(mr, kStart, 8), 2), "NONE");
    }
    EXPECT_FALSE(a->drained || c->drained);
    b.give_back(g);
    finish(a);
}

TEST_F(ProtDrain, EveryRevokingOperationDrains)
{
    const uint32_t other = make_key(0x700, 1, 1);
    ok(entry_op(BDY_PROT_OP_MR_OPEN, other, direct_mr(other, kPd, LW, 0, 64, 0)));
    struct Case {
        const char *name;
        Op op;
        unsigned port;
    };
    Op unbind = bind_op(BDY_PROT_OP_BIND1, mw1, 0, kPd, kQp, 0, 0, 0);
    const Case cases[] = {
        {"unbind", unbind, 1},
        {"remote invalidate", inv_op(mw2, kPd, kQp, BDY_PROT_OP_REMOTE_INV), 2},
        {"replace", entry_op(BDY_PROT_OP_MR_REPLACE, other, direct_mr(other, kPd, LW, 0, 32, 0)), 0},
        {"close", key_op(BDY_PROT_OP_MR_CLOSE, other), 0},
        {"error", qp_op(BDY_PROT_OP_QP_ERR, kQp2), 1},
        {"context", ctx_op(kQp2, BDY_QP_ST_RESET), 0},
        {"bump", qp_op(BDY_PROT_OP_QP_BUMP, kQp2), 0},
        {"kill", pd_op(BDY_PROT_OP_PD_KILL, kPd2), 0},
    };
    for (const Case &c : cases) {
        SCOPED_TRACE(c.name);
        const auto g = grant(mr);
        const auto a = start(c.op, c.port);
        stays(a);
        b.give_back(g);
        finish(a);
    }
}

TEST_F(ProtDrain, AnswersOfAPortKeepTheOrderOfExecution)
{
    const auto g = grant(mr);
    std::vector<std::shared_ptr<OpAnswer>> all;
    for (int i = 0; i < 60; i++)
        all.push_back(start(pd_op(BDY_PROT_OP_PD_KILL, 100 + i), i % 2));
    b.give_back(g);
    for (auto &a : all)
        finish(a);
    for (size_t i = 2; i < all.size(); i++)
        EXPECT_GT(all[i]->drained_at, all[i - 2]->drained_at);
}

TEST_F(ProtDrain, SameCycleGrantComesBeforeTheOperation)
{
    // Whatever the distance of the two handshakes, the trace decides and the bench checks return before drain.
    for (int gap = -6; gap <= 6; gap++) {
        auto w = bind2(kStart, 64, RR);
        if (w.rule != BDY_RULE_NONE) {
            ok(inv_op(mw2, kPd, kQp));
            expect_ok(bind2(kStart, 64, RR));
        }
        b.settle();
        std::shared_ptr<Answer> g;
        std::shared_ptr<OpAnswer> a;
        for (int t = -7; t <= 7; t++) {
            if (t == 0)
                g = b.post(1, remote(mw2, kStart + 1, 4));
            if (t == gap)
                a = b.post_op(1, inv_op(mw2, kPd, kQp));
            b.cycle();
        }
        b.run_until([&] { return g->done && a->executed; });
        if (g->rsp.granted()) {
            stays(a);
            b.give_back(g);
        } else {
            EXPECT_EQ(rule_name(g->rsp.rule), "A1");
        }
        finish(a);
    }
}

} // namespace prot
