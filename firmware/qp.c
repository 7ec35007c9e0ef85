// SPDX-License-Identifier: Apache-2.0
// Queue pairs. The data path may move one to ERR by itself at any time, so the present state is
// always read, never kept.
#include "fw.h"
#include "qp_table.h"

#define CTX_WORDS (BDY_QP_CTX0_WORDS + BDY_QP_CTX1_WORDS)
#define HALF1 BDY_QP_CTX0_WORDS
#define MAX_MTU 5u
#define MAX_LOG_RING 15u
#define PKEYS 1u

_Static_assert(CTX_WORDS == 16, "a context is two halves of eight words");

/** The slot of the queue pair that `qpn` names, or FW_NONE and why not. */
static uint32_t named(const struct fw *fw, const struct fw_cmd *cmd, uint64_t qpn,
                      enum bdy_cmd_st *st)
{
    uint64_t slot = qpn - BDY_QPN_BASE;
    *st = BDY_CMD_ST_BAD_INDEX;
    if (slot >= fw->nqps || fw->qp[slot].st != FW_QP_USED) {
        return FW_NONE;
    }
    if (!fw_may_name(cmd, fw->qp[slot].owner)) {
        *st = BDY_CMD_ST_NOT_OWNER;
        return FW_NONE;
    }
    *st = BDY_CMD_ST_OK;
    return (uint32_t)slot;
}

static bool read_ctx(struct fw *fw, uint32_t slot, uint64_t *ctx)
{
    return fw_table_read(fw, FW_READ_QP_CTX0, slot, ctx) &&
           fw_table_read(fw, FW_READ_QP_CTX1, slot, ctx + HALF1);
}

/** Half 0 last: it makes the state change. */
static enum bdy_rule write_ctx(struct fw *fw, uint32_t slot, const uint64_t *ctx)
{
    enum bdy_rule rule = fw_op_ctx(fw, BDY_CTX_KIND_QP, slot, 1, ctx + HALF1);
    return rule == BDY_RULE_NONE ? fw_op_ctx(fw, BDY_CTX_KIND_QP, slot, 0, ctx) : rule;
}

/** What is fixed at creation stays; all that modify_qp sets becomes zero. */
static void keep_creation(uint64_t *to, const uint64_t *from)
{
    for (uint32_t i = 0; i < CTX_WORDS; i++) {
        to[i] = 0;
    }
    bdy_qp_ctx0_set_kind(to, bdy_qp_ctx0_get_kind(from));
    bdy_qp_ctx0_set_sig_all(to, bdy_qp_ctx0_get_sig_all(from));
    bdy_qp_ctx0_set_uar(to, bdy_qp_ctx0_get_uar(from));
    bdy_qp_ctx0_set_pd(to, bdy_qp_ctx0_get_pd(from));
    bdy_qp_ctx0_set_scqn(to, bdy_qp_ctx0_get_scqn(from));
    bdy_qp_ctx0_set_rcqn(to, bdy_qp_ctx0_get_rcqn(from));
    bdy_qp_ctx0_set_sq_base(to, bdy_qp_ctx0_get_sq_base(from));
    bdy_qp_ctx0_set_rq_base(to, bdy_qp_ctx0_get_rq_base(from));
    bdy_qp_ctx0_set_sq_log(to, bdy_qp_ctx0_get_sq_log(from));
    bdy_qp_ctx0_set_rq_log(to, bdy_qp_ctx0_get_rq_log(from));
    bdy_qp_ctx0_set_rq_log_stride(to, bdy_qp_ctx0_get_rq_log_stride(from));
    bdy_qp_ctx0_set_srq(to, bdy_qp_ctx0_get_srq(from));
    bdy_qp_ctx0_set_srqn(to, bdy_qp_ctx0_get_srqn(from));
    bdy_qp_ctx0_set_xrcd(to, bdy_qp_ctx0_get_xrcd(from));
}

static bool equal(const uint64_t *a, const uint64_t *b, uint32_t nwords)
{
    for (uint32_t i = 0; i < nwords; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

/** Which parts a queue pair of that kind has; what it lacks is zero in its context. */
static bool has_sends(uint64_t kind)
{
    return kind != BDY_QP_KIND_XRC_RECV;
}

static bool has_receives(uint64_t kind)
{
    return kind <= BDY_QP_KIND_UD;
}

static bool has_own_receives(const uint64_t *ctx)
{
    return has_receives(bdy_qp_ctx0_get_kind(ctx)) && !bdy_qp_ctx0_get_srq(ctx);
}

static bool send_side_ok(const struct fw_cmd *cmd, const uint64_t *ctx)
{
    uint64_t log = bdy_qp_ctx0_get_sq_log(ctx), base = bdy_qp_ctx0_get_sq_base(ctx);
    if (!has_sends(bdy_qp_ctx0_get_kind(ctx))) {
        return (log | base | bdy_qp_ctx0_get_pd(ctx) | bdy_qp_ctx0_get_scqn(ctx) |
                bdy_qp_ctx0_get_uar(ctx) | bdy_qp_ctx0_get_sig_all(ctx)) == 0;
    }
    return log <= MAX_LOG_RING && fw_ring_ok(base, (uint64_t)BDY_WQE_SLOT_BYTES << log) &&
           fw_uar_ok(cmd, bdy_qp_ctx0_get_uar(ctx));
}

static bool receive_side_ok(const uint64_t *ctx)
{
    uint64_t log = bdy_qp_ctx0_get_rq_log(ctx), base = bdy_qp_ctx0_get_rq_base(ctx);
    uint64_t log_stride = bdy_qp_ctx0_get_rq_log_stride(ctx);
    if (!has_receives(bdy_qp_ctx0_get_kind(ctx)) &&
        (bdy_qp_ctx0_get_rcqn(ctx) || bdy_qp_ctx0_get_srq(ctx))) {
        return false;
    }
    if (!bdy_qp_ctx0_get_srq(ctx) && bdy_qp_ctx0_get_srqn(ctx)) {
        return false;
    }
    return has_own_receives(ctx)
               ? log <= MAX_LOG_RING && fw_ring_ok(base, (UINT64_C(64) << log_stride) << log)
               : (log | log_stride | base) == 0;
}

/** A new context: in RESET, rings in place, and nothing set that only modify_qp may set. */
static bool creation_ok(const struct fw_cmd *cmd, const uint64_t *ctx)
{
    uint64_t bare[CTX_WORDS];
    uint64_t kind = bdy_qp_ctx0_get_kind(ctx);
    keep_creation(bare, ctx);
    return equal(bare, ctx, BDY_QP_CTX0_WORDS) && kind <= BDY_QP_KIND_XRC_RECV &&
           (kind == BDY_QP_KIND_XRC_RECV || bdy_qp_ctx0_get_xrcd(ctx) == 0) &&
           send_side_ok(cmd, ctx) && receive_side_ok(ctx);
}

/** PD, completion queues and shared receive queue exist, may be named, and are of one owner. */
static enum bdy_cmd_st references_ok(struct fw *fw, const struct fw_cmd *cmd, const uint64_t *ctx)
{
    uint64_t kind = bdy_qp_ctx0_get_kind(ctx);
    uint64_t scqn = bdy_qp_ctx0_get_scqn(ctx), rcqn = bdy_qp_ctx0_get_rcqn(ctx);
    uint64_t srqn = bdy_qp_ctx0_get_srqn(ctx);
    if (!has_sends(kind)) {
        return fw_xrcd_check(fw, bdy_qp_ctx0_get_xrcd(ctx));
    }
    enum bdy_cmd_st st = fw_pd_check(fw, cmd, bdy_qp_ctx0_get_pd(ctx));
    if (st == BDY_CMD_ST_OK) {
        st = fw_cq_check(fw, cmd, scqn);
    }
    if (st == BDY_CMD_ST_OK && has_receives(kind)) {
        st = fw_cq_check(fw, cmd, rcqn);
    }
    if (st == BDY_CMD_ST_OK && bdy_qp_ctx0_get_srq(ctx)) {
        st = fw_srq_check(fw, cmd, srqn);
    }
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    uint8_t owner = fw->pd[bdy_qp_ctx0_get_pd(ctx)].owner;
    if (fw->cq[scqn - BDY_CQN_BASE].owner != owner ||
        (has_receives(kind) && fw->cq[rcqn - BDY_CQN_BASE].owner != owner) ||
        (bdy_qp_ctx0_get_srq(ctx) && fw->srq[srqn - BDY_SRQN_BASE].owner != owner)) {
        return BDY_CMD_ST_NOT_OWNER;
    }
    // a shared receive queue of an XRC domain serves that domain's queue pairs only (H18)
    return bdy_qp_ctx0_get_srq(ctx) && fw->srq[srqn - BDY_SRQN_BASE].xrcd != 0
               ? BDY_CMD_ST_BAD_PARAM
               : BDY_CMD_ST_OK;
}

static uint32_t unused_slot(const struct fw *fw)
{
    for (uint32_t i = 0; i < fw->nqps; i++) {
        uint32_t slot = (fw->next_qp + i) % fw->nqps;
        if (fw->qp[slot].st == FW_QP_UNUSED) {
            return slot;
        }
    }
    return FW_NONE;
}

/** Count the queue pair, or (by -1) count it out, at all that it refers to (N2). */
static void count(struct fw *fw, const uint64_t *ctx, int by)
{
    uint64_t kind = bdy_qp_ctx0_get_kind(ctx);
    if (!has_sends(kind)) {
        fw_count(&fw->xrcd[bdy_qp_ctx0_get_xrcd(ctx)].refs, by);
        return;
    }
    fw_count(&fw->pd[bdy_qp_ctx0_get_pd(ctx)].refs, by);
    fw_count(&fw->cq[bdy_qp_ctx0_get_scqn(ctx) - BDY_CQN_BASE].refs, by);
    if (has_receives(kind)) {
        fw_count(&fw->cq[bdy_qp_ctx0_get_rcqn(ctx) - BDY_CQN_BASE].refs, by);
    }
    if (bdy_qp_ctx0_get_srq(ctx)) {
        fw_count(&fw->srq[bdy_qp_ctx0_get_srqn(ctx) - BDY_SRQN_BASE].refs, by);
    }
}

enum bdy_cmd_st fw_create_qp(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[CTX_WORDS] = {0};
    fw_buf_get(fw, FW_BUF_IN, ctx, BDY_QP_CTX0_WORDS);
    if (!creation_ok(cmd, ctx)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    enum bdy_cmd_st st = references_ok(fw, cmd, ctx);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    uint32_t slot = unused_slot(fw);
    if (slot == FW_NONE) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    enum bdy_rule rule = write_ctx(fw, slot, ctx);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->qp[slot] = (struct fw_qp){.owner = cmd->uctx, .st = FW_QP_USED};
    fw->next_qp = slot + 1u;
    fw->objects++;
    count(fw, ctx, 1);
    cmd->out0 = BDY_QPN_BASE + slot;
    return BDY_CMD_ST_OK;
}

/** Take from `wanted` the fields of the attributes in `mask`. */
static void merge(uint64_t *ctx, const uint64_t *wanted, uint32_t mask)
{
    for (uint32_t i = 0; i < fw_attr_nfields; i++) {
        const struct fw_attr_field *f = &fw_attr_fields[i];
        if (f->attr & mask) {
            ctx[f->word] = (ctx[f->word] & ~f->mask) | (wanted[f->word] & f->mask);
        }
    }
    if (mask & FW_ATTR_STATE) {
        bdy_qp_ctx0_set_st(ctx, bdy_qp_ctx0_get_st(wanted));
    }
}

static bool path_ok(const uint64_t *ctx)
{
    const uint64_t *av = ctx + HALF1;
    if (bdy_qp_ctx0_get_grh(ctx)) {
        return bdy_qp_ctx1_get_sgid_index(av) < FW_GIDS;
    }
    return (bdy_qp_ctx1_get_dgid_lo(av) | bdy_qp_ctx1_get_dgid_hi(av) |
            bdy_qp_ctx1_get_flow_label(av) | bdy_qp_ctx1_get_tclass(av) |
            bdy_qp_ctx1_get_hop_limit(av) | bdy_qp_ctx1_get_sgid_index(av)) == 0;
}

/** Values of the attributes in `mask` that a field's width alone does not bound. */
static bool values_ok(const uint64_t *ctx, uint32_t mask)
{
    uint64_t mtu = bdy_qp_ctx0_get_mtu(ctx), port = bdy_qp_ctx0_get_port(ctx);
    return !((mask & FW_ATTR_MTU) && (mtu < 1u || mtu > MAX_MTU)) &&
           !((mask & FW_ATTR_PORT) && (port < 1u || port > FW_PORTS)) &&
           !((mask & FW_ATTR_PKEY_INDEX) && bdy_qp_ctx0_get_pkey_index(ctx) >= PKEYS) &&
           !((mask & FW_ATTR_ACCESS) && (bdy_qp_ctx0_get_rights(ctx) & ~(uint64_t)FW_MR_RIGHTS)) &&
           !((mask & FW_ATTR_MAX_RD) && bdy_qp_ctx0_get_max_rd(ctx) > BDY_MAX_RD_ATOMIC) &&
           !((mask & FW_ATTR_MAX_DEST_RD) &&
             bdy_qp_ctx0_get_max_dest_rd(ctx) > BDY_MAX_RD_ATOMIC) &&
           !((mask & FW_ATTR_AV) && !path_ok(ctx));
}

/** `wanted` against the table (N5); on success `ctx` becomes the context to write. */
static enum bdy_cmd_st check_modify(const uint64_t *in, const uint64_t *wanted, uint64_t *ctx)
{
    uint32_t mask = (uint32_t)bdy_modify_qp_in_get_mask(in);
    uint32_t from = (uint32_t)bdy_qp_ctx0_get_st(ctx);
    uint32_t to = mask & FW_ATTR_STATE ? (uint32_t)bdy_qp_ctx0_get_st(wanted) : from;
    bool has_cur = bdy_modify_qp_in_get_has_cur(in) != 0;
    if (has_cur != ((mask & FW_ATTR_CUR_STATE) != 0) ||
        (!has_cur && bdy_modify_qp_in_get_cur_st(in) != 0)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    if (has_cur && bdy_modify_qp_in_get_cur_st(in) != from) {
        return BDY_CMD_ST_BAD_STATE;
    }
    const struct fw_transition *t =
        fw_transition_find((uint32_t)bdy_qp_ctx0_get_kind(ctx), from, to);
    if (!t) {
        return BDY_CMD_ST_BAD_STATE;
    }
    if ((t->required & ~mask) || (mask & ~(t->required | t->optional | FW_ATTR_STATE))) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    merge(ctx, wanted, mask);
    if (!(mask & FW_ATTR_STATE) || (to != BDY_QP_ST_RESET && to != BDY_QP_ST_ERR)) {
        if (!equal(ctx, wanted, CTX_WORDS) || !values_ok(ctx, mask)) {
            return BDY_CMD_ST_BAD_PARAM;
        }
    }
    if (from != to && !(mask & FW_ATTR_SQD_NOTIFY)) { // a wish for one stay in SQD
        bdy_qp_ctx0_set_sqd_event(ctx, 0);
    }
    return BDY_CMD_ST_OK;
}

/** RESET and destroy: the generation moves first, so that windows bound to the old one are dead
 * (decision 9). */
static enum bdy_rule retire_life(struct fw *fw, uint32_t slot, const uint64_t *ctx, bool *worn_out)
{
    uint32_t generation;
    enum bdy_rule rule = fw_op_qp(fw, BDY_PROT_OP_QP_BUMP, slot, &generation);
    *worn_out = generation == UINT32_MAX; // H4: it never wraps, the number is not used again
    return rule == BDY_RULE_NONE ? write_ctx(fw, slot, ctx) : rule;
}

/** To ERR from a state in which the queue pair lives. Q1 says that the data path was quicker. */
static enum bdy_rule fail(struct fw *fw, uint32_t slot)
{
    enum bdy_rule rule = fw_op_qp(fw, BDY_PROT_OP_QP_ERR, slot, NULL);
    return rule == BDY_RULE_Q1 ? BDY_RULE_NONE : rule;
}

/** Write the checked context. `mask` is 0 for a modify of nothing. */
static enum bdy_rule apply(struct fw *fw, uint32_t slot, uint32_t from, const uint64_t *ctx,
                           uint32_t mask)
{
    uint64_t bare[CTX_WORDS];
    bool worn_out;
    uint64_t to = bdy_qp_ctx0_get_st(ctx);
    if (mask == 0 || (to == BDY_QP_ST_ERR && from == BDY_QP_ST_ERR)) {
        return BDY_RULE_NONE;
    }
    if (to == BDY_QP_ST_RESET) {
        keep_creation(bare, ctx);
        return retire_life(fw, slot, bare, &worn_out);
    }
    return to == BDY_QP_ST_ERR && from != BDY_QP_ST_RESET ? fail(fw, slot)
                                                          : write_ctx(fw, slot, ctx);
}

enum bdy_cmd_st fw_modify_qp(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t in[BDY_MODIFY_QP_IN_WORDS], wanted[CTX_WORDS], ctx[CTX_WORDS];
    enum bdy_cmd_st st;
    fw_buf_get(fw, FW_BUF_IN, in, BDY_MODIFY_QP_IN_WORDS);
    fw_buf_get(fw, FW_BUF_IN + BDY_MODIFY_QP_IN_BYTES, wanted, CTX_WORDS);
    if (!bdy_modify_qp_in_rsvd_zero(in) || !bdy_qp_ctx0_rsvd_zero(wanted) ||
        !bdy_qp_ctx1_rsvd_zero(wanted + HALF1)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    uint32_t slot = named(fw, cmd, bdy_modify_qp_in_get_qpn(in), &st);
    if (slot == FW_NONE) {
        return st;
    }
    if (!read_ctx(fw, slot, ctx)) {
        return BDY_CMD_ST_INTERNAL;
    }
    uint32_t from = (uint32_t)bdy_qp_ctx0_get_st(ctx);
    st = check_modify(in, wanted, ctx);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    enum bdy_rule rule = apply(fw, slot, from, ctx, (uint32_t)bdy_modify_qp_in_get_mask(in));
    return rule == BDY_RULE_NONE ? BDY_CMD_ST_OK : fw_refused(cmd, rule);
}

enum bdy_cmd_st fw_query_qp(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t ctx[CTX_WORDS];
    enum bdy_cmd_st st;
    uint32_t slot = named(fw, cmd, cmd->in0, &st);
    if (slot == FW_NONE) {
        return st;
    }
    if (!read_ctx(fw, slot, ctx)) {
        return BDY_CMD_ST_INTERNAL;
    }
    fw_buf_put(fw, FW_BUF_OUT, ctx, CTX_WORDS);
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_destroy_qp(struct fw *fw, struct fw_cmd *cmd)
{
    static const uint64_t gone[CTX_WORDS];
    uint64_t ctx[CTX_WORDS];
    enum bdy_cmd_st st;
    bool worn_out;
    uint32_t slot = named(fw, cmd, cmd->in0, &st);
    if (slot == FW_NONE) {
        return st;
    }
    if (!read_ctx(fw, slot, ctx)) {
        return BDY_CMD_ST_INTERNAL;
    }
    enum bdy_rule rule = retire_life(fw, slot, gone, &worn_out);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->qp[slot].st = worn_out ? FW_QP_RETIRED : FW_QP_UNUSED;
    count(fw, ctx, -1);
    fw->objects--;
    return BDY_CMD_ST_OK;
}

/** Refusals of remote keys since the queue pair's life began. */
enum bdy_cmd_st fw_query_viol(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t data[8];
    enum bdy_cmd_st st;
    uint32_t slot = named(fw, cmd, cmd->in0, &st);
    if (slot == FW_NONE) {
        return st;
    }
    if (!fw_table_read(fw, FW_READ_QP_VIOL, slot, data)) {
        return BDY_CMD_ST_INTERNAL;
    }
    cmd->out0 = (uint32_t)data[0];
    return BDY_CMD_ST_OK;
}
