// SPDX-License-Identifier: Apache-2.0
/** @file got.h  Redirect the calls that one shared object makes through its global offset table. */
#ifndef BDY_CLIENT_GOT_H
#define BDY_CLIENT_GOT_H

#include <stddef.h>

typedef void (*bdy_got_fn)(void);

struct bdy_got_hook {
    const char *symbol;
    bdy_got_fn replacement;
    bdy_got_fn original; /**< filled in: what the object called before; NULL when it does not call
                            the symbol */
};

/**
 * Redirect calls of the loaded object whose file name is `soname` (libx.so.1 also matches
 * libx.so.1.2). No other object's calls change. 0, -ENOENT (not loaded), -errno (a page could not
 * be made writable). Not thread-safe.
 */
int bdy_got_patch(const char *soname, struct bdy_got_hook *hooks, size_t count);

#endif
