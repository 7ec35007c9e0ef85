// SPDX-License-Identifier: Apache-2.0
/** @file mtt.h  From a mapping's frames to the page list of a region. */
#ifndef BDY_CORE_MTT_H
#define BDY_CORE_MTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bindery/pci.h"

/** How a mapped range is described to the device. */
struct mtt_plan {
    bool direct;
    uint32_t log_ps, npages;
    uint64_t base;     /**< direct: bus address of the first byte */
    uint64_t list_off; /**< paged: offset of the first byte in the first page */
};
int mtt_plan(const struct bdy_dma_map *map, uint64_t bytes, struct mtt_plan *plan);
/** Walks the plan's page addresses in order. */
struct mtt_walk {
    const struct bdy_dma_map *map;
    size_t next;        /**< next entry of map->pages */
    uint64_t page, end; /**< next page address and the end of the run it is in */
    uint64_t page_size;
};
void mtt_walk_start(struct mtt_walk *walk, const struct bdy_dma_map *map,
                    const struct mtt_plan *plan);
uint64_t mtt_walk_next(struct mtt_walk *walk);

#endif
