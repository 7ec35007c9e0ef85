// SPDX-License-Identifier: Apache-2.0
/**
 * @file device.h  Seam S3: all that a model of a device must offer to the root complex.
 *
 * The host calls down through `struct bdy_dev_ops`; the device calls up through `struct bdy_dev_up`, only from inside `run`.
 * Time is the device's clock cycle. All functions return 0 or a negative errno; none lets an exception, abort or exit out.
 * DMA is split: a request goes up, its completion comes down at a cycle that the host chooses. Reads sample host memory, and
 * writes become visible, at their completion. Nothing else carries time.
 */
#ifndef BINDERY_DEVICE_H
#define BINDERY_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BDY_DEV_ABI 1u

enum bdy_dma_kind { BDY_DMA_READ = 0, BDY_DMA_WRITE = 1 };
enum bdy_dma_status { BDY_DMA_OK = 0, BDY_DMA_ERROR = 1 };

/** A DMA request. A write carries `data` (and `strobe`, one bit a byte, NULL: all); a read expects `bytes` back. At most 4096
 *  bytes and never across a 4 KiB line. `tag` is unique among the outstanding requests of its kind. */
struct bdy_dma_req {
    uint32_t tag;
    enum bdy_dma_kind kind;
    uint64_t bus;
    uint32_t bytes;
    const uint8_t *data;
    const uint8_t *strobe;
};

/** A trace port event: `kind` is enum bdy_trc_kind; words are that kind's layout (regs/gen). Valid during the call. */
struct bdy_trace {
    uint64_t cycle;
    uint32_t kind;
    uint32_t nwords;
    const uint64_t *words;
};

struct bdy_dev_up {
    void (*dma_req)(void *arg, const struct bdy_dma_req *req);
    void (*msix)(void *arg, uint64_t address, uint32_t data);
    void (*trace)(void *arg, const struct bdy_trace *ev); /**< NULL: no trace wanted */
    /** A message of the model (an assertion, a $fatal, garbage on a port); the device is dead when `fatal`. */
    void (*message)(void *arg, int fatal, const char *text);
};

struct bdy_dev_cfg {
    uint64_t seed;         /**< for whatever the model draws (X values, delays) */
    const char *wave_path; /**< FST file, or NULL */
};

/** Why `run` came back. */
enum bdy_dev_stop {
    BDY_STOP_UNTIL = 0, /**< cycle `until` reached */
    BDY_STOP_IDLE = 1,  /**< nothing to do but timers: see bdy_dev_status.next_timer */
    BDY_STOP_UPCALL = 2, /**< after a cycle with a dma_req or msix up-call */
    BDY_STOP_DEAD = 3,
};

struct bdy_dev_status {
    uint64_t now;        /**< cycle counter */
    uint64_t next_timer; /**< cycle of the next timer, UINT64_MAX: none */
    int idle;            /**< nothing is in flight inside the device and no request is outstanding */
    int dead;
};

struct bdy_dev;

struct bdy_dev_ops {
    uint32_t abi; /**< BDY_DEV_ABI */
    const char *name;

    int (*create)(const struct bdy_dev_cfg *cfg, const struct bdy_dev_up *up, void *up_arg, struct bdy_dev **out);
    void (*destroy)(struct bdy_dev *dev);

    /** Load a firmware image and release reset. NULL image: -ENOENT. Bad magic, ABI version, length or CRC-32: -EBADMSG.
     *  Image: u32 magic (FW_MAGIC), u32 abi, u32 payload bytes, u32 CRC-32 (IEEE) of the payload, payload; little-endian. */
    int (*boot)(struct bdy_dev *dev, const void *image, size_t bytes);

    /** Posted write: taken in order at the device's pace. -ENOSPC when 64 are waiting (run, then try again). -EINVAL offset. */
    int (*mmio_write)(struct bdy_dev *dev, uint32_t offset, uint64_t value);
    /** Start a read behind all earlier writes; the value is there once mmio_read_done says 1. One at a time: -EBUSY. */
    int (*mmio_read)(struct bdy_dev *dev, uint32_t offset);
    int (*mmio_read_done)(struct bdy_dev *dev, uint64_t *value); /**< 1 done, 0 not yet, -EIO error response */

    /** Complete an outstanding request. Read data is copied before return. -ENOENT: no such tag. */
    int (*dma_cpl)(struct bdy_dev *dev, enum bdy_dma_kind kind, uint32_t tag, enum bdy_dma_status status, const void *data,
                   uint32_t bytes);

    /** Run to cycle `until`, or to idle, or (stop_on_upcall) to the end of the first cycle with a dma_req or msix up-call. */
    int (*run)(struct bdy_dev *dev, uint64_t until, int stop_on_upcall, enum bdy_dev_stop *why);
    /** Jump the cycle counter while idle; to <= next_timer. -EBUSY when not idle, -EINVAL backwards. */
    int (*skip)(struct bdy_dev *dev, uint64_t to);
    void (*status)(struct bdy_dev *dev, struct bdy_dev_status *out);
    /** Start (path) or stop (NULL) waves. -ENOSYS: the model has none. */
    int (*wave)(struct bdy_dev *dev, const char *path);
};

#ifdef __cplusplus
}
#endif
#endif
