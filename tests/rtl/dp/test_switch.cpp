// SPDX-License-Identifier: Apache-2.0
// bdy_switch: routes, channels that do not mix, a link that is never stalled, and faults on demand.
#include <algorithm>
#include <map>

#include "Vswitch.h"
#include "tests/rtl/dp/packet.h"
#include "tests/rtl/dp/stream.h"

namespace {

using bench::Bytes;

constexpr uint16_t kOther = 0x4321;

struct Counts {
    unsigned drop = 0, alien = 0, fault_drop = 0, fault_dup = 0, fault_reorder = 0;
};

class Switch : public ::testing::Test {
protected:
    bench::Bench<Vswitch> b;
    bench::Random r{31};
    packet::Gids gids = packet::random_gids(r);
    bench::Source requests, responses, link_in;
    bench::Sink request_out, response_out, link_out;
    Counts counts;
    unsigned source_stalls = 20, sink_stalls = 20;
    bool request_sink_open = true;

    void SetUp() override { b.top.lid_i = packet::kLid; }

    void faults(uint16_t drop, uint16_t dup, uint16_t reorder, uint16_t seed)
    {
        b.top.fault_i = drop | static_cast<uint64_t>(dup) << 16 | static_cast<uint64_t>(reorder) << 32
                        | static_cast<uint64_t>(seed) << 48;
        cycle();
        cycle();
    }

    void cycle()
    {
        auto &t = b.top;
        requests.drive(t.rq_s_valid_i, t.rq_s_data_i, t.rq_s_keep_i, t.rq_s_last_i, !r.chance(source_stalls));
        responses.drive(t.rs_s_valid_i, t.rs_s_data_i, t.rs_s_keep_i, t.rs_s_last_i, !r.chance(source_stalls));
        link_in.drive(t.ext_s_valid_i, t.ext_s_data_i, t.ext_s_keep_i, t.ext_s_last_i, !r.chance(source_stalls));
        t.rq_m_ready_i = request_sink_open && !r.chance(sink_stalls);
        t.rs_m_ready_i = !r.chance(sink_stalls);
        t.ext_m_ready_i = !r.chance(sink_stalls);
        b.settle();
        take();
        count();
        b.tick();
    }

    void take()
    {
        auto &t = b.top;
        if (t.rq_s_valid_i && t.rq_s_ready_o) {
            requests.took();
        }
        if (t.rs_s_valid_i && t.rs_s_ready_o) {
            responses.took();
        }
        if (t.ext_s_valid_i) {
            link_in.took();
        }
        if (t.rq_m_valid_o && t.rq_m_ready_i) {
            request_out.take(t.rq_m_data_o, t.rq_m_keep_o, t.rq_m_last_o);
        }
        if (t.rs_m_valid_o && t.rs_m_ready_i) {
            response_out.take(t.rs_m_data_o, t.rs_m_keep_o, t.rs_m_last_o);
        }
        if (t.ext_m_valid_o && t.ext_m_ready_i) {
            link_out.take(t.ext_m_data_o, t.ext_m_keep_o, t.ext_m_last_o);
        }
    }

    void count()
    {
        counts.drop += b.top.ext_drop_o;
        counts.alien += b.top.ext_alien_o;
        counts.fault_drop += static_cast<unsigned>(__builtin_popcount(b.top.flt_drop_o));
        counts.fault_dup += static_cast<unsigned>(__builtin_popcount(b.top.flt_dup_o));
        counts.fault_reorder += static_cast<unsigned>(__builtin_popcount(b.top.flt_reorder_o));
    }

    bool busy() { return !requests.empty() || !responses.empty() || !link_in.empty() || !b.top.idle_o; }

    // Cycles until all is still.
    unsigned run()
    {
        unsigned c = 0;
        while (busy() && c < 500000) {
            cycle();
            c++;
        }
        EXPECT_FALSE(busy()) << "hangs";
        EXPECT_FALSE(request_out.mid_frame() || response_out.mid_frame() || link_out.mid_frame()) << "cut frame";
        return c;
    }

    Bytes make(uint8_t op, uint16_t dlid, size_t longest = 300)
    {
        packet::Packet p = packet::random_packet(r, op, r.below(longest));
        p.dlid = dlid;
        return packet::frame(p, packet::kLid, gids);
    }

    uint8_t some_op(bool response)
    {
        auto ops = packet::rc_ops();
        uint8_t op;
        do {
            op = ops[r.below(ops.size())];
        } while (packet::shape(op).response != response);
        return op;
    }

    std::deque<Bytes> send_requests(unsigned n)
    {
        std::deque<Bytes> sent;
        for (unsigned k = 0; k < n; k++) {
            sent.push_back(make(some_op(false), packet::kLid));
            requests.push(sent.back());
        }
        return sent;
    }
};

TEST_F(Switch, H17LoopsBackExactlyWhatNamesOurLid)
{
    std::deque<Bytes> loop[2];
    unsigned out = 0;
    std::map<Bytes, unsigned> external;
    for (int k = 0; k < 400; k++) {
        bool response = r.chance(50), ours = r.chance(60);
        Bytes f = make(some_op(response), ours ? packet::kLid : kOther);
        (response ? responses : requests).push(f);
        if (ours) {
            loop[response].push_back(f);
        } else {
            external[f]++;
            out++;
        }
    }
    run();
    EXPECT_EQ(request_out.frames, loop[0]);
    EXPECT_EQ(response_out.frames, loop[1]);
    EXPECT_EQ(link_out.frames.size(), out);
    for (const Bytes &f : link_out.frames) {
        EXPECT_EQ(external.count(f), 1u);
    }
    EXPECT_EQ(counts.drop + counts.alien + counts.fault_drop + counts.fault_dup + counts.fault_reorder, 0u);
}

TEST_F(Switch, H13SortsLinkFramesIntoTheirChannelBesideLoopback)
{
    std::deque<Bytes> external[2], looped;
    for (int k = 0; k < 120; k++) {
        bool response = r.chance(50);
        external[response].push_back(make(some_op(response), packet::kLid, 100));
        link_in.push(external[response].back());
        looped.push_back(make(some_op(false), packet::kLid, 100));
        requests.push(looped.back());
    }
    source_stalls = 70;
    sink_stalls = 0;
    run();
    EXPECT_EQ(response_out.frames, external[1]);
    ASSERT_EQ(counts.drop, 0u);
    // Both streams are whole and in order inside the one that comes out.
    std::deque<Bytes> want[2] = {external[0], looped};
    for (const Bytes &f : request_out.frames) {
        int from = !want[0].empty() && want[0].front() == f ? 0 : 1;
        ASSERT_FALSE(want[from].empty());
        ASSERT_EQ(want[from].front(), f);
        want[from].pop_front();
    }
    EXPECT_TRUE(want[0].empty() && want[1].empty());
}

TEST_F(Switch, H13DropsWholeLinkFramesWhenAReceiverIsFullAndOnlyInItsChannel)
{
    std::deque<Bytes> sent, replies;
    request_sink_open = false;
    sink_stalls = 0;
    for (int k = 0; k < 200; k++) {
        sent.push_back(make(some_op(false), packet::kLid, 1500));
        link_in.push(sent.back());
        if (k % 10 == 0) {
            replies.push_back(make(some_op(true), packet::kLid, 1500));
            link_in.push(replies.back());
        }
    }
    while (!link_in.empty()) {
        cycle();
    }
    request_sink_open = true;
    run();
    EXPECT_EQ(response_out.frames, replies);
    EXPECT_GT(counts.drop, 50u);
    EXPECT_EQ(request_out.frames.size() + counts.drop, sent.size());
    auto at = sent.begin();
    for (const Bytes &f : request_out.frames) {
        at = std::find(at, sent.end(), f);
        ASSERT_NE(at, sent.end()) << "a frame that was not sent, or out of order";
        ++at;
    }
}

TEST_F(Switch, H17DropsLinkFramesForOthersAndForms)
{
    link_in.push(make(BDY_BTH_OP_SEND_ONLY, kOther));
    Bytes raw = make(BDY_BTH_OP_SEND_ONLY, packet::kLid);
    raw[1] &= 0xfc;
    link_in.push(raw);
    link_in.push(Bytes(4, 0));
    run();
    EXPECT_EQ(counts.alien, 3u);
    EXPECT_TRUE(request_out.frames.empty());
    // A lone beat that claims a GRH has no opcode: the deframer is to judge it.
    Bytes runt(20, 0);
    runt[1] = 3;
    runt[2] = packet::kLid >> 8;
    runt[3] = packet::kLid & 0xff;
    link_in.push(runt);
    link_in.push(make(BDY_BTH_OP_ACK, packet::kLid));
    run();
    EXPECT_EQ(request_out.frames.size(), 1u);
    EXPECT_EQ(response_out.frames.size(), 1u);
}

TEST_F(Switch, FaultsDropAndDuplicateAsAsked)
{
    faults(65535, 0, 0, 1);
    send_requests(50);
    run();
    EXPECT_LE(request_out.frames.size(), 1u); // 65535 in 65536
    EXPECT_EQ(request_out.frames.size() + counts.fault_drop, 50u);

    request_out.frames.clear();
    faults(0, 65535, 0, 1);
    auto sent = send_requests(50);
    run();
    EXPECT_EQ(request_out.frames.size(), 50u + counts.fault_dup);
    EXPECT_GE(counts.fault_dup, 49u);
    EXPECT_EQ(request_out.frames[0], sent[0]);
    EXPECT_EQ(request_out.frames[1], sent[0]);
}

TEST_F(Switch, FaultsHoldAPacketBehindTheNextAndLetItGoAfter64Cycles)
{
    faults(0, 0, 65535, 1);
    sink_stalls = source_stalls = 0;
    auto sent = send_requests(2);
    run();
    ASSERT_EQ(request_out.frames.size(), 2u);
    EXPECT_EQ(request_out.frames[0], sent[1]);
    EXPECT_EQ(request_out.frames[1], sent[0]);

    request_out.frames.clear();
    auto alone = send_requests(1);
    EXPECT_LE(run(), 64u + 2 * ((alone[0].size() + 31) / 32) + 10);
    EXPECT_EQ(request_out.frames, alone);
    EXPECT_EQ(counts.fault_reorder, 2u);
}

TEST_F(Switch, H19FaultsOfASeedRepeatAndLoseNothingElse)
{
    std::vector<std::deque<Bytes>> outcomes;
    auto sent = send_requests(0);
    for (int k = 0; k < 300; k++) {
        sent.push_back(make(some_op(false), packet::kLid));
    }
    for (uint16_t seed : {7, 8, 7}) {
        request_out.frames.clear();
        Counts before = counts;
        faults(0, 0, 0, 0);
        faults(6000, 6000, 6000, seed);
        for (const Bytes &f : sent) {
            requests.push(f);
        }
        run();
        EXPECT_EQ(request_out.frames.size() + (counts.fault_drop - before.fault_drop),
            sent.size() + (counts.fault_dup - before.fault_dup));
        EXPECT_GT(counts.fault_drop - before.fault_drop, 5u);
        EXPECT_GT(counts.fault_dup - before.fault_dup, 5u);
        EXPECT_GT(counts.fault_reorder - before.fault_reorder, 5u);
        for (const Bytes &f : request_out.frames) {
            EXPECT_NE(std::find(sent.begin(), sent.end(), f), sent.end());
        }
        outcomes.push_back(request_out.frames);
        // Another stall pattern must not change the decisions.
        source_stalls = sink_stalls = 0;
    }
    EXPECT_EQ(outcomes[0].size(), outcomes[2].size());
    EXPECT_NE(outcomes[0], outcomes[1]);
}

} // namespace
