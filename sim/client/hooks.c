// SPDX-License-Identifier: Apache-2.0
// libibverbs talks to the kernel by system calls of its own: it opens /dev/infiniband/uverbsN, asks
// netlink for devices, makes completion channels by write(2) and reads events by read(2). There is
// no such kernel here. These replacements answer exactly those calls and hand every other one
// through.

#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bdy_verbs.h"
#include "got.h"

#define UVERBS "/dev/infiniband/uverbs"
#define STAND_IN "/dev/null" // a character device that answers the verbs ioctl with ENOTTY
#define NETLINK_RDMA_PROTOCOL 20
#define NLE_FAILURE 1
#define CREATE_COMP_CHANNEL 17

/** The one command that libibverbs writes itself. */
struct create_comp_channel {
    uint32_t command;
    uint16_t in_words, out_words;
    uint64_t response; /**< address of a 32-bit descriptor */
};

enum { HOOK_NL_CONNECT };

static int nl_connect_hook(void *sock, int protocol);

static const char *redirect(const char *path)
{
    return strncmp(path, UVERBS, sizeof(UVERBS) - 1) == 0 ? STAND_IN : path;
}

static int open_hook(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    return open(redirect(path), flags, mode);
}

static int openat_hook(int dir, const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    return openat(dir, redirect(path), flags, mode);
}

static int stat_hook(const char *path, struct stat *st)
{
    return stat(redirect(path), st);
}

static ssize_t fail(int err)
{
    errno = err;
    return -1;
}

static ssize_t write_hook(int fd, const void *buf, size_t bytes)
{
    const struct create_comp_channel *cmd = buf;
    if (!bdy_verbs_is_cmd_fd(fd))
        return write(fd, buf, bytes);
    if (bytes != sizeof(*cmd) || cmd->command != CREATE_COMP_CHANNEL)
        return fail(EOPNOTSUPP);
    const int channel = bdy_verbs_create_channel(fd);
    if (channel < 0)
        return fail(-channel);
    *(uint32_t *)(uintptr_t)cmd->response = (uint32_t)channel;
    return (ssize_t)bytes;
}

static ssize_t read_hook(int fd, void *buf, size_t bytes)
{
    const ssize_t n = bdy_verbs_read_event(fd, buf, bytes);
    if (n == -ENOENT)
        return read(fd, buf, bytes);
    return n < 0 ? fail((int)-n) : n;
}

static int close_hook(int fd)
{
    bdy_verbs_forget_fd(fd);
    return close(fd);
}

#define REPLACE(symbol, fn)                                                                        \
    {                                                                                              \
        symbol, (bdy_got_fn)(uintptr_t)(fn), NULL                                                  \
    }
static struct bdy_got_hook hooks[] = {
    [HOOK_NL_CONNECT] = REPLACE("nl_connect", nl_connect_hook),
    REPLACE("open", open_hook),
    REPLACE("openat", openat_hook),
    REPLACE("stat", stat_hook),
    REPLACE("write", write_hook),
    REPLACE("read", read_hook),
    REPLACE("close", close_hook),
};

// With ib_core loaded the kernel's answer would hide the private sysfs tree: RDMA netlink is absent
// here.
static int nl_connect_hook(void *sock, int protocol)
{
    int (*real)(void *, int) = (int (*)(void *, int))(uintptr_t)hooks[HOOK_NL_CONNECT].original;
    return protocol == NETLINK_RDMA_PROTOCOL ? -NLE_FAILURE : real(sock, protocol);
}

int bdy_client_install_hooks(void)
{
    static int fork_handlers;
    int err = bdy_got_patch("libibverbs.so.1", hooks, sizeof(hooks) / sizeof(hooks[0]));
    if (err == 0 && !fork_handlers) {
        err = -pthread_atfork(bdy_verbs_fork_prepare, bdy_verbs_fork_done, bdy_verbs_fork_done);
        fork_handlers = 1;
    }
    return err;
}
