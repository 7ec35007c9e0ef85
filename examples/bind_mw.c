// SPDX-License-Identifier: Apache-2.0
// The story of ibv_bind_mw(3), told by a plain verbs program: bind, hand over the key, use it, and
// lose it again.
//
//   bind_mw [device]
//
// Two queue pairs of one device are connected to each other. The owner has memory and a type 1
// window on a part of it; the peer may reach that part, and nothing else, for as long as the window
// is bound. Each step prints its completion status and what the device's own clock counted
// meanwhile. Exit code 0 and PASS when every step went as the man page says.

#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER 4096u
#define WINDOW_AT 512u // where the window lies in the owner's buffer
#define WINDOW_LEN 256u
#define MOVED_AT 2048u // where it lies after the rebind
#define PATIENCE_S 60

struct side {
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *buffer;
};

// What the owner tells the peer about its window.
struct invitation {
    uint64_t addr;
    uint32_t len, rkey;
};

struct demo {
    struct ibv_context *context;
    uint16_t lid;
    struct side owner, peer;
    struct ibv_mr *readonly; // the owner's buffer once more, without the right of local writing
    struct ibv_mw *window;
    int steps, surprises;
};

static void die(const char *what)
{
    perror(what);
    printf("bind_mw: FAIL (%s)\n", what);
    exit(1);
}

// ---------------------------------------------------------------- set up

static struct ibv_context *open_device(const char *name)
{
    int count;
    struct ibv_context *context = NULL;
    struct ibv_device **list = ibv_get_device_list(&count);
    for (int i = 0; list != NULL && i < count && context == NULL; i++)
        if (name == NULL || strcmp(ibv_get_device_name(list[i]), name) == 0)
            context = ibv_open_device(list[i]);
    if (list != NULL)
        ibv_free_device_list(list);
    if (context == NULL)
        die("no such RDMA device");
    return context;
}

static void set_up_side(struct side *side, struct ibv_context *context, int mr_access)
{
    side->buffer = aligned_alloc(4096, BUFFER);
    side->pd = ibv_alloc_pd(context);
    side->cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    if (side->buffer == NULL || side->pd == NULL || side->cq == NULL)
        die("ibv_alloc_pd, ibv_create_cq");
    memset(side->buffer, 0, BUFFER);
    side->mr = ibv_reg_mr(side->pd, side->buffer, BUFFER, mr_access);
    struct ibv_qp_init_attr attr = {
        .send_cq = side->cq,
        .recv_cq = side->cq,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };
    side->qp = ibv_create_qp(side->pd, &attr);
    if (side->mr == NULL || side->qp == NULL)
        die("ibv_reg_mr, ibv_create_qp");
}

static void to_init(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
    };
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        die("ibv_modify_qp to INIT");
}

static void to_rtr(struct ibv_qp *qp, const struct ibv_qp *other, uint16_t lid)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = other->qp_num,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.dlid = lid, .port_num = 1},
    };
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        die("ibv_modify_qp to RTR");
}

static void to_rts(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
        die("ibv_modify_qp to RTS");
}

// An error has ended a connection: both ends start anew.
static void reconnect(struct demo *d)
{
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct ibv_qp *a = d->owner.qp, *b = d->peer.qp;
    if (ibv_modify_qp(a, &reset, IBV_QP_STATE) || ibv_modify_qp(b, &reset, IBV_QP_STATE))
        die("ibv_modify_qp to RESET");
    to_init(a);
    to_init(b);
    to_rtr(a, b, d->lid);
    to_rtr(b, a, d->lid);
    to_rts(a);
    to_rts(b);
}

static void set_up(struct demo *d, const char *device)
{
    struct ibv_port_attr port;
    d->context = open_device(device);
    if (ibv_query_port(d->context, 1, &port))
        die("ibv_query_port");
    d->lid = port.lid;
    // A window's rights need MW_BIND, and LOCAL_WRITE if it is to be written: no remote right of
    // the region.
    set_up_side(&d->owner, d->context, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    set_up_side(&d->peer, d->context, IBV_ACCESS_LOCAL_WRITE);
    d->readonly = ibv_reg_mr(d->owner.pd, d->owner.buffer, BUFFER, IBV_ACCESS_MW_BIND);
    d->window = ibv_alloc_mw(d->owner.pd, IBV_MW_TYPE_1);
    if (d->readonly == NULL || d->window == NULL)
        die("ibv_reg_mr, ibv_alloc_mw");
    reconnect(d);
}

static void tear_down_side(struct side *side)
{
    if (ibv_destroy_qp(side->qp) || ibv_dereg_mr(side->mr) || ibv_destroy_cq(side->cq) ||
        ibv_dealloc_pd(side->pd))
        die("tear down");
    free(side->buffer);
}

static void tear_down(struct demo *d)
{
    if (ibv_dealloc_mw(d->window) || ibv_dereg_mr(d->readonly))
        die("ibv_dealloc_mw, ibv_dereg_mr");
    tear_down_side(&d->peer);
    tear_down_side(&d->owner);
    ibv_close_device(d->context);
}

// ---------------------------------------------------------------- one step

static uint64_t device_clock(const struct demo *d)
{
    struct ibv_values_ex now = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
    if (ibv_query_rt_values_ex(d->context, &now))
        die("ibv_query_rt_values_ex");
    return (uint64_t)now.raw_clock.tv_nsec;
}

static struct ibv_wc wait_for(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    const time_t limit = time(NULL) + PATIENCE_S;
    int n;
    while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
        if (time(NULL) > limit)
            die("no completion");
    if (n < 0)
        die("ibv_poll_cq");
    return wc;
}

// Take a step's completion, print it, and hold it against what the story wants.
static void finish(struct demo *d, const char *what, uint64_t begin, struct ibv_cq *cq,
                   enum ibv_wc_status want)
{
    const struct ibv_wc wc = wait_for(cq);
    const uint64_t end = device_clock(d);
    const int good = wc.status == want;
    printf("step %2d  %-58s %-33s vendor 0x%08x  cycles %" PRIu64 "-%" PRIu64 " = %" PRIu64 "%s\n",
           ++d->steps, what, ibv_wc_status_str(wc.status), wc.vendor_err, begin, end, end - begin,
           good ? "" : "  UNEXPECTED");
    if (!good)
        d->surprises++;
}

static void check(struct demo *d, const char *what, int good)
{
    printf("         %-58s %s\n", what, good ? "ok" : "WRONG");
    if (!good)
        d->surprises++;
}

static void post_bind(struct demo *d, struct ibv_mr *mr, uint32_t at, uint32_t len)
{
    struct ibv_mw_bind bind = {
        .send_flags = IBV_SEND_SIGNALED,
        .bind_info = {.mr = mr,
                      .addr = (uintptr_t)d->owner.buffer + at,
                      .length = len,
                      .mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE},
    };
    if (ibv_bind_mw(d->owner.qp, d->window, &bind))
        die("ibv_bind_mw");
}

static void post_receive(struct side *side)
{
    struct ibv_sge sge = {(uintptr_t)side->buffer, BUFFER, side->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    if (ibv_post_recv(side->qp, &wr, &bad))
        die("ibv_post_recv");
}

static void post(struct side *side, enum ibv_wr_opcode opcode, uint32_t len, uint64_t remote,
                 uint32_t rkey)
{
    struct ibv_sge sge = {(uintptr_t)side->buffer, len, side->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
    if (ibv_post_send(side->qp, &wr, &bad))
        die("ibv_post_send");
}

static void step_bind(struct demo *d, const char *what, struct ibv_mr *mr, uint32_t at,
                      uint32_t len, enum ibv_wc_status want)
{
    const uint64_t begin = device_clock(d);
    post_bind(d, mr, at, len);
    finish(d, what, begin, d->owner.cq, want);
}

static void step_access(struct demo *d, const char *what, enum ibv_wr_opcode opcode, uint32_t len,
                        uint64_t remote, uint32_t rkey, enum ibv_wc_status want)
{
    const uint64_t begin = device_clock(d);
    post(&d->peer, opcode, len, remote, rkey);
    finish(d, what, begin, d->peer.cq, want);
    if (want != IBV_WC_SUCCESS)
        reconnect(d);
}

// ---------------------------------------------------------------- the story

// The bind is only posted when its key leaves: the SEND behind it on the same queue pair cannot
// overtake it.
static struct invitation bind_and_invite(struct demo *d)
{
    struct invitation invitation;
    const uint64_t begin = device_clock(d);
    post_receive(&d->peer);
    post_bind(d, d->owner.mr, WINDOW_AT, WINDOW_LEN);
    invitation =
        (struct invitation){(uintptr_t)d->owner.buffer + WINDOW_AT, WINDOW_LEN, d->window->rkey};
    memcpy(d->owner.buffer, &invitation, sizeof(invitation));
    post(&d->owner, IBV_WR_SEND, sizeof(invitation), 0, 0);
    finish(d, "owner binds the window", begin, d->owner.cq, IBV_WC_SUCCESS);
    finish(d, "owner sends its R_Key at once on the same queue pair", begin, d->owner.cq,
           IBV_WC_SUCCESS);
    finish(d, "peer receives the R_Key", begin, d->peer.cq, IBV_WC_SUCCESS);
    memcpy(&invitation, d->peer.buffer, sizeof(invitation));
    return invitation;
}

static void use(struct demo *d, const struct invitation *in)
{
    memset(d->peer.buffer, 0xa5, in->len);
    step_access(d, "peer writes all of the window", IBV_WR_RDMA_WRITE, in->len, in->addr, in->rkey,
                IBV_WC_SUCCESS);
    check(d, "the owner sees what was written",
          memcmp(d->owner.buffer + WINDOW_AT, d->peer.buffer, in->len) == 0);
    memset(d->owner.buffer + WINDOW_AT, 0x3c, in->len);
    step_access(d, "peer reads all of the window", IBV_WR_RDMA_READ, in->len, in->addr, in->rkey,
                IBV_WC_SUCCESS);
    check(d, "the peer has read it",
          memcmp(d->owner.buffer + WINDOW_AT, d->peer.buffer, in->len) == 0);
}

static void step_outside(struct demo *d, const struct invitation *in)
{
    const uint8_t before = d->owner.buffer[WINDOW_AT + WINDOW_LEN];
    memset(d->peer.buffer, 0xff, in->len);
    step_access(d, "peer writes one byte further than the window", IBV_WR_RDMA_WRITE, in->len,
                in->addr + 1, in->rkey, IBV_WC_REM_ACCESS_ERR);
    check(d, "no byte has changed",
          d->owner.buffer[WINDOW_AT + WINDOW_LEN] == before &&
              d->owner.buffer[WINDOW_AT + 1] == 0x3c);
    step_access(d, "peer reads one byte before the window", IBV_WR_RDMA_READ, 1, in->addr - 1,
                in->rkey, IBV_WC_REM_ACCESS_ERR);
}

// One step moves the window: the old key dies, the new one reaches the new place.
static void move(struct demo *d, struct invitation *in)
{
    const struct invitation old = *in;
    step_bind(d, "owner binds the window elsewhere", d->owner.mr, MOVED_AT, WINDOW_LEN,
              IBV_WC_SUCCESS);
    *in = (struct invitation){(uintptr_t)d->owner.buffer + MOVED_AT, WINDOW_LEN, d->window->rkey};
    check(d, "the low byte of the R_Key has moved by one",
          in->rkey == ((old.rkey & ~0xffu) | ((old.rkey + 1) & 0xff)));
    step_access(d, "peer reads with the old R_Key", IBV_WR_RDMA_READ, old.len, old.addr, old.rkey,
                IBV_WC_REM_ACCESS_ERR);
    memset(d->owner.buffer + MOVED_AT, 0x77, in->len);
    step_access(d, "peer reads with the new R_Key", IBV_WR_RDMA_READ, in->len, in->addr, in->rkey,
                IBV_WC_SUCCESS);
    check(d, "the peer has read the new place",
          memcmp(d->owner.buffer + MOVED_AT, d->peer.buffer, in->len) == 0);
}

// A refused bind changes nothing: the caller restores the R_Key, as the man page asks, and the old
// binding works on.
static void refused_bind(struct demo *d, const struct invitation *in)
{
    const uint32_t saved = d->window->rkey;
    step_bind(d, "owner binds for writing to a region it may not write", d->readonly, WINDOW_AT,
              WINDOW_LEN, IBV_WC_MW_BIND_ERR);
    d->window->rkey = saved;
    reconnect(d);
    step_access(d, "peer reads: the old binding still works", IBV_WR_RDMA_READ, in->len, in->addr,
                in->rkey, IBV_WC_SUCCESS);
}

static void unbind(struct demo *d, const struct invitation *in)
{
    step_bind(d, "owner unbinds: a bind of length 0", d->owner.mr, MOVED_AT, 0, IBV_WC_SUCCESS);
    step_access(d, "peer reads with the R_Key of before", IBV_WR_RDMA_READ, 1, in->addr, in->rkey,
                IBV_WC_REM_ACCESS_ERR);
    step_access(d, "peer reads with the R_Key of now", IBV_WR_RDMA_READ, 1, in->addr,
                d->window->rkey, IBV_WC_REM_ACCESS_ERR);
}

int main(int argc, char **argv)
{
    struct demo d = {0};
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        printf("usage: bind_mw [device]\nbind_mw: USAGE\n");
        return 2;
    }
    set_up(&d, argc == 2 ? argv[1] : NULL);
    struct invitation invitation = bind_and_invite(&d);
    use(&d, &invitation);
    step_outside(&d, &invitation);
    move(&d, &invitation);
    refused_bind(&d, &invitation);
    unbind(&d, &invitation);
    tear_down(&d);
    printf("bind_mw: %s (%d steps, %d surprises)\n", d.surprises ? "FAIL" : "PASS", d.steps,
           d.surprises);
    return d.surprises ? 1 : 0;
}
