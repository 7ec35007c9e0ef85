// SPDX-License-Identifier: Apache-2.0
/** @file pins.hpp  The ports of the device as plain values, so that only one small template knows a
 * Verilated class. */
#ifndef BDY_SIM_RTL_PINS_HPP
#define BDY_SIM_RTL_PINS_HPP

#include <cstdint>
#include <memory>
#include <string>

namespace bdy
{

constexpr unsigned kBeatBytes = 32;

/** What the host side drives in a cycle. */
struct Inputs {
    bool rst_n = false;
    bool skip_valid = false;
    uint64_t skip_to = 0;
    bool boot_run = false, boot_valid = false;
    uint32_t boot_addr = 0, boot_data = 0;

    bool bar_awvalid = false, bar_wvalid = false, bar_arvalid = false;
    uint32_t bar_awaddr = 0, bar_araddr = 0;
    uint64_t bar_wdata = 0;

    bool mem_awready = false, mem_wready = false, mem_arready = false;
    bool mem_bvalid = false, mem_rvalid = false, mem_rlast = false;
    uint8_t mem_bid = 0, mem_bresp = 0, mem_rid = 0, mem_rresp = 0;
    const uint8_t *mem_rdata = nullptr; /**< kBeatBytes, read while mem_rvalid */
};

/** What the device shows in a cycle, once settled. The pointers are into the model. */
struct Outputs {
    bool bar_awready, bar_wready, bar_arready, bar_bvalid, bar_rvalid;
    uint8_t bar_bresp, bar_rresp;
    uint64_t bar_rdata;

    bool mem_awvalid, mem_wvalid, mem_wlast, mem_arvalid, mem_bready, mem_rready;
    uint8_t mem_awid, mem_arid, mem_awlen, mem_arlen;
    uint64_t mem_awaddr, mem_araddr;
    uint32_t mem_wstrb;
    const uint8_t *mem_wdata;

    bool msix_valid;
    uint64_t msix_addr;
    uint32_t msix_data;

    bool idle, fatal;
    uint64_t next_timer;
};

/** A trace port in a cycle. */
struct TracePort {
    uint32_t kind, nwords;
    bool valid;
    const void *data;
};
constexpr unsigned kTracePorts = 8;
constexpr unsigned kTraceWords = 16; // of the widest

/** A model: two evaluations make a cycle, and outputs are looked at between them. */
class Pins
{
  public:
    virtual ~Pins() = default;
    /** Clock low with these inputs: everything settles to what the next rising edge will see. */
    virtual void settle(const Inputs &in, Outputs &out) = 0;
    /** Rising edge with the same inputs. */
    virtual void edge() = 0;
    /** The cycle counter after the edge. */
    virtual uint64_t cycle() const = 0;
    /** Trace ports of the settled cycle in the order of events. */
    virtual void trace(TracePort (&ports)[kTracePorts]) const = 0;
    /** 0 or a negative errno. */
    virtual int wave(const char *path) = 0;
};

} // namespace bdy
#endif
