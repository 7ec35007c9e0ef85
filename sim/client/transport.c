// SPDX-License-Identifier: Apache-2.0
#include "transport.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "dma_thread.h"
#include "doorbells.h"
#include "frames.h"

#define PAGE 4096u
/** How long close waits for the HCA to free what the context owned. */
#define CLOSE_MS 5000

struct client {
    struct bdy_transport base;
    pthread_mutex_t lock; /**< one request at a time */
    int sock, wake_fd, async_fd;
    uint32_t seq;
    uint32_t *mine;     /**< a page that is wiped on fork (H21) */
    uint8_t cookie[16]; /**< read back by the launcher: this process is still the one that connected
                           (H21) */
    struct bdy_doorbells db;
    struct bdy_dma_thread *dma; /**< NULL: the launcher reaches this process's memory itself (H22) */
};

static struct client *client_of(struct bdy_transport *t)
{
    return (struct client *)t; // base comes first
}

static int is_child(const struct client *c)
{
    return *(volatile uint32_t *)c->mine == 0;
}

// One exchange; `reply` holds descriptors only when this and the status are 0.
static int exchange(struct client *c, uint32_t op, uint32_t db_tail, const void *in, size_t in_len,
                    void *out, size_t out_len, struct bdy_reply *reply)
{
    const struct bdy_s_req req = {
        .op = op, .seq = ++c->seq, .in_len = (uint32_t)in_len, .db_tail = db_tail};
    int err = bdy_frame_send(c->sock, &req, in);
    if (err == 0)
        err = bdy_frame_recv(c->sock, req.seq, out, out_len, reply);
    if (err == 0 && reply->status != 0) {
        bdy_frame_close_fds(reply);
        err = reply->status;
    }
    return err;
}

static int map_rings(struct bdy_reply *reply, struct bdy_u_ring *rings, unsigned nrings)
{
    for (unsigned i = 0; i < nrings; i++) {
        const size_t bytes = reply->ring_bytes[i];
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply->fds[i], 0);
        if (at == MAP_FAILED) {
            const int err = -errno;
            while (i-- > 0)
                munmap(rings[i].addr, rings[i].bytes);
            return err;
        }
        rings[i] = (struct bdy_u_ring){.addr = at, .bytes = bytes};
    }
    return 0;
}

// Descriptors that a reply to this call must carry: its rings, or the one that `fd` wants.
static int hand_over(struct bdy_reply *reply, struct bdy_u_ring *rings, unsigned nrings, int *fd)
{
    int err = reply->nfds == nrings + (fd != NULL) ? 0 : -EPROTO;
    if (err == 0)
        err = map_rings(reply, rings, nrings);
    if (err == 0 && fd != NULL) {
        *fd = reply->fds[nrings];
        reply->fds[nrings] = -1;
    }
    bdy_frame_close_fds(reply);
    return err;
}

static int client_call(struct bdy_transport *t, uint32_t op, const void *in, size_t in_len,
                       void *out, size_t out_len, struct bdy_u_ring *rings, unsigned nrings,
                       int *fd)
{
    struct client *c = client_of(t);
    struct bdy_reply reply;
    if (is_child(c))
        return -EPERM;
    if (in_len > BDY_S_MAX - sizeof(struct bdy_s_req) || nrings > 2)
        return -EINVAL;
    pthread_mutex_lock(&c->lock);
    int err = exchange(c, op, bdy_doorbells_tail(&c->db), in, in_len, out, out_len, &reply);
    pthread_mutex_unlock(&c->lock);
    return err == 0 ? hand_over(&reply, rings, nrings, fd) : err;
}

static void client_unmap(struct bdy_transport *t, struct bdy_u_ring *ring)
{
    (void)t;
    munmap(ring->addr, ring->bytes);
}

static int client_doorbell(struct bdy_transport *t, uint32_t offset, uint64_t value)
{
    struct client *c = client_of(t);
    return is_child(c) ? -EPERM : bdy_doorbells_ring(&c->db, offset, value);
}

static int client_relax(struct bdy_transport *t)
{
    struct client *c = client_of(t);
    return is_child(c) ? -EPERM : bdy_doorbells_relax(&c->db);
}

static int client_async_fd(struct bdy_transport *t)
{
    return client_of(t)->async_fd;
}

// The HCA closes its end when it has freed everything (N7): wait for that.
static void say_goodbye(struct client *c)
{
    struct pollfd p = {.fd = c->sock, .events = POLLIN};
    char rest;
    shutdown(c->sock, SHUT_WR);
    while (poll(&p, 1, CLOSE_MS) == 1 && recv(c->sock, &rest, 1, MSG_DONTWAIT) > 0)
        continue;
}

static void client_close(struct bdy_transport *t)
{
    struct client *c = client_of(t);
    if (!is_child(c))
        say_goodbye(c);
    bdy_dma_thread_stop(c->dma, is_child(c));
    bdy_doorbells_close(&c->db);
    close(c->async_fd);
    close(c->wake_fd);
    close(c->sock);
    munmap(c->mine, PAGE);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static const struct bdy_transport_ops client_ops = {
    .call = client_call,
    .unmap = client_unmap,
    .doorbell = client_doorbell,
    .relax = client_relax,
    .async_fd = client_async_fd,
    .close = client_close,
};

static int connect_to(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(addr.sun_path))
        return -ENAMETOOLONG;
    strcpy(addr.sun_path, path);
    int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (sock < 0)
        return -errno;
    if (connect(sock, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
        const int err = -errno;
        close(sock);
        return err;
    }
    return sock;
}

static int open_context(struct client *c)
{
    struct bdy_u_open_in in = {.abi = BDY_UCTX_ABI, .cookie_va = (uintptr_t)c->cookie};
    struct bdy_u_open_out out;
    struct bdy_reply reply;
    if (getrandom(c->cookie, sizeof(c->cookie), 0) != (ssize_t)sizeof(c->cookie))
        return -EIO;
    memcpy(in.cookie, c->cookie, sizeof(in.cookie));
    int err = exchange(c, BDY_U_OPEN, 0, &in, sizeof(in), &out, sizeof(out), &reply);
    if (err != 0)
        return err;
    if (reply.nfds != 3 && reply.nfds != 4)
        err = -EPROTO;
    if (err == 0)
        err = bdy_doorbells_open(&c->db, reply.fds[0], reply.fds[1], c->sock);
    if (err == 0 && reply.nfds == 4) {
        err = bdy_dma_thread_start(reply.fds[3], &c->dma);
        if (err == 0)
            reply.fds[3] = -1;
        else
            bdy_doorbells_close(&c->db);
    }
    if (err == 0) {
        c->wake_fd = reply.fds[1];
        c->async_fd = reply.fds[2];
        reply.fds[1] = reply.fds[2] = -1;
    }
    bdy_frame_close_fds(&reply);
    return err;
}

static int mark_process(struct client *c)
{
    c->mine = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c->mine == MAP_FAILED)
        return -errno;
    madvise(c->mine, PAGE, MADV_WIPEONFORK);
    *c->mine = 1;
    return 0;
}

int bdy_client_connect(const char *path, struct bdy_transport **out)
{
    struct client *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->base.ops = &client_ops;
    pthread_mutex_init(&c->lock, NULL);
    int err = mark_process(c);
    if (err != 0)
        goto free_client;
    c->sock = connect_to(path);
    err = c->sock < 0 ? c->sock : 0;
    if (err != 0)
        goto unmark;
    err = open_context(c);
    if (err != 0)
        goto disconnect;
    *out = &c->base;
    return 0;

disconnect:
    close(c->sock);
unmark:
    munmap(c->mine, PAGE);
free_client:
    pthread_mutex_destroy(&c->lock);
    free(c);
    return err;
}
