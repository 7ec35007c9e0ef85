// SPDX-License-Identifier: Apache-2.0
/**
 * @file spec.h  The executable specification: the protection rules as a clockless C library.
 *
 * State is what the rules speak of: keys, translations, bound-window counts, protection domains, queue pairs. Every operation is
 * check, then do: a check has no side effect and names the rule that refuses (enum bdy_rule, 0 = granted); a do cannot fail.
 * Nothing here knows of caches, cycles or drains. Layouts are those of regs/gen/bdy_regs.h.
 */
#ifndef BINDERY_SPEC_H
#define BINDERY_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "bdy_regs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bdy_spec_cfg {
    unsigned log_keys, log_mtt, log_qps, log_pds;
    bool strict_ibta; /**< decision 27 */
};

struct bdy_spec;

struct bdy_spec *bdy_spec_new(const struct bdy_spec_cfg *cfg); /**< NULL: no memory */
void bdy_spec_free(struct bdy_spec *s);
void bdy_spec_set_strict(struct bdy_spec *s, bool strict);

struct bdy_spec_access {
    uint32_t key, rights, len, xlen, pd, qpn, qp_gen;
    uint64_t va;
    bool local_key;
};

struct bdy_spec_verdict {
    enum bdy_rule rule;
    bool stale;             /**< H4: dropped without an answer */
    uint64_t bus[2];        /**< where [va, va + xlen) lies, when granted */
    uint32_t bytes[2];      /**< 0: no such range */
};

/** A1 to A11, K11, M8, H4, H5, H8. Pure. */
void bdy_spec_access(const struct bdy_spec *s, const struct bdy_spec_access *a, struct bdy_spec_verdict *out);

/** One operation of the bind pipeline (`op` as in prot_op, 16 words). Returns the rule; `res` gets the result word. */
enum bdy_rule bdy_spec_op(struct bdy_spec *s, const uint64_t *op, uint32_t *res);

/** What a test may look at. */
const uint64_t *bdy_spec_entry(const struct bdy_spec *s, uint32_t slot); /**< mpt_entry */
uint32_t bdy_spec_bound(const struct bdy_spec *s, uint32_t slot);

#ifdef __cplusplus
}
#endif
#endif
