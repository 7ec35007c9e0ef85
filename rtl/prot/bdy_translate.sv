// SPDX-License-Identifier: Apache-2.0
//
// bdy_translate: from a granted range to bus addresses, and the answer of every verdict.
//
//      verdict --> T1 page, offset, lengths --> translation request --> table --> owner check --+
//                                          \--> direct, refused, check only -------------------+--> answer, log, grant back
//
// Latency:      answer four cycles after the verdict through a table that answers at once (three when direct).
// Throughput:   one answer per cycle.
// Backpressure: room_o tells whether one more than inflight_i fits; table answers wait while a direct one is sent.
// Invariants:   a translation counts only if it is valid and owned by the region (H8), both of them before any byte moves
//               (H6); a refusal here gives its grant back (ret_o).

module bdy_translate #(
  parameter int LogKeys   = 13,
  parameter int LogMtt    = 16,
  parameter int LogLog    = 8,     // log2 of the verdicts on their way
  parameter int NAcc      = 4,
  parameter int EntW      = 448,
  parameter int FifoDepth = 8,
  parameter int MttW      = 89     // {valid, owner's nonce, owner's slot, addr}
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  output logic                          idle_o,
  input  logic [1:0]                    inflight_i,
  output logic                          room_o,

  input  logic                          v_valid_i,
  input  logic [1:0]                    v_port_i,
  input  logic [bdy_pkg::ACC_REQ_W-1:0] v_req_i,
  input  logic [LogKeys-1:0]            v_slot_i,
  input  logic [EntW-1:0]               v_entry_i,
  input  logic [7:0]                    v_rule_i,
  input  logic                          v_stale_i,
  input  logic                          v_epoch_i,
  input  logic [LogLog-1:0]             v_log_i,

  output logic                          mtt_valid_o,
  input  logic                          mtt_ready_i,
  output logic [LogLog-1:0]             mtt_id_o,
  output logic [LogMtt-1:0]             mtt_idx_o,    // this entry and the next
  input  logic                          mtt_rsp_valid_i,
  output logic                          mtt_rsp_ready_o,
  input  logic [LogLog-1:0]             mtt_rsp_id_i,
  input  logic                          mtt_rsp_err_i,
  input  logic [2*MttW-1:0]             mtt_rsp_data_i,

  output logic [NAcc-1:0]               rsp_valid_o,
  output logic [bdy_pkg::ACC_RSP_W-1:0] rsp_o,
  output logic                          fin_valid_o,  // with the answer, to the log
  output logic [LogLog-1:0]             fin_log_o,
  output logic                          ret_valid_o,
  output logic                          ret_epoch_o
);

  bdy_pkg::acc_req_t   req;
  bdy_pkg::mpt_entry_t ent;
  assign req = v_req_i;
  assign ent = {64'b0, v_entry_i};

  logic unused;
  assign unused = ^{req, ent};

  // ---------------------------------------------------------------- T1 register
  logic              t1_valid_q, t1_move_q, t1_direct_q, t1_stale_q, t1_epoch_q;
  logic [1:0]        t1_port_q;
  logic [7:0]        t1_tag_q, t1_rule_q;
  logic [LogLog-1:0] t1_log_q;
  logic [63:0]       t1_pos_q, t1_base_q;
  logic [5:0]        t1_log_ps_q;
  logic [12:0]       t1_xlen_q;
  logic [23:0]       t1_owner_q;  // {nonce, slot}

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) t1_valid_q <= 1'b0;
    else         t1_valid_q <= v_valid_i;
  end

  always_ff @(posedge clk_i) begin
    if (v_valid_i) begin
      t1_move_q   <= v_rule_i == bdy_pkg::RULE_NONE && req.xlen != 13'd0;
      t1_direct_q <= ent.direct;
      t1_stale_q  <= v_stale_i;
      t1_epoch_q  <= v_epoch_i;
      t1_port_q   <= v_port_i;
      t1_tag_q    <= req.tag;
      t1_rule_q   <= v_rule_i;
      t1_log_q    <= v_log_i;
      t1_pos_q    <= req.va - ent.start + ent.list_off;
      t1_base_q   <= ent.base;
      t1_log_ps_q <= ent.log_ps;
      t1_xlen_q   <= req.xlen;
      t1_owner_q  <= ent.kind == bdy_pkg::MPT_KIND_MR ? {ent.nonce, 20'(v_slot_i)} :
                                                              {ent.mr_nonce, ent.mr_slot};
    end
  end

  // ---------------------------------------------------------------- T1: which pages
  logic [63:0] page, index;
  logic [29:0] in_page, page_mask;
  logic [30:0] to_end;       // bytes from here to the end of the page
  logic [12:0] len0, len1;
  logic        bad_index;

  assign page_mask = ~(~30'h0 << t1_log_ps_q);
  assign in_page   = t1_pos_q[29:0] & page_mask;
  assign page      = t1_pos_q >> t1_log_ps_q;
  assign index     = t1_base_q + page;
  assign to_end    = {1'b0, page_mask} - {1'b0, in_page} + 31'd1;
  assign len0      = {18'd0, t1_xlen_q} > to_end ? to_end[12:0] : t1_xlen_q;
  assign len1      = t1_xlen_q - len0;
  assign bad_index = ((index + {63'h0, len1 != 13'd0}) >> LogMtt) != 64'h0;

  // ---------------------------------------------------------------- two ways on
  localparam int CtxW    = 2 + 8 + 1 + 30 + 13 + 13 + 24;
  localparam int DirectW = LogLog + 2 + 8 + 8 + 1 + 1 + 1 + 64 + 13;
  localparam int CountW  = $clog2(FifoDepth + 1);

  logic               to_mtt, to_direct, mttq_room, dirq_room, dir_valid, dir_ready;
  logic [CountW-1:0]  mttq_count, dirq_count;
  logic [DirectW-1:0] dir_in, dir_out;
  logic [7:0]         dir_in_rule;
  logic               dir_moves;

  assign to_mtt      = t1_valid_q && t1_move_q && !t1_direct_q && !bad_index;
  assign to_direct   = t1_valid_q && !to_mtt;
  assign dir_moves   = t1_move_q && t1_direct_q;
  assign dir_in_rule = t1_move_q && !t1_direct_q ? bdy_pkg::RULE_H8 : t1_rule_q;
  assign dir_in      = {t1_log_q, t1_port_q, t1_tag_q, dir_in_rule, t1_stale_q, t1_epoch_q, t1_move_q && !dir_moves,
                        dir_moves ? t1_base_q + t1_pos_q : 64'h0, dir_moves ? t1_xlen_q : 13'd0};

  function automatic logic fits(input logic [CountW-1:0] count, input logic [1:0] inflight, input logic t1);
    fits = (CountW + 3)'(count) + (CountW + 3)'(inflight) + (CountW + 3)'(t1) < (CountW + 3)'(FifoDepth);
  endfunction

  assign room_o = fits(mttq_count, inflight_i, t1_valid_q) && fits(dirq_count, inflight_i, t1_valid_q);

  bdy_fifo #(.Width(LogLog + LogMtt), .Depth(FifoDepth)) u_mttq (
    .clk_i, .rst_ni,
    .wr_valid_i(to_mtt),
    .wr_ready_o(mttq_room),
    .wr_data_i({t1_log_q, index[LogMtt-1:0]}),
    .rd_valid_o(mtt_valid_o),
    .rd_ready_i(mtt_ready_i),
    .rd_data_o({mtt_id_o, mtt_idx_o}),
    .count_o(mttq_count)
  );

  bdy_fifo #(.Width(DirectW), .Depth(FifoDepth)) u_dirq (
    .clk_i, .rst_ni,
    .wr_valid_i(to_direct),
    .wr_ready_o(dirq_room),
    .wr_data_i(dir_in),
    .rd_valid_o(dir_valid),
    .rd_ready_i(dir_ready),
    .rd_data_o(dir_out),
    .count_o(dirq_count)
  );

  // What the answer of a translation needs, by place in the log.
  logic [CtxW-1:0] ctx [2**LogLog];
  logic [CtxW-1:0] ctx_out;

  always_ff @(posedge clk_i) begin
    if (to_mtt) ctx[t1_log_q] <= {t1_port_q, t1_tag_q, t1_epoch_q, in_page, len0, len1, t1_owner_q};
  end
  assign ctx_out = ctx[mtt_rsp_id_i];

  // ---------------------------------------------------------------- answer
  logic        mtt_take, last_mtt_q;
  logic [1:0]  x_port, d_port, a_port;
  logic [7:0]  x_tag, d_tag, d_rule, a_tag, a_rule;
  logic        x_epoch, d_epoch, d_stale, d_ret, x_bad, a_ret, a_epoch, a_stale;
  logic [29:0] x_in_page;
  logic [12:0] x_len0, x_len1, d_len, a_len0, a_len1;
  logic [23:0] x_owner;
  logic [63:0] d_bus, a_bus0, a_bus1;
  logic [LogLog-1:0] d_log;

  assign {x_port, x_tag, x_epoch, x_in_page, x_len0, x_len1, x_owner}                 = ctx_out;
  assign {d_log, d_port, d_tag, d_rule, d_stale, d_epoch, d_ret, d_bus, d_len}        = dir_out;

  // Translation is another's, of an earlier life of the slot, or was never written.
  function automatic logic h8_not_owned(input logic [24:0] mtt, input logic [23:0] owner);
    h8_not_owned = mtt != {1'b1, owner};
  endfunction

  assign x_bad = mtt_rsp_err_i || h8_not_owned(mtt_rsp_data_i[64+:25], x_owner) ||
                 (x_len1 != 13'd0 && h8_not_owned(mtt_rsp_data_i[MttW+64+:25], x_owner));

  // Both ready: take turns.
  assign mtt_take        = mtt_rsp_valid_i && (!dir_valid || !last_mtt_q);
  assign mtt_rsp_ready_o = mtt_take;
  assign dir_ready       = !mtt_take;

  always_comb begin
    a_port  = d_port;
    a_tag   = d_tag;
    a_rule  = d_rule;
    a_stale = d_stale;
    a_epoch = d_epoch;
    a_ret   = d_ret;
    a_bus0  = d_bus;
    a_bus1  = 64'h0;
    a_len0  = d_len;
    a_len1  = 13'd0;
    if (mtt_take) begin
      a_port  = x_port;
      a_tag   = x_tag;
      a_rule  = x_bad ? bdy_pkg::RULE_H8 : bdy_pkg::RULE_NONE;
      a_stale = 1'b0;
      a_epoch = x_epoch;
      a_ret   = x_bad;
      a_bus0  = x_bad ? 64'h0 : mtt_rsp_data_i[63:0] | {34'h0, x_in_page};
      a_bus1  = x_bad || x_len1 == 13'd0 ? 64'h0 : mtt_rsp_data_i[MttW+:64];
      a_len0  = x_bad ? 13'd0 : x_len0;
      a_len1  = x_bad ? 13'd0 : x_len1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rsp_valid_o <= '0;
      fin_valid_o <= 1'b0;
      ret_valid_o <= 1'b0;
      last_mtt_q  <= 1'b0;
    end else begin
      for (int p = 0; p < NAcc; p++) rsp_valid_o[p] <= (mtt_take || dir_valid) && a_port == 2'(p);
      fin_valid_o <= mtt_take || dir_valid;
      ret_valid_o <= (mtt_take || dir_valid) && a_ret;
      if (mtt_take || dir_valid) last_mtt_q <= mtt_take;
    end
  end

  always_ff @(posedge clk_i) begin
    if (mtt_take || dir_valid) begin
      rsp_o <= '0;
      rsp_o[bdy_pkg::ACC_RSP_TAG_LSB+:8]    <= a_tag;
      rsp_o[bdy_pkg::ACC_RSP_RULE_LSB+:8]   <= a_rule;
      rsp_o[bdy_pkg::ACC_RSP_EPOCH_LSB]     <= a_epoch;
      rsp_o[bdy_pkg::ACC_RSP_STALE_LSB]     <= a_stale;
      rsp_o[bdy_pkg::ACC_RSP_LEN0_LSB+:13]  <= a_len0;
      rsp_o[bdy_pkg::ACC_RSP_LEN1_LSB+:13]  <= a_len1;
      rsp_o[bdy_pkg::ACC_RSP_BUS0_LSB+:64]  <= a_bus0;
      rsp_o[bdy_pkg::ACC_RSP_BUS1_LSB+:64]  <= a_bus1;
      fin_log_o   <= mtt_take ? mtt_rsp_id_i : d_log;
      ret_epoch_o <= a_epoch;
    end
  end

  // Never more in the queues than room was given for.
  assign idle_o = !t1_valid_q && mttq_count == '0 && dirq_count == '0 && !fin_valid_o;

  logic unused_room;
  assign unused_room = ^{mttq_room, dirq_room};

endmodule
