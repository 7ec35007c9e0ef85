// SPDX-License-Identifier: Apache-2.0
// What happens when the shared object is loaded below a launcher. Without one (no BINDERY_SOCKET)
// it only registers: no call is redirected and no context opens.

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "bdy_verbs.h"
#include "hooks.h"
#include "transport.h"

static int open_transport(struct bdy_transport **out)
{
    const char *path = getenv("BINDERY_SOCKET");
    return path != NULL ? bdy_client_connect(path, out) : -ENODEV;
}

// Where Yama restricts ptrace, the launcher still may read and write this process's memory (H22).
// Elsewhere it is refused and not needed.
static void admit_launcher(void)
{
    const char *pid = getenv("BINDERY_LAUNCHER_PID");
    if (pid != NULL)
        prctl(PR_SET_PTRACER, strtoul(pid, NULL, 10), 0, 0, 0);
}

__attribute__((constructor)) static void preload(void)
{
    bdy_verbs_set_opener(open_transport);
    if (getenv("BINDERY_SOCKET") == NULL)
        return;
    admit_launcher();
    bdy_client_install_hooks();
}
