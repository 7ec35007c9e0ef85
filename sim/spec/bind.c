// SPDX-License-Identifier: Apache-2.0
// Bind (B1 to B24) and invalidate (I1 to I13): check, then do.
#include "state.h"

#define WINDOW_RIGHTS                                                                                            \
    (BDY_ACCESS_BIT_LOCAL_WRITE | BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_READ |                      \
     BDY_ACCESS_BIT_REMOTE_ATOMIC | BDY_ACCESS_BIT_ZERO_BASED)
#define REMOTE_RIGHTS (BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_READ | BDY_ACCESS_BIT_REMOTE_ATOMIC)
#define MAX_BOUND ((1u << 21) - 1)

static bool is_type2(const uint64_t *op)
{
    return bdy_prot_op_get_op(op) == BDY_PROT_OP_BIND2;
}

/** B15: type 1, length 0. */
static bool is_unbind(const uint64_t *op)
{
    return !is_type2(op) && bdy_prot_op_get_len(op) == 0;
}

static bool wants(const uint64_t *op, uint64_t bits)
{
    return bdy_prot_op_get_rights(op) & bits;
}

/** Binds and local invalidates are executed for a queue pair that sends; else they are flushed (H12). A remote one needs RTR or later. */
static bool sends(const struct bdy_spec *s, const uint64_t *op)
{
    const struct spec_qp *qp = spec_qp(s, (uint32_t)bdy_prot_op_get_qpn(op));
    bool remote = bdy_prot_op_get_op(op) == BDY_PROT_OP_REMOTE_INV;
    return qp && qp->alive && (qp->st == BDY_QP_ST_RTS || qp->st == BDY_QP_ST_SQD || (remote && qp->st == BDY_QP_ST_RTR));
}

/** B2, B3, B5 to B7, B10, B11, B13, B14, L11: the region and the range inside it. */
static enum bdy_rule check_region(const struct bdy_spec *s, const uint64_t *op, const uint64_t *w)
{
    uint32_t mr_key = (uint32_t)bdy_prot_op_get_mr_key(op);
    const uint64_t *mr = spec_entry(s, mr_key);
    uint64_t addr = bdy_prot_op_get_addr(op), len = bdy_prot_op_get_len(op);
    uint64_t rights = bdy_mpt_entry_get_rights(mr);

    if (spec_is_window(mr)) return BDY_RULE_B3;
    if (bdy_mpt_entry_get_kind(mr) != BDY_MPT_KIND_MR || bdy_mpt_entry_get_st(mr) != BDY_MPT_ST_VALID) return BDY_RULE_B2;
    if (!spec_key_is(mr, mr_key)) return BDY_RULE_B2;
    if (bdy_mpt_entry_get_pd(mr) != bdy_mpt_entry_get_pd(w)) return BDY_RULE_B5;
    if (!(rights & BDY_ACCESS_BIT_MW_BIND)) return BDY_RULE_B6;
    if (wants(op, BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_ATOMIC) && !(rights & BDY_ACCESS_BIT_LOCAL_WRITE)) {
        return BDY_RULE_B7;
    }
    if (bdy_mpt_entry_get_zero_based(mr)) return BDY_RULE_B14;
    if (range_wraps(addr, len)) return BDY_RULE_B11;
    if (!range_inside(addr, len, bdy_mpt_entry_get_start(mr), bdy_mpt_entry_get_len(mr))) {
        return wants(op, BDY_ACCESS_BIT_ZERO_BASED) ? BDY_RULE_B13 : BDY_RULE_B10;
    }
    return s->bound[key_slot(mr_key)] == MAX_BOUND ? BDY_RULE_L11 : BDY_RULE_NONE;
}

enum bdy_rule spec_check_bind(const struct bdy_spec *s, const uint64_t *op)
{
    uint32_t key = (uint32_t)bdy_prot_op_get_key(op);
    const uint64_t *w = spec_entry(s, key);

    if (!sends(s, op)) return BDY_RULE_Q1;
    if (wants(op, ~(uint64_t)WINDOW_RIGHTS)) return BDY_RULE_P8;
    if (s->cfg.strict_ibta && !is_type2(op) && wants(op, BDY_ACCESS_BIT_ZERO_BASED)) return BDY_RULE_P7;
    if (!spec_is_window(w) || !spec_key_is(w, key)) return BDY_RULE_B1;
    if (is_type2(op) != (bdy_mpt_entry_get_kind(w) == BDY_MPT_KIND_MW2)) return BDY_RULE_P2;
    if (!spec_pd_alive(s, (uint32_t)bdy_mpt_entry_get_pd(w))) return BDY_RULE_H5;
    if (bdy_prot_op_get_pd(op) != bdy_mpt_entry_get_pd(w)) return BDY_RULE_B4;
    if (is_unbind(op)) return BDY_RULE_NONE; /* B17: the region is not looked at */
    if (is_type2(op) && bdy_prot_op_get_len(op) == 0) return BDY_RULE_B18;
    if (is_type2(op) && bdy_mpt_entry_get_st(w) == BDY_MPT_ST_VALID) return BDY_RULE_B20;
    return check_region(s, op, w);
}

/** The window stays allocated, with its present key, and grants nothing. */
static void clear_binding(uint64_t *w)
{
    uint64_t old[ENTRY_WORDS];
    for (unsigned i = 0; i < ENTRY_WORDS; i++) {
        old[i] = w[i];
        w[i] = 0;
    }
    bdy_mpt_entry_set_st(w, BDY_MPT_ST_FREE);
    bdy_mpt_entry_set_kind(w, bdy_mpt_entry_get_kind(old));
    bdy_mpt_entry_set_key(w, bdy_mpt_entry_get_key(old));
    bdy_mpt_entry_set_nonce(w, bdy_mpt_entry_get_nonce(old));
    bdy_mpt_entry_set_pd(w, bdy_mpt_entry_get_pd(old));
}

static void copy_translation(uint64_t *w, const uint64_t *mr, uint64_t addr)
{
    bdy_mpt_entry_set_direct(w, bdy_mpt_entry_get_direct(mr));
    bdy_mpt_entry_set_log_ps(w, bdy_mpt_entry_get_log_ps(mr));
    bdy_mpt_entry_set_base(w, bdy_mpt_entry_get_base(mr));
    bdy_mpt_entry_set_list_off(w, bdy_mpt_entry_get_list_off(mr) + (addr - bdy_mpt_entry_get_start(mr)));
}

void spec_do_bind(struct bdy_spec *s, const uint64_t *op)
{
    uint64_t *w = spec_entry_rw(s, (uint32_t)bdy_prot_op_get_key(op));
    uint32_t mr_key = (uint32_t)bdy_prot_op_get_mr_key(op);
    uint64_t addr = bdy_prot_op_get_addr(op);

    if (bdy_mpt_entry_get_st(w) == BDY_MPT_ST_VALID) spec_release(s, w); /* B19 */
    clear_binding(w);
    /* K3, B16: type 1 moves by one; K4: type 2 takes the consumer's byte. */
    bdy_mpt_entry_set_key(w, is_type2(op) ? bdy_prot_op_get_new_key(op) : bdy_mpt_entry_get_key(w) + 1);
    if (is_unbind(op)) return;

    const uint64_t *mr = spec_entry(s, mr_key);
    bool zero_based = wants(op, BDY_ACCESS_BIT_ZERO_BASED);
    bdy_mpt_entry_set_st(w, BDY_MPT_ST_VALID);
    bdy_mpt_entry_set_zero_based(w, zero_based);
    bdy_mpt_entry_set_rights(w, bdy_prot_op_get_rights(op) & REMOTE_RIGHTS); /* P8: LOCAL_WRITE grants nothing */
    bdy_mpt_entry_set_start(w, zero_based ? 0 : addr);
    bdy_mpt_entry_set_len(w, bdy_prot_op_get_len(op));
    copy_translation(w, mr, addr);
    bdy_mpt_entry_set_mr_slot(w, key_slot(mr_key));
    bdy_mpt_entry_set_mr_nonce(w, key_nonce(mr_key));
    if (is_type2(op)) { /* B23 */
        uint32_t qpn = (uint32_t)bdy_prot_op_get_qpn(op);
        bdy_mpt_entry_set_qpn(w, qpn);
        bdy_mpt_entry_set_qp_gen(w, spec_qp(s, qpn)->gen);
    }
    s->bound[key_slot(mr_key)]++;
}

enum bdy_rule spec_check_invalidate(const struct bdy_spec *s, const uint64_t *op)
{
    uint32_t key = (uint32_t)bdy_prot_op_get_key(op), qpn = (uint32_t)bdy_prot_op_get_qpn(op);
    const uint64_t *w = spec_entry(s, key);

    if (!sends(s, op)) return BDY_RULE_Q1;
    if (bdy_mpt_entry_get_kind(w) == BDY_MPT_KIND_NONE || !spec_key_is(w, key)) return BDY_RULE_I3;
    if (bdy_mpt_entry_get_kind(w) == BDY_MPT_KIND_MR) return BDY_RULE_I13;
    if (bdy_mpt_entry_get_kind(w) == BDY_MPT_KIND_MW1) return BDY_RULE_I2;
    if (!spec_pd_alive(s, (uint32_t)bdy_mpt_entry_get_pd(w))) return BDY_RULE_H5;
    if (bdy_mpt_entry_get_st(w) != BDY_MPT_ST_VALID) return BDY_RULE_I6;
    if (bdy_mpt_entry_get_pd(w) != bdy_prot_op_get_pd(op) || bdy_mpt_entry_get_qpn(w) != qpn) return BDY_RULE_I5;
    return bdy_mpt_entry_get_qp_gen(w) == spec_qp(s, qpn)->gen ? BDY_RULE_NONE : BDY_RULE_H4;
}

void spec_do_invalidate(struct bdy_spec *s, const uint64_t *op)
{
    uint64_t *w = spec_entry_rw(s, (uint32_t)bdy_prot_op_get_key(op));
    spec_release(s, w);
    clear_binding(w);
}
