// SPDX-License-Identifier: Apache-2.0
// Steps the module twice, the second time with its assertion broken when called with "break". A failing assertion ends
// the program inside Verilator's run time; coming back from it is for the caller to judge.
#include <cstdio>
#include <cstring>

#include "Valive.h"
#include "verilated.h"

int main(int argc, char **argv)
{
    VerilatedContext context;
    Valive top(&context);
    top.clk_i = 0;
    top.break_i = argc > 1 && std::strcmp(argv[1], "break") == 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
    std::puts("survived");
    return 0;
}
