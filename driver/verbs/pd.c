// SPDX-License-Identifier: Apache-2.0
// Protection domains.

#include <errno.h>
#include <stdlib.h>

#include "objects.h"

struct ibv_pd *bdy_alloc_pd(struct ibv_context *context)
{
    struct bdy_u_handle out;
    struct ibv_pd *pd = calloc(1, sizeof(*pd));
    if (pd == NULL)
        return NULL;
    int err = bdy_ctx_call(bdy_ctx_of(context), BDY_U_ALLOC_PD, NULL, 0, &out, sizeof(out));
    if (err != 0) {
        free(pd);
        errno = err;
        return NULL;
    }
    pd->context = context;
    pd->handle = out.handle;
    return pd;
}

int bdy_dealloc_pd(struct ibv_pd *pd)
{
    int err = bdy_ctx_call_handle(bdy_ctx_of(pd->context), BDY_U_DEALLOC_PD, pd->handle);
    if (err == 0)
        free(pd);
    return err;
}
