// SPDX-License-Identifier: Apache-2.0
/** @file qp_table.h  Which state changes a queue pair may make, and with which attributes (N5). */
#ifndef FW_QP_TABLE_H
#define FW_QP_TABLE_H

#include <stdint.h>

/** The bits of ibv_qp_attr_mask, which modify_qp_in.mask carries. */
enum fw_attr {
    FW_ATTR_STATE = 1 << 0,
    FW_ATTR_CUR_STATE = 1 << 1,
    FW_ATTR_SQD_NOTIFY = 1 << 2,
    FW_ATTR_ACCESS = 1 << 3,
    FW_ATTR_PKEY_INDEX = 1 << 4,
    FW_ATTR_PORT = 1 << 5,
    FW_ATTR_QKEY = 1 << 6,
    FW_ATTR_AV = 1 << 7,
    FW_ATTR_MTU = 1 << 8,
    FW_ATTR_TIMEOUT = 1 << 9,
    FW_ATTR_RETRY_CNT = 1 << 10,
    FW_ATTR_RNR_RETRY = 1 << 11,
    FW_ATTR_RQ_PSN = 1 << 12,
    FW_ATTR_MAX_RD = 1 << 13,
    FW_ATTR_MIN_RNR = 1 << 15,
    FW_ATTR_SQ_PSN = 1 << 16,
    FW_ATTR_MAX_DEST_RD = 1 << 17,
    FW_ATTR_DEST_QPN = 1 << 20
};

struct fw_transition {
    uint8_t kinds;               /**< bit n: enum bdy_qp_kind n */
    uint8_t from, to;            /**< enum bdy_qp_st */
    uint32_t required, optional; /**< besides FW_ATTR_STATE */
};

/** The legal change of a queue pair of that kind from `from` to `to`, or NULL. */
const struct fw_transition *fw_transition_find(uint32_t kind, uint32_t from, uint32_t to);

/** A field of the context (words 0-7: half 0, 8-15: half 1) and the attribute that sets it. */
struct fw_attr_field {
    uint32_t attr;
    uint32_t word;
    uint64_t mask;
};

extern const struct fw_attr_field fw_attr_fields[];
extern const uint32_t fw_attr_nfields;

#endif
