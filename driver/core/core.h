// SPDX-License-Identifier: Apache-2.0
/**
 * @file core.h  The kernel half of the driver: one device, many user contexts.
 *
 * The core knows the device only through S1 (bindery/pci.h) and serves S2 (bindery/uctx.h). It has
 * no global state: any number of cores may live in one process. One thread at a time calls into a
 * core. Calls may let simulated time pass (pci wait), and interrupts are handled inside that; the
 * event call-back runs there and must not call into the core.
 *
 * All functions return 0 or a negative errno unless said otherwise.
 */
#ifndef BDY_CORE_H
#define BDY_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "bindery/pci.h"
#include "bindery/uctx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bdy_core;
struct bdy_uctx;

struct bdy_core_cfg {
    uint64_t seed_lo, seed_hi; /**< of key indices, nonces and first key bytes (H10) */
    uint64_t guid;             /**< node GUID as a number; 0: made from the seed */
    uint64_t device_id;        /**< tells HCAs of one process apart (bdy_u_open_out); 0: the GUID */
    uint64_t tbl_delay;        /**< BAR register TBL_DELAY, as it is */
    uint64_t link_fault;       /**< BAR register LINK_FAULT, as it is */
    uint64_t cmd_cycles;       /**< longest wait for a command in cycles; 0: 20 million */
    uint16_t nak_delay;        /**< BAR register NAK_DELAY (H9); 0: as after reset */
    uint16_t lid;              /**< 1 to 0xbfff */
    uint8_t strict_ibta;       /**< refuse zero-based type 1 windows (decision 27) */
    uint8_t comp_vectors;      /**< event queues for completions, 1 to 7; 0: 1 */
    uint8_t eth;               /**< link layer: 0 InfiniBand, 1 Ethernet (RoCEv2) */
    uint32_t
        viol_limit; /**< refused remote keys after which a queue pair raises an event; 0: never */
};

/** A completion or asynchronous event of a context. Called from inside a pci wait or BAR read: must
 * not call the core. */
typedef void (*bdy_core_event_fn)(void *arg, const struct bdy_u_event *event);

/**
 * Probe the device: reset, identity, MSI-X table, command queue, event queues, INIT_HCA.
 * -EINVAL cfg, -ENODEV not a Bindery or another ABI version, -ENOMEM, -EIO dead, -ETIMEDOUT no
 * answer.
 */
int bdy_core_open(struct bdy_pci *pci, const struct bdy_core_cfg *cfg, struct bdy_core **out);

/** Close every context that is left, tear the device down, free all. A dead device is no hindrance.
 */
void bdy_core_close(struct bdy_core *core);

/** 1 once the device has failed; every call but the closing ones then gives -EIO. */
int bdy_core_dead(const struct bdy_core *core);

/**
 * Serve BDY_U_OPEN: a new context with a UAR page of its own. `as` is whose memory its regions
 * name; it must outlive the context. -EINVAL abi or reserved field, -ENOSPC no UAR page left,
 * -ENOMEM, -EIO.
 */
int bdy_core_uctx_open(struct bdy_core *core, struct bdy_aspace *as, bdy_core_event_fn event,
                       void *arg, const struct bdy_u_open_in *in, struct bdy_u_open_out *out,
                       struct bdy_uctx **uctx);

/** Destroy all that the context owns, and the context. This is also what to do when its process has
 * died (H5). */
void bdy_core_uctx_close(struct bdy_uctx *uctx);

/**
 * Serve one S2 call. `in_len` and `out_len` must be what uctx.h says for `op`. `rings` gets the
 * buffers that the caller shall share with the client (CREATE_CQ, RESIZE_CQ, CREATE_QP,
 * CREATE_SRQ), else NULLs; they belong to the object and live until it is destroyed. -EOPNOTSUPP
 * unknown op or a kind of object that the device lacks, -ENOENT unknown, freed or foreign handle on
 * destroy and dealloc, -EINVAL elsewhere (N1), -EBUSY still in use (N2, L3), -ENOMEM a table is
 * full (N3), -EFAULT memory to register is not there (H25), -EIO dead device.
 */
int bdy_core_call(struct bdy_uctx *uctx, uint32_t op, const void *in, size_t in_len, void *out,
                  size_t out_len, struct bdy_dma_buf *rings[2]);

/**
 * BDY_U_OPEN_XRCD with a descriptor: `dev` and `ino` say which file it is of, and so which domain
 * (H18). -EINVAL flags, or there is one and a new one was asked for; -EAGAIN there is none and
 * creation was not asked for. bdy_core_call serves the call without a descriptor: a domain that
 * nobody else can open.
 */
int bdy_core_open_xrcd(struct bdy_uctx *uctx, const struct bdy_u_open_xrcd_in *in, uint64_t dev,
                       uint64_t ino, struct bdy_u_handle *out);

/** Write a doorbell of the context's UAR page: `offset` within the page, 8-byte aligned, else
 * -EINVAL. -EIO. */
int bdy_core_doorbell(struct bdy_uctx *uctx, uint32_t offset, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
