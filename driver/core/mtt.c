// SPDX-License-Identifier: Apache-2.0
// From the IOMMU's scrambled frames to the page list of a region: the largest page size that
// describes the range.
//
// Frames that follow each other on the bus are one run. Within the range, a page may only end where
// a run ends if that place is a page line, and only begin where a run begins likewise; the outer
// ends of the first and last run are free, as the region's bounds keep every access inside. So the
// page size is the lowest bit set in any inner end.
#include "priv.h"

#define LOG_PS_MAX 30u

/** The run of frames that begins at pages[*next]: its bus range, and *next moved behind it. */
static void take_run(const struct bdy_dma_map *map, size_t *next, uint64_t *start, uint64_t *end)
{
    *start = map->pages[*next].bus;
    *end = *start;
    while (*next < map->npages && map->pages[*next].bus == *end) {
        *end += map->pages[*next].bytes;
        ++*next;
    }
}

/** All inner ends of runs, or'ed; 0 when there is one run only. */
static uint64_t inner_ends(const struct bdy_dma_map *map)
{
    uint64_t start, end, mask = 0;
    size_t next = 0;
    take_run(map, &next, &start, &end);
    while (next < map->npages) {
        mask |= end;
        take_run(map, &next, &start, &end);
        mask |= start;
    }
    return mask;
}

int mtt_plan(const struct bdy_dma_map *map, uint64_t bytes, struct mtt_plan *plan)
{
    uint64_t mask = inner_ends(map);
    uint64_t first = map->pages[0].bus + map->offset;
    if (mask == 0) {
        *plan = (struct mtt_plan){.direct = true, .base = first};
        return 0;
    }
    uint32_t log_ps = (uint32_t)__builtin_ctzll(mask);
    log_ps = log_ps < LOG_PS_MAX ? log_ps : LOG_PS_MAX;
    uint64_t list_off = first & ((UINT64_C(1) << log_ps) - 1u);
    uint64_t npages = ((list_off + bytes - 1u) >> log_ps) + 1u;
    if (log_ps < 12u || npages > UINT32_MAX) {
        return -EINVAL;
    }
    *plan = (struct mtt_plan){.log_ps = log_ps, .npages = (uint32_t)npages, .list_off = list_off};
    return 0;
}

void mtt_walk_start(struct mtt_walk *walk, const struct bdy_dma_map *map,
                    const struct mtt_plan *plan)
{
    *walk = (struct mtt_walk){.map = map, .page_size = UINT64_C(1) << plan->log_ps};
    take_run(map, &walk->next, &walk->page, &walk->end);
    walk->page = (walk->page + map->offset) & ~(walk->page_size - 1u);
}

uint64_t mtt_walk_next(struct mtt_walk *walk)
{
    if (walk->page >= walk->end && walk->next < walk->map->npages) {
        take_run(walk->map, &walk->next, &walk->page, &walk->end);
    }
    uint64_t page = walk->page;
    walk->page += walk->page_size;
    return page;
}
