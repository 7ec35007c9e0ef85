// SPDX-License-Identifier: Apache-2.0
/**
 * @file shim.hpp  Seam S3 over a Verilated top, whatever its class.
 *
 * A cycle is: drive the inputs, settle, look at the outputs (which is where up-calls come from),
 * clock edge. So a request that appears in cycle n can be answered in cycle n + 1 at the earliest.
 */
#ifndef BDY_SIM_RTL_SHIM_HPP
#define BDY_SIM_RTL_SHIM_HPP

#include "bindery/device.h"
#include "sim/rtl/axi_memory.hpp"
#include "sim/rtl/axil_master.hpp"
#include "sim/rtl/hooks.hpp"
#include "sim/rtl/pins.hpp"

/** What the seam's handles point to. */
struct bdy_dev {
};

namespace bdy
{

class Shim final : public bdy_dev, private MessageSink
{
  public:
    /** Makes a model from a seed. May throw. */
    using Factory = std::unique_ptr<Pins> (*)(uint64_t seed);

    static int create(Factory factory, const bdy_dev_cfg &cfg, const bdy_dev_up &up, void *up_arg,
                      Shim **out);
    ~Shim();

    int boot(const void *image, size_t bytes);
    int mmio_write(uint32_t offset, uint64_t value);
    int mmio_read(uint32_t offset);
    int mmio_read_done(uint64_t *value);
    int dma_cpl(bdy_dma_kind kind, uint32_t tag, bdy_dma_status status, const void *data,
                uint32_t bytes);
    int run(uint64_t until, bool stop_on_upcall, bdy_dev_stop &why);
    int skip(uint64_t to);
    void status(bdy_dev_status &out) const;
    int wave(const char *path);

  private:
    // A device says `idle` a little before it is; a few quiet cycles cost nothing and cannot be
    // wrong (H19).
    static constexpr unsigned kQuietCycles = 4;
    static constexpr unsigned kResetCycles = 8;

    Shim(const bdy_dev_cfg &cfg, const bdy_dev_up &up, void *up_arg);
    void start(Factory factory, const bdy_dev_cfg &cfg);
    void model_says(const std::string &text) override;
    void die(const std::string &text);
    void drive();
    void drive_boot();
    unsigned cycle();
    void deliver_trace();
    void note_quiet();
    bool idle() const;

    bdy_dev_up up_;
    void *up_arg_;
    AxilMaster bar_;
    AxiMemory memory_;
    Inputs in_;
    Outputs out_{};
    std::vector<uint32_t> boot_words_;
    size_t boot_next_ = 0;
    bool booted_ = false, dead_ = false, running_ = false, told_fatal_ = false;
    unsigned quiet_ = 0;
    uint64_t now_ = 0;
    std::unique_ptr<Pins> pins_; // last: its destructor may still speak
};

} // namespace bdy
#endif
