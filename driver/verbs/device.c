// SPDX-License-Identifier: Apache-2.0
// The provider's two front doors: the table that libibverbs registers, and the table of every
// context's operations.

#include <stdlib.h>
#include <string.h>

#include "bdy_verbs.h"
#include "objects.h"

static const struct prov_match match_table[] = {
    {.modalias = BDY_VERBS_MODALIAS, .kind = PROV_MATCH_MODALIAS},
    {.kind = PROV_MATCH_END},
};

static struct prov_device *alloc_device(struct prov_sysfs_dev *sysfs)
{
    (void)sysfs;
    return calloc(1, sizeof(struct prov_device));
}

static void uninit_device(struct prov_device *device)
{
    free(device);
}

const struct prov_device_ops bdy_device_ops = {
    .name = "bindery",
    .match_min_abi = 1,
    .match_max_abi = 1,
    .match_table = match_table,
    .alloc_context = bdy_alloc_context,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

const struct prov_context_ops bdy_context_ops = {
    .alloc_mw = bdy_alloc_mw,
    .alloc_pd = bdy_alloc_pd,
    .bind_mw = bdy_bind_mw,
    .cq_event = bdy_cq_event,
    .create_cq = bdy_create_cq,
    .create_qp = bdy_create_qp,
    .create_qp_ex = bdy_create_qp_ex,
    .dealloc_mw = bdy_dealloc_mw,
    .dealloc_pd = bdy_dealloc_pd,
    .dereg_mr = bdy_dereg_mr,
    .destroy_cq = bdy_destroy_cq,
    .destroy_qp = bdy_destroy_qp,
    .free_context = bdy_free_context,
    .modify_qp = bdy_modify_qp,
    .poll_cq = bdy_poll_cq,
    .post_recv = bdy_post_recv,
    .post_send = bdy_post_send,
    .query_device_ex = bdy_query_device_ex,
    .query_port = bdy_query_port,
    .query_qp = bdy_query_qp,
    .query_rt_values = bdy_query_rt_values,
    .reg_mr = bdy_reg_mr,
    .req_notify_cq = bdy_req_notify_cq,
};

struct ibv_context *bdy_verbs_open(struct bdy_transport *transport)
{
    struct prov_device *device = alloc_device(NULL);
    if (device == NULL) {
        transport->ops->close(transport);
        return NULL;
    }
    // Only the context holds this device: closing it drops the last reference, and uninit_device
    // frees it.
    device->ops = &bdy_device_ops;
    device->refcount = 0;
    device->ibv.node_type = IBV_NODE_CA;
    device->ibv.transport_type = IBV_TRANSPORT_IB;
    strcpy(device->ibv.name, "bindery0");
    strcpy(device->ibv.dev_name, "uverbs0");
    return verbs_open_device(&device->ibv, transport);
}
