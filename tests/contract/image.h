// SPDX-License-Identifier: Apache-2.0
/** @file image.h  Firmware images for tests. The checksum is computed here a second time, bit by
 * bit, on purpose. */
#ifndef BDY_TESTS_CONTRACT_IMAGE_H
#define BDY_TESTS_CONTRACT_IMAGE_H

#include "bdy_regs.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace image
{

inline uint32_t crc(const std::vector<uint8_t> &bytes)
{
    uint32_t remainder = 0xffffffff;
    for (uint8_t byte : bytes)
        for (int bit = 0; bit < 8; bit++) {
            const bool take = ((remainder ^ (byte >> bit)) & 1) != 0;
            remainder = (remainder >> 1) ^ (take ? 0xedb88320u : 0);
        }
    return ~remainder;
}

inline std::vector<uint8_t> make(const std::vector<uint8_t> &payload)
{
    const uint32_t head[4] = {BDY_FW_MAGIC, BDY_ABI_VERSION, static_cast<uint32_t>(payload.size()),
                              crc(payload)};
    std::vector<uint8_t> all(sizeof(head));
    std::memcpy(all.data(), head, sizeof(head));
    all.insert(all.end(), payload.begin(), payload.end());
    return all;
}

inline std::vector<uint8_t> load(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace image
#endif
