// SPDX-License-Identifier: Apache-2.0
// The BAR, and what happens when the device has failed.
#include "priv.h"

int core_bar_read(struct bdy_core *core, uint32_t offset, uint64_t *value)
{
    int rc = core->pci->ops->bar_read64(core->pci, offset, value);
    if (rc == -EIO || rc == -ETIMEDOUT) {
        core_die(core, "BAR read failed");
    }
    return rc;
}

int core_bar_write(struct bdy_core *core, uint32_t offset, uint64_t value)
{
    int rc = core->pci->ops->bar_write64(core->pci, offset, value);
    if (rc == -EIO || rc == -ETIMEDOUT) {
        core_die(core, "BAR write failed");
    }
    return rc;
}

void core_die(struct bdy_core *core, const char *why)
{
    if (core->dead) {
        return;
    }
    core->dead = true;
    bdy_os_log(BDY_OS_ERROR, "bindery: device failed: %s", why);
    for (uint32_t i = 0; i < BDY_UAR_COUNT; i++) {
        if (core->uctx[i]) {
            event_to(core->uctx[i], 0, V_EVENT_DEVICE_FATAL, 0);
        }
    }
}

int bdy_core_dead(const struct bdy_core *core)
{
    return core->dead;
}
