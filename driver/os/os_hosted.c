// SPDX-License-Identifier: Apache-2.0
// os.h of the driver's core on a hosted C library. The lock does nothing: one thread owns a core.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

void *bdy_os_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

void bdy_os_free(void *memory)
{
    free(memory);
}

void bdy_os_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void bdy_os_zero(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
}

/** BINDERY_LOG is the highest level that is printed; errors always are. */
void bdy_os_log(enum bdy_os_level level, const char *format, ...)
{
    const char *text = getenv("BINDERY_LOG");
    int wanted = text ? atoi(text) : 0;
    if ((int)level > wanted) {
        return;
    }
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void bdy_os_lock_init(struct bdy_os_lock *lock)
{
    lock->os = NULL;
}

void bdy_os_lock_take(struct bdy_os_lock *lock)
{
    (void)lock;
}

void bdy_os_lock_drop(struct bdy_os_lock *lock)
{
    (void)lock;
}

void bdy_os_lock_fini(struct bdy_os_lock *lock)
{
    (void)lock;
}
