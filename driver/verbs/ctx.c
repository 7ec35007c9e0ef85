// SPDX-License-Identifier: Apache-2.0
// A user context: how it opens, what it sends to the HCA, how it ends.

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bdy_verbs.h"
#include "objects.h"

#define ALIVE_BYTES 4096u

static bdy_verbs_opener opener;

void bdy_verbs_set_opener(bdy_verbs_opener fn)
{
    opener = fn;
}

int bdy_ctx_check(struct bdy_ctx *ctx)
{
    if (*(volatile uint32_t *)ctx->alive == 0)
        return EPERM;
    return atomic_load_explicit(&ctx->dead, memory_order_relaxed) ? EIO : 0;
}

// A transport's -EIO means that the HCA is gone, and it does not come back (H24).
static int settle(struct bdy_ctx *ctx, int status)
{
    if (status == -EIO)
        atomic_store_explicit(&ctx->dead, 1, memory_order_relaxed);
    return status < 0 ? -status : 0;
}

static int call(struct bdy_ctx *ctx, uint32_t op, const void *in, size_t in_len, void *out,
                size_t out_len, struct bdy_u_ring *rings, unsigned nrings)
{
    int err = bdy_ctx_check(ctx);
    if (err != 0)
        return err;
    return settle(ctx,
                  ctx->t->ops->call(ctx->t, op, in, in_len, out, out_len, rings, nrings, NULL));
}

int bdy_ctx_call(struct bdy_ctx *ctx, uint32_t op, const void *in, size_t in_len, void *out,
                 size_t out_len)
{
    return call(ctx, op, in, in_len, out, out_len, NULL, 0);
}

int bdy_ctx_call_handle(struct bdy_ctx *ctx, uint32_t op, uint32_t handle)
{
    const struct bdy_u_handle in = {.handle = handle};
    return bdy_ctx_call(ctx, op, &in, sizeof(in), NULL, 0);
}

int bdy_ctx_call_rings(struct bdy_ctx *ctx, uint32_t op, const void *in, size_t in_len, void *out,
                       size_t out_len, struct bdy_u_ring rings[2])
{
    return call(ctx, op, in, in_len, out, out_len, rings, 2);
}

void bdy_ctx_unmap(struct bdy_ctx *ctx, struct bdy_u_ring *ring)
{
    if (ring->addr != NULL)
        ctx->t->ops->unmap(ctx->t, ring);
    ring->addr = NULL;
}

int bdy_ctx_doorbell(struct bdy_ctx *ctx, uint32_t offset, uint64_t value)
{
    return settle(ctx, ctx->t->ops->doorbell(ctx->t, offset, value));
}

int bdy_ctx_relax(struct bdy_ctx *ctx)
{
    return settle(ctx, ctx->t->ops->relax(ctx->t));
}

static uint32_t *new_alive_page(void)
{
    uint32_t *page =
        mmap(NULL, ALIVE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    madvise(page, ALIVE_BYTES, MADV_WIPEONFORK);
    *page = 1;
    return page;
}

static int says_accept(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, "accept") == 0;
}

// What the data path needs to know, asked once.
static int learn(struct bdy_ctx *ctx)
{
    struct bdy_u_device_attr dev;
    int err = bdy_ctx_call(ctx, BDY_U_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev));
    if (err != 0)
        return err;
    ctx->strict_ibta = dev.strict_ibta != 0;
    ctx->post_early = says_accept("BINDERY_POST_BEFORE_RTS");
    return 0;
}

static int attach(struct bdy_ctx *ctx, struct bdy_transport *given)
{
    int err = 0;
    ctx->t = given;
    if (given == NULL)
        err = opener != NULL ? -opener(&ctx->t) : ENODEV;
    if (err != 0)
        return err;
    ctx->alive = new_alive_page();
    if (ctx->alive == NULL)
        return ENOMEM;
    err = learn(ctx);
    if (err != 0)
        return err;
    // libibverbs closes its descriptor together with the context; the transport keeps its own.
    ctx->vctx.context.async_fd = fcntl(ctx->t->ops->async_fd(ctx->t), F_DUPFD_CLOEXEC, 0);
    return ctx->vctx.context.async_fd < 0 ? errno : 0;
}

static void release(struct bdy_ctx *ctx)
{
    if (ctx->t != NULL)
        ctx->t->ops->close(ctx->t);
    if (ctx->alive != NULL)
        munmap(ctx->alive, ALIVE_BYTES);
    pthread_mutex_destroy(&ctx->tables);
    verbs_uninit_context(&ctx->vctx);
    free(ctx);
}

struct verbs_context *bdy_alloc_context(struct ibv_device *device, int cmd_fd, void *private_data)
{
    struct bdy_transport *given = private_data;
    if (cmd_fd < 0)
        cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct bdy_ctx *ctx = _verbs_init_and_alloc_context(
        device, cmd_fd, sizeof(*ctx), (struct verbs_context *)offsetof(struct bdy_ctx, vctx), 0);
    if (ctx == NULL) {
        if (given != NULL)
            given->ops->close(given);
        return NULL;
    }
    ctx->vctx.context.async_fd = -1;
    ctx->vctx.context.num_comp_vectors = 1;
    pthread_mutex_init(&ctx->tables, NULL);
    int err = attach(ctx, given);
    if (err != 0) {
        release(ctx);
        errno = err;
        return NULL;
    }
    verbs_set_ops(&ctx->vctx, &bdy_context_ops);
    bdy_events_add_ctx(ctx, ctx->vctx.context.async_fd);
    return &ctx->vctx;
}

void bdy_free_context(struct ibv_context *context)
{
    struct bdy_ctx *ctx = bdy_ctx_of(context);
    bdy_events_del_ctx(ctx);
    release(ctx);
}
