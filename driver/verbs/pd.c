// SPDX-License-Identifier: Apache-2.0
// Protection domains.

#include <errno.h>
#include <stdlib.h>

#include "objects.h"

struct ibv_pd *bdy_alloc_pd(struct ibv_context *context)
{
    struct bdy_u_handle out;
    struct bdy_pd *pd = calloc(1, sizeof(*pd));
    if (pd == NULL)
        return NULL;
    int err = bdy_ctx_call(bdy_ctx_of(context), BDY_U_ALLOC_PD, NULL, 0, &out, sizeof(out));
    if (err != 0) {
        free(pd);
        errno = err;
        return NULL;
    }
    pd->ibv.context = context;
    pd->ibv.handle = out.handle;
    return &pd->ibv;
}

int bdy_dealloc_pd(struct ibv_pd *ibpd)
{
    int err = bdy_ctx_call_handle(bdy_ctx_of(ibpd->context), BDY_U_DEALLOC_PD, ibpd->handle);
    if (err == 0)
        free(BDY_OF(struct bdy_pd, ibv, ibpd));
    return err;
}
