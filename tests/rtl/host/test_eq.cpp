// SPDX-License-Identifier: Apache-2.0
// bdy_eq: order of stores and message (H16), phase over wraps, arm in both orders, masks, full and unknown queues.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "Vbdy_eq.h"
#include "bdy_regs.h"

namespace {

struct Message { uint64_t addr; uint32_t data; int stores; };  // stores: entries complete in memory when it left

struct Bench {
    VerilatedContext ctx;
    std::unique_ptr<Vbdy_eq> d{new Vbdy_eq{&ctx}};
    std::map<uint64_t, uint8_t> mem;
    uint64_t now = 0, wr_addr = 0;
    int latency = 1, wr_wait = 0, stores = 0, dropped = 0;
    unsigned wr_len = 0, wr_got = 0;
    std::vector<uint8_t> wr_data;
    std::vector<unsigned> store_lens;
    std::vector<Message> messages;
    int done[5] = {};
    bool taken = false, ctx_acked = false, fail_b = false;

    Bench() {
        d->rst_ni = 0;
        d->msix_ready_i = 1;
        d->async_eqn_i = 0;
        for (unsigned v = 0; v < 8; v++) {
            d->msix_tbl_addr_i[2 * v] = 0xfee00000 + 16 * v;
            d->msix_tbl_addr_i[2 * v + 1] = v;
            d->msix_tbl_data_i[v] = 0x1000 + v;
        }
        tick();
        d->rst_ni = 1;
        tick();
    }
    void tick() {
        d->cycle_i = now++;
        d->wrq_ready_i = wr_len == 0;
        d->wrd_ready_i = wr_len != 0 && wr_got < wr_len;
        d->wrb_valid_i = 0;
        d->wrb_err_i = fail_b;
        if (wr_len && wr_got >= wr_len && --wr_wait <= 0) {
            d->wrb_valid_i = 1;
            for (unsigned i = 0; i < wr_len; i++) mem[wr_addr + i] = wr_data[i];
            store_lens.push_back(wr_len);
            stores += wr_len == 8;
            wr_len = 0;
        }
        d->clk_i = 0;
        d->eval();
        if (d->rst_ni) sample();
        d->clk_i = 1;
        d->eval();
    }
    void sample() {
        if (d->wrq_valid_o && d->wrq_ready_i) {
            wr_addr = d->wrq_addr_o;
            wr_len = d->wrq_len_o;
            wr_got = 0;
            wr_data.clear();
            wr_wait = latency;
        } else if (d->wrd_valid_o && d->wrd_ready_i) {
            for (int i = 0; i < 32; i++) wr_data.push_back(d->wrd_data_o[i / 4] >> (8 * (i % 4)));
            wr_got += 32;
        }
        if (d->msix_valid_o && d->msix_ready_i) messages.push_back({d->msix_addr_o, d->msix_data_o, stores});
        for (int p = 0; p < 5; p++) done[p] += d->ev_done_o >> p & 1;
        dropped += d->dropped_o;
        taken = (d->ev_valid_i & d->ev_ready_o) != 0;
        ctx_acked = d->ctxw_ack_o;
    }
    void settle() {
        for (int i = 0; i < 40 + 4 * latency; i++) tick();
    }
    static uint64_t base(unsigned eqn) { return 0x700000000ull + 0x100000 * eqn; }
    void open(unsigned eqn, unsigned log, unsigned vector, bool valid = true) {
        uint64_t w[8] = {};
        bdy_eq_ctx_set_valid(w, valid);
        bdy_eq_ctx_set_log_size(w, log);
        bdy_eq_ctx_set_vector(w, vector);
        bdy_eq_ctx_set_base(w, base(eqn));
        memcpy(d->ctxw_data_i.data(), w, 64);
        d->ctxw_idx_i = eqn;
        d->ctxw_valid_i = 1;
        ctx_acked = false;
        for (int i = 0; i < 100 && !ctx_acked; i++) tick();
        EXPECT_TRUE(ctx_acked);
        d->ctxw_valid_i = 0;
        tick();
    }
    void post(unsigned port, unsigned eqn, uint64_t ev) {
        d->ev_valid_i = 1u << port;
        d->ev_eqn_i = uint64_t(eqn) << (8 * port);
        d->ev_i[2 * port] = uint32_t(ev);
        d->ev_i[2 * port + 1] = uint32_t(ev >> 32);
        taken = false;
        for (int i = 0; i < 1000 && !taken; i++) tick();
        EXPECT_TRUE(taken);
        d->ev_valid_i = 0;
    }
    void arm(unsigned eqn, uint32_t ci, bool arm = true) {
        d->db_valid_i = 1;
        d->db_eqn_i = eqn;
        d->db_ci_i = ci;
        d->db_arm_i = arm;
        tick();
        d->db_valid_i = 0;
    }
    uint64_t word(unsigned eqn, unsigned slot, unsigned w) {
        uint64_t v = 0;
        for (int i = 0; i < 8; i++) v |= uint64_t(mem[base(eqn) + 64 * slot + 8 * w + i]) << (8 * i);
        return v;
    }
    unsigned phase(unsigned eqn, unsigned slot) { return unsigned(word(eqn, slot, 7) & 1); }
    uint32_t index(unsigned eqn, unsigned slot) { return uint32_t(word(eqn, slot, 7) >> 32); }
};

TEST(Eq, PhaseTurnsWithEveryPassOfTheRing) {
    Bench b;
    b.open(1, 2, 0);
    for (unsigned i = 0; i < 20; i++) {
        b.post(i % 5, 1, 0xabc00000000ull + i);
        b.settle();
        EXPECT_EQ(b.word(1, i % 4, 0), 0xabc00000000ull + i);
        EXPECT_EQ(b.index(1, i % 4), i);
        EXPECT_EQ(b.phase(1, i % 4), (i / 4) % 2 == 0);
        b.arm(1, i + 1, false);
    }
    EXPECT_FALSE(b.d->overflow_o);
    EXPECT_TRUE(b.messages.empty()) << "never armed";
    for (int n : b.done) EXPECT_EQ(n, 4);
}

TEST(Eq, H16_PhaseIsStoredLastAndTheMessageFollowsTheEntry) {
    for (int latency : {1, 30}) {
        Bench b;
        b.latency = latency;
        b.open(2, 4, 5);
        b.arm(2, 0);
        b.post(3, 2, 77);
        b.settle();
        b.settle();
        EXPECT_EQ(b.store_lens, (std::vector<unsigned>{56, 8}));
        ASSERT_EQ(b.messages.size(), 1u);
        EXPECT_EQ(b.messages[0].stores, 1) << "the message overtook its entry";
        EXPECT_EQ(b.messages[0].addr, 0x5fee00050ull);
        EXPECT_EQ(b.messages[0].data, 0x1005u);
        EXPECT_EQ(b.done[3], 1);
    }
}

TEST(Eq, OneMessageAnArmWhicheverComesFirst) {
    Bench b;
    b.open(0, 4, 0);
    b.post(0, 0, 1);
    b.settle();
    EXPECT_EQ(b.messages.size(), 0u);
    b.arm(0, 0);  // an entry lies beyond the consumer's index
    b.settle();
    EXPECT_EQ(b.messages.size(), 1u);
    b.post(0, 0, 2);
    b.settle();
    EXPECT_EQ(b.messages.size(), 1u) << "not armed again";
    b.arm(0, 2);
    b.settle();
    EXPECT_EQ(b.messages.size(), 1u) << "nothing new";
    b.post(0, 0, 3);
    b.settle();
    EXPECT_EQ(b.messages.size(), 2u);
}

TEST(Eq, MaskedVectorStaysPendingAndLeavesWhenUnmasked) {
    Bench b;
    b.open(0, 4, 6);
    b.d->msix_mask_i = 1u << 6;
    b.arm(0, 0);
    b.post(4, 0, 1);
    b.settle();
    EXPECT_TRUE(b.messages.empty());
    EXPECT_EQ(b.d->msix_pending_o, 1u << 6);
    EXPECT_TRUE(b.d->idle_o) << "the clock may stop while the vector is masked";
    b.d->msix_mask_i = 0;
    b.settle();
    ASSERT_EQ(b.messages.size(), 1u);
    EXPECT_EQ(b.messages[0].data, 0x1006u);
    EXPECT_EQ(b.d->msix_pending_o, 0u);
}

TEST(Eq, AHeldMessagePortHoldsNoEntry) {
    Bench b;
    b.open(0, 4, 0);
    b.d->msix_ready_i = 0;
    b.arm(0, 0);
    for (unsigned i = 0; i < 5; i++) b.post(0, 0, i);
    b.settle();
    EXPECT_EQ(b.stores, 5);
    EXPECT_FALSE(b.d->idle_o);
    b.d->msix_ready_i = 1;
    b.settle();
    EXPECT_EQ(b.messages.size(), 1u);
    EXPECT_TRUE(b.d->idle_o);
}

TEST(Eq, AFullQueueIsToldAndOverwritesNothing) {
    Bench b;
    b.open(3, 1, 0);
    b.post(0, 3, 10);
    b.post(0, 3, 11);
    b.settle();
    EXPECT_FALSE(b.d->overflow_o);
    b.post(0, 3, 12);
    b.settle();
    EXPECT_TRUE(b.d->overflow_o);
    EXPECT_EQ(b.word(3, 0, 0), 10u);
    EXPECT_EQ(b.word(3, 1, 0), 11u);
    EXPECT_EQ(b.stores, 2);
    EXPECT_EQ(b.done[0], 3) << "the engine that told it must not hang";
}

TEST(Eq, AnImpossibleConsumerIndexIsNotBelieved) {
    Bench b;
    b.open(3, 1, 0);
    b.post(0, 3, 10);
    b.settle();
    b.arm(3, 2, false);  // more than was produced
    b.post(0, 3, 11);
    b.post(0, 3, 12);
    b.settle();
    EXPECT_TRUE(b.d->overflow_o);
    EXPECT_EQ(b.word(3, 0, 0), 10u);
}

TEST(Eq, AFailedStoreIsToldLikeALostEvent) {
    Bench b;
    b.open(0, 4, 0);
    b.fail_b = true;
    b.post(0, 0, 1);
    b.settle();
    EXPECT_TRUE(b.d->overflow_o);
}

TEST(Eq, UnknownAndClosedQueuesDropAndCount) {
    Bench b;
    b.open(1, 4, 0);
    b.open(1, 4, 0, false);
    for (unsigned eqn : {0u, 1u, 8u, 0x81u}) b.post(2, eqn, 1);
    b.settle();
    EXPECT_EQ(b.dropped, 4);
    EXPECT_EQ(b.done[2], 4);
    EXPECT_EQ(b.stores, 0);
    EXPECT_FALSE(b.d->overflow_o);
}

TEST(Eq, AsynchronousEventsGoToTheQueueFirmwareNamed) {
    Bench b;
    b.open(2, 4, 0);
    b.d->async_eqn_i = 2;
    b.post(4, 0xff, 0x1234);
    b.settle();
    EXPECT_EQ(b.word(2, 0, 0), 0x1234u);
}

TEST(Eq, EveryPortGetsItsTurn) {
    Bench b;
    b.open(0, 8, 0);
    b.d->ev_valid_i = 0x1f;
    b.d->ev_eqn_i = 0;
    for (int i = 0; i < 400; i++) b.tick();
    b.d->ev_valid_i = 0;
    for (int p = 0; p < 5; p++) EXPECT_GE(b.done[p], 3) << p;
    for (int p = 1; p < 5; p++) EXPECT_NEAR(b.done[p], b.done[0], 1);
}

TEST(Eq, OpeningAgainStartsOver) {
    Bench b;
    b.open(0, 4, 0);
    b.arm(0, 0);
    b.post(0, 0, 1);
    b.settle();
    b.open(0, 4, 0);
    b.post(0, 0, 9);
    b.settle();
    EXPECT_EQ(b.messages.size(), 1u) << "the arm of the old life is gone";
    EXPECT_EQ(b.word(0, 0, 0), 9u);
    EXPECT_EQ(b.index(0, 0), 0u);
}

}  // namespace
