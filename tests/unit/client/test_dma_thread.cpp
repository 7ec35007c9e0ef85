// SPDX-License-Identifier: Apache-2.0
// Memory that a thread in its process serves (H22): both ends, in one process and in two.

#include <csignal>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "bindery/uctx.h"
#include "dma_thread.h"
#include "sim/host/aspace.h"

namespace
{

constexpr unsigned kBoth = BDY_DMA_TO_DEVICE | BDY_DMA_FROM_DEVICE;

double ms_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

class Served : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        memfd_ = memfd_create("port", MFD_CLOEXEC);
        ASSERT_EQ(ftruncate(memfd_, sizeof(bdy_dma_port)), 0);
        void *p = mmap(nullptr, sizeof(bdy_dma_port), PROT_READ | PROT_WRITE, MAP_SHARED, memfd_, 0);
        ASSERT_NE(p, MAP_FAILED);
        port = static_cast<bdy_dma_port *>(p);
        p = mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(p, MAP_FAILED);
        page = static_cast<uint8_t *>(p);
        memset(page, 0x77, 3 * 4096);
        va = reinterpret_cast<uint64_t>(page);
    }
    void TearDown() override
    {
        if (as != nullptr)
            bdy_host_aspace_free(nullptr, as);
        bdy_dma_thread_stop(thread, 0);
        if (thread == nullptr)
            close(memfd_);
        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
            close(pidfd);
        }
        munmap(port, sizeof(*port));
        munmap(page, 3 * 4096);
    }
    void attach(unsigned wait_ms)
    {
        as = bdy_host_aspace_served(nullptr, port, pidfd, -1, wait_ms);
        ASSERT_NE(as, nullptr);
    }
    void serve_here()
    {
        ASSERT_EQ(bdy_dma_thread_start(memfd_, &thread), 0);
        attach(60000);
    }
    /** A child with a copy of the pages serves them. */
    void serve_in_child(unsigned wait_ms)
    {
        pid = fork();
        if (pid == 0) {
            if (bdy_dma_thread_start(memfd_, &thread) != 0)
                _exit(1);
            for (;;)
                pause();
        }
        pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
        attach(wait_ms);
    }
    int read(uint64_t at, void *to, size_t n)
    {
        return as->ops->read(as->arg, at, to, n);
    }
    int write(uint64_t at, const void *from, size_t n)
    {
        return as->ops->write(as->arg, at, from, n);
    }
    int populate(uint64_t at, uint64_t n, unsigned dir)
    {
        return as->ops->populate(as->arg, at, n, dir);
    }

    bdy_dma_port *port = nullptr;
    uint8_t *page = nullptr;
    uint64_t va = 0;
    pid_t pid = 0;
    int pidfd = -1;
    bdy_aspace *as = nullptr;
    bdy_dma_thread *thread = nullptr;

  private:
    int memfd_ = -1;
};

TEST_F(Served, BytesTravelBothWaysWhateverTheLength)
{
    serve_here();
    for (size_t n : {1, 7, 8, 9, 16, 4095, 4096, 9000}) {
        std::vector<uint8_t> sent(n), seen(n);
        for (size_t i = 0; i < n; i++)
            sent[i] = static_cast<uint8_t>(i * 31 + n);
        memset(page, 0x77, 3 * 4096);
        ASSERT_EQ(write(va + 3, sent.data(), n), 0) << n;
        EXPECT_EQ(memcmp(page + 3, sent.data(), n), 0) << n;
        EXPECT_EQ(page[2], 0x77) << n;
        EXPECT_EQ(page[3 + n], 0x77) << n;
        ASSERT_EQ(read(va + 3, seen.data(), n), 0) << n;
        EXPECT_EQ(seen, sent) << n;
    }
}

TEST_F(Served, WhatIsNotMappedIsAnErrorOfThatTransferOnlyH25)
{
    serve_here();
    munmap(page + 4096, 4096);
    uint8_t byte[16] = {5};
    EXPECT_EQ(read(va + 4096, byte, 1), -EFAULT);
    EXPECT_EQ(write(va + 4096, byte, 1), -EFAULT);
    EXPECT_EQ(read(va + 4090, byte, 16), -EFAULT) << "half of it is there";
    EXPECT_EQ(write(va + 4090, byte, 16), -EFAULT);
    EXPECT_EQ(read(va + 8192, byte, 1), 0);
    EXPECT_EQ(write(va + 8192, byte, 1), 0);
    EXPECT_EQ(read(8, byte, 1), -EFAULT);
    EXPECT_EQ(write(UINT64_MAX - 4, byte, 16), -EFAULT);
}

TEST_F(Served, PopulateAsksForTheRightsOfTheDirectionAndChangesNothingH25)
{
    serve_here();
    ASSERT_EQ(mprotect(page + 8192, 4096, PROT_READ), 0);
    EXPECT_EQ(populate(va + 10, 8000, kBoth), 0);
    EXPECT_EQ(populate(va + 10, 8200, kBoth), -EFAULT);
    EXPECT_EQ(populate(va + 10, 8200, BDY_DMA_TO_DEVICE), 0);
    EXPECT_EQ(populate(va, 0, kBoth), -EFAULT);
    EXPECT_EQ(populate(va, UINT64_MAX, kBoth), -EFAULT);
    for (int i = 0; i < 3 * 4096; i++)
        ASSERT_EQ(page[i], 0x77);
    munmap(page + 4096, 4096);
    EXPECT_EQ(populate(va, 8192, kBoth), -EFAULT);
    uint8_t byte = 1;
    EXPECT_EQ(write(va + 8192, &byte, 1), -EFAULT) << "read-only";
}

TEST_F(Served, TheLastEightBytesAreSeenLastH16)
{
    serve_here();
    auto *words = reinterpret_cast<uint64_t *>(page);
    std::atomic<bool> stop{false}, early{false};
    memset(page, 0, 64);
    std::thread watcher([&] {
        while (!stop) {
            const uint64_t last = __atomic_load_n(&words[7], __ATOMIC_ACQUIRE);
            const uint64_t first = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
            if (first < last)
                early = true;
        }
    });
    for (uint64_t i = 1; i < 3000; i++) {
        uint64_t line[8];
        for (auto &w : line)
            w = i;
        ASSERT_EQ(write(va, line, sizeof(line)), 0);
    }
    stop = true;
    watcher.join();
    EXPECT_FALSE(early);
}

TEST_F(Served, AnotherProcessServesUntilItIsKilledH21)
{
    serve_in_child(60000);
    uint8_t seen[8];
    ASSERT_EQ(read(va, seen, 8), 0);
    EXPECT_EQ(seen[0], 0x77);
    const auto begin = std::chrono::steady_clock::now();
    std::thread killer([this] {
        usleep(50000);
        kill(pid, SIGKILL);
    });
    int err = 0;
    while (err == 0 && ms_since(begin) < 20000)
        err = read(va, seen, 8);
    killer.join();
    EXPECT_EQ(err, -ESRCH) << "in the middle of the requests";
    EXPECT_EQ(bdy_host_aspace_probe(as), -ESRCH);
}

TEST_F(Served, AStoppedProcessIsAnErrorAfterABoundedWaitAndComesBack)
{
    serve_in_child(300);
    uint8_t seen[8], sent[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ASSERT_EQ(read(va, seen, 8), 0);
    kill(pid, SIGSTOP);
    waitpid(pid, nullptr, WUNTRACED);
    auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(write(va, sent, 8), -ETIMEDOUT);
    EXPECT_GT(ms_since(begin), 250);
    EXPECT_EQ(bdy_host_aspace_probe(as), 0) << "an error of that transfer only";
    kill(pid, SIGCONT);
    int err = -ETIMEDOUT;
    begin = std::chrono::steady_clock::now();
    while (err == -ETIMEDOUT && ms_since(begin) < 20000)
        err = read(va, seen, 8);
    EXPECT_EQ(err, 0);
    EXPECT_EQ(seen[0], 0x77) << "the write that was given up is not made later";
}

TEST_F(Served, AnAnswerThatIsOwedHoldsUpNobodyTwice)
{
    attach(200);
    uint8_t seen[8];
    std::thread taker([this] { // takes the request and never answers
        for (uint32_t asked = BDY_DMA_PORT_ASKED;
             !__atomic_compare_exchange_n(&port->state, &asked, BDY_DMA_PORT_TAKEN, 0,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
             asked = BDY_DMA_PORT_ASKED)
            usleep(1000);
    });
    EXPECT_EQ(read(va, seen, 8), -ETIMEDOUT);
    taker.join();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(read(va, seen, 8), -ETIMEDOUT);
    EXPECT_EQ(populate(va, 8, kBoth), -EFAULT);
    EXPECT_LT(ms_since(begin), 150);
}

TEST_F(Served, AClientsWordIsNotBelievedH23)
{
    attach(200);
    for (int status : {5, -ESRCH, INT32_MIN}) { // only "done" and "not there" are answers
        std::thread liar([this, status] {
            while (__atomic_load_n(&port->state, __ATOMIC_ACQUIRE) != BDY_DMA_PORT_ASKED)
                usleep(1000);
            port->status = status;
            port->bytes = UINT64_MAX;
            __atomic_store_n(&port->state, BDY_DMA_PORT_DONE, __ATOMIC_RELEASE);
        });
        uint8_t seen[8];
        EXPECT_EQ(read(va, seen, 8), -EFAULT) << status;
        liar.join();
    }
}

} // namespace
