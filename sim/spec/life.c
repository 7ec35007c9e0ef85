// SPDX-License-Identifier: Apache-2.0
// Life-cycle operations that firmware posts (H2): L1 to L11, M5, N1, N5, H2, H4, H5.
#include "state.h"

#include <stddef.h>

#define REGION_RIGHTS                                                                                            \
    (BDY_ACCESS_BIT_LOCAL_WRITE | BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_READ |                      \
     BDY_ACCESS_BIT_REMOTE_ATOMIC | BDY_ACCESS_BIT_MW_BIND)

static const uint64_t *body_of(const uint64_t *op)
{
    return op + BDY_PROT_OP_BODY0_LSB / 64;
}

static uint32_t op_key(const uint64_t *op)
{
    return (uint32_t)bdy_prot_op_get_key(op);
}

static bool slot_exists(const struct bdy_spec *s, uint32_t key)
{
    return !(key_slot(key) >> s->cfg.log_keys);
}

/** The region that the whole key names is allocated. */
static bool names_region(const struct bdy_spec *s, uint32_t key)
{
    const uint64_t *e = spec_entry(s, key);
    return bdy_mpt_entry_get_kind(e) == BDY_MPT_KIND_MR && spec_key_is(e, key);
}

static bool covers(const uint64_t *region, uint64_t index)
{
    uint64_t base = bdy_mpt_entry_get_base(region);
    return index >= base && index - base < bdy_mpt_entry_get_npages(region);
}

static bool list_ok(const struct bdy_spec *s, const uint64_t *e)
{
    uint64_t npages = bdy_mpt_entry_get_npages(e), base = bdy_mpt_entry_get_base(e), room = 1ull << s->cfg.log_mtt;
    unsigned log_ps = (unsigned)bdy_mpt_entry_get_log_ps(e);
    if (npages && (log_ps < 12 || log_ps > 30)) return false;
    if (npages > room || base > room - npages) return false;
    return range_inside(bdy_mpt_entry_get_list_off(e), bdy_mpt_entry_get_len(e), 0, npages << log_ps);
}

static bool direct_ok(const uint64_t *e)
{
    uint64_t base = bdy_mpt_entry_get_base(e), off = bdy_mpt_entry_get_list_off(e);
    return bdy_mpt_entry_get_npages(e) == 0 && off <= UINT64_MAX - base && !range_wraps(base + off, bdy_mpt_entry_get_len(e));
}

static enum bdy_rule check_image(const struct bdy_spec *s, const uint64_t *e)
{
    bool zero_based = bdy_mpt_entry_get_zero_based(e);
    uint64_t allowed = REGION_RIGHTS | (zero_based ? BDY_ACCESS_BIT_ZERO_BASED : 0);
    if (bdy_mpt_entry_get_kind(e) != BDY_MPT_KIND_MR || (bdy_mpt_entry_get_rights(e) & ~allowed)) return BDY_RULE_N1;
    if (zero_based && bdy_mpt_entry_get_start(e)) return BDY_RULE_N1;
    if (bdy_mpt_entry_get_qpn(e) || bdy_mpt_entry_get_mr_slot(e) || bdy_mpt_entry_get_mr_nonce(e) || bdy_mpt_entry_get_qp_gen(e)) {
        return BDY_RULE_N1;
    }
    if (!(bdy_mpt_entry_get_direct(e) ? direct_ok(e) : list_ok(s, e))) return BDY_RULE_N1;
    if (range_wraps(bdy_mpt_entry_get_start(e), bdy_mpt_entry_get_len(e))) return BDY_RULE_M5;
    return spec_pd_alive(s, (uint32_t)bdy_mpt_entry_get_pd(e)) ? BDY_RULE_NONE : BDY_RULE_H5;
}

static bool image_key_ok(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *e = body_of(op);
    return slot_exists(s, op_key(op)) && bdy_mpt_entry_get_nonce(e) == key_nonce(op_key(op)) && bdy_mpt_entry_rsvd_zero(e) &&
           !bdy_mpt_entry_get_null_mr(e);
}

static enum bdy_rule check_mr_open(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *e = body_of(op), *now = spec_entry(s, op_key(op));
    uint64_t st = bdy_mpt_entry_get_st(e);
    bool opens = names_region(s, op_key(op)) && bdy_mpt_entry_get_st(now) == BDY_MPT_ST_FREE && st == BDY_MPT_ST_VALID;
    if (!image_key_ok(s, op) || bdy_mpt_entry_get_key(e) != key_low(op_key(op))) return BDY_RULE_N1;
    if (st != BDY_MPT_ST_FREE && st != BDY_MPT_ST_VALID) return BDY_RULE_N1;
    if (bdy_mpt_entry_get_kind(now) != BDY_MPT_KIND_NONE && !opens) return BDY_RULE_N1;
    return check_image(s, e);
}

static enum bdy_rule check_mr_replace(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *e = body_of(op);
    if (!image_key_ok(s, op) || bdy_mpt_entry_get_st(e) != BDY_MPT_ST_VALID) return BDY_RULE_N1;
    if (!names_region(s, op_key(op)) || bdy_mpt_entry_get_st(spec_entry(s, op_key(op))) != BDY_MPT_ST_VALID) return BDY_RULE_N1;
    if (s->bound[key_slot(op_key(op))]) return BDY_RULE_L3; /* L10 */
    return check_image(s, e);
}

static enum bdy_rule check_mr_close(const struct bdy_spec *s, const uint64_t *op)
{
    if (!slot_exists(s, op_key(op)) || !names_region(s, op_key(op))) return BDY_RULE_N1;
    return s->bound[key_slot(op_key(op))] ? BDY_RULE_L3 : BDY_RULE_NONE;
}

static enum bdy_rule check_mw_alloc(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *e = body_of(op);
    if (!image_key_ok(s, op) || bdy_mpt_entry_get_key(e) != key_low(op_key(op))) return BDY_RULE_N1;
    if (!spec_is_window(e) || bdy_mpt_entry_get_st(e) != BDY_MPT_ST_FREE) return BDY_RULE_N1;
    if (bdy_mpt_entry_get_kind(spec_entry(s, op_key(op))) != BDY_MPT_KIND_NONE) return BDY_RULE_N1;
    return spec_pd_alive(s, (uint32_t)bdy_mpt_entry_get_pd(e)) ? BDY_RULE_NONE : BDY_RULE_H5;
}

/** L1, L2: bound or not; the low key byte is not looked at, as a bind may race. */
static enum bdy_rule check_mw_free(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *e = spec_entry(s, op_key(op));
    return spec_is_window(e) && bdy_mpt_entry_get_nonce(e) == key_nonce(op_key(op)) ? BDY_RULE_NONE : BDY_RULE_L2;
}

static bool mtt_image_ok(const uint64_t *op, unsigned log_ps)
{
    const uint64_t *t = body_of(op);
    for (unsigned i = MTT_WORDS; i < 8; i++) {
        if (t[i]) return false;
    }
    uint64_t owner = bdy_mtt_entry_get_owner(t), nonce = bdy_mtt_entry_get_nonce(t);
    return bdy_mtt_entry_rsvd_zero(t) && !(bdy_mtt_entry_get_addr(t) & ((1ull << log_ps) - 1)) &&
           (owner == 0 || owner == key_slot(op_key(op))) && (nonce == 0 || nonce == key_nonce(op_key(op)));
}

/** H2: entries that an open region uses are not written. */
static enum bdy_rule check_mtt_write(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *e = spec_entry(s, op_key(op));
    uint64_t index = bdy_prot_op_get_index(op);
    if (!slot_exists(s, op_key(op)) || !names_region(s, op_key(op)) || bdy_mpt_entry_get_direct(e) || !covers(e, index)) {
        return BDY_RULE_N1;
    }
    if (!mtt_image_ok(op, (unsigned)bdy_mpt_entry_get_log_ps(e))) return BDY_RULE_N1;
    if (bdy_mpt_entry_get_st(e) != BDY_MPT_ST_FREE) return BDY_RULE_H2;
    const uint64_t *old = s->mtt[index];
    if (!bdy_mtt_entry_get_valid(old)) return BDY_RULE_NONE;
    const uint64_t *owner = spec_entry(s, (uint32_t)bdy_mtt_entry_get_owner(old) << 12);
    bool used = bdy_mpt_entry_get_kind(owner) == BDY_MPT_KIND_MR && bdy_mpt_entry_get_st(owner) == BDY_MPT_ST_VALID &&
                !bdy_mpt_entry_get_direct(owner) && covers(owner, index);
    return used ? BDY_RULE_H2 : BDY_RULE_NONE;
}

static enum bdy_rule check_qp_err(const struct bdy_spec *s, const uint64_t *op)
{
    const struct spec_qp *qp = spec_qp(s, (uint32_t)bdy_prot_op_get_qpn(op));
    if (!qp) return BDY_RULE_N1;
    /* E4: who finds it in ERR already is told so, and raises no second event. */
    if (!qp->alive || qp->st == BDY_QP_ST_RESET || qp->st == BDY_QP_ST_ERR) return BDY_RULE_Q1;
    bool sends = qp->st == BDY_QP_ST_RTS || qp->st == BDY_QP_ST_SQD || qp->st == BDY_QP_ST_SQE;
    return bdy_prot_op_get_sqe(op) && !sends ? BDY_RULE_Q1 : BDY_RULE_NONE;
}

/** N5: which states may follow which. */
static bool may_follow(enum bdy_qp_st from, enum bdy_qp_st to)
{
#define S(x) (1u << BDY_QP_ST_##x)
    static const unsigned from_of[] = {
        [BDY_QP_ST_RESET] = ~0u, [BDY_QP_ST_ERR] = ~0u,
        [BDY_QP_ST_INIT] = S(RESET) | S(INIT), [BDY_QP_ST_RTR] = S(INIT) | S(RTR),
        [BDY_QP_ST_RTS] = S(RTR) | S(RTS) | S(SQD) | S(SQE), [BDY_QP_ST_SQD] = S(RTS) | S(SQD), [BDY_QP_ST_SQE] = S(SQE)};
#undef S
    return (unsigned)to < sizeof from_of / sizeof *from_of && (from_of[to] >> from & 1u);
}

static enum bdy_rule check_ctx_qp(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *body = body_of(op);
    uint64_t index = bdy_prot_op_get_index(op);
    if (index >> s->cfg.log_qps) return BDY_RULE_N1;
    if (bdy_prot_op_get_half(op)) return bdy_qp_ctx1_rsvd_zero(body) ? BDY_RULE_NONE : BDY_RULE_N1;
    if (!bdy_qp_ctx0_rsvd_zero(body)) return BDY_RULE_N1;
    enum bdy_qp_st to = (enum bdy_qp_st)bdy_qp_ctx0_get_st(body);
    if (!may_follow(s->qp[index].st, to)) return BDY_RULE_N5;
    return s->qp[index].gen == UINT32_MAX && to != BDY_QP_ST_RESET ? BDY_RULE_H4 : BDY_RULE_NONE;
}

static enum bdy_rule check_ctx_write(const struct bdy_spec *s, const uint64_t *op)
{
    const uint64_t *body = body_of(op);
    uint64_t index = bdy_prot_op_get_index(op);
    switch (bdy_prot_op_get_ctx_kind(op)) {
    case BDY_CTX_KIND_QP: return check_ctx_qp(s, op);
    case BDY_CTX_KIND_CQ:
        return !bdy_prot_op_get_half(op) && !(index >> BDY_LOG_CQS) && bdy_cq_ctx_rsvd_zero(body) ? BDY_RULE_NONE : BDY_RULE_N1;
    case BDY_CTX_KIND_EQ:
        return !bdy_prot_op_get_half(op) && !(index >> BDY_LOG_EQS) && bdy_eq_ctx_rsvd_zero(body) ? BDY_RULE_NONE : BDY_RULE_N1;
    default: return BDY_RULE_N1;
    }
}

enum bdy_rule spec_check_life(const struct bdy_spec *s, const uint64_t *op)
{
    switch (bdy_prot_op_get_op(op)) {
    case BDY_PROT_OP_NOP: return BDY_RULE_NONE;
    case BDY_PROT_OP_MR_OPEN: return check_mr_open(s, op);
    case BDY_PROT_OP_MR_REPLACE: return check_mr_replace(s, op);
    case BDY_PROT_OP_MR_CLOSE: return check_mr_close(s, op);
    case BDY_PROT_OP_MW_ALLOC: return check_mw_alloc(s, op);
    case BDY_PROT_OP_MW_FREE: return check_mw_free(s, op);
    case BDY_PROT_OP_MTT_WRITE: return check_mtt_write(s, op);
    case BDY_PROT_OP_QP_BUMP: return spec_qp(s, (uint32_t)bdy_prot_op_get_qpn(op)) ? BDY_RULE_NONE : BDY_RULE_N1;
    case BDY_PROT_OP_QP_ERR: return check_qp_err(s, op);
    case BDY_PROT_OP_PD_OPEN:
    case BDY_PROT_OP_PD_KILL: return bdy_prot_op_get_pd(op) >> s->cfg.log_pds ? BDY_RULE_N1 : BDY_RULE_NONE;
    case BDY_PROT_OP_CTX_WRITE: return check_ctx_write(s, op);
    default: return BDY_RULE_N1;
    }
}

static void write_entry(struct bdy_spec *s, uint32_t key, const uint64_t *image)
{
    uint64_t *e = spec_entry_rw(s, key);
    for (unsigned i = 0; i < ENTRY_WORDS; i++) e[i] = image ? image[i] : 0;
}

static void bump(struct spec_qp *qp, uint32_t *res)
{
    if (qp->gen != UINT32_MAX) qp->gen++; /* H4: never wraps; at all-ones the number is retired */
    qp->alive = false;
    qp->st = BDY_QP_ST_RESET;
    *res = qp->gen;
}

static void write_ctx(struct bdy_spec *s, const uint64_t *op)
{
    if (bdy_prot_op_get_ctx_kind(op) != BDY_CTX_KIND_QP || bdy_prot_op_get_half(op)) return;
    struct spec_qp *qp = &s->qp[bdy_prot_op_get_index(op)];
    qp->st = (enum bdy_qp_st)bdy_qp_ctx0_get_st(body_of(op));
    qp->alive = qp->st != BDY_QP_ST_RESET;
}

void spec_do_life(struct bdy_spec *s, const uint64_t *op, uint32_t *res)
{
    uint32_t key = op_key(op);
    const uint64_t *body = body_of(op);
    switch (bdy_prot_op_get_op(op)) {
    case BDY_PROT_OP_MR_OPEN:
    case BDY_PROT_OP_MR_REPLACE:
    case BDY_PROT_OP_MW_ALLOC:
        write_entry(s, key, body);
        *res = key;
        break;
    case BDY_PROT_OP_MR_CLOSE:
        write_entry(s, key, NULL);
        break;
    case BDY_PROT_OP_MW_FREE:
        if (bdy_mpt_entry_get_st(spec_entry(s, key)) == BDY_MPT_ST_VALID) spec_release(s, spec_entry(s, key));
        write_entry(s, key, NULL);
        break;
    case BDY_PROT_OP_MTT_WRITE: {
        uint64_t *t = s->mtt[bdy_prot_op_get_index(op)];
        t[0] = body[0];
        t[1] = body[1];
        bdy_mtt_entry_set_owner(t, key_slot(key));
        bdy_mtt_entry_set_nonce(t, key_nonce(key));
        bdy_mtt_entry_set_valid(t, 1);
        break;
    }
    case BDY_PROT_OP_QP_BUMP:
        bump(spec_qp(s, (uint32_t)bdy_prot_op_get_qpn(op)), res);
        break;
    case BDY_PROT_OP_QP_ERR:
        spec_qp(s, (uint32_t)bdy_prot_op_get_qpn(op))->st = bdy_prot_op_get_sqe(op) ? BDY_QP_ST_SQE : BDY_QP_ST_ERR;
        break;
    case BDY_PROT_OP_PD_OPEN: s->pd_alive[bdy_prot_op_get_pd(op)] = true; break;
    case BDY_PROT_OP_PD_KILL: s->pd_alive[bdy_prot_op_get_pd(op)] = false; break;
    case BDY_PROT_OP_CTX_WRITE: write_ctx(s, op); break;
    default: break;
    }
}
