// SPDX-License-Identifier: Apache-2.0
// The HCA that the launcher holds: Verilated device, root complex, driver core, and the scoreboard that watches every verdict.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bdy_regs.h"
#include "cli.h"
#include "sim/rtl/rtl.h"

static void on_trace(void *arg, const struct bdy_trace *ev)
{
    struct hca *hca = arg;
    bdy_lockstep_event(hca->lockstep, ev);
}

static void on_log(void *arg, const struct bdy_host_event *ev)
{
    (void)arg;
    if (ev->kind == BDY_EV_MESSAGE) cli_say("device: %s", ev->text);
    if (ev->kind == BDY_EV_FAULT) {
        cli_say("cycle %llu: DMA %s of %u bytes at bus address %#llx refused: %s", (unsigned long long)ev->cycle,
                ev->value == BDY_DMA_WRITE ? "write" : "read", ev->bytes, (unsigned long long)ev->address, strerror(-ev->status));
    }
}

static void on_difference(void *arg, const char *text)
{
    (void)arg;
    cli_say("%s", text);
}

/** Whole file; NULL with errno set. */
static void *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rbe");
    if (!f) return NULL;
    size_t room = BDY_FW_RAM_BYTES + 4096u;
    char *data = malloc(room);
    if (data) {
        *bytes = fread(data, 1, room, f);
        if (ferror(f) || *bytes == room) {
            errno = ferror(f) ? EIO : EFBIG;
            free(data);
            data = NULL;
        }
    }
    fclose(f);
    return data;
}

static int boot(struct hca *hca, const struct cli_options *opt)
{
    char found[4096];
    const char *path = opt->firmware;
    if (!path) path = cli_find("bindery-fw.bin", found, sizeof found) ? NULL : found;
    if (!path) {
        cli_say("the firmware image bindery-fw.bin is not beside this program");
        return -ENOENT;
    }
    size_t bytes = 0;
    void *image = read_file(path, &bytes);
    if (!image) {
        int err = errno;
        cli_say("firmware %s: %s", path, strerror(err));
        return -err;
    }
    int rc = bdy_host_boot(hca->host, image, bytes);
    free(image);
    if (rc) cli_say("firmware %s: %s", path, rc == -EBADMSG ? "not a firmware image of this version" : strerror(-rc));
    return rc;
}

static int start(struct hca *hca, const struct cli_options *opt)
{
    struct bdy_host_cfg hc;
    bdy_host_cfg_init(&hc);
    hc.seed = opt->seed;
    hc.lat_min = opt->latency_min;
    hc.lat_max = opt->latency_max;
    hc.wave_path = opt->wave;
    hc.log = on_log;
    hc.trace = on_trace;
    hc.arg = hca;
    int rc = bdy_host_create(&hc, &bdy_rtl_ops, &hca->host);
    if (rc) {
        cli_say("cannot build the device%s%s: %s", opt->wave ? " or write its wave " : "", opt->wave ? opt->wave : "", strerror(-rc));
        return rc;
    }
    rc = boot(hca, opt);
    if (rc) return rc;
    struct bdy_core_cfg cc = {.seed_lo = opt->seed, .seed_hi = ~opt->seed, .lid = 1, .strict_ibta = opt->strict_ibta,
                              .link_fault = opt->link_fault};
    if (opt->link_fault) cc.link_fault |= (opt->seed & 0xffff) << BDY_REG_BAR_LINK_FAULT_SEED_LSB;
    if (opt->table_delay) {
        cc.tbl_delay = opt->table_delay | BDY_REG_BAR_TBL_DELAY_REORDER_MASK | (opt->seed & 0xffffffff) << BDY_REG_BAR_TBL_DELAY_SEED_LSB;
    }
    rc = bdy_core_open(bdy_host_pci(hca->host), &cc, &hca->core);
    if (rc) cli_say("the driver cannot start the device: %s", strerror(-rc));
    return rc;
}

int hca_open(struct hca *hca, const struct cli_options *opt)
{
    struct bdy_lockstep_cfg lc = {.log_keys = BDY_LOG_KEYS, .log_mtt = BDY_LOG_MTT, .log_qps = BDY_LOG_QPS, .log_pds = 10,
                                  .strict_ibta = opt->strict_ibta, .report = on_difference};
    *hca = (struct hca){.lockstep = bdy_lockstep_new(&lc)};
    if (!hca->lockstep) return -ENOMEM;
    int rc = start(hca, opt);
    if (rc) hca_close(hca);
    return rc;
}

void hca_close(struct hca *hca)
{
    if (hca->core) bdy_core_close(hca->core);
    if (hca->host) bdy_host_destroy(hca->host);
    bdy_lockstep_free(hca->lockstep);
    *hca = (struct hca){0};
}

int hca_describe(struct hca *hca, struct bdy_u_device_attr *dev, struct bdy_u_port_attr *port)
{
    struct bdy_u_open_in in = {.abi = BDY_UCTX_ABI};
    struct bdy_u_open_out out;
    struct bdy_uctx *uctx;
    struct bdy_dma_buf *rings[2];
    struct bdy_aspace *as = bdy_host_aspace_self(hca->host);
    if (!as) return -ENOMEM;
    int rc = bdy_core_uctx_open(hca->core, as, NULL, NULL, &in, &out, &uctx);
    if (!rc) {
        rc = bdy_core_call(uctx, BDY_U_QUERY_DEVICE, NULL, 0, dev, sizeof *dev, rings);
        if (!rc) rc = bdy_core_call(uctx, BDY_U_QUERY_PORT, NULL, 0, port, sizeof *port, rings);
        bdy_core_uctx_close(uctx);
    }
    bdy_host_aspace_free(hca->host, as);
    return rc;
}

void hca_print_stats(struct hca *hca, FILE *out)
{
    struct bdy_host_stats s;
    bdy_host_stats(hca->host, &s);
    fprintf(out,
            "bindery: cycles run %llu, skipped %llu in %llu jumps\n"
            "bindery: mmio reads %llu, writes %llu; msix %llu\n"
            "bindery: dma reads %llu (%llu bytes), writes %llu (%llu bytes), refused %llu\n"
            "bindery: verdicts checked against the specification %llu\n",
            (unsigned long long)s.cycles_run, (unsigned long long)s.cycles_skipped, (unsigned long long)s.jumps,
            (unsigned long long)s.mmio_reads, (unsigned long long)s.mmio_writes, (unsigned long long)s.msix,
            (unsigned long long)s.dma_reads, (unsigned long long)s.dma_read_bytes, (unsigned long long)s.dma_writes,
            (unsigned long long)s.dma_write_bytes, (unsigned long long)s.dma_errors,
            (unsigned long long)bdy_lockstep_checked(hca->lockstep));
}
