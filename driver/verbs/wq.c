// SPDX-License-Identifier: Apache-2.0
// Send and receive queues: space, indices, and what each work request was.
//
// `tail` is written by who posts (under the queue's lock), `head` and `retired` by who polls (under
// the CQ's lock). Each is stored with release and loaded with acquire, so that a record is complete
// when it is looked up and free when it is reused.

#include <errno.h>
#include <stdlib.h>

#include "objects.h"

static uint32_t get(const _Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_acquire);
}

static void set(_Atomic uint32_t *counter, uint32_t value)
{
    atomic_store_explicit(counter, value, memory_order_release);
}

int bdy_wq_init(struct bdy_wq *wq, uint32_t units, uint32_t unit_words)
{
    if (wq->max_wr != 0 && wq->ring.bytes / sizeof(uint64_t) / unit_words < units)
        return EPROTO;
    wq->wrs = calloc(units, sizeof(*wq->wrs));
    if (wq->wrs == NULL)
        return ENOMEM;
    wq->words = wq->ring.addr;
    wq->units = units;
    wq->unit_words = unit_words;
    pthread_mutex_init(&wq->lock, NULL);
    return 0;
}

void bdy_wq_fini(struct bdy_wq *wq)
{
    if (wq->wrs == NULL)
        return;
    pthread_mutex_destroy(&wq->lock);
    free(wq->wrs);
    wq->wrs = NULL;
}

void bdy_wq_reset(struct bdy_wq *wq)
{
    set(&wq->head, 0);
    set(&wq->tail, 0);
    set(&wq->retired, 0);
    wq->posted = 0;
    wq->rung = 0;
}

int bdy_wq_has_room(const struct bdy_wq *wq, uint32_t units)
{
    return wq->posted - get(&wq->retired) < wq->max_wr &&
           wq->tail - get(&wq->head) + units <= wq->units;
}

uint64_t *bdy_wq_unit(const struct bdy_wq *wq, uint32_t unit)
{
    return wq->words + (size_t)(unit & (wq->units - 1)) * wq->unit_words;
}

const struct bdy_wr *bdy_wq_wr(const struct bdy_wq *wq, uint32_t unit)
{
    return &wq->wrs[unit & (wq->units - 1)];
}

void bdy_wq_push(struct bdy_wq *wq, const struct bdy_wr *wr)
{
    struct bdy_wr *record = &wq->wrs[wq->tail & (wq->units - 1)];
    *record = *wr;
    record->number = wq->posted++;
    set(&wq->tail, wq->tail + wr->slots);
}

int bdy_wq_retire(struct bdy_wq *wq, uint16_t index, struct bdy_wr *out)
{
    const uint32_t head = get(&wq->head);
    const uint32_t ahead = (uint16_t)(index - head);
    if (ahead >= get(&wq->tail) - head)
        return 0;
    *out = *bdy_wq_wr(wq, head + ahead);
    set(&wq->retired, out->number + 1);
    set(&wq->head, head + ahead + out->slots);
    return 1;
}
