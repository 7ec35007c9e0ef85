// SPDX-License-Identifier: Apache-2.0
// Memory regions.
#include "priv.h"

#define MR_BITS                                                                                    \
    (V_ACCESS_LOCAL_WRITE | V_ACCESS_REMOTE_WRITE | V_ACCESS_REMOTE_READ |                         \
     V_ACCESS_REMOTE_ATOMIC | V_ACCESS_MW_BIND | V_ACCESS_ZERO_BASED)
#define PAGES_IN(bytes) ((BDY_CMD_MBOX_BYTES - (bytes)) / 8u)

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

static bool request_ok(const struct bdy_core *core, const struct mr_as *as)
{
    const uint32_t writes = V_ACCESS_REMOTE_WRITE | V_ACCESS_REMOTE_ATOMIC;
    return (as->access & ~(MR_BITS | V_ACCESS_OPTIONAL)) == 0 &&              // M2
           (!(as->access & writes) || (as->access & V_ACCESS_LOCAL_WRITE)) && // M1
           as->bytes <= core->limits.max_mr_size &&                           // M4
           fits(as->va, as->bytes) &&                                         // M5
           ((as->access & V_ACCESS_ZERO_BASED) || fits(as->iova, as->bytes));
}

static int map_memory(struct bdy_uctx *uctx, struct mr_as *as)
{
    struct bdy_pci *pci = uctx->core->pci;
    unsigned dir =
        BDY_DMA_TO_DEVICE | (as->access & V_ACCESS_LOCAL_WRITE ? BDY_DMA_FROM_DEVICE : 0u);
    as->mapped = false;
    if (as->bytes == 0) {
        return 0;
    }
    int rc = pci->ops->dma_map(pci, uctx->as, as->va, as->bytes, dir, &as->map);
    as->mapped = rc == 0;
    return rc;
}

static void unmap_memory(struct bdy_uctx *uctx, struct mr_as *as)
{
    if (as->mapped) {
        uctx->core->pci->ops->dma_unmap(uctx->core->pci, &as->map);
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

/** The pages that did not fit into the first command, then OPEN_MR. */
static int write_rest(struct mr *mr, struct mtt_walk *walk, uint32_t done, uint32_t npages)
{
    const uint32_t room = PAGES_IN(BDY_WRITE_MTT_IN_BYTES);
    int rc = 0;
    if (done == npages) {
        return 0;
    }
    while (done < npages && rc == 0) {
        uint32_t count = least(npages - done, room);
        rc = write_pages(mr, walk, done, count);
        done += count;
    }
    struct bdy_uctx *uctx = mr->obj.uctx;
    return rc ? rc : cmd_simple(uctx->core, BDY_CMD_OP_OPEN_MR, uctx->uar, mr->key);
}

/** How the device shall translate; an empty region and the null one need nothing. */
static int plan_of(const struct mr_as *as, struct mtt_plan *plan)
{
    *plan = (struct mtt_plan){.direct = true};
    return as->mapped ? mtt_plan(&as->map, as->bytes, plan) : 0;
}

/** A create_mr_in with the first `count` pages. */
static void describe(uint64_t *mbox, const struct mr_as *as, const struct mtt_plan *plan,
                     struct mtt_walk *walk, uint32_t count)
{
    bool zero_based = (as->access & V_ACCESS_ZERO_BASED) != 0;
    bdy_os_zero(mbox, BDY_CREATE_MR_IN_BYTES);
    bdy_create_mr_in_set_pd(mbox, as->pd);
    bdy_create_mr_in_set_rights(mbox, as->access & MR_BITS);
    bdy_create_mr_in_set_direct(mbox, plan->direct && !as->null);
    bdy_create_mr_in_set_null_mr(mbox, as->null);
    bdy_create_mr_in_set_log_ps(mbox, plan->log_ps);
    bdy_create_mr_in_set_npages(mbox, plan->npages);
    bdy_create_mr_in_set_inline_pages(mbox, count);
    bdy_create_mr_in_set_start(mbox, zero_based ? 0 : as->iova);
    bdy_create_mr_in_set_len(mbox, as->bytes);
    bdy_create_mr_in_set_list_off(mbox, plan->list_off);
    bdy_create_mr_in_set_base(mbox, plan->base);
    if (count > 0) {
        mtt_walk_start(walk, &as->map, plan);
    }
    for (uint32_t i = 0; i < count; i++) {
        mbox[BDY_CREATE_MR_IN_WORDS + i] = mtt_walk_next(walk);
    }
}

static int create(struct mr *mr)
{
    struct bdy_uctx *uctx = mr->obj.uctx;
    struct mtt_plan plan;
    struct mtt_walk walk;
    int rc = plan_of(&mr->as, &plan);
    if (rc != 0) {
        return rc;
    }
    uint32_t count = least(plan.npages, PAGES_IN(BDY_CREATE_MR_IN_BYTES));
    describe(cmd_in(uctx->core), &mr->as, &plan, &walk, count);
    struct cmd cmd = {.op = BDY_CMD_OP_CREATE_MR,
                      .uctx = uctx->uar,
                      .in_len = BDY_CREATE_MR_IN_BYTES + 8u * count};
    rc = cmd_run(uctx->core, &cmd);
    if (rc != 0) {
        return rc;
    }
    mr->key = (uint32_t)cmd.out0;
    rc = write_rest(mr, &walk, count, plan.npages);
    if (rc != 0) {
        cmd_simple(uctx->core, BDY_CMD_OP_DESTROY_MR, uctx->uar, mr->key);
    }
    return rc;
}

/** Map, and make it known to the device. `as` is checked, and not mapped yet. */
static int add(struct bdy_uctx *uctx, const struct mr_as *as, struct bdy_u_key_out *out)
{
    struct mr *mr = bdy_os_alloc(sizeof *mr);
    if (!mr) {
        return -ENOMEM;
    }
    int rc = obj_add(uctx, &mr->obj, OBJ_MR);
    if (rc != 0) {
        goto free_mr;
    }
    mr->as = *as;
    rc = as->null ? 0 : map_memory(uctx, &mr->as);
    if (rc != 0) {
        goto remove;
    }
    rc = create(mr);
    if (rc != 0) {
        goto unmap;
    }
    *out = (struct bdy_u_key_out){.handle = mr->obj.handle, .key = mr->key};
    return 0;

unmap:
    unmap_memory(uctx, &mr->as);
remove:
    obj_remove(&mr->obj);
free_mr:
    bdy_os_free(mr);
    return rc;
}

int u_reg_mr(struct bdy_uctx *uctx, const struct bdy_u_reg_mr_in *in, struct bdy_u_key_out *out)
{
    const struct pd *pd = obj_find(uctx, in->pd, OBJ_PD);
    struct mr_as as = {.va = in->va, .bytes = in->bytes, .iova = in->iova, .access = in->access};
    if (!pd || !request_ok(uctx->core, &as)) {
        return -EINVAL;
    }
    as.pd = pd->number;
    return add(uctx, &as, out);
}

/** Every address, for local use: reads give zeros, writes vanish. */
int u_alloc_null_mr(struct bdy_uctx *uctx, const struct bdy_u_handle *in, struct bdy_u_key_out *out)
{
    const struct pd *pd = obj_find(uctx, in->handle, OBJ_PD);
    struct mr_as as = {.bytes = UINT64_MAX, .access = V_ACCESS_LOCAL_WRITE, .null = true};
    if (!(CORE_FEATURES & FEATURE_NULL_MR)) {
        return -EOPNOTSUPP;
    }
    if (!pd) {
        return -EINVAL;
    }
    as.pd = pd->number;
    return add(uctx, &as, out);
}

/** REREG_MR. Without new memory the device keeps its page list and no page is sent. */
static int rereg(struct mr *mr, struct mr_as *next, bool remapped)
{
    struct bdy_uctx *uctx = mr->obj.uctx;
    const uint32_t bytes = BDY_REREG_MR_IN_BYTES + BDY_CREATE_MR_IN_BYTES;
    struct mtt_plan plan;
    struct mtt_walk walk;
    uint64_t *mbox = cmd_in(uctx->core);
    int rc = plan_of(next, &plan);
    if (rc != 0) {
        return rc;
    }
    uint32_t count = remapped ? least(plan.npages, PAGES_IN(bytes)) : 0;
    bdy_os_zero(mbox, BDY_REREG_MR_IN_BYTES);
    bdy_rereg_mr_in_set_key(mbox, mr->key);
    describe(mbox + BDY_REREG_MR_IN_WORDS, next, &plan, &walk, count);
    struct cmd cmd = {.op = BDY_CMD_OP_REREG_MR, .uctx = uctx->uar, .in_len = bytes + 8u * count};
    rc = cmd_run(uctx->core, &cmd);
    if (rc != 0) {
        mr->unsure = rc != -EBUSY && rc != -ENOMEM;
        return rc;
    }
    mr->key = (uint32_t)cmd.out0;
    rc = remapped ? write_rest(mr, &walk, count, plan.npages) : 0;
    if (rc != 0) {
        cmd_simple(uctx->core, BDY_CMD_OP_DESTROY_MR, uctx->uar, mr->key);
        mr->unsure = true;
    }
    return rc;
}

/** What is not flagged stays (M7). */
static int next_of(struct bdy_uctx *uctx, const struct bdy_u_rereg_mr_in *in, struct mr_as *next)
{
    if (in->flags & V_REREG_TRANSLATION) {
        next->va = in->va;
        next->bytes = in->bytes;
        next->iova = in->iova;
    }
    if (in->flags & V_REREG_PD) {
        const struct pd *pd = obj_find(uctx, in->pd, OBJ_PD);
        if (!pd) {
            return -EINVAL;
        }
        next->pd = pd->number;
    }
    if (in->flags & V_REREG_ACCESS) {
        next->access = in->access;
    }
    return request_ok(uctx->core, next) ? 0 : -EINVAL;
}

int u_rereg_mr(struct bdy_uctx *uctx, const struct bdy_u_rereg_mr_in *in, struct bdy_u_key_out *out)
{
    const uint32_t all = V_REREG_TRANSLATION | V_REREG_PD | V_REREG_ACCESS;
    struct mr *mr = obj_find(uctx, in->handle, OBJ_MR);
    if (!mr || mr->as.null || mr->unsure || in->flags == 0 || (in->flags & ~all)) {
        return -EINVAL;
    }
    struct mr_as next = mr->as;
    int rc = next_of(uctx, in, &next);
    if (rc != 0) {
        return rc;
    }
    // memory that was mapped for reading only must be mapped again to be written
    bool remap =
        (in->flags & V_REREG_TRANSLATION) || (next.access & ~mr->as.access & V_ACCESS_LOCAL_WRITE);
    rc = remap ? map_memory(uctx, &next) : 0;
    if (rc == 0) {
        rc = rereg(mr, &next, remap);
    }
    if (rc != 0) {
        if (remap) {
            unmap_memory(uctx, &next);
        }
        return rc;
    }
    if (remap) {
        unmap_memory(uctx, &mr->as);
    }
    mr->as = next;
    *out = (struct bdy_u_key_out){.handle = mr->obj.handle, .key = mr->key};
    return 0;
}

/** The device drains first; only then may the mapping go. */
int mr_destroy(struct mr *mr, bool force)
{
    struct bdy_uctx *uctx = mr->obj.uctx;
    int rc = cmd_simple(uctx->core, BDY_CMD_OP_DESTROY_MR, uctx->uar, mr->key);
    if (rc == -EINVAL && mr->unsure) { // it was gone
        rc = 0;
    }
    if (rc != 0 && !force) {
        return rc;
    }
    unmap_memory(uctx, &mr->as);
    obj_remove(&mr->obj);
    bdy_os_free(mr);
    return rc;
}

int u_dereg_mr(struct bdy_uctx *uctx, const struct bdy_u_handle *in)
{
    struct mr *mr = obj_find(uctx, in->handle, OBJ_MR);
    return mr ? mr_destroy(mr, false) : -ENOENT;
}
