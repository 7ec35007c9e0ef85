// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#include <algorithm>
#include <cstring>

namespace sq
{

static constexpr uint32_t PsnMask = 0xffffff;

Peer::Peer(Bench &bench, unsigned qp) : bench_(bench), qp_(qp)
{
    epsn = uint32_t(bdy_qp_ctx0_get_sq_psn(bench.ctx0(qp).data()));
    mtu_ = 128u << bdy_qp_ctx0_get_mtu(bench.ctx0(qp).data());
    transport_ = bdy_qp_ctx0_get_kind(bench.ctx0(qp).data()) == BDY_QP_KIND_XRC_SEND ? BDY_BTH_TR_XRC
                                                                                    : BDY_BTH_TR_RC;
    for (size_t i = 0; i < memory.size(); i++)
        memory[i] = uint8_t(i * 7 + (i >> 8));
}

void Peer::request(const Packet &p)
{
    if (hit(drop))
        return;
    if (hit(reorder) && !has_late_) {
        late_ = p;
        has_late_ = true;
        return;
    }
    arrive(p);
    if (hit(dup))
        arrive(p);
    if (has_late_) {
        has_late_ = false;
        arrive(late_);
    }
}

void Peer::arrive(const Packet &p)
{
    if (p.op() >> 5 != transport_)
        abort(); // the bench is wired wrongly
    uint32_t ahead = (p.psn() - epsn) & PsnMask;
    if (ahead != 0 && ahead < 0x800000) {
        if (!nak_sent_) {
            naks++;
            answer(BDY_BTH_OP_ACK, epsn, BDY_AETH_NAK_SEQ);
        }
        nak_sent_ = true;
        return;
    }
    if (ahead != 0) { // duplicate
        if (p.rc_op() == BDY_BTH_OP_READ_REQ)
            read(p);
        else if (results_.count(p.psn()))
            result(p);
        else if (p.ackreq())
            answer(BDY_BTH_OP_ACK, (epsn - 1) & PsnMask, BDY_AETH_ACK);
        return;
    }
    nak_sent_ = false;
    if (rnr > 0) {
        rnr--;
        answer(BDY_BTH_OP_ACK, epsn, BDY_AETH_RNR | rnr_code);
        return;
    }
    if (refuse != 0) {
        answer(BDY_BTH_OP_ACK, epsn, refuse);
        refuse = 0;
        return;
    }
    execute(p);
}

void Peer::execute(const Packet &p)
{
    const uint64_t *h = p.hdr.data();
    unsigned op = p.rc_op();
    if (op == BDY_BTH_OP_FETCH_ADD || op == BDY_BTH_OP_CMP_SWAP) {
        results_[p.psn()] = modify(p);
        epsn = (epsn + 1) & PsnMask;
        msn_++;
        atomics++;
        result(p);
        return;
    }
    if (op == BDY_BTH_OP_READ_REQ) {
        uint32_t n = std::max<uint32_t>(1, uint32_t((bdy_pkt_hdr_get_dmalen(h) + mtu_ - 1) / mtu_));
        epsn = (epsn + n) & PsnMask;
        msn_++;
        reads++;
        read(p);
        return;
    }
    epsn = (epsn + 1) & PsnMask;
    bool is_write = op >= BDY_BTH_OP_WRITE_FIRST && op <= BDY_BTH_OP_WRITE_ONLY_IMM;
    bool first = op == BDY_BTH_OP_SEND_FIRST || op == BDY_BTH_OP_SEND_ONLY ||
                 op == BDY_BTH_OP_SEND_ONLY_IMM || op == BDY_BTH_OP_SEND_ONLY_INV ||
                 op == BDY_BTH_OP_WRITE_FIRST ||
                 op == BDY_BTH_OP_WRITE_ONLY || op == BDY_BTH_OP_WRITE_ONLY_IMM;
    bool last = op != BDY_BTH_OP_SEND_FIRST && op != BDY_BTH_OP_SEND_MIDDLE &&
                op != BDY_BTH_OP_WRITE_FIRST && op != BDY_BTH_OP_WRITE_MIDDLE;
    bool imm = op == BDY_BTH_OP_SEND_LAST_IMM || op == BDY_BTH_OP_SEND_ONLY_IMM ||
               op == BDY_BTH_OP_WRITE_LAST_IMM || op == BDY_BTH_OP_WRITE_ONLY_IMM;
    bool inv = op == BDY_BTH_OP_SEND_LAST_INV || op == BDY_BTH_OP_SEND_ONLY_INV;
    if (first) {
        partial_.clear();
        write_at_ = bdy_pkt_hdr_get_va(h);
    }
    if (is_write && !p.data.empty()) {
        memcpy(&memory.at(write_at_ - base + p.data.size() - 1) - (p.data.size() - 1),
               p.data.data(), p.data.size());
        write_at_ += p.data.size();
    } else {
        partial_.insert(partial_.end(), p.data.begin(), p.data.end());
    }
    if (last) {
        msn_++;
        if (is_write)
            writes++;
        if (is_write && imm)
            write_imms++;
        if (!is_write) {
            received.push_back(
                {partial_, imm, uint32_t(bdy_pkt_hdr_get_imm(h)), bdy_pkt_hdr_get_se(h) != 0, inv,
                 uint32_t(bdy_pkt_hdr_get_ieth(h)), uint32_t(bdy_pkt_hdr_get_xrc_srqn(h))});
        }
    }
    if (!p.ackreq())
        return;
    held_back_ = coalesce;
    held_psn_ = p.psn();
    if (!coalesce)
        answer(BDY_BTH_OP_ACK, p.psn(), BDY_AETH_ACK);
}

uint64_t Peer::modify(const Packet &p)
{
    const uint64_t *h = p.hdr.data();
    uint8_t *at = &memory.at(bdy_pkt_hdr_get_va(h) - base);
    uint64_t old, now;
    memcpy(&old, at, 8);
    if (p.rc_op() == BDY_BTH_OP_FETCH_ADD)
        now = old + bdy_pkt_hdr_get_swap_add(h);
    else
        now = old == bdy_pkt_hdr_get_cmp(h) ? bdy_pkt_hdr_get_swap_add(h) : old;
    memcpy(at, &now, 8);
    return old;
}

void Peer::result(const Packet &p)
{
    Bytes data(8);
    memcpy(data.data(), &results_.at(p.psn()), 8);
    answer(BDY_BTH_OP_ATOMIC_ACK, p.psn(), BDY_AETH_ACK, data);
}

void Peer::flush()
{
    if (held_back_)
        answer(BDY_BTH_OP_ACK, held_psn_, BDY_AETH_ACK);
    held_back_ = false;
}

void Peer::read(const Packet &p)
{
    const uint64_t *h = p.hdr.data();
    uint32_t len = uint32_t(bdy_pkt_hdr_get_dmalen(h)), psn = p.psn(), off = 0;
    uint64_t at = bdy_pkt_hdr_get_va(h) - base;
    bool first = true;
    do {
        uint32_t n = std::min(mtu_, len - off);
        bool last = off + n == len;
        Bytes data(memory.begin() + long(at + off), memory.begin() + long(at + off + n));
        answer(first ? (last ? BDY_BTH_OP_READ_RESP_ONLY : BDY_BTH_OP_READ_RESP_FIRST)
                     : (last ? BDY_BTH_OP_READ_RESP_LAST : BDY_BTH_OP_READ_RESP_MIDDLE),
               psn, BDY_AETH_ACK, data);
        first = false;
        psn = (psn + 1) & PsnMask;
        off += n;
    } while (off < len);
}

void Peer::answer(unsigned op, uint32_t psn, unsigned syndrome, Bytes data)
{
    if (silent || hit(drop))
        return;
    Packet p;
    uint64_t *h = p.hdr.data();
    bdy_pkt_hdr_set_op(h, transport_ << 5 | op);
    bdy_pkt_hdr_set_pkey(h, 0xffff);
    bdy_pkt_hdr_set_dest_qp(h, BDY_QPN_BASE + qp_);
    bdy_pkt_hdr_set_psn(h, psn);
    bdy_pkt_hdr_set_syndrome(h, op == BDY_BTH_OP_READ_RESP_MIDDLE ? 0 : syndrome);
    bdy_pkt_hdr_set_msn(h, msn_);
    bdy_pkt_hdr_set_paylen(h, data.size());
    p.data = std::move(data);
    if (hit(reorder) && !has_late_rsp_) {
        late_rsp_ = p;
        has_late_rsp_ = true;
        return;
    }
    bench_.respond(p, 1 + int(bench_.rng() % unsigned(delay_max)));
    if (hit(dup))
        bench_.respond(p, 1);
    if (has_late_rsp_) {
        has_late_rsp_ = false;
        bench_.respond(late_rsp_, 1);
    }
}

} // namespace sq
