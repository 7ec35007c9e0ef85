// SPDX-License-Identifier: Apache-2.0
// `bindery exec`: one HCA, one server, one command and whatever that starts.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "sim/client/sysfs.h"

struct run {
    const struct cli_options *opt;
    struct hca hca;
    struct server *server;
    char dir[4000];         /**< private folder: socket and sysfs tree */
    char provider[4096];
    int signal_fd;
    sigset_t old_mask;
    pid_t child;
    bool ended;
    int status;             /**< of CMD, as waitpid gives it */
};

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------ private folder */
static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int make_dir(struct run *r)
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(r->dir, sizeof r->dir, "%s/bindery-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (n < 0 || (size_t)n >= sizeof r->dir || !mkdtemp(r->dir)) {
        cli_say("cannot make a folder below %s: %s", tmp && *tmp ? tmp : "/tmp", strerror(errno));
        r->dir[0] = 0;
        return -1;
    }
    struct bdy_u_device_attr dev;
    struct bdy_u_port_attr port;
    char sys[4096];
    snprintf(sys, sizeof sys, "%s/sys", r->dir);
    int rc = hca_describe(&r->hca, &dev, &port);
    if (!rc && mkdir(sys, 0700)) rc = -errno;
    if (!rc) rc = bdy_client_make_sysfs(sys, &dev, &port);
    if (rc) cli_say("cannot write the device description in %s: %s", r->dir, strerror(-rc));
    return rc;
}

/* ------------------------------------------------------------------ the child */
static void child_env(const struct run *r)
{
    char path[4096], pid[16];
    const char *preload = getenv("LD_PRELOAD");
    snprintf(path, sizeof path, "%s/hca", r->dir);
    setenv("BINDERY_SOCKET", path, 1);
    snprintf(path, sizeof path, "%s/sys", r->dir);
    setenv("SYSFS_PATH", path, 1);
    snprintf(pid, sizeof pid, "%d", (int)getppid());
    setenv("BINDERY_LAUNCHER_PID", pid, 1);
    if (preload && *preload) {
        char both[8192];
        snprintf(both, sizeof both, "%s:%s", r->provider, preload);
        setenv("LD_PRELOAD", both, 1);
    } else {
        setenv("LD_PRELOAD", r->provider, 1);
    }
}

static int spawn(struct run *r)
{
    int report[2], err = 0;
    if (pipe2(report, O_CLOEXEC)) return -errno;
    r->child = fork();
    if (r->child < 0) return -errno;
    if (r->child == 0) {
        sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
        errno = 0;
        if (nice(r->opt->nice) == -1 && errno) errno = 0; /* a niceness that is refused changes nothing else */
        child_env(r);
        execvp(r->opt->cmd[0], r->opt->cmd);
        err = errno;
        (void)!write(report[1], &err, sizeof err);
        _exit(127);
    }
    close(report[1]);
    ssize_t n = read(report[0], &err, sizeof err);
    close(report[0]);
    if (n == (ssize_t)sizeof err) {
        waitpid(r->child, NULL, 0);
        return -err;
    }
    return 0;
}

static void reap(struct run *r)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == r->child) {
            r->ended = true;
            r->status = status;
        }
    }
}

static void take_signals(struct run *r)
{
    struct signalfd_siginfo si;
    while (read(r->signal_fd, &si, sizeof si) == (ssize_t)sizeof si) {
        if (si.ssi_signo != SIGCHLD && !r->ended) kill(r->child, (int)si.ssi_signo);
    }
    reap(r);
}

/** Before the model is built: its threads inherit the mask, and a thread without it would take the signal's default action. */
static int block_signals(struct run *r)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, &r->old_mask);
    r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return r->signal_fd < 0 ? -errno : 0;
}

/* ------------------------------------------------------------------ descendants left over */
static pid_t parent_of(pid_t pid)
{
    char path[64], line[1024];
    int ppid = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    char *paren = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (paren && sscanf(paren + 1, " %*c %d", &ppid) != 1) ppid = 0;
    fclose(f);
    return ppid;
}

static bool descends(pid_t pid)
{
    pid_t self = getpid();
    for (int depth = 0; depth < 64 && pid > 1; depth++) {
        pid = parent_of(pid);
        if (pid == self) return true;
    }
    return false;
}

static unsigned kill_descendants(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc");
    struct dirent *e;
    while (d && (e = readdir(d))) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 1 && descends(pid) && kill(pid, SIGKILL) == 0) n++;
    }
    if (d) closedir(d);
    return n;
}

/* ------------------------------------------------------------------ the loop */
static int serve(struct run *r)
{
    double start = wall(), ended_at = 0;
    for (;;) {
        int rc = server_step(r->server, 100);
        if (rc < 0) {
            cli_say("the device is dead: %s", strerror(-rc));
            kill_descendants();
            return EXIT_FAIL;
        }
        take_signals(r);
        if (r->opt->watchdog > 0 && wall() - start > r->opt->watchdog) {
            cli_say("watchdog: %g s have passed", r->opt->watchdog);
            kill_descendants();
            return EXIT_TIMEOUT;
        }
        if (!r->ended) continue;
        if (ended_at == 0) ended_at = wall();
        if (server_contexts(r->server) == 0) return 0;
        if (wall() - ended_at > r->opt->linger) {
            cli_say("killed %u processes that outlived the command by %g s", kill_descendants(), r->opt->linger);
            return 0;
        }
    }
}

static int exit_code(const struct run *r)
{
    if (WIFSIGNALED(r->status)) {
        cli_say("%s was ended by signal %d (%s)", r->opt->cmd[0], WTERMSIG(r->status), strsignal(WTERMSIG(r->status)));
        return 128 + WTERMSIG(r->status);
    }
    return WEXITSTATUS(r->status);
}

static int prepare(struct run *r)
{
    if (cli_find("libbindery-rdmav34.so", r->provider, sizeof r->provider)) {
        cli_say("libbindery-rdmav34.so is not beside this program");
        return EXIT_FAIL;
    }
    if (block_signals(r) || hca_open(&r->hca, r->opt) || make_dir(r)) return EXIT_FAIL;
    r->server = server_open(&r->hca, r->dir, r->opt);
    if (!r->server || server_watch(r->server, r->signal_fd)) return EXIT_FAIL;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int rc = spawn(r);
    if (rc) {
        cli_say("cannot run %s: %s", r->opt->cmd[0], strerror(-rc));
        return EXIT_USAGE;
    }
    return 0;
}

int cli_exec(const struct cli_options *given)
{
    struct cli_options opt = *given;
    if (!opt.seed_given && getrandom(&opt.seed, sizeof opt.seed, 0) != (ssize_t)sizeof opt.seed) opt.seed = (uint64_t)time(NULL);
    struct run r = {.opt = &opt, .signal_fd = -1};
    cli_say("seed %#llx", (unsigned long long)opt.seed);
    int code = prepare(&r);
    if (!code) {
        code = serve(&r);
        if (!code) code = exit_code(&r);
    }
    if (opt.stats && r.hca.host) hca_print_stats(&r.hca, stderr);
    if (r.hca.lockstep && bdy_lockstep_failed(r.hca.lockstep) && code != EXIT_TIMEOUT) code = EXIT_FAIL;
    if (r.server) server_close(r.server);
    hca_close(&r.hca);
    if (r.dir[0]) nftw(r.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (r.signal_fd >= 0) close(r.signal_fd);
    return cli_end("exec", code);
}
