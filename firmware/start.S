# SPDX-License-Identifier: Apache-2.0
# Reset vector. Registers hold anything and RAM may be dirty: the image has no .data, and .bss is
# cleared here, 64 bytes a turn (link.ld makes it as many), so that a device reset restarts firmware from the image alone.
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    la t0, __bss_start
    la t1, __bss_end
1:  .irp at, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60
    sw zero, \at(t0)
    .endr
    addi t0, t0, 64
    bltu t0, t1, 1b
    li ra, 0
    li tp, 0
    li t2, 0
    li s0, 0
    li s1, 0
    li a0, 0
    li a1, 0
    li a2, 0
    li a3, 0
    li a4, 0
    li a5, 0
    li a6, 0
    li a7, 0
    li s2, 0
    li s3, 0
    li s4, 0
    li s5, 0
    li s6, 0
    li s7, 0
    li s8, 0
    li s9, 0
    li s10, 0
    li s11, 0
    li t3, 0
    li t4, 0
    li t5, 0
    li t6, 0
    j fw_main
