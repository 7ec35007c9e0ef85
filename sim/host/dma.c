// SPDX-License-Identifier: Apache-2.0
// What the device may reach: coherent buffers of ours and user memory in frames of every size
// (H25).
#include "sim/host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGEST_FRAME (2ull << 20)

/* ---------------------------------------------------------------- coherent buffers */

/** Sealed, so that a client that gets the descriptor cannot shrink it under us (H23). */
static int sealed_memory(size_t bytes)
{
    const int fd = memfd_create("bindery-dma", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -ENOMEM;
    if (ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -ENOMEM;
}

int bdy_dma_alloc(struct bdy_pci *pci, size_t bytes, struct bdy_dma_buf *out)
{
    struct bdy_host *host = bdy_host_of(pci);
    memset(out, 0, sizeof(*out));
    out->fd = -1;
    if (bytes == 0 || bytes > SIZE_MAX / 4)
        return bytes == 0 ? -EINVAL : -ENOMEM;
    bytes = (bytes + BDY_PAGE - 1) & ~(size_t)(BDY_PAGE - 1);

    struct bdy_iommu_range *range = calloc(1, sizeof(*range));
    if (!range)
        return -ENOMEM;
    const int fd = sealed_memory(bytes);
    if (fd < 0)
        goto free_range;
    void *cpu = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (cpu == MAP_FAILED)
        goto close_fd;

    range->bytes = bytes;
    range->dir = BDY_DMA_TO_DEVICE | BDY_DMA_FROM_DEVICE;
    range->cpu = cpu;
    bdy_iommu_enter(&host->mmu, range, bytes, BDY_PAGE, 0);
    *out = (struct bdy_dma_buf){
        .cpu = cpu, .bus = range->bus, .bytes = bytes, .fd = fd, .priv = range};
    return 0;

close_fd:
    close(fd);
free_range:
    free(range);
    return -ENOMEM;
}

void bdy_dma_free(struct bdy_pci *pci, struct bdy_dma_buf *buf)
{
    struct bdy_iommu_range *range = buf->priv;
    if (!range)
        return;
    bdy_iommu_remove(&bdy_host_of(pci)->mmu, range);
    munmap(buf->cpu, buf->bytes);
    close(buf->fd);
    free(range);
    memset(buf, 0, sizeof(*buf));
    buf->fd = -1;
}

/* ---------------------------------------------------------------- user memory */

enum mix { MIX_4K, MIX_MIXED, MIX_LARGEST };

/** The frames of a mapping before they have bus addresses: naturally aligned blocks of its address
 * space. */
struct plan {
    struct bdy_host *host;
    enum mix mix;
    uint64_t from, end;          /* whole pages */
    struct bdy_dma_page *frames; /* `bus` holds the virtual address for now */
    size_t count, room;
};

static int add_frame(struct plan *plan, uint64_t va, uint64_t bytes)
{
    if (plan->count == plan->room) {
        const size_t room = plan->room ? 2 * plan->room : 16;
        void *frames = realloc(plan->frames, room * sizeof(*plan->frames));
        if (!frames)
            return -ENOMEM;
        plan->frames = frames;
        plan->room = room;
    }
    plan->frames[plan->count++] = (struct bdy_dma_page){va, bytes};
    return 0;
}

/** The aligned block at `va`, whole or in halves. */
static int add_block(struct plan *plan, uint64_t va, uint64_t bytes)
{
    if (va + bytes <= plan->from || va >= plan->end)
        return 0;
    const int halve =
        bytes > BDY_PAGE && (plan->mix == MIX_4K ||
                             (plan->mix == MIX_MIXED && bdy_rand_below(&plan->host->mmu.rng, 2)));
    if (!halve)
        return add_frame(plan, va, bytes);
    const int err = add_block(plan, va, bytes / 2);
    return err ? err : add_block(plan, va + bytes / 2, bytes / 2);
}

/** The largest useful frame: the smallest aligned block that holds it all, or the largest there is.
 */
static uint64_t frame_size(uint64_t from, uint64_t end)
{
    uint64_t size = BDY_PAGE;
    while (size < LARGEST_FRAME && from / size != (end - 1) / size)
        size *= 2;
    return size;
}

static enum mix draw_mix(struct bdy_host *host)
{
    const uint32_t draw = bdy_rand_below(&host->mmu.rng, 1000);
    if (draw < host->cfg.share_4k)
        return MIX_4K;
    return draw < host->cfg.share_4k + host->cfg.share_mixed ? MIX_MIXED : MIX_LARGEST;
}

static int make_plan(struct bdy_host *host, uint64_t va, uint64_t bytes, struct plan *plan)
{
    *plan = (struct plan){.host = host, .mix = draw_mix(host)};
    plan->from = va & ~(BDY_PAGE - 1);
    plan->end = (va + bytes + BDY_PAGE - 1) & ~(BDY_PAGE - 1);
    const uint64_t size = frame_size(plan->from, plan->end);
    int err = 0;
    for (uint64_t block = plan->from & ~(size - 1); !err && block < plan->end; block += size)
        err = add_block(plan, block, size);
    if (err)
        free(plan->frames);
    return err;
}

/** A live mapping. */
struct mapping {
    struct bdy_aspace *as;
    uint64_t bytes;
    size_t count;
    struct bdy_iommu_range ranges[];
};

/** Give frame `i` its place on the bus; only its whole pages inside the mapping translate. */
static void enter_frame(struct bdy_host *host, const struct plan *plan, struct mapping *map,
                        size_t i, unsigned dir)
{
    struct bdy_dma_page *frame = &plan->frames[i];
    struct bdy_iommu_range *range = &map->ranges[i];
    const uint64_t va = frame->bus, end = va + frame->bytes;
    range->va = va < plan->from ? plan->from : va;
    range->bytes = (end > plan->end ? plan->end : end) - range->va;
    range->dir = dir;
    range->as = map->as;
    bdy_iommu_enter(&host->mmu, range, frame->bytes, frame->bytes, range->va - va);
    frame->bus = range->block;
}

int bdy_dma_map(struct bdy_pci *pci, struct bdy_aspace *as, uint64_t va, uint64_t bytes,
                unsigned dir, struct bdy_dma_map *out)
{
    struct bdy_host *host = bdy_host_of(pci);
    memset(out, 0, sizeof(*out));
    if (!as || bytes == 0 || dir == 0 || (dir & ~(BDY_DMA_TO_DEVICE | BDY_DMA_FROM_DEVICE)))
        return -EINVAL;
    if (va + bytes < va || va + bytes > BDY_BUS_BIT)
        return -EFAULT;
    /* Whoever cannot be reached has nothing mapped; each call is a batch of its own. */
    if (bdy_aspace_check(as, ++host->mem.batch) != 0)
        return -EFAULT;
    int err = as->ops->populate(as->arg, va, bytes, dir);
    if (err)
        return err;
    struct plan plan;
    err = make_plan(host, va, bytes, &plan);
    if (err)
        return err;
    struct mapping *map = calloc(1, sizeof(*map) + plan.count * sizeof(map->ranges[0]));
    if (!map) {
        free(plan.frames);
        return -ENOMEM;
    }
    map->as = as;
    map->bytes = bytes;
    map->count = plan.count;
    bdy_aspace_get(as);
    out->offset = va - plan.frames[0].bus;
    for (size_t i = 0; i < plan.count; i++)
        enter_frame(host, &plan, map, i, dir);
    out->pages = plan.frames;
    out->npages = plan.count;
    out->priv = map;
    host->stats.mappings++;
    host->stats.mapped_bytes += bytes;
    return 0;
}

void bdy_dma_unmap(struct bdy_pci *pci, struct bdy_dma_map *out)
{
    struct bdy_host *host = bdy_host_of(pci);
    struct mapping *map = out->priv;
    if (!map)
        return;
    for (size_t i = 0; i < map->count; i++)
        bdy_iommu_remove(&host->mmu, &map->ranges[i]);
    host->stats.mappings--;
    host->stats.mapped_bytes -= map->bytes;
    bdy_aspace_put(map->as);
    free(map);
    free(out->pages);
    memset(out, 0, sizeof(*out));
}
