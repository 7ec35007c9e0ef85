// SPDX-License-Identifier: Apache-2.0
/**
 * @file axi_memory.hpp  The other end of the device's AXI4 master: bursts become DMA requests,
 * completions become R and B.
 *
 * One request a burst. Completions come in any order; R and B of one ID keep the order of AR and
 * AW; beats of different IDs interleave by a seeded draw that steps only when there is a choice
 * (H19).
 */
#ifndef BDY_SIM_RTL_AXI_MEMORY_HPP
#define BDY_SIM_RTL_AXI_MEMORY_HPP

#include "bindery/device.h"
#include "sim/rtl/pins.hpp"

#include <array>
#include <deque>
#include <vector>

namespace bdy
{

class AxiMemory
{
  public:
    static constexpr unsigned kIds = 16;
    static constexpr unsigned kSlots = 64; // outstanding requests of a kind

    explicit AxiMemory(uint64_t seed);

    void drive(Inputs &in);
    /** Takes what the device offered; calls `up` for every new request and returns how many. Throws
     * ModelStopped when the device breaks AXI. */
    unsigned sample(const Inputs &in, const Outputs &out, const bdy_dev_up &up, void *up_arg);
    /** 0, -ENOENT, -EINVAL (length of read data). */
    int complete(bdy_dma_kind kind, uint32_t tag, bdy_dma_status status, const void *data,
                 uint32_t bytes);
    bool idle() const;

  private:
    static constexpr unsigned kPage = 4096;
    enum class State { Free, Waiting, Done };

    struct Burst {
        uint8_t id;
        uint64_t addr; // as on AR or AW
        unsigned beats;
    };
    struct Read {
        State state = State::Free;
        Burst burst{};
        unsigned next = 0; // beat
        bool error = false;
        std::array<uint8_t, kPage> data{}; // from the first beat's lane 0
    };
    struct Write {
        State state = State::Free;
        bool error = false;
    };
    struct WriteData {
        std::vector<uint8_t> bytes;
        std::vector<uint32_t> strobes; // one a beat
    };

    static void check_burst(const char *channel, const Burst &burst);
    void drive_r(Inputs &in);
    void drive_b(Inputs &in);
    void take_w(const Outputs &out);
    void retire(const Inputs &in, const Outputs &out);
    bool issue_read(const Burst &burst, const bdy_dev_up &up, void *up_arg);
    bool issue_write(const bdy_dev_up &up, void *up_arg);
    template <class Slot, class Queues>
    int pick(const std::array<Slot, kSlots> &slots, const Queues &order);

    uint64_t rng_;
    std::array<Read, kSlots> reads_;
    std::array<Write, kSlots> writes_;
    unsigned reads_used_ = 0, writes_used_ = 0;
    std::array<std::deque<unsigned>, kIds> read_order_, write_order_; // slots in AR and AW order
    std::deque<Burst> aw_;
    std::deque<WriteData> w_;
    WriteData w_open_;          // burst without its last beat yet
    int r_id_ = -1, b_id_ = -1; // what is offered, kept until taken
};

} // namespace bdy
#endif
