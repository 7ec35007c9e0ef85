// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl/axi_memory.hpp"

#include "sim/rtl/hooks.hpp"

#include <cerrno>
#include <cstring>

namespace bdy
{

namespace
{
constexpr size_t kAwAhead = 8, kWAhead = 8; // AW without W, and W without AW
constexpr uint8_t kOkay = 0, kSlvErr = 2;

uint64_t step(uint64_t &state) // splitmix64
{
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

template <class Slots> unsigned free_slot(const Slots &slots)
{
    unsigned slot = 0;
    while (static_cast<int>(slots[slot].state) != 0)
        slot++;
    return slot;
}
} // namespace

AxiMemory::AxiMemory(uint64_t seed) : rng_(seed)
{
}

bool AxiMemory::idle() const
{
    return reads_used_ == 0 && writes_used_ == 0 && aw_.empty() && w_.empty() &&
           w_open_.strobes.empty();
}

void AxiMemory::check_burst(const char *channel, const Burst &burst)
{
    const uint64_t first = burst.addr & ~uint64_t{kBeatBytes - 1};
    if ((first & (kPage - 1)) + uint64_t{burst.beats} * kBeatBytes > kPage)
        throw ModelStopped(std::string(channel) + ": a burst crosses 4 KiB");
}

/** An ID whose oldest burst is complete, or -1. */
template <class Slot, class Queues>
int AxiMemory::pick(const std::array<Slot, kSlots> &slots, const Queues &order)
{
    unsigned ready[kIds], count = 0;
    for (unsigned id = 0; id < kIds; id++)
        if (!order[id].empty() && slots[order[id].front()].state == State::Done)
            ready[count++] = id;
    if (count == 0)
        return -1;
    return static_cast<int>(ready[count == 1 ? 0 : step(rng_) % count]);
}

void AxiMemory::drive_r(Inputs &in)
{
    if (r_id_ < 0 && reads_used_ != 0)
        r_id_ = pick(reads_, read_order_);
    in.mem_rvalid = r_id_ >= 0;
    if (r_id_ < 0)
        return;
    const Read &read = reads_[read_order_[r_id_].front()];
    in.mem_rid = static_cast<uint8_t>(r_id_);
    in.mem_rdata = read.data.data() + read.next * kBeatBytes;
    in.mem_rresp = read.error ? kSlvErr : kOkay;
    in.mem_rlast = read.next + 1 == read.burst.beats;
}

void AxiMemory::drive_b(Inputs &in)
{
    if (b_id_ < 0 && writes_used_ != 0)
        b_id_ = pick(writes_, write_order_);
    in.mem_bvalid = b_id_ >= 0;
    if (b_id_ < 0)
        return;
    in.mem_bid = static_cast<uint8_t>(b_id_);
    in.mem_bresp = writes_[write_order_[b_id_].front()].error ? kSlvErr : kOkay;
}

void AxiMemory::drive(Inputs &in)
{
    drive_r(in);
    drive_b(in);
    in.mem_arready = reads_used_ < kSlots;
    in.mem_awready = aw_.size() < kAwAhead;
    in.mem_wready = w_.size() < kWAhead;
}

/** Frees what the device takes of R and B in this cycle. */
void AxiMemory::retire(const Inputs &in, const Outputs &out)
{
    if (in.mem_rvalid && out.mem_rready) {
        Read &read = reads_[read_order_[r_id_].front()];
        if (++read.next == read.burst.beats) {
            read.state = State::Free;
            reads_used_--;
            read_order_[r_id_].pop_front();
        }
        r_id_ = -1;
    }
    if (in.mem_bvalid && out.mem_bready) {
        writes_[write_order_[b_id_].front()].state = State::Free;
        writes_used_--;
        write_order_[b_id_].pop_front();
        b_id_ = -1;
    }
}

void AxiMemory::take_w(const Outputs &out)
{
    w_open_.bytes.insert(w_open_.bytes.end(), out.mem_wdata, out.mem_wdata + kBeatBytes);
    w_open_.strobes.push_back(out.mem_wstrb);
    if (w_open_.strobes.size() > kPage / kBeatBytes)
        throw ModelStopped("W: more beats than any burst may have");
    if (out.mem_wlast) {
        w_.push_back(std::move(w_open_));
        w_open_ = WriteData();
    }
}

bool AxiMemory::issue_read(const Burst &burst, const bdy_dev_up &up, void *up_arg)
{
    check_burst("AR", burst);
    const unsigned slot = free_slot(reads_);
    Read &read = reads_[slot];
    read.state = State::Waiting;
    read.burst = burst;
    read.next = 0;
    reads_used_++;
    read_order_[burst.id].push_back(slot);

    bdy_dma_req req{};
    req.tag = slot;
    req.kind = BDY_DMA_READ;
    req.bus = burst.addr;
    req.bytes = burst.beats * kBeatBytes - static_cast<uint32_t>(burst.addr & (kBeatBytes - 1));
    up.dma_req(up_arg, &req);
    return true;
}

/** Joins the oldest AW with the oldest W. False: the burst carries no byte, so that nobody need be
 * asked. */
bool AxiMemory::issue_write(const bdy_dev_up &up, void *up_arg)
{
    const Burst burst = aw_.front();
    const WriteData data = std::move(w_.front());
    aw_.pop_front();
    w_.pop_front();
    check_burst("AW", burst);
    if (data.strobes.size() != burst.beats)
        throw ModelStopped("W: WLAST does not fit AWLEN");

    const unsigned slot = free_slot(writes_);
    writes_[slot] = {State::Waiting, false};
    writes_used_++;
    write_order_[burst.id].push_back(slot);

    const auto strobed = [&data](uint32_t i) {
        return (data.strobes[i / kBeatBytes] >> (i % kBeatBytes)) & 1u;
    };
    uint32_t first = 0, end = static_cast<uint32_t>(data.bytes.size());
    while (first < end && !strobed(first))
        first++;
    while (end > first && !strobed(end - 1))
        end--;
    if (first == end) {
        writes_[slot].state = State::Done;
        return false;
    }
    std::vector<uint8_t> strobe((end - first + 7) / 8, 0);
    bool holes = false;
    for (uint32_t i = first; i < end; i++) {
        if (strobed(i))
            strobe[(i - first) / 8] |= static_cast<uint8_t>(1u << ((i - first) % 8));
        else
            holes = true;
    }
    bdy_dma_req req{};
    req.tag = slot;
    req.kind = BDY_DMA_WRITE;
    req.bus = (burst.addr & ~uint64_t{kBeatBytes - 1}) + first;
    req.bytes = end - first;
    req.data = data.bytes.data() + first;
    req.strobe = holes ? strobe.data() : nullptr;
    up.dma_req(up_arg, &req);
    return true;
}

unsigned AxiMemory::sample(const Inputs &in, const Outputs &out, const bdy_dev_up &up, void *up_arg)
{
    retire(in, out);
    unsigned asked = 0;
    if (out.mem_arvalid && in.mem_arready)
        asked += issue_read({out.mem_arid, out.mem_araddr, out.mem_arlen + 1u}, up, up_arg);
    if (out.mem_awvalid && in.mem_awready)
        aw_.push_back({out.mem_awid, out.mem_awaddr, out.mem_awlen + 1u});
    if (out.mem_wvalid && in.mem_wready)
        take_w(out);
    while (!aw_.empty() && !w_.empty() && writes_used_ < kSlots)
        asked += issue_write(up, up_arg);
    return asked;
}

int AxiMemory::complete(bdy_dma_kind kind, uint32_t tag, bdy_dma_status status, const void *data,
                        uint32_t bytes)
{
    if (tag >= kSlots)
        return -ENOENT;
    if (kind == BDY_DMA_WRITE) {
        Write &write = writes_[tag];
        if (write.state != State::Waiting)
            return -ENOENT;
        write = {State::Done, status != BDY_DMA_OK};
        return 0;
    }
    Read &read = reads_[tag];
    if (read.state != State::Waiting)
        return -ENOENT;
    const uint32_t lane = static_cast<uint32_t>(read.burst.addr & (kBeatBytes - 1));
    read.data.fill(0);
    if (status == BDY_DMA_OK) {
        if (data == nullptr || bytes != read.burst.beats * kBeatBytes - lane)
            return -EINVAL;
        std::memcpy(read.data.data() + lane, data, bytes);
    }
    read.error = status != BDY_DMA_OK;
    read.state = State::Done;
    return 0;
}

} // namespace bdy
