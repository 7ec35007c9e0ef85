// SPDX-License-Identifier: Apache-2.0
// Inline data: copied when posted, from memory that nobody registered.
#include "rig.hpp"

namespace {

class Inline : public rig::Pair {
  protected:
    /// As `parts` elements; the memory is overwritten as soon as the post returns.
    int post_inline(ibv_qp *q, ibv_wr_opcode op, const std::vector<uint8_t> &data, size_t parts, uint64_t remote = 0, uint32_t rkey = 0) {
        std::vector<uint8_t> mine = data;
        std::vector<ibv_sge> list(parts);
        const size_t each = data.size() / parts;
        for (size_t i = 0; i < parts; i++) {
            list[i] = {uint64_t(mine.data()) + i * each, uint32_t(i + 1 < parts ? each : data.size() - i * each), 0xdeadbeef};
        }
        ibv_send_wr wr = {}, *bad = nullptr;
        wr.sg_list = list.data();
        wr.num_sge = int(parts);
        wr.opcode = op;
        wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
        const int rc = ibv_post_send(q, &wr, &bad);
        std::fill(mine.begin(), mine.end(), 0xee);
        return rc;
    }
    ibv_qp *sender(uint32_t max_inline, uint32_t *got) {
        ibv_qp_init_attr a = {};
        a.send_cq = a.recv_cq = peer_cq;
        a.cap = {8, 8, 4, 4, max_inline};
        a.qp_type = IBV_QPT_RC;
        ibv_qp *q = ibv_create_qp(pd_, &a);
        *got = a.cap.max_inline_data;
        return q;
    }
    static std::vector<uint8_t> pattern(size_t n) {
        std::vector<uint8_t> v(n);
        for (size_t i = 0; i < n; i++) v[i] = uint8_t(rig::mix(i * 256 + n));
        return v;
    }
};

TEST_F(Inline, N3_DataOfEveryLengthArrivesWholeByWriteAndSend) {
    uint32_t most = 0;
    ibv_qp *q = sender(256, &most);
    ASSERT_NE(q, nullptr) << strerror(errno);
    ASSERT_GE(most, 256u);
    link.mtu = IBV_MTU_256;
    ASSERT_EQ(to_state(own, IBV_QPS_RESET), 0);
    connect(own, q, link);
    for (size_t n : {1, 2, 16, 31, 32, 33, 63, 64, 65, 95, 96, 97, 128, 159, 160, 161, 200, 255, 256}) {
        SCOPED_TRACE(n);
        const auto data = pattern(n);
        memset(mem.p, 0, mem.bytes);
        ASSERT_EQ(post_inline(q, IBV_WR_RDMA_WRITE, data, n < 3 ? 1 : 1 + n % 3, mem.addr() + 1, mem.mr->rkey), 0);
        ASSERT_EQ(next(peer_cq).status, IBV_WC_SUCCESS);
        EXPECT_EQ(memcmp(mem.p + 1, data.data(), n), 0);
        EXPECT_EQ(mem.p[0] | mem.p[n + 1], 0);
        memset(mem.p, 0, mem.bytes);
        ASSERT_EQ(recv(own, sge(mem)), 0);
        ASSERT_EQ(post_inline(q, IBV_WR_SEND, data, 1), 0);
        ASSERT_EQ(next(peer_cq).status, IBV_WC_SUCCESS);
        const ibv_wc wc = next(cq_);
        ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
        EXPECT_EQ(wc.byte_len, n);
        EXPECT_EQ(memcmp(mem.p, data.data(), n), 0);
    }
    EXPECT_EQ(ibv_destroy_qp(q), 0);
}

TEST_F(Inline, N3_MoreThanTheQueuePairHoldsIsRefused) {
    uint32_t most = 0;
    ibv_qp *q = sender(40, &most);
    ASSERT_NE(q, nullptr);
    EXPECT_GE(most, 40u);
    ASSERT_EQ(to_state(own, IBV_QPS_RESET), 0);
    connect(own, q, link);
    EXPECT_EQ(post_inline(q, IBV_WR_RDMA_WRITE, pattern(most + 1), 1, mem.addr(), mem.mr->rkey), EINVAL);
    EXPECT_EQ(post_inline(q, IBV_WR_RDMA_WRITE, pattern(most), 1, mem.addr(), mem.mr->rkey), 0);
    EXPECT_EQ(next(peer_cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_destroy_qp(q), 0);
    errno = 0;
    EXPECT_EQ(sender(257, &most), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

}  // namespace
