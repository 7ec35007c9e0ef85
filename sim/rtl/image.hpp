// SPDX-License-Identifier: Apache-2.0
/** @file image.hpp  Firmware images as the boot port takes them (see bdy_dev_ops.boot). */
#ifndef BDY_SIM_RTL_IMAGE_HPP
#define BDY_SIM_RTL_IMAGE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bdy
{

/** CRC-32 of IEEE 802.3. */
uint32_t crc32(const uint8_t *data, size_t bytes);

/** Checks an image and returns its payload as little-endian words, the last one filled up with
 * zero. 0, -ENOENT (no image), -EBADMSG (magic, ABI version, length, checksum). */
int image_words(const void *image, size_t bytes, std::vector<uint32_t> &words);

} // namespace bdy
#endif
