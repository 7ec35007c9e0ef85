// SPDX-License-Identifier: Apache-2.0
// `bindery info`: what this build is and where its parts are.
#include "bdy_regs.h"
#include "bindery/pci.h"
#include "cli.h"
#include "sim/rtl/rtl.h"

static int part(const char *what, const char *name)
{
    char path[4096];
    int rc = cli_find(name, path, sizeof path);
    printf("%-22s %s\n", what, rc ? "missing" : path);
    return rc;
}

int cli_info(void)
{
    printf("%-22s %s\n", "model", bdy_rtl_ops.name);
    printf("%-22s layouts %u, S1 %u, S2 %u, S3 %u\n", "versions", BDY_ABI_VERSION, BDY_PCI_ABI, BDY_UCTX_ABI, BDY_DEV_ABI);
    printf("%-22s %u keys, %u translations, %u queue pairs, %u completion queues\n", "sizes", 1u << BDY_LOG_KEYS, 1u << BDY_LOG_MTT,
           1u << BDY_LOG_QPS, 1u << BDY_LOG_CQS);
    printf("%-22s %u MHz nominal\n", "clock", BDY_CORE_CLOCK_KHZ / 1000);
    int provider = part("provider", "libbindery-rdmav34.so");
    int firmware = part("firmware", "bindery-fw.bin");
    return cli_end("info", provider || firmware ? EXIT_FAIL : EXIT_PASS);
}
