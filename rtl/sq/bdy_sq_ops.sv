// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_ops: the requester's operations at the bind pipeline: binds and invalidates of work
// requests (from the request half), QP_ERR (from retirement), and their answers.
//
//   bind slot --+--> op port ... exec answer: result of (QP, entry) stored, the next work requests
//   error slot -+                of the queue pair may start (O1, O6)
//                                drained answer: the entry may retire (O7, H3)
//
// Latency:      request to op port one cycle; answer to op_done_o in the same cycle.
// Throughput:   one operation per cycle at most, Tags in flight; one work request's operation per
//               queue pair before its exec answer.
// Backpressure: bind_free_o, err_free_o. The bind pipeline may hold a QP_ERR back while a state
//               change is being told, and with it what stands behind it on the port: a bind in its
//               slot is dropped when its queue pair is reset (drop_i).
// Invariants:   each accepted operation's answer is used once, by tag, in whatever order answers
//               come. Answers of a life that was reset meanwhile are ignored.

module bdy_sq_ops #(
  parameter int LogQps  = 8,
  parameter bit Shallow = 1'b0,            // one operation of each kind in flight (H13)
  parameter int LogTags = Shallow ? 1 : 5
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                idle_o,

  input  logic                bind_valid_i,   // only while bind_free_o
  output logic                bind_free_o,
  input  logic [bdy_pkg::PROT_OP_W-1:0] bind_op_i,
  input  logic [LogQps-1:0]   bind_qp_i,
  input  logic [3:0]          bind_wr_i,

  input  logic                err_valid_i,    // only while err_free_o
  output logic                err_free_o,
  input  logic [LogQps-1:0]   err_qp_i,
  input  logic                err_sqe_i,      // to SQE

  // Life of a queue pair
  input  logic [LogQps-1:0]   life_qp_i,
  output logic                life_busy_o,    // a bind of life_qp_i has not ended
  input  logic                drop_i,         // life_qp_i is being reset
  input  logic                clear_i,        // its old life has ended

  // Queue pair of the request half: an earlier bind has no exec answer, or was refused
  input  logic [LogQps-1:0]   hold_qp_i,
  output logic                hold_o,
  input  logic                free_hold_i,    // pulse: it has come back from SQE

  // Results of entries
  input  logic [LogQps+3:0]   res_idx_i,
  output logic                res_done_o,     // one cycle later: the entry had ended
  output logic [39:0]         res_o,          // one cycle later: {present key, rule}

  // An entry has ended
  output logic                op_done_o,
  output logic [LogQps-1:0]   op_done_qp_o,
  output logic [3:0]          op_done_wr_o,
  output logic                op_fresh_o,     // its result is this cycle's answer: op_fresh_res_o
  output logic [39:0]         op_fresh_res_o,
  // Wake-ups: a bind was executed (its queue pair may go on), an entry ended beside op_done_o, a
  // QP_ERR was executed
  output logic                go_o,
  output logic [LogQps-1:0]   go_qp_o,
  output logic                done2_o,
  output logic [LogQps-1:0]   done2_qp_o,
  output logic                dead_o,
  output logic [LogQps-1:0]   dead_qp_o,

  // Bind pipeline, one op port
  output logic                op_valid_o,
  input  logic                op_ready_i,
  output logic [bdy_pkg::PROT_OP_W-1:0] op_req_o,
  output logic [7:0]          op_tag_o,
  input  logic                ope_valid_i,
  input  logic [7:0]          ope_tag_i,
  input  logic [7:0]          ope_rule_i,
  input  logic [31:0]         ope_res_i,
  input  logic                ope_drain_i,
  input  logic                opd_valid_i,
  input  logic [7:0]          opd_tag_i
);

  localparam int Tags    = 1 << LogTags;
  localparam int ErrTags = Shallow ? 1 : 4;
  localparam int Entries = 16 << LogQps;

  // ---------------------------------------------------------------- tags
  logic [Tags-1:0]    busy_q;
  logic [Tags-1:0]    orphan_q;   // QP_ERR of a life that was reset
  logic [LogQps-1:0]  tag_qp_q [Tags];
  logic [3:0]         tag_wr_q [Tags];
  logic [LogTags-1:0] new_bind, new_err, ope_tag, opd_tag;
  logic               bind_tag_free, err_tag_free, take_bind, take_err;

  // The first tags are QP_ERR's: neither kind ever waits for the other's answers.
  always_comb begin
    new_bind = '0;
    new_err  = '0;
    for (int t = Tags - 1; t >= ErrTags; t--) if (!busy_q[t]) new_bind = LogTags'(t);
    for (int t = ErrTags - 1; t >= 0; t--) if (!busy_q[t]) new_err = LogTags'(t);
  end
  assign bind_tag_free = busy_q[Tags-1:ErrTags] != '1;
  assign err_tag_free  = busy_q[ErrTags-1:0] != '1;

  // ------------------------------------------------------------ the two slots in front of the port
  logic                         bind_q, err_q, shown_q, sel_err_q, sel_err, err_sqe_q;
  logic [bdy_pkg::PROT_OP_W-1:0] bind_op_q;
  logic [LogQps-1:0]            bind_qp_q, err_qp_q;
  logic [LogTags-1:0]           bind_tag_q, err_tag_q;
  bdy_pkg::prot_op_t            err_op;
  logic                         out, drop;

  assign bind_free_o = !bind_q && bind_tag_free;
  assign err_free_o  = !err_q && err_tag_free;
  assign take_bind   = bind_valid_i && bind_free_o;
  assign take_err    = err_valid_i && err_free_o;

  always_comb begin
    err_op     = '0;
    err_op.op  = bdy_pkg::PROT_OP_QP_ERR;
    err_op.sqe = err_sqe_q;
    err_op.qpn = 24'(bdy_pkg::QPN_BASE) + 24'(err_qp_q);
  end

  assign sel_err    = shown_q ? sel_err_q : !bind_q;
  assign op_valid_o = sel_err ? err_q : bind_q;
  assign op_req_o   = sel_err ? err_op : bind_op_q;
  assign op_tag_o   = sel_err ? 8'(err_tag_q) : 8'(bind_tag_q);
  assign out        = op_valid_o && op_ready_i;
  assign drop       = drop_i && bind_q && bind_qp_q == life_qp_i && sel_err;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bind_q    <= 1'b0;
      err_q     <= 1'b0;
      shown_q   <= 1'b0;
      sel_err_q <= 1'b0;
    end else begin
      shown_q   <= op_valid_o && !op_ready_i;
      sel_err_q <= sel_err;
      if (take_bind) bind_q <= 1'b1;
      else if ((out && !sel_err) || drop) bind_q <= 1'b0;
      if (take_err) err_q <= 1'b1;
      else if (out && sel_err) err_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take_bind) begin
      bind_op_q  <= bind_op_i;
      bind_qp_q  <= bind_qp_i;
      bind_tag_q <= new_bind;
    end
    if (take_err) begin
      err_qp_q  <= err_qp_i;
      err_sqe_q <= err_sqe_i;
      err_tag_q <= new_err;
    end
    if (take_bind) begin
      tag_qp_q[new_bind] <= bind_qp_i;
      tag_wr_q[new_bind] <= bind_wr_i;
    end
    if (take_err) tag_qp_q[new_err] <= err_qp_i;
  end

  // ---------------------------------------------------------------- answers
  logic              ope_err, ope_bind, opd_bind, end_now, end_later;
  logic [LogQps-1:0] ope_qp, opd_qp;
  logic [3:0]        ope_wr, opd_wr;

  assign ope_tag   = ope_tag_i[LogTags-1:0];
  assign opd_tag   = opd_tag_i[LogTags-1:0];
  assign ope_qp    = tag_qp_q[ope_tag];
  assign opd_qp    = tag_qp_q[opd_tag];
  assign ope_wr    = tag_wr_q[ope_tag];
  assign opd_wr    = tag_wr_q[opd_tag];
  assign ope_err   = ope_tag < LogTags'(ErrTags);
  assign ope_bind  = ope_valid_i && !ope_err;
  assign opd_bind  = opd_valid_i && opd_tag >= LogTags'(ErrTags);
  assign end_now   = ope_bind && !ope_drain_i;
  assign end_later = opd_bind;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= '0;
      orphan_q <= '0;
    end else begin
      if (take_bind) busy_q[new_bind] <= 1'b1;
      if (take_err) begin
        busy_q[new_err]   <= 1'b1;
        orphan_q[new_err] <= 1'b0;
      end
      if (ope_valid_i && !ope_drain_i) busy_q[ope_tag] <= 1'b0;
      if (opd_valid_i) busy_q[opd_tag] <= 1'b0;
      if (drop) busy_q[bind_tag_q] <= 1'b0;
      if (clear_i) begin
        for (int t = 0; t < ErrTags; t++) if (tag_qp_q[t] == life_qp_i) orphan_q[t] <= 1'b1;
      end
    end
  end

  // --------------------------------------------------- results, per entry of the work request ring
  logic [Entries-1:0] done_q;   // meaningful from the entry's making to its retirement
  logic               res_done_q;

  assign res_done_o = res_done_q;

  always_ff @(posedge clk_i) begin
    res_done_q <= done_q[res_idx_i];
    if (take_bind) done_q[{bind_qp_i, bind_wr_i}] <= 1'b0;
    if (end_now)   done_q[{ope_qp, ope_wr}] <= 1'b1;
    if (end_later) done_q[{opd_qp, opd_wr}] <= 1'b1;
  end

  bdy_sq_ram #(.Width(40), .Depth(Entries)) u_res (
    .clk_i,
    .wr_en_i(ope_bind),
    .wr_addr_i({ope_qp, ope_wr}),
    .wr_data_i({ope_res_i, ope_rule_i}),
    .rd_addr_i(res_idx_i),
    .rd_data_o(res_o)
  );

  assign op_done_o      = end_now || end_later;
  assign op_fresh_o     = end_now;
  assign op_fresh_res_o = {ope_res_i, ope_rule_i};
  assign op_done_qp_o   = end_now ? ope_qp : opd_qp;
  assign op_done_wr_o   = end_now ? ope_wr : opd_wr;
  assign done2_o        = end_now && end_later;
  assign done2_qp_o     = opd_qp;
  assign go_o           = ope_bind && ope_rule_i == bdy_pkg::RULE_NONE;
  assign go_qp_o        = ope_qp;
  assign dead_o         = ope_valid_i && ope_err && !orphan_q[ope_tag];
  assign dead_qp_o      = ope_qp;

  // ------------------------------------------------- hold: O1, O6; a refusal holds until the end
  logic [(1<<LogQps)-1:0] hold_q;

  assign hold_o = hold_q[hold_qp_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hold_q <= '0;
    end else begin
      if (take_bind) hold_q[bind_qp_i] <= 1'b1;
      if (go_o)      hold_q[ope_qp] <= 1'b0;
      if (clear_i)   hold_q[life_qp_i] <= 1'b0;
      if (free_hold_i) hold_q[hold_qp_i] <= 1'b0;
    end
  end

  always_comb begin
    life_busy_o = 1'b0;
    for (int t = ErrTags; t < Tags; t++) begin
      if (busy_q[t] && tag_qp_q[t] == life_qp_i) life_busy_o = 1'b1;
    end
  end

  assign idle_o = busy_q == '0;

  logic unused;
  assign unused = ^{ope_tag_i[7:LogTags], opd_tag_i[7:LogTags]};

endmodule
