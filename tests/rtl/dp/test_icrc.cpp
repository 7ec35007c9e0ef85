// SPDX-License-Identifier: Apache-2.0
// bdy_icrc against a bitwise reference and the sample packet of the InfiniBand specification (H17).
#include "Vicrc.h"
#include "tests/rtl/dp/packet.h"

namespace {

using bench::Bytes;

class Icrc : public ::testing::Test {
protected:
    bench::Bench<Vicrc> b;
    bench::Random r{3};

    uint32_t run(const Bytes &body)
    {
        for (size_t at = 0; at < body.size(); at += 32) {
            while (r.chance(20)) { // idle beats with noise count for nothing
                Bytes noise = r.bytes(32);
                b.top.valid_i = 0;
                bench::put(b.top.data_i, noise.data(), 32);
                b.settle();
                b.tick();
            }
            size_t n = std::min<size_t>(32, body.size() - at);
            Bytes lanes = r.bytes(32);
            std::memcpy(lanes.data(), &body[at], n);
            b.top.valid_i = 1;
            b.top.first_i = at == 0;
            b.top.words_i = static_cast<uint8_t>(n / 4);
            bench::put(b.top.data_i, lanes.data(), 32);
            b.settle();
            b.tick();
        }
        b.top.valid_i = 0;
        b.settle();
        return b.top.crc_o;
    }
};

TEST_F(Icrc, H17GivesTheSpecificationsSample)
{
    const Bytes sample = {0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00,
        0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02, 0x38,
        0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72,
        0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00};
    EXPECT_EQ(run(sample), 0x5ab72596u); // on the wire 96 25 b7 5a
    EXPECT_EQ(packet::icrc(sample), 0x5ab72596u);
}

TEST_F(Icrc, H17EqualsABitwiseReferenceForEveryLength)
{
    for (size_t words = 5; words <= 300; words++) {
        for (uint8_t lnh : {2, 3}) {
            if (lnh == 3 && words < 15) {
                continue;
            }
            Bytes body = r.bytes(4 * words);
            body[1] = static_cast<uint8_t>((body[1] & 0xfc) | lnh);
            ASSERT_EQ(run(body), packet::icrc(body)) << words << " words, LNH " << int(lnh);
        }
    }
}

TEST_F(Icrc, H17IgnoresWhatMayChangeOnTheWayAndNothingElse)
{
    for (uint8_t lnh : {2, 3}) {
        Bytes body = r.bytes(80);
        body[1] = static_cast<uint8_t>((body[1] & 0xfc) | lnh);
        uint32_t good = run(body);
        unsigned ignored = 0;
        for (size_t bit = 0; bit < 640; bit++) {
            if (bit / 8 == 1 && bit % 8 < 2) {
                continue; // changes which header follows
            }
            Bytes hit = body;
            hit[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
            ignored += run(hit) == good;
        }
        // virtual lane 4, BTH reserved 8; GRH: class 8, flow 20, hop limit 8
        EXPECT_EQ(ignored, lnh == 2 ? 12u : 48u);
    }
}

} // namespace
