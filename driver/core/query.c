// SPDX-License-Identifier: Apache-2.0
// Device, port and clock.
#include "priv.h"

/** "major.minor.patch" of the 16-bit parts. */
static void version_text(char *text, uint64_t version)
{
    for (int part = 2; part >= 0; part--) {
        uint32_t value = version >> (16 * part) & 0xffffu;
        char digits[5];
        unsigned n = 0;
        do {
            digits[n++] = (char)('0' + value % 10u);
            value /= 10u;
        } while (value > 0);
        while (n > 0) {
            *text++ = digits[--n];
        }
        *text++ = part ? '.' : '\0';
    }
}

/** A number as big-endian bytes in memory. */
static uint64_t big_endian(uint64_t value)
{
    return __builtin_bswap64(value);
}

/** Every max_* can be reached and not passed (N3); capabilities are those that work. */
int u_query_device(struct bdy_uctx *uctx, struct bdy_u_device_attr *out)
{
    const struct bdy_core *core = uctx->core;
    const struct limits *limits = &core->limits;
    version_text(out->fw_ver, limits->fw_ver);
    out->node_guid = big_endian(core->cfg.guid);
    out->sys_image_guid = out->node_guid;
    out->max_mr_size = limits->max_mr_size;
    out->page_size_cap = 0x7ffff000u; // 4 KiB to 1 GiB
    out->vendor_id = 0xbd4;
    out->vendor_part_id = 1;
    out->hw_ver = limits->hw_rev;
    out->max_qp = limits->quota[OBJ_QP];
    out->max_qp_wr = CORE_MAX_WR;
    out->device_cap_flags = V_CAP_MW | V_CAP_MW_2B | V_CAP_RC_RNR_NAK_GEN | V_CAP_SYS_IMAGE_GUID;
    if (CORE_FEATURES & FEATURE_SEND_INV) { // V3: with LOCAL_INV it is the whole of it
        out->device_cap_flags |= V_CAP_MEM_MGT;
    }
    if (CORE_FEATURES & FEATURE_XRC) {
        out->device_cap_flags |= V_CAP_XRC;
        out->max_xrcd = limits->quota[OBJ_XRCD];
    }
    if (CORE_FEATURES & FEATURE_SRQ) {
        out->max_srq = limits->quota[OBJ_SRQ];
        out->max_srq_wr = CORE_MAX_WR;
        out->max_srq_sge = BDY_MAX_SGE;
    }
    if (CORE_FEATURES & FEATURE_UD) {
        out->max_ah = limits->quota[OBJ_AH];
    }
    out->atomic_cap = CORE_FEATURES & FEATURE_ATOMIC ? V_ATOMIC_HCA : V_ATOMIC_NONE; // H15
    out->max_sge = BDY_MAX_SGE;
    out->max_sge_rd = BDY_MAX_SGE;
    out->max_cq = limits->quota[OBJ_CQ];
    out->max_cqe = CORE_MAX_CQE;
    out->max_mr = limits->quota[OBJ_MR];
    out->max_mw = limits->quota[OBJ_MW];
    out->max_pd = limits->quota[OBJ_PD];
    out->max_qp_rd_atom = BDY_MAX_RD_ATOMIC;
    out->max_qp_init_rd_atom = BDY_MAX_RD_ATOMIC;
    out->max_res_rd_atom = BDY_MAX_RD_ATOMIC * limits->quota[OBJ_QP];
    out->max_pkeys = 1;
    out->local_ca_ack_delay = 15;
    out->phys_port_cnt = 1;
    out->max_inline = CORE_MAX_INLINE;
    out->strict_ibta = core->cfg.strict_ibta;
    return 0;
}

int u_query_port(struct bdy_uctx *uctx, struct bdy_u_port_attr *out)
{
    const struct bdy_core *core = uctx->core;
    out->state = V_PORT_ACTIVE;
    out->max_mtu = V_MTU_4096;
    out->active_mtu = V_MTU_4096;
    out->gid_tbl_len = CORE_GIDS;
    out->max_msg_sz = 1u << BDY_MAX_MSG_LOG;
    out->pkey_tbl_len = 1;
    out->lid = core->cfg.eth ? 0 : core->cfg.lid;
    out->sm_lid = out->lid;
    out->max_vl_num = 1;
    out->active_width = V_WIDTH_4X;
    out->active_speed = V_SPEED_EDR;
    out->phys_state = V_PHYS_LINK_UP;
    out->link_layer = core->cfg.eth ? V_LINK_LAYER_ETH : V_LINK_LAYER_IB;
    bdy_os_copy(out->gid, core->gid, sizeof out->gid);
    return 0;
}

int u_query_clock(struct bdy_uctx *uctx, struct bdy_u_clock *out)
{
    return core_bar_read(uctx->core, BDY_REG_BAR_CYCLE_OFFSET, &out->cycle);
}
