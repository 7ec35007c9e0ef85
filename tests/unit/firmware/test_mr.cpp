// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "fw_test.h"

using namespace fwtest;

namespace
{

class FwMr : public Running
{
  protected:
    void SetUp() override
    {
        Running::SetUp();
        pd_ = Pd();
    }

    Cmd Create(const std::vector<uint64_t> &in, uint32_t uctx = 1)
    {
        return {BDY_CMD_OP_CREATE_MR, 0, 0, in, 0, uctx};
    }

    const uint64_t *Mpt(uint32_t key) const
    {
        return m_->mpt[key >> 12];
    }

    /** The model's table says page i of the region. */
    void ExpectPages(uint32_t key, uint32_t npages)
    {
        uint64_t root = bdy_mpt_entry_get_base(Mpt(key));
        for (uint32_t i = 0; i < npages; i++) {
            const uint64_t *t = m_->mtt[root + i];
            ASSERT_EQ(bdy_mtt_entry_get_addr(t), Page(i));
            ASSERT_EQ(bdy_mtt_entry_get_owner(t), key >> 12);
            ASSERT_EQ(bdy_mtt_entry_get_nonce(t), key >> 8 & 15);
            ASSERT_EQ(bdy_mtt_entry_get_valid(t), 1u);
        }
    }

    void ExpectNothingLeft()
    {
        EXPECT_EQ(m_->fw.keys_used, 0u);
        EXPECT_EQ(fw_mtt_alloc(&m_->fw, FW_MTTS), 0u);
        fw_mtt_free(&m_->fw, 0, FW_MTTS);
        Ok({BDY_CMD_OP_DEALLOC_PD, pd_});
    }

    uint32_t pd_ = 0;
};

TEST_F(FwMr, ADirectRegionOpensAtOnce)
{
    uint32_t key = static_cast<uint32_t>(Ok(Create(DirectMr(pd_))));
    const uint64_t *e = Mpt(key);
    EXPECT_EQ(bdy_mpt_entry_get_st(e), BDY_MPT_ST_VALID);
    EXPECT_EQ(bdy_mpt_entry_get_kind(e), BDY_MPT_KIND_MR);
    EXPECT_EQ(bdy_mpt_entry_get_direct(e), 1u);
    EXPECT_EQ(bdy_mpt_entry_get_pd(e), pd_);
    EXPECT_EQ(bdy_mpt_entry_get_start(e), 0x10000u);
    EXPECT_EQ(bdy_mpt_entry_get_len(e), 0x2000u);
    EXPECT_EQ(bdy_mpt_entry_get_base(e), 0x7000000u);
    EXPECT_EQ(bdy_mpt_entry_get_rights(e), BDY_ACCESS_BIT_LOCAL_WRITE | BDY_ACCESS_BIT_MW_BIND);
    EXPECT_EQ(bdy_mpt_entry_get_zero_based(e), 0u);
    EXPECT_EQ(bdy_mpt_entry_get_key(e), key & 255);
    EXPECT_EQ(bdy_mpt_entry_get_nonce(e), key >> 8 & 15);
}

TEST_F(FwMr, APagedRegionIsReservedFilledAndOpened)
{
    uint32_t ops = m_->nops;
    uint32_t key = static_cast<uint32_t>(Ok(Create(PagedMr(pd_, 3, 3))));
    EXPECT_EQ(Ops(ops), (std::vector<unsigned>{BDY_PROT_OP_MR_OPEN, BDY_PROT_OP_MTT_WRITE,
                                               BDY_PROT_OP_MTT_WRITE, BDY_PROT_OP_MTT_WRITE,
                                               BDY_PROT_OP_MR_OPEN}));
    EXPECT_EQ(bdy_mpt_entry_get_st(m_->ops[ops] + 8), BDY_MPT_ST_FREE);
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(key)), BDY_MPT_ST_VALID);
    EXPECT_EQ(bdy_mpt_entry_get_npages(Mpt(key)), 3u);
    EXPECT_EQ(bdy_mpt_entry_get_log_ps(Mpt(key)), 12u);
    ExpectPages(key, 3);
}

TEST_F(FwMr, PagesMayComeInSeveralMailboxes)
{
    const uint32_t n = 504 + 510 + 7;
    uint32_t key = static_cast<uint32_t>(Ok(Create(PagedMr(pd_, n, 504))));
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(key)), BDY_MPT_ST_FREE);
    Refused({BDY_CMD_OP_OPEN_MR, key, 0, {}, 0, 1}, BDY_CMD_ST_BAD_STATE);
    Ok({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 504, 510), 0, 1});
    Ok({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 1014, 7), 0, 1});
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(key)), BDY_MPT_ST_FREE) << "opens only when told";
    Ok({BDY_CMD_OP_OPEN_MR, key, 0, {}, 0, 1});
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(key)), BDY_MPT_ST_VALID);
    ExpectPages(key, n);
    Refused({BDY_CMD_OP_OPEN_MR, key, 0, {}, 0, 1}, BDY_CMD_ST_BAD_STATE);
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 0, 1), 0, 1}, BDY_CMD_ST_BAD_STATE);
    Ok({BDY_CMD_OP_DESTROY_MR, key, 0, {}, 0, 1});
    ExpectNothingLeft();
}

TEST_F(FwMr, WriteMttWantsPagesInOrderAndInside)
{
    uint32_t key = static_cast<uint32_t>(Ok(Create(PagedMr(pd_, 8, 2))));
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 3, 1), 0, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 1, 1), 0, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 2, 7), 0, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 2, 2), 0, 2}, BDY_CMD_ST_NOT_OWNER);
    auto in = Pages(key, 2, 2);
    in[1] |= uint64_t{1} << 60;
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    in = Pages(key, 2, 2);
    in[3] |= 0x800;
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    in = Pages(key, 2, 2);
    bdy_write_mtt_in_set_count(in.data(), 3);
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, in, 0, 1}, BDY_CMD_ST_BAD_SIZE);
    Refused({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key ^ 1, 2, 2), 0, 1}, BDY_CMD_ST_BAD_INDEX);
    Ok({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 2, 6), 0, 1});
}

TEST_F(FwMr, AnUnfinishedRegionCanBeDestroyed)
{
    for (int i = 0; i < 100; i++) { // more often than there is room for unfinished ones
        uint32_t key = static_cast<uint32_t>(Ok(Create(PagedMr(pd_, 100, 10))));
        Ok({BDY_CMD_OP_DESTROY_MR, key, 0, {}, 0, 1});
    }
    ExpectNothingLeft();
}

TEST_F(FwMr, TooManyUnfinishedRegionsAreRefused)
{
    for (uint32_t i = 0; i < FW_BUILDS; i++) {
        Ok(Create(PagedMr(pd_, 10, 1)));
    }
    Refused(Create(PagedMr(pd_, 10, 1)), BDY_CMD_ST_NO_RESOURCE);
    Ok(Create(DirectMr(pd_)));
}

TEST_F(FwMr, M3_AnEmptyRegionRegisters)
{
    uint32_t key = static_cast<uint32_t>(Ok(Create(DirectMr(pd_, 0x1234, 0))));
    EXPECT_EQ(bdy_mpt_entry_get_len(Mpt(key)), 0u);
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(key)), BDY_MPT_ST_VALID);
    Ok(Create(DirectMr(pd_, ~uint64_t{0}, 0))); // decision 10: always
    Ok({BDY_CMD_OP_DESTROY_MR, key, 0, {}, 0, 1});
}

TEST_F(FwMr, M5_ARangeMayEndAt2To64ButNotWrap)
{
    Ok(Create(DirectMr(pd_, ~uint64_t{0} - 0x1fff, 0x2000)));
    Refused(Create(DirectMr(pd_, ~uint64_t{0} - 0x1ffe, 0x2000)), BDY_CMD_ST_BAD_PARAM);
    Refused(Create(DirectMr(pd_, ~uint64_t{0}, 2)), BDY_CMD_ST_BAD_PARAM);
    Ok(Create(DirectMr(pd_, ~uint64_t{0}, 1)));
    auto in = DirectMr(pd_);
    bdy_create_mr_in_set_base(in.data(), ~uint64_t{0} - 0xfff);
    Refused(Create(in), BDY_CMD_ST_BAD_PARAM); // bus range wraps
}

TEST_F(FwMr, M1_RemoteWriteAndAtomicNeedLocalWrite)
{
    auto in = DirectMr(pd_);
    for (uint32_t rights = 0; rights < 256; rights++) {
        bool writes = rights & (BDY_ACCESS_BIT_REMOTE_WRITE | BDY_ACCESS_BIT_REMOTE_ATOMIC);
        bool good = rights < 0x40 && (!writes || rights & BDY_ACCESS_BIT_LOCAL_WRITE);
        bdy_create_mr_in_set_rights(in.data(), rights);
        bdy_create_mr_in_set_start(in.data(), rights & BDY_ACCESS_BIT_ZERO_BASED ? 0 : 0x10000);
        if (good) {
            uint32_t key = static_cast<uint32_t>(Ok(Create(in)));
            EXPECT_EQ(bdy_mpt_entry_get_rights(Mpt(key)), rights & 0x1f);
            EXPECT_EQ(bdy_mpt_entry_get_zero_based(Mpt(key)), rights >> 5);
        } else {
            Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
        }
    }
}

TEST_F(FwMr, BadFieldsAreRefused)
{
    using Change = std::function<void(uint64_t *)>;
    const std::vector<Change> direct = {
        [](uint64_t *w) { bdy_create_mr_in_set_npages(w, 1); },
        [](uint64_t *w) { bdy_create_mr_in_set_log_ps(w, 12); },
        [](uint64_t *w) { bdy_create_mr_in_set_len(w, (uint64_t{1} << 28) + 1); },
        [](uint64_t *w) { bdy_create_mr_in_set_list_off(w, ~uint64_t{0}); },
        [](uint64_t *w) { w[7] = 1; },
        [](uint64_t *w) { w[0] |= uint64_t{1} << 34; },
        [](uint64_t *w) { bdy_create_mr_in_set_null_mr(w, 1); },
        [](uint64_t *w) { w[1] |= uint64_t{1} << 50; },
        [](uint64_t *w) { // zero-based, but not from zero
            bdy_create_mr_in_set_rights(w, BDY_ACCESS_BIT_ZERO_BASED);
        },
        [](uint64_t *w) { // empty, but somewhere
            bdy_create_mr_in_set_len(w, 0);
        },
    };
    for (size_t i = 0; i < direct.size(); i++) {
        auto in = DirectMr(pd_);
        direct[i](in.data());
        SCOPED_TRACE(i);
        Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
    }
    const std::vector<Change> paged = {
        [](uint64_t *w) { bdy_create_mr_in_set_log_ps(w, 11); },
        [](uint64_t *w) { bdy_create_mr_in_set_log_ps(w, 31); },
        [](uint64_t *w) { bdy_create_mr_in_set_npages(w, 5); },
        [](uint64_t *w) { bdy_create_mr_in_set_npages(w, 3); },
        [](uint64_t *w) { bdy_create_mr_in_set_list_off(w, 1); },
        [](uint64_t *w) { bdy_create_mr_in_set_list_off(w, 4096); },
        [](uint64_t *w) { // a first page that is not touched
            bdy_create_mr_in_set_list_off(w, 4096), bdy_create_mr_in_set_npages(w, 5);
        },
        [](uint64_t *w) { bdy_create_mr_in_set_len(w, 0); },
        [](uint64_t *w) { bdy_create_mr_in_set_base(w, 4096); },
        [](uint64_t *w) { bdy_create_mr_in_set_log_ps(w, 13), bdy_create_mr_in_set_npages(w, 2); },
        [](uint64_t *w) { w[9] |= 0x10; }, // second page off its line
    };
    for (size_t i = 0; i < paged.size(); i++) {
        auto in = PagedMr(pd_, 4, 2);
        paged[i](in.data());
        SCOPED_TRACE(i);
        Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
    }
    auto in = PagedMr(pd_, 4, 2);
    bdy_create_mr_in_set_inline_pages(in.data(), 3);
    Refused(Create(in), BDY_CMD_ST_BAD_SIZE);
    Refused(Create(PagedMr(pd_, 2, 3)), BDY_CMD_ST_BAD_PARAM); // more given than there are
    ExpectNothingLeft();
}

TEST_F(FwMr, ANullRegionNamesEveryAddressForLocalUseOnly)
{
    std::vector<uint64_t> in(BDY_CREATE_MR_IN_WORDS);
    bdy_create_mr_in_set_pd(in.data(), pd_);
    bdy_create_mr_in_set_null_mr(in.data(), 1);
    bdy_create_mr_in_set_rights(in.data(), BDY_ACCESS_BIT_LOCAL_WRITE);
    bdy_create_mr_in_set_len(in.data(), ~uint64_t{0});
    const std::vector<std::function<void(uint64_t *)>> bad = {
        [](uint64_t *w) { bdy_create_mr_in_set_direct(w, 1); },
        [](uint64_t *w) { bdy_create_mr_in_set_rights(w, 0); },
        [](uint64_t *w) {
            bdy_create_mr_in_set_rights(w, BDY_ACCESS_BIT_LOCAL_WRITE | BDY_ACCESS_BIT_REMOTE_READ);
        },
        [](uint64_t *w) { bdy_create_mr_in_set_start(w, 1); },
        [](uint64_t *w) { bdy_create_mr_in_set_len(w, 4096); },
        [](uint64_t *w) { bdy_create_mr_in_set_base(w, 4096); },
        [](uint64_t *w) { bdy_create_mr_in_set_list_off(w, 1); },
        [](uint64_t *w) { bdy_create_mr_in_set_npages(w, 1); },
        [](uint64_t *w) { bdy_create_mr_in_set_log_ps(w, 12); },
    };
    for (size_t i = 0; i < bad.size(); i++) {
        auto changed = in;
        bad[i](changed.data());
        SCOPED_TRACE(i);
        Refused(Create(changed), BDY_CMD_ST_BAD_PARAM);
    }
    uint32_t key = static_cast<uint32_t>(Ok(Create(in)));
    const uint64_t *e = Mpt(key);
    EXPECT_EQ(bdy_mpt_entry_get_st(e), BDY_MPT_ST_VALID);
    EXPECT_EQ(bdy_mpt_entry_get_null_mr(e), 1u);
    EXPECT_EQ(bdy_mpt_entry_get_direct(e), 1u);
    EXPECT_EQ(bdy_mpt_entry_get_len(e), ~uint64_t{0});
    Ok({BDY_CMD_OP_DESTROY_MR, key});
    ExpectNothingLeft();
}

TEST_F(FwMr, ListOffsetsCountTowardsThePages)
{
    auto in = PagedMr(pd_, 4, 4);
    bdy_create_mr_in_set_list_off(in.data(), 4095);
    bdy_create_mr_in_set_len(in.data(), 4096 * 3 + 1);
    Ok(Create(in));
    bdy_create_mr_in_set_len(in.data(), 4096 * 3 + 2);
    Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
    bdy_create_mr_in_set_len(in.data(), 4096 * 2 + 1);
    Refused(Create(in), BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwMr, N1_UnknownFreedForeignAndWindowKeysAreRefused)
{
    uint32_t mr = Mr(pd_), mw = Mw(pd_);
    for (uint32_t op : {BDY_CMD_OP_DESTROY_MR, BDY_CMD_OP_OPEN_MR}) {
        Refused({op, mw, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, mr ^ 1, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, mr ^ 0x100, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, uint64_t{1} << 40 | mr, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
        Refused({op, mr, 0, {}, 0, 2}, BDY_CMD_ST_NOT_OWNER);
    }
    Refused(Create(DirectMr(pd_ + 1)), BDY_CMD_ST_BAD_INDEX);
    Refused(Create(DirectMr(pd_), 2), BDY_CMD_ST_NOT_OWNER);
    Ok({BDY_CMD_OP_DESTROY_MR, mr, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DESTROY_MR, mr, 0, {}, 0, 1}, BDY_CMD_ST_BAD_INDEX);
}

TEST_F(FwMr, L3_BusyWhileWindowsAreBound)
{
    uint32_t mr = Mr(pd_), mw = Mw(pd_);
    mcu_model_bind(m_, mw, mr);
    EXPECT_EQ(Run({BDY_CMD_OP_DESTROY_MR, mr, 0, {}, 0, 1}).status, BDY_CMD_ST_BUSY);
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(mr)), BDY_MPT_ST_VALID) << "the region works on";
    Ok({BDY_CMD_OP_DEALLOC_MW, mw, 0, {}, 0, 1});
    Ok({BDY_CMD_OP_DESTROY_MR, mr, 0, {}, 0, 1});
    ExpectNothingLeft();
}

TEST_F(FwMr, N4_ARefusalAtAnyStepLeavesNothingBehind)
{
    for (unsigned step = 1; step <= 5; step++) { // reserve, three pages, open
        m_->refuse_after = step;
        m_->refuse_rule = BDY_RULE_H2;
        Result r = Run(Create(PagedMr(pd_, 3, 3)));
        EXPECT_EQ(r.status, BDY_CMD_ST_REFUSED) << step;
        EXPECT_EQ(r.rule, BDY_RULE_H2);
        EXPECT_EQ(m_->fw.keys_used, 0u);
    }
    m_->rd_fail_after = 1;
    EXPECT_EQ(Run(Create(PagedMr(pd_, 3, 3))).status, BDY_CMD_ST_INTERNAL);
    for (uint32_t i = 0; i < FW_KEYS; i++) {
        ASSERT_EQ(bdy_mpt_entry_get_kind(m_->mpt[i]), BDY_MPT_KIND_NONE);
    }
    ExpectNothingLeft();
}

TEST_F(FwMr, TheTranslationTableRunsOutCleanly)
{
    uint32_t key = static_cast<uint32_t>(Ok(Create(PagedMr(pd_, FW_MTTS, 1))));
    Refused(Create(PagedMr(pd_, 1, 1)), BDY_CMD_ST_NO_RESOURCE);
    Refused(Create(PagedMr(pd_, FW_MTTS + 1, 1)), BDY_CMD_ST_BAD_PARAM);
    Ok({BDY_CMD_OP_DESTROY_MR, key, 0, {}, 0, 1});
    ExpectNothingLeft();
}

TEST_F(FwMr, N7_AFullTableCanBeMadeAgainAndAgain)
{
    for (int round = 0; round < 2; round++) {
        std::vector<uint32_t> keys;
        for (uint32_t i = 0; i < FW_KEYS; i++) {
            keys.push_back(static_cast<uint32_t>(Ok(Create(PagedMr(pd_, 8, 8)))));
        }
        Refused(Create(DirectMr(pd_)), BDY_CMD_ST_NO_RESOURCE);
        for (uint32_t key : keys) {
            Ok({BDY_CMD_OP_DESTROY_MR, key, 0, {}, 0, 1});
        }
    }
    ExpectNothingLeft();
}

class FwRereg : public FwMr
{
  protected:
    static Cmd Rereg(uint32_t key, const std::vector<uint64_t> &create, uint32_t uctx = 1)
    {
        std::vector<uint64_t> in(BDY_REREG_MR_IN_WORDS);
        bdy_rereg_mr_in_set_key(in.data(), key);
        in.insert(in.end(), create.begin(), create.end());
        return {BDY_CMD_OP_REREG_MR, 0, 0, in, 0, uctx};
    }

    static uint32_t Next(uint32_t key)
    {
        return (key & ~0xffu) | ((key + 1) & 0xffu);
    }

    uint32_t Paged(uint32_t n)
    {
        return static_cast<uint32_t>(Ok(Create(PagedMr(pd_, n, n))));
    }
};

TEST_F(FwRereg, M7_RightsAndPdOfADirectRegionChangeInOneStep)
{
    uint32_t key = Mr(pd_), pd2 = Pd();
    auto want = DirectMr(pd2);
    bdy_create_mr_in_set_rights(want.data(), BDY_ACCESS_BIT_REMOTE_READ);
    uint32_t ops = m_->nops;
    uint32_t key2 = static_cast<uint32_t>(Ok(Rereg(key, want)));
    EXPECT_EQ(key2, Next(key));
    EXPECT_EQ(Ops(ops), (std::vector<unsigned>{BDY_PROT_OP_MR_REPLACE}));
    EXPECT_EQ(bdy_mpt_entry_get_rights(Mpt(key2)), BDY_ACCESS_BIT_REMOTE_READ);
    EXPECT_EQ(bdy_mpt_entry_get_pd(Mpt(key2)), pd2);
    EXPECT_EQ(bdy_mpt_entry_get_key(Mpt(key2)), key2 & 0xff);
    Refused({BDY_CMD_OP_DESTROY_MR, key}, BDY_CMD_ST_BAD_INDEX);
    Ok({BDY_CMD_OP_DEALLOC_PD, pd_, 0, {}, 0, 1});
    Refused({BDY_CMD_OP_DEALLOC_PD, pd2, 0, {}, 0, 1}, BDY_CMD_ST_BUSY);
    Ok({BDY_CMD_OP_DESTROY_MR, key2});
    Ok({BDY_CMD_OP_DEALLOC_PD, pd2, 0, {}, 0, 1});
}

TEST_F(FwRereg, M7_APagedRegionKeepsItsListWhenNoPageIsGiven)
{
    uint32_t key = Paged(5), root = static_cast<uint32_t>(bdy_mpt_entry_get_base(Mpt(key)));
    auto want = PagedMr(pd_, 5, 0);
    bdy_create_mr_in_set_rights(want.data(), BDY_ACCESS_BIT_REMOTE_READ);
    uint32_t ops = m_->nops;
    for (int i = 0; i < 300; i++) { // the low byte wraps
        uint32_t next = static_cast<uint32_t>(Ok(Rereg(key, want)));
        ASSERT_EQ(next, Next(key));
        key = next;
    }
    EXPECT_EQ(mcu_model_op(m_, ops), BDY_PROT_OP_MR_REPLACE);
    EXPECT_EQ(bdy_mpt_entry_get_base(Mpt(key)), root);
    EXPECT_EQ(bdy_mpt_entry_get_npages(Mpt(key)), 5u);
    Ok({BDY_CMD_OP_DESTROY_MR, key});
    ExpectNothingLeft();
}

TEST_F(FwRereg, M7_NewPagesReplaceTheOldOnesAlsoOverSeveralCommands)
{
    uint32_t key = Paged(3);
    key = static_cast<uint32_t>(Ok(Rereg(key, PagedMr(pd_, 9, 4))));
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(key)), BDY_MPT_ST_FREE);
    Refused(Rereg(key, PagedMr(pd_, 9, 4)), BDY_CMD_ST_BAD_STATE);
    Ok({BDY_CMD_OP_WRITE_MTT, 0, 0, Pages(key, 4, 5)});
    Ok({BDY_CMD_OP_OPEN_MR, key});
    EXPECT_EQ(bdy_mpt_entry_get_st(Mpt(key)), BDY_MPT_ST_VALID);
    ExpectPages(key, 9);
    key = static_cast<uint32_t>(Ok(Rereg(key, DirectMr(pd_)))); // and to a direct one
    EXPECT_EQ(bdy_mpt_entry_get_direct(Mpt(key)), 1u);
    key = static_cast<uint32_t>(Ok(Rereg(key, PagedMr(pd_, 2, 2)))); // and back
    ExpectPages(key, 2);
    Ok({BDY_CMD_OP_DESTROY_MR, key});
    ExpectNothingLeft();
}

TEST_F(FwRereg, L10_BoundWindowsForbidItAndNothingChanges)
{
    for (auto want : {DirectMr(pd_), PagedMr(pd_, 4, 0), PagedMr(pd_, 6, 6)}) {
        uint32_t key = Paged(4), mw = Mw(pd_);
        mcu_model_bind(m_, mw, key);
        std::vector<uint64_t> before(Mpt(key), Mpt(key) + 8);
        EXPECT_EQ(Run(Rereg(key, want)).status, BDY_CMD_ST_BUSY);
        EXPECT_TRUE(std::equal(before.begin(), before.end(), Mpt(key)));
        Ok({BDY_CMD_OP_DEALLOC_MW, mw});
        Ok(Rereg(key, want));
        Ok({BDY_CMD_OP_DESTROY_MR, Next(key)});
    }
    ExpectNothingLeft();
}

TEST_F(FwRereg, N1_BadKeysPdsAndFieldsAreRefused)
{
    uint32_t key = Mr(pd_), foreign = Pd(2);
    Refused(Rereg(key ^ 1, DirectMr(pd_)), BDY_CMD_ST_BAD_INDEX);
    Refused(Rereg(Mw(pd_), DirectMr(pd_)), BDY_CMD_ST_BAD_INDEX);
    Refused(Rereg(key, DirectMr(pd_), 2), BDY_CMD_ST_NOT_OWNER);
    Refused(Rereg(key, DirectMr(foreign)), BDY_CMD_ST_NOT_OWNER);
    Refused(Rereg(key, DirectMr(foreign), 0), BDY_CMD_ST_NOT_OWNER);
    Refused(Rereg(key, DirectMr(900)), BDY_CMD_ST_BAD_INDEX);
    auto want = DirectMr(pd_);
    bdy_create_mr_in_set_rights(want.data(), BDY_ACCESS_BIT_REMOTE_WRITE);
    Refused(Rereg(key, want), BDY_CMD_ST_BAD_PARAM); // M1
    want = DirectMr(pd_);
    want[7] = 1;
    Refused(Rereg(key, want), BDY_CMD_ST_BAD_PARAM);
    want = DirectMr(pd_);
    bdy_create_mr_in_set_null_mr(want.data(), 1);
    Refused(Rereg(key, want), BDY_CMD_ST_BAD_PARAM);
    Cmd c = Rereg(key, DirectMr(pd_));
    c.in[1] = 1;
    Refused(c, BDY_CMD_ST_BAD_PARAM);
    c = Rereg(key, DirectMr(pd_));
    c.in.push_back(0);
    Refused(c, BDY_CMD_ST_BAD_SIZE);
}

TEST_F(FwRereg, N4_ARefusalAtAnyStepLeaksNothing)
{
    for (unsigned step = 1; step <= 5; step++) { // close, open, two pages, open
        SCOPED_TRACE(step);
        uint32_t key = Paged(3);
        m_->refuse_after = step;
        m_->refuse_rule = BDY_RULE_H5;
        EXPECT_EQ(Run(Rereg(key, PagedMr(pd_, 2, 2))).status, BDY_CMD_ST_REFUSED);
        if (step == 1) {
            Ok({BDY_CMD_OP_DESTROY_MR, key});
        } else {
            Refused({BDY_CMD_OP_DESTROY_MR, key}, BDY_CMD_ST_BAD_INDEX);
        }
    }
    ExpectNothingLeft();
}

} // namespace
