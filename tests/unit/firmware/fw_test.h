// SPDX-License-Identifier: Apache-2.0
// A device with firmware and a driver's end of the command queue, for the tests of the command
// families.
#ifndef FW_TEST_H
#define FW_TEST_H

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "mcu_model.h"

namespace fwtest
{

constexpr uint64_t kMemory = 0x123450000000; // bus address of host memory
constexpr uint64_t kBytes = 1 << 20;
constexpr uint64_t kQueue = kMemory;
constexpr uint64_t kIn = kMemory + 0x10000;
constexpr uint64_t kOut = kMemory + 0x20000;
constexpr uint64_t kRings = kMemory + 0x40000;
constexpr uint32_t kLog = 2;

struct Result {
    unsigned status, rule;
    uint64_t out0, out1;
};

/** One command as a test writes it. */
struct Cmd {
    uint32_t op;
    uint64_t in0 = 0, in1 = 0;
    std::vector<uint64_t> in{};
    uint32_t out_len = 0;
    uint32_t uctx = 0;
};

class Device : public ::testing::Test
{
  protected:
    Device() : m_(mcu_model_new()), memory_(kBytes / 8)
    {
        m_->memory = memory;
        m_->event = event;
        m_->arg = this;
        Reset();
    }

    ~Device() override
    {
        mcu_model_free(m_);
    }

    void TearDown() override
    {
        EXPECT_EQ(m_->faults, 0u) << "firmware misused its hardware";
    }

    void Reset()
    {
        mcu_model_reset(m_);
        m_->cmdq_base = kQueue;
        m_->cmdq_log = kLog;
        std::fill(memory_.begin(), memory_.end(), 0);
        events_.clear();
        token_ = 0;
    }

    uint64_t *At(uint64_t bus)
    {
        return &memory_[(bus - kMemory) / 8];
    }

    uint64_t *Entry(uint16_t index)
    {
        return At(kQueue) + (index % (1u << kLog)) * BDY_CMD_ENTRY_WORDS;
    }

    /** The entry as the driver writes it; a test may change it before Ring. */
    uint64_t *Write(const Cmd &c)
    {
        uint64_t *e = Entry(m_->pi);
        unsigned phase = !(m_->pi >> kLog & 1);
        std::fill(e, e + BDY_CMD_ENTRY_WORDS, 0);
        std::copy(c.in.begin(), c.in.end(), At(kIn));
        bdy_cmd_entry_set_op(e, c.op);
        bdy_cmd_entry_set_token(e, ++token_);
        bdy_cmd_entry_set_uctx(e, c.uctx);
        bdy_cmd_entry_set_in_len(e, 8 * c.in.size());
        bdy_cmd_entry_set_out_len(e, c.out_len);
        bdy_cmd_entry_set_in_mbox(e, c.in.empty() ? 0 : kIn);
        bdy_cmd_entry_set_out_mbox(e, c.out_len ? kOut : 0);
        bdy_cmd_entry_set_inline_in0(e, c.in0);
        bdy_cmd_entry_set_inline_in1(e, c.in1);
        bdy_cmd_entry_set_owner(e, phase);
        bdy_cmd_entry_set_done(e, !phase);
        return e;
    }

    /** Doorbell, and run firmware until it has nothing to do. */
    Result Ring()
    {
        uint64_t *e = Entry(m_->pi);
        unsigned phase = !(m_->pi >> kLog & 1);
        m_->pi++;
        fw_step(&m_->fw);
        if (!m_->fw.dead) {
            EXPECT_EQ(bdy_cmd_entry_get_done(e), phase) << "not answered";
            EXPECT_EQ(m_->ci, m_->pi);
        }
        return {static_cast<unsigned>(bdy_cmd_entry_get_status(e)),
                static_cast<unsigned>(bdy_cmd_entry_get_inline_out1(e)),
                bdy_cmd_entry_get_inline_out0(e), bdy_cmd_entry_get_inline_out1(e)};
    }

    Result Run(const Cmd &c)
    {
        Write(c);
        return Ring();
    }

    uint64_t Ok(const Cmd &c)
    {
        Result r = Run(c);
        EXPECT_EQ(r.status, BDY_CMD_ST_OK)
            << bdy_cmd_op_name(c.op) << ": " << bdy_cmd_st_name(r.status);
        return r.out0;
    }

    void Refused(const Cmd &c, unsigned status)
    {
        uint32_t ops = m_->nops;
        Result r = Run(c);
        EXPECT_EQ(r.status, status) << bdy_cmd_op_name(c.op) << ": " << bdy_cmd_st_name(r.status);
        EXPECT_EQ(r.out0, 0u);
        EXPECT_EQ(m_->nops, ops) << "a refused command changed the tables";
    }

    static std::vector<uint64_t> EqCtx(uint32_t vector = 0)
    {
        std::vector<uint64_t> w(BDY_EQ_CTX_WORDS);
        bdy_eq_ctx_set_valid(w.data(), 1);
        bdy_eq_ctx_set_log_size(w.data(), 6);
        bdy_eq_ctx_set_vector(w.data(), vector);
        bdy_eq_ctx_set_base(w.data(), kRings);
        return w;
    }

    static std::vector<uint64_t> CqCtx(uint32_t uar = 1)
    {
        std::vector<uint64_t> w(BDY_CQ_CTX_WORDS);
        bdy_cq_ctx_set_valid(w.data(), 1);
        bdy_cq_ctx_set_log_size(w.data(), 8);
        bdy_cq_ctx_set_uar(w.data(), uar);
        bdy_cq_ctx_set_eqn(w.data(), 0);
        bdy_cq_ctx_set_base(w.data(), kRings + 0x10000);
        bdy_cq_ctx_set_dbr(w.data(), kRings + 0x8000);
        return w;
    }

    static std::vector<uint64_t> InitIn(uint64_t seed = 1, bool strict = false)
    {
        std::vector<uint64_t> w(BDY_INIT_HCA_IN_WORDS);
        bdy_init_hca_in_set_seed_lo(w.data(), seed);
        bdy_init_hca_in_set_seed_hi(w.data(), ~seed);
        bdy_init_hca_in_set_strict_ibta(w.data(), strict);
        return w;
    }

    void Init(uint64_t seed = 1)
    {
        Ok({BDY_CMD_OP_CREATE_EQ, 0, 0, EqCtx()});
        Ok({BDY_CMD_OP_INIT_HCA, 0, 0, InitIn(seed)});
    }

    uint32_t Pd(uint32_t uctx = 1)
    {
        return static_cast<uint32_t>(Ok({BDY_CMD_OP_ALLOC_PD, 0, 0, {}, 0, uctx}));
    }

    uint32_t Cq(uint32_t uctx = 1)
    {
        return static_cast<uint32_t>(Ok({BDY_CMD_OP_CREATE_CQ, 0, 0, CqCtx(uctx), 0, uctx}));
    }

    uint32_t Mw(uint32_t pd, uint32_t type = 1, uint32_t uctx = 1)
    {
        return static_cast<uint32_t>(Ok({BDY_CMD_OP_ALLOC_MW, pd, type, {}, 0, uctx}));
    }

    /** CREATE_MR's input for a direct region. */
    static std::vector<uint64_t> DirectMr(uint32_t pd, uint64_t start = 0x10000,
                                          uint64_t len = 0x2000)
    {
        std::vector<uint64_t> w(BDY_CREATE_MR_IN_WORDS);
        bdy_create_mr_in_set_pd(w.data(), pd);
        bdy_create_mr_in_set_rights(w.data(), BDY_ACCESS_BIT_LOCAL_WRITE | BDY_ACCESS_BIT_MW_BIND);
        bdy_create_mr_in_set_direct(w.data(), 1);
        bdy_create_mr_in_set_start(w.data(), start);
        bdy_create_mr_in_set_len(w.data(), len);
        bdy_create_mr_in_set_base(w.data(), len ? 0x7000000 : 0);
        return w;
    }

    /** CREATE_MR's input for `npages` 4 KiB pages, the first `given` of them with it. */
    static std::vector<uint64_t> PagedMr(uint32_t pd, uint32_t npages, uint32_t given)
    {
        std::vector<uint64_t> w = DirectMr(pd, 0x10000, uint64_t{4096} * npages);
        bdy_create_mr_in_set_direct(w.data(), 0);
        bdy_create_mr_in_set_base(w.data(), 0);
        bdy_create_mr_in_set_log_ps(w.data(), 12);
        bdy_create_mr_in_set_npages(w.data(), npages);
        bdy_create_mr_in_set_inline_pages(w.data(), given);
        for (uint32_t i = 0; i < given; i++) {
            w.push_back(Page(i));
        }
        return w;
    }

    static uint64_t Page(uint32_t i)
    {
        return 0x9000000000 + 0x3000 * uint64_t{i};
    }

    static std::vector<uint64_t> Pages(uint32_t key, uint32_t first, uint32_t count)
    {
        std::vector<uint64_t> w(BDY_WRITE_MTT_IN_WORDS);
        bdy_write_mtt_in_set_key(w.data(), key);
        bdy_write_mtt_in_set_first(w.data(), first);
        bdy_write_mtt_in_set_count(w.data(), count);
        for (uint32_t i = 0; i < count; i++) {
            w.push_back(Page(first + i));
        }
        return w;
    }

    uint32_t Mr(uint32_t pd, uint32_t uctx = 1)
    {
        return static_cast<uint32_t>(Ok({BDY_CMD_OP_CREATE_MR, 0, 0, DirectMr(pd), 0, uctx}));
    }

    static std::vector<uint64_t> QpCtx(uint32_t pd, uint32_t scqn, uint32_t rcqn, uint32_t uar = 1)
    {
        std::vector<uint64_t> w(BDY_QP_CTX0_WORDS);
        bdy_qp_ctx0_set_kind(w.data(), BDY_QP_KIND_RC);
        bdy_qp_ctx0_set_uar(w.data(), uar);
        bdy_qp_ctx0_set_pd(w.data(), pd);
        bdy_qp_ctx0_set_scqn(w.data(), scqn);
        bdy_qp_ctx0_set_rcqn(w.data(), rcqn);
        bdy_qp_ctx0_set_sq_base(w.data(), kRings + 0x20000);
        bdy_qp_ctx0_set_rq_base(w.data(), kRings + 0x30000);
        bdy_qp_ctx0_set_sq_log(w.data(), 6);
        bdy_qp_ctx0_set_rq_log(w.data(), 5);
        bdy_qp_ctx0_set_rq_log_stride(w.data(), 1);
        return w;
    }

    uint32_t Qp(uint32_t pd, uint32_t scqn, uint32_t rcqn, uint32_t uctx = 1)
    {
        return static_cast<uint32_t>(
            Ok({BDY_CMD_OP_CREATE_QP, 0, 0, QpCtx(pd, scqn, rcqn, uctx), 0, uctx}));
    }

    /** CREATE_SRQ's input. */
    static std::vector<uint64_t> SrqCtx(uint32_t pd, uint32_t uar = 1)
    {
        std::vector<uint64_t> w(BDY_SRQ_CTX_WORDS);
        bdy_srq_ctx_set_valid(w.data(), 1);
        bdy_srq_ctx_set_log_size(w.data(), 5);
        bdy_srq_ctx_set_log_stride(w.data(), 1);
        bdy_srq_ctx_set_uar(w.data(), uar);
        bdy_srq_ctx_set_pd(w.data(), pd);
        bdy_srq_ctx_set_base(w.data(), kRings + 0x38000);
        return w;
    }

    uint32_t Srq(uint32_t pd, uint32_t uctx = 1)
    {
        return static_cast<uint32_t>(Ok({BDY_CMD_OP_CREATE_SRQ, 0, 0, SrqCtx(pd, uctx), 0, uctx}));
    }

    uint32_t XrcSrq(uint32_t pd, uint32_t xrcd, uint32_t cqn, uint32_t uctx = 1)
    {
        auto in = SrqCtx(pd, uctx);
        bdy_srq_ctx_set_xrc(in.data(), 1);
        bdy_srq_ctx_set_xrcd(in.data(), xrcd);
        bdy_srq_ctx_set_cqn(in.data(), cqn);
        return static_cast<uint32_t>(Ok({BDY_CMD_OP_CREATE_SRQ, 0, 0, in, 0, uctx}));
    }

    /** The operations since `from`. */
    std::vector<unsigned> Ops(uint32_t from) const
    {
        std::vector<unsigned> list;
        for (uint32_t i = from; i < m_->nops; i++) {
            list.push_back(mcu_model_op(m_, i));
        }
        return list;
    }

    struct mcu_model *m_;
    std::vector<uint64_t> memory_;
    std::vector<std::pair<uint32_t, uint64_t>> events_; // queue, first word
    uint16_t token_ = 0;

  private:
    static int memory(void *arg, uint64_t bus, void *data, uint32_t bytes, bool write)
    {
        auto *self = static_cast<Device *>(arg);
        if (bus < kMemory || bus - kMemory > kBytes || bytes > kBytes - (bus - kMemory)) {
            return -1;
        }
        auto *host = reinterpret_cast<uint8_t *>(self->memory_.data()) + (bus - kMemory);
        std::memcpy(write ? host : data, write ? data : host, bytes);
        return 0;
    }

    static void event(void *arg, uint32_t eqn, uint64_t word0)
    {
        static_cast<Device *>(arg)->events_.emplace_back(eqn, word0);
    }
};

/** A device after INIT_HCA. */
class Running : public Device
{
  protected:
    void SetUp() override
    {
        Init();
    }
};

} // namespace fwtest

#endif
