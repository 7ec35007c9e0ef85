// SPDX-License-Identifier: Apache-2.0
// Command line of `bindery exec`: an allow-list, every value checked, anything else is usage.
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char exec_help[] =
    "usage: bindery exec [options] -- CMD [ARG...]\n"
    "Runs CMD, and every process below it, with the RDMA device bindery0 on cycle-accurate hardware.\n"
    "  --seed N               seed of everything random (default: from the system; printed)\n"
    "  --wave FILE.fst        write a wave of the whole run\n"
    "  --stats                print counters to stderr at the end\n"
    "  --latency MIN:MAX      host memory latency in cycles (default 20:60)\n"
    "  --table-delay MAX      longest extra latency of the protection tables, cycles, out of order (default 0)\n"
    "  --link-fault D:U:R     loopback packets dropped, duplicated, reordered, each per 65536\n"
    "  --dma direct|thread    reach the programs' memory by the kernel, or by a thread in them (default: a thread where\n"
    "                         the kernel refuses)\n"
    "  --strict-ibta          refuse zero-based type 1 windows\n"
    "  --pace X|max           idle simulated time passes at X times wall clock (default 1.0)\n"
    "  --nice N               niceness of CMD (default 10)\n"
    "  --linger S             seconds that descendants may outlive CMD (default 10)\n"
    "  --watchdog S           end a hang after S seconds of wall clock, exit 124 (default none)\n"
    "  --firmware FILE        another firmware image\n"
    "  -h, --help             this text\n"
    "Exit code: CMD's own (128 + signal if killed); 1 on a lockstep difference or a dead device, 2 usage, 124 watchdog.\n";

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "bindery: %s%s%s\n%s", what, value ? " " : "", value ? value : "", exec_help);
    return EXIT_USAGE;
}

static bool parse_u64(const char *s, uint64_t max, uint64_t *out)
{
    char *end;
    errno = 0;
    if (!s || *s < '0' || *s > '9') return false;
    unsigned long long v = strtoull(s, &end, 0);
    if (errno || *end || v > max) return false;
    *out = v;
    return true;
}

static bool parse_seconds(const char *s, double max, double *out)
{
    char *end;
    errno = 0;
    double v = strtod(s, &end);
    if (errno || end == s || *end || !(v >= 0 && v <= max)) return false;
    *out = v;
    return true;
}

static bool parse_list(const char *s, unsigned n, uint64_t max, uint64_t *out)
{
    char part[32];
    for (unsigned i = 0; i < n; i++) {
        size_t len = strcspn(s, ":");
        if (len == 0 || len >= sizeof part) return false;
        memcpy(part, s, len);
        part[len] = 0;
        if (!parse_u64(part, max, &out[i])) return false;
        s += len;
        if (i + 1 < n && *s++ != ':') return false;
    }
    return *s == 0;
}

static bool set_option(int key, const char *arg, struct cli_options *opt)
{
    uint64_t v[3];
    switch (key) {
    case 's': opt->seed_given = true; return parse_u64(arg, UINT64_MAX, &opt->seed);
    case 'w': opt->wave = arg; return *arg != 0;
    case 'S': opt->stats = true; return true;
    case 'L':
        if (!parse_list(arg, 2, 100000, v) || v[0] > v[1] || v[0] == 0) return false;
        opt->latency_min = (unsigned)v[0];
        opt->latency_max = (unsigned)v[1];
        return true;
    case 'T':
        if (!parse_u64(arg, 200, v)) return false;
        opt->table_delay = (unsigned)v[0];
        return true;
    case 'F':
        if (!parse_list(arg, 3, 65535, v)) return false;
        opt->link_fault = v[0] | v[1] << 16 | v[2] << 32;
        return true;
    case 'd':
        opt->dma = strcmp(arg, "thread") ? CLI_DMA_DIRECT : CLI_DMA_THREAD;
        return !strcmp(arg, "thread") || !strcmp(arg, "direct");
    case 'i': opt->strict_ibta = true; return true;
    case 'p':
        if (!strcmp(arg, "max")) {
            opt->pace = 0;
            return true;
        }
        return parse_seconds(arg, 1e6, &opt->pace) && opt->pace > 0;
    case 'n':
        if (!parse_u64(arg, 19, v)) return false;
        opt->nice = (int)v[0];
        return true;
    case 'l': return parse_seconds(arg, 1e6, &opt->linger);
    case 'W': return parse_seconds(arg, 1e6, &opt->watchdog);
    case 'f': opt->firmware = arg; return *arg != 0;
    default: return false;
    }
}

int cli_parse_exec(int argc, char **argv, struct cli_options *opt)
{
    static const struct option longs[] = {
        {"seed", 1, 0, 's'}, {"wave", 1, 0, 'w'}, {"stats", 0, 0, 'S'}, {"latency", 1, 0, 'L'},
        {"table-delay", 1, 0, 'T'}, {"link-fault", 1, 0, 'F'}, {"dma", 1, 0, 'd'}, {"strict-ibta", 0, 0, 'i'}, {"pace", 1, 0, 'p'},
        {"nice", 1, 0, 'n'}, {"linger", 1, 0, 'l'}, {"watchdog", 1, 0, 'W'}, {"firmware", 1, 0, 'f'},
        {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    *opt = (struct cli_options){.linger = 10, .pace = 1.0, .nice = 10, .latency_min = 20, .latency_max = 60};
    optind = 1;
    opterr = 0;
    int key;
    while ((key = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
        if (key == 'h') {
            fputs(exec_help, stdout);
            return -1;
        }
        if (key == '?') return usage("unknown option, or its value is missing:", argv[optind - 1]);
        if (!set_option(key, optarg, opt)) return usage("bad value:", optarg);
    }
    if (optind >= argc) return usage("no command given", NULL);
    if (strcmp(argv[optind - 1], "--") != 0) return usage("the command follows after --, not", argv[optind]);
    opt->cmd = argv + optind;
    return 0;
}
