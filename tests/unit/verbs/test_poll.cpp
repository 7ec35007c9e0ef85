// SPDX-License-Identifier: Apache-2.0
// Completions: order, phases, what they become, what is purged, and how an empty queue is polled.

#include <cerrno>

#include "fixture.h"

namespace
{

class Poll : public Provider
{
  protected:
    void SetUp() override
    {
        Provider::SetUp();
        hca.executes = false;
    }

    uint32_t consumer()
    {
        return static_cast<uint32_t>(hca.cqs.at(cq->handle).record->words()[0]);
    }

    void use_small_cq(int entries)
    {
        ASSERT_EQ(ibv_destroy_cq(cq), 0);
        cq = ibv_create_cq(ctx, entries, nullptr, nullptr, 0);
        ASSERT_NE(cq, nullptr);
    }

    void post_sends(ibv_qp *qp, uint64_t first_id, int n)
    {
        for (int i = 0; i < n; i++) {
            ibv_send_wr wr = send_wr(IBV_WR_SEND);
            wr.wr_id = first_id + static_cast<uint64_t>(i);
            ASSERT_EQ(post(qp, wr), 0);
        }
    }
};

TEST_F(Poll, EntriesComeInOrderThroughManyPasses_W5_W7)
{
    use_small_cq(4);
    ibv_qp *qp = new_qp();
    uint32_t index = 0;
    for (int round = 0; round < 50; round++) {
        const int n = 1 + round % 4;
        post_sends(qp, index, n);
        for (int i = 0; i < n; i++)
            complete(qp, index + static_cast<uint32_t>(i));
        for (int i = 0; i < n; i++)
            EXPECT_EQ(poll_one().wr_id, index++);
        EXPECT_TRUE(cq_is_empty());
        EXPECT_EQ(consumer(), index);
    }
}

TEST_F(Poll, AFullRingIsReadOnceAndNotTwice_W6)
{
    use_small_cq(8);
    ibv_qp *qp = new_qp();
    ibv_wc wc[16];
    for (uint32_t pass = 0; pass < 5; pass++) {
        post_sends(qp, 0, 8);
        for (uint32_t i = 0; i < 8; i++)
            complete(qp, pass * 8 + i);
        EXPECT_EQ(ibv_poll_cq(cq, 16, wc), 8);
        EXPECT_EQ(ibv_poll_cq(cq, 16, wc), 0);
        EXPECT_EQ(consumer(), 8 * (pass + 1));
    }
}

TEST_F(Poll, GivesAtMostWhatIsAskedFor)
{
    ibv_qp *qp = new_qp();
    ibv_wc wc[8];
    post_sends(qp, 0, 5);
    for (uint32_t i = 0; i < 5; i++)
        complete(qp, i);
    EXPECT_EQ(ibv_poll_cq(cq, 0, wc), 0);
    EXPECT_EQ(ibv_poll_cq(cq, 2, wc), 2);
    EXPECT_EQ(consumer(), 2u);
    EXPECT_EQ(ibv_poll_cq(cq, 8, wc), 3);
    EXPECT_EQ(wc[0].wr_id, 2u);
}

TEST_F(Poll, AnEntryCountsOnlyWhenItsPhaseIsThere_W7)
{
    ibv_qp *qp = new_qp();
    post_sends(qp, 0, 1);
    fake::Cqe c = cqe(qp, 0);
    memcpy(hca.cqs.at(cq->handle).ring->words(), c.data(),
           BDY_CQE_BYTES - 8); // all but the last word
    EXPECT_TRUE(cq_is_empty());
    complete(qp, 0);
    EXPECT_EQ(poll_one().status, IBV_WC_SUCCESS);
}

TEST_F(Poll, IndicesWrapAtSixteenBits)
{
    ibv_qp *qp = new_qp();
    for (uint32_t i = 0; i < 70000; i++) {
        ibv_send_wr wr = send_wr(IBV_WR_SEND);
        wr.wr_id = i;
        ASSERT_EQ(post(qp, wr), 0);
        complete(qp, i);
        ASSERT_EQ(poll_one().wr_id, i);
        hca.doorbells.clear();
    }
}

TEST_F(Poll, UnsignaledRequestsAreRetiredByTheNextCompletion_W1)
{
    ibv_qp *qp = new_qp();
    for (int round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 8; i++) {
            ibv_send_wr wr = send_wr(IBV_WR_SEND, nullptr, 0, i == 7 ? IBV_SEND_SIGNALED : 0);
            wr.wr_id = i;
            ASSERT_EQ(post(qp, wr), 0);
        }
        complete(qp, static_cast<uint32_t>(round) * 8 + 7);
        EXPECT_EQ(poll_one().wr_id, 7u);
    }
}

TEST_F(Poll, OpcodesAreThoseOfTheRequestWhateverTheStatus_W3_W4)
{
    const struct {
        ibv_wr_opcode post;
        ibv_wc_opcode want;
    } cases[] = {{IBV_WR_SEND, IBV_WC_SEND},
                 {IBV_WR_SEND_WITH_IMM, IBV_WC_SEND},
                 {IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE},
                 {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE},
                 {IBV_WR_RDMA_READ, IBV_WC_RDMA_READ},
                 {IBV_WR_LOCAL_INV, IBV_WC_LOCAL_INV}};
    ibv_qp *qp = new_qp();
    uint32_t index = 0;
    for (const auto &c : cases)
        for (uint8_t status : {BDY_WC_SUCCESS, BDY_WC_WR_FLUSH_ERR}) {
            ASSERT_EQ(post(qp, send_wr(c.post)), 0);
            complete(qp, index++, status);
            const ibv_wc wc = poll_one();
            EXPECT_EQ(wc.opcode, c.want);
            EXPECT_EQ(wc.qp_num, qp->qp_num);
        }
}

TEST_F(Poll, StatusesAreThoseOfTheVerbs)
{
    ibv_qp *qp = new_qp();
    uint32_t index = 0;
    const struct {
        uint8_t cqe;
        ibv_wc_status want;
    } cases[] = {{BDY_WC_LOC_PROT_ERR, IBV_WC_LOC_PROT_ERR},
                 {BDY_WC_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR},
                 {BDY_WC_RETRY_EXC_ERR, IBV_WC_RETRY_EXC_ERR},
                 {BDY_WC_RNR_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR},
                 {BDY_WC_FATAL_ERR, IBV_WC_FATAL_ERR},
                 {200, IBV_WC_GENERAL_ERR}};
    for (const auto &c : cases) {
        ASSERT_EQ(post(qp, send_wr(IBV_WR_SEND)), 0);
        complete(qp, index++, c.cqe);
        EXPECT_EQ(poll_one().status, c.want);
    }
}

TEST_F(Poll, VendorErrorIsTheLocalRuleOrTheSyndromeAlone_H12)
{
    ibv_qp *qp = new_qp();
    post_sends(qp, 0, 3);
    fake::Cqe local = cqe(qp, 0, BDY_WC_LOC_PROT_ERR), nak = cqe(qp, 1, BDY_WC_REM_ACCESS_ERR),
              good = cqe(qp, 2);
    bdy_cqe_set_rule(local.data(), BDY_RULE_M8);
    bdy_cqe_set_rule(nak.data(), BDY_RULE_A9); // even if hardware let it slip
    bdy_cqe_set_syndrome(nak.data(), BDY_AETH_NAK_ACC);
    bdy_cqe_set_syndrome(good.data(), BDY_AETH_ACK);
    bdy_cqe_set_executed(good.data(), 1);
    for (const auto &c : {local, nak, good})
        hca.push_cqe(cq->handle, c);
    EXPECT_EQ(poll_one().vendor_err, static_cast<uint32_t>(BDY_RULE_M8));
    EXPECT_EQ(poll_one().vendor_err, static_cast<uint32_t>(BDY_AETH_NAK_ACC));
    EXPECT_EQ(poll_one().vendor_err, 0u);
}

TEST_F(Poll, ReceivesTellLengthImmediateAndInvalidatedKey)
{
    ibv_qp *qp = new_qp();
    for (uint64_t i = 0; i < 3; i++)
        ASSERT_EQ(post_recv(qp, 100 + i, nullptr, 0), 0);
    fake::Cqe imm = cqe(qp, 0, BDY_WC_SUCCESS, true), write = cqe(qp, 1, BDY_WC_SUCCESS, true),
              inv = cqe(qp, 2, BDY_WC_SUCCESS, true);
    bdy_cqe_set_byte_len(imm.data(), 77);
    bdy_cqe_set_with_imm(imm.data(), 1);
    bdy_cqe_set_imm(imm.data(), 0x11223344);
    bdy_cqe_set_op(write.data(), BDY_CQE_OP_RECV_WRITE_IMM);
    bdy_cqe_set_with_inv(inv.data(), 1);
    bdy_cqe_set_imm(inv.data(), 0xabcdef01);
    for (const auto &c : {imm, write, inv})
        hca.push_cqe(cq->handle, c);
    ibv_wc wc = poll_one();
    EXPECT_EQ(wc.opcode, IBV_WC_RECV);
    EXPECT_EQ(wc.wr_id, 100u);
    EXPECT_EQ(wc.byte_len, 77u);
    EXPECT_EQ(wc.wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM));
    EXPECT_EQ(wc.imm_data, 0x11223344u);
    wc = poll_one();
    EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    wc = poll_one();
    EXPECT_EQ(wc.wc_flags, static_cast<unsigned>(IBV_WC_WITH_INV));
    EXPECT_EQ(wc.invalidated_rkey, 0xabcdef01u);
}

TEST_F(Poll, EntriesThatNameNothingOfOursAreSkipped)
{
    ibv_qp *qp = new_qp();
    post_sends(qp, 5, 1);
    fake::Cqe stranger = cqe(qp, 0);
    bdy_cqe_set_qpn(stranger.data(), 0x999);
    hca.push_cqe(cq->handle, stranger);
    complete(qp, 6); // beyond what is posted
    complete(qp, 0);
    complete(qp, 0); // a second time
    EXPECT_EQ(poll_one().wr_id, 5u);
    EXPECT_TRUE(cq_is_empty());
}

TEST_F(Poll, ResetPurgesItsOwnEntriesAndNoOthers_C3)
{
    use_small_cq(8);
    ibv_qp *gone = new_qp(), *stays = new_qp();
    ibv_wc wc;
    // Off the start of the ring, so that the moved entries wrap.
    post_sends(stays, 0, 5);
    for (uint32_t i = 0; i < 5; i++)
        complete(stays, i);
    for (int i = 0; i < 5; i++)
        poll_one();
    post_sends(gone, 0, 4);
    post_sends(stays, 50, 4);
    const bool pattern[8] = {false, true, true, false, false, true, true, false};
    uint32_t g = 0, s = 5;
    for (bool stay : pattern)
        complete(stay ? stays : gone, stay ? s++ : g++);
    ASSERT_EQ(move(gone, IBV_QPS_RESET), 0);
    for (uint64_t id = 50; id < 54; id++)
        EXPECT_EQ(poll_one().wr_id, id);
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
    EXPECT_EQ(consumer(), 13u);
    // The ring goes on where hardware is.
    post_sends(stays, 90, 3);
    for (uint32_t i = 9; i < 12; i++)
        complete(stays, i);
    for (uint64_t id = 90; id < 93; id++)
        EXPECT_EQ(poll_one().wr_id, id);
}

TEST_F(Poll, DestroyPurgesAndItsNumberMayComeBack_C3)
{
    ibv_qp *qp = new_qp();
    post_sends(qp, 0, 3);
    for (uint32_t i = 0; i < 3; i++)
        complete(qp, i);
    ASSERT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_TRUE(cq_is_empty());
    EXPECT_EQ(consumer(), 3u);
}

TEST_F(Poll, PurgeTakesReceivesFromTheReceivesQueue_C3)
{
    ibv_cq *rcq = ibv_create_cq(ctx, 8, nullptr, nullptr, 0);
    ibv_qp_init_attr attr = qp_attr();
    attr.recv_cq = rcq;
    ibv_qp *qp = new_qp(attr, IBV_QPS_RTS);
    ibv_wc wc;
    ASSERT_EQ(post_recv(qp, 1, nullptr, 0), 0);
    hca.push_cqe(rcq->handle, cqe(qp, 0, BDY_WC_SUCCESS, true));
    ASSERT_EQ(move(qp, IBV_QPS_RESET), 0);
    EXPECT_EQ(hca.cqs.at(rcq->handle).record->words()[0], 1u);
    ASSERT_EQ(move(qp, IBV_QPS_INIT), 0);
    for (int i = 0; i < 8; i++)
        EXPECT_EQ(post_recv(qp, 1, nullptr, 0), 0); // all places are free again
    EXPECT_EQ(ibv_poll_cq(rcq, 1, &wc), 0);         // and the old entry names none of them
}

TEST_F(Poll, EntriesOfBeforeTheResetDoNotCompleteWhatIsPostedAfter_C3_W6)
{
    ibv_qp *qp = new_qp();
    post_sends(qp, 0, 2);
    complete(qp, 0);
    complete(qp, 1);
    for (ibv_qp_state s : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
        ASSERT_EQ(move(qp, s), 0);
    EXPECT_EQ(consumer(), 2u);
    post_sends(qp, 70, 2);
    EXPECT_TRUE(cq_is_empty());
    complete(qp, 0);
    EXPECT_EQ(poll_one().wr_id, 70u);
}

TEST_F(Poll, ResetStartsTheQueuesAnew)
{
    ibv_qp *qp = new_qp();
    post_sends(qp, 0, 8);
    const size_t rung = hca.doorbells.size();
    ASSERT_EQ(move(qp, IBV_QPS_RESET), 0);
    for (ibv_qp_state s : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
        ASSERT_EQ(move(qp, s), 0);
    post_sends(qp, 30, 8);
    EXPECT_EQ(hca.doorbells.size(), rung + 8); // also the one whose index was the last before
    EXPECT_EQ(bdy_wqe_get_index(slot(qp, 0)), 0u);
    complete(qp, 0);
    EXPECT_EQ(poll_one().wr_id, 30u);
}

TEST_F(Poll, EmptyPollsGiveTheCpuAwayAfterAFew_H26)
{
    ibv_qp *qp = new_qp();
    for (int i = 0; i < 3; i++)
        EXPECT_TRUE(cq_is_empty());
    EXPECT_EQ(hca.relaxes, 0u);
    for (int i = 0; i < 5; i++)
        EXPECT_TRUE(cq_is_empty());
    EXPECT_EQ(hca.relaxes, 5u);
    post_sends(qp, 0, 1);
    complete(qp, 0);
    poll_one();
    EXPECT_TRUE(cq_is_empty());
    EXPECT_EQ(hca.relaxes, 5u); // patience is back
}

TEST_F(Poll, ADeadHcasLastCompletionsAreStillRead_H24)
{
    ibv_qp *qp = new_qp();
    ibv_wc wc;
    post_sends(qp, 0, 1);
    complete(qp, 0);
    hca.gone = true;
    EXPECT_EQ(post(qp, send_wr(IBV_WR_SEND)), EIO);
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
    errno = 0;
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), -1);
    EXPECT_EQ(errno, EIO);
}

TEST_F(Poll, ASpinningPollerHearsOfTheDeath_H24)
{
    ibv_wc wc;
    hca.gone = true;
    int n = 0, polls = 0;
    while (n == 0 && polls++ < 100)
        n = ibv_poll_cq(cq, 1, &wc);
    EXPECT_EQ(n, -1);
}

} // namespace
