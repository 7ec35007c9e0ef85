// SPDX-License-Identifier: Apache-2.0
// Re-registration on the RTL, by the control calls below libibverbs.
#include "rig.hpp"

namespace {

constexpr uint32_t kTranslation = 1, kAccess = 4; // ibv_rereg_mr_flags

class Rereg : public rig::Verbs {
  protected:
    void SetUp() override {
        rig::Verbs::SetUp();
        if (HasFatalFailure()) return;
        c_ = hca_->open(&transport_);
        ASSERT_NE(c_, nullptr);
        p_ = ibv_alloc_pd(c_);
        q_ = ibv_create_cq(c_, 64, nullptr, nullptr, 0);
        own_ = qp(p_, 0, q_, q_);
        peer_ = qp(p_, 0, q_, q_);
        forget(own_), forget(peer_);
        connect(own_, peer_);
        mr_ = {};
        mem_.assign(kBytes + 4096, 0);
        other_.assign(kBytes + 4096, 0);
        buf_.assign(kBytes, 0x5a);
        src_ = ibv_reg_mr(p_, buf_.data(), buf_.size(), IBV_ACCESS_LOCAL_WRITE);
        ibv_mr *m = ibv_reg_mr(p_, mem_.data(), kBytes, rig::kAllAccess);
        ASSERT_NE(m, nullptr);
        mr_ = *m;
        handle_ = m;
    }
    void TearDown() override {
        if (c_) {
            EXPECT_EQ(ibv_destroy_qp(own_), 0);
            EXPECT_EQ(ibv_destroy_qp(peer_), 0);
            EXPECT_EQ(ibv_dereg_mr(handle_), 0);
            EXPECT_EQ(ibv_dereg_mr(src_), 0);
            EXPECT_EQ(ibv_destroy_cq(q_), 0);
            EXPECT_EQ(ibv_dealloc_pd(p_), 0);
            EXPECT_EQ(ibv_close_device(c_), 0);
        }
        rig::Verbs::TearDown();
    }
    int rereg(uint32_t flags, void *va, uint64_t bytes, uint32_t access) {
        const bdy_u_rereg_mr_in in = {uint64_t(va), bytes, uint64_t(va), mr_.handle, flags, 0, access};
        bdy_u_key_out out = {};
        const int rc = transport_->ops->call(transport_, BDY_U_REREG_MR, &in, sizeof in, &out, sizeof out, nullptr, 0, nullptr);
        if (!rc) key_ = out.key;
        return rc;
    }
    ibv_wc_status write(const void *to, uint32_t key, size_t len) {
        ibv_sge s = {uint64_t(buf_.data()), uint32_t(len), src_->lkey};
        EXPECT_EQ(post(peer_, IBV_WR_RDMA_WRITE, s, uint64_t(to), key), 0);
        const ibv_wc wc = next(q_);
        if (wc.status != IBV_WC_SUCCESS) {
            next(q_, 20000);
            EXPECT_EQ(to_state(own_, IBV_QPS_RESET), 0);
            EXPECT_EQ(to_state(peer_, IBV_QPS_RESET), 0);
            connect(own_, peer_);
        }
        return wc.status;
    }

    static constexpr size_t kBytes = 64 * 4096 + 123;
    bdy_transport *transport_ = nullptr;
    ibv_context *c_ = nullptr;
    ibv_pd *p_ = nullptr;
    ibv_cq *q_ = nullptr;
    ibv_qp *own_ = nullptr, *peer_ = nullptr;
    ibv_mr *handle_ = nullptr, *src_ = nullptr, mr_ = {};
    uint32_t key_ = 0;
    std::vector<uint8_t> mem_, other_, buf_;
};

TEST_F(Rereg, M7_RightsChangeAndTheOldKeyIsDead) {
    ASSERT_EQ(write(mem_.data() + 5, mr_.rkey, 5000), IBV_WC_SUCCESS);
    ASSERT_EQ(rereg(kAccess, nullptr, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ), 0);
    EXPECT_NE(key_, mr_.rkey);
    EXPECT_EQ(write(mem_.data(), mr_.rkey, 100), IBV_WC_REM_ACCESS_ERR) << "the old key";
    EXPECT_EQ(write(mem_.data(), key_, 100), IBV_WC_REM_ACCESS_ERR) << "without the right";
    ASSERT_EQ(rereg(kAccess, nullptr, 0, rig::kAllAccess), 0);
    memset(mem_.data(), 0, kBytes);
    EXPECT_EQ(write(mem_.data() + 4000, key_, 90000), IBV_WC_SUCCESS);
    EXPECT_EQ(memcmp(mem_.data() + 4000, buf_.data(), 90000), 0);
    EXPECT_EQ(mem_[3999] | mem_[94000], 0);
}

TEST_F(Rereg, M7_OtherMemoryTakesThePlaceOfTheFirst) {
    for (size_t bytes : {kBytes, size_t(100), size_t(5 * 4096), kBytes}) {
        SCOPED_TRACE(bytes);
        memset(other_.data(), 0, other_.size());
        ASSERT_EQ(rereg(kTranslation, other_.data() + 7, bytes, 0), 0);
        EXPECT_EQ(write(mem_.data(), key_, 10), IBV_WC_REM_ACCESS_ERR);
        EXPECT_EQ(write(other_.data() + 7, key_, bytes), IBV_WC_SUCCESS);
        EXPECT_EQ(memcmp(other_.data() + 7, buf_.data(), bytes), 0);
        EXPECT_EQ(other_[6] | other_[7 + bytes], 0);
        EXPECT_EQ(write(other_.data() + 8, key_, bytes), IBV_WC_REM_ACCESS_ERR);
    }
}

TEST_F(Rereg, L10_WithABoundWindowItIsBusyAndBothGoOn) {
    ibv_mw *mw = ibv_alloc_mw(p_, IBV_MW_TYPE_1);
    ASSERT_EQ(bind1(own_, mw, handle_, uint64_t(mem_.data()), 4096, IBV_ACCESS_REMOTE_WRITE), 0);
    ASSERT_EQ(next(q_).status, IBV_WC_SUCCESS);
    for (uint32_t flags : {kTranslation, kAccess, kTranslation | kAccess}) {
        EXPECT_EQ(rereg(flags, other_.data(), kBytes, IBV_ACCESS_LOCAL_WRITE), -EBUSY);
    }
    EXPECT_EQ(write(mem_.data(), mw->rkey, 4096), IBV_WC_SUCCESS);
    EXPECT_EQ(write(mem_.data(), mr_.rkey, 4096), IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_dealloc_mw(mw), 0);
    EXPECT_EQ(rereg(kTranslation, other_.data(), kBytes, 0), 0);
    EXPECT_EQ(write(other_.data(), key_, kBytes), IBV_WC_SUCCESS);
}

}  // namespace
