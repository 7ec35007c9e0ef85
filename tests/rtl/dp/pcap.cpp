// SPDX-License-Identifier: Apache-2.0
// usage: dp_pcap FILE.pcap
// Runs packets of every RC opcode through the framer, writes them as a capture, and prints per frame what a
// dissector must find, tab-separated. Each frame stands in an ERF record (link type 197) of type InfiniBand:
// tshark 4.0 does not know link type 247, which has the same contents without the record header.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "Vframer.h"
#include "tests/rtl/dp/packet.h"
#include "tests/rtl/dp/stream.h"

namespace {

using bench::Bytes;

Bytes framed(bench::Bench<Vframer> &b, const packet::Packet &p)
{
    bench::Source payload;
    bench::Sink out;
    if (!p.payload.empty()) {
        payload.push(p.payload);
    }
    packet::Words hdr = packet::to_hdr(p);
    bool given = false;
    uint32_t keep = 0;
    for (int c = 0; out.frames.empty() && c < 1000; c++) {
        b.top.hdr_valid_i = !given;
        bench::put(b.top.hdr_i, hdr.data(), sizeof(hdr));
        payload.drive(b.top.pl_valid_i, b.top.pl_data_i, keep, b.top.pl_last_i, true);
        b.top.m_ready_i = 1;
        b.settle();
        given = given || b.top.hdr_ready_o;
        if (b.top.pl_valid_i && b.top.pl_ready_o) {
            payload.took();
        }
        if (b.top.m_valid_o) {
            out.take(b.top.m_data_o, b.top.m_keep_o, b.top.m_last_o);
        }
        b.tick();
    }
    return out.frames.empty() ? Bytes() : out.frames.front();
}

void put32(std::FILE *f, uint32_t v) { std::fwrite(&v, 4, 1, f); }

void write_header(std::FILE *f)
{
    put32(f, 0xa1b2c3d4);
    put32(f, 4u << 16 | 2); // version 2.4
    put32(f, 0);
    put32(f, 0);
    put32(f, 65535);
    put32(f, 197);
}

// A capture holds what is on the wire, the VCRC too, which this link leaves to the physical layer.
uint16_t vcrc(const Bytes &frame)
{
    uint16_t crc = 0xffff;
    for (uint8_t byte : frame) {
        for (int k = 0; k < 8; k++) {
            bool bit = (crc ^ (byte >> k)) & 1;
            crc = static_cast<uint16_t>((crc >> 1) ^ (bit ? 0xd008 : 0)); // 0x100b reflected
        }
    }
    return static_cast<uint16_t>(~crc);
}

// ERF record header: time stamp, type 21, flags, lengths big-endian.
void write_erf(std::FILE *f, size_t bytes, uint32_t second)
{
    uint8_t record = static_cast<uint8_t>((16 + bytes) >> 8), wire = static_cast<uint8_t>(bytes >> 8);
    const uint8_t rest[8] = {21, 4, record, static_cast<uint8_t>(16 + bytes), 0, 0, wire, static_cast<uint8_t>(bytes)};
    put32(f, 0);
    put32(f, second);
    std::fwrite(rest, 1, sizeof(rest), f);
}

void write_frame(std::FILE *f, Bytes frame, uint32_t second)
{
    uint16_t crc = vcrc(frame);
    frame.push_back(static_cast<uint8_t>(crc));
    frame.push_back(static_cast<uint8_t>(crc >> 8));
    put32(f, second);
    put32(f, 0);
    put32(f, static_cast<uint32_t>(16 + frame.size()));
    put32(f, static_cast<uint32_t>(16 + frame.size()));
    write_erf(f, frame.size(), second);
    std::fwrite(frame.data(), 1, frame.size(), f);
}

// Fields of headers that the packet lacks stay empty, as in tshark's own output.
void print_expected(const packet::Packet &p, const Bytes &frame)
{
    packet::Shape s = packet::shape(p.op);
    Bytes body(frame.begin(), frame.end() - 4);
    uint32_t crc = packet::icrc(body);
    std::printf("%u\t%zu\t%u\t%u\t%u", p.op, frame.size() / 4, p.psn, p.dest_qp, p.grh ? p.flow_label : 0);
    s.reth || s.atomic ? std::printf("\t%" PRIu64, p.va) : std::printf("\t");
    s.reth ? std::printf("\t%u", p.dmalen) : std::printf("\t");
    s.aeth ? std::printf("\t%u", p.msn) : std::printf("\t");
    std::printf("\t%08x\n", __builtin_bswap32(crc));
}

} // namespace

int main(int argc, char **argv)
{
    std::FILE *f = argc == 2 ? std::fopen(argv[1], "wb") : nullptr;
    if (!f) {
        std::fprintf(stderr, "usage: dp_pcap FILE.pcap\n");
        return 2;
    }
    bench::Bench<Vframer> b;
    bench::Random r(41);
    packet::Gids gids = packet::random_gids(r);
    b.top.lid_i = packet::kLid;
    bench::put(b.top.gids_i, gids.data(), gids.size());
    write_header(f);
    uint32_t second = 0;
    for (uint8_t op : packet::rc_ops()) {
        for (size_t len : {0u, 1u, 64u, 255u}) {
            packet::Packet p = packet::random_packet(r, op, len);
            p.pkey = 0xffff;
            p.dest_qp = 2 + r.below(0xffff00);
            p.syndrome = 0x1f;
            std::fill(p.payload.begin(), p.payload.end(), 0xa5); // no protocol that tshark would guess
            Bytes frame = framed(b, p);
            write_frame(f, frame, second++);
            print_expected(p, frame);
        }
    }
    return std::fclose(f) != 0;
}
