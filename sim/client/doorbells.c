// SPDX-License-Identifier: Apache-2.0
// A single-producer ring in shared memory. `tail` is stored with release after its entry; the
// launcher sets `asleep` before it looks at the tail a last time, so after moving the tail (and a
// full fence) either we see `asleep` or it sees the doorbell.

#include "doorbells.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 1000000L
#define LOOK_MS 10

_Static_assert(sizeof(((struct bdy_dbq *)0)->e[0]) == 16, "doorbell entry");

int bdy_doorbells_open(struct bdy_doorbells *d, int memfd, int wake_fd, int sock)
{
    void *q = mmap(NULL, sizeof(struct bdy_dbq), PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    if (q == MAP_FAILED)
        return -errno;
    *d = (struct bdy_doorbells){.q = q, .wake_fd = wake_fd, .sock = sock};
    d->tail = __atomic_load_n(&d->q->tail, __ATOMIC_RELAXED);
    pthread_mutex_init(&d->lock, NULL);
    return 0;
}

void bdy_doorbells_close(struct bdy_doorbells *d)
{
    munmap(d->q, sizeof(*d->q));
    pthread_mutex_destroy(&d->lock);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// A launcher that was killed says nothing: its socket does. A look every few milliseconds is enough
// (H24).
static int gone(struct bdy_doorbells *d)
{
    if (atomic_load_explicit(&d->gone, memory_order_relaxed))
        return 1;
    const int64_t now = now_ms();
    int hung_up = __atomic_load_n(&d->q->dead, __ATOMIC_RELAXED) != 0;
    if (!hung_up && now - atomic_load_explicit(&d->looked, memory_order_relaxed) >= LOOK_MS) {
        struct pollfd p = {.fd = d->sock};
        atomic_store_explicit(&d->looked, now, memory_order_relaxed);
        hung_up = poll(&p, 1, 0) == 1 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
    }
    if (hung_up)
        atomic_store_explicit(&d->gone, 1, memory_order_relaxed);
    return hung_up;
}

static void wait_for_progress(struct bdy_doorbells *d, uint32_t seen)
{
    const struct timespec limit = {.tv_nsec = WAIT_NS};
    __atomic_fetch_add(&d->q->waiters, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &d->q->progress, FUTEX_WAIT, seen, &limit, NULL, 0);
    __atomic_fetch_sub(&d->q->waiters, 1, __ATOMIC_SEQ_CST);
}

static void wake_launcher(const struct bdy_doorbells *d)
{
    const uint64_t one = 1;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&d->q->asleep, __ATOMIC_RELAXED) != 0) {
        // A full counter means that it has been woken already.
        ssize_t n = write(d->wake_fd, &one, sizeof(one));
        (void)n;
    }
}

static int full(const struct bdy_doorbells *d)
{
    return d->tail - __atomic_load_n(&d->q->head, __ATOMIC_ACQUIRE) >= BDY_DBQ_ENTRIES;
}

int bdy_doorbells_ring(struct bdy_doorbells *d, uint32_t offset, uint64_t value)
{
    pthread_mutex_lock(&d->lock);
    int dead = gone(d);
    while (!dead && full(d)) {
        const uint32_t seen = __atomic_load_n(&d->q->progress, __ATOMIC_ACQUIRE);
        wake_launcher(d);
        if (full(d))
            wait_for_progress(d, seen);
        dead = gone(d);
    }
    if (!dead) {
        struct bdy_dbq *q = d->q;
        q->e[d->tail % BDY_DBQ_ENTRIES].offset = offset;
        q->e[d->tail % BDY_DBQ_ENTRIES].value = value;
        __atomic_store_n(&q->tail, ++d->tail, __ATOMIC_RELEASE);
        wake_launcher(d);
    }
    pthread_mutex_unlock(&d->lock);
    return dead ? -EIO : 0;
}

uint32_t bdy_doorbells_tail(struct bdy_doorbells *d)
{
    pthread_mutex_lock(&d->lock);
    const uint32_t tail = d->tail;
    pthread_mutex_unlock(&d->lock);
    return tail;
}

int bdy_doorbells_relax(struct bdy_doorbells *d)
{
    // Progress made after the caller looked must not be slept on: compare with what was there
    // before it looked.
    const uint32_t seen = atomic_load_explicit(&d->seen, memory_order_relaxed);
    if (__atomic_load_n(&d->q->progress, __ATOMIC_ACQUIRE) == seen)
        wait_for_progress(d, seen);
    atomic_store_explicit(&d->seen, __atomic_load_n(&d->q->progress, __ATOMIC_ACQUIRE),
                          memory_order_relaxed);
    return gone(d) ? -EIO : 0;
}
