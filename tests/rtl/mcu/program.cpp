// SPDX-License-Identifier: Apache-2.0
#include "program.h"

std::vector<uint8_t> Image::flat() const
{
    std::vector<uint8_t> bytes;

    if (words_.empty()) {
        return bytes;
    }
    bytes.resize(words_.rbegin()->first - rv32::kRamBase + 4);
    for (const auto &[addr, word] : words_) {
        for (unsigned k = 0; k < 4; k++) {
            bytes[addr - rv32::kRamBase + k] = static_cast<uint8_t>(word >> (8 * k));
        }
    }
    return bytes;
}

void Assembler::word(uint32_t value)
{
    image_.put(pc_, value);
    pc_ += 4;
}

void Assembler::r(const std::string &name, unsigned rd, unsigned rs1, unsigned rs2)
{
    word(rv32::encode(name, rd, rs1, rs2, 0));
}

void Assembler::i(const std::string &name, unsigned rd, unsigned rs1, int32_t imm)
{
    word(rv32::encode(name, rd, rs1, 0, imm));
}

void Assembler::s(const std::string &name, unsigned rs2, unsigned rs1, int32_t imm)
{
    word(rv32::encode(name, 0, rs1, rs2, imm));
}

void Assembler::b(const std::string &name, unsigned rs1, unsigned rs2, int32_t offset)
{
    word(rv32::encode(name, 0, rs1, rs2, offset));
}

void Assembler::u(const std::string &name, unsigned rd, uint32_t imm20)
{
    word(rv32::encode(name, rd, 0, 0, static_cast<int32_t>(imm20)));
}

void Assembler::jal(unsigned rd, int32_t offset)
{
    word(rv32::encode("jal", rd, 0, 0, offset));
}

void Assembler::li(unsigned rd, uint32_t value)
{
    u("lui", rd, (value + 0x800U) >> 12);
    i("addi", rd, rd, static_cast<int32_t>(value << 20) >> 20);
}

const std::vector<uint32_t> &edge_values()
{
    static const std::vector<uint32_t> values = {
        0,           1,           2,           0xffffffffU, 0xfffffffeU, 0x7fffffffU,
        0x7ffffffeU, 0x80000000U, 0x80000001U, 0x55555555U, 0xaaaaaaaaU, 31,
        32,          0x0000ffffU, 0xffff0000U, 0x12345678U};
    return values;
}

void emit_finish(Assembler &as)
{
    as.li(5, kFinishAddr);
    as.li(6, 0x5555);
    as.s("sw", 6, 5, 0);
    as.word(rv32::kEbreak);
}
