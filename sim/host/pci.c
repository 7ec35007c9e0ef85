// SPDX-License-Identifier: Apache-2.0
// Seam S1 over the engine.
#include "sim/host/internal.h"

#include <errno.h>

// Where PCs take message interrupts; no bus address of ours lies there.
#define MSIX_ADDRESS 0xfee00000ull

void bdy_pci_init(struct bdy_host *host)
{
    uint64_t rng = host->cfg.seed ^ 0x6d736978ull;
    host->pci.ops = &bdy_host_pci_ops;
    for (unsigned v = 0; v < BDY_MSIX_VECTORS; v++)
        host->vectors[v].data = ((uint32_t)bdy_rand(&rng) & ~0xffu) | v;
}

static int bar_write64(struct bdy_pci *pci, uint32_t offset, uint64_t value)
{
    struct bdy_host *host = bdy_host_of(pci);
    const uint64_t deadline = host->st.now + host->cfg.mmio_timeout;
    int err;
    while ((err = host->ops->mmio_write(host->dev, offset, value)) == -ENOSPC) {
        if (host->st.now >= deadline)
            return -ETIMEDOUT;
        err = bdy_engine_advance(host, host->st.now + 1);
        if (err)
            return err;
    }
    host->ops->status(host->dev, &host->st);
    if (err)
        return err;
    host->stats.mmio_writes++;
    bdy_host_log(host, (struct bdy_host_event){
                           .kind = BDY_EV_MMIO_WRITE, .address = offset, .value = value});
    return 0;
}

/** Run until `done` (no more than mmio_timeout cycles). */
static int run_until(struct bdy_host *host, int (*done)(struct bdy_host *host, void *arg),
                     void *arg)
{
    const uint64_t deadline = host->st.now + host->cfg.mmio_timeout;
    int is;
    while ((is = done(host, arg)) == 0) {
        if (host->st.now >= deadline)
            return -ETIMEDOUT;
        const int err = bdy_engine_advance(host, host->st.now + 1);
        if (err)
            return err;
    }
    return is < 0 ? is : 0;
}

static int read_is_back(struct bdy_host *host, void *value)
{
    return host->ops->mmio_read_done(host->dev, value);
}

static int writes_are_visible(struct bdy_host *host, void *seq)
{
    return !bdy_mem_writes_before(host, *(const uint64_t *)seq);
}

/** The answer pushes what the device wrote before it: memory and messages. */
static int bar_read64(struct bdy_pci *pci, uint32_t offset, uint64_t *value)
{
    struct bdy_host *host = bdy_host_of(pci);
    *value = UINT64_MAX;
    int err = host->ops->mmio_read(host->dev, offset);
    if (err)
        return err;
    host->ops->status(host->dev, &host->st);
    err = run_until(host, read_is_back, value);
    uint64_t seq = host->mem.next_seq;
    if (!err)
        err = run_until(host, writes_are_visible, &seq);
    if (err)
        return err;
    host->stats.mmio_reads++;
    bdy_host_log(host, (struct bdy_host_event){
                           .kind = BDY_EV_MMIO_READ, .address = offset, .value = *value});
    bdy_engine_dispatch(host);
    return 0;
}

static int irq_set(struct bdy_pci *pci, unsigned vector, bdy_irq_fn fn, void *arg)
{
    struct bdy_host *host = bdy_host_of(pci);
    if (vector >= BDY_MSIX_VECTORS)
        return -EINVAL;
    host->vectors[vector].fn = fn;
    host->vectors[vector].arg = arg;
    return 0;
}

static int msix_message(struct bdy_pci *pci, unsigned vector, uint64_t *address, uint32_t *data)
{
    if (vector >= BDY_MSIX_VECTORS)
        return -EINVAL;
    *address = MSIX_ADDRESS;
    *data = bdy_host_of(pci)->vectors[vector].data;
    return 0;
}

static int wait_until(struct bdy_pci *pci, uint64_t deadline)
{
    struct bdy_host *host = bdy_host_of(pci);
    if (host->in_handler) /* nothing could be delivered */
        return -EBUSY;
    host->ops->status(host->dev, &host->st);
    for (;;) {
        if (host->st.dead)
            return -EIO;
        if (bdy_engine_dispatch(host) != 0)
            return 0;
        if (host->st.now >= deadline)
            return -ETIMEDOUT;
        const uint64_t timer = host->st.next_timer;
        const uint64_t target = timer < deadline ? timer : deadline;
        const int idle = bdy_engine_idle(host);
        if (idle && target == UINT64_MAX) /* nothing will ever happen: time stands still */
            return -ETIMEDOUT;
        const int err = idle && target > host->st.now ? bdy_engine_jump(host, target)
                                                      : bdy_engine_advance(host, deadline);
        if (err)
            return -EIO;
    }
}

static uint64_t now(struct bdy_pci *pci)
{
    return bdy_host_of(pci)->st.now;
}

/* ---------------------------------------------------------------- reset */

int bdy_pci_wait_ready(struct bdy_host *host)
{
    const uint64_t deadline = host->st.now + 4 * host->cfg.mmio_timeout;
    while (host->st.now < deadline) {
        uint64_t state;
        int err = bar_read64(&host->pci, BDY_REG_BAR_STATE_OFFSET, &state);
        if (err)
            return err;
        const unsigned st =
            (unsigned)bdy_field_get(state, BDY_REG_BAR_STATE_ST_LSB, BDY_REG_BAR_STATE_ST_W);
        if (st == BDY_DEV_ST_READY || st == BDY_DEV_ST_RUN)
            return 0;
        if (st == BDY_DEV_ST_FATAL)
            return -EIO;
        err = bdy_engine_advance(host, host->st.now + 256);
        if (err)
            return err;
    }
    return -ETIMEDOUT;
}

static int memory_is_quiet(struct bdy_host *host, void *unused)
{
    (void)unused;
    return host->mem.count == 0;
}

/** Bus mastering goes off first: answers to requests from before the reset would meet a device that
 * never asked. */
static int reset(struct bdy_pci *pci)
{
    struct bdy_host *host = bdy_host_of(pci);
    uint64_t flush;
    int err = bar_write64(pci, BDY_REG_BAR_BUS_MASTER_OFFSET, 0);
    if (!err)
        err = bar_read64(pci, BDY_REG_BAR_ID_OFFSET, &flush);
    if (!err)
        err = run_until(host, memory_is_quiet, NULL);
    if (!err)
        err = bar_write64(pci, BDY_REG_BAR_CTRL_OFFSET, 1);
    return err ? err : bdy_pci_wait_ready(host);
}

const struct bdy_pci_ops bdy_host_pci_ops = {
    .abi = BDY_PCI_ABI,
    .bar_read64 = bar_read64,
    .bar_write64 = bar_write64,
    .dma_alloc = bdy_dma_alloc,
    .dma_free = bdy_dma_free,
    .dma_map = bdy_dma_map,
    .dma_unmap = bdy_dma_unmap,
    .irq_set = irq_set,
    .msix_message = msix_message,
    .wait = wait_until,
    .now = now,
    .reset = reset,
};
