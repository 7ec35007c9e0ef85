// SPDX-License-Identifier: Apache-2.0
// Programs for the embedded core: a sparse memory image and the generators that fill it.
#ifndef BINDERY_TESTS_RTL_MCU_PROGRAM_H
#define BINDERY_TESTS_RTL_MCU_PROGRAM_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rv32.h"

// Words by address. An address that was never written is zero and free.
class Image {
  public:
    void put(uint32_t addr, uint32_t word) { words_[addr] = word; }
    bool used(uint32_t addr) const { return words_.count(addr) != 0; }
    const std::map<uint32_t, uint32_t> &words() const { return words_; }
    // The bytes from the RAM's base to the last word.
    std::vector<uint8_t> flat() const;

  private:
    std::map<uint32_t, uint32_t> words_;
};

// Writes instructions at a cursor.
class Assembler {
  public:
    Assembler(Image &image, uint32_t pc) : image_(image), pc_(pc) {}

    uint32_t pc() const { return pc_; }
    void org(uint32_t pc) { pc_ = pc; }
    void word(uint32_t value);
    void r(const std::string &name, unsigned rd, unsigned rs1, unsigned rs2);
    void i(const std::string &name, unsigned rd, unsigned rs1, int32_t imm);
    void s(const std::string &name, unsigned rs2, unsigned rs1, int32_t imm);
    void b(const std::string &name, unsigned rs1, unsigned rs2, int32_t offset);
    void u(const std::string &name, unsigned rd, uint32_t imm20);
    void jal(unsigned rd, int32_t offset);
    void li(unsigned rd, uint32_t value); // always two instructions

  private:
    Image &image_;
    uint32_t pc_;
};

// Values at which arithmetic goes wrong.
const std::vector<uint32_t> &edge_values();

// Every instruction with edge operands, every branch and jump distance by single bits and extremes;
// continues at the assembler's cursor. Needs a RAM of kDirectedRam bytes.
void emit_directed(Image &image, Assembler &as);
constexpr uint32_t kDirectedRam = 4U << 20;

// One random program: terminates by construction, falls through at its end, reads all of its data
// area back. Its data area is kRandomData bytes at `data`.
void emit_random(Image &image, Assembler &as, uint32_t data, uint64_t seed);
constexpr uint32_t kRandomData = 256;

// The store that ends a run: qemu's test device stops the machine, the core halts (out of range).
void emit_finish(Assembler &as);
constexpr uint32_t kFinishAddr = 0x00100000U;

#endif
