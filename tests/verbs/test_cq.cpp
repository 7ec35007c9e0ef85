// SPDX-License-Identifier: Apache-2.0
// Completion queues and channels (C3, C5, C6, W1, W6).
#include <fcntl.h>

#include "rig.hpp"

namespace {

class Cq : public rig::Verbs {
  protected:
    void SetUp() override {
        rig::Verbs::SetUp();
        if (HasFatalFailure()) return;
        channel = ibv_create_comp_channel(ctx_);
        ASSERT_NE(channel, nullptr) << strerror(errno);
        fcntl(channel->fd, F_SETFL, O_NONBLOCK);
        heard = ibv_create_cq(ctx_, 64, this, channel, 0);
        ASSERT_NE(heard, nullptr);
        mem = region(4096);
        a = qp();
        b = qp(nullptr, 0, heard, heard);
        forget(b);
        connect(a, b);
    }
    void TearDown() override {
        if (b) { EXPECT_EQ(ibv_destroy_qp(b), 0); }
        if (heard) { EXPECT_EQ(ibv_destroy_cq(heard), 0); }
        if (channel) { EXPECT_EQ(ibv_destroy_comp_channel(channel), 0); }
        rig::Verbs::TearDown();
    }
    /// Events taken from the channel within a while.
    unsigned events() {
        hca_->settle(20000);
        unsigned n = 0;
        ibv_cq *cq;
        void *context;
        while (ibv_get_cq_event(channel, &cq, &context) == 0) {
            EXPECT_EQ(cq, heard);
            EXPECT_EQ(context, this);
            ibv_ack_cq_events(cq, 1);
            n++;
        }
        return n;
    }
    unsigned drain(ibv_cq *cq) {
        unsigned n = 0;
        ibv_wc wc;
        while (ibv_poll_cq(cq, 1, &wc) > 0) n++;
        return n;
    }
    /// A message from a to b.
    void message(unsigned flags = 0) {
        ASSERT_EQ(recv(b, sge(mem, 2048, 64)), 0);
        ASSERT_EQ(post(a, IBV_WR_SEND, sge(mem, 0, 64), 0, 0, flags), 0);
    }
    ibv_comp_channel *channel = nullptr;
    ibv_cq *heard = nullptr;
    rig::Region mem;
    ibv_qp *a = nullptr, *b = nullptr;
};

TEST_F(Cq, C5_ArmThenCompletionIsOneEvent) {
    message();
    EXPECT_EQ(events(), 0u) << "not armed";
    EXPECT_EQ(drain(heard), 1u);
    for (int i = 0; i < 6; i++) {
        ASSERT_EQ(ibv_req_notify_cq(heard, 0), 0);
        EXPECT_EQ(events(), 0u) << "nothing has completed";
        message();
        message();
        message();
        EXPECT_EQ(events(), 1u) << "one arm, one event";
        EXPECT_EQ(drain(heard), 3u);
    }
}

TEST_F(Cq, C5_CompletionThenArmIsOneEvent) {
    for (int i = 0; i < 6; i++) {
        message();
        message();
        EXPECT_EQ(events(), 0u);
        ASSERT_EQ(ibv_req_notify_cq(heard, 0), 0);
        EXPECT_EQ(events(), 1u) << "a completion that nobody has taken";
        EXPECT_EQ(drain(heard), 2u);
    }
    ASSERT_EQ(ibv_req_notify_cq(heard, 0), 0);
    EXPECT_EQ(events(), 0u) << "all were taken";
}

TEST_F(Cq, C5_SolicitedOnlyIsHonoured) {
    ASSERT_EQ(ibv_req_notify_cq(heard, 1), 0);
    message();
    EXPECT_EQ(events(), 0u);
    message(IBV_SEND_SOLICITED);
    EXPECT_EQ(events(), 1u);
    EXPECT_EQ(drain(heard), 2u);
    ASSERT_EQ(ibv_req_notify_cq(heard, 1), 0);
    ASSERT_EQ(to_state(b, IBV_QPS_ERR), 0);
    ASSERT_EQ(recv(b, sge(mem, 2048, 64)), 0);
    EXPECT_EQ(events(), 1u) << "an error is solicited";
    EXPECT_EQ(drain(heard), 1u);
}

TEST_F(Cq, W1_W6_OneCompletionForEachSignaledRequestOverManyTurnsOfTheRing) {
    unsigned want = 0;
    for (unsigned i = 0; i < 300; i++) {
        ASSERT_EQ(post(a, IBV_WR_RDMA_WRITE, sge(mem, 0, 8), mem.addr() + 1024, mem.mr->rkey, i % 3 ? 0 : IBV_SEND_SIGNALED, i), 0);
        if (i % 3) continue;
        const ibv_wc wc = next();
        ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
        ASSERT_EQ(wc.wr_id, i);
        want++;
    }
    EXPECT_EQ(want, 100u);
    EXPECT_TRUE(nothing(cq_));
}

TEST_F(Cq, C3_ResetTakesTheCompletionsOfItsQueuePairAlone) {
    ibv_qp *c = qp(), *d = qp();
    connect(c, d);
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(post(a, IBV_WR_RDMA_WRITE, sge(mem, 0, 8), mem.addr() + 8, mem.mr->rkey, IBV_SEND_SIGNALED, 10), 0);
        ASSERT_EQ(post(c, IBV_WR_RDMA_WRITE, sge(mem, 0, 8), mem.addr() + 16, mem.mr->rkey, IBV_SEND_SIGNALED, 20), 0);
    }
    hca_->settle(20000);
    ASSERT_EQ(to_state(a, IBV_QPS_RESET), 0);
    for (int i = 0; i < 3; i++) EXPECT_EQ(next().wr_id, 20u);
    EXPECT_TRUE(nothing(cq_));
}

TEST_F(Cq, C6_ReceivesPastTheEndAndTooLong) {
    ibv_sge s[64] = {};
    ibv_recv_wr wr[2] = {}, *bad = nullptr;
    wr[0].next = &wr[1];
    wr[0].sg_list = wr[1].sg_list = s;
    wr[1].num_sge = 64;
    EXPECT_EQ(ibv_post_recv(b, wr, &bad), EINVAL);
    EXPECT_EQ(bad, &wr[1]);
    unsigned posted = 1; // the first of the two
    int rc = 0;
    while (posted < 100000 && (rc = recv(b, {0, 0, 0})) == 0) posted++;
    EXPECT_EQ(rc, ENOMEM);
    EXPECT_GE(posted, 64u);
    wr[1].num_sge = 0;
    EXPECT_EQ(ibv_post_recv(b, wr, &bad), ENOMEM);
    EXPECT_EQ(bad, &wr[0]);
}

}  // namespace
