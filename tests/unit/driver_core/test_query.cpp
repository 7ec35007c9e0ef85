// SPDX-License-Identifier: Apache-2.0
#include "core_test.h"

using namespace coretest;

using CoreQuery = Core;

TEST_F(CoreQuery, V1_V2_CapabilitiesAreThoseThatWork)
{
    bdy_u_device_attr a{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &a), 0);
    EXPECT_EQ(a.device_cap_flags & (1u << 17 | 1u << 24), 1u << 17 | 1u << 24)
        << "windows of types 1 and 2B";
    EXPECT_NE(a.device_cap_flags & (1u << 21), 0u) << "LOCAL_INV and SEND_WITH_INV";
    EXPECT_NE(a.device_cap_flags & (1u << 20), 0u) << "XRC";
    EXPECT_EQ(a.device_cap_flags & (1u << 23), 0u) << "never 2A and 2B";
    EXPECT_EQ(a.atomic_cap, 1u) << "IBV_ATOMIC_HCA (H15)";
    EXPECT_STREQ(a.fw_ver, "0.1.0");
    EXPECT_EQ(a.hw_ver, 3u);
    EXPECT_NE(a.vendor_id, 0u);
    EXPECT_NE(a.node_guid, 0u);
    EXPECT_EQ(a.sys_image_guid, a.node_guid);
    EXPECT_EQ(a.phys_port_cnt, 1u);
    EXPECT_GE(a.max_pkeys, 1u);
}

TEST_F(CoreQuery, N3_LimitsReachTheContractsFloors)
{
    bdy_u_device_attr a{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &a), 0);
    EXPECT_EQ(a.max_qp, 224u);
    EXPECT_EQ(a.max_cq, 224u);
    EXPECT_EQ(a.max_pd, 896u);
    EXPECT_GE(a.max_qp_wr, 4096u);
    EXPECT_GE(a.max_cqe, 65535u);
    EXPECT_EQ(a.max_sge, 16u);
    EXPECT_EQ(a.max_qp_rd_atom, 16u);
    EXPECT_EQ(a.max_qp_init_rd_atom, 16u);
    EXPECT_EQ(a.max_mr, 3072u);
    EXPECT_EQ(a.max_mw, 4096u);
    EXPECT_EQ(a.max_srq, 224u);
    EXPECT_EQ(a.max_srq_wr, 4096u);
    EXPECT_EQ(a.max_srq_sge, 16u);
    EXPECT_EQ(a.max_ah, 224u);
    EXPECT_EQ(a.max_xrcd, 224u);
    EXPECT_GE(a.max_inline, 64u);
}

TEST_F(CoreQuery, ThePortIsActiveWithALidAndThreeGids)
{
    bdy_u_port_attr p{};
    bdy_u_device_attr d{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_PORT, &p), 0);
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &d), 0);
    EXPECT_EQ(p.state, 4u);
    EXPECT_EQ(p.active_mtu, 5u);
    EXPECT_EQ(p.lid, 0x21u);
    EXPECT_EQ(p.gid_tbl_len, 3u);
    EXPECT_EQ(p.link_layer, 1u);
    EXPECT_EQ(p.max_msg_sz, 1u << 31);
    EXPECT_EQ(p.gid[0][0], 0xfeu);
    EXPECT_EQ(p.gid[0][1], 0x80u);
    EXPECT_EQ(std::memcmp(&p.gid[0][8], &d.node_guid, 8), 0) << "GUID bytes in wire order";
    const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 0x21};
    EXPECT_EQ(std::memcmp(p.gid[1], mapped, 16), 0);
    const uint8_t empty[16] = {};
    EXPECT_EQ(std::memcmp(p.gid[2], empty, 16), 0);
}

TEST_F(CoreQuery, AnotherSeedGivesAnotherGuid)
{
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    cfg.seed_lo++;
    bdy_core *core = nullptr;
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0);
    User u;
    ASSERT_EQ(u.Open(core), 0);
    bdy_u_device_attr a{}, b{};
    ASSERT_EQ(user_.Get(BDY_U_QUERY_DEVICE, &a), 0);
    ASSERT_EQ(u.Get(BDY_U_QUERY_DEVICE, &b), 0);
    EXPECT_NE(a.node_guid, b.node_guid);
    bdy_core_close(core);
}

TEST_F(CoreQuery, OnEthernetThePortHasNoLidAndPathsAreGlobal)
{
    FakePci pci;
    bdy_core_cfg cfg = Cfg();
    cfg.eth = 1;
    bdy_core *core = nullptr;
    ASSERT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), 0);
    EXPECT_NE(pci.bar_[BDY_REG_BAR_PORT_OFFSET] & BDY_REG_BAR_PORT_ETH_MASK, 0u);
    User u;
    ASSERT_EQ(u.Open(core), 0);
    bdy_u_port_attr p{};
    ASSERT_EQ(u.Get(BDY_U_QUERY_PORT, &p), 0);
    EXPECT_EQ(p.link_layer, 2u);
    EXPECT_EQ(p.lid, 0u);
    EXPECT_EQ(p.sm_lid, 0u);
    auto in = User::AhIn(u.Pd());
    bdy_u_create_ah_out out{};
    EXPECT_EQ(u.Call(BDY_U_CREATE_AH, in, &out), -EINVAL);
    in.is_global = 1;
    EXPECT_EQ(u.Call(BDY_U_CREATE_AH, in, &out), 0);
    bdy_core_close(core);
    cfg.eth = 2;
    EXPECT_EQ(bdy_core_open(pci.Pci(), &cfg, &core), -EINVAL);
}
