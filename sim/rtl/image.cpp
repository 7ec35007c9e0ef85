// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl/image.hpp"

#include "bdy_regs.h"

#include <cerrno>
#include <cstring>

namespace bdy
{

uint32_t crc32(const uint8_t *data, size_t bytes)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1u) ? 0xedb88320u : 0u);
    }
    return ~crc;
}

int image_words(const void *image, size_t bytes, std::vector<uint32_t> &words)
{
    if (image == nullptr)
        return -ENOENT;
    uint32_t head[4]; // magic, ABI version, payload bytes, CRC-32
    if (bytes < sizeof(head))
        return -EBADMSG;
    std::memcpy(head, image, sizeof(head));
    const uint8_t *payload = static_cast<const uint8_t *>(image) + sizeof(head);
    const size_t length = bytes - sizeof(head);
    if (head[0] != BDY_FW_MAGIC || head[1] != BDY_ABI_VERSION || head[2] != length)
        return -EBADMSG;
    if (length == 0 || length > BDY_FW_RAM_BYTES || head[3] != crc32(payload, length))
        return -EBADMSG;
    words.assign((length + 3) / 4, 0);
    std::memcpy(words.data(), payload, length);
    return 0;
}

} // namespace bdy
