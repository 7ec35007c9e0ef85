// SPDX-License-Identifier: Apache-2.0
// A core on a fake device, and the calls of a user context as a test writes them.
#ifndef CORE_TEST_H
#define CORE_TEST_H

#include "core.h"
#include "fake_pci.h"
extern "C" {
#include "verbs_abi.h"
}

namespace coretest
{

/** One user context. */
struct User {
    bdy_uctx *uctx = nullptr;
    bdy_u_open_out info{};
    std::vector<bdy_u_event> events;

    int Open(bdy_core *core)
    {
        bdy_u_open_in in{};
        in.abi = BDY_UCTX_ABI;
        return bdy_core_uctx_open(core, nullptr, OnEvent, this, &in, &info, &uctx);
    }

    void Close()
    {
        bdy_core_uctx_close(uctx);
        uctx = nullptr;
    }

    template <typename In, typename Out>
    int Call(uint32_t op, const In &in, Out *out, bdy_dma_buf *rings[2] = nullptr)
    {
        return bdy_core_call(uctx, op, &in, sizeof in, out, sizeof *out, rings);
    }

    template <typename In> int Do(uint32_t op, const In &in)
    {
        return bdy_core_call(uctx, op, &in, sizeof in, nullptr, 0, nullptr);
    }

    template <typename Out> int Get(uint32_t op, Out *out)
    {
        return bdy_core_call(uctx, op, nullptr, 0, out, sizeof *out, nullptr);
    }

    int Handle(uint32_t op, uint32_t handle)
    {
        return Do(op, bdy_u_handle{handle, 0});
    }

    uint32_t Pd()
    {
        bdy_u_handle out{};
        EXPECT_EQ(Get(BDY_U_ALLOC_PD, &out), 0);
        return out.handle;
    }

    static bdy_u_reg_mr_in MrIn(uint32_t pd, uint64_t va = 0x10000, uint64_t bytes = 4096,
                                uint32_t access = V_ACCESS_LOCAL_WRITE | V_ACCESS_MW_BIND)
    {
        return {va, bytes, va, pd, access};
    }

    bdy_u_key_out Mr(uint32_t pd, uint64_t va = 0x10000, uint64_t bytes = 4096)
    {
        bdy_u_key_out out{};
        EXPECT_EQ(Call(BDY_U_REG_MR, MrIn(pd, va, bytes), &out), 0);
        return out;
    }

    bdy_u_key_out Mw(uint32_t pd, uint32_t type = 1)
    {
        bdy_u_key_out out{};
        EXPECT_EQ(Call(BDY_U_ALLOC_MW, bdy_u_alloc_mw_in{pd, type}, &out), 0);
        return out;
    }

    uint32_t Channel()
    {
        bdy_u_handle out{};
        EXPECT_EQ(Get(BDY_U_CREATE_CHANNEL, &out), 0);
        return out.handle;
    }

    bdy_u_create_cq_out Cq(uint32_t cqe = 16, uint32_t channel = 0, uint64_t user_handle = 0xc0)
    {
        bdy_u_create_cq_out out{};
        bdy_u_create_cq_in in{user_handle, cqe, channel, 0, 0};
        EXPECT_EQ(Call(BDY_U_CREATE_CQ, in, &out), 0);
        return out;
    }

    static bdy_u_create_qp_in QpIn(uint32_t pd, uint32_t scq, uint32_t rcq)
    {
        bdy_u_create_qp_in in{};
        in.user_handle = 0x9d;
        in.pd = pd;
        in.scq = scq;
        in.rcq = rcq;
        in.qp_type = V_QPT_RC;
        in.max_send_wr = 16;
        in.max_recv_wr = 16;
        in.max_send_sge = 1;
        in.max_recv_sge = 1;
        return in;
    }

    bdy_u_create_qp_out Qp(uint32_t pd, uint32_t cq)
    {
        bdy_u_create_qp_out out{};
        EXPECT_EQ(Call(BDY_U_CREATE_QP, QpIn(pd, cq, cq), &out), 0);
        return out;
    }

    static bdy_u_create_srq_in SrqIn(uint32_t pd, uint32_t max_wr = 10)
    {
        bdy_u_create_srq_in in{};
        in.user_handle = 0x59;
        in.pd = pd;
        in.max_wr = max_wr;
        in.max_sge = 2;
        return in;
    }

    bdy_u_create_srq_out Srq(uint32_t pd)
    {
        bdy_u_create_srq_out out{};
        EXPECT_EQ(Call(BDY_U_CREATE_SRQ, SrqIn(pd), &out), 0);
        return out;
    }

    static bdy_u_create_ah_in AhIn(uint32_t pd)
    {
        bdy_u_create_ah_in in{};
        in.pd = pd;
        in.port_num = 1;
        in.dlid = 9;
        in.sl = 3;
        return in;
    }

    bdy_u_create_ah_out Ah(uint32_t pd)
    {
        bdy_u_create_ah_out out{};
        EXPECT_EQ(Call(BDY_U_CREATE_AH, AhIn(pd), &out), 0);
        return out;
    }

    /** A domain of the file (dev 1, `ino`); 0: of no file. */
    uint32_t Xrcd(uint64_t ino = 0)
    {
        bdy_u_handle out{};
        bdy_u_open_xrcd_in in{V_O_CREAT, ino != 0};
        EXPECT_EQ(
            ino ? bdy_core_open_xrcd(uctx, &in, 1, ino, &out) : Call(BDY_U_OPEN_XRCD, in, &out), 0);
        return out.handle;
    }

    bdy_u_create_qp_out XrcRecv(uint32_t xrcd, uint64_t user_handle = 0x9d)
    {
        bdy_u_create_qp_out out{};
        bdy_u_create_qp_in in{};
        in.user_handle = user_handle;
        in.qp_type = V_QPT_XRC_RECV;
        in.xrcd = xrcd;
        EXPECT_EQ(Call(BDY_U_CREATE_QP, in, &out), 0);
        return out;
    }

    static void OnEvent(void *arg, const bdy_u_event *event)
    {
        static_cast<User *>(arg)->events.push_back(*event);
    }
};

inline bdy_core_cfg Cfg()
{
    bdy_core_cfg cfg{};
    cfg.seed_lo = 11;
    cfg.seed_hi = 12;
    cfg.lid = 0x21;
    return cfg;
}

class Core : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        ASSERT_EQ(bdy_core_open(pci_.Pci(), &cfg_, &core_), 0);
        held_ = pci_.Held();
        ASSERT_EQ(user_.Open(core_), 0);
    }

    void TearDown() override
    {
        if (core_) {
            bdy_core_close(core_);
        }
        EXPECT_EQ(pci_.Held(), 0u) << "memory left behind";
    }

    mcu_model *Model()
    {
        return pci_.Model();
    }

    FakePci pci_;
    bdy_core_cfg cfg_ = Cfg();
    bdy_core *core_ = nullptr;
    User user_;
    size_t held_ = 0;
};

} // namespace coretest

#endif
