// SPDX-License-Identifier: Apache-2.0
#include "sim/host/iommu.h"

#include "sim/host/rand.h"

/** The range with the greatest block address <= bus. */
static struct bdy_iommu_range *floor_of(const struct bdy_iommu *mmu, uint64_t bus)
{
    struct bdy_iommu_range *at = mmu->root, *best = NULL;
    while (at) {
        if (at->block <= bus) {
            best = at;
            at = at->right;
        } else {
            at = at->left;
        }
    }
    return best;
}

static int is_free(const struct bdy_iommu *mmu, uint64_t block, uint64_t bytes)
{
    const struct bdy_iommu_range *near = floor_of(mmu, block + bytes - 1);
    return !near || near->block + near->block_bytes <= block;
}

/** Split by block address: all of `low` < block <= all of `high`. */
static void split(struct bdy_iommu_range *tree, uint64_t block, struct bdy_iommu_range **low,
                  struct bdy_iommu_range **high)
{
    while (tree) {
        if (tree->block < block) {
            *low = tree;
            low = &tree->right;
            tree = tree->right;
        } else {
            *high = tree;
            high = &tree->left;
            tree = tree->left;
        }
    }
    *low = NULL;
    *high = NULL;
}

static struct bdy_iommu_range *join(struct bdy_iommu_range *low, struct bdy_iommu_range *high)
{
    struct bdy_iommu_range *root = NULL, **hook = &root;
    while (low && high) {
        if (low->priority > high->priority) {
            *hook = low;
            hook = &low->right;
            low = low->right;
        } else {
            *hook = high;
            hook = &high->left;
            high = high->left;
        }
    }
    *hook = low ? low : high;
    return root;
}

static void insert(struct bdy_iommu *mmu, struct bdy_iommu_range *range)
{
    struct bdy_iommu_range **hook = &mmu->root;
    while (*hook && (*hook)->priority > range->priority)
        hook = (*hook)->block < range->block ? &(*hook)->right : &(*hook)->left;
    split(*hook, range->block, &range->left, &range->right);
    *hook = range;
}

void bdy_iommu_enter(struct bdy_iommu *mmu, struct bdy_iommu_range *range, uint64_t block_bytes,
                     uint64_t align, uint64_t at)
{
    uint64_t block;
    do
        block = BDY_BUS_BIT | (bdy_rand(&mmu->rng) & (BDY_BUS_BIT - 1) & ~(align - 1));
    while (block + block_bytes > 2 * BDY_BUS_BIT || !is_free(mmu, block, block_bytes));
    range->block = block;
    range->block_bytes = block_bytes;
    range->bus = block + at;
    range->priority = bdy_rand(&mmu->rng);
    insert(mmu, range);
}

void bdy_iommu_remove(struct bdy_iommu *mmu, struct bdy_iommu_range *range)
{
    struct bdy_iommu_range **hook = &mmu->root;
    while (*hook != range)
        hook = (*hook)->block < range->block ? &(*hook)->right : &(*hook)->left;
    *hook = join(range->left, range->right);
}

struct bdy_iommu_range *bdy_iommu_find(const struct bdy_iommu *mmu, uint64_t bus, uint64_t bytes)
{
    struct bdy_iommu_range *range = floor_of(mmu, bus);
    if (!range || bus < range->bus)
        return NULL;
    const uint64_t into = bus - range->bus;
    return into < range->bytes && bytes <= range->bytes - into ? range : NULL;
}
