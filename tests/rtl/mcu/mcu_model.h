// SPDX-License-Identifier: Apache-2.0
// A verilated bdy_mcu (any build of it) with a clock, a boot port and its retire trace.
#ifndef BINDERY_TESTS_RTL_MCU_MCU_MODEL_H
#define BINDERY_TESTS_RTL_MCU_MCU_MODEL_H

#include <cstdint>
#include <memory>
#include <verilated.h>

#include "program.h"

struct Retired {
    bool valid;
    uint32_t pc, insn;
    bool rd_we;
    uint32_t rd, rd_data;
    bool st_valid;
    uint32_t st_addr, st_data, st_be;
};

template <class Top> class McuModel {
  public:
    McuModel() : context_(std::make_unique<VerilatedContext>())
    {
        context_->assertOn(true);
        top_ = std::make_unique<Top>(context_.get());
        reset();
    }
    ~McuModel() { top_->final(); }

    Top &top() { return *top_; }
    uint64_t cycle() const { return cycle_; }

    // Inputs to outputs, no clock edge.
    void settle() { top_->eval(); }

    // One rising edge; afterwards the outputs show the new cycle with the inputs as they stand.
    void tick()
    {
        top_->clk_i = 1;
        top_->eval();
        top_->clk_i = 0;
        top_->eval();
        cycle_++;
    }

    // Reset with the core held; the RAM keeps its contents.
    void reset()
    {
        top_->clk_i = 0;
        top_->rst_ni = 0;
        top_->run_i = 0;
        top_->boot_valid_i = 0;
        top_->event_i = 0;
        top_->mmio_ready_i = 0;
        top_->mmio_rdata_i = 0;
        top_->eval();
        tick();
        top_->rst_ni = 1;
        top_->eval();
    }

    void boot_word(uint32_t addr, uint32_t word)
    {
        top_->boot_valid_i = 1;
        top_->boot_addr_i = addr - rv32::kRamBase;
        top_->boot_data_i = word;
        tick();
        top_->boot_valid_i = 0;
        top_->eval();
    }

    void boot(const Image &image)
    {
        for (const auto &[addr, word] : image.words()) {
            boot_word(addr, word);
        }
    }

    void run(bool on)
    {
        top_->run_i = on ? 1 : 0;
        top_->eval();
    }

    Retired retired() const
    {
        return {top_->ret_valid_o != 0, top_->ret_pc_o,      top_->ret_insn_o,
                top_->ret_rd_we_o != 0, top_->ret_rd_o,      top_->ret_rd_data_o,
                top_->ret_st_valid_o != 0, top_->ret_st_addr_o, top_->ret_st_data_o,
                top_->ret_st_be_o};
    }

    // Clocks until an instruction retires in the present cycle, the core halts, or `limit` passes.
    // The caller ticks past a retired instruction.
    bool wait_retire_or_halt(unsigned limit)
    {
        for (unsigned n = 0; n < limit; n++) {
            if (top_->ret_valid_o != 0 || top_->halt_o != 0) {
                return true;
            }
            tick();
        }
        return false;
    }

  private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Top> top_;
    uint64_t cycle_ = 0;
};

#endif
