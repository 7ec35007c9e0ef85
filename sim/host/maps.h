// SPDX-License-Identifier: Apache-2.0
/** @file maps.h  What a process may do with a range of its memory, from its /proc/PID/maps. */
#ifndef BDY_SIM_HOST_MAPS_H
#define BDY_SIM_HOST_MAPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Do mappings with the rights of `dir` (BDY_DMA_*) cover [from, end)? 0, -EFAULT, or -EPERM when
 * the list at `path` may not be read. `readable`: all of it may be read.
 */
int bdy_maps_check(const char *path, uint64_t from, uint64_t end, unsigned dir, int *readable);

#ifdef __cplusplus
}
#endif
#endif
