// SPDX-License-Identifier: Apache-2.0
// The objects of the test double: control calls, rings, events.

#include "fake_hca.h"

#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace fake
{

Ring::Ring(size_t bytes)
    : bytes_((bytes + 4095) & ~size_t{4095}), fd_(memfd_create("fake-ring", MFD_CLOEXEC))
{
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes_)) < 0)
        throw std::runtime_error("memfd");
    void *at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (at == MAP_FAILED)
        throw std::runtime_error("mmap");
    words_ = static_cast<uint64_t *>(at);
}

Ring::~Ring()
{
    munmap(words_, bytes_);
    ::close(fd_);
}

Hca::Hca() = default;

Hca::~Hca()
{
    while (!contexts.empty())
        close(contexts.begin()->first);
}

uint32_t Hca::open(pid_t pid, int async)
{
    Context context;
    context.pid = pid;
    context.async = async;
    contexts[next_ctx_] = context;
    return next_ctx_++;
}

template <class Map, class Mine> static void erase_of(Map &map, Mine mine)
{
    for (auto at = map.begin(); at != map.end();)
        at = mine(at->second) ? map.erase(at) : std::next(at);
}

void Hca::close(uint32_t ctx)
{
    auto mine = [ctx](const auto &object) { return object.ctx == ctx; };
    erase_of(qps, mine);
    erase_of(cqs, mine);
    erase_of(keys, mine);
    erase_of(pds_, [ctx](const auto &pd) { return pd.first == ctx; });
    for (auto &[handle, fd] : contexts[ctx].channels)
        ::close(fd);
    ::close(contexts[ctx].async);
    contexts.erase(ctx);
}

bdy_u_device_attr Hca::device_attr()
{
    bdy_u_device_attr a{};
    strcpy(a.fw_ver, "0.1.0");
    a.node_guid = htobe64(0x0002'c9ff'fe00'0001);
    a.sys_image_guid = htobe64(0x0002'c9ff'fe00'0001);
    a.max_mr_size = uint64_t{1} << 40;
    a.page_size_cap = 0x7ffff000;
    a.vendor_id = 0xbd1;
    a.vendor_part_id = 1;
    a.hw_ver = 1;
    a.max_qp = 250;
    a.max_qp_wr = 4096;
    a.device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
    a.max_sge = a.max_sge_rd = 16;
    a.max_cq = 250;
    a.max_cqe = 65535;
    a.max_mr = a.max_mw = 4096;
    a.max_pd = 256;
    a.max_qp_rd_atom = a.max_res_rd_atom = a.max_qp_init_rd_atom = 16;
    a.atomic_cap = IBV_ATOMIC_NONE;
    a.max_pkeys = a.phys_port_cnt = 1;
    a.max_inline = 64;
    return a;
}

bdy_u_port_attr Hca::port_attr()
{
    bdy_u_port_attr p{};
    p.state = IBV_PORT_ACTIVE;
    p.max_mtu = p.active_mtu = IBV_MTU_4096;
    p.gid_tbl_len = 8;
    p.max_msg_sz = 1u << 31;
    p.pkey_tbl_len = 1;
    p.lid = 7;
    p.active_width = 2;
    p.active_speed = 32;
    p.phys_state = 5;
    p.link_layer = IBV_LINK_LAYER_INFINIBAND;
    const uint8_t link_local[16] = {0xfe, 0x80, 0,    0,    0,    0, 0, 0,
                                    0x00, 0x02, 0xc9, 0xff, 0xfe, 0, 0, 1};
    const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    memcpy(p.gid[0], link_local, 16);
    memcpy(p.gid[1], mapped, 16);
    return p;
}

template <class T> static int give(Answer *answer, const T &value)
{
    answer->out.resize(sizeof(value));
    memcpy(answer->out.data(), &value, sizeof(value));
    return 0;
}

int Hca::call(uint32_t ctx, uint32_t op, const void *in, size_t in_len, Answer *answer)
{
    // Length of each call's argument: a provider that sends another one is wrong.
    static const std::map<uint32_t, size_t> lengths = {
        {BDY_U_QUERY_DEVICE, 0},
        {BDY_U_QUERY_PORT, 0},
        {BDY_U_ALLOC_PD, 0},
        {BDY_U_CREATE_CHANNEL, 0},
        {BDY_U_QUERY_CLOCK, 0},
        {BDY_U_DEALLOC_PD, sizeof(bdy_u_handle)},
        {BDY_U_DEREG_MR, sizeof(bdy_u_handle)},
        {BDY_U_DEALLOC_MW, sizeof(bdy_u_handle)},
        {BDY_U_QUERY_MW, sizeof(bdy_u_handle)},
        {BDY_U_DESTROY_CHANNEL, sizeof(bdy_u_handle)},
        {BDY_U_DESTROY_CQ, sizeof(bdy_u_handle)},
        {BDY_U_QUERY_QP, sizeof(bdy_u_handle)},
        {BDY_U_DESTROY_QP, sizeof(bdy_u_handle)},
        {BDY_U_REG_MR, sizeof(bdy_u_reg_mr_in)},
        {BDY_U_ALLOC_MW, sizeof(bdy_u_alloc_mw_in)},
        {BDY_U_CREATE_CQ, sizeof(bdy_u_create_cq_in)},
        {BDY_U_CREATE_QP, sizeof(bdy_u_create_qp_in)},
        {BDY_U_MODIFY_QP, sizeof(bdy_u_qp_attr)}};
    calls.push_back(op);
    const auto length = lengths.find(op);
    if (length == lengths.end() || length->second != in_len)
        return -EINVAL;
    if (const auto planned = fail.find(op); planned != fail.end()) {
        const int err = planned->second;
        fail.erase(planned);
        return -err;
    }
    return serve(ctx, op, in, answer);
}

int Hca::serve(uint32_t ctx, uint32_t op, const void *in, Answer *answer)
{
    const uint32_t handle =
        static_cast<const bdy_u_handle *>(in) ? static_cast<const bdy_u_handle *>(in)->handle : 0;
    bdy_u_device_attr dev = device_attr();
    dev.strict_ibta = strict_ibta;
    clock_ += 10;
    switch (op) {
    case BDY_U_QUERY_DEVICE:
        return give(answer, dev);
    case BDY_U_QUERY_PORT:
        return give(answer, port_attr());
    case BDY_U_QUERY_CLOCK:
        return give(answer, bdy_u_clock{clock_});
    case BDY_U_ALLOC_PD:
        return alloc_pd(ctx, answer);
    case BDY_U_DEALLOC_PD:
        return dealloc_pd(ctx, handle);
    case BDY_U_REG_MR:
        return reg_mr(ctx, *static_cast<const bdy_u_reg_mr_in *>(in), answer);
    case BDY_U_DEREG_MR:
        return dereg_mr(ctx, handle);
    case BDY_U_ALLOC_MW:
        return alloc_mw(ctx, *static_cast<const bdy_u_alloc_mw_in *>(in), answer);
    case BDY_U_DEALLOC_MW:
        return dealloc_mw(ctx, handle);
    case BDY_U_QUERY_MW:
        return query_mw(ctx, handle, answer);
    case BDY_U_CREATE_CHANNEL:
        return create_channel(ctx, answer);
    case BDY_U_DESTROY_CHANNEL:
        if (contexts[ctx].channels.count(handle) == 0)
            return -ENOENT;
        ::close(contexts[ctx].channels[handle]);
        contexts[ctx].channels.erase(handle);
        return 0;
    case BDY_U_CREATE_CQ:
        return create_cq(ctx, *static_cast<const bdy_u_create_cq_in *>(in), answer);
    case BDY_U_DESTROY_CQ:
        return destroy_cq(ctx, handle);
    case BDY_U_CREATE_QP:
        return create_qp(ctx, *static_cast<const bdy_u_create_qp_in *>(in), answer);
    case BDY_U_MODIFY_QP:
        return modify_qp(ctx, *static_cast<const bdy_u_qp_attr *>(in));
    case BDY_U_QUERY_QP:
        return query_qp(ctx, handle, answer);
    case BDY_U_DESTROY_QP:
        return destroy_qp(ctx, handle);
    default:
        return -EINVAL;
    }
}

int Hca::alloc_pd(uint32_t ctx, Answer *answer)
{
    const uint32_t handle = next_handle_++;
    pds_[handle] = {ctx, 0};
    return give(answer, bdy_u_handle{handle, 0});
}

int Hca::dealloc_pd(uint32_t ctx, uint32_t handle)
{
    const auto pd = pds_.find(handle);
    if (pd == pds_.end() || pd->second.first != ctx)
        return -ENOENT;
    if (pd->second.second != 0)
        return -EBUSY;
    pds_.erase(pd);
    return 0;
}

uint32_t Hca::new_key(const Key &key)
{
    next_key_ = (next_key_ * 5 + 77) & 0xffffff;
    keys[next_key_] = key;
    return next_key_;
}

Key *Hca::find_key(uint32_t ctx, uint32_t handle, bool window)
{
    for (auto &[index, key] : keys)
        if (key.handle == handle && key.ctx == ctx && (key.kind != BDY_MPT_KIND_MR) == window)
            return &key;
    return nullptr;
}

int Hca::reg_mr(uint32_t ctx, const bdy_u_reg_mr_in &in, Answer *answer)
{
    registrations.push_back(in);
    if (pds_.count(in.pd) == 0)
        return -EINVAL;
    const uint32_t remote_writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if (in.access & ~0x3fu || (in.access & remote_writes && !(in.access & IBV_ACCESS_LOCAL_WRITE)))
        return -EINVAL;
    Key key;
    key.ctx = ctx;
    key.pd = in.pd;
    key.kind = BDY_MPT_KIND_MR;
    key.handle = next_handle_++;
    key.low = static_cast<uint8_t>(next_key_ >> 3);
    key.rights = static_cast<uint8_t>(in.access);
    key.start = in.iova;
    key.host = in.va;
    key.len = in.bytes;
    pds_[in.pd].second++;
    const uint32_t index = new_key(key);
    return give(answer, bdy_u_key_out{key.handle, index << 8 | key.low, 0, 0});
}

int Hca::dereg_mr(uint32_t ctx, uint32_t handle)
{
    Key *mr = find_key(ctx, handle, false);
    if (mr == nullptr)
        return -ENOENT;
    if (mr->bound_windows != 0)
        return -EBUSY;
    pds_[mr->pd].second--;
    erase_of(keys, [handle](const Key &key) { return key.handle == handle; });
    return 0;
}

int Hca::alloc_mw(uint32_t ctx, const bdy_u_alloc_mw_in &in, Answer *answer)
{
    if (pds_.count(in.pd) == 0 || (in.type != 1 && in.type != 2))
        return -EINVAL;
    Key key;
    key.ctx = ctx;
    key.pd = in.pd;
    key.kind = in.type == 1 ? BDY_MPT_KIND_MW1 : BDY_MPT_KIND_MW2;
    key.handle = next_handle_++;
    key.low = static_cast<uint8_t>(next_key_ >> 2);
    pds_[in.pd].second++;
    const uint32_t index = new_key(key);
    return give(answer, bdy_u_key_out{key.handle, index << 8 | key.low, 0, 0});
}

void Hca::unbind(Key &window)
{
    if (window.bound)
        keys[window.mr].bound_windows--;
    window.bound = false;
}

int Hca::dealloc_mw(uint32_t ctx, uint32_t handle)
{
    Key *mw = find_key(ctx, handle, true);
    if (mw == nullptr)
        return -ENOENT;
    unbind(*mw);
    pds_[mw->pd].second--;
    erase_of(keys, [handle](const Key &key) { return key.handle == handle; });
    return 0;
}

int Hca::query_mw(uint32_t ctx, uint32_t handle, Answer *answer)
{
    for (auto &[index, key] : keys)
        if (key.handle == handle && key.ctx == ctx && key.kind != BDY_MPT_KIND_MR)
            return give(answer,
                        bdy_u_key_out{handle, index << 8 | key.low, key.bound ? 2u : 1u, 0});
    return -EINVAL;
}

int Hca::create_channel(uint32_t ctx, Answer *answer)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    const uint32_t handle = next_handle_++;
    contexts[ctx].channels[handle] = pair[0];
    answer->fd = pair[1];
    return give(answer, bdy_u_handle{handle, 0});
}

static uint32_t log2_up(uint32_t n)
{
    uint32_t log = 0;
    while ((1u << log) < n)
        log++;
    return log;
}

int Hca::create_cq(uint32_t ctx, const bdy_u_create_cq_in &in, Answer *answer)
{
    if (in.cqe == 0 || in.cqe > device_attr().max_cqe)
        return -EINVAL;
    if (in.channel != 0 && contexts[ctx].channels.count(in.channel) == 0)
        return -EINVAL;
    const uint32_t cqn = next_handle_++;
    Cq &cq = cqs[cqn];
    cq.ctx = ctx;
    cq.log = log2_up(in.cqe);
    cq.channel = in.channel;
    cq.user_handle = in.user_handle;
    cq.ring = std::make_unique<Ring>(size_t{BDY_CQE_BYTES} << cq.log);
    cq.record = std::make_unique<Ring>(8);
    answer->rings[0] = cq.ring.get();
    answer->rings[1] = cq.record.get();
    return give(answer, bdy_u_create_cq_out{cqn, cqn, 1u << cq.log, 0});
}

int Hca::destroy_cq(uint32_t ctx, uint32_t handle)
{
    const auto cq = cqs.find(handle);
    if (cq == cqs.end() || cq->second.ctx != ctx)
        return -ENOENT;
    if (cq->second.qps != 0)
        return -EBUSY;
    cqs.erase(cq);
    return 0;
}

int Hca::create_qp(uint32_t ctx, const bdy_u_create_qp_in &in, Answer *answer)
{
    const bdy_u_device_attr dev = device_attr();
    if (pds_.count(in.pd) == 0 || cqs.count(in.scq) == 0 || cqs.count(in.rcq) == 0)
        return -EINVAL;
    if (in.max_send_wr > dev.max_qp_wr || in.max_recv_wr > dev.max_qp_wr || in.max_send_sge > 16 ||
        in.max_recv_sge > 16 || in.max_inline > 480)
        return -EINVAL;
    const uint32_t qpn = next_qpn_++;
    const uint32_t payload = std::max(in.max_inline, in.max_send_sge * 16);
    const uint32_t slots = std::max(1u, (payload + 32 + 63) / 64);
    Qp &qp = qps[qpn];
    qp.ctx = ctx;
    qp.qpn = qpn;
    qp.scq = in.scq;
    qp.rcq = in.rcq;
    qp.pd = in.pd;
    qp.user_handle = in.user_handle;
    qp.sq_log = log2_up(std::max(1u, in.max_send_wr * slots));
    qp.rq_log = log2_up(std::max(1u, in.max_recv_wr));
    qp.rq_log_stride = log2_up(std::max(1u, (16 + in.max_recv_sge * 16 + 63) / 64));
    qp.sq = std::make_unique<Ring>(size_t{64} << qp.sq_log);
    qp.rq = std::make_unique<Ring>(size_t{64} << (qp.rq_log + qp.rq_log_stride));
    qp.caps = {qpn,
               qpn,
               qp.sq_log,
               qp.rq_log,
               qp.rq_log_stride,
               in.max_send_wr,
               in.max_recv_wr,
               in.max_send_sge,
               in.max_recv_sge,
               in.max_inline};
    if (counts_slots)
        qp.caps.max_send_wr = 1u << qp.sq_log;
    qp.attr.sig_all = in.sig_all;
    qp.attr.qp_type = in.qp_type;
    pds_[in.pd].second++;
    cqs[in.scq].qps++;
    cqs[in.rcq].qps++;
    answer->rings[0] = qp.sq.get();
    answer->rings[1] = qp.rq.get();
    return give(answer, qp.caps);
}

// No transition table: that is firmware's. Fields in the mask are kept as they come.
int Hca::modify_qp(uint32_t ctx, const bdy_u_qp_attr &in)
{
    const auto found = qps.find(in.handle);
    modifies.push_back(in);
    if (found == qps.end() || found->second.ctx != ctx)
        return -EINVAL;
    Qp &qp = found->second;
    bdy_u_qp_attr &a = qp.attr;
    const uint32_t m = in.mask;
    if (m & IBV_QP_ACCESS_FLAGS)
        a.access = in.access;
    if (m & IBV_QP_DEST_QPN)
        a.dest_qp_num = in.dest_qp_num;
    if (m & IBV_QP_PATH_MTU)
        a.path_mtu = in.path_mtu;
    if (m & IBV_QP_PORT)
        a.port_num = in.port_num;
    if (m & IBV_QP_RQ_PSN)
        a.rq_psn = in.rq_psn;
    if (m & IBV_QP_SQ_PSN)
        a.sq_psn = in.sq_psn;
    if (m & IBV_QP_TIMEOUT)
        a.timeout = in.timeout;
    if (m & IBV_QP_AV)
        a.dlid = in.dlid, a.sl = in.sl, a.is_global = in.is_global, memcpy(a.dgid, in.dgid, 16);
    if (!(m & IBV_QP_STATE))
        return 0;
    a.qp_state = in.qp_state;
    if (in.qp_state == IBV_QPS_RESET)
        qp.sq_ci = qp.sq_pi = qp.rq_ci = qp.rq_pi = 0;
    if (in.qp_state == IBV_QPS_ERR)
        fail_qp(qp);
    return 0;
}

int Hca::query_qp(uint32_t ctx, uint32_t handle, Answer *answer)
{
    const auto qp = qps.find(handle);
    if (qp == qps.end() || qp->second.ctx != ctx)
        return -EINVAL;
    return give(answer, qp->second.attr);
}

int Hca::destroy_qp(uint32_t ctx, uint32_t handle)
{
    const auto qp = qps.find(handle);
    if (qp == qps.end() || qp->second.ctx != ctx)
        return -ENOENT;
    pds_[qp->second.pd].second--;
    cqs[qp->second.scq].qps--;
    cqs[qp->second.rcq].qps--;
    qps.erase(qp);
    return 0;
}

void Hca::async_event(uint32_t ctx, uint64_t user_handle, uint32_t type)
{
    const struct {
        uint64_t element;
        uint32_t type, zero;
    } event = {user_handle, type, 0};
    send(contexts[ctx].async, &event, sizeof(event), MSG_DONTWAIT | MSG_NOSIGNAL);
    on_progress(ctx);
}

void Hca::notify(Cq &cq, bool solicited)
{
    if (!cq.armed || (cq.solicited_only && !solicited) || cq.told_seq == cq.seq)
        return;
    cq.armed = false;
    cq.told_seq = cq.seq;
    const auto channel = contexts[cq.ctx].channels.find(cq.channel);
    if (channel != contexts[cq.ctx].channels.end())
        send(channel->second, &cq.user_handle, sizeof(cq.user_handle), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Hca::push_cqe(uint32_t cqn, Cqe cqe)
{
    Cq &cq = cqs.at(cqn);
    uint64_t *at = cq.ring->words() + (cq.pi & ((1u << cq.log) - 1)) * BDY_CQE_WORDS;
    bdy_cqe_set_phase(cqe.data(), !((cq.pi >> cq.log) & 1));
    bdy_cqe_set_index(cqe.data(), cq.pi++);
    memcpy(at, cqe.data(), BDY_CQE_BYTES - 8);
    __atomic_store_n(&at[BDY_CQE_WORDS - 1], cqe[BDY_CQE_WORDS - 1], __ATOMIC_RELEASE);
    notify(cq, bdy_cqe_get_solicited(cqe.data()) || bdy_cqe_get_status(cqe.data()) != 0);
    on_progress(cq.ctx);
}

void Hca::arm(uint32_t ctx, uint64_t value)
{
    const auto found = cqs.find(static_cast<uint32_t>(bdy_db_cq_get_cqn(&value)));
    if (found == cqs.end() || found->second.ctx != ctx)
        return;
    Cq &cq = found->second;
    cq.armed = true;
    cq.solicited_only = bdy_db_cq_get_sol(&value) != 0;
    cq.seq = static_cast<int>(bdy_db_cq_get_seq(&value));
    for (uint32_t i = static_cast<uint32_t>(bdy_db_cq_get_ci(&value)); i != cq.pi; i++) {
        const uint64_t *cqe = cq.ring->words() + (i & ((1u << cq.log) - 1)) * BDY_CQE_WORDS;
        notify(cq, bdy_cqe_get_solicited(cqe) || bdy_cqe_get_status(cqe) != 0);
    }
}

// An index of 16 bits, as far behind or ahead of `now` as it can be.
static uint32_t widen(uint32_t now, uint64_t index)
{
    return now + static_cast<uint16_t>(index - now);
}

void Hca::doorbell(uint32_t ctx, uint32_t offset, uint64_t value)
{
    doorbells.push_back({ctx, offset, value});
    clock_++;
    if (!executes)
        return;
    if (offset == 0x10)
        return arm(ctx, value);
    const auto qp = qps.find(static_cast<uint32_t>(bdy_db_wq_get_qpn(&value)));
    if (qp == qps.end() || qp->second.ctx != ctx)
        return;
    if (offset == 0)
        qp->second.sq_pi = widen(qp->second.sq_pi, bdy_db_wq_get_index(&value));
    else
        qp->second.rq_pi = widen(qp->second.rq_pi, bdy_db_wq_get_index(&value));
    run();
}

namespace
{

struct Direct {
    bdy_transport base;
    Hca *hca;
    uint32_t ctx;
    int async;
};

Direct *direct_of(bdy_transport *t)
{
    return reinterpret_cast<Direct *>(t);
}

int direct_call(bdy_transport *t, uint32_t op, const void *in, size_t in_len, void *out,
                size_t out_len, bdy_u_ring *rings, unsigned nrings, int *fd)
{
    Direct *d = direct_of(t);
    const std::lock_guard<std::recursive_mutex> guard(d->hca->mutex);
    Answer answer;
    const int err = d->hca->gone ? -EIO : d->hca->call(d->ctx, op, in, in_len, &answer);
    if (err != 0)
        return err;
    if (answer.out.size() != out_len)
        return -EPROTO;
    if (out_len != 0)
        memcpy(out, answer.out.data(), out_len);
    for (unsigned i = 0; i < nrings; i++) {
        const Ring *ring = answer.rings[i];
        rings[i].bytes = ring->bytes();
        rings[i].addr =
            mmap(nullptr, ring->bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd(), 0);
    }
    if (fd != nullptr)
        *fd = answer.fd;
    return 0;
}

void direct_unmap(bdy_transport *, bdy_u_ring *ring)
{
    munmap(ring->addr, ring->bytes);
}

int direct_doorbell(bdy_transport *t, uint32_t offset, uint64_t value)
{
    Hca *hca = direct_of(t)->hca;
    const std::lock_guard<std::recursive_mutex> guard(hca->mutex);
    if (hca->gone)
        return -EIO;
    hca->doorbell(direct_of(t)->ctx, offset, value);
    return 0;
}

int direct_relax(bdy_transport *t)
{
    Hca *hca = direct_of(t)->hca;
    usleep(20); // gives the CPU away, as a transport does
    const std::lock_guard<std::recursive_mutex> guard(hca->mutex);
    hca->relaxes++;
    return hca->gone ? -EIO : 0;
}

int direct_async_fd(bdy_transport *t)
{
    return direct_of(t)->async;
}

void direct_close(bdy_transport *t)
{
    Direct *d = direct_of(t);
    const std::lock_guard<std::recursive_mutex> guard(d->hca->mutex);
    ::close(d->async);
    d->hca->close(d->ctx);
    delete d;
}

const bdy_transport_ops direct_ops = {direct_call,  direct_unmap,    direct_doorbell,
                                      direct_relax, direct_async_fd, direct_close};

} // namespace

bdy_transport *direct_transport(Hca *hca)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        throw std::runtime_error("socketpair");
    return &(new Direct{{&direct_ops}, hca, hca->open(getpid(), pair[0]), pair[1]})->base;
}

} // namespace fake
