// SPDX-License-Identifier: Apache-2.0
#include "frames.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(CMSG_SPACE(BDY_FRAME_FDS * sizeof(int)) == CMSG_LEN(BDY_FRAME_FDS * sizeof(int)),
               "no room for one more");

static ssize_t retry_send(int sock, const struct msghdr *msg)
{
    ssize_t n;
    do
        n = sendmsg(sock, msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t retry_recv(int sock, struct msghdr *msg)
{
    ssize_t n;
    do
        n = recvmsg(sock, msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    return n;
}

int bdy_frame_send(int sock, const struct bdy_s_req *req, const void *in)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)req, sizeof(*req)},
                             {(void *)(uintptr_t)in, req->in_len}};
    const struct msghdr msg = {.msg_iov = parts, .msg_iovlen = 2};
    return retry_send(sock, &msg) < 0 ? -EIO : 0;
}

static void take_fds(struct msghdr *msg, struct bdy_reply *reply)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        reply->nfds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(reply->fds, CMSG_DATA(c), reply->nfds * sizeof(int));
    }
}

void bdy_frame_close_fds(struct bdy_reply *reply)
{
    for (unsigned i = 0; i < reply->nfds; i++)
        if (reply->fds[i] >= 0)
            close(reply->fds[i]);
    reply->nfds = 0;
}

static int well_formed(const struct bdy_s_rep *rep, size_t bytes, uint32_t seq, size_t out_len,
                       unsigned nfds)
{
    if (bytes < sizeof(*rep) || rep->seq != seq || rep->nfds != nfds ||
        bytes != sizeof(*rep) + rep->out_len)
        return 0;
    return rep->status != 0 ? rep->status > -4096 && rep->status < 0 : rep->out_len == out_len;
}

int bdy_frame_recv(int sock, uint32_t seq, void *out, size_t out_len, struct bdy_reply *reply)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(BDY_FRAME_FDS * sizeof(int))];
    } control;
    struct bdy_s_rep rep;
    unsigned char body[BDY_S_MAX];
    struct iovec parts[2] = {{&rep, sizeof(rep)}, {body, sizeof(body)}};
    struct msghdr msg = {.msg_iov = parts,
                         .msg_iovlen = 2,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    memset(reply, 0, sizeof(*reply));
    const ssize_t n = retry_recv(sock, &msg);
    if (n <= 0)
        return -EIO;
    take_fds(&msg, reply);
    if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ||
        !well_formed(&rep, (size_t)n, seq, out_len, reply->nfds)) {
        bdy_frame_close_fds(reply);
        return -EPROTO;
    }
    reply->status = rep.status;
    memcpy(reply->ring_bytes, rep.ring_bytes, sizeof(reply->ring_bytes));
    if (rep.status == 0 && out_len != 0)
        memcpy(out, body, out_len);
    return 0;
}
