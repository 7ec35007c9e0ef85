// SPDX-License-Identifier: Apache-2.0
// The command queue: one command at a time, its end told by a CMD_DONE event (by its `done` phase
// before there are events).
#include "priv.h"

#define POLL_CYCLES 512u

int cmd_setup(struct bdy_core *core)
{
    const struct bdy_pci_ops *ops = core->pci->ops;
    int rc = ops->dma_alloc(core->pci, (size_t)BDY_CMD_ENTRY_BYTES << CORE_CMD_LOG, &core->cmdq);
    if (rc == 0) {
        rc = ops->dma_alloc(core->pci, BDY_CMD_MBOX_BYTES, &core->in_mbox);
    }
    if (rc == 0) {
        rc = ops->dma_alloc(core->pci, BDY_CMD_MBOX_BYTES, &core->out_mbox);
    }
    if (rc == 0) {
        rc = core_bar_write(core, BDY_REG_BAR_CMDQ_OFFSET, core->cmdq.bus | CORE_CMD_LOG);
    }
    return rc;
}

void cmd_free(struct bdy_core *core)
{
    struct bdy_dma_buf *all[] = {&core->out_mbox, &core->in_mbox, &core->cmdq};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i]->cpu) {
            core->pci->ops->dma_free(core->pci, all[i]);
        }
    }
}

static int status_errno(enum bdy_cmd_st status)
{
    switch (status) {
    case BDY_CMD_ST_OK:
        return 0;
    case BDY_CMD_ST_BAD_OP:
        return -EOPNOTSUPP;
    case BDY_CMD_ST_BUSY:
        return -EBUSY;
    case BDY_CMD_ST_NO_RESOURCE:
        return -ENOMEM;
    case BDY_CMD_ST_DMA_ERROR:
    case BDY_CMD_ST_INTERNAL:
        return -EREMOTEIO; // -EIO is for a dead device alone
    default:
        return -EINVAL;
    }
}

/** Write the entry; `owner`, in the last word, is stored last. */
static void fill(uint64_t *entry, const struct bdy_core *core, const struct cmd *cmd,
                 unsigned phase)
{
    uint64_t words[BDY_CMD_ENTRY_WORDS] = {0};
    bdy_cmd_entry_set_op(words, cmd->op);
    bdy_cmd_entry_set_token(words, core->token);
    bdy_cmd_entry_set_uctx(words, cmd->uctx);
    bdy_cmd_entry_set_owner(words, phase);
    bdy_cmd_entry_set_in_len(words, cmd->in_len);
    bdy_cmd_entry_set_out_len(words, cmd->out_len);
    bdy_cmd_entry_set_in_mbox(words, cmd->in_len ? core->in_mbox.bus : 0);
    bdy_cmd_entry_set_out_mbox(words, cmd->out_len ? core->out_mbox.bus : 0);
    bdy_cmd_entry_set_inline_in0(words, cmd->in0);
    bdy_cmd_entry_set_inline_in1(words, cmd->in1);
    bdy_cmd_entry_set_done(words, !phase);
    for (unsigned i = BDY_CMD_ENTRY_WORDS; i-- > 1u;) {
        entry[i] = words[i];
    }
    __atomic_store_n(&entry[BDY_CMD_ENTRY_OWNER_LSB / 64u], words[BDY_CMD_ENTRY_OWNER_LSB / 64u],
                     __ATOMIC_RELEASE);
}

static bool answered(const uint64_t *entry, unsigned phase)
{
    uint64_t last[BDY_CMD_ENTRY_WORDS] = {0};
    unsigned at = BDY_CMD_ENTRY_DONE_LSB / 64u;
    last[at] = __atomic_load_n(&entry[at], __ATOMIC_ACQUIRE);
    return bdy_cmd_entry_get_done(last) == phase;
}

/** Let time pass until the answer is there. Interrupts tell, once INIT_HCA has named the event
 * queue. */
static int await(struct bdy_core *core, const uint64_t *entry, unsigned phase)
{
    struct bdy_pci *pci = core->pci;
    uint64_t deadline =
        pci->ops->now(pci) + (core->cfg.cmd_cycles ? core->cfg.cmd_cycles : CORE_CMD_CYCLES);
    for (;;) {
        bool polled = !core->initialised && answered(entry, phase);
        if (polled || (core->cmd_done && answered(entry, phase))) {
            return 0;
        }
        uint64_t now = pci->ops->now(pci);
        if (core->dead || core->cmd_done || now >= deadline) {
            core_die(core, core->cmd_done ? "an event told of a command without answer"
                                          : "a command was not answered");
            return -EIO;
        }
        uint64_t until = core->initialised ? deadline : now + POLL_CYCLES;
        int rc = pci->ops->wait(pci, until < deadline ? until : deadline);
        if (rc != 0 && rc != -ETIMEDOUT) {
            core_die(core, "waiting for a command failed");
            return -EIO;
        }
    }
}

int cmd_run(struct bdy_core *core, struct cmd *cmd)
{
    if (core->dead) {
        return -EIO;
    }
    unsigned phase = !(core->cmd_pi >> CORE_CMD_LOG & 1u);
    uint64_t *ring = core->cmdq.cpu;
    uint64_t *entry =
        ring + (size_t)(core->cmd_pi & ((1u << CORE_CMD_LOG) - 1u)) * BDY_CMD_ENTRY_WORDS;

    core->token++;
    core->cmd_done = false;
    fill(entry, core, cmd, phase);
    core->cmd_pi = (core->cmd_pi + 1u) & 0xffffu;
    int rc = core_bar_write(core, BDY_REG_BAR_CMDQ_DB_OFFSET, core->cmd_pi);
    if (rc == 0) {
        rc = await(core, entry, phase);
    }
    if (rc != 0) {
        return -EIO;
    }
    cmd->out0 = bdy_cmd_entry_get_inline_out0(entry);
    cmd->out1 = bdy_cmd_entry_get_inline_out1(entry);
    cmd->status = (enum bdy_cmd_st)bdy_cmd_entry_get_status(entry);
    if (cmd->status != BDY_CMD_ST_OK) {
        bdy_os_log(BDY_OS_DEBUG, "bindery: %s: %s %s", bdy_cmd_op_name(cmd->op),
                   bdy_cmd_st_name(cmd->status), bdy_rule_name((unsigned)cmd->out1));
    }
    return status_errno(cmd->status);
}

int cmd_simple(struct bdy_core *core, enum bdy_cmd_op op, uint32_t uctx, uint64_t in0)
{
    struct cmd cmd = {.op = op, .uctx = uctx, .in0 = in0};
    return cmd_run(core, &cmd);
}
