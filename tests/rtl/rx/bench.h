// SPDX-License-Identifier: Apache-2.0
// The responder under test among models of its neighbours: contexts, protection, host memory, completion and event queues,
// request deframer, response framer.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vrx_bench.h"
#include "bdy_regs.h"

namespace rx {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kQpnBase = BDY_QPN_BASE;
constexpr uint64_t kVaBase = 0x7f0000000000;   // program's view of the memory
constexpr uint64_t kBusBase = 0x40000000;      // device's view of it, pages scrambled
constexpr unsigned kPages = 1024;

// A request packet as the deframer shows it, or a response as the framer gets it.
struct Packet {
    std::array<uint64_t, BDY_PKT_HDR_WORDS> h{};
    Bytes data;

    uint8_t op() const { return bdy_pkt_hdr_get_op(h.data()); }
    uint32_t psn() const { return bdy_pkt_hdr_get_psn(h.data()); }
    uint8_t syndrome() const { return bdy_pkt_hdr_get_syndrome(h.data()); }
    uint32_t msn() const { return bdy_pkt_hdr_get_msn(h.data()); }
    uint32_t dest_qp() const { return bdy_pkt_hdr_get_dest_qp(h.data()); }
    uint64_t cycle = 0;   // responses: when the framer took the header
};

struct Cqe {
    std::array<uint64_t, BDY_CQE_WORDS> w{};
    uint32_t cqn = 0;

    uint32_t qpn() const { return bdy_cqe_get_qpn(w.data()); }
    uint8_t op() const { return bdy_cqe_get_op(w.data()); }
    uint8_t status() const { return bdy_cqe_get_status(w.data()); }
    uint16_t wqe_index() const { return bdy_cqe_get_wqe_index(w.data()); }
    uint32_t byte_len() const { return bdy_cqe_get_byte_len(w.data()); }
    uint8_t rule() const { return bdy_cqe_get_rule(w.data()); }
};

struct Event {
    uint8_t kind;
    uint32_t number;
    uint32_t data;
};

// What the protection model knows under a key.
struct Key {
    uint64_t start, len;
    uint8_t rights;
    uint32_t pd = 1;
    bool local = true;   // names a region: may be used as a local key
};

struct Sge {
    uint64_t va;
    uint32_t len, key;
};

struct Qp {
    std::array<uint64_t, BDY_QP_CTX0_WORDS> c0{};
    std::array<uint64_t, BDY_QP_CTX1_WORDS> c1{};
    uint32_t gen = 1;
    uint16_t pi = 0;          // receive WQEs posted

    uint8_t st() const { return bdy_qp_ctx0_get_st(c0.data()); }
};

enum Count { kUnknownQp, kBadState, kBadPkey, kDuplicate, kOutOfSeq, kRnr, kStale, kRefused, kReadRefused, kCounts };

class Bench {
  public:
    explicit Bench(uint32_t seed, unsigned max_latency = 0);
    ~Bench();

    void tick();
    void run(unsigned cycles) { while (cycles--) tick(); }
    // Runs until `done`; false after `limit` cycles.
    bool run_until(const std::function<bool()> &done, unsigned limit = 200000);
    // Until the device has nothing left to do.
    bool settle(unsigned limit = 200000);
    uint64_t now() const { return cycle; }

    // ---- host memory, by the program's addresses
    void poke(uint64_t va, const Bytes &data);
    Bytes peek(uint64_t va, size_t len);

    // ---- queue pairs: `qp` is the context slot
    void make_rtr(unsigned qp, uint32_t psn, unsigned mtu = 1, uint8_t rights = 0x0f, uint64_t rq_ring_va = 0,
                  unsigned rq_log = 4, unsigned rq_stride = 1);
    void set_state(unsigned qp, unsigned st, bool bump = false);   // at once; its event follows
    void post_recv(unsigned qp, const std::vector<Sge> &sges, bool ring = true);
    void doorbell(unsigned qp, uint16_t index);
    uint64_t rwqe_va(unsigned qp, uint16_t index) const;

    // ---- packets
    void send(const Packet &p) { in.push_back(p); }
    size_t pending() const { return in.size(); }

    // knobs
    unsigned max_latency;
    unsigned resp_stall = 0;          // percent of cycles in which the framer takes nothing
    unsigned cqe_latency = 3;
    unsigned acc_latency_min = 0;     // added to every verdict
    uint16_t nak_delay = 0;
    bool framer_blocked = false, acc_blocked = false, op_blocked = false, event_blocked = false, mem_blocked = false;
    bool cqe_fails = false;

    // what happened
    std::vector<Packet> out;
    std::vector<Cqe> cqes;
    std::vector<Event> events;
    std::array<unsigned, kCounts> counts{};
    std::vector<uint8_t> refused_rules;
    std::vector<std::string> faults;  // broken rules of the seams
    unsigned long bytes_written = 0;
    std::vector<uint64_t> cqe_done_at;
    unsigned acc_requests[2] = {0, 0};
    unsigned events_pending() const { return static_cast<unsigned>(qpevs.size()); }

    std::map<uint32_t, Key> keys;
    std::map<unsigned, Qp> qps;
    std::mt19937 rng;

    // Called with each access request before its verdict: a test changes keys here.
    std::function<void(unsigned port, uint64_t va, uint32_t len)> on_access;
    bool bus_fault(uint64_t bus) const { return bus < kBusBase || bus >= kBusBase + kPages * 4096ull; }
    uint64_t bus_of(uint64_t va) const;
    uint64_t unmapped_va = 0;         // page whose translation names no memory

    bool idle() const;

  private:
    struct Verdict {
        unsigned port;
        uint64_t due;
        std::array<uint64_t, BDY_ACC_RSP_WORDS> rsp;
    };
    struct Write {
        uint64_t addr;
        unsigned len;
        Bytes data;
        bool complete = false;
        uint64_t due = 0;
    };
    struct Read {
        uint64_t addr;
        unsigned len, sent = 0;
        uint64_t due;
    };
    struct QpEvent {
        unsigned qp, st;
        bool bump;
    };
    struct Op {
        uint32_t qpn;
        uint64_t due;
    };

    bool chance(unsigned percent) { return rng() % 100 < percent; }
    uint64_t latency() { return max_latency ? rng() % (max_latency + 1) : 0; }
    void fault(const std::string &what) { faults.push_back(what + " at cycle " + std::to_string(cycle)); }
    void drive();
    void sample();
    void take_access(unsigned port, const uint64_t *req);
    void finish_write(const Write &w);
    void take_response_beat();

    std::unique_ptr<VerilatedContext> vctx;
    std::unique_ptr<Vrx_bench> top;
    uint64_t cycle = 1000;

    std::vector<uint8_t> memory;
    unsigned ctx_idx[3] = {0, 0, 0};
    std::deque<QpEvent> qpevs;
    bool pst_stalled = false;
    std::deque<Packet> in;
    bool pkt_taken = false;
    Packet pkt;
    std::deque<std::array<unsigned, 3>> prqs;     // offset, length, sent
    std::vector<Verdict> verdicts;
    unsigned epoch = 0;
    int grants[2][2] = {{0, 0}, {0, 0}};          // port, epoch
    std::deque<Write> writes;
    std::deque<Read> reads[2];
    std::deque<uint64_t> cqe_due;
    std::deque<Op> ops;
    std::deque<std::array<uint16_t, 2>> doorbells;
    bool ope_now = false;
    uint8_t ope_rule = 0;
    int read_now = -1;                             // client answered this cycle
    int verdict_now = -1;
    bool wrb_now = false, cqe_done_now = false;
    bool rsp_open = false;                         // a response's payload is expected
    // stability of offers while stalled
    std::array<uint64_t, BDY_PKT_HDR_WORDS> stalled_hdr{};
    bool hdr_stalled = false;
};

// Messages of a requester, cut into packets.
class Requester {
  public:
    Requester(unsigned qp, uint32_t psn, unsigned mtu = 1) : qp(qp), psn(psn), mtu_bytes(128u << mtu) {}

    Packet base(uint8_t op, uint32_t at_psn) const;
    std::vector<Packet> send(const Bytes &data, bool with_imm = false, uint32_t imm = 0, bool se = false);
    std::vector<Packet> write(uint64_t va, uint32_t key, const Bytes &data, bool with_imm = false, uint32_t imm = 0);
    Packet read(uint64_t va, uint32_t key, uint32_t len);
    uint32_t packets(uint32_t len) const { return len ? (len + mtu_bytes - 1) / mtu_bytes : 1; }

    unsigned qp;
    uint32_t psn;
    unsigned mtu_bytes;

  private:
    std::vector<Packet> cut(const Bytes &data, uint8_t first, bool with_imm);
};

Bytes pattern(uint32_t seed, size_t len);
void set_reth(Packet &p, uint64_t va, uint32_t key, uint32_t len);

}  // namespace rx
