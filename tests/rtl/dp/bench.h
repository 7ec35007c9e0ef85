// SPDX-License-Identifier: Apache-2.0
// What the per-module benches of rtl/lib and rtl/dp share: clock, reset, wide ports as bytes, seeds.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <verilated.h>

namespace bench {

using Bytes = std::vector<uint8_t>;

// The models were built with every list one deep.
#ifdef BDY_SHALLOW
constexpr bool kShallow = true;
#else
constexpr bool kShallow = false;
#endif

// A test's seed: BINDERY_SEED when set, else fixed; printed on failure by the scope.
inline uint64_t seed()
{
    const char *text = std::getenv("BINDERY_SEED");
    return text ? std::strtoull(text, nullptr, 0) : 20261130;
}

class Random {
public:
    explicit Random(uint64_t salt) : gen_(seed() * 0x9e3779b97f4a7c15ull + salt) {}
    uint64_t bits() { return gen_(); }
    uint64_t below(uint64_t n) { return gen_() % n; }
    uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
    bool chance(unsigned percent) { return below(100) < percent; }

    Bytes bytes(size_t n)
    {
        Bytes b(n);
        for (auto &x : b) {
            x = static_cast<uint8_t>(gen_());
        }
        return b;
    }

private:
    std::mt19937_64 gen_;
};

template <class Wide> void put(Wide &port, const void *bytes, size_t n)
{
    std::memset(&port, 0, sizeof(port));
    std::memcpy(&port, bytes, n);
}

template <class Wide> Bytes get(const Wide &port, size_t n)
{
    Bytes b(n);
    std::memcpy(b.data(), &port, n);
    return b;
}

// One model, its clock and its time. A cycle is: drive inputs, settle(), look at outputs, tick().
template <class Top> class Bench {
public:
    Bench() : top(&context_)
    {
        top.clk_i = 0;
        top.rst_ni = 0;
        top.eval();
        tick();
        tick();
        top.rst_ni = 1;
        top.eval();
    }
    ~Bench() { top.final(); }

    void settle() { top.eval(); }

    void tick()
    {
        top.clk_i = 1;
        top.eval();
        top.clk_i = 0;
        top.eval();
        cycle++;
    }

private:
    VerilatedContext context_;

public:
    Top top;
    uint64_t cycle = 0;
};

// Bytes of beat `k` of a packed stream.
inline Bytes beat(const Bytes &stream, size_t k)
{
    Bytes b(32, 0);
    size_t n = std::min<size_t>(32, stream.size() - 32 * k);
    std::memcpy(b.data(), stream.data() + 32 * k, n);
    return b;
}

} // namespace bench
