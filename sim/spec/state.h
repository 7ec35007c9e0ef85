// SPDX-License-Identifier: Apache-2.0
/** @file state.h  The specification's inside: state, and what its files share. */
#ifndef BINDERY_SPEC_STATE_H
#define BINDERY_SPEC_STATE_H

#include "spec.h"

#define ENTRY_WORDS BDY_MPT_ENTRY_WORDS
#define MTT_WORDS BDY_MTT_ENTRY_WORDS

struct spec_qp {
    enum bdy_qp_st st;
    uint32_t gen;
    bool alive;             /**< false from a bump until a context write leaves RESET */
};

struct bdy_spec {
    struct bdy_spec_cfg cfg;
    uint64_t (*mpt)[ENTRY_WORDS];
    uint64_t (*mtt)[MTT_WORDS];
    uint32_t *bound;        /**< windows bound to the region in this slot (L11) */
    bool *pd_alive;
    struct spec_qp *qp;
};

/* A key is {slot[19:0], nonce[3:0], low byte}. */
static inline uint32_t key_slot(uint32_t key) { return key >> 12; }
static inline uint32_t key_nonce(uint32_t key) { return key >> 8 & 0xf; }
static inline uint32_t key_low(uint32_t key) { return key & 0xff; }

/** The entry under a key's slot; one of zeroes when the slot does not exist. */
const uint64_t *spec_entry(const struct bdy_spec *s, uint32_t key);
uint64_t *spec_entry_rw(struct bdy_spec *s, uint32_t key); /**< only for a key whose slot exists */
/** Nonce and low byte are the entry's. */
bool spec_key_is(const uint64_t *e, uint32_t key);
/** The key that names the entry now. */
uint32_t spec_key_of(const uint64_t *e, uint32_t slot);
bool spec_is_window(const uint64_t *e);
bool spec_pd_alive(const struct bdy_spec *s, uint32_t pd);
/** A queue pair by number; NULL: no such number. */
struct spec_qp *spec_qp(const struct bdy_spec *s, uint32_t qpn);

/** [addr, addr + len) passes 2^64; ending there is legal (B12). */
static inline bool range_wraps(uint64_t addr, uint64_t len) { return len != 0 && len - 1 > UINT64_MAX - addr; }
/** [addr, addr + len) lies inside [start, start + size). */
static inline bool range_inside(uint64_t addr, uint64_t len, uint64_t start, uint64_t size)
{
    return addr >= start && addr - start <= size && len <= size - (addr - start);
}

/** A window stops being bound: the count of its region falls (L11). */
void spec_release(struct bdy_spec *s, const uint64_t *window);

enum bdy_rule spec_check_bind(const struct bdy_spec *s, const uint64_t *op);
void spec_do_bind(struct bdy_spec *s, const uint64_t *op);
enum bdy_rule spec_check_invalidate(const struct bdy_spec *s, const uint64_t *op);
void spec_do_invalidate(struct bdy_spec *s, const uint64_t *op);
enum bdy_rule spec_check_life(const struct bdy_spec *s, const uint64_t *op);
void spec_do_life(struct bdy_spec *s, const uint64_t *op, uint32_t *res);

#endif
