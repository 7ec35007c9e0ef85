// SPDX-License-Identifier: Apache-2.0
/**
 * @file os.h  All that the core asks of its surroundings besides S1. driver/os has one for a hosted
 * C library.
 *
 * Waiting is not here: it is pci->ops->wait, in simulated time.
 */
#ifndef BDY_CORE_OS_H
#define BDY_CORE_OS_H

#include <stddef.h>

/** Zeroed memory, or NULL. */
void *bdy_os_alloc(size_t bytes);
void bdy_os_free(void *memory);
void bdy_os_copy(void *to, const void *from, size_t bytes);
void bdy_os_zero(void *memory, size_t bytes);

enum bdy_os_level { BDY_OS_ERROR = 0, BDY_OS_INFO = 1, BDY_OS_DEBUG = 2 };

/** One line, printf formats without floating point. */
__attribute__((format(printf, 2, 3))) void bdy_os_log(enum bdy_os_level level, const char *format,
                                                      ...);

/** One core's lock. It may do nothing where one thread owns the core. */
struct bdy_os_lock {
    void *os; /**< the surroundings' own */
};
void bdy_os_lock_init(struct bdy_os_lock *lock);
void bdy_os_lock_take(struct bdy_os_lock *lock);
void bdy_os_lock_drop(struct bdy_os_lock *lock);
void bdy_os_lock_fini(struct bdy_os_lock *lock);

#endif
