// SPDX-License-Identifier: Apache-2.0
// The core against qemu-system-riscv32: pc, instruction, register write and store of each
// instruction, then the same comparison with planted bugs that it must find.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "Vmcu_big.h"
#include "Vmcu_planted.h"
#include "Vmcu_planted___024root.h"
#include "Vmcu_planted_bdy_plant_pkg.h"
#include "lockstep.h"

namespace {

constexpr unsigned kRandomPrograms = 120;
constexpr uint32_t kRandomDataBase = rv32::kRamBase + 0x00380000U;

uint64_t seed()
{
    const char *text = std::getenv("BINDERY_SEED");

    return text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
}

Image make_image()
{
    Image image;
    Assembler as(image, rv32::kRamBase);
    std::mt19937_64 seeds(seed());

    emit_directed(image, as);
    for (unsigned n = 0; n < kRandomPrograms; n++) {
        emit_random(image, as, kRandomDataBase + n * kRandomData, seeds());
    }
    emit_finish(as);
    return image;
}

// One image and one run of the reference serve all tests of this file.
class McuIsa : public testing::Test {
  protected:
    static void SetUpTestSuite()
    {
        std::printf("seed %llu (BINDERY_SEED)\n", static_cast<unsigned long long>(seed()));
        image_ = new Image(make_image());
        reference_ = new Reference(run_qemu(*image_));
        std::printf("reference: %zu instructions\n", reference_->steps.size());
    }
    static void TearDownTestSuite()
    {
        delete reference_;
        delete image_;
    }
    void SetUp() override { ASSERT_EQ(reference_->error, ""); }

    static Image *image_;
    static Reference *reference_;
};

Image *McuIsa::image_ = nullptr;
Reference *McuIsa::reference_ = nullptr;

TEST_F(McuIsa, ReferenceExecutesEveryInstructionOfRv32im)
{
    std::map<std::string, unsigned> count;

    // Stores change code only for FENCE.I, so the image names what was executed.
    for (const ReferenceStep &step : reference_->steps) {
        auto word = image_->words().find(step.pc);
        ASSERT_NE(word, image_->words().end()) << "pc outside the image: " << std::hex << step.pc;
        const rv32::Insn *insn = rv32::decode(word->second);
        if (insn != nullptr) {
            count[insn->name]++;
        }
    }
    for (const rv32::Insn &insn : rv32::table()) {
        std::string name = insn.name;
        unsigned floor = name == "wfi" ? 0 : name.rfind("fence", 0) == 0 ? 5 : 50;
        EXPECT_GE(count[name], floor) << name;
    }
}

TEST_F(McuIsa, EveryInstructionEqualsTheReference)
{
    McuModel<Vmcu_big> model;
    Difference difference = Lockstep<Vmcu_big>(model, *image_, *reference_).run();

    EXPECT_FALSE(difference.found) << difference.text;
}

// A program of the firmware's compiler, with its prologues, calls, tables and division idioms.
TEST(McuCompiled, ProgramEqualsTheReference)
{
    std::ifstream file(MCU_COMPILED_BIN, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    Image image;

    ASSERT_GT(bytes.size(), 100U) << MCU_COMPILED_BIN;
    bytes.resize((bytes.size() + 3) & ~size_t{3});
    for (size_t at = 0; at < bytes.size(); at += 4) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4; k++) {
            word |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + k])) << (8 * k);
        }
        image.put(rv32::kRamBase + static_cast<uint32_t>(at), word);
    }
    Reference reference = run_qemu(image);
    ASSERT_EQ(reference.error, "");
    ASSERT_GT(reference.steps.size(), 1000U);
    McuModel<Vmcu_big> model;
    Difference difference = Lockstep<Vmcu_big>(model, image, reference).run();
    EXPECT_FALSE(difference.found) << difference.text;
}

// A planted bug, as mutants.txt lists it.
struct Mutant {
    std::string name;
    std::set<std::string> found_by;
};

std::vector<Mutant> read_mutants()
{
    std::ifstream file(MCU_MUTANTS_TXT);
    std::vector<Mutant> mutants;
    std::string line;

    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string key;
        std::string value;
        words >> key;
        if (key == "name:") {
            words >> value;
            mutants.push_back({value, {}});
        } else if (key == "found_by:") {
            while (words >> value) {
                mutants.back().found_by.insert(value);
            }
        }
    }
    return mutants;
}

Difference run_planted(const Image &image, const Reference &reference, uint32_t mutant)
{
    McuModel<Vmcu_planted> model;

    model.top().rootp->__PVT__bdy_plant_pkg->sel = mutant;
    return Lockstep<Vmcu_planted>(model, image, reference).run();
}

TEST_F(McuIsa, ModelWithNoBugSelectedEqualsTheReference)
{
    Difference difference = run_planted(*image_, *reference_, 0);

    EXPECT_FALSE(difference.found) << difference.text;
}

TEST_F(McuIsa, EveryPlantedBugIsFoundAtAnInstructionOfItsClass)
{
    std::vector<Mutant> mutants = read_mutants();
    std::set<std::string> classes;

    ASSERT_GE(mutants.size(), 40U);
    for (size_t n = 0; n < mutants.size(); n++) {
        const Mutant &mutant = mutants[n];
        Difference difference = run_planted(*image_, *reference_, static_cast<uint32_t>(n + 1));
        EXPECT_TRUE(difference.found) << mutant.name << " was not found";
        EXPECT_EQ(mutant.found_by.count(difference.culprit), 1U)
            << mutant.name << " was found by " << difference.text;
        classes.insert(mutant.found_by.begin(), mutant.found_by.end());
    }
    for (const rv32::Insn &insn : rv32::table()) {
        if (std::string(insn.name) != "wfi") {
            EXPECT_EQ(classes.count(insn.name), 1U) << "no planted bug for " << insn.name;
        }
    }
}

} // namespace
