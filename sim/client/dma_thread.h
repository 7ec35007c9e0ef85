// SPDX-License-Identifier: Apache-2.0
/** @file dma_thread.h  Serves the launcher's requests for this process's memory (H22). */
#ifndef BDY_CLIENT_DMA_THREAD_H
#define BDY_CLIENT_DMA_THREAD_H

#ifdef __cplusplus
extern "C" {
#endif

struct bdy_dma_thread;

/** Serve the port whose memfd is `memfd` (taken when 0 is returned). 0 or -errno. */
int bdy_dma_thread_start(int memfd, struct bdy_dma_thread **out);
/** End it after the request it is at. NULL is fine. In a forked child (`child`) there is no thread:
 * only the copies are freed. */
void bdy_dma_thread_stop(struct bdy_dma_thread *t, int child);

#ifdef __cplusplus
}
#endif
#endif
