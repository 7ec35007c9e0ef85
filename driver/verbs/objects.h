// SPDX-License-Identifier: Apache-2.0
/**
 * @file objects.h  The provider's objects and what its files share.
 *
 * Locks, in the order in which they may be taken: a queue pair's sq, then its rq, then a CQ, then a
 * context's tables, then a window. The event lock (events.c) is taken alone.
 */
#ifndef BDY_OBJECTS_H
#define BDY_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "bindery/uctx.h"
#include "provider_abi.h"

#define BDY_BUCKETS 256u
/** ibv_wc.vendor_err of a bind or invalidate that took effect although its status says otherwise
 * (H12). */
#define BDY_VENDOR_EXECUTED 0x80000000u
/** Doorbells in a UAR page (db_wq, db_wq, db_cq). */
enum { BDY_UAR_SQ = 0x000, BDY_UAR_RQ = 0x008, BDY_UAR_CQ = 0x010 };

/** A stream of events from the HCA: the asynchronous one of a context, or a completion channel. */
struct bdy_stream {
    struct bdy_stream *next;
    struct bdy_ctx *ctx;
    uint32_t handle; /**< channel; 0: asynchronous events */
    int fd;
    int ended; /**< the HCA's death was told */
};

struct bdy_ctx {
    struct verbs_context vctx;
    struct bdy_transport *t;
    uint32_t *alive; /**< a page that is wiped on fork: zero in a child (H21) */
    atomic_int dead; /**< the HCA is gone (H24) */
    int strict_ibta;
    int post_early; /**< decision 7: accept sends before RTS */

    pthread_mutex_t tables;
    struct bdy_qp *qps[BDY_BUCKETS]; /**< by number */
    struct bdy_mw *mws[BDY_BUCKETS]; /**< by key index */

    /* Under the event lock. */
    struct bdy_ctx *next;
    struct bdy_cq *live_cqs;
    struct bdy_qp *live_qps;
    struct bdy_stream async;
    struct bdy_stream *channels;
};

struct bdy_mw {
    struct ibv_mw ibv;
    struct bdy_mw *next; /**< in its bucket */
    uint32_t index;      /**< upper 24 bits of every key it has */
    pthread_mutex_t lock;
    uint32_t
        key; /**< R_Key after every bind posted so far; never read from ibv.rkey (decision 5) */
    uint32_t binds;    /**< binds posted so far */
    uint32_t resolved; /**< what the first so many of them did is known */
    int last_failed;   /**< the latest bind posted has completed in error */
    int unsure;        /**< ask the HCA before the next bind (H12) */
};

struct bdy_cq {
    struct prov_cq prov;
    struct bdy_cq *live_next;
    struct bdy_u_ring ring, record;
    pthread_mutex_t lock;
    uint64_t *entries;
    _Atomic uint32_t *consumer; /**< read by the HCA */
    uint32_t cqn, log, ci;
    unsigned empty; /**< polls in a row that found nothing */
    atomic_uint arm_seq;
    /* Events handed to the program, under the event lock. */
    uint32_t comp_reported, async_reported;
};

/** What the provider remembers of a work request, by the slot or index where it starts. */
struct bdy_wr {
    uint64_t wr_id;
    uint32_t number; /**< how many were posted to this queue before it */
    uint32_t bind;   /**< bind: how many were posted for its window before it */
    uint32_t window; /**< bind: key index */
    uint8_t slots;
    uint8_t op; /**< enum bdy_wqe_op */
};

/** A send queue (unit: 64-byte slots) or receive queue (unit: WQEs). Counters run freely; the ring
 * uses their low bits. */
struct bdy_wq {
    pthread_mutex_t lock;
    struct bdy_u_ring ring;
    uint64_t *words;
    struct bdy_wr *wrs;
    uint32_t units, unit_words;
    uint32_t max_wr, max_sge;
    _Atomic uint32_t tail; /**< next free unit; written under `lock` */
    _Atomic uint32_t head; /**< oldest unit not retired; written under the CQ's lock */
    uint32_t rung;         /**< tail as the HCA knows it */
    uint32_t posted;
    _Atomic uint32_t retired;
};

struct bdy_qp {
    struct prov_qp prov;
    struct bdy_qp *next; /**< in its bucket */
    struct bdy_qp *live_next;
    struct bdy_wq sq, rq;
    uint32_t max_inline;
    int sig_all;
    int state;               /**< enum ibv_qp_state as last set by the program; both queue locks */
    uint32_t async_reported; /**< under the event lock */
};

#define BDY_OF(type, member, pointer) ((type *)((char *)(pointer)-offsetof(type, member)))

static inline struct bdy_ctx *bdy_ctx_of(struct ibv_context *c)
{
    return BDY_OF(struct bdy_ctx, vctx.context, c);
}
static inline struct prov_mr *bdy_mr_of(struct ibv_mr *mr)
{
    return BDY_OF(struct prov_mr, ibv, mr);
}
static inline struct bdy_mw *bdy_mw_of(struct ibv_mw *mw)
{
    return BDY_OF(struct bdy_mw, ibv, mw);
}
static inline struct bdy_cq *bdy_cq_of(struct ibv_cq *cq)
{
    return BDY_OF(struct bdy_cq, prov.ibv, cq);
}
static inline struct bdy_qp *bdy_qp_of(struct ibv_qp *qp)
{
    return BDY_OF(struct bdy_qp, prov.ibv, qp);
}

/* device.c */
extern const struct prov_device_ops bdy_device_ops;
extern const struct prov_context_ops bdy_context_ops;

/* ctx.c */
struct verbs_context *bdy_alloc_context(struct ibv_device *device, int cmd_fd, void *private_data);
void bdy_free_context(struct ibv_context *context);
/** 0, EPERM in a forked child (H21), EIO when the HCA is gone (H24). */
int bdy_ctx_check(struct bdy_ctx *ctx);
/** A call without rings or descriptors: 0 or a positive errno. */
int bdy_ctx_call(struct bdy_ctx *ctx, uint32_t op, const void *in, size_t in_len, void *out,
                 size_t out_len);
int bdy_ctx_call_handle(struct bdy_ctx *ctx, uint32_t op, uint32_t handle);
/** A call that comes back with rings. */
int bdy_ctx_call_rings(struct bdy_ctx *ctx, uint32_t op, const void *in, size_t in_len, void *out,
                       size_t out_len, struct bdy_u_ring rings[2]);
void bdy_ctx_unmap(struct bdy_ctx *ctx, struct bdy_u_ring *ring);
/** 0 or a positive errno; a transport that is gone marks the context dead. */
int bdy_ctx_doorbell(struct bdy_ctx *ctx, uint32_t offset, uint64_t value);
int bdy_ctx_relax(struct bdy_ctx *ctx);

/* query.c */
int bdy_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t attr_size);
int bdy_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);
int bdy_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* table.c */
void bdy_table_add_qp(struct bdy_ctx *ctx, struct bdy_qp *qp);
void bdy_table_del_qp(struct bdy_ctx *ctx, struct bdy_qp *qp);
struct bdy_qp *bdy_table_find_qp(struct bdy_ctx *ctx, uint32_t qpn);
void bdy_table_add_mw(struct bdy_ctx *ctx, struct bdy_mw *mw);
void bdy_table_del_mw(struct bdy_ctx *ctx, struct bdy_mw *mw);
/** The window with this key index, its lock held, or NULL. */
struct bdy_mw *bdy_table_lock_mw(struct bdy_ctx *ctx, uint32_t index);

/* pd.c, mr.c */
struct ibv_pd *bdy_alloc_pd(struct ibv_context *context);
int bdy_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *bdy_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);
int bdy_dereg_mr(struct prov_mr *mr);

/* mw.c */
struct ibv_mw *bdy_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int bdy_dealloc_mw(struct ibv_mw *mw);
int bdy_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
/** Rules that a bind of any type must pass at post: 0 or a positive errno (P6-P8, P12). */
int bdy_bind_check(struct bdy_ctx *ctx, const struct ibv_mw *mw,
                   const struct ibv_mw_bind_info *info, unsigned send_flags);
/** Lock the window and make sure of its present key. On success the lock is held. */
int bdy_mw_begin_bind(struct bdy_ctx *ctx, struct bdy_mw *mw);
/** Move to the new key, count the bind, unlock; returns the bind's number. */
uint32_t bdy_mw_end_bind(struct bdy_mw *mw, uint32_t new_key);
/** What the program shall see in mw->rkey. */
void bdy_mw_show_key(struct bdy_mw *mw, uint32_t rkey);
/** A bind has completed: number among the window's binds, whether in error, and the key the CQE
 * tells (H12). */
void bdy_mw_completed(struct bdy_ctx *ctx, const struct bdy_wr *wr, int failed,
                      uint32_t present_key);
/** A bind's completion is lost (H12). */
void bdy_mw_lost(struct bdy_ctx *ctx, const struct bdy_wr *wr);

/* cq.c */
struct ibv_cq *bdy_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
                             int vector);
int bdy_destroy_cq(struct ibv_cq *cq);
int bdy_req_notify_cq(struct ibv_cq *cq, int solicited_only);
void bdy_cq_event(struct ibv_cq *cq);
/** Entry at a consumer index when the HCA has written it, else NULL (W7). */
const uint64_t *bdy_cq_entry(const struct bdy_cq *cq, uint32_t ci);
/** Drop every entry of a queue pair that will produce no more (C3). */
void bdy_cq_purge(struct bdy_cq *cq, uint32_t qpn);

/* poll.c */
int bdy_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);

/* wq.c */
/** `ring`, `max_wr` and `max_sge` are set. ENOMEM, EPROTO (the ring is too small for its units). */
int bdy_wq_init(struct bdy_wq *wq, uint32_t units, uint32_t unit_words);
void bdy_wq_fini(struct bdy_wq *wq);
void bdy_wq_reset(struct bdy_wq *wq);
/** Room for one more WQE of this many units (P14, C6). */
int bdy_wq_has_room(const struct bdy_wq *wq, uint32_t units);
/** The 64 bytes or more of unit `unit`. */
uint64_t *bdy_wq_unit(const struct bdy_wq *wq, uint32_t unit);
/** Remember the WQE at the tail (its number is set here) and move past it. */
void bdy_wq_push(struct bdy_wq *wq, const struct bdy_wr *wr);
/** Record of the outstanding WQE that starts at this unit. */
const struct bdy_wr *bdy_wq_wr(const struct bdy_wq *wq, uint32_t unit);
/** The WQE at a 16-bit index has completed, and with it all before. 0 when no such WQE is
 * outstanding, else 1 and its record. */
int bdy_wq_retire(struct bdy_wq *wq, uint16_t index, struct bdy_wr *out);

/* qp.c */
struct ibv_qp *bdy_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *bdy_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int bdy_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int bdy_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init);
int bdy_destroy_qp(struct ibv_qp *qp);

/* send.c, recv.c */
struct bdy_bind {
    struct bdy_mw *mw;
    const struct ibv_mw_bind_info *info;
    uint64_t wr_id;
    unsigned send_flags;
    uint32_t consumer_key; /**< type 2 */
};
int bdy_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/** Post a checked bind and ring the doorbell (type 1). */
int bdy_post_bind(struct bdy_qp *qp, const struct bdy_bind *bind);
/** Ring the send doorbell for what is posted; the sq lock is held. */
int bdy_ring_sq(struct bdy_qp *qp);
int bdy_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* events.c */
void bdy_events_add_ctx(struct bdy_ctx *ctx, int async_fd);
void bdy_events_del_ctx(struct bdy_ctx *ctx);
void bdy_events_add_cq(struct bdy_ctx *ctx, struct bdy_cq *cq);
void bdy_events_add_qp(struct bdy_ctx *ctx, struct bdy_qp *qp);
/** No event of the object reaches the program from here on; waits until those it has are
 * acknowledged. */
void bdy_events_del_cq(struct bdy_ctx *ctx, struct bdy_cq *cq);
void bdy_events_del_qp(struct bdy_ctx *ctx, struct bdy_qp *qp);
/** Handle of the completion channel with this descriptor, 0: none. */
uint32_t bdy_events_channel(struct bdy_ctx *ctx, int fd);

#endif
