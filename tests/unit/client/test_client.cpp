// SPDX-License-Identifier: Apache-2.0
// The client's side of the socket: frames from a launcher that errs, the doorbell queue, and the
// private sysfs tree.

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "sysfs.h"
#include "tests/unit/verbs/fake_hca.h"
#include "transport.h"

namespace
{

std::string scratch()
{
    const char *tmp = getenv("TMPDIR");
    std::string folder = std::string(tmp != nullptr ? tmp : "/tmp") + "/bindery-client-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    return folder;
}

double ms_of(const std::function<void()> &work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

// ------------------------------------------------------------------------------------------------
// sysfs

std::string content(const std::string &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

class Sysfs : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        root = scratch();
    }

    std::string root;
    bdy_u_device_attr dev = fake::Hca::device_attr();
    bdy_u_port_attr port = fake::Hca::port_attr();
};

TEST_F(Sysfs, HoldsWhatLibibverbsReads)
{
    ASSERT_EQ(bdy_client_make_sysfs(root.c_str(), &dev, &port), 0);
    const std::string verbs = root + "/class/infiniband_verbs/",
                      ib = root + "/class/infiniband/bindery0/";
    EXPECT_EQ(content(verbs + "abi_version"), "6\n");
    EXPECT_EQ(content(verbs + "uverbs0/ibdev"), "bindery0\n");
    EXPECT_EQ(content(verbs + "uverbs0/dev"), "0:0\n");
    EXPECT_EQ(content(verbs + "uverbs0/abi_version"), "1\n");
    EXPECT_EQ(content(ib + "node_type"), "1: CA\n");
    EXPECT_EQ(content(ib + "node_guid"), "0002:c9ff:fe00:0001\n");
    EXPECT_EQ(content(ib + "fw_ver"), "0.1.0\n");
    EXPECT_EQ(content(ib + "device/modalias"), "bindery:v1\n");
    EXPECT_EQ(content(ib + "ports/1/state"), "4: ACTIVE\n");
    EXPECT_EQ(content(ib + "ports/1/lid"), "0x7\n");
    EXPECT_EQ(content(ib + "ports/1/link_layer"), "InfiniBand\n");
    EXPECT_EQ(content(ib + "ports/1/gids/0"), "fe80:0000:0000:0000:0002:c9ff:fe00:0001\n");
    EXPECT_EQ(content(ib + "ports/1/gids/1"), "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
    EXPECT_EQ(content(ib + "ports/1/gids/7"), "0000:0000:0000:0000:0000:0000:0000:0000\n");
    EXPECT_EQ(content(ib + "ports/1/gids/8"), "");
    EXPECT_EQ(content(ib + "ports/1/pkeys/0"), "0xffff\n");
    EXPECT_EQ(content(ib + "ports/1/gid_attrs/types/0"), "IB/RoCE v1\n");
}

TEST_F(Sysfs, GoesWithEverythingInIt)
{
    ASSERT_EQ(bdy_client_make_sysfs(root.c_str(), &dev, &port), 0);
    EXPECT_EQ(bdy_client_remove_sysfs(root.c_str()), 0);
    EXPECT_NE(access(root.c_str(), F_OK), 0);
    EXPECT_EQ(bdy_client_remove_sysfs(root.c_str()), -ENOENT);
}

TEST_F(Sysfs, SaysWhyItCouldNotBeMade)
{
    EXPECT_EQ(bdy_client_make_sysfs((root + "/absent").c_str(), &dev, &port), -ENOENT);
    ASSERT_EQ(mkdir((root + "/class").c_str(), 0755), 0);
    std::ofstream(root + "/class/infiniband_verbs") << "in the way";
    EXPECT_EQ(bdy_client_make_sysfs(root.c_str(), &dev, &port), -ENOTDIR);
}

// ------------------------------------------------------------------------------------------------
// frames

struct Reply {
    bdy_s_rep rep{};
    std::vector<uint8_t> body;
    std::vector<int> fds;
};

// A launcher for one client that says what a test wants: the test's `answer` makes each reply;
// std::nullopt hangs up.
class Launcher
{
  public:
    using Answer = std::function<bool(const bdy_s_req &, Reply *)>;

    explicit Launcher(Answer answer) : folder_(scratch()), answer_(std::move(answer))
    {
        sockaddr_un addr{};
        addr.sun_family = AF_UNIX;
        strcpy(addr.sun_path, path().c_str());
        listen_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(listen_, reinterpret_cast<sockaddr *>(&addr), sizeof(addr)), 0);
        EXPECT_EQ(listen(listen_, 1), 0);
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, async_), 0);
        wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        thread_ = std::thread([this] { serve(); });
    }

    ~Launcher()
    {
        thread_.join();
        close(listen_);
        unlink(path().c_str());
        rmdir(folder_.c_str());
    }

    std::string path() const
    {
        return folder_ + "/socket";
    }
    bdy_dbq *queue() const
    {
        return reinterpret_cast<bdy_dbq *>(queue_.words());
    }
    int wake_fd() const
    {
        return wake_;
    }

    // What a good launcher answers to OPEN.
    bool good_open(Reply *reply)
    {
        const bdy_u_open_out out{1, 250000, 1};
        reply->body.resize(sizeof(out));
        memcpy(reply->body.data(), &out, sizeof(out));
        reply->fds = {queue_.fd(), wake_, async_[1]};
        return true;
    }

  private:
    void serve()
    {
        const int sock = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
        struct {
            bdy_s_req req;
            uint8_t in[BDY_S_MAX];
        } frame;
        while (recv(sock, &frame, sizeof(frame), 0) > 0) {
            Reply reply;
            reply.rep.seq = frame.req.seq;
            if (!(frame.req.op == BDY_U_OPEN && !overrides_open ? good_open(&reply)
                                                                : answer_(frame.req, &reply)))
                break;
            send(sock, reply);
        }
        close(sock);
    }

    static void send(int sock, const Reply &reply)
    {
        alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
        bdy_s_rep rep = reply.rep;
        if (rep.out_len == 0)
            rep.out_len = static_cast<uint32_t>(reply.body.size());
        if (rep.nfds == 0)
            rep.nfds = static_cast<uint32_t>(reply.fds.size());
        iovec parts[2] = {{&rep, sizeof(rep)},
                          {const_cast<uint8_t *>(reply.body.data()), reply.body.size()}};
        msghdr msg{};
        msg.msg_iov = parts;
        msg.msg_iovlen = 2;
        if (!reply.fds.empty()) {
            msg.msg_control = control;
            msg.msg_controllen = CMSG_SPACE(reply.fds.size() * sizeof(int));
            cmsghdr *c = CMSG_FIRSTHDR(&msg);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(reply.fds.size() * sizeof(int));
            memcpy(CMSG_DATA(c), reply.fds.data(), reply.fds.size() * sizeof(int));
        }
        sendmsg(sock, &msg, MSG_NOSIGNAL);
    }

  public:
    bool overrides_open = false;

  private:
    std::string folder_;
    Answer answer_;
    fake::Ring queue_{sizeof(bdy_dbq)};
    int listen_ = -1, wake_ = -1, async_[2] = {-1, -1};
    std::thread thread_;
};

bdy_transport *connect_to(const Launcher &launcher)
{
    bdy_transport *t = nullptr;
    EXPECT_EQ(bdy_client_connect(launcher.path().c_str(), &t), 0);
    return t;
}

int call(bdy_transport *t, uint32_t op, void *out, size_t out_len, bdy_u_ring *rings = nullptr,
         unsigned nrings = 0, int *fd = nullptr)
{
    return t->ops->call(t, op, nullptr, 0, out, out_len, rings, nrings, fd);
}

unsigned open_fds()
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

TEST(Frames, NobodyListens)
{
    bdy_transport *t = nullptr;
    const std::string folder = scratch();
    EXPECT_EQ(bdy_client_connect((folder + "/socket").c_str(), &t), -ENOENT);
    EXPECT_EQ(bdy_client_connect(std::string(200, 'x').c_str(), &t), -ENAMETOOLONG);
    rmdir(folder.c_str());
}

TEST(Frames, ACallGivesItsAnswer)
{
    Launcher launcher([](const bdy_s_req &, Reply *r) {
        r->body.assign(8, 0x11);
        return true;
    });
    bdy_transport *t = connect_to(launcher);
    uint64_t out = 0;
    EXPECT_EQ(call(t, BDY_U_QUERY_CLOCK, &out, sizeof(out)), 0);
    EXPECT_EQ(out, 0x1111111111111111u);
    t->ops->close(t);
}

TEST(Frames, ARefusalIsTheAnswersErrno)
{
    Launcher launcher([](const bdy_s_req &, Reply *r) {
        r->rep.status = -EBUSY;
        return true;
    });
    bdy_transport *t = connect_to(launcher);
    EXPECT_EQ(call(t, BDY_U_DEREG_MR, nullptr, 0), -EBUSY);
    t->ops->close(t);
}

TEST(Frames, MalformedAnswersAreRefusedAndLeakNothing)
{
    int step = 0;
    Launcher launcher([&step](const bdy_s_req &req, Reply *r) {
        r->body.assign(8, 0);
        switch (step++) {
        case 0:
            r->rep.seq = req.seq + 1;
            break;
        case 1:
            r->body.assign(16, 0);
            break; // longer than the answer
        case 2:
            r->body.assign(4, 0);
            break; // shorter
        case 3:
            r->rep.out_len = 4;
            break; // not its length
        case 4:
            r->rep.status = 5;
            break; // no errno
        case 5:
            r->rep.status = INT_MIN;
            break;
        case 6:
            r->fds = {STDERR_FILENO};
            break; // a descriptor nobody asked for
        case 7:
            r->fds = {2, 2, 2, 2};
            break; // as many as fit
        case 8:
            r->fds = {2, 2, 2, 2, 2};
            break; // more
        case 9:
            r->rep.nfds = 2;
            break; // announces what does not come
        default:
            break;
        }
        return true;
    });
    bdy_transport *t = connect_to(launcher);
    const unsigned before = open_fds();
    uint64_t out;
    for (int i = 0; i < 10; i++)
        EXPECT_EQ(call(t, BDY_U_QUERY_CLOCK, &out, sizeof(out)), -EPROTO) << i;
    EXPECT_EQ(call(t, BDY_U_QUERY_CLOCK, &out, sizeof(out)), 0);
    EXPECT_EQ(open_fds(), before);
    t->ops->close(t);
}

TEST(Frames, RingsAreMappedAndAChannelIsHandedOver)
{
    fake::Ring ring(4096), record(4096);
    ring.words()[0] = 0xabc;
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    Launcher launcher([&](const bdy_s_req &req, Reply *r) {
        r->body.assign(8, 0);
        if (req.op == BDY_U_CREATE_CHANNEL)
            r->fds = {pair[0]};
        else
            r->fds = {ring.fd(), record.fd()};
        r->rep.ring_bytes[0] = r->rep.ring_bytes[1] = 4096;
        return true;
    });
    bdy_transport *t = connect_to(launcher);
    bdy_u_ring rings[2] = {};
    uint64_t out;
    int fd = -1;
    const unsigned before = open_fds();
    ASSERT_EQ(call(t, BDY_U_CREATE_CQ, &out, sizeof(out), rings, 2), 0);
    EXPECT_EQ(*static_cast<uint64_t *>(rings[0].addr), 0xabcu);
    *static_cast<uint64_t *>(rings[1].addr) = 7;
    EXPECT_EQ(record.words()[0], 7u);
    t->ops->unmap(t, &rings[0]);
    t->ops->unmap(t, &rings[1]);
    EXPECT_EQ(open_fds(), before);
    ASSERT_EQ(call(t, BDY_U_CREATE_CHANNEL, &out, sizeof(out), nullptr, 0, &fd), 0);
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    EXPECT_EQ(call(t, BDY_U_CREATE_CQ, &out, sizeof(out), rings, 1), -EPROTO); // two came
    EXPECT_EQ(open_fds(), before);
    t->ops->close(t);
    close(pair[0]);
    close(pair[1]);
}

TEST(Frames, ALauncherThatHangsUpIsGone_H24)
{
    Launcher launcher([](const bdy_s_req &, Reply *) { return false; });
    bdy_transport *t = connect_to(launcher);
    uint64_t out;
    EXPECT_EQ(call(t, BDY_U_QUERY_CLOCK, &out, sizeof(out)), -EIO);
    EXPECT_EQ(call(t, BDY_U_QUERY_CLOCK, &out, sizeof(out)), -EIO);
    usleep(30000);
    EXPECT_EQ(t->ops->doorbell(t, 0, 0), -EIO);
    EXPECT_EQ(t->ops->relax(t), -EIO);
    t->ops->close(t);
}

TEST(Frames, AnOpenThatIsRefusedOrWrongFails)
{
    for (int kind = 0; kind < 3; kind++) {
        Launcher *self = nullptr;
        Launcher launcher([&, kind](const bdy_s_req &, Reply *r) {
            if (kind == 0)
                return r->rep.status = -EUSERS, true;
            self->good_open(r);
            kind == 1 ? r->fds.pop_back() : r->body.pop_back();
            return true;
        });
        self = &launcher;
        launcher.overrides_open = true;
        const unsigned before = open_fds();
        bdy_transport *t = nullptr;
        EXPECT_EQ(bdy_client_connect(launcher.path().c_str(), &t), kind == 0 ? -EUSERS : -EPROTO);
        for (int i = 0; i < 100 && open_fds() != before; i++)
            usleep(10000); // until the launcher's end is closed as well
        EXPECT_EQ(open_fds(), before);
    }
}

// ------------------------------------------------------------------------------------------------
// doorbells

class Doorbells : public ::testing::Test
{
  protected:
    Doorbells() : launcher([](const bdy_s_req &, Reply *r) { return r->body.assign(8, 0), true; })
    {
    }
    void SetUp() override
    {
        t = connect_to(launcher);
        q = launcher.queue();
    }
    void TearDown() override
    {
        t->ops->close(t);
    }

    bool woken()
    {
        uint64_t n;
        return read(launcher.wake_fd(), &n, sizeof(n)) > 0;
    }

    void wake_waiters()
    {
        syscall(SYS_futex, &q->progress, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }

    Launcher launcher;
    bdy_transport *t = nullptr;
    bdy_dbq *q = nullptr;
};

TEST_F(Doorbells, ComeInOrder)
{
    for (uint32_t i = 0; i < 10; i++)
        ASSERT_EQ(t->ops->doorbell(t, i * 8, i), 0);
    EXPECT_EQ(q->tail, 10u);
    for (uint32_t i = 0; i < 10; i++) {
        EXPECT_EQ(q->e[i].offset, i * 8);
        EXPECT_EQ(q->e[i].value, i);
    }
}

TEST_F(Doorbells, WakeASleepingLauncherOnly)
{
    ASSERT_EQ(t->ops->doorbell(t, 0, 1), 0);
    EXPECT_FALSE(woken());
    q->asleep = 1;
    ASSERT_EQ(t->ops->doorbell(t, 0, 1), 0);
    EXPECT_TRUE(woken());
}

TEST_F(Doorbells, AFullQueueWaitsAndLosesNothing_H23)
{
    constexpr uint32_t kAll = 5 * BDY_DBQ_ENTRIES;
    std::thread consumer([&] {
        uint32_t head = 0;
        while (head != kAll) {
            if (__atomic_load_n(&q->tail, __ATOMIC_ACQUIRE) == head)
                continue;
            ASSERT_EQ(q->e[head % BDY_DBQ_ENTRIES].value, head);
            __atomic_store_n(&q->head, ++head, __ATOMIC_RELEASE);
            __atomic_fetch_add(&q->progress, 1, __ATOMIC_SEQ_CST);
            if (q->waiters != 0)
                wake_waiters();
            if (head % 500 == 0)
                usleep(2000);
        }
    });
    for (uint32_t i = 0; i < kAll; i++) {
        ASSERT_EQ(t->ops->doorbell(t, 0, i), 0);
        ASSERT_LE(q->tail - __atomic_load_n(&q->head, __ATOMIC_ACQUIRE), BDY_DBQ_ENTRIES);
    }
    consumer.join();
}

TEST_F(Doorbells, AFullQueueOfADeadLauncherGivesUp_H24)
{
    for (uint32_t i = 0; i < BDY_DBQ_ENTRIES; i++)
        ASSERT_EQ(t->ops->doorbell(t, 0, i), 0);
    std::thread killer([&] {
        usleep(20000);
        q->dead = 1;
    });
    EXPECT_EQ(t->ops->doorbell(t, 0, 0), -EIO);
    killer.join();
    EXPECT_EQ(t->ops->relax(t), -EIO);
}

TEST_F(Doorbells, RelaxIsBounded_H26)
{
    const double ms = ms_of([&] {
        for (int i = 0; i < 20; i++)
            EXPECT_EQ(t->ops->relax(t), 0);
    });
    EXPECT_GE(ms, 10); // it did sleep
    EXPECT_EQ(q->waiters, 0u);
}

// The shortest of many: a busy machine makes some of them long, but a sleep to its end makes all of
// them a millisecond.
TEST_F(Doorbells, RelaxEndsWithProgress_H26)
{
    std::atomic<bool> stop{false};
    std::thread launcher_thread([&] {
        while (!stop) {
            if (__atomic_load_n(&q->waiters, __ATOMIC_SEQ_CST) == 0)
                continue;
            __atomic_fetch_add(&q->progress, 1, __ATOMIC_SEQ_CST);
            wake_waiters();
        }
    });
    double shortest = 1e9;
    for (int i = 0; i < 200; i++)
        shortest = std::min(shortest, ms_of([&] { EXPECT_EQ(t->ops->relax(t), 0); }));
    stop = true;
    launcher_thread.join();
    EXPECT_LT(shortest, 0.8);
}

TEST_F(Doorbells, ProgressMadeBeforeTheCallIsNotSleptOn_H26)
{
    double shortest = 1e9;
    for (int i = 0; i < 200; i++) {
        q->progress++; // between the caller's empty poll and its relax
        shortest = std::min(shortest, ms_of([&] { EXPECT_EQ(t->ops->relax(t), 0); }));
    }
    EXPECT_LT(shortest, 0.8);
}

TEST_F(Doorbells, ARequestTellsHowFarTheyWere_H23)
{
    uint32_t seen = 0;
    Launcher second([&seen](const bdy_s_req &req, Reply *r) {
        seen = req.db_tail;
        return r->body.assign(8, 0), true;
    });
    bdy_transport *other = connect_to(second);
    uint64_t out;
    for (int i = 0; i < 3; i++)
        ASSERT_EQ(other->ops->doorbell(other, 0, 0), 0);
    ASSERT_EQ(call(other, BDY_U_QUERY_CLOCK, &out, sizeof(out)), 0);
    EXPECT_EQ(seen, 3u);
    other->ops->close(other);
}

TEST_F(Doorbells, AForkedChildMayOnlyClose_H21)
{
    const pid_t child = fork();
    if (child == 0) {
        uint64_t out;
        const bool good = t->ops->doorbell(t, 0, 0) == -EPERM && t->ops->relax(t) == -EPERM &&
                          call(t, BDY_U_QUERY_CLOCK, &out, sizeof(out)) == -EPERM;
        t->ops->close(t);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    uint64_t out;
    EXPECT_EQ(call(t, BDY_U_QUERY_CLOCK, &out, sizeof(out)), 0); // the parent goes on
    EXPECT_EQ(q->tail, 0u);
}

} // namespace
