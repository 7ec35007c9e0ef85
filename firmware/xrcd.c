// SPDX-License-Identifier: Apache-2.0
// XRC domains. Number 0 is none.
#include "fw.h"

enum bdy_cmd_st fw_xrcd_check(const struct fw *fw, uint64_t number)
{
    return number != 0 && number < BDY_XRCD_COUNT && fw->xrcd[number].used ? BDY_CMD_ST_OK
                                                                           : BDY_CMD_ST_BAD_INDEX;
}

enum bdy_cmd_st fw_alloc_xrcd(struct fw *fw, struct fw_cmd *cmd)
{
    for (uint32_t i = 0; fw->nsrqs > 0 && i < BDY_XRCD_COUNT; i++) {
        uint32_t number = (fw->next_xrcd + i) % BDY_XRCD_COUNT;
        if (number != 0 && !fw->xrcd[number].used) {
            fw->xrcd[number] = (struct fw_xrcd){.refs = 0, .used = true};
            fw->next_xrcd = number + 1u;
            fw->objects++;
            cmd->out0 = number;
            return BDY_CMD_ST_OK;
        }
    }
    return BDY_CMD_ST_NO_RESOURCE;
}

enum bdy_cmd_st fw_dealloc_xrcd(struct fw *fw, struct fw_cmd *cmd)
{
    enum bdy_cmd_st st = fw_xrcd_check(fw, cmd->in0);
    if (st != BDY_CMD_ST_OK) {
        return st;
    }
    if (fw->xrcd[cmd->in0].refs > 0) {
        return BDY_CMD_ST_BUSY;
    }
    fw->xrcd[cmd->in0].used = false;
    fw->objects--;
    return BDY_CMD_ST_OK;
}
