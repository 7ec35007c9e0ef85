// SPDX-License-Identifier: Apache-2.0
// modify_qp and query_qp. Firmware keeps the state table (N5); here verbs attributes become a
// context image, and values that a field of the image would cut are refused.
#include "priv.h"

#define HALF1 BDY_QP_CTX0_WORDS
#define CTX_WORDS (BDY_QP_CTX0_WORDS + BDY_QP_CTX1_WORDS)
#define CTX_BYTES (8u * CTX_WORDS)
#define QP_BITS                                                                                    \
    (V_ACCESS_LOCAL_WRITE | V_ACCESS_REMOTE_WRITE | V_ACCESS_REMOTE_READ |                         \
     V_ACCESS_REMOTE_ATOMIC | V_ACCESS_MW_BIND)

bool gid_in_use(const struct bdy_core *core, unsigned index)
{
    uint8_t any = 0;
    for (unsigned i = 0; index < CORE_GIDS && i < 16u; i++) {
        any |= core->gid[index][i];
    }
    return any != 0;
}

static bool path_ok(const struct bdy_core *core, const struct bdy_u_qp_attr *a)
{
    return a->is_global <= 1u && (a->is_global || !core->cfg.eth) && a->sl <= 15u &&
           a->src_path_bits <= 127u &&
           (!a->is_global || (a->flow_label <= 0xfffffu && gid_in_use(core, a->sgid_index)));
}

/** Attributes that `mask` does not name may hold anything. */
static bool attr_ok(const struct bdy_core *core, const struct bdy_u_qp_attr *a)
{
    uint32_t m = a->mask;
    return !(m & ~(uint32_t)V_ATTR_ALL) && !((m & V_ATTR_STATE) && a->qp_state > BDY_QP_ST_ERR) &&
           !((m & V_ATTR_CUR_STATE) && a->cur_qp_state > BDY_QP_ST_ERR) &&
           !((m & V_ATTR_SQD_NOTIFY) && a->en_sqd_async > 1u) &&
           !((m & V_ATTR_ACCESS) && (a->access & ~(uint32_t)QP_BITS)) &&
           !((m & V_ATTR_PORT) && a->port_num != 1u) &&
           !((m & V_ATTR_PKEY_INDEX) && a->pkey_index != 0) &&
           !((m & V_ATTR_MTU) && (a->path_mtu < 1u || a->path_mtu > V_MTU_4096)) &&
           !((m & V_ATTR_TIMEOUT) && a->timeout > 31u) &&
           !((m & V_ATTR_RETRY_CNT) && a->retry_cnt > 7u) &&
           !((m & V_ATTR_RNR_RETRY) && a->rnr_retry > 7u) &&
           !((m & V_ATTR_MIN_RNR) && a->min_rnr_timer > 31u) &&
           !((m & V_ATTR_RQ_PSN) && a->rq_psn > 0xffffffu) &&
           !((m & V_ATTR_SQ_PSN) && a->sq_psn > 0xffffffu) &&
           !((m & V_ATTR_DEST_QPN) && a->dest_qp_num > 0xffffffu) &&
           !((m & V_ATTR_MAX_RD) && a->max_rd_atomic > BDY_MAX_RD_ATOMIC) &&
           !((m & V_ATTR_MAX_DEST_RD) && a->max_dest_rd_atomic > BDY_MAX_RD_ATOMIC) &&
           !((m & V_ATTR_AV) && !path_ok(core, a));
}

static void set_path(uint64_t *ctx, const struct bdy_u_qp_attr *a)
{
    uint64_t *av = ctx + HALF1;
    uint64_t gid[2] = {0};
    bdy_os_zero(av, BDY_QP_CTX1_BYTES);
    bdy_qp_ctx0_set_grh(ctx, a->is_global);
    bdy_qp_ctx0_set_sl(ctx, a->sl);
    bdy_qp_ctx0_set_dlid(ctx, a->dlid);
    bdy_qp_ctx1_set_src_path_bits(av, a->src_path_bits);
    bdy_qp_ctx1_set_static_rate(av, a->static_rate);
    if (a->is_global) {
        bdy_os_copy(gid, a->dgid, sizeof gid);
        bdy_qp_ctx1_set_dgid_lo(av, gid[0]);
        bdy_qp_ctx1_set_dgid_hi(av, gid[1]);
        bdy_qp_ctx1_set_flow_label(av, a->flow_label);
        bdy_qp_ctx1_set_tclass(av, a->tclass);
        bdy_qp_ctx1_set_hop_limit(av, a->hop_limit);
        bdy_qp_ctx1_set_sgid_index(av, a->sgid_index);
    }
}

static void set_attr(uint64_t *ctx, const struct bdy_u_qp_attr *a)
{
    const struct {
        uint32_t attr;
        void (*set)(uint64_t *w, uint64_t v);
        uint64_t value;
    } fields[] = {
        {V_ATTR_STATE, bdy_qp_ctx0_set_st, a->qp_state},
        {V_ATTR_SQD_NOTIFY, bdy_qp_ctx0_set_sqd_event, a->en_sqd_async},
        {V_ATTR_ACCESS, bdy_qp_ctx0_set_rights, a->access},
        {V_ATTR_QKEY, bdy_qp_ctx0_set_qkey, a->qkey},
        {V_ATTR_PKEY_INDEX, bdy_qp_ctx0_set_pkey_index, a->pkey_index},
        {V_ATTR_PORT, bdy_qp_ctx0_set_port, a->port_num},
        {V_ATTR_MTU, bdy_qp_ctx0_set_mtu, a->path_mtu},
        {V_ATTR_TIMEOUT, bdy_qp_ctx0_set_timeout, a->timeout},
        {V_ATTR_RETRY_CNT, bdy_qp_ctx0_set_retry_cnt, a->retry_cnt},
        {V_ATTR_RNR_RETRY, bdy_qp_ctx0_set_rnr_retry, a->rnr_retry},
        {V_ATTR_RQ_PSN, bdy_qp_ctx0_set_rq_psn, a->rq_psn},
        {V_ATTR_SQ_PSN, bdy_qp_ctx0_set_sq_psn, a->sq_psn},
        {V_ATTR_MAX_RD, bdy_qp_ctx0_set_max_rd, a->max_rd_atomic},
        {V_ATTR_MAX_DEST_RD, bdy_qp_ctx0_set_max_dest_rd, a->max_dest_rd_atomic},
        {V_ATTR_MIN_RNR, bdy_qp_ctx0_set_min_rnr, a->min_rnr_timer},
        {V_ATTR_DEST_QPN, bdy_qp_ctx0_set_dest_qpn, a->dest_qp_num},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (a->mask & fields[i].attr) {
            fields[i].set(ctx, fields[i].value);
        }
    }
    if (a->mask & V_ATTR_AV) {
        set_path(ctx, a);
    }
}

/** The present context, in core->out_mbox. */
static int query(struct qp *qp)
{
    struct cmd cmd = {
        .op = BDY_CMD_OP_QUERY_QP, .uctx = qp_asker(qp), .out_len = CTX_BYTES, .in0 = qp->number};
    return cmd_run(qp->obj.uctx->core, &cmd);
}

static int modify(struct qp *qp, const struct bdy_u_qp_attr *a)
{
    struct bdy_core *core = qp->obj.uctx->core;
    uint64_t *in = cmd_in(core);
    uint64_t *ctx = in + BDY_MODIFY_QP_IN_WORDS;
    bdy_os_zero(in, BDY_MODIFY_QP_IN_BYTES);
    bdy_modify_qp_in_set_qpn(in, qp->number);
    bdy_modify_qp_in_set_mask(in, a->mask);
    if (a->mask & V_ATTR_CUR_STATE) {
        bdy_modify_qp_in_set_has_cur(in, 1);
        bdy_modify_qp_in_set_cur_st(in, a->cur_qp_state);
    }
    bdy_os_copy(ctx, cmd_out(core), CTX_BYTES);
    set_attr(ctx, a);
    struct cmd cmd = {.op = BDY_CMD_OP_MODIFY_QP,
                      .uctx = qp_asker(qp),
                      .in_len = BDY_MODIFY_QP_IN_BYTES + CTX_BYTES};
    return cmd_run(core, &cmd);
}

int u_modify_qp(struct bdy_uctx *uctx, const struct bdy_u_modify_qp_in *in)
{
    struct qp *qp = obj_find(uctx, in->handle, OBJ_QP);
    if (!qp || !attr_ok(uctx->core, in)) {
        return -EINVAL;
    }
    int rc = query(qp);
    return rc ? rc : modify(qp, in);
}

static void get_path(const uint64_t *ctx, struct bdy_u_qp_attr *out)
{
    const uint64_t *av = ctx + HALF1;
    const uint64_t gid[2] = {bdy_qp_ctx1_get_dgid_lo(av), bdy_qp_ctx1_get_dgid_hi(av)};
    bdy_os_copy(out->dgid, gid, sizeof gid);
    out->is_global = (uint8_t)bdy_qp_ctx0_get_grh(ctx);
    out->sl = (uint8_t)bdy_qp_ctx0_get_sl(ctx);
    out->dlid = (uint16_t)bdy_qp_ctx0_get_dlid(ctx);
    out->flow_label = (uint32_t)bdy_qp_ctx1_get_flow_label(av);
    out->tclass = (uint8_t)bdy_qp_ctx1_get_tclass(av);
    out->hop_limit = (uint8_t)bdy_qp_ctx1_get_hop_limit(av);
    out->sgid_index = (uint8_t)bdy_qp_ctx1_get_sgid_index(av);
    out->src_path_bits = (uint8_t)bdy_qp_ctx1_get_src_path_bits(av);
    out->static_rate = (uint8_t)bdy_qp_ctx1_get_static_rate(av);
}

static void get_attr(const uint64_t *ctx, struct bdy_u_qp_attr *out)
{
    out->qp_state = (uint32_t)bdy_qp_ctx0_get_st(ctx);
    out->cur_qp_state = out->qp_state;
    out->path_mtu = (uint32_t)bdy_qp_ctx0_get_mtu(ctx);
    out->rq_psn = (uint32_t)bdy_qp_ctx0_get_rq_psn(ctx);
    out->sq_psn = (uint32_t)bdy_qp_ctx0_get_sq_psn(ctx);
    out->dest_qp_num = (uint32_t)bdy_qp_ctx0_get_dest_qpn(ctx);
    out->qkey = (uint32_t)bdy_qp_ctx0_get_qkey(ctx);
    out->access = (uint32_t)bdy_qp_ctx0_get_rights(ctx);
    out->pkey_index = (uint16_t)bdy_qp_ctx0_get_pkey_index(ctx);
    out->max_rd_atomic = (uint8_t)bdy_qp_ctx0_get_max_rd(ctx);
    out->max_dest_rd_atomic = (uint8_t)bdy_qp_ctx0_get_max_dest_rd(ctx);
    out->min_rnr_timer = (uint8_t)bdy_qp_ctx0_get_min_rnr(ctx);
    out->port_num = (uint8_t)bdy_qp_ctx0_get_port(ctx);
    out->timeout = (uint8_t)bdy_qp_ctx0_get_timeout(ctx);
    out->retry_cnt = (uint8_t)bdy_qp_ctx0_get_retry_cnt(ctx);
    out->rnr_retry = (uint8_t)bdy_qp_ctx0_get_rnr_retry(ctx);
    get_path(ctx, out);
}

int u_query_qp(struct bdy_uctx *uctx, const struct bdy_u_handle *in, struct bdy_u_qp_attr *out)
{
    struct qp *qp = obj_find(uctx, in->handle, OBJ_QP);
    if (!qp) {
        return -EINVAL;
    }
    int rc = query(qp);
    if (rc != 0) {
        return rc;
    }
    out->handle = in->handle;
    out->max_send_wr = qp->cap.max_send_wr;
    out->max_recv_wr = qp->cap.max_recv_wr;
    out->max_send_sge = qp->cap.max_send_sge;
    out->max_recv_sge = qp->cap.max_recv_sge;
    out->max_inline = qp->cap.max_inline;
    out->sig_all = qp->sig_all;
    out->qp_type = qp->type;
    get_attr(cmd_out(uctx->core), out);
    return 0;
}
