// SPDX-License-Identifier: Apache-2.0
// The launcher's event loop: one thread that serves sockets, moves doorbells and runs the model.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "bdy_regs.h"
#include "cli.h"

/** Cycles between two looks at the doorbell queues, and looks between two at the sockets. */
enum { SLICE_CYCLES = 128, SLICES_PER_EPOLL = 4, DOORBELLS_PER_LOOK = 64 };

struct server {
    struct hca *hca;
    int listen_fd, epoll_fd, watch_fd;
    struct client *clients;
    unsigned nclients;
    double pace;
    enum cli_dma dma;
    bool said_refused;
    struct timespec idle_wall;  /**< when the model became idle */
    uint64_t idle_cycle;
    bool idle;
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

struct hca *server_hca(struct server *s)
{
    return s->hca;
}

enum cli_dma server_dma(const struct server *s)
{
    return s->dma;
}

void server_say_refused(struct server *s)
{
    if (!s->said_refused) {
        cli_say("the kernel refuses access to the memory of a program: %s",
                s->dma == CLI_DMA_DIRECT ? "it gets no device" : "a thread in it does the copying");
    }
    s->said_refused = true;
}

unsigned server_contexts(const struct server *s)
{
    return s->nclients;
}

static int watch(struct server *s, int fd, void *what)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = what};
    return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

int server_watch(struct server *s, int fd)
{
    s->watch_fd = fd;
    return watch(s, fd, &s->watch_fd);
}

struct server *server_open(struct hca *hca, const char *dir, const struct cli_options *opt)
{
    struct server *s = calloc(1, sizeof *s);
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    if (!s) return NULL;
    *s = (struct server){.hca = hca, .listen_fd = -1, .epoll_fd = -1, .watch_fd = -1, .pace = opt->pace, .dma = opt->dma};
    int n = snprintf(addr.sun_path, sizeof addr.sun_path, "%s/hca", dir);
    if (n < 0 || (size_t)n >= sizeof addr.sun_path) {
        cli_say("the path %s is too long for a socket", dir);
        goto fail;
    }
    memcpy(s->path, addr.sun_path, sizeof s->path);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->epoll_fd < 0 || s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&addr, sizeof addr) ||
        listen(s->listen_fd, 64) || watch(s, s->listen_fd, &s->listen_fd)) {
        cli_say("cannot listen on %s: %s", addr.sun_path, strerror(errno));
        goto fail;
    }
    return s;
fail:
    server_close(s);
    return NULL;
}

static void drop(struct server *s, struct client *c)
{
    for (struct client **p = &s->clients; *p; p = &(*p)->next) {
        if (*p == c) {
            *p = c->next;
            break;
        }
    }
    s->nclients--;
    client_free(c);
}

void server_close(struct server *s)
{
    while (s->clients) drop(s, s->clients);
    if (s->listen_fd >= 0) close(s->listen_fd);
    if (s->epoll_fd >= 0) close(s->epoll_fd);
    if (s->path[0]) unlink(s->path);
    free(s);
}

static void accept_one(struct server *s)
{
    int sock = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (sock < 0) return;
    struct client *c = client_new(s, sock);
    if (!c) {
        close(sock);
        return;
    }
    if (watch(s, sock, c)) {
        client_free(c);
        return;
    }
    c->next = s->clients;
    s->clients = c;
    s->nclients++;
}

static bool is_client(struct server *s, const void *p)
{
    for (struct client *c = s->clients; c; c = c->next) {
        if (c == p) return true;
    }
    return false;
}

/** Sockets, and the wake-up eventfds of contexts (registered once the context is open). */
static void serve_sockets(struct server *s, int timeout_ms)
{
    struct epoll_event ev[32];
    int n = epoll_wait(s->epoll_fd, ev, 32, timeout_ms);
    for (int i = 0; i < n; i++) {
        void *p = ev[i].data.ptr;
        if (p == &s->listen_fd) {
            accept_one(s);
        } else if (p != &s->watch_fd && is_client(s, p)) {
            struct client *c = p;
            uint64_t count;
            bool was_open = c->uctx != NULL;
            if (c->wake_fd >= 0) (void)!read(c->wake_fd, &count, sizeof count);
            int rc = client_serve(c);
            if (rc < 0) drop(s, c);
            else if (!was_open && c->uctx) watch(s, c->wake_fd, c);
        }
    }
}

static unsigned move_doorbells(struct server *s)
{
    unsigned moved = 0;
    struct client *next;
    for (struct client *c = s->clients; c; c = next) {
        next = c->next;
        int n = client_doorbells(c, DOORBELLS_PER_LOOK);
        if (n < 0) drop(s, c);
        else moved += (unsigned)n;
    }
    return moved;
}

static void set_asleep(struct server *s, uint32_t asleep)
{
    for (struct client *c = s->clients; c; c = c->next) {
        if (c->dbq) __atomic_store_n(&c->dbq->asleep, asleep, __ATOMIC_SEQ_CST);
    }
}

/** Milliseconds of wall clock until simulated time may jump to `deadline` (H19); -1: no timer. */
static int until_jump(struct server *s, uint64_t deadline)
{
    if (deadline == UINT64_MAX) return -1;
    if (s->pace == 0) return 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double waited = (double)(now.tv_sec - s->idle_wall.tv_sec) + (double)(now.tv_nsec - s->idle_wall.tv_nsec) * 1e-9;
    double due = (double)(deadline - s->idle_cycle) / (BDY_CORE_CLOCK_KHZ * 1e3) / s->pace;
    double left = (due - waited) * 1e3;
    return left <= 0 ? 0 : left > 1000 ? 1000 : (int)left + 1;
}

static int sleep_or_jump(struct server *s, const struct bdy_dev_status *st, int max_ms)
{
    if (!s->idle) {
        s->idle = true;
        s->idle_cycle = st->now;
        clock_gettime(CLOCK_MONOTONIC, &s->idle_wall);
    }
    int ms = until_jump(s, st->next_timer);
    if (ms == 0) return bdy_host_skip(s->hca->host, st->next_timer);
    if (ms < 0 || ms > max_ms) ms = max_ms;
    set_asleep(s, 1);
    if (move_doorbells(s)) ms = 0; /* rung between the last look and the flag */
    serve_sockets(s, ms);
    set_asleep(s, 0);
    return 0;
}

static uint64_t deliveries(struct server *s)
{
    struct bdy_host_stats st;
    bdy_host_stats(s->hca->host, &st);
    return st.dma_writes;
}

/** Doorbells in, cycles through, completions out. Returns why the model stopped, or -errno; adds the doorbells to `moved`. */
static int run_slice(struct server *s, unsigned *moved)
{
    enum bdy_host_why why;
    *moved += move_doorbells(s);
    uint64_t before = deliveries(s);
    int rc = bdy_host_run(s->hca->host, SLICE_CYCLES, &why);
    if (rc < 0) return rc;
    if (why == BDY_HOST_DEAD) return -EIO;
    if (deliveries(s) != before) {
        for (struct client *c = s->clients; c; c = c->next) client_progress(c);
    }
    return why;
}

int server_step(struct server *s, int max_ms)
{
    unsigned moved = 0;
    int why = BDY_HOST_BUDGET;
    for (int i = 0; i < SLICES_PER_EPOLL && why == BDY_HOST_BUDGET; i++) {
        why = run_slice(s, &moved);
        if (why < 0) return why;
    }
    if (why != BDY_HOST_IDLE || moved) {
        s->idle = false;
        serve_sockets(s, 0);
        return 0;
    }
    struct bdy_dev_status st;
    bdy_host_status(s->hca->host, &st);
    return sleep_or_jump(s, &st, max_ms);
}
