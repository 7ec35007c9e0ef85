// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl/axil_master.hpp"

#include "sim/rtl/hooks.hpp"

#include <cerrno>

namespace bdy
{

int AxilMaster::write(uint32_t offset, uint64_t value)
{
    if (queue_.size() >= kQueue)
        return -ENOSPC;
    queue_.push_back({false, offset, value});
    return 0;
}

int AxilMaster::read(uint32_t offset)
{
    if (read_ != Read::None)
        return -EBUSY;
    queue_.push_back({true, offset, 0});
    read_ = Read::Waiting;
    return 0;
}

int AxilMaster::read_done(uint64_t *value)
{
    switch (read_) {
    case Read::None:
        return -EINVAL;
    case Read::Done:
        read_ = Read::None;
        *value = value_;
        return 1;
    case Read::Failed:
        read_ = Read::None;
        return -EIO;
    default:
        return 0;
    }
}

bool AxilMaster::head_is_write() const
{
    return !queue_.empty() && !queue_.front().is_read;
}

// A read waits for the answers of the writes before it, and holds the writes after it.
bool AxilMaster::head_is_read() const
{
    return !queue_.empty() && queue_.front().is_read && unanswered_.empty() &&
           read_ == Read::Waiting;
}

void AxilMaster::drive(Inputs &in) const
{
    in.bar_awvalid = head_is_write() && !aw_taken_;
    in.bar_wvalid = head_is_write() && !w_taken_;
    in.bar_arvalid = head_is_read();
    if (head_is_write()) {
        in.bar_awaddr = queue_.front().offset;
        in.bar_wdata = queue_.front().value;
    }
    if (head_is_read())
        in.bar_araddr = queue_.front().offset;
}

bool AxilMaster::sample(const Inputs &in, const Outputs &out, uint32_t *refused)
{
    bool bad = false;
    if (out.bar_bvalid) {
        if (unanswered_.empty())
            throw ModelStopped("AXI4-Lite: B without a write");
        bad = out.bar_bresp != 0;
        *refused = unanswered_.front();
        unanswered_.pop_front();
    }
    if (in.bar_awvalid && out.bar_awready)
        aw_taken_ = true;
    if (in.bar_wvalid && out.bar_wready)
        w_taken_ = true;
    if (aw_taken_ && w_taken_) {
        aw_taken_ = w_taken_ = false;
        unanswered_.push_back(queue_.front().offset);
        queue_.pop_front();
    }
    if (in.bar_arvalid && out.bar_arready)
        read_ = Read::Issued;
    if (out.bar_rvalid && read_ == Read::Issued) {
        value_ = out.bar_rdata;
        read_ = out.bar_rresp == 0 ? Read::Done : Read::Failed;
        queue_.pop_front();
    }
    return bad;
}

bool AxilMaster::idle() const
{
    return queue_.empty() && unanswered_.empty();
}

} // namespace bdy
