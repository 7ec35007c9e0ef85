// SPDX-License-Identifier: Apache-2.0
/**
 * @file host.h  The root complex: host memory behind an IOMMU, PCIe ordering, MSI-X and time, over
 * any device of seam S3.
 *
 * It offers seam S1 (bindery/pci.h) to the driver. Nothing here is global: hosts in one process do
 * not know of each other. One thread at a time uses a host. All functions return 0 or a negative
 * errno unless they say otherwise.
 */
#ifndef BDY_SIM_HOST_H
#define BDY_SIM_HOST_H

#include "bindery/device.h"
#include "bindery/pci.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bdy_host;
struct bdy_dma_port;

/** In which order DMA requests complete. */
enum bdy_host_order {
    BDY_ORDER_RELAXED =
        0, /**< each at its own latency: reads and writes overtake each other freely (H8) */
    BDY_ORDER_PCIE = 1,   /**< writes in order, a read never before an earlier write; reads among
                             themselves freely */
    BDY_ORDER_STRICT = 2, /**< as issued */
};

enum bdy_host_event_kind {
    BDY_EV_MMIO_WRITE = 1, /**< address = BAR offset, value */
    BDY_EV_MMIO_READ = 2,  /**< address = BAR offset, value as returned */
    BDY_EV_DMA_READ = 3,   /**< address = bus, bytes, data as sampled */
    BDY_EV_DMA_WRITE = 4,  /**< address = bus, bytes, data as written */
    BDY_EV_MSIX = 5,       /**< address, value = data; status = vector or -ENOENT */
    BDY_EV_JUMP = 6,       /**< cycle jumped to; value = cycle jumped from (H19) */
    BDY_EV_FAULT =
        7, /**< a DMA was refused: address = bus, bytes, value = enum bdy_dma_kind, status = why */
    BDY_EV_MESSAGE = 8, /**< text of the device; status = 1 when it died of it */
};

/** Valid during the call. */
struct bdy_host_event {
    uint64_t cycle;
    enum bdy_host_event_kind kind;
    uint64_t address;
    uint64_t value;
    uint32_t bytes;
    int status;
    const void *data;
    const char *text;
};

struct bdy_host_cfg {
    uint64_t seed;    /**< latencies, bus addresses, page sizes; also given to the device */
    uint32_t lat_min; /**< cycles from a DMA request to its completion; 1 = the next cycle */
    uint32_t lat_max; /**< drawn evenly from [lat_min, lat_max] */
    enum bdy_host_order order;
    uint32_t share_4k;    /**< of 1000 mappings: all frames 4 KiB (H25) */
    uint32_t share_mixed; /**< of 1000 mappings: frames of mixed sizes */
    int no_skip; /**< run idle cycles one by one instead of jumping; slow, and must change nothing
                    (H19) */
    double pace; /**< a jump takes wall time / pace at the nominal clock; 0: none */
    /** How a paced jump waits: for at most `ns`, less when the host has something to do; returns
     * the time waited. NULL: sleep. */
    uint64_t (*pace_wait)(void *arg, uint64_t ns);
    uint64_t mmio_timeout; /**< cycles after which an unanswered BAR access is -ETIMEDOUT */
    const char *wave_path; /**< waves from the first cycle on, or NULL */
    void (*log)(void *arg, const struct bdy_host_event *ev); /**< NULL: none */
    void (*trace)(void *arg, const struct bdy_trace *ev);    /**< trace port; NULL: none */
    int trace_hash; /**< keep bdy_host_stats.trace_hash even without `trace` */
    void *arg;      /**< of pace_wait, log and trace */
};

/** Sensible values: next-cycle memory, relaxed order, a third of the mappings in each page mix, no
 * pace. */
void bdy_host_cfg_init(struct bdy_host_cfg *cfg);

struct bdy_host_stats {
    uint64_t cycles_run, cycles_skipped, jumps;
    uint64_t mmio_reads, mmio_writes;
    uint64_t dma_reads, dma_writes, dma_read_bytes, dma_write_bytes;
    uint64_t dma_errors; /**< transfers refused, whatever the reason */
    uint64_t msix, msix_spurious, messages;
    uint64_t mappings, mapped_bytes;   /**< alive now; dma_map only */
    uint64_t trace_events, trace_hash; /**< hash over cycle, kind and words of every event */
};

/** -ENOMEM, -EINVAL (configuration), or what the device's create says. `dev` must outlive the host.
 */
int bdy_host_create(const struct bdy_host_cfg *cfg, const struct bdy_dev_ops *dev,
                    struct bdy_host **out);
/** Mappings, buffers and address spaces must have been given back. */
void bdy_host_destroy(struct bdy_host *host);

/** Boot the firmware and run until the device is READY. -ENOENT, -EBADMSG (image), -ETIMEDOUT,
 * -EIO. */
int bdy_host_boot(struct bdy_host *host, const void *image, size_t bytes);

struct bdy_pci *bdy_host_pci(struct bdy_host *host);

enum bdy_host_why {
    BDY_HOST_BUDGET = 0, /**< max_cycles have passed */
    BDY_HOST_IDLE = 1,   /**< nothing to do before bdy_dev_status.next_timer */
    BDY_HOST_DEAD = 2,
};

/** For an event loop: run for at most `max_cycles` at full speed, delivering interrupts; never
 * jumps. */
int bdy_host_run(struct bdy_host *host, uint64_t max_cycles, enum bdy_host_why *why);
/** For an event loop: jump an idle device to `to`, or to its next timer if that is earlier. -EBUSY:
 * not idle. */
int bdy_host_skip(struct bdy_host *host, uint64_t to);
void bdy_host_status(struct bdy_host *host, struct bdy_dev_status *out);
void bdy_host_stats(const struct bdy_host *host, struct bdy_host_stats *out);
/** Start (path) or stop (NULL) waves. */
int bdy_host_wave(struct bdy_host *host, const char *path);

/** How the memory of an address space is reached. 0, -EFAULT (unmapped, read-only), -ESRCH (gone
 * for good). */
struct bdy_aspace_ops {
    /** Called before the first access of a batch: is it still the memory it was? NULL: always. */
    int (*check)(void *arg);
    int (*read)(void *arg, uint64_t va, void *to, size_t bytes);
    /** Ascending; the last 8 bytes become visible last (H16). */
    int (*write)(void *arg, uint64_t va, const void *from, size_t bytes);
    /** Bring the range in and check that it may be used for `dir` (BDY_DMA_*), changing nothing. */
    int (*populate)(void *arg, uint64_t va, uint64_t bytes, unsigned dir);
    void (*destroy)(void *arg); /**< NULL: nothing */
};

/** The caller's own memory. NULL: out of memory. */
struct bdy_aspace *bdy_host_aspace_self(struct bdy_host *host);
/** Another process, reached by process_vm_readv/writev (H22). `pidfd` is duplicated; -1: none.
 * `cookie`: 16 bytes that stand at `cookie_va` in that process as long as it is the one meant
 * (H21). NULL: out of memory or descriptors. */
struct bdy_aspace *bdy_host_aspace_pid(struct bdy_host *host, pid_t pid, int pidfd,
                                       uint64_t cookie_va, const uint8_t cookie[16]);
/** Memory that somebody else reaches for us (a DMA thread in the client). `ops` must outlive it. */
struct bdy_aspace *bdy_host_aspace_ops(struct bdy_host *host, const struct bdy_aspace_ops *ops,
                                       void *arg);
/** Memory that a thread in its process serves through `port` (bindery/uctx.h, H22), which must
 * outlive it. `pidfd` and `sock` (duplicated; -1: none) tell of that process's end. An answer may
 * take `wait_ms`; after that the transfer is an error, and so is each further one until the thread
 * has caught up. NULL: out of memory or descriptors. */
struct bdy_aspace *bdy_host_aspace_served(struct bdy_host *host, struct bdy_dma_port *port,
                                          int pidfd, int sock, unsigned wait_ms);
/** Can it be reached now? 0, -EPERM (the kernel refuses, as under a stricter ptrace policy: H22),
 * -ESRCH. */
int bdy_host_aspace_probe(struct bdy_aspace *as);
/** From now on every DMA to it fails; mappings of it remain to be unmapped. NULL is fine. */
void bdy_host_aspace_free(struct bdy_host *host, struct bdy_aspace *as);

#ifdef __cplusplus
}
#endif
#endif
