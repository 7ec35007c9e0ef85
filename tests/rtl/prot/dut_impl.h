// SPDX-License-Identifier: Apache-2.0
// Adapter between Pins and one Verilated class.
#pragma once

#include "tests/rtl/prot/prot_bench.h"

#include <verilated.h>

namespace prot {

template <class Wide> void put64(Wide &w, int word64, uint64_t v)
{
    w[2 * word64] = (uint32_t)v;
    w[2 * word64 + 1] = (uint32_t)(v >> 32);
}

template <class Wide> uint64_t get64(const Wide &w, int word64)
{
    return w[2 * word64] | (uint64_t)w[2 * word64 + 1] << 32;
}

template <class V> class DutOf : public Dut {
public:
    DutOf() : top_(new V(&context_)) {}

    void settle(Pins &p) override
    {
        drive(p);
        top_->clk_i = 0;
        top_->eval();
        sample(p);
    }

    void clock() override
    {
        top_->clk_i = 1;
        top_->eval();
    }

protected:
    VerilatedContext context_;
    std::unique_ptr<V> top_;

    virtual void drive(const Pins &p)
    {
        V &t = *top_;
        t.rst_ni = p.rst_n;
        t.strict_ibta_i = p.strict;
        t.acc_valid_i = p.acc_valid;
        t.ret_valid_i = p.ret_valid;
        t.ret_epoch_i = p.ret_epoch;
        for (int i = 0; i < kAcc; i++)
            for (int k = 0; k < 8 && (p.acc_valid >> i & 1); k++)
                put64(t.acc_req_i, 8 * i + k, p.acc_req[i][k]);
        t.op_valid_i = p.op_valid;
        for (int i = 0; i < kOps; i++)
            for (int k = 0; k < 16 && (p.op_valid >> i & 1); k++)
                put64(t.op_req_i, 16 * i + k, p.op_req[i][k]);
        t.op_tag_i = p.op_tag[0] | p.op_tag[1] << 8 | p.op_tag[2] << 16;
        t.qpev_ack_i = p.qpev_ack;
        t.ctx_idx_i = 0;
        for (int i = 0; i < kCtx; i++)
            t.ctx_idx_i |= (uint64_t)p.ctx_idx[i] << (8 * i);
        t.ctxw_ack_i = p.ctxw_ack;
        t.ev_ready_i = p.ev_ready;
        t.rd_valid_i = p.rd_valid;
        t.rd_what_i = p.rd_what;
        t.rd_idx_i = p.rd_idx;
    }

    virtual void sample(Pins &p)
    {
        V &t = *top_;
        p.idle = t.idle_o;
        p.fatal = t.fatal_o;
        p.ev_valid = t.ev_valid_o;
        p.ev = t.ev_o;
        p.acc_ready = t.acc_ready_o;
        p.acc_rsp_valid = t.acc_rsp_valid_o;
        for (int k = 0; k < 4 && p.acc_rsp_valid; k++)
            p.acc_rsp[k] = get64(t.acc_rsp_o, k);
        p.op_ready = t.op_ready_o;
        p.ope_valid = t.ope_valid_o;
        p.ope_tag = t.ope_tag_o;
        p.ope_rule = t.ope_rule_o;
        p.ope_res = t.ope_res_o;
        p.ope_drain = t.ope_drain_o;
        p.opd_valid = t.opd_valid_o;
        p.opd_tag = t.opd_tag_o;
        p.qpev_valid = t.qpev_valid_o;
        p.qpev_idx = t.qpev_idx_o;
        p.qpev_st = t.qpev_st_o;
        p.qpev_bump = t.qpev_bump_o;
        p.ctxw_valid = t.ctxw_valid_o;
        p.ctxw_kind = t.ctxw_kind_o;
        p.ctxw_idx = t.ctxw_idx_o;
        p.rd_done = t.rd_done_o;
        p.rd_err = t.rd_err_o;
        for (int k = 0; k < 8; k++) {
            p.ctxw_data[k] = get64(t.ctxw_data_o, k);
            p.rd_data[k] = get64(t.rd_data_o, k);
        }
        for (int i = 0; i < kCtx; i++) {
            for (int k = 0; k < 8; k++) {
                p.ctx0[i][k] = get64(t.ctx0_o, 8 * i + k);
                p.ctx1[i][k] = get64(t.ctx1_o, 8 * i + k);
            }
            p.ctx_gen[i] = t.ctx_gen_o[i];
        }
        p.trc_acc_valid = t.trc_acc_valid_o;
        p.trc_op_valid = t.trc_op_valid_o;
        for (int k = 0; k < 8 && p.trc_acc_valid; k++)
            p.trc_acc[k] = get64(t.trc_acc_o, k);
        for (int k = 0; k < 16 && p.trc_op_valid; k++)
            p.trc_op[k] = get64(t.trc_op_o, k);
    }
};

// With the on-chip tables and their delay stages.
template <class V> class DutWithTables : public DutOf<V> {
protected:
    void drive(const Pins &p) override
    {
        DutOf<V>::drive(p);
        this->top_->dly_max_i = p.dly_max;
        this->top_->dly_reorder_i = p.dly_reorder;
        this->top_->dly_seed_i = p.dly_seed;
    }
};

} // namespace prot
