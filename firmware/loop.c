// SPDX-License-Identifier: Apache-2.0
// The command loop: fetch an entry, check what every command has in common, run its handler,
// answer.
#include "fw.h"

enum need {
    TAKES_IN0 = 1,   /**< inline_in0 has a meaning; otherwise it must be zero */
    TAKES_IN1 = 2,   /**< likewise inline_in1 */
    STOPPED = 4,     /**< served before INIT_HCA */
    RUNNING = 8,     /**< served after INIT_HCA */
    DRIVER_ONLY = 16 /**< refused to user contexts */
};

struct command {
    uint16_t op, in_min, in_max, out;
    uint32_t need;
    fw_handler run;
};

#define MR_IN BDY_CREATE_MR_IN_BYTES
#define MTT_IN BDY_WRITE_MTT_IN_BYTES
#define MODIFY_IN (BDY_MODIFY_QP_IN_BYTES + BDY_QP_CTX0_BYTES + BDY_QP_CTX1_BYTES)
#define QUERY_OUT (BDY_QP_CTX0_BYTES + BDY_QP_CTX1_BYTES)
#define MBOX BDY_CMD_MBOX_BYTES
#define ALWAYS (STOPPED | RUNNING)

static const struct command commands[] = {
    {BDY_CMD_OP_NOP, 0, 0, 0, ALWAYS, fw_nop},
    {BDY_CMD_OP_QUERY_HCA, 0, 0, BDY_QUERY_HCA_OUT_BYTES, ALWAYS, fw_query_hca},
    {BDY_CMD_OP_INIT_HCA, BDY_INIT_HCA_IN_BYTES, BDY_INIT_HCA_IN_BYTES, 0, STOPPED | DRIVER_ONLY,
     fw_init_hca},
    {BDY_CMD_OP_TEARDOWN_HCA, 0, 0, 0, RUNNING | DRIVER_ONLY, fw_teardown_hca},
    {BDY_CMD_OP_ALLOC_PD, 0, 0, 0, RUNNING, fw_alloc_pd},
    {BDY_CMD_OP_DEALLOC_PD, 0, 0, 0, RUNNING | TAKES_IN0, fw_dealloc_pd},
    {BDY_CMD_OP_PD_KILL, 0, 0, 0, RUNNING | TAKES_IN0 | DRIVER_ONLY, fw_pd_kill},
    {BDY_CMD_OP_FLUSH_PD, 0, 0, 0, RUNNING | TAKES_IN0, fw_flush_pd},
    {BDY_CMD_OP_QUERY_PD, 0, 0, 0, RUNNING | TAKES_IN0, fw_query_pd},
    {BDY_CMD_OP_ALLOC_XRCD, 0, 0, 0, RUNNING | DRIVER_ONLY, fw_alloc_xrcd},
    {BDY_CMD_OP_DEALLOC_XRCD, 0, 0, 0, RUNNING | TAKES_IN0 | DRIVER_ONLY, fw_dealloc_xrcd},
    {BDY_CMD_OP_CREATE_MR, MR_IN, MBOX, 0, RUNNING, fw_create_mr},
    {BDY_CMD_OP_WRITE_MTT, MTT_IN + 8u, MBOX, 0, RUNNING, fw_write_mtt},
    {BDY_CMD_OP_REREG_MR, BDY_REREG_MR_IN_BYTES + MR_IN, MBOX, 0, RUNNING, fw_rereg_mr},
    {BDY_CMD_OP_OPEN_MR, 0, 0, 0, RUNNING | TAKES_IN0, fw_open_mr},
    {BDY_CMD_OP_DESTROY_MR, 0, 0, 0, RUNNING | TAKES_IN0, fw_destroy_mr},
    {BDY_CMD_OP_ALLOC_MW, 0, 0, 0, RUNNING | TAKES_IN0 | TAKES_IN1, fw_alloc_mw},
    {BDY_CMD_OP_DEALLOC_MW, 0, 0, 0, RUNNING | TAKES_IN0, fw_dealloc_mw},
    {BDY_CMD_OP_QUERY_MW, 0, 0, 0, RUNNING | TAKES_IN0, fw_query_mw},
    {BDY_CMD_OP_CREATE_CQ, BDY_CQ_CTX_BYTES, BDY_CQ_CTX_BYTES, 0, RUNNING, fw_create_cq},
    {BDY_CMD_OP_DESTROY_CQ, 0, 0, 0, RUNNING | TAKES_IN0, fw_destroy_cq},
    {BDY_CMD_OP_RESIZE_CQ, BDY_CQ_CTX_BYTES, BDY_CQ_CTX_BYTES, 0, RUNNING | TAKES_IN0,
     fw_resize_cq},
    {BDY_CMD_OP_CREATE_EQ, BDY_EQ_CTX_BYTES, BDY_EQ_CTX_BYTES, 0, ALWAYS | DRIVER_ONLY,
     fw_create_eq},
    {BDY_CMD_OP_DESTROY_EQ, 0, 0, 0, ALWAYS | TAKES_IN0 | DRIVER_ONLY, fw_destroy_eq},
    {BDY_CMD_OP_CREATE_QP, BDY_QP_CTX0_BYTES, BDY_QP_CTX0_BYTES, 0, RUNNING, fw_create_qp},
    {BDY_CMD_OP_MODIFY_QP, MODIFY_IN, MODIFY_IN, 0, RUNNING, fw_modify_qp},
    {BDY_CMD_OP_QUERY_QP, 0, 0, QUERY_OUT, RUNNING | TAKES_IN0, fw_query_qp},
    {BDY_CMD_OP_DESTROY_QP, 0, 0, 0, RUNNING | TAKES_IN0, fw_destroy_qp},
    {BDY_CMD_OP_QUERY_VIOL, 0, 0, 0, RUNNING | TAKES_IN0, fw_query_viol},
    {BDY_CMD_OP_CREATE_SRQ, BDY_SRQ_CTX_BYTES, BDY_SRQ_CTX_BYTES, 0, RUNNING, fw_create_srq},
    {BDY_CMD_OP_MODIFY_SRQ, 0, 0, 0, RUNNING | TAKES_IN0 | TAKES_IN1, fw_modify_srq},
    {BDY_CMD_OP_QUERY_SRQ, 0, 0, BDY_SRQ_CTX_BYTES, RUNNING | TAKES_IN0, fw_query_srq},
    {BDY_CMD_OP_DESTROY_SRQ, 0, 0, 0, RUNNING | TAKES_IN0, fw_destroy_srq},
    {BDY_CMD_OP_CREATE_AH, BDY_AH_CTX_BYTES, BDY_AH_CTX_BYTES, 0, RUNNING, fw_create_ah},
    {BDY_CMD_OP_DESTROY_AH, 0, 0, 0, RUNNING | TAKES_IN0, fw_destroy_ah},
};

static const struct command *find(uint32_t op)
{
    for (uint32_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (commands[i].op == op) {
            return &commands[i];
        }
    }
    return NULL;
}

bool fw_may_name(const struct fw_cmd *cmd, uint8_t owner)
{
    return cmd->uctx == 0 || cmd->uctx == owner;
}

static bool answer_is_blank(const uint64_t *entry)
{
    return bdy_cmd_entry_get_inline_out0(entry) == 0 && bdy_cmd_entry_get_inline_out1(entry) == 0 &&
           bdy_cmd_entry_get_status(entry) == 0 &&
           bdy_cmd_entry_get_done(entry) != bdy_cmd_entry_get_owner(entry);
}

/** A mailbox: 8-byte aligned in place and length, and no address without a length. */
static bool mailbox_ok(uint64_t bus, uint32_t bytes)
{
    return bytes == 0 ? bus == 0 : ((bus | bytes) & 7u) == 0 && bus <= UINT64_MAX - bytes;
}

static enum bdy_cmd_st check_common(const struct fw *fw, const struct fw_cmd *cmd,
                                    const struct command *c)
{
    if (bdy_cmd_entry_get_uctx(cmd->entry) >= BDY_UAR_COUNT ||
        (cmd->in0 && !(c->need & TAKES_IN0)) || (cmd->in1 && !(c->need & TAKES_IN1))) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    if (cmd->uctx != 0 && (c->need & DRIVER_ONLY)) {
        return BDY_CMD_ST_NOT_OWNER;
    }
    if (!(c->need & (fw->running ? RUNNING : STOPPED))) {
        return BDY_CMD_ST_BAD_STATE;
    }
    if (cmd->in_len < c->in_min || cmd->in_len > c->in_max || cmd->out_len < c->out ||
        cmd->out_len > (c->out ? MBOX : 0u)) {
        return BDY_CMD_ST_BAD_SIZE;
    }
    if (!mailbox_ok(bdy_cmd_entry_get_in_mbox(cmd->entry), cmd->in_len) ||
        !mailbox_ok(bdy_cmd_entry_get_out_mbox(cmd->entry), cmd->out_len)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    return BDY_CMD_ST_OK;
}

static void unpack(struct fw_cmd *cmd)
{
    cmd->uctx = (uint8_t)bdy_cmd_entry_get_uctx(cmd->entry);
    cmd->in_len = (uint32_t)bdy_cmd_entry_get_in_len(cmd->entry);
    cmd->out_len = (uint32_t)bdy_cmd_entry_get_out_len(cmd->entry);
    cmd->in0 = bdy_cmd_entry_get_inline_in0(cmd->entry);
    cmd->in1 = bdy_cmd_entry_get_inline_in1(cmd->entry);
    cmd->out0 = 0;
    cmd->out1 = 0;
}

static enum bdy_cmd_st execute(struct fw *fw, struct fw_cmd *cmd, uint32_t phase)
{
    if (bdy_cmd_entry_get_owner(cmd->entry) != phase) {
        return BDY_CMD_ST_BAD_STATE; // the doorbell came before the entry
    }
    if (!bdy_cmd_entry_rsvd_zero(cmd->entry) || !answer_is_blank(cmd->entry)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    const struct command *c = find((uint32_t)bdy_cmd_entry_get_op(cmd->entry));
    if (!c) {
        return BDY_CMD_ST_BAD_OP;
    }
    enum bdy_cmd_st st = check_common(fw, cmd, c);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    if (!fw_dma_read(fw, bdy_cmd_entry_get_in_mbox(cmd->entry), FW_BUF_IN, cmd->in_len)) {
        return BDY_CMD_ST_DMA_ERROR;
    }
    st = c->run(fw, cmd);
    if (st == BDY_CMD_ST_OK &&
        !fw_dma_write(fw, bdy_cmd_entry_get_out_mbox(cmd->entry), FW_BUF_OUT, c->out)) {
        return BDY_CMD_ST_DMA_ERROR;
    }
    return st;
}

/** `done` travels in a store of its own, after all else that the driver may then read. */
static bool answer(struct fw *fw, const struct fw_cmd *cmd, uint64_t bus, enum bdy_cmd_st st,
                   uint32_t phase)
{
    uint64_t words[BDY_CMD_ENTRY_WORDS] = {0};
    bdy_cmd_entry_set_inline_out0(words, st == BDY_CMD_ST_OK ? cmd->out0 : 0u);
    bdy_cmd_entry_set_inline_out1(words,
                                  st == BDY_CMD_ST_OK || st == BDY_CMD_ST_REFUSED ? cmd->out1 : 0u);
    bdy_cmd_entry_set_status(words, st);
    bdy_cmd_entry_set_done(words, phase);
    uint32_t at = BDY_CMD_ENTRY_INLINE_OUT0_LSB / 64u;
    fw_buf_put(fw, FW_BUF_ENTRY + 8u * at, &words[at], 2);
    return fw_dma_write(fw, bus + 8u * at, FW_BUF_ENTRY + 8u * at, 8) &&
           fw_dma_write(fw, bus + 8u * (at + 1u), FW_BUF_ENTRY + 8u * (at + 1u), 8);
}

static void serve(struct fw *fw, uint32_t log_size)
{
    struct fw_cmd cmd;
    uint32_t phase = (fw->ci >> log_size & 1u) ^ 1u;
    uint64_t bus = mmio_read32(fw, BDY_REG_MCU_CMDQ_LO_OFFSET) |
                   (uint64_t)mmio_read32(fw, BDY_REG_MCU_CMDQ_HI_OFFSET) << 32;
    bus += (fw->ci & ((1u << log_size) - 1u)) * BDY_CMD_ENTRY_BYTES;

    if (!fw_dma_read(fw, bus, FW_BUF_ENTRY, BDY_CMD_ENTRY_BYTES)) {
        fw_fatal(fw, BDY_HEALTH_CMDQ_DMA);
        return;
    }
    fw_buf_get(fw, FW_BUF_ENTRY, cmd.entry, BDY_CMD_ENTRY_WORDS);
    unpack(&cmd);

    bool notify = fw->running;
    enum bdy_cmd_st st = execute(fw, &cmd, phase);
    notify |= fw->running;
    if (!answer(fw, &cmd, bus, st, phase)) {
        fw_fatal(fw, BDY_HEALTH_CMDQ_DMA);
        return;
    }
    fw->ci++;
    mmio_write32(fw, BDY_REG_MCU_CMD_CI_OFFSET, fw->ci);
    if (notify && !fw->dead) {
        fw_event(fw, fw->async_eqn, BDY_EQE_KIND_CMD_DONE, 0,
                 (uint32_t)bdy_cmd_entry_get_token(cmd.entry));
    }
}

void fw_step(struct fw *fw)
{
    while (!fw->dead) {
        uint32_t log_size = mmio_read32(fw, BDY_REG_MCU_CMDQ_LOG_OFFSET);
        uint16_t waiting = (uint16_t)(mmio_read32(fw, BDY_REG_MCU_CMD_PI_OFFSET) - fw->ci);
        if (waiting == 0) {
            return;
        }
        if (log_size > 8u || waiting > 1u << log_size) { // more than the ring can hold
            fw_fatal(fw, BDY_HEALTH_FW_FATAL);
            return;
        }
        serve(fw, log_size);
    }
}

void fw_idle(struct fw *fw)
{
    mmio_write32(fw, BDY_REG_MCU_EVENT_MASK_OFFSET, fw->dead ? 0u : BDY_REG_MCU_EVENT_CMD_MASK);
    mmio_wfi(fw);
}

void fw_fatal(struct fw *fw, enum bdy_health health)
{
    fw->dead = true;
    mmio_write32(fw, BDY_REG_MCU_HEALTH_OFFSET, health);
    mmio_write32(fw, BDY_REG_MCU_DEV_STATE_OFFSET, BDY_DEV_ST_FATAL);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t cap_field(uint32_t cap, uint32_t mask, uint32_t lsb)
{
    return (cap & mask) >> lsb;
}

/** A build without the table shows 0. */
static uint32_t optional_table(uint32_t log_most, uint32_t log_size)
{
    return log_size == 0 ? 0 : 1u << least(log_most, log_size);
}

void fw_init(struct fw *fw, uint32_t *key)
{
    fw->key = key;
    mmio_write32(fw, BDY_REG_MCU_DEV_STATE_OFFSET, BDY_DEV_ST_BOOT);
    uint32_t cap = mmio_read32(fw, BDY_REG_MCU_CAP_OFFSET);
    fw->log_keys = least(
        BDY_LOG_KEYS, cap_field(cap, BDY_REG_MCU_CAP_LOG_KEYS_MASK, BDY_REG_MCU_CAP_LOG_KEYS_LSB));
    fw->log_mtt = least(BDY_LOG_MTT,
                        cap_field(cap, BDY_REG_MCU_CAP_LOG_MTT_MASK, BDY_REG_MCU_CAP_LOG_MTT_LSB));
    fw->nqps = 1u << least(BDY_LOG_QPS, cap_field(cap, BDY_REG_MCU_CAP_LOG_QPS_MASK,
                                                  BDY_REG_MCU_CAP_LOG_QPS_LSB));
    fw->ncqs = 1u << least(BDY_LOG_CQS, cap_field(cap, BDY_REG_MCU_CAP_LOG_CQS_MASK,
                                                  BDY_REG_MCU_CAP_LOG_CQS_LSB));
    uint32_t cap2 = mmio_read32(fw, BDY_REG_MCU_CAP2_OFFSET);
    fw->nsrqs = optional_table(BDY_LOG_SRQS, cap_field(cap2, BDY_REG_MCU_CAP2_LOG_SRQS_MASK,
                                                       BDY_REG_MCU_CAP2_LOG_SRQS_LSB));
    fw->nahs = optional_table(
        BDY_LOG_AHS, cap_field(cap2, BDY_REG_MCU_CAP2_LOG_AHS_MASK, BDY_REG_MCU_CAP2_LOG_AHS_LSB));
    if (fw->log_keys < 2u || fw->log_mtt < 5u) { // fw_permute and fw_mtt_alloc need that much
        fw_fatal(fw, BDY_HEALTH_FW_FATAL);
        return;
    }
    mmio_write32(fw, BDY_REG_MCU_DEV_STATE_OFFSET, BDY_DEV_ST_READY);
}
