// SPDX-License-Identifier: Apache-2.0
// usage: fake_launcher PROVIDER COMMAND [ARGUMENT...]
//
// A test double of the launcher: the test double of the HCA behind a socket, for any number of
// processes below it. Returns what COMMAND returns (128 + signal). It wakes, naps and dies as the
// protocol says; BINDERY_FAKE_DIE=N kills it, without a word, at the Nth doorbell.

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>

#include "sysfs.h"
#include "tests/unit/verbs/fake_hca.h"

namespace
{

struct Client {
    int sock = -1;
    uint32_t ctx = 0;
    std::unique_ptr<fake::Ring> queue;
    bdy_dbq *q = nullptr;
};

class Launcher
{
  public:
    explicit Launcher(const std::string &folder) : path_(folder + "/socket")
    {
        sockaddr_un addr{};
        addr.sun_family = AF_UNIX;
        strcpy(addr.sun_path, path_.c_str());
        listen_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (bind(listen_, reinterpret_cast<sockaddr *>(&addr), sizeof(addr)) < 0 ||
            listen(listen_, 64) < 0)
            throw std::runtime_error("socket");
        hca_.on_progress = [this](uint32_t ctx) { progress(ctx); };
        const char *die = getenv("BINDERY_FAKE_DIE");
        doorbells_left_ = die != nullptr ? atoi(die) : -1;
    }

    const std::string &path() const
    {
        return path_;
    }

    // One round: serve what there is, or sleep a little.
    void step()
    {
        std::vector<pollfd> fds = {{listen_, POLLIN, 0}, {wake_, POLLIN, 0}};
        for (auto &client : clients_)
            fds.push_back({client.sock, POLLIN, 0});
        poll(fds.data(), fds.size(), nap() ? 20 : 0);
        wake_up();
        if (fds[0].revents != 0)
            accept_one();
        size_t i = 2;
        for (auto client = clients_.begin(); client != clients_.end() && i < fds.size(); i++) {
            const auto next = std::next(client);
            if (fds[i].revents != 0 && !serve(*client))
                clients_.erase(client);
            client = next;
        }
        for (auto &client : clients_)
            drain(client, tail(client));
    }

  private:
    // True when there is nothing to do: a doorbell that comes now finds `asleep` and wakes us.
    bool nap()
    {
        bool idle = true;
        for (auto &client : clients_)
            if (client.q != nullptr)
                __atomic_store_n(&client.q->asleep, 1, __ATOMIC_SEQ_CST);
        for (auto &client : clients_)
            idle = idle && (client.q == nullptr || tail(client) == client.q->head);
        return idle;
    }

    void wake_up()
    {
        uint64_t count;
        while (read(wake_, &count, sizeof(count)) > 0)
            continue;
        for (auto &client : clients_)
            if (client.q != nullptr)
                __atomic_store_n(&client.q->asleep, 0, __ATOMIC_SEQ_CST);
    }

    static uint32_t tail(const Client &client)
    {
        return client.q != nullptr ? __atomic_load_n(&client.q->tail, __ATOMIC_SEQ_CST) : 0;
    }

    void progress(uint32_t ctx)
    {
        for (auto &client : clients_)
            if (client.ctx == ctx && client.q != nullptr) {
                __atomic_fetch_add(&client.q->progress, 1, __ATOMIC_SEQ_CST);
                if (__atomic_load_n(&client.q->waiters, __ATOMIC_SEQ_CST) != 0)
                    syscall(SYS_futex, &client.q->progress, FUTEX_WAKE, INT32_MAX, nullptr, nullptr,
                            0);
            }
    }

    void drain(Client &client, uint32_t until)
    {
        bdy_dbq *q = client.q;
        while (q != nullptr &&
               static_cast<int32_t>(until - q->head) > 0) { // it may be past that already
            if (doorbells_left_ == 0)
                kill(getpid(), SIGKILL);
            doorbells_left_--;
            const auto &e = q->e[q->head % BDY_DBQ_ENTRIES];
            hca_.doorbell(client.ctx, e.offset, e.value);
            __atomic_store_n(&q->head, q->head + 1, __ATOMIC_RELEASE);
            progress(client.ctx);
        }
    }

    void accept_one()
    {
        Client client;
        client.sock = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client.sock >= 0)
            clients_.push_back(std::move(client));
    }

    void reply(const Client &client, bdy_s_rep rep, const std::vector<uint8_t> &out,
               const std::vector<int> &fds)
    {
        alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
        iovec parts[2] = {{&rep, sizeof(rep)}, {const_cast<uint8_t *>(out.data()), out.size()}};
        msghdr msg{};
        rep.out_len = static_cast<uint32_t>(out.size());
        rep.nfds = static_cast<uint32_t>(fds.size());
        msg.msg_iov = parts;
        msg.msg_iovlen = 2;
        if (!fds.empty()) {
            msg.msg_control = control;
            msg.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
            cmsghdr *c = CMSG_FIRSTHDR(&msg);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
            memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
        }
        sendmsg(client.sock, &msg, MSG_NOSIGNAL);
    }

    void open(Client &client, const bdy_s_req &req, const bdy_u_open_in &in)
    {
        ucred peer{};
        socklen_t len = sizeof(peer);
        getsockopt(client.sock, SOL_SOCKET, SO_PEERCRED, &peer, &len);
        uint8_t cookie[16] = {};
        const iovec local = {cookie, 16}, remote = {reinterpret_cast<void *>(in.cookie_va), 16};
        const bool same = process_vm_readv(peer.pid, &local, 1, &remote, 1, 0) == 16 &&
                          memcmp(cookie, in.cookie, 16) == 0;
        if (in.abi != BDY_UCTX_ABI || !same)
            return reply(client, {-EPROTO, req.seq, 0, 0, {0, 0}}, {}, {});
        int async[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, async) < 0)
            return reply(client, {-ENOMEM, req.seq, 0, 0, {0, 0}}, {}, {});
        client.ctx = hca_.open(peer.pid, async[0]);
        client.queue = std::make_unique<fake::Ring>(sizeof(bdy_dbq));
        client.q = reinterpret_cast<bdy_dbq *>(client.queue->words());
        const bdy_u_open_out opened{client.ctx, BDY_CORE_CLOCK_KHZ, 1};
        std::vector<uint8_t> out(sizeof(opened));
        memcpy(out.data(), &opened, sizeof(opened));
        reply(client, {0, req.seq, 0, 0, {0, 0}}, out, {client.queue->fd(), wake_, async[1]});
        ::close(async[1]);
    }

    void call(Client &client, const bdy_s_req &req, const void *in)
    {
        fake::Answer answer;
        drain(client, req.db_tail);
        bdy_s_rep rep{
            hca_.call(client.ctx, req.op, in, req.in_len, &answer), req.seq, 0, 0, {0, 0}};
        std::vector<int> fds;
        for (int i = 0; i < 2; i++)
            if (answer.rings[i] != nullptr) {
                fds.push_back(answer.rings[i]->fd());
                rep.ring_bytes[i] = answer.rings[i]->bytes();
            }
        if (answer.fd >= 0)
            fds.push_back(answer.fd);
        reply(client, rep, answer.out, fds);
        if (answer.fd >= 0)
            ::close(answer.fd);
    }

    bool serve(Client &client)
    {
        struct {
            bdy_s_req req;
            uint8_t in[BDY_S_MAX];
        } frame;
        const ssize_t n = recv(client.sock, &frame, sizeof(frame), 0);
        if (n <= 0) {
            if (client.ctx != 0)
                hca_.close(client.ctx);
            ::close(client.sock);
            return false;
        }
        if (n < static_cast<ssize_t>(sizeof(frame.req)) ||
            frame.req.in_len != n - sizeof(frame.req))
            reply(client, {-EINVAL, frame.req.seq, 0, 0, {0, 0}}, {}, {});
        else if ((frame.req.op == BDY_U_OPEN) != (client.ctx == 0))
            reply(client, {-EINVAL, frame.req.seq, 0, 0, {0, 0}}, {}, {});
        else if (frame.req.op == BDY_U_OPEN)
            open(client, frame.req, *reinterpret_cast<bdy_u_open_in *>(frame.in));
        else
            call(client, frame.req, frame.req.in_len != 0 ? frame.in : nullptr);
        return true;
    }

    fake::Hca hca_;
    std::string path_;
    int listen_, wake_, doorbells_left_;
    std::list<Client> clients_;
};

pid_t start(const Launcher &launcher, const std::string &folder, const char *provider,
            char **command)
{
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    setenv("LD_PRELOAD", provider, 1);
    setenv("SYSFS_PATH", (folder + "/sysfs").c_str(), 1);
    setenv("BINDERY_SOCKET", launcher.path().c_str(), 1);
    setenv("BINDERY_LAUNCHER_PID", std::to_string(getppid()).c_str(), 1);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: fake_launcher PROVIDER COMMAND [ARGUMENT...]\n");
        return 2;
    }
    const char *tmp = getenv("TMPDIR");
    std::string folder = std::string(tmp != nullptr ? tmp : "/tmp") + "/fake-launcher-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr || mkdir((folder + "/sysfs").c_str(), 0755) < 0)
        return 2;
    const bdy_u_device_attr dev = fake::Hca::device_attr();
    const bdy_u_port_attr port = fake::Hca::port_attr();
    if (bdy_client_make_sysfs((folder + "/sysfs").c_str(), &dev, &port) != 0)
        return 2;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    Launcher launcher(folder);
    const pid_t child = start(launcher, folder, argv[1], argv + 2);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0)
        launcher.step();
    unlink(launcher.path().c_str());
    bdy_client_remove_sysfs((folder + "/sysfs").c_str());
    rmdir(folder.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
