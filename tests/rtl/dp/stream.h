// SPDX-License-Identifier: Apache-2.0
// AXI-Stream ends for the benches: a source that cuts byte strings into beats, a sink that joins them.
#pragma once

#include <deque>

#include "tests/rtl/dp/bench.h"

namespace bench {

inline uint32_t keep_of(size_t bytes)
{
    return bytes >= 32 ? 0xffffffffu : (1u << bytes) - 1;
}

class Source {
public:
    void push(Bytes frame) { frames_.push_back(std::move(frame)); }
    bool empty() const { return frames_.empty(); }
    bool mid_frame() const { return at_ != 0; }

    // Valid, once up, stays until the handshake.
    template <class V, class D, class K, class L> void drive(V &valid, D &data, K &keep, L &last, bool go)
    {
        offering_ = offering_ || (go && !frames_.empty());
        valid = offering_;
        if (offering_) {
            const Bytes &f = frames_.front();
            Bytes b = beat(f, at_ / 32);
            for (size_t k = f.size() - at_; k < 32; k++) {
                b[k] = 0xcc; // lanes behind the end hold anything
            }
            put(data, b.data(), 32);
            keep = keep_of(f.size() - at_);
            last = f.size() - at_ <= 32;
        }
    }

    void took()
    {
        offering_ = false;
        at_ += 32;
        if (at_ >= frames_.front().size()) {
            frames_.pop_front();
            at_ = 0;
        }
    }

private:
    std::deque<Bytes> frames_;
    size_t at_ = 0;
    bool offering_ = false;
};

class Sink {
public:
    std::deque<Bytes> frames;

    template <class D> void take(const D &data, uint32_t keep, bool last)
    {
        size_t n = static_cast<size_t>(__builtin_popcount(keep));
        EXPECT_EQ(keep, keep_of(n)) << "keep with a gap";
        EXPECT_TRUE(last || n == 32) << "beat not full";
        Bytes b = get(data, n);
        now_.insert(now_.end(), b.begin(), b.end());
        if (last) {
            frames.push_back(now_);
            now_.clear();
        }
    }
    bool mid_frame() const { return !now_.empty(); }

private:
    Bytes now_;
};

} // namespace bench
