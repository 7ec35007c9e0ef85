// SPDX-License-Identifier: Apache-2.0
/** @file frames.h  One request and its reply on the socket, descriptors included. */
#ifndef BDY_CLIENT_FRAMES_H
#define BDY_CLIENT_FRAMES_H

#include "bindery/uctx.h"

/** Room for descriptors in a reply, which carries four at most. Even: the kernel fills control
 * space that is rounded up to 8. */
#define BDY_FRAME_FDS 4u

struct bdy_reply {
    int32_t status;
    uint64_t ring_bytes[2];
    unsigned nfds;
    int fds[BDY_FRAME_FDS]; /**< the caller's to close */
};

/** Send a request. 0 or -errno. */
int bdy_frame_send(int sock, const struct bdy_s_req *req, const void *in);

/**
 * Receive the reply to request `seq`. 0, -EIO (the other side has gone), -EPROTO. When 0 and the
 * status is 0, `out` is filled and exactly `out_len` long.
 */
int bdy_frame_recv(int sock, uint32_t seq, void *out, size_t out_len, struct bdy_reply *reply);

/** Close the descriptors that are left in a reply; taken ones are -1. */
void bdy_frame_close_fds(struct bdy_reply *reply);

#endif
