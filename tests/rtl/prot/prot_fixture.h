// SPDX-License-Identifier: Apache-2.0
// Short names for what tests build: domains, queue pairs, regions, windows.
#pragma once

#include "tests/rtl/prot/prot_bench.h"

#include <gtest/gtest.h>

namespace prot {

inline Op op_of(unsigned code)
{
    Op o;
    o.op = code;
    return o;
}

inline Op pd_op(unsigned code, uint32_t pd)
{
    Op o = op_of(code);
    o.pd = pd;
    return o;
}

inline Op qp_op(unsigned code, uint32_t qpn)
{
    Op o = op_of(code);
    o.qpn = qpn;
    return o;
}

inline Op ctx_op(uint32_t qpn, unsigned st, uint32_t pd = 1)
{
    Op o = op_of(BDY_PROT_OP_CTX_WRITE);
    o.index = qpn - kQpnBase;
    bdy_qp_ctx0_set_st(o.body, st);
    bdy_qp_ctx0_set_pd(o.body, pd);
    return o;
}

inline Op entry_op(unsigned code, uint32_t key, const Entry &e)
{
    Op o = op_of(code);
    o.key = key;
    e.encode(o.body);
    return o;
}

inline Op mtt_op(uint32_t key, uint32_t index, uint64_t addr)
{
    Op o = op_of(BDY_PROT_OP_MTT_WRITE);
    o.key = key;
    o.index = index;
    bdy_mtt_entry_set_addr(o.body, addr);
    return o;
}

inline Op key_op(unsigned code, uint32_t key)
{
    Op o = op_of(code);
    o.key = key;
    return o;
}

inline Op bind_op(unsigned code, uint32_t win, uint32_t mr, uint32_t pd, uint32_t qpn, unsigned rights, uint64_t addr,
                  uint64_t len, unsigned new_key = 0)
{
    Op o = op_of(code);
    o.key = win;
    o.mr_key = mr;
    o.pd = pd;
    o.qpn = qpn;
    o.rights = rights;
    o.addr = addr;
    o.len = len;
    o.new_key = new_key;
    return o;
}

inline Op inv_op(uint32_t key, uint32_t pd, uint32_t qpn, unsigned code = BDY_PROT_OP_LOCAL_INV)
{
    Op o = op_of(code);
    o.key = key;
    o.pd = pd;
    o.qpn = qpn;
    return o;
}

// A direct region: `start` is found at bus address `bus`.
inline Entry direct_mr(uint32_t key, uint32_t pd, unsigned rights, uint64_t start, uint64_t len, uint64_t bus)
{
    Entry e;
    e.st = BDY_MPT_ST_VALID;
    e.kind = BDY_MPT_KIND_MR;
    e.direct = 1;
    e.key = key_low(key);
    e.nonce = key_nonce(key);
    e.rights = rights;
    e.pd = pd;
    e.start = start;
    e.len = len;
    e.base = bus;
    return e;
}

inline Entry paged_mr(uint32_t key, uint32_t pd, unsigned rights, uint64_t start, uint64_t len, uint32_t first,
                      uint32_t npages, uint64_t list_off, unsigned log_ps = 12)
{
    Entry e = direct_mr(key, pd, rights, start, len, first);
    e.direct = 0;
    e.log_ps = log_ps;
    e.npages = npages;
    e.list_off = list_off;
    return e;
}

inline Entry window(uint32_t key, uint32_t pd, unsigned kind)
{
    Entry e;
    e.st = BDY_MPT_ST_FREE;
    e.kind = kind;
    e.key = key_low(key);
    e.nonce = key_nonce(key);
    e.pd = pd;
    return e;
}

class ProtTest : public ::testing::Test {
protected:
    explicit ProtTest(std::unique_ptr<Dut> dut = make_default_dut()) : b(std::move(dut)) {}

    static constexpr uint32_t kPd = 1, kPd2 = 2, kQp = 0x100, kQp2 = 0x101, kQpPd2 = 0x102;
    static constexpr uint64_t kStart = 0x100000, kLen = 0x1000, kBus = 0x7000000000;

    Bench b;
    uint32_t mr = make_key(0x11, 3, 0x40), mw1 = make_key(0x22, 5, 0xfe), mw2 = make_key(0x33, 7, 0x10);

    void expect_ok(const OpAnswer &a) { EXPECT_EQ(rule_name(a.rule), "NONE"); }
    void ok(const Op &o) { expect_ok(b.op(o)); }
    void expect_rule(const OpAnswer &a, const char *rule) { EXPECT_EQ(rule_name(a.rule), rule); }
    void expect_rule(const Rsp &r, const char *rule) { EXPECT_EQ(rule_name(r.rule), rule); }

    void up(uint32_t qpn, uint32_t pd)
    {
        ok(ctx_op(qpn, BDY_QP_ST_INIT, pd));
        ok(ctx_op(qpn, BDY_QP_ST_RTR, pd));
        ok(ctx_op(qpn, BDY_QP_ST_RTS, pd));
    }

    void SetUp() override
    {
        ok(pd_op(BDY_PROT_OP_PD_OPEN, kPd));
        ok(pd_op(BDY_PROT_OP_PD_OPEN, kPd2));
        up(kQp, kPd);
        up(kQp2, kPd);
        up(kQpPd2, kPd2);
    }

    void open_mr(unsigned rights = LW | RW | RR | RA | MB, uint64_t start = kStart, uint64_t len = kLen)
    {
        ok(entry_op(BDY_PROT_OP_MR_OPEN, mr, direct_mr(mr, kPd, rights, start, len, kBus)));
    }

    void alloc_windows()
    {
        ok(entry_op(BDY_PROT_OP_MW_ALLOC, mw1, window(mw1, kPd, BDY_MPT_KIND_MW1)));
        ok(entry_op(BDY_PROT_OP_MW_ALLOC, mw2, window(mw2, kPd, BDY_MPT_KIND_MW2)));
    }

    // Binds and keeps the new key.
    OpAnswer bind1(uint64_t addr, uint64_t len, unsigned rights, uint32_t qpn = kQp)
    {
        auto a = b.op(bind_op(BDY_PROT_OP_BIND1, mw1, mr, kPd, qpn, rights, addr, len), 1);
        if (a.rule == BDY_RULE_NONE)
            mw1 = a.res;
        return a;
    }

    OpAnswer bind2(uint64_t addr, uint64_t len, unsigned rights, uint32_t qpn = kQp, unsigned low = 0x77)
    {
        auto a = b.op(bind_op(BDY_PROT_OP_BIND2, mw2, mr, kPd, qpn, rights, addr, len, low), 1);
        if (a.rule == BDY_RULE_NONE)
            mw2 = a.res;
        return a;
    }

    Req remote(uint32_t key, uint64_t va, uint32_t len, unsigned rights = RR, uint32_t qpn = kQp)
    {
        Req r;
        r.key = key;
        r.va = va;
        r.len = len;
        r.xlen = len < 4096 ? len : 4096;
        r.rights = (uint8_t)rights;
        r.qpn = qpn;
        r.pd = qpn == kQpPd2 ? kPd2 : kPd;
        r.gen = b.model().qp(qpn).gen;
        return r;
    }

    Req local(uint32_t key, uint64_t va, uint32_t len, unsigned rights = 0, uint32_t qpn = kQp)
    {
        Req r = remote(key, va, len, rights, qpn);
        r.local = true;
        return r;
    }
};

} // namespace prot
