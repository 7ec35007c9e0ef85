// SPDX-License-Identifier: Apache-2.0
/** @file sysfs.h  The private sysfs tree in which libibverbs finds the device (SYSFS_PATH). */
#ifndef BDY_CLIENT_SYSFS_H
#define BDY_CLIENT_SYSFS_H

#include "bindery/uctx.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write the tree of device bindery0 below the existing folder `dir`. Programs below it need
 * SYSFS_PATH=dir, which libibverbs takes only when uid = euid. 0 or -errno; what was written stays
 * and goes with bdy_client_remove_sysfs.
 */
int bdy_client_make_sysfs(const char *dir, const struct bdy_u_device_attr *dev,
                          const struct bdy_u_port_attr *port);

/** Remove the tree, `dir` itself included. 0 or -errno of the first thing that could not go. */
int bdy_client_remove_sysfs(const char *dir);

#ifdef __cplusplus
}
#endif
#endif
