// SPDX-License-Identifier: Apache-2.0
/** @file rand.h  The seeded generator of the simulator's host side (splitmix64). */
#ifndef BDY_SIM_HOST_RAND_H
#define BDY_SIM_HOST_RAND_H

#include <stdint.h>

static inline uint64_t bdy_rand(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/** Even enough for latencies and shares: n is far below 2^32. */
static inline uint32_t bdy_rand_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((bdy_rand(state) >> 32) * n) >> 32);
}

#endif
