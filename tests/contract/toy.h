// SPDX-License-Identifier: Apache-2.0
/** @file toy.h  The toy device (toy_hca.sv) behind seam S3, and the layout of its own registers. */
#ifndef BDY_TESTS_CONTRACT_TOY_H
#define BDY_TESTS_CONTRACT_TOY_H

#include "bindery/device.h"

extern "C" const bdy_dev_ops bdy_toy_ops;

namespace toy
{
constexpr uint32_t kOrder = 0x1000, kStall = 0x1008, kDie = 0x1010, kTimer = 0x1018, kMsix = 0x1020,
                   kTrace = 0x1028, kBoot = 0x1030;
enum Die : uint64_t { Fatal = 1, Stop, Finish, Assert, Display, Cross, Spin, EarlyLast, FatalPort };
constexpr unsigned kChannels = 4;

constexpr uint32_t channel(unsigned c)
{
    return 0x1100 + 0x40 * c;
}
constexpr uint32_t src(unsigned c)
{
    return channel(c);
}
constexpr uint32_t dst(unsigned c)
{
    return channel(c) + 0x08;
}
constexpr uint32_t go(unsigned c)
{
    return channel(c) + 0x10;
}
constexpr uint32_t result(unsigned c)
{
    return channel(c) + 0x18;
}
constexpr uint32_t latency(unsigned c)
{
    return channel(c) + 0x20;
}

enum Op : uint64_t { Read = 1, Write = 2, Copy = 3 };
constexpr uint64_t command(Op op, unsigned beats, unsigned bursts, bool message = false,
                           uint32_t strobes = ~0u)
{
    return op | uint64_t{beats} << 8 | uint64_t{bursts} << 16 | uint64_t{message} << 31 |
           uint64_t{strobes} << 32;
}

inline bool busy(uint64_t result)
{
    return result & 1;
}
inline unsigned errors(uint64_t result)
{
    return (result >> 8) & 0xff;
}
inline uint32_t sum(uint64_t result)
{
    return static_cast<uint32_t>(result >> 32);
}

/** The sum that a read of `bytes` (whole beats) must give. */
inline uint32_t sum_of(const uint8_t *data, size_t bytes, uint32_t sum = 0)
{
    for (size_t i = 0; i < bytes; i += 32) {
        uint32_t fold = 0;
        for (size_t w = 0; w < 8; w++) {
            const uint8_t *p = data + i + 4 * w;
            fold ^= p[0] | p[1] << 8 | p[2] << 16 | static_cast<uint32_t>(p[3]) << 24;
        }
        sum = (sum << 1 | sum >> 31) ^ fold;
    }
    return sum;
}

/** What channel c writes into 64-bit lane `lane` of beat `beat` of burst `burst`. */
inline uint64_t pattern(unsigned c, unsigned burst, unsigned beat, unsigned lane)
{
    return uint64_t{41} << 58 | uint64_t{c} << 56 | uint64_t{burst} << 48 | uint64_t{beat} << 40 |
           uint64_t{lane} << 32 | 0x5a5a1234u;
}
} // namespace toy
#endif
