// SPDX-License-Identifier: Apache-2.0
// The scoreboard must find a device that is wrong, and name the rule.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "bdy_regs.h"
#include "sim/lockstep/lockstep.h"

namespace {

constexpr uint32_t kSlot = 7, kKey = kSlot << 12 | 0x3 << 8 | 0x21, kWin = 9 << 12 | 0x5 << 8 | 0x40;
constexpr uint32_t kQpn = BDY_QPN_BASE + 4, kPd = 6;
using Op = std::array<uint64_t, BDY_PROT_OP_WORDS>;

class Lockstep : public ::testing::Test {
  protected:
    void SetUp() override {
        bdy_lockstep_cfg cfg = {};
        cfg.log_keys = 10;
        cfg.log_mtt = 8;
        cfg.log_qps = 4;
        cfg.log_pds = 4;
        cfg.report = [](void *arg, const char *text) { *static_cast<std::string *>(arg) += text; };
        cfg.arg = &said;
        ls = bdy_lockstep_new(&cfg);
        ASSERT_NE(ls, nullptr);
        Op pd = op(BDY_PROT_OP_PD_OPEN);
        bdy_prot_op_set_pd(pd.data(), kPd);
        feed(pd);
        for (auto st : {BDY_QP_ST_INIT, BDY_QP_ST_RTR, BDY_QP_ST_RTS}) {
            Op ctx = op(BDY_PROT_OP_CTX_WRITE);
            bdy_prot_op_set_index(ctx.data(), kQpn - BDY_QPN_BASE);
            bdy_qp_ctx0_set_st(body(ctx), st);
            feed(ctx);
        }
        feed(region());
        ASSERT_EQ(said, "");
    }
    void TearDown() override { bdy_lockstep_free(ls); }

    static Op op(bdy_prot_op kind) {
        Op o = {};
        bdy_prot_op_set_op(o.data(), kind);
        return o;
    }
    static uint64_t *body(Op &o) { return o.data() + BDY_PROT_OP_BODY0_LSB / 64; }
    /// [0x10000, 0x11000), one bus range at 0x800000, readable and bindable.
    static Op region() {
        Op o = op(BDY_PROT_OP_MR_OPEN);
        bdy_prot_op_set_key(o.data(), kKey);
        uint64_t *e = body(o);
        bdy_mpt_entry_set_st(e, BDY_MPT_ST_VALID);
        bdy_mpt_entry_set_kind(e, BDY_MPT_KIND_MR);
        bdy_mpt_entry_set_direct(e, 1);
        bdy_mpt_entry_set_key(e, kKey & 0xff);
        bdy_mpt_entry_set_nonce(e, kKey >> 8 & 0xf);
        bdy_mpt_entry_set_rights(e, BDY_ACCESS_BIT_REMOTE_READ | BDY_ACCESS_BIT_MW_BIND);
        bdy_mpt_entry_set_pd(e, kPd);
        bdy_mpt_entry_set_start(e, 0x10000);
        bdy_mpt_entry_set_len(e, 0x1000);
        bdy_mpt_entry_set_base(e, 0x800000);
        return o;
    }
    void feed(const Op &o) { event(BDY_TRC_KIND_OP, o.data(), o.size()); }
    void event(uint32_t kind, const uint64_t *words, size_t n) {
        bdy_trace ev = {42, kind, uint32_t(n), words};
        bdy_lockstep_event(ls, &ev);
    }
    /// A READ of [va, va + len) with `key`, and what the device made of it.
    void access(uint32_t key, uint64_t va, uint32_t len, bdy_rule rule, uint64_t bus) {
        uint64_t w[BDY_TRC_ACCESS_WORDS] = {};
        bdy_trc_access_set_key(w, key);
        bdy_trc_access_set_rights(w, BDY_ACCESS_BIT_REMOTE_READ);
        bdy_trc_access_set_rule(w, rule);
        bdy_trc_access_set_va(w, va);
        bdy_trc_access_set_len(w, len);
        bdy_trc_access_set_xlen(w, len);
        bdy_trc_access_set_pd(w, kPd);
        bdy_trc_access_set_qpn(w, kQpn);
        bdy_trc_access_set_bus0(w, bus);
        bdy_trc_access_set_len0(w, rule ? 0 : len);
        event(BDY_TRC_KIND_ACCESS, w, BDY_TRC_ACCESS_WORDS);
    }
    bool says(const char *what) const { return said.find(what) != std::string::npos; }

    bdy_lockstep *ls = nullptr;
    std::string said;
};

TEST_F(Lockstep, RightVerdictsPassAndAreCounted) {
    access(kKey, 0x10100, 64, BDY_RULE_NONE, 0x800100);
    access(kKey, 0x10fc1, 64, BDY_RULE_A9, 0);
    access(kKey ^ 1, 0x10000, 64, BDY_RULE_A1, 0);
    EXPECT_EQ(said, "");
    EXPECT_FALSE(bdy_lockstep_failed(ls));
    EXPECT_EQ(bdy_lockstep_checked(ls), 5u + 3u);
    EXPECT_EQ(bdy_lockstep_seen(ls, BDY_RULE_A9), 1u);
}

TEST_F(Lockstep, GrantOneByteOutsideIsFoundAndNamesTheRule) {
    access(kKey, 0x10fc1, 64, BDY_RULE_NONE, 0x800fc1);
    EXPECT_TRUE(bdy_lockstep_failed(ls));
    EXPECT_TRUE(says("A9")) << said;
}

TEST_F(Lockstep, RefusalWithoutReasonIsFound) {
    access(kKey, 0x10000, 64, BDY_RULE_A7, 0);
    EXPECT_TRUE(bdy_lockstep_failed(ls));
    EXPECT_TRUE(says("A7")) << said;
}

TEST_F(Lockstep, WrongTranslationIsFound) {
    access(kKey, 0x10100, 64, BDY_RULE_NONE, 0x800108);
    EXPECT_TRUE(bdy_lockstep_failed(ls));
}

TEST_F(Lockstep, CloseOfARegionWithABoundWindowIsFound) {
    Op alloc = op(BDY_PROT_OP_MW_ALLOC);
    bdy_prot_op_set_key(alloc.data(), kWin);
    bdy_mpt_entry_set_st(body(alloc), BDY_MPT_ST_FREE);
    bdy_mpt_entry_set_kind(body(alloc), BDY_MPT_KIND_MW1);
    bdy_mpt_entry_set_key(body(alloc), kWin & 0xff);
    bdy_mpt_entry_set_nonce(body(alloc), kWin >> 8 & 0xf);
    bdy_mpt_entry_set_pd(body(alloc), kPd);
    feed(alloc);
    Op bind = op(BDY_PROT_OP_BIND1);
    bdy_prot_op_set_key(bind.data(), kWin);
    bdy_prot_op_set_mr_key(bind.data(), kKey);
    bdy_prot_op_set_pd(bind.data(), kPd);
    bdy_prot_op_set_qpn(bind.data(), kQpn);
    bdy_prot_op_set_rights(bind.data(), BDY_ACCESS_BIT_REMOTE_READ);
    bdy_prot_op_set_addr(bind.data(), 0x10000);
    bdy_prot_op_set_len(bind.data(), 64);
    bdy_prot_op_set_res(bind.data(), kWin + 1); // K3
    feed(bind);
    access(kWin + 1, 0x10000, 64, BDY_RULE_NONE, 0x800000);
    ASSERT_EQ(said, "");
    Op close = op(BDY_PROT_OP_MR_CLOSE);
    bdy_prot_op_set_key(close.data(), kKey);
    feed(close);
    EXPECT_TRUE(bdy_lockstep_failed(ls));
    EXPECT_TRUE(says("L3")) << said;
}

TEST_F(Lockstep, OnlyTheFirstDifferenceIsReported) {
    access(kKey, 0x10100, 64, BDY_RULE_A1, 0);
    const std::string first = said;
    access(kKey, 0x10100, 64, BDY_RULE_A2, 0);
    EXPECT_EQ(said, first);
}

TEST_F(Lockstep, AfterAResetEveryKeyIsUnknown) {
    bdy_lockstep_reset(ls);
    access(kKey, 0x10100, 64, BDY_RULE_NONE, 0x800100);
    EXPECT_TRUE(bdy_lockstep_failed(ls));
}

}  // namespace
