// SPDX-License-Identifier: Apache-2.0
// Events: completion channels and asynchronous events.
//
// libibverbs reads both from descriptors, where a kernel would drop the events of an object that is
// destroyed and count those that were delivered. Here the reader does it: an event is taken off its
// socket only under one lock, checked against the objects that live, and counted. After each take,
// and after each destroy, dead events are removed from the head of the socket, so that poll(2)
// never reports one.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bdy_verbs.h"
#include "objects.h"

#define COMP_BYTES 8u
#define ASYNC_BYTES 16u

struct event {
    uint64_t element;
    uint32_t type, rsvd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bdy_ctx *contexts;

void bdy_verbs_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void bdy_verbs_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}

void bdy_events_add_ctx(struct bdy_ctx *ctx, int async_fd)
{
    pthread_mutex_lock(&lock);
    ctx->async = (struct bdy_stream){.ctx = ctx, .fd = async_fd};
    ctx->next = contexts;
    contexts = ctx;
    pthread_mutex_unlock(&lock);
}

void bdy_events_del_ctx(struct bdy_ctx *ctx)
{
    pthread_mutex_lock(&lock);
    struct bdy_ctx **at = &contexts;
    while (*at != ctx)
        at = &(*at)->next;
    *at = ctx->next;
    while (ctx->channels != NULL) {
        struct bdy_stream *channel = ctx->channels;
        ctx->channels = channel->next;
        free(channel);
    }
    pthread_mutex_unlock(&lock);
}

void bdy_events_add_cq(struct bdy_ctx *ctx, struct bdy_cq *cq)
{
    pthread_mutex_lock(&lock);
    cq->live_next = ctx->live_cqs;
    ctx->live_cqs = cq;
    pthread_mutex_unlock(&lock);
}

void bdy_events_add_qp(struct bdy_ctx *ctx, struct bdy_qp *qp)
{
    pthread_mutex_lock(&lock);
    qp->live_next = ctx->live_qps;
    ctx->live_qps = qp;
    pthread_mutex_unlock(&lock);
}

static struct bdy_cq *live_cq(const struct bdy_ctx *ctx, uint64_t element)
{
    struct bdy_cq *cq = ctx->live_cqs;
    while (cq != NULL && (uintptr_t)&cq->prov.ibv != element)
        cq = cq->live_next;
    return cq;
}

static struct bdy_qp *live_qp(const struct bdy_ctx *ctx, uint64_t element)
{
    struct bdy_qp *qp = ctx->live_qps;
    while (qp != NULL && (uintptr_t)&qp->prov.ibv != element)
        qp = qp->live_next;
    return qp;
}

static int is_async(const struct bdy_stream *stream)
{
    return stream->handle == 0;
}

static size_t event_bytes(const struct bdy_stream *stream)
{
    return is_async(stream) ? ASYNC_BYTES : COMP_BYTES;
}

static int is_qp_event(uint32_t type)
{
    return (type >= IBV_EVENT_QP_FATAL && type <= IBV_EVENT_PATH_MIG_ERR) ||
           type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

// The counter that a delivered event of this object moves; NULL: the event names no object. *dead:
// its object is gone.
static uint32_t *counter_of(const struct bdy_stream *stream, const struct event *event, int *dead)
{
    const struct bdy_ctx *ctx = stream->ctx;
    uint32_t *counter = NULL;
    *dead = 0;
    if (!is_async(stream) || event->type == IBV_EVENT_CQ_ERR) {
        struct bdy_cq *cq = live_cq(ctx, event->element);
        if (cq != NULL)
            counter = is_async(stream) ? &cq->async_reported : &cq->comp_reported;
        *dead = cq == NULL;
    } else if (is_qp_event(event->type)) {
        struct bdy_qp *qp = live_qp(ctx, event->element);
        if (qp != NULL)
            counter = &qp->async_reported;
        *dead = qp == NULL;
    }
    return counter;
}

static void drop_dead_heads(const struct bdy_stream *stream)
{
    struct event event = {0};
    int dead = 1;
    while (dead) {
        if (recv(stream->fd, &event, event_bytes(stream), MSG_PEEK | MSG_DONTWAIT) !=
            (ssize_t)event_bytes(stream))
            return;
        counter_of(stream, &event, &dead);
        if (dead)
            recv(stream->fd, &event, event_bytes(stream), MSG_DONTWAIT);
    }
}

static void drop_all_dead_heads(const struct bdy_ctx *ctx)
{
    drop_dead_heads(&ctx->async);
    for (const struct bdy_stream *channel = ctx->channels; channel != NULL; channel = channel->next)
        drop_dead_heads(channel);
}

void bdy_events_del_cq(struct bdy_ctx *ctx, struct bdy_cq *cq)
{
    struct ibv_cq *ibcq = &cq->prov.ibv;
    pthread_mutex_lock(&lock);
    struct bdy_cq **at = &ctx->live_cqs;
    while (*at != cq)
        at = &(*at)->live_next;
    *at = cq->live_next;
    drop_all_dead_heads(ctx);
    const uint32_t comp = cq->comp_reported, async = cq->async_reported;
    pthread_mutex_unlock(&lock);

    pthread_mutex_lock(&ibcq->mutex);
    while ((int32_t)(comp - ibcq->comp_events_completed) > 0 ||
           (int32_t)(async - ibcq->async_events_completed) > 0)
        pthread_cond_wait(&ibcq->cond, &ibcq->mutex);
    pthread_mutex_unlock(&ibcq->mutex);
}

void bdy_events_del_qp(struct bdy_ctx *ctx, struct bdy_qp *qp)
{
    struct ibv_qp *ibqp = &qp->prov.ibv;
    pthread_mutex_lock(&lock);
    struct bdy_qp **at = &ctx->live_qps;
    while (*at != qp)
        at = &(*at)->live_next;
    *at = qp->live_next;
    drop_all_dead_heads(ctx);
    const uint32_t async = qp->async_reported;
    pthread_mutex_unlock(&lock);

    pthread_mutex_lock(&ibqp->mutex);
    while ((int32_t)(async - ibqp->events_completed) > 0)
        pthread_cond_wait(&ibqp->cond, &ibqp->mutex);
    pthread_mutex_unlock(&ibqp->mutex);
}

static struct bdy_stream *find_stream(int fd)
{
    for (struct bdy_ctx *ctx = contexts; ctx != NULL; ctx = ctx->next) {
        if (ctx->async.fd == fd)
            return &ctx->async;
        for (struct bdy_stream *channel = ctx->channels; channel != NULL; channel = channel->next)
            if (channel->fd == fd)
                return channel;
    }
    return NULL;
}

// The other end is gone (H24): a context hears of it once, then there is nothing more to read.
static ssize_t end_of_stream(struct bdy_stream *stream, struct event *event)
{
    atomic_store(&stream->ctx->dead, 1);
    if (!is_async(stream) || stream->ended)
        return -EIO;
    stream->ended = 1;
    *event = (struct event){.type = IBV_EVENT_DEVICE_FATAL};
    return ASYNC_BYTES;
}

// One live event, or -EAGAIN, -errno.
static ssize_t take(struct bdy_stream *stream, struct event *event)
{
    for (;;) {
        int dead;
        ssize_t n = recv(stream->fd, event, event_bytes(stream), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return end_of_stream(stream, event);
        if (n != (ssize_t)event_bytes(stream))
            return n < 0 ? -errno : -EPROTO;
        uint32_t *counter = counter_of(stream, event, &dead);
        if (dead)
            continue;
        if (counter != NULL)
            ++*counter;
        drop_dead_heads(stream);
        return n;
    }
}

static int blocks(int fd)
{
    return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

ssize_t bdy_verbs_read_event(int fd, void *buf, size_t bytes)
{
    for (;;) {
        struct event event;
        pthread_mutex_lock(&lock);
        struct bdy_stream *stream = find_stream(fd);
        ssize_t n = -ENOENT;
        if (stream != NULL && bdy_ctx_check(stream->ctx) == EPERM)
            n = -EPERM; // a forked child would take its parent's events
        else if (stream != NULL)
            n = bytes < event_bytes(stream) ? -EINVAL : take(stream, &event);
        pthread_mutex_unlock(&lock);
        if (n > 0)
            memcpy(buf, &event, (size_t)n);
        if (n != -EAGAIN || !blocks(fd))
            return n;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, -1) < 0)
            return -errno;
    }
}

static struct bdy_ctx *find_ctx(int cmd_fd)
{
    struct bdy_ctx *ctx = contexts;
    while (ctx != NULL && ctx->vctx.context.cmd_fd != cmd_fd)
        ctx = ctx->next;
    return ctx;
}

int bdy_verbs_is_cmd_fd(int fd)
{
    pthread_mutex_lock(&lock);
    struct bdy_ctx *ctx = find_ctx(fd);
    pthread_mutex_unlock(&lock);
    return ctx != NULL;
}

static struct bdy_stream *unlink_channel(int fd)
{
    for (struct bdy_ctx *ctx = contexts; ctx != NULL; ctx = ctx->next)
        for (struct bdy_stream **at = &ctx->channels; *at != NULL; at = &(*at)->next)
            if ((*at)->fd == fd) {
                struct bdy_stream *channel = *at;
                *at = channel->next;
                return channel;
            }
    return NULL;
}

void bdy_verbs_forget_fd(int fd)
{
    pthread_mutex_lock(&lock);
    struct bdy_stream *channel = unlink_channel(fd);
    pthread_mutex_unlock(&lock);
    if (channel == NULL)
        return;
    // A forked child that closes its copy must not take the parent's channel away: the call says
    // EPERM there.
    bdy_ctx_call_handle(channel->ctx, BDY_U_DESTROY_CHANNEL, channel->handle);
    free(channel);
}

int bdy_verbs_create_channel(int cmd_fd)
{
    struct bdy_u_handle out;
    int fd = -1;
    pthread_mutex_lock(&lock);
    struct bdy_ctx *ctx = find_ctx(cmd_fd);
    pthread_mutex_unlock(&lock);
    if (ctx == NULL)
        return -ENOENT;
    int err = bdy_ctx_check(ctx);
    if (err != 0)
        return -err;
    struct bdy_stream *channel = calloc(1, sizeof(*channel));
    if (channel == NULL)
        return -ENOMEM;
    err = ctx->t->ops->call(ctx->t, BDY_U_CREATE_CHANNEL, NULL, 0, &out, sizeof(out), NULL, 0, &fd);
    if (err != 0) {
        free(channel);
        return err;
    }
    *channel = (struct bdy_stream){.ctx = ctx, .handle = out.handle, .fd = fd};
    // Without the redirected close(2), a number that is used again is the first that is heard of
    // the old channel's end.
    bdy_verbs_forget_fd(fd);
    pthread_mutex_lock(&lock);
    channel->next = ctx->channels;
    ctx->channels = channel;
    pthread_mutex_unlock(&lock);
    return fd;
}

uint32_t bdy_events_channel(struct bdy_ctx *ctx, int fd)
{
    pthread_mutex_lock(&lock);
    const struct bdy_stream *channel = ctx->channels;
    while (channel != NULL && channel->fd != fd)
        channel = channel->next;
    const uint32_t handle = channel != NULL ? channel->handle : 0;
    pthread_mutex_unlock(&lock);
    return handle;
}
