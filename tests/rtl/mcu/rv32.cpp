// SPDX-License-Identifier: Apache-2.0
#include "rv32.h"

#include <cstdio>
#include <cstdlib>

namespace rv32 {
namespace {

constexpr uint32_t kF3 = 0x0000707fU;
constexpr uint32_t kF7F3 = 0xfe00707fU;
constexpr uint32_t kOp = 0x0000007fU;

uint32_t imm_bits(Format format, uint32_t imm)
{
    auto bits = [imm](int hi, int lo) { return (imm >> lo) & ((1U << (hi - lo + 1)) - 1U); };

    switch (format) {
    case Format::kI:
    case Format::kFence:
        return bits(11, 0) << 20;
    case Format::kShift:
        return bits(4, 0) << 20;
    case Format::kS:
        return bits(11, 5) << 25 | bits(4, 0) << 7;
    case Format::kB:
        return bits(12, 12) << 31 | bits(10, 5) << 25 | bits(4, 1) << 8 | bits(11, 11) << 7;
    case Format::kU:
        return bits(19, 0) << 12;
    case Format::kJ:
        return bits(20, 20) << 31 | bits(10, 1) << 21 | bits(11, 11) << 20 | bits(19, 12) << 12;
    default:
        return 0;
    }
}

} // namespace

const std::vector<Insn> &table()
{
    static const std::vector<Insn> rows = {
        {"lui", Format::kU, kOp, 0x37},          {"auipc", Format::kU, kOp, 0x17},
        {"jal", Format::kJ, kOp, 0x6f},          {"jalr", Format::kI, kF3, 0x67},
        {"beq", Format::kB, kF3, 0x0063},        {"bne", Format::kB, kF3, 0x1063},
        {"blt", Format::kB, kF3, 0x4063},        {"bge", Format::kB, kF3, 0x5063},
        {"bltu", Format::kB, kF3, 0x6063},       {"bgeu", Format::kB, kF3, 0x7063},
        {"lb", Format::kI, kF3, 0x0003},         {"lh", Format::kI, kF3, 0x1003},
        {"lw", Format::kI, kF3, 0x2003},         {"lbu", Format::kI, kF3, 0x4003},
        {"lhu", Format::kI, kF3, 0x5003},        {"sb", Format::kS, kF3, 0x0023},
        {"sh", Format::kS, kF3, 0x1023},         {"sw", Format::kS, kF3, 0x2023},
        {"addi", Format::kI, kF3, 0x0013},       {"slti", Format::kI, kF3, 0x2013},
        {"sltiu", Format::kI, kF3, 0x3013},      {"xori", Format::kI, kF3, 0x4013},
        {"ori", Format::kI, kF3, 0x6013},        {"andi", Format::kI, kF3, 0x7013},
        {"slli", Format::kShift, kF7F3, 0x1013}, {"srli", Format::kShift, kF7F3, 0x5013},
        {"srai", Format::kShift, kF7F3, 0x40005013},
        {"add", Format::kR, kF7F3, 0x0033},      {"sub", Format::kR, kF7F3, 0x40000033},
        {"sll", Format::kR, kF7F3, 0x1033},      {"slt", Format::kR, kF7F3, 0x2033},
        {"sltu", Format::kR, kF7F3, 0x3033},     {"xor", Format::kR, kF7F3, 0x4033},
        {"srl", Format::kR, kF7F3, 0x5033},      {"sra", Format::kR, kF7F3, 0x40005033},
        {"or", Format::kR, kF7F3, 0x6033},       {"and", Format::kR, kF7F3, 0x7033},
        {"mul", Format::kR, kF7F3, 0x02000033},  {"mulh", Format::kR, kF7F3, 0x02001033},
        {"mulhsu", Format::kR, kF7F3, 0x02002033}, {"mulhu", Format::kR, kF7F3, 0x02003033},
        {"div", Format::kR, kF7F3, 0x02004033},  {"divu", Format::kR, kF7F3, 0x02005033},
        {"rem", Format::kR, kF7F3, 0x02006033},  {"remu", Format::kR, kF7F3, 0x02007033},
        {"fence", Format::kFence, kF3, 0x000f},  {"fence.i", Format::kFence, kF3, 0x100f},
        {"wfi", Format::kWfi, 0xffffffffU, kWfi},
    };
    return rows;
}

const Insn &find(const std::string &name)
{
    for (const Insn &row : table()) {
        if (name == row.name) {
            return row;
        }
    }
    std::fprintf(stderr, "rv32: no instruction \"%s\"\n", name.c_str());
    std::abort();
}

const Insn *decode(uint32_t word)
{
    for (const Insn &row : table()) {
        if ((word & row.mask) == row.match) {
            return &row;
        }
    }
    return nullptr;
}

uint32_t encode(const std::string &name, unsigned rd, unsigned rs1, unsigned rs2, int32_t imm)
{
    const Insn &row = find(name);
    uint32_t word = row.match | imm_bits(row.format, static_cast<uint32_t>(imm));
    bool has_rd = row.format != Format::kS && row.format != Format::kB;
    bool has_rs1 = row.format != Format::kU && row.format != Format::kJ;
    bool has_rs2 = row.format == Format::kR || row.format == Format::kS || row.format == Format::kB;

    if (row.format == Format::kWfi) {
        return word;
    }
    word |= has_rd ? rd << 7 : 0U;
    word |= has_rs1 ? rs1 << 15 : 0U;
    word |= has_rs2 ? rs2 << 20 : 0U;
    return word;
}

} // namespace rv32
