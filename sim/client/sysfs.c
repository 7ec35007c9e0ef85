// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bdy_verbs.h"

#define VERBS "class/infiniband_verbs/"
#define UVERBS VERBS "uverbs0/"
#define IBDEV "class/infiniband/bindery0/"
#define PORT IBDEV "ports/1/"

/** GIDs that struct bdy_u_port_attr carries; the slots behind them are empty. */
#define GIDS                                                                                       \
    (sizeof(((struct bdy_u_port_attr *)0)->gid) / sizeof(((struct bdy_u_port_attr *)0)->gid[0]))

// Make the folders on the way to `path`.
static int make_parents(int dir, const char *path)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        memcpy(part, path, (size_t)(slash - path));
        part[slash - path] = '\0';
        if (mkdirat(dir, part, 0755) < 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

// One attribute, with the newline that sysfs ends it with. A first error in *err makes the rest do
// nothing.
__attribute__((format(printf, 4, 5))) static void put(int *err, int dir, const char *path,
                                                      const char *format, ...)
{
    char text[512];
    va_list args;
    if (*err != 0)
        return;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text) - 1, format, args);
    va_end(args);
    text[n++] = '\n';
    *err = make_parents(dir, path);
    if (*err != 0)
        return;
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, (size_t)n) != n)
        *err = -errno;
    if (fd >= 0)
        close(fd);
}

static void put_guid(int *err, int dir, const char *path, uint64_t guid)
{
    const uint8_t *b = (const uint8_t *)&guid; // big-endian in memory
    put(err, dir, path, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5],
        b[6], b[7]);
}

static void put_gid(int *err, int dir, unsigned index, const uint8_t *b)
{
    char path[64];
    snprintf(path, sizeof(path), PORT "gids/%u", index);
    put(err, dir, path, "%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x",
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
        b[14], b[15]);
}

static int is_ethernet(const struct bdy_u_port_attr *port)
{
    return port->link_layer == IBV_LINK_LAYER_ETHERNET;
}

static void put_gid_table(int *err, int dir, const struct bdy_u_port_attr *port)
{
    static const uint8_t none[16];
    for (unsigned i = 0; i < port->gid_tbl_len; i++) {
        char path[64];
        put_gid(err, dir, i, i < GIDS ? port->gid[i] : none);
        // Of an empty slot too: a kernel's file answers EINVAL there, and libibverbs takes an
        // absent one for an error.
        snprintf(path, sizeof(path), PORT "gid_attrs/types/%u", i);
        put(err, dir, path, "%s", is_ethernet(port) ? "RoCE v2" : "IB/RoCE v1");
    }
}

static void put_pkey_table(int *err, int dir, const struct bdy_u_port_attr *port)
{
    for (unsigned i = 0; i < port->pkey_tbl_len; i++) {
        char path[64];
        snprintf(path, sizeof(path), PORT "pkeys/%u", i);
        put(err, dir, path, "%s", i == 0 ? "0xffff" : "0x0000");
    }
}

static const char *state_name(uint32_t state)
{
    static const char *const names[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "NOP";
}

static void put_port(int *err, int dir, const struct bdy_u_port_attr *port)
{
    put(err, dir, PORT "state", "%u: %s", port->state, state_name(port->state));
    put(err, dir, PORT "phys_state", "%u: %s", port->phys_state,
        port->phys_state == 5 ? "LinkUp" : "Polling");
    put(err, dir, PORT "lid", "0x%x", port->lid);
    put(err, dir, PORT "sm_lid", "0x%x", port->sm_lid);
    put(err, dir, PORT "lid_mask_count", "%u", port->lmc);
    put(err, dir, PORT "cap_mask", "0x%08x", port->port_cap_flags);
    put(err, dir, PORT "rate", "100 Gb/sec (4X EDR)");
    put(err, dir, PORT "link_layer", "%s", is_ethernet(port) ? "Ethernet" : "InfiniBand");
    put_gid_table(err, dir, port);
    put_pkey_table(err, dir, port);
}

static void put_function(int *err, int dir, const char *folder, const struct bdy_u_device_attr *dev)
{
    char path[128];
    snprintf(path, sizeof(path), "%sdevice/modalias", folder);
    put(err, dir, path, "%s", BDY_VERBS_MODALIAS);
    snprintf(path, sizeof(path), "%sdevice/vendor", folder);
    put(err, dir, path, "0x%04x", dev->vendor_id & 0xffff);
    snprintf(path, sizeof(path), "%sdevice/device", folder);
    put(err, dir, path, "0x%04x", dev->vendor_part_id & 0xffff);
    snprintf(path, sizeof(path), "%sdevice/numa_node", folder);
    put(err, dir, path, "-1");
}

static void put_device(int *err, int dir, const struct bdy_u_device_attr *dev)
{
    put(err, dir, VERBS "abi_version", "6");
    put(err, dir, UVERBS "ibdev", "bindery0");
    put(err, dir, UVERBS "dev", "0:0"); // no match of device numbers
    put(err, dir, UVERBS "abi_version", "1");
    put(err, dir, IBDEV "node_type", "1: CA");
    put_guid(err, dir, IBDEV "node_guid", dev->node_guid);
    put_guid(err, dir, IBDEV "sys_image_guid", dev->sys_image_guid);
    put(err, dir, IBDEV "fw_ver", "%.31s", dev->fw_ver);
    put(err, dir, IBDEV "hw_rev", "%x", dev->hw_ver);
    put(err, dir, IBDEV "board_id", "BINDERY");
    put(err, dir, IBDEV "node_desc", "Bindery simulated HCA");
    put_function(err, dir, UVERBS, dev);
    put_function(err, dir, IBDEV, dev);
}

int bdy_client_make_sysfs(const char *dir, const struct bdy_u_device_attr *dev,
                          const struct bdy_u_port_attr *port)
{
    int err = 0;
    int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    put_device(&err, fd, dev);
    put_port(&err, fd, port);
    close(fd);
    return err;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path) < 0 ? -errno : 0;
}

int bdy_client_remove_sysfs(const char *dir)
{
    const int result = nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return result == -1 ? -errno : result;
}
