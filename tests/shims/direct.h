// SPDX-License-Identifier: Apache-2.0
/**
 * @file direct.h  An HCA in this process: Verilated device, root complex, driver core and scoreboard, and S2 as function calls.
 *
 * The same parts as below `bindery exec`, without a socket and without wall clock: idle time is jumped at once. One lock serves all
 * contexts, so threads may use them as they would use libibverbs.
 */
#ifndef BINDERY_TESTS_DIRECT_H
#define BINDERY_TESTS_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "bindery/uctx.h"
#include "driver/core/core.h"
#include "sim/host/host.h"
#include "sim/lockstep/lockstep.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bdy_direct_cfg {
    uint64_t seed;
    uint32_t lat_min, lat_max; /**< host memory, cycles */
    uint32_t table_delay;      /**< 0: tables answer at once; else up to so many cycles, out of order */
    uint64_t link_fault;       /**< LINK_FAULT register without its seed */
    bool strict_ibta;
    bool no_skip;
    uint16_t nak_delay;
    void (*trace)(void *arg, const struct bdy_trace *ev); /**< beside the scoreboard; may be NULL */
    void *trace_arg;
};

struct bdy_direct;

/** NULL after a message on stderr. `firmware`: path of the image. */
struct bdy_direct *bdy_direct_open(const struct bdy_direct_cfg *cfg, const char *firmware);
/** All contexts must be closed. Returns how many verdicts were compared; `failed` tells of a lockstep difference. */
uint64_t bdy_direct_close(struct bdy_direct *d, bool *failed);

/** A new user context of the HCA; ends with its close operation. 0 or -errno. */
int bdy_direct_transport(struct bdy_direct *d, struct bdy_transport **out);
/** Its UAR page and the core's context, for hostile tests. */
struct bdy_uctx *bdy_direct_uctx(struct bdy_transport *t);
/** Close the context as if its process had died: nothing of it may be used afterwards but the transport's close. */
void bdy_direct_kill(struct bdy_transport *t);

/** Let the model work until it is idle and no timer is pending within `cycles` from now. */
void bdy_direct_settle(struct bdy_direct *d, uint64_t cycles);
struct bdy_host *bdy_direct_host(struct bdy_direct *d);
struct bdy_core *bdy_direct_core(struct bdy_direct *d);
struct bdy_lockstep *bdy_direct_lockstep(struct bdy_direct *d);

#ifdef __cplusplus
}
#endif
#endif
