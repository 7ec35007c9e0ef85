// SPDX-License-Identifier: Apache-2.0
// What the responder's tests share: a queue pair that receives, keys, buffers, and short ways to say what came out.
#pragma once

#include <gtest/gtest.h>

#include "bench.h"

namespace rx {

constexpr uint32_t kRemote = 0x11002233;    // a window's key: all remote rights
constexpr uint32_t kLocal = 0x44005566;     // a region's key: local write
constexpr uint64_t kTarget = kVaBase + 0x10000, kTargetLen = 0x10000;
constexpr uint64_t kRecv = kVaBase + 0x40000, kRecvLen = 0x20000;
constexpr uint8_t kRemoteRights = BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_READ | BDY_ACCESS_BIT_REMOTE_ATOMIC;

// Parameter: longest latency of the neighbours.
class Rx : public ::testing::TestWithParam<unsigned> {
  protected:
    static constexpr unsigned kQp = 5;
    static constexpr uint32_t kPsn = 0xfffffe;   // wraps at once

    Bench b{17 + GetParam(), GetParam()};
    Requester r{kQp, kPsn};
    Bytes before;

    void SetUp() override
    {
        b.keys[kRemote] = {kTarget, kTargetLen, kRemoteRights, 1, false};
        b.keys[kLocal] = {kRecv, kRecvLen, BDY_ACCESS_BIT_LOCAL_WRITE, 1, true};
        b.poke(kTarget, pattern(1, kTargetLen));
        b.poke(kRecv, pattern(2, kRecvLen));
        before = b.peek(kTarget, kTargetLen);
        b.make_rtr(kQp, kPsn);
    }

    void TearDown() override
    {
        for (const auto &f : b.faults) ADD_FAILURE() << f;
    }

    void deliver(const std::vector<Packet> &packets)
    {
        for (const auto &p : packets) b.send(p);
        ASSERT_TRUE(b.settle()) << "the responder does not come to rest";
    }
    void deliver(const Packet &p) { deliver(std::vector<Packet>{p}); }

    // The last response, or an empty packet.
    Packet last() const { return b.out.empty() ? Packet{} : b.out.back(); }

    void expect_answer(uint8_t syndrome, uint32_t psn, size_t responses = 1)
    {
        ASSERT_EQ(b.out.size(), responses);
        EXPECT_EQ(last().op(), BDY_BTH_OP_ACK);
        EXPECT_EQ(last().syndrome(), syndrome);
        EXPECT_EQ(last().psn(), psn & 0xffffff);
    }

    // A refusal that ends the queue pair: NAK, state ERR, one event of this kind (0: none), the rule counted.
    void expect_fatal(uint8_t syndrome, uint32_t psn, uint8_t event, uint8_t rule)
    {
        ASSERT_FALSE(b.out.empty());
        EXPECT_EQ(last().op(), BDY_BTH_OP_ACK);
        EXPECT_EQ(last().syndrome(), syndrome);
        EXPECT_EQ(last().psn(), psn & 0xffffff);
        EXPECT_EQ(b.qps[kQp].st(), BDY_QP_ST_ERR);
        ASSERT_EQ(b.refused_rules.size(), 1u);
        EXPECT_EQ(b.refused_rules[0], rule);
        if (!event) {
            EXPECT_TRUE(b.events.empty());
            return;
        }
        ASSERT_EQ(b.events.size(), 1u);
        EXPECT_EQ(b.events[0].kind, event);
        EXPECT_EQ(b.events[0].number, kQpnBase + kQp);
        EXPECT_EQ(b.events[0].data, rule);
    }

    void expect_untouched()
    {
        EXPECT_EQ(b.peek(kTarget, kTargetLen), before);
        EXPECT_EQ(b.bytes_written, 0u);
    }

    // Data of all READ responses so far.
    Bytes read_data() const
    {
        Bytes data;
        for (const auto &p : b.out) data.insert(data.end(), p.data.begin(), p.data.end());
        return data;
    }
};

}  // namespace rx
