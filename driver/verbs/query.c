// SPDX-License-Identifier: Apache-2.0
// What the device, its port and its clock tell.

#include <errno.h>
#include <string.h>

#include "bdy_regs.h"
#include "objects.h"

static void fill_limits(struct ibv_device_attr *a, const struct bdy_u_device_attr *d)
{
    a->max_mr_size = d->max_mr_size;
    a->page_size_cap = d->page_size_cap;
    a->max_qp = (int)d->max_qp;
    a->max_qp_wr = (int)d->max_qp_wr;
    a->max_sge = (int)d->max_sge;
    a->max_sge_rd = (int)d->max_sge_rd;
    a->max_cq = (int)d->max_cq;
    a->max_cqe = (int)d->max_cqe;
    a->max_mr = (int)d->max_mr;
    a->max_pd = (int)d->max_pd;
    a->max_mw = (int)d->max_mw;
    a->max_qp_rd_atom = (int)d->max_qp_rd_atom;
    a->max_res_rd_atom = (int)d->max_res_rd_atom;
    a->max_qp_init_rd_atom = (int)d->max_qp_init_rd_atom;
    a->max_srq = (int)d->max_srq;
    a->max_srq_wr = (int)d->max_srq_wr;
    a->max_srq_sge = (int)d->max_srq_sge;
    a->max_pkeys = (uint16_t)d->max_pkeys;
    a->max_ah = (int)d->max_ah;
}

static void fill_identity(struct ibv_device_attr *a, const struct bdy_u_device_attr *d)
{
    memcpy(a->fw_ver, d->fw_ver, sizeof(d->fw_ver) - 1);
    a->node_guid = d->node_guid;
    a->sys_image_guid = d->sys_image_guid;
    a->vendor_id = d->vendor_id;
    a->vendor_part_id = d->vendor_part_id;
    a->hw_ver = d->hw_ver;
    a->device_cap_flags = d->device_cap_flags;
    a->atomic_cap = (enum ibv_atomic_cap)d->atomic_cap;
    a->local_ca_ack_delay = (uint8_t)d->local_ca_ack_delay;
    a->phys_port_cnt = (uint8_t)d->phys_port_cnt;
}

int bdy_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t attr_size)
{
    struct bdy_u_device_attr dev;
    struct ibv_device_attr_ex all;
    if (input != NULL && input->comp_mask != 0)
        return EINVAL;
    int err = bdy_ctx_call(bdy_ctx_of(context), BDY_U_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev));
    if (err != 0)
        return err;
    memset(&all, 0, sizeof(all));
    fill_limits(&all.orig_attr, &dev);
    fill_identity(&all.orig_attr, &dev);
    all.device_cap_flags_ex = dev.device_cap_flags;
    all.phys_port_cnt_ex = dev.phys_port_cnt;
    all.hca_core_clock = BDY_CORE_CLOCK_KHZ;
    memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
    return 0;
}

int bdy_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
    struct bdy_u_port_attr p;
    if (port != 1)
        return EINVAL;
    int err = bdy_ctx_call(bdy_ctx_of(context), BDY_U_QUERY_PORT, NULL, 0, &p, sizeof(p));
    if (err != 0)
        return err;
    *attr = (struct ibv_port_attr){
        .state = (enum ibv_port_state)p.state,
        .max_mtu = (enum ibv_mtu)p.max_mtu,
        .active_mtu = (enum ibv_mtu)p.active_mtu,
        .gid_tbl_len = (int)p.gid_tbl_len,
        .port_cap_flags = p.port_cap_flags,
        .max_msg_sz = p.max_msg_sz,
        .bad_pkey_cntr = p.bad_pkey_cntr,
        .qkey_viol_cntr = p.qkey_viol_cntr,
        .pkey_tbl_len = p.pkey_tbl_len,
        .lid = p.lid,
        .sm_lid = p.sm_lid,
        .lmc = p.lmc,
        .max_vl_num = p.max_vl_num,
        .sm_sl = p.sm_sl,
        .subnet_timeout = p.subnet_timeout,
        .init_type_reply = p.init_type_reply,
        .active_width = p.active_width,
        .active_speed = p.active_speed,
        .phys_state = p.phys_state,
        .link_layer = p.link_layer,
    };
    return 0;
}

// The raw clock is the HCA's cycle counter, in units of hca_core_clock, in tv_nsec. comp_mask comes
// back with what was answered.
int bdy_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    struct bdy_u_clock clock;
    const uint32_t asked = values->comp_mask;
    values->comp_mask = 0;
    if (!(asked & IBV_VALUES_MASK_RAW_CLOCK))
        return 0;
    int err = bdy_ctx_call(bdy_ctx_of(context), BDY_U_QUERY_CLOCK, NULL, 0, &clock, sizeof(clock));
    if (err != 0)
        return err;
    values->raw_clock.tv_sec = 0;
    values->raw_clock.tv_nsec = (long)clock.cycle;
    values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    return 0;
}
