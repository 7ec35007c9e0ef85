// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl/shim.hpp"

#include "bdy_regs.h"
#include "sim/rtl/image.hpp"

#include <cerrno>
#include <cstring>

namespace bdy
{

Shim::Shim(const bdy_dev_cfg &cfg, const bdy_dev_up &up, void *up_arg)
    : up_(up), up_arg_(up_arg), memory_(cfg.seed)
{
}

Shim::~Shim()
{
    HookScope scope(this);
    pins_.reset();
}

/** Reset is held for a few cycles, then the device stands without firmware: registers answer, the
 * embedded core waits. */
void Shim::start(Factory factory, const bdy_dev_cfg &cfg)
{
    HookScope scope(this);
    pins_ = factory(cfg.seed);
    in_.rst_n = true; // a falling edge resets what is random so far before the first clock
    pins_->settle(in_, out_);
    in_.rst_n = false;
    for (unsigned i = 0; i < kResetCycles; i++) {
        pins_->settle(in_, out_);
        pins_->edge();
    }
    in_.rst_n = true;
    now_ = pins_->cycle();
}

int Shim::create(Factory factory, const bdy_dev_cfg &cfg, const bdy_dev_up &up, void *up_arg,
                 Shim **out)
{
    std::unique_ptr<Shim> shim(new Shim(cfg, up, up_arg));
    shim->start(factory, cfg);
    if (cfg.wave_path != nullptr) {
        const int err = shim->wave(cfg.wave_path);
        if (err != 0)
            return err;
    }
    *out = shim.release();
    return 0;
}

void Shim::model_says(const std::string &text)
{
    up_.message(up_arg_, 0, text.c_str());
}

void Shim::die(const std::string &text)
{
    dead_ = true;
    up_.message(up_arg_, 1, text.c_str());
}

int Shim::boot(const void *image, size_t bytes)
{
    std::vector<uint32_t> words;
    const int err = image_words(image, bytes, words);
    if (err != 0)
        return err;
    if (dead_)
        return -EIO;
    if (booted_ || !boot_words_.empty())
        return -EBUSY;
    boot_words_ = std::move(words);
    quiet_ = 0;
    return 0;
}

int Shim::mmio_write(uint32_t offset, uint64_t value)
{
    if (offset % 8 != 0 || offset >= BDY_BAR_BYTES)
        return -EINVAL;
    return dead_ ? -EIO : bar_.write(offset, value);
}

int Shim::mmio_read(uint32_t offset)
{
    if (offset % 8 != 0 || offset >= BDY_BAR_BYTES)
        return -EINVAL;
    return dead_ ? -EIO : bar_.read(offset);
}

int Shim::mmio_read_done(uint64_t *value)
{
    return dead_ ? -EIO : bar_.read_done(value);
}

int Shim::dma_cpl(bdy_dma_kind kind, uint32_t tag, bdy_dma_status status, const void *data,
                  uint32_t bytes)
{
    return dead_ ? -EIO : memory_.complete(kind, tag, status, data, bytes);
}

/** The image goes in a word a cycle; the embedded core starts the cycle after the last one. */
void Shim::drive_boot()
{
    in_.boot_valid = boot_next_ < boot_words_.size();
    if (in_.boot_valid) {
        in_.boot_addr = static_cast<uint32_t>(4 * boot_next_);
        in_.boot_data = boot_words_[boot_next_++];
    } else if (!boot_words_.empty()) {
        boot_words_.clear();
        booted_ = true;
    }
    in_.boot_run = booted_;
}

void Shim::drive()
{
    drive_boot();
    bar_.drive(in_);
    memory_.drive(in_);
}

void Shim::deliver_trace()
{
    TracePort ports[kTracePorts];
    pins_->trace(ports);
    for (const TracePort &port : ports) {
        if (!port.valid)
            continue;
        uint64_t words[kTraceWords]; // the model's own copy need not be aligned
        std::memcpy(words, port.data, port.nwords * sizeof(words[0]));
        const bdy_trace event = {now_, port.kind, port.nwords, words};
        up_.trace(up_arg_, &event);
    }
}

void Shim::note_quiet()
{
    const bool driven = in_.bar_awvalid || in_.bar_wvalid || in_.bar_arvalid || in_.mem_rvalid ||
                        in_.mem_bvalid || in_.boot_valid;
    if (driven || !out_.idle)
        quiet_ = 0;
    else if (quiet_ < kQuietCycles)
        quiet_++;
}

/** One clock; returns the number of up-calls that carry work for the host. */
unsigned Shim::cycle()
{
    drive();
    pins_->settle(in_, out_);
    if (up_.trace != nullptr)
        deliver_trace();
    uint32_t refused = 0;
    if (bar_.sample(in_, out_, &refused))
        model_says("BAR write refused, offset " + std::to_string(refused));
    unsigned upcalls = memory_.sample(in_, out_, up_, up_arg_);
    if (out_.msix_valid) {
        up_.msix(up_arg_, out_.msix_addr, out_.msix_data);
        upcalls++;
    }
    if (out_.fatal && !told_fatal_)
        model_says("the device has stopped itself; its STATE register says why");
    told_fatal_ = out_.fatal;
    note_quiet();
    pins_->edge();
    const uint64_t now = pins_->cycle();
    if (now != (in_.skip_valid ? in_.skip_to : now_ + 1))
        throw ModelStopped("the cycle counter does not count cycles");
    now_ = now;
    return upcalls;
}

bool Shim::idle() const
{
    return quiet_ == kQuietCycles && bar_.idle() && memory_.idle() && boot_words_.empty();
}

int Shim::run(uint64_t until, bool stop_on_upcall, bdy_dev_stop &why)
{
    if (running_)
        return -EBUSY;
    HookScope scope(this);
    running_ = true;
    why = dead_ ? BDY_STOP_DEAD : BDY_STOP_UNTIL;
    try {
        while (!dead_ && now_ < until) {
            if (cycle() != 0 && stop_on_upcall) {
                why = BDY_STOP_UPCALL;
                break;
            }
            if (idle()) {
                why = BDY_STOP_IDLE;
                break;
            }
        }
    } catch (const std::exception &e) {
        why = BDY_STOP_DEAD;
        die(e.what());
    }
    running_ = false;
    return 0;
}

int Shim::skip(uint64_t to)
{
    if (dead_)
        return -EIO;
    if (running_ || !idle())
        return -EBUSY;
    if (to < now_ || to > out_.next_timer)
        return -EINVAL;
    if (to == now_)
        return 0;
    HookScope scope(this);
    in_.skip_valid = true;
    in_.skip_to = to;
    try {
        cycle();
    } catch (const std::exception &e) {
        die(e.what());
    }
    in_.skip_valid = false;
    return dead_ ? -EIO : 0;
}

void Shim::status(bdy_dev_status &out) const
{
    out.now = now_;
    out.next_timer = out_.next_timer;
    out.idle = idle() && !dead_;
    out.dead = dead_;
}

int Shim::wave(const char *path)
{
    if (dead_)
        return -EIO;
    HookScope scope(this);
    return pins_->wave(path);
}

} // namespace bdy
