// SPDX-License-Identifier: Apache-2.0
// Different objects from different threads at once, and one object's post beside its poll (N6, N7).

#include <cerrno>
#include <thread>

#include "fixture.h"

namespace
{

class Threads : public Provider
{
};

TEST_F(Threads, PostAndPollOfOneQueuePairBesideEachOther_N6)
{
    constexpr uint64_t kRequests = 20000;
    ibv_qp *a, *b;
    connect(&a, &b);
    ibv_cq *polled = cq;
    std::thread poller([&] {
        ibv_wc wc[4];
        for (uint64_t next = 0; next < kRequests;) {
            const int n = ibv_poll_cq(polled, 4, wc);
            ASSERT_GE(n, 0);
            for (int i = 0; i < n; i++) {
                ASSERT_EQ(wc[i].status, IBV_WC_SUCCESS);
                ASSERT_EQ(wc[i].wr_id, next++);
            }
        }
    });
    for (uint64_t id = 0; id < kRequests;) {
        ibv_send_wr wr = send_wr(IBV_WR_RDMA_WRITE), *bad; // of no bytes: needs no key (A12)
        wr.wr_id = id;
        const int err = ibv_post_send(a, &wr, &bad);
        ASSERT_TRUE(err == 0 || err == ENOMEM) << err;
        id += err == 0;
        if (err != 0)
            std::this_thread::yield();
    }
    poller.join();
}

TEST_F(Threads, CreateAndDestroyFromManyThreadsLeavesNothing_N7)
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([this] {
            for (int i = 0; i < 100; i++) {
                ibv_pd *p = ibv_alloc_pd(ctx);
                ibv_cq *c = ibv_create_cq(ctx, 8, nullptr, nullptr, 0);
                ibv_qp_init_attr attr = qp_attr();
                attr.send_cq = attr.recv_cq = c;
                ibv_qp *q = ibv_create_qp(p, &attr);
                ibv_mw *w = ibv_alloc_mw(p, IBV_MW_TYPE_1);
                ASSERT_TRUE(p != nullptr && c != nullptr && q != nullptr && w != nullptr);
                ASSERT_EQ(ibv_dealloc_mw(w), 0);
                ASSERT_EQ(ibv_destroy_qp(q), 0);
                ASSERT_EQ(ibv_destroy_cq(c), 0);
                ASSERT_EQ(ibv_dealloc_pd(p), 0);
            }
        });
    for (auto &thread : threads)
        thread.join();
    EXPECT_TRUE(hca.qps.empty());
    EXPECT_EQ(hca.cqs.size(), 1u);
    EXPECT_EQ(hca.keys.size(), 1u);
}

TEST_F(Threads, BindsOfOneWindowFromTwoQueuePairsKeepItsKeyInOrder_N6)
{
    ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
    const uint32_t first = mw->rkey;
    ibv_qp_init_attr attr = qp_attr();
    attr.cap.max_send_wr = 512;
    ibv_qp *qps[2] = {new_qp(attr, IBV_QPS_RTS), new_qp(attr, IBV_QPS_RTS)};
    hca.executes = false;
    std::vector<std::thread> threads;
    for (ibv_qp *qp : qps)
        threads.emplace_back([=] {
            ibv_mw_bind bind{};
            bind.bind_info = {mr, reinterpret_cast<uintptr_t>(memory.data()), 8,
                              IBV_ACCESS_REMOTE_READ};
            for (int i = 0; i < 100; i++)
                ASSERT_EQ(ibv_bind_mw(qp, mw, &bind), 0);
        });
    for (auto &thread : threads)
        thread.join();
    // Each key was used once as the old one: 200 binds have moved it 200 times.
    std::vector<int> uses(256);
    for (ibv_qp *qp : qps)
        for (uint32_t i = 0; i < 100; i++)
            uses[bdy_wqe_get_inv_key(slot(qp, i)) & 0xff]++;
    for (uint32_t n = 0; n < 200; n++)
        EXPECT_EQ(uses[(first + n) & 0xff], 1) << n;
}

} // namespace
