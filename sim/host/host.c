// SPDX-License-Identifier: Apache-2.0
// Life of a host, its up-calls, and the functions of an event loop.
#include "sim/host/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void bdy_host_cfg_init(struct bdy_host_cfg *cfg)
{
    *cfg = (struct bdy_host_cfg){
        .seed = 1,
        .lat_min = 1,
        .lat_max = 1,
        .order = BDY_ORDER_RELAXED,
        .share_4k = 333,
        .share_mixed = 333,
        .mmio_timeout = 1u << 20,
    };
}

void bdy_host_log(struct bdy_host *host, struct bdy_host_event ev)
{
    if (!host->cfg.log)
        return;
    ev.cycle = host->st.now;
    host->cfg.log(host->cfg.arg, &ev);
}

/* ---------------------------------------------------------------- up-calls of the device */

static void on_dma_req(void *arg, const struct bdy_dma_req *req)
{
    struct bdy_host *host = arg;
    if (bdy_mem_request(host, req) != 0)
        host->oom = 1;
}

static void on_msix(void *arg, uint64_t address, uint32_t data)
{
    bdy_engine_msix(arg, address, data);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

static void on_trace(void *arg, const struct bdy_trace *ev)
{
    struct bdy_host *host = arg;
    uint64_t hash = mix(mix(host->stats.trace_hash, ev->cycle), ev->kind);
    for (uint32_t i = 0; i < ev->nwords; i++)
        hash = mix(hash, ev->words[i]);
    host->stats.trace_hash = hash;
    host->stats.trace_events++;
    if (host->cfg.trace)
        host->cfg.trace(host->cfg.arg, ev);
}

static void on_message(void *arg, int fatal, const char *text)
{
    struct bdy_host *host = arg;
    host->stats.messages++;
    bdy_host_log(host,
                 (struct bdy_host_event){.kind = BDY_EV_MESSAGE, .status = fatal, .text = text});
}

/* ---------------------------------------------------------------- life */

static int cfg_is_good(const struct bdy_host_cfg *cfg)
{
    return cfg->lat_min >= 1 && cfg->lat_max >= cfg->lat_min && cfg->lat_max <= (1u << 24) &&
           cfg->share_4k + cfg->share_mixed <= 1000 && cfg->order <= BDY_ORDER_STRICT &&
           cfg->mmio_timeout > 0;
}

int bdy_host_create(const struct bdy_host_cfg *cfg, const struct bdy_dev_ops *dev,
                    struct bdy_host **out)
{
    if (!cfg_is_good(cfg) || dev->abi != BDY_DEV_ABI)
        return -EINVAL;
    struct bdy_host *host = calloc(1, sizeof(*host));
    if (!host)
        return -ENOMEM;
    host->cfg = *cfg;
    host->cfg.wave_path = NULL; /* the caller's string may go */
    host->ops = dev;
    host->mmu.rng = cfg->seed ^ 0x696f6d6d75ull;
    host->mem.rng = cfg->seed ^ 0x6d656d6f7279ull;
    bdy_pci_init(host);

    const struct bdy_dev_up up = {
        .dma_req = on_dma_req,
        .msix = on_msix,
        .trace = cfg->trace || cfg->trace_hash ? on_trace : NULL,
        .message = on_message,
    };
    const struct bdy_dev_cfg dev_cfg = {.seed = cfg->seed, .wave_path = cfg->wave_path};
    const int err = dev->create(&dev_cfg, &up, host, &host->dev);
    if (err) {
        free(host);
        return err;
    }
    dev->status(host->dev, &host->st);
    host->start = host->st.now;
    *out = host;
    return 0;
}

void bdy_host_destroy(struct bdy_host *host)
{
    if (!host)
        return;
    host->ops->destroy(host->dev);
    bdy_mem_free(host);
    free(host);
}

int bdy_host_boot(struct bdy_host *host, const void *image, size_t bytes)
{
    const int err = host->ops->boot(host->dev, image, bytes);
    if (err)
        return err;
    host->ops->status(host->dev, &host->st);
    return bdy_pci_wait_ready(host);
}

struct bdy_pci *bdy_host_pci(struct bdy_host *host)
{
    return &host->pci;
}

/* ---------------------------------------------------------------- for an event loop */

int bdy_host_run(struct bdy_host *host, uint64_t max_cycles, enum bdy_host_why *why)
{
    host->ops->status(host->dev, &host->st);
    host->ops->status(host->dev,
                      &host->st); /* a posted write since the last run has ended its idleness */
    const uint64_t until = host->st.now + max_cycles;
    *why = BDY_HOST_BUDGET;
    for (;;) {
        if (host->st.dead || host->oom) {
            *why = BDY_HOST_DEAD;
            return 0;
        }
        bdy_engine_dispatch(host);
        if (bdy_engine_idle(host) && host->st.next_timer > host->st.now) {
            *why = BDY_HOST_IDLE;
            return 0;
        }
        if (host->st.now >= until)
            return 0;
        bdy_engine_advance(host, until);
    }
}

int bdy_host_skip(struct bdy_host *host, uint64_t to)
{
    if (!bdy_engine_idle(host))
        return -EBUSY;
    if (to > host->st.next_timer)
        to = host->st.next_timer;
    if (to < host->st.now)
        return -EINVAL;
    const double pace = host->cfg.pace;
    host->cfg.pace = 0; /* the loop has waited already */
    const int err = bdy_engine_jump(host, to);
    host->cfg.pace = pace;
    return err;
}

void bdy_host_status(struct bdy_host *host, struct bdy_dev_status *out)
{
    host->ops->status(host->dev, out);
}

void bdy_host_stats(const struct bdy_host *host, struct bdy_host_stats *out)
{
    *out = host->stats;
    out->cycles_run = host->st.now - host->start - host->stats.cycles_skipped;
}

int bdy_host_wave(struct bdy_host *host, const char *path)
{
    return host->ops->wave(host->dev, path);
}
