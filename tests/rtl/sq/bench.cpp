// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <algorithm>
#include <cstring>

namespace sq
{

// ------------------------------------------------------------------ memory
bool Memory::ok(uint64_t addr, size_t n) const
{
    for (uint64_t page = addr >> 12; page <= (addr + n - 1) >> 12; page++)
        if (bad.count(page))
            return false;
    return true;
}

void Memory::read(uint64_t addr, uint8_t *to, size_t n) const
{
    for (size_t i = 0; i < n; i++) {
        auto it = pages_.find((addr + i) >> 12);
        to[i] = it == pages_.end() ? 0 : it->second[(addr + i) & 0xfff];
    }
}

void Memory::write(uint64_t addr, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pages_[(addr + i) >> 12][(addr + i) & 0xfff] = from[i];
}

// ------------------------------------------------------------------ set-up
Bench::Bench(uint32_t seed, bool slow) : rng(seed), d(new Vbdy_sq{&vctx})
{
    if (slow) {
        max_delay = 40;
        ready_percent = 60;
    }
    d->rst_ni = 0;
    step();
    step();
    d->rst_ni = 1;
    run(300); // the sweep
}

void Bench::make_qp(unsigned qp, unsigned log)
{
    uint64_t *c = ctx0_[qp].data();
    ctx0_[qp] = {};
    bdy_qp_ctx0_set_st(c, BDY_QP_ST_RTR);
    bdy_qp_ctx0_set_kind(c, BDY_QP_KIND_RC);
    bdy_qp_ctx0_set_mtu(c, 3);
    bdy_qp_ctx0_set_timeout(c, 5);
    bdy_qp_ctx0_set_pd(c, 7);
    bdy_qp_ctx0_set_scqn(c, 0x40 + qp);
    bdy_qp_ctx0_set_retry_cnt(c, 7);
    bdy_qp_ctx0_set_rnr_retry(c, 7);
    bdy_qp_ctx0_set_dest_qpn(c, 0x999);
    bdy_qp_ctx0_set_max_rd(c, 16);
    bdy_qp_ctx0_set_sq_psn(c, 100);
    bdy_qp_ctx0_set_dlid(c, 5);
    qps[qp].ring = 0x4000'0000ull + uint64_t(qp) * 0x40'0000;
    qps[qp].log = log;
    qps[qp].pi = 0;
    bdy_qp_ctx0_set_sq_base(c, qps[qp].ring);
    bdy_qp_ctx0_set_sq_log(c, log);
}

void Bench::to_rts(unsigned qp)
{
    make_qp(qp);
    set_state(qp, BDY_QP_ST_RTS);
    wait_acked();
}

void Bench::set_state(unsigned qp, unsigned st, bool bump)
{
    bdy_qp_ctx0_set_st(ctx0_[qp].data(), st);
    if (bump)
        gen_[qp]++;
    events_.push_back({qp, st, bump});
}

bool Bench::wait_acked(int cycles)
{
    return until([this] { return acked(); }, cycles);
}

uint32_t Bench::region(uint64_t va, uint64_t len, uint8_t rights, uint32_t pd)
{
    uint32_t key = next_key_++;
    regions[key] = {va, len, rights, pd};
    return key;
}

void Bench::put(uint64_t va, const Bytes &data)
{
    for (size_t i = 0; i < data.size(); i++)
        mem.write(bus(va + i), &data[i], 1);
}

Bytes Bench::get(uint64_t va, size_t n)
{
    Bytes out(n);
    for (size_t i = 0; i < n; i++)
        mem.read(bus(va + i), &out[i], 1);
    return out;
}

// ------------------------------------------------------------------ posting
std::vector<uint64_t> Bench::image(unsigned qp, const Wr &wr) const
{
    size_t tail = wr.is_inline ? wr.inl.size() : wr.sges.size() * BDY_SGE_BYTES;
    size_t slots = (32 + tail + 63) / 64;
    std::vector<uint64_t> w(slots * 8);
    bdy_wqe_set_op(w.data(), wr.op);
    bdy_wqe_set_fence(w.data(), wr.fence);
    bdy_wqe_set_signaled(w.data(), wr.signaled);
    bdy_wqe_set_solicited(w.data(), wr.solicited);
    bdy_wqe_set_slots(w.data(), slots);
    bdy_wqe_set_index(w.data(), qps[qp].pi);
    bdy_wqe_set_imm(w.data(), wr.imm);
    bdy_wqe_set_inv_key(w.data(), wr.inv_key);
    bdy_wqe_set_addr(w.data(), wr.addr);
    bdy_wqe_set_rkey(w.data(), wr.rkey);
    bdy_wqe_set_rights(w.data(), wr.rights);
    bdy_wqe_set_new_key(w.data(), wr.new_key);
    bdy_wqe_set_xrc_srqn(w.data(), wr.xrc_srqn);
    bdy_wqe_set_inl(w.data(), wr.is_inline);
    if (wr.is_inline) {
        bdy_wqe_set_inl_len(w.data(), wr.inl.size());
        if (!wr.inl.empty())
            memcpy(reinterpret_cast<uint8_t *>(w.data()) + 32, wr.inl.data(), wr.inl.size());
    } else if (wr.sges.empty()) {
        bdy_wqe_set_w4(w.data(), wr.bind_len);
    } else {
        bdy_wqe_set_num_sge(w.data(), wr.sges.size());
        for (size_t i = 0; i < wr.sges.size(); i++) {
            uint64_t *s = w.data() + 4 + 2 * i;
            bdy_sge_set_addr(s, wr.sges[i].addr);
            bdy_sge_set_len(s, wr.sges[i].len);
            bdy_sge_set_lkey(s, wr.sges[i].lkey);
        }
    }
    if (wr.is_atomic()) {
        bdy_wqe_set_w6(w.data(), wr.swap_add);
        bdy_wqe_set_w7(w.data(), wr.compare);
    }
    return w;
}

uint16_t Bench::post_raw(unsigned qp, const std::vector<uint64_t> &words)
{
    Qp &q = qps[qp];
    uint16_t index = q.pi;
    for (size_t s = 0; s < words.size() / 8; s++) {
        uint64_t at = q.ring + uint64_t((q.pi + s) & ((1u << q.log) - 1)) * 64;
        mem.write(at, reinterpret_cast<const uint8_t *>(words.data() + 8 * s), 64);
    }
    q.pi = uint16_t(q.pi + words.size() / 8);
    return index;
}

uint16_t Bench::post(unsigned qp, const Wr &wr)
{
    return post_raw(qp, image(qp, wr));
}

void Bench::ring(unsigned qp)
{
    doorbells_.push_back({qp, qps[qp].pi});
}

// ------------------------------------------------------------------ running
bool Bench::until(const std::function<bool()> &done, int cycles)
{
    for (int i = 0; i < cycles; i++) {
        if (done())
            return true;
        step();
    }
    return done();
}

bool Bench::idle()
{
    return d->idle_o && doorbells_.empty() && events_.empty() && reads_[0].empty() &&
           reads_[1].empty() && answers_.empty() && pending_.empty() && draining_.empty() &&
           cqe_done_.empty() && !wr_busy_ && wr_b_.empty() && !framing_ && responses_.empty() &&
           !rsp_taken_;
}

bool Bench::settle(int cycles)
{
    int calm = 0;
    for (int i = 0; i < cycles; i++) {
        step();
        calm = idle() ? calm + 1 : 0;
        if (calm == 4)
            return true;
    }
    return false;
}

void Bench::step()
{
    drive();
    d->clk_i = 0;
    d->eval();
    observe();
    d->clk_i = 1;
    d->eval();
    now_++;
}

static void wide(uint32_t *to, const uint64_t *from, size_t words)
{
    memcpy(to, from, words * 8);
}

void Bench::drive()
{
    d->cycle_i = now_;
    for (int k = 0; k < 2; k++) {
        wide(&d->ctx0_i[16 * k], ctx0_[ctx_sel_[k]].data(), 8);
        wide(&d->ctx1_i[16 * k], ctx1_[ctx_sel_[k]].data(), 8);
    }
    d->ctx_gen_i = uint64_t(gen_[ctx_sel_[1]]) << 32 | gen_[ctx_sel_[0]];

    d->db_valid_i = !doorbells_.empty();
    if (!doorbells_.empty()) {
        d->db_idx_i = uint8_t(doorbells_.front().qp);
        d->db_index_i = doorbells_.front().index;
    }
    d->ctxw_valid_i = !ahs_.empty();
    if (!ahs_.empty()) {
        d->ctxw_idx_i = uint16_t(ahs_.front().num);
        wide(&d->ctxw_data_i[0], ahs_.front().ah.data(), 8);
    }
    d->qpev_valid_i = !events_.empty();
    if (!events_.empty()) {
        d->qpev_idx_i = uint8_t(events_.front().qp);
        d->qpev_st_i = uint8_t(events_.front().st);
        d->qpev_bump_i = events_.front().bump;
    }
    d->op_ready_i = chance();
    d->ope_valid_i = 0;
    if (!pending_.empty() && now_ >= pending_.front().at) {
        Pending &p = pending_.front();
        execute(p);
        d->ope_valid_i = 1;
        d->ope_tag_i = uint8_t(p.op.tag);
        d->ope_rule_i = uint8_t(p.reply.rule);
        d->ope_res_i = p.reply.res;
        d->ope_drain_i = p.reply.drain;
    }
    d->opd_valid_i = 0;
    picked_drain_ = -1;
    for (size_t i = 0; i < draining_.size() && picked_drain_ < 0; i++)
        if (now_ >= draining_[i].at && int(acks_ - unsigned(draining_[i].acks)) >= 0)
            picked_drain_ = int(i);
    if (picked_drain_ >= 0) {
        d->opd_valid_i = 1;
        d->opd_tag_i = uint8_t(draining_[unsigned(picked_drain_)].op.tag);
    }

    d->ga_acc_ready_i = chance();
    d->sc_acc_ready_i = chance();
    d->ga_acc_rsp_valid_i = 0;
    d->sc_acc_rsp_valid_i = 0;
    picked_answer_ = -1;
    for (size_t i = 0; i < answers_.size() && picked_answer_ < 0; i++)
        if (now_ >= answers_[i].at)
            picked_answer_ = int(i);
    if (picked_answer_ >= 0) {
        Answer &a = answers_[unsigned(picked_answer_)];
        wide(&d->acc_rsp_i[0], a.w.data(), 4);
        (a.port == 0 ? d->ga_acc_rsp_valid_i : d->sc_acc_rsp_valid_i) = 1;
    }
    drive_reads();

    d->sc_wrq_ready_i = !wr_busy_ && chance();
    d->sc_wrd_ready_i = wr_busy_ && chance();
    d->sc_wrb_valid_i = !wr_b_.empty() && now_ >= wr_b_.front() && !hold_write;
    d->wrb_err_i = !wr_b_err_.empty() && wr_b_err_.front();

    d->hdr_ready_i = !framing_ && !hold_framer && chance();
    d->pl_ready_i = framing_ && !hold_stream && chance();
    drive_response();

    d->cqe_ready_i = !hold_cqe && chance();
    d->cqe_done_i = !hold_cqe_done && !cqe_done_.empty() && now_ >= cqe_done_.front();
    d->cqe_err_i = cq_dead;
    d->ev_ready_i = chance();
}

void Bench::drive_reads()
{
    d->wq_rdq_ready_i = reads_[0].size() < 4 && chance();
    d->ga_rdq_ready_i = reads_[1].size() < 4 && chance();
    d->wq_rdd_valid_i = 0;
    d->ga_rdd_valid_i = 0;
    picked_read_ = -1;
    for (int c = 0; c < 2 && picked_read_ < 0; c++)
        if (!reads_[c].empty() && now_ >= reads_[c].front().at && !(c == 1 && hold_payload_read))
            picked_read_ = c;
    if (picked_read_ < 0)
        return;
    Read &r = reads_[picked_read_].front();
    uint8_t beat[32] = {};
    unsigned n = std::min(32u, r.len - r.done);
    bool ok = mem.ok(r.addr, r.len);
    if (ok)
        mem.read(r.addr + r.done, beat, n);
    memcpy(&d->rdd_data_i[0], beat, 32);
    d->rdd_last_i = r.done + n == r.len;
    d->rdd_err_i = d->rdd_last_i && !ok;
    (picked_read_ == 0 ? d->wq_rdd_valid_i : d->ga_rdd_valid_i) = 1;
}

void Bench::drive_response()
{
    d->rsp_hdr_valid_i = !rsp_taken_ && !responses_.empty() && now_ >= responses_.front().at;
    if (d->rsp_hdr_valid_i)
        wide(&d->rsp_hdr_i[0], responses_.front().p.hdr.data(), 16);
    d->prq_ready_i = rsp_taken_ && !rsp_streaming_;
    d->pst_valid_i = rsp_streaming_;
    if (rsp_streaming_) {
        uint8_t beat[32] = {};
        unsigned n = std::min(32u, st_len_ - st_done_);
        memcpy(beat, rsp_.data.data() + st_off_ + st_done_, n);
        memcpy(&d->pst_data_i[0], beat, 32);
        d->pst_last_i = st_done_ + n == st_len_;
    }
}

// ------------------------------------------------------------------ what the requester did in this
// cycle
void Bench::observe()
{
    ctx_sel_[0] = d->ctx_idx_o & 0xff;
    ctx_sel_[1] = d->ctx_idx_o >> 8 & 0xff;
    if (d->db_valid_i && d->db_ready_o)
        doorbells_.pop_front();
    if (d->qpev_valid_i && d->qpev_ack_o) {
        events_.pop_front();
        acks_++;
    }
    if (d->ctxw_valid_i && d->ctxw_ack_o)
        ahs_.pop_front();
    observe_ops();

    if (picked_answer_ >= 0)
        answers_.erase(answers_.begin() + picked_answer_);
    if (d->ga_acc_valid_o && d->ga_acc_ready_i)
        take_access(0, reinterpret_cast<const uint64_t *>(&d->ga_acc_req_o[0]));
    if (d->sc_acc_valid_o && d->sc_acc_ready_i)
        take_access(1, reinterpret_cast<const uint64_t *>(&d->sc_acc_req_o[0]));
    grants_out -= d->ga_ret_valid_o + d->sc_ret_valid_o;

    if (picked_read_ >= 0) {
        Read &r = reads_[picked_read_].front();
        r.done += 32;
        if (r.done >= r.len)
            reads_[picked_read_].pop_front();
    }
    if (d->wq_rdq_valid_o && d->wq_rdq_ready_i) {
        reads_[0].push_back({0, d->wq_rdq_addr_o, now_ + uint64_t(delay()), d->wq_rdq_len_o, 0});
        wqe_reads++;
    }
    if (d->ga_rdq_valid_o && d->ga_rdq_ready_i) {
        reads_[1].push_back({1, d->ga_rdq_addr_o, now_ + uint64_t(delay()), d->ga_rdq_len_o, 0});
        payload_reads++;
    }
    observe_writes();
    observe_framer();
    observe_response();

    if (d->cqe_done_i)
        cqe_done_.pop_front();
    if (d->cqe_valid_o && d->cqe_ready_i) {
        Cqe c;
        memcpy(c.w.data(), &d->cqe_o[0], 64);
        c.cqn = d->cqe_cqn_o;
        c.cycle = now_;
        cqes.push_back(c);
        uint64_t at = now_ + uint64_t(delay());
        cqe_done_.push_back(cqe_done_.empty() ? at : std::max(at, cqe_done_.back() + 1));
    }
    if (d->ev_valid_o && d->ev_ready_i)
        events.push_back(d->ev_o);
}

void Bench::take_access(unsigned port, const uint64_t *req)
{
    uint64_t va = bdy_acc_req_get_va(req), len = bdy_acc_req_get_len(req),
             xlen = bdy_acc_req_get_xlen(req);
    auto it = regions.find(uint32_t(bdy_acc_req_get_key(req)));
    unsigned rule = BDY_RULE_NONE;
    unsigned qp = unsigned(bdy_acc_req_get_qpn(req)) - BDY_QPN_BASE;
    bool stale = qp >= Qps || gen_[qp] != bdy_acc_req_get_qp_gen(req);
    if (stale)
        rule = BDY_RULE_H4;
    else if (it == regions.end() || !bdy_acc_req_get_local_key(req))
        rule = BDY_RULE_A1;
    else if (it->second.pd != bdy_acc_req_get_pd(req) ||
             (bdy_acc_req_get_rights(req) & ~it->second.rights) != 0 || va < it->second.va ||
             va + len > it->second.va + it->second.len)
        rule = BDY_RULE_M8;
    else if (on_access)
        rule = on_access(req);
    Answer a{port, {}, now_ + uint64_t(delay())};
    bdy_acc_rsp_set_tag(a.w.data(), bdy_acc_req_get_tag(req));
    bdy_acc_rsp_set_rule(a.w.data(), rule);
    bdy_acc_rsp_set_stale(a.w.data(), stale);
    if (rule == BDY_RULE_NONE) {
        uint64_t first = std::min(xlen, 4096 - (va & 0xfff));
        bdy_acc_rsp_set_len0(a.w.data(), first);
        bdy_acc_rsp_set_len1(a.w.data(), xlen - first);
        bdy_acc_rsp_set_bus0(a.w.data(), bus(va));
        bdy_acc_rsp_set_bus1(a.w.data(), bus(va + first));
        grants_out += xlen != 0;
    }
    answers_.push_back(a);
}

void Bench::observe_ops()
{
    if (d->opd_valid_i)
        draining_.erase(draining_.begin() + picked_drain_);
    if (d->ope_valid_i) {
        Pending p = pending_.front();
        pending_.pop_front();
        if (p.reply.drain) {
            p.at = now_ + uint64_t(p.reply.drain_delay);
            draining_.push_back(p);
        }
    }
    if (!d->op_valid_o || !d->op_ready_i)
        return;
    Op op;
    memcpy(op.w.data(), &d->op_req_o[0], 128);
    op.tag = d->op_tag_o;
    op.cycle = now_;
    ops.push_back(op);
    OpReply reply;
    reply.exec_delay = delay();
    reply.drain_delay = delay();
    if (op.op() == BDY_PROT_OP_QP_ERR)
        reply.drain = true;
    else if (on_op)
        reply = on_op(op);
    pending_.push_back({op, reply, now_ + uint64_t(reply.exec_delay), false, 0});
}

// The bind pipeline's verdict on a QP_ERR changes the state and tells the engines.
void Bench::execute(Pending &p)
{
    if (p.executed || p.op.op() != BDY_PROT_OP_QP_ERR)
        return;
    p.executed = true;
    unsigned st = unsigned(bdy_qp_ctx0_get_st(ctx0_[p.op.qp()].data()));
    if (st == BDY_QP_ST_RESET || st == BDY_QP_ST_ERR) {
        p.reply.rule = st == BDY_QP_ST_RESET ? BDY_RULE_Q1 : BDY_RULE_NONE;
        p.reply.drain = false;
        return;
    }
    set_state(p.op.qp(), bdy_prot_op_get_sqe(p.op.w.data()) ? BDY_QP_ST_SQE : BDY_QP_ST_ERR);
    p.acks = int(acks_ + events_.size());
}

void Bench::observe_writes()
{
    if (d->sc_wrb_valid_i) {
        wr_b_.pop_front();
        wr_b_err_.pop_front();
    }
    if (d->sc_wrq_valid_o && d->sc_wrq_ready_i) {
        wr_busy_ = true;
        wr_addr_ = d->sc_wrq_addr_o;
        wr_len_ = d->sc_wrq_len_o;
        wr_data_.clear();
    } else if (d->sc_wrd_valid_o && d->sc_wrd_ready_i) {
        const uint8_t *p = reinterpret_cast<const uint8_t *>(&d->sc_wrd_data_o[0]);
        wr_data_.insert(wr_data_.end(), p, p + std::min<size_t>(32, wr_len_ - wr_data_.size()));
        if (wr_data_.size() == wr_len_) {
            bool ok = mem.ok(wr_addr_, wr_len_);
            if (ok)
                mem.write(wr_addr_, wr_data_.data(), wr_len_);
            wr_busy_ = false;
            wr_b_.push_back(now_ + uint64_t(delay()));
            wr_b_err_.push_back(!ok);
        }
    }
}

void Bench::observe_framer()
{
    bool whole = false;
    if (d->hdr_valid_o && d->hdr_ready_i) {
        memcpy(frame_.hdr.data(), &d->hdr_o[0], 128);
        frame_.data.clear();
        framing_ = bdy_pkt_hdr_get_paylen(frame_.hdr.data()) != 0;
        whole = !framing_;
    } else if (d->pl_valid_o && d->pl_ready_i) {
        const uint8_t *p = reinterpret_cast<const uint8_t *>(&d->pl_data_o[0]);
        size_t len = bdy_pkt_hdr_get_paylen(frame_.hdr.data());
        frame_.data.insert(frame_.data.end(), p,
                           p + std::min<size_t>(32, len - frame_.data.size()));
        whole = frame_.data.size() == len;
        if (whole != bool(d->pl_last_o))
            abort(); // the framer counts on it
        framing_ = !whole;
    }
    if (!whole)
        return;
    packets.push_back(frame_);
    if (on_packet)
        on_packet(frame_);
}

void Bench::observe_response()
{
    if (d->pst_valid_i && d->pst_ready_o) {
        st_done_ += 32;
        if (st_done_ >= st_len_)
            rsp_streaming_ = false;
    }
    if (d->prq_valid_o && d->prq_ready_i) {
        rsp_streaming_ = true;
        st_off_ = d->prq_off_o;
        st_len_ = d->prq_len_o;
        st_done_ = 0;
        if (st_off_ + st_len_ > rsp_.data.size())
            abort();
    }
    if (d->rsp_hdr_valid_i && d->rsp_hdr_ready_o) {
        rsp_ = responses_.front().p;
        responses_.pop_front();
        rsp_taken_ = true;
    }
    if (d->pkt_done_o)
        rsp_taken_ = false;
}

} // namespace sq
