// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/prot/prot_model.h"

#include <algorithm>

namespace prot {

using Wide = unsigned __int128;

static const Wide kEnd = (Wide)1 << 64;

static bool inside(uint64_t addr, uint64_t n, uint64_t start, uint64_t len)
{
    return (Wide)addr >= start && (Wide)addr + n <= (Wide)start + len;
}

static bool wraps(uint64_t addr, uint64_t n) { return (Wide)addr + n > kEnd; }

static bool slot_ok(uint32_t key) { return key_slot(key) < 1u << kLogKeys; }

static bool full_key(const Entry &e, uint32_t key) { return e.nonce == key_nonce(key) && e.key == key_low(key); }

Entry Model::entry(uint32_t slot) const
{
    auto it = entries_.find(slot);
    return it == entries_.end() ? Entry() : it->second;
}

Mtt Model::mtt(uint32_t index) const
{
    auto it = mtt_.find(index);
    return it == mtt_.end() ? Mtt() : it->second;
}

uint32_t Model::count(uint32_t slot) const
{
    auto it = counts_.find(slot);
    return it == counts_.end() ? 0 : it->second;
}

Qp Model::qp(uint32_t qpn) const
{
    if (qpn < kQpnBase || qpn >= kQpnBase + kQps)
        return Qp();
    return qps_[qpn - kQpnBase];
}

bool Model::pd_alive(uint32_t pd) const
{
    auto it = pds_.find(pd);
    return it != pds_.end() && it->second;
}

// ------------------------------------------------------------------ access
static unsigned access_rule(const Entry &e, const Req &r, const Qp &qp, bool pd_alive)
{
    const auto local = [&](unsigned rule) { return r.local ? (unsigned)BDY_RULE_M8 : rule; };
    if (!e.valid() || !full_key(e, r.key))
        return BDY_RULE_A1;
    if (!pd_alive)
        return BDY_RULE_H5;
    if (r.local && !e.is_mr())
        return BDY_RULE_K11;
    if (e.is_mr() && e.pd != r.pd)
        return local(BDY_RULE_A2);
    if (e.kind == BDY_MPT_KIND_MW1 && e.pd != r.pd)
        return BDY_RULE_A3;
    if (e.kind == BDY_MPT_KIND_MW2 && (e.pd != r.pd || e.qpn != r.qpn))
        return BDY_RULE_A5;
    if (e.kind == BDY_MPT_KIND_MW2 && e.qp_gen != qp.gen)
        return BDY_RULE_H4;
    if ((r.rights & e.rights) != r.rights)
        return local(BDY_RULE_A7);
    if (wraps(r.va, r.len))
        return local(BDY_RULE_A10);
    if (!inside(r.va, r.len, e.start, e.len) || r.xlen > r.len || r.xlen > 4096)
        return local(BDY_RULE_A9);
    return BDY_RULE_NONE;
}

AccessResult Model::access(const Req &r) const
{
    AccessResult res;
    const Qp q = qp(r.qpn);
    if (!q.alive || q.gen != r.gen) {
        res.rule = BDY_RULE_H4;
        res.stale = true;
        return res;
    }
    const Entry e = slot_ok(r.key) ? entry(key_slot(r.key)) : Entry();
    res.rule = access_rule(e, r, q, pd_alive(e.pd));
    if (res.rule != BDY_RULE_NONE || r.xlen == 0)
        return res;
    const uint64_t pos = e.list_off + (r.va - e.start);
    if (e.direct) {
        res.bus0 = e.base + pos;
        res.len0 = r.xlen;
        return res;
    }
    const uint64_t size = 1ull << e.log_ps, in_page = pos % size;
    const uint64_t index = e.base + pos / size;
    const unsigned first = (unsigned)std::min<uint64_t>(r.xlen, size - in_page);
    const uint32_t owner = e.is_mr() ? key_nonce(r.key) << 20 | key_slot(r.key) : e.mr_nonce << 20 | e.mr_slot;
    const auto owned = [&](const Mtt &m) { return m.valid && m.owner == owner; };
    const Mtt m0 = mtt(index), m1 = mtt(index + 1);
    if (!owned(m0) || (first < r.xlen && !owned(m1))) {
        res.rule = BDY_RULE_H8;
        return res;
    }
    res.bus0 = m0.addr | in_page; // pages are aligned
    res.len0 = first;
    if (first < r.xlen) {
        res.bus1 = m1.addr;
        res.len1 = r.xlen - first;
    }
    return res;
}

// ------------------------------------------------------------------ bind, invalidate
static bool type2(const Op &o) { return o.op == BDY_PROT_OP_BIND2; }
static bool is_bind(const Op &o) { return o.op == BDY_PROT_OP_BIND1 || o.op == BDY_PROT_OP_BIND2; }
static bool is_inv(const Op &o) { return o.op == BDY_PROT_OP_LOCAL_INV || o.op == BDY_PROT_OP_REMOTE_INV; }

// Binds and local invalidates need a QP that sends, remote ones one that receives (H12).
static bool works(const Qp &q, bool remote)
{
    return q.alive && (q.st == BDY_QP_ST_RTS || q.st == BDY_QP_ST_SQD || (remote && q.st == BDY_QP_ST_RTR));
}

unsigned Model::bind_rule(const Op &o) const
{
    if (!works(qp(o.qpn), false))
        return BDY_RULE_Q1;
    if (o.rights & ~(LW | RW | RR | RA | ZB))
        return BDY_RULE_P8;
    if (strict && !type2(o) && (o.rights & ZB))
        return BDY_RULE_P7;
    const Entry w = slot_ok(o.key) ? entry(key_slot(o.key)) : Entry();
    if (!w.is_window() || !full_key(w, o.key))
        return BDY_RULE_B1;
    if (type2(o) != (w.kind == BDY_MPT_KIND_MW2))
        return BDY_RULE_P2;
    if (!pd_alive(w.pd))
        return BDY_RULE_H5;
    if (o.pd != w.pd)
        return BDY_RULE_B4;
    if (!type2(o) && o.len == 0)
        return BDY_RULE_NONE;
    if (type2(o) && o.len == 0)
        return BDY_RULE_B18;
    if (type2(o) && w.valid())
        return BDY_RULE_B20;
    const Entry m = slot_ok(o.mr_key) ? entry(key_slot(o.mr_key)) : Entry();
    if (m.is_window())
        return BDY_RULE_B3;
    if (!m.is_mr() || !m.valid() || !full_key(m, o.mr_key))
        return BDY_RULE_B2;
    if (m.pd != w.pd)
        return BDY_RULE_B5;
    if (!(m.rights & MB))
        return BDY_RULE_B6;
    if ((o.rights & (RW | RA)) && !(m.rights & LW))
        return BDY_RULE_B7;
    if (m.zero_based)
        return BDY_RULE_B14;
    if (wraps(o.addr, o.len))
        return BDY_RULE_B11;
    if (!inside(o.addr, o.len, m.start, m.len))
        return o.rights & ZB ? BDY_RULE_B13 : BDY_RULE_B10;
    return BDY_RULE_NONE;
}

unsigned Model::invalidate_rule(const Op &o) const
{
    const Qp q = qp(o.qpn);
    if (!works(q, o.op == BDY_PROT_OP_REMOTE_INV))
        return BDY_RULE_Q1;
    const Entry w = slot_ok(o.key) ? entry(key_slot(o.key)) : Entry();
    if (w.kind == BDY_MPT_KIND_NONE || !full_key(w, o.key))
        return BDY_RULE_I3;
    if (w.is_mr())
        return BDY_RULE_I13;
    if (w.kind == BDY_MPT_KIND_MW1)
        return BDY_RULE_I2;
    if (!pd_alive(w.pd))
        return BDY_RULE_H5;
    if (!w.valid())
        return BDY_RULE_I6;
    if (w.pd != o.pd || w.qpn != o.qpn)
        return BDY_RULE_I5;
    return w.qp_gen != q.gen ? BDY_RULE_H4 : BDY_RULE_NONE;
}

// ------------------------------------------------------------------ life cycle
unsigned Model::image_rule(const Op &o) const
{
    const Entry b = Entry::decode(o.body);
    if (!b.is_mr() || (b.rights & ~(LW | RW | RR | RA | MB | (b.zero_based ? ZB : 0))))
        return BDY_RULE_N1;
    if ((b.zero_based && b.start) || b.qpn || b.mr_slot || b.mr_nonce || b.qp_gen)
        return BDY_RULE_N1;
    if (b.direct) {
        if (b.npages || (Wide)b.base + b.list_off + b.len > kEnd || (Wide)b.base + b.list_off >= kEnd)
            return BDY_RULE_N1;
    } else {
        if (b.npages && (b.log_ps < 12 || b.log_ps > 30))
            return BDY_RULE_N1;
        if ((Wide)b.base + b.npages > 1u << kLogMtt)
            return BDY_RULE_N1;
        if ((Wide)b.list_off + b.len > (Wide)b.npages << b.log_ps)
            return BDY_RULE_N1;
    }
    if (wraps(b.start, b.len))
        return BDY_RULE_M5;
    return pd_alive(b.pd) ? BDY_RULE_NONE : BDY_RULE_H5;
}

static bool covers(const Entry &e, uint32_t index) { return index >= e.base && index < e.base + e.npages; }

unsigned Model::mtt_rule(const Op &o) const
{
    const Entry e = slot_ok(o.key) ? entry(key_slot(o.key)) : Entry();
    if (!e.is_mr() || !full_key(e, o.key) || e.direct || !covers(e, o.index))
        return BDY_RULE_N1;
    const uint32_t owner = bdy_mtt_entry_get_owner(o.body), nonce = bdy_mtt_entry_get_nonce(o.body);
    if (!bdy_mtt_entry_rsvd_zero(o.body) || (owner && owner != key_slot(o.key)) ||
        (nonce && nonce != key_nonce(o.key)))
        return BDY_RULE_N1;
    for (int i = 2; i < 8; i++)
        if (o.body[i])
            return BDY_RULE_N1;
    if (bdy_mtt_entry_get_addr(o.body) % (1ull << e.log_ps))
        return BDY_RULE_N1;
    if (e.st != BDY_MPT_ST_FREE)
        return BDY_RULE_H2;
    const Mtt old = mtt(o.index);
    const uint32_t old_slot = old.owner & 0xfffff;
    const Entry other = old.valid && old_slot != key_slot(o.key) ? entry(old_slot) : Entry();
    if (other.is_mr() && other.valid() && !other.direct && covers(other, o.index))
        return BDY_RULE_H2;
    return BDY_RULE_NONE;
}

static bool transition_legal(unsigned from, unsigned to)
{
    enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR };
    if (to == RESET || to == ERR || (from == to && to <= ERR))
        return true;
    static const std::pair<unsigned, unsigned> legal[] = {{RESET, INIT}, {INIT, RTR}, {RTR, RTS},
                                                          {RTS, SQD},    {SQD, RTS},  {SQE, RTS}};
    return std::find(std::begin(legal), std::end(legal), std::make_pair(from, to)) != std::end(legal);
}

unsigned Model::ctx_rule(const Op &o) const
{
    switch (o.ctx_kind) {
    case BDY_CTX_KIND_QP: {
        if (o.index >= (unsigned)kQps)
            return BDY_RULE_N1;
        if (o.half)
            return bdy_qp_ctx1_rsvd_zero(o.body) ? BDY_RULE_NONE : BDY_RULE_N1;
        if (!bdy_qp_ctx0_rsvd_zero(o.body))
            return BDY_RULE_N1;
        const Qp &q = qps_[o.index];
        const unsigned to = bdy_qp_ctx0_get_st(o.body);
        if (!transition_legal(q.st, to))
            return BDY_RULE_N5;
        return q.gen == UINT32_MAX && to != BDY_QP_ST_RESET ? BDY_RULE_H4 : BDY_RULE_NONE;
    }
    case BDY_CTX_KIND_CQ:
        return o.half || o.index >= 256 || !bdy_cq_ctx_rsvd_zero(o.body) ? BDY_RULE_N1 : BDY_RULE_NONE;
    case BDY_CTX_KIND_EQ:
        return o.half || o.index >= 8 || !bdy_eq_ctx_rsvd_zero(o.body) ? BDY_RULE_N1 : BDY_RULE_NONE;
    default:
        return BDY_RULE_N1;
    }
}

unsigned Model::life_rule(const Op &o) const
{
    const uint32_t slot = key_slot(o.key);
    const Entry e = slot_ok(o.key) ? entry(slot) : Entry(), b = Entry::decode(o.body);
    const bool body_ok = slot_ok(o.key) && b.nonce == key_nonce(o.key) && bdy_mpt_entry_rsvd_zero(o.body) &&
                         !bdy_mpt_entry_get_null_mr(o.body);
    const bool named = e.is_mr() && full_key(e, o.key);
    const Qp q = qp(o.qpn);
    const bool qp_exists = o.qpn >= kQpnBase && o.qpn < kQpnBase + kQps;

    switch (o.op) {
    case BDY_PROT_OP_NOP:
        return BDY_RULE_NONE;
    case BDY_PROT_OP_MR_OPEN:
        if (!body_ok || b.key != key_low(o.key) || (b.st != BDY_MPT_ST_FREE && b.st != BDY_MPT_ST_VALID))
            return BDY_RULE_N1;
        if (e.kind != BDY_MPT_KIND_NONE && !(named && e.st == BDY_MPT_ST_FREE && b.valid()))
            return BDY_RULE_N1;
        return image_rule(o);
    case BDY_PROT_OP_MR_REPLACE:
        if (!body_ok || !b.valid() || !named || !e.valid())
            return BDY_RULE_N1;
        return count(slot) ? (unsigned)BDY_RULE_L3 : image_rule(o);
    case BDY_PROT_OP_MR_CLOSE:
        if (!named)
            return BDY_RULE_N1;
        return count(slot) ? BDY_RULE_L3 : BDY_RULE_NONE;
    case BDY_PROT_OP_MW_ALLOC:
        if (!body_ok || b.key != key_low(o.key) || !b.is_window() || b.st != BDY_MPT_ST_FREE ||
            e.kind != BDY_MPT_KIND_NONE)
            return BDY_RULE_N1;
        return pd_alive(b.pd) ? BDY_RULE_NONE : BDY_RULE_H5;
    case BDY_PROT_OP_MW_FREE:
        return e.is_window() && e.nonce == key_nonce(o.key) ? BDY_RULE_NONE : BDY_RULE_L2;
    case BDY_PROT_OP_MTT_WRITE:
        return mtt_rule(o);
    case BDY_PROT_OP_QP_BUMP:
        return qp_exists ? BDY_RULE_NONE : BDY_RULE_N1;
    case BDY_PROT_OP_QP_ERR:
        if (!qp_exists)
            return BDY_RULE_N1;
        if (!q.alive || q.st == BDY_QP_ST_RESET || q.st == BDY_QP_ST_ERR)
            return BDY_RULE_Q1;
        if (o.sqe && q.st != BDY_QP_ST_RTS && q.st != BDY_QP_ST_SQD && q.st != BDY_QP_ST_SQE)
            return BDY_RULE_Q1;
        return BDY_RULE_NONE;
    case BDY_PROT_OP_PD_OPEN:
    case BDY_PROT_OP_PD_KILL:
        return o.pd < (unsigned)kPds ? BDY_RULE_NONE : BDY_RULE_N1;
    case BDY_PROT_OP_CTX_WRITE:
        return ctx_rule(o);
    default:
        return BDY_RULE_N1;
    }
}

// ------------------------------------------------------------------ effects
void Model::unbind(uint32_t slot, Entry e, bool next_key)
{
    Entry f;
    f.st = BDY_MPT_ST_FREE;
    f.kind = e.kind;
    f.nonce = e.nonce;
    f.key = next_key ? (e.key + 1) & 0xff : e.key;
    f.pd = e.pd;
    entries_[slot] = f;
}

void Model::bind(const Op &o, OpResult &res)
{
    const uint32_t slot = key_slot(o.key);
    const Entry w = entry(slot);
    if (w.valid()) {
        counts_[w.mr_slot]--;
        res.drains = true;
    }
    if (o.len == 0) {
        unbind(slot, w, true);
        return;
    }
    const Entry m = entry(key_slot(o.mr_key));
    Entry n;
    n.st = BDY_MPT_ST_VALID;
    n.kind = w.kind;
    n.nonce = w.nonce;
    n.pd = w.pd;
    n.key = type2(o) ? o.new_key : (w.key + 1) & 0xff;
    n.rights = o.rights & (RW | RR | RA);
    n.zero_based = (o.rights & ZB) != 0;
    n.start = n.zero_based ? 0 : o.addr;
    n.len = o.len;
    n.direct = m.direct;
    n.log_ps = m.log_ps;
    n.base = m.base;
    n.list_off = m.list_off + (o.addr - m.start);
    n.mr_slot = key_slot(o.mr_key);
    n.mr_nonce = key_nonce(o.mr_key);
    if (type2(o)) {
        n.qpn = o.qpn;
        n.qp_gen = qp(o.qpn).gen;
    }
    entries_[slot] = n;
    counts_[n.mr_slot]++;
}

void Model::set_state(uint32_t idx, unsigned st, bool bump)
{
    if (bump || qps_[idx].st != st)
        events_.push_back({idx, st, bump});
    qps_[idx].st = st;
}

void Model::execute(const Op &o, OpResult &res)
{
    const uint32_t slot = key_slot(o.key), idx = o.qpn - kQpnBase;
    const Entry e = entry(slot), b = Entry::decode(o.body);
    switch (o.op) {
    case BDY_PROT_OP_BIND1:
    case BDY_PROT_OP_BIND2:
        bind(o, res);
        break;
    case BDY_PROT_OP_LOCAL_INV:
    case BDY_PROT_OP_REMOTE_INV:
        counts_[e.mr_slot]--;
        unbind(slot, e, false);
        res.drains = true;
        break;
    case BDY_PROT_OP_MR_OPEN:
        if (e.kind == BDY_MPT_KIND_NONE)
            counts_[slot] = 0;
        entries_[slot] = b;
        res.res = o.key;
        break;
    case BDY_PROT_OP_MR_REPLACE:
        entries_[slot] = b;
        res.res = make_key(slot, key_nonce(o.key), b.key);
        res.drains = true;
        break;
    case BDY_PROT_OP_MR_CLOSE:
        entries_.erase(slot);
        res.drains = true;
        break;
    case BDY_PROT_OP_MW_ALLOC: {
        Entry f;
        f.st = BDY_MPT_ST_FREE;
        f.kind = b.kind;
        f.key = b.key;
        f.nonce = b.nonce;
        f.pd = b.pd;
        entries_[slot] = f;
        res.res = o.key;
        break;
    }
    case BDY_PROT_OP_MW_FREE:
        if (e.valid()) {
            counts_[e.mr_slot]--;
            res.drains = true;
        }
        entries_.erase(slot);
        break;
    case BDY_PROT_OP_MTT_WRITE:
        mtt_[o.index] = {bdy_mtt_entry_get_addr(o.body), key_nonce(o.key) << 20 | slot, true};
        break;
    case BDY_PROT_OP_QP_BUMP:
        if (qps_[idx].gen != UINT32_MAX)
            qps_[idx].gen++;
        qps_[idx].alive = false;
        set_state(idx, BDY_QP_ST_RESET, true);
        res.res = qps_[idx].gen;
        res.drains = true;
        break;
    case BDY_PROT_OP_QP_ERR:
        set_state(idx, o.sqe ? BDY_QP_ST_SQE : BDY_QP_ST_ERR, false);
        res.drains = true;
        break;
    case BDY_PROT_OP_PD_OPEN:
        pds_[o.pd] = true;
        break;
    case BDY_PROT_OP_PD_KILL:
        pds_[o.pd] = false;
        res.drains = true;
        break;
    case BDY_PROT_OP_CTX_WRITE:
        if (o.ctx_kind != BDY_CTX_KIND_QP) {
            res.drains = true;
        } else if (!o.half) {
            const unsigned to = bdy_qp_ctx0_get_st(o.body);
            Qp &q = qps_[o.index];
            res.drains = to != q.st || to == BDY_QP_ST_RESET || to == BDY_QP_ST_ERR;
            if (to == BDY_QP_ST_RESET)
                q.alive = false;
            else if (q.st == BDY_QP_ST_RESET)
                q.alive = true;
            set_state(o.index, to, false);
        }
        break;
    default:
        break;
    }
}

uint32_t Model::present_key(const Op &o) const
{
    const Entry w = slot_ok(o.key) ? entry(key_slot(o.key)) : Entry();
    if (!w.is_window() || w.nonce != key_nonce(o.key) || w.pd != o.pd)
        return 0;
    return make_key(key_slot(o.key), w.nonce, w.key);
}

OpResult Model::op(const Op &o)
{
    OpResult res;
    res.rule = is_bind(o) ? bind_rule(o) : is_inv(o) ? invalidate_rule(o) : life_rule(o);
    if (res.rule == BDY_RULE_NONE)
        execute(o, res);
    if (is_bind(o) || is_inv(o))
        res.res = present_key(o);
    return res;
}

} // namespace prot
