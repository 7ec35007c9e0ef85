// SPDX-License-Identifier: Apache-2.0
// The `bindery` program.
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char help[] =
    "usage: bindery COMMAND [options]\n"
    "  exec [options] -- CMD   run a verbs program on cycle-accurate hardware (bindery exec --help)\n"
    "  info                    what this build is and where its parts are\n"
    "  --help                  this text\n";

void cli_say(const char *fmt, ...)
{
    va_list ap;
    char line[1024];
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    fprintf(stderr, "bindery: %s\n", line);
}

int cli_end(const char *command, int code)
{
    const char *word = code == EXIT_PASS ? "PASS" : code == EXIT_USAGE ? "USAGE" : code == EXIT_SKIP ? "SKIP"
                     : code == EXIT_TIMEOUT ? "TIMEOUT" : "FAIL";
    cli_say("%s: %s", command, word);
    return code;
}

int cli_find(const char *name, char *out, size_t bytes)
{
    static const char *const places[] = {"", "../lib/", "../firmware/", "../lib/bindery/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return -ENOENT;
    self[n] = 0;
    const char *dir = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int len = snprintf(out, bytes, "%s/%s%s", dir, places[i], name);
        if (len > 0 && (size_t)len < bytes && access(out, R_OK) == 0) return 0;
    }
    return -ENOENT;
}

static int usage(const char *what)
{
    fprintf(stderr, "bindery: unknown command %s\n%s", what, help);
    return cli_end("command line", EXIT_USAGE);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs(help, stderr);
        return cli_end("command line", EXIT_USAGE);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        fputs(help, stdout);
        return EXIT_PASS;
    }
    if (!strcmp(argv[1], "info")) return argc == 2 ? cli_info() : usage(argv[2]);
    if (strcmp(argv[1], "exec") != 0) return usage(argv[1]);
    struct cli_options opt;
    int rc = cli_parse_exec(argc - 1, argv + 1, &opt);
    if (rc) return rc < 0 ? EXIT_PASS : cli_end("exec", rc);
    return cli_exec(&opt);
}
