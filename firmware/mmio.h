// SPDX-License-Identifier: Apache-2.0
/**
 * @file mmio.h  The only way from firmware to its peripherals (regs/mcu.rdl).
 *
 * On the embedded core these are loads, stores and WFI. In the host tests the same names are
 * functions of a peripheral model, found through fw->hw.
 */
#ifndef FW_MMIO_H
#define FW_MMIO_H

#include <stdint.h>

struct fw;

#ifdef BDY_FREESTANDING

#define FW_MMIO_BASE 0x40000000u

static inline uint32_t mmio_read32(struct fw *fw, uint32_t offset)
{
    (void)fw;
    return *(volatile uint32_t *)(FW_MMIO_BASE + offset);
}

static inline void mmio_write32(struct fw *fw, uint32_t offset, uint32_t value)
{
    (void)fw;
    *(volatile uint32_t *)(FW_MMIO_BASE + offset) = value;
}

/** Sleep while (EVENT & EVENT_MASK) == 0. The events are levels: one that comes before the sleep
 * ends it at once. */
static inline void mmio_wfi(struct fw *fw)
{
    (void)fw;
    __asm__ volatile("wfi" ::: "memory");
}

#else

uint32_t mmio_read32(struct fw *fw, uint32_t offset);
void mmio_write32(struct fw *fw, uint32_t offset, uint32_t value);
void mmio_wfi(struct fw *fw);

#endif
#endif
