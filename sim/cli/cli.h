// SPDX-License-Identifier: Apache-2.0
/** @file cli.h  The `bindery` program: options, the HCA it holds, the server of S2 over a socket, and the child it runs. */
#ifndef BINDERY_CLI_H
#define BINDERY_CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "bindery/device.h"
#include "bindery/uctx.h"
#include "driver/core/core.h"
#include "sim/host/host.h"
#include "sim/lockstep/lockstep.h"

/** Exit codes of every program and script of ours. */
enum { EXIT_PASS = 0, EXIT_FAIL = 1, EXIT_USAGE = 2, EXIT_SKIP = 77, EXIT_TIMEOUT = 124 };

/** How the memory of programs is reached (H22). */
enum cli_dma {
    CLI_DMA_PROBE = 0,  /**< directly, or where the kernel refuses that, by a thread in the program */
    CLI_DMA_DIRECT = 1,
    CLI_DMA_THREAD = 2,
};

struct cli_options {
    uint64_t seed;
    bool seed_given;
    const char *wave;       /**< FST file, or NULL */
    bool stats;
    double linger;          /**< seconds that descendants may outlive CMD */
    double watchdog;        /**< seconds of wall clock that end a hang; 0: none */
    double pace;            /**< simulated time jumps no faster than wall clock times this; 0: at once */
    int nice;
    unsigned latency_min, latency_max; /**< host memory, cycles */
    unsigned table_delay;   /**< longest extra table latency, cycles */
    uint64_t link_fault;    /**< LINK_FAULT register */
    bool strict_ibta;
    enum cli_dma dma;
    const char *firmware;   /**< NULL: the one beside the program */
    char **cmd;             /**< NULL-terminated */
};

/** Parse `exec`'s arguments. 0, or EXIT_USAGE after a message, or -1 when --help was printed. */
int cli_parse_exec(int argc, char **argv, struct cli_options *opt);

/** Where the parts lie: beside the program, or ../lib, ../firmware of a build tree. `out` of `bytes`. 0 or -ENOENT. */
int cli_find(const char *name, char *out, size_t bytes);
/** Print to stderr with the program's name in front. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ the HCA: device, root complex, driver core */
struct hca {
    struct bdy_host *host;
    struct bdy_core *core;
    struct bdy_lockstep *lockstep;
};

/** Build and start one. Says what went wrong; 0 or -errno. */
int hca_open(struct hca *hca, const struct cli_options *opt);
void hca_close(struct hca *hca);
/** Device and port attributes, as a program would query them. */
int hca_describe(struct hca *hca, struct bdy_u_device_attr *dev, struct bdy_u_port_attr *port);
void hca_print_stats(struct hca *hca, FILE *out);

/* ------------------------------------------------------------------ server: S2 over a Unix socket */
struct server;

/** Listen below `dir` (0700, ours). The path is `dir`/hca. NULL after a message. */
struct server *server_open(struct hca *hca, const char *dir, const struct cli_options *opt);
void server_close(struct server *s);
/** Serve what is there and run the model for a while, or sleep until something happens, at most `max_ms`. -EIO: device dead. */
int server_step(struct server *s, int max_ms);
/** Contexts still open. */
unsigned server_contexts(const struct server *s);
/** A descriptor to watch beside the sockets (SIGCHLD's signalfd). */
int server_watch(struct server *s, int fd);

/* ------------------------------------------------------------------ one client context (server's inside) */
struct client {
    int sock;
    pid_t pid;
    int pidfd;
    struct bdy_aspace *as;
    struct bdy_uctx *uctx;
    struct bdy_dbq *dbq;    /**< shared; every field is read once and checked */
    struct bdy_dma_port *port; /**< served by the client's thread; NULL: we reach its memory ourselves (H22) */
    uint32_t head;          /**< our own copy: the shared one is for the client to read */
    int dbq_fd, wake_fd, async_fd, async_peer, port_fd;
    struct { uint32_t handle; int fd; } *channels;
    unsigned nchannels;
    struct server *server;
    struct client *next;
    bool dead;
};

struct client *client_new(struct server *s, int sock);
void client_free(struct client *c);
/** Deliver doorbells up to the shared tail, at most `max`. Number delivered, or -EPROTO for an impossible tail. */
int client_doorbells(struct client *c, unsigned max);
/** Serve one request that waits on the socket. 0, or <0: close the context. */
int client_serve(struct client *c);
/** The HCA has moved something: wake who waits in poll. */
void client_progress(struct client *c);
struct hca *server_hca(struct server *s);
enum cli_dma server_dma(const struct server *s);
/** The kernel refuses us a program's memory: said once. */
void server_say_refused(struct server *s);

/* ------------------------------------------------------------------ commands */
/** The last line on stderr, with the verdict that belongs to the exit code; returns the code. */
int cli_end(const char *command, int code);
int cli_exec(const struct cli_options *opt);
int cli_info(void);

#endif
