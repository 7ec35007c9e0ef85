// SPDX-License-Identifier: Apache-2.0
// Memory windows. Binds are the data path's; here windows are made, freed and looked at.
#include "fw.h"

/** The slot of the window that the command's key names by slot and nonce, or FW_NONE and why not.
 */
static uint32_t named(struct fw *fw, const struct fw_cmd *cmd, enum bdy_cmd_st *st)
{
    uint32_t slot = fw_key_slot((uint32_t)cmd->in0);
    *st = BDY_CMD_ST_BAD_INDEX;
    if (cmd->in0 > UINT32_MAX || fw_key_kind(fw, slot) < BDY_MPT_KIND_MW1 ||
        ((fw_key_first(fw, slot) ^ (uint32_t)cmd->in0) & ~0xffu) != 0) {
        return FW_NONE;
    }
    if (!fw_may_name(cmd, fw_key_owner(fw, slot))) {
        *st = BDY_CMD_ST_NOT_OWNER;
        return FW_NONE;
    }
    *st = BDY_CMD_ST_OK;
    return slot;
}

static void describe(uint64_t *entry, uint32_t key, enum bdy_mpt_kind kind, uint32_t pd)
{
    bdy_mpt_entry_set_st(entry, BDY_MPT_ST_FREE);
    bdy_mpt_entry_set_kind(entry, kind);
    bdy_mpt_entry_set_key(entry, key);
    bdy_mpt_entry_set_nonce(entry, key >> 8);
    bdy_mpt_entry_set_pd(entry, pd);
}

enum bdy_cmd_st fw_alloc_mw(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t entry[BDY_MPT_ENTRY_WORDS] = {0};
    if (cmd->in1 != 1u && cmd->in1 != 2u) {
        return BDY_CMD_ST_BAD_PARAM; // V5
    }
    enum bdy_cmd_st st = fw_pd_check(fw, cmd, cmd->in0);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    enum bdy_mpt_kind kind = cmd->in1 == 1u ? BDY_MPT_KIND_MW1 : BDY_MPT_KIND_MW2;
    uint32_t pd = (uint32_t)cmd->in0;
    uint32_t key = fw_key_alloc(fw, kind, pd);
    if (key == FW_NONE) {
        return BDY_CMD_ST_NO_RESOURCE;
    }
    describe(entry, key, kind, pd);
    enum bdy_rule rule = fw_op_key(fw, BDY_PROT_OP_MW_ALLOC, key, entry);
    if (rule != BDY_RULE_NONE) {
        fw_key_free(fw, fw_key_slot(key));
        return fw_refused(cmd, rule);
    }
    fw->pd[pd].refs++;
    cmd->out0 = key;
    return BDY_CMD_ST_OK;
}

/** Bound or not (L1); the pipeline unbinds and drains. */
enum bdy_cmd_st fw_dealloc_mw(struct fw *fw, struct fw_cmd *cmd)
{
    enum bdy_cmd_st st;
    uint32_t slot = named(fw, cmd, &st);
    if (slot == FW_NONE) {
        return st;
    }
    enum bdy_rule rule = fw_op_key(fw, BDY_PROT_OP_MW_FREE, (uint32_t)cmd->in0, NULL);
    if (rule != BDY_RULE_NONE) {
        return fw_refused(cmd, rule);
    }
    fw->pd[fw_key_pd(fw, slot)].refs--;
    fw_key_free(fw, slot);
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_query_mw(struct fw *fw, struct fw_cmd *cmd)
{
    uint64_t entry[8];
    enum bdy_cmd_st st;
    uint32_t slot = named(fw, cmd, &st);
    if (slot == FW_NONE) {
        return st;
    }
    if (!fw_table_read(fw, FW_READ_MPT, slot, entry)) {
        return BDY_CMD_ST_INTERNAL;
    }
    cmd->out0 = ((uint32_t)cmd->in0 & ~0xffu) | (uint32_t)bdy_mpt_entry_get_key(entry);
    cmd->out1 = bdy_mpt_entry_get_st(entry);
    return BDY_CMD_ST_OK;
}
