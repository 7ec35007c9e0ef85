// SPDX-License-Identifier: Apache-2.0
// Runs a model beside a reference and stops at the first difference.
#ifndef BINDERY_TESTS_RTL_MCU_LOCKSTEP_H
#define BINDERY_TESTS_RTL_MCU_LOCKSTEP_H

#include <array>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mcu_model.h"
#include "qemu.h"

struct Difference {
    bool found = false;
    std::string culprit; // name of the instruction that went wrong
    std::string text;
};

struct Store {
    uint32_t addr, data, be; // word address, data in its lanes
};

// What the reference's state says that a store instruction writes.
inline Store expected_store(const ReferenceStep &step, uint32_t insn)
{
    uint32_t addr = step.x[rv32::rs1_of(insn)] + static_cast<uint32_t>(rv32::store_offset(insn));
    uint32_t data = step.x[rv32::rs2_of(insn)];
    uint32_t shift = 8 * (addr & 3U);
    uint32_t size = 1U << ((insn >> 12) & 3U);
    uint32_t be = ((1U << size) - 1U) << (addr & 3U);

    return {addr & ~3U, data << shift, be};
}

inline uint32_t lanes(uint32_t be)
{
    uint32_t mask = 0;

    for (unsigned k = 0; k < 4; k++) {
        mask |= ((be >> k) & 1U) != 0 ? 0xffU << (8 * k) : 0U;
    }
    return mask;
}

template <class Top> class Lockstep {
  public:
    Lockstep(McuModel<Top> &model, const Image &image, const Reference &reference)
        : model_(model), memory_(image.words()), steps_(reference.steps), x_(steps_[0].x)
    {
        model_.boot(image);
    }

    Difference run()
    {
        model_.run(true);
        for (size_t n = 0; n + 1 < steps_.size() && !difference_.found; n++) {
            step(n);
        }
        if (!difference_.found) {
            finish();
        }
        model_.run(false);
        model_.tick();
        return difference_;
    }

  private:
    std::string name_at(size_t n)
    {
        const rv32::Insn *insn = rv32::decode(memory_[steps_[n].pc]);

        return insn != nullptr ? insn->name : "illegal";
    }

    // The culprit of a wrong successor is the instruction before.
    void differ_before(size_t n, const std::string &what, uint32_t got, uint32_t want)
    {
        differ(n > 0 ? n - 1 : 0, what, got, want);
    }

    void differ(size_t n, const std::string &what, uint32_t got, uint32_t want)
    {
        std::ostringstream text;

        text << "step " << n << " pc " << std::hex << steps_[n].pc << " " << name_at(n) << ": "
             << what << " is " << got << ", want " << want;
        difference_ = {true, name_at(n), text.str()};
    }

    void step(size_t n)
    {
        const ReferenceStep &now = steps_[n];
        uint32_t insn = memory_[now.pc];

        if (!model_.wait_retire_or_halt(100)) {
            differ(n, "nothing retired for cycles", 100, 40);
            return;
        }
        bool halted = model_.top().halt_o != 0;
        Retired got = model_.retired();
        uint32_t pc = halted ? model_.top().halt_pc_o : got.pc;
        if (pc != now.pc) {
            differ_before(n, "next pc", pc, now.pc);
        } else if (halted) {
            differ(n, "halt code", model_.top().halt_code_o, 0);
        } else if (got.insn != insn) {
            differ_before(n, "next instruction", got.insn, insn);
        }
        if (difference_.found) {
            return;
        }
        check_store(n, got, insn);
        check_registers(n, got);
        model_.tick();
    }

    void check_store(size_t n, const Retired &got, uint32_t insn)
    {
        bool is_store = (insn & 0x7fU) == 0x23U;

        if (got.st_valid != is_store) {
            differ(n, "store valid", got.st_valid, is_store);
        } else if (is_store) {
            Store want = expected_store(steps_[n], insn);
            uint32_t mask = lanes(want.be);
            if (got.st_addr != want.addr) {
                differ(n, "store address", got.st_addr, want.addr);
            } else if (got.st_be != want.be) {
                differ(n, "store byte enables", got.st_be, want.be);
            } else if (((got.st_data ^ want.data) & mask) != 0) {
                differ(n, "store data", got.st_data & mask, want.data & mask);
            }
            uint32_t &word = memory_[want.addr];
            word = (word & ~mask) | (want.data & mask);
        }
    }

    void check_registers(size_t n, const Retired &got)
    {
        if (got.rd_we && got.rd == 0) {
            differ(n, "write enable of x0", 1, 0);
        }
        if (got.rd_we) {
            x_[got.rd & 31U] = got.rd_data;
        }
        for (unsigned k = 1; k < 32 && !difference_.found; k++) {
            if (x_[k] != steps_[n + 1].x[k]) {
                differ(n, "x" + std::to_string(k), x_[k], steps_[n + 1].x[k]);
            }
        }
    }

    // The last instruction stores outside the core's memory: it stops there.
    void finish()
    {
        size_t last = steps_.size() - 1;

        if (!model_.wait_retire_or_halt(100) || model_.top().halt_o == 0) {
            differ(last, "halt", 0, 1);
        } else if (model_.top().halt_pc_o != steps_[last].pc) {
            differ(last, "halt pc", model_.top().halt_pc_o, steps_[last].pc);
        } else if (expected_store(steps_[last], memory_[steps_[last].pc]).addr != kFinishAddr) {
            differ(last, "the reference's last instruction is not the finishing store", 0, 1);
        }
    }

    McuModel<Top> &model_;
    std::map<uint32_t, uint32_t> memory_;
    const std::vector<ReferenceStep> &steps_;
    std::array<uint32_t, 32> x_;
    Difference difference_;
};

#endif
