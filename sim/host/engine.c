// SPDX-License-Identifier: Apache-2.0
// Time (H19, H20): a busy device runs at full speed from up-call to up-call, an idle one jumps.
#include "sim/host/internal.h"

#include <errno.h>
#include <time.h>

int bdy_engine_advance(struct bdy_host *host, uint64_t limit)
{
    bdy_mem_complete(host);
    const uint64_t due = bdy_mem_next_due(host);
    enum bdy_dev_stop why;
    const int err = host->ops->run(host->dev, due < limit ? due : limit, 1, &why);
    host->ops->status(host->dev, &host->st);
    bdy_mem_stamp(host);
    return err || host->st.dead || host->oom ? -EIO : 0;
}

int bdy_engine_idle(const struct bdy_host *host)
{
    return host->st.idle && host->mem.count == 0;
}

/* ---------------------------------------------------------------- idle time */

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t sleep_ns(void *arg, uint64_t ns)
{
    (void)arg;
    const uint64_t start = wall_ns();
    const struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&t, NULL);
    return wall_ns() - start;
}

/** How far the pace lets a jump to `target` get, after waiting for it. */
static uint64_t paced(struct bdy_host *host, uint64_t target)
{
    const struct bdy_host_cfg *cfg = &host->cfg;
    if (cfg->pace <= 0)
        return target;
    const double ns_per_cycle = 1e6 / BDY_CORE_CLOCK_KHZ / cfg->pace;
    const double want = (double)(target - host->st.now) * ns_per_cycle;
    const uint64_t ns = want > 1e18 ? (uint64_t)1e18 : (uint64_t)want;
    const uint64_t waited = cfg->pace_wait ? cfg->pace_wait(cfg->arg, ns) : sleep_ns(NULL, ns);
    if (waited >= ns)
        return target;
    const uint64_t cycles = (uint64_t)((double)waited / ns_per_cycle);
    return cycles < target - host->st.now ? host->st.now + cycles : target;
}

int bdy_engine_jump(struct bdy_host *host, uint64_t target)
{
    if (host->cfg.no_skip)
        return bdy_engine_advance(host, target);
    const uint64_t from = host->st.now, to = paced(host, target);
    if (to == from)
        return 0;
    const int err = host->ops->skip(host->dev, to);
    host->ops->status(host->dev, &host->st);
    if (err)
        return err;
    host->stats.jumps++;
    host->stats.cycles_skipped += to - from;
    bdy_host_log(host, (struct bdy_host_event){.kind = BDY_EV_JUMP, .address = to, .value = from});
    return 0;
}

/* ---------------------------------------------------------------- messages */

static int vector_of(const struct bdy_host *host, uint64_t address, uint32_t data)
{
    for (unsigned v = 0; v < BDY_MSIX_VECTORS; v++) {
        uint64_t a;
        uint32_t d;
        bdy_host_pci_ops.msix_message((struct bdy_pci *)&host->pci, v, &a, &d);
        if (a == address && d == data)
            return (int)v;
    }
    return -ENOENT;
}

/** A vector that is already pending stays one message; it then waits for the writes before the
 * later one too. */
void bdy_engine_msix(struct bdy_host *host, uint64_t address, uint32_t data)
{
    const int v = vector_of(host, address, data);
    bdy_host_log(host, (struct bdy_host_event){
                           .kind = BDY_EV_MSIX, .address = address, .value = data, .status = v});
    if (v < 0) {
        host->stats.msix_spurious++;
        return;
    }
    struct bdy_vector *vec = &host->vectors[v];
    host->stats.msix++;
    if (!vec->pending)
        vec->order = host->msix_order++;
    vec->pending = 1;
    vec->after = host->mem.next_seq;
}

/** The pending vector that came first and whose writes are all visible (PCIe: a message does not
 * pass a write). */
static struct bdy_vector *deliverable(struct bdy_host *host)
{
    struct bdy_vector *best = NULL;
    for (unsigned v = 0; v < BDY_MSIX_VECTORS; v++) {
        struct bdy_vector *vec = &host->vectors[v];
        if (vec->pending && (!best || vec->order < best->order) &&
            !bdy_mem_writes_before(host, vec->after))
            best = vec;
    }
    return best;
}

unsigned bdy_engine_dispatch(struct bdy_host *host)
{
    unsigned ran = 0;
    struct bdy_vector *vec;
    if (host->in_handler) /* no nesting: what came meanwhile is delivered when the handler is back
                           */
        return 0;
    while ((vec = deliverable(host)) != NULL) {
        vec->pending = 0;
        if (!vec->fn)
            continue;
        host->in_handler = 1;
        vec->fn(vec->arg, (unsigned)(vec - host->vectors));
        host->in_handler = 0;
        ran++;
    }
    return ran;
}
