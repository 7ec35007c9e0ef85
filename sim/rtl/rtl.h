// SPDX-License-Identifier: Apache-2.0
/**
 * @file rtl.h  The device as Verilated RTL, behind seam S3 (bindery/device.h).
 *
 * Any number of instances may live in a process; each is used by one thread at a time.
 */
#ifndef BDY_SIM_RTL_H
#define BDY_SIM_RTL_H

#include "bindery/device.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct bdy_dev_ops bdy_rtl_ops;

#ifdef __cplusplus
}
#endif
#endif
