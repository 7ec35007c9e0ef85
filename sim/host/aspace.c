// SPDX-License-Identifier: Apache-2.0
// Whose memory the device reaches. A process is reached by process_vm_*, our own memory too: there
// the kernel says EFAULT where a plain access would kill us.
#include "sim/host/aspace.h"

#include "sim/host/iommu.h"
#include "sim/host/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void bdy_aspace_get(struct bdy_aspace *as)
{
    as->refs++;
}

void bdy_aspace_put(struct bdy_aspace *as)
{
    if (--as->refs != 0)
        return;
    if (as->ops->destroy)
        as->ops->destroy(as->arg);
    free(as);
}

int bdy_aspace_check(struct bdy_aspace *as, uint64_t batch)
{
    if (as->dead)
        return -ESRCH;
    if (as->checked == batch || !as->ops->check)
        return 0;
    const int err = as->ops->check(as->arg);
    if (err == 0)
        as->checked = batch;
    else
        as->dead = 1;
    return err;
}

struct bdy_aspace *bdy_host_aspace_ops(struct bdy_host *host, const struct bdy_aspace_ops *ops,
                                       void *arg)
{
    (void)host;
    struct bdy_aspace *as = calloc(1, sizeof(*as));
    if (!as)
        return NULL;
    as->ops = ops;
    as->arg = arg;
    as->refs = 1;
    return as;
}

int bdy_host_aspace_probe(struct bdy_aspace *as)
{
    if (as->dead)
        return -ESRCH;
    return as->ops->check ? as->ops->check(as->arg) : 0;
}

void bdy_host_aspace_free(struct bdy_host *host, struct bdy_aspace *as)
{
    (void)host;
    if (!as)
        return;
    as->dead = 1;
    bdy_aspace_put(as);
}

/* ---------------------------------------------------------------- a process */

struct process {
    pid_t pid;
    int pidfd; /* -1: none */
    uint64_t cookie_va;
    uint8_t cookie[16];
    int has_cookie;
};

/** The kernel's answer to a process_vm_* call as 0 or an errno; a short copy met an unmapped page.
 */
static int copied(ssize_t done, size_t wanted)
{
    if (done >= 0)
        return (size_t)done == wanted ? 0 : -EFAULT;
    return -errno;
}

static int process_read(void *arg, uint64_t va, void *to, size_t bytes)
{
    const struct process *p = arg;
    const struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)va, bytes};
    return copied(process_vm_readv(p->pid, &local, 1, &remote, 1, 0), bytes);
}

/** Two pieces, the kernel copies one after the other: the last bytes are seen last (H16). */
static int process_write(void *arg, uint64_t va, const void *from, size_t bytes)
{
    const struct process *p = arg;
    const size_t tail = bytes > 8 ? 8 : 0;
    char *src = (char *)(uintptr_t)from; /* iovec knows no const */
    const struct iovec local[2] = {{src, bytes - tail}, {src + bytes - tail, tail}};
    const struct iovec remote = {(void *)(uintptr_t)va, bytes};
    return copied(process_vm_writev(p->pid, local, tail ? 2 : 1, &remote, 1, 0), bytes);
}

/** H21: the pidfd tells of death, the cookie of exec and of a reused pid. */
static int process_check(void *arg)
{
    struct process *p = arg;
    struct pollfd end = {p->pidfd, POLLIN, 0};
    if (p->pidfd >= 0 && poll(&end, 1, 0) != 0)
        return -ESRCH;
    uint8_t seen[sizeof(p->cookie)];
    if (!p->has_cookie)
        return 0;
    const int err = process_read(p, p->cookie_va, seen, sizeof(seen));
    if (err)
        return err == -EPERM ? -EPERM : -ESRCH;
    return memcmp(seen, p->cookie, sizeof(seen)) == 0 ? 0 : -ESRCH;
}

/** Reads a byte of every page, which brings it in and finds holes behind the end of a file. */
static int touch(const struct process *p, uint64_t from, uint64_t end)
{
    enum { BATCH = 512 };
    struct iovec remote[BATCH];
    char bytes[BATCH] = {0};
    while (from < end) {
        size_t n = 0;
        for (; n < BATCH && from < end; n++, from += BDY_PAGE)
            remote[n] = (struct iovec){(void *)(uintptr_t)from, 1};
        const struct iovec local = {bytes, n};
        const int err = copied(process_vm_readv(p->pid, &local, 1, remote, n, 0), n);
        if (err)
            return err == -ESRCH ? -EFAULT : err;
    }
    return 0;
}

static int process_populate(void *arg, uint64_t va, uint64_t bytes, unsigned dir)
{
    const struct process *p = arg;
    if (bytes == 0 || va + bytes < va || va + bytes > UINT64_MAX - BDY_PAGE)
        return -EFAULT;
    const uint64_t from = va & ~(BDY_PAGE - 1), end = (va + bytes + BDY_PAGE - 1) & ~(BDY_PAGE - 1);
    char path[64];
    int readable = 0;
    snprintf(path, sizeof(path), "/proc/%ld/maps", (long)p->pid);
    const int err = bdy_maps_check(path, from, end, dir, &readable);
    return err || !readable ? err : touch(p, from, end);
}

static void process_destroy(void *arg)
{
    struct process *p = arg;
    if (p->pidfd >= 0)
        close(p->pidfd);
    free(p);
}

static const struct bdy_aspace_ops process_ops = {
    .check = process_check,
    .read = process_read,
    .write = process_write,
    .populate = process_populate,
    .destroy = process_destroy,
};

struct bdy_aspace *bdy_host_aspace_pid(struct bdy_host *host, pid_t pid, int pidfd,
                                       uint64_t cookie_va, const uint8_t cookie[16])
{
    struct process *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->pid = pid;
    p->pidfd = -1;
    p->cookie_va = cookie_va;
    p->has_cookie = cookie != NULL;
    if (cookie)
        memcpy(p->cookie, cookie, sizeof(p->cookie));
    if (pidfd >= 0 && (p->pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0)) < 0)
        goto fail;
    struct bdy_aspace *as = bdy_host_aspace_ops(host, &process_ops, p);
    if (as)
        return as;
fail:
    process_destroy(p);
    return NULL;
}

struct bdy_aspace *bdy_host_aspace_self(struct bdy_host *host)
{
    return bdy_host_aspace_pid(host, getpid(), -1, 0, NULL);
}
