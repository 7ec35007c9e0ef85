// SPDX-License-Identifier: Apache-2.0
//
// bdy_op_exec: verdict of one operation and everything that it changes, as values. The sequencer (bdy_op) applies them in the
// one cycle in which the operation is executed.
//
// Latency:      combinational.
// Throughput:   one operation per cycle.
// Backpressure: none.
// Invariants:   a refused operation changes nothing; all enables are zero then.

module bdy_op_exec #(
  parameter int LogKeys = 13,
  parameter int LogMtt  = 16,
  parameter int LogQps  = 8,
  parameter int LogPds  = 10,
  parameter int EntW    = 448
) (
  input  logic [bdy_pkg::PROT_OP_W-1:0] op_i,
  input  logic                          strict_i,
  input  logic [EntW-1:0]               win_i,         // entry under key's slot
  input  logic                          win_err_i,
  input  logic [EntW-1:0]               reg_i,         // BIND: region; MTT_WRITE: owner of the old translation
  input  logic                          reg_err_i,
  input  logic                          mtt_err_i,
  input  logic [20:0]                   count_new_i,   // of the region that key or mr_key names
  input  logic [20:0]                   count_old_i,   // of the region that the window is bound to
  input  logic                          qp_ok_i,
  input  logic                          qp_alive_i,
  input  logic [2:0]                    qp_st_i,
  input  logic [31:0]                   qp_gen_i,
  output logic [23:0]                   pd_o,          // whose alive bit decides
  input  logic                          pd_alive_i,

  output logic [7:0]                    rule_o,
  output logic [31:0]                   res_o,
  output logic                          entry_en_o,
  output logic                          entry_keep_o,
  output logic [EntW-1:0]               entry_o,
  output logic                          mtt_en_o,
  output logic                          new_en_o,      // count of the region that key or mr_key names
  output logic [20:0]                   new_count_o,
  output logic                          old_en_o,      // count of the region that the window leaves
  output logic [20:0]                   old_count_o,
  output logic                          qp_en_o,
  output logic [35:0]                   qp_o,          // {alive, st, gen}
  output logic                          ctx_en_o,
  output logic                          ctxw_o,        // context of another block
  output logic                          pd_en_o,
  output logic                          pd_set_o,
  output logic                          ev_o,          // queue pair event
  output logic                          bump_o,
  output logic                          revoke_o       // a drained answer follows
);

  bdy_pkg::prot_op_t   op;
  bdy_pkg::mpt_entry_t win, left;
  assign op   = op_i;
  assign win  = {64'b0, win_i};
  assign left = {64'b0, entry_o};

  logic unused;
  assign unused = ^{op, win, left};

  logic is_bind, is_inv, is_ctx, unbind, bound, image_op;
  assign is_bind  = op.op == bdy_pkg::PROT_OP_BIND1 || op.op == bdy_pkg::PROT_OP_BIND2;
  assign is_inv   = op.op == bdy_pkg::PROT_OP_LOCAL_INV || op.op == bdy_pkg::PROT_OP_REMOTE_INV;
  assign is_ctx   = op.op == bdy_pkg::PROT_OP_CTX_WRITE;
  assign image_op = op.op == bdy_pkg::PROT_OP_MR_OPEN || op.op == bdy_pkg::PROT_OP_MR_REPLACE ||
                    op.op == bdy_pkg::PROT_OP_MW_ALLOC;
  assign bound    = (win.kind == bdy_pkg::MPT_KIND_MW1 || win.kind == bdy_pkg::MPT_KIND_MW2) &&
                    win.st == bdy_pkg::MPT_ST_VALID;
  assign pd_o     = image_op ? op_i[bdy_pkg::PROT_OP_BODY0_LSB+bdy_pkg::MPT_ENTRY_PD_LSB+:24] : win.pd;

  // ---------------------------------------------------------------- verdict
  logic [7:0] bind_rule, life_rule;
  logic       ok;

  bdy_bind_check u_bind (
    .inv_i(is_inv),
    .remote_i(op.op == bdy_pkg::PROT_OP_REMOTE_INV),
    .type2_i(op.op == bdy_pkg::PROT_OP_BIND2),
    .key_i(op.key),
    .mr_key_i(op.mr_key),
    .pd_i(op.pd),
    .qpn_i(op.qpn),
    .rights_i(op.rights),
    .addr_i(op.addr),
    .len_i(op.len),
    .win_i,
    .win_err_i,
    .reg_i,
    .reg_err_i,
    .strict_i,
    .qp_alive_i(qp_ok_i && qp_alive_i),
    .qp_st_i,
    .qp_gen_i,
    .pd_alive_i,
    .count_full_i(count_new_i == '1),
    .unbind_o(unbind),
    .rule_o(bind_rule)
  );

  bdy_life_check #(.LogKeys(LogKeys), .LogMtt(LogMtt), .LogQps(LogQps), .LogPds(LogPds)) u_life (
    .op_i(op.op),
    .key_i(op.key),
    .ctx_kind_i(op.ctx_kind),
    .half_i(op.half),
    .sqe_i(op.sqe),
    .pd_i(op.pd),
    .index_i(op.index),
    .body_i(op_i[bdy_pkg::PROT_OP_BODY0_LSB+:512]),
    .ent_i(win_i),
    .ent_err_i(win_err_i),
    .owner_i(reg_i),
    .owner_err_i(reg_err_i),
    .mtt_err_i,
    .bound_i(count_new_i != '0),
    .qp_ok_i,
    .qp_alive_i,
    .qp_st_i,
    .qp_retired_i(qp_gen_i == '1),
    .body_pd_alive_i(pd_alive_i),
    .rule_o(life_rule)
  );

  assign rule_o = is_bind || is_inv ? bind_rule : life_rule;
  assign ok     = rule_o == bdy_pkg::RULE_NONE;

  // ---------------------------------------------------------------- entry and counts
  bdy_entry_do u_entry (
    .op_i(op.op),
    .unbind_i(unbind),
    .key_i(op.key),
    .new_key_i(op.new_key),
    .rights_i(op.rights),
    .addr_i(op.addr),
    .len_i(op.len),
    .qpn_i(op.qpn),
    .qp_gen_i,
    .mr_key_i(op.mr_key),
    .image_i(op_i[bdy_pkg::PROT_OP_BODY0_LSB+:EntW]),
    .win_i,
    .reg_i,
    .entry_o
  );

  logic frees, enters, leaves, same_region;
  assign frees        = op.op == bdy_pkg::PROT_OP_MR_CLOSE || op.op == bdy_pkg::PROT_OP_MW_FREE;
  assign entry_en_o   = ok && (is_bind || is_inv || image_op || frees);
  assign entry_keep_o = !frees;
  assign mtt_en_o     = ok && op.op == bdy_pkg::PROT_OP_MTT_WRITE;

  assign enters      = is_bind && !unbind;
  assign leaves      = bound && (op.op == bdy_pkg::PROT_OP_BIND1 || is_inv || op.op == bdy_pkg::PROT_OP_MW_FREE);
  assign same_region = enters && leaves && win.mr_slot == op.mr_key[31:12];
  assign new_en_o    = ok && ((enters && !same_region) ||
                              (op.op == bdy_pkg::PROT_OP_MR_OPEN && win.kind == bdy_pkg::MPT_KIND_NONE));
  assign new_count_o = enters ? count_new_i + 21'd1 : 21'd0;
  assign old_en_o    = ok && leaves && !same_region;
  assign old_count_o = count_old_i - 21'd1;

  // ---------------------------------------------------------------- queue pairs, domains
  logic [2:0] ctx_st, err_st;
  logic       ctx_qp, is_bump, is_err, is_kill;

  assign ctx_qp  = is_ctx && op.ctx_kind == bdy_pkg::CTX_KIND_QP;
  assign ctx_st  = op_i[bdy_pkg::PROT_OP_BODY0_LSB+:3];
  assign err_st  = op.sqe ? bdy_pkg::QP_ST_SQE : bdy_pkg::QP_ST_ERR;
  assign is_bump = op.op == bdy_pkg::PROT_OP_QP_BUMP;
  assign is_err  = op.op == bdy_pkg::PROT_OP_QP_ERR;
  assign is_kill = op.op == bdy_pkg::PROT_OP_PD_KILL;

  assign qp_en_o  = ok && (is_bump || is_err || (ctx_qp && !op.half));
  assign ctx_en_o = ok && ctx_qp;
  assign ctxw_o   = ok && is_ctx && !ctx_qp;
  assign pd_en_o  = ok && (is_kill || op.op == bdy_pkg::PROT_OP_PD_OPEN);
  assign pd_set_o = !is_kill;

  // A generation never wraps: at all-ones the number is retired (H4). Life starts when the state leaves RESET.
  always_comb begin
    qp_o = {qp_alive_i, ctx_st, qp_gen_i};
    if (is_bump) begin
      qp_o = {1'b0, bdy_pkg::QP_ST_RESET, qp_gen_i == '1 ? qp_gen_i : qp_gen_i + 32'd1};
    end else if (is_err) begin
      qp_o = {qp_alive_i, err_st, qp_gen_i};
    end else if (ctx_st == bdy_pkg::QP_ST_RESET) begin
      qp_o[35] = 1'b0;
    end else if (qp_st_i == bdy_pkg::QP_ST_RESET) begin
      qp_o[35] = 1'b1;
    end
  end

  assign bump_o   = is_bump;
  assign ev_o     = qp_en_o && (is_bump || qp_o[34:32] != qp_st_i);
  assign revoke_o = ok && (ev_o || ctxw_o || leaves || is_bump || is_err || is_kill ||
                           op.op == bdy_pkg::PROT_OP_MR_CLOSE || op.op == bdy_pkg::PROT_OP_MR_REPLACE ||
                           (ctx_qp && !op.half && (ctx_st == bdy_pkg::QP_ST_RESET || ctx_st == bdy_pkg::QP_ST_ERR)));

  // ---------------------------------------------------------------- result word
  // The window's present key, also when refused (H12), but to its own domain only: keys are secrets.
  logic own_window;
  assign own_window = (win.kind == bdy_pkg::MPT_KIND_MW1 || win.kind == bdy_pkg::MPT_KIND_MW2) &&
                      win.nonce == op.key[11:8] && win.pd == op.pd;

  always_comb begin
    res_o = 32'h0;
    if (is_bind || is_inv) begin
      if (own_window) res_o = {op.key[31:8], ok ? left.key : win.key};
    end else if (ok && image_op) begin
      res_o = {op.key[31:8], left.key};
    end else if (ok && is_bump) begin
      res_o = qp_o[31:0];
    end
  end

endmodule
