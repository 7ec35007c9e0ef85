// SPDX-License-Identifier: Apache-2.0
/** @file contract.h  What the contract suite must know of a backend to provoke it. */
#ifndef BDY_TESTS_CONTRACT_CONTRACT_H
#define BDY_TESTS_CONTRACT_CONTRACT_H

#include "tests/contract/device.h"

#include <gtest/gtest.h>

namespace contract
{

struct Backend {
    const char *name;
    const bdy_dev_ops *ops;
    std::function<std::vector<uint8_t>()> image; // one that boots
    /** Make a booted device ask for one read at `bus` (a 4 KiB line) or beyond it in the line. */
    std::function<void(Device &, uint64_t bus)> start_read;
};

inline void PrintTo(const Backend &b, std::ostream *os)
{
    *os << b.name;
}

/** Runs until STATE says READY. */
inline bool wait_ready(Device &d, uint64_t limit = 1000000)
{
    const uint64_t until = d.status().now + limit;
    while (d.status().now < until) {
        uint64_t state = 0;
        if (d.read(BDY_REG_BAR_STATE_OFFSET, &state) != 1)
            return false;
        if (bdy_field_get(state, BDY_REG_BAR_STATE_ST_LSB, BDY_REG_BAR_STATE_ST_W) ==
            BDY_DEV_ST_READY)
            return true;
        d.run_for(100);
    }
    return false;
}

class Contract : public ::testing::TestWithParam<Backend>
{
  protected:
    std::unique_ptr<Device> make(uint64_t seed = 1)
    {
        return std::make_unique<Device>(*GetParam().ops, seed);
    }
    /** Booted and READY, or null. */
    std::unique_ptr<Device> booted(uint64_t seed = 1)
    {
        auto d = make(seed);
        const auto img = GetParam().image();
        if (d->created != 0 || d->ops.boot(d->dev, img.data(), img.size()) != 0 || !wait_ready(*d))
            return nullptr;
        return d;
    }
};

/** A register of every device that keeps what is written and does nothing else. */
constexpr uint32_t scratch(unsigned i)
{
    return BDY_REG_BAR_GID_OFFSET + 8 * i;
}

} // namespace contract
#endif
