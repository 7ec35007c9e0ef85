// SPDX-License-Identifier: Apache-2.0
// XRC domains, and targets that several contexts own (H18).
#include "core_test.h"

using namespace coretest;

namespace
{

class CoreXrc : public Core
{
  protected:
    void SetUp() override
    {
        Core::SetUp();
        ASSERT_EQ(other_.Open(core_), 0);
    }

    static int Open(User &u, uint32_t oflags, uint64_t dev, uint64_t ino,
                    uint32_t *handle = nullptr)
    {
        bdy_u_handle out{};
        bdy_u_open_xrcd_in in{oflags, 1};
        int rc = bdy_core_open_xrcd(u.uctx, &in, dev, ino, &out);
        if (handle) {
            *handle = out.handle;
        }
        return rc;
    }

    uint64_t DomainOf(uint32_t qpn)
    {
        return bdy_qp_ctx0_get_xrcd(Model()->qp[qpn - BDY_QPN_BASE]);
    }

    int OpenQp(User &u, uint32_t xrcd, uint32_t qpn, bdy_u_create_qp_out *out)
    {
        return u.Call(BDY_U_OPEN_QP, bdy_u_open_qp_in{0x0e, xrcd, qpn}, out);
    }

    User other_;
};

TEST_F(CoreXrc, H18_ADomainIsTheFileOfItsDescriptor)
{
    uint32_t a = 0, b = 0, c = 0, d = 0;
    EXPECT_EQ(Open(user_, 0, 1, 7), -EAGAIN) << "there is none yet";
    ASSERT_EQ(Open(user_, V_O_CREAT, 1, 7, &a), 0);
    EXPECT_EQ(Open(other_, V_O_CREAT | V_O_EXCL, 1, 7), -EINVAL);
    ASSERT_EQ(Open(other_, 0, 1, 7, &b), 0);
    ASSERT_EQ(Open(other_, V_O_CREAT, 2, 7, &c), 0);
    ASSERT_EQ(Open(other_, V_O_CREAT | V_O_EXCL, 1, 8, &d), 0);
    uint64_t domain = DomainOf(user_.XrcRecv(a).qpn);
    EXPECT_EQ(DomainOf(other_.XrcRecv(b).qpn), domain);
    EXPECT_NE(DomainOf(other_.XrcRecv(c).qpn), domain);
    EXPECT_NE(DomainOf(other_.XrcRecv(d).qpn), domain);
    EXPECT_NE(DomainOf(other_.XrcRecv(other_.Xrcd()).qpn), domain) << "of no file";
}

TEST_F(CoreXrc, H18_FlagsAndDescriptorsAreChecked)
{
    bdy_u_handle out{};
    EXPECT_EQ(Open(user_, V_O_EXCL, 1, 1), -EINVAL);
    EXPECT_EQ(Open(user_, 1, 1, 1), -EINVAL);
    EXPECT_EQ(user_.Call(BDY_U_OPEN_XRCD, bdy_u_open_xrcd_in{V_O_CREAT, 1}, &out), -EBADF);
    EXPECT_EQ(user_.Call(BDY_U_OPEN_XRCD, bdy_u_open_xrcd_in{4, 0}, &out), -EINVAL);
    bdy_u_open_xrcd_in in{V_O_CREAT, 0};
    EXPECT_EQ(bdy_core_open_xrcd(user_.uctx, &in, 1, 1, &out), -EINVAL);
}

TEST_F(CoreXrc, N2_BusyWhileThisContextUsesIt)
{
    uint32_t pd = user_.Pd(), cq = user_.Cq().handle, xrcd = user_.Xrcd(9);
    uint32_t same = other_.Xrcd(9);
    auto in = User::SrqIn(pd);
    in.type = V_SRQT_XRC;
    in.xrcd = xrcd;
    in.cq = cq;
    bdy_u_create_srq_out srq{};
    ASSERT_EQ(user_.Call(BDY_U_CREATE_SRQ, in, &srq), 0);
    const uint64_t *ctx = Model()->srq[srq.srqn - BDY_SRQN_BASE];
    EXPECT_EQ(bdy_srq_ctx_get_xrc(ctx), 1u);
    EXPECT_NE(bdy_srq_ctx_get_xrcd(ctx), 0u);
    EXPECT_EQ(user_.Handle(BDY_U_CLOSE_XRCD, xrcd), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_CQ, cq), -EBUSY);
    EXPECT_EQ(other_.Handle(BDY_U_CLOSE_XRCD, same), 0) << "the other does not use it";
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_SRQ, srq.handle), 0);
    auto qp = user_.XrcRecv(xrcd);
    EXPECT_EQ(user_.Handle(BDY_U_CLOSE_XRCD, xrcd), -EBUSY);
    EXPECT_EQ(user_.Handle(BDY_U_DESTROY_QP, qp.handle), 0);
    EXPECT_EQ(user_.Handle(BDY_U_CLOSE_XRCD, xrcd), 0);
    EXPECT_EQ(user_.Handle(BDY_U_CLOSE_XRCD, xrcd), -ENOENT);
    EXPECT_EQ(Open(user_, 0, 1, 9), -EAGAIN) << "gone with its last owner";
}

TEST_F(CoreXrc, H18_AnOrdinaryQueuePairCannotTakeAnXrcQueue)
{
    uint32_t pd = user_.Pd(), cq = user_.Cq().handle;
    auto in = User::SrqIn(pd);
    in.type = V_SRQT_XRC;
    in.xrcd = user_.Xrcd();
    in.cq = cq;
    bdy_u_create_srq_out srq{};
    ASSERT_EQ(user_.Call(BDY_U_CREATE_SRQ, in, &srq), 0);
    auto qp_in = User::QpIn(pd, cq, cq);
    qp_in.srq = srq.handle;
    bdy_u_create_qp_out qp{};
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, qp_in, &qp), -EINVAL);
}

TEST_F(CoreXrc, ATargetHasADomainAndNothingElse)
{
    uint32_t pd = user_.Pd(), cq = user_.Cq().handle, xrcd = user_.Xrcd();
    bdy_u_create_qp_in in{};
    bdy_u_create_qp_out out{};
    in.qp_type = V_QPT_XRC_RECV;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL);
    in.xrcd = xrcd;
    bdy_dma_buf *rings[2];
    ASSERT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out, rings), 0);
    EXPECT_EQ(rings[0], nullptr);
    EXPECT_EQ(rings[1], nullptr);
    EXPECT_EQ(out.max_send_wr | out.max_recv_wr | out.max_inline, 0u);
    in.pd = pd;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL);
    in.pd = 0;
    in.rcq = cq;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, in, &out), -EINVAL);
    auto send = User::QpIn(pd, cq, cq);
    send.xrcd = xrcd;
    EXPECT_EQ(user_.Call(BDY_U_CREATE_QP, send, &out), -EINVAL);
}

TEST_F(CoreXrc, ASecondOwnerKeepsATargetAliveAndIsToldOfItsEvents)
{
    uint32_t mine = user_.Xrcd(3), its = other_.Xrcd(3), foreign = other_.Xrcd(4);
    auto qp = user_.XrcRecv(mine);
    bdy_u_create_qp_out opened{};
    EXPECT_EQ(OpenQp(other_, foreign, qp.qpn, &opened), -EINVAL) << "another domain";
    EXPECT_EQ(OpenQp(other_, mine, qp.qpn, &opened), -EINVAL) << "another's handle";
    for (uint32_t bad : {0u, qp.qpn + 1, 0xffffffu, 0xffffffffu}) {
        EXPECT_EQ(OpenQp(other_, its, bad, &opened), -EINVAL);
    }
    auto ordinary = other_.Qp(other_.Pd(), other_.Cq().handle);
    EXPECT_EQ(OpenQp(other_, its, ordinary.qpn, &opened), -EINVAL);
    ASSERT_EQ(OpenQp(other_, its, qp.qpn, &opened), 0);
    EXPECT_EQ(opened.qpn, qp.qpn);
    pci_.Raise(0, BDY_EQE_KIND_QP_ACCESS_ERR, qp.qpn);
    pci_.Settle();
    ASSERT_EQ(user_.events.size(), 1u);
    ASSERT_EQ(other_.events.size(), 1u);
    EXPECT_EQ(other_.events[0].user_handle, 0x0eu);
    EXPECT_EQ(other_.Handle(BDY_U_CLOSE_XRCD, its), -EBUSY);

    bdy_u_qp_attr a{};
    a.handle = opened.handle;
    a.mask = V_ATTR_STATE | V_ATTR_PKEY_INDEX | V_ATTR_PORT | V_ATTR_ACCESS;
    a.qp_state = BDY_QP_ST_INIT;
    a.port_num = 1;
    user_.Close(); // the creator dies
    EXPECT_EQ(other_.Do(BDY_U_MODIFY_QP, a), 0) << "and the other goes on";
    uint32_t ops = Model()->nops;
    EXPECT_EQ(other_.Handle(BDY_U_DESTROY_QP, opened.handle), 0);
    EXPECT_EQ(mcu_model_op(Model(), ops), BDY_PROT_OP_QP_BUMP) << "the last owner ends it";
    EXPECT_EQ(other_.Handle(BDY_U_CLOSE_XRCD, its), 0);
    EXPECT_EQ(Open(other_, 0, 1, 3), -EAGAIN);
}

} // namespace
