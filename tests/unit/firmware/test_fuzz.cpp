// SPDX-License-Identifier: Apache-2.0
// Garbage in command entries and mailboxes: always a status, never a hang, and nothing leaks.
#include <random>

#include "fw_test.h"

using namespace fwtest;

namespace
{

constexpr uint32_t kSeed = 20261130;
constexpr int kCommands = 60000;

class FwFuzz : public Running
{
  protected:
    void SetUp() override
    {
        std::printf("seed %u\n", kSeed);
        Running::SetUp();
    }

    uint64_t Any()
    {
        return uint64_t{random_()} << 32 | random_();
    }

    uint64_t Small()
    {
        return random_() % 4 ? random_() % 16 : Any();
    }

    /** A plausible input with up to three bits or words changed. */
    std::vector<uint64_t> Input(uint32_t op)
    {
        std::vector<uint64_t> in;
        switch (op) {
        case BDY_CMD_OP_CREATE_EQ:
            in = EqCtx(random_() % 10);
            break;
        case BDY_CMD_OP_CREATE_CQ:
            in = CqCtx(random_() % 3);
            break;
        case BDY_CMD_OP_CREATE_MR:
            in = random_() % 2 ? DirectMr(random_() % 8)
                               : PagedMr(random_() % 8, 1 + random_() % 9, random_() % 9);
            break;
        case BDY_CMD_OP_WRITE_MTT:
            in = Pages(Key(), random_() % 4, random_() % 5);
            break;
        case BDY_CMD_OP_CREATE_QP:
            in = QpCtx(random_() % 8, random_() % 4, random_() % 4, random_() % 3);
            break;
        case BDY_CMD_OP_MODIFY_QP:
            in.resize(BDY_MODIFY_QP_IN_WORDS + 16);
            std::copy_n(m_->qp[random_() % 4], 16, in.begin() + BDY_MODIFY_QP_IN_WORDS);
            bdy_modify_qp_in_set_qpn(in.data(), BDY_QPN_BASE + random_() % 4);
            bdy_modify_qp_in_set_mask(in.data(), random_() % 2 ? random_() : 1);
            break;
        default:
            in.resize(random_() % 8 ? 0 : random_() % 3);
            break;
        }
        for (unsigned n = random_() % 2 ? 0 : random_() % 4; n > 0 && !in.empty(); n--) {
            in[random_() % in.size()] ^= random_() % 2 ? uint64_t{1} << random_() % 64 : Any();
        }
        return in;
    }

    /** The inline arguments that the command takes, mostly. */
    static bool Takes(uint32_t op, unsigned argument)
    {
        switch (op) {
        case BDY_CMD_OP_ALLOC_MW:
            return true;
        case BDY_CMD_OP_DEALLOC_PD:
        case BDY_CMD_OP_PD_KILL:
        case BDY_CMD_OP_OPEN_MR:
        case BDY_CMD_OP_DESTROY_MR:
        case BDY_CMD_OP_DEALLOC_MW:
        case BDY_CMD_OP_QUERY_MW:
        case BDY_CMD_OP_DESTROY_CQ:
        case BDY_CMD_OP_DESTROY_EQ:
        case BDY_CMD_OP_QUERY_QP:
        case BDY_CMD_OP_DESTROY_QP:
            return argument == 0;
        default:
            return false;
        }
    }

    uint32_t Op()
    {
        static const uint32_t known[] = {
            BDY_CMD_OP_NOP,        BDY_CMD_OP_QUERY_HCA,  BDY_CMD_OP_INIT_HCA,
            BDY_CMD_OP_ALLOC_PD,   BDY_CMD_OP_DEALLOC_PD, BDY_CMD_OP_PD_KILL,
            BDY_CMD_OP_CREATE_MR,  BDY_CMD_OP_WRITE_MTT,  BDY_CMD_OP_OPEN_MR,
            BDY_CMD_OP_DESTROY_MR, BDY_CMD_OP_ALLOC_MW,   BDY_CMD_OP_DEALLOC_MW,
            BDY_CMD_OP_QUERY_MW,   BDY_CMD_OP_CREATE_CQ,  BDY_CMD_OP_DESTROY_CQ,
            BDY_CMD_OP_CREATE_EQ,  BDY_CMD_OP_DESTROY_EQ, BDY_CMD_OP_CREATE_QP,
            BDY_CMD_OP_MODIFY_QP,  BDY_CMD_OP_QUERY_QP,   BDY_CMD_OP_DESTROY_QP};
        return random_() % 16 ? known[random_() % (sizeof known / sizeof known[0])]
                              : random_() & 0xffff;
    }

    uint64_t Name(uint32_t op)
    {
        switch (op & 0xf0) {
        case 0x20:
        case 0x30:
            return op == BDY_CMD_OP_ALLOC_MW ? random_() % 8 : Key();
        case 0x60:
            return BDY_QPN_BASE + random_() % 8;
        default:
            return Small();
        }
    }

    uint32_t Out(uint32_t op)
    {
        uint32_t right = op == BDY_CMD_OP_QUERY_QP    ? 128
                         : op == BDY_CMD_OP_QUERY_HCA ? BDY_QUERY_HCA_OUT_BYTES
                                                      : 0;
        return random_() % 8 ? right : 8 * (random_() % 20);
    }

    uint32_t Key()
    {
        return keys_.empty() || random_() % 8 == 0 ? random_() : keys_[random_() % keys_.size()];
    }

    uint32_t random_()
    {
        return static_cast<uint32_t>(engine_());
    }

    std::mt19937 engine_{kSeed};
    std::vector<uint32_t> keys_;
};

TEST_F(FwFuzz, GarbageGetsAStatus)
{
    unsigned good = 0;
    for (int i = 0; i < kCommands; i++) {
        uint32_t op = Op();
        bool odd = random_() % 16 == 0;
        Cmd c{op,
              Takes(op, 0) != odd ? Name(op) : 0,
              Takes(op, 1) != odd ? random_() % 4 : 0,
              Input(op),
              Out(op),
              random_() % 3};
        uint64_t *e = Write(c);
        for (unsigned n = random_() % 8 ? 0 : 1 + random_() % 3; n > 0; n--) {
            e[random_() % 8] ^= random_() % 2 ? uint64_t{1} << random_() % 64 : Any();
        }
        unsigned phase = !(m_->pi >> kLog & 1);
        m_->pi++;
        fw_step(&m_->fw);
        ASSERT_FALSE(m_->fw.dead);
        ASSERT_EQ(bdy_cmd_entry_get_done(e), phase);
        ASSERT_STRNE(bdy_cmd_st_name(bdy_cmd_entry_get_status(e)), "?");
        if (bdy_cmd_entry_get_status(e) == BDY_CMD_ST_OK) {
            good++;
            if (op == BDY_CMD_OP_ALLOC_MW || op == BDY_CMD_OP_CREATE_MR) {
                keys_.push_back(static_cast<uint32_t>(bdy_cmd_entry_get_inline_out0(e)));
            }
        }
    }
    EXPECT_GT(good, kCommands / 10u) << "the garbage must also reach the handlers";
    EXPECT_EQ(m_->health, BDY_HEALTH_OK);

    // Everything can still be destroyed, users before what they use, and then the tables are empty.
    for (uint32_t i = 0; i < FW_QPS; i++) {
        Run({BDY_CMD_OP_DESTROY_QP, BDY_QPN_BASE + i});
    }
    for (uint32_t slot = 0; slot < FW_KEYS; slot++) {
        unsigned kind = fw_key_kind(&m_->fw, slot);
        if (kind != BDY_MPT_KIND_NONE) {
            Ok({kind == BDY_MPT_KIND_MR ? BDY_CMD_OP_DESTROY_MR : BDY_CMD_OP_DEALLOC_MW,
                fw_key_first(&m_->fw, slot)});
        }
    }
    for (uint32_t i = 0; i < FW_CQS; i++) {
        Run({BDY_CMD_OP_DESTROY_CQ, BDY_CQN_BASE + i});
    }
    for (uint32_t i = 0; i < FW_PDS; i++) {
        Run({BDY_CMD_OP_DEALLOC_PD, i});
    }
    for (uint32_t i = 1; i < FW_EQS; i++) {
        Run({BDY_CMD_OP_DESTROY_EQ, i});
    }
    EXPECT_EQ(fw_mtt_alloc(&m_->fw, FW_MTTS), 0u);
    Ok({BDY_CMD_OP_TEARDOWN_HCA});
}

} // namespace
