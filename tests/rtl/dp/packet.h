// SPDX-License-Identifier: Apache-2.0
// An InfiniBand packet as the tests see it: fields, and the frame that the standard makes of them. Written
// from the standard's byte layout alone, so that it is independent of the RTL.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bdy_regs.h"
#include "tests/rtl/dp/bench.h"

namespace packet {

using bench::Bytes;

constexpr uint16_t kLid = 0x1234;

struct Packet {
    uint8_t op = BDY_BTH_OP_SEND_ONLY;
    bool se = false, ackreq = false, grh = false;
    uint16_t pkey = 0xffff, dlid = kLid;
    uint32_t dest_qp = 0, psn = 0, msn = 0, rkey = 0, dmalen = 0, imm = 0, ieth = 0, qkey = 0, src_qp = 0;
    uint8_t sl = 0, syndrome = 0, tclass = 0, hop_limit = 64, sgid_index = 0;
    uint32_t flow_label = 0;
    uint64_t va = 0, swap_add = 0, cmp = 0;
    std::array<uint8_t, 16> dgid{}; // in memory order
    Bytes payload;
};

using Gids = std::array<uint8_t, 48>;
using Words = std::array<uint64_t, BDY_PKT_HDR_WORDS>;

// Which extension headers an opcode has.
struct Shape {
    bool deth = false, reth = false, atomic = false, aeth = false, aack = false, imm = false, ieth = false;
    bool response = false, payload = false;
};

bool known(uint8_t op); // RC, UC and UD opcodes of the standard
Shape shape(uint8_t op);

uint32_t icrc(Bytes frame_without_icrc); // bit by bit
Bytes frame(const Packet &p, uint16_t slid, const Gids &gids);
Bytes with_icrc(Bytes body); // appends it

Words to_hdr(const Packet &p);
// Fields that the receiver must find, as the words of a pkt_hdr with arrival 0.
Words received(const Packet &p, uint16_t slid, const Gids &gids);

Packet random_packet(bench::Random &r, uint8_t op, size_t paylen);
std::vector<uint8_t> rc_ops();
Gids random_gids(bench::Random &r);

} // namespace packet
