// SPDX-License-Identifier: Apache-2.0
/** @file internal.h  The host, shared by its own files: engine (time), memory (DMA requests), dma
 * (mappings), pci (S1). */
#ifndef BDY_SIM_HOST_INTERNAL_H
#define BDY_SIM_HOST_INTERNAL_H

#include "bdy_regs.h"
#include "sim/host/aspace.h"
#include "sim/host/host.h"
#include "sim/host/iommu.h"
#include "sim/host/rand.h"

#define BDY_DMA_MAX 4096u

/** A DMA request between the device's asking and its completion. */
struct bdy_mem_req {
    uint64_t seq;
    uint64_t due; /**< cycle; 0: not yet drawn */
    enum bdy_dma_kind kind;
    uint32_t tag;
    uint64_t bus;
    uint32_t bytes;
    int has_strobe;
    uint8_t strobe[BDY_DMA_MAX / 8];
    uint8_t data[BDY_DMA_MAX];
};

struct bdy_mem {
    struct bdy_mem_req **queue; /**< in order of issue */
    size_t count, room;
    struct bdy_mem_req **spare; /**< requests to use again, as many as queue has room for */
    size_t spares;
    uint64_t next_seq;
    uint64_t last_due, last_write_due;
    uint64_t batch; /**< counts rounds of completions, for bdy_aspace_check */
    uint64_t rng;
};

struct bdy_vector {
    bdy_irq_fn fn;
    void *arg;
    uint32_t data; /**< what msix_message gave out */
    int pending;
    uint64_t order; /**< of arrival among the pending */
    uint64_t after; /**< delivered once no write with a lower seq is outstanding */
};

struct bdy_host {
    struct bdy_pci pci; /**< first: S1 hands it back */
    struct bdy_host_cfg cfg;
    const struct bdy_dev_ops *ops;
    struct bdy_dev *dev;
    struct bdy_dev_status st; /**< as of the last step */
    struct bdy_iommu mmu;
    struct bdy_mem mem;
    struct bdy_vector vectors[BDY_MSIX_VECTORS];
    uint64_t msix_order;
    int in_handler;
    int oom; /**< an up-call found no memory: the device is given up */
    uint64_t start;
    struct bdy_host_stats stats;
};

/* engine.c */
/** Complete what is due and run to `limit` at most, to idle, or to the end of the cycle of an
 * up-call. 0 or -EIO. */
int bdy_engine_advance(struct bdy_host *host, uint64_t limit);
/** Nothing in the device, no request of it outstanding, no message held back. */
int bdy_engine_idle(const struct bdy_host *host);
/** Idle time up to `target`: jump, or run it through (no_skip). 0 or a negative errno. */
int bdy_engine_jump(struct bdy_host *host, uint64_t target);
/** Run the handlers of messages that may be delivered; returns how many ran. */
unsigned bdy_engine_dispatch(struct bdy_host *host);
void bdy_engine_msix(struct bdy_host *host, uint64_t address, uint32_t data);

/* memory.c */
int bdy_mem_request(struct bdy_host *host, const struct bdy_dma_req *req);
/** Draw the completion cycles of requests made in the cycle before `now`. */
void bdy_mem_stamp(struct bdy_host *host);
void bdy_mem_complete(struct bdy_host *host);
/** Cycle of the next completion, UINT64_MAX: none. */
uint64_t bdy_mem_next_due(const struct bdy_host *host);
/** Is a write with a lower seq outstanding? */
int bdy_mem_writes_before(const struct bdy_host *host, uint64_t seq);
void bdy_mem_free(struct bdy_host *host);

/* dma.c */
int bdy_dma_alloc(struct bdy_pci *pci, size_t bytes, struct bdy_dma_buf *out);
void bdy_dma_free(struct bdy_pci *pci, struct bdy_dma_buf *buf);
int bdy_dma_map(struct bdy_pci *pci, struct bdy_aspace *as, uint64_t va, uint64_t bytes,
                unsigned dir, struct bdy_dma_map *out);
void bdy_dma_unmap(struct bdy_pci *pci, struct bdy_dma_map *map);

/* pci.c */
extern const struct bdy_pci_ops bdy_host_pci_ops;
void bdy_pci_init(struct bdy_host *host);
/** Wait until STATE says READY or later. */
int bdy_pci_wait_ready(struct bdy_host *host);

/* host.c */
/** Log an event if anybody listens; the cycle is filled in here. */
void bdy_host_log(struct bdy_host *host, struct bdy_host_event ev);

static inline struct bdy_host *bdy_host_of(struct bdy_pci *pci)
{
    return (struct bdy_host *)pci;
}

#endif
