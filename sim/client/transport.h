// SPDX-License-Identifier: Apache-2.0
/** @file transport.h  Seam S2 over a Unix socket: the client's side (frames: bindery/uctx.h). */
#ifndef BDY_CLIENT_TRANSPORT_H
#define BDY_CLIENT_TRANSPORT_H

#include "bindery/uctx.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Connect to the HCA that listens at `path` and open a user context there. 0 or -errno (-ENOENT,
 * -ECONNREFUSED: nobody listens; -EPROTO: who listens speaks something else). The transport ends
 * with its close operation, which returns when the HCA has freed what the context owned.
 *
 * In a forked child every operation but close gives -EPERM; close there frees the child's copies
 * only (H21).
 */
int bdy_client_connect(const char *path, struct bdy_transport **out);

#ifdef __cplusplus
}
#endif
#endif
