// SPDX-License-Identifier: Apache-2.0
// Requests, entries and answers of the protection engine as plain structs, and their images.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

extern "C" {
#include "bdy_regs.h"
}

namespace prot {

constexpr uint32_t kQpnBase = 0x100;
constexpr int kLogKeys = 13;
constexpr int kLogMtt = 16;
constexpr int kQps = 256;
constexpr int kPds = 1024;

constexpr uint8_t LW = BDY_ACCESS_BIT_LOCAL_WRITE;
constexpr uint8_t RW = BDY_ACCESS_BIT_REMOTE_WRITE;
constexpr uint8_t RR = BDY_ACCESS_BIT_REMOTE_READ;
constexpr uint8_t RA = BDY_ACCESS_BIT_REMOTE_ATOMIC;
constexpr uint8_t MB = BDY_ACCESS_BIT_MW_BIND;
constexpr uint8_t ZB = BDY_ACCESS_BIT_ZERO_BASED;

inline uint32_t make_key(uint32_t slot, uint32_t nonce, uint32_t low)
{
    return slot << 12 | (nonce & 0xf) << 8 | (low & 0xff);
}
inline uint32_t key_slot(uint32_t key) { return key >> 12; }
inline uint32_t key_nonce(uint32_t key) { return key >> 8 & 0xf; }
inline uint32_t key_low(uint32_t key) { return key & 0xff; }
inline std::string rule_name(unsigned rule) { return bdy_rule_name(rule); }

struct Entry {
    unsigned st = 0, kind = 0, zero_based = 0, direct = 0, log_ps = 0, key = 0, nonce = 0, rights = 0;
    uint32_t pd = 0;
    uint64_t start = 0, len = 0, base = 0, list_off = 0;
    uint32_t qpn = 0, mr_slot = 0, mr_nonce = 0, qp_gen = 0, npages = 0;

    bool is_mr() const { return kind == BDY_MPT_KIND_MR; }
    bool is_window() const { return kind == BDY_MPT_KIND_MW1 || kind == BDY_MPT_KIND_MW2; }
    bool valid() const { return st == BDY_MPT_ST_VALID; }

    void encode(uint64_t *w) const
    {
        memset(w, 0, 64);
        bdy_mpt_entry_set_st(w, st);
        bdy_mpt_entry_set_kind(w, kind);
        bdy_mpt_entry_set_zero_based(w, zero_based);
        bdy_mpt_entry_set_direct(w, direct);
        bdy_mpt_entry_set_log_ps(w, log_ps);
        bdy_mpt_entry_set_key(w, key);
        bdy_mpt_entry_set_nonce(w, nonce);
        bdy_mpt_entry_set_rights(w, rights);
        bdy_mpt_entry_set_pd(w, pd);
        bdy_mpt_entry_set_start(w, start);
        bdy_mpt_entry_set_len(w, len);
        bdy_mpt_entry_set_base(w, base);
        bdy_mpt_entry_set_list_off(w, list_off);
        bdy_mpt_entry_set_qpn(w, qpn);
        bdy_mpt_entry_set_mr_slot(w, mr_slot);
        bdy_mpt_entry_set_mr_nonce(w, mr_nonce);
        bdy_mpt_entry_set_qp_gen(w, qp_gen);
        bdy_mpt_entry_set_npages(w, npages);
    }

    static Entry decode(const uint64_t *w)
    {
        Entry e;
        e.st = bdy_mpt_entry_get_st(w);
        e.kind = bdy_mpt_entry_get_kind(w);
        e.zero_based = bdy_mpt_entry_get_zero_based(w);
        e.direct = bdy_mpt_entry_get_direct(w);
        e.log_ps = bdy_mpt_entry_get_log_ps(w);
        e.key = bdy_mpt_entry_get_key(w);
        e.nonce = bdy_mpt_entry_get_nonce(w);
        e.rights = bdy_mpt_entry_get_rights(w);
        e.pd = bdy_mpt_entry_get_pd(w);
        e.start = bdy_mpt_entry_get_start(w);
        e.len = bdy_mpt_entry_get_len(w);
        e.base = bdy_mpt_entry_get_base(w);
        e.list_off = bdy_mpt_entry_get_list_off(w);
        e.qpn = bdy_mpt_entry_get_qpn(w);
        e.mr_slot = bdy_mpt_entry_get_mr_slot(w);
        e.mr_nonce = bdy_mpt_entry_get_mr_nonce(w);
        e.qp_gen = bdy_mpt_entry_get_qp_gen(w);
        e.npages = bdy_mpt_entry_get_npages(w);
        return e;
    }

    bool operator==(const Entry &o) const
    {
        uint64_t a[8], b[8];
        encode(a);
        o.encode(b);
        return memcmp(a, b, sizeof a) == 0;
    }
};

struct Mtt {
    uint64_t addr = 0;
    uint32_t owner = 0; // {nonce, slot}
    bool valid = false;
};

struct Req {
    uint32_t key = 0;
    uint64_t va = 0;
    uint32_t len = 0;
    uint32_t xlen = 0;
    uint8_t rights = 0;
    bool local = false;
    uint32_t pd = 0;
    uint32_t qpn = 0;
    uint32_t gen = 0;

    void encode(uint64_t *w, unsigned tag) const
    {
        memset(w, 0, 64);
        bdy_acc_req_set_tag(w, tag);
        bdy_acc_req_set_local_key(w, local);
        bdy_acc_req_set_rights(w, rights);
        bdy_acc_req_set_key(w, key);
        bdy_acc_req_set_va(w, va);
        bdy_acc_req_set_len(w, len);
        bdy_acc_req_set_xlen(w, xlen);
        bdy_acc_req_set_pd(w, pd);
        bdy_acc_req_set_qpn(w, qpn);
        bdy_acc_req_set_qp_gen(w, gen);
    }
};

struct Rsp {
    unsigned tag = 0, rule = 0, epoch = 0, len0 = 0, len1 = 0;
    bool stale = false;
    uint64_t bus0 = 0, bus1 = 0;

    static Rsp decode(const uint64_t *w)
    {
        Rsp r;
        r.tag = bdy_acc_rsp_get_tag(w);
        r.rule = bdy_acc_rsp_get_rule(w);
        r.epoch = bdy_acc_rsp_get_epoch(w);
        r.stale = bdy_acc_rsp_get_stale(w);
        r.len0 = bdy_acc_rsp_get_len0(w);
        r.len1 = bdy_acc_rsp_get_len1(w);
        r.bus0 = bdy_acc_rsp_get_bus0(w);
        r.bus1 = bdy_acc_rsp_get_bus1(w);
        return r;
    }
    bool granted() const { return rule == BDY_RULE_NONE; }
};

struct Op {
    unsigned op = 0, ctx_kind = 0, half = 0, sqe = 0, rights = 0, new_key = 0;
    uint32_t key = 0, pd = 0, mr_key = 0, qpn = 0, index = 0;
    uint64_t addr = 0, len = 0;
    uint64_t body[8] = {};

    void encode(uint64_t *w) const
    {
        memset(w, 0, 128);
        bdy_prot_op_set_op(w, op);
        bdy_prot_op_set_ctx_kind(w, ctx_kind);
        bdy_prot_op_set_half(w, half);
        bdy_prot_op_set_sqe(w, sqe);
        bdy_prot_op_set_rights(w, rights);
        bdy_prot_op_set_new_key(w, new_key);
        bdy_prot_op_set_key(w, key);
        bdy_prot_op_set_pd(w, pd);
        bdy_prot_op_set_mr_key(w, mr_key);
        bdy_prot_op_set_qpn(w, qpn);
        bdy_prot_op_set_index(w, index);
        bdy_prot_op_set_addr(w, addr);
        bdy_prot_op_set_len(w, len);
        memcpy(w + 8, body, sizeof body);
    }

    static Op decode(const uint64_t *w)
    {
        Op o;
        o.op = bdy_prot_op_get_op(w);
        o.ctx_kind = bdy_prot_op_get_ctx_kind(w);
        o.half = bdy_prot_op_get_half(w);
        o.sqe = bdy_prot_op_get_sqe(w);
        o.rights = bdy_prot_op_get_rights(w);
        o.new_key = bdy_prot_op_get_new_key(w);
        o.key = bdy_prot_op_get_key(w);
        o.pd = bdy_prot_op_get_pd(w);
        o.mr_key = bdy_prot_op_get_mr_key(w);
        o.qpn = bdy_prot_op_get_qpn(w);
        o.index = bdy_prot_op_get_index(w);
        o.addr = bdy_prot_op_get_addr(w);
        o.len = bdy_prot_op_get_len(w);
        memcpy(o.body, w + 8, sizeof o.body);
        return o;
    }
};

} // namespace prot
