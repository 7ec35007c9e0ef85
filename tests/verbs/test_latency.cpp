// SPDX-License-Identifier: Apache-2.0
// Cycle counts seen on the trace port of the whole device.
#include "rig.hpp"

namespace {

using rig::Pair;

struct Seen {
    uint64_t doorbell = 0, cqe = 0, verdicts = 0;
};

class Latency : public Pair {
  protected:
    void configure() override {
        cfg_.lat_min = cfg_.lat_max = 1; // memory answers on the next cycle
        cfg_.table_delay = 0;
        cfg_.trace = [](void *arg, const bdy_trace *ev) {
            auto *seen = static_cast<Seen *>(arg);
            if (ev->kind == BDY_TRC_KIND_DOORBELL) seen->doorbell = ev->cycle;
            if (ev->kind == BDY_TRC_KIND_CQE) seen->cqe = ev->cycle;
            if (ev->kind == BDY_TRC_KIND_OP) seen->verdicts++;
        };
        cfg_.trace_arg = &seen;
    }
    Seen seen;
};

// The doorbell shows on the trace port three cycles after its W handshake, the CQE one cycle after its last B.
constexpr uint64_t kFromW = 3, kToB = 1;

TEST_F(Latency, SignaledType1BindOnAnIdleWarmDeviceTakesAtMost60Cycles) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    for (int i = 0; i < 2; i++) ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, IBV_ACCESS_REMOTE_READ)), IBV_WC_SUCCESS);
    hca_->settle();
    ASSERT_EQ(bind1(own, mw, mem.mr, mem.addr() + 64, 64, IBV_ACCESS_REMOTE_READ), 0);
    ASSERT_EQ(next().status, IBV_WC_SUCCESS);
    const uint64_t cycles = seen.cqe - seen.doorbell + kFromW - kToB;
    RecordProperty("cycles", std::to_string(cycles));
    printf("doorbell W to CQE B: %llu cycles\n", (unsigned long long)cycles);
    EXPECT_LE(cycles, 60u);
    EXPECT_GT(cycles, 10u) << "nothing was measured";
}

TEST_F(Latency, RawClockIsTheCycleCounterOfTheTracePort) {
    ibv_values_ex before = {}, after = {};
    before.comp_mask = after.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(ibv_query_rt_values_ex(ctx_, &before), 0);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 64, IBV_ACCESS_REMOTE_READ)), IBV_WC_SUCCESS);
    ASSERT_EQ(ibv_query_rt_values_ex(ctx_, &after), 0);
    EXPECT_LE(uint64_t(before.raw_clock.tv_nsec), seen.doorbell);
    EXPECT_GE(uint64_t(after.raw_clock.tv_nsec), seen.cqe);
    EXPECT_LE(uint64_t(after.raw_clock.tv_nsec) - uint64_t(before.raw_clock.tv_nsec), seen.cqe - seen.doorbell + 2000);
}

}  // namespace
