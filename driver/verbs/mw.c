// SPDX-License-Identifier: Apache-2.0
// Memory windows: their keys, and the rules that a bind must pass before it is posted.

#include <errno.h>
#include <stdlib.h>

#include "objects.h"

#define WINDOW_RIGHTS                                                                              \
    (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |                 \
     IBV_ACCESS_ZERO_BASED)

struct ibv_mw *bdy_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    const struct bdy_u_alloc_mw_in in = {.pd = pd->handle, .type = (uint32_t)type};
    struct bdy_u_key_out out;
    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) { // V5
        errno = EINVAL;
        return NULL;
    }
    struct bdy_mw *mw = calloc(1, sizeof(*mw));
    if (mw == NULL)
        return NULL;
    int err =
        bdy_ctx_call(bdy_ctx_of(pd->context), BDY_U_ALLOC_MW, &in, sizeof(in), &out, sizeof(out));
    if (err != 0) {
        free(mw);
        errno = err;
        return NULL;
    }
    mw->ibv = (struct ibv_mw){
        .context = pd->context, .pd = pd, .rkey = out.key, .handle = out.handle, .type = type};
    mw->index = out.key >> 8;
    mw->key = out.key;
    pthread_mutex_init(&mw->lock, NULL);
    bdy_table_add_mw(bdy_ctx_of(pd->context), mw);
    return &mw->ibv;
}

int bdy_dealloc_mw(struct ibv_mw *ibmw)
{
    struct bdy_ctx *ctx = bdy_ctx_of(ibmw->context);
    struct bdy_mw *mw = bdy_mw_of(ibmw);
    int err = bdy_ctx_call_handle(ctx, BDY_U_DEALLOC_MW, ibmw->handle);
    if (err != 0)
        return err;
    bdy_table_del_mw(ctx, mw);
    // Whoever found the window in the table before has its lock: wait for them.
    pthread_mutex_lock(&mw->lock);
    pthread_mutex_unlock(&mw->lock);
    pthread_mutex_destroy(&mw->lock);
    free(mw);
    return 0;
}

int bdy_bind_check(struct bdy_ctx *ctx, const struct ibv_mw *mw,
                   const struct ibv_mw_bind_info *info, unsigned send_flags)
{
    if (mw->context != &ctx->vctx.context)
        return EINVAL;
    if (send_flags & ~(unsigned)(IBV_SEND_FENCE | IBV_SEND_SIGNALED)) // P12
        return EINVAL;
    if (info->mw_access_flags & ~(unsigned)(WINDOW_RIGHTS | IBV_ACCESS_LOCAL_WRITE)) // P8
        return EINVAL;
    if (info->mr != NULL && bdy_mr_of(info->mr)->access & IBV_ACCESS_ZERO_BASED) // P6
        return EINVAL;
    if (mw->type == IBV_MW_TYPE_1 && info->mw_access_flags & IBV_ACCESS_ZERO_BASED &&
        ctx->strict_ibta) // P7
        return EINVAL;
    return 0;
}

// The present key is known, and with it what all binds posted so far have done.
static void resolve(struct bdy_mw *mw, uint32_t key)
{
    mw->key = key;
    mw->resolved = mw->binds;
    mw->unsure = 0;
}

int bdy_mw_begin_bind(struct bdy_ctx *ctx, struct bdy_mw *mw)
{
    const struct bdy_u_handle in = {.handle = mw->ibv.handle};
    struct bdy_u_key_out out;
    pthread_mutex_lock(&mw->lock);
    if (!mw->unsure)
        return 0;
    int err = bdy_ctx_call(ctx, BDY_U_QUERY_MW, &in, sizeof(in), &out, sizeof(out));
    if (err != 0) {
        pthread_mutex_unlock(&mw->lock);
        return err;
    }
    resolve(mw, out.key);
    return 0;
}

uint32_t bdy_mw_end_bind(struct bdy_mw *mw, uint32_t new_key)
{
    mw->key = new_key;
    mw->ibv.rkey = new_key; // S5, P17; decision 5
    mw->last_failed = 0;
    uint32_t number = mw->binds++;
    pthread_mutex_unlock(&mw->lock);
    return number;
}

void bdy_mw_show_key(struct bdy_mw *mw, uint32_t rkey)
{
    pthread_mutex_lock(&mw->lock);
    mw->ibv.rkey = rkey;
    pthread_mutex_unlock(&mw->lock);
}

void bdy_mw_completed(struct bdy_ctx *ctx, const struct bdy_wr *wr, int failed,
                      uint32_t present_key)
{
    struct bdy_mw *mw = bdy_table_lock_mw(ctx, wr->window);
    if (mw == NULL)
        return;
    const int latest = wr->bind + 1 == mw->binds;
    if (failed && latest && present_key >> 8 == mw->index) {
        resolve(mw, present_key);
        mw->last_failed = 1;
    } else if (failed && wr->bind >= mw->resolved) {
        mw->unsure = 1;
    } else if (!failed && mw->last_failed) {
        // Through another queue pair, beside a later bind that failed: which was executed last
        // cannot be told from here.
        mw->unsure = 1;
    }
    pthread_mutex_unlock(&mw->lock);
}

void bdy_mw_lost(struct bdy_ctx *ctx, const struct bdy_wr *wr)
{
    struct bdy_mw *mw = bdy_table_lock_mw(ctx, wr->window);
    if (mw == NULL)
        return;
    if (wr->bind >= mw->resolved)
        mw->unsure = 1;
    pthread_mutex_unlock(&mw->lock);
}

// ibv_bind_mw(3). libibverbs has checked P1, P3 and P4; a program may call the operation directly.
int bdy_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *ibmw, struct ibv_mw_bind *bind)
{
    const struct ibv_mw_bind_info *info = &bind->bind_info;
    if (ibmw->type != IBV_MW_TYPE_1) // P1
        return EINVAL;
    if (info->mr == NULL && (info->addr != 0 || info->length != 0)) // P3
        return EINVAL;
    if (info->mr != NULL && info->mr->pd != ibmw->pd) // P4
        return EPERM;
    int err = bdy_bind_check(bdy_ctx_of(ibqp->context), ibmw, info, bind->send_flags);
    if (err != 0)
        return err;
    const struct bdy_bind request = {
        .mw = bdy_mw_of(ibmw), .info = info, .wr_id = bind->wr_id, .send_flags = bind->send_flags};
    return bdy_post_bind(bdy_qp_of(ibqp), &request);
}
