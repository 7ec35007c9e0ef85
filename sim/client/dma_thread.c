// SPDX-License-Identifier: Apache-2.0
// The kernel copies between the program's memory and the port's memfd by pread and pwrite on it:
// one system call, EFAULT instead of a signal where the program has nothing mapped, and no need of
// ptrace rights or of process_vm_*, which a sandbox may refuse even on oneself.
#define _GNU_SOURCE
#include "dma_thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bindery/uctx.h"
#include "sim/host/maps.h"

#define PAGE 4096u
#define DATA offsetof(struct bdy_dma_port, data)

_Static_assert(offsetof(struct bdy_dma_port, data) == PAGE, "the data of a port is its page 1");

struct bdy_dma_thread {
    struct bdy_dma_port *port;
    int memfd;
    atomic_int stop;
    pthread_t thread;
};

static int copied(ssize_t done, size_t wanted)
{
    return done == (ssize_t)wanted ? 0 : -EFAULT;
}

static int serve_read(const struct bdy_dma_thread *t, uint64_t va, size_t bytes)
{
    return copied(pwrite(t->memfd, (const void *)(uintptr_t)va, bytes, DATA), bytes);
}

static int serve_write(const struct bdy_dma_thread *t, uint64_t va, size_t bytes)
{
    const size_t first = bytes > 8 ? bytes - 8 : 0;
    int err = 0;
    if (first != 0)
        err = copied(pread(t->memfd, (void *)(uintptr_t)va, first, DATA), first);
    if (err == 0)
        err = copied(pread(t->memfd, (void *)(uintptr_t)(va + first), bytes - first,
                           (off_t)(DATA + first)),
                     bytes - first);
    return err;
}

static int serve_populate(const struct bdy_dma_thread *t, uint64_t va, uint64_t bytes, unsigned dir)
{
    if (bytes == 0 || va + bytes < va || va + bytes > UINT64_MAX - PAGE)
        return -EFAULT;
    const uint64_t from = va & ~(uint64_t)(PAGE - 1);
    const uint64_t end = (va + bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    int readable = 0;
    int err = bdy_maps_check("/proc/self/maps", from, end, dir, &readable);
    for (uint64_t at = from; err == 0 && readable && at < end; at += PAGE)
        err = serve_read(t, at, 1);
    return err;
}

static int serve(const struct bdy_dma_thread *t)
{
    const struct bdy_dma_port *p = t->port;
    if (p->op == BDY_DMA_PORT_POPULATE)
        return serve_populate(t, p->va, p->bytes, p->dir);
    if (p->bytes == 0 || p->bytes > BDY_DMA_PORT_BYTES)
        return -EFAULT;
    return p->op == BDY_DMA_PORT_READ ? serve_read(t, p->va, p->bytes)
                                      : serve_write(t, p->va, p->bytes);
}

static void *run(void *arg)
{
    struct bdy_dma_thread *t = arg;
    uint32_t *state = &t->port->state;
    while (!atomic_load(&t->stop)) {
        uint32_t seen = BDY_DMA_PORT_ASKED;
        if (!__atomic_compare_exchange_n(state, &seen, BDY_DMA_PORT_TAKEN, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            // Bounded, so that a wake-up between the look at `stop` and here costs little.
            const struct timespec limit = {.tv_nsec = 100000000L};
            syscall(SYS_futex, state, FUTEX_WAIT, seen, &limit, NULL, 0);
            continue;
        }
        t->port->status = serve(t);
        __atomic_store_n(state, BDY_DMA_PORT_DONE, __ATOMIC_RELEASE);
        syscall(SYS_futex, state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    return NULL;
}

// The program's signals are its own threads' affair.
static int start_quietly(struct bdy_dma_thread *t)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int err = pthread_create(&t->thread, NULL, run, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -err;
}

int bdy_dma_thread_start(int memfd, struct bdy_dma_thread **out)
{
    struct bdy_dma_thread *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->memfd = memfd;
    t->port = mmap(NULL, sizeof(*t->port), PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    int err = t->port == MAP_FAILED ? -errno : 0;
    if (err == 0) {
        err = start_quietly(t);
        if (err != 0)
            munmap(t->port, sizeof(*t->port));
    }
    if (err != 0) {
        free(t);
        return err;
    }
    *out = t;
    return 0;
}

void bdy_dma_thread_stop(struct bdy_dma_thread *t, int child)
{
    if (t == NULL)
        return;
    if (!child) {
        atomic_store(&t->stop, 1);
        syscall(SYS_futex, &t->port->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        pthread_join(t->thread, NULL);
    }
    munmap(t->port, sizeof(*t->port));
    close(t->memfd);
    free(t);
}
