// SPDX-License-Identifier: Apache-2.0
// A stand-in for the protection engine and the accounts of its grants: answers late and out of order, hands
// out one or two bus ranges, and checks that every grant is returned once and used only before (H3, H6).
#pragma once

#include <algorithm>
#include <array>
#include <map>

#include "bdy_regs.h"
#include "tests/rtl/dp/bench.h"

namespace protection {

constexpr uint64_t kPage = 4096;

// Scrambled page frames; three of four neighbours are not contiguous.
inline uint64_t bus_of(uint64_t va)
{
    uint64_t group = va / (4 * kPage);
    return (group * 0x9e3779b97f4a7c15ull & 0x000fffffffff0000ull) + ((va / kPage & 3) ^ (group & 2)) * kPage
           + va % kPage;
}

struct Request {
    uint8_t tag, rights;
    bool local;
    uint32_t key, len, pd, qpn, gen;
    uint64_t va;
    uint16_t xlen;
};

struct Range {
    uint64_t addr;
    size_t len;
    bool asked = false, complete = false;
};

struct Grant {
    unsigned epoch;
    std::vector<Range> ranges;
    bool returned = false;

    bool moving() const
    {
        return std::any_of(ranges.begin(), ranges.end(), [](const Range &r) { return r.asked && !r.complete; });
    }
};

struct Answer {
    uint64_t ready_at;
    std::array<uint64_t, 4> words;
};

class Engine {
public:
    explicit Engine(bench::Random &random) : r_(random) {}

    std::vector<Request> requests; // of this start, as asked
    std::vector<Grant> grants;
    int refuse_at = -1; // n-th request is refused
    uint8_t refuse_rule = 0;
    bool refuse_stale = false;
    unsigned longest_delay = 20;

    void begin()
    {
        requests.clear();
        grants.clear();
        refuse_at = -1;
    }

    template <class Wide> void ask(const Wide &port, uint64_t now)
    {
        std::array<uint64_t, BDY_ACC_REQ_WORDS> w;
        std::memcpy(w.data(), &port, sizeof(w));
        EXPECT_TRUE(bdy_acc_req_rsvd_zero(w.data()));
        Request q = {static_cast<uint8_t>(bdy_acc_req_get_tag(w.data())),
            static_cast<uint8_t>(bdy_acc_req_get_rights(w.data())), bdy_acc_req_get_local_key(w.data()) != 0,
            static_cast<uint32_t>(bdy_acc_req_get_key(w.data())), static_cast<uint32_t>(bdy_acc_req_get_len(w.data())),
            static_cast<uint32_t>(bdy_acc_req_get_pd(w.data())), static_cast<uint32_t>(bdy_acc_req_get_qpn(w.data())),
            static_cast<uint32_t>(bdy_acc_req_get_qp_gen(w.data())), bdy_acc_req_get_va(w.data()),
            static_cast<uint16_t>(bdy_acc_req_get_xlen(w.data()))};
        for (const Answer &a : answers_) {
            EXPECT_NE(bdy_acc_rsp_get_tag(a.words.data()), q.tag) << "tag in use";
        }
        bool refuse = static_cast<int>(requests.size()) == refuse_at;
        requests.push_back(q);
        answers_.push_back({now + 1 + r_.below(longest_delay), decide(q, refuse)});
    }

    // An answer that is due, in any order; false if none.
    template <class Wide> bool answer(Wide &port, uint64_t now)
    {
        std::vector<size_t> due;
        for (size_t k = 0; k < answers_.size(); k++) {
            if (answers_[k].ready_at <= now) {
                due.push_back(k);
            }
        }
        if (due.empty()) {
            return false;
        }
        size_t k = due[r_.below(due.size())];
        bench::put(port, answers_[k].words.data(), sizeof(answers_[k].words));
        answers_.erase(answers_.begin() + static_cast<long>(k));
        return true;
    }

    // A transfer is asked for: it must be exactly a range of a grant that is out.
    void use(uint64_t addr, size_t len)
    {
        for (Grant &g : grants) {
            for (Range &range : g.ranges) {
                if (!g.returned && !range.asked && range.addr == addr && range.len == len) {
                    range.asked = true;
                    return;
                }
            }
        }
        ADD_FAILURE() << "moved without a grant: " << std::hex << addr << " length " << len;
    }

    void complete(uint64_t addr, size_t len)
    {
        for (Grant &g : grants) {
            for (Range &range : g.ranges) {
                if (range.asked && !range.complete && range.addr == addr && range.len == len) {
                    range.complete = true;
                    return;
                }
            }
        }
    }

    // The oldest grant of the epoch that may go back: all its ranges complete, or none begun.
    void give_back(unsigned epoch)
    {
        for (Grant &g : grants) {
            bool all = std::all_of(g.ranges.begin(), g.ranges.end(), [](const Range &x) { return x.complete; });
            bool none = std::none_of(g.ranges.begin(), g.ranges.end(), [](const Range &x) { return x.asked; });
            if (!g.returned && g.epoch == epoch && (all || (none && refuse_at >= 0))) {
                g.returned = true;
                return;
            }
        }
        ADD_FAILURE() << "a grant of epoch " << epoch << " returned too early or twice";
    }

    bool quiet() const
    {
        return answers_.empty()
               && std::all_of(grants.begin(), grants.end(), [](const Grant &g) { return g.returned; });
    }

private:
    bench::Random &r_;
    std::vector<Answer> answers_;

    std::array<uint64_t, 4> decide(const Request &q, bool refuse)
    {
        std::array<uint64_t, 4> w{};
        bdy_acc_rsp_set_tag(w.data(), q.tag);
        if (refuse) {
            bdy_acc_rsp_set_rule(w.data(), refuse_rule);
            bdy_acc_rsp_set_stale(w.data(), refuse_stale);
            return w;
        }
        Grant g{static_cast<unsigned>(r_.below(2)), {}};
        size_t first = std::min<size_t>(q.xlen, kPage - q.va % kPage);
        g.ranges.push_back({bus_of(q.va), first});
        if (first < q.xlen) {
            uint64_t second = bus_of(q.va + first);
            if (second == g.ranges[0].addr + first) {
                g.ranges[0].len = q.xlen; // contiguous: one range
            } else {
                g.ranges.push_back({second, q.xlen - first});
            }
        }
        bdy_acc_rsp_set_epoch(w.data(), g.epoch);
        bdy_acc_rsp_set_bus0(w.data(), g.ranges[0].addr);
        bdy_acc_rsp_set_len0(w.data(), g.ranges[0].len);
        if (g.ranges.size() > 1) {
            bdy_acc_rsp_set_bus1(w.data(), g.ranges[1].addr);
            bdy_acc_rsp_set_len1(w.data(), g.ranges[1].len);
        }
        grants.push_back(g);
        return w;
    }
};

} // namespace protection
