// SPDX-License-Identifier: Apache-2.0
/**
 * @file bdy_verbs.h  What the provider offers to those who link it: the shared object that
 * libibverbs loads, and programs that embed the HCA.
 */
#ifndef BDY_VERBS_H
#define BDY_VERBS_H

#include <infiniband/verbs.h>
#include <sys/types.h>

#include "bindery/uctx.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Modalias of the device in sysfs; the provider matches on it. */
#define BDY_VERBS_MODALIAS "bindery:v1"

/**
 * How a context that libibverbs opens reaches its HCA: returns 0 and a transport, or -errno. Set
 * once, before the first ibv_open_device(). The context closes the transport.
 */
typedef int (*bdy_verbs_opener)(struct bdy_transport **out);
void bdy_verbs_set_opener(bdy_verbs_opener opener);

/**
 * Open a context on a transport of the caller's, without discovery: any number of HCAs in one
 * process. The context owns the transport from here on, also when this fails. NULL and errno on
 * failure. ibv_close_device() ends it.
 */
struct ibv_context *bdy_verbs_open(struct bdy_transport *transport);

/* libibverbs serves these three itself, by system calls on descriptors that a kernel would own.
 * Whoever redirects its calls (sim/client) hands them here. */

/** Completion channel for the context with this command descriptor: its descriptor, -ENOENT (not
 * one of ours) or -errno. */
int bdy_verbs_create_channel(int cmd_fd);

/** 1 when `fd` is some context's command descriptor. */
int bdy_verbs_is_cmd_fd(int fd);

/**
 * Read one event as read(2) would. Events of objects that were destroyed meanwhile are left out,
 * and each event read is counted so that its object's destroy waits for the acknowledgement.
 * -ENOENT: `fd` is no event descriptor of ours; else bytes read or -errno.
 */
ssize_t bdy_verbs_read_event(int fd, void *buf, size_t bytes);

/** `fd` is about to be closed: when it is a completion channel, the channel goes. */
void bdy_verbs_forget_fd(int fd);

/** Hold the provider's event lock across fork(2), so that a child never inherits it locked. */
void bdy_verbs_fork_prepare(void);
void bdy_verbs_fork_done(void);

#ifdef __cplusplus
}
#endif
#endif
