// SPDX-License-Identifier: Apache-2.0
// Host memory as the device sees it: requests wait for their cycle, then a read samples and a write
// becomes visible (H20).
#include "sim/host/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct bdy_mem_req *new_req(struct bdy_mem *mem)
{
    if (mem->count == mem->room) {
        const size_t room = mem->room ? 2 * mem->room : 128;
        void *queue = realloc(mem->queue, room * sizeof(*mem->queue));
        if (!queue)
            return NULL;
        mem->queue = queue;
        void *spare = realloc(mem->spare, room * sizeof(*mem->spare));
        if (!spare)
            return NULL;
        mem->spare = spare;
        mem->room = room;
    }
    return mem->spares ? mem->spare[--mem->spares] : malloc(sizeof(struct bdy_mem_req));
}

int bdy_mem_request(struct bdy_host *host, const struct bdy_dma_req *req)
{
    struct bdy_mem *mem = &host->mem;
    struct bdy_mem_req *r = new_req(mem);
    if (!r)
        return -ENOMEM;
    r->seq = mem->next_seq++;
    r->due = 0;
    r->kind = req->kind;
    r->tag = req->tag;
    r->bus = req->bus;
    r->bytes = req->bytes;
    r->has_strobe = req->kind == BDY_DMA_WRITE && req->strobe;
    if (req->kind == BDY_DMA_WRITE && req->bytes <= BDY_DMA_MAX) {
        memcpy(r->data, req->data, req->bytes);
        if (r->has_strobe)
            memcpy(r->strobe, req->strobe, (req->bytes + 7) / 8);
    }
    mem->queue[mem->count++] = r;
    return 0;
}

static uint64_t max64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void stamp(struct bdy_host *host, struct bdy_mem_req *r)
{
    struct bdy_mem *mem = &host->mem;
    const struct bdy_host_cfg *cfg = &host->cfg;
    const uint64_t asked = host->st.now - 1;
    uint64_t due =
        asked + cfg->lat_min + bdy_rand_below(&mem->rng, cfg->lat_max - cfg->lat_min + 1);
    if (cfg->order == BDY_ORDER_STRICT)
        due = max64(due, mem->last_due);
    else if (cfg->order == BDY_ORDER_PCIE)
        due = max64(due, mem->last_write_due);
    mem->last_due = max64(due, mem->last_due);
    if (r->kind == BDY_DMA_WRITE)
        mem->last_write_due = max64(due, mem->last_write_due);
    r->due = due;
}

void bdy_mem_stamp(struct bdy_host *host)
{
    struct bdy_mem *mem = &host->mem;
    size_t first = mem->count;
    while (first > 0 && mem->queue[first - 1]->due == 0)
        first--;
    for (; first < mem->count; first++)
        stamp(host, mem->queue[first]);
}

uint64_t bdy_mem_next_due(const struct bdy_host *host)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < host->mem.count; i++)
        if (host->mem.queue[i]->due < next)
            next = host->mem.queue[i]->due;
    return next;
}

int bdy_mem_writes_before(const struct bdy_host *host, uint64_t seq)
{
    for (size_t i = 0; i < host->mem.count && host->mem.queue[i]->seq < seq; i++)
        if (host->mem.queue[i]->kind == BDY_DMA_WRITE)
            return 1;
    return 0;
}

/* ---------------------------------------------------------------- doing it */

/** Our own memory, shared with pollers: the last 8 bytes become visible last (H16). */
static void store(uint8_t *to, const uint8_t *from, size_t bytes)
{
    const size_t tail = bytes >= 8 ? 8 : bytes;
    memcpy(to, from, bytes - tail);
    to += bytes - tail;
    from += bytes - tail;
    if (tail == 8 && (uintptr_t)to % 8 == 0) {
        uint64_t last;
        memcpy(&last, from, sizeof(last));
        __atomic_store_n((uint64_t *)(void *)to, last, __ATOMIC_RELEASE);
        return;
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (size_t i = 0; i < tail; i++)
        __atomic_store_n(to + i, from[i], __ATOMIC_RELEASE);
}

static int read_range(const struct bdy_iommu_range *range, uint64_t into, void *to, uint32_t bytes)
{
    if (range->as)
        return range->as->ops->read(range->as->arg, range->va + into, to, bytes);
    memcpy(to, range->cpu + into, bytes);
    return 0;
}

static int write_range(const struct bdy_iommu_range *range, uint64_t into, const uint8_t *from,
                       uint32_t bytes)
{
    if (range->as)
        return range->as->ops->write(range->as->arg, range->va + into, from, bytes);
    store(range->cpu + into, from, bytes);
    return 0;
}

static int strobed(const struct bdy_mem_req *r, uint32_t i)
{
    return !r->has_strobe || ((r->strobe[i / 8] >> (i % 8)) & 1);
}

/** Each run of strobed bytes on its own, ascending. */
static int write_strobed(const struct bdy_iommu_range *range, uint64_t into,
                         const struct bdy_mem_req *r)
{
    if (!r->has_strobe)
        return write_range(range, into, r->data, r->bytes);
    for (uint32_t i = 0; i < r->bytes;) {
        uint32_t end = i;
        while (end < r->bytes && strobed(r, end))
            end++;
        const int err = end > i ? write_range(range, into + i, r->data + i, end - i) : 0;
        if (err)
            return err;
        for (i = end; i < r->bytes && !strobed(r, i);)
            i++;
    }
    return 0;
}

/** -EINVAL malformed, -EFAULT not mapped, -EACCES wrong direction, or what the address space says.
 */
static int perform(struct bdy_host *host, struct bdy_mem_req *r)
{
    if (r->bytes == 0 || (r->bus & (BDY_PAGE - 1)) + r->bytes > BDY_PAGE)
        return -EINVAL;
    const struct bdy_iommu_range *range = bdy_iommu_find(&host->mmu, r->bus, r->bytes);
    if (!range)
        return -EFAULT;
    if (!(range->dir & (r->kind == BDY_DMA_READ ? BDY_DMA_TO_DEVICE : BDY_DMA_FROM_DEVICE)))
        return -EACCES;
    int err = range->as ? bdy_aspace_check(range->as, host->mem.batch) : 0;
    if (err)
        return err;
    const uint64_t into = r->bus - range->bus;
    err = r->kind == BDY_DMA_READ ? read_range(range, into, r->data, r->bytes)
                                  : write_strobed(range, into, r);
    if (err == -ESRCH)
        range->as->dead = 1;
    return err;
}

static void account(struct bdy_host *host, const struct bdy_mem_req *r, int err)
{
    struct bdy_host_stats *s = &host->stats;
    const int is_read = r->kind == BDY_DMA_READ;
    struct bdy_host_event ev = {.address = r->bus, .bytes = r->bytes};
    if (err) {
        s->dma_errors++;
        ev.kind = BDY_EV_FAULT;
        ev.value = r->kind;
        ev.status = err;
    } else {
        *(is_read ? &s->dma_reads : &s->dma_writes) += 1;
        *(is_read ? &s->dma_read_bytes : &s->dma_write_bytes) += r->bytes;
        ev.kind = is_read ? BDY_EV_DMA_READ : BDY_EV_DMA_WRITE;
        ev.data = r->data;
    }
    bdy_host_log(host, ev);
}

static void finish(struct bdy_host *host, struct bdy_mem_req *r)
{
    const int err = perform(host, r);
    account(host, r, err);
    host->ops->dma_cpl(host->dev, r->kind, r->tag, err ? BDY_DMA_ERROR : BDY_DMA_OK, r->data,
                       r->bytes);
}

void bdy_mem_complete(struct bdy_host *host)
{
    struct bdy_mem *mem = &host->mem;
    size_t kept = 0;
    mem->batch++;
    for (size_t i = 0; i < mem->count; i++) {
        struct bdy_mem_req *r = mem->queue[i];
        if (r->due > host->st.now) {
            mem->queue[kept++] = r;
            continue;
        }
        finish(host, r);
        mem->spare[mem->spares++] = r;
    }
    mem->count = kept;
}

void bdy_mem_free(struct bdy_host *host)
{
    struct bdy_mem *mem = &host->mem;
    for (size_t i = 0; i < mem->count; i++)
        free(mem->queue[i]);
    for (size_t i = 0; i < mem->spares; i++)
        free(mem->spare[i]);
    free(mem->queue);
    free(mem->spare);
}
