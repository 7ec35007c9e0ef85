// SPDX-License-Identifier: Apache-2.0
// Opening and closing a device.
#include "core_test.h"

using namespace coretest;

namespace
{

TEST(CoreProbe, ProgramsTheDeviceAndLeavesNothingBehind)
{
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    cfg.tbl_delay = 0x1234500000 | 1 << 8 | 200;
    cfg.link_fault = 77;
    cfg.nak_delay = 99;
    cfg.guid = 0x0a0b0c0d0e0f1011;
    bdy_core *core = nullptr;
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0);
    EXPECT_EQ(pci.resets, 1u);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_BUS_MASTER_OFFSET], 1u);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_TBL_DELAY_OFFSET], cfg.tbl_delay);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_LINK_FAULT_OFFSET], 77u);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_NAK_DELAY_OFFSET], 99u);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_PORT_OFFSET], 0x21u | BDY_REG_BAR_PORT_UP_MASK);
    // fe80::GUID, ::ffff:10.0.0.33, memory order
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_GID_OFFSET], 0x80feu);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_GID_OFFSET + 8], 0x11100f0e0d0c0b0au);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_GID_OFFSET + 16], 0u);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_GID_OFFSET + 24], 0x2100000affff0000u);
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_GID_OFFSET + 32], 0u);
    EXPECT_EQ(pci.Model()->dev_state, BDY_DEV_ST_RUN);
    EXPECT_EQ(bdy_core_dead(core), 0);
    bdy_core_close(core);
    EXPECT_EQ(pci.Model()->dev_state, BDY_DEV_ST_READY) << "torn down";
    EXPECT_EQ(pci.bar_[BDY_REG_BAR_BUS_MASTER_OFFSET], 0u);
    EXPECT_EQ(pci.Held(), 0u);
    EXPECT_EQ(pci.Model()->fw.eq[0].used, false);
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0) << "and can be opened again";
    bdy_core_close(core);
}

TEST(CoreProbe, OnlyADeviceThatSawADriverIsResetFirst)
{
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    bdy_core *core = nullptr;
    pci.Pci()->ops->reset(pci.Pci()); // as the loading of its firmware leaves it
    pci.resets = 0;
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0);
    EXPECT_EQ(pci.resets, 0u);
    bdy_core_close(core);
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0) << "left in good order";
    EXPECT_EQ(pci.resets, 1u);
    bdy_core *crashed = core; // a driver that vanished
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0);
    EXPECT_EQ(pci.resets, 2u);
    bdy_core_close(core);
    bdy_core_close(crashed);
    EXPECT_EQ(pci.Held(), 0u);
}

TEST(CoreProbe, StrictModeReachesTheDevice)
{
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    cfg.strict_ibta = 1;
    bdy_core *core = nullptr;
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0);
    EXPECT_EQ(pci.Model()->strict, 1u);
    User u;
    ASSERT_EQ(u.Open(core), 0);
    bdy_u_device_attr attr{};
    ASSERT_EQ(u.Get(BDY_U_QUERY_DEVICE, &attr), 0);
    EXPECT_EQ(attr.strict_ibta, 1u);
    bdy_core_close(core);
}

TEST(CoreProbe, RefusesAnotherDeviceOrVersion)
{
    for (uint64_t flip : {uint64_t{1}, uint64_t{1} << 32, uint64_t{1} << 40}) {
        FakePci pci;
        bdy_core_cfg cfg = Cfg();
        bdy_core *core = nullptr;
        pci.bar_[BDY_REG_BAR_ID_OFFSET] ^= flip;
        EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -ENODEV);
        EXPECT_EQ(pci.Held(), 0u);
    }
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    bdy_core *core = nullptr;
    pci.bar_[BDY_REG_BAR_CAP_OFFSET] &= ~(uint64_t{0xffff} << 40); // no UAR pages
    EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -ENODEV);
}

TEST(CoreProbe, RefusesABadConfiguration)
{
    FakePci pci;
    bdy_core *core = nullptr;
    bdy_core_cfg cfg = Cfg();
    cfg.lid = 0;
    EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -EINVAL);
    cfg.lid = 0xc000;
    EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -EINVAL);
    cfg = Cfg();
    cfg.comp_vectors = 8;
    EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -EINVAL);
    cfg = Cfg();
    cfg.strict_ibta = 2;
    EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -EINVAL);
    EXPECT_EQ(pci.resets, 0u);
}

TEST(CoreProbe, EveryFailedAllocationUnwinds)
{
    bdy_core_cfg cfg = Cfg();
    for (int n = 1; n <= 5; n++) { // queue, two mailboxes, two event queues
        FakePci pci;
        bdy_core *core = nullptr;
        pci.dma_alloc_fails_after = n;
        EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -ENOMEM) << n;
        EXPECT_EQ(pci.Held(), 0u) << n;
    }
}

TEST(CoreProbe, SilentFirmwareEndsInBoundedTime)
{
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    cfg.cmd_cycles = 100000;
    bdy_core *core = nullptr;
    pci.hang = true;
    EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -EIO);
    EXPECT_LT(pci.now_, 120000u);
    EXPECT_EQ(pci.Held(), 0u);
}

TEST(CoreProbe, SevenCompletionVectors)
{
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    cfg.comp_vectors = 7;
    bdy_core *core = nullptr;
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0);
    User u;
    ASSERT_EQ(u.Open(core), 0);
    bdy_u_create_cq_out out{};
    EXPECT_EQ(u.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 4, 0, 6, 0}, &out), 0);
    EXPECT_EQ(bdy_cq_ctx_get_eqn(pci.Model()->cq[out.cqn]), 7u);
    EXPECT_EQ(u.Call(BDY_U_CREATE_CQ, bdy_u_create_cq_in{1, 4, 0, 7, 0}, &out), -EINVAL);
    bdy_core_close(core);
}

TEST(CoreProbe, TwoDevicesInOneProcessShareNothing)
{
    FakePci a(1), b(2);
    bdy_core_cfg cfg_a = Cfg(), cfg_b = Cfg();
    cfg_b.seed_lo = 99;
    bdy_core *core_a = nullptr, *core_b = nullptr;
    ASSERT_EQ(bdy_core_open(a.Pci(), &cfg_a, &core_a), 0);
    ASSERT_EQ(bdy_core_open(b.Pci(), &cfg_b, &core_b), 0);
    User ua, ub;
    ASSERT_EQ(ua.Open(core_a), 0);
    ASSERT_EQ(ub.Open(core_b), 0);
    EXPECT_NE(ua.info.device_id, ub.info.device_id);
    uint32_t pd_a = ua.Pd(), pd_b = ub.Pd();
    EXPECT_NE(ua.Mr(pd_a).key, ub.Mr(pd_b).key) << "other seed, other keys";
    uint32_t ops_b = b.Model()->nops;
    ua.Qp(pd_a, ua.Cq().handle);
    EXPECT_EQ(b.Model()->nops, ops_b);
    a.hang = true;
    bdy_core_close(core_a);
    EXPECT_EQ(a.Held(), 0u);
    ub.Mw(pd_b);
    bdy_core_close(core_b);
    EXPECT_EQ(b.Held(), 0u);
}

} // namespace
