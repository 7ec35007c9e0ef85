// SPDX-License-Identifier: Apache-2.0
// What the end-to-end tests stand on: an HCA in this process and the ordinary verbs calls on it.
//
// Each test gets a fresh HCA. Its memory latency and table delay are drawn from the test's name and BINDERY_TEST_SEED (printed), so that
// about half of the tests see late, reordered tables and half see slow memory; the verdicts must not depend on it.
#ifndef BINDERY_TESTS_VERBS_RIG_HPP
#define BINDERY_TESTS_VERBS_RIG_HPP

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bdy_regs.h"
#include "driver/verbs/bdy_verbs.h"
#include "sim/client/hooks.h"
#include "tests/shims/direct.h"

namespace rig {

inline uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

inline uint64_t test_seed() {
    const char *env = getenv("BINDERY_TEST_SEED");
    return env ? strtoull(env, nullptr, 0) : 1;
}

inline std::string firmware_path() {
    const char *build = getenv("BDY_BUILD_DIR");
    return std::string(build ? build : BDY_BUILD_DIR_DEFAULT) + "/firmware/bindery-fw.bin";
}

/// One HCA and its contexts.
class Hca {
  public:
    explicit Hca(bdy_direct_cfg cfg) : d_(bdy_direct_open(&cfg, firmware_path().c_str())) {}
    ~Hca() { close(); }
    Hca(const Hca &) = delete;

    bool ok() const { return d_ != nullptr; }
    bdy_direct *direct() { return d_; }
    /// A context as a process of its own would have; closed by the caller.
    ibv_context *open(bdy_transport **transport = nullptr) {
        bdy_transport *t = nullptr;
        int rc = bdy_direct_transport(d_, &t);
        if (rc) {
            errno = -rc;
            return nullptr;
        }
        if (transport) *transport = t;
        return bdy_verbs_open(t);
    }
    void settle(uint64_t cycles = 100000) { bdy_direct_settle(d_, cycles); }
    uint64_t now() {
        bdy_dev_status st;
        bdy_host_status(bdy_direct_host(d_), &st);
        return st.now;
    }
    void close() {
        if (!d_) return;
        bool failed = false;
        bdy_direct_close(d_, &failed);
        d_ = nullptr;
        EXPECT_FALSE(failed) << "lockstep difference";
    }

  private:
    bdy_direct *d_;
};

/// Memory registered with its owner's rights.
struct Region {
    std::vector<uint8_t> mem;
    uint8_t *p = nullptr;
    size_t bytes = 0;
    ibv_mr *mr = nullptr;
    uint64_t addr() const { return uint64_t(p); }
};

constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND;

class Verbs : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto *info = ::testing::UnitTest::GetInstance()->current_test_info();
        uint64_t h = test_seed();
        for (const char *s : {info->test_suite_name(), info->name()})
            for (; *s; s++) h = mix(h ^ uint8_t(*s));
        cfg_.seed = h;
        if (h >> 8 & 1) cfg_.table_delay = 200;
        cfg_.lat_min = 1;
        cfg_.lat_max = h >> 9 & 1 ? 200 : 1;
        configure();
        RecordProperty("seed", std::to_string(test_seed()));
        if (bdy_client_install_hooks()) FAIL() << "hooks";
        hca_ = std::make_unique<Hca>(cfg_);
        ASSERT_TRUE(hca_->ok());
        ctx_ = hca_->open();
        ASSERT_NE(ctx_, nullptr) << strerror(errno);
        pd_ = ibv_alloc_pd(ctx_);
        ASSERT_NE(pd_, nullptr);
        cq_ = ibv_create_cq(ctx_, 256, nullptr, nullptr, 0);
        ASSERT_NE(cq_, nullptr);
    }
    void TearDown() override {
        for (auto it = undo_.rbegin(); it != undo_.rend(); ++it) (*it)();
        undo_.clear();
        for (ibv_cq *cq : cqs_) EXPECT_EQ(ibv_destroy_cq(cq), 0);
        if (cq_) { EXPECT_EQ(ibv_destroy_cq(cq_), 0); }
        if (pd_) { EXPECT_EQ(ibv_dealloc_pd(pd_), 0) << "something still uses the protection domain"; }
        if (ctx_) { EXPECT_EQ(ibv_close_device(ctx_), 0); }
        if (HasFailure()) {
            printf("seed %llu: latency %u..%u, table delay %u; again: BINDERY_TEST_SEED=%llu\n", (unsigned long long)cfg_.seed,
                   cfg_.lat_min, cfg_.lat_max, cfg_.table_delay, (unsigned long long)test_seed());
        }
        hca_.reset();
    }
    /// A test that wants another HCA changes cfg_ here.
    virtual void configure() {}

    /// Objects made by these are destroyed at the end, in reverse, unless the test forgets them.
    ibv_pd *pd() {
        ibv_pd *p = ibv_alloc_pd(ctx_);
        EXPECT_NE(p, nullptr);
        undo_.push_back([p] { EXPECT_EQ(ibv_dealloc_pd(p), 0); });
        return p;
    }
    Region region(size_t bytes, int access = kAllAccess, ibv_pd *in = nullptr, size_t offset = 0) {
        Region r;
        r.bytes = bytes;
        auto mem = std::make_shared<std::vector<uint8_t>>(bytes + 8192);
        r.p = reinterpret_cast<uint8_t *>((uint64_t(mem->data()) + 4095) & ~4095ull) + offset;
        r.mr = ibv_reg_mr(in ? in : pd_, r.p, bytes, access);
        EXPECT_NE(r.mr, nullptr) << strerror(errno);
        ibv_mr *mr = r.mr;
        undo_.push_back([this, mr, mem] {
            if (!forgotten(mr)) { EXPECT_EQ(ibv_dereg_mr(mr), 0); }
        });
        return r;
    }
    ibv_mw *window(ibv_mw_type type, ibv_pd *in = nullptr) {
        ibv_mw *mw = ibv_alloc_mw(in ? in : pd_, type);
        EXPECT_NE(mw, nullptr) << strerror(errno);
        undo_.push_back([this, mw] {
            if (!forgotten(mw)) { EXPECT_EQ(ibv_dealloc_mw(mw), 0); }
        });
        return mw;
    }
    ibv_qp *qp(ibv_pd *in = nullptr, int sig_all = 0, ibv_cq *send_cq = nullptr, ibv_cq *recv_cq = nullptr, unsigned wr = 64) {
        ibv_qp_init_attr a = {};
        a.send_cq = send_cq ? send_cq : cq_;
        a.recv_cq = recv_cq ? recv_cq : cq_;
        a.cap.max_send_wr = a.cap.max_recv_wr = wr;
        a.cap.max_send_sge = a.cap.max_recv_sge = 4;
        a.qp_type = IBV_QPT_RC;
        a.sq_sig_all = sig_all;
        ibv_qp *q = ibv_create_qp(in ? in : pd_, &a);
        EXPECT_NE(q, nullptr) << strerror(errno);
        undo_.push_back([this, q] {
            if (!forgotten(q)) { EXPECT_EQ(ibv_destroy_qp(q), 0); }
        });
        return q;
    }
    ibv_cq *cq(int cqe = 256, ibv_comp_channel *channel = nullptr, void *context = nullptr) {
        ibv_cq *c = ibv_create_cq(ctx_, cqe, context, channel, 0);
        EXPECT_NE(c, nullptr) << strerror(errno);
        cqs_.push_back(c);
        return c;
    }
    /// The test destroys this object itself.
    void forget(void *object) { forgotten_.push_back(object); }

    struct Link {
        int rights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        ibv_mtu mtu = IBV_MTU_1024;
        uint8_t timeout = 14, retry = 7, rnr_retry = 7, min_rnr = 1, max_rd = 4, max_dest_rd = 4;
        uint32_t psn = 0x123456;
    };
    static int to_init(ibv_qp *q, int rights) {
        ibv_qp_attr a = {};
        a.qp_state = IBV_QPS_INIT;
        a.port_num = 1;
        a.qp_access_flags = rights;
        return ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    }
    static int to_rtr(ibv_qp *q, uint32_t peer, const Link &l) {
        ibv_qp_attr a = {};
        a.qp_state = IBV_QPS_RTR;
        a.path_mtu = l.mtu;
        a.dest_qp_num = peer;
        a.rq_psn = l.psn;
        a.max_dest_rd_atomic = l.max_dest_rd;
        a.min_rnr_timer = l.min_rnr;
        a.ah_attr.dlid = 1;
        a.ah_attr.port_num = 1;
        return ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    }
    static int to_rts(ibv_qp *q, const Link &l) {
        ibv_qp_attr a = {};
        a.qp_state = IBV_QPS_RTS;
        a.sq_psn = l.psn;
        a.timeout = l.timeout;
        a.retry_cnt = l.retry;
        a.rnr_retry = l.rnr_retry;
        a.max_rd_atomic = l.max_rd;
        return ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                        IBV_QP_MAX_QP_RD_ATOMIC);
    }
    static int to_state(ibv_qp *q, ibv_qp_state st) {
        ibv_qp_attr a = {};
        a.qp_state = st;
        return ibv_modify_qp(q, &a, IBV_QP_STATE);
    }
    static ibv_qp_state state(ibv_qp *q) {
        ibv_qp_attr a = {};
        ibv_qp_init_attr i = {};
        EXPECT_EQ(ibv_query_qp(q, &a, IBV_QP_STATE, &i), 0);
        return a.qp_state;
    }
    void connect(ibv_qp *a, ibv_qp *b, const Link &l) {
        ASSERT_EQ(to_init(a, l.rights), 0);
        ASSERT_EQ(to_init(b, l.rights), 0);
        ASSERT_EQ(to_rtr(a, b->qp_num, l), 0);
        ASSERT_EQ(to_rtr(b, a->qp_num, l), 0);
        ASSERT_EQ(to_rts(a, l), 0);
        ASSERT_EQ(to_rts(b, l), 0);
    }
    void connect(ibv_qp *a, ibv_qp *b) { connect(a, b, Link()); }

    /// The next completion; status -1 when none comes within `cycles` of simulated time, or nothing is left that could bring one.
    ibv_wc next(ibv_cq *cq, uint64_t cycles = 3000000) {
        ibv_wc wc = {};
        const uint64_t end = hca_->now() + cycles;
        for (bool over = false;;) {
            int n = ibv_poll_cq(cq, 1, &wc);
            if (n == 1) return wc;
            if (n < 0 || over) break;
            hca_->settle(200);
            over = idle() || hca_->now() >= end;
        }
        wc.status = ibv_wc_status(-1);
        return wc;
    }
    ibv_wc next() { return next(cq_); }
    /// Nothing is in flight and no timer is pending.
    bool idle() {
        bdy_dev_status st;
        bdy_host_status(bdy_direct_host(hca_->direct()), &st);
        return st.idle && st.next_timer == UINT64_MAX;
    }
    bool nothing(ibv_cq *cq) {
        hca_->settle(20000);
        ibv_wc wc;
        return ibv_poll_cq(cq, 1, &wc) == 0;
    }

    static ibv_sge sge(const Region &r, size_t off = 0, size_t len = SIZE_MAX) {
        return {r.addr() + off, uint32_t(len == SIZE_MAX ? r.bytes - off : len), r.mr->lkey};
    }
    static int post(ibv_qp *q, ibv_wr_opcode op, ibv_sge s, uint64_t remote, uint32_t rkey, unsigned flags = IBV_SEND_SIGNALED,
                    uint64_t id = 1) {
        ibv_send_wr wr = {}, *bad = nullptr;
        wr.wr_id = id;
        wr.sg_list = &s;
        wr.num_sge = s.length || s.addr ? 1 : 0;
        wr.opcode = op;
        wr.send_flags = flags;
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
        return ibv_post_send(q, &wr, &bad);
    }
    static int recv(ibv_qp *q, ibv_sge s, uint64_t id = 2) {
        ibv_recv_wr wr = {}, *bad = nullptr;
        wr.wr_id = id;
        wr.sg_list = &s;
        wr.num_sge = s.length || s.addr ? 1 : 0;
        return ibv_post_recv(q, &wr, &bad);
    }
    static int bind1(ibv_qp *q, ibv_mw *mw, ibv_mr *mr, uint64_t addr, uint64_t len, unsigned access,
                     unsigned flags = IBV_SEND_SIGNALED, uint64_t id = 3) {
        ibv_mw_bind b = {};
        b.wr_id = id;
        b.send_flags = flags;
        b.bind_info.mr = mr;
        b.bind_info.addr = addr;
        b.bind_info.length = len;
        b.bind_info.mw_access_flags = access;
        return ibv_bind_mw(q, mw, &b);
    }
    static int bind2(ibv_qp *q, ibv_mw *mw, uint32_t key, ibv_mr *mr, uint64_t addr, uint64_t len, unsigned access,
                     unsigned flags = IBV_SEND_SIGNALED, uint64_t id = 4) {
        ibv_send_wr wr = {}, *bad = nullptr;
        wr.wr_id = id;
        wr.opcode = IBV_WR_BIND_MW;
        wr.send_flags = flags;
        wr.bind_mw.mw = mw;
        wr.bind_mw.rkey = key;
        wr.bind_mw.bind_info.mr = mr;
        wr.bind_mw.bind_info.addr = addr;
        wr.bind_mw.bind_info.length = len;
        wr.bind_mw.bind_info.mw_access_flags = access;
        return ibv_post_send(q, &wr, &bad);
    }
    static int invalidate(ibv_qp *q, uint32_t rkey, unsigned flags = IBV_SEND_SIGNALED, uint64_t id = 5) {
        ibv_send_wr wr = {}, *bad = nullptr;
        wr.wr_id = id;
        wr.opcode = IBV_WR_LOCAL_INV;
        wr.send_flags = flags;
        wr.invalidate_rkey = rkey;
        return ibv_post_send(q, &wr, &bad);
    }

    bdy_direct_cfg cfg_ = {};
    std::unique_ptr<Hca> hca_;
    ibv_context *ctx_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_cq *cq_ = nullptr;

  private:
    bool forgotten(void *object) const {
        for (void *f : forgotten_)
            if (f == object) return true;
        return false;
    }
    std::vector<std::function<void()>> undo_;
    std::vector<void *> forgotten_;
    std::vector<ibv_cq *> cqs_;
};

/// Two connected queue pairs: `own` binds windows on its memory, `peer` comes in from outside.
class Pair : public Verbs {
  protected:
    void SetUp() override {
        Verbs::SetUp();
        if (HasFatalFailure()) return;
        peer_cq = cq();
        mem = region(8192);
        buf = region(8192);
        own = qp();
        peer = qp(nullptr, 0, peer_cq, peer_cq);
        connect(own, peer, link);
    }
    /// Both queue pairs fresh again, connected.
    void reconnect() {
        ASSERT_EQ(to_state(own, IBV_QPS_RESET), 0);
        ASSERT_EQ(to_state(peer, IBV_QPS_RESET), 0);
        connect(own, peer, link);
    }
    ibv_wc_status done(ibv_cq *cq) { return next(cq).status; }
    ibv_wc_status bound(int rc) { return rc ? ibv_wc_status(-2) : done(cq_); }
    ibv_wc_status write(uint64_t remote, uint32_t rkey, size_t len) {
        if (post(peer, IBV_WR_RDMA_WRITE, sge(buf, 0, len), remote, rkey)) return ibv_wc_status(-2);
        return done(peer_cq);
    }
    ibv_wc_status read(uint64_t remote, uint32_t rkey, size_t len) {
        if (post(peer, IBV_WR_RDMA_READ, sge(buf, 0, len), remote, rkey)) return ibv_wc_status(-2);
        return done(peer_cq);
    }

    Link link;
    Region mem, buf;
    ibv_qp *own = nullptr, *peer = nullptr;
    ibv_cq *peer_cq = nullptr;
};

}  // namespace rig

#endif
