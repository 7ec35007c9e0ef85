// SPDX-License-Identifier: Apache-2.0
// Completion channels and completion queues.
#include "priv.h"

int u_create_channel(struct bdy_uctx *uctx, struct bdy_u_handle *out)
{
    struct channel *channel = bdy_os_alloc(sizeof *channel);
    if (!channel) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &channel->obj, OBJ_CHANNEL);
    if (rc != 0) {
        bdy_os_free(channel);
        return rc;
    }
    out->handle = channel->obj.handle;
    return 0;
}

int channel_destroy(struct channel *channel, bool force)
{
    if (channel->cqs > 0 && !force) {
        return -EBUSY;
    }
    obj_remove(&channel->obj);
    bdy_os_free(channel);
    return 0;
}

int u_destroy_channel(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct channel *channel = obj_find(uctx, in->handle, OBJ_CHANNEL);
    return channel ? channel_destroy(channel, false) : -ENOENT;
}

static void free_rings(struct cq *cq)
{
    struct bdy_pci *pci = cq->obj.uctx->core->pci;
    if (cq->old.cpu) {
        pci->ops->dma_free(pci, &cq->old);
    }
    if (cq->dbr.cpu) {
        pci->ops->dma_free(pci, &cq->dbr);
    }
    if (cq->ring.cpu) {
        pci->ops->dma_free(pci, &cq->ring);
    }
}

static int alloc_rings(struct cq *cq, uint32_t log_size)
{
    struct bdy_pci *pci = cq->obj.uctx->core->pci;
    int rc = pci->ops->dma_alloc(pci, (size_t)BDY_CQE_BYTES << log_size, &cq->ring);
    if (rc == 0) {
        rc = pci->ops->dma_alloc(pci, sizeof(uint64_t), &cq->dbr);
    }
    return rc;
}

static void describe(const struct cq *cq, const struct bdy_dma_buf *ring, uint32_t log_size)
{
    const struct bdy_uctx *uctx = cq->obj.uctx;
    uint64_t *ctx = cmd_in(uctx->core);
    bdy_os_zero(ctx, BDY_CQ_CTX_BYTES);
    bdy_cq_ctx_set_valid(ctx, 1);
    bdy_cq_ctx_set_log_size(ctx, log_size);
    bdy_cq_ctx_set_uar(ctx, uctx->uar);
    bdy_cq_ctx_set_eqn(ctx, uctx->core->eq[1u + cq->vector].number);
    bdy_cq_ctx_set_base(ctx, ring->bus);
    bdy_cq_ctx_set_dbr(ctx, cq->dbr.bus);
}

static int create(struct cq *cq, uint32_t log_size)
{
    struct bdy_uctx *uctx = cq->obj.uctx;
    describe(cq, &cq->ring, log_size);
    struct cmd cmd = {.op = BDY_CMD_OP_CREATE_CQ, .uctx = uctx->uar, .in_len = BDY_CQ_CTX_BYTES};
    int rc = cmd_run(uctx->core, &cmd);
    cq->number = (uint32_t)cmd.out0;
    return rc;
}

/** One entry is kept for the RESIZE mark. */
static uint32_t log_entries(uint32_t cqe)
{
    return log2_ceil(cqe + (CORE_FEATURES & FEATURE_RESIZE ? 1u : 0u));
}

int u_create_cq(struct bdy_uctx *uctx, const struct bdy_u_create_cq_in *in,
                struct bdy_u_create_cq_out *out, struct bdy_dma_buf *rings[2])
{
    struct bdy_core *core = uctx->core;
    struct channel *channel = in->channel ? obj_find(uctx, in->channel, OBJ_CHANNEL) : NULL;
    if (in->rsvd != 0 || in->cqe < 1u || in->cqe > CORE_MAX_CQE || in->vector >= core->neqs - 1u ||
        (in->channel && !channel)) {
        return -EINVAL;
    }
    struct cq *cq = bdy_os_alloc(sizeof *cq);
    if (!cq) {
        return -ENOMEM;
    }
    uint32_t log_size = log_entries(in->cqe);
    int rc = obj_add(uctx, &cq->obj, OBJ_CQ);
    if (rc != 0) {
        goto free_cq;
    }
    cq->vector = in->vector;
    rc = alloc_rings(cq, log_size);
    if (rc == 0) {
        rc = create(cq, log_size);
    }
    if (rc != 0) {
        goto rings;
    }
    cq->user_handle = in->user_handle;
    cq->channel = channel;
    if (channel) {
        channel->cqs++;
    }
    core->cq[cq->number - BDY_CQN_BASE] = cq;
    *out = (struct bdy_u_create_cq_out){
        .handle = cq->obj.handle, .cqn = cq->number, .cqe = 1u << log_size};
    rings[0] = &cq->ring;
    rings[1] = &cq->dbr;
    return 0;

rings:
    free_rings(cq);
    obj_remove(&cq->obj);
free_cq:
    bdy_os_free(cq);
    return rc;
}

/** The device ends the old ring by a RESIZE entry before it answers; what is in it may be read
 * until the next resize (C2). */
int u_resize_cq(struct bdy_uctx *uctx, const struct bdy_u_resize_cq_in *in,
                struct bdy_u_create_cq_out *out, struct bdy_dma_buf *rings[2])
{
    struct bdy_pci *pci = uctx->core->pci;
    struct bdy_dma_buf ring = {0};
    struct cq *cq = obj_find(uctx, in->handle, OBJ_CQ);
    if (!(CORE_FEATURES & FEATURE_RESIZE)) {
        return -EOPNOTSUPP;
    }
    if (!cq || in->cqe < 1u || in->cqe > CORE_MAX_CQE) {
        return -EINVAL;
    }
    uint32_t log_size = log_entries(in->cqe);
    int rc = pci->ops->dma_alloc(pci, (size_t)BDY_CQE_BYTES << log_size, &ring);
    if (rc != 0) {
        return rc;
    }
    describe(cq, &ring, log_size);
    struct cmd cmd = {.op = BDY_CMD_OP_RESIZE_CQ,
                      .uctx = uctx->uar,
                      .in_len = BDY_CQ_CTX_BYTES,
                      .in0 = cq->number};
    rc = cmd_run(uctx->core, &cmd);
    if (rc != 0) {
        pci->ops->dma_free(pci, &ring);
        return rc;
    }
    if (cq->old.cpu) {
        pci->ops->dma_free(pci, &cq->old);
    }
    cq->old = cq->ring;
    cq->ring = ring;
    *out = (struct bdy_u_create_cq_out){
        .handle = cq->obj.handle, .cqn = cq->number, .cqe = 1u << log_size};
    rings[0] = &cq->ring;
    return 0;
}

int cq_destroy(struct cq *cq, bool force)
{
    struct bdy_uctx *uctx = cq->obj.uctx;
    int rc = cmd_simple(uctx->core, BDY_CMD_OP_DESTROY_CQ, uctx->uar, cq->number);
    if (rc != 0 && !force) {
        return rc;
    }
    eq_poll_all(uctx->core); // events that tell of it come before its number is anyone else's
    uctx->core->cq[cq->number - BDY_CQN_BASE] = NULL;
    if (cq->channel) {
        cq->channel->cqs--;
    }
    free_rings(cq);
    obj_remove(&cq->obj);
    bdy_os_free(cq);
    return rc;
}

int u_destroy_cq(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct cq *cq = obj_find(uctx, in->handle, OBJ_CQ);
    return cq ? cq_destroy(cq, false) : -ENOENT;
}
