// SPDX-License-Identifier: Apache-2.0
// The independent reference: the distribution's qemu-system-riscv32, one instruction at a time.
#ifndef BINDERY_TESTS_RTL_MCU_QEMU_H
#define BINDERY_TESTS_RTL_MCU_QEMU_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "program.h"

// The state before an instruction at pc.
struct ReferenceStep {
    uint32_t pc;
    std::array<uint32_t, 32> x;
};

struct Reference {
    std::vector<ReferenceStep> steps; // the last one is the finishing store
    std::string error;                // empty: the run is good
};

// Runs the image from the RAM's base until it finishes. A missing qemu, a trap, a run that does not
// finish by itself or an unreadable log is an error.
Reference run_qemu(const Image &image);

#endif
