// SPDX-License-Identifier: Apache-2.0
// Memory regions.
#include "priv.h"

#define MR_BITS                                                                                    \
    (V_ACCESS_LOCAL_WRITE | V_ACCESS_REMOTE_WRITE | V_ACCESS_REMOTE_READ |                         \
     V_ACCESS_REMOTE_ATOMIC | V_ACCESS_MW_BIND | V_ACCESS_ZERO_BASED)
#define PAGES_IN_CREATE ((BDY_CMD_MBOX_BYTES - BDY_CREATE_MR_IN_BYTES) / 8u)
#define PAGES_IN_WRITE ((BDY_CMD_MBOX_BYTES - BDY_WRITE_MTT_IN_BYTES) / 8u)

_Static_assert((int)V_ACCESS_LOCAL_WRITE == (int)BDY_ACCESS_BIT_LOCAL_WRITE &&
                   (int)V_ACCESS_REMOTE_WRITE == (int)BDY_ACCESS_BIT_REMOTE_WRITE &&
                   (int)V_ACCESS_REMOTE_READ == (int)BDY_ACCESS_BIT_REMOTE_READ &&
                   (int)V_ACCESS_REMOTE_ATOMIC == (int)BDY_ACCESS_BIT_REMOTE_ATOMIC &&
                   (int)V_ACCESS_MW_BIND == (int)BDY_ACCESS_BIT_MW_BIND &&
                   (int)V_ACCESS_ZERO_BASED == (int)BDY_ACCESS_BIT_ZERO_BASED,
               "the device's access bits are the verbs' ones");

/** Decision 10: an empty range always fits, any other must not wrap 2^64 (M5). */
static bool fits(uint64_t start, uint64_t bytes)
{
    return bytes == 0 || start <= UINT64_MAX - (bytes - 1u);
}

static bool request_ok(const struct bdy_core *core, const struct bdy_u_reg_mr_in *in)
{
    const uint32_t writes = V_ACCESS_REMOTE_WRITE | V_ACCESS_REMOTE_ATOMIC;
    return (in->access & ~(MR_BITS | V_ACCESS_OPTIONAL)) == 0 &&              // M2
           (!(in->access & writes) || (in->access & V_ACCESS_LOCAL_WRITE)) && // M1
           in->bytes <= core->limits.max_mr_size &&                           // M4
           fits(in->va, in->bytes) &&                                         // M5
           ((in->access & V_ACCESS_ZERO_BASED) || fits(in->iova, in->bytes));
}

static int map_memory(struct mr *mr, const struct bdy_u_reg_mr_in *in)
{
    struct bdy_pci *pci = mr->obj.uctx->core->pci;
    unsigned dir =
        BDY_DMA_TO_DEVICE | (in->access & V_ACCESS_LOCAL_WRITE ? BDY_DMA_FROM_DEVICE : 0u);
    if (in->bytes == 0) {
        return 0;
    }
    int rc = pci->ops->dma_map(pci, mr->obj.uctx->as, in->va, in->bytes, dir, &mr->map);
    mr->mapped = rc == 0;
    return rc;
}

static void unmap_memory(struct mr *mr)
{
    struct bdy_pci *pci = mr->obj.uctx->core->pci;
    if (mr->mapped) {
        pci->ops->dma_unmap(pci, &mr->map);
    }
}

static int write_pages(struct mr *mr, struct mtt_walk *walk, uint32_t first, uint32_t count)
{
    struct bdy_core *core = mr->obj.uctx->core;
    uint64_t *in = cmd_in(core);
    bdy_os_zero(in, BDY_WRITE_MTT_IN_BYTES);
    bdy_write_mtt_in_set_key(in, mr->key);
    bdy_write_mtt_in_set_first(in, first);
    bdy_write_mtt_in_set_count(in, count);
    for (uint32_t i = 0; i < count; i++) {
        in[BDY_WRITE_MTT_IN_WORDS + i] = mtt_walk_next(walk);
    }
    struct cmd cmd = {.op = BDY_CMD_OP_WRITE_MTT,
                      .uctx = mr->obj.uctx->uar,
                      .in_len = BDY_WRITE_MTT_IN_BYTES + 8u * count};
    return cmd_run(core, &cmd);
}

/** The pages that did not fit into CREATE_MR, then OPEN_MR. */
static int write_rest(struct mr *mr, struct mtt_walk *walk, uint32_t done, uint32_t npages)
{
    int rc = 0;
    if (done == npages) {
        return 0;
    }
    while (done < npages && rc == 0) {
        uint32_t count = npages - done < PAGES_IN_WRITE ? npages - done : PAGES_IN_WRITE;
        rc = write_pages(mr, walk, done, count);
        done += count;
    }
    struct bdy_uctx *uctx = mr->obj.uctx;
    return rc ? rc : cmd_simple(uctx->core, BDY_CMD_OP_OPEN_MR, uctx->uar, mr->key);
}

static int create(struct mr *mr, const struct pd *pd, const struct bdy_u_reg_mr_in *in,
                  const struct mtt_plan *plan)
{
    struct bdy_uctx *uctx = mr->obj.uctx;
    struct mtt_walk walk;
    uint64_t *mbox = cmd_in(uctx->core);
    uint32_t count = plan->npages < PAGES_IN_CREATE ? plan->npages : PAGES_IN_CREATE;
    bool zero_based = (in->access & V_ACCESS_ZERO_BASED) != 0;

    bdy_os_zero(mbox, BDY_CREATE_MR_IN_BYTES);
    bdy_create_mr_in_set_pd(mbox, pd->number);
    bdy_create_mr_in_set_rights(mbox, in->access & MR_BITS);
    bdy_create_mr_in_set_direct(mbox, plan->direct);
    bdy_create_mr_in_set_log_ps(mbox, plan->log_ps);
    bdy_create_mr_in_set_npages(mbox, plan->npages);
    bdy_create_mr_in_set_inline_pages(mbox, count);
    bdy_create_mr_in_set_start(mbox, zero_based ? 0 : in->iova);
    bdy_create_mr_in_set_len(mbox, in->bytes);
    bdy_create_mr_in_set_list_off(mbox, plan->list_off);
    bdy_create_mr_in_set_base(mbox, plan->base);
    if (count > 0) {
        mtt_walk_start(&walk, &mr->map, plan);
    }
    for (uint32_t i = 0; i < count; i++) {
        mbox[BDY_CREATE_MR_IN_WORDS + i] = mtt_walk_next(&walk);
    }
    struct cmd cmd = {.op = BDY_CMD_OP_CREATE_MR,
                      .uctx = uctx->uar,
                      .in_len = BDY_CREATE_MR_IN_BYTES + 8u * count};
    int rc = cmd_run(uctx->core, &cmd);
    if (rc != 0) {
        return rc;
    }
    mr->key = (uint32_t)cmd.out0;
    rc = write_rest(mr, &walk, count, plan->npages);
    if (rc != 0) {
        cmd_simple(uctx->core, BDY_CMD_OP_DESTROY_MR, uctx->uar, mr->key);
    }
    return rc;
}

int u_reg_mr(struct bdy_uctx *uctx, const struct bdy_u_reg_mr_in *in, struct bdy_u_key_out *out)
{
    struct mtt_plan plan = {.direct = true}; // what an empty region has
    const struct pd *pd = obj_find(uctx, in->pd, OBJ_PD);
    if (!pd || !request_ok(uctx->core, in)) {
        return -EINVAL;
    }
    struct mr *mr = bdy_os_alloc(sizeof *mr);
    if (!mr) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &mr->obj, OBJ_MR);
    if (rc != 0) {
        goto free_mr;
    }
    rc = map_memory(mr, in);
    if (rc != 0) {
        goto remove;
    }
    rc = mr->mapped ? mtt_plan(&mr->map, in->bytes, &plan) : 0;
    if (rc == 0) {
        rc = create(mr, pd, in, &plan);
    }
    if (rc != 0) {
        goto unmap;
    }
    *out = (struct bdy_u_key_out){.handle = mr->obj.handle, .key = mr->key};
    return 0;

unmap:
    unmap_memory(mr);
remove:
    obj_remove(&mr->obj);
free_mr:
    bdy_os_free(mr);
    return rc;
}

/** The device drains first; only then may the mapping go. */
int mr_destroy(struct mr *mr, bool force)
{
    struct bdy_uctx *uctx = mr->obj.uctx;
    int rc = cmd_simple(uctx->core, BDY_CMD_OP_DESTROY_MR, uctx->uar, mr->key);
    if (rc != 0 && !force) {
        return rc;
    }
    unmap_memory(mr);
    obj_remove(&mr->obj);
    bdy_os_free(mr);
    return rc;
}

int u_dereg_mr(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct mr *mr = obj_find(uctx, in->handle, OBJ_MR);
    return mr ? mr_destroy(mr, false) : -ENOENT;
}
