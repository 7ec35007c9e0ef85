// SPDX-License-Identifier: Apache-2.0
// H19: idle time that is jumped changes nothing; the same seed is the same run.
#include "rig.hpp"

namespace {

/// Memory at one place for every run, as addresses are part of the trace.
alignas(4096) uint8_t arena[8192];

struct Outcome {
    uint64_t hash, events, jumps;
    std::vector<int> statuses;
};

class Time : public rig::Verbs {
  public:
    void configure() override { cfg_ = next_cfg; }
    void TestBody() override {}
    /// A bind, a READ, an RNR wait that a receive ends, and a request to a queue pair that does not answer.
    Outcome run(const bdy_direct_cfg &cfg) {
        next_cfg = cfg;
        Outcome out = {};
        SetUp();
        if (HasFatalFailure()) return out;
        memset(arena, 0, sizeof arena);
        ibv_mr *mr = ibv_reg_mr(pd_, arena, sizeof arena, rig::kAllAccess);
        ibv_mw *mw = window(IBV_MW_TYPE_1);
        ibv_qp *a = qp(), *b = qp(), *lonely = qp();
        Link l;
        connect(a, b, l);
        l.timeout = 1;
        l.retry = 2;
        EXPECT_EQ(to_init(lonely, l.rights), 0);
        EXPECT_EQ(to_rtr(lonely, 0x1ff, l), 0);
        EXPECT_EQ(to_rts(lonely, l), 0);
        ibv_sge s = {uint64_t(arena), 64, mr->lkey}, t = {uint64_t(arena) + 4096, 64, mr->lkey};
        align();
        EXPECT_EQ(bind1(a, mw, mr, uint64_t(arena), 64, IBV_ACCESS_REMOTE_READ), 0);
        out.statuses.push_back(next().status);
        align();
        EXPECT_EQ(post(b, IBV_WR_RDMA_READ, t, uint64_t(arena), mw->rkey), 0);
        out.statuses.push_back(next().status);
        align();
        EXPECT_EQ(post(a, IBV_WR_SEND, s, 0, 0), 0);
        hca_->settle(30000);
        align();
        EXPECT_EQ(recv(b, t), 0);
        out.statuses.push_back(next().status);
        out.statuses.push_back(next().status);
        align();
        EXPECT_EQ(post(lonely, IBV_WR_SEND, s, 0, 0), 0);
        out.statuses.push_back(next().status);
        struct bdy_host_stats st;
        bdy_host_stats(bdy_direct_host(hca_->direct()), &st);
        out.hash = st.trace_hash;
        out.events = st.trace_events;
        out.jumps = st.jumps;
        EXPECT_EQ(ibv_dereg_mr(mr), EBUSY) << "L3";
        forget(mw);
        EXPECT_EQ(ibv_dealloc_mw(mw), 0);
        EXPECT_EQ(ibv_dereg_mr(mr), 0);
        TearDown();
        return out;
    }
    bdy_direct_cfg next_cfg = {};

  private:
    /// The program acts at round cycles: when its polls happen to end is no host event of the run.
    void align() { hca_->settle(20000 - hca_->now() % 20000); }
};

bdy_direct_cfg config(uint64_t seed, bool late) {
    bdy_direct_cfg cfg = {};
    cfg.seed = seed;
    cfg.lat_min = 1;
    cfg.lat_max = late ? 200 : 1;
    cfg.table_delay = late ? 200 : 0;
    return cfg;
}

const std::vector<int> kExpected = {IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_RETRY_EXC_ERR};

class TimeSkip : public ::testing::TestWithParam<bool> {};

TEST_P(TimeSkip, H19_T6_SkippedRunEqualsUnskippedRunCycleByCycle) {
    bdy_direct_cfg cfg = config(11, GetParam());
    Outcome skipped = Time().run(cfg);
    cfg.no_skip = true;
    Outcome every = Time().run(cfg);
    EXPECT_EQ(skipped.statuses, kExpected);
    EXPECT_EQ(every.statuses, kExpected);
    EXPECT_GT(skipped.jumps, every.jumps) << "nothing was skipped";
    EXPECT_EQ(skipped.events, every.events);
    EXPECT_EQ(skipped.hash, every.hash);
}

TEST_P(TimeSkip, H19_SameSeedIsTheSameRunAndAnotherSeedIsNot) {
    Outcome a = Time().run(config(12, GetParam())), b = Time().run(config(12, GetParam())), c = Time().run(config(13, GetParam()));
    EXPECT_EQ(a.hash, b.hash);
    EXPECT_NE(a.hash, c.hash);
    EXPECT_EQ(c.statuses, kExpected);
}
INSTANTIATE_TEST_SUITE_P(FastAndLateMemory, TimeSkip, ::testing::Bool());

}  // namespace
