// SPDX-License-Identifier: Apache-2.0
//
// bdy_op: the bind pipeline: binds, invalidates and life-cycle operations, one after the other, check then do (H1, H2).
//
//      ports --> arbiter --> LOOK --(all entries hit)---------------------> EXEC --> answer
//                             |                                              ^
//                             +--> WAIT (table) --> [MTTR old translation] --> CNT (counts)
//
// Latency:      answer three cycles after the handshake when the entries are cached.
// Throughput:   one operation per two cycles on hits: EXEC of one is the lookup of the next.
// Backpressure: an operation waits in EXEC for room in the write buffer and the log; a port waits, alone, while its drained
//               answers fill their queue.
// Invariants:   the entries held are current: only this pipeline writes entries, and the lookup sees the write of its own
//               cycle. Regions open only when no translation write is under way.

module bdy_op #(
  parameter int LogKeys = 13,
  parameter int LogMtt  = 16,
  parameter int LogQps  = 8,
  parameter int LogPds  = 10,
  parameter int NOp     = 3,
  parameter int EntW    = 448,
  parameter int MttW    = 89
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  output logic                             idle_o,
  input  logic                             strict_i,

  input  logic [NOp-1:0]                   op_valid_i,
  output logic [NOp-1:0]                   op_ready_o,
  input  logic [NOp*bdy_pkg::PROT_OP_W-1:0] op_req_i,
  input  logic [NOp*8-1:0]                 op_tag_i,
  output logic [NOp-1:0]                   ope_valid_o,
  output logic [7:0]                       ope_tag_o,
  output logic [7:0]                       ope_rule_o,
  output logic [31:0]                      ope_res_o,
  output logic                             ope_drain_o,

  // entry cache: lookups (0 window or object, 1 region) and the write
  output logic [1:0]                       look_en_o,
  output logic [2*LogKeys-1:0]             look_slot_o,
  input  logic [1:0]                       look_hit_i,
  input  logic [2*EntW-1:0]                look_entry_i,
  output logic                             put_en_o,
  output logic                             put_keep_o,
  output logic [LogKeys-1:0]               put_slot_o,
  output logic [EntW-1:0]                  put_entry_o,
  input  logic                             put_room_i,

  // entries from the table
  output logic                             mpt_valid_o,
  input  logic                             mpt_ready_i,
  output logic                             mpt_which_o,
  output logic [LogKeys-1:0]               mpt_slot_o,
  input  logic                             mpt_rsp_valid_i,
  input  logic                             mpt_rsp_which_i,
  input  logic [EntW-1:0]                  mpt_rsp_entry_i,
  input  logic                             mpt_rsp_err_i,

  // translations: read of the old one, write of the new one
  output logic                             mtt_valid_o,
  input  logic                             mtt_ready_i,
  output logic                             mtt_write_o,
  output logic [LogMtt-1:0]                mtt_idx_o,
  output logic [MttW-1:0]                  mtt_data_o,
  input  logic                             mtt_rsp_valid_i,
  input  logic                             mtt_rsp_err_i,
  input  logic [20:0]                      mtt_rsp_owner_i,  // {valid, slot of the owner}
  output logic                             mtt_busy_o,     // a write is under way
  output logic                             mtt_failed_o,   // pulse: a write was not stored

  // bound-window counts: reads (0 named region, 1 window's region), write
  output logic                             count_rd_o,
  output logic [2*LogKeys-1:0]             count_slot_o,
  input  logic [2*21-1:0]                  count_i,
  output logic                             count_wr_o,
  output logic [LogKeys-1:0]               count_wr_slot_o,
  output logic [20:0]                      count_wr_count_o,

  // state of queue pairs and domains
  output logic [LogQps-1:0]                qp_idx_o,
  input  logic [35:0]                      qp_i,
  output logic                             qp_wr_o,
  output logic [35:0]                      qp_wr_data_o,
  output logic                             ctx_wr_o,
  output logic                             ctx_wr_half_o,
  output logic [511:0]                     ctx_wr_data_o,
  output logic [23:0]                      pd_o,
  input  logic                             pd_alive_i,
  output logic                             pd_wr_o,
  output logic                             pd_set_o,
  output logic [LogPds-1:0]                pd_idx_o,

  // events, context writes of other blocks
  output logic                             ev_o,
  output logic                             ev_bump_o,
  input  logic                             ev_room_i,
  output logic                             ctxw_o,
  output logic [3:0]                       ctxw_kind_o,
  output logic [15:0]                      ctxw_idx_o,
  input  logic                             ctxw_busy_i,

  // drain and log
  output logic                             revoke_o,
  output logic [1:0]                       port_o,
  output logic [7:0]                       tag_o,
  input  logic [NOp-1:0]                   drain_room_i,
  output logic                             log_valid_o,
  input  logic                             log_room_i,
  output logic [bdy_pkg::PROT_OP_W-1:0]    log_op_o
);

  // ---------------------------------------------------------------- what an operation needs
  function automatic logic is_bind(input logic [7:0] op);
    is_bind = op == bdy_pkg::PROT_OP_BIND1 || op == bdy_pkg::PROT_OP_BIND2;
  endfunction

  function automatic logic slot_fits(input logic [19:0] slot);
    slot_fits = (slot >> LogKeys) == 20'h0;
  endfunction

  // The object under `key`.
  function automatic logic needs_object(input logic [7:0] op, input logic [19:0] slot);
    case (op)
      bdy_pkg::PROT_OP_BIND1, bdy_pkg::PROT_OP_BIND2, bdy_pkg::PROT_OP_LOCAL_INV, bdy_pkg::PROT_OP_REMOTE_INV,
      bdy_pkg::PROT_OP_MR_OPEN, bdy_pkg::PROT_OP_MR_CLOSE, bdy_pkg::PROT_OP_MR_REPLACE, bdy_pkg::PROT_OP_MW_ALLOC,
      bdy_pkg::PROT_OP_MW_FREE, bdy_pkg::PROT_OP_MTT_WRITE: needs_object = slot_fits(slot);
      default: needs_object = 1'b0;
    endcase
  endfunction

  // The region under `mr_key`; an unbind does not look at it (B17).
  function automatic logic needs_region(input logic [7:0] op, input logic [63:0] len, input logic [19:0] slot);
    needs_region = is_bind(op) && !(op == bdy_pkg::PROT_OP_BIND1 && len == 64'h0) && slot_fits(slot);
  endfunction

  function automatic logic writes_ctx_elsewhere(input logic [7:0] op, input logic [3:0] kind);
    writes_ctx_elsewhere = op == bdy_pkg::PROT_OP_CTX_WRITE && kind != bdy_pkg::CTX_KIND_QP;
  endfunction

  // ---------------------------------------------------------------- arbitration
  localparam logic [2:0] StIdle = 3'd0, StLook = 3'd1, StWait = 3'd2, StMttr = 3'd3, StCnt = 3'd4, StExec = 3'd5;

  logic [2:0]                    state_q, state_d;
  logic                          can_take, go, arb_valid, held_cw;
  logic [NOp-1:0]                eligible, gnt;
  logic [1:0]                    arb_port, port_q;
  logic [7:0]                    tag_q;
  logic [bdy_pkg::PROT_OP_W-1:0] op_bits_q;
  bdy_pkg::prot_op_t             op;
  logic [19:0]                   next_slot, next_mr_slot;

  assign op      = op_bits_q;
  assign held_cw = state_q != StIdle && writes_ctx_elsewhere(op.op, op.ctx_kind);

  for (genvar p = 0; p < NOp; p++) begin : g_eligible
    logic [7:0] opcode;
    logic [3:0] kind;
    assign opcode = op_req_i[bdy_pkg::PROT_OP_W*p+bdy_pkg::PROT_OP_OP_LSB+:8];
    assign kind   = op_req_i[bdy_pkg::PROT_OP_W*p+bdy_pkg::PROT_OP_CTX_KIND_LSB+:4];
    // A context write of another block waits here, so that it blocks its own port only.
    assign eligible[p] = op_valid_i[p] && drain_room_i[p] &&
                         !(writes_ctx_elsewhere(opcode, kind) && (ctxw_busy_i || held_cw));
  end

  assign can_take   = state_q == StIdle || (state_q == StExec && go);
  assign op_ready_o = gnt;
  assign next_slot    = op_req_i[bdy_pkg::PROT_OP_W*arb_port+bdy_pkg::PROT_OP_KEY_LSB+12+:20];
  assign next_mr_slot = op_req_i[bdy_pkg::PROT_OP_W*arb_port+bdy_pkg::PROT_OP_MR_KEY_LSB+12+:20];

  bdy_rr_arb #(.N(NOp)) u_arb (
    .clk_i, .rst_ni,
    .req_i(can_take ? eligible : '0),
    .take_i(1'b1),
    .valid_o(arb_valid),
    .gnt_o(gnt),
    .idx_o(arb_port)
  );

  assign look_en_o   = {2{arb_valid}};
  assign look_slot_o = {LogKeys'(next_mr_slot), LogKeys'(next_slot)};

  // ---------------------------------------------------------------- entries
  logic [EntW-1:0] obj_q, reg_q, look_obj, look_reg;
  logic            obj_ok_q, reg_ok_q, obj_err_q, reg_err_q, obj_asked_q, reg_asked_q;
  logic            need_obj, need_reg, obj_hit, reg_hit, is_mtt, opens, all_hit;
  logic            mtt_done_q, mtt_err_q, mttr_sent_q;
  logic [19:0]     owner_q;

  assign need_obj = needs_object(op.op, op.key[31:12]);
  assign need_reg = needs_region(op.op, op.len, op.mr_key[31:12]);
  assign obj_hit  = !need_obj || look_hit_i[0];
  assign reg_hit  = !need_reg || look_hit_i[1];
  assign look_obj = need_obj ? look_entry_i[EntW-1:0] : '0;
  assign look_reg = need_reg ? look_entry_i[EntW+:EntW] : '0;
  assign is_mtt   = op.op == bdy_pkg::PROT_OP_MTT_WRITE && (op.index >> LogMtt) == 32'h0;
  assign opens    = op.op == bdy_pkg::PROT_OP_MR_OPEN || op.op == bdy_pkg::PROT_OP_MR_REPLACE;
  assign all_hit  = obj_hit && reg_hit;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle: state_d = arb_valid ? StLook : StIdle;
      StLook: state_d = !all_hit ? StWait : is_mtt ? StMttr : opens ? StCnt : StExec;
      StWait: if (obj_ok_q && reg_ok_q) state_d = is_mtt && !mtt_done_q ? StMttr : StCnt;
      StMttr: if (mttr_sent_q && mtt_rsp_valid_i) state_d = StWait;
      StCnt:  if (!(opens && mtt_busy_o)) state_d = StExec;
      StExec: if (go) state_d = arb_valid ? StLook : StIdle;
      default: state_d = StIdle;
    endcase
  end

  // Owner of the old translation, if it is another's: its entry decides (H2).
  logic old_foreign;
  assign old_foreign = mtt_rsp_owner_i[20] && mtt_rsp_owner_i[19:0] != op.key[31:12] &&
                       (mtt_rsp_owner_i[19:0] >> LogKeys) == 20'h0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= StIdle;
    else         state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    if (arb_valid) begin
      op_bits_q   <= op_req_i[bdy_pkg::PROT_OP_W*arb_port+:bdy_pkg::PROT_OP_W];
      port_q      <= arb_port;
      tag_q       <= op_tag_i[8*arb_port+:8];
      mtt_done_q  <= 1'b0;
      mtt_err_q   <= 1'b0;
      mttr_sent_q <= 1'b0;
    end
    if (state_q == StLook) begin
      obj_q       <= look_obj;
      reg_q       <= look_reg;
      obj_ok_q    <= obj_hit;
      reg_ok_q    <= reg_hit;
      obj_err_q   <= 1'b0;
      reg_err_q   <= 1'b0;
      obj_asked_q <= obj_hit;
      reg_asked_q <= reg_hit;
    end
    if (mpt_valid_o && mpt_ready_i) begin
      if (mpt_which_o) reg_asked_q <= 1'b1;
      else             obj_asked_q <= 1'b1;
    end
    if (mpt_rsp_valid_i) begin
      if (mpt_rsp_which_i) begin
        reg_q     <= mpt_rsp_entry_i;
        reg_ok_q  <= 1'b1;
        reg_err_q <= mpt_rsp_err_i;
      end else begin
        obj_q     <= mpt_rsp_entry_i;
        obj_ok_q  <= 1'b1;
        obj_err_q <= mpt_rsp_err_i;
      end
    end
    if (state_q == StMttr) begin
      if (mtt_valid_o && mtt_ready_i) mttr_sent_q <= 1'b1;
      if (mttr_sent_q && mtt_rsp_valid_i) begin
        mtt_done_q  <= 1'b1;
        mtt_err_q   <= mtt_rsp_err_i;
        owner_q     <= mtt_rsp_owner_i[19:0];
        reg_ok_q    <= !old_foreign;
        reg_asked_q <= !old_foreign;
      end
    end
  end

  assign mpt_valid_o = state_q == StWait && (!obj_asked_q || !reg_asked_q);
  assign mpt_which_o = obj_asked_q;
  assign mpt_slot_o  = LogKeys'(!obj_asked_q ? op.key[31:12] : is_mtt ? owner_q : op.mr_key[31:12]);

  // ---------------------------------------------------------------- counts: read in the cycle before EXEC
  bdy_pkg::mpt_entry_t obj_seen;
  assign obj_seen     = {64'b0, state_q == StLook ? look_obj : obj_q};
  assign count_rd_o   = (state_q == StLook && state_d == StExec) || state_q == StCnt;
  assign count_slot_o = {LogKeys'(obj_seen.mr_slot), LogKeys'(is_bind(op.op) ? op.mr_key[31:12] : op.key[31:12])};

  // ---------------------------------------------------------------- EXEC
  logic        qp_ok, entry_en, mtt_en, new_en, old_en, qp_en, ctx_en, cw_en, pd_en, ev, revoke;
  logic [7:0]  rule;
  logic [31:0] res;
  logic [20:0] new_count, old_count;
  logic [23:0] qp_off;

  assign qp_off   = op.qpn - bdy_pkg::QPN_BASE[23:0];
  assign qp_ok    = (qp_off >> LogQps) == 24'h0;
  assign qp_idx_o = op.op == bdy_pkg::PROT_OP_CTX_WRITE ? op.index[LogQps-1:0] : qp_off[LogQps-1:0];

  bdy_op_exec #(.LogKeys(LogKeys), .LogMtt(LogMtt), .LogQps(LogQps), .LogPds(LogPds), .EntW(EntW)) u_exec (
    .op_i(op_bits_q),
    .strict_i,
    .win_i(obj_q),
    .win_err_i(obj_err_q),
    .reg_i(reg_q),
    .reg_err_i(reg_err_q),
    .mtt_err_i(mtt_err_q),
    .count_new_i(count_i[20:0]),
    .count_old_i(count_i[41:21]),
    .qp_ok_i(qp_ok),
    .qp_alive_i(qp_i[35]),
    .qp_st_i(qp_i[34:32]),
    .qp_gen_i(qp_i[31:0]),
    .pd_o,
    .pd_alive_i,
    .rule_o(rule),
    .res_o(res),
    .entry_en_o(entry_en),
    .entry_keep_o(put_keep_o),
    .entry_o(put_entry_o),
    .mtt_en_o(mtt_en),
    .new_en_o(new_en),
    .new_count_o(new_count),
    .old_en_o(old_en),
    .old_count_o(old_count),
    .qp_en_o(qp_en),
    .qp_o(qp_wr_data_o),
    .ctx_en_o(ctx_en),
    .ctxw_o(cw_en),
    .pd_en_o(pd_en),
    .pd_set_o,
    .ev_o(ev),
    .bump_o(ev_bump_o),
    .revoke_o(revoke)
  );

  assign go            = state_q == StExec && put_room_i && log_room_i && ev_room_i && !(mtt_en && mtt_busy_o);
  assign put_en_o      = go && entry_en;
  assign put_slot_o    = LogKeys'(op.key[31:12]);
  assign qp_wr_o       = go && qp_en;
  assign ctx_wr_o      = go && ctx_en;
  assign ctx_wr_half_o = op.half;
  assign ctx_wr_data_o = op_bits_q[bdy_pkg::PROT_OP_BODY0_LSB+:512];
  assign pd_wr_o       = go && pd_en;
  assign pd_idx_o      = op.pd[LogPds-1:0];
  assign ev_o          = go && ev;
  assign ctxw_o        = go && cw_en;
  assign ctxw_kind_o   = op.ctx_kind;
  assign ctxw_idx_o    = op.index[15:0];
  assign revoke_o      = go && revoke;
  assign port_o        = port_q;
  assign tag_o         = tag_q;
  assign log_valid_o   = go;

  always_comb begin
    log_op_o = op_bits_q;
    log_op_o[bdy_pkg::PROT_OP_RES_LSB+:32]    = res;
    log_op_o[bdy_pkg::PROT_OP_RULE_LSB+:8]    = rule;
    log_op_o[bdy_pkg::PROT_OP_PORT_LSB+:4]    = {2'b0, port_q};
    log_op_o[bdy_pkg::PROT_OP_QP_GEN_LSB+:32] = qp_ok && op.op != bdy_pkg::PROT_OP_CTX_WRITE ? qp_i[31:0] : 32'h0;
  end

  // A rebind moves two counts: the region left follows one cycle later, before the next operation reads it.
  logic               later_q;
  logic [LogKeys-1:0] later_slot_q;
  logic [20:0]        later_count_q;

  assign count_wr_o       = (go && (new_en || old_en)) || later_q;
  assign count_wr_slot_o  = later_q ? later_slot_q : new_en ? count_slot_o[LogKeys-1:0] : count_slot_o[LogKeys+:LogKeys];
  assign count_wr_count_o = later_q ? later_count_q : new_en ? new_count : old_count;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) later_q <= 1'b0;
    else         later_q <= go && new_en && old_en;
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      later_slot_q  <= count_slot_o[LogKeys+:LogKeys];
      later_count_q <= old_count;
    end
  end

  // ---------------------------------------------------------------- answer
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ope_valid_o <= '0;
    else for (int p = 0; p < NOp; p++) ope_valid_o[p] <= go && port_q == 2'(p);
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      ope_tag_o   <= tag_q;
      ope_rule_o  <= rule;
      ope_res_o   <= res;
      ope_drain_o <= revoke;
    end
  end

  // ---------------------------------------------------------------- translation write, one at a time
  logic              mttw_offer_q, mttw_busy_q;
  logic [LogMtt-1:0] mttw_idx_q;
  logic [MttW-1:0]   mttw_data_q;

  assign mtt_busy_o   = mttw_busy_q;
  assign mtt_valid_o  = mttw_offer_q || (state_q == StMttr && !mttr_sent_q && !mttw_busy_q);
  assign mtt_write_o  = mttw_offer_q;
  assign mtt_idx_o    = mttw_offer_q ? mttw_idx_q : op.index[LogMtt-1:0];
  assign mtt_data_o   = mttw_data_q;
  assign mtt_failed_o = mttw_busy_q && mtt_rsp_valid_i && mtt_rsp_err_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mttw_offer_q <= 1'b0;
      mttw_busy_q  <= 1'b0;
    end else begin
      if (go && mtt_en)     mttw_offer_q <= 1'b1;
      else if (mtt_ready_i) mttw_offer_q <= 1'b0;
      if (go && mtt_en)                        mttw_busy_q <= 1'b1;
      else if (mttw_busy_q && mtt_rsp_valid_i) mttw_busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (go && mtt_en) begin
      mttw_idx_q  <= op.index[LogMtt-1:0];
      mttw_data_q <= {1'b1, op.key[11:8], op.key[31:12], op_bits_q[bdy_pkg::PROT_OP_BODY0_LSB+:64]};
    end
  end

  assign idle_o = state_q == StIdle && !mttw_busy_q && !later_q && ope_valid_o == '0;

  logic unused;
  assign unused = ^{op, obj_seen, next_slot, next_mr_slot};

endmodule
