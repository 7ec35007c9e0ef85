// SPDX-License-Identifier: Apache-2.0
// Memory regions. A paged region is reserved (FREE), gets its pages, and is opened (VALID) when it
// has all of them.
#include "fw.h"

#define LOG_PS_MIN 12u
#define LOG_PS_MAX 30u

/** What CREATE_MR asks for, unpacked. */
struct region {
    uint64_t start, len, list_off, base;
    uint32_t pd, rights, log_ps, npages, inline_pages;
    bool direct; /**< no page list; a null region is one, too */
    bool null_mr;
};

static void unpack(struct region *r, const uint64_t *in)
{
    r->start = bdy_create_mr_in_get_start(in);
    r->len = bdy_create_mr_in_get_len(in);
    r->list_off = bdy_create_mr_in_get_list_off(in);
    r->base = bdy_create_mr_in_get_base(in);
    r->pd = (uint32_t)bdy_create_mr_in_get_pd(in);
    r->rights = (uint32_t)bdy_create_mr_in_get_rights(in);
    r->log_ps = (uint32_t)bdy_create_mr_in_get_log_ps(in);
    r->npages = (uint32_t)bdy_create_mr_in_get_npages(in);
    r->inline_pages = (uint32_t)bdy_create_mr_in_get_inline_pages(in);
    r->null_mr = bdy_create_mr_in_get_null_mr(in) != 0;
    r->direct = r->null_mr || bdy_create_mr_in_get_direct(in) != 0;
}

/** M1 and the allow-list. */
static bool rights_ok(uint32_t rights)
{
    const uint32_t writes = BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_ATOMIC;
    return (rights & ~(FW_MR_RIGHTS | BDY_ACCESS_BIT_ZERO_BASED)) == 0 &&
           ((rights & writes) == 0 || (rights & BDY_ACCESS_BIT_LOCAL_WRITE) != 0);
}

/** Decision 10: an empty range always fits, any other must not wrap 2^64. */
static bool range_ok(uint64_t start, uint64_t len)
{
    return len == 0 || start <= UINT64_MAX - (len - 1u);
}

static bool direct_ok(const struct region *r)
{
    if (r->npages || r->inline_pages || r->log_ps || !range_ok(r->base, r->list_off)) {
        return false;
    }
    return r->len == 0 ? r->base == 0 && r->list_off == 0 : range_ok(r->base + r->list_off, r->len);
}

/** The list holds exactly the pages that the range touches. */
static bool pages_ok(const struct fw *fw, const struct region *r)
{
    if (r->len == 0 || r->base != 0 || r->log_ps < LOG_PS_MIN || r->log_ps > LOG_PS_MAX ||
        r->list_off >> r->log_ps != 0) {
        return false;
    }
    uint64_t need = ((r->list_off + r->len - 1u) >> r->log_ps) + 1u;
    return r->npages == need && need <= 1u << fw->log_mtt && r->inline_pages <= r->npages;
}

/** It names every address, for local use only. */
static bool null_ok(const struct region *r)
{
    return r->rights == BDY_ACCESS_BIT_LOCAL_WRITE && r->start == 0 && r->len == UINT64_MAX &&
           r->base == 0 && r->list_off == 0 && r->npages == 0 && r->inline_pages == 0 &&
           r->log_ps == 0;
}

static bool region_ok(const struct fw *fw, const struct region *r)
{
    if (r->null_mr) {
        return null_ok(r);
    }
    if (!rights_ok(r->rights) || r->len > UINT64_C(1) << (fw->log_mtt + 12u) ||
        !range_ok(r->start, r->len)) {
        return false;
    }
    if ((r->rights & BDY_ACCESS_BIT_ZERO_BASED) && r->start != 0) {
        return false;
    }
    return r->direct ? direct_ok(r) : pages_ok(fw, r);
}

/** Page addresses in the DMA buffer lie on page lines. */
static bool aligned_pages(struct fw *fw, uint32_t buf, uint32_t count, uint32_t log_ps)
{
    uint32_t mask = (1u << log_ps) - 1u;
    for (uint32_t i = 0; i < count; i++) {
        if (mmio_read32(fw, BDY_REG_MCU_BUF_OFFSET + buf + 8u * i) & mask) {
            return false;
        }
    }
    return true;
}

static void describe(uint64_t *entry, const struct region *r, uint32_t key, uint32_t root)
{
    bdy_mpt_entry_set_st(entry, r->direct ? BDY_MPT_ST_VALID : BDY_MPT_ST_FREE);
    bdy_mpt_entry_set_kind(entry, BDY_MPT_KIND_MR);
    bdy_mpt_entry_set_zero_based(entry, (r->rights & BDY_ACCESS_BIT_ZERO_BASED) != 0);
    bdy_mpt_entry_set_direct(entry, r->direct);
    bdy_mpt_entry_set_null_mr(entry, r->null_mr);
    bdy_mpt_entry_set_log_ps(entry, r->log_ps);
    bdy_mpt_entry_set_key(entry, key);
    bdy_mpt_entry_set_nonce(entry, key >> 8);
    bdy_mpt_entry_set_rights(entry, r->rights & FW_MR_RIGHTS);
    bdy_mpt_entry_set_pd(entry, r->pd);
    bdy_mpt_entry_set_start(entry, r->start);
    bdy_mpt_entry_set_len(entry, r->len);
    bdy_mpt_entry_set_base(entry, r->direct ? r->base : root);
    bdy_mpt_entry_set_list_off(entry, r->list_off);
    bdy_mpt_entry_set_npages(entry, r->npages);
}

/** The translation entries of the region that `entry` describes. */
static void free_pages(struct fw *fw, const uint64_t *entry)
{
    if (!bdy_mpt_entry_get_direct(entry)) {
        fw_mtt_free(fw, (uint32_t)bdy_mpt_entry_get_base(entry),
                    (uint32_t)bdy_mpt_entry_get_npages(entry));
    }
}

static struct fw_build *find_build(struct fw *fw, uint32_t slot)
{
    for (uint32_t i = 0; i < FW_BUILDS; i++) {
        if (fw->build[i].npages && fw->build[i].slot == slot) {
            return &fw->build[i];
        }
    }
    return NULL;
}

static struct fw_build *unused_build(struct fw *fw)
{
    for (uint32_t i = 0; i < FW_BUILDS; i++) {
        if (fw->build[i].npages == 0) {
            return &fw->build[i];
        }
    }
    return NULL;
}

/** Turn the reserved entry into an open one. */
static enum bdy_cmd_st open_region(struct fw *fw, struct fw_cmd *cmd, struct fw_build *b,
                                   uint32_t key)
{
    uint64_t entry[8];
    if (!fw_table_read(fw, FW_READ_MPT, fw_key_slot(key), entry)) {
        return BDY_CMD_ST_INTERNAL;
    }
    bdy_mpt_entry_set_st(entry, BDY_MPT_ST_VALID);
    enum bdy_rule rule = fw_op_key(fw, BDY_PROT_OP_MR_OPEN, key, entry);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    b->npages = 0;
    return BDY_CMD_ST_OK;
}

static enum bdy_cmd_st write_pages(struct fw *fw, struct fw_cmd *cmd, struct fw_build *b,
                                   uint32_t key, uint32_t buf, uint32_t count)
{
    enum bdy_rule rule = fw_op_mtt(fw, key, b->root + b->written, buf, count);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    b->written += count;
    return BDY_CMD_ST_OK;
}

/** The paged region's entry is reserved, its first pages are in the DMA buffer at `pages`; on any
 * failure nothing is left of it (N4). */
static enum bdy_cmd_st fill(struct fw *fw, struct fw_cmd *cmd, const struct region *r, uint32_t key,
                            struct fw_build *b, uint32_t pages)
{
    enum bdy_cmd_st st = write_pages(fw, cmd, b, key, pages, r->inline_pages);
    if (st == BDY_CMD_ST_OK && b->written == b->npages) {
        st = open_region(fw, cmd, b, key);
    }
    if (st != BDY_CMD_ST_OK) {
        b->npages = 0;
        if (fw_op_key(fw, BDY_PROT_OP_MR_CLOSE, key, NULL) != BDY_RULE_NONE) {
            return BDY_CMD_ST_INTERNAL;
        }
    }
    return st;
}

/** Take what the region needs, write its entry; on failure give all back. */
static enum bdy_cmd_st make(struct fw *fw, struct fw_cmd *cmd, const struct region *r)
{
    uint64_t entry[BDY_MPT_ENTRY_WORDS] = {0};
    struct fw_build *b = r->direct ? NULL : unused_build(fw);
    uint32_t root = r->direct ? 0 : b ? fw_mtt_alloc(fw, r->npages) : FW_NONE;
    if (root == FW_NONE) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    enum bdy_cmd_st st = BDY_CMD_ST_NO_RESOURCE;
    uint32_t key = fw_key_alloc(fw, BDY_MPT_KIND_MR, r->pd);
    if (key == FW_NONE) {
        goto free_mtt;
    }
    describe(entry, r, key, root);
    enum bdy_rule rule = fw_op_key(fw, BDY_PROT_OP_MR_OPEN, key, entry);
    if (rule != BDY_RULE_NONE) {
        st = fw_refused(cmd, rule);
        goto free_key;
    }
    if (b) {
        *b = (struct fw_build){root, r->npages, 0, (uint16_t)fw_key_slot(key)};
        st = fill(fw, cmd, r, key, b, FW_BUF_IN + BDY_CREATE_MR_IN_BYTES);
        if (st != BDY_CMD_ST_OK) {
            goto free_key;
        }
    }
    fw->pd[r->pd].refs++;
    cmd->out0 = key;
    return BDY_CMD_ST_OK;

free_key:
    fw_key_free(fw, fw_key_slot(key));
free_mtt:
    if (b) {
        fw_mtt_free(fw, root, r->npages);
    }
    return st;
}

enum bdy_cmd_st fw_create_mr(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t in[BDY_CREATE_MR_IN_WORDS];
    struct region r;
    fw_buf_get(fw, FW_BUF_IN, in, BDY_CREATE_MR_IN_WORDS);
    unpack(&r, in);
    if (cmd->in_len != BDY_CREATE_MR_IN_BYTES + 8u * r.inline_pages) {
        return BDY_CMD_ST_BAD_SIZE;
    }
    if (!bdy_create_mr_in_rsvd_zero(in) || (r.null_mr && bdy_create_mr_in_get_direct(in) != 0) ||
        !region_ok(fw, &r) ||
        !aligned_pages(fw, FW_BUF_IN + BDY_CREATE_MR_IN_BYTES, r.inline_pages, r.log_ps)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    enum bdy_cmd_st st = fw_pd_check(fw, cmd, r.pd);
    return st == BDY_CMD_ST_OK ? make(fw, cmd, &r) : st;
}

/** The slot of the region that `key` names in full, or FW_NONE and why not. */
static uint32_t named(struct fw *fw, const struct fw_cmd *cmd, uint64_t key, enum bdy_cmd_st *st)
{
    uint32_t slot = fw_key_slot((uint32_t)key);
    *st = BDY_CMD_ST_BAD_INDEX;
    if (key > UINT32_MAX || fw_key_kind(fw, slot) != BDY_MPT_KIND_MR ||
        fw_key_first(fw, slot) != (uint32_t)key) {
        return FW_NONE;
    }
    if (!fw_may_name(cmd, fw_key_owner(fw, slot))) {
        *st = BDY_CMD_ST_NOT_OWNER;
        return FW_NONE;
    }
    *st = BDY_CMD_ST_OK;
    return slot;
}

/** Pages come in order, without gaps. */
enum bdy_cmd_st fw_write_mtt(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t in[BDY_WRITE_MTT_IN_WORDS], entry[8];
    enum bdy_cmd_st st;
    fw_buf_get(fw, FW_BUF_IN, in, BDY_WRITE_MTT_IN_WORDS);
    uint32_t count = (uint32_t)bdy_write_mtt_in_get_count(in);
    uint32_t key = (uint32_t)bdy_write_mtt_in_get_key(in);
    if (cmd->in_len != BDY_WRITE_MTT_IN_BYTES + 8u * count) {
        return BDY_CMD_ST_BAD_SIZE;
    }
    uint32_t slot = named(fw, cmd, key, &st);
    if (slot == FW_NONE) {
        return st;
    }
    struct fw_build *b = find_build(fw, slot);
    if (!b) {
        return BDY_CMD_ST_BAD_STATE;
    }
    if (!fw_table_read(fw, FW_READ_MPT, slot, entry)) {
        return BDY_CMD_ST_INTERNAL;
    }
    if (!bdy_write_mtt_in_rsvd_zero(in) || bdy_write_mtt_in_get_first(in) != b->written ||
        count > b->npages - b->written ||
        !aligned_pages(fw, FW_BUF_IN + BDY_WRITE_MTT_IN_BYTES, count,
                       (uint32_t)bdy_mpt_entry_get_log_ps(entry))) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    return write_pages(fw, cmd, b, key, FW_BUF_IN + BDY_WRITE_MTT_IN_BYTES, count);
}

enum bdy_cmd_st fw_open_mr(struct fw *fw, struct fw_cmd *cmd)
{
    enum bdy_cmd_st st;
    uint32_t slot = named(fw, cmd, cmd->in0, &st);
    if (slot == FW_NONE) {
        return st;
    }
    struct fw_build *b = find_build(fw, slot);
    if (!b || b->written != b->npages) {
        return BDY_CMD_ST_BAD_STATE;
    }
    return open_region(fw, cmd, b, (uint32_t)cmd->in0);
}

/** The pipeline refuses while windows are bound (L3) and drains. */
enum bdy_cmd_st fw_destroy_mr(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t entry[8];
    enum bdy_cmd_st st;
    uint32_t slot = named(fw, cmd, cmd->in0, &st);
    if (slot == FW_NONE) {
        return st;
    }
    if (!fw_table_read(fw, FW_READ_MPT, slot, entry)) {
        return BDY_CMD_ST_INTERNAL;
    }
    enum bdy_rule rule = fw_op_key(fw, BDY_PROT_OP_MR_CLOSE, (uint32_t)cmd->in0, NULL);
    if (rule != BDY_RULE_NONE) {
        return rule == BDY_RULE_L3 ? BDY_CMD_ST_BUSY : fw_refused(cmd, rule);
    }
    struct fw_build *b = find_build(fw, slot);
    if (b) {
        b->npages = 0;
    }
    free_pages(fw, entry);
    fw->pd[fw_key_pd(fw, slot)].refs--;
    fw_key_free(fw, slot);
    return BDY_CMD_ST_OK;
}

/** No page is given, and none is needed: the list stays as it is. */
static bool keeps_pages(const uint64_t *now, const struct region *r)
{
    return !r->direct && r->inline_pages == 0 && !bdy_mpt_entry_get_direct(now) &&
           bdy_mpt_entry_get_npages(now) == r->npages &&
           bdy_mpt_entry_get_log_ps(now) == r->log_ps && bdy_mpt_entry_get_len(now) == r->len &&
           bdy_mpt_entry_get_list_off(now) == r->list_off;
}

/** Without new pages the entry is replaced in one step (MR_REPLACE), and drained. */
static enum bdy_cmd_st replace(struct fw *fw, struct fw_cmd *cmd, const uint64_t *now,
                               const struct region *r, uint32_t key, uint32_t new_key)
{
    uint64_t op[BDY_PROT_OP_WORDS] = {0};
    describe(op + BDY_PROT_OP_BODY0_LSB / 64u, r, new_key, (uint32_t)bdy_mpt_entry_get_base(now));
    bdy_mpt_entry_set_st(op + BDY_PROT_OP_BODY0_LSB / 64u, BDY_MPT_ST_VALID);
    bdy_prot_op_set_op(op, BDY_PROT_OP_MR_REPLACE);
    bdy_prot_op_set_key(op, key);
    enum bdy_rule rule = fw_op(fw, op, true, NULL);
    if (rule != BDY_RULE_NONE) {
        return rule == BDY_RULE_L3 ? BDY_CMD_ST_BUSY : fw_refused(cmd, rule);
    }
    if (r->direct) {
        free_pages(fw, now);
    }
    fw_key_move(fw, fw_key_slot(key), new_key, r->pd);
    return BDY_CMD_ST_OK;
}

/** Nothing but the slot is left of the region. */
static enum bdy_cmd_st lost(struct fw *fw, const struct region *r, uint32_t slot, uint32_t root,
                            enum bdy_cmd_st st)
{
    fw_mtt_free(fw, root, r->npages);
    fw->pd[r->pd].refs--;
    fw_key_free(fw, slot);
    return st;
}

/** With new pages the region is closed, which a bound window forbids, and built again in its slot.
 * Room is taken before. */
static enum bdy_cmd_st rebuild(struct fw *fw, struct fw_cmd *cmd, const uint64_t *now,
                               const struct region *r, uint32_t key, uint32_t new_key)
{
    uint64_t entry[BDY_MPT_ENTRY_WORDS] = {0};
    uint32_t slot = fw_key_slot(key);
    struct fw_build *b = unused_build(fw);
    uint32_t root = b ? fw_mtt_alloc(fw, r->npages) : FW_NONE;
    if (root == FW_NONE) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    enum bdy_rule rule = fw_op_key(fw, BDY_PROT_OP_MR_CLOSE, key, NULL);
    if (rule != BDY_RULE_NONE) {
        fw_mtt_free(fw, root, r->npages);
        return rule == BDY_RULE_L3 ? BDY_CMD_ST_BUSY : fw_refused(cmd, rule);
    }
    free_pages(fw, now);
    fw_key_move(fw, slot, new_key, r->pd);
    describe(entry, r, new_key, root);
    rule = fw_op_key(fw, BDY_PROT_OP_MR_OPEN, new_key, entry);
    if (rule != BDY_RULE_NONE) {
        return lost(fw, r, slot, root, fw_refused(cmd, rule));
    }
    *b = (struct fw_build){root, r->npages, 0, (uint16_t)slot};
    enum bdy_cmd_st st =
        fill(fw, cmd, r, new_key, b, FW_BUF_IN + BDY_REREG_MR_IN_BYTES + BDY_CREATE_MR_IN_BYTES);
    return st == BDY_CMD_ST_OK ? st : lost(fw, r, slot, root, st);
}

/** M7, L10. The slot and its nonce stay, the low byte of the key moves on. */
enum bdy_cmd_st fw_rereg_mr(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t in[BDY_REREG_MR_IN_WORDS + BDY_CREATE_MR_IN_WORDS], now[8];
    const uint64_t *create = in + BDY_REREG_MR_IN_WORDS;
    struct region r;
    enum bdy_cmd_st st;
    fw_buf_get(fw, FW_BUF_IN, in, BDY_REREG_MR_IN_WORDS + BDY_CREATE_MR_IN_WORDS);
    unpack(&r, create);
    uint32_t key = (uint32_t)bdy_rereg_mr_in_get_key(in);
    uint32_t pages = BDY_REREG_MR_IN_BYTES + BDY_CREATE_MR_IN_BYTES;
    if (cmd->in_len != pages + 8u * r.inline_pages) {
        return BDY_CMD_ST_BAD_SIZE;
    }
    uint32_t slot = named(fw, cmd, key, &st);
    if (slot == FW_NONE) {
        return st;
    }
    if (!bdy_rereg_mr_in_rsvd_zero(in) || !bdy_create_mr_in_rsvd_zero(create) || r.null_mr ||
        !region_ok(fw, &r) || !aligned_pages(fw, FW_BUF_IN + pages, r.inline_pages, r.log_ps)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    st = fw_pd_check(fw, cmd, r.pd);
    if (st == BDY_CMD_ST_OK && fw->pd[r.pd].owner != fw_key_owner(fw, slot)) {
        st = BDY_CMD_ST_NOT_OWNER;
    }
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    if (!fw_table_read(fw, FW_READ_MPT, slot, now)) {
        return BDY_CMD_ST_INTERNAL;
    }
    if (find_build(fw, slot) || bdy_mpt_entry_get_null_mr(now)) {
        return BDY_CMD_ST_BAD_STATE;
    }
    uint32_t new_key = (key & ~0xffu) | ((key + 1u) & 0xffu);
    st = r.direct || keeps_pages(now, &r) ? replace(fw, cmd, now, &r, key, new_key)
                                          : rebuild(fw, cmd, now, &r, key, new_key);
    if (st == BDY_CMD_ST_OK) {
        cmd->out0 = new_key;
    }
    return st;
}
