// SPDX-License-Identifier: Apache-2.0
// One client context: its doorbell queue, its requests, its events. Nothing in shared memory is believed twice (H23).
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"

#define MAX_FDS 4

/** How long a program's thread may take for one transfer: it may be stopped, but not stop the others for ever. */
enum { DMA_WAIT_MS = 2000 };

static uint32_t load(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *p, uint32_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static int memfd_sealed(const char *name, size_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -errno;
    if (ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        int err = errno;
        close(fd);
        return -err;
    }
    return fd;
}

static pid_t peer_of(int sock)
{
    struct ucred cred;
    socklen_t len = sizeof cred;
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len)) return -errno;
    return cred.uid == geteuid() ? cred.pid : -EPERM;
}

struct client *client_new(struct server *s, int sock)
{
    struct client *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (struct client){.sock = sock, .server = s, .pidfd = -1, .dbq_fd = -1, .wake_fd = -1, .async_fd = -1, .async_peer = -1,
                          .port_fd = -1};
    c->pid = peer_of(sock);
    if (c->pid <= 0) goto refuse;
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->pidfd < 0) goto refuse;
    return c;
refuse:
    c->sock = -1; /* the caller closes it */
    client_free(c);
    return NULL;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void client_free(struct client *c)
{
    if (c->uctx) bdy_core_uctx_close(c->uctx);
    if (c->as) bdy_host_aspace_free(server_hca(c->server)->host, c->as);
    if (c->port) munmap(c->port, sizeof *c->port);
    if (c->dbq) {
        store(&c->dbq->dead, 1);
        client_progress(c);
        munmap(c->dbq, sizeof *c->dbq);
    }
    for (unsigned i = 0; i < c->nchannels; i++) close(c->channels[i].fd);
    free(c->channels);
    close_fd(&c->dbq_fd);
    close_fd(&c->wake_fd);
    close_fd(&c->async_fd);
    close_fd(&c->async_peer);
    close_fd(&c->port_fd);
    close_fd(&c->pidfd);
    close_fd(&c->sock);
    free(c);
}

void client_progress(struct client *c)
{
    if (!c->dbq) return;
    __atomic_add_fetch(&c->dbq->progress, 1, __ATOMIC_RELEASE);
    if (load(&c->dbq->waiters)) syscall(SYS_futex, &c->dbq->progress, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* ------------------------------------------------------------------ doorbells */
static int deliver_to(struct client *c, uint32_t tail, unsigned max)
{
    int32_t waiting = (int32_t)(tail - c->head);
    if (waiting < 0) return 0; /* another thread's later call has delivered these already */
    if (waiting > (int32_t)BDY_DBQ_ENTRIES) return -EPROTO;
    unsigned n = 0;
    while (c->head != tail && n < max) {
        uint32_t slot = c->head % BDY_DBQ_ENTRIES;
        uint32_t offset = load(&c->dbq->e[slot].offset);
        uint64_t value = __atomic_load_n(&c->dbq->e[slot].value, __ATOMIC_RELAXED);
        bdy_core_doorbell(c->uctx, offset, value); /* a bad offset is the client's own affair: nothing happens */
        c->head++;
        n++;
    }
    if (n) {
        store(&c->dbq->head, c->head);
        client_progress(c); /* a producer may wait for room */
    }
    return (int)n;
}

int client_doorbells(struct client *c, unsigned max)
{
    if (!c->dbq || !c->uctx) return 0;
    return deliver_to(c, load(&c->dbq->tail), max);
}

/* ------------------------------------------------------------------ events */
static void on_event(void *arg, const struct bdy_u_event *ev)
{
    struct client *c = arg;
    if (ev->type == BDY_U_EV_COMP) {
        for (unsigned i = 0; i < c->nchannels; i++) {
            if (c->channels[i].handle == ev->channel) {
                (void)!send(c->channels[i].fd, &ev->user_handle, sizeof ev->user_handle, MSG_DONTWAIT | MSG_NOSIGNAL);
            }
        }
        return;
    }
    struct { uint64_t element; uint32_t type, rsvd; } msg = {ev->user_handle, ev->type, 0};
    (void)!send(c->async_fd, &msg, sizeof msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ------------------------------------------------------------------ requests */
static int reply(struct client *c, const struct bdy_s_rep *rep, const void *out, const int *fds)
{
    char control[CMSG_SPACE(MAX_FDS * sizeof(int))] = {0};
    struct iovec iov[2] = {{(void *)rep, sizeof *rep}, {(void *)out, rep->out_len}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    if (rep->nfds) {
        msg.msg_control = control;
        msg.msg_controllen = CMSG_SPACE(rep->nfds * sizeof(int));
        struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
        cm->cmsg_level = SOL_SOCKET;
        cm->cmsg_type = SCM_RIGHTS;
        cm->cmsg_len = CMSG_LEN(rep->nfds * sizeof(int));
        memcpy(CMSG_DATA(cm), fds, rep->nfds * sizeof(int));
    }
    return sendmsg(c->sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/** Memory that the client will share: `at` here, `fd` to hand over. 0 or -errno. */
static int share(const char *name, size_t bytes, void **at, int *fd)
{
    *fd = memfd_sealed(name, bytes);
    if (*fd < 0) return *fd;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (p == MAP_FAILED) return -errno;
    *at = p;
    return 0;
}

/** The client's memory, reached in the way that was asked for or that works (H22). 0 or -errno. */
static int open_memory(struct client *c, const struct bdy_u_open_in *req)
{
    struct bdy_host *host = server_hca(c->server)->host;
    enum cli_dma dma = server_dma(c->server);
    void *port;
    if (dma != CLI_DMA_THREAD) {
        c->as = bdy_host_aspace_pid(host, c->pid, c->pidfd, req->cookie_va, req->cookie);
        int rc = c->as ? bdy_host_aspace_probe(c->as) : -ENOMEM;
        if (rc != -EPERM && rc != -ENOSYS) return rc;
        server_say_refused(c->server);
        if (dma == CLI_DMA_DIRECT) return -EPERM;
        bdy_host_aspace_free(host, c->as);
        c->as = NULL;
    }
    int rc = share("bindery-dma-port", sizeof *c->port, &port, &c->port_fd);
    if (rc) return rc;
    c->port = port;
    c->as = bdy_host_aspace_served(host, c->port, c->pidfd, c->sock, DMA_WAIT_MS);
    return c->as ? 0 : -ENOMEM;
}

static int open_queue(struct client *c)
{
    void *dbq;
    int rc = share("bindery-doorbells", sizeof *c->dbq, &dbq, &c->dbq_fd);
    if (rc) return rc;
    c->dbq = dbq;
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int pair[2];
    if (c->wake_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return -errno;
    c->async_fd = pair[0];
    c->async_peer = pair[1];
    return 0;
}

static int op_open(struct client *c, const void *in, size_t in_len, void *out)
{
    const struct bdy_u_open_in *req = in;
    if (c->as) return -EBUSY; /* a refused client gets no second try on this socket */
    if (in_len != sizeof *req || req->abi != BDY_UCTX_ABI || req->cookie_va == 0) return -EINVAL;
    int rc = open_memory(c, req);
    if (!rc) rc = open_queue(c);
    if (rc) return rc;
    return bdy_core_uctx_open(server_hca(c->server)->core, c->as, on_event, c, req, out, &c->uctx);
}

static int op_create_channel(struct client *c, void *out, size_t out_len, int *peer)
{
    static const unsigned quota = 1024;
    struct bdy_dma_buf *rings[2];
    struct bdy_u_handle h = {0};
    int pair[2];
    if (out_len != sizeof h) return -EINVAL;
    if (c->nchannels >= quota) return -EMFILE;
    void *grown = realloc(c->channels, (c->nchannels + 1) * sizeof *c->channels);
    if (!grown) return -ENOMEM;
    c->channels = grown;
    int rc = bdy_core_call(c->uctx, BDY_U_CREATE_CHANNEL, NULL, 0, &h, sizeof h, rings);
    if (rc) return rc;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        rc = -errno;
        bdy_core_call(c->uctx, BDY_U_DESTROY_CHANNEL, &h, sizeof h, NULL, 0, rings);
        return rc;
    }
    c->channels[c->nchannels].handle = h.handle;
    c->channels[c->nchannels++].fd = pair[0];
    *peer = pair[1];
    memcpy(out, &h, sizeof h);
    return 0;
}

static int op_destroy_channel(struct client *c, const void *in, size_t in_len)
{
    struct bdy_dma_buf *rings[2];
    int rc = bdy_core_call(c->uctx, BDY_U_DESTROY_CHANNEL, in, in_len, NULL, 0, rings);
    if (rc) return rc;
    const struct bdy_u_handle *h = in;
    for (unsigned i = 0; i < c->nchannels; i++) {
        if (c->channels[i].handle == h->handle) {
            close(c->channels[i].fd);
            c->channels[i] = c->channels[--c->nchannels];
            break;
        }
    }
    return 0;
}

/** How much a verb answers: the client does not get to choose. */
static size_t out_size(uint32_t op)
{
    switch (op) {
    case BDY_U_OPEN: return sizeof(struct bdy_u_open_out);
    case BDY_U_QUERY_DEVICE: return sizeof(struct bdy_u_device_attr);
    case BDY_U_QUERY_PORT: return sizeof(struct bdy_u_port_attr);
    case BDY_U_ALLOC_PD: case BDY_U_CREATE_CHANNEL: case BDY_U_OPEN_XRCD: return sizeof(struct bdy_u_handle);
    case BDY_U_REG_MR: case BDY_U_REREG_MR: case BDY_U_ALLOC_NULL_MR: case BDY_U_ALLOC_MW: case BDY_U_QUERY_MW:
        return sizeof(struct bdy_u_key_out);
    case BDY_U_CREATE_CQ: case BDY_U_RESIZE_CQ: return sizeof(struct bdy_u_create_cq_out);
    case BDY_U_CREATE_SRQ: return sizeof(struct bdy_u_create_srq_out);
    case BDY_U_QUERY_SRQ: return sizeof(struct bdy_u_srq_attr);
    case BDY_U_CREATE_AH: return sizeof(struct bdy_u_create_ah_out);
    case BDY_U_CREATE_QP: case BDY_U_OPEN_QP: return sizeof(struct bdy_u_create_qp_out);
    case BDY_U_QUERY_QP: return sizeof(struct bdy_u_qp_attr);
    case BDY_U_QUERY_CLOCK: return sizeof(struct bdy_u_clock);
    default: return 0;
    }
}

int client_serve(struct client *c)
{
    union { struct bdy_s_req req; uint8_t bytes[BDY_S_MAX]; } buf;
    union { uint64_t align; uint8_t bytes[BDY_S_MAX]; } out = {0};
    ssize_t n = recv(c->sock, &buf, sizeof buf, MSG_DONTWAIT);
    if (n == 0) return -EPIPE;
    if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    struct bdy_s_req req = buf.req;
    if ((size_t)n < sizeof req || req.in_len != (size_t)n - sizeof req) return -EPROTO;
    uint64_t in[BDY_S_MAX / 8];
    memcpy(in, buf.bytes + sizeof req, req.in_len);

    struct bdy_s_rep rep = {.seq = req.seq, .out_len = (uint32_t)out_size(req.op)};
    struct bdy_dma_buf *rings[2] = {NULL, NULL};
    int fds[MAX_FDS], peer = -1, rc;

    if (req.op == BDY_U_OPEN) {
        rc = op_open(c, in, req.in_len, out.bytes);
        if (!rc) {
            fds[0] = c->dbq_fd;
            fds[1] = c->wake_fd;
            fds[2] = c->async_peer;
            rep.nfds = 3;
            if (c->port) fds[rep.nfds++] = c->port_fd;
        }
    } else if (!c->uctx) {
        rc = -EINVAL;
    } else {
        int d = deliver_to(c, req.db_tail, BDY_DBQ_ENTRIES); /* doorbells rung before the call come first (H23) */
        if (d < 0) return d;
        if (req.op == BDY_U_CREATE_CHANNEL) {
            rc = op_create_channel(c, out.bytes, rep.out_len, &peer);
            if (!rc) fds[rep.nfds++] = peer;
        } else if (req.op == BDY_U_DESTROY_CHANNEL) {
            rc = op_destroy_channel(c, in, req.in_len);
        } else {
            rc = bdy_core_call(c->uctx, req.op, in, req.in_len, out.bytes, rep.out_len, rings);
            for (unsigned i = 0; !rc && i < 2; i++) {
                if (!rings[i]) continue;
                rep.ring_bytes[rep.nfds] = rings[i]->bytes;
                fds[rep.nfds++] = rings[i]->fd;
            }
        }
    }
    rep.status = rc;
    if (rc) rep.out_len = 0;
    rc = reply(c, &rep, out.bytes, fds);
    close_fd(&peer);
    if (req.op == BDY_U_OPEN) {
        close_fd(&c->async_peer);
        close_fd(&c->port_fd);
    }
    return rc;
}
