// SPDX-License-Identifier: Apache-2.0
// State of the specification, and the one door for operations.
#include "state.h"

#include <stdlib.h>

struct bdy_spec *bdy_spec_new(const struct bdy_spec_cfg *cfg)
{
    struct bdy_spec *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->cfg = *cfg;
    s->mpt = calloc((size_t)1 << cfg->log_keys, sizeof *s->mpt);
    s->mtt = calloc((size_t)1 << cfg->log_mtt, sizeof *s->mtt);
    s->bound = calloc((size_t)1 << cfg->log_keys, sizeof *s->bound);
    s->pd_alive = calloc((size_t)1 << cfg->log_pds, sizeof *s->pd_alive);
    s->qp = calloc((size_t)1 << cfg->log_qps, sizeof *s->qp);
    if (s->mpt && s->mtt && s->bound && s->pd_alive && s->qp) return s;
    bdy_spec_free(s);
    return NULL;
}

void bdy_spec_free(struct bdy_spec *s)
{
    if (!s) return;
    free(s->mpt);
    free(s->mtt);
    free(s->bound);
    free(s->pd_alive);
    free(s->qp);
    free(s);
}

void bdy_spec_set_strict(struct bdy_spec *s, bool strict)
{
    s->cfg.strict_ibta = strict;
}

const uint64_t *spec_entry(const struct bdy_spec *s, uint32_t key)
{
    static const uint64_t none[ENTRY_WORDS];
    return key_slot(key) >> s->cfg.log_keys ? none : s->mpt[key_slot(key)];
}

uint64_t *spec_entry_rw(struct bdy_spec *s, uint32_t key)
{
    return s->mpt[key_slot(key)];
}

bool spec_key_is(const uint64_t *e, uint32_t key)
{
    return bdy_mpt_entry_get_nonce(e) == key_nonce(key) && bdy_mpt_entry_get_key(e) == key_low(key);
}

uint32_t spec_key_of(const uint64_t *e, uint32_t slot)
{
    return slot << 12 | (uint32_t)bdy_mpt_entry_get_nonce(e) << 8 | (uint32_t)bdy_mpt_entry_get_key(e);
}

bool spec_is_window(const uint64_t *e)
{
    uint64_t kind = bdy_mpt_entry_get_kind(e);
    return kind == BDY_MPT_KIND_MW1 || kind == BDY_MPT_KIND_MW2;
}

bool spec_pd_alive(const struct bdy_spec *s, uint32_t pd)
{
    return !(pd >> s->cfg.log_pds) && s->pd_alive[pd];
}

struct spec_qp *spec_qp(const struct bdy_spec *s, uint32_t qpn)
{
    uint32_t slot = qpn - BDY_QPN_BASE;
    return qpn < BDY_QPN_BASE || slot >> s->cfg.log_qps ? NULL : &s->qp[slot];
}

void spec_release(struct bdy_spec *s, const uint64_t *window)
{
    s->bound[bdy_mpt_entry_get_mr_slot(window)]--;
}

const uint64_t *bdy_spec_entry(const struct bdy_spec *s, uint32_t slot)
{
    return spec_entry(s, slot << 12);
}

uint32_t bdy_spec_bound(const struct bdy_spec *s, uint32_t slot)
{
    return slot >> s->cfg.log_keys ? 0 : s->bound[slot];
}

/** H12: binds and invalidates answer with the window's present key, also when refused; but not to another domain, or to a guess. */
static uint32_t present_key(const struct bdy_spec *s, const uint64_t *op)
{
    uint32_t key = (uint32_t)bdy_prot_op_get_key(op);
    const uint64_t *e = spec_entry(s, key);
    bool own = spec_is_window(e) && bdy_mpt_entry_get_nonce(e) == key_nonce(key) && bdy_mpt_entry_get_pd(e) == bdy_prot_op_get_pd(op);
    return own ? spec_key_of(e, key_slot(key)) : 0;
}

enum bdy_rule bdy_spec_op(struct bdy_spec *s, const uint64_t *op, uint32_t *res)
{
    enum bdy_rule rule;
    *res = 0;
    switch (bdy_prot_op_get_op(op)) {
    case BDY_PROT_OP_BIND1:
    case BDY_PROT_OP_BIND2:
        rule = spec_check_bind(s, op);
        if (!rule) spec_do_bind(s, op);
        *res = present_key(s, op);
        return rule;
    case BDY_PROT_OP_LOCAL_INV:
    case BDY_PROT_OP_REMOTE_INV:
        rule = spec_check_invalidate(s, op);
        if (!rule) spec_do_invalidate(s, op);
        *res = present_key(s, op);
        return rule;
    default:
        rule = spec_check_life(s, op);
        if (!rule) spec_do_life(s, op, res);
        return rule;
    }
}
