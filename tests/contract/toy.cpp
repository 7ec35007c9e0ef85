// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/toy.h"

#include "Vtoy_hca.h"
#include "sim/rtl/backend.hpp"

const bdy_dev_ops bdy_toy_ops = bdy::Backend<Vtoy_hca>::table("toy");
