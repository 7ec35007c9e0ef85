// SPDX-License-Identifier: Apache-2.0
// Completion channels, arming, asynchronous events, and what becomes of events whose object is
// destroyed.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "fixture.h"

namespace
{

class Events : public Provider
{
  protected:
    void SetUp() override
    {
        Provider::SetUp();
        channel = ibv_create_comp_channel(ctx);
        ASSERT_NE(channel, nullptr);
        fcntl(channel->fd, F_SETFL, O_NONBLOCK);
        fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK);
        qp = new_qp();
        other = ibv_create_cq(ctx, 8, this, channel, 0);
        ASSERT_NE(other, nullptr);
    }

    ibv_cq *new_cq(void *context = nullptr)
    {
        return ibv_create_cq(ctx, 8, context, channel, 0);
    }

    void push(ibv_cq *to, bool solicited = false, uint8_t status = BDY_WC_SUCCESS)
    {
        fake::Cqe c = cqe(qp, 0, status);
        bdy_cqe_set_solicited(c.data(), solicited);
        hca.push_cqe(to->handle, c);
    }

    // The CQ of the next event, acknowledged; nullptr: there is none.
    ibv_cq *next_event(bool ack = true)
    {
        ibv_cq *from = nullptr;
        void *context;
        if (ibv_get_cq_event(channel, &from, &context) != 0)
            return nullptr;
        EXPECT_EQ(context, from->cq_context);
        if (ack)
            ibv_ack_cq_events(from, 1);
        return from;
    }

    static bool readable(int fd)
    {
        pollfd p = {fd, POLLIN, 0};
        return ::poll(&p, 1, 0) == 1;
    }

    bool next_async(ibv_async_event *event, bool ack = true)
    {
        if (ibv_get_async_event(ctx, event) != 0)
            return false;
        if (ack)
            ibv_ack_async_event(event);
        return true;
    }

    ibv_comp_channel *channel = nullptr;
    ibv_qp *qp = nullptr;
    ibv_cq *other = nullptr;
};

TEST_F(Events, AnUnarmedQueueIsSilent_C5)
{
    push(other);
    EXPECT_EQ(next_event(), nullptr);
}

TEST_F(Events, ArmThenEntryAndEntryThenArmGiveOneEventEach_C5)
{
    ASSERT_EQ(ibv_req_notify_cq(other, 0), 0);
    push(other);
    push(other);
    EXPECT_EQ(next_event(), other);
    EXPECT_EQ(next_event(), nullptr);
    ASSERT_EQ(ibv_req_notify_cq(other, 0), 0); // two entries are there already
    EXPECT_EQ(next_event(), other);
    EXPECT_EQ(next_event(), nullptr);
}

TEST_F(Events, ArmDoorbellCarriesNumberSequenceAndConsumerIndex_H16)
{
    uint32_t seq = 0;
    for (uint32_t taken = 0; taken < 6; taken++) {
        ASSERT_EQ(ibv_req_notify_cq(other, taken & 1), 0);
        const fake::Doorbell &db = hca.doorbells.back();
        EXPECT_EQ(db.offset, 0x10u);
        EXPECT_EQ(bdy_db_cq_get_cqn(&db.value), other->handle);
        EXPECT_EQ(bdy_db_cq_get_sol(&db.value), taken & 1);
        EXPECT_EQ(bdy_db_cq_get_seq(&db.value), seq & 3);
        EXPECT_EQ(bdy_db_cq_get_ci(&db.value), taken);
        push(other, true);
        ASSERT_EQ(next_event(), other);
        seq++;
        ibv_wc wc;
        EXPECT_EQ(ibv_poll_cq(other, 1, &wc), 0); // names no request, but is consumed
    }
}

TEST_F(Events, SolicitedOnlyWaitsForASolicitedOrFailedOne_C5)
{
    ASSERT_EQ(ibv_req_notify_cq(other, 1), 0);
    push(other);
    EXPECT_EQ(next_event(), nullptr);
    push(other, true);
    EXPECT_EQ(next_event(), other);
    ibv_wc wc[4];
    while (ibv_poll_cq(other, 4, wc) > 0 ||
           hca.cqs.at(other->handle).pi != hca.cqs.at(other->handle).record->words()[0])
        continue;
    ASSERT_EQ(ibv_req_notify_cq(other, 1), 0);
    push(other, false, BDY_WC_WR_FLUSH_ERR);
    EXPECT_EQ(next_event(), other);
}

TEST_F(Events, ADestroyedQueuesUnreadEventsAreGone)
{
    ibv_cq *first = new_cq(), *second = new_cq(), *third = new_cq();
    for (ibv_cq *c : {first, second, third}) {
        ASSERT_EQ(ibv_req_notify_cq(c, 0), 0);
        push(c);
    }
    ASSERT_EQ(ibv_destroy_cq(second), 0); // in the middle of the socket
    ASSERT_EQ(ibv_destroy_cq(first), 0);  // at its head
    EXPECT_TRUE(readable(channel->fd));
    EXPECT_EQ(next_event(), third);
    EXPECT_FALSE(readable(channel->fd));
    EXPECT_EQ(next_event(), nullptr);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Events, ADeadEventNeverWakesAPoller)
{
    ibv_cq *first = new_cq(), *second = new_cq();
    for (ibv_cq *c : {first, second}) {
        ASSERT_EQ(ibv_req_notify_cq(c, 0), 0);
        push(c);
    }
    ASSERT_EQ(ibv_destroy_cq(second), 0);
    EXPECT_EQ(next_event(), first);
    EXPECT_FALSE(readable(channel->fd)); // the dead one went with the read of the live one
}

TEST_F(Events, DestroyWaitsForTheAcknowledgement)
{
    ibv_cq *waited = new_cq();
    ASSERT_EQ(ibv_req_notify_cq(waited, 0), 0);
    push(waited);
    ASSERT_EQ(next_event(false), waited);
    std::atomic<bool> gone{false};
    std::thread destroyer([&] {
        EXPECT_EQ(ibv_destroy_cq(waited), 0);
        gone = true;
    });
    usleep(50000);
    EXPECT_FALSE(gone);
    ibv_ack_cq_events(waited, 1);
    destroyer.join();
    EXPECT_TRUE(gone);
}

TEST_F(Events, ABlockedReaderIsWoken)
{
    fcntl(channel->fd, F_SETFL, 0);
    std::thread reader([&] { EXPECT_EQ(next_event(), other); });
    usleep(20000);
    ASSERT_EQ(ibv_req_notify_cq(other, 0), 0);
    push(other);
    reader.join();
}

TEST_F(Events, AChannelInUseStaysAndADestroyedOneIsGivenBack)
{
    EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
    ASSERT_EQ(ibv_destroy_cq(other), 0);
    ASSERT_EQ(ibv_destroy_comp_channel(channel), 0);
    EXPECT_EQ(calls(BDY_U_DESTROY_CHANNEL), 1u);
    EXPECT_TRUE(hca.contexts.begin()->second.channels.empty());
}

TEST_F(Events, AChannelThatIsNoneOfOursIsRefused)
{
    ibv_comp_channel foreign = *channel;
    foreign.fd = STDERR_FILENO;
    errno = 0;
    EXPECT_EQ(ibv_create_cq(ctx, 8, nullptr, &foreign, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(Events, RefusedChannelsGiveTheErrno)
{
    hca.fail[BDY_U_CREATE_CHANNEL] = EMFILE;
    errno = 0;
    EXPECT_EQ(ibv_create_comp_channel(ctx), nullptr);
    EXPECT_EQ(errno, EMFILE);
}

TEST_F(Events, AsynchronousEventsNameTheirObject_E1)
{
    ibv_async_event event;
    hca.async_event(1, reinterpret_cast<uintptr_t>(qp), IBV_EVENT_QP_ACCESS_ERR);
    hca.async_event(1, reinterpret_cast<uintptr_t>(other), IBV_EVENT_CQ_ERR);
    hca.async_event(1, 0, IBV_EVENT_PORT_ACTIVE);
    ASSERT_TRUE(next_async(&event));
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
    EXPECT_EQ(event.element.qp, qp);
    ASSERT_TRUE(next_async(&event));
    EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
    EXPECT_EQ(event.element.cq, other);
    ASSERT_TRUE(next_async(&event));
    EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ACTIVE);
    EXPECT_FALSE(next_async(&event));
}

TEST_F(Events, ADestroyedQueuePairsUnreadEventsAreGone)
{
    ibv_async_event event;
    ibv_qp *gone = new_qp();
    hca.async_event(1, reinterpret_cast<uintptr_t>(qp), IBV_EVENT_COMM_EST);
    hca.async_event(1, reinterpret_cast<uintptr_t>(gone), IBV_EVENT_QP_ACCESS_ERR);
    hca.async_event(1, reinterpret_cast<uintptr_t>(qp), IBV_EVENT_QP_REQ_ERR);
    ASSERT_EQ(ibv_destroy_qp(gone), 0);
    ASSERT_TRUE(next_async(&event));
    EXPECT_EQ(event.event_type, IBV_EVENT_COMM_EST);
    ASSERT_TRUE(next_async(&event));
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
    EXPECT_FALSE(readable(ctx->async_fd));
}

TEST_F(Events, DestroyingAQueuePairWaitsForItsEvents)
{
    ibv_async_event event;
    hca.async_event(1, reinterpret_cast<uintptr_t>(qp), IBV_EVENT_QP_ACCESS_ERR);
    ASSERT_TRUE(next_async(&event, false));
    std::atomic<bool> gone{false};
    std::thread destroyer([&] {
        EXPECT_EQ(ibv_destroy_qp(qp), 0);
        gone = true;
    });
    usleep(50000);
    EXPECT_FALSE(gone);
    ibv_ack_async_event(&event);
    destroyer.join();
}

TEST_F(Events, TheHcasDeathIsToldOnce_H24)
{
    ibv_async_event event;
    shutdown(hca.contexts.at(1).async, SHUT_RDWR);
    ASSERT_TRUE(next_async(&event));
    EXPECT_EQ(event.event_type, IBV_EVENT_DEVICE_FATAL);
    EXPECT_FALSE(next_async(&event));
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), EIO);
}

TEST_F(Events, AForkedChildMayNotUseItsParentsContext_H21)
{
    ASSERT_EQ(ibv_req_notify_cq(other, 0), 0);
    push(other);
    hca.executes = false;
    ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND)), 0);
    complete(qp, 0); // the parent's to poll
    const size_t calls_before = hca.calls.size();
    const pid_t child = fork();
    if (child == 0) {
        ibv_wc wc;
        ibv_send_wr wr = send_wr(IBV_WR_SEND), *bad;
        ibv_recv_wr rwr{}, *rbad;
        bool good =
            ibv_post_send(qp, &wr, &bad) == EPERM && ibv_post_recv(qp, &rwr, &rbad) == EPERM;
        good = good && ibv_poll_cq(cq, 1, &wc) == -1 && errno == EPERM;
        good = good && ibv_req_notify_cq(cq, 0) == EPERM;
        good = good && ibv_alloc_pd(ctx) == nullptr && errno == EPERM;
        good = good && ibv_dereg_mr(mr) == EPERM && ibv_destroy_qp(qp) == EPERM;
        good = good && next_event() == nullptr && errno == EPERM;
        _exit(good && hca.calls.size() == calls_before ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(next_event(), other); // the child has taken nothing
    EXPECT_EQ(hca.cqs.at(cq->handle).record->words()[0], 0u);
    EXPECT_EQ(poll_one().status, IBV_WC_SUCCESS);
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), 0);
}

} // namespace
