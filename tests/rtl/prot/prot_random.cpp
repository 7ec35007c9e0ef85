// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/prot/prot_random.h"

namespace prot {

RandomWork::RandomWork(Bench &bench, uint64_t seed, int slots) : b_(bench), rng_(seed)
{
    for (int i = 0; i < slots; i++) // some share a line of the cache, some do not
        slots_.push_back((uint32_t)(i % 2 ? below(1 << kLogKeys) : 0x40 + 0x100 * (i / 2 % 16) + i / 2 / 16));
}

unsigned RandomWork::any_rights(unsigned pool)
{
    const unsigned r = (unsigned)below(256) & pool;
    return chance(97) ? r : r | 1u << below(8);
}

uint32_t RandomWork::key_of(uint32_t slot, bool wrong_allowed)
{
    const Entry e = b_.model().entry(slot);
    uint32_t key = make_key(slot, e.nonce, e.key);
    if (wrong_allowed && chance(6))
        key ^= 1u << below(32);
    if (wrong_allowed && chance(3))
        key = make_key(slot, e.nonce, e.key - 1); // stale type 1 key
    return key;
}

uint32_t RandomWork::slot_where(bool (*want)(const Entry &))
{
    for (int i = 0; i < 20; i++) {
        const uint32_t s = any_slot();
        if (want(b_.model().entry(s)))
            return s;
    }
    return any_slot();
}

// Mostly inside, often touching an edge, sometimes beyond.
uint64_t RandomWork::near_range(uint64_t start, uint64_t len)
{
    switch (below(8)) {
    case 0: return start;
    case 1: return start + len - 1 - below(8);
    case 2: return start - 2 + below(4);
    case 3: return start + len - 2 + below(4);
    default: return start + (len ? below(len) : 0);
    }
}

void RandomWork::add_region(uint32_t slot)
{
    const uint32_t key = make_key(slot, (uint32_t)below(16), (uint32_t)below(256));
    const unsigned rights = any_rights(LW | RW | RR | RA) | (chance(90) ? MB : 0) | (chance(70) ? LW : 0);
    const bool zero_based = chance(10);
    uint64_t start = chance(85) ? below(1ull << 40) & ~0xfffull : 0xffffffffffff0000ull;
    start = zero_based ? 0 : start + below(4096);
    uint64_t len = chance(90) ? 1 + below(0x6000) : below(2);
    if (chance(10))
        len = 0 - start; // ends at 2^64 when small enough for a table
    if (len > 0x8000)
        len = 0x8000;
    Entry e;
    if (chance(40)) {
        e = direct_mr(key, any_pd(), rights & ~ZB, start, len, (below(1ull << 44)) & ~0xfffull);
        e.list_off = below(4096);
    } else {
        const unsigned log_ps = pick<unsigned>({12, 12, 12, 13, 14, 21, 30});
        const uint64_t off = below(1ull << log_ps);
        const uint32_t np = (uint32_t)((off + len + (1ull << log_ps) - 1) >> log_ps);
        const uint32_t base = chance(90) ? (slot & 0xff) * 32 : (slot & 0xff) * 32 + (uint32_t)below(64);
        e = paged_mr(key, any_pd(), rights & ~ZB, start, len, base, np, off, log_ps);
    }
    e.zero_based = zero_based;
    if (chance(3))
        e.npages += 1 + (uint32_t)below(70000);
    if (chance(3))
        e.start = 0 - below(len + 2);
    if (e.direct || chance(3)) {
        fw_queue_.push_back(entry_op(BDY_PROT_OP_MR_OPEN, key, e));
        return;
    }
    e.st = BDY_MPT_ST_FREE;
    fw_queue_.push_back(entry_op(BDY_PROT_OP_MR_OPEN, key, e));
    for (uint32_t i = 0; i < e.npages && i < 40; i++) {
        const uint64_t addr = below(1ull << 20) << e.log_ps | (chance(1) ? 1 : 0);
        if (chance(98))
            fw_queue_.push_back(mtt_op(key, (uint32_t)e.base + i, addr));
    }
    e.st = BDY_MPT_ST_VALID;
    fw_queue_.push_back(entry_op(BDY_PROT_OP_MR_OPEN, key, e));
}

void RandomWork::qp_step()
{
    uint32_t qpn = any_qpn();
    for (uint32_t i = 0; i < 6 && chance(80); i++) // bring up what is down
        if (!b_.model().qp(kQpnBase + i).alive)
            qpn = kQpnBase + i;
    const Qp q = b_.model().qp(qpn);
    const unsigned next[] = {BDY_QP_ST_INIT, BDY_QP_ST_RTR, BDY_QP_ST_RTS, BDY_QP_ST_SQD,
                             BDY_QP_ST_RTS,  BDY_QP_ST_RTS, BDY_QP_ST_RESET};
    switch (below(24)) {
    case 0:
        fw_queue_.push_back(qp_op(BDY_PROT_OP_QP_BUMP, qpn));
        fw_queue_.push_back(ctx_op(qpn, BDY_QP_ST_RESET));
        break;
    case 1: {
        Op o = qp_op(BDY_PROT_OP_QP_ERR, qpn);
        o.sqe = chance(40);
        fw_queue_.push_back(o);
        break;
    }
    case 2:
        fw_queue_.push_back(ctx_op(qpn, (unsigned)below(8)));
        break;
    case 3: {
        Op o = ctx_op(qpn, 0);
        o.ctx_kind = pick<unsigned>({BDY_CTX_KIND_CQ, BDY_CTX_KIND_EQ, BDY_CTX_KIND_SRQ});
        memset(o.body, 0, sizeof o.body);
        o.index = (uint32_t)below(12);
        o.body[0] = below(2);
        fw_queue_.push_back(o);
        break;
    }
    default:
        if (q.st != BDY_QP_ST_RTS || chance(10))
            fw_queue_.push_back(ctx_op(qpn, next[q.st % 7]));
    }
}

void RandomWork::life_step()
{
    const uint32_t slot = any_slot();
    const Entry e = b_.model().entry(slot);
    if (chance(35)) {
        qp_step();
        return;
    }
    if (chance(3)) {
        const uint32_t pd = any_pd();
        fw_queue_.push_back(pd_op(BDY_PROT_OP_PD_KILL, pd));
        fw_queue_.push_back(pd_op(BDY_PROT_OP_PD_OPEN, pd));
        return;
    }
    if (chance(3)) {
        Op o = key_op((unsigned)below(32), key_of(slot));
        o.qpn = any_qpn();
        o.pd = any_pd();
        fw_queue_.push_back(o);
        return;
    }
    if (e.kind == BDY_MPT_KIND_NONE) {
        if (chance(45)) {
            add_region(slot);
        } else {
            const uint32_t key = make_key(slot, (uint32_t)below(16), (uint32_t)below(256));
            fw_queue_.push_back(entry_op(BDY_PROT_OP_MW_ALLOC, key, window(key, any_pd(), (unsigned)(1 + below(20) / 9))));
        }
    } else if (e.is_mr()) {
        if (chance(10)) {
            Entry n = e;
            n.rights = any_rights(LW | RW | RR | RA | MB);
            n.key = (unsigned)below(256);
            n.st = BDY_MPT_ST_VALID;
            fw_queue_.push_back(entry_op(BDY_PROT_OP_MR_REPLACE, key_of(slot), n));
        } else if (chance(5)) {
            fw_queue_.push_back(mtt_op(key_of(slot), (uint32_t)(e.base + below(4)), below(1 << 20) << 12));
        } else if (chance(5)) {
            add_region(slot);
        } else {
            fw_queue_.push_back(key_op(BDY_PROT_OP_MR_CLOSE, key_of(slot)));
        }
    } else if (chance(40)) {
        fw_queue_.push_back(key_op(BDY_PROT_OP_MW_FREE, key_of(slot)));
    }
}

static bool is_free_or_mw1(const Entry &e) { return e.kind == BDY_MPT_KIND_MW1 || (e.is_window() && !e.valid()); }
static bool is_any_window(const Entry &e) { return e.is_window(); }
static bool is_bound2(const Entry &e) { return e.kind == BDY_MPT_KIND_MW2 && e.valid(); }
static bool is_open_mr(const Entry &e) { return e.is_mr() && e.valid(); }
static bool is_usable(const Entry &e) { return e.valid(); }

Op RandomWork::any_bind()
{
    const uint32_t win = slot_where(chance(93) ? is_free_or_mw1 : is_any_window);
    const Entry w = b_.model().entry(win);
    uint32_t reg = slot_where(chance(97) ? is_open_mr : is_any_window);
    for (int i = 0; i < 12 && b_.model().entry(reg).pd != w.pd && chance(97); i++)
        reg = slot_where(is_open_mr);
    const Entry m = b_.model().entry(reg);
    const bool type2 = (w.kind == BDY_MPT_KIND_MW2) != chance(3);
    const uint64_t addr = near_range(m.start, m.len);
    uint64_t len = chance(12) ? 0 : 1 + below(0x800);
    if (chance(10))
        len = m.start + m.len - addr + below(3) - 1;
    if (chance(2))
        len = rng_();
    return bind_op(type2 ? BDY_PROT_OP_BIND2 : BDY_PROT_OP_BIND1, key_of(win), key_of(reg), chance(96) ? w.pd : any_pd(),
                   any_qpn(), any_rights(LW | RW | RR | RA | (chance(20) ? ZB : 0)), addr, len, (unsigned)below(256));
}

Op RandomWork::any_invalidate()
{
    const uint32_t win = slot_where(chance(90) ? is_bound2 : is_usable);
    const Entry w = b_.model().entry(win);
    return inv_op(key_of(win), w.pd, chance(90) && w.qpn ? w.qpn : any_qpn(),
                  chance(80) ? BDY_PROT_OP_LOCAL_INV : BDY_PROT_OP_REMOTE_INV);
}

Req RandomWork::any_access()
{
    const uint32_t slot = slot_where(is_usable);
    const Entry e = b_.model().entry(slot);
    Req r;
    r.key = key_of(slot);
    r.va = near_range(e.start, e.len);
    const uint64_t left = e.start + e.len - r.va;
    r.len = (uint32_t)(1 + below(chance(50) && left && left < 0x8000 ? left + 1 : 64));
    if (chance(2))
        r.len = (uint32_t)(below(0x80000000) + 1);
    r.xlen = chance(90) ? (uint32_t)std::min<uint64_t>(r.len, 1 + below(4096)) : 0;
    r.local = chance(30);
    r.rights = (uint8_t)(r.local ? (chance(50) ? LW : 0) : (chance(80) ? e.rights & (RW | RR | RA) : any_rights(RW | RR | RA)));
    r.pd = chance(95) ? e.pd : any_pd();
    r.qpn = chance(90) && e.kind == BDY_MPT_KIND_MW2 ? e.qpn : any_qpn();
    r.gen = b_.model().qp(r.qpn).gen + (chance(2) ? 1 : 0);
    return r;
}

void RandomWork::prepare()
{
    for (uint32_t pd = 1; pd <= 3; pd++)
        b_.op(pd_op(BDY_PROT_OP_PD_OPEN, pd));
    for (uint32_t q = 0; q < 6; q++)
        for (unsigned st : {BDY_QP_ST_INIT, BDY_QP_ST_RTR, BDY_QP_ST_RTS})
            b_.op(ctx_op(kQpnBase + q, st, 1 + q % 3));
    for (size_t i = 0; i < slots_.size(); i++) {
        if (i % 3 == 0)
            add_region(slots_[i]);
        else
            life_step();
    }
}

void RandomWork::run(int cycles)
{
    for (int i = 0; i < cycles; i++) {
        if (!fw_ || (fw_->executed && (!fw_->drain || fw_->drained))) {
            fw_.reset();
            if (fw_queue_.empty() && chance(life_percent))
                life_step();
            if (!fw_queue_.empty()) {
                fw_ = b_.post_op(0, fw_queue_.front());
                fw_queue_.pop_front();
            }
        }
        for (unsigned p = 1; p < kOps; p++) {
            while (!ops_[p].empty() && ops_[p].front()->executed)
                ops_[p].pop_front();
            if (ops_[p].size() < 6 && chance(op_percent))
                ops_[p].push_back(b_.post_op(p, chance(65) ? any_bind() : any_invalidate()));
        }
        for (unsigned p = 0; p < kAcc; p++) {
            while (!accs_[p].empty() && accs_[p].front()->done)
                accs_[p].pop_front();
            if (accs_[p].size() < 40 && chance(access_percent))
                accs_[p].push_back(b_.post(p, any_access()));
        }
        b_.cycle();
    }
}

void RandomWork::compare_tables()
{
    b_.settle();
    for (uint32_t s : slots_) {
        const RawRead r = b_.read(0, s);
        EXPECT_FALSE(r.err);
        EXPECT_TRUE(Entry::decode(r.data) == b_.model().entry(s)) << "slot " << s;
        if (b_.model().entry(s).is_mr()) {
            EXPECT_EQ(b_.read(1, s).data[0], b_.model().count(s)) << "slot " << s;
        }
    }
    for (uint32_t q = 0; q < 6; q++) {
        const Qp m = b_.model().qp(kQpnBase + q);
        EXPECT_EQ(b_.read(4, q).data[0], (uint64_t)m.gen | (uint64_t)m.st << 32 | (uint64_t)m.alive << 35);
    }
}

} // namespace prot
