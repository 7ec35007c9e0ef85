// SPDX-License-Identifier: Apache-2.0
// Memory of other processes, and their deaths (H21, H22).
#include "tests/unit/host/fake_device.h"

#include <csignal>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fake;

namespace
{

const uint8_t kCookie[16] = {1, 9, 2, 8, 3, 7, 4, 6, 5, 5, 6, 4, 7, 3, 8, 2};

/** A forked child with pages of its own that does one thing when told to. */
class Child
{
  public:
    enum Deed : char { Unmap = 'u', Exec = 'e', Remap = 'r', Check = 'c' };

    Child()
    {
        page = static_cast<uint8_t *>(
            mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_EQ(pipe(tell), 0);
        EXPECT_EQ(pipe(hear), 0);
        pid = fork();
        if (pid == 0)
            live();
        pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
        listen();
    }
    ~Child()
    {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        for (int fd : {tell[0], tell[1], hear[0], hear[1], pidfd})
            close(fd);
        munmap(page, 3 * 4096);
    }
    /** Returns the child's answer. */
    char tell_it(Deed deed)
    {
        const char c = deed;
        EXPECT_EQ(::write(tell[1], &c, 1), 1);
        return listen();
    }
    void die()
    {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
    bdy_aspace *aspace(Rig &rig, bool with_pidfd = true) const
    {
        return bdy_host_aspace_pid(rig.host, pid, with_pidfd ? pidfd : -1, va(), kCookie);
    }
    uint64_t va(size_t at = 0) const
    {
        return reinterpret_cast<uint64_t>(page) + at;
    }
    pid_t pid;
    int pidfd;
    uint8_t *page; // in the child: cookie and bytes 100.. of page 0; page 1 to be unmapped; page 2
                   // always there

  private:
    char listen()
    {
        char c = 0;
        EXPECT_EQ(::read(hear[0], &c, 1), 1);
        return c;
    }
    [[noreturn]] void live()
    {
        std::memcpy(page, kCookie, sizeof(kCookie));
        std::memset(page + 100, 0x77, 3 * 4096 - 100);
        char c = 'k';
        for (;;) {
            if (::write(hear[1], &c, 1) != 1 || ::read(tell[0], &c, 1) != 1)
                _exit(1);
            switch (c) {
            case Unmap:
                munmap(page + 4096, 4096);
                break;
            case Exec: // the pid goes on, its memory does not
                if (::write(hear[1], &c, 1) == 1)
                    execlp("sleep", "sleep", "60", nullptr);
                _exit(2);
            case Check: // did the DMA reach me?
                c = static_cast<char>(page[4096]);
                break;
            }
        }
    }
    int tell[2], hear[2];
};

class Aspace : public ::testing::Test
{
  protected:
    /** Maps the child's three pages. */
    void attach(bool with_pidfd = true)
    {
        as = child.aspace(rig, with_pidfd);
        ASSERT_NE(as, nullptr);
        ASSERT_EQ(rig.pci->ops->dma_map(rig.pci, as, child.va(), 3 * 4096, kBoth, &map), 0);
    }
    ~Aspace() override
    {
        rig.pci->ops->dma_unmap(rig.pci, &map);
        bdy_host_aspace_free(rig.host, as);
    }
    bdy_dma_status read_at(uint64_t at)
    {
        return rig.read(bus_of(map, at), 16).status;
    }
    Child child;
    Rig rig;
    bdy_aspace *as = nullptr;
    bdy_dma_map map{};
};

TEST_F(Aspace, AChildsMemoryIsReadAndWritten)
{
    attach();
    EXPECT_EQ(bdy_host_aspace_probe(as), 0);
    EXPECT_EQ(rig.read(bus_of(map, 4096), 100).data, std::vector<uint8_t>(100, 0x77));
    EXPECT_EQ(rig.write(bus_of(map, 4096), {'!'}), BDY_DMA_OK);
    EXPECT_EQ(child.tell_it(Child::Check), '!');
    EXPECT_EQ(child.page[4096], 0) << "ours is another";
}

TEST_F(Aspace, AKilledChildIsADmaErrorAndNothingElseH21)
{
    attach();
    ASSERT_EQ(read_at(200), BDY_DMA_OK);
    child.die();
    EXPECT_EQ(read_at(200), BDY_DMA_ERROR);
    EXPECT_EQ(rig.write(bus_of(map, 200), {1}), BDY_DMA_ERROR);
    EXPECT_EQ(bdy_host_aspace_probe(as), -ESRCH);
    bdy_dma_map m;
    EXPECT_EQ(rig.pci->ops->dma_map(rig.pci, as, child.va(), 4096, kBoth, &m), -EFAULT);
    bdy_dma_buf buf;
    ASSERT_EQ(rig.pci->ops->dma_alloc(rig.pci, 4096, &buf), 0);
    EXPECT_EQ(rig.read(buf.bus, 64).status, BDY_DMA_OK) << "others go on";
    rig.pci->ops->dma_free(rig.pci, &buf);
}

TEST_F(Aspace, AZombieIsDeadToo)
{
    attach();
    kill(child.pid, SIGKILL);
    while (syscall(SYS_kill, child.pid, 0) == 0) { // not reaped: the pid stays, the memory goes
        char state = 0;
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/stat", child.pid);
        FILE *f = fopen(path, "r");
        ASSERT_TRUE(f);
        EXPECT_EQ(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
        fclose(f);
        if (state == 'Z')
            break;
        usleep(1000);
    }
    EXPECT_EQ(read_at(200), BDY_DMA_ERROR);
}

TEST_F(Aspace, WithoutAPidfdTheCookieTells)
{
    attach(false);
    ASSERT_EQ(read_at(200), BDY_DMA_OK);
    child.die();
    EXPECT_EQ(read_at(200), BDY_DMA_ERROR);
}

TEST_F(Aspace, AnEndedPidfdIsADeathWhateverThePidSaysNow)
{
    Child other;
    as = bdy_host_aspace_pid(rig.host, child.pid, other.pidfd, child.va(), kCookie);
    ASSERT_EQ(bdy_host_aspace_probe(as), 0);
    other.die(); // as if the pid had been given away, with the same memory even
    EXPECT_EQ(bdy_host_aspace_probe(as), -ESRCH);
}

TEST_F(Aspace, AnExecIsADeathH21)
{
    attach();
    ASSERT_EQ(read_at(200), BDY_DMA_OK);
    EXPECT_EQ(child.tell_it(Child::Exec), 'e');
    // The exec itself takes a moment; from then on nothing is reached, although the pid lives.
    for (int i = 0; i < 2000 && read_at(200) == BDY_DMA_OK; i++)
        usleep(1000);
    EXPECT_EQ(read_at(200), BDY_DMA_ERROR);
    EXPECT_EQ(kill(child.pid, 0), 0);
}

TEST_F(Aspace, AWrongCookieIsNobody)
{
    uint8_t other[16];
    std::memcpy(other, kCookie, sizeof(other));
    other[15] ^= 1;
    as = bdy_host_aspace_pid(rig.host, child.pid, child.pidfd, child.va(), other);
    ASSERT_NE(as, nullptr);
    EXPECT_EQ(bdy_host_aspace_probe(as), -ESRCH);
    EXPECT_EQ(rig.pci->ops->dma_map(rig.pci, as, child.va(), 4096, kBoth, &map), -EFAULT);
}

TEST_F(Aspace, AnUnmappedPageIsAnErrorOfThatTransferOnlyH25)
{
    attach();
    ASSERT_EQ(read_at(4096), BDY_DMA_OK);
    child.tell_it(Child::Unmap);
    EXPECT_EQ(read_at(4096), BDY_DMA_ERROR);
    EXPECT_EQ(rig.write(bus_of(map, 4096), {1}), BDY_DMA_ERROR);
    EXPECT_EQ(read_at(8192), BDY_DMA_OK);
    EXPECT_EQ(rig.write(bus_of(map, 8192), {1}), BDY_DMA_OK);
    EXPECT_EQ(rig.stats().dma_errors, 2u);
}

TEST_F(Aspace, OurOwnMemoryUnmappedIsAnErrorNotACrash)
{
    auto *p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_EQ(
        rig.pci->ops->dma_map(rig.pci, rig.self, reinterpret_cast<uint64_t>(p), 4096, kBoth, &map),
        0);
    ASSERT_EQ(read_at(0), BDY_DMA_OK);
    munmap(p, 4096);
    EXPECT_EQ(read_at(0), BDY_DMA_ERROR);
    EXPECT_EQ(rig.write(bus_of(map, 0), {1}), BDY_DMA_ERROR);
}

TEST_F(Aspace, AFreedSpaceIsUnreachableWhileItsMappingsStand)
{
    attach();
    bdy_host_aspace_free(rig.host, as);
    as = nullptr;
    EXPECT_EQ(read_at(200), BDY_DMA_ERROR);
}

// ---------------------------------------------------------------- served by somebody else

struct Served {
    std::vector<uint8_t> memory = std::vector<uint8_t>(8192, 3);
    int checks = 0, destroyed = 0, answer = 0, check_answer = 0;
    unsigned dir = 0;
    static int check(void *a)
    {
        static_cast<Served *>(a)->checks++;
        return static_cast<Served *>(a)->check_answer;
    }
    static int read(void *a, uint64_t va, void *to, size_t n)
    {
        auto &s = *static_cast<Served *>(a);
        std::memcpy(to, &s.memory.at(va - 0x10000), n);
        return s.answer;
    }
    static int write(void *a, uint64_t va, const void *from, size_t n)
    {
        auto &s = *static_cast<Served *>(a);
        std::memcpy(&s.memory.at(va - 0x10000), from, n);
        return s.answer;
    }
    static int populate(void *a, uint64_t va, uint64_t bytes, unsigned dir)
    {
        static_cast<Served *>(a)->dir = dir;
        return va >= 0x10000 && va + bytes <= 0x12000 ? 0 : -EFAULT;
    }
    static void destroy(void *a)
    {
        static_cast<Served *>(a)->destroyed++;
    }
};
const bdy_aspace_ops kServed = {Served::check, Served::read, Served::write, Served::populate,
                                Served::destroy};

TEST(AspaceOps, SomebodyElseMayServeTheMemory)
{
    Served served;
    Rig rig;
    bdy_aspace *as = bdy_host_aspace_ops(rig.host, &kServed, &served);
    bdy_dma_map m;
    EXPECT_EQ(rig.pci->ops->dma_map(rig.pci, as, 0x11000, 8192, kBoth, &m), -EFAULT);
    ASSERT_EQ(rig.pci->ops->dma_map(rig.pci, as, 0x10010, 4096,
                                    BDY_DMA_TO_DEVICE | BDY_DMA_FROM_DEVICE, &m),
              0);
    EXPECT_EQ(served.dir, kBoth);
    EXPECT_EQ(rig.write(bus_of(m, 0), {7, 8}), BDY_DMA_OK);
    EXPECT_EQ(served.memory[16], 7);
    EXPECT_EQ(rig.read(bus_of(m, 1), 1).data.at(0), 8);

    served.answer = -EFAULT;
    EXPECT_EQ(rig.read(bus_of(m, 1), 1).status, BDY_DMA_ERROR);
    served.answer = 0;
    EXPECT_EQ(rig.read(bus_of(m, 1), 1).status, BDY_DMA_OK) << "that transfer only";
    served.answer = -ESRCH;
    EXPECT_EQ(rig.read(bus_of(m, 1), 1).status, BDY_DMA_ERROR);
    served.answer = 0;
    EXPECT_EQ(rig.read(bus_of(m, 1), 1).status, BDY_DMA_ERROR) << "gone for good";

    bdy_host_aspace_free(rig.host, as);
    EXPECT_EQ(served.destroyed, 0) << "a mapping still names it";
    rig.pci->ops->dma_unmap(rig.pci, &m);
    EXPECT_EQ(served.destroyed, 1);
}

TEST(AspaceOps, TheCheckIsOncePerBatchH21)
{
    Served served;
    Rig rig([](bdy_host_cfg &c) { c.lat_min = c.lat_max = 50; });
    bdy_aspace *as = bdy_host_aspace_ops(rig.host, &kServed, &served);
    bdy_dma_map m;
    ASSERT_EQ(rig.pci->ops->dma_map(rig.pci, as, 0x10000, 4096, kBoth, &m), 0);
    served.checks = 0;
    rig.in_device([&](bdy_dev &d) {
        for (int i = 0; i < 10; i++)
            d.dma_read(bus_of(m, 0), 8);
    });
    EXPECT_EQ(served.checks, 1) << "ten transfers of one cycle";
    rig.in_device([&](bdy_dev &d) { d.dma_read(bus_of(m, 0), 8); });
    EXPECT_EQ(served.checks, 2);
    served.check_answer = -ESRCH;
    EXPECT_EQ(rig.read(bus_of(m, 0), 8).status, BDY_DMA_ERROR);
    served.check_answer = 0;
    EXPECT_EQ(rig.read(bus_of(m, 0), 8).status, BDY_DMA_ERROR) << "nothing revives it";
    rig.pci->ops->dma_unmap(rig.pci, &m);
    bdy_host_aspace_free(rig.host, as);
}

} // namespace
