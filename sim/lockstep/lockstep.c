// SPDX-License-Identifier: Apache-2.0
// See lockstep.h.
#include "lockstep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/spec/spec.h"

struct bdy_lockstep {
    struct bdy_lockstep_cfg cfg;
    struct bdy_spec *spec;
    uint64_t checked, seen[256];
    bool failed;
};

static struct bdy_spec *fresh_spec(const struct bdy_lockstep_cfg *cfg)
{
    struct bdy_spec_cfg sc = {.log_keys = cfg->log_keys, .log_mtt = cfg->log_mtt, .log_qps = cfg->log_qps,
                              .log_pds = cfg->log_pds, .strict_ibta = cfg->strict_ibta};
    return bdy_spec_new(&sc);
}

struct bdy_lockstep *bdy_lockstep_new(const struct bdy_lockstep_cfg *cfg)
{
    struct bdy_lockstep *ls = calloc(1, sizeof *ls);
    if (!ls) return NULL;
    ls->cfg = *cfg;
    ls->spec = fresh_spec(cfg);
    if (ls->spec) return ls;
    free(ls);
    return NULL;
}

void bdy_lockstep_free(struct bdy_lockstep *ls)
{
    if (!ls) return;
    bdy_spec_free(ls->spec);
    free(ls);
}

void bdy_lockstep_set_strict(struct bdy_lockstep *ls, bool strict)
{
    ls->cfg.strict_ibta = strict;
    bdy_spec_set_strict(ls->spec, strict);
}

static void fail(struct bdy_lockstep *ls, const char *text)
{
    ls->failed = true;
    if (ls->cfg.report) ls->cfg.report(ls->cfg.arg, text);
}

void bdy_lockstep_reset(struct bdy_lockstep *ls)
{
    struct bdy_spec *spec = fresh_spec(&ls->cfg);
    if (!spec) {
        fail(ls, "lockstep: no memory at a reset");
        return;
    }
    bdy_spec_free(ls->spec);
    ls->spec = spec;
}

static void check_access(struct bdy_lockstep *ls, const struct bdy_trace *ev)
{
    const uint64_t *w = ev->words;
    struct bdy_spec_access a = {.key = (uint32_t)bdy_trc_access_get_key(w), .rights = (uint32_t)bdy_trc_access_get_rights(w),
                                .len = (uint32_t)bdy_trc_access_get_len(w), .xlen = (uint32_t)bdy_trc_access_get_xlen(w),
                                .pd = (uint32_t)bdy_trc_access_get_pd(w), .qpn = (uint32_t)bdy_trc_access_get_qpn(w),
                                .qp_gen = (uint32_t)bdy_trc_access_get_qp_gen(w), .va = bdy_trc_access_get_va(w),
                                .local_key = bdy_trc_access_get_local_key(w)};
    unsigned rule = (unsigned)bdy_trc_access_get_rule(w);
    struct bdy_spec_verdict v;
    bdy_spec_access(ls->spec, &a, &v);
    ls->checked++;
    ls->seen[rule]++;
    bool same = rule == (unsigned)v.rule;
    if (same && rule == BDY_RULE_NONE && a.xlen) {
        same = bdy_trc_access_get_bus0(w) == v.bus[0] && bdy_trc_access_get_len0(w) == v.bytes[0] &&
               bdy_trc_access_get_len1(w) == v.bytes[1] && (!v.bytes[1] || bdy_trc_access_get_bus1(w) == v.bus[1]);
    }
    if (same) return;
    char text[640];
    snprintf(text, sizeof text,
             "lockstep: access verdict differs at cycle %" PRIu64 ": device %s, specification %s\n"
             "  key %#x va %#" PRIx64 " len %u xlen %u rights %#x %s pd %u qp %#x generation %u\n"
             "  device  %#" PRIx64 "+%u, %#" PRIx64 "+%u\n  specification %#" PRIx64 "+%u, %#" PRIx64 "+%u",
             ev->cycle, bdy_rule_name(rule), bdy_rule_name(v.rule), a.key, a.va, a.len, a.xlen, a.rights,
             a.local_key ? "local" : "remote", a.pd, a.qpn, a.qp_gen, bdy_trc_access_get_bus0(w),
             (unsigned)bdy_trc_access_get_len0(w), bdy_trc_access_get_bus1(w), (unsigned)bdy_trc_access_get_len1(w), v.bus[0],
             v.bytes[0], v.bus[1], v.bytes[1]);
    fail(ls, text);
}

/** Operations whose result word is part of the contract. */
static bool has_result(uint64_t op)
{
    return op == BDY_PROT_OP_BIND1 || op == BDY_PROT_OP_BIND2 || op == BDY_PROT_OP_LOCAL_INV || op == BDY_PROT_OP_REMOTE_INV ||
           op == BDY_PROT_OP_QP_BUMP;
}

static void check_op(struct bdy_lockstep *ls, const struct bdy_trace *ev)
{
    const uint64_t *w = ev->words;
    unsigned rule = (unsigned)bdy_prot_op_get_rule(w);
    uint32_t res = (uint32_t)bdy_prot_op_get_res(w), want_res;
    enum bdy_rule want = bdy_spec_op(ls->spec, w, &want_res);
    ls->checked++;
    ls->seen[rule]++;
    if (rule == (unsigned)want && (!has_result(bdy_prot_op_get_op(w)) || res == want_res)) return;
    char text[512];
    snprintf(text, sizeof text,
             "lockstep: %s differs at cycle %" PRIu64 ": device %s result %#x, specification %s result %#x\n"
             "  key %#x region %#x pd %u qp %#x rights %#x addr %#" PRIx64 " len %#" PRIx64 " index %u",
             bdy_prot_op_name((unsigned)bdy_prot_op_get_op(w)), ev->cycle, bdy_rule_name(rule), res, bdy_rule_name(want), want_res,
             (unsigned)bdy_prot_op_get_key(w), (unsigned)bdy_prot_op_get_mr_key(w), (unsigned)bdy_prot_op_get_pd(w),
             (unsigned)bdy_prot_op_get_qpn(w), (unsigned)bdy_prot_op_get_rights(w), bdy_prot_op_get_addr(w), bdy_prot_op_get_len(w),
             (unsigned)bdy_prot_op_get_index(w));
    fail(ls, text);
}

void bdy_lockstep_event(struct bdy_lockstep *ls, const struct bdy_trace *ev)
{
    if (ls->failed) return;
    if (ev->kind == BDY_TRC_KIND_ACCESS && ev->nwords >= BDY_TRC_ACCESS_WORDS) check_access(ls, ev);
    else if (ev->kind == BDY_TRC_KIND_OP && ev->nwords >= BDY_PROT_OP_WORDS) check_op(ls, ev);
}

uint64_t bdy_lockstep_checked(const struct bdy_lockstep *ls)
{
    return ls->checked;
}

bool bdy_lockstep_failed(const struct bdy_lockstep *ls)
{
    return ls->failed;
}

uint64_t bdy_lockstep_seen(const struct bdy_lockstep *ls, unsigned rule)
{
    return rule < 256 ? ls->seen[rule] : 0;
}
