// SPDX-License-Identifier: Apache-2.0
// RV32IM as the test sees it: one table of encodings, written from the ISA manual and used to
// assemble, to name instructions and to say which words are legal. The core shares nothing with it.
#ifndef BINDERY_TESTS_RTL_MCU_RV32_H
#define BINDERY_TESTS_RTL_MCU_RV32_H

#include <cstdint>
#include <string>
#include <vector>

namespace rv32 {

enum class Format { kR, kI, kShift, kS, kB, kU, kJ, kFence, kWfi };

struct Insn {
    const char *name;
    Format format;
    uint32_t mask;
    uint32_t match;
};

// Every instruction of RV32IM but ECALL and EBREAK, plus FENCE.I and WFI.
const std::vector<Insn> &table();

// The table's row for a name; aborts the test program on an unknown name.
const Insn &find(const std::string &name);

// The table's row that a word encodes, or nullptr when the core must refuse it.
const Insn *decode(uint32_t word);

// The word, all fields given; a format ignores what it does not have. Immediates are byte offsets
// for branches and jumps, the upper 20 bits for LUI and AUIPC.
uint32_t encode(const std::string &name, unsigned rd, unsigned rs1, unsigned rs2, int32_t imm);

constexpr uint32_t kRamBase = 0x80000000U;
constexpr uint32_t kEbreak = 0x00100073U;
constexpr uint32_t kWfi = 0x10500073U;

inline unsigned rs1_of(uint32_t word) { return (word >> 15) & 31U; }
inline unsigned rs2_of(uint32_t word) { return (word >> 20) & 31U; }
inline int32_t store_offset(uint32_t word)
{
    return (static_cast<int32_t>(word) >> 25) * 32 + static_cast<int32_t>((word >> 7) & 31U);
}

} // namespace rv32

#endif
