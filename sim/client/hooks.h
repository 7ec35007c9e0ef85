// SPDX-License-Identifier: Apache-2.0
/** @file hooks.h  What libibverbs asks of the kernel itself is answered here instead. */
#ifndef BDY_CLIENT_HOOKS_H
#define BDY_CLIENT_HOOKS_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Redirect the calls of libibverbs.so.1, and of nothing else, that concern uverbs devices, event
 * descriptors and the RDMA netlink socket. May be called again. 0 or -errno. Call it before other
 * threads use libibverbs.
 */
int bdy_client_install_hooks(void);

#ifdef __cplusplus
}
#endif
#endif
