// SPDX-License-Identifier: Apache-2.0
// Queue pairs by number and windows by key index, as completions name them.

#include "objects.h"

void bdy_table_add_qp(struct bdy_ctx *ctx, struct bdy_qp *qp)
{
    struct bdy_qp **bucket = &ctx->qps[qp->prov.ibv.qp_num % BDY_BUCKETS];
    pthread_mutex_lock(&ctx->tables);
    qp->next = *bucket;
    *bucket = qp;
    pthread_mutex_unlock(&ctx->tables);
}

void bdy_table_del_qp(struct bdy_ctx *ctx, struct bdy_qp *qp)
{
    pthread_mutex_lock(&ctx->tables);
    struct bdy_qp **at = &ctx->qps[qp->prov.ibv.qp_num % BDY_BUCKETS];
    while (*at != qp)
        at = &(*at)->next;
    *at = qp->next;
    pthread_mutex_unlock(&ctx->tables);
}

struct bdy_qp *bdy_table_find_qp(struct bdy_ctx *ctx, uint32_t qpn)
{
    pthread_mutex_lock(&ctx->tables);
    struct bdy_qp *qp = ctx->qps[qpn % BDY_BUCKETS];
    while (qp != NULL && qp->prov.ibv.qp_num != qpn)
        qp = qp->next;
    pthread_mutex_unlock(&ctx->tables);
    return qp;
}

void bdy_table_add_mw(struct bdy_ctx *ctx, struct bdy_mw *mw)
{
    struct bdy_mw **bucket = &ctx->mws[mw->index % BDY_BUCKETS];
    pthread_mutex_lock(&ctx->tables);
    mw->next = *bucket;
    *bucket = mw;
    pthread_mutex_unlock(&ctx->tables);
}

void bdy_table_del_mw(struct bdy_ctx *ctx, struct bdy_mw *mw)
{
    pthread_mutex_lock(&ctx->tables);
    struct bdy_mw **at = &ctx->mws[mw->index % BDY_BUCKETS];
    while (*at != mw)
        at = &(*at)->next;
    *at = mw->next;
    pthread_mutex_unlock(&ctx->tables);
}

struct bdy_mw *bdy_table_lock_mw(struct bdy_ctx *ctx, uint32_t index)
{
    pthread_mutex_lock(&ctx->tables);
    struct bdy_mw *mw = ctx->mws[index % BDY_BUCKETS];
    while (mw != NULL && mw->index != index)
        mw = mw->next;
    if (mw != NULL)
        pthread_mutex_lock(&mw->lock);
    pthread_mutex_unlock(&ctx->tables);
    return mw;
}
