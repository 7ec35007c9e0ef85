// SPDX-License-Identifier: Apache-2.0
// The engines behind the peripherals: DMA, bind pipeline, table reads, events. Each call starts one
// and sleeps till its end.
#include "fw.h"

#define EV_DMA BDY_REG_MCU_EVENT_DMA_MASK
#define EV_OP BDY_REG_MCU_EVENT_OP_MASK
#define EV_RD BDY_REG_MCU_EVENT_RD_MASK
#define EV_EVT BDY_REG_MCU_EVENT_EVT_MASK

static void wait_event(struct fw *fw, uint32_t event)
{
    if (mmio_read32(fw, BDY_REG_MCU_EVENT_OFFSET) & event) {
        return;
    }
    mmio_write32(fw, BDY_REG_MCU_EVENT_MASK_OFFSET, event);
    while (!(mmio_read32(fw, BDY_REG_MCU_EVENT_OFFSET) & event)) {
        mmio_wfi(fw);
    }
}

static bool dma_piece(struct fw *fw, uint64_t bus, uint32_t buf, uint32_t bytes, uint32_t ctrl)
{
    mmio_write32(fw, BDY_REG_MCU_DMA_LO_OFFSET, (uint32_t)bus);
    mmio_write32(fw, BDY_REG_MCU_DMA_HI_OFFSET, (uint32_t)(bus >> 32));
    mmio_write32(fw, BDY_REG_MCU_DMA_BUF_OFFSET, buf);
    mmio_write32(fw, BDY_REG_MCU_DMA_LEN_OFFSET, bytes);
    mmio_write32(fw, BDY_REG_MCU_DMA_CTRL_OFFSET, ctrl);
    wait_event(fw, EV_DMA);
    return !(mmio_read32(fw, BDY_REG_MCU_DMA_STAT_OFFSET) & BDY_REG_MCU_DMA_STAT_ERR_MASK);
}

/** Never across a 4 KiB line of host memory. */
static bool dma(struct fw *fw, uint64_t bus, uint32_t buf, uint32_t bytes, uint32_t ctrl)
{
    while (bytes > 0) {
        uint32_t room = 4096u - ((uint32_t)bus & 4095u);
        uint32_t n = bytes < room ? bytes : room;
        if (!dma_piece(fw, bus, buf, n, ctrl)) {
            return false;
        }
        bus += n;
        buf += n;
        bytes -= n;
    }
    return true;
}

bool fw_dma_read(struct fw *fw, uint64_t bus, uint32_t buf, uint32_t bytes)
{
    return dma(fw, bus, buf, bytes, BDY_REG_MCU_DMA_CTRL_GO_MASK);
}

bool fw_dma_write(struct fw *fw, uint64_t bus, uint32_t buf, uint32_t bytes)
{
    return dma(fw, bus, buf, bytes, BDY_REG_MCU_DMA_CTRL_GO_MASK | BDY_REG_MCU_DMA_CTRL_WR_MASK);
}

static uint64_t read64(struct fw *fw, uint32_t offset)
{
    uint64_t low = mmio_read32(fw, offset);
    return low | (uint64_t)mmio_read32(fw, offset + 4u) << 32;
}

static void write64(struct fw *fw, uint32_t offset, uint64_t value)
{
    mmio_write32(fw, offset, (uint32_t)value);
    mmio_write32(fw, offset + 4u, (uint32_t)(value >> 32));
}

void fw_buf_get(struct fw *fw, uint32_t buf, uint64_t *words, uint32_t nwords)
{
    for (uint32_t i = 0; i < nwords; i++) {
        words[i] = read64(fw, BDY_REG_MCU_BUF_OFFSET + buf + 8u * i);
    }
}

void fw_buf_put(struct fw *fw, uint32_t buf, const uint64_t *words, uint32_t nwords)
{
    for (uint32_t i = 0; i < nwords; i++) {
        write64(fw, BDY_REG_MCU_BUF_OFFSET + buf + 8u * i, words[i]);
    }
}

bool fw_table_read(struct fw *fw, enum fw_read what, uint32_t index, uint64_t words[8])
{
    mmio_write32(fw, BDY_REG_MCU_RD_CTRL_OFFSET,
                 BDY_REG_MCU_RD_CTRL_GO_MASK | (uint32_t)what << BDY_REG_MCU_RD_CTRL_WHAT_LSB |
                     index << BDY_REG_MCU_RD_CTRL_INDEX_LSB);
    wait_event(fw, EV_RD);
    if (mmio_read32(fw, BDY_REG_MCU_RD_STAT_OFFSET) & BDY_REG_MCU_RD_STAT_ERR_MASK) {
        return false;
    }
    for (uint32_t i = 0; i < 8u; i++) {
        words[i] = read64(fw, BDY_REG_MCU_RD_WORD_OFFSET + 8u * i);
    }
    return true;
}

void fw_event(struct fw *fw, uint32_t eqn, uint32_t kind, uint32_t number, uint32_t data)
{
    mmio_write32(fw, BDY_REG_MCU_EVT_WORD0_OFFSET,
                 kind << BDY_EQE_KIND_LSB | number << BDY_EQE_NUMBER_LSB);
    mmio_write32(fw, BDY_REG_MCU_EVT_WORD1_OFFSET, data);
    mmio_write32(fw, BDY_REG_MCU_EVT_CTRL_OFFSET,
                 BDY_REG_MCU_EVT_CTRL_GO_MASK | eqn << BDY_REG_MCU_EVT_CTRL_EQN_LSB);
    wait_event(fw, EV_EVT);
}

static void op_words(struct fw *fw, const uint64_t *op, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        write64(fw, BDY_REG_MCU_OP_WORD_OFFSET + 8u * i, op ? op[i] : 0u);
    }
}

static enum bdy_rule op_go(struct fw *fw)
{
    mmio_write32(fw, BDY_REG_MCU_OP_CTRL_OFFSET, BDY_REG_MCU_OP_CTRL_GO_MASK);
    wait_event(fw, EV_OP);
    uint32_t stat = mmio_read32(fw, BDY_REG_MCU_OP_STAT_OFFSET);
    return (enum bdy_rule)((stat & BDY_REG_MCU_OP_STAT_RULE_MASK) >> BDY_REG_MCU_OP_STAT_RULE_LSB);
}

enum bdy_rule fw_op(struct fw *fw, const uint64_t *op, bool with_body, uint32_t *result)
{
    op_words(fw, op, 0, BDY_PROT_OP_BODY0_LSB / 64u);
    if (with_body || fw->op_body) {
        op_words(fw, with_body ? op : NULL, BDY_PROT_OP_BODY0_LSB / 64u, BDY_PROT_OP_WORDS);
        fw->op_body = with_body;
    }
    enum bdy_rule rule = op_go(fw);
    if (result) {
        *result = mmio_read32(fw, BDY_REG_MCU_OP_RES_OFFSET);
    }
    return rule;
}

static void op_clear(uint64_t *op, enum bdy_prot_op kind, const uint64_t *body)
{
    for (uint32_t i = 0; i < 8u; i++) {
        op[i] = 0;
        op[8u + i] = body ? body[i] : 0u;
    }
    bdy_prot_op_set_op(op, kind);
}

enum bdy_rule fw_op_key(struct fw *fw, enum bdy_prot_op kind, uint32_t key, const uint64_t *entry)
{
    uint64_t op[BDY_PROT_OP_WORDS];
    op_clear(op, kind, entry);
    bdy_prot_op_set_key(op, key);
    return fw_op(fw, op, entry != NULL, NULL);
}

enum bdy_rule fw_op_pd(struct fw *fw, enum bdy_prot_op kind, uint32_t pd)
{
    uint64_t op[BDY_PROT_OP_WORDS];
    op_clear(op, kind, NULL);
    bdy_prot_op_set_pd(op, pd);
    return fw_op(fw, op, false, NULL);
}

enum bdy_rule fw_op_qp(struct fw *fw, enum bdy_prot_op kind, uint32_t slot, uint32_t *result)
{
    uint64_t op[BDY_PROT_OP_WORDS];
    op_clear(op, kind, NULL);
    bdy_prot_op_set_qpn(op, BDY_QPN_BASE + slot);
    return fw_op(fw, op, false, result);
}

enum bdy_rule fw_op_ctx(struct fw *fw, enum bdy_ctx_kind kind, uint32_t index, uint32_t half,
                        const uint64_t *ctx)
{
    uint64_t op[BDY_PROT_OP_WORDS];
    op_clear(op, BDY_PROT_OP_CTX_WRITE, ctx);
    bdy_prot_op_set_ctx_kind(op, kind);
    bdy_prot_op_set_half(op, half);
    bdy_prot_op_set_index(op, index);
    return fw_op(fw, op, true, NULL);
}

/** The image is laid out once; a page then changes its index and address only. */
enum bdy_rule fw_op_mtt(struct fw *fw, uint32_t key, uint32_t first, uint32_t buf, uint32_t count)
{
    uint64_t op[BDY_PROT_OP_WORDS];
    uint64_t entry[8] = {0};
    bdy_mtt_entry_set_owner(entry, fw_key_slot(key));
    bdy_mtt_entry_set_nonce(entry, key >> 8);
    bdy_mtt_entry_set_valid(entry, 1);
    op_clear(op, BDY_PROT_OP_MTT_WRITE, entry);
    bdy_prot_op_set_key(op, key);
    op_words(fw, op, 0, BDY_PROT_OP_WORDS);
    fw->op_body = true;

    enum bdy_rule rule = BDY_RULE_NONE;
    for (uint32_t i = 0; i < count && rule == BDY_RULE_NONE; i++) {
        uint32_t page = BDY_REG_MCU_BUF_OFFSET + buf + 8u * i;
        uint32_t body = BDY_REG_MCU_OP_WORD_OFFSET + BDY_PROT_OP_BODY0_LSB / 8u;
        bdy_prot_op_set_index(op, first + i);
        write64(fw, BDY_REG_MCU_OP_WORD_OFFSET + BDY_PROT_OP_INDEX_LSB / 64u * 8u,
                op[BDY_PROT_OP_INDEX_LSB / 64u]);
        mmio_write32(fw, body, mmio_read32(fw, page));
        mmio_write32(fw, body + 4u, mmio_read32(fw, page + 4u));
        rule = op_go(fw);
    }
    return rule;
}

enum bdy_cmd_st fw_refused(struct fw_cmd *cmd, enum bdy_rule rule)
{
    cmd->out1 = rule;
    return BDY_CMD_ST_REFUSED;
}
