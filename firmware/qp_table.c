// SPDX-License-Identifier: Apache-2.0
// The state tables of queue pairs, as data: IBTA's transitions for RC without path migration.
#include <stddef.h>

#include "bdy_regs.h"
#include "qp_table.h"

#define ANY 0xffu
#define TO_RTR                                                                                     \
    (FW_ATTR_AV | FW_ATTR_MTU | FW_ATTR_DEST_QPN | FW_ATTR_RQ_PSN | FW_ATTR_MAX_DEST_RD |          \
     FW_ATTR_MIN_RNR)
#define TO_RTS                                                                                     \
    (FW_ATTR_TIMEOUT | FW_ATTR_RETRY_CNT | FW_ATTR_RNR_RETRY | FW_ATTR_SQ_PSN | FW_ATTR_MAX_RD)
#define IN_RTS (FW_ATTR_CUR_STATE | FW_ATTR_ACCESS | FW_ATTR_MIN_RNR)
#define IN_SQD                                                                                     \
    (FW_ATTR_PORT | FW_ATTR_AV | FW_ATTR_TIMEOUT | FW_ATTR_RETRY_CNT | FW_ATTR_RNR_RETRY |         \
     FW_ATTR_MAX_RD | FW_ATTR_MAX_DEST_RD | FW_ATTR_CUR_STATE | FW_ATTR_PKEY_INDEX |               \
     FW_ATTR_ACCESS | FW_ATTR_MIN_RNR)

static const struct fw_transition transitions[] = {
    {ANY, BDY_QP_ST_RESET, 0, 0},
    {ANY, BDY_QP_ST_ERR, 0, 0},
    {BDY_QP_ST_RESET, BDY_QP_ST_INIT, FW_ATTR_PKEY_INDEX | FW_ATTR_PORT | FW_ATTR_ACCESS, 0},
    {BDY_QP_ST_INIT, BDY_QP_ST_INIT, 0, FW_ATTR_PKEY_INDEX | FW_ATTR_PORT | FW_ATTR_ACCESS},
    {BDY_QP_ST_INIT, BDY_QP_ST_RTR, TO_RTR, FW_ATTR_PKEY_INDEX | FW_ATTR_ACCESS},
    {BDY_QP_ST_RTR, BDY_QP_ST_RTS, TO_RTS, IN_RTS},
    {BDY_QP_ST_RTS, BDY_QP_ST_RTS, 0, IN_RTS},
    {BDY_QP_ST_RTS, BDY_QP_ST_SQD, 0, FW_ATTR_SQD_NOTIFY},
    {BDY_QP_ST_SQD, BDY_QP_ST_SQD, 0, IN_SQD},
    {BDY_QP_ST_SQD, BDY_QP_ST_RTS, 0, IN_RTS},
};

const struct fw_transition *fw_transition_find(uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < sizeof transitions / sizeof transitions[0]; i++) {
        if ((transitions[i].from == ANY || transitions[i].from == from) &&
            transitions[i].to == to) {
            return &transitions[i];
        }
    }
    return NULL;
}

#define BITS(lsb, width) ((~UINT64_C(0) >> (64u - (width))) << ((lsb) % 64u))
#define HALF0(attr, f)                                                                             \
    {                                                                                              \
        attr, BDY_QP_CTX0_##f##_LSB / 64u, BITS(BDY_QP_CTX0_##f##_LSB, BDY_QP_CTX0_##f##_W)        \
    }
#define HALF1(attr, f)                                                                             \
    {                                                                                              \
        attr, 8u + BDY_QP_CTX1_##f##_LSB / 64u, BITS(BDY_QP_CTX1_##f##_LSB, BDY_QP_CTX1_##f##_W)   \
    }

const struct fw_attr_field fw_attr_fields[] = {
    HALF0(FW_ATTR_ACCESS, RIGHTS),
    HALF0(FW_ATTR_PKEY_INDEX, PKEY_INDEX),
    HALF0(FW_ATTR_PORT, PORT),
    HALF0(FW_ATTR_MTU, MTU),
    HALF0(FW_ATTR_TIMEOUT, TIMEOUT),
    HALF0(FW_ATTR_RETRY_CNT, RETRY_CNT),
    HALF0(FW_ATTR_RNR_RETRY, RNR_RETRY),
    HALF0(FW_ATTR_RQ_PSN, RQ_PSN),
    HALF0(FW_ATTR_MAX_RD, MAX_RD),
    HALF0(FW_ATTR_MIN_RNR, MIN_RNR),
    HALF0(FW_ATTR_SQ_PSN, SQ_PSN),
    HALF0(FW_ATTR_MAX_DEST_RD, MAX_DEST_RD),
    HALF0(FW_ATTR_DEST_QPN, DEST_QPN),
    HALF0(FW_ATTR_AV, GRH),
    HALF0(FW_ATTR_AV, SL),
    HALF0(FW_ATTR_AV, DLID),
    HALF1(FW_ATTR_AV, DGID_LO),
    HALF1(FW_ATTR_AV, DGID_HI),
    HALF1(FW_ATTR_AV, FLOW_LABEL),
    HALF1(FW_ATTR_AV, TCLASS),
    HALF1(FW_ATTR_AV, HOP_LIMIT),
    HALF1(FW_ATTR_AV, SGID_INDEX),
    HALF1(FW_ATTR_AV, SRC_PATH_BITS),
    HALF1(FW_ATTR_AV, STATIC_RATE),
};

const uint32_t fw_attr_nfields = sizeof fw_attr_fields / sizeof fw_attr_fields[0];
