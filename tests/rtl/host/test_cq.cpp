// SPDX-License-Identifier: Apache-2.0
// bdy_cq: order of stores, phase, arm in both orders (C5), solicited only, overflow (C1), foreign doorbells.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "Vbdy_cq.h"
#include "bdy_regs.h"

namespace {

struct Event { unsigned eqn, kind, number, data; };

struct Bench {
    VerilatedContext ctx;
    std::unique_ptr<Vbdy_cq> d{new Vbdy_cq{&ctx}};
    std::map<uint64_t, uint8_t> mem;
    uint64_t now = 0;
    int latency = 1;
    int wr_wait = -1, rd_wait = -1;
    uint64_t wr_addr = 0;
    unsigned wr_len = 0, wr_got = 0;
    std::vector<unsigned> store_lens;
    std::vector<uint8_t> wr_data;
    std::vector<Event> events;
    int done[2] = {}, errs[2] = {}, bad = 0;

    Bench() {
        d->rst_ni = 0;
        tick();
        d->rst_ni = 1;
        tick();
    }
    void tick() {
        d->cycle_i = now++;
        d->wrq_ready_i = wr_wait < 0 && wr_len == 0;
        d->wrd_ready_i = wr_len != 0 && wr_got < wr_len;
        d->wrb_valid_i = 0;
        if (wr_len && wr_got >= wr_len && --wr_wait <= 0) {
            d->wrb_valid_i = 1;
            for (unsigned i = 0; i < wr_len; i++) mem[wr_addr + i] = wr_data[i];
            store_lens.push_back(wr_len);
            wr_len = 0;
            wr_wait = -1;
        }
        d->rdq_ready_i = rd_wait < 0;
        d->rdd_valid_i = 0;
        if (rd_wait >= 0 && rd_wait-- == 0) {
            d->rdd_valid_i = 1;
            uint32_t v = 0;
            for (int i = 0; i < 4; i++) v |= uint32_t(mem[rd_addr + i]) << (8 * i);
            d->rdd_data_i[0] = v;
        }
        d->ev_ready_i = 1;
        d->clk_i = 0;
        d->eval();
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
        if (d->rdq_valid_o && d->rdq_ready_i) {
            rd_addr = d->rdq_addr_o;
            rd_wait = latency;
        }
        if (d->ev_valid_o) {
            uint64_t w = d->ev_o;
            events.push_back({d->ev_eqn_o, unsigned(w & 0xff), unsigned(w >> 8 & 0xffffff), unsigned(w >> 32)});
        }
        for (int p = 0; p < 2; p++)
            if (d->cqe_done_o >> p & 1) {
                done[p]++;
                errs[p] += d->cqe_err_o;
            }
        bad += d->db_bad_o;
        accepted = d->cqe_valid_i & d->cqe_ready_o;
        db_taken = d->db_valid_i && d->db_ready_o;
        ctx_acked = d->ctxw_ack_o;
        d->clk_i = 1;
        d->eval();
    }
    uint64_t rd_addr = 0;
    unsigned accepted = 0;
    bool db_taken = false, ctx_acked = false;

    void settle() {
        for (int i = 0; i < 40; i++) tick();
    }
    void open(unsigned cqn, unsigned log, unsigned uar = 3, unsigned eqn = 2) {
        uint64_t w[8] = {};
        bdy_cq_ctx_set_valid(w, 1);
        bdy_cq_ctx_set_log_size(w, log);
        bdy_cq_ctx_set_uar(w, uar);
        bdy_cq_ctx_set_eqn(w, eqn);
        bdy_cq_ctx_set_base(w, base(cqn));
        bdy_cq_ctx_set_dbr(w, dbr(cqn));
        memcpy(d->ctxw_data_i.data(), w, 64);
        d->ctxw_idx_i = cqn;
        d->ctxw_valid_i = 1;
        for (int i = 0; i < 50 && !ctx_acked; i++) tick();
        EXPECT_TRUE(ctx_acked);
        d->ctxw_valid_i = 0;
        tick();
    }
    static uint64_t base(unsigned cqn) { return 0x100000ull * (cqn + 1); }
    static uint64_t dbr(unsigned cqn) { return base(cqn) + 0x80000; }
    void consume(unsigned cqn, uint32_t ci) {
        for (int i = 0; i < 4; i++) mem[dbr(cqn) + i] = ci >> (8 * i);
    }
    void push(unsigned cqn, unsigned tag, int port = 0, bool sol = false, unsigned status = BDY_WC_SUCCESS) {
        uint64_t w[8] = {};
        bdy_cqe_set_wqe_index(w, tag);
        bdy_cqe_set_solicited(w, sol);
        bdy_cqe_set_status(w, status);
        memcpy(&d->cqe_i.data()[16 * port], w, 64);
        d->cqe_cqn_i &= ~(0xffffffull << (24 * port));
        d->cqe_cqn_i |= uint64_t(cqn) << (24 * port);
        d->cqe_valid_i = 1u << port;
        for (int i = 0; i < 100; i++) {
            tick();
            if (accepted) break;
        }
        d->cqe_valid_i = 0;
        settle();
    }
    void arm(unsigned cqn, uint32_t ci, bool sol = false, unsigned uar = 3, unsigned seq = 1) {
        uint64_t w[1] = {};
        bdy_db_cq_set_cqn(w, cqn);
        bdy_db_cq_set_ci(w, ci);
        bdy_db_cq_set_sol(w, sol);
        bdy_db_cq_set_seq(w, seq);
        d->db_i = w[0];
        d->db_uar_i = uar;
        d->db_valid_i = 1;
        for (int i = 0; i < 100; i++) {
            tick();
            if (db_taken) break;
        }
        d->db_valid_i = 0;
        settle();
    }
    std::vector<uint64_t> entry(unsigned cqn, unsigned i) {
        std::vector<uint64_t> w(8);
        for (int b = 0; b < 64; b++) w[b / 8] |= uint64_t(mem[base(cqn) + 64 * i + b]) << (8 * (b % 8));
        return w;
    }
};

TEST(Cq, W7_EntryIsStoredAs56BytesAndThenTheEightWithThePhase) {
    Bench b;
    b.open(5, 2);
    b.push(5, 77);
    ASSERT_EQ(b.store_lens, (std::vector<unsigned>{56, 8}));
    auto e = b.entry(5, 0);
    EXPECT_EQ(bdy_cqe_get_wqe_index(e.data()), 77u);
    EXPECT_EQ(bdy_cqe_get_phase(e.data()), 1u);
    EXPECT_EQ(bdy_cqe_get_index(e.data()), 0u);
    EXPECT_GT(bdy_cqe_get_timestamp(e.data()), 0u);
    EXPECT_EQ(b.done[0], 1);
    EXPECT_EQ(b.errs[0], 0);
}

TEST(Cq, W7_PhaseTurnsWithEveryPassOfTheRing) {
    Bench b;
    b.open(0, 1);
    for (unsigned i = 0; i < 8; i++) {
        b.consume(0, i);
        b.push(0, i, i & 1);
        auto e = b.entry(0, i % 2);
        EXPECT_EQ(bdy_cqe_get_wqe_index(e.data()), i);
        EXPECT_EQ(bdy_cqe_get_phase(e.data()), !(i / 2 % 2)) << i;
    }
    EXPECT_EQ(b.done[0] + b.done[1], 8);
    EXPECT_EQ(b.errs[0] + b.errs[1], 0);
}

TEST(Cq, C1_OverflowRaisesOneEventKillsTheQueueAndOverwritesNothing) {
    Bench b;
    b.open(1, 2);
    for (unsigned i = 0; i < 4; i++) b.push(1, i);
    b.push(1, 99);
    b.push(1, 98);
    b.consume(1, 4);
    b.push(1, 97);
    ASSERT_EQ(b.events.size(), 1u);
    EXPECT_EQ(b.events[0].kind, unsigned(BDY_EQE_KIND_CQ_ERR));
    EXPECT_EQ(b.events[0].number, 1u);
    EXPECT_EQ(b.errs[0], 3);
    for (unsigned i = 0; i < 4; i++) EXPECT_EQ(bdy_cqe_get_wqe_index(b.entry(1, i).data()), i);
}

TEST(Cq, C1_AnImpossibleConsumerIndexInTheRecordIsNotBelieved) {
    Bench b;
    b.open(1, 2);
    for (unsigned i = 0; i < 4; i++) b.push(1, i);
    b.consume(1, 1000);
    b.push(1, 99);
    EXPECT_EQ(b.errs[0], 1);
}

TEST(Cq, C5_ArmThenEntryGivesOneEvent) {
    Bench b;
    b.open(2, 4);
    b.arm(2, 0);
    EXPECT_TRUE(b.events.empty());
    b.push(2, 1);
    b.push(2, 2);
    ASSERT_EQ(b.events.size(), 1u);
    EXPECT_EQ(b.events[0].kind, unsigned(BDY_EQE_KIND_COMP));
    EXPECT_EQ(b.events[0].eqn, 2u);
    EXPECT_EQ(b.events[0].number, 2u);
    EXPECT_EQ(b.events[0].data, 1u);
}

TEST(Cq, C5_EntryThenArmGivesOneEventAtOnce) {
    Bench b;
    b.open(2, 4);
    b.push(2, 1);
    b.arm(2, 0);
    ASSERT_EQ(b.events.size(), 1u);
    b.push(2, 2);
    EXPECT_EQ(b.events.size(), 1u);
    b.arm(2, 2);
    EXPECT_EQ(b.events.size(), 1u) << "everything was consumed";
    b.push(2, 3);
    EXPECT_EQ(b.events.size(), 2u);
}

TEST(Cq, C5_SolicitedOnlyWaitsForASolicitedOrFailedEntry) {
    Bench b;
    b.open(2, 4);
    b.arm(2, 0, true);
    b.push(2, 1);
    EXPECT_TRUE(b.events.empty());
    b.push(2, 2, 1, true);
    EXPECT_EQ(b.events.size(), 1u);
    b.arm(2, 2, true);
    b.push(2, 3, 0, false, BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.events.size(), 2u);
    b.arm(2, 2, true);
    EXPECT_EQ(b.events.size(), 3u) << "the failed entry lies beyond the index";
}

TEST(Cq, ForeignUnknownOrImpossibleArmChangesNothing) {
    Bench b;
    b.open(2, 4);
    b.arm(2, 0, false, 9);
    b.arm(7, 0);
    b.arm(2, 5000);
    EXPECT_EQ(b.bad, 3);
    b.push(2, 1);
    EXPECT_TRUE(b.events.empty());
}

TEST(Cq, AnEntryForAQueueThatDoesNotExistIsAnErrorAndWritesNothing) {
    Bench b;
    b.push(9, 1);
    EXPECT_EQ(b.errs[0], 1);
    EXPECT_TRUE(b.store_lens.empty());
}

TEST(Cq, LatencyFromEntryToDone) {
    Bench b;
    b.open(0, 4);
    uint64_t t = b.now;
    b.d->cqe_valid_i = 1;
    while (!b.done[0] && b.now < t + 100) {
        b.tick();
        if (b.accepted) b.d->cqe_valid_i = 0;
    }
    EXPECT_LE(b.now - t, 14u);
}

}  // namespace
