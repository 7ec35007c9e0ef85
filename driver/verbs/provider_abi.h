// SPDX-License-Identifier: Apache-2.0
/**
 * @file provider_abi.h  The binary interface between libibverbs and a provider, suffix rdmav34
 * (rdma-core 36 to 56).
 *
 * libibverbs-dev ships no header for providers, so the interface is declared here from measured
 * facts: sizes and offsets on x86-64, checked below at compile time. Only what Bindery uses has a
 * type; the rest keeps its place.
 */
#ifndef BDY_PROVIDER_ABI_H
#define BDY_PROVIDER_ABI_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The device as libibverbs found it in sysfs; Bindery does not look inside. */
struct prov_sysfs_dev;

struct prov_device;

enum prov_match_kind { PROV_MATCH_END = 0, PROV_MATCH_MODALIAS = 2 };

/** libibverbs reads a device's modalias only for the sake of such a table. */
struct prov_match {
    void *driver_data;
    const char *modalias; /**< fnmatch(3) pattern */
    uint16_t vendor, device;
    uint8_t kind;
};

/** What a provider registers. */
struct prov_device_ops {
    const char *name;
    uint32_t match_min_abi;
    uint32_t match_max_abi;
    const struct prov_match *match_table;
    const struct prov_device_ops **static_providers;
    bool (*match_device)(struct prov_sysfs_dev *sysfs);
    struct verbs_context *(*alloc_context)(struct ibv_device *device, int cmd_fd,
                                           void *private_data);
    struct verbs_context *(*import_context)(struct ibv_device *device, int cmd_fd);
    struct prov_device *(*alloc_device)(struct prov_sysfs_dev *sysfs);
    void (*uninit_device)(struct prov_device *device);
};

struct prov_device {
    struct ibv_device ibv;
    const struct prov_device_ops *ops;
    int refcount;
    void *list[2];
    struct prov_sysfs_dev *sysfs;
    uint64_t core_support;
};

struct prov_mr {
    struct ibv_mr ibv;
    int type; /**< 0: plain memory */
    int access;
};

struct prov_cq {
    union {
        struct ibv_cq ibv;
        struct ibv_cq_ex ibv_ex;
    };
};

struct prov_qp {
    union {
        struct ibv_qp ibv;
        struct ibv_qp_ex ibv_ex;
    };
    uint32_t comp_mask;
    void *xrcd;
};

/** A table entry that Bindery leaves to libibverbs' default, which answers EOPNOTSUPP. */
typedef void (*prov_default)(void);

/** The context's operations; libibverbs keeps its default where an entry is NULL. */
struct prov_context_ops {
    prov_default advise_mr, alloc_dm;
    struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
    prov_default alloc_null_mr, alloc_parent_domain;
    struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
    prov_default alloc_td;
    void (*async_event)(struct ibv_context *context, struct ibv_async_event *event);
    prov_default attach_counters_point_flow, attach_mcast;
    int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
    prov_default close_xrcd;
    void (*cq_event)(struct ibv_cq *cq);
    prov_default create_ah, create_counters;
    struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
                                struct ibv_comp_channel *channel, int vector);
    prov_default create_cq_ex, create_flow, create_flow_action_esp;
    struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
    prov_default create_rwq_ind_table, create_srq, create_srq_ex, create_wq;
    int (*dealloc_mw)(struct ibv_mw *mw);
    int (*dealloc_pd)(struct ibv_pd *pd);
    prov_default dealloc_td;
    int (*dereg_mr)(struct prov_mr *mr);
    prov_default destroy_ah, destroy_counters;
    int (*destroy_cq)(struct ibv_cq *cq);
    prov_default destroy_flow, destroy_flow_action;
    int (*destroy_qp)(struct ibv_qp *qp);
    prov_default destroy_rwq_ind_table, destroy_srq, destroy_wq, detach_mcast;
    void (*free_context)(struct ibv_context *context);
    prov_default free_dm, get_srq_num, import_dm, import_mr, import_pd, modify_cq,
        modify_flow_action_esp;
    int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
    prov_default modify_qp_rate_limit, modify_srq, modify_wq, open_qp, open_xrcd;
    int (*poll_cq)(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
    int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
    int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
    prov_default post_srq_ops, post_srq_recv;
    int (*query_device_ex)(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_size);
    prov_default query_ece;
    int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);
    int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                    struct ibv_qp_init_attr *init);
    prov_default query_qp_data_in_order;
    int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values);
    prov_default query_srq, read_counters, reg_dm_mr, reg_dmabuf_mr;
    struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                             int access);
    int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
    prov_default rereg_mr, resize_cq, set_ece, unimport_dm, unimport_mr, unimport_pd;
};

#define PROV_AT(type, field, offset)                                                               \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define PROV_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
PROV_SIZE(struct prov_match, 24);
PROV_AT(struct prov_match, modalias, 8);
PROV_AT(struct prov_match, vendor, 16);
PROV_AT(struct prov_match, kind, 20);
PROV_SIZE(struct prov_device_ops, 72);
PROV_AT(struct prov_device_ops, match_max_abi, 12);
PROV_AT(struct prov_device_ops, match_table, 16);
PROV_AT(struct prov_device_ops, match_device, 32);
PROV_AT(struct prov_device_ops, alloc_context, 40);
PROV_AT(struct prov_device_ops, alloc_device, 56);
PROV_AT(struct prov_device_ops, uninit_device, 64);
PROV_SIZE(struct prov_device, 712);
PROV_SIZE(struct ibv_device, 664);
PROV_AT(struct prov_device, ops, 664);
PROV_AT(struct prov_device, refcount, 672);
PROV_AT(struct prov_device, list, 680);
PROV_AT(struct prov_device, sysfs, 696);
PROV_AT(struct prov_device, core_support, 704);
PROV_SIZE(struct prov_mr, 56);
PROV_AT(struct prov_mr, type, 48);
PROV_AT(struct prov_mr, access, 52);
PROV_SIZE(struct prov_cq, 288);
PROV_SIZE(struct prov_qp, 368);
PROV_AT(struct prov_qp, comp_mask, 352);
PROV_AT(struct prov_qp, xrcd, 360);
PROV_SIZE(struct prov_context_ops, 608);
#define PROV_SLOT(field, index) PROV_AT(struct prov_context_ops, field, 8 * (index))
PROV_SLOT(alloc_mw, 2);
PROV_SLOT(alloc_pd, 5);
PROV_SLOT(async_event, 7);
PROV_SLOT(bind_mw, 10);
PROV_SLOT(cq_event, 12);
PROV_SLOT(create_cq, 15);
PROV_SLOT(create_qp, 19);
PROV_SLOT(create_qp_ex, 20);
PROV_SLOT(dealloc_mw, 25);
PROV_SLOT(dealloc_pd, 26);
PROV_SLOT(dereg_mr, 28);
PROV_SLOT(destroy_cq, 31);
PROV_SLOT(destroy_qp, 34);
PROV_SLOT(free_context, 39);
PROV_SLOT(modify_qp, 47);
PROV_SLOT(poll_cq, 53);
PROV_SLOT(post_recv, 54);
PROV_SLOT(post_send, 55);
PROV_SLOT(query_device_ex, 58);
PROV_SLOT(query_port, 60);
PROV_SLOT(query_qp, 61);
PROV_SLOT(query_rt_values, 63);
PROV_SLOT(reg_mr, 68);
PROV_SLOT(req_notify_cq, 69);
PROV_SLOT(unimport_pd, 75);

/* Entry points of libibverbs, all of symbol version IBVERBS_PRIVATE_34. */
void verbs_register_driver_34(const struct prov_device_ops *ops);
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t bytes,
                                    struct verbs_context *offset, uint32_t driver_id);
void verbs_set_ops(struct verbs_context *context, const struct prov_context_ops *ops);
void verbs_uninit_context(struct verbs_context *context);
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);

#endif
