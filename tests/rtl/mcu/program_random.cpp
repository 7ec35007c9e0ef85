// SPDX-License-Identifier: Apache-2.0
// Random programs: x31 points into the data area, x30 counts loops, x29 is scratch for addresses.
#include <random>

#include "program.h"

namespace {

constexpr unsigned kBase = 31;
constexpr unsigned kCount = 30;
constexpr unsigned kScratch = 29;
constexpr int32_t kHalfArea = static_cast<int32_t>(kRandomData) / 2;

class Generator {
  public:
    Generator(Image &image, Assembler &as, uint64_t seed) : image_(image), as_(as), rng_(seed) {}

    void emit(uint32_t data)
    {
        prologue(data);
        for (int n = 0; n < 100; n++) {
            item();
        }
        for (int32_t at = -kHalfArea; at < kHalfArea; at += 4) {
            as_.i("lw", 5, kBase, at);
        }
    }

  private:
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }
    unsigned source() { return below(32); }
    unsigned dest() { return below(kScratch + 1); }

    template <size_t N> const char *pick(const char *const (&names)[N]) { return names[below(N)]; }

    uint32_t value()
    {
        if (below(2) != 0) {
            return edge_values()[below(static_cast<uint32_t>(edge_values().size()))];
        }
        return static_cast<uint32_t>(rng_());
    }

    void prologue(uint32_t data)
    {
        for (uint32_t at = 0; at < kRandomData; at += 4) {
            image_.put(data + at, value());
        }
        for (unsigned k = 1; k < kCount; k++) {
            as_.li(k, value());
        }
        as_.li(kCount, 0);
        as_.li(kBase, data + static_cast<uint32_t>(kHalfArea));
    }

    void memory()
    {
        static const char *const kLoads[] = {"lb", "lbu", "lh", "lhu", "lw"};
        static const char *const kStores[] = {"sb", "sh", "sw"};
        bool load = below(2) != 0;
        std::string name = load ? pick(kLoads) : pick(kStores);
        uint32_t step = name[1] == 'b' ? 1 : name[1] == 'h' ? 2 : 4;
        auto imm = static_cast<int32_t>(below(kRandomData) & ~(step - 1)) - kHalfArea;
        unsigned base = kBase;

        if (below(3) == 0) { // base computed from a random register, upper half of the area
            as_.i("andi", kScratch, source(), 0x7c);
            as_.r("add", kScratch, kScratch, kBase);
            base = kScratch;
            imm = imm > 0 ? -imm : imm;
        }
        if (load) {
            as_.i(name, dest(), base, imm);
        } else {
            as_.s(name, source(), base, imm);
        }
    }

    // One instruction without a jump.
    void simple()
    {
        static const char *const kOps[] = {"add", "sub", "sll", "slt", "sltu",
                                           "xor", "srl", "sra", "or",  "and"};
        static const char *const kMulDiv[] = {"mul", "mulh", "mulhsu", "mulhu",
                                              "div", "divu", "rem",    "remu"};
        static const char *const kImm[] = {"addi", "slti", "sltiu", "xori", "ori", "andi"};
        static const char *const kShift[] = {"slli", "srli", "srai"};
        uint32_t dice = below(100);

        if (dice < 40) {
            as_.r(pick(kOps), dest(), source(), source());
        } else if (dice < 60) {
            as_.r(pick(kMulDiv), dest(), source(), source());
        } else if (dice < 80) {
            as_.i(pick(kImm), dest(), source(), static_cast<int32_t>(below(4096)) - 2048);
        } else if (dice < 90) {
            as_.i(pick(kShift), dest(), source(), static_cast<int32_t>(below(32)));
        } else if (dice < 98) {
            as_.u(below(2) != 0 ? "lui" : "auipc", dest(), below(1U << 20));
        } else {
            as_.i(below(2) != 0 ? "fence" : "fence.i", 0, 0, 0);
        }
    }

    // A forward branch over a few instructions, taken or not.
    void forward_branch()
    {
        static const char *const kBranches[] = {"beq", "bne", "blt", "bge", "bltu", "bgeu"};
        uint32_t skip = 1 + below(5);

        as_.b(pick(kBranches), source(), source(), static_cast<int32_t>(4 * (skip + 1)));
        for (uint32_t n = 0; n < skip; n++) {
            simple();
        }
    }

    void loop()
    {
        static const char *const kAgain[] = {"bne", "blt", "bltu"};
        std::string again = pick(kAgain);

        as_.i("addi", kCount, 0, static_cast<int32_t>(1 + below(4)));
        uint32_t top = as_.pc();
        for (uint32_t n = below(5) + 1; n > 0; n--) {
            simple();
        }
        as_.i("addi", kCount, kCount, -1);
        auto back = static_cast<int32_t>(top - as_.pc());
        if (again == "bne") {
            as_.b(again, kCount, 0, back);
        } else {
            as_.b(again, 0, kCount, back);
        }
    }

    // A jump over words that stop the core when executed.
    void jump()
    {
        uint32_t skip = below(4);

        if (below(2) != 0) {
            as_.jal(dest(), static_cast<int32_t>(4 * (skip + 1)));
        } else {
            as_.u("auipc", kScratch, 0);
            as_.i("jalr", dest(), kScratch, static_cast<int32_t>(4 * (skip + 2) + below(2)));
        }
        for (uint32_t n = 0; n < skip; n++) {
            as_.word(rv32::kEbreak);
        }
    }

    void item()
    {
        uint32_t dice = below(100);

        if (dice < 60) {
            simple();
        } else if (dice < 80) {
            memory();
        } else if (dice < 90) {
            forward_branch();
        } else if (dice < 95) {
            loop();
        } else {
            jump();
        }
    }

    Image &image_;
    Assembler &as_;
    std::mt19937_64 rng_;
};

} // namespace

void emit_random(Image &image, Assembler &as, uint32_t data, uint64_t seed)
{
    Generator(image, as, seed).emit(data);
}
