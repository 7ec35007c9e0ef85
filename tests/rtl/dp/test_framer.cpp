// SPDX-License-Identifier: Apache-2.0
// bdy_framer: every opcode, payload length and address form gives the frame the standard asks for (H17).
#include "Vframer.h"
#include "tests/rtl/dp/packet.h"
#include "tests/rtl/dp/stream.h"

namespace {

using bench::Bytes;

class Framer : public ::testing::Test {
protected:
    bench::Bench<Vframer> b;
    bench::Random r{11};
    packet::Gids gids = packet::random_gids(r);
    unsigned cycles = 0;

    void SetUp() override
    {
        b.top.lid_i = packet::kLid;
        bench::put(b.top.gids_i, gids.data(), gids.size());
    }

    // Sends one packet; `stalls` percent of the cycles each end is not ready.
    Bytes send(const packet::Packet &p, unsigned stalls)
    {
        bench::Source payload;
        bench::Sink out;
        if (!p.payload.empty()) {
            payload.push(p.payload);
        }
        packet::Words hdr = packet::to_hdr(p);
        bool given = false;
        uint32_t keep = 0;
        for (cycles = 0; out.frames.empty() && cycles < 5000; cycles++) {
            b.top.hdr_valid_i = !given;
            bench::put(b.top.hdr_i, hdr.data(), sizeof(hdr));
            payload.drive(b.top.pl_valid_i, b.top.pl_data_i, keep, b.top.pl_last_i, !r.chance(stalls));
            b.top.m_ready_i = !r.chance(stalls);
            b.settle();
            given = given || b.top.hdr_ready_o;
            if (b.top.pl_valid_i && b.top.pl_ready_o) {
                payload.took();
            }
            if (b.top.m_valid_o && b.top.m_ready_i) {
                out.take(b.top.m_data_o, b.top.m_keep_o, b.top.m_last_o);
            }
            b.tick();
        }
        b.top.hdr_valid_i = 0;
        b.settle();
        EXPECT_TRUE(b.top.idle_o);
        return out.frames.empty() ? Bytes() : out.frames.front();
    }
};

TEST_F(Framer, H17LaysOutEveryKnownOpcode)
{
    for (unsigned op = 0; op < 256; op++) {
        if (!packet::known(static_cast<uint8_t>(op))) {
            continue;
        }
        for (int k = 0; k < 8; k++) {
            packet::Packet p = packet::random_packet(r, static_cast<uint8_t>(op), r.below(200));
            ASSERT_EQ(send(p, 30), packet::frame(p, packet::kLid, gids)) << "opcode " << op << " grh " << p.grh;
        }
    }
}

TEST_F(Framer, H17PadsEveryPayloadLength)
{
    for (size_t len = 0; len <= 4096; len = len < 260 ? len + 1 : len + 1 + r.below(60)) {
        for (uint8_t op : {BDY_BTH_OP_SEND_MIDDLE, BDY_BTH_OP_WRITE_ONLY_IMM}) {
            packet::Packet p = packet::random_packet(r, op, len);
            ASSERT_EQ(send(p, len % 2 ? 0 : 20), packet::frame(p, packet::kLid, gids)) << "length " << len;
        }
    }
    packet::Packet p = packet::random_packet(r, BDY_BTH_OP_WRITE_ONLY_IMM, 4096);
    p.grh = true;
    EXPECT_EQ(send(p, 0), packet::frame(p, packet::kLid, gids));
}

TEST_F(Framer, StreamsOneBeatPerCycle)
{
    packet::Packet p = packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, 4096);
    p.grh = false;
    Bytes f = send(p, 0);
    EXPECT_EQ(cycles, (f.size() + 31) / 32 + 2);
}

} // namespace
