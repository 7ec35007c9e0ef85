// SPDX-License-Identifier: Apache-2.0
/** @file doorbells.h  The client's end of the shared doorbell queue (struct bdy_dbq). */
#ifndef BDY_CLIENT_DOORBELLS_H
#define BDY_CLIENT_DOORBELLS_H

#include <pthread.h>
#include <stdatomic.h>

#include "bindery/uctx.h"

struct bdy_doorbells {
    pthread_mutex_t lock;
    struct bdy_dbq *q; /**< shared with the launcher, which is trusted with nothing but progress */
    int wake_fd;       /**< eventfd that the launcher sleeps on */
    int sock;          /**< hang-up of the launcher shows here */
    uint32_t tail;     /**< ours; the shared copy is written only */
    _Atomic uint32_t seen;  /**< progress before the last look at the completion queues */
    _Atomic int64_t looked; /**< when the socket was looked at last, in ms */
    atomic_int gone;
};

/** Map the queue. 0 or -errno. Takes neither descriptor. */
int bdy_doorbells_open(struct bdy_doorbells *d, int memfd, int wake_fd, int sock);
void bdy_doorbells_close(struct bdy_doorbells *d);

/** Queue one doorbell in order; a full queue waits (H23). 0, -EIO: the launcher has gone. */
int bdy_doorbells_ring(struct bdy_doorbells *d, uint32_t offset, uint64_t value);

/** Doorbells rung so far: what a command's reply comes after (H23). */
uint32_t bdy_doorbells_tail(struct bdy_doorbells *d);

/** Wait for progress since the last call, at most a millisecond (H26). 0, -EIO: the launcher has
 * gone. */
int bdy_doorbells_relax(struct bdy_doorbells *d);

#endif
