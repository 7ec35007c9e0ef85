// SPDX-License-Identifier: Apache-2.0
/** @file axil_master.hpp  BAR accesses as an AXI4-Lite master: posted writes in order, a read
 * behind all earlier writes. */
#ifndef BDY_SIM_RTL_AXIL_MASTER_HPP
#define BDY_SIM_RTL_AXIL_MASTER_HPP

#include "sim/rtl/pins.hpp"

#include <deque>

namespace bdy
{

class AxilMaster
{
  public:
    static constexpr size_t kQueue = 64;

    /** 0, or -ENOSPC with kQueue writes waiting. */
    int write(uint32_t offset, uint64_t value);
    /** 0, or -EBUSY while a read is under way or its value not yet fetched. */
    int read(uint32_t offset);
    /** 1 done, 0 not yet, -EIO error response, -EINVAL no read was started. */
    int read_done(uint64_t *value);

    void drive(Inputs &in) const;
    /** Returns true with the offset of a write that the device refused. Throws ModelStopped on an
     * answer without a write. */
    bool sample(const Inputs &in, const Outputs &out, uint32_t *refused);
    /** Nothing waiting and nothing unanswered. */
    bool idle() const;

  private:
    struct Access {
        bool is_read;
        uint32_t offset;
        uint64_t value;
    };
    enum class Read { None, Waiting, Issued, Done, Failed };

    bool head_is_write() const;
    bool head_is_read() const;

    std::deque<Access> queue_;                // accesses not yet taken by the device
    std::deque<uint32_t> unanswered_;         // writes taken whose B is outstanding
    bool aw_taken_ = false, w_taken_ = false; // of the write at the head
    Read read_ = Read::None;
    uint64_t value_ = 0;
};

} // namespace bdy
#endif
