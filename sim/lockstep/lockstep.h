// SPDX-License-Identifier: Apache-2.0
/**
 * @file lockstep.h  The scoreboard: recomputes every verdict of the trace port with the executable specification.
 *
 * It reads the trace port and nothing else, so it fits any device that has one. The first difference is reported with the rule,
 * the inputs and both results; after it nothing more is compared.
 */
#ifndef BINDERY_LOCKSTEP_H
#define BINDERY_LOCKSTEP_H

#include <stdbool.h>
#include <stdint.h>

#include "bindery/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bdy_lockstep_cfg {
    unsigned log_keys, log_mtt, log_qps, log_pds;
    bool strict_ibta;
    void (*report)(void *arg, const char *text); /**< called once, at the first difference */
    void *arg;
};

struct bdy_lockstep;

struct bdy_lockstep *bdy_lockstep_new(const struct bdy_lockstep_cfg *cfg); /**< NULL: no memory */
void bdy_lockstep_free(struct bdy_lockstep *ls);
void bdy_lockstep_set_strict(struct bdy_lockstep *ls, bool strict);
/** The device was reset: its tables are empty again. */
void bdy_lockstep_reset(struct bdy_lockstep *ls);
/** Feed one event; kinds it does not know are ignored. */
void bdy_lockstep_event(struct bdy_lockstep *ls, const struct bdy_trace *ev);
uint64_t bdy_lockstep_checked(const struct bdy_lockstep *ls); /**< verdicts compared */
bool bdy_lockstep_failed(const struct bdy_lockstep *ls);
/** How often `rule` was the verdict (0: granted), for coverage. */
uint64_t bdy_lockstep_seen(const struct bdy_lockstep *ls, unsigned rule);

#ifdef __cplusplus
}
#endif
#endif
