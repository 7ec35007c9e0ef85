// SPDX-License-Identifier: Apache-2.0
// Directed programs: each instruction with the operands at which it can go wrong.
#include <functional>

#include "program.h"

namespace {

using Names = std::vector<std::string>;

const Names kOps = {"add", "sub", "sll",  "slt",    "sltu",  "xor", "srl",  "sra", "or",
                    "and", "mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"};
const Names kImmOps = {"addi", "slti", "sltiu", "xori", "ori", "andi"};
const Names kShifts = {"slli", "srli", "srai"};
const Names kBranches = {"beq", "bne", "blt", "bge", "bltu", "bgeu"};

// All registers defined, so that both sides compare from here on.
void emit_clear_registers(Assembler &as)
{
    for (unsigned k = 1; k < 32; k++) {
        as.li(k, 0x01010101U * k);
    }
}

void emit_register_ops(Assembler &as)
{
    for (uint32_t a : edge_values()) {
        as.li(10, a);
        for (uint32_t b : edge_values()) {
            as.li(11, b);
            for (const std::string &op : kOps) {
                as.r(op, 12, 10, 11);
            }
        }
    }
}

// The same register as source and destination, in every role, and x0 in every role.
void emit_register_aliases(Assembler &as)
{
    for (const std::string &op : kOps) {
        for (unsigned shape = 0; shape < 8; shape++) {
            as.li(10, 0x89abcdefU);
            as.li(11, 0x00000013U);
            as.r(op, (shape & 1U) ? 10 : 12, 10, (shape & 2U) ? 10 : 11);
            as.r(op, 11, (shape & 4U) ? 0 : 10, (shape & 1U) ? 11 : 0);
            as.r(op, 0, 10, 11);
            as.r("add", 13, 0, 0);
        }
    }
}

// Each register number in each field.
void emit_register_numbers(Assembler &as)
{
    for (unsigned k = 0; k < 32; k++) {
        as.i("addi", k, 0, static_cast<int32_t>(100 + k));
    }
    for (unsigned k = 0; k < 32; k++) {
        as.r("sub", 5, k, (k + 13) % 32);
        as.r("xor", (k + 7) % 32, (k + 3) % 32, k);
    }
}

void emit_immediate_ops(Assembler &as)
{
    for (uint32_t a : edge_values()) {
        as.li(10, a);
        for (const std::string &op : kImmOps) {
            for (int32_t imm : {0, 1, -1, 2047, -2048, 0x555, -0x556, 1024}) {
                as.i(op, 12, 10, imm);
            }
            as.i(op, 0, 10, 1);
        }
        for (const std::string &op : kShifts) {
            for (int32_t amount : {0, 1, 2, 4, 8, 15, 16, 31}) {
                as.i(op, 12, 10, amount);
            }
            as.i(op, 0, 10, 1);
        }
    }
}

void emit_upper_immediates(Assembler &as)
{
    for (uint32_t imm : {0x00000U, 0x00001U, 0x7ffffU, 0x80000U, 0xfffffU, 0x55555U, 0xaaaaaU}) {
        as.u("lui", 12, imm);
        as.u("auipc", 13, imm);
        as.u("lui", 0, imm);
        as.u("auipc", 0, imm);
    }
}

// Each condition on each pair of edge values; the skipped instruction shows which way it went.
void emit_branch_conditions(Assembler &as)
{
    for (uint32_t a : edge_values()) {
        as.li(10, a);
        for (uint32_t b : edge_values()) {
            as.li(11, b);
            for (const std::string &op : kBranches) {
                as.b(op, 10, 11, 8);
                as.i("addi", 12, 12, 1);
            }
        }
    }
}

// Finds room for a far jump: two words at the origin, one at the target.
uint32_t find_room(const Image &image, uint32_t low, int32_t offset)
{
    uint32_t at = offset < 0 ? low + static_cast<uint32_t>(-offset) : low;

    while (image.used(at) || image.used(at + 4) || image.used(at + static_cast<uint32_t>(offset))) {
        at += 12;
    }
    return at;
}

// Goes to `at`, jumps from there by `offset` to a pad that returns behind the jump, then comes back.
void emit_far(Image &image, Assembler &as, uint32_t low, int32_t offset,
              const std::function<void()> &jump)
{
    uint32_t at = find_room(image, low, offset);
    uint32_t target = at + static_cast<uint32_t>(offset);

    as.li(1, at + 4);
    as.li(2, at);
    as.li(3, as.pc() + 12);
    as.i("jalr", 0, 2, 0);
    uint32_t resume = as.pc();

    as.org(at);
    jump();
    as.i("jalr", 0, 3, 0);
    if (target != at + 4) {
        as.org(target);
        as.i("jalr", 0, 1, 0);
    }
    as.org(resume);
}

std::vector<int32_t> distances(int low_bit, int sign_bit)
{
    std::vector<int32_t> list;

    for (int bit = low_bit; bit < sign_bit; bit++) {
        list.push_back(1 << bit);
    }
    for (int bit = low_bit; bit <= sign_bit; bit++) {
        list.push_back(-(1 << bit));
    }
    list.push_back((1 << sign_bit) - 4);
    return list;
}

// Every offset bit alone and both extremes. Origins lie from `low` on, away from the main line.
void emit_distances(Image &image, Assembler &as, uint32_t low)
{
    for (int32_t offset : distances(2, 20)) {
        emit_far(image, as, low, offset, [&] { as.jal(1, offset); });
        emit_far(image, as, low, offset, [&] { as.jal(0, offset); });
    }
    as.li(10, 5);
    as.li(11, 0xfffffff0U);
    for (const std::string &op : kBranches) {
        bool swap = op == "blt" || op == "bgeu";
        bool same = op == "beq";
        for (int32_t offset : distances(2, 12)) {
            emit_far(image, as, low, offset,
                     [&] { as.b(op, swap ? 11 : 10, same ? 10 : swap ? 10 : 11, offset); });
        }
    }
}

// JALR: both extremes, a target with bit 0 set, the base register as link register, no link.
void emit_register_jumps(Assembler &as)
{
    for (int32_t imm : {0, 4, 2044, -4, -2048, 1, 3, 2047, -2047, -1}) {
        for (unsigned link : {0U, 1U, 10U}) {
            uint32_t target = as.pc() + 16;
            as.li(10, target - static_cast<uint32_t>(imm & ~1));
            as.i("jalr", link, 10, imm);
            as.word(rv32::kEbreak);
            as.i("addi", 12, 12, 1);
        }
    }
}

// Every size at every legal alignment and both offset extremes, then the whole word back.
void emit_memory(Image &image, Assembler &as, uint32_t data)
{
    struct Size {
        const char *store;
        const char *load;
        const char *load_unsigned;
        int32_t step;
    };
    const Size sizes[] = {{"sb", "lb", "lbu", 1}, {"sh", "lh", "lhu", 2}, {"sw", "lw", "lw", 4}};

    image.put(data - 2048, 0x8180fffeU);
    image.put(data + 2044, 0x7f01807fU);
    as.li(20, data);
    for (uint32_t value : {0x80818283U, 0x7f7e7d7cU, 0x00000000U, 0xffffffffU, 0x1234a5c3U}) {
        as.li(10, value);
        for (const Size &size : sizes) {
            for (int32_t at : {-2048, -4, 0, 4, 2044}) {
                for (int32_t lane = 0; lane < 4; lane += size.step) {
                    as.s(size.store, 10, 20, at + lane);
                    as.i("lw", 12, 20, at);
                    as.i(size.load, 13, 20, at + lane);
                    as.i(size.load_unsigned, 14, 20, at + lane);
                    as.i(size.load, 0, 20, at + lane);
                }
            }
            // A load whose base is its destination, a store of its own base, a store of x0.
            as.i("addi", 15, 20, 0);
            as.i(size.load, 15, 15, 0);
            as.s(size.store, 20, 20, 0);
            as.i("lw", 12, 20, 0);
            as.s(size.store, 0, 20, 0);
            as.i("lw", 12, 20, 0);
        }
    }
}

// FENCE and FENCE.I change nothing, whatever their reserved fields hold; FENCE.I makes a store to
// the next instruction seen.
void emit_fences(Assembler &as)
{
    as.i("fence", 0, 0, 0x0ff);
    as.i("fence", 9, 10, 0x833);
    as.i("fence.i", 0, 0, 0);
    as.i("fence.i", 9, 10, 0x123);
    as.li(10, rv32::encode("addi", 12, 0, 0, 77));
    as.u("auipc", 11, 0);
    as.s("sw", 10, 11, 12);
    as.i("fence.i", 0, 0, 0);
    as.word(rv32::kEbreak); // overwritten by the store
}

} // namespace

void emit_directed(Image &image, Assembler &as)
{
    emit_clear_registers(as);
    emit_register_ops(as);
    emit_register_aliases(as);
    emit_register_numbers(as);
    emit_immediate_ops(as);
    emit_upper_immediates(as);
    emit_branch_conditions(as);
    emit_register_jumps(as);
    emit_fences(as);
    emit_memory(image, as, rv32::kRamBase + 0x00300000U);
    emit_distances(image, as, rv32::kRamBase + 0x00100000U);
}
