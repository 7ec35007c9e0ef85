// SPDX-License-Identifier: Apache-2.0
// The two functions that the compiler may call on its own account.
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    while (n-- > 0) {
        *d++ = *s++;
    }
    return to;
}

void *memset(void *to, int value, size_t n)
{
    unsigned char *d = to;
    while (n-- > 0) {
        *d++ = (unsigned char)value;
    }
    return to;
}
