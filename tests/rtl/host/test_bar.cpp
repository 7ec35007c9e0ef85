// SPDX-License-Identifier: Apache-2.0
// bdy_bar as AXI4-Lite: what changes registers and what does not, doorbells and who may ring them, reports of violations.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "Vbdy_bar.h"
#include "bdy_regs.h"

namespace {

constexpr unsigned kOk = 0, kSlvErr = 2;
constexpr unsigned kPage = 5, kOther = 6;  // UAR pages
constexpr unsigned kSq = 0x000, kRq = 0x008, kCq = 0x010, kSrq = 0x018;

struct Ring { char kind; unsigned idx, index, page; uint64_t data; };

struct Bench {
    VerilatedContext ctx;
    std::unique_ptr<Vbdy_bar> d{new Vbdy_bar{&ctx}};
    std::vector<Ring> rings;
    std::vector<uint64_t> events;
    unsigned qp_uar = kPage, qp_st = BDY_QP_ST_RTS;  // every queue pair's context
    int viols = 0, soft_resets = 0, cmdq_sets = 0;
    bool hold_sq = false, cq_bad = false, cq_bad_next = false;
    uint64_t eq_db = 0;
    int eq_dbs = 0;

    Bench() {
        d->rst_ni = 0;
        d->bready_i = d->rready_i = d->ev_ready_i = 1;
        tick();
        d->rst_ni = 1;
        tick();
    }
    void tick() {
        uint64_t w[8] = {};
        bdy_qp_ctx0_set_uar(w, qp_uar);
        bdy_qp_ctx0_set_st(w, qp_st);
        for (int i = 0; i < 16; i++) d->ctx0_i[i] = uint32_t(w[i / 2] >> (32 * (i % 2)));
        d->db_sq_ready_i = !hold_sq;
        d->db_rq_ready_i = d->db_cq_ready_i = d->db_srq_ready_i = 1;
        d->db_cq_bad_i = cq_bad_next;
        cq_bad_next = false;
        d->clk_i = 0;
        d->eval();
        if (d->rst_ni) sample();
        d->clk_i = 1;
        d->eval();
    }
    void sample() {
        if (d->db_sq_valid_o && d->db_sq_ready_i) rings.push_back({'s', d->db_idx_o, d->db_index_o, 0, 0});
        if (d->db_rq_valid_o) rings.push_back({'r', d->db_idx_o, d->db_index_o, 0, 0});
        if (d->db_cq_valid_o) {
            rings.push_back({'c', 0, 0, d->db_cq_uar_o, d->db_cq_o});
            cq_bad_next = cq_bad;
        }
        if (d->db_srq_valid_o) rings.push_back({'x', 0, 0, d->db_srq_uar_o, d->db_srq_o});
        if (d->ev_valid_o && d->ev_ready_i) events.push_back(d->ev_o);
        if (d->eq_db_valid_o) {
            eq_dbs++;
            eq_db = d->eq_db_ci_o | uint64_t(d->eq_db_arm_o) << 32 | uint64_t(d->eq_db_eqn_o) << 40;
        }
        viols += d->viol_o;
        soft_resets += d->soft_reset_o;
        cmdq_sets += d->cmdq_set_o;
    }
    // aw_ahead: cycles by which the address is ahead of the data (negative: behind). Gives the response.
    unsigned write(uint32_t addr, uint64_t data, unsigned strb = 0xff, int aw_ahead = 0) {
        for (int t = 0; t < (aw_ahead < 0 ? -aw_ahead : aw_ahead); t++) {
            d->awaddr_i = addr;
            d->wdata_i = data;
            d->wstrb_i = strb;
            d->awvalid_i = aw_ahead > 0;
            d->wvalid_i = aw_ahead < 0;
            tick();
            EXPECT_FALSE(d->bvalid_o) << "answered half a write";
        }
        d->awaddr_i = addr;
        d->wdata_i = data;
        d->wstrb_i = strb;
        d->awvalid_i = d->wvalid_i = 1;
        bool taken = false;
        for (int i = 0; i < 100 && !taken; i++) {
            d->eval();
            taken = d->awready_o;
            EXPECT_EQ(d->awready_o, d->wready_o);
            tick();
        }
        EXPECT_TRUE(taken) << "write not taken";
        d->awvalid_i = d->wvalid_i = 0;
        d->eval();
        EXPECT_TRUE(d->bvalid_o) << "write not answered";
        return d->bresp_o;
    }
    unsigned read(uint32_t addr, uint64_t *v) {
        d->araddr_i = addr;
        d->arvalid_i = 1;
        bool taken = false;
        for (int i = 0; i < 100 && !taken; i++) {
            d->eval();
            taken = d->arready_o;
            tick();
        }
        EXPECT_TRUE(taken) << "read not taken";
        d->arvalid_i = 0;
        for (int i = 0; i < 100 && !d->rvalid_o; i++) tick();
        EXPECT_TRUE(d->rvalid_o) << "read not answered";
        *v = d->rdata_o;
        unsigned resp = d->rresp_o;
        tick();
        return resp;
    }
    uint64_t get(uint32_t addr) {
        uint64_t v = 0;
        EXPECT_EQ(read(addr, &v), kOk);
        return v;
    }
    void settle() {
        for (int i = 0; i < 12; i++) tick();
    }
    unsigned ring(unsigned page, unsigned off, uint64_t data) {
        unsigned resp = write(1u << 20 | page << 12 | off, data);
        settle();
        return resp;
    }
    static uint64_t wq(unsigned slot, unsigned index) { return (BDY_QPN_BASE + slot) | uint64_t(index) << 32; }
    static uint64_t report(unsigned page) { return BDY_EQE_KIND_DB_VIOLATION | uint64_t(page) << 8; }
};

TEST(Bar, WholeAlignedWritesAreKept) {
    Bench b;
    const uint64_t v = 0x1122334455667788ull;
    EXPECT_EQ(b.write(BDY_REG_BAR_LINK_FAULT_OFFSET, v), kOk);
    EXPECT_EQ(b.get(BDY_REG_BAR_LINK_FAULT_OFFSET), v);
    for (unsigned g = 0; g < 6; g++) EXPECT_EQ(b.write(BDY_REG_BAR_GID_OFFSET + 8 * g, v + g), kOk);
    for (unsigned g = 0; g < 6; g++) EXPECT_EQ(b.get(BDY_REG_BAR_GID_OFFSET + 8 * g), v + g);
    for (unsigned m = 0; m < 8; m++) {
        EXPECT_EQ(b.write(BDY_REG_BAR_MSIX_ADDR_OFFSET + 16 * m, v + m), kOk);
        EXPECT_EQ(b.write(BDY_REG_BAR_MSIX_ADDR_OFFSET + 16 * m + 8, 100 + m), kOk);  // mask off
    }
    b.settle();
    EXPECT_EQ(b.d->msix_mask_o, 0);
    for (unsigned m = 0; m < 8; m++) {
        EXPECT_EQ(b.get(BDY_REG_BAR_MSIX_ADDR_OFFSET + 16 * m), v + m);
        EXPECT_EQ(b.get(BDY_REG_BAR_MSIX_ADDR_OFFSET + 16 * m + 8), 100 + m);
    }
}

TEST(Bar, PartialUnalignedAndUnknownWritesChangeNothingAndAreAnswered) {
    Bench b;
    b.write(BDY_REG_BAR_LINK_FAULT_OFFSET, 1);
    for (unsigned strb : {0x00u, 0x0fu, 0xf0u, 0x7fu, 0xfeu}) EXPECT_EQ(b.write(BDY_REG_BAR_LINK_FAULT_OFFSET, 99, strb), kSlvErr);
    for (unsigned off = 1; off < 8; off++) EXPECT_EQ(b.write(BDY_REG_BAR_LINK_FAULT_OFFSET + off, 99), kSlvErr);
    EXPECT_EQ(b.write(BDY_REG_BAR_SIZE, 99), kSlvErr);
    EXPECT_EQ(b.write(0xffff8, 99), kSlvErr);
    b.settle();
    EXPECT_EQ(b.get(BDY_REG_BAR_LINK_FAULT_OFFSET), 1u);
    EXPECT_TRUE(b.d->idle_o);
}

TEST(Bar, ReadOnlyRegistersStay) {
    Bench b;
    const uint64_t id = b.get(BDY_REG_BAR_ID_OFFSET), cap = b.get(BDY_REG_BAR_CAP_OFFSET);
    EXPECT_EQ(uint32_t(id), BDY_DEV_MAGIC);
    b.d->msix_pending_i = 0x5a;
    for (unsigned off : {BDY_REG_BAR_ID_OFFSET, BDY_REG_BAR_CAP_OFFSET, BDY_REG_BAR_STATE_OFFSET, BDY_REG_BAR_CNT_OFFSET,
                         BDY_REG_BAR_MSIX_PBA_OFFSET})
        b.write(off, ~0ull);
    b.settle();
    EXPECT_EQ(b.get(BDY_REG_BAR_ID_OFFSET), id);
    EXPECT_EQ(b.get(BDY_REG_BAR_CAP_OFFSET), cap);
    EXPECT_EQ(b.get(BDY_REG_BAR_STATE_OFFSET), 0u);
    EXPECT_EQ(b.get(BDY_REG_BAR_CNT_OFFSET), 0u);
    EXPECT_EQ(b.get(BDY_REG_BAR_MSIX_PBA_OFFSET), 0x5au);
}

TEST(Bar, GarbageReadsAreAnsweredWithOnes) {
    Bench b;
    uint64_t v;
    for (uint32_t a : {0x4u, 0x600u, 0xffff8u, 0x100000u, 0x105010u, 0x1fffffu}) {
        EXPECT_EQ(b.read(a, &v), kSlvErr) << std::hex << a;
        EXPECT_EQ(v, ~0ull) << std::hex << a;
    }
    EXPECT_TRUE(b.rings.empty());
}

TEST(Bar, AddressAndDataChannelsMayComeInEitherOrder) {
    Bench b;
    for (int ahead : {-5, -1, 1, 5}) {
        EXPECT_EQ(b.write(BDY_REG_BAR_LINK_FAULT_OFFSET, 1000 + ahead, 0xff, ahead), kOk);
        EXPECT_EQ(b.get(BDY_REG_BAR_LINK_FAULT_OFFSET), uint64_t(1000 + ahead));
    }
}

TEST(Bar, ResponseWaitsForTheHost) {
    Bench b;
    b.d->bready_i = 0;
    EXPECT_EQ(b.write(BDY_REG_BAR_LINK_FAULT_OFFSET, 1, 0x0f), kSlvErr);
    for (int i = 0; i < 10; i++) {
        b.tick();
        ASSERT_TRUE(b.d->bvalid_o);
        ASSERT_EQ(b.d->bresp_o, kSlvErr);
    }
    EXPECT_FALSE(b.d->idle_o);
    b.d->bready_i = 1;
    b.tick();
    b.tick();
    EXPECT_FALSE(b.d->bvalid_o);
    EXPECT_TRUE(b.d->idle_o);
}

TEST(Bar, CommandQueueAndEqDoorbells) {
    Bench b;
    b.write(BDY_REG_BAR_CMDQ_DB_OFFSET, 7);
    b.settle();
    EXPECT_EQ(b.d->cmd_pi_o, 7);
    b.write(BDY_REG_BAR_CMDQ_OFFSET, 0x12345000 | 6);
    b.settle();
    EXPECT_EQ(b.cmdq_sets, 1);
    EXPECT_EQ(b.d->cmdq_base_o, 0x12345000u);
    EXPECT_EQ(b.d->cmdq_log_o, 6);
    EXPECT_EQ(b.d->cmd_pi_o, 0) << "a queue that moved starts over";
    b.write(BDY_REG_BAR_EQ_DB_OFFSET + 8 * 3, 1ull << 32 | 44);
    b.settle();
    EXPECT_EQ(b.eq_dbs, 1);
    EXPECT_EQ(b.eq_db, 44u | 1ull << 32 | 3ull << 40);
    b.write(BDY_REG_BAR_CTRL_OFFSET, 0);
    b.settle();
    EXPECT_EQ(b.soft_resets, 0);
    b.write(BDY_REG_BAR_CTRL_OFFSET, 1);
    b.settle();
    EXPECT_EQ(b.soft_resets, 1);
}

TEST(Bar, DoorbellsOfTheOwnersPageGoOn) {
    Bench b;
    EXPECT_EQ(b.ring(kPage, kSq, Bench::wq(9, 0x8001)), kOk);
    EXPECT_EQ(b.ring(kPage, kRq, Bench::wq(200, 3)), kOk);
    EXPECT_EQ(b.ring(kPage, kCq, 0x123456789ull), kOk);
    EXPECT_EQ(b.ring(kOther, kSrq, 0x70002ull), kOk);
    ASSERT_EQ(b.rings.size(), 4u);
    EXPECT_EQ(b.rings[0].kind, 's');
    EXPECT_EQ(b.rings[0].idx, 9u);
    EXPECT_EQ(b.rings[0].index, 0x8001u);
    EXPECT_EQ(b.rings[1].kind, 'r');
    EXPECT_EQ(b.rings[1].idx, 200u);
    EXPECT_EQ(b.rings[2].kind, 'c');
    EXPECT_EQ(b.rings[2].page, kPage);
    EXPECT_EQ(b.rings[2].data, 0x123456789ull);
    EXPECT_EQ(b.rings[3].kind, 'x');
    EXPECT_EQ(b.rings[3].page, kOther);
    EXPECT_EQ(b.rings[3].data, 0x70002ull);
    EXPECT_EQ(b.viols, 0);
}

TEST(Bar, H23_RefusedDoorbellsHaveNoEffectButACountAndOneReportAPage) {
    Bench b;
    auto refused = [&](unsigned page, unsigned off, uint64_t data) {
        const int before = b.viols;
        EXPECT_EQ(b.ring(page, off, data), kOk);  // posted: a program's mistake is no bus error
        EXPECT_EQ(b.viols, before + 1);
    };
    refused(kOther, kSq, Bench::wq(9, 1));
    refused(kOther, kRq, Bench::wq(9, 1));
    refused(kPage, kSq, 9 | 1ull << 32);              // no such number: below QPN_BASE
    refused(kPage, kSq, Bench::wq(9 + 256, 1));       // beyond the table
    refused(kPage, kSq, Bench::wq(9, 1) | 1ull << 24);  // reserved bits
    refused(kPage, kRq, Bench::wq(9, 1) | 1ull << 48);
    b.qp_st = BDY_QP_ST_RESET;
    refused(kPage, kSq, Bench::wq(9, 1));
    refused(kPage, kRq, Bench::wq(9, 1));
    EXPECT_TRUE(b.rings.empty());
    EXPECT_EQ(b.events, (std::vector<uint64_t>{Bench::report(kOther), Bench::report(kPage)}));

    b.write(BDY_REG_BAR_EQ_DB_OFFSET + 8, 1);  // another queue's doorbell consumes no asynchronous event
    b.settle();
    refused(kPage, kSq, Bench::wq(9, 1));
    EXPECT_EQ(b.events.size(), 2u);
    b.write(BDY_REG_BAR_EQ_DB_OFFSET, 1);
    b.settle();
    refused(kPage, kSq, Bench::wq(9, 1));
    EXPECT_EQ(b.events.size(), 3u);
}

TEST(Bar, UnknownDoorbellOffsetsAreNoDoorbells) {
    Bench b;
    for (unsigned off : {0x020u, 0x100u, 0xff8u, 0x004u, 0x019u}) EXPECT_EQ(b.ring(kPage, off, Bench::wq(9, 1)), kSlvErr) << off;
    EXPECT_TRUE(b.rings.empty());
    EXPECT_EQ(b.viols, 0);
}

TEST(Bar, ACqsRefusalIsReportedForItsPageEvenWhenTheNextWriteIsHere) {
    Bench b;
    b.cq_bad = true;
    b.write(1u << 20 | kOther << 12 | kCq, 1);
    b.write(1u << 20 | kPage << 12 | kSq, Bench::wq(9, 1));
    b.settle();
    EXPECT_EQ(b.events, (std::vector<uint64_t>{Bench::report(kOther)}));
    EXPECT_EQ(b.viols, 1);
    EXPECT_EQ(b.rings.size(), 2u);
}

TEST(Bar, ASharedReceiveQueuesRefusalIsNotLostBesideAnother) {
    for (int when = 0; when < 8; when++) {  // one of these meets the check of the send doorbell
        Bench b;
        b.d->db_srq_bad_uar_i = kPage;
        b.d->awaddr_i = 1u << 20 | kOther << 12 | kSq;
        b.d->wdata_i = Bench::wq(9, 1);
        b.d->wstrb_i = 0xff;
        b.d->awvalid_i = b.d->wvalid_i = 1;
        for (int t = 0; t < 12; t++) {
            b.d->db_srq_bad_i = t == when;
            b.tick();
            b.d->awvalid_i = b.d->wvalid_i = 0;
        }
        EXPECT_EQ(b.viols, 2) << when;
    }
}

TEST(Bar, AStalledDoorbellHoldsTheNextWriteAndIsNotLost) {
    Bench b;
    b.hold_sq = true;
    b.ring(kPage, kSq, Bench::wq(9, 1));
    b.d->awvalid_i = b.d->wvalid_i = 1;
    for (int i = 0; i < 10; i++) {
        b.tick();
        ASSERT_FALSE(b.d->awready_o);
    }
    b.d->awvalid_i = b.d->wvalid_i = 0;
    EXPECT_TRUE(b.rings.empty());
    b.hold_sq = false;
    b.settle();
    EXPECT_EQ(b.rings.size(), 1u);
}

TEST(Bar, CountersCountPulses) {
    Bench b;
    b.d->cnt_i = 1ull << 63 | 1ull << 5;
    for (int i = 0; i < 5; i++) b.tick();
    b.d->cnt_i = 1ull << 5;
    b.tick();
    b.d->cnt_i = 0;
    for (unsigned c = 0; c < 64; c++) EXPECT_EQ(b.get(BDY_REG_BAR_CNT_OFFSET + 8 * c), c == 5 ? 6u : c == 63 ? 5u : 0u) << c;
}

}  // namespace
