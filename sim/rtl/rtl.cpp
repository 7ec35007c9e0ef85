// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl/rtl.h"

#include "Vbdy_hca.h"
#include "sim/rtl/backend.hpp"

const bdy_dev_ops bdy_rtl_ops = bdy::Backend<Vbdy_hca>::table("rtl");
