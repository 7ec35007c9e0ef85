// SPDX-License-Identifier: Apache-2.0
/** @file verbs_abi.h  Numbers of the verbs interface that S2 carries; the core includes nothing of
 * libibverbs. */
#ifndef BDY_CORE_VERBS_ABI_H
#define BDY_CORE_VERBS_ABI_H

enum v_access {
    V_ACCESS_LOCAL_WRITE = 1 << 0,
    V_ACCESS_REMOTE_WRITE = 1 << 1,
    V_ACCESS_REMOTE_READ = 1 << 2,
    V_ACCESS_REMOTE_ATOMIC = 1 << 3,
    V_ACCESS_MW_BIND = 1 << 4,
    V_ACCESS_ZERO_BASED = 1 << 5
};
#define V_ACCESS_OPTIONAL 0x3ff00000u /**< bits 20-29: hints, ignored (M2) */

enum v_cap {
    V_CAP_SYS_IMAGE_GUID = 1 << 11,
    V_CAP_RC_RNR_NAK_GEN = 1 << 12,
    V_CAP_MW = 1 << 17,
    V_CAP_XRC = 1 << 20,
    V_CAP_MEM_MGT = 1 << 21,
    V_CAP_MW_2B = 1 << 24
};

enum v_event {
    V_EVENT_CQ_ERR = 0,
    V_EVENT_QP_FATAL = 1,
    V_EVENT_QP_REQ_ERR = 2,
    V_EVENT_QP_ACCESS_ERR = 3,
    V_EVENT_COMM_EST = 4,
    V_EVENT_SQ_DRAINED = 5,
    V_EVENT_DEVICE_FATAL = 8,
    V_EVENT_PORT_ACTIVE = 9,
    V_EVENT_PORT_ERR = 10,
    V_EVENT_SRQ_LIMIT = 15,
    V_EVENT_LAST_WQE = 16
};

enum v_qp_type {
    V_QPT_RC = 2,
    V_QPT_UC = 3,
    V_QPT_UD = 4,
    V_QPT_XRC_SEND = 9,
    V_QPT_XRC_RECV = 10
};

enum v_rereg { V_REREG_TRANSLATION = 1, V_REREG_PD = 2, V_REREG_ACCESS = 4 };

enum v_srq_type { V_SRQT_BASIC = 0, V_SRQT_XRC = 1 };
enum v_srq_attr { V_SRQ_MAX_WR = 1, V_SRQ_LIMIT = 2 };

enum v_atomic { V_ATOMIC_NONE = 0, V_ATOMIC_HCA = 1 };

/** O_CREAT and O_EXCL of open_xrcd, as Linux has them. */
enum v_oflags { V_O_CREAT = 0100, V_O_EXCL = 0200 };

enum v_attr {
    V_ATTR_STATE = 1 << 0,
    V_ATTR_CUR_STATE = 1 << 1,
    V_ATTR_SQD_NOTIFY = 1 << 2,
    V_ATTR_ACCESS = 1 << 3,
    V_ATTR_PKEY_INDEX = 1 << 4,
    V_ATTR_PORT = 1 << 5,
    V_ATTR_QKEY = 1 << 6,
    V_ATTR_AV = 1 << 7,
    V_ATTR_MTU = 1 << 8,
    V_ATTR_TIMEOUT = 1 << 9,
    V_ATTR_RETRY_CNT = 1 << 10,
    V_ATTR_RNR_RETRY = 1 << 11,
    V_ATTR_RQ_PSN = 1 << 12,
    V_ATTR_MAX_RD = 1 << 13,
    V_ATTR_MIN_RNR = 1 << 15,
    V_ATTR_SQ_PSN = 1 << 16,
    V_ATTR_MAX_DEST_RD = 1 << 17,
    V_ATTR_DEST_QPN = 1 << 20,
    V_ATTR_ALL = 0x1fffff
};

enum v_port {
    V_PORT_ACTIVE = 4,
    V_PHYS_LINK_UP = 5,
    V_LINK_LAYER_IB = 1,
    V_LINK_LAYER_ETH = 2,
    V_WIDTH_4X = 2,
    V_SPEED_EDR = 32
};

#define V_MTU_4096 5u

#endif
