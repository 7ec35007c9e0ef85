// SPDX-License-Identifier: Apache-2.0
// See direct.h.
#include "direct.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bdy_regs.h"
#include "sim/rtl/rtl.h"

struct bdy_direct {
    struct bdy_direct_cfg cfg;
    struct bdy_host *host;
    struct bdy_core *core;
    struct bdy_lockstep *lockstep;
    pthread_mutex_t lock;
};

struct channel {
    uint32_t handle;
    int fd;
    struct channel *next;
};

struct context {
    struct bdy_transport base;
    struct bdy_direct *d;
    struct bdy_aspace *as;
    struct bdy_uctx *uctx;
    uint32_t uar;
    int async[2];
    struct channel *channels;
};

/** Cycles that an empty poll gives to the model. */
enum { RELAX_CYCLES = 400 };

static void on_trace(void *arg, const struct bdy_trace *ev)
{
    struct bdy_direct *d = arg;
    bdy_lockstep_event(d->lockstep, ev);
    if (d->cfg.trace) d->cfg.trace(d->cfg.trace_arg, ev);
}

static void on_log(void *arg, const struct bdy_host_event *ev)
{
    (void)arg;
    if (ev->kind == BDY_EV_MESSAGE) fprintf(stderr, "device: %s\n", ev->text);
}

static void on_difference(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "%s\n", text);
}

static int boot(struct bdy_direct *d, const char *firmware)
{
    static char image[BDY_FW_RAM_BYTES + 64];
    FILE *f = fopen(firmware, "rb");
    if (!f) return -errno;
    size_t n = fread(image, 1, sizeof image, f);
    fclose(f);
    return bdy_host_boot(d->host, image, n);
}

static int start(struct bdy_direct *d, const char *firmware)
{
    const struct bdy_direct_cfg *cfg = &d->cfg;
    struct bdy_host_cfg hc;
    bdy_host_cfg_init(&hc);
    hc.seed = cfg->seed;
    hc.lat_min = cfg->lat_min ? cfg->lat_min : 1;
    hc.lat_max = cfg->lat_max > hc.lat_min ? cfg->lat_max : hc.lat_min;
    hc.no_skip = cfg->no_skip;
    hc.log = on_log;
    hc.trace = on_trace;
    hc.trace_hash = 1;
    hc.arg = d;
    int rc = bdy_host_create(&hc, &bdy_rtl_ops, &d->host);
    if (!rc) rc = boot(d, firmware);
    if (rc) return rc;
    struct bdy_core_cfg cc = {.seed_lo = cfg->seed, .seed_hi = ~cfg->seed, .lid = 1, .strict_ibta = cfg->strict_ibta,
                              .nak_delay = cfg->nak_delay, .link_fault = cfg->link_fault};
    if (cfg->link_fault) cc.link_fault |= (cfg->seed & 0xffff) << BDY_REG_BAR_LINK_FAULT_SEED_LSB;
    if (cfg->table_delay) {
        cc.tbl_delay = cfg->table_delay | BDY_REG_BAR_TBL_DELAY_REORDER_MASK |
                       (cfg->seed & 0xffffffff) << BDY_REG_BAR_TBL_DELAY_SEED_LSB;
    }
    return bdy_core_open(bdy_host_pci(d->host), &cc, &d->core);
}

struct bdy_direct *bdy_direct_open(const struct bdy_direct_cfg *cfg, const char *firmware)
{
    struct bdy_direct *d = calloc(1, sizeof *d);
    struct bdy_lockstep_cfg lc = {.log_keys = BDY_LOG_KEYS, .log_mtt = BDY_LOG_MTT, .log_qps = BDY_LOG_QPS, .log_pds = 10,
                                  .strict_ibta = cfg->strict_ibta, .report = on_difference};
    if (!d) return NULL;
    d->cfg = *cfg;
    pthread_mutex_init(&d->lock, NULL);
    d->lockstep = bdy_lockstep_new(&lc);
    int rc = d->lockstep ? start(d, firmware) : -ENOMEM;
    if (!rc) return d;
    fprintf(stderr, "direct: cannot start the HCA with %s: %s\n", firmware, strerror(-rc));
    bool failed;
    bdy_direct_close(d, &failed);
    return NULL;
}

uint64_t bdy_direct_close(struct bdy_direct *d, bool *failed)
{
    if (d->core) bdy_core_close(d->core);
    if (d->host) bdy_host_destroy(d->host);
    uint64_t checked = d->lockstep ? bdy_lockstep_checked(d->lockstep) : 0;
    *failed = d->lockstep && bdy_lockstep_failed(d->lockstep);
    bdy_lockstep_free(d->lockstep);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return checked;
}

/* ------------------------------------------------------------------ events */
static void on_event(void *arg, const struct bdy_u_event *ev)
{
    struct context *c = arg;
    struct { uint64_t element; uint32_t type, rsvd; } msg = {ev->user_handle, ev->type, 0};
    if (ev->type != BDY_U_EV_COMP) {
        (void)!send(c->async[1], &msg, sizeof msg, MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    for (struct channel *ch = c->channels; ch; ch = ch->next) {
        if (ch->handle == ev->channel) (void)!send(ch->fd, &ev->user_handle, 8, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

static int add_channel(struct context *c, void *out, size_t out_len, int *fd)
{
    struct bdy_dma_buf *rings[2];
    struct channel *ch = calloc(1, sizeof *ch);
    int pair[2];
    if (!ch) return -ENOMEM;
    int rc = bdy_core_call(c->uctx, BDY_U_CREATE_CHANNEL, NULL, 0, out, out_len, rings);
    if (!rc && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) rc = -errno;
    if (rc) {
        free(ch);
        return rc;
    }
    *ch = (struct channel){.handle = ((struct bdy_u_handle *)out)->handle, .fd = pair[0], .next = c->channels};
    c->channels = ch;
    *fd = pair[1];
    return 0;
}

static void drop_channel(struct context *c, uint32_t handle)
{
    for (struct channel **p = &c->channels; *p; p = &(*p)->next) {
        struct channel *ch = *p;
        if (ch->handle == handle) {
            *p = ch->next;
            close(ch->fd);
            free(ch);
            return;
        }
    }
}

/* ------------------------------------------------------------------ transport */
static int locked_call(struct context *c, uint32_t op, const void *in, size_t in_len, void *out, size_t out_len,
                       struct bdy_u_ring *rings, unsigned nrings, int *fd)
{
    struct bdy_dma_buf *bufs[2] = {NULL, NULL};
    if (!c->uctx) return -EIO;
    if (op == BDY_U_CREATE_CHANNEL) return add_channel(c, out, out_len, fd);
    int rc = bdy_core_call(c->uctx, op, in, in_len, out, out_len, bufs);
    if (!rc && op == BDY_U_DESTROY_CHANNEL) drop_channel(c, ((const struct bdy_u_handle *)in)->handle);
    for (unsigned i = 0; !rc && i < nrings && i < 2; i++) {
        if (bufs[i]) rings[i] = (struct bdy_u_ring){.addr = bufs[i]->cpu, .bytes = bufs[i]->bytes};
    }
    return rc;
}

static int call(struct bdy_transport *t, uint32_t op, const void *in, size_t in_len, void *out, size_t out_len,
                struct bdy_u_ring *rings, unsigned nrings, int *fd)
{
    struct context *c = (struct context *)t;
    pthread_mutex_lock(&c->d->lock);
    int rc = locked_call(c, op, in, in_len, out, out_len, rings, nrings, fd);
    pthread_mutex_unlock(&c->d->lock);
    return rc;
}

static void unmap(struct bdy_transport *t, struct bdy_u_ring *ring)
{
    (void)t;
    *ring = (struct bdy_u_ring){0}; /* the memory is the core's */
}

static int doorbell(struct bdy_transport *t, uint32_t offset, uint64_t value)
{
    struct context *c = (struct context *)t;
    pthread_mutex_lock(&c->d->lock);
    int rc = c->uctx ? bdy_core_doorbell(c->uctx, offset, value) : -EIO;
    pthread_mutex_unlock(&c->d->lock);
    return rc == -EINVAL ? 0 : rc; /* a UAR page takes any store */
}

static int step(struct bdy_direct *d, uint64_t cycles)
{
    enum bdy_host_why why;
    struct bdy_dev_status st;
    int rc = bdy_host_run(d->host, cycles, &why);
    if (rc) return rc;
    if (why == BDY_HOST_DEAD) return -EIO;
    if (why != BDY_HOST_IDLE) return 0;
    bdy_host_status(d->host, &st);
    return st.next_timer == UINT64_MAX ? 0 : bdy_host_skip(d->host, st.next_timer);
}

static int relax(struct bdy_transport *t)
{
    struct context *c = (struct context *)t;
    pthread_mutex_lock(&c->d->lock);
    int rc = c->uctx ? step(c->d, RELAX_CYCLES) : -EIO;
    pthread_mutex_unlock(&c->d->lock);
    return rc;
}

static int async_fd(struct bdy_transport *t)
{
    return ((struct context *)t)->async[0];
}

static void end_uctx(struct context *c)
{
    if (c->uctx) bdy_core_uctx_close(c->uctx);
    if (c->as) bdy_host_aspace_free(c->d->host, c->as);
    c->uctx = NULL;
    c->as = NULL;
}

static void close_transport(struct bdy_transport *t)
{
    struct context *c = (struct context *)t;
    pthread_mutex_lock(&c->d->lock);
    end_uctx(c);
    pthread_mutex_unlock(&c->d->lock);
    while (c->channels) drop_channel(c, c->channels->handle);
    close(c->async[0]);
    close(c->async[1]);
    free(c);
}

static const struct bdy_transport_ops ops = {
    .call = call, .unmap = unmap, .doorbell = doorbell, .relax = relax, .async_fd = async_fd, .close = close_transport};

int bdy_direct_transport(struct bdy_direct *d, struct bdy_transport **out)
{
    struct context *c = calloc(1, sizeof *c);
    struct bdy_u_open_in in = {.abi = BDY_UCTX_ABI};
    struct bdy_u_open_out opened;
    if (!c) return -ENOMEM;
    c->base.ops = &ops;
    c->d = d;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c->async)) {
        free(c);
        return -errno;
    }
    pthread_mutex_lock(&d->lock);
    c->as = bdy_host_aspace_self(d->host);
    int rc = c->as ? bdy_core_uctx_open(d->core, c->as, on_event, c, &in, &opened, &c->uctx) : -ENOMEM;
    pthread_mutex_unlock(&d->lock);
    if (rc) {
        close_transport(&c->base);
        return rc;
    }
    c->uar = opened.uar;
    *out = &c->base;
    return 0;
}

struct bdy_uctx *bdy_direct_uctx(struct bdy_transport *t)
{
    return ((struct context *)t)->uctx;
}

void bdy_direct_kill(struct bdy_transport *t)
{
    struct context *c = (struct context *)t;
    pthread_mutex_lock(&c->d->lock);
    end_uctx(c);
    pthread_mutex_unlock(&c->d->lock);
}

void bdy_direct_settle(struct bdy_direct *d, uint64_t cycles)
{
    struct bdy_dev_status st;
    enum bdy_host_why why = BDY_HOST_BUDGET;
    pthread_mutex_lock(&d->lock);
    bdy_host_status(d->host, &st);
    uint64_t end = st.now + cycles;
    while (st.now < end && why != BDY_HOST_DEAD) {
        if (bdy_host_run(d->host, end - st.now < RELAX_CYCLES ? end - st.now : RELAX_CYCLES, &why)) break;
        bdy_host_status(d->host, &st);
        if (why != BDY_HOST_IDLE) continue;
        if (bdy_host_skip(d->host, st.next_timer < end ? st.next_timer : end)) break; /* time passes also when nothing happens */
        bdy_host_status(d->host, &st);
    }
    pthread_mutex_unlock(&d->lock);
}

struct bdy_host *bdy_direct_host(struct bdy_direct *d) { return d->host; }
struct bdy_core *bdy_direct_core(struct bdy_direct *d) { return d->core; }
struct bdy_lockstep *bdy_direct_lockstep(struct bdy_direct *d) { return d->lockstep; }
