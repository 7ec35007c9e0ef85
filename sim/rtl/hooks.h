// SPDX-License-Identifier: Apache-2.0
/**
 * @file hooks.h  Forced into all that Verilator generates: $fatal, $stop, $finish, $display reach
 * the shim (hooks.cpp) instead of ending the process or writing to its standard output.
 */
#ifndef BDY_SIM_RTL_HOOKS_H
#define BDY_SIM_RTL_HOOKS_H

#define VL_USER_FATAL
#define VL_USER_STOP
#define VL_USER_FINISH
#define VL_USER_WARN
#define VL_PRINTF bdy_vl_printf

#ifdef __cplusplus
extern "C"
#endif
    int
    bdy_vl_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
