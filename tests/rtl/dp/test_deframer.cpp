// SPDX-License-Identifier: Apache-2.0
// bdy_deframer: good frames come out field by field, bad ones leave nothing but a count.
#include "Vdeframer.h"
#include "tests/rtl/dp/packet.h"
#include "tests/rtl/dp/stream.h"

namespace {

using bench::Bytes;

struct Got {
    packet::Words hdr;
    Bytes payload;
};

class Deframer : public ::testing::Test {
protected:
    bench::Bench<Vdeframer> b;
    bench::Random r{5};
    packet::Gids gids = packet::random_gids(r);
    bench::Source in;
    std::deque<Got> got;
public:
    unsigned bad_icrc = 0, bad_len = 0, bad_op = 0;

protected:
    unsigned stalls = 20;
    bool hold = false; // leave received packets where they are

    // The reader: takes a header, reads the payload in random pieces, frees the buffer.
    enum { Wait, Ask, Read, Done } state = Wait;
    size_t asked = 0, want = 0;

    void cycle()
    {
        in.drive(b.top.s_valid_i, b.top.s_data_i, b.top.s_keep_i, b.top.s_last_i, !r.chance(stalls));
        b.top.cycle_i = b.cycle;
        b.top.hdr_ready_i = state == Wait && !hold && !r.chance(stalls);
        b.top.prq_valid_i = state == Ask;
        b.top.prq_off_i = static_cast<uint16_t>(asked);
        b.top.prq_len_i = static_cast<uint16_t>(want);
        b.top.pst_ready_i = !r.chance(stalls);
        b.top.pkt_done_i = state == Done;
        b.settle();
        bad_icrc += b.top.bad_icrc_o;
        bad_len += b.top.bad_len_o;
        bad_op += b.top.bad_op_o;
        if (b.top.s_valid_i && b.top.s_ready_o) {
            in.took();
        }
        step_reader();
        b.tick();
    }

    void step_reader()
    {
        if (state == Wait && b.top.hdr_valid_o && b.top.hdr_ready_i) {
            Got g;
            std::memcpy(g.hdr.data(), &b.top.hdr_o, sizeof(g.hdr));
            EXPECT_NEAR(static_cast<double>(bdy_pkt_hdr_get_arrival(g.hdr.data())), b.cycle, 4000);
            bdy_pkt_hdr_set_arrival(g.hdr.data(), 0);
            got.push_back(g);
            asked = 0;
            next_piece();
        } else if (state == Ask && b.top.prq_ready_o) {
            state = Read;
        } else if (state == Read && b.top.pst_valid_o && b.top.pst_ready_i) {
            read_beat();
        } else if (state == Done) {
            state = Wait;
        }
    }

    void next_piece()
    {
        size_t len = bdy_pkt_hdr_get_paylen(got.back().hdr.data());
        EXPECT_LE(len, 4096u);
        want = std::min<size_t>(len - asked, 1 + r.below(r.chance(50) ? 64 : 4096));
        state = len == asked ? Done : Ask;
    }

    void read_beat()
    {
        Bytes &p = got.back().payload;
        size_t n = std::min<size_t>(32, asked + want - p.size());
        Bytes beat = bench::get(b.top.pst_data_o, n);
        p.insert(p.end(), beat.begin(), beat.end());
        EXPECT_EQ(b.top.pst_last_o, p.size() == asked + want);
        if (p.size() == asked + want) {
            asked += want;
            next_piece();
        }
    }

    void run()
    {
        unsigned quiet = 0;
        for (unsigned c = 0; c < 200000 && quiet < 20; c++) {
            cycle();
            quiet = in.empty() && state == Wait && (hold || !b.top.hdr_valid_o) ? quiet + 1 : 0;
        }
        ASSERT_EQ(quiet, 20u) << "hangs";
        if (!hold) {
            EXPECT_TRUE(b.top.idle_o);
        }
    }

    void expect(const packet::Packet &p)
    {
        ASSERT_FALSE(got.empty()) << "opcode " << int(p.op);
        ASSERT_EQ(got.front().hdr, packet::received(p, packet::kLid, gids)) << "opcode " << int(p.op);
        ASSERT_EQ(got.front().payload, p.payload);
        got.pop_front();
    }

    unsigned bad() const { return bad_icrc + bad_len + bad_op; }
};

TEST_F(Deframer, H17GivesBackEveryFieldOfEveryRcOpcode)
{
    for (uint8_t op : packet::rc_ops()) {
        for (int k = 0; k < 10; k++) {
            packet::Packet p = packet::random_packet(r, op, r.below(150));
            in.push(packet::frame(p, packet::kLid, gids));
            run();
            expect(p);
            ASSERT_FALSE(HasFatalFailure());
        }
    }
    EXPECT_EQ(bad(), 0u);
}

TEST_F(Deframer, H17TakesEveryPayloadLengthBackToBack)
{
    std::deque<packet::Packet> sent;
    for (size_t len = 0; len <= 4096; len = len < 140 ? len + 1 : len + 1 + r.below(200)) {
        sent.push_back(packet::random_packet(r, BDY_BTH_OP_WRITE_ONLY_IMM, len));
        in.push(packet::frame(sent.back(), packet::kLid, gids));
    }
    sent.push_back(packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, 4096));
    in.push(packet::frame(sent.back(), packet::kLid, gids));
    run();
    for (const auto &p : sent) {
        expect(p);
        ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_EQ(bad(), 0u);
}

TEST_F(Deframer, H13StallsItsSourceWhenBothBuffersAreFullAndLosesNothing)
{
    std::deque<packet::Packet> sent;
    for (int k = 0; k < 6; k++) {
        sent.push_back(packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, 100));
        in.push(packet::frame(sent.back(), packet::kLid, gids));
    }
    hold = true;
    for (int c = 0; c < 500; c++) {
        cycle();
    }
    EXPECT_FALSE(in.empty());
    EXPECT_TRUE(b.top.hdr_valid_o);
    EXPECT_FALSE(b.top.s_ready_o);
    hold = false;
    run();
    for (const auto &p : sent) {
        expect(p);
    }
}

TEST_F(Deframer, H17DropsAFrameWithAnyBitFlippedThatTheIcrcCovers)
{
    packet::Packet p = packet::random_packet(r, BDY_BTH_OP_WRITE_FIRST, 64);
    p.grh = true;
    Bytes good = packet::frame(p, packet::kLid, gids);
    unsigned flips = 0;
    for (size_t bit = 0; bit < 8 * good.size(); bit++) {
        Bytes hit = good;
        hit[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
        bool masked = bit / 8 == 0 ? bit % 8 >= 4
                                   : (bit / 8 == 8 && bit % 8 < 4) || (bit / 8 >= 9 && bit / 8 <= 11)
                                         || bit / 8 == 15 || bit / 8 == 52;
        if (!masked) {
            in.push(hit);
            flips++;
        }
    }
    run();
    EXPECT_TRUE(got.empty());
    EXPECT_EQ(bad_icrc, flips);
    EXPECT_EQ(bad(), flips);
}

TEST_F(Deframer, H17KeepsAWaitingPacketWholeWhileAnEndlessFramePasses)
{
    for (int k = 0; k < 2; k++) { // either buffer waits while the other is run over
        packet::Packet first = packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, 10);
        in.push(packet::frame(first, packet::kLid, gids));
        run();
        expect(first);
        packet::Packet p = packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, 4096);
        p.grh = false; // its payload begins in the buffer's first line
        in.push(packet::frame(p, packet::kLid, gids));
        if (!bench::kShallow) {
            in.push(r.bytes(20000));
        }
        hold = true;
        run();
        hold = false;
        run();
        expect(p);
        if (bench::kShallow) { // no second buffer: the link waits
            in.push(r.bytes(20000));
            run();
        }
        in.push(packet::frame(first, packet::kLid, gids));
        run();
        expect(first);
    }
    EXPECT_EQ(bad_len, 2u);
}

// A frame whose ICRC is right but whose contents are not.
TEST_F(Deframer, H17DropsFramesWhoseLengthsOrFormDisagreeWithTheBytes)
{
    struct Case {
        const char *what;
        size_t byte;
        uint8_t value;
        unsigned Deframer::*count;
    };
    packet::Packet p = packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, 61);
    p.grh = true;
    p.sl = 0;
    Bytes body = packet::frame(p, packet::kLid, gids);
    body.resize(body.size() - 4);
    const Case cases[] = {
        {"PktLen low", 5, static_cast<uint8_t>(body[5] + 1), &Deframer::bad_len},
        {"PktLen high", 4, 1, &Deframer::bad_len},
        {"GRH PayLen", 13, static_cast<uint8_t>(body[13] + 4), &Deframer::bad_len},
        {"GRH PayLen not a multiple of 4", 13, static_cast<uint8_t>(body[13] + 1), &Deframer::bad_len},
        {"link version", 0, 1, &Deframer::bad_op},
        {"LRH reserved bits", 1, 0x07, &Deframer::bad_op},
        {"LRH reserved bits at the length", 4, 0x80, &Deframer::bad_op},
        {"IP version of the GRH", 8, 0x40, &Deframer::bad_op},
        {"next header of the GRH", 14, 0x11, &Deframer::bad_op},
        {"raw packet", 1, 0x01, &Deframer::bad_op},
        {"reserved opcode", 48, 0x15, &Deframer::bad_op},
        {"opcode of another transport", 48, 0x24, &Deframer::bad_op},
        {"opcode of no transport", 48, 0xff, &Deframer::bad_op},
        {"transport version", 49, 0x31, &Deframer::bad_op},
        {"reserved bits at the PSN", 56, 0x01, &Deframer::bad_op},
        {"ACK with payload", 48, BDY_BTH_OP_ACK, &Deframer::bad_len},
    };
    for (const Case &c : cases) {
        Bytes hit = body;
        hit.at(c.byte) = c.value;
        unsigned before = this->*c.count, all = bad();
        in.push(packet::with_icrc(hit));
        run();
        EXPECT_EQ(this->*c.count, before + 1) << c.what;
        EXPECT_EQ(bad(), all + 1) << c.what;
        EXPECT_TRUE(got.empty()) << c.what;
    }
}

TEST_F(Deframer, H17DropsPadWithoutPayloadAndPayloadBeyond4096)
{
    packet::Packet empty = packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, 0);
    empty.grh = false;
    Bytes body = packet::frame(empty, packet::kLid, gids);
    body.resize(body.size() - 4);
    body[9] |= 0x10; // pad 1 of nothing
    in.push(packet::with_icrc(body));
    run();
    EXPECT_EQ(bad_len, 1u);

    for (size_t len : {4097u, 4100u, 4120u}) {
        in.push(packet::frame(packet::random_packet(r, BDY_BTH_OP_SEND_ONLY, len), packet::kLid, gids));
    }
    run();
    EXPECT_EQ(bad_len, 4u);
    EXPECT_TRUE(got.empty());
    // Longer than any buffer, without end for a while.
    for (size_t len : {5000u, 20000u, 70000u}) {
        in.push(r.bytes(len));
    }
    run();
    EXPECT_EQ(bad_len, 7u);
    EXPECT_TRUE(got.empty());
}

TEST_F(Deframer, H17SurvivesRandomBytesBetweenGoodFrames)
{
    std::deque<packet::Packet> sent;
    unsigned noise = 0;
    auto ops = packet::rc_ops();
    for (int k = 0; k < 1500; k++) {
        if (r.chance(40)) {
            sent.push_back(packet::random_packet(r, ops[r.below(ops.size())], r.below(300)));
            in.push(packet::frame(sent.back(), packet::kLid, gids));
            continue;
        }
        Bytes junk = r.bytes(1 + r.below(200));
        if (r.chance(50)) { // truncated or lengthened good frame
            junk = packet::frame(packet::random_packet(r, ops[r.below(ops.size())], r.below(300)), packet::kLid, gids);
            junk.resize(r.chance(50) ? 1 + r.below(junk.size() - 1) : junk.size() + 1 + r.below(64), 0x5a);
        }
        in.push(junk);
        noise++;
    }
    run();
    EXPECT_EQ(bad(), noise);
    for (const auto &p : sent) {
        expect(p);
        ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_TRUE(got.empty());
}

} // namespace
