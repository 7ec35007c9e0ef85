// SPDX-License-Identifier: Apache-2.0
// Bench of the protection engine: queues in front of its ports, engines that acknowledge, and three checks that are always on:
// every verdict on the trace port equals the model's, in trace order; every answer equals its trace entry; no drained answer
// comes before the grants that it must wait for are returned.
#pragma once

#include "tests/rtl/prot/prot_model.h"

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <random>

namespace prot {

constexpr int kAcc = 4, kOps = 3, kCtx = 6;

// Values on the ports for one cycle.
struct Pins {
    // in
    bool rst_n = true, strict = false, ctxw_ack = false, rd_valid = false, dly_reorder = false;
    uint8_t dly_max = 0;
    uint32_t dly_seed = 1;
    unsigned acc_valid = 0, ret_valid = 0, ret_epoch = 0, op_valid = 0, qpev_ack = 0;
    uint64_t acc_req[kAcc][8] = {};
    uint64_t op_req[kOps][16] = {};
    uint8_t op_tag[kOps] = {};
    uint8_t ctx_idx[kCtx] = {};
    unsigned rd_what = 0;
    uint32_t rd_idx = 0;
    bool fail_mpt_read = false, fail_mpt_write = false, fail_mtt_read = false, fail_mtt_write = false; // core only
    // out
    bool idle = false, fatal = false;
    bool ev_ready = true, ev_valid = false;
    uint64_t ev = 0;
    unsigned acc_ready = 0, acc_rsp_valid = 0, op_ready = 0, ope_valid = 0, opd_valid = 0, qpev_valid = 0;
    uint64_t acc_rsp[4] = {};
    uint8_t ope_tag = 0, ope_rule = 0, opd_tag = 0, qpev_idx = 0, qpev_st = 0;
    uint32_t ope_res = 0;
    bool ope_drain = false, qpev_bump = false, ctxw_valid = false, rd_done = false, rd_err = false;
    unsigned ctxw_kind = 0, ctxw_idx = 0;
    uint64_t ctxw_data[8] = {}, rd_data[8] = {};
    uint64_t ctx0[kCtx][8] = {}, ctx1[kCtx][8] = {};
    uint32_t ctx_gen[kCtx] = {};
    bool trc_acc_valid = false, trc_op_valid = false;
    uint64_t trc_acc[8] = {}, trc_op[16] = {};
};

// One Verilated variant.
class Dut {
public:
    virtual ~Dut() = default;
    virtual void settle(Pins &pins) = 0; // inputs in, outputs of this cycle out
    virtual void clock() = 0;            // rising edge
};

std::unique_ptr<Dut> make_default_dut();
std::unique_ptr<Dut> make_small_dut(); // every queue one deep, two lookups in the cache's index, few misses
std::unique_ptr<Dut> make_core_dut();  // core with a table in C++ that samples, stores and answers in any order, or fails

struct Answer {
    bool done = false;
    Rsp rsp;
    uint64_t asked = 0, taken = 0, answered = 0, returned = 0;
    unsigned port = 0;
    Req req;
};

struct OpAnswer {
    bool executed = false, drained = false;
    unsigned rule = 0;
    uint32_t res = 0;
    bool drain = false;
    uint64_t asked = 0, taken = 0, executed_at = 0, drained_at = 0;
    unsigned port = 0;
    Op op;
};

struct RawRead {
    bool err = false;
    uint64_t data[8] = {};
};

class Bench {
public:
    explicit Bench(std::unique_ptr<Dut> dut, uint64_t seed = 1);
    ~Bench();

    // Settings; may change at any time.
    bool hold_grants = false;  // grants are returned only by give_back()
    int ret_latency = 0;       // most cycles until a grant is returned
    int ack_latency = 0;       // most cycles until an engine acknowledges an event
    bool hold_acks = false;    // engines acknowledge nothing
    bool check = true;         // compare with the model

    void set_delay(unsigned max, bool reorder, uint32_t seed);
    void set_strict(bool strict);

    void cycle();
    void cycles(int n);
    uint64_t now() const { return now_; }
    bool idle() const { return pins_.idle; }
    bool fatal() const { return pins_.fatal; }
    /// Events taken so far: eqe bits 63:0.
    const std::vector<uint64_t> &eqes() const { return eqes_; }
    Pins &pins() { return pins_; }
    Dut &dut() { return *dut_; }

    std::shared_ptr<Answer> post(unsigned port, const Req &req);
    std::shared_ptr<OpAnswer> post_op(unsigned port, const Op &op);
    Rsp access(const Req &req, unsigned port = 1);
    OpAnswer op(const Op &op, unsigned port = 0, bool drained = true);
    RawRead read(unsigned what, uint32_t idx);
    void give_back(const std::shared_ptr<Answer> &a);
    void give_back_all(); // and hold no more
    void run_until(const std::function<bool()> &done, int limit = 20000);
    void settle(); // until nothing is under way
    size_t waiting() const;

    const Model &model() const { return model_; }
    uint64_t accesses() const { return n_acc_; }
    uint64_t operations() const { return n_ops_; }
    uint64_t drains() const { return n_drains_; }
    const std::map<unsigned, uint64_t> &rules_seen() const { return rules_; }
    const std::vector<QpEvent> &events(int engine) const { return events_[engine]; }

private:
    struct Return {
        uint64_t at;
        std::shared_ptr<Answer> answer;
    };
    struct TraceItem {
        std::shared_ptr<Answer> access;
        std::shared_ptr<OpAnswer> op;
    };

    std::unique_ptr<Dut> dut_;
    Pins pins_;
    std::vector<uint64_t> eqes_;
    Model model_;
    std::mt19937_64 rng_;
    uint64_t now_ = 0, n_acc_ = 0, n_ops_ = 0, n_drains_ = 0;
    std::map<unsigned, uint64_t> rules_;
    std::deque<std::pair<unsigned, std::shared_ptr<Answer>>> acc_queue_[kAcc];
    std::map<unsigned, std::shared_ptr<Answer>> acc_out_[kAcc];
    std::deque<std::pair<unsigned, std::shared_ptr<OpAnswer>>> op_queue_[kOps];
    std::map<unsigned, std::shared_ptr<OpAnswer>> op_exec_[kOps], op_drain_[kOps];
    std::deque<std::shared_ptr<Answer>> untraced_acc_[kAcc];
    std::deque<std::shared_ptr<OpAnswer>> untraced_op_[kOps];
    std::deque<Return> returns_[kAcc];
    std::vector<std::shared_ptr<Answer>> held_;
    std::vector<TraceItem> trace_;
    std::vector<QpEvent> events_[2];
    uint64_t ack_at_[2] = {0, 0};
    bool ack_set_[2] = {false, false};
    uint64_t ctxw_ack_at_ = 0;
    bool ctxw_set_ = false;

    unsigned free_tag(unsigned port) const;
    unsigned free_op_tag(unsigned port) const;
    void drive();
    void drive_acks();
    void sample();
    void sample_answers();
    void sample_trace();
    void check_access_trace();
    void check_op_trace();
    void check_drains();
    void check_end();
};

} // namespace prot
