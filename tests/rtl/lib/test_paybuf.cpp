// SPDX-License-Identifier: Apache-2.0
// bdy_paybuf: every write offset and length, packed reads at any offset, one beat per cycle.
#include "Vpaybuf.h"
#include "tests/rtl/dp/bench.h"

namespace {

constexpr size_t kBytes = 4096 + 32;

class Paybuf : public ::testing::Test {
protected:
    bench::Bench<Vpaybuf> b;
    bench::Random r{7};
    bench::Bytes model = bench::Bytes(kBytes, 0);

    void write(size_t off, const bench::Bytes &data)
    {
        bench::Bytes lanes = r.bytes(32); // lanes behind the end hold anything
        std::memcpy(lanes.data(), data.data(), data.size());
        b.top.wr_valid_i = 1;
        b.top.wr_off_i = static_cast<uint16_t>(off);
        b.top.wr_bytes_i = static_cast<uint8_t>(data.size());
        bench::put(b.top.wr_data_i, lanes.data(), 32);
        b.settle();
        ASSERT_TRUE(b.top.wr_ready_o);
        b.tick();
        b.top.wr_valid_i = 0;
        std::memcpy(&model[off], data.data(), data.size());
    }

    // Reads a stream and gives the cycles from the request to the last beat.
    unsigned read(size_t off, size_t len, unsigned percent_ready)
    {
        size_t got = 0;
        unsigned cycles = 0;
        bool asked = false;
        b.top.rq_off_i = static_cast<uint16_t>(off);
        b.top.rq_len_i = static_cast<uint16_t>(len);
        while (got < len && cycles < 10000) {
            b.top.rq_valid_i = !asked;
            b.top.rd_ready_i = r.chance(percent_ready);
            b.settle();
            asked = asked || b.top.rq_ready_o;
            if (b.top.rd_valid_o && b.top.rd_ready_i) {
                got += check_beat(off + got, len - got);
            }
            b.tick();
            cycles++;
        }
        b.top.rq_valid_i = 0;
        b.settle();
        EXPECT_TRUE(b.top.idle_o);
        return cycles;
    }

    size_t check_beat(size_t at, size_t left)
    {
        size_t n = std::min<size_t>(32, left);
        bench::Bytes want(32, 0);
        std::memcpy(want.data(), &model[at], n);
        EXPECT_EQ(bench::get(b.top.rd_data_o, 32), want) << "at " << at;
        EXPECT_EQ(b.top.rd_last_o, left <= 32);
        return n;
    }

    void fill()
    {
        for (size_t off = 0; off < kBytes; off += 32) {
            write(off, r.bytes(32));
        }
    }
};

TEST_F(Paybuf, WritesEveryLengthAtEveryLaneOffset)
{
    fill();
    for (size_t lane = 0; lane < 64; lane++) {
        for (size_t n = 1; n <= 32; n++) {
            size_t off = 64 * r.below(kBytes / 64 - 2) + lane;
            write(off, r.bytes(n));
            read(off > 40 ? off - 40 : 0, 128, 100);
            ASSERT_FALSE(HasFailure()) << "lane " << lane << " length " << n;
        }
    }
}

TEST_F(Paybuf, ReadsEveryLengthAtEveryLaneOffsetWithStalls)
{
    fill();
    for (size_t lane = 0; lane < 64; lane++) {
        for (size_t len = 1; len <= 100; len++) {
            read(lane, len, 70);
            ASSERT_FALSE(HasFailure()) << "lane " << lane << " length " << len;
        }
    }
    read(0, 4096, 50);
    read(31, 4096, 50);
    read(32, 4096, 50);
}

TEST_F(Paybuf, StreamsOneBeatPerCycle)
{
    fill();
    EXPECT_EQ(read(3, 4096, 100), 128u + 2);
    EXPECT_EQ(read(0, 32, 100), 1u + 2);
}

} // namespace
