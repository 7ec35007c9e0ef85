// SPDX-License-Identifier: Apache-2.0
// Garbage in command entries and mailboxes: always a status, never a hang, and nothing leaks.
#include <map>
#include <random>

#include "fw_test.h"

using namespace fwtest;

namespace
{

constexpr uint32_t kSeed = 20261130;
constexpr int kCommands = 60000;
constexpr uint32_t kKnown[] = {
    BDY_CMD_OP_NOP,          BDY_CMD_OP_QUERY_HCA,  BDY_CMD_OP_INIT_HCA,   BDY_CMD_OP_ALLOC_PD,
    BDY_CMD_OP_DEALLOC_PD,   BDY_CMD_OP_PD_KILL,    BDY_CMD_OP_CREATE_MR,  BDY_CMD_OP_WRITE_MTT,
    BDY_CMD_OP_OPEN_MR,      BDY_CMD_OP_DESTROY_MR, BDY_CMD_OP_ALLOC_MW,   BDY_CMD_OP_DEALLOC_MW,
    BDY_CMD_OP_QUERY_MW,     BDY_CMD_OP_CREATE_CQ,  BDY_CMD_OP_DESTROY_CQ, BDY_CMD_OP_CREATE_EQ,
    BDY_CMD_OP_DESTROY_EQ,   BDY_CMD_OP_CREATE_QP,  BDY_CMD_OP_MODIFY_QP,  BDY_CMD_OP_QUERY_QP,
    BDY_CMD_OP_DESTROY_QP,   BDY_CMD_OP_FLUSH_PD,   BDY_CMD_OP_QUERY_PD,   BDY_CMD_OP_ALLOC_XRCD,
    BDY_CMD_OP_DEALLOC_XRCD, BDY_CMD_OP_REREG_MR,   BDY_CMD_OP_RESIZE_CQ,  BDY_CMD_OP_QUERY_VIOL,
    BDY_CMD_OP_CREATE_SRQ,   BDY_CMD_OP_MODIFY_SRQ, BDY_CMD_OP_QUERY_SRQ,  BDY_CMD_OP_DESTROY_SRQ,
    BDY_CMD_OP_CREATE_AH,    BDY_CMD_OP_DESTROY_AH};

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
            in = random_() % 2 ? DirectMr(AnyPd())
                               : PagedMr(AnyPd(), 1 + random_() % 9, random_() % 9);
            break;
        case BDY_CMD_OP_WRITE_MTT:
            in = Pages(Unfinished(), written_, 1 + random_() % 3);
            break;
        case BDY_CMD_OP_REREG_MR:
            in = random_() % 2 ? DirectMr(AnyPd())
                               : PagedMr(AnyPd(), 1 + random_() % 9, random_() % 9);
            in.insert(in.begin(), {Key(), 0});
            break;
        case BDY_CMD_OP_RESIZE_CQ:
            in = CqCtx(random_() % 3);
            break;
        case BDY_CMD_OP_CREATE_SRQ:
            in = SrqCtx(AnyPd(), random_() % 3);
            if (random_() % 2) {
                bdy_srq_ctx_set_xrc(in.data(), 1);
                bdy_srq_ctx_set_xrcd(in.data(), AnyXrcd());
                bdy_srq_ctx_set_cqn(in.data(), AnyCq());
            }
            break;
        case BDY_CMD_OP_CREATE_AH:
            in.resize(BDY_AH_CTX_WORDS);
            bdy_ah_ctx_set_valid(in.data(), 1);
            bdy_ah_ctx_set_port(in.data(), 1);
            bdy_ah_ctx_set_pd(in.data(), AnyPd());
            break;
        case BDY_CMD_OP_CREATE_QP:
            in = QpCtx(AnyPd(), AnyCq(), AnyCq(), random_() % 3);
            bdy_qp_ctx0_set_kind(in.data(), random_() % 4);
            if (random_() % 3 == 0) {
                bdy_qp_ctx0_set_srq(in.data(), 1);
                bdy_qp_ctx0_set_srqn(in.data(), AnySrq());
                bdy_qp_ctx0_set_rq_base(in.data(), 0);
                bdy_qp_ctx0_set_rq_log(in.data(), 0);
                bdy_qp_ctx0_set_rq_log_stride(in.data(), 0);
            } else if (random_() % 4 == 0) {
                std::fill(in.begin(), in.end(), 0);
                bdy_qp_ctx0_set_kind(in.data(), BDY_QP_KIND_XRC_RECV);
                bdy_qp_ctx0_set_xrcd(in.data(), AnyXrcd());
            }
            break;
        case BDY_CMD_OP_MODIFY_QP:
            in.resize(BDY_MODIFY_QP_IN_WORDS + 16);
            bdy_modify_qp_in_set_qpn(in.data(), BDY_QPN_BASE + AnyQp());
            std::copy_n(m_->qp[bdy_modify_qp_in_get_qpn(in.data()) - BDY_QPN_BASE], 16,
                        in.begin() + BDY_MODIFY_QP_IN_WORDS);
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
        case BDY_CMD_OP_MODIFY_SRQ:
            return true;
        case BDY_CMD_OP_DEALLOC_PD:
        case BDY_CMD_OP_PD_KILL:
        case BDY_CMD_OP_OPEN_MR:
        case BDY_CMD_OP_DESTROY_MR:
        case BDY_CMD_OP_DEALLOC_MW:
        case BDY_CMD_OP_QUERY_MW:
        case BDY_CMD_OP_DESTROY_CQ:
        case BDY_CMD_OP_DESTROY_EQ:
        case BDY_CMD_OP_FLUSH_PD:
        case BDY_CMD_OP_QUERY_PD:
        case BDY_CMD_OP_DEALLOC_XRCD:
        case BDY_CMD_OP_RESIZE_CQ:
        case BDY_CMD_OP_QUERY_VIOL:
        case BDY_CMD_OP_QUERY_SRQ:
        case BDY_CMD_OP_DESTROY_SRQ:
        case BDY_CMD_OP_DESTROY_AH:
        case BDY_CMD_OP_QUERY_QP:
        case BDY_CMD_OP_DESTROY_QP:
            return argument == 0;
        default:
            return false;
        }
    }

    uint32_t Op()
    {
        return random_() % 16 ? kKnown[random_() % std::size(kKnown)] : random_() & 0xffff;
    }

    uint64_t Name(uint32_t op)
    {
        if (op == BDY_CMD_OP_OPEN_MR) {
            return Unfinished();
        }
        switch (op & 0xf0) {
        case 0x20:
        case 0x30:
            return op == BDY_CMD_OP_ALLOC_MW ? AnyPd() : Key();
        case 0x60:
            return BDY_QPN_BASE + AnyQp();
        case 0x10:
            return op < BDY_CMD_OP_ALLOC_XRCD ? AnyPd() : AnyXrcd();
        case 0x40:
            return AnyCq();
        case 0x80:
            return Pick(FW_AHS, [&](uint32_t i) { return m_->fw.ah[i].used; });
        case 0x70:
            return AnySrq();
        default:
            return Small();
        }
    }

    uint32_t Out(uint32_t op)
    {
        uint32_t right = op == BDY_CMD_OP_QUERY_QP    ? 128
                         : op == BDY_CMD_OP_QUERY_SRQ ? BDY_SRQ_CTX_BYTES
                         : op == BDY_CMD_OP_QUERY_HCA ? BDY_QUERY_HCA_OUT_BYTES
                                                      : 0;
        return random_() % 8 ? right : 8 * (random_() % 20);
    }

    /** One that exists, mostly. */
    template <typename Exists> uint32_t Pick(uint32_t count, Exists exists)
    {
        uint32_t at = random_() % count;
        for (uint32_t i = 0; i < count && random_() % 64; i++) {
            if (exists((at + i) % count)) {
                return (at + i) % count;
            }
        }
        return at;
    }

    uint32_t AnyPd()
    {
        return Pick(FW_PDS, [&](uint32_t i) { return m_->fw.pd[i].st == FW_PD_ALIVE; });
    }

    uint32_t AnyCq()
    {
        return Pick(FW_CQS, [&](uint32_t i) { return m_->fw.cq[i].used; });
    }

    uint32_t AnyQp()
    {
        return Pick(FW_QPS, [&](uint32_t i) { return m_->fw.qp[i].st == FW_QP_USED; });
    }

    uint32_t AnySrq()
    {
        return Pick(FW_SRQS, [&](uint32_t i) { return m_->fw.srq[i].used; });
    }

    uint32_t AnyXrcd()
    {
        return Pick(BDY_XRCD_COUNT, [&](uint32_t i) { return m_->fw.xrcd[i].used; });
    }

    /** The key of a region that waits for pages, mostly; written_: how many it has. */
    uint32_t Unfinished()
    {
        const fw_build &b = m_->fw.build[random_() % FW_BUILDS];
        written_ = b.written;
        return b.npages ? fw_key_first(&m_->fw, b.slot) : Key();
    }

    uint32_t Key()
    {
        if (keys_.empty() || random_() % 8 == 0) {
            return random_();
        }
        return keys_[random_() % 2 ? keys_.size() - 1 : random_() % keys_.size()];
    }

    uint32_t random_()
    {
        return static_cast<uint32_t>(engine_());
    }

    std::mt19937 engine_{kSeed};
    std::vector<uint32_t> keys_;
    uint32_t written_ = 0;
};

TEST_F(FwFuzz, GarbageGetsAStatus)
{
    std::map<uint32_t, unsigned> good;
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
            good[op]++;
            if (op == BDY_CMD_OP_ALLOC_MW || op == BDY_CMD_OP_CREATE_MR ||
                op == BDY_CMD_OP_REREG_MR) {
                keys_.push_back(static_cast<uint32_t>(bdy_cmd_entry_get_inline_out0(e)));
            }
        }
    }
    for (uint32_t op : kKnown) {
        EXPECT_TRUE(op == BDY_CMD_OP_INIT_HCA || good[op] > 0)
            << bdy_cmd_op_name(op) << ": the garbage must also reach the handlers' ends";
    }
    EXPECT_EQ(m_->health, BDY_HEALTH_OK);

    // Everything can still be destroyed, users before what they use, and then the tables are empty.
    for (uint32_t i = 0; i < FW_QPS; i++) {
        Run({BDY_CMD_OP_DESTROY_QP, BDY_QPN_BASE + i});
    }
    for (uint32_t i = 0; i < FW_SRQS; i++) {
        Run({BDY_CMD_OP_DESTROY_SRQ, BDY_SRQN_BASE + i});
    }
    for (uint32_t i = 0; i < FW_AHS; i++) {
        Run({BDY_CMD_OP_DESTROY_AH, i});
    }
    for (uint32_t i = 1; i < BDY_XRCD_COUNT; i++) {
        Run({BDY_CMD_OP_DEALLOC_XRCD, i});
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
