// SPDX-License-Identifier: Apache-2.0
// A test double of the HCA behind seam S2: it keeps the objects, executes work requests in one go,
// and lets a test look at and write what hardware would. It knows just enough of the rules to tell
// right from wrong use; it is no reference for them.
#ifndef BDY_TESTS_FAKE_HCA_H
#define BDY_TESTS_FAKE_HCA_H

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "bdy_regs.h"
#include "bindery/uctx.h"

namespace fake
{

// Memory shared with a client.
class Ring
{
  public:
    explicit Ring(size_t bytes);
    ~Ring();
    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;
    uint64_t *words() const
    {
        return words_;
    }
    size_t bytes() const
    {
        return bytes_;
    }
    int fd() const
    {
        return fd_;
    }

  private:
    size_t bytes_;
    int fd_;
    uint64_t *words_;
};

struct Context {
    pid_t pid = 0;
    int async = -1;                   // our end
    std::map<uint32_t, int> channels; // handle -> our end
};

struct Key {
    uint32_t ctx = 0, pd = 0, kind = 0, handle = 0;
    uint8_t low = 0, rights = 0;
    bool bound = false;
    uint64_t start = 0, len = 0;
    uint64_t host = 0; // address in the client of the byte named `start`
    uint32_t qpn = 0, mr = 0, bound_windows = 0;
};

struct Cq {
    uint32_t ctx = 0, log = 0, pi = 0, channel = 0, qps = 0;
    uint64_t user_handle = 0;
    std::unique_ptr<Ring> ring, record;
    bool armed = false, solicited_only = false;
    int seq = 0, told_seq = -1;
};

struct Qp {
    uint32_t ctx = 0, qpn = 0, scq = 0, rcq = 0, pd = 0, sq_log = 0, rq_log = 0, rq_log_stride = 0;
    uint64_t user_handle = 0;
    bdy_u_create_qp_out caps{};
    bdy_u_qp_attr attr{};
    std::unique_ptr<Ring> sq, rq;
    uint32_t sq_ci = 0, sq_pi = 0, rq_ci = 0, rq_pi = 0;
};

struct Doorbell {
    uint32_t ctx, offset;
    uint64_t value;
};

using Cqe = std::array<uint64_t, BDY_CQE_WORDS>;

// What a call gives back besides its status.
struct Answer {
    std::vector<uint8_t> out;
    const Ring *rings[2] = {nullptr, nullptr};
    int fd = -1; // the client's end of a channel, the caller's to close
};

class Hca
{
  public:
    Hca();
    ~Hca();

    // `async` is our end of the context's asynchronous event socket; it is closed with the context.
    uint32_t open(pid_t pid, int async);
    void close(uint32_t ctx);
    int call(uint32_t ctx, uint32_t op, const void *in, size_t in_len, Answer *answer);
    void doorbell(uint32_t ctx, uint32_t offset, uint64_t value);

    // For tests. The direct transport holds `mutex` in each call; nothing else locks.
    std::recursive_mutex mutex;
    bool executes = true; // false: doorbells are noted, nothing else happens
    bool strict_ibta = false;
    bool gone = false;         // every use of the direct transport gives -EIO
    bool counts_slots = false; // create_qp promises as many requests as the ring has slots
    unsigned relaxes = 0;
    std::map<uint32_t, int> fail; // op -> errno that the next such call gives
    std::vector<Doorbell> doorbells;
    std::vector<uint32_t> calls; // ops in order
    std::vector<bdy_u_qp_attr> modifies;
    std::vector<bdy_u_reg_mr_in> registrations;
    std::function<void(uint32_t ctx)> on_progress = [](uint32_t) {};
    std::map<uint32_t, Qp> qps;   // by number
    std::map<uint32_t, Cq> cqs;   // by number
    std::map<uint32_t, Key> keys; // by key index
    std::map<uint32_t, Context> contexts;

    // Write an entry as hardware would: phase and index are filled in.
    void push_cqe(uint32_t cqn, Cqe cqe);
    void async_event(uint32_t ctx, uint64_t user_handle, uint32_t type);
    void run();

    static bdy_u_device_attr device_attr();
    static bdy_u_port_attr port_attr();

  private:
    struct Access;
    int serve(uint32_t ctx, uint32_t op, const void *in, Answer *answer);
    int alloc_pd(uint32_t ctx, Answer *answer);
    int dealloc_pd(uint32_t ctx, uint32_t handle);
    int reg_mr(uint32_t ctx, const bdy_u_reg_mr_in &in, Answer *answer);
    int dereg_mr(uint32_t ctx, uint32_t handle);
    int alloc_mw(uint32_t ctx, const bdy_u_alloc_mw_in &in, Answer *answer);
    int dealloc_mw(uint32_t ctx, uint32_t handle);
    int query_mw(uint32_t ctx, uint32_t handle, Answer *answer);
    int create_channel(uint32_t ctx, Answer *answer);
    int create_cq(uint32_t ctx, const bdy_u_create_cq_in &in, Answer *answer);
    int destroy_cq(uint32_t ctx, uint32_t handle);
    int create_qp(uint32_t ctx, const bdy_u_create_qp_in &in, Answer *answer);
    int modify_qp(uint32_t ctx, const bdy_u_qp_attr &in);
    int query_qp(uint32_t ctx, uint32_t handle, Answer *answer);
    int destroy_qp(uint32_t ctx, uint32_t handle);
    uint32_t new_key(const Key &key);
    Key *find_key(uint32_t ctx, uint32_t handle, bool window);

    bool execute(Qp &qp);
    uint8_t execute_bind(Qp &qp, const uint64_t *w, uint8_t *rule);
    uint8_t execute_invalidate(Qp &qp, const uint64_t *w);
    bool transfer(Qp &qp, const uint64_t *w, uint8_t *status, uint32_t *bytes);
    uint8_t remote(Qp &peer, uint32_t key, uint64_t va, uint64_t len, uint8_t right,
                   uint64_t *host);
    bool gather(const Qp &qp, const uint64_t *w, std::vector<uint8_t> *data);
    bool scatter(uint32_t ctx, uint32_t pd, const std::vector<std::array<uint64_t, 2>> &sges,
                 const std::vector<uint8_t> &data);
    bool receive(Qp &peer, const uint64_t *w, uint8_t op, const std::vector<uint8_t> &data,
                 uint8_t *status);
    const uint64_t *slot(const Qp &qp, uint32_t index) const;
    std::vector<std::array<uint64_t, 2>> send_sges(const Qp &qp, const uint64_t *w) const;
    void unbind(Key &window);
    void complete_send(Qp &qp, const uint64_t *w, uint8_t status, uint8_t rule, uint32_t bytes);
    void refuse(Qp &peer, uint32_t event);
    void fail_qp(Qp &qp);
    void arm(uint32_t ctx, uint64_t value);
    void notify(Cq &cq, bool solicited);
    bool client_read(uint32_t ctx, uint64_t va, void *to, size_t bytes) const;
    bool client_write(uint32_t ctx, uint64_t va, const void *from, size_t bytes) const;

    uint32_t next_ctx_ = 1, next_handle_ = 1, next_key_ = 0x1234, next_qpn_ = BDY_QPN_BASE;
    uint64_t clock_ = 1000;
    std::map<uint32_t, std::pair<uint32_t, uint32_t>> pds_; // handle -> context, users
};

// The HCA in this process: a transport that the context which opens on it owns.
bdy_transport *direct_transport(Hca *hca);

} // namespace fake

#endif
