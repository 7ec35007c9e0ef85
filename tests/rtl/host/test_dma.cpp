// SPDX-License-Identifier: Apache-2.0
// bdy_dma against an AXI4 memory that answers late, out of order between IDs, and checks the protocol.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "Vbdy_dma.h"

namespace {

constexpr int kRd = 7, kWr = 6;
constexpr uint64_t kBase = 0x40000000ull - 0x3000;  // crosses a 4 KiB and a 1 GiB line
constexpr size_t kBytes = 0x9000;

template <typename W>
void put_bits(W &vec, int lsb, int width, uint64_t value) {
    for (int i = 0; i < width; i++) {
        uint32_t bit = 1u << ((lsb + i) % 32);
        if ((value >> i) & 1) vec[(lsb + i) / 32] |= bit;
        else vec[(lsb + i) / 32] &= ~bit;
    }
}

struct Job {
    uint64_t addr;
    unsigned len;
    std::vector<uint8_t> data;  // expected (read) or given (write)
    size_t done = 0;
};

struct Bench {
    VerilatedContext ctx;
    std::unique_ptr<Vbdy_dma> dut{new Vbdy_dma{&ctx}};
    std::mt19937 rng;
    std::vector<uint8_t> mem;
    int max_latency;
    uint64_t poison = ~0ull;  // 4 KiB page that answers an error

    struct Rd { uint64_t addr; unsigned beats; unsigned sent = 0; int wait; };
    std::map<int, std::deque<Rd>> reads;  // by ID
    struct Wr { uint64_t addr; unsigned beats; int id; };
    std::deque<Wr> aws;
    std::vector<std::pair<std::array<uint8_t, 32>, uint32_t>> wbeats;
    struct B { int id; int wait; bool err; };
    std::map<int, std::deque<B>> bs;

    std::deque<Job> rq[kRd], rwait[kRd], wq[kWr], wwait[kWr];
    size_t wpos[kWr] = {};
    std::deque<Job> wstream[kWr];
    int errors_seen = 0, reads_done = 0, writes_done = 0;

    explicit Bench(unsigned seed, int latency) : rng(seed), mem(kBytes), max_latency(latency) {
        for (auto &b : mem) b = uint8_t(rng());
        dut->rst_ni = 0;
        dut->enable_i = 1;
        tick();
        dut->rst_ni = 1;
    }
    unsigned rnd(unsigned n) { return n ? rng() % n : 0; }

    // One clock: inputs are set from the model's state, outputs sampled before the edge.
    void tick() {
        auto *d = dut.get();
        d->rdq_valid_i = 0;
        for (int c = 0; c < kRd; c++) {
            if (rq[c].empty()) continue;
            d->rdq_valid_i |= 1u << c;
            put_bits(d->rdq_addr_i, 64 * c, 64, rq[c].front().addr);
            put_bits(d->rdq_len_i, 13 * c, 13, rq[c].front().len);
        }
        d->wrq_valid_i = 0;
        d->wrd_valid_i = 0;
        for (int c = 0; c < kWr; c++) {
            if (!wq[c].empty()) {
                d->wrq_valid_i |= 1u << c;
                put_bits(d->wrq_addr_i, 64 * c, 64, wq[c].front().addr);
                put_bits(d->wrq_len_i, 13 * c, 13, wq[c].front().len);
            }
            if (!wstream[c].empty() && (max_latency == 0 || rnd(4))) {
                d->wrd_valid_i |= 1u << c;
                const Job &j = wstream[c].front();
                for (int i = 0; i < 32; i++) {
                    uint8_t byte = wpos[c] + i < j.data.size() ? j.data[wpos[c] + i] : uint8_t(rng());
                    put_bits(d->wrd_data_i, 256 * c + 8 * i, 8, byte);
                }
            }
        }
        d->m_axi_arready_i = max_latency == 0 || rnd(2);
        d->m_axi_awready_i = max_latency == 0 || rnd(2);
        d->m_axi_wready_i = max_latency == 0 || rnd(3);
        int rid = -1;
        for (auto &[id, q] : reads)
            if (!q.empty() && q.front().wait <= 0 && (rid < 0 || rnd(2))) rid = id;
        d->m_axi_rvalid_i = rid >= 0;
        if (rid >= 0) {
            Rd &r = reads[rid].front();
            uint64_t a = r.addr + 32 * r.sent;
            d->m_axi_rid_i = rid;
            for (int i = 0; i < 32; i++) put_bits(d->m_axi_rdata_i, 8 * i, 8, mem.at(a - kBase + i));
            d->m_axi_rresp_i = (a >> 12) == poison ? 2 : 0;
            d->m_axi_rlast_i = r.sent + 1 == r.beats;
        }
        int bid = -1;
        for (auto &[id, q] : bs)
            if (!q.empty() && q.front().wait <= 0 && (bid < 0 || rnd(2))) bid = id;
        d->m_axi_bvalid_i = bid >= 0;
        if (bid >= 0) {
            d->m_axi_bid_i = bid;
            d->m_axi_bresp_i = bs[bid].front().err ? 2 : 0;
        }
        d->clk_i = 0;
        d->eval();
        sample(rid, bid);
        d->clk_i = 1;
        d->eval();
        for (auto &[id, q] : reads)
            for (auto &r : q) r.wait--;
        for (auto &[id, q] : bs)
            for (auto &b : q) b.wait--;
    }

    void sample(int rid, int bid) {
        auto *d = dut.get();
        if (!d->rst_ni) return;
        if (rid >= 0 && d->m_axi_rready_o) {
            Rd &r = reads[rid].front();
            if (++r.sent == r.beats) reads[rid].pop_front();
        }
        if (bid >= 0 && d->m_axi_bready_o) bs[bid].pop_front();
        for (int c = 0; c < kRd; c++) {
            if ((d->rdq_valid_i & d->rdq_ready_o) >> c & 1) {
                rwait[c].push_back(rq[c].front());
                rq[c].pop_front();
            }
            if (d->rdd_valid_o >> c & 1) take_read(c);
        }
        for (int c = 0; c < kWr; c++) {
            if ((d->wrd_valid_i & d->wrd_ready_o) >> c & 1) {
                wpos[c] += 32;
                if (wpos[c] >= wstream[c].front().len) {
                    wstream[c].pop_front();
                    wpos[c] = 0;
                }
            }
            if ((d->wrq_valid_i & d->wrq_ready_o) >> c & 1) {
                wstream[c].push_back(wq[c].front());
                wwait[c].push_back(wq[c].front());
                wq[c].pop_front();
            }
            if (d->wrb_valid_o >> c & 1) take_written(c);
        }
        if (d->m_axi_arvalid_o && d->m_axi_arready_i) {
            ASSERT_EQ(d->m_axi_araddr_o % 32, 0u);
            unsigned beats = d->m_axi_arlen_o + 1;
            ASSERT_EQ(d->m_axi_araddr_o >> 12, (d->m_axi_araddr_o + 32 * beats - 1) >> 12) << "burst crosses 4 KiB";
            reads[d->m_axi_arid_o].push_back({d->m_axi_araddr_o, beats, 0, int(rnd(max_latency + 1))});
        }
        if (d->m_axi_awvalid_o && d->m_axi_awready_i) {
            unsigned beats = d->m_axi_awlen_o + 1;
            ASSERT_EQ(d->m_axi_awaddr_o >> 12, (d->m_axi_awaddr_o + 32 * beats - 1) >> 12) << "burst crosses 4 KiB";
            aws.push_back({d->m_axi_awaddr_o, beats, int(d->m_axi_awid_o)});
        }
        if (d->m_axi_wvalid_o && d->m_axi_wready_i) {
            std::array<uint8_t, 32> beat;
            for (int i = 0; i < 32; i++) beat[i] = d->m_axi_wdata_o[i / 4] >> (8 * (i % 4));
            wbeats.push_back({beat, d->m_axi_wstrb_o});
            last_seen = d->m_axi_wlast_o;
        }
        land();
    }
    bool last_seen = false;

    void land() {  // a burst whose AW and all W beats are here is written
        if (aws.empty() || wbeats.size() < aws.front().beats) return;
        Wr w = aws.front();
        aws.pop_front();
        EXPECT_TRUE(last_seen);
        bool err = (w.addr >> 12) == poison;
        for (unsigned k = 0; k < w.beats; k++)
            for (int i = 0; i < 32 && !err; i++)
                if (wbeats[k].second >> i & 1) mem.at(w.addr + 32 * k + i - kBase) = wbeats[k].first[i];
        wbeats.erase(wbeats.begin(), wbeats.begin() + w.beats);
        bs[w.id].push_back({w.id, int(rnd(max_latency + 1)), err});
    }

    void take_read(int c) {
        ASSERT_FALSE(rwait[c].empty()) << "data nobody asked for";
        Job &j = rwait[c].front();
        unsigned n = std::min<size_t>(32, j.len - j.done);
        bool hit = false;
        for (uint64_t p = j.addr >> 12; p <= (j.addr + j.len - 1) >> 12; p++) hit |= p == poison;
        for (unsigned i = 0; i < n; i++) {
            uint8_t got = dut->rdd_data_o[i / 4] >> (8 * (i % 4));
            ASSERT_EQ(got, mem.at(j.addr - kBase + j.done + i)) << "client " << c << " addr " << std::hex << j.addr << " len "
                                                                << j.len << " byte " << j.done + i;
        }
        j.done += n;
        ASSERT_EQ(bool(dut->rdd_last_o), j.done == j.len);
        if (j.done == j.len) {
            ASSERT_EQ(bool(dut->rdd_err_o), hit);
            errors_seen += hit;
            reads_done++;
            rwait[c].pop_front();
        }
    }
    void take_written(int c) {
        ASSERT_FALSE(wwait[c].empty());
        Job j = wwait[c].front();
        wwait[c].pop_front();
        bool hit = false;
        for (uint64_t p = j.addr >> 12; p <= (j.addr + j.len - 1) >> 12; p++) hit |= p == poison;
        ASSERT_EQ(bool(dut->wrb_err_o), hit);
        for (unsigned i = 0; i < j.len && !hit; i++) ASSERT_EQ(mem.at(j.addr + i - kBase), j.data[i]) << "write byte " << i;
        errors_seen += hit;
        writes_done++;
    }
    bool busy() {
        for (int c = 0; c < kRd; c++)
            if (!rq[c].empty() || !rwait[c].empty()) return true;
        for (int c = 0; c < kWr; c++)
            if (!wq[c].empty() || !wwait[c].empty()) return true;
        return false;
    }
    void drain() {
        for (int i = 0; i < 200000 && busy() && !::testing::Test::HasFatalFailure(); i++) tick();
        ASSERT_FALSE(busy());
        for (int i = 0; i < 3; i++) tick();
        EXPECT_TRUE(dut->idle_o);
    }
    void read(int c, uint64_t off, unsigned len) { rq[c].push_back({kBase + off, len, {}}); }
    void write(int c, uint64_t off, unsigned len) {
        Job j{kBase + off, len, std::vector<uint8_t>(len)};
        for (auto &b : j.data) b = uint8_t(rng());
        wq[c].push_back(j);
    }
};

TEST(Dma, ReadsEveryOffsetAndLengthAroundABeat) {
    Bench b(1, 0);
    for (unsigned off = 0; off < 33; off++)
        for (unsigned len = 1; len <= 70; len++) b.read(off % kRd, 64 + off, len);
    b.drain();
    EXPECT_EQ(b.reads_done, 33 * 70);
}

TEST(Dma, WritesEveryOffsetAndLengthAroundABeatAndTouchesNothingElse) {
    Bench b(2, 0);
    for (unsigned off = 0; off < 33; off++)
        for (unsigned len = 1; len <= 70; len++) {
            auto before = b.mem;
            b.write(2, 64 + off, len);
            b.drain();
            for (size_t i = 0; i < kBytes; i++)
                if (i < 64 + off || i >= 64 + off + len) { ASSERT_EQ(before[i], b.mem[i]); }
        }
}

TEST(Dma, SplitsAt4KiBAndKeepsTheStreamPacked) {
    Bench b(3, 0);
    for (unsigned off : {0u, 1u, 31u, 4095u, 4064u, 4001u})
        for (unsigned len : {1u, 2u, 31u, 32u, 33u, 95u, 96u, 4095u, 4096u}) {
            b.read(3, off, len);
            b.write(0, off + 0x4000, len);
        }
    b.drain();
}

TEST(Dma, ManyClientsAtOnceWithLateReorderedAnswers) {
    for (unsigned seed = 10; seed < 14; seed++) {
        Bench b(seed, seed & 1 ? 200 : 5);
        unsigned n[kWr] = {};
        for (int i = 0; i < 300; i++) {
            unsigned len = 1 + b.rnd(b.rnd(3) ? 100 : 4096);
            b.read(b.rnd(kRd), b.rnd(0x3000 - len), len);  // reads below, writes above: each data check is exact
            len = 1 + b.rnd(b.rnd(3) ? 100 : 512);
            int c = b.rnd(kWr);
            b.write(c, 0x3000 + 0x1000 * c + 0x330 * (n[c]++ % 5) + b.rnd(0x130), len);  // more slots than are unanswered
        }
        b.drain();
        EXPECT_EQ(b.reads_done, 300);
    }
}

TEST(Dma, AnErrorResponseReachesItsRequestOnly) {
    Bench b(20, 20);
    b.poison = (kBase + 0x1000) >> 12;
    for (int i = 0; i < 100; i++) {
        b.read(b.rnd(kRd), 0xf00 + b.rnd(0x1200), 1 + b.rnd(200));
        b.write(b.rnd(kWr), (i & 1 ? 0x1000 : 0x4000) + b.rnd(0xe00), 1 + b.rnd(200));
        b.drain();  // one of each at a time: writes of different clients may overlap
    }
    EXPECT_GT(b.errors_seen, 50);
}

TEST(Dma, SustainsABeatACycle) {
    Bench b(30, 0);
    for (int i = 0; i < 8; i++) b.read(i % kRd, 0, 4096);
    int cycles = 0;
    while (b.busy() && cycles < 5000) {
        b.tick();
        cycles++;
    }
    EXPECT_LE(cycles, 8 * 128 + 24);
}

TEST(Dma, AsksForNothingWhileBusMasteringIsOff) {
    Bench b(40, 0);
    b.dut->enable_i = 0;
    b.read(0, 0, 64);
    b.write(0, 0x4000, 64);
    for (int i = 0; i < 100; i++) {
        b.tick();
        ASSERT_FALSE(b.dut->m_axi_arvalid_o);
        ASSERT_FALSE(b.dut->m_axi_awvalid_o);
    }
    b.dut->enable_i = 1;
    b.drain();
}

}  // namespace
