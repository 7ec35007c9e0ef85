// SPDX-License-Identifier: Apache-2.0
// The half of a bench that bdy_gather and bdy_scatter share: a start, the list, the access port, the end.
#pragma once

#include "tests/rtl/dp/protection.h"

namespace mover {

struct Sge {
    uint64_t addr;
    uint32_t len, key;
};

struct Start {
    std::vector<Sge> list;
    uint32_t off = 0, chk_len = 0;
    uint16_t len = 1;
    bool local = true;
    uint8_t rights = 0;
    uint32_t pd = 0, qpn = 0, gen = 0;
};

struct End {
    bool done = false;
    uint8_t rule = 0;
    bool stale = false;
};

// A piece of the packet that lies in one SGE.
struct Piece {
    uint64_t va;
    uint32_t key;
    size_t len;
};

inline std::vector<Piece> pieces(const Start &s)
{
    std::vector<Piece> out;
    uint64_t skip = s.off, left = s.len;
    for (const Sge &e : s.list) {
        if (skip >= e.len) {
            skip -= e.len;
            continue;
        }
        uint64_t n = std::min<uint64_t>(e.len - skip, left);
        if (n > 0) {
            out.push_back({e.addr + skip, e.key, n});
        }
        left -= n;
        skip = 0;
    }
    return out;
}

// A list of up to 16 SGEs, some empty, and a packet inside the message.
inline Start random_start(bench::Random &r, size_t longest_sge)
{
    Start s;
    uint64_t total = 0;
    size_t n = 1 + r.below(16);
    for (size_t k = 0; k < n; k++) {
        uint32_t len = r.chance(15) ? 0 : static_cast<uint32_t>(1 + r.below(longest_sge));
        s.list.push_back({r.bits() & 0x0000fffffffffffull, len, static_cast<uint32_t>(r.bits())});
        total += len;
    }
    if (total == 0) {
        s.list[0].len = 1;
        total = 1;
    }
    s.off = static_cast<uint32_t>(r.below(total));
    s.len = static_cast<uint16_t>(1 + r.below(std::min<uint64_t>(4096, total - s.off)));
    s.local = r.chance(50);
    s.rights = static_cast<uint8_t>(r.bits());
    s.pd = r.bits() & 0xffffff;
    s.qpn = r.bits() & 0xffffff;
    s.gen = static_cast<uint32_t>(r.bits());
    return s;
}

template <class Top> class Mover {
public:
    bench::Bench<Top> b;
    bench::Random r{21};
    protection::Engine engine{r};
    unsigned stalls = 20;

    // Runs one start to its end; `memory` is called each cycle before and after the model settles.
    template <class Drive, class Look> End run(const Start &s, Drive drive, Look look)
    {
        End end;
        bool started = false;
        set_start(s);
        for (unsigned c = 0; c < 100000 && !end.done; c++) {
            b.top.start_valid_i = !started;
            b.top.acc_ready_i = !r.chance(stalls);
            b.top.acc_rsp_valid_i = engine.answer(b.top.acc_rsp_i, b.cycle);
            drive();
            show_sge(s);
            started = started || b.top.start_ready_o;
            if (b.top.acc_valid_o && b.top.acc_ready_i) {
                engine.ask(b.top.acc_req_o, b.cycle);
            }
            look();
            if (b.top.ret_valid_o) {
                engine.give_back(b.top.ret_epoch_o);
            }
            if (b.top.done_o) {
                end = {true, b.top.done_rule_o, b.top.done_stale_o != 0};
            }
            b.tick();
        }
        EXPECT_TRUE(end.done) << "hangs";
        EXPECT_TRUE(engine.quiet()) << "done before the last grant was returned";
        b.top.start_valid_i = 0;
        b.top.acc_rsp_valid_i = 0;
        b.settle();
        EXPECT_TRUE(b.top.idle_o);
        return end;
    }

    void expect_requests(const Start &s)
    {
        auto want = pieces(s);
        ASSERT_EQ(engine.requests.size(), want.size());
        for (size_t k = 0; k < want.size(); k++) {
            const protection::Request &q = engine.requests[k];
            EXPECT_EQ(q.va, want[k].va);
            EXPECT_EQ(q.key, want[k].key);
            EXPECT_EQ(q.xlen, want[k].len);
            EXPECT_EQ(q.len, s.chk_len != 0 ? s.chk_len : want[k].len);
            EXPECT_EQ(q.local, s.local);
            EXPECT_EQ(q.rights, s.rights);
            EXPECT_EQ(q.pd, s.pd);
            EXPECT_EQ(q.qpn, s.qpn);
            EXPECT_EQ(q.gen, s.gen);
        }
    }

private:
    void set_start(const Start &s)
    {
        b.top.start_num_sge_i = static_cast<uint8_t>(s.list.size());
        b.top.start_off_i = s.off;
        b.top.start_len_i = s.len;
        b.top.start_local_i = s.local;
        b.top.start_rights_i = s.rights;
        b.top.start_pd_i = s.pd;
        b.top.start_qpn_i = s.qpn;
        b.top.start_gen_i = s.gen;
        b.top.start_chk_len_i = s.chk_len;
    }

    // The list is a combinational memory.
    void show_sge(const Start &s)
    {
        b.settle();
        uint64_t w[2] = {};
        if (b.top.sge_idx_o < s.list.size()) {
            const Sge &e = s.list[b.top.sge_idx_o];
            bdy_sge_set_addr(w, e.addr);
            bdy_sge_set_len(w, e.len);
            bdy_sge_set_lkey(w, e.key);
        }
        bench::put(b.top.sge_i, w, sizeof(w));
        b.settle();
    }
};

} // namespace mover
