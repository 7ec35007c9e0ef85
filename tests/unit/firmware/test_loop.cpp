// SPDX-License-Identifier: Apache-2.0
// The command loop: what every command has in common.
#include "fw_test.h"

using namespace fwtest;

using FwLoop = Device;

TEST_F(FwLoop, IsReadyAfterStartOnDirtyMemory)
{
    EXPECT_EQ(m_->dev_state, BDY_DEV_ST_READY);
    EXPECT_EQ(m_->health, BDY_HEALTH_OK);
}

TEST_F(FwLoop, AnswersNopWithPhaseAndStatusOverManyPasses)
{
    for (int i = 0; i < 20; i++) { // five passes over the ring
        Ok({BDY_CMD_OP_NOP});
    }
}

TEST_F(FwLoop, AnswersAcrossTheWrapOfTheProducerIndex)
{
    m_->pi = 65530;
    m_->ci = 65530;
    m_->fw.ci = 65530;
    for (int i = 0; i < 12; i++) {
        Ok({BDY_CMD_OP_NOP});
    }
}

TEST_F(FwLoop, WritesDoneInTheLastOfItsStores)
{
    static std::vector<uint64_t> order;
    order.clear();
    auto *inner = m_->memory;
    static decltype(inner) next;
    next = inner;
    m_->memory = [](void *arg, uint64_t bus, void *data, uint32_t bytes, bool write) {
        if (write) {
            order.push_back(bus + bytes);
        }
        return next(arg, bus, data, bytes, write);
    };
    Write({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, BDY_QUERY_HCA_OUT_BYTES});
    Ring();
    ASSERT_EQ(order.size(), 3u);
    EXPECT_EQ(order[0], kOut + BDY_QUERY_HCA_OUT_BYTES);
    EXPECT_EQ(order[1], kQueue + 56);
    EXPECT_EQ(order[2], kQueue + 64);
}

TEST_F(FwLoop, PostsNoEventBeforeInitAndOneACommandAfter)
{
    Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()});
    EXPECT_TRUE(events_.empty());
    Ok({BDY_CMD_OP_INIT_HCA, 0, 0, InitIn()});
    Ok({BDY_CMD_OP_NOP});
    Run({0x7777});
    ASSERT_EQ(events_.size(), 3u);
    for (size_t i = 0; i < 3; i++) {
        EXPECT_EQ(events_[i].first, 0u);
        EXPECT_EQ(bdy_eqe_get_kind(&events_[i].second), BDY_EQE_KIND_CMD_DONE);
        EXPECT_EQ(bdy_eqe_get_data(&events_[i].second), i + 2);
    }
}

TEST_F(FwLoop, ServesSeveralCommandsFromOneDoorbell)
{
    for (int i = 0; i < 3; i++) {
        Write({BDY_CMD_OP_NOP});
        m_->pi++;
    }
    fw_step(&m_->fw);
    for (uint16_t i = 0; i < 3; i++) {
        EXPECT_EQ(bdy_cmd_entry_get_done(Entry(i)), 1u);
    }
    EXPECT_EQ(m_->ci, 3u);
}

TEST_F(FwLoop, SleepsUntilEnginesEnd)
{
    m_->lag = 3;
    Init();
    uint32_t pd = Pd();
    Ok({BDY_CMD_OP_CREATE_MR, 0, 0, PagedMr(pd, 5, 5), 0, 1});
}

TEST_F(FwLoop, RefusesUnknownOpcodes)
{
    Init();
    for (uint32_t op = 0; op < 0x100; op++) {
        if (std::strcmp(bdy_cmd_op_name(op), "?") == 0) {
            Refused({op}, BDY_CMD_ST_BAD_OP);
        }
    }
    Refused({0xffff}, BDY_CMD_ST_BAD_OP);
}

TEST_F(FwLoop, RefusesReservedBitsAndAStaleAnswer)
{
    for (unsigned bit = 0; bit < 512; bit++) {
        uint64_t *e = Write({BDY_CMD_OP_NOP});
        uint64_t one[BDY_CMD_ENTRY_WORDS] = {};
        one[bit / 64] = uint64_t{1} << bit % 64;
        if (!bdy_cmd_entry_rsvd_zero(one)) {
            e[bit / 64] |= one[bit / 64];
            EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM) << "bit " << bit;
        }
    }
    bdy_cmd_entry_set_inline_out0(Write({BDY_CMD_OP_NOP}), 1);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM);
    bdy_cmd_entry_set_inline_out1(Write({BDY_CMD_OP_NOP}), 1);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM);
    bdy_cmd_entry_set_status(Write({BDY_CMD_OP_NOP}), 1);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM);
    uint64_t *e = Write({BDY_CMD_OP_NOP});
    bdy_cmd_entry_set_done(e, bdy_cmd_entry_get_owner(e));
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwLoop, RefusesAnEntryWhoseOwnerPhaseIsOld)
{
    uint64_t *e = Write({BDY_CMD_OP_NOP});
    bdy_cmd_entry_set_owner(e, 0);
    bdy_cmd_entry_set_done(e, 0);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_STATE);
    Ok({BDY_CMD_OP_NOP});
}

TEST_F(FwLoop, RefusesMailboxesOfAnyOtherLength)
{
    Init();
    const uint32_t with_out = BDY_QUERY_HCA_OUT_BYTES;
    Refused({BDY_CMD_OP_QUERY_HCA}, BDY_CMD_ST_BAD_SIZE);
    Refused({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, with_out - 8}, BDY_CMD_ST_BAD_SIZE);
    Refused({BDY_CMD_OP_QUERY_HCA, 0, 0, {0}, with_out}, BDY_CMD_ST_BAD_SIZE);
    Refused({BDY_CMD_OP_NOP, 0, 0, {}, 8}, BDY_CMD_ST_BAD_SIZE);
    for (uint32_t op : {BDY_CMD_OP_CREATE_EQ, BDY_CMD_OP_CREATE_CQ, BDY_CMD_OP_CREATE_QP,
                        BDY_CMD_OP_MODIFY_QP, BDY_CMD_OP_CREATE_MR, BDY_CMD_OP_WRITE_MTT}) {
        Refused({op}, BDY_CMD_ST_BAD_SIZE);
        Refused({op, 0, 0, {0}}, BDY_CMD_ST_BAD_SIZE);
        Refused({op, 0, 0, std::vector<uint64_t>(513)}, BDY_CMD_ST_BAD_SIZE);
    }
    bdy_cmd_entry_set_out_len(Write({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, with_out}), 4104);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_SIZE);
}

TEST_F(FwLoop, RefusesMisplacedMailboxes)
{
    bdy_cmd_entry_set_in_mbox(Write({BDY_CMD_OP_NOP}), kIn);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM) << "address without length";
    bdy_cmd_entry_set_out_mbox(Write({BDY_CMD_OP_NOP}), kOut);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM);
    bdy_cmd_entry_set_in_mbox(Write({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()}), kIn + 4);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM);
    bdy_cmd_entry_set_in_mbox(Write({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()}), ~uint64_t{7});
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_PARAM) << "wraps";
    Write({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()});
    bdy_cmd_entry_set_in_len(Entry(m_->pi), 68);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_BAD_SIZE);
}

TEST_F(FwLoop, SplitsAMailboxAtAPageLine)
{
    auto ctx = EqCtx();
    std::copy(ctx.begin(), ctx.end(), At(kIn + 4096 - 24));
    bdy_cmd_entry_set_in_mbox(Write({BDY_CMD_OP_CREATE_EQ, 0, 0, ctx}), kIn + 4096 - 24);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_OK); // the model counts a transfer over the line as a fault
}

TEST_F(FwLoop, TellsDmaErrorsOfMailboxes)
{
    bdy_cmd_entry_set_in_mbox(Write({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()}), 0x5000);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_DMA_ERROR);
    bdy_cmd_entry_set_out_mbox(Write({BDY_CMD_OP_QUERY_HCA, 0, 0, {}, BDY_QUERY_HCA_OUT_BYTES}),
                               0x5000);
    EXPECT_EQ(Ring().status, BDY_CMD_ST_DMA_ERROR);
    Ok({BDY_CMD_OP_NOP});
}

TEST_F(FwLoop, RefusesInlineArgumentsThatMeanNothing)
{
    Init();
    Refused({BDY_CMD_OP_NOP, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_NOP, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_ALLOC_PD, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_DEALLOC_PD, 0, 1}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_QUERY_MW, 0, 1}, BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwLoop, RefusesUserContextsThatDoNotExist)
{
    Init();
    Refused({BDY_CMD_OP_NOP, 0, 0, {}, 0, BDY_UAR_COUNT}, BDY_CMD_ST_BAD_PARAM);
    Refused({BDY_CMD_OP_ALLOC_PD, 0, 0, {}, 0, 0xffff}, BDY_CMD_ST_BAD_PARAM);
}

TEST_F(FwLoop, KeepsTheDriversOwnCommandsFromUsers)
{
    Refused({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx(), 0, 1}, BDY_CMD_ST_NOT_OWNER);
    Refused({BDY_CMD_OP_INIT_HCA, 0, 0, InitIn(), 0, 1}, BDY_CMD_ST_NOT_OWNER);
    Init();
    uint32_t pd = Pd();
    Refused({BDY_CMD_OP_PD_KILL, pd, 0, {}, 0, 1}, BDY_CMD_ST_NOT_OWNER);
    Refused({BDY_CMD_OP_DESTROY_EQ, 0, 0, {}, 0, 1}, BDY_CMD_ST_NOT_OWNER);
    Refused({BDY_CMD_OP_TEARDOWN_HCA, 0, 0, {}, 0, 1}, BDY_CMD_ST_NOT_OWNER);
}

TEST_F(FwLoop, DiesWhenTheQueueCannotBeReached)
{
    m_->cmdq_base = 0x1000;
    Write({BDY_CMD_OP_NOP});
    Ring();
    EXPECT_EQ(m_->health, BDY_HEALTH_CMDQ_DMA);
    EXPECT_EQ(m_->dev_state, BDY_DEV_ST_FATAL);
    m_->pi++;
    fw_step(&m_->fw);
    EXPECT_EQ(m_->ci, 0u) << "a dead device serves nothing";
}

TEST_F(FwLoop, DiesWhenTheAnswerCannotBeWritten)
{
    m_->dma_fail_after = 2; // entry, first half of the answer
    Write({BDY_CMD_OP_NOP});
    Ring();
    EXPECT_EQ(m_->health, BDY_HEALTH_CMDQ_DMA);
}

TEST_F(FwLoop, DiesOnAProducerIndexBeyondTheRing)
{
    m_->pi = (1 << kLog) + 1;
    fw_step(&m_->fw);
    EXPECT_EQ(m_->health, BDY_HEALTH_FW_FATAL);
    EXPECT_EQ(m_->ci, 0u);
}

TEST_F(FwLoop, DiesOnARingLargerThanAllowed)
{
    m_->cmdq_log = 9;
    m_->pi = 1;
    fw_step(&m_->fw);
    EXPECT_EQ(m_->health, BDY_HEALTH_FW_FATAL);
}

TEST_F(FwLoop, SleepsForCommandsWhenIdle)
{
    m_->pi = 1; // wakes at once: an event before the sleep is not lost
    fw_idle(&m_->fw);
    EXPECT_EQ(m_->event_mask, BDY_REG_MCU_EVENT_CMD_MASK);
}
