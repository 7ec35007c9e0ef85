// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/dp/packet.h"

#include <cstring>

namespace packet {
namespace {

void put8(Bytes &b, uint64_t v) { b.push_back(static_cast<uint8_t>(v)); }

void put_be(Bytes &b, uint64_t v, int bytes)
{
    for (int k = bytes - 1; k >= 0; k--) {
        put8(b, v >> (8 * k));
    }
}

void put_lrh(Bytes &b, const Packet &p, uint16_t slid, size_t words)
{
    put8(b, 0x00);                              // virtual lane 0, version 0
    put8(b, p.sl << 4 | (p.grh ? 3 : 2));       // next header: GRH or BTH
    put_be(b, p.dlid, 2);
    put_be(b, words, 2);
    put_be(b, slid, 2);
}

void put_grh(Bytes &b, const Packet &p, size_t bytes, const Gids &gids)
{
    put_be(b, 6u << 28 | static_cast<uint32_t>(p.tclass) << 20 | p.flow_label, 4);
    put_be(b, bytes, 2);
    put8(b, 0x1b);
    put8(b, p.hop_limit);
    b.insert(b.end(), gids.begin() + 16 * p.sgid_index, gids.begin() + 16 * p.sgid_index + 16);
    b.insert(b.end(), p.dgid.begin(), p.dgid.end());
}

void put_ext(Bytes &b, const Packet &p, const Shape &s)
{
    if (s.deth) {
        put_be(b, p.qkey, 4);
        put_be(b, p.src_qp, 4);
    }
    if (s.reth || s.atomic) {
        put_be(b, p.va, 8);
        put_be(b, p.rkey, 4);
    }
    if (s.reth) {
        put_be(b, p.dmalen, 4);
    }
    if (s.atomic) {
        put_be(b, p.swap_add, 8);
        put_be(b, p.cmp, 8);
    }
    if (s.aeth) {
        put8(b, p.syndrome);
        put_be(b, p.msn, 3);
    }
    if (s.aack) {
        put_be(b, p.swap_add, 8);
    }
    if (s.imm) {
        put_be(b, p.imm, 4);
    }
    if (s.ieth) {
        put_be(b, p.ieth, 4);
    }
}

} // namespace

bool known(uint8_t op)
{
    unsigned rc = op & 0x1f;
    switch (op >> 5) {
    case 0: return rc <= 0x17 && rc != 0x15;
    case 1: return rc <= 0x0b;
    case 3: return rc == 4 || rc == 5;
    default: return false;
    }
}

Shape shape(uint8_t op)
{
    Shape s;
    s.deth = op >> 5 == 3;
    unsigned rc = op & 0x1f;
    s.imm = rc == 0x03 || rc == 0x05 || rc == 0x09 || rc == 0x0b;
    s.ieth = rc == 0x16 || rc == 0x17;
    s.reth = rc == 0x06 || rc == 0x0a || rc == 0x0b || rc == 0x0c;
    s.aeth = rc == 0x0d || rc == 0x0f || rc == 0x10 || rc == 0x11 || rc == 0x12;
    s.aack = rc == 0x12;
    s.atomic = rc == 0x13 || rc == 0x14;
    s.response = rc >= 0x0d && rc <= 0x12;
    s.payload = rc != 0x0c && rc != 0x11 && rc != 0x12 && !s.atomic;
    return s;
}

uint32_t icrc(Bytes f)
{
    bool global = (f.at(1) & 3) == 3;
    f[0] |= 0xf0;
    if (global) {
        f.at(8) |= 0x0f;
        f.at(9) = f.at(10) = f.at(11) = 0xff;
        f.at(15) = 0xff;
    }
    f.at(8 + (global ? 40 : 0) + 4) = 0xff;
    uint32_t crc = 0xffffffff;
    for (uint8_t byte : f) {
        for (int k = 0; k < 8; k++) {
            bool bit = (crc ^ (byte >> k)) & 1;
            crc = (crc >> 1) ^ (bit ? 0xedb88320 : 0);
        }
    }
    return ~crc;
}

Bytes with_icrc(Bytes body)
{
    uint32_t crc = icrc(body);
    for (int k = 0; k < 4; k++) {
        body.push_back(static_cast<uint8_t>(crc >> (8 * k)));
    }
    return body;
}

Bytes frame(const Packet &p, uint16_t slid, const Gids &gids)
{
    Shape s = shape(p.op);
    size_t pad = (4 - p.payload.size() % 4) % 4;
    Bytes transport;
    put8(transport, p.op);
    put8(transport, p.se << 7 | 1 << 6 | pad << 4);
    put_be(transport, p.pkey, 2);
    put_be(transport, p.dest_qp, 4);
    put_be(transport, static_cast<uint64_t>(p.ackreq) << 31 | p.psn, 4);
    put_ext(transport, p, s);
    transport.insert(transport.end(), p.payload.begin(), p.payload.end());
    transport.resize(transport.size() + pad, 0);

    size_t behind_grh = transport.size() + 4;
    Bytes f;
    put_lrh(f, p, slid, (8 + (p.grh ? 40 : 0) + behind_grh) / 4);
    if (p.grh) {
        put_grh(f, p, behind_grh, gids);
    }
    f.insert(f.end(), transport.begin(), transport.end());
    return with_icrc(f);
}

Words to_hdr(const Packet &p)
{
    Words w{};
    uint64_t gid[2];
    std::memcpy(gid, p.dgid.data(), 16);
    bdy_pkt_hdr_set_op(w.data(), p.op);
    bdy_pkt_hdr_set_se(w.data(), p.se);
    bdy_pkt_hdr_set_ackreq(w.data(), p.ackreq);
    bdy_pkt_hdr_set_grh(w.data(), p.grh);
    bdy_pkt_hdr_set_pkey(w.data(), p.pkey);
    bdy_pkt_hdr_set_dest_qp(w.data(), p.dest_qp);
    bdy_pkt_hdr_set_sl(w.data(), p.sl);
    bdy_pkt_hdr_set_psn(w.data(), p.psn);
    bdy_pkt_hdr_set_syndrome(w.data(), p.syndrome);
    bdy_pkt_hdr_set_msn(w.data(), p.msn);
    bdy_pkt_hdr_set_va(w.data(), p.va);
    bdy_pkt_hdr_set_rkey(w.data(), p.rkey);
    bdy_pkt_hdr_set_dmalen(w.data(), p.dmalen);
    bdy_pkt_hdr_set_imm(w.data(), p.imm);
    bdy_pkt_hdr_set_ieth(w.data(), p.ieth);
    bdy_pkt_hdr_set_paylen(w.data(), p.payload.size());
    bdy_pkt_hdr_set_dlid(w.data(), p.dlid);
    bdy_pkt_hdr_set_flow_label(w.data(), p.flow_label);
    bdy_pkt_hdr_set_tclass(w.data(), p.tclass);
    bdy_pkt_hdr_set_hop_limit(w.data(), p.hop_limit);
    bdy_pkt_hdr_set_sgid_index(w.data(), p.sgid_index);
    bdy_pkt_hdr_set_gid_lo(w.data(), gid[0]);
    bdy_pkt_hdr_set_gid_hi(w.data(), gid[1]);
    bdy_pkt_hdr_set_qkey(w.data(), p.qkey);
    bdy_pkt_hdr_set_src_qp(w.data(), p.src_qp);
    bdy_pkt_hdr_set_swap_add(w.data(), p.swap_add);
    bdy_pkt_hdr_set_cmp(w.data(), p.cmp);
    return w;
}

Words received(const Packet &p, uint16_t slid, const Gids &gids)
{
    Shape s = shape(p.op);
    Packet q = p; // what the packet does not carry is zero
    if (!s.deth) {
        q.qkey = q.src_qp = 0;
    }
    if (!s.reth && !s.atomic) {
        q.va = q.rkey = 0;
    }
    q.dmalen = s.reth ? q.dmalen : 0;
    q.swap_add = s.atomic || s.aack ? q.swap_add : 0;
    q.cmp = s.atomic ? q.cmp : 0;
    if (!s.aeth) {
        q.syndrome = q.msn = 0;
    }
    q.imm = s.imm ? q.imm : 0;
    q.ieth = s.ieth ? q.ieth : 0;
    std::memcpy(q.dgid.data(), gids.data() + 16 * p.sgid_index, 16);
    q.sgid_index = 0;
    if (!p.grh) {
        q.tclass = q.hop_limit = 0;
        q.flow_label = 0;
        q.dgid.fill(0);
    }
    Words w = to_hdr(q);
    bdy_pkt_hdr_set_slid(w.data(), slid);
    bdy_pkt_hdr_set_pad(w.data(), (4 - p.payload.size() % 4) % 4);
    return w;
}

Packet random_packet(bench::Random &r, uint8_t op, size_t paylen)
{
    Packet p;
    p.op = op;
    p.se = r.chance(50);
    p.ackreq = r.chance(50);
    p.grh = r.chance(50);
    p.pkey = static_cast<uint16_t>(r.bits());
    p.dest_qp = r.bits() & 0xffffff;
    p.psn = r.bits() & 0xffffff;
    p.msn = r.bits() & 0xffffff;
    p.src_qp = r.bits() & 0xffffff;
    p.rkey = static_cast<uint32_t>(r.bits());
    p.dmalen = static_cast<uint32_t>(r.bits());
    p.imm = static_cast<uint32_t>(r.bits());
    p.ieth = static_cast<uint32_t>(r.bits());
    p.qkey = static_cast<uint32_t>(r.bits());
    p.sl = r.bits() & 15;
    p.syndrome = static_cast<uint8_t>(r.bits());
    p.tclass = static_cast<uint8_t>(r.bits());
    p.hop_limit = static_cast<uint8_t>(r.bits());
    p.flow_label = r.bits() & 0xfffff;
    p.sgid_index = static_cast<uint8_t>(r.below(3));
    p.va = r.bits();
    p.swap_add = r.bits();
    p.cmp = r.bits();
    for (auto &x : p.dgid) {
        x = static_cast<uint8_t>(r.bits());
    }
    p.payload = shape(op).payload ? r.bytes(paylen) : Bytes();
    return p;
}

std::vector<uint8_t> rc_ops()
{
    std::vector<uint8_t> ops;
    for (unsigned op = 0; op < 0x20; op++) {
        if (known(static_cast<uint8_t>(op))) {
            ops.push_back(static_cast<uint8_t>(op));
        }
    }
    return ops;
}

Gids random_gids(bench::Random &r)
{
    Gids g;
    for (auto &x : g) {
        x = static_cast<uint8_t>(r.bits());
    }
    return g;
}

} // namespace packet
