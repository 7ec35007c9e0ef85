// SPDX-License-Identifier: Apache-2.0
// The data path of the test double: each work request in one go, without packets, time or caches.

#include <infiniband/verbs.h>
#include <sys/uio.h>

#include <cstring>

#include "fake_hca.h"

namespace fake
{

bool Hca::client_read(uint32_t ctx, uint64_t va, void *to, size_t bytes) const
{
    const iovec local = {to, bytes}, remote = {reinterpret_cast<void *>(va), bytes};
    return bytes == 0 || process_vm_readv(contexts.at(ctx).pid, &local, 1, &remote, 1, 0) ==
                             static_cast<ssize_t>(bytes);
}

bool Hca::client_write(uint32_t ctx, uint64_t va, const void *from, size_t bytes) const
{
    const iovec local = {const_cast<void *>(from), bytes},
                remote = {reinterpret_cast<void *>(va), bytes};
    return bytes == 0 || process_vm_writev(contexts.at(ctx).pid, &local, 1, &remote, 1, 0) ==
                             static_cast<ssize_t>(bytes);
}

const uint64_t *Hca::slot(const Qp &qp, uint32_t index) const
{
    return qp.sq->words() + (index & ((1u << qp.sq_log) - 1)) * 8;
}

using Sges = std::vector<std::array<uint64_t, 2>>;

Sges Hca::send_sges(const Qp &qp, const uint64_t *w) const
{
    Sges sges;
    for (uint32_t i = 0; i < bdy_wqe_get_num_sge(w); i++) {
        const uint32_t at = BDY_SQ_SGE_OFFSET + i * BDY_SGE_BYTES;
        const uint64_t *sge = slot(qp, qp.sq_ci + at / 64) + at % 64 / 8;
        sges.push_back({sge[0], sge[1]});
    }
    return sges;
}

// The region that a local key names, with the range inside it.
static Key *local(std::map<uint32_t, Key> &keys, uint32_t pd, const std::array<uint64_t, 2> &sge,
                  uint64_t *host)
{
    const auto lkey = static_cast<uint32_t>(bdy_sge_get_lkey(sge.data()));
    const uint64_t len = bdy_sge_get_len(sge.data());
    const auto found = keys.find(lkey >> 8);
    if (found == keys.end())
        return nullptr;
    Key &key = found->second;
    const uint64_t off = sge[0] - key.start;
    if (key.kind != BDY_MPT_KIND_MR || key.low != (lkey & 0xff) || key.pd != pd || off > key.len ||
        len > key.len - off)
        return nullptr;
    *host = key.host + off;
    return &key;
}

bool Hca::gather(const Qp &qp, const uint64_t *w, std::vector<uint8_t> *data)
{
    if (bdy_wqe_get_inl(w)) {
        for (uint32_t i = 0; i < bdy_wqe_get_inl_len(w); i++) {
            const uint32_t at = BDY_SQ_SGE_OFFSET + i;
            data->push_back(
                reinterpret_cast<const uint8_t *>(slot(qp, qp.sq_ci + at / 64))[at % 64]);
        }
        return true;
    }
    for (const auto &sge : send_sges(qp, w)) {
        const uint64_t len = bdy_sge_get_len(sge.data());
        uint64_t host;
        const size_t at = data->size();
        if (local(keys, qp.pd, sge, &host) == nullptr)
            return false;
        data->resize(at + len);
        if (!client_read(qp.ctx, host, data->data() + at, len))
            return false;
    }
    return true;
}

bool Hca::scatter(uint32_t ctx, uint32_t pd, const Sges &sges, const std::vector<uint8_t> &data)
{
    size_t at = 0;
    for (const auto &sge : sges) {
        const uint64_t n = std::min<uint64_t>(bdy_sge_get_len(sge.data()), data.size() - at);
        uint64_t host;
        const Key *key = local(keys, pd, sge, &host);
        if (key == nullptr || !(key->rights & IBV_ACCESS_LOCAL_WRITE) ||
            !client_write(ctx, host, &data[at], n))
            return false;
        at += n;
    }
    return at == data.size();
}

uint8_t Hca::remote(Qp &peer, uint32_t rkey, uint64_t va, uint64_t len, uint8_t right,
                    uint64_t *host)
{
    if (!(peer.attr.access & right))
        return BDY_WC_REM_INV_REQ_ERR;
    if (len == 0)
        return BDY_WC_SUCCESS;
    const auto found = keys.find(rkey >> 8);
    if (found == keys.end())
        return BDY_WC_REM_ACCESS_ERR;
    const Key &key = found->second;
    const bool window = key.kind != BDY_MPT_KIND_MR;
    const uint64_t off = va - key.start;
    const bool granted = key.low == (rkey & 0xff) && key.pd == peer.pd && (!window || key.bound) &&
                         (key.kind != BDY_MPT_KIND_MW2 || key.qpn == peer.qpn) &&
                         (key.rights & right) && off <= key.len && len <= key.len - off;
    *host = key.host + off;
    return granted ? BDY_WC_SUCCESS : BDY_WC_REM_ACCESS_ERR;
}

uint8_t Hca::execute_bind(Qp &qp, const uint64_t *w, uint8_t *rule)
{
    const bool type1 = bdy_wqe_get_op(w) == BDY_WQE_OP_BIND1;
    const auto old_key = static_cast<uint32_t>(bdy_wqe_get_inv_key(w));
    const auto lkey = static_cast<uint32_t>(bdy_wqe_get_rkey(w));
    const uint64_t addr = bdy_wqe_get_addr(w), len = bdy_wqe_get_w4(w);
    const auto rights = static_cast<uint8_t>(bdy_wqe_get_rights(w));
    const auto found = keys.find(old_key >> 8);
    auto no = [rule](uint8_t why) {
        *rule = why;
        return uint8_t{BDY_WC_MW_BIND_ERR};
    };
    if (found == keys.end() || found->second.kind == BDY_MPT_KIND_MR ||
        found->second.low != (old_key & 0xff))
        return no(BDY_RULE_B1);
    Key &mw = found->second;
    if ((mw.kind == BDY_MPT_KIND_MW1) != type1)
        return no(BDY_RULE_P2);
    if (mw.pd != qp.pd)
        return no(BDY_RULE_B4);
    const auto next_low = static_cast<uint8_t>(type1 ? mw.low + 1 : bdy_wqe_get_new_key(w));
    if (type1 && len == 0) {
        unbind(mw);
        mw.low = next_low;
        return BDY_WC_SUCCESS;
    }
    const auto region = keys.find(lkey >> 8);
    if (region == keys.end() || region->second.kind != BDY_MPT_KIND_MR ||
        region->second.low != (lkey & 0xff))
        return no(BDY_RULE_B2);
    Key &mr = region->second;
    if (mr.pd != mw.pd)
        return no(BDY_RULE_B5);
    if (!(mr.rights & IBV_ACCESS_MW_BIND))
        return no(BDY_RULE_B6);
    if (rights & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
        !(mr.rights & IBV_ACCESS_LOCAL_WRITE))
        return no(BDY_RULE_B7);
    if (addr < mr.start || addr - mr.start > mr.len || len > mr.len - (addr - mr.start))
        return no(BDY_RULE_B10);
    if (!type1 && (len == 0 || mw.bound))
        return no(len == 0 ? BDY_RULE_B18 : BDY_RULE_B20);
    unbind(mw);
    mw.bound = true;
    mw.low = next_low;
    mw.rights = rights;
    mw.host = mr.host + (addr - mr.start);
    mw.start = rights & IBV_ACCESS_ZERO_BASED ? 0 : addr;
    mw.len = len;
    mw.qpn = qp.qpn;
    mw.mr = region->first;
    mr.bound_windows++;
    return BDY_WC_SUCCESS;
}

uint8_t Hca::execute_invalidate(Qp &qp, const uint64_t *w)
{
    const auto rkey = static_cast<uint32_t>(bdy_wqe_get_inv_key(w));
    const auto found = keys.find(rkey >> 8);
    if (found == keys.end() || found->second.kind != BDY_MPT_KIND_MW2 ||
        found->second.low != (rkey & 0xff) || !found->second.bound || found->second.qpn != qp.qpn)
        return BDY_WC_MW_BIND_ERR;
    unbind(found->second);
    return BDY_WC_SUCCESS;
}

// False: no receive is posted yet; try again later.
bool Hca::receive(Qp &peer, const uint64_t *w, uint8_t op, const std::vector<uint8_t> &data,
                  uint8_t *status)
{
    if (peer.rq_ci == peer.rq_pi)
        return false;
    const uint64_t *rwqe =
        peer.rq->words() + ((peer.rq_ci & ((1u << peer.rq_log) - 1)) * 8 << peer.rq_log_stride);
    Sges sges;
    for (uint32_t i = 0; i < bdy_rwqe_get_num_sge(rwqe); i++)
        sges.push_back({rwqe[2 + 2 * i], rwqe[3 + 2 * i]});
    const bool imm =
        bdy_wqe_get_op(w) == BDY_WQE_OP_SEND_IMM || bdy_wqe_get_op(w) == BDY_WQE_OP_WRITE_IMM;
    const bool fits = op == BDY_CQE_OP_RECV_WRITE_IMM || scatter(peer.ctx, peer.pd, sges, data);
    Cqe cqe{};
    bdy_cqe_set_qpn(cqe.data(), peer.qpn);
    bdy_cqe_set_op(cqe.data(), op);
    bdy_cqe_set_status(cqe.data(), fits ? BDY_WC_SUCCESS : BDY_WC_LOC_LEN_ERR);
    bdy_cqe_set_recv(cqe.data(), 1);
    bdy_cqe_set_with_imm(cqe.data(), imm);
    bdy_cqe_set_imm(cqe.data(), bdy_wqe_get_imm(w));
    bdy_cqe_set_solicited(cqe.data(), bdy_wqe_get_solicited(w));
    bdy_cqe_set_byte_len(cqe.data(), data.size());
    bdy_cqe_set_wqe_index(cqe.data(), peer.rq_ci++);
    push_cqe(peer.rcq, cqe);
    *status = fits ? BDY_WC_SUCCESS : BDY_WC_REM_INV_REQ_ERR;
    if (!fits)
        fail_qp(peer);
    return true;
}

void Hca::refuse(Qp &peer, uint32_t event)
{
    async_event(peer.ctx, peer.user_handle, event);
    fail_qp(peer);
}

bool Hca::transfer(Qp &qp, const uint64_t *w, uint8_t *status, uint32_t *bytes)
{
    const auto op = static_cast<uint8_t>(bdy_wqe_get_op(w));
    const auto found = qps.find(qp.attr.dest_qp_num);
    std::vector<uint8_t> data;
    if (found == qps.end() || qp.attr.dlid != port_attr().lid ||
        found->second.attr.qp_state < IBV_QPS_RTR || found->second.attr.qp_state > IBV_QPS_SQD) {
        *status = BDY_WC_RETRY_EXC_ERR;
        return true;
    }
    Qp &peer = found->second;
    const bool read = op == BDY_WQE_OP_READ,
               write = op == BDY_WQE_OP_WRITE || op == BDY_WQE_OP_WRITE_IMM;
    if (!read && !gather(qp, w, &data)) {
        *status = BDY_WC_LOC_PROT_ERR;
        return true;
    }
    if (read)
        for (const auto &sge : send_sges(qp, w))
            data.resize(data.size() + bdy_sge_get_len(sge.data()));
    *bytes = static_cast<uint32_t>(data.size());
    uint64_t host = 0;
    if (read || write) {
        *status =
            remote(peer, static_cast<uint32_t>(bdy_wqe_get_rkey(w)), bdy_wqe_get_addr(w),
                   data.size(), read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE, &host);
        if (*status != BDY_WC_SUCCESS) {
            refuse(peer, *status == BDY_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR
                                                          : IBV_EVENT_QP_REQ_ERR);
            return true;
        }
    }
    if (op == BDY_WQE_OP_WRITE_IMM && peer.rq_ci == peer.rq_pi)
        return false;
    if (read)
        *status = client_read(peer.ctx, host, data.data(), data.size()) &&
                          scatter(qp.ctx, qp.pd, send_sges(qp, w), data)
                      ? BDY_WC_SUCCESS
                      : BDY_WC_LOC_PROT_ERR;
    if (write && !client_write(peer.ctx, host, data.data(), data.size()))
        *status = BDY_WC_REM_OP_ERR;
    if (op == BDY_WQE_OP_WRITE_IMM)
        return receive(peer, w, BDY_CQE_OP_RECV_WRITE_IMM, data, status);
    if (!read && !write)
        return receive(peer, w, BDY_CQE_OP_RECV, data, status);
    return true;
}

static uint8_t cqe_op(uint8_t op)
{
    switch (op) {
    case BDY_WQE_OP_WRITE:
    case BDY_WQE_OP_WRITE_IMM:
        return BDY_CQE_OP_WRITE;
    case BDY_WQE_OP_READ:
        return BDY_CQE_OP_READ;
    case BDY_WQE_OP_BIND1:
    case BDY_WQE_OP_BIND2:
        return BDY_CQE_OP_BIND_MW;
    case BDY_WQE_OP_LOCAL_INV:
        return BDY_CQE_OP_LOCAL_INV;
    default:
        return BDY_CQE_OP_SEND;
    }
}

static bool is_nak(uint8_t status)
{
    return status == BDY_WC_REM_ACCESS_ERR || status == BDY_WC_REM_INV_REQ_ERR ||
           status == BDY_WC_REM_OP_ERR;
}

static uint8_t syndrome(uint8_t status)
{
    if (!is_nak(status))
        return 0;
    return status == BDY_WC_REM_ACCESS_ERR ? BDY_AETH_NAK_ACC
           : status == BDY_WC_REM_OP_ERR   ? BDY_AETH_NAK_OP
                                           : BDY_AETH_NAK_INV;
}

void Hca::complete_send(Qp &qp, const uint64_t *w, uint8_t status, uint8_t rule, uint32_t bytes)
{
    const auto op = static_cast<uint8_t>(bdy_wqe_get_op(w));
    Cqe cqe{};
    bdy_cqe_set_qpn(cqe.data(), qp.qpn);
    bdy_cqe_set_op(cqe.data(), cqe_op(op));
    bdy_cqe_set_status(cqe.data(), status);
    bdy_cqe_set_byte_len(cqe.data(), bytes);
    bdy_cqe_set_wqe_index(cqe.data(), qp.sq_ci);
    bdy_cqe_set_rule(cqe.data(), rule);
    bdy_cqe_set_syndrome(cqe.data(), syndrome(status));
    if (op >= BDY_WQE_OP_BIND1) {
        const auto index = static_cast<uint32_t>(bdy_wqe_get_inv_key(w) >> 8);
        bdy_cqe_set_executed(cqe.data(), status == BDY_WC_SUCCESS);
        if (keys.count(index) != 0)
            bdy_cqe_set_rkey(cqe.data(), index << 8 | keys[index].low);
    }
    const bool wanted = status != BDY_WC_SUCCESS || bdy_wqe_get_signaled(w);
    qp.sq_ci += static_cast<uint32_t>(bdy_wqe_get_slots(w));
    if (wanted)
        push_cqe(qp.scq, cqe);
}

void Hca::fail_qp(Qp &qp)
{
    qp.attr.qp_state = IBV_QPS_ERR;
    while (qp.sq_ci != qp.sq_pi)
        complete_send(qp, slot(qp, qp.sq_ci), BDY_WC_WR_FLUSH_ERR, 0, 0);
    for (; qp.rq_ci != qp.rq_pi; qp.rq_ci++) {
        Cqe cqe{};
        bdy_cqe_set_qpn(cqe.data(), qp.qpn);
        bdy_cqe_set_op(cqe.data(), BDY_CQE_OP_RECV);
        bdy_cqe_set_status(cqe.data(), BDY_WC_WR_FLUSH_ERR);
        bdy_cqe_set_recv(cqe.data(), 1);
        bdy_cqe_set_wqe_index(cqe.data(), qp.rq_ci);
        push_cqe(qp.rcq, cqe);
    }
}

// True when something happened.
bool Hca::execute(Qp &qp)
{
    if (qp.attr.qp_state == IBV_QPS_ERR && (qp.sq_ci != qp.sq_pi || qp.rq_ci != qp.rq_pi)) {
        fail_qp(qp);
        return true;
    }
    if (qp.attr.qp_state != IBV_QPS_RTS || qp.sq_ci == qp.sq_pi)
        return false;
    const uint64_t *w = slot(qp, qp.sq_ci);
    const auto op = static_cast<uint8_t>(bdy_wqe_get_op(w));
    uint8_t status = BDY_WC_SUCCESS, rule = 0;
    uint32_t bytes = 0;
    if (!bdy_wqe_rsvd_zero(w) || bdy_wqe_get_index(w) != (qp.sq_ci & 0xffff) ||
        bdy_wqe_get_slots(w) == 0)
        status = BDY_WC_LOC_QP_OP_ERR;
    else if (op == BDY_WQE_OP_BIND1 || op == BDY_WQE_OP_BIND2)
        status = execute_bind(qp, w, &rule);
    else if (op == BDY_WQE_OP_LOCAL_INV)
        status = execute_invalidate(qp, w);
    else if (!transfer(qp, w, &status, &bytes))
        return false;
    clock_ += 40;
    complete_send(qp, w, status, rule, bytes);
    if (status != BDY_WC_SUCCESS)
        fail_qp(qp);
    return true;
}

void Hca::run()
{
    for (bool busy = true; busy;) {
        busy = false;
        for (auto &[qpn, qp] : qps)
            busy = execute(qp) || busy;
    }
}

} // namespace fake
