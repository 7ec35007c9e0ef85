// SPDX-License-Identifier: Apache-2.0
// Memory regions. The rules (M1-M5) are the HCA's to check.

#include <errno.h>
#include <stdlib.h>

#include "objects.h"

struct ibv_mr *bdy_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    const struct bdy_u_reg_mr_in in = {
        .va = (uintptr_t)addr,
        .bytes = length,
        .iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova,
        .pd = pd->handle,
        .access = (uint32_t)access,
    };
    struct bdy_u_key_out out;
    struct prov_mr *mr = calloc(1, sizeof(*mr));
    if (mr == NULL)
        return NULL;
    int err =
        bdy_ctx_call(bdy_ctx_of(pd->context), BDY_U_REG_MR, &in, sizeof(in), &out, sizeof(out));
    if (err != 0) {
        free(mr);
        errno = err;
        return NULL;
    }
    mr->access = access;
    mr->ibv = (struct ibv_mr){
        .context = pd->context,
        .pd = pd,
        .addr = addr,
        .length = length,
        .handle = out.handle,
        .lkey = out.key,
        .rkey = out.key,
    };
    return &mr->ibv;
}

int bdy_dereg_mr(struct prov_mr *mr)
{
    int err = bdy_ctx_call_handle(bdy_ctx_of(mr->ibv.context), BDY_U_DEREG_MR, mr->ibv.handle);
    if (err == 0)
        free(mr);
    return err;
}
