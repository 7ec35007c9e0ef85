// SPDX-License-Identifier: Apache-2.0
// Random work for the protection engine: firmware that goes through life cycles one operation at a time, two engines that bind
// and invalidate, four that access; mostly legal, often just beside it.
#pragma once

#include "tests/rtl/prot/prot_fixture.h"

namespace prot {

class RandomWork {
public:
    RandomWork(Bench &bench, uint64_t seed, int slots = 24);

    int access_percent = 60;  // chance of a new access per port and cycle
    int op_percent = 40;      // chance of a new bind or invalidate per port and cycle
    int life_percent = 30;    // chance of a life-cycle operation when firmware is free

    void prepare();           // domains, queue pairs, some regions and windows
    void run(int cycles);
    void compare_tables();    // every slot used, through firmware's read port

private:
    Bench &b_;
    std::mt19937_64 rng_;
    std::vector<uint32_t> slots_;
    std::shared_ptr<OpAnswer> fw_;
    std::deque<Op> fw_queue_;
    std::deque<std::shared_ptr<OpAnswer>> ops_[kOps];
    std::deque<std::shared_ptr<Answer>> accs_[kAcc];

    uint64_t below(uint64_t n) { return rng_() % n; }
    bool chance(int percent) { return below(100) < (uint64_t)percent; }
    template <class T> T pick(std::initializer_list<T> l) { return *(l.begin() + below(l.size())); }
    uint32_t any_slot() { return slots_[below(slots_.size())]; }
    uint32_t any_qpn() { return chance(98) ? kQpnBase + (uint32_t)below(6) : pick<uint32_t>({0, 0xff, 0x1ff, 0x200}); }
    uint32_t any_pd() { return (uint32_t)(1 + below(3)); }
    unsigned any_rights(unsigned pool);
    uint32_t key_of(uint32_t slot, bool wrong_allowed = true);
    uint32_t slot_where(bool (*want)(const Entry &));
    uint64_t near_range(uint64_t start, uint64_t len);
    void add_region(uint32_t slot);
    void life_step();
    void qp_step();
    Op any_bind();
    Op any_invalidate();
    Req any_access();
};

} // namespace prot
