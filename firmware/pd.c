// SPDX-License-Identifier: Apache-2.0
// Protection domains. A number is used again only when its last object is gone (H5, N2).
#include "fw.h"

/** The PD that the command names, or NULL and why not. */
static struct fw_pd *named(struct fw *fw, const struct fw_cmd *cmd, uint64_t number,
                           enum bdy_cmd_st *st)
{
    if (number >= FW_PDS || fw->pd[number].st == FW_PD_UNUSED) {
        *st = BDY_CMD_ST_BAD_INDEX;
        return NULL;
    }
    if (!fw_may_name(cmd, fw->pd[number].owner)) {
        *st = BDY_CMD_ST_NOT_OWNER;
        return NULL;
    }
    return &fw->pd[number];
}

enum bdy_cmd_st fw_pd_check(struct fw *fw, const struct fw_cmd *cmd, uint64_t number)
{
    enum bdy_cmd_st st = BDY_CMD_ST_OK;
    const struct fw_pd *pd = named(fw, cmd, number, &st);
    if (!pd) {
        return st;
    }
    return pd->st == FW_PD_ALIVE ? BDY_CMD_ST_OK : BDY_CMD_ST_BAD_STATE;
}

enum bdy_cmd_st fw_alloc_pd(struct fw *fw, struct fw_cmd *cmd)
{
    for (uint32_t i = 0; i < FW_PDS; i++) {
        uint32_t number = (fw->next_pd + i) % FW_PDS;
        struct fw_pd *pd = &fw->pd[number];
        if (pd->st != FW_PD_UNUSED) {
            continue;
        }
        enum bdy_rule rule = fw_op_pd(fw, BDY_PROT_OP_PD_OPEN, number);
        if (rule != BDY_RULE_NONE) {
            return fw_refused(cmd, rule);
        }
        *pd = (struct fw_pd){.refs = 0, .owner = cmd->uctx, .st = FW_PD_ALIVE};
        fw->next_pd = number + 1u;
        fw->objects++;
        cmd->out0 = number;
        return BDY_CMD_ST_OK;
    }
    return BDY_CMD_ST_NO_RESOURCE;
}

static enum bdy_cmd_st kill(struct fw *fw, struct fw_cmd *cmd, struct fw_pd *pd)
{
    if (pd->st == FW_PD_ALIVE) {
        enum bdy_rule rule = fw_op_pd(fw, BDY_PROT_OP_PD_KILL, (uint32_t)cmd->in0);
        if (rule != BDY_RULE_NONE) {
            return fw_refused(cmd, rule);
        }
        pd->st = FW_PD_DEAD;
    }
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_dealloc_pd(struct fw *fw, struct fw_cmd *cmd)
{
    enum bdy_cmd_st st = BDY_CMD_ST_OK;
    struct fw_pd *pd = named(fw, cmd, cmd->in0, &st);
    if (!pd) {
        return st;
    }
    if (pd->refs > 0) {
        return BDY_CMD_ST_BUSY;
    }
    st = kill(fw, cmd, pd);
    if (st == BDY_CMD_ST_OK) {
        pd->st = FW_PD_UNUSED;
        fw->objects--;
    }
    return st;
}

/** Death of a context: no access through the PD from now on; its objects are destroyed one by one
 * later (H5). */
enum bdy_cmd_st fw_pd_kill(struct fw *fw, struct fw_cmd *cmd)
{
    enum bdy_cmd_st st = BDY_CMD_ST_OK;
    struct fw_pd *pd = named(fw, cmd, cmd->in0, &st);
    return pd ? kill(fw, cmd, pd) : st;
}

/** Its entries leave the cache; what they say is fetched again when needed. */
enum bdy_cmd_st fw_flush_pd(struct fw *fw, struct fw_cmd *cmd)
{
    enum bdy_cmd_st st = BDY_CMD_ST_OK;
    if (!named(fw, cmd, cmd->in0, &st)) {
        return st;
    }
    enum bdy_rule rule = fw_op_pd(fw, BDY_PROT_OP_PD_FLUSH, (uint32_t)cmd->in0);
    return rule == BDY_RULE_NONE ? BDY_CMD_ST_OK : fw_refused(cmd, rule);
}

/** Refusals of remote keys. */
enum bdy_cmd_st fw_query_pd(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t data[8];
    enum bdy_cmd_st st = BDY_CMD_ST_OK;
    if (!named(fw, cmd, cmd->in0, &st)) {
        return st;
    }
    if (!fw_table_read(fw, FW_READ_PD_VIOL, (uint32_t)cmd->in0, data)) {
        return BDY_CMD_ST_INTERNAL;
    }
    cmd->out0 = (uint32_t)data[0];
    return BDY_CMD_ST_OK;
}
