// SPDX-License-Identifier: Apache-2.0
// Linked into the shared object only: libibverbs learns of the provider when the object is loaded.

#include "objects.h"

__attribute__((constructor)) static void register_provider(void)
{
    verbs_register_driver_34(&bdy_device_ops);
}
