// SPDX-License-Identifier: Apache-2.0
// Reference of the protection rules: no clock, no cache, wide arithmetic. Fed with requests in the order of the verdicts.
#pragma once

#include "tests/rtl/prot/prot_types.h"

#include <map>
#include <vector>

namespace prot {

struct AccessResult {
    unsigned rule = 0;
    bool stale = false;
    uint64_t bus0 = 0, bus1 = 0;
    unsigned len0 = 0, len1 = 0;
};

struct OpResult {
    unsigned rule = 0;
    uint32_t res = 0;
    bool drains = false;
};

struct QpEvent {
    unsigned idx, st, bump;
    bool operator==(const QpEvent &o) const { return idx == o.idx && st == o.st && bump == o.bump; }
};

struct Qp {
    unsigned st = 0;
    uint32_t gen = 0;
    bool alive = false;
};

class Model {
public:
    bool strict = false;

    AccessResult access(const Req &r) const;
    OpResult op(const Op &o);

    Entry entry(uint32_t slot) const;
    Mtt mtt(uint32_t index) const;
    uint32_t count(uint32_t slot) const;
    Qp qp(uint32_t qpn) const;
    bool pd_alive(uint32_t pd) const;
    const std::vector<QpEvent> &events() const { return events_; }

private:
    std::map<uint32_t, Entry> entries_;
    std::map<uint32_t, Mtt> mtt_;
    std::map<uint32_t, uint32_t> counts_;
    std::map<uint32_t, bool> pds_;
    Qp qps_[kQps];
    std::vector<QpEvent> events_;

    unsigned bind_rule(const Op &o) const;
    unsigned invalidate_rule(const Op &o) const;
    unsigned life_rule(const Op &o) const;
    unsigned image_rule(const Op &o) const;
    unsigned ctx_rule(const Op &o) const;
    unsigned mtt_rule(const Op &o) const;
    void execute(const Op &o, OpResult &res);
    void bind(const Op &o, OpResult &res);
    void unbind(uint32_t slot, Entry e, bool next_key);
    void set_state(uint32_t idx, unsigned st, bool bump);
    uint32_t present_key(const Op &o) const;
};

} // namespace prot
