// SPDX-License-Identifier: Apache-2.0
// bdy_gather: any list, offset and length arrives in order; grants are used and returned as H3 and H6 say.
#include <deque>

#include "Vgather.h"
#include "tests/rtl/dp/mover.h"

namespace {

using bench::Bytes;
using mover::End;
using mover::Start;

uint8_t memory_byte(uint64_t bus)
{
    return static_cast<uint8_t>((bus * 0xff51afd7ed558ccdull) >> 40);
}

struct Read {
    uint64_t addr;
    size_t len, at = 0;
    uint64_t ready_at;
    bool fails;
};

class Gather : public ::testing::Test {
protected:
    mover::Mover<Vgather> m;
    Bytes buffer = Bytes(4096);
    std::deque<Read> reads;
    int fail_at = -1; // n-th read ends in an error
    int read_count = 0;
    unsigned most_reads = 0;

    void drive()
    {
        auto &t = m.b.top;
        t.rdq_ready_i = !m.r.chance(m.stalls);
        t.rdd_valid_i = !reads.empty() && reads.front().ready_at <= m.b.cycle && !m.r.chance(m.stalls);
        if (!t.rdd_valid_i) {
            return;
        }
        Read &q = reads.front();
        Bytes lanes = m.r.bytes(32); // anything behind the end
        size_t n = std::min<size_t>(32, q.len - q.at);
        for (size_t k = 0; k < n; k++) {
            lanes[k] = memory_byte(q.addr + q.at + k);
        }
        bench::put(t.rdd_data_i, lanes.data(), 32);
        t.rdd_last_i = q.at + n == q.len;
        t.rdd_err_i = t.rdd_last_i && q.fails;
    }

    void look()
    {
        auto &t = m.b.top;
        if (t.rdd_valid_i) {
            reads.front().at += 32;
            if (t.rdd_last_i) {
                m.engine.complete(reads.front().addr, reads.front().len);
                reads.pop_front();
            }
        }
        if (t.rdq_valid_o && t.rdq_ready_i) {
            m.engine.use(t.rdq_addr_o, t.rdq_len_o);
            reads.push_back({t.rdq_addr_o, t.rdq_len_o, 0, m.b.cycle + 1 + m.r.below(30), read_count++ == fail_at});
            most_reads = std::max<unsigned>(most_reads, reads.size());
        }
        if (t.pb_wr_valid_o) {
            ASSERT_LE(t.pb_wr_off_o + t.pb_wr_bytes_o, 4096);
            Bytes lanes = bench::get(t.pb_wr_data_o, t.pb_wr_bytes_o);
            std::copy(lanes.begin(), lanes.end(), buffer.begin() + t.pb_wr_off_o);
        }
    }

    End run(const Start &s)
    {
        std::fill(buffer.begin(), buffer.end(), 0xee);
        read_count = 0;
        return m.run(s, [&] { drive(); }, [&] { look(); });
    }

    void expect_bytes(const Start &s)
    {
        size_t at = 0;
        for (const mover::Piece &p : mover::pieces(s)) {
            for (size_t k = 0; k < p.len; k++, at++) {
                ASSERT_EQ(buffer[at], memory_byte(protection::bus_of(p.va + k))) << "byte " << at;
            }
        }
        EXPECT_EQ(at, s.len);
        for (; at < buffer.size(); at++) {
            ASSERT_EQ(buffer[at], 0xee) << "beyond the packet";
        }
    }
};

TEST_F(Gather, H6BringsEveryByteOfRandomListsUnderAGrant)
{
    for (int k = 0; k < 400; k++) {
        Start s = mover::random_start(m.r, k % 3 == 0 ? 40 : k % 3 == 1 ? 700 : 9000);
        m.engine.begin();
        m.stalls = k % 2 ? 0 : 40;
        End end = run(s);
        ASSERT_EQ(end.rule, BDY_RULE_NONE);
        m.expect_requests(s);
        expect_bytes(s);
        ASSERT_FALSE(HasFailure()) << "start " << k;
    }
    EXPECT_EQ(most_reads > 1, !bench::kShallow) << "pieces overlap unless one deep";
}

TEST_F(Gather, H6ChecksTheWholeRangeOfAFirstPacketButMovesOnlyItsBytes)
{
    Start s;
    s.list = {{0x123456789a, 100000, 0xabcd1234}};
    s.len = 4096;
    s.chk_len = 100000;
    s.local = false;
    m.engine.begin();
    EXPECT_EQ(run(s).rule, BDY_RULE_NONE);
    m.expect_requests(s);
    expect_bytes(s);
}

TEST_F(Gather, H3ReturnsEveryGrantWhenAPieceIsRefused)
{
    for (int k = 0; k < 300; k++) {
        Start s = mover::random_start(m.r, 300);
        m.engine.begin();
        m.engine.refuse_at = static_cast<int>(m.r.below(mover::pieces(s).size()));
        m.engine.refuse_rule = k % 5 == 0 ? BDY_RULE_H4 : BDY_RULE_M8;
        m.engine.refuse_stale = k % 5 == 0;
        End end = run(s);
        ASSERT_EQ(end.rule, m.engine.refuse_rule);
        ASSERT_EQ(end.stale, m.engine.refuse_stale);
        // Nothing behind the refused piece is read.
        size_t before = 0;
        for (int p = 0; p < m.engine.refuse_at; p++) {
            before += mover::pieces(s)[static_cast<size_t>(p)].len;
        }
        for (size_t at = before; at < buffer.size(); at++) {
            ASSERT_EQ(buffer[at], 0xee);
        }
        ASSERT_FALSE(HasFailure()) << "start " << k;
    }
}

TEST_F(Gather, H3ReportsAMemoryErrorAndReturnsItsGrantsToo)
{
    for (int k = 0; k < 200; k++) {
        Start s = mover::random_start(m.r, 300);
        m.engine.begin();
        fail_at = static_cast<int>(m.r.below(mover::pieces(s).size()));
        if (k % 2) {
            m.engine.refuse_at = static_cast<int>(mover::pieces(s).size()) - 1;
            m.engine.refuse_rule = BDY_RULE_M8;
            fail_at = 0;
        }
        End end = run(s);
        bool failed = read_count > fail_at;
        ASSERT_EQ(end.rule, failed ? BDY_RULE_DMA : BDY_RULE_M8);
        ASSERT_FALSE(HasFailure()) << "start " << k;
    }
}

TEST_F(Gather, RunsOutOfAListThatIsTooShort)
{
    Start s;
    s.list = {{0x1000, 10, 1}, {0x2000, 0, 2}};
    s.len = 11;
    m.engine.begin();
    EXPECT_EQ(run(s).rule, BDY_RULE_T9);
    s.list.clear();
    m.engine.begin();
    EXPECT_EQ(run(s).rule, BDY_RULE_T9);
    EXPECT_TRUE(m.engine.requests.empty());
}

} // namespace
