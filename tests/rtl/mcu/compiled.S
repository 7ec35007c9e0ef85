# SPDX-License-Identifier: Apache-2.0
# Entry of compiled.c: a stack at the end of 64 KiB, then run().
    .section .text.start, "ax"
    .globl _start
_start:
    li      sp, 0x80010000
    li      ra, 0
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    li      tp, 0
    li      s0, 0
    call    run
