// SPDX-License-Identifier: Apache-2.0
// NOP, QUERY_HCA, INIT_HCA, TEARDOWN_HCA.
#include "fw.h"

enum bdy_cmd_st fw_nop(struct fw *fw, struct fw_cmd *cmd)
{
    (void)fw;
    (void)cmd;
    return BDY_CMD_ST_OK;
}

static uint32_t log2_of(uint32_t power)
{
    return (uint32_t)__builtin_ctz(power);
}

enum bdy_cmd_st fw_query_hca(struct fw *fw, struct fw_cmd *cmd)
{
    (void)cmd;
    uint64_t out[BDY_QUERY_HCA_OUT_WORDS] = {0};
    bdy_query_hca_out_set_fw_ver(out, (uint64_t)FW_VERSION_MAJOR << 32 | FW_VERSION_MINOR << 16 |
                                          FW_VERSION_PATCH);
    bdy_query_hca_out_set_log_keys(out, fw->log_keys);
    bdy_query_hca_out_set_log_mtt(out, fw->log_mtt);
    bdy_query_hca_out_set_log_qps(out, log2_of(fw->nqps));
    bdy_query_hca_out_set_log_cqs(out, log2_of(fw->ncqs));
    bdy_query_hca_out_set_log_eqs(out, BDY_LOG_EQS);
    bdy_query_hca_out_set_max_pd(out, FW_PDS);
    bdy_query_hca_out_set_log_max_mr(out, fw->log_mtt + 12u);
    bdy_query_hca_out_set_log_srqs(out, fw->nsrqs ? log2_of(fw->nsrqs) : 0u);
    bdy_query_hca_out_set_log_ahs(out, fw->nahs ? log2_of(fw->nahs) : 0u);
    bdy_query_hca_out_set_max_xrcd(out, fw->nsrqs ? BDY_XRCD_COUNT - 1u : 0u);
    bdy_query_hca_out_set_max_sge(out, BDY_MAX_SGE);
    bdy_query_hca_out_set_max_rd(out, BDY_MAX_RD_ATOMIC);
    bdy_query_hca_out_set_log_sq(out, 15);
    bdy_query_hca_out_set_log_rq(out, 15);
    bdy_query_hca_out_set_log_cq(out, 16);
    bdy_query_hca_out_set_mw1(out, 1);
    bdy_query_hca_out_set_mw2b(out, 1);
    bdy_query_hca_out_set_strict_ibta(out, fw->strict);
    fw_buf_put(fw, FW_BUF_OUT, out, BDY_QUERY_HCA_OUT_WORDS);
    return BDY_CMD_ST_OK;
}

enum bdy_cmd_st fw_init_hca(struct fw *fw, struct fw_cmd *cmd)
{
    (void)cmd;
    uint64_t in[BDY_INIT_HCA_IN_WORDS];
    fw_buf_get(fw, FW_BUF_IN, in, BDY_INIT_HCA_IN_WORDS);
    uint32_t eqn = (uint32_t)bdy_init_hca_in_get_eqn(in);
    if (!bdy_init_hca_in_rsvd_zero(in)) {
        return BDY_CMD_ST_BAD_PARAM;
    }
    if (eqn >= FW_EQS || !fw->eq[eqn].used) {
        return BDY_CMD_ST_BAD_INDEX;
    }
    fw_keys_init(fw, bdy_init_hca_in_get_seed_lo(in), bdy_init_hca_in_get_seed_hi(in));
    fw->strict = bdy_init_hca_in_get_strict_ibta(in) != 0;
    fw->async_eqn = (uint8_t)eqn;
    fw->running = true;
    mmio_write32(fw, BDY_REG_MCU_STRICT_OFFSET, fw->strict);
    mmio_write32(fw, BDY_REG_MCU_ASYNC_EQN_OFFSET, eqn);
    mmio_write32(fw, BDY_REG_MCU_VIOL_LIMIT_OFFSET, (uint32_t)bdy_init_hca_in_get_viol_limit(in));
    mmio_write32(fw, BDY_REG_MCU_DEV_STATE_OFFSET, BDY_DEV_ST_RUN);
    return BDY_CMD_ST_OK;
}

bool fw_objects_gone(const struct fw *fw)
{
    bool gone = fw->keys_used == 0 && fw->objects == 0;
    for (uint32_t i = 0; i < FW_EQS; i++) {
        gone = gone && (!fw->eq[i].used || i == fw->async_eqn);
    }
    return gone;
}

/** All objects must be gone but the event queue that brings this command's own CMD_DONE. */
enum bdy_cmd_st fw_teardown_hca(struct fw *fw, struct fw_cmd *cmd)
{
    (void)cmd;
    if (!fw_objects_gone(fw)) {
        return BDY_CMD_ST_BUSY;
    }
    fw->running = false;
    mmio_write32(fw, BDY_REG_MCU_DEV_STATE_OFFSET, BDY_DEV_ST_READY);
    return BDY_CMD_ST_OK;
}
