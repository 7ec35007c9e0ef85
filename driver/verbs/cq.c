// SPDX-License-Identifier: Apache-2.0
// Completion queues: life, arming, and the entries of queue pairs that are gone.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bdy_regs.h"
#include "objects.h"

#define CQE_WORDS BDY_CQE_WORDS

static int create(struct bdy_ctx *ctx, struct bdy_cq *cq, const struct bdy_u_create_cq_in *in)
{
    struct bdy_u_create_cq_out out;
    struct bdy_u_ring rings[2] = {{0}};
    int err = bdy_ctx_call_rings(ctx, BDY_U_CREATE_CQ, in, sizeof(*in), &out, sizeof(out), rings);
    if (err != 0)
        return err;
    cq->ring = rings[0];
    cq->record = rings[1];
    cq->entries = rings[0].addr;
    cq->consumer = rings[1].addr;
    cq->cqn = out.cqn;
    cq->prov.ibv.handle = out.handle;
    cq->prov.ibv.cqe = (int)out.cqe;
    while ((1u << cq->log) < out.cqe)
        cq->log++;
    return 0;
}

struct ibv_cq *bdy_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
                             int vector)
{
    struct bdy_ctx *ctx = bdy_ctx_of(context);
    struct bdy_u_create_cq_in in = {.cqe = (uint32_t)cqe, .vector = (uint32_t)vector};
    if (cqe <= 0 || vector < 0 || vector >= context->num_comp_vectors) {
        errno = EINVAL;
        return NULL;
    }
    if (channel != NULL && (in.channel = bdy_events_channel(ctx, channel->fd)) == 0) {
        errno = EINVAL;
        return NULL;
    }
    struct bdy_cq *cq = calloc(1, sizeof(*cq));
    if (cq == NULL)
        return NULL;
    in.user_handle = (uintptr_t)&cq->prov.ibv;
    int err = create(ctx, cq, &in);
    if (err != 0) {
        free(cq);
        errno = err;
        return NULL;
    }
    pthread_mutex_init(&cq->lock, NULL);
    bdy_events_add_cq(ctx, cq);
    return &cq->prov.ibv;
}

int bdy_destroy_cq(struct ibv_cq *ibcq)
{
    struct bdy_ctx *ctx = bdy_ctx_of(ibcq->context);
    struct bdy_cq *cq = bdy_cq_of(ibcq);
    int err = bdy_ctx_call_handle(ctx, BDY_U_DESTROY_CQ, ibcq->handle);
    if (err != 0)
        return err;
    bdy_events_del_cq(ctx, cq);
    bdy_ctx_unmap(ctx, &cq->ring);
    bdy_ctx_unmap(ctx, &cq->record);
    pthread_mutex_destroy(&cq->lock);
    free(cq);
    return 0;
}

// The sequence moves with each event that the program has taken (C5): arming again before that asks
// for the same event.
int bdy_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
    struct bdy_ctx *ctx = bdy_ctx_of(ibcq->context);
    struct bdy_cq *cq = bdy_cq_of(ibcq);
    uint64_t db = 0;
    int err = bdy_ctx_check(ctx);
    if (err != 0)
        return err;
    bdy_db_cq_set_cqn(&db, cq->cqn);
    bdy_db_cq_set_sol(&db, solicited_only != 0);
    pthread_mutex_lock(&cq->lock);
    bdy_db_cq_set_seq(&db, atomic_load(&cq->arm_seq));
    bdy_db_cq_set_ci(&db, cq->ci);
    pthread_mutex_unlock(&cq->lock);
    return bdy_ctx_doorbell(ctx, BDY_UAR_CQ, db);
}

void bdy_cq_event(struct ibv_cq *cq)
{
    atomic_fetch_add(&bdy_cq_of(cq)->arm_seq, 1);
}

static uint64_t *entry_at(const struct bdy_cq *cq, uint32_t index)
{
    return cq->entries + (size_t)(index & ((1u << cq->log) - 1)) * CQE_WORDS;
}

const uint64_t *bdy_cq_entry(const struct bdy_cq *cq, uint32_t ci)
{
    const uint64_t *words = entry_at(cq, ci);
    // The phase lies in the word that the HCA writes last.
    uint64_t last = __atomic_load_n(&words[CQE_WORDS - 1], __ATOMIC_ACQUIRE);
    const uint64_t view[CQE_WORDS] = {[CQE_WORDS - 1] = last};
    const uint32_t pass = ci >> cq->log;
    return bdy_cqe_get_phase(view) == !(pass & 1) ? words : NULL;
}

// Move an entry to a later place of the ring; place and phase stay what that place had.
static void move_entry(const struct bdy_cq *cq, uint32_t from, uint32_t to)
{
    const uint64_t *source = entry_at(cq, from);
    uint64_t *target = entry_at(cq, to);
    const uint64_t phase = bdy_cqe_get_phase(target);
    memcpy(target, source, BDY_CQE_BYTES);
    bdy_cqe_set_phase(target, phase);
    bdy_cqe_set_index(target, to);
}

void bdy_cq_purge(struct bdy_cq *cq, uint32_t qpn)
{
    pthread_mutex_lock(&cq->lock);
    uint32_t end = cq->ci;
    while (end - cq->ci < 1u << cq->log && bdy_cq_entry(cq, end) != NULL)
        end++;
    // From the youngest entry backwards, close the gaps towards the end.
    uint32_t to = end;
    for (uint32_t from = end; from-- != cq->ci;) {
        if (bdy_cqe_get_qpn(entry_at(cq, from)) != qpn)
            if (--to != from)
                move_entry(cq, from, to);
    }
    cq->ci = to;
    atomic_store_explicit(cq->consumer, to, memory_order_release);
    pthread_mutex_unlock(&cq->lock);
}
