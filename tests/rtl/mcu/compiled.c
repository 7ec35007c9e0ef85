// SPDX-License-Identifier: Apache-2.0
// A freestanding program as the firmware's compiler makes it; its result ends in a register trace
// that the core and the reference must share.
#include <stdint.h>

#define FINISH (*(volatile uint32_t *)0x00100000U)

void run(void);

static const uint16_t table[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static volatile uint32_t sink;
static int16_t sorted[16];
static char text[16];

static uint32_t crc32(const uint8_t *data, uint32_t length)
{
    uint32_t crc = 0xffffffffU;

    while (length-- > 0) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xedb88320U & -(crc & 1U));
        }
    }
    return ~crc;
}

static void sort(void)
{
    for (int i = 0; i < 16; i++) {
        int at = i;
        int16_t value = (int16_t)((table[i] * 257) - 1024);
        while (at > 0 && sorted[at - 1] > value) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = value;
    }
}

static int32_t decimal(int32_t value)
{
    int at = 15;

    do {
        text[at--] = (char)('0' + (value % 10 < 0 ? -(value % 10) : value % 10));
        value /= 10;
    } while (value != 0 && at > 0);
    return at;
}

static uint64_t wide(uint64_t a, uint64_t b)
{
    return a * b + (a >> 7) - (b << 9);
}

static uint32_t ways(uint32_t n)
{
    switch (n & 7U) {
    case 0: return n + 1;
    case 1: return n * 3;
    case 2: return n / 5;
    case 3: return n % 7;
    case 4: return n ^ 0x5a5aU;
    default: return n < 2 ? 1 : ways(n - 1) + ways(n - 2);
    }
}

void run(void)
{
    sort();
    sink = crc32((const uint8_t *)sorted, sizeof(sorted));
    sink += (uint32_t)decimal(-2147483647 - 1);
    sink += crc32((const uint8_t *)text, sizeof(text));
    uint64_t product = wide(0x123456789abcdef1ULL, sink);
    sink = (uint32_t)(product >> 32) ^ (uint32_t)product;
    for (uint32_t n = 0; n < 12; n++) {
        sink += ways(n);
    }
    FINISH = 0x5555;
    for (;;) {
    }
}
