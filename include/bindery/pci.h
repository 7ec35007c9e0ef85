// SPDX-License-Identifier: Apache-2.0
/**
 * @file pci.h  Seam S1: all that a driver may know of the hardware's side of PCI Express.
 *
 * A `struct bdy_pci` is one PCI function with one BAR. The root complex of the simulator implements it (sim/host); VFIO or a
 * kernel could. All functions return 0 or a negative errno. None blocks but `wait`. One thread at a time uses a function.
 *
 * Bus addresses are not process addresses: they are handed out, scrambled, by the IOMMU.
 */
#ifndef BINDERY_PCI_H
#define BINDERY_PCI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BDY_PCI_ABI 1u

/** Opaque: whose memory a mapping names (a client process, or the caller's own). Made by the root complex. */
struct bdy_aspace;

/** Physically (bus-) contiguous memory shared by device, driver and, when `fd` is passed on, one client. */
struct bdy_dma_buf {
    void *cpu;      /**< the caller's mapping, zeroed at allocation */
    uint64_t bus;   /**< bus address, 4 KiB aligned, contiguous for `bytes` */
    size_t bytes;   /**< rounded up to 4 KiB */
    int fd;         /**< sealed memfd of the same memory, owned by the buffer (do not close), or -1 */
    void *priv;     /**< the root complex's own */
};

/** One mapped piece of user memory: `bytes` is a power of two >= 4096 and `bus` is aligned to it,
 *  except that all but the first and last page are whole. */
struct bdy_dma_page {
    uint64_t bus;
    uint64_t bytes;
};

/** User memory that the device may reach. Pages are in address order; the first byte lies `offset` bytes into pages[0]. */
struct bdy_dma_map {
    struct bdy_dma_page *pages; /**< owned by the map, freed by dma_unmap */
    size_t npages;
    uint64_t offset;
    void *priv;
};

#define BDY_DMA_TO_DEVICE 1u   /**< the device reads */
#define BDY_DMA_FROM_DEVICE 2u /**< the device writes: the range must be writable */

typedef void (*bdy_irq_fn)(void *arg, unsigned vector);

struct bdy_pci;

struct bdy_pci_ops {
    uint32_t abi; /**< BDY_PCI_ABI */

    /** Aligned 64-bit BAR access. A read is non-posted: it pushes earlier writes and waits (bounded) for the value.
     *  -EINVAL offset, -EIO dead device, -ETIMEDOUT. */
    int (*bar_read64)(struct bdy_pci *pci, uint32_t offset, uint64_t *value);
    int (*bar_write64)(struct bdy_pci *pci, uint32_t offset, uint64_t value);

    /** Allocate `bytes` of zeroed coherent memory. -ENOMEM. */
    int (*dma_alloc)(struct bdy_pci *pci, size_t bytes, struct bdy_dma_buf *out);
    void (*dma_free)(struct bdy_pci *pci, struct bdy_dma_buf *buf);

    /** Map [va, va+bytes) of `as` for `dir` (BDY_DMA_* or'ed). The range is populated: -EFAULT when unmapped, or read-only
     *  and FROM_DEVICE. -ENOMEM. bytes > 0. */
    int (*dma_map)(struct bdy_pci *pci, struct bdy_aspace *as, uint64_t va, uint64_t bytes, unsigned dir,
                   struct bdy_dma_map *out);
    /** Revoke: a transfer that comes later is a DMA error. */
    void (*dma_unmap)(struct bdy_pci *pci, struct bdy_dma_map *map);

    /** Handler for an MSI-X vector; called only from inside `wait` or bar_read64. fn NULL removes. The caller has programmed the
     *  MSI-X table with the address and data that `msix_message` gives. */
    int (*irq_set)(struct bdy_pci *pci, unsigned vector, bdy_irq_fn fn, void *arg);
    int (*msix_message)(struct bdy_pci *pci, unsigned vector, uint64_t *address, uint32_t *data);

    /** Let simulated time pass until an interrupt handler ran, or cycle `deadline` is reached.
     *  0 something happened, -ETIMEDOUT deadline, -EIO dead device. */
    int (*wait)(struct bdy_pci *pci, uint64_t deadline);
    /** The device's cycle counter as of now. */
    uint64_t (*now)(struct bdy_pci *pci);

    /** Function-level reset: as BAR CTRL.reset, and waits for the firmware to be READY again. */
    int (*reset)(struct bdy_pci *pci);
};

struct bdy_pci {
    const struct bdy_pci_ops *ops;
};

#ifdef __cplusplus
}
#endif
#endif
