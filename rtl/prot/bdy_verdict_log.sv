// SPDX-License-Identifier: Apache-2.0
//
// bdy_verdict_log: brings verdicts, whose answers overtake each other, back into the order of the verdict stage for the
// trace. A circular log of accesses; operations wait beside it for their place.
//
// Latency:      an access is shown two cycles after its answer if it is the oldest.
// Throughput:   one access and one operation per cycle.
// Backpressure: room_o, op_room_o: for one more than those in flight. The trace itself is never stalled.
// Invariants:   H1: the two trace ports together show the order of the verdict stage; shown in the same cycle, the access
//               came first. Every verdict is shown exactly once.

module bdy_verdict_log #(
  parameter int LogLog  = 8,
  parameter int OpDepth = 16
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  output logic                             idle_o,
  input  logic [1:0]                       inflight_i,
  output logic                             room_o,

  input  logic                             v_valid_i,
  input  logic [1:0]                       v_port_i,
  input  logic [bdy_pkg::ACC_REQ_W-1:0]    v_req_i,
  input  logic                             v_epoch_i,
  output logic [LogLog-1:0]                v_log_o,

  input  logic                             fin_valid_i,
  input  logic [LogLog-1:0]                fin_log_i,
  input  logic [bdy_pkg::ACC_RSP_W-1:0]    fin_rsp_i,

  input  logic                             op_valid_i,
  output logic                             op_room_o,
  input  logic [bdy_pkg::PROT_OP_W-1:0]    op_i,

  output logic                             trc_acc_valid_o,
  output logic [bdy_pkg::TRC_ACCESS_W-1:0] trc_acc_o,
  output logic                             trc_op_valid_o,
  output logic [bdy_pkg::PROT_OP_W-1:0]    trc_op_o
);

  localparam int N = 2 ** LogLog;

  // ---------------------------------------------------------------- accesses
  logic [LogLog:0]   tail_q, head_q;  // one bit more than an index, to tell full from empty
  logic [LogLog:0]   used;
  logic [N-1:0]      done_q;
  logic              shows, pending;

  assign used    = tail_q - head_q;
  assign pending = used != '0;
  assign room_o  = (LogLog + 3)'(used) + (LogLog + 3)'(inflight_i) < (LogLog + 3)'(N);
  assign v_log_o = tail_q[LogLog-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q <= '0;
      head_q <= '0;
      done_q <= '0;
    end else begin
      if (v_valid_i) begin
        tail_q                     <= tail_q + (LogLog + 1)'(1);
        done_q[tail_q[LogLog-1:0]] <= 1'b0;
      end
      if (fin_valid_i) done_q[fin_log_i] <= 1'b1;
      if (shows) head_q <= head_q + (LogLog + 1)'(1);
    end
  end

  // What is known at the verdict, and what is known at the answer.
  localparam int AskW    = 2 + 32 + 8 + 1 + 64 + 32 + 13 + 24 + 24 + 32 + 1;
  localparam int AnswerW = 8 + 64 + 64 + 13 + 13;

  bdy_pkg::acc_req_t   req;
  bdy_pkg::acc_rsp_t   rsp;
  logic [AskW-1:0]     ask_in, ask_out;
  logic [AnswerW-1:0]  answer_in, answer_out;

  assign req       = v_req_i;
  assign rsp       = fin_rsp_i;
  assign ask_in    = {v_port_i, req.key, req.rights, req.local_key, req.va, req.len, req.xlen, req.pd, req.qpn, req.qp_gen,
                      v_epoch_i};
  assign answer_in = {rsp.rule, rsp.bus0, rsp.bus1, rsp.len0, rsp.len1};

  logic unused;
  assign unused = ^{req, rsp};

  bdy_ram_sdp #(.Width(AskW), .Depth(N)) u_ask (
    .clk_i,
    .wr_en_i(v_valid_i),
    .wr_lane_i(1'b1),
    .wr_addr_i(v_log_o),
    .wr_data_i(ask_in),
    .rd_en_i(shows),
    .rd_addr_i(head_q[LogLog-1:0]),
    .rd_data_o(ask_out)
  );

  bdy_ram_sdp #(.Width(AnswerW), .Depth(N)) u_answer (
    .clk_i,
    .wr_en_i(fin_valid_i),
    .wr_lane_i(1'b1),
    .wr_addr_i(fin_log_i),
    .wr_data_i(answer_in),
    .rd_en_i(shows),
    .rd_addr_i(head_q[LogLog-1:0]),
    .rd_data_o(answer_out)
  );

  // ---------------------------------------------------------------- operations
  localparam int CountW = $clog2(OpDepth + 1);

  logic                          op_waiting, op_shows;
  logic [LogLog:0]               op_place_in, op_place, head_next;
  logic [bdy_pkg::PROT_OP_W-1:0] op_head;
  logic [CountW-1:0]             op_count;

  // An operation comes after the access verdict of its own cycle.
  assign op_place_in = tail_q + (LogLog + 1)'(v_valid_i);

  bdy_fifo #(.Width(LogLog + 1 + bdy_pkg::PROT_OP_W), .Depth(OpDepth)) u_ops (
    .clk_i, .rst_ni,
    .wr_valid_i(op_valid_i),
    .wr_ready_o(op_room_o),
    .wr_data_i({op_place_in, op_i}),
    .rd_valid_o(op_waiting),
    .rd_ready_i(op_shows),
    .rd_data_o({op_place, op_head}),
    .count_o(op_count)
  );

  assign shows     = pending && done_q[head_q[LogLog-1:0]] && !(op_waiting && op_place == head_q);
  assign head_next = head_q + (LogLog + 1)'(shows);
  assign op_shows  = op_waiting && op_place == head_next;

  // ---------------------------------------------------------------- trace
  logic [bdy_pkg::PROT_OP_W-1:0] op_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trc_acc_valid_o <= 1'b0;
      trc_op_valid_o  <= 1'b0;
    end else begin
      trc_acc_valid_o <= shows;
      trc_op_valid_o  <= op_shows;
    end
  end

  always_ff @(posedge clk_i) begin
    if (op_shows) op_q <= op_head;
  end

  bdy_pkg::trc_access_t trc;
  logic [2:0]           port;
  assign port = {1'b0, ask_out[AskW-1-:2]};

  always_comb begin
    trc      = '0;
    trc.port = port;
    {trc.key, trc.rights, trc.local_key, trc.va, trc.len, trc.xlen[12:0], trc.pd, trc.qpn, trc.qp_gen, trc.epoch} =
        ask_out[AskW-3:0];
    {trc.rule, trc.bus0, trc.bus1, trc.len0[12:0], trc.len1[12:0]} = answer_out;
  end

  assign trc_acc_o = trc;
  assign trc_op_o  = op_q;
  assign idle_o    = !pending && op_count == '0 && !trc_acc_valid_o && !trc_op_valid_o;

endmodule
