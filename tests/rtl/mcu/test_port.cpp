// SPDX-License-Identifier: Apache-2.0
// The core's ports: boot, run, WFI and event, MMIO handshake, halt codes, cycles per instruction.
#include <ostream>
#include <random>

#include <gtest/gtest.h>

#include "Vmcu.h"
#include "mcu_model.h"

namespace {

constexpr uint32_t kRamEnd = rv32::kRamBase + 65536;
constexpr uint32_t kMmio = 0x40000000U;

enum Halt : uint32_t {
    kIllegal = 1,
    kLoadAlign,
    kStoreAlign,
    kJumpAlign,
    kLoadRange,
    kStoreRange,
    kFetchRange
};

class McuPort : public testing::Test {
  protected:
    McuPort() : as_(image_, rv32::kRamBase) {}

    void start()
    {
        model_.boot(image_);
        model_.run(true);
    }

    // The next retired instruction, already ticked past; pc 0 when there is none.
    Retired next()
    {
        if (!model_.wait_retire_or_halt(200) || top().halt_o != 0) {
            return {};
        }
        Retired got = model_.retired();
        model_.tick();
        return got;
    }

    // Runs until the core halts.
    void run_to_halt()
    {
        for (unsigned n = 0; n < 2000 && top().halt_o == 0; n++) {
            model_.tick();
        }
        ASSERT_NE(top().halt_o, 0);
    }

    Vmcu &top() { return model_.top(); }

    McuModel<Vmcu> model_;
    Image image_;
    Assembler as_;
};

TEST_F(McuPort, CoreStandsStillWhileNotRunning)
{
    as_.i("addi", 1, 0, 5);
    model_.boot(image_);
    for (int n = 0; n < 50; n++) {
        EXPECT_EQ(top().ret_valid_o, 0);
        EXPECT_EQ(top().mmio_valid_o, 0);
        model_.tick();
    }
    model_.run(true);
    EXPECT_EQ(next().pc, rv32::kRamBase);
}

TEST_F(McuPort, BootWritesAreIgnoredWhileRunning)
{
    for (int n = 0; n < 8; n++) {
        as_.i("addi", 1, 0, n);
    }
    as_.word(rv32::kEbreak);
    start();
    for (uint32_t n = 0; n < 8; n++) {
        top().boot_valid_i = 1;
        top().boot_addr_i = 4 * ((n + 2) % 8);
        top().boot_data_i = 0;
        Retired got = next();
        EXPECT_EQ(got.pc, rv32::kRamBase + 4 * n);
        EXPECT_EQ(got.rd_data, n);
    }
}

TEST_F(McuPort, RamKeepsItsContentsOverRunAndReset)
{
    as_.u("lui", 1, 0x80001);
    as_.i("lw", 2, 1, 0);
    as_.i("addi", 2, 2, 1);
    as_.s("sw", 2, 1, 0);
    as_.word(rv32::kEbreak);
    image_.put(0x80001000U, 40);
    start();
    for (uint32_t round = 0; round < 3; round++) {
        next();
        EXPECT_EQ(next().rd_data, 40 + round);
        run_to_halt();
        if (round == 0) {
            model_.run(false);
            model_.tick();
            model_.tick();
        } else {
            model_.reset();
        }
        model_.run(true);
    }
}

TEST_F(McuPort, WfiSleepsUntilTheEvent)
{
    as_.i("addi", 1, 0, 1);
    as_.word(rv32::kWfi);
    as_.i("addi", 1, 1, 1);
    as_.word(rv32::kWfi);
    as_.i("addi", 1, 1, 1);
    start();
    next();
    EXPECT_EQ(top().sleep_o, 0);
    model_.tick();
    for (int n = 0; n < 100; n++) {
        ASSERT_EQ(top().sleep_o, 1);
        ASSERT_EQ(top().ret_valid_o, 0);
        model_.tick();
    }
    top().event_i = 1;
    model_.settle();
    EXPECT_EQ(top().sleep_o, 0);
    EXPECT_EQ(top().ret_valid_o, 1);
    EXPECT_EQ(next().insn, rv32::kWfi);
    EXPECT_EQ(next().rd_data, 2U);
    top().event_i = 0;
    model_.settle();
    for (int n = 0; n < 5; n++) {
        EXPECT_EQ(top().ret_valid_o, 0);
        model_.tick();
    }
    EXPECT_EQ(top().sleep_o, 1);
}

TEST_F(McuPort, WfiRetiresAtOnceWhenTheEventIsThere)
{
    as_.word(rv32::kWfi);
    as_.word(rv32::kWfi);
    as_.i("addi", 1, 0, 7);
    top().event_i = 1;
    start();
    EXPECT_EQ(next().insn, rv32::kWfi);
    uint64_t first = model_.cycle();
    EXPECT_EQ(next().insn, rv32::kWfi);
    EXPECT_EQ(next().rd_data, 7U);
    EXPECT_EQ(model_.cycle() - first, 2U);
}

// Each way to stop: the code, the pc, and that the faulting instruction changed nothing.
struct HaltCase {
    const char *name;
    uint32_t insn;
    uint32_t base; // x10
    uint32_t code;
    int32_t pc_offset; // of halt_pc from the instruction
};

void PrintTo(const HaltCase &value, std::ostream *out) { *out << std::hex << value.insn; }

uint32_t load(const char *name, int32_t imm) { return rv32::encode(name, 11, 10, 0, imm); }
uint32_t store(const char *name, int32_t imm) { return rv32::encode(name, 0, 10, 11, imm); }

class McuHalt : public testing::TestWithParam<HaltCase> {};

TEST_P(McuHalt, StopsWithItsCodeUntilRunFalls)
{
    const HaltCase &param = GetParam();
    McuModel<Vmcu> model;
    Image image;
    Assembler as(image, rv32::kRamBase);

    as.li(10, param.base);
    as.li(11, 0x11223344U);
    uint32_t at = as.pc();
    as.word(param.insn);
    as.i("addi", 12, 0, 1);
    model.boot(image);
    for (int round = 0; round < 2; round++) {
        model.run(true);
        unsigned retired = 0;
        while (model.wait_retire_or_halt(20) && model.top().halt_o == 0) {
            retired++;
            model.tick();
        }
        ASSERT_EQ(model.top().halt_o, 1);
        EXPECT_EQ(retired, param.pc_offset == 0 ? 4U : 5U);
        for (int n = 0; n < 20; n++) {
            ASSERT_EQ(model.top().halt_code_o, param.code);
            ASSERT_EQ(model.top().halt_pc_o, at + static_cast<uint32_t>(param.pc_offset));
            ASSERT_EQ(model.top().ret_valid_o, 0);
            ASSERT_EQ(model.top().mmio_valid_o, 0);
            model.top().event_i = static_cast<uint8_t>(n & 1);
            model.top().mmio_ready_i = static_cast<uint8_t>(n & 1);
            model.tick();
        }
        model.run(false);
        model.tick();
        EXPECT_EQ(model.top().halt_o, 0);
        EXPECT_EQ(model.top().halt_code_o, 0);
        EXPECT_EQ(model.top().halt_pc_o, 0U);
    }
}

constexpr int32_t kFar = -0x100000; // below the RAM

const HaltCase kHaltCases[] = {
    {"Zero", 0x00000000U, 0, kIllegal, 0},
    {"Ones", 0xffffffffU, 0, kIllegal, 0},
    {"Ecall", 0x00000073U, 0, kIllegal, 0},
    {"Ebreak", rv32::kEbreak, 0, kIllegal, 0},
    {"Csrrw", 0x30001073U, 0, kIllegal, 0},
    {"Csrrs", 0xc0002573U, 0, kIllegal, 0},
    {"Mret", 0x30200073U, 0, kIllegal, 0},
    {"Compressed", 0x00000001U, 0, kIllegal, 0},
    {"LhOdd", load("lh", 1), rv32::kRamBase, kLoadAlign, 0},
    {"LhuOdd", load("lhu", 3), rv32::kRamBase, kLoadAlign, 0},
    {"LwOne", load("lw", 1), rv32::kRamBase, kLoadAlign, 0},
    {"LwTwo", load("lw", 2), rv32::kRamBase, kLoadAlign, 0},
    {"LwThree", load("lw", -1), rv32::kRamBase + 64, kLoadAlign, 0},
    {"MmioLwTwo", load("lw", 2), kMmio, kLoadAlign, 0},
    {"ShOdd", store("sh", 1), rv32::kRamBase, kStoreAlign, 0},
    {"SwOne", store("sw", 1), rv32::kRamBase, kStoreAlign, 0},
    {"SwTwo", store("sw", 2), rv32::kRamBase, kStoreAlign, 0},
    {"SwThree", store("sw", 3), rv32::kRamBase, kStoreAlign, 0},
    {"MmioShOdd", store("sh", 1), kMmio, kStoreAlign, 0},
    {"JalHalf", 0x0060006fU, 0, kJumpAlign, 0},
    {"JalrHalf", 0x00250067U, rv32::kRamBase, kJumpAlign, 0},
    {"JalrThree", 0x00350067U, rv32::kRamBase, kJumpAlign, 0},
    {"BranchHalf", 0x00000363U, 0, kJumpAlign, 0},
    {"LoadBelowRam", load("lb", -1), rv32::kRamBase, kLoadRange, 0},
    {"LoadAboveRam", load("lb", 0), kRamEnd, kLoadRange, 0},
    {"LoadNull", load("lw", 0), 0, kLoadRange, 0},
    {"LoadLast", load("lbu", -1), 0, kLoadRange, 0},
    {"LoadBelowMmio", load("lb", -1), kMmio, kLoadRange, 0},
    {"LoadAboveMmio", load("lb", 0), kMmio + 0x10000, kLoadRange, 0},
    {"StoreBelowRam", store("sb", -1), rv32::kRamBase, kStoreRange, 0},
    {"StoreAboveRam", store("sw", 0), kRamEnd, kStoreRange, 0},
    {"StoreNull", store("sw", 0), 0, kStoreRange, 0},
    {"StoreBelowMmio", store("sb", -1), kMmio, kStoreRange, 0},
    {"StoreAboveMmio", store("sb", 0), kMmio + 0x10000, kStoreRange, 0},
    {"JalBelowRam", rv32::encode("jal", 1, 0, 0, kFar), 0, kFetchRange, kFar},
    {"JalAboveRam", rv32::encode("jal", 1, 0, 0, 0x10000), 0, kFetchRange, 0x10000},
};

INSTANTIATE_TEST_SUITE_P(All, McuHalt, testing::ValuesIn(kHaltCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_F(McuPort, UntakenBranchToAMisalignedTargetGoesOn)
{
    as_.word(0x00001363U); // bne x0, x0, +6
    as_.i("addi", 1, 0, 3);
    start();
    EXPECT_EQ(next().insn, 0x00001363U);
    EXPECT_EQ(next().rd_data, 3U);
}

TEST_F(McuPort, RunningOffTheEndOfTheRamHalts)
{
    as_.li(10, kRamEnd - 8);
    as_.i("jalr", 0, 10, 0);
    as_.org(kRamEnd - 8);
    as_.i("lw", 1, 10, 4);
    as_.i("addi", 2, 0, 9);
    start();
    next();
    next();
    next();
    EXPECT_EQ(next().rd_data, rv32::encode("addi", 2, 0, 0, 9));
    EXPECT_EQ(next().rd_data, 9U);
    run_to_halt();
    EXPECT_EQ(top().halt_code_o, kFetchRange);
    EXPECT_EQ(top().halt_pc_o, kRamEnd);
}

// Every opcode, funct3 and funct7 is legal exactly when the table has it.
TEST_F(McuPort, ExactlyTheTablesEncodingsAreLegal)
{
    unsigned wrong = 0;
    uint32_t at = rv32::kRamBase;

    top().event_i = 1;
    top().mmio_ready_i = 1;
    for (uint32_t n = 0; n < 1U << 17; n++) {
        uint32_t word = (n & 0x7fU) | (n >> 7 & 7U) << 12 | (n >> 10) << 25;
        model_.boot_word(at, word);
        model_.run(true);
        model_.wait_retire_or_halt(100);
        bool refused = top().halt_o != 0 && top().halt_code_o == kIllegal;
        if (refused != (rv32::decode(word) == nullptr) && wrong++ < 10) {
            ADD_FAILURE() << std::hex << word << (refused ? " refused" : " accepted");
        }
        model_.run(false);
        model_.tick();
    }
    EXPECT_EQ(wrong, 0U);
}

TEST_F(McuPort, SystemInstructionsButWfiAreIllegal)
{
    for (uint32_t n = 0; n < 1U << 12; n++) {
        uint32_t word = n << 20 | 0x73U;
        model_.boot_word(rv32::kRamBase, word);
        top().event_i = 1;
        model_.run(true);
        model_.wait_retire_or_halt(20);
        ASSERT_EQ(top().halt_o == 0, word == rv32::kWfi) << std::hex << word;
        model_.run(false);
        model_.tick();
    }
}

// One MMIO access of every size, direction and lane, with `waits` cycles before ready.
struct Access {
    const char *name;
    uint32_t size;
    bool write, extend;
};

const Access kAccesses[] = {{"lb", 1, false, true}, {"lbu", 1, false, false},
                            {"lh", 2, false, true}, {"lhu", 2, false, false},
                            {"lw", 4, false, true}, {"sb", 1, true, false},
                            {"sh", 2, true, false}, {"sw", 4, true, false}};

class McuMmio : public McuPort, public testing::WithParamInterface<unsigned> {
  protected:
    // The request must be there, unchanged, until its ready cycle, and gone after it.
    void handshake(const Access &access, uint32_t offset, uint32_t stored, uint32_t rdata)
    {
        uint32_t lane = offset & 3U;
        uint32_t be = ((1U << access.size) - 1U) << lane;

        for (unsigned n = 0; n <= GetParam(); n++) {
            bool last = n == GetParam();
            top().mmio_ready_i = last ? 1 : 0;
            top().mmio_rdata_i = last ? rdata : ~rdata;
            model_.settle();
            ASSERT_EQ(top().mmio_valid_o, 1) << access.name << " wait " << n;
            EXPECT_EQ(top().mmio_we_o, access.write ? 1 : 0);
            EXPECT_EQ(top().mmio_addr_o, offset & ~3U);
            EXPECT_EQ(top().mmio_be_o, be);
            for (uint32_t k = 0; access.write && k < access.size; k++) {
                EXPECT_EQ((top().mmio_wdata_o >> (8 * (lane + k))) & 0xffU,
                          (stored >> (8 * k)) & 0xffU);
            }
            EXPECT_EQ(top().ret_valid_o, last ? 1 : 0);
            if (!last) {
                model_.tick();
            }
        }
    }

    static uint32_t loaded(const Access &access, uint32_t lane, uint32_t rdata)
    {
        uint32_t bits = 8 * access.size;
        uint32_t value = rdata >> (8 * lane);

        if (bits < 32) {
            value &= (1U << bits) - 1U;
            if (access.extend && ((value >> (bits - 1)) & 1U) != 0) {
                value |= ~0U << bits;
            }
        }
        return value;
    }
};

TEST_P(McuMmio, EveryAccessKeepsItsRequestUntilReady)
{
    std::mt19937 rng(GetParam() + 1);
    std::vector<std::pair<const Access *, uint32_t>> plan;
    uint32_t stored = 0xa1b2c3d4U;

    as_.li(10, kMmio + 0x4000);
    as_.li(11, stored);
    for (const Access &access : kAccesses) {
        for (uint32_t lane = 0; lane < 4; lane += access.size) {
            for (int32_t at : {-2048, 0, 2044}) {
                int32_t imm = at + static_cast<int32_t>(lane);
                plan.emplace_back(&access, 0x4000U + static_cast<uint32_t>(imm));
                if (access.write) {
                    as_.s(access.name, 11, 10, imm);
                } else {
                    as_.i(access.name, 12, 10, imm);
                }
            }
        }
    }
    as_.word(rv32::kEbreak);
    start();
    for (int n = 0; n < 4; n++) {
        next();
    }
    for (const auto &[access, offset] : plan) {
        uint32_t rdata = rng();
        ASSERT_EQ(top().mmio_valid_o, 0);
        model_.tick();
        handshake(*access, offset, stored, rdata);
        Retired got = model_.retired();
        EXPECT_EQ(got.rd_we, !access->write);
        if (!access->write) {
            EXPECT_EQ(got.rd_data, loaded(*access, offset & 3U, rdata)) << access->name;
        }
        EXPECT_EQ(got.st_valid, access->write);
        model_.tick();
        top().mmio_ready_i = 0;
        model_.settle();
    }
    run_to_halt();
    EXPECT_EQ(top().halt_code_o, kIllegal);
}

INSTANTIATE_TEST_SUITE_P(Waits, McuMmio, testing::Values(0U, 1U, 2U, 7U));

TEST_F(McuPort, FirstAndLastPeripheralAddressesAreReached)
{
    as_.li(10, kMmio);
    as_.li(11, kMmio + 0xfffc);
    as_.s("sw", 0, 10, 0);
    as_.i("lbu", 12, 11, 3);
    start();
    for (uint32_t want : {0x0000U, 0xfffcU}) {
        while (top().mmio_valid_o == 0) {
            ASSERT_EQ(top().halt_o, 0);
            model_.tick();
        }
        EXPECT_EQ(top().mmio_addr_o, want);
        top().mmio_ready_i = 1;
        model_.settle();
        model_.tick();
        top().mmio_ready_i = 0;
        model_.settle();
    }
}

TEST_F(McuPort, FallingRunEndsAWaitingRequestAndADivideCleanly)
{
    as_.li(10, kMmio);
    as_.li(11, 100);
    as_.r("divu", 12, 11, 11);
    as_.i("lw", 13, 10, 0);
    model_.boot(image_);
    for (unsigned stop = 1; stop < 60; stop++) {
        model_.run(true);
        for (unsigned n = 0; n < stop; n++) {
            model_.tick();
        }
        model_.run(false);
        EXPECT_EQ(top().mmio_valid_o, 0);
        EXPECT_EQ(top().ret_valid_o, 0);
        model_.tick();
    }
    model_.run(true);
    EXPECT_EQ(next().pc, rv32::kRamBase);
    for (int n = 0; n < 3; n++) {
        next();
    }
    EXPECT_EQ(next().rd_data, 1U);
    top().mmio_ready_i = 1;
    top().mmio_rdata_i = 42;
    model_.settle();
    EXPECT_EQ(next().rd_data, 42U);
}

// The promise of docs/blocks/bdy_mcu.md.
TEST_F(McuPort, CyclesPerInstructionAreAsDocumented)
{
    struct Cost {
        uint32_t insn;
        unsigned cycles;
    };
    const Cost costs[] = {
        {rv32::encode("add", 1, 10, 11, 0), 1},   {rv32::encode("srai", 1, 10, 0, 3), 1},
        {rv32::encode("lui", 1, 0, 0, 5), 1},     {rv32::encode("fence", 0, 0, 0, 0), 1},
        {rv32::encode("bne", 0, 0, 0, 8), 1},     {rv32::encode("beq", 0, 0, 0, 4), 2},
        {rv32::encode("jal", 1, 0, 0, 4), 2},     {rv32::encode("lw", 1, 20, 0, 0), 2},
        {rv32::encode("sb", 0, 20, 10, 0), 1},    {rv32::encode("lw", 1, 21, 0, 0), 2},
        {rv32::encode("sw", 0, 21, 10, 0), 2},    {rv32::encode("mul", 1, 10, 11, 0), 6},
        {rv32::encode("mulhu", 1, 10, 11, 0), 6}, {rv32::encode("div", 1, 10, 11, 0), 34},
        {rv32::encode("remu", 1, 10, 11, 0), 34},
    };

    as_.li(10, 1000);
    as_.li(11, 7);
    as_.li(20, rv32::kRamBase + 0x800);
    as_.li(21, kMmio);
    for (const Cost &cost : costs) {
        as_.word(cost.insn);
    }
    as_.i("addi", 1, 0, 0);
    top().mmio_ready_i = 1;
    start();
    for (int n = 0; n < 8; n++) {
        next();
    }
    // From the retirement before to the fetched successor: a taken jump pays its refetch after it.
    ASSERT_NE(top().ret_valid_o, 0);
    for (const Cost &cost : costs) {
        uint64_t before = model_.cycle();
        Retired got = next();
        EXPECT_EQ(got.insn, cost.insn);
        while (top().ret_valid_o == 0 && model_.cycle() - before < cost.cycles) {
            model_.tick();
        }
        EXPECT_EQ(model_.cycle() - before, cost.cycles) << std::hex << cost.insn;
    }
}

} // namespace
