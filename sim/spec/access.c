// SPDX-License-Identifier: Apache-2.0
// Access by key: A1 to A11, K11, M8, H4, H5; then translation (H8).
#include "state.h"

typedef enum bdy_rule rule_fn(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e);

static bool is_kind(const uint64_t *e, enum bdy_mpt_kind kind)
{
    return bdy_mpt_entry_get_kind(e) == kind;
}

/** A1: index known, full key equal, entry VALID. */
static enum bdy_rule a1(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    (void)s;
    bool known = bdy_mpt_entry_get_st(e) == BDY_MPT_ST_VALID && !is_kind(e, BDY_MPT_KIND_NONE) && spec_key_is(e, a->key);
    return known ? BDY_RULE_NONE : BDY_RULE_A1;
}

/** H5: a dead protection domain grants nothing. */
static enum bdy_rule h5(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    (void)a;
    return spec_pd_alive(s, (uint32_t)bdy_mpt_entry_get_pd(e)) ? BDY_RULE_NONE : BDY_RULE_H5;
}

/** K11: a window has no local key. */
static enum bdy_rule k11(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    (void)s;
    return a->local_key && !is_kind(e, BDY_MPT_KIND_MR) ? BDY_RULE_K11 : BDY_RULE_NONE;
}

/** A2, A3, A5: protection domain of region, type 1 window, type 2 window. */
static enum bdy_rule domain(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    (void)s;
    if (bdy_mpt_entry_get_pd(e) == a->pd) return BDY_RULE_NONE;
    if (a->local_key) return BDY_RULE_M8;
    return is_kind(e, BDY_MPT_KIND_MR) ? BDY_RULE_A2 : is_kind(e, BDY_MPT_KIND_MW1) ? BDY_RULE_A3 : BDY_RULE_A5;
}

/** A5, H4: a type 2B window serves one queue pair, in the life it was bound in. */
static enum bdy_rule bound_qp(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    if (!is_kind(e, BDY_MPT_KIND_MW2)) return BDY_RULE_NONE;
    if (bdy_mpt_entry_get_qpn(e) != a->qpn) return BDY_RULE_A5;
    return bdy_mpt_entry_get_qp_gen(e) == spec_qp(s, a->qpn)->gen ? BDY_RULE_NONE : BDY_RULE_H4;
}

/** A7: what is asked for is a subset of the key's own rights (A8). */
static enum bdy_rule a7(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    (void)s;
    if (!(a->rights & ~bdy_mpt_entry_get_rights(e))) return BDY_RULE_NONE;
    return a->local_key ? BDY_RULE_M8 : BDY_RULE_A7;
}

static enum bdy_rule a10(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    (void)s;
    (void)e;
    if (!range_wraps(a->va, a->len)) return BDY_RULE_NONE;
    return a->local_key ? BDY_RULE_M8 : BDY_RULE_A10;
}

/** A9, A11: inside the region or window itself; a zero-based one starts at 0. */
static enum bdy_rule a9(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e)
{
    (void)s;
    bool inside = range_inside(a->va, a->len, bdy_mpt_entry_get_start(e), bdy_mpt_entry_get_len(e));
    if (inside && a->xlen <= a->len && a->xlen <= 4096) return BDY_RULE_NONE;
    return a->local_key ? BDY_RULE_M8 : BDY_RULE_A9;
}

/** A region, in one life of its slot. */
struct owner {
    uint64_t slot, nonce;
};

/** One piece of a paged region: [off, off + bytes) of its page list, inside one page. H8: the translation must be the region's own. */
static bool page(const struct bdy_spec *s, const uint64_t *e, struct owner owner, uint64_t off, uint64_t *bus)
{
    unsigned log_ps = (unsigned)bdy_mpt_entry_get_log_ps(e);
    uint64_t index = bdy_mpt_entry_get_base(e) + (off >> log_ps);
    if (index >> s->cfg.log_mtt) return false;
    const uint64_t *t = s->mtt[index];
    if (!bdy_mtt_entry_get_valid(t) || bdy_mtt_entry_get_owner(t) != owner.slot || bdy_mtt_entry_get_nonce(t) != owner.nonce) return false;
    *bus = bdy_mtt_entry_get_addr(t) + (off & ((1ull << log_ps) - 1));
    return true;
}

static void translate(const struct bdy_spec *s, const struct bdy_spec_access *a, const uint64_t *e, struct bdy_spec_verdict *v)
{
    uint64_t off = bdy_mpt_entry_get_list_off(e) + (a->va - bdy_mpt_entry_get_start(e));
    if (bdy_mpt_entry_get_direct(e)) {
        v->bus[0] = bdy_mpt_entry_get_base(e) + off;
        v->bytes[0] = a->xlen;
        return;
    }
    struct owner owner = is_kind(e, BDY_MPT_KIND_MR) ?
                             (struct owner){key_slot(a->key), key_nonce(a->key)} :
                             (struct owner){bdy_mpt_entry_get_mr_slot(e), bdy_mpt_entry_get_mr_nonce(e)};
    uint64_t size = 1ull << bdy_mpt_entry_get_log_ps(e);
    uint64_t first = size - (off & (size - 1));
    v->bytes[0] = first < a->xlen ? (uint32_t)first : a->xlen;
    v->bytes[1] = a->xlen - v->bytes[0];
    bool ok = page(s, e, owner, off, &v->bus[0]) && (!v->bytes[1] || page(s, e, owner, off + v->bytes[0], &v->bus[1]));
    if (!ok) *v = (struct bdy_spec_verdict){.rule = BDY_RULE_H8};
}

void bdy_spec_access(const struct bdy_spec *s, const struct bdy_spec_access *a, struct bdy_spec_verdict *out)
{
    static rule_fn *const rules[] = {a1, h5, k11, domain, bound_qp, a7, a10, a9};
    *out = (struct bdy_spec_verdict){.rule = BDY_RULE_NONE};
    const struct spec_qp *qp = spec_qp(s, a->qpn);
    if (!qp || !qp->alive || qp->gen != a->qp_gen) {
        *out = (struct bdy_spec_verdict){.rule = BDY_RULE_H4, .stale = true};
        return;
    }
    const uint64_t *e = spec_entry(s, a->key);
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
        out->rule = rules[i](s, a, e);
        if (out->rule) return;
    }
    if (a->xlen) translate(s, a, e, out);
}
