// SPDX-License-Identifier: Apache-2.0
// Event queues: [0] commands and asynchronous events, the others completions. Queue n raises MSI-X
// vector n.
#include "priv.h"

void event_to(struct bdy_uctx *uctx, uint64_t user_handle, uint32_t type, uint32_t channel)
{
    const struct bdy_u_event event = {.user_handle = user_handle, .type = type, .channel = channel};
    if (uctx->event) {
        uctx->event(uctx->arg, &event);
    }
}

static struct cq *cq_of(struct bdy_core *core, uint64_t cqn)
{
    uint64_t slot = cqn - BDY_CQN_BASE;
    return slot < sizeof core->cq / sizeof core->cq[0] ? core->cq[slot] : NULL;
}

static struct qp *qp_of(struct bdy_core *core, uint64_t qpn)
{
    uint64_t slot = qpn - BDY_QPN_BASE;
    return slot < sizeof core->qp / sizeof core->qp[0] ? core->qp[slot] : NULL;
}

static void qp_event(struct bdy_core *core, uint64_t qpn, uint32_t type)
{
    for (const struct qp *qp = qp_of(core, qpn); qp; qp = qp->owner_next) {
        event_to(qp->obj.uctx, qp->user_handle, type, 0);
    }
}

static void srq_event(struct bdy_core *core, uint64_t srqn, uint32_t type)
{
    uint64_t slot = srqn - BDY_SRQN_BASE;
    const struct srq *srq = slot < sizeof core->srq / sizeof core->srq[0] ? core->srq[slot] : NULL;
    if (srq) {
        event_to(srq->obj.uctx, srq->user_handle, type, 0);
    }
}

static void event_to_all(struct bdy_core *core, uint32_t type)
{
    for (uint32_t i = 0; i < BDY_UAR_COUNT; i++) {
        if (core->uctx[i]) {
            event_to(core->uctx[i], 0, type, 0);
        }
    }
}

static void handle(struct bdy_core *core, const uint64_t *eqe)
{
    uint64_t number = bdy_eqe_get_number(eqe), data = bdy_eqe_get_data(eqe);
    const struct cq *cq;
    switch (bdy_eqe_get_kind(eqe)) {
    case BDY_EQE_KIND_CMD_DONE:
        core->cmd_done = core->cmd_done || data == core->token;
        break;
    case BDY_EQE_KIND_COMP:
        cq = cq_of(core, number);
        if (cq && cq->channel) {
            event_to(cq->obj.uctx, cq->user_handle, BDY_U_EV_COMP, cq->channel->obj.handle);
        }
        break;
    case BDY_EQE_KIND_CQ_ERR:
        cq = cq_of(core, number);
        if (cq) {
            event_to(cq->obj.uctx, cq->user_handle, V_EVENT_CQ_ERR, 0);
        }
        break;
    case BDY_EQE_KIND_QP_FATAL:
        qp_event(core, number, V_EVENT_QP_FATAL);
        break;
    case BDY_EQE_KIND_QP_REQ_ERR:
        qp_event(core, number, V_EVENT_QP_REQ_ERR);
        break;
    case BDY_EQE_KIND_QP_ACCESS_ERR:
        qp_event(core, number, V_EVENT_QP_ACCESS_ERR);
        break;
    case BDY_EQE_KIND_COMM_EST:
        qp_event(core, number, V_EVENT_COMM_EST);
        break;
    case BDY_EQE_KIND_SQ_DRAINED:
        qp_event(core, number, V_EVENT_SQ_DRAINED);
        break;
    case BDY_EQE_KIND_LAST_WQE:
        qp_event(core, number, V_EVENT_LAST_WQE);
        break;
    case BDY_EQE_KIND_SRQ_LIMIT:
        srq_event(core, number, V_EVENT_SRQ_LIMIT);
        break;
    case BDY_EQE_KIND_PORT_ACTIVE:
        event_to_all(core, V_EVENT_PORT_ACTIVE);
        break;
    case BDY_EQE_KIND_PORT_ERR:
        event_to_all(core, V_EVENT_PORT_ERR);
        break;
    case BDY_EQE_KIND_VIOLATIONS:
        bdy_os_log(BDY_OS_INFO, "bindery: queue pair 0x%x: %u remote keys refused",
                   (unsigned)number, (unsigned)data);
        break;
    case BDY_EQE_KIND_TABLE_READ:
        bdy_os_log(BDY_OS_ERROR, "bindery: a table read failed for key 0x%x", (unsigned)data);
        break;
    case BDY_EQE_KIND_DEVICE_FATAL:
        core_die(core, bdy_health_name((unsigned)data));
        break;
    case BDY_EQE_KIND_DB_VIOLATION:
        bdy_os_log(BDY_OS_INFO, "bindery: UAR page %u: doorbell for a queue it does not own",
                   (unsigned)number);
        break;
    default:
        bdy_os_log(BDY_OS_ERROR, "bindery: unknown event kind %u", (unsigned)bdy_eqe_get_kind(eqe));
        break;
    }
}

static void ring_doorbell(struct bdy_core *core, const struct eq *eq, bool arm)
{
    uint64_t db[BDY_DB_EQ_WORDS] = {0};
    bdy_db_eq_set_ci(db, eq->ci);
    bdy_db_eq_set_arm(db, arm);
    core_bar_write(core, BDY_REG_BAR_EQ_DB_OFFSET + BDY_REG_BAR_EQ_DB_STRIDE * eq->number, db[0]);
}

/** The next entry once its phase says that all of it is there, or NULL. */
static const uint64_t *next_entry(const struct eq *eq)
{
    const uint64_t *ring = eq->ring.cpu;
    const uint64_t *eqe = ring + (size_t)(eq->ci & ((1u << CORE_EQ_LOG) - 1u)) * BDY_EQE_WORDS;
    unsigned at = BDY_EQE_PHASE_LSB / 64u;
    uint64_t last[BDY_EQE_WORDS] = {0};
    last[at] = __atomic_load_n(&eqe[at], __ATOMIC_ACQUIRE);
    return bdy_eqe_get_phase(last) == !(eq->ci >> CORE_EQ_LOG & 1u) ? eqe : NULL;
}

/** Take every entry that is there, then arm: the device raises again for what comes, or has come,
 * beyond. */
void eq_poll(struct bdy_core *core, struct eq *eq)
{
    const uint64_t *eqe;
    uint32_t taken = 0;
    while ((eqe = next_entry(eq)) != NULL) {
        handle(core, eqe);
        eq->ci++;
        if (++taken % (1u << (CORE_EQ_LOG - 2u)) == 0) {
            ring_doorbell(core, eq, false); // long before the queue is full
        }
    }
    ring_doorbell(core, eq, true);
}

void eq_poll_all(struct bdy_core *core)
{
    for (uint32_t i = 0; i < core->neqs; i++) {
        if (core->eq[i].made) {
            eq_poll(core, &core->eq[i]);
        }
    }
}

static void irq(void *arg, unsigned vector)
{
    struct bdy_core *core = arg;
    if (vector < core->neqs && core->eq[vector].made) {
        eq_poll(core, &core->eq[vector]);
    }
}

static int program_vector(struct bdy_core *core, uint32_t vector)
{
    uint64_t address, row = BDY_REG_BAR_MSIX_ADDR_STRIDE * vector;
    uint32_t data;
    int rc = core->pci->ops->msix_message(core->pci, vector, &address, &data);
    if (rc == 0) {
        rc = core->pci->ops->irq_set(core->pci, vector, irq, core);
    }
    if (rc == 0) {
        core->irqs = vector + 1u;
        rc = core_bar_write(core, BDY_REG_BAR_MSIX_ADDR_OFFSET + (uint32_t)row, address);
    }
    if (rc == 0) { // the mask bit is zero: the vector is open
        rc = core_bar_write(core, BDY_REG_BAR_MSIX_DATA_OFFSET + (uint32_t)row, data);
    }
    return rc;
}

int eq_irqs(struct bdy_core *core)
{
    int rc = 0;
    for (uint32_t vector = 0; vector < core->neqs && rc == 0; vector++) {
        rc = program_vector(core, vector);
    }
    return rc;
}

void eq_irqs_off(struct bdy_core *core)
{
    while (core->irqs > 0) {
        core->pci->ops->irq_set(core->pci, --core->irqs, NULL, NULL);
    }
}

static int make(struct bdy_core *core, uint32_t vector)
{
    struct eq *eq = &core->eq[vector];
    int rc = core->pci->ops->dma_alloc(core->pci, (size_t)BDY_EQE_BYTES << CORE_EQ_LOG, &eq->ring);
    if (rc != 0) {
        return rc;
    }
    uint64_t *ctx = cmd_in(core);
    bdy_os_zero(ctx, BDY_EQ_CTX_BYTES);
    bdy_eq_ctx_set_valid(ctx, 1);
    bdy_eq_ctx_set_log_size(ctx, CORE_EQ_LOG);
    bdy_eq_ctx_set_vector(ctx, vector);
    bdy_eq_ctx_set_base(ctx, eq->ring.bus);
    struct cmd cmd = {.op = BDY_CMD_OP_CREATE_EQ, .in_len = BDY_EQ_CTX_BYTES};
    rc = cmd_run(core, &cmd);
    if (rc != 0) {
        return rc;
    }
    eq->number = (uint32_t)cmd.out0;
    eq->ci = 0;
    eq->made = true;
    ring_doorbell(core, eq, true);
    return 0;
}

int eq_setup(struct bdy_core *core)
{
    int rc = 0;
    for (uint32_t vector = 0; vector < core->neqs && rc == 0; vector++) {
        rc = make(core, vector);
    }
    return rc;
}

/** The event queue of commands goes last and without INIT_HCA in force. */
void eq_stop(struct bdy_core *core)
{
    for (uint32_t i = core->neqs; i-- > 0;) {
        if (i == 0 && core->initialised) {
            cmd_simple(core, BDY_CMD_OP_TEARDOWN_HCA, 0, 0);
            core->initialised = false;
        }
        if (core->eq[i].made) {
            cmd_simple(core, BDY_CMD_OP_DESTROY_EQ, 0, core->eq[i].number);
            core->eq[i].made = false;
        }
    }
}

void eq_free(struct bdy_core *core)
{
    for (uint32_t i = 0; i < core->neqs; i++) {
        if (core->eq[i].ring.cpu) {
            core->pci->ops->dma_free(core->pci, &core->eq[i].ring);
        }
    }
}
