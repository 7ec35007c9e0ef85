// SPDX-License-Identifier: Apache-2.0
#include "Vbdy_prot.h"
#include "tests/rtl/prot/dut_impl.h"

namespace prot {
std::unique_ptr<Dut> make_default_dut() { return std::make_unique<DutWithTables<Vbdy_prot>>(); }
} // namespace prot
