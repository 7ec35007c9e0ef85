// SPDX-License-Identifier: Apache-2.0
/**
 * @file uctx.h  Seam S2: control verbs as plain structs, UAR doorbells and shared rings; what a kernel's uverbs would carry.
 *
 * A user context owns objects, one UAR page and an asynchronous event channel. `driver/core` serves the calls; the provider
 * (driver/verbs) makes them through a `struct bdy_transport` and knows nothing of how they travel. Two transports exist: direct
 * (same process, tests) and a Unix SOCK_SEQPACKET socket (sim/client to the launcher) whose frames are described at the end.
 * All structs are fixed-size, little-endian, without pointers; unknown flags and non-zero reserved fields are refused (EINVAL).
 * Statuses are 0 or a negative errno.
 */
#ifndef BINDERY_UCTX_H
#define BINDERY_UCTX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BDY_UCTX_ABI 1u

enum bdy_uctx_op {
    BDY_U_OPEN = 1,            /**< in: bdy_u_open_in; out: bdy_u_open_out; fds: see transports */
    BDY_U_QUERY_DEVICE = 2,    /**< out: bdy_u_device_attr */
    BDY_U_QUERY_PORT = 3,      /**< out: bdy_u_port_attr */
    BDY_U_ALLOC_PD = 4,        /**< out: bdy_u_handle {handle} */
    BDY_U_DEALLOC_PD = 5,      /**< in: bdy_u_handle */
    BDY_U_REG_MR = 6,          /**< in: bdy_u_reg_mr_in; out: bdy_u_key_out */
    BDY_U_DEREG_MR = 7,        /**< in: bdy_u_handle; -EBUSY with bound windows (L3) */
    BDY_U_ALLOC_MW = 8,        /**< in: bdy_u_alloc_mw_in; out: bdy_u_key_out */
    BDY_U_DEALLOC_MW = 9,      /**< in: bdy_u_handle */
    BDY_U_QUERY_MW = 10,       /**< in: bdy_u_handle; out: bdy_u_key_out (present R_Key, H12) */
    BDY_U_CREATE_CHANNEL = 11, /**< completion channel; out: bdy_u_handle; one fd */
    BDY_U_DESTROY_CHANNEL = 12,
    BDY_U_CREATE_CQ = 13,      /**< in: bdy_u_create_cq_in; out: bdy_u_create_cq_out; rings: [0] CQ, [1] consumer index record */
    BDY_U_DESTROY_CQ = 14,     /**< -EBUSY with queue pairs (N2) */
    BDY_U_CREATE_QP = 15,      /**< in: bdy_u_create_qp_in; out: bdy_u_create_qp_out; rings: [0] SQ, [1] RQ */
    BDY_U_MODIFY_QP = 16,      /**< in: bdy_u_modify_qp_in */
    BDY_U_QUERY_QP = 17,       /**< in: bdy_u_handle; out: bdy_u_qp_attr */
    BDY_U_DESTROY_QP = 18,
    BDY_U_QUERY_CLOCK = 19,    /**< out: bdy_u_clock */
    BDY_U_REREG_MR = 20,       /**< in: bdy_u_rereg_mr_in; out: bdy_u_key_out; -EBUSY with bound windows: nothing changed (L10) */
    BDY_U_ALLOC_NULL_MR = 21,  /**< in: bdy_u_handle {PD}; out: bdy_u_key_out; freed by DEREG_MR */
    BDY_U_RESIZE_CQ = 22,      /**< in: bdy_u_resize_cq_in; out: bdy_u_create_cq_out; rings: [0] the new CQ (C2). The old ring may be read until the next resize */
    BDY_U_CREATE_SRQ = 23,     /**< in: bdy_u_create_srq_in; out: bdy_u_create_srq_out; rings: [0] SRQ */
    BDY_U_MODIFY_SRQ = 24,     /**< in: bdy_u_srq_attr */
    BDY_U_QUERY_SRQ = 25,      /**< in: bdy_u_handle; out: bdy_u_srq_attr */
    BDY_U_DESTROY_SRQ = 26,    /**< -EBUSY with queue pairs (N2) */
    BDY_U_CREATE_AH = 27,      /**< in: bdy_u_create_ah_in; out: bdy_u_create_ah_out */
    BDY_U_DESTROY_AH = 28,     /**< in: bdy_u_handle */
    BDY_U_OPEN_XRCD = 29,      /**< in: bdy_u_open_xrcd_in, and *fd: a descriptor passed along or -1; out: bdy_u_handle (H18) */
    BDY_U_CLOSE_XRCD = 30,     /**< in: bdy_u_handle; -EBUSY while this context has SRQs or QPs in it (N2) */
    BDY_U_OPEN_QP = 31,        /**< in: bdy_u_open_qp_in; out: bdy_u_create_qp_out (handle, qpn): a second owner of an XRC_RECV QP */
};

struct bdy_u_handle { uint32_t handle, rsvd; };

struct bdy_u_open_in { uint32_t abi, rsvd; uint64_t cookie_va; /**< 16-byte cookie in the client's memory (H21); 0 direct */
                       uint8_t cookie[16]; };
struct bdy_u_open_out { uint32_t uar, core_clock_khz; uint64_t device_id; /**< distinguishes HCAs in one process */ };

struct bdy_u_device_attr {
    char fw_ver[32];
    uint64_t node_guid, sys_image_guid; /**< big-endian bytes in memory, as ibv_device_attr has them */
    uint64_t max_mr_size, page_size_cap;
    uint32_t vendor_id, vendor_part_id, hw_ver;
    uint32_t max_qp, max_qp_wr, device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_mw;
    uint32_t max_qp_rd_atom, max_res_rd_atom, max_qp_init_rd_atom;
    uint32_t atomic_cap; /**< enum ibv_atomic_cap */
    uint32_t max_srq, max_srq_wr, max_srq_sge, max_pkeys, local_ca_ack_delay, max_ah, phys_port_cnt;
    uint32_t max_inline, strict_ibta, max_xrcd;
};

struct bdy_u_port_attr {
    uint32_t state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
    uint16_t pkey_tbl_len, lid, sm_lid, rsvd0;
    uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state, link_layer, rsvd[7];
    uint8_t gid[3][16];
};

struct bdy_u_reg_mr_in { uint64_t va, bytes, iova; uint32_t pd, access; /**< ibv_access_flags */ };
struct bdy_u_key_out { uint32_t handle, key; uint32_t st /**< enum bdy_mpt_st, QUERY_MW */, rsvd; };
struct bdy_u_alloc_mw_in { uint32_t pd, type; };

/** `flags`: IBV_REREG_MR_CHANGE_*; what is not flagged is ignored and stays (M7). */
struct bdy_u_rereg_mr_in { uint64_t va, bytes, iova; uint32_t handle, flags, pd, access; };

struct bdy_u_create_cq_in { uint64_t user_handle; /**< comes back in events */ uint32_t cqe, channel /**< handle or 0 */, vector, rsvd; };
struct bdy_u_create_cq_out { uint32_t handle, cqn, cqe /**< ring's entries, power of two; one is for the RESIZE mark */, rsvd; };
struct bdy_u_resize_cq_in { uint32_t handle, cqe; };

/** Ring of receive WQEs; rwqe.cookie names a request, because requests of a shared queue end in any order. */
struct bdy_u_create_srq_in {
    uint64_t user_handle; /**< comes back in events */
    uint32_t pd, type /**< enum ibv_srq_type: BASIC or XRC */, xrcd, cq /**< XRC only */;
    uint32_t max_wr, max_sge, limit, rsvd;
};
struct bdy_u_create_srq_out { uint32_t handle, srqn, log_size, log_stride, max_wr, max_sge; };
struct bdy_u_srq_attr { uint32_t handle, mask /**< enum ibv_srq_attr_mask */, max_wr, max_sge, limit, rsvd; };

/** As ibv_ah_attr, flattened. */
struct bdy_u_create_ah_in {
    uint32_t pd;
    uint16_t dlid;
    uint8_t sl, src_path_bits, static_rate, is_global, port_num, sgid_index, hop_limit, tclass;
    uint32_t flow_label;
    uint8_t dgid[16];
};
struct bdy_u_create_ah_out { uint32_t handle, ahn; };

struct bdy_u_open_xrcd_in { uint32_t oflags /**< 0, O_CREAT, O_CREAT | O_EXCL */, has_fd; };
struct bdy_u_open_qp_in { uint64_t user_handle; uint32_t xrcd, qpn; };

struct bdy_u_create_qp_in {
    uint64_t user_handle;
    uint32_t pd, scq, rcq, qp_type /**< enum ibv_qp_type */, sig_all;
    uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
    uint32_t srq;  /**< handle or 0 */
    uint32_t xrcd; /**< XRC_RECV: handle; that type has no pd, scq, rcq (0) */
    uint32_t rsvd;
};
struct bdy_u_create_qp_out {
    uint32_t handle, qpn;
    uint32_t sq_log; /**< log2 of the send ring in 64-byte slots */
    uint32_t rq_log, rq_log_stride; /**< log2 WQEs; log2 of stride / 64 */
    uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
};

/** As ibv_qp_attr, flattened; `mask` has ibv_qp_attr_mask's bits. */
struct bdy_u_qp_attr {
    uint32_t handle, mask;
    uint32_t qp_state, cur_qp_state, path_mtu, qkey, rq_psn, sq_psn, dest_qp_num, access;
    uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline; /**< query only */
    uint16_t pkey_index, dlid;
    uint8_t max_rd_atomic, max_dest_rd_atomic, min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, en_sqd_async;
    uint8_t dgid[16];
    uint32_t flow_label;
    uint8_t is_global, sgid_index, hop_limit, tclass, sl, src_path_bits, static_rate, sq_draining;
    uint32_t sig_all, qp_type; /**< query only */
};
#define bdy_u_modify_qp_in bdy_u_qp_attr

struct bdy_u_clock { uint64_t cycle; };

/** An asynchronous or completion event, as the core hands it to a transport. */
struct bdy_u_event {
    uint64_t user_handle; /**< of the CQ, QP or SRQ; 0 for port and device events */
    uint32_t type;        /**< enum ibv_event_type, or BDY_U_EV_COMP */
    uint32_t channel;     /**< BDY_U_EV_COMP: the channel's handle */
};
#define BDY_U_EV_COMP 0x10000u

/** A ring handed to the client: mapped by the transport before `call` returns, unmapped by `unmap`. */
struct bdy_u_ring { void *addr; size_t bytes; };

/** What the provider calls (H27). `call` returns 0 or -errno of the verb, or of the transport (-EIO: the HCA is gone). */
struct bdy_transport;
struct bdy_transport_ops {
    int (*call)(struct bdy_transport *t, uint32_t op, const void *in, size_t in_len, void *out, size_t out_len,
                struct bdy_u_ring *rings, unsigned nrings, int *fd /**< CREATE_CHANNEL: out, the channel's fd, caller owns; OPEN_XRCD: in */);
    void (*unmap)(struct bdy_transport *t, struct bdy_u_ring *ring);
    /** Write a 64-bit doorbell at `offset` of this context's UAR page; in order; waits when full. -EIO: gone. Thread-safe. */
    int (*doorbell)(struct bdy_transport *t, uint32_t offset, uint64_t value);
    /** Called after an empty poll: gives the CPU to the HCA, returns after progress or a bounded time (H26). -EIO: gone. */
    int (*relax)(struct bdy_transport *t);
    int (*async_fd)(struct bdy_transport *t); /**< SEQPACKET, 16 bytes an event {u64 user_handle, u32 type, u32 0}; caller dups */
    void (*close)(struct bdy_transport *t);   /**< frees everything the context owned */
};
struct bdy_transport { const struct bdy_transport_ops *ops; };

/* ------------------------------------------------------------------ socket transport frames
 * SOCK_SEQPACKET at the path in BINDERY_SOCKET. Request: struct bdy_s_req then `in`. Reply: struct bdy_s_rep then `out`, with fds
 * (SCM_RIGHTS): OPEN: [0] memfd of struct bdy_dbq, [1] eventfd that wakes the launcher, [2] async event socket, and where the
 * launcher cannot reach the client's memory itself [3] memfd of struct bdy_dma_port, which a thread of the client serves (H22); CREATE_CHANNEL:
 * [0] channel socket; CREATE_CQ, CREATE_QP: the rings' memfds. A channel socket carries 8 bytes (the CQ's user_handle) an event. */
#define BDY_S_MAX 4096u
struct bdy_s_req { uint32_t op, seq, in_len, db_tail; /**< doorbells up to here are delivered first (H23) */ };
struct bdy_s_rep { int32_t status; uint32_t seq, out_len, nfds; uint64_t ring_bytes[2]; };

#define BDY_DBQ_ENTRIES 1024u
/** Doorbell queue and progress words, shared by client (producer) and launcher (consumer). Each side reads a field once and checks. */
struct bdy_dbq {
    uint32_t tail;      /**< written by the client, release */
    uint32_t rsvd0[15];
    uint32_t head;      /**< written by the launcher, release */
    uint32_t asleep;    /**< launcher: write the eventfd after moving tail */
    uint32_t progress;  /**< launcher: counts deliveries to this context; futex word */
    uint32_t dead;      /**< launcher: the HCA is gone */
    uint32_t waiters;   /**< client: threads in futex wait on `progress` */
    uint32_t rsvd1[11];
    struct { uint32_t offset, rsvd; uint64_t value; } e[BDY_DBQ_ENTRIES];
};

#define BDY_DMA_PORT_BYTES 4096u
enum bdy_dma_port_op {
    BDY_DMA_PORT_READ = 1,     /**< `bytes` of the client's memory at `va` into `data` */
    BDY_DMA_PORT_WRITE = 2,    /**< `data` to `va`, ascending, the last 8 bytes last (H16) */
    BDY_DMA_PORT_POPULATE = 3, /**< bring [va, va + bytes) in and check its rights for `dir` (H25) */
};
enum bdy_dma_port_state {
    BDY_DMA_PORT_FREE = 0,    /**< no request */
    BDY_DMA_PORT_ASKED = 1,   /**< launcher: a request stands; it may still take it back */
    BDY_DMA_PORT_TAKEN = 2,   /**< client: at work on it */
    BDY_DMA_PORT_DONE = 3,    /**< client: `status` and `data` hold the answer */
};
/** One request at a time for memory of the client, made by the launcher and served by a thread of the client (H22). The side whose
 * turn it is by `state` owns the other fields; the launcher believes none of them after it has read them (H23). */
struct bdy_dma_port {
    uint32_t state;  /**< enum bdy_dma_port_state; futex word of both sides */
    uint32_t op, dir;
    int32_t status;  /**< 0 or a negative errno */
    uint64_t va, bytes;
    uint32_t rsvd[1016];
    uint8_t data[BDY_DMA_PORT_BYTES]; /**< page 1 */
};

#ifdef __cplusplus
}
#endif
#endif
