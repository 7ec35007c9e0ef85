// SPDX-License-Identifier: Apache-2.0
/**
 * @file iommu.h  Bus address to memory.
 *
 * Bus addresses have bit 51 set, which no process address has, so the two can never be confused
 * unnoticed. Every range lies in a block of its own; of a block that is larger than its range, the
 * rest translates to nothing.
 */
#ifndef BDY_SIM_HOST_IOMMU_H
#define BDY_SIM_HOST_IOMMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bdy_aspace;

#define BDY_BUS_BIT (1ull << 51)
#define BDY_PAGE 4096ull

struct bdy_iommu_range {
    uint64_t block, block_bytes; /**< reserved */
    uint64_t bus, bytes;         /**< translated; within the block, whole pages */
    unsigned dir;                /**< BDY_DMA_* */
    struct bdy_aspace *as;       /**< whose memory; NULL: our own at `cpu` */
    uint64_t va;
    uint8_t *cpu;
    struct bdy_iommu_range *left, *right; /**< treap over `block` */
    uint64_t priority;
};

struct bdy_iommu {
    struct bdy_iommu_range *root;
    uint64_t rng;
};

/** Reserve a random free block (alignment a power of two >= BDY_PAGE) for `range` and enter it;
 * block and block_bytes are set, bus is `at` bytes into the block. */
void bdy_iommu_enter(struct bdy_iommu *mmu, struct bdy_iommu_range *range, uint64_t block_bytes,
                     uint64_t align, uint64_t at);
void bdy_iommu_remove(struct bdy_iommu *mmu, struct bdy_iommu_range *range);
/** The range that holds all of [bus, bus + bytes), or NULL. */
struct bdy_iommu_range *bdy_iommu_find(const struct bdy_iommu *mmu, uint64_t bus, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
