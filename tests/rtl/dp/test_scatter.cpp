// SPDX-License-Identifier: Apache-2.0
// bdy_scatter: payload from any source offset lands byte by byte where the list says, and only under a grant.
#include <map>

#include "Vscatter.h"
#include "tests/rtl/dp/mover.h"
#include "tests/rtl/dp/stream.h"

namespace {

using bench::Bytes;
using mover::End;
using mover::Start;

struct Write {
    uint64_t addr;
    size_t len;
    Bytes data;
};

struct Response {
    uint64_t addr;
    size_t len;
    uint64_t ready_at;
    bool fails;
};

class Scatter : public ::testing::Test {
protected:
    mover::Mover<Vscatter> m;
    Bytes payload = m.r.bytes(4096 + 64);
    std::map<uint64_t, uint8_t> memory;
    bench::Source stream;
    std::deque<Write> writes; // asked, data not complete
    std::deque<Response> responses;
    int fail_at = -1, write_count = 0;
    uint16_t src_off = 0;

    void drive()
    {
        auto &t = m.b.top;
        uint32_t keep = 0;
        t.start_src_off_i = src_off;
        t.prq_ready_i = !m.r.chance(m.stalls);
        t.wrq_ready_i = !m.r.chance(m.stalls);
        t.wrd_ready_i = !writes.empty() && !m.r.chance(m.stalls);
        stream.drive(t.pst_valid_i, t.pst_data_i, keep, t.pst_last_i, !m.r.chance(m.stalls));
        t.wrb_valid_i = !responses.empty() && responses.front().ready_at <= m.b.cycle;
        t.wrb_err_i = t.wrb_valid_i && responses.front().fails;
    }

    void look()
    {
        auto &t = m.b.top;
        if (t.wrb_valid_i) {
            m.engine.complete(responses.front().addr, responses.front().len);
            responses.pop_front();
        }
        if (t.wrd_valid_o && t.wrd_ready_i) {
            take_data();
        }
        if (t.pst_valid_i && t.pst_ready_o) {
            stream.took();
        }
        if (t.prq_valid_o && t.prq_ready_i) {
            stream.push(Bytes(payload.begin() + t.prq_off_o, payload.begin() + t.prq_off_o + t.prq_len_o));
        }
        if (t.wrq_valid_o && t.wrq_ready_i) {
            m.engine.use(t.wrq_addr_o, t.wrq_len_o);
            writes.push_back({t.wrq_addr_o, t.wrq_len_o, {}});
        }
    }

    void take_data()
    {
        auto &t = m.b.top;
        Write &w = writes.front();
        Bytes lanes = bench::get(t.wrd_data_o, std::min<size_t>(32, w.len - w.data.size()));
        w.data.insert(w.data.end(), lanes.begin(), lanes.end());
        EXPECT_EQ(t.wrd_last_o, w.data.size() == w.len);
        if (w.data.size() < w.len) {
            return;
        }
        for (size_t k = 0; k < w.len; k++) {
            EXPECT_TRUE(memory.emplace(w.addr + k, w.data[k]).second) << "written twice";
        }
        responses.push_back({w.addr, w.len, m.b.cycle + 1 + m.r.below(30), write_count++ == fail_at});
        writes.pop_front();
    }

    End run(const Start &s)
    {
        memory.clear();
        write_count = 0;
        src_off = static_cast<uint16_t>(m.r.below(32));
        return m.run(s, [&] { drive(); }, [&] { look(); });
    }

    // The first `count` pieces are in memory and nothing else.
    void expect_memory(const Start &s, size_t count)
    {
        size_t at = 0;
        auto list = mover::pieces(s);
        for (size_t p = 0; p < count; p++) {
            for (size_t k = 0; k < list[p].len; k++, at++) {
                auto it = memory.find(protection::bus_of(list[p].va + k));
                ASSERT_NE(it, memory.end()) << "byte " << at;
                ASSERT_EQ(it->second, payload[src_off + at]) << "byte " << at;
            }
        }
        EXPECT_EQ(memory.size(), at);
    }
};

TEST_F(Scatter, H6WritesEveryByteOfRandomListsUnderAGrantAndNoOther)
{
    for (int k = 0; k < 400; k++) {
        Start s = mover::random_start(m.r, k % 3 == 0 ? 40 : k % 3 == 1 ? 700 : 9000);
        m.engine.begin();
        m.stalls = k % 2 ? 0 : 40;
        ASSERT_EQ(run(s).rule, BDY_RULE_NONE);
        m.expect_requests(s);
        expect_memory(s, mover::pieces(s).size());
        ASSERT_FALSE(HasFailure()) << "start " << k;
    }
}

TEST_F(Scatter, A26WritesNothingFromARefusedPieceOn)
{
    for (int k = 0; k < 300; k++) {
        Start s = mover::random_start(m.r, 300);
        m.engine.begin();
        m.engine.refuse_at = static_cast<int>(m.r.below(mover::pieces(s).size()));
        m.engine.refuse_rule = BDY_RULE_A9;
        ASSERT_EQ(run(s).rule, BDY_RULE_A9);
        expect_memory(s, static_cast<size_t>(m.engine.refuse_at));
        ASSERT_FALSE(HasFailure()) << "start " << k;
    }
}

TEST_F(Scatter, H3WaitsForTheLastResponseAndReportsItsError)
{
    for (int k = 0; k < 200; k++) {
        Start s = mover::random_start(m.r, 300);
        m.engine.begin();
        fail_at = static_cast<int>(m.r.below(mover::pieces(s).size()));
        ASSERT_EQ(run(s).rule, BDY_RULE_DMA);
        ASSERT_TRUE(responses.empty());
        ASSERT_FALSE(HasFailure()) << "start " << k;
    }
}

} // namespace
