// SPDX-License-Identifier: Apache-2.0
// Opening and closing a device.
#include "priv.h"

static int check_identity(struct bdy_core *core)
{
    uint64_t id, state;
    int rc = core_bar_read(core, BDY_REG_BAR_ID_OFFSET, &id);
    if (rc == 0) {
        rc = core_bar_read(core, BDY_REG_BAR_STATE_OFFSET, &state);
    }
    if (rc != 0) {
        return rc;
    }
    if ((id & BDY_REG_BAR_ID_MAGIC_MASK) != BDY_DEV_MAGIC ||
        bdy_field_get(id, BDY_REG_BAR_ID_ABI_LSB, BDY_REG_BAR_ID_ABI_W) != BDY_ABI_VERSION) {
        return -ENODEV;
    }
    core->limits.hw_rev = (uint32_t)bdy_field_get(id, BDY_REG_BAR_ID_REV_LSB, BDY_REG_BAR_ID_REV_W);
    unsigned st = (unsigned)bdy_field_get(state, BDY_REG_BAR_STATE_ST_LSB, BDY_REG_BAR_STATE_ST_W);
    if (st != BDY_DEV_ST_READY) {
        bdy_os_log(BDY_OS_ERROR, "bindery: device is in state %s, not READY", bdy_dev_st_name(st));
        return -EIO;
    }
    return 0;
}

static void put_big_endian(uint8_t *to, uint64_t value)
{
    for (unsigned i = 0; i < 8u; i++) {
        to[i] = (uint8_t)(value >> (56u - 8u * i));
    }
}

/** GID 0 is link-local from the GUID, GID 1 an IPv4-mapped 10.0.x.y from the LID, the last one
 * stays empty. */
static void make_gids(struct bdy_core *core)
{
    put_big_endian(&core->gid[0][0], UINT64_C(0xfe80) << 48);
    put_big_endian(&core->gid[0][8], core->cfg.guid);
    put_big_endian(&core->gid[1][8], UINT64_C(0xffff) << 32 | 0x0a000000u | core->cfg.lid);
}

static int write_gids(struct bdy_core *core)
{
    int rc = 0;
    for (uint32_t i = 0; i < BDY_REG_BAR_GID_COUNT && rc == 0; i++) {
        uint64_t half;
        bdy_os_copy(&half, &core->gid[i / 2u][8u * (i % 2u)], sizeof half);
        rc = core_bar_write(core, BDY_REG_BAR_GID_OFFSET + BDY_REG_BAR_GID_STRIDE * i, half);
    }
    return rc;
}

static int write_settings(struct bdy_core *core)
{
    const struct bdy_core_cfg *cfg = &core->cfg;
    const struct {
        uint32_t offset;
        uint64_t value;
    } settings[] = {
        {BDY_REG_BAR_BUS_MASTER_OFFSET, BDY_REG_BAR_BUS_MASTER_ENABLE_MASK},
        {BDY_REG_BAR_TBL_DELAY_OFFSET, cfg->tbl_delay},
        {BDY_REG_BAR_LINK_FAULT_OFFSET, cfg->link_fault},
        {BDY_REG_BAR_PORT_OFFSET,
         cfg->lid | BDY_REG_BAR_PORT_UP_MASK | (cfg->eth ? BDY_REG_BAR_PORT_ETH_MASK : 0)},
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && rc == 0; i++) {
        rc = core_bar_write(core, settings[i].offset, settings[i].value);
    }
    if (rc == 0 && cfg->nak_delay) {
        rc = core_bar_write(core, BDY_REG_BAR_NAK_DELAY_OFFSET, cfg->nak_delay);
    }
    return rc == 0 ? write_gids(core) : rc;
}

static int init_hca(struct bdy_core *core)
{
    uint64_t *in = cmd_in(core);
    bdy_os_zero(in, BDY_INIT_HCA_IN_BYTES);
    bdy_init_hca_in_set_seed_lo(in, core->cfg.seed_lo);
    bdy_init_hca_in_set_seed_hi(in, core->cfg.seed_hi);
    bdy_init_hca_in_set_eqn(in, core->eq[0].number);
    bdy_init_hca_in_set_strict_ibta(in, core->cfg.strict_ibta);
    bdy_init_hca_in_set_viol_limit(in, core->cfg.viol_limit);
    struct cmd cmd = {.op = BDY_CMD_OP_INIT_HCA, .in_len = BDY_INIT_HCA_IN_BYTES};
    int rc = cmd_run(core, &cmd);
    core->initialised = rc == 0;
    return rc;
}

/** Of a table that all contexts share: one alone leaves an eighth to the others (H23). */
static uint32_t share(uint32_t size)
{
    return size - size / 8u;
}

/** A build without the table shows 0. */
static uint32_t optional(uint64_t log_size)
{
    return log_size ? share(1u << log_size) : 0;
}

/** What one context may have is also what query_device promises (N3). */
static void set_quotas(struct limits *limits, const uint64_t *out)
{
    uint32_t keys = 1u << bdy_query_hca_out_get_log_keys(out);
    uint32_t *quota = limits->quota;
    quota[OBJ_MW] = keys / 2u;
    quota[OBJ_MR] = share(keys) - quota[OBJ_MW];
    quota[OBJ_PD] = share((uint32_t)bdy_query_hca_out_get_max_pd(out));
    quota[OBJ_CQ] = share(1u << bdy_query_hca_out_get_log_cqs(out));
    quota[OBJ_QP] = share(1u << bdy_query_hca_out_get_log_qps(out));
    quota[OBJ_CHANNEL] = quota[OBJ_CQ];
    quota[OBJ_SRQ] = optional(bdy_query_hca_out_get_log_srqs(out));
    quota[OBJ_AH] = optional(bdy_query_hca_out_get_log_ahs(out));
    quota[OBJ_XRCD] = share((uint32_t)bdy_query_hca_out_get_max_xrcd(out));
}

static int query_hca(struct bdy_core *core)
{
    struct cmd cmd = {.op = BDY_CMD_OP_QUERY_HCA, .out_len = BDY_QUERY_HCA_OUT_BYTES};
    int rc = cmd_run(core, &cmd);
    const uint64_t *out = cmd_out(core);
    if (rc != 0) {
        return rc;
    }
    struct limits *limits = &core->limits;
    set_quotas(limits, out);
    limits->fw_ver = bdy_query_hca_out_get_fw_ver(out);
    // In 4 KiB pages, one of them for a start that is off a page line.
    limits->max_mr_size = ((UINT64_C(1) << bdy_query_hca_out_get_log_mtt(out)) - 1u) << 12;
    if (bdy_query_hca_out_get_log_cqs(out) > BDY_LOG_CQS ||
        bdy_query_hca_out_get_log_qps(out) > BDY_LOG_QPS ||
        bdy_query_hca_out_get_log_srqs(out) > BDY_LOG_SRQS) {
        return -ENODEV;
    }
    return 0;
}

static int read_capabilities(struct bdy_core *core)
{
    uint64_t cap;
    int rc = core_bar_read(core, BDY_REG_BAR_CAP_OFFSET, &cap);
    if (rc != 0) {
        return rc;
    }
    core->limits.uars =
        (uint32_t)bdy_field_get(cap, BDY_REG_BAR_CAP_UARS_LSB, BDY_REG_BAR_CAP_UARS_W);
    uint32_t eqs = 1u << bdy_field_get(cap, BDY_REG_BAR_CAP_LOG_EQS_LSB, 5);
    bool fits = core->limits.uars >= 2u && core->limits.uars <= BDY_UAR_COUNT && core->neqs <= eqs;
    return fits ? 0 : -ENODEV;
}

/** Booted, and no driver was here since: bus mastering is a driver's first write, the command
 * queue's address stays when it leaves. */
static bool is_fresh(struct bdy_core *core)
{
    const struct bdy_pci_ops *ops = core->pci->ops;
    uint64_t state, master, queue;
    if (ops->bar_read64(core->pci, BDY_REG_BAR_STATE_OFFSET, &state) != 0 ||
        ops->bar_read64(core->pci, BDY_REG_BAR_BUS_MASTER_OFFSET, &master) != 0 ||
        ops->bar_read64(core->pci, BDY_REG_BAR_CMDQ_OFFSET, &queue) != 0) {
        return false;
    }
    return bdy_field_get(state, BDY_REG_BAR_STATE_ST_LSB, BDY_REG_BAR_STATE_ST_W) ==
               BDY_DEV_ST_READY &&
           master == 0 && queue == 0;
}

/** A fresh device is as after a reset: a second start of its firmware would tell nothing new. */
static int reset(struct bdy_core *core)
{
    return is_fresh(core) ? 0 : core->pci->ops->reset(core->pci);
}

static int bring_up(struct bdy_core *core)
{
    int (*const steps[])(struct bdy_core *) = {reset,          check_identity, read_capabilities,
                                               write_settings, cmd_setup,      eq_irqs,
                                               eq_setup,       init_hca,       query_hca};
    int rc = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && rc == 0; i++) {
        rc = steps[i](core);
    }
    return rc;
}

static bool cfg_ok(const struct bdy_core_cfg *cfg)
{
    return cfg->lid >= 1u && cfg->lid <= 0xbfffu && cfg->strict_ibta <= 1u && cfg->eth <= 1u &&
           cfg->comp_vectors < CORE_EQS;
}

static void fill_cfg(struct bdy_core *core, const struct bdy_core_cfg *cfg)
{
    core->cfg = *cfg;
    if (!core->cfg.guid) { // locally administered, and never zero
        uint64_t mixed = (cfg->seed_lo ^ cfg->seed_hi) * UINT64_C(0x9e3779b97f4a7c15);
        core->cfg.guid = UINT64_C(0x0200000000000000) | (mixed >> 8 & UINT64_C(0x00ffffffffffff));
    }
    if (!core->cfg.device_id) {
        core->cfg.device_id = core->cfg.guid;
    }
    core->neqs = 1u + (cfg->comp_vectors ? cfg->comp_vectors : 1u);
}

/** Undo bring_up as far as it got. No memory is given back before the device has lost its hold on
 * the bus. */
static void tear_down(struct bdy_core *core)
{
    eq_stop(core);
    core->pci->ops->bar_write64(core->pci, BDY_REG_BAR_BUS_MASTER_OFFSET, 0);
    eq_irqs_off(core);
    eq_free(core);
    cmd_free(core);
    handles_free(&core->handles);
    bdy_os_lock_fini(&core->lock);
    bdy_os_free(core);
}

int bdy_core_open(struct bdy_pci *pci, const struct bdy_core_cfg *cfg, struct bdy_core **out)
{
    if (pci->ops->abi != BDY_PCI_ABI || !cfg_ok(cfg)) {
        return -EINVAL;
    }
    struct bdy_core *core = bdy_os_alloc(sizeof *core);
    if (!core) {
        return -ENOMEM;
    }
    bdy_os_lock_init(&core->lock);
    core->pci = pci;
    core->handles.free_head = HANDLE_NONE;
    fill_cfg(core, cfg);
    make_gids(core);
    int rc = bring_up(core);
    if (rc != 0) {
        tear_down(core);
        return rc;
    }
    *out = core;
    return 0;
}

void bdy_core_close(struct bdy_core *core)
{
    for (uint32_t i = 0; i < BDY_UAR_COUNT; i++) {
        if (core->uctx[i]) {
            bdy_core_uctx_close(core->uctx[i]);
        }
    }
    tear_down(core);
}
