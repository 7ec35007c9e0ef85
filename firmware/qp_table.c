// SPDX-License-Identifier: Apache-2.0
// The state tables of queue pairs, as data: IBTA's transitions of each type
// without path migration.
#include <stddef.h>

#include "bdy_regs.h"
#include "qp_table.h"

#define ANY 0xffu
#define K(kind) (1u << BDY_QP_KIND_##kind)
#define EVERY (K(RC) | K(UC) | K(UD) | K(XRC_SEND) | K(XRC_RECV))
#define CONNECTED (EVERY & ~K(UD))

#define PKEY_PORT (FW_ATTR_PKEY_INDEX | FW_ATTR_PORT)
#define PATH (FW_ATTR_AV | FW_ATTR_MTU | FW_ATTR_DEST_QPN | FW_ATTR_RQ_PSN)
#define RESPONDER (FW_ATTR_MAX_DEST_RD | FW_ATTR_MIN_RNR)
#define RETRIES (FW_ATTR_TIMEOUT | FW_ATTR_RETRY_CNT | FW_ATTR_RNR_RETRY)
#define REQUESTER (RETRIES | FW_ATTR_SQ_PSN | FW_ATTR_MAX_RD)
#define LIVE_UD (FW_ATTR_CUR_STATE | FW_ATTR_QKEY)
#define LIVE (FW_ATTR_CUR_STATE | FW_ATTR_ACCESS)
#define LIVE_RX (LIVE | FW_ATTR_MIN_RNR)
#define IN_SQD (FW_ATTR_AV | FW_ATTR_CUR_STATE | FW_ATTR_PKEY_INDEX | FW_ATTR_ACCESS)

static const struct fw_transition transitions[] = {
    {EVERY, ANY, BDY_QP_ST_RESET, 0, 0},
    {EVERY, ANY, BDY_QP_ST_ERR, 0, 0},
    {CONNECTED, BDY_QP_ST_RESET, BDY_QP_ST_INIT, PKEY_PORT | FW_ATTR_ACCESS, 0},
    {K(UD), BDY_QP_ST_RESET, BDY_QP_ST_INIT, PKEY_PORT | FW_ATTR_QKEY, 0},
    {CONNECTED, BDY_QP_ST_INIT, BDY_QP_ST_INIT, 0, PKEY_PORT | FW_ATTR_ACCESS},
    {K(UD), BDY_QP_ST_INIT, BDY_QP_ST_INIT, 0, PKEY_PORT | FW_ATTR_QKEY},
    {K(RC) | K(XRC_RECV), BDY_QP_ST_INIT, BDY_QP_ST_RTR, PATH | RESPONDER,
     FW_ATTR_PKEY_INDEX | FW_ATTR_ACCESS},
    {K(UC) | K(XRC_SEND), BDY_QP_ST_INIT, BDY_QP_ST_RTR, PATH, FW_ATTR_PKEY_INDEX | FW_ATTR_ACCESS},
    {K(UD), BDY_QP_ST_INIT, BDY_QP_ST_RTR, 0, FW_ATTR_PKEY_INDEX | FW_ATTR_QKEY},
    {K(RC), BDY_QP_ST_RTR, BDY_QP_ST_RTS, REQUESTER, LIVE_RX},
    {K(XRC_SEND), BDY_QP_ST_RTR, BDY_QP_ST_RTS, REQUESTER, LIVE},
    {K(XRC_RECV), BDY_QP_ST_RTR, BDY_QP_ST_RTS, FW_ATTR_TIMEOUT | FW_ATTR_SQ_PSN, LIVE_RX},
    {K(UC), BDY_QP_ST_RTR, BDY_QP_ST_RTS, FW_ATTR_SQ_PSN, LIVE},
    {K(UD), BDY_QP_ST_RTR, BDY_QP_ST_RTS, FW_ATTR_SQ_PSN, LIVE_UD},
    {K(RC) | K(XRC_RECV), BDY_QP_ST_RTS, BDY_QP_ST_RTS, 0, LIVE_RX},
    {K(UC) | K(XRC_SEND), BDY_QP_ST_RTS, BDY_QP_ST_RTS, 0, LIVE},
    {K(UD), BDY_QP_ST_RTS, BDY_QP_ST_RTS, 0, LIVE_UD},
    {EVERY, BDY_QP_ST_RTS, BDY_QP_ST_SQD, 0, FW_ATTR_SQD_NOTIFY},
    {K(RC), BDY_QP_ST_SQD, BDY_QP_ST_SQD, 0,
     IN_SQD | FW_ATTR_PORT | RETRIES | FW_ATTR_MAX_RD | RESPONDER},
    {K(XRC_SEND), BDY_QP_ST_SQD, BDY_QP_ST_SQD, 0,
     IN_SQD | FW_ATTR_PORT | RETRIES | FW_ATTR_MAX_RD},
    {K(XRC_RECV), BDY_QP_ST_SQD, BDY_QP_ST_SQD, 0,
     IN_SQD | FW_ATTR_PORT | FW_ATTR_TIMEOUT | RESPONDER},
    {K(UC), BDY_QP_ST_SQD, BDY_QP_ST_SQD, 0, IN_SQD},
    {K(UD), BDY_QP_ST_SQD, BDY_QP_ST_SQD, 0, FW_ATTR_PKEY_INDEX | LIVE_UD},
    {K(RC) | K(XRC_RECV), BDY_QP_ST_SQD, BDY_QP_ST_RTS, 0, LIVE_RX},
    {K(UC) | K(XRC_SEND), BDY_QP_ST_SQD, BDY_QP_ST_RTS, 0, LIVE},
    {K(UD), BDY_QP_ST_SQD, BDY_QP_ST_RTS, 0, LIVE_UD},
    {K(UC), BDY_QP_ST_SQE, BDY_QP_ST_RTS, 0, LIVE},
    {K(UD), BDY_QP_ST_SQE, BDY_QP_ST_RTS, 0, LIVE_UD},
};

const struct fw_transition *fw_transition_find(uint32_t kind, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < sizeof transitions / sizeof transitions[0]; i++) {
        const struct fw_transition *t = &transitions[i];
        if ((t->kinds >> kind & 1u) && (t->from == ANY || t->from == from) && t->to == to) {
            return t;
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
    HALF0(FW_ATTR_QKEY, QKEY),
    HALF0(FW_ATTR_SQD_NOTIFY, SQD_EVENT),
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
