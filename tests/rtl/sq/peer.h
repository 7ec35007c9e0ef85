// SPDX-License-Identifier: Apache-2.0
// A responder for the requester under test: in-order execution by PSN, duplicates, one NAK per gap,
// RNR on demand, and a lossy way in both directions.
#ifndef TESTS_RTL_SQ_PEER_H
#define TESTS_RTL_SQ_PEER_H

#include <map>

#include "bench.h"

namespace sq
{

struct Message { // SEND received
    Bytes data;
    bool has_imm = false;
    uint32_t imm = 0;
    bool solicited = false;
    bool has_inv = false;
    uint32_t inv = 0;
    uint32_t srqn = 0; // XRC
};

class Peer
{
  public:
    // Answers queue pair `qp` of the bench, whose context says PSN and MTU.
    Peer(Bench &bench, unsigned qp);

    void request(const Packet &p); // arrives, possibly to be lost

    // Memory under one remote key.
    uint32_t rkey = 0xabcd01;
    uint64_t base = 0x7000'0000;
    Bytes memory = Bytes(1 << 16);

    // Faults in percent, each packet and direction.
    int drop = 0, dup = 0, reorder = 0;
    int delay_max = 1;
    int rnr = 0; // so many RNR NAKs first
    unsigned rnr_code = 1;
    unsigned refuse = 0;   // syndrome that answers the next request that would be executed
    bool silent = false;   // answers nothing
    bool coalesce = false; // acknowledges only the last of what was asked for (see flush)
    void flush();          // the acknowledge held back

    std::vector<Message> received;
    unsigned writes = 0, write_imms = 0, reads = 0, atomics = 0, naks = 0;
    uint32_t epsn;

  private:
    void arrive(const Packet &p);
    void execute(const Packet &p);
    void read(const Packet &p);
    uint64_t modify(const Packet &p); // an atomic: returns the original value
    void result(const Packet &p);
    void answer(unsigned op, uint32_t psn, unsigned syndrome, Bytes data = {});
    bool hit(int percent)
    {
        return int(bench_.rng() % 100) < percent;
    }

    Bench &bench_;
    unsigned qp_;
    uint32_t mtu_, msn_ = 0;
    unsigned transport_;
    std::map<uint32_t, uint64_t> results_; // of atomics by PSN, to be told again
    bool nak_sent_ = false;
    bool held_back_ = false;
    uint32_t held_psn_ = 0;
    Bytes partial_;
    uint64_t write_at_ = 0;
    bool has_late_ = false;
    Packet late_;
    bool has_late_rsp_ = false;
    Packet late_rsp_;
};

} // namespace sq

#endif
