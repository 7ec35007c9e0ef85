// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/prot/prot_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace prot {

Bench::Bench(std::unique_ptr<Dut> dut, uint64_t seed) : dut_(std::move(dut)), rng_(seed)
{
    pins_.rst_n = false;
    for (int i = 0; i < 3; i++)
        cycle();
    pins_.rst_n = true;
    run_until([&] { return pins_.idle; });
}

Bench::~Bench()
{
    check_end();
}

void Bench::set_delay(unsigned max, bool reorder, uint32_t seed)
{
    pins_.dly_max = (uint8_t)max;
    pins_.dly_reorder = reorder;
    pins_.dly_seed = seed;
    cycle();
}

void Bench::set_strict(bool strict)
{
    settle();
    pins_.strict = strict;
    model_.strict = strict;
}

// ------------------------------------------------------------------ asking
unsigned Bench::free_tag(unsigned port) const
{
    std::vector<bool> used(256);
    for (auto &q : acc_queue_[port])
        used[q.first] = true;
    for (auto &o : acc_out_[port])
        used[o.first] = true;
    return (unsigned)(std::find(used.begin(), used.end(), false) - used.begin());
}

unsigned Bench::free_op_tag(unsigned port) const
{
    std::vector<bool> used(256);
    for (auto &q : op_queue_[port])
        used[q.first] = true;
    for (auto &o : op_exec_[port])
        used[o.first] = true;
    for (auto &o : op_drain_[port])
        used[o.first] = true;
    return (unsigned)(std::find(used.begin(), used.end(), false) - used.begin());
}

std::shared_ptr<Answer> Bench::post(unsigned port, const Req &req)
{
    run_until([&] { return free_tag(port) < 256; });
    auto a = std::make_shared<Answer>();
    a->req = req;
    a->port = port;
    a->asked = now_;
    acc_queue_[port].emplace_back(free_tag(port), a);
    return a;
}

std::shared_ptr<OpAnswer> Bench::post_op(unsigned port, const Op &op)
{
    run_until([&] { return free_op_tag(port) < 256; });
    auto a = std::make_shared<OpAnswer>();
    a->op = op;
    a->port = port;
    a->asked = now_;
    op_queue_[port].emplace_back(free_op_tag(port), a);
    return a;
}

Rsp Bench::access(const Req &req, unsigned port)
{
    auto a = post(port, req);
    run_until([&] { return a->done; });
    return a->rsp;
}

OpAnswer Bench::op(const Op &op, unsigned port, bool drained)
{
    auto a = post_op(port, op);
    run_until([&] { return a->executed && (!drained || !a->drain || a->drained); });
    return *a;
}

RawRead Bench::read(unsigned what, uint32_t idx)
{
    pins_.rd_valid = true;
    pins_.rd_what = what;
    pins_.rd_idx = idx;
    cycle();
    run_until([&] { return pins_.rd_done; });
    RawRead r;
    r.err = pins_.rd_err;
    memcpy(r.data, pins_.rd_data, sizeof r.data);
    pins_.rd_valid = false;
    cycle();
    return r;
}

void Bench::give_back(const std::shared_ptr<Answer> &a)
{
    const auto it = std::find(held_.begin(), held_.end(), a);
    if (it == held_.end())
        throw std::logic_error("grant is not held");
    held_.erase(it);
    returns_[a->port].push_back({now_, a});
}

void Bench::give_back_all()
{
    hold_grants = false;
    while (!held_.empty())
        give_back(held_.back());
}

void Bench::run_until(const std::function<bool()> &done, int limit)
{
    for (int i = 0; !done(); i++) {
        if (i == limit) {
            ADD_FAILURE() << "nothing happened for " << limit << " cycles";
            throw std::runtime_error("stuck");
        }
        cycle();
    }
}

size_t Bench::waiting() const
{
    size_t n = 0;
    for (int p = 0; p < kAcc; p++)
        n += acc_queue_[p].size() + acc_out_[p].size() + returns_[p].size();
    for (int p = 0; p < kOps; p++)
        n += op_queue_[p].size() + op_exec_[p].size() + op_drain_[p].size();
    return n;
}

void Bench::settle()
{
    run_until([&] { return waiting() == 0 && pins_.idle; });
    cycles(2);
}

void Bench::cycles(int n)
{
    for (int i = 0; i < n; i++)
        cycle();
}

// ------------------------------------------------------------------ one cycle
void Bench::cycle()
{
    drive();
    dut_->settle(pins_);
    if (pins_.rst_n)
        sample();
    dut_->clock();
    now_++;
}

void Bench::drive()
{
    pins_.acc_valid = pins_.op_valid = pins_.ret_valid = pins_.ret_epoch = 0;
    for (unsigned p = 0; p < kAcc; p++) {
        if (!acc_queue_[p].empty()) {
            pins_.acc_valid |= 1u << p;
            acc_queue_[p].front().second->req.encode(pins_.acc_req[p], acc_queue_[p].front().first);
        }
        auto it = std::find_if(returns_[p].begin(), returns_[p].end(), [&](const Return &r) { return r.at <= now_; });
        if (it != returns_[p].end()) {
            pins_.ret_valid |= 1u << p;
            pins_.ret_epoch |= it->answer->rsp.epoch << p;
            it->answer->returned = now_;
            returns_[p].erase(it);
        }
    }
    for (unsigned p = 0; p < kOps; p++) {
        if (op_queue_[p].empty())
            continue;
        pins_.op_valid |= 1u << p;
        pins_.op_tag[p] = (uint8_t)op_queue_[p].front().first;
        op_queue_[p].front().second->op.encode(pins_.op_req[p]);
    }
    drive_acks();
}

// Acknowledge what was seen in the cycle before, after a while.
void Bench::drive_acks()
{
    pins_.qpev_ack = 0;
    for (int e = 0; e < 2; e++) {
        if (!ack_set_[e] || hold_acks || now_ < ack_at_[e])
            continue;
        pins_.qpev_ack |= 1u << e;
        ack_set_[e] = false;
    }
    pins_.ctxw_ack = ctxw_set_ && !hold_acks && now_ >= ctxw_ack_at_;
    if (pins_.ctxw_ack)
        ctxw_set_ = false;
}

void Bench::sample()
{
    if (pins_.ev_valid && pins_.ev_ready)
        eqes_.push_back(pins_.ev);
    for (unsigned p = 0; p < kAcc; p++) {
        if (!(pins_.acc_valid & pins_.acc_ready & 1u << p))
            continue;
        auto q = acc_queue_[p].front();
        acc_queue_[p].pop_front();
        q.second->taken = now_;
        acc_out_[p][q.first] = q.second;
        untraced_acc_[p].push_back(q.second);
    }
    for (unsigned p = 0; p < kOps; p++) {
        if (!(pins_.op_valid & pins_.op_ready & 1u << p))
            continue;
        auto q = op_queue_[p].front();
        op_queue_[p].pop_front();
        q.second->taken = now_;
        op_exec_[p][q.first] = q.second;
        untraced_op_[p].push_back(q.second);
    }
    sample_answers();
    sample_trace();
    for (int e = 0; e < 2; e++) {
        if (!(pins_.qpev_valid >> e & 1) || ack_set_[e] || (pins_.qpev_ack >> e & 1))
            continue;
        events_[e].push_back({pins_.qpev_idx, pins_.qpev_st, pins_.qpev_bump});
        ack_set_[e] = true;
        ack_at_[e] = now_ + 1 + (ack_latency ? rng_() % ack_latency : 0);
    }
    if (pins_.ctxw_valid && !ctxw_set_ && !pins_.ctxw_ack) {
        ctxw_set_ = true;
        ctxw_ack_at_ = now_ + 1 + (ack_latency ? rng_() % ack_latency : 0);
    }
}

void Bench::sample_answers()
{
    EXPECT_LE(__builtin_popcount(pins_.acc_rsp_valid), 1);
    EXPECT_LE(__builtin_popcount(pins_.ope_valid), 1);
    EXPECT_LE(__builtin_popcount(pins_.opd_valid), 1);
    for (unsigned p = 0; p < kAcc; p++) {
        if (!(pins_.acc_rsp_valid >> p & 1))
            continue;
        const Rsp rsp = Rsp::decode(pins_.acc_rsp);
        auto it = acc_out_[p].find(rsp.tag);
        if (it == acc_out_[p].end()) {
            ADD_FAILURE() << "answer without request, port " << p << " tag " << rsp.tag;
            continue;
        }
        auto a = it->second;
        acc_out_[p].erase(it);
        a->rsp = rsp;
        a->done = true;
        a->answered = now_;
        if (rsp.granted() && a->req.xlen && hold_grants)
            held_.push_back(a);
        else if (rsp.granted() && a->req.xlen)
            returns_[p].push_back({now_ + 1 + (ret_latency ? rng_() % ret_latency : 0), a});
    }
    for (unsigned p = 0; p < kOps; p++) {
        if (pins_.ope_valid >> p & 1) {
            auto it = op_exec_[p].find(pins_.ope_tag);
            if (it == op_exec_[p].end()) {
                ADD_FAILURE() << "executed without operation, port " << p;
                continue;
            }
            auto a = it->second;
            op_exec_[p].erase(it);
            a->executed = true;
            a->executed_at = now_;
            a->rule = pins_.ope_rule;
            a->res = pins_.ope_res;
            a->drain = pins_.ope_drain;
            if (a->drain)
                op_drain_[p][pins_.ope_tag] = a;
        }
        if (pins_.opd_valid >> p & 1) {
            auto it = op_drain_[p].find(pins_.opd_tag);
            if (it == op_drain_[p].end()) {
                ADD_FAILURE() << "drained without operation, port " << p;
                continue;
            }
            it->second->drained = true;
            it->second->drained_at = now_;
            op_drain_[p].erase(it);
            n_drains_++;
        }
    }
}

// ------------------------------------------------------------------ checks
void Bench::sample_trace()
{
    if (pins_.trc_acc_valid)
        check_access_trace();
    if (pins_.trc_op_valid)
        check_op_trace();
}

static Req req_of_trace(const uint64_t *w)
{
    Req r;
    r.key = bdy_trc_access_get_key(w);
    r.rights = bdy_trc_access_get_rights(w);
    r.local = bdy_trc_access_get_local_key(w);
    r.va = bdy_trc_access_get_va(w);
    r.len = bdy_trc_access_get_len(w);
    r.xlen = bdy_trc_access_get_xlen(w);
    r.pd = bdy_trc_access_get_pd(w);
    r.qpn = bdy_trc_access_get_qpn(w);
    r.gen = bdy_trc_access_get_qp_gen(w);
    return r;
}

static bool same(const Req &a, const Req &b)
{
    uint64_t x[8], y[8];
    a.encode(x, 0);
    b.encode(y, 0);
    return memcmp(x, y, sizeof x) == 0;
}

void Bench::check_access_trace()
{
    const uint64_t *w = pins_.trc_acc;
    const Req r = req_of_trace(w);
    const unsigned port = bdy_trc_access_get_port(w), rule = bdy_trc_access_get_rule(w);
    n_acc_++;
    rules_[rule]++;
    auto &list = untraced_acc_[port];
    auto it = std::find_if(list.begin(), list.end(),
                           [&](const std::shared_ptr<Answer> &a) {
                               return a->done && same(a->req, r) && a->rsp.rule == rule &&
                                      (rule || !r.xlen || a->rsp.epoch == bdy_trc_access_get_epoch(w));
                           });
    if (it == list.end()) {
        ADD_FAILURE() << "trace shows an access that was not answered, cycle " << now_;
        return;
    }
    const Rsp rsp = (*it)->rsp;
    trace_.push_back({*it, nullptr});
    list.erase(it);
    EXPECT_EQ(rsp.bus0, bdy_trc_access_get_bus0(w));
    EXPECT_EQ(rsp.bus1, bdy_trc_access_get_bus1(w));
    EXPECT_EQ(rsp.len0, bdy_trc_access_get_len0(w));
    EXPECT_EQ(rsp.len1, bdy_trc_access_get_len1(w));
    if (!check)
        return;
    const AccessResult m = model_.access(r);
    EXPECT_EQ(rule_name(rule), rule_name(m.rule))
        << std::hex << "access key " << r.key << " va " << r.va << " len " << r.len << " qpn " << r.qpn << " cycle "
        << std::dec << now_;
    EXPECT_EQ(rsp.stale, m.stale);
    EXPECT_EQ(rsp.bus0, m.bus0) << std::hex << "key " << r.key << " va " << r.va << " len " << r.xlen << " start "
                                << model_.entry(key_slot(r.key)).start << " base " << model_.entry(key_slot(r.key)).base
                                << " off " << model_.entry(key_slot(r.key)).list_off << " direct "
                                << model_.entry(key_slot(r.key)).direct << " ps " << model_.entry(key_slot(r.key)).log_ps;
    EXPECT_EQ(rsp.bus1, m.bus1);
    EXPECT_EQ(rsp.len0, m.len0);
    EXPECT_EQ(rsp.len1, m.len1);
}

void Bench::check_op_trace()
{
    const uint64_t *w = pins_.trc_op;
    const Op o = Op::decode(w);
    const unsigned port = bdy_prot_op_get_port(w), rule = bdy_prot_op_get_rule(w);
    const uint32_t res = bdy_prot_op_get_res(w);
    n_ops_++;
    rules_[rule]++;
    auto &list = untraced_op_[port];
    if (list.empty() || !list.front()->executed) {
        ADD_FAILURE() << "trace shows an operation that was not answered, cycle " << now_;
        return;
    }
    auto a = list.front();
    list.pop_front();
    trace_.push_back({nullptr, a});
    EXPECT_EQ(a->op.op, o.op);
    EXPECT_EQ(a->op.key, o.key);
    EXPECT_EQ(a->rule, rule);
    EXPECT_EQ(a->res, res);
    if (!check)
        return;
    const uint32_t gen = o.op == BDY_PROT_OP_CTX_WRITE ? 0 : model_.qp(o.qpn).gen;
    EXPECT_EQ(bdy_prot_op_get_qp_gen(w), gen);
    const OpResult m = model_.op(o);
    EXPECT_EQ(rule_name(rule), rule_name(m.rule)) << "op " << o.op << std::hex << " key " << o.key << " mr_key "
                                                  << o.mr_key << " cycle " << std::dec << now_;
    EXPECT_EQ(res, m.res) << "op " << o.op;
    EXPECT_EQ(a->drain, m.drains) << "op " << o.op;
}

// H3: when an operation is drained, every grant whose verdict came before it has been returned.
void Bench::check_drains()
{
    uint64_t last_return = 0;
    bool open = false;
    for (auto &t : trace_) {
        if (t.access && t.access->rsp.granted() && t.access->req.xlen) {
            if (t.access->returned)
                last_return = std::max(last_return, t.access->returned);
            else
                open = true;
        }
        if (t.op && t.op->drained) {
            EXPECT_FALSE(open) << "drained with a grant never returned";
            EXPECT_GT(t.op->drained_at, last_return) << "drained at " << t.op->drained_at << ", a grant ended later";
            EXPECT_GT(t.op->drained_at, t.op->executed_at);
        }
    }
}

void Bench::check_end()
{
    for (int i = 0; i < 20000 && !hold_acks && !(waiting() == 0 && pins_.idle && held_.empty()); i++)
        cycle();
    check_drains();
    if (hold_acks || hold_grants)
        return;
    EXPECT_EQ(waiting(), 0u);
    for (int e = 0; e < 2 && check; e++)
        EXPECT_TRUE(events_[e] == model_.events()) << "engine " << e << " saw " << events_[e].size() << " of "
                                                   << model_.events().size();
    for (int p = 0; p < kAcc; p++)
        EXPECT_TRUE(untraced_acc_[p].empty());
    for (int p = 0; p < kOps; p++)
        EXPECT_TRUE(untraced_op_[p].empty());
}

} // namespace prot
