// SPDX-License-Identifier: Apache-2.0
#include "Vprot_small.h"
#include "tests/rtl/prot/dut_impl.h"

namespace prot {
std::unique_ptr<Dut> make_small_dut() { return std::make_unique<DutWithTables<Vprot_small>>(); }
} // namespace prot
