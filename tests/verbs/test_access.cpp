// SPDX-License-Identifier: Apache-2.0
// Remote access through the keys of regions and windows (A1 to A26, E1, E3): what is granted, what is refused, and what a refusal leaves.
#include <fcntl.h>

#include "rig.hpp"

namespace {

using rig::Region;

constexpr unsigned kRead = IBV_ACCESS_REMOTE_READ, kWrite = IBV_ACCESS_REMOTE_WRITE;

class Access : public rig::Pair {
  protected:
    void SetUp() override {
        rig::Pair::SetUp();
        if (HasFatalFailure()) return;
        fcntl(ctx_->async_fd, F_SETFL, O_NONBLOCK);
        for (size_t i = 0; i < mem.bytes; i++) mem.p[i] = uint8_t(i * 7 + i / 256);
        memset(buf.p, 0xee, buf.bytes);
        before.assign(mem.p, mem.p + mem.bytes);
    }
    bool untouched() const { return memcmp(mem.p, before.data(), mem.bytes) == 0; }
    /// Type and queue pair of the next asynchronous event; -1 when there is none.
    int event(ibv_qp **which = nullptr) {
        hca_->settle(20000);
        ibv_async_event e = {};
        if (ibv_get_async_event(ctx_, &e)) return -1;
        if (which) *which = e.element.qp;
        ibv_ack_async_event(&e);
        return e.event_type;
    }
    /// The request, a write and a read by turns, must be refused without a trace in memory; the queue pairs are good again afterwards.
    void refused(uint64_t va, uint32_t key, size_t len) {
        const bool reads = turn_++ & 1;
        std::vector<uint8_t> sink(buf.p, buf.p + buf.bytes);
        EXPECT_EQ(reads ? read(va, key, len) : write(va, key, len), IBV_WC_REM_ACCESS_ERR)
            << (reads ? "read at " : "write at ") << std::hex << va << " length " << len << " key " << key;
        EXPECT_EQ(state(peer), IBV_QPS_ERR);
        EXPECT_EQ(state(own), IBV_QPS_ERR);
        EXPECT_TRUE(untouched()) << "A26";
        EXPECT_EQ(memcmp(buf.p, sink.data(), sink.size()), 0) << "A26: bytes arrived";
        reconnect();
    }
    void granted(uint64_t va, uint32_t key, size_t off, size_t len) {
        EXPECT_EQ(read(va, key, len), IBV_WC_SUCCESS) << "read at " << std::hex << va << " length " << len;
        EXPECT_EQ(memcmp(buf.p, mem.p + off, len), 0);
        EXPECT_EQ(write(va, key, len), IBV_WC_SUCCESS);
        EXPECT_TRUE(untouched()) << "what was read went to the same place";
    }
    std::vector<uint8_t> before;

    unsigned turn_ = 0;
};

TEST_F(Access, A1_K10_EveryPartOfTheKeyCounts) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr(), 4096, kRead | kWrite)), IBV_WC_SUCCESS);
    granted(mem.addr(), mw->rkey, 0, 64);
    granted(mem.addr(), mem.mr->rkey, 0, 64);
    for (uint32_t flip : {1u, 0x100u, 0x80000000u}) {
        turn_++; // both kinds of request meet both kinds of key
        refused(mem.addr(), mw->rkey ^ flip, 64);
        refused(mem.addr(), mem.mr->rkey ^ flip, 64);
    }
}

TEST_F(Access, V8_V9_AFreshWindowGrantsNothing) {
    refused(mem.addr(), window(IBV_MW_TYPE_1)->rkey, 1);
    refused(mem.addr(), window(IBV_MW_TYPE_2)->rkey, 1);
}

TEST_F(Access, A2_A3_KeysOfAnotherDomain) {
    ibv_pd *other = pd();
    Region r = region(4096, rig::kAllAccess, other);
    refused(r.addr(), r.mr->rkey, 64);
    ibv_qp *a = qp(other), *b = qp(other, 0, peer_cq, peer_cq);
    connect(a, b);
    ibv_mw *mw = window(IBV_MW_TYPE_1, other);
    ASSERT_EQ(bound(bind1(a, mw, r.mr, r.addr(), 64, kRead | kWrite)), IBV_WC_SUCCESS);
    refused(r.addr(), mw->rkey, 64);
}

TEST_F(Access, A4_AType1WindowServesEveryQueuePairOfItsDomain) {
    ibv_qp *a = qp(), *b = qp();
    connect(a, b);
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(a, mw, mem.mr, mem.addr() + 64, 64, kRead | kWrite)), IBV_WC_SUCCESS);
    granted(mem.addr() + 64, mw->rkey, 64, 64);
}

TEST_F(Access, A7_A8_RightsOfTheWindowAlone) {
    Region quiet = region(4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    ibv_mw *r = window(IBV_MW_TYPE_1), *w = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, r, quiet.mr, quiet.addr(), 64, kRead)), IBV_WC_SUCCESS);
    ASSERT_EQ(bound(bind1(own, w, quiet.mr, quiet.addr(), 64, kWrite)), IBV_WC_SUCCESS);
    EXPECT_EQ(read(quiet.addr(), r->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(write(quiet.addr(), w->rkey, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(write(quiet.addr(), r->rkey, 64), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(read(quiet.addr(), w->rkey, 64), IBV_WC_REM_ACCESS_ERR);
    reconnect();
    EXPECT_EQ(read(quiet.addr(), quiet.mr->rkey, 64), IBV_WC_REM_ACCESS_ERR) << "the region itself grants nothing";
}

struct Kind { ibv_mw_type type; bool zero_based; };
class AccessEdges : public Access, public ::testing::WithParamInterface<Kind> {};

TEST_P(AccessEdges, A9_A10_A11_OneByteOverTheWindowIsRefusedThoughTheRegionHasIt) {
    const size_t off = 0x100, len = 0x100; // S+0x100, +0x100
    const unsigned rights = kRead | kWrite | (GetParam().zero_based ? unsigned(IBV_ACCESS_ZERO_BASED) : 0u);
    ibv_mw *mw = window(GetParam().type);
    int rc = GetParam().type == IBV_MW_TYPE_1 ? bind1(own, mw, mem.mr, mem.addr() + off, len, rights)
                                              : bind2(own, mw, mw->rkey + 1, mem.mr, mem.addr() + off, len, rights);
    ASSERT_EQ(bound(rc), IBV_WC_SUCCESS);
    const uint64_t va = GetParam().zero_based ? 0 : mem.addr() + off;
    granted(va, mw->rkey, off, len);
    granted(va + len - 1, mw->rkey, off + len - 1, 1);
    if (GetParam().type == IBV_MW_TYPE_2) {
        // A reset queue pair loses its type 2 windows (L8): one refusal is all that can be asked.
        EXPECT_EQ(write(va + len - 7, mw->rkey, 8), IBV_WC_REM_ACCESS_ERR);
        EXPECT_TRUE(untouched());
        return;
    }
    refused(va + len, mw->rkey, 8);
    refused(va, mw->rkey, len + 1);
    refused(va + len - 7, mw->rkey, 8);
    refused(va - 1, mw->rkey, 1);
    refused(va - 1, mw->rkey, len);
    refused(va - 4, mw->rkey, len + 8);
    refused(GetParam().zero_based ? mem.addr() + off : 0, mw->rkey, 8);
}
INSTANTIATE_TEST_SUITE_P(Kinds, AccessEdges,
                         ::testing::Values(Kind{IBV_MW_TYPE_1, false}, Kind{IBV_MW_TYPE_1, true}, Kind{IBV_MW_TYPE_2, false},
                                           Kind{IBV_MW_TYPE_2, true}));

TEST_F(Access, A9_A10_RangesOfARegion) {
    const uint64_t s = mem.addr();
    granted(s, mem.mr->rkey, 0, 8192);
    granted(s + 8191, mem.mr->rkey, 8191, 1);
    refused(s + 8192, mem.mr->rkey, 8);
    refused(s + 8192 - 8, mem.mr->rkey, 9);
    refused(s - 8, mem.mr->rkey, 8);
    refused(s - 8, mem.mr->rkey, 16);
    refused(0, mem.mr->rkey, 8);
    refused(0xfffffffffffffc00ull, mem.mr->rkey, 0x400);
    refused(0xfffffffffffffff8ull, mem.mr->rkey, 16);
}

TEST_F(Access, A10_ARegionThatEndsAtTheEndOfAddresses) {
    const uint64_t iova = 0ull - 0x400;
    ibv_mr *top = ibv_reg_mr_iova(pd_, mem.p, 0x400, iova, rig::kAllAccess);
    ASSERT_NE(top, nullptr) << strerror(errno);
    granted(iova, top->rkey, 0, 0x400);
    granted(iova + 0x3ff, top->rkey, 0x3ff, 1);
    refused(iova + 8, top->rkey, 0x400);
    refused(iova - 1, top->rkey, 8);
    EXPECT_EQ(ibv_dereg_mr(top), 0);
}

TEST_F(Access, A12_T13_LengthZeroNeedsNoKey) {
    for (uint32_t key : {0u, mem.mr->rkey, mem.mr->rkey ^ 0x55u, ~0u}) {
        for (ibv_wr_opcode op : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
            ASSERT_EQ(post(peer, op, {0, 0, 0}, key * 3ull, key), 0);
            EXPECT_EQ(done(peer_cq), IBV_WC_SUCCESS) << op << " key " << key;
        }
    }
    EXPECT_TRUE(untouched());
    EXPECT_EQ(event(), -1);
}

TEST_F(Access, A19_A20_E3_QueuePairAndKeyMustBothGrant) {
    ibv_mw *both = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, both, mem.mr, mem.addr(), 64, kRead | kWrite)), IBV_WC_SUCCESS);
    for (unsigned rights : {0u, kRead, kWrite}) {
        link.rights = int(rights);
        reconnect();
        EXPECT_EQ(read(mem.addr(), both->rkey, 64), rights & kRead ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR) << rights;
        if (!(rights & kRead)) {
            ibv_qp *which = nullptr;
            EXPECT_EQ(event(&which), IBV_EVENT_QP_REQ_ERR);
            EXPECT_EQ(which, own);
            EXPECT_EQ(event(), -1);
            reconnect();
        }
        EXPECT_EQ(write(mem.addr(), both->rkey, 64), rights & kWrite ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR) << rights;
        if (!(rights & kWrite)) {
            EXPECT_EQ(event(), IBV_EVENT_QP_REQ_ERR);
            EXPECT_EQ(event(), -1);
            memcpy(mem.p, before.data(), mem.bytes);
        }
    }
}

TEST_F(Access, E1_OneEventAtTheResponderAndNoneAtTheRequester) {
    ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE, sge(buf, 0, 64), mem.addr(), mem.mr->rkey ^ 1), 0);
    ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE, sge(buf, 0, 64), mem.addr(), mem.mr->rkey ^ 1), 0);
    EXPECT_EQ(done(peer_cq), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(done(peer_cq), IBV_WC_WR_FLUSH_ERR);
    ibv_qp *which = nullptr;
    EXPECT_EQ(event(&which), IBV_EVENT_QP_ACCESS_ERR);
    EXPECT_EQ(which, own);
    EXPECT_EQ(event(), -1);
    EXPECT_TRUE(untouched());
}

TEST_F(Access, A26_ALongWriteThatEndsOneByteTooFarLeavesNoByte) {
    ibv_mw *mw = window(IBV_MW_TYPE_1);
    ASSERT_EQ(bound(bind1(own, mw, mem.mr, mem.addr() + 64, 5000, kRead | kWrite)), IBV_WC_SUCCESS);
    refused(mem.addr() + 64, mw->rkey, 5001); // five packets, of which only the last is out of range (H6)
    EXPECT_EQ(write(mem.addr() + 64, mw->rkey, 5000), IBV_WC_SUCCESS);
    EXPECT_EQ(memcmp(mem.p + 64, buf.p, 5000), 0);
    EXPECT_EQ(memcmp(mem.p, before.data(), 64), 0);
    EXPECT_EQ(memcmp(mem.p + 5064, before.data() + 5064, mem.bytes - 5064), 0);
}

TEST_F(Access, A22_O7_AWriteThatIsCutByAnInvalidateStopsBeforeItsCompletion) {
    unsigned cut = 0;
    for (unsigned wait = 0; wait <= 1500; wait += 300) {
        ibv_mw *mw = window(IBV_MW_TYPE_2);
        memset(mem.p, 0, mem.bytes);
        ASSERT_EQ(bound(bind2(own, mw, mw->rkey, mem.mr, mem.addr(), mem.bytes, kWrite)), IBV_WC_SUCCESS);
        ASSERT_EQ(post(peer, IBV_WR_RDMA_WRITE, sge(buf), mem.addr(), mw->rkey), 0);
        hca_->settle(wait);
        ASSERT_EQ(invalidate(own, mw->rkey), 0);
        ibv_wc wc = {};
        for (int i = 0; i < 100000 && ibv_poll_cq(cq_, 1, &wc) == 0; i++) hca_->settle(10);
        std::vector<uint8_t> at_completion(mem.p, mem.p + mem.bytes);
        const ibv_wc_status st = done(peer_cq);
        EXPECT_TRUE(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR) << wc.status;
        EXPECT_TRUE(st == IBV_WC_SUCCESS || st == IBV_WC_REM_ACCESS_ERR) << st;
        if (wc.status == IBV_WC_SUCCESS) {
            EXPECT_EQ(memcmp(mem.p, at_completion.data(), mem.bytes), 0) << "bytes landed after the invalidate's completion";
        }
        cut += st == IBV_WC_REM_ACCESS_ERR;
        reconnect();
    }
    EXPECT_GT(cut, 0u) << "no write was cut";
}

TEST_F(Access, A23_AReadThatIsCutByAnInvalidateIsRefusedOrWhole) {
    unsigned cut = 0;
    for (unsigned wait = 0; wait <= 1500; wait += 300) {
        ibv_mw *mw = window(IBV_MW_TYPE_2);
        memset(buf.p, 0, buf.bytes);
        ASSERT_EQ(bound(bind2(own, mw, mw->rkey, mem.mr, mem.addr(), mem.bytes, kRead)), IBV_WC_SUCCESS);
        ASSERT_EQ(post(peer, IBV_WR_RDMA_READ, sge(buf), mem.addr(), mw->rkey), 0);
        hca_->settle(wait);
        ASSERT_EQ(invalidate(own, mw->rkey), 0);
        const ibv_wc_status inv = done(cq_), st = done(peer_cq);
        EXPECT_TRUE(inv == IBV_WC_SUCCESS || inv == IBV_WC_WR_FLUSH_ERR) << inv;
        EXPECT_TRUE(st == IBV_WC_SUCCESS || st == IBV_WC_REM_ACCESS_ERR) << st;
        if (st == IBV_WC_SUCCESS) { EXPECT_EQ(memcmp(buf.p, mem.p, mem.bytes), 0); }
        cut += st == IBV_WC_REM_ACCESS_ERR;
        reconnect();
    }
    EXPECT_GT(cut, 0u) << "no read was cut";
}

}  // namespace
