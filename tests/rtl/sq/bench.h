// SPDX-License-Identifier: Apache-2.0
// The requester's neighbours in C++: contexts, bind pipeline, access, DMA, framer, deframer,
// completion queues. Each answers after a seeded random delay; what a test wants to decide itself
// it sets through the hooks.
#ifndef TESTS_RTL_SQ_BENCH_H
#define TESTS_RTL_SQ_BENCH_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "Vbdy_sq.h"
#include "bdy_regs.h"

namespace sq
{

using Bytes = std::vector<uint8_t>;

// The model was built with every list one deep (H13).
#ifdef BDY_SHALLOW
constexpr bool Shallow = true;
#else
constexpr bool Shallow = false;
#endif

struct Packet {
    std::array<uint64_t, 16> hdr{};
    Bytes data;
    unsigned op() const
    {
        return unsigned(bdy_pkt_hdr_get_op(hdr.data()));
    }
    unsigned rc_op() const // in RC's numbering
    {
        return op() & 0x1f;
    }
    uint32_t psn() const
    {
        return uint32_t(bdy_pkt_hdr_get_psn(hdr.data()));
    }
    uint32_t qpn() const
    {
        return uint32_t(bdy_pkt_hdr_get_dest_qp(hdr.data()));
    }
    bool ackreq() const
    {
        return bdy_pkt_hdr_get_ackreq(hdr.data()) != 0;
    }
};

struct Cqe {
    std::array<uint64_t, 8> w{};
    uint32_t cqn = 0;
    uint64_t cycle = 0;
    unsigned qp() const
    {
        return unsigned(bdy_cqe_get_qpn(w.data())) - BDY_QPN_BASE;
    }
    unsigned status() const
    {
        return unsigned(bdy_cqe_get_status(w.data()));
    }
    unsigned op() const
    {
        return unsigned(bdy_cqe_get_op(w.data()));
    }
    unsigned index() const
    {
        return unsigned(bdy_cqe_get_wqe_index(w.data()));
    }
    unsigned rule() const
    {
        return unsigned(bdy_cqe_get_rule(w.data()));
    }
    unsigned syndrome() const
    {
        return unsigned(bdy_cqe_get_syndrome(w.data()));
    }
    bool executed() const
    {
        return bdy_cqe_get_executed(w.data()) != 0;
    }
    uint32_t rkey() const
    {
        return uint32_t(bdy_cqe_get_rkey(w.data()));
    }
    uint32_t byte_len() const
    {
        return uint32_t(bdy_cqe_get_byte_len(w.data()));
    }
};

struct Op {
    std::array<uint64_t, 16> w{};
    unsigned tag = 0;
    uint64_t cycle = 0;
    unsigned op() const
    {
        return unsigned(bdy_prot_op_get_op(w.data()));
    }
    unsigned qp() const
    {
        return unsigned(bdy_prot_op_get_qpn(w.data())) - BDY_QPN_BASE;
    }
    uint32_t key() const
    {
        return uint32_t(bdy_prot_op_get_key(w.data()));
    }
};

struct OpReply {
    unsigned rule = BDY_RULE_NONE;
    uint32_t res = 0;
    bool drain = false;
    int exec_delay = 1, drain_delay = 1;
};

struct Sge {
    uint64_t addr;
    uint32_t len, lkey;
};

struct Wr {
    unsigned op = BDY_WQE_OP_SEND;
    bool fence = false, signaled = true, solicited = false;
    uint32_t imm = 0, inv_key = 0;
    uint64_t addr = 0;
    uint32_t rkey = 0;
    unsigned rights = 0, new_key = 0;
    uint64_t bind_len = 0;
    uint64_t swap_add = 0, compare = 0;
    uint32_t xrc_srqn = 0;
    std::vector<Sge> sges;
    Bytes inl;
    bool is_atomic() const
    {
        return op == BDY_WQE_OP_FETCH_ADD || op == BDY_WQE_OP_CMP_SWAP;
    }
    bool is_inline = false;
};

struct Region {
    uint64_t va, len;
    uint8_t rights;
    uint32_t pd;
};

// Host memory by bus page. A page not written yet reads as zero; pages in `bad` answer with an
// error.
class Memory
{
  public:
    std::set<uint64_t> bad;
    bool ok(uint64_t addr, size_t n) const;
    void read(uint64_t addr, uint8_t *to, size_t n) const;
    void write(uint64_t addr, const uint8_t *from, size_t n);

  private:
    std::map<uint64_t, std::array<uint8_t, 4096>> pages_;
};

struct Qp {
    uint64_t ring = 0;
    unsigned log = 0;
    uint16_t pi = 0;
};

class Bench
{
  public:
    static constexpr unsigned Qps = 256;

    explicit Bench(uint32_t seed = 1, bool slow = false);

    // ------------------------------------------------ set-up
    std::array<uint64_t, 8> &ctx0(unsigned qp)
    {
        return ctx0_[qp];
    }
    std::array<uint64_t, 8> &ctx1(unsigned qp)
    {
        return ctx1_[qp];
    }
    // A queue pair in RTR with ring, PD 7, MTU 1024, peer 0x999, PSN 100, timeout 5, retry 7, RNR
    // retry 7, max_rd 16.
    void make_qp(unsigned qp, unsigned log = 6);
    void to_rts(unsigned qp); // make_qp, then RTS and the acknowledgement waited for
    void set_state(unsigned qp, unsigned st, bool bump = false); // event queued; see acked()
    bool acked() const
    {
        return events_.empty();
    }
    bool wait_acked(int cycles = 3000);
    // A local region of PD 7 at va; its bus pages are scattered.
    uint32_t region(uint64_t va, uint64_t len, uint8_t rights = BDY_ACCESS_BIT_LOCAL_WRITE,
                    uint32_t pd = 7);
    // Writes an address handle; see ah_written().
    void write_ah(unsigned num, const std::array<uint64_t, 8> &ah)
    {
        ahs_.push_back({num, ah});
    }
    bool ah_written() const
    {
        return ahs_.empty();
    }
    void put(uint64_t va, const Bytes &data);
    Bytes get(uint64_t va, size_t n);

    // ------------------------------------------------ posting
    std::vector<uint64_t> image(unsigned qp, const Wr &wr) const; // WQE words
    uint16_t post(unsigned qp, const Wr &wr); // writes the ring; returns the index
    uint16_t post_raw(unsigned qp, const std::vector<uint64_t> &words); // same from an image
    void ring(unsigned qp);                                             // doorbell
    uint16_t go(unsigned qp, const Wr &wr)
    {
        uint16_t i = post(qp, wr);
        ring(qp);
        return i;
    }
    void doorbell(unsigned qp, uint16_t index)
    {
        doorbells_.push_back({qp, index});
    }

    // ------------------------------------------------ running
    void step();
    void run(int cycles)
    {
        for (int i = 0; i < cycles; i++)
            step();
    }
    bool until(const std::function<bool()> &done, int cycles = 20000);
    bool settle(int cycles = 200000); // until nothing moves but timers
    bool idle();                      // the requester and all neighbours
    uint64_t next_timer() const
    {
        return d->next_timer_o;
    }
    uint64_t now() const
    {
        return now_;
    }
    void jump(uint64_t cycle)
    {
        now_ = cycle;
    }

    // ------------------------------------------------ neighbours' behaviour
    std::function<OpReply(const Op &)> on_op; // QP_ERR is done by the bench unless on_qp_err is set
    std::function<void(const Packet &)> on_packet;       // a request has left
    std::function<unsigned(const uint64_t *)> on_access; // extra refusal of an access request: rule
    void respond(const Packet &p, int delay = 1)
    {
        responses_.push_back({p, now_ + uint64_t(delay)});
    }
    int min_delay = 1, max_delay = 1; // of memory and access answers
    int ready_percent = 100;          // of every ready towards the requester
    bool cq_dead = false;             // CQEs end in error
    bool hold_qp_err = false;         // the bind pipeline takes no QP_ERR
    bool hold_cqe = false;            // no CQE is taken
    bool hold_cqe_done = false;       // taken CQEs are not stored
    bool hold_framer = false;         // no packet is taken
    bool hold_stream = false;         // no payload is taken
    bool hold_write = false;          // no write response comes
    bool hold_payload_read = false;   // no payload data comes

    // ------------------------------------------------ what was seen
    std::vector<Cqe> cqes;
    std::vector<Op> ops;
    std::vector<Packet> packets;
    std::vector<uint64_t> events; // eqe words
    uint64_t wqe_reads = 0, payload_reads = 0;
    int grants_out = 0;
    uint64_t first_op_cycle = 0;
    Memory mem;
    std::map<uint32_t, Region> regions;
    std::array<Qp, Qps> qps;
    std::mt19937 rng;
    VerilatedContext vctx;
    std::unique_ptr<Vbdy_sq> d; // after its context

  private:
    struct Timed {
        Packet p;
        uint64_t at;
    };
    struct Read {
        unsigned client;
        uint64_t addr, at;
        unsigned len, done;
    };
    struct Answer {
        unsigned port;
        std::array<uint64_t, 4> w;
        uint64_t at;
    };
    struct Pending {
        Op op;
        OpReply reply;
        uint64_t at;
        bool executed;
        int acks;
    };
    struct Event {
        unsigned qp, st;
        bool bump;
    };
    struct Bell {
        unsigned qp;
        uint16_t index;
    };

    int delay()
    {
        return min_delay + int(rng() % unsigned(max_delay - min_delay + 1));
    }
    bool chance()
    {
        return int(rng() % 100) < ready_percent;
    }
    uint64_t bus(uint64_t va) const
    {
        return ((va >> 12) * 0x9e3779b1ull % 0xfffff) << 12 | (va & 0xfff);
    }
    void take_access(unsigned port, const uint64_t *req);
    void drive();
    void drive_reads();
    void drive_response();
    void observe();
    void observe_ops();
    void observe_writes();
    void observe_framer();
    void observe_response();
    void execute(Pending &p);

    uint64_t now_ = 0;
    std::array<std::array<uint64_t, 8>, Qps> ctx0_{}, ctx1_{};
    std::array<uint32_t, Qps> gen_{};
    unsigned ctx_sel_[2] = {0, 0};
    uint32_t next_key_ = 0x100;
    struct AhWrite {
        unsigned num;
        std::array<uint64_t, 8> ah;
    };
    std::deque<AhWrite> ahs_;
    std::deque<Bell> doorbells_;
    std::deque<Event> events_;
    unsigned acks_ = 0;
    std::deque<Read> reads_[2];
    std::vector<Answer> answers_;
    std::deque<Pending> pending_;
    std::vector<Pending> draining_;
    std::deque<uint64_t> cqe_done_;
    // write client
    bool wr_busy_ = false;
    uint64_t wr_addr_ = 0;
    unsigned wr_len_ = 0;
    Bytes wr_data_;
    std::deque<uint64_t> wr_b_;
    std::deque<bool> wr_b_err_;
    // framer
    bool framing_ = false;
    Packet frame_;
    // deframer
    std::deque<Timed> responses_;
    bool rsp_taken_ = false, rsp_streaming_ = false;
    Packet rsp_;
    unsigned st_off_ = 0, st_len_ = 0, st_done_ = 0;
    int picked_read_ = -1, picked_answer_ = -1, picked_drain_ = -1;
};

} // namespace sq

#endif
