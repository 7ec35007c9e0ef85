// SPDX-License-Identifier: Apache-2.0
// Memory that a thread in its own process reaches for us, where the kernel refuses process_vm_*
// (H22). One request at a time; the waiting is bounded, and ends early with the process.
#include "sim/host/aspace.h"

#include "bindery/uctx.h"
#include "sim/host/iommu.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Between two looks at whether the process still lives. */
enum { LOOK_MS = 10 };

struct served {
    struct bdy_dma_port *port;
    int pidfd, sock;
    unsigned wait_ms;
    int late; /* the thread owes an answer that nobody waits for any more */
};

static uint32_t state_of(const struct served *s)
{
    return __atomic_load_n(&s->port->state, __ATOMIC_ACQUIRE);
}

static int swap_state(const struct served *s, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&s->port->state, &from, to, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int gone(const struct served *s)
{
    struct pollfd end[2] = {{s->pidfd, POLLIN, 0}, {s->sock, POLLRDHUP, 0}}; /* -1 is ignored */
    if (poll(end, 2, 0) <= 0)
        return 0;
    return end[0].revents != 0 || (end[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

/** Until the answer is there. 0, -ESRCH, -ETIMEDOUT: no longer asked, or still owed (`late`). */
static int wait_answer(struct served *s)
{
    const int64_t end = now_ms() + s->wait_ms;
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
    for (uint32_t seen; (seen = state_of(s)) != BDY_DMA_PORT_DONE;) {
        if (gone(s))
            return -ESRCH;
        if (now_ms() >= end) {
            s->late = !swap_state(s, BDY_DMA_PORT_ASKED, BDY_DMA_PORT_FREE);
            return -ETIMEDOUT;
        }
        syscall(SYS_futex, &s->port->state, FUTEX_WAIT, seen, &look, NULL, 0);
    }
    return 0;
}

/** The client's word is one of two: done, or that memory is not there. */
static int take_status(const struct served *s)
{
    const int32_t status = __atomic_load_n(&s->port->status, __ATOMIC_RELAXED);
    __atomic_store_n(&s->port->state, BDY_DMA_PORT_FREE, __ATOMIC_RELEASE);
    return status == 0 ? 0 : -EFAULT;
}

static int ask(struct served *s, uint32_t op, uint64_t va, uint64_t bytes, unsigned dir)
{
    s->port->op = op;
    s->port->dir = dir;
    s->port->va = va;
    s->port->bytes = bytes;
    __atomic_store_n(&s->port->state, BDY_DMA_PORT_ASKED, __ATOMIC_RELEASE);
    syscall(SYS_futex, &s->port->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return wait_answer(s);
}

/** May a request be made now? */
static int ready(struct served *s)
{
    if (s->late && state_of(s) != BDY_DMA_PORT_DONE)
        return -ETIMEDOUT;
    s->late = 0;
    return 0;
}

static int served_check(void *arg)
{
    return gone(arg) ? -ESRCH : 0;
}

static int served_read(void *arg, uint64_t va, void *to, size_t bytes)
{
    struct served *s = arg;
    for (size_t n, at = 0; at < bytes; at += n) {
        n = bytes - at < BDY_DMA_PORT_BYTES ? bytes - at : BDY_DMA_PORT_BYTES;
        int err = ready(s);
        if (!err)
            err = ask(s, BDY_DMA_PORT_READ, va + at, n, 0);
        if (err)
            return err;
        memcpy((uint8_t *)to + at, s->port->data, n);
        err = take_status(s);
        if (err)
            return err;
    }
    return 0;
}

static int served_write(void *arg, uint64_t va, const void *from, size_t bytes)
{
    struct served *s = arg;
    for (size_t n, at = 0; at < bytes; at += n) {
        n = bytes - at < BDY_DMA_PORT_BYTES ? bytes - at : BDY_DMA_PORT_BYTES;
        int err = ready(s);
        if (err)
            return err;
        memcpy(s->port->data, (const uint8_t *)from + at, n);
        err = ask(s, BDY_DMA_PORT_WRITE, va + at, n, 0);
        if (!err)
            err = take_status(s);
        if (err)
            return err;
    }
    return 0;
}

static int served_populate(void *arg, uint64_t va, uint64_t bytes, unsigned dir)
{
    struct served *s = arg;
    int err = ready(s);
    if (!err)
        err = ask(s, BDY_DMA_PORT_POPULATE, va, bytes, dir);
    if (!err)
        err = take_status(s);
    return err ? -EFAULT : 0;
}

static void served_destroy(void *arg)
{
    struct served *s = arg;
    if (s->pidfd >= 0)
        close(s->pidfd);
    if (s->sock >= 0)
        close(s->sock);
    free(s);
}

static const struct bdy_aspace_ops served_ops = {
    .check = served_check,
    .read = served_read,
    .write = served_write,
    .populate = served_populate,
    .destroy = served_destroy,
};

static int keep_copy(int *to, int fd)
{
    if (fd >= 0)
        *to = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 || *to >= 0;
}

struct bdy_aspace *bdy_host_aspace_served(struct bdy_host *host, struct bdy_dma_port *port,
                                          int pidfd, int sock, unsigned wait_ms)
{
    struct served *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    *s = (struct served){.port = port, .pidfd = -1, .sock = -1, .wait_ms = wait_ms};
    if (keep_copy(&s->pidfd, pidfd) && keep_copy(&s->sock, sock)) {
        struct bdy_aspace *as = bdy_host_aspace_ops(host, &served_ops, s);
        if (as)
            return as;
    }
    served_destroy(s);
    return NULL;
}
