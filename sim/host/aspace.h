// SPDX-License-Identifier: Apache-2.0
/** @file aspace.h  Address spaces inside the root complex; bdy_host_aspace_* in host.h makes them.
 */
#ifndef BDY_SIM_HOST_ASPACE_H
#define BDY_SIM_HOST_ASPACE_H

#include "sim/host/host.h"

struct bdy_aspace {
    const struct bdy_aspace_ops *ops;
    void *arg;
    unsigned refs;    /**< the owner's, and one of each mapping */
    int dead;         /**< freed, or its process is gone: nothing revives it */
    uint64_t checked; /**< batch for which `check` has been asked */
};

void bdy_aspace_get(struct bdy_aspace *as);
void bdy_aspace_put(struct bdy_aspace *as);
/** 0, or why a batch of accesses may not touch it. */
int bdy_aspace_check(struct bdy_aspace *as, uint64_t batch);

#endif
