// SPDX-License-Identifier: Apache-2.0
// What start.S calls on the embedded core. It never returns.
#include "fw.h"

static struct fw fw_state; // in .bss: start.S makes it zero, also after a reset of the device
static uint32_t keys[FW_KEYS]
    __attribute__((section(".noinit"))); // too long to clear at each start

void fw_main(void);

void fw_main(void)
{
    fw_init(&fw_state, keys);
    for (;;) {
        fw_step(&fw_state);
        fw_idle(&fw_state);
    }
}
