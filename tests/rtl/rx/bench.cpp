// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <algorithm>
#include <cstring>

namespace rx {

namespace {

constexpr unsigned kBeat = 32;

template <typename Wide>
void put(Wide &to, const void *from, size_t bytes, size_t at = 0)
{
    std::memcpy(reinterpret_cast<uint8_t *>(&to[0]) + at, from, bytes);
}

template <typename Wide>
void get(void *to, const Wide &from, size_t bytes, size_t at = 0)
{
    std::memcpy(to, reinterpret_cast<const uint8_t *>(&from[0]) + at, bytes);
}

}  // namespace

Bench::Bench(uint32_t seed, unsigned latency) : max_latency(latency), rng(seed), memory(kPages * 4096)
{
    vctx = std::make_unique<VerilatedContext>();
    vctx->randReset(2);
    vctx->randSeed(static_cast<int>(seed % 0x7fffffff) + 1);
    top = std::make_unique<Vrx_bench>(vctx.get());
    top->rst_ni = 0;
    for (int i = 0; i < 3; i++) {
        drive();
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
    }
    top->rst_ni = 1;
}

Bench::~Bench() { top->final(); }

uint64_t Bench::bus_of(uint64_t va) const
{
    uint64_t page = (va - kVaBase) / 4096;
    if (unmapped_va && page == (unmapped_va - kVaBase) / 4096) return 0x1000 + va % 4096;
    return kBusBase + (page * 389 + 7) % kPages * 4096 + va % 4096;
}

void Bench::poke(uint64_t va, const Bytes &data)
{
    for (size_t i = 0; i < data.size(); i++) memory[bus_of(va + i) - kBusBase] = data[i];
}

Bytes Bench::peek(uint64_t va, size_t len)
{
    Bytes data(len);
    for (size_t i = 0; i < len; i++) data[i] = memory[bus_of(va + i) - kBusBase];
    return data;
}

// ---------------------------------------------------------------- queue pairs
void Bench::make_rtr(unsigned qp, uint32_t psn, unsigned mtu, uint8_t rights, uint64_t rq_ring_va, unsigned rq_log,
                     unsigned rq_stride)
{
    Qp &q = qps[qp];
    uint64_t *c = q.c0.data();
    unsigned st = q.st();
    q.c0.fill(0);
    bdy_qp_ctx0_set_st(c, st);
    bdy_qp_ctx0_set_kind(c, BDY_QP_KIND_RC);
    bdy_qp_ctx0_set_rights(c, rights);
    bdy_qp_ctx0_set_mtu(c, mtu);
    bdy_qp_ctx0_set_pd(c, 1);
    bdy_qp_ctx0_set_rcqn(c, 40 + qp);
    bdy_qp_ctx0_set_min_rnr(c, 5 + qp % 20);
    bdy_qp_ctx0_set_dest_qpn(c, 0x900 + qp);
    bdy_qp_ctx0_set_max_dest_rd(c, 16);
    bdy_qp_ctx0_set_rq_psn(c, psn & 0xffffff);
    bdy_qp_ctx0_set_sl(c, qp & 7);
    bdy_qp_ctx0_set_dlid(c, 0x111 + qp);
    if (!rq_ring_va) rq_ring_va = kVaBase + (kPages - 64 + qp % 32) * 4096ull;
    bdy_qp_ctx0_set_rq_base(c, bus_of(rq_ring_va));
    bdy_qp_ctx0_set_rq_log(c, rq_log);
    bdy_qp_ctx0_set_rq_log_stride(c, rq_stride);
    q.pi = 0;
    set_state(qp, BDY_QP_ST_INIT);
    set_state(qp, BDY_QP_ST_RTR);
    run_until([&] { return qpevs.empty(); });
}

void Bench::set_state(unsigned qp, unsigned st, bool bump)
{
    if (bump) qps[qp].gen++;
    bdy_qp_ctx0_set_st(qps[qp].c0.data(), st);
    qpevs.push_back({qp, st, bump});
}

uint64_t Bench::rwqe_va(unsigned qp, uint16_t index) const
{
    const uint64_t *c = qps.at(qp).c0.data();
    uint64_t bus = bdy_qp_ctx0_get_rq_base(c);
    unsigned stride = 64u << bdy_qp_ctx0_get_rq_log_stride(c);
    bus += static_cast<uint64_t>(index & ((1u << bdy_qp_ctx0_get_rq_log(c)) - 1)) * stride;
    // A test's ring lies in one page.
    for (uint64_t page = 0; page < kPages; page++) {
        uint64_t va = kVaBase + page * 4096;
        if (bus_of(va) == (bus & ~0xfffull)) return va + bus % 4096;
    }
    return 0;
}

void Bench::post_recv(unsigned qp, const std::vector<Sge> &sges, bool ring)
{
    Qp &q = qps[qp];
    unsigned stride = 64u << bdy_qp_ctx0_get_rq_log_stride(q.c0.data());
    Bytes wqe(stride);
    uint64_t head[2] = {0, 0};
    bdy_rwqe_set_num_sge(head, sges.size());
    bdy_rwqe_set_index(head, q.pi);
    std::memcpy(wqe.data(), head, 16);
    for (size_t i = 0; i < sges.size(); i++) {
        uint64_t s[2] = {0, 0};
        bdy_sge_set_addr(s, sges[i].va);
        bdy_sge_set_len(s, sges[i].len);
        bdy_sge_set_lkey(s, sges[i].key);
        std::memcpy(wqe.data() + 16 + 16 * i, s, 16);
    }
    poke(rwqe_va(qp, q.pi), wqe);
    q.pi++;
    if (ring) doorbell(qp, q.pi);
}

void Bench::doorbell(unsigned qp, uint16_t index) { doorbells.push_back({static_cast<uint16_t>(qp), index}); }

// ---------------------------------------------------------------- running
bool Bench::run_until(const std::function<bool()> &done, unsigned limit)
{
    for (unsigned i = 0; i < limit; i++) {
        if (done()) return true;
        tick();
    }
    return done();
}

bool Bench::idle() const
{
    return top->idle_o && in.empty() && !pkt_taken && qpevs.empty() && writes.empty() && reads[0].empty() && reads[1].empty() &&
           verdicts.empty() && ops.empty() && doorbells.empty() && cqe_due.empty() && !rsp_open && !ope_now && !cqe_done_now;
}

bool Bench::settle(unsigned limit)
{
    unsigned quiet = 0;
    return run_until([&] { return (quiet = idle() ? quiet + 1 : 0) > 4; }, limit);
}

void Bench::tick()
{
    drive();
    top->clk_i = 0;
    top->eval();
    sample();
    top->clk_i = 1;
    top->eval();
    cycle++;
}

// ---------------------------------------------------------------- inputs of this cycle
void Bench::drive()
{
    top->cycle_i = cycle;
    top->nak_delay_i = nak_delay;

    // Contexts: the index of the cycle before, the state of now.
    const std::array<unsigned, 3> idx = {ctx_idx[0], ctx_idx[1], ctx_idx[2]};
    for (unsigned p = 0; p < 3; p++) put(top->ctx0_i, qps[idx[p]].c0.data(), 64, 64 * p);
    put(top->ctx1_i, qps[idx[2]].c1.data(), 64);
    top->ctx_gen_i = static_cast<uint64_t>(qps[idx[2]].gen) << 32 | qps[idx[0]].gen;

    // Queue pair events, one after the other without a pause.
    top->qpev_valid_i = 0;
    if (!qpevs.empty()) {
        QpEvent &e = qpevs.front();
        top->qpev_valid_i = 1;
        top->qpev_idx_i = e.qp;
        top->qpev_st_i = e.st;
        top->qpev_bump_i = e.bump;
    }

    // Request deframer
    top->hdr_valid_i = !in.empty() && !pkt_taken;
    if (top->hdr_valid_i) {
        if (!in.front().cycle) {
            in.front().cycle = cycle;
            if (!bdy_pkt_hdr_get_arrival(in.front().h.data())) bdy_pkt_hdr_set_arrival(in.front().h.data(), cycle);
        }
        put(top->hdr_i, in.front().h.data(), 128);
    }
    top->prq_ready_i = prqs.size() < 2 && !chance(max_latency ? 30 : 0);
    top->pst_valid_i = 0;
    if (!prqs.empty() && (pst_stalled || !chance(max_latency ? 20 : 0))) {
        auto &r = prqs.front();
        Bytes beat(kBeat);
        unsigned n = std::min(kBeat, r[1] - r[2]);
        for (unsigned i = 0; i < n; i++) beat[i] = r[0] + r[2] + i < pkt.data.size() ? pkt.data[r[0] + r[2] + i] : 0xee;
        put(top->pst_data_i, beat.data(), kBeat);
        top->pst_valid_i = 1;
        top->pst_last_i = r[1] - r[2] <= kBeat;
    }

    // Response framer
    top->rsp_hdr_ready_i = !framer_blocked && !rsp_open && !chance(resp_stall);
    top->rsp_pl_ready_i = rsp_open && !chance(resp_stall);

    // Protection
    top->acc_ready_i = acc_blocked ? 0 : max_latency ? rng() & 3 : 3;
    top->acc_rsp_valid_i = 0;
    verdict_now = -1;
    for (size_t i = 0; i < verdicts.size(); i++) {
        if (verdicts[i].due > cycle) continue;
        verdict_now = static_cast<int>(i);
        top->acc_rsp_valid_i = 1u << verdicts[i].port;
        put(top->acc_rsp_i, verdicts[i].rsp.data(), 32);
        break;
    }
    top->op_ready_i = !op_blocked && ops.empty() && !chance(max_latency ? 50 : 0);
    top->ope_valid_i = ope_now;
    top->ope_rule_i = ope_rule;
    top->ev_ready_i = !event_blocked && !chance(max_latency ? 50 : 0);

    // Host memory
    top->wrq_ready_i = writes.size() < 4 && !chance(max_latency ? 30 : 0);
    bool open_write = std::any_of(writes.begin(), writes.end(), [](const Write &w) { return !w.complete; });
    top->wrd_ready_i = open_write && !chance(max_latency ? 20 : 0);
    top->wrb_valid_i = 0;
    wrb_now = !mem_blocked && !writes.empty() && writes.front().complete && writes.front().due <= cycle;
    if (wrb_now) {
        top->wrb_valid_i = 1;
        top->wrb_err_i = bus_fault(writes.front().addr);
    }
    top->rdq_ready_i = max_latency ? rng() & 3 : 3;
    top->rdd_valid_i = 0;
    read_now = -1;
    for (int k = 0; k < 2 && read_now < 0; k++) {
        int c = static_cast<int>((cycle + k) & 1);
        if (mem_blocked || reads[c].empty() || reads[c].front().due > cycle) continue;
        read_now = c;
        Read &r = reads[c].front();
        unsigned n = std::min(kBeat, r.len - r.sent);
        Bytes beat(kBeat, 0xdd);
        bool bad = bus_fault(r.addr) || bus_fault(r.addr + r.len - 1);
        for (unsigned i = 0; i < n && !bad; i++) beat[i] = memory[r.addr + r.sent + i - kBusBase];
        top->rdd_valid_i = 1u << c;
        put(top->rdd_data_i, beat.data(), kBeat);
        top->rdd_last_i = r.len - r.sent <= kBeat;
        top->rdd_err_i = bad;
    }

    // Doorbells, completions
    top->db_valid_i = !doorbells.empty();
    if (!doorbells.empty()) {
        top->db_idx_i = doorbells.front()[0];
        top->db_index_i = doorbells.front()[1];
    }
    top->cqe_ready_i = cqe_due.empty() && !chance(max_latency ? 40 : 0);
    cqe_done_now = !mem_blocked && !cqe_due.empty() && cqe_due.front() <= cycle;
    top->cqe_done_i = cqe_done_now;
    top->cqe_err_i = cqe_fails;
}

// ---------------------------------------------------------------- what is handed over in this cycle
void Bench::sample()
{
    for (unsigned p = 0; p < 3; p++) ctx_idx[p] = top->ctx_idx_o >> (8 * p) & 0xff;

    if (top->qpev_ack_o) {
        if (!top->qpev_valid_i) fault("acknowledged no queue pair event");
        else qpevs.pop_front();
    }

    // Requests
    if (top->prq_valid_o && top->prq_ready_i) {
        if (!pkt_taken) fault("payload asked of no packet");
        if (top->prq_off_o + top->prq_len_o > pkt.data.size()) fault("payload asked beyond the packet");
        prqs.push_back({top->prq_off_o, top->prq_len_o, 0});
    }
    pst_stalled = top->pst_valid_i && !top->pst_ready_o;
    if (top->pst_valid_i && top->pst_ready_o) {
        auto &r = prqs.front();
        r[2] += kBeat;
        if (r[2] >= r[1]) prqs.pop_front();
    }
    if (top->pkt_done_o) {
        if (!pkt_taken) fault("packet done twice");
        if (!prqs.empty()) fault("packet done while its payload is read");
        pkt_taken = false;
    }
    if (top->hdr_valid_i && top->hdr_ready_o) {
        pkt = in.front();
        in.pop_front();
        pkt_taken = true;
    }

    // Responses
    std::array<uint64_t, BDY_PKT_HDR_WORDS> h;
    get(h.data(), top->rsp_hdr_o, 128);
    if (hdr_stalled && (!top->rsp_hdr_valid_o || h != stalled_hdr)) fault("response header changed while stalled");
    hdr_stalled = top->rsp_hdr_valid_o && !top->rsp_hdr_ready_i;
    stalled_hdr = h;
    if (top->rsp_pl_valid_o && !rsp_open) fault("payload without a header");
    if (top->rsp_pl_valid_o && top->rsp_pl_ready_i) take_response_beat();
    if (top->rsp_hdr_valid_o && top->rsp_hdr_ready_i) {
        Packet p;
        p.h = h;
        p.cycle = cycle;
        out.push_back(p);
        rsp_open = bdy_pkt_hdr_get_paylen(h.data()) != 0;
    }

    // Protection
    if (verdict_now >= 0) verdicts.erase(verdicts.begin() + verdict_now);
    for (unsigned p = 0; p < 2; p++) {
        if ((top->acc_valid_o >> p & 1) && (top->acc_ready_i >> p & 1)) {
            std::array<uint64_t, BDY_ACC_REQ_WORDS> req;
            get(req.data(), top->acc_req_o, 64, 64 * p);
            take_access(p, req.data());
        }
        if (top->ret_valid_o >> p & 1 && --grants[p][top->ret_epoch_o >> p & 1] < 0) fault("grant returned twice");
    }
    ope_now = false;
    if (!ops.empty() && ops.front().due <= cycle) {
        unsigned qp = ops.front().qpn - kQpnBase;
        unsigned st = qps[qp].st();
        ope_rule = st == BDY_QP_ST_RESET || st == BDY_QP_ST_ERR ? BDY_RULE_Q1 : BDY_RULE_NONE;
        if (ope_rule == BDY_RULE_NONE) set_state(qp, BDY_QP_ST_ERR);
        ope_now = true;
        ops.pop_front();
    }
    if (top->op_valid_o && top->op_ready_i) {
        std::array<uint64_t, BDY_PROT_OP_WORDS> op;
        get(op.data(), top->op_req_o, 128);
        if (bdy_prot_op_get_op(op.data()) != BDY_PROT_OP_QP_ERR) fault("operation is not QP_ERR");
        ops.push_back({static_cast<uint32_t>(bdy_prot_op_get_qpn(op.data())), cycle + latency()});
    }
    if (top->ev_valid_o && top->ev_ready_i) {
        uint64_t e = top->ev_o;
        events.push_back({static_cast<uint8_t>(e), static_cast<uint32_t>(e >> 8 & 0xffffff), static_cast<uint32_t>(e >> 32)});
        if (top->ev_eqn_o != 0xff) fault("event to a wrong queue");
    }

    // Host memory
    if (wrb_now) {
        finish_write(writes.front());
        writes.pop_front();
    }
    if (top->wrd_valid_o && top->wrd_ready_i) {
        auto w = std::find_if(writes.begin(), writes.end(), [](const Write &x) { return !x.complete; });
        Bytes beat(kBeat);
        get(beat.data(), top->wrd_data_o, kBeat);
        unsigned n = std::min<unsigned>(kBeat, w->len - w->data.size());
        w->data.insert(w->data.end(), beat.begin(), beat.begin() + n);
        w->complete = w->data.size() == w->len;
        if (w->complete != static_cast<bool>(top->wrd_last_o)) fault("wrong last beat of a write");
        w->due = cycle + 1 + latency();
    }
    if (top->wrq_valid_o && top->wrq_ready_i) writes.push_back({top->wrq_addr_o, top->wrq_len_o, {}});
    if (read_now >= 0) {
        Read &r = reads[read_now].front();
        r.sent += kBeat;
        if (r.sent >= r.len) reads[read_now].pop_front();
    }
    for (unsigned c = 0; c < 2; c++) {
        if (!((top->rdq_valid_o >> c & 1) && (top->rdq_ready_i >> c & 1))) continue;
        uint64_t addr;
        get(&addr, top->rdq_addr_o, 8, 8 * c);
        reads[c].push_back({addr, static_cast<unsigned>(top->rdq_len_o >> (13 * c) & 0x1fff), 0, cycle + 1 + latency()});
    }

    if (top->db_valid_i && top->db_ready_o) doorbells.pop_front();
    if (cqe_done_now) {
        cqe_due.pop_front();
        cqe_done_at.push_back(cycle);
    }
    if (top->cqe_valid_o && top->cqe_ready_i) {
        Cqe e;
        get(e.w.data(), top->cqe_o, 64);
        e.cqn = top->cqe_cqn_o;
        if (!writes.empty()) fault("completion before the data is in memory");
        cqes.push_back(e);
        cqe_due.push_back(cycle + cqe_latency + latency());
    }

    for (unsigned k = 0; k < kCounts; k++) counts[k] += top->cnt_o >> k & 1;
    if (top->cnt_o >> kRefused & 1) refused_rules.push_back(top->refused_rule_o);
    if (top->cnt_o >> kReadRefused & 1) refused_rules.push_back(top->read_refused_rule_o);
}

void Bench::take_response_beat()
{
    Packet &p = out.back();
    unsigned len = bdy_pkt_hdr_get_paylen(p.h.data());
    Bytes beat(kBeat);
    get(beat.data(), top->rsp_pl_data_o, kBeat);
    unsigned n = std::min<unsigned>(kBeat, len - p.data.size());
    p.data.insert(p.data.end(), beat.begin(), beat.begin() + n);
    rsp_open = p.data.size() < len;
    if (rsp_open == static_cast<bool>(top->rsp_pl_last_o)) fault("wrong last beat of a response");
}

void Bench::take_access(unsigned port, const uint64_t *req)
{
    uint32_t key = bdy_acc_req_get_key(req), len = bdy_acc_req_get_len(req), xlen = bdy_acc_req_get_xlen(req);
    uint64_t va = bdy_acc_req_get_va(req);
    bool local = bdy_acc_req_get_local_key(req);
    uint8_t rights = bdy_acc_req_get_rights(req);
    unsigned qp = bdy_acc_req_get_qpn(req) - kQpnBase;

    acc_requests[port]++;
    if (on_access) on_access(port, va, len);
    if (xlen > len || xlen > 4096 || !len) fault("access request is malformed");

    uint8_t rule = BDY_RULE_NONE;
    bool stale = bdy_acc_req_get_qp_gen(req) != qps[qp].gen;
    auto k = keys.find(key);
    if (k == keys.end()) rule = BDY_RULE_A1;
    else if (k->second.pd != bdy_acc_req_get_pd(req)) rule = BDY_RULE_A2;
    else if (local && !k->second.local) rule = BDY_RULE_K11;
    else if ((rights & ~k->second.rights) != 0) rule = BDY_RULE_A7;
    else if (va < k->second.start || len > k->second.len || va - k->second.start > k->second.len - len) rule = BDY_RULE_A9;
    if (local && rule != BDY_RULE_NONE && rule != BDY_RULE_K11) rule = BDY_RULE_M8;
    if (stale) rule = BDY_RULE_H4;

    Verdict v{port, cycle + 4 + acc_latency_min + latency(), {}};
    bdy_acc_rsp_set_tag(v.rsp.data(), bdy_acc_req_get_tag(req));
    bdy_acc_rsp_set_rule(v.rsp.data(), rule);
    bdy_acc_rsp_set_stale(v.rsp.data(), stale);
    if (rule == BDY_RULE_NONE && xlen) {
        uint32_t len0 = std::min<uint32_t>(xlen, 4096 - va % 4096);
        bdy_acc_rsp_set_len0(v.rsp.data(), len0);
        bdy_acc_rsp_set_len1(v.rsp.data(), xlen - len0);
        bdy_acc_rsp_set_bus0(v.rsp.data(), bus_of(va));
        bdy_acc_rsp_set_bus1(v.rsp.data(), bus_of(va + len0));
        epoch = rng() & 1;
        bdy_acc_rsp_set_epoch(v.rsp.data(), epoch);
        grants[port][epoch]++;
    }
    verdicts.push_back(v);
}

void Bench::finish_write(const Write &w)
{
    if (bus_fault(w.addr) || bus_fault(w.addr + w.len - 1)) return;
    std::copy(w.data.begin(), w.data.end(), memory.begin() + static_cast<long>(w.addr - kBusBase));
    bytes_written += w.len;
}

// ---------------------------------------------------------------- requester
Bytes pattern(uint32_t seed, size_t len)
{
    std::mt19937 gen(seed);
    Bytes data(len);
    for (auto &b : data) b = static_cast<uint8_t>(gen());
    return data;
}

void set_reth(Packet &p, uint64_t va, uint32_t key, uint32_t len)
{
    bdy_pkt_hdr_set_va(p.h.data(), va);
    bdy_pkt_hdr_set_rkey(p.h.data(), key);
    bdy_pkt_hdr_set_dmalen(p.h.data(), len);
}

Packet Requester::base(uint8_t op, uint32_t at_psn) const
{
    Packet p;
    uint64_t *h = p.h.data();
    bdy_pkt_hdr_set_op(h, op);
    bdy_pkt_hdr_set_pkey(h, 0xffff);
    bdy_pkt_hdr_set_dest_qp(h, kQpnBase + qp);
    bdy_pkt_hdr_set_psn(h, at_psn & 0xffffff);
    bdy_pkt_hdr_set_ackreq(h, 1);
    return p;
}

// first: opcode of FIRST; MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM follow it in both families.
std::vector<Packet> Requester::cut(const Bytes &data, uint8_t first, bool with_imm)
{
    std::vector<Packet> packets_;
    size_t at = 0;
    do {
        size_t n = std::min<size_t>(mtu_bytes, data.size() - at);
        bool starts = at == 0, ends = at + n == data.size();
        uint8_t op = first + (starts && ends ? 4 + with_imm : starts ? 0 : ends ? 2 + with_imm : 1);
        Packet p = base(op, psn++);
        bdy_pkt_hdr_set_ackreq(p.h.data(), ends);
        p.data.assign(data.begin() + static_cast<long>(at), data.begin() + static_cast<long>(at + n));
        bdy_pkt_hdr_set_paylen(p.h.data(), n);
        bdy_pkt_hdr_set_pad(p.h.data(), -n & 3);
        packets_.push_back(p);
        at += n;
    } while (at < data.size());
    return packets_;
}

std::vector<Packet> Requester::send(const Bytes &data, bool with_imm, uint32_t imm, bool se)
{
    auto packets_ = cut(data, BDY_BTH_OP_SEND_FIRST, with_imm);
    if (with_imm) bdy_pkt_hdr_set_imm(packets_.back().h.data(), imm);
    bdy_pkt_hdr_set_se(packets_.back().h.data(), se);
    return packets_;
}

std::vector<Packet> Requester::write(uint64_t va, uint32_t key, const Bytes &data, bool with_imm, uint32_t imm)
{
    auto packets_ = cut(data, BDY_BTH_OP_WRITE_FIRST, with_imm);
    set_reth(packets_.front(), va, key, static_cast<uint32_t>(data.size()));
    if (with_imm) bdy_pkt_hdr_set_imm(packets_.back().h.data(), imm);
    return packets_;
}

Packet Requester::read(uint64_t va, uint32_t key, uint32_t len)
{
    Packet p = base(BDY_BTH_OP_READ_REQ, psn);
    set_reth(p, va, key, len);
    psn += packets(len);
    return p;
}

}  // namespace rx
