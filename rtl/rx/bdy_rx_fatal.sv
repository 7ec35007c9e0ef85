// SPDX-License-Identifier: Apache-2.0
//
// bdy_rx_fatal: moves queue pairs to ERR on behalf of the receive side and reports why (E1, E3, E4, H23).
//
// Purpose: a note per queue pair {event kind, rule}; one after the other becomes a QP_ERR operation, then an event, unless
//   the operation was refused because the queue pair had left for ERR or RESET before (E4).
// Latency: note to operation 2 cycles when nothing else waits.
// Throughput: one queue pair at a time; the bind pipeline and the event queue decide.
// Backpressure: set_ready_o always comes within three cycles, whatever the operation waits for (H13).
// Invariants: at most one note a queue pair; a killed queue pair (RESET, destroy) raises no event any more.

module bdy_rx_fatal #(
  parameter int LogQps = 8
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,

  // Notes; source 0 has priority. ev: eqe_kind or 0 for no event.
  input  logic [2:0]                    set_valid_i,
  output logic [2:0]                    set_ready_o,
  input  logic [3*LogQps-1:0]           set_idx_i,
  input  logic [23:0]                   set_ev_i,
  input  logic [23:0]                   set_rule_i,

  // The queue pair's life ends: forget its note.
  input  logic                          kill_valid_i,
  input  logic [LogQps-1:0]             kill_idx_i,


  // Operation port of the bind pipeline
  output logic                          op_valid_o,
  input  logic                          op_ready_i,
  output logic [bdy_pkg::PROT_OP_W-1:0] op_req_o,
  input  logic                          ope_valid_i,
  input  logic [7:0]                    ope_rule_i,

  // Event port
  output logic                          ev_valid_o,
  input  logic                          ev_ready_i,
  output logic [63:0]                   ev_o,

  // Queue pair whose operation is under way
  output logic                          busy_o,
  output logic [LogQps-1:0]             busy_idx_o,
  output logic                          idle_o
);

  localparam int Qps = 1 << LogQps;

  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StRead = 3'd1;
  localparam logic [2:0] StOp = 3'd2;
  localparam logic [2:0] StExec = 3'd3;
  localparam logic [2:0] StEvent = 3'd4;

  logic [2:0]        st_q;
  logic [Qps-1:0]    noted_q;
  logic [LogQps-1:0] idx_q, first;
  logic              silent_q;               // killed meanwhile, or nothing to report
  logic              set;
  logic [LogQps-1:0] set_idx;
  logic [7:0]        set_ev, set_rule;
  logic [15:0]       note;                   // {rule, event}
  logic [23:0]       qpn;
  logic              any;

  // ---------------------------------------------------------------- noting
  assign set_ready_o = {set_valid_i[1:0] == '0, !set_valid_i[0], 1'b1};
  assign set         = |set_valid_i;

  always_comb begin
    set_idx  = set_idx_i[2*LogQps+:LogQps];
    set_ev   = set_ev_i[23:16];
    set_rule = set_rule_i[23:16];
    if (set_valid_i[0]) begin
      set_idx  = set_idx_i[0+:LogQps];
      set_ev   = set_ev_i[7:0];
      set_rule = set_rule_i[7:0];
    end else if (set_valid_i[1]) begin
      set_idx  = set_idx_i[LogQps+:LogQps];
      set_ev   = set_ev_i[15:8];
      set_rule = set_rule_i[15:8];
    end
  end

  // The first note stands: it is the cause.
  bdy_ram_sdp #(.Width(16), .Depth(Qps)) u_notes (
    .clk_i, .wr_en_i(set && !noted_q[set_idx]), .wr_lane_i(1'b1), .wr_addr_i(set_idx), .wr_data_i({set_rule, set_ev}),
    .rd_en_i(st_q == StIdle), .rd_addr_i(first), .rd_data_o(note)
  );

  always_comb begin
    first = '0;
    any   = 1'b0;
    for (int i = Qps - 1; i >= 0; i--) begin
      if (noted_q[i]) begin
        first = LogQps'(i);
        any   = 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- serving
  assign qpn        = bdy_pkg::QPN_BASE[23:0] + 24'(idx_q);
  assign op_valid_o = st_q == StOp;
  assign ev_valid_o = st_q == StEvent;
  assign ev_o       = {24'b0, note[15:8], qpn, note[7:0]};
  assign busy_o     = st_q == StRead || st_q == StOp || st_q == StExec;
  assign busy_idx_o = idx_q;
  assign idle_o     = st_q == StIdle && !any;

  always_comb begin
    op_req_o = '0;
    op_req_o[bdy_pkg::PROT_OP_OP_LSB+:bdy_pkg::PROT_OP_OP_W]   = bdy_pkg::PROT_OP_QP_ERR;
    op_req_o[bdy_pkg::PROT_OP_QPN_LSB+:bdy_pkg::PROT_OP_QPN_W] = qpn;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      noted_q <= '0;
    end else begin
      if (set) noted_q[set_idx] <= 1'b1;
      if (st_q == StRead) noted_q[idx_q] <= 1'b0;
      if (kill_valid_i) noted_q[kill_idx_i] <= 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q     <= StIdle;
      idx_q    <= '0;
      silent_q <= 1'b0;
    end else begin
      case (st_q)
        StIdle: begin
          idx_q    <= first;
          silent_q <= 1'b0;
          if (any && !(kill_valid_i && kill_idx_i == first)) st_q <= StRead;
        end
        StRead: st_q <= (kill_valid_i && kill_idx_i == idx_q) ? StIdle : StOp;
        StOp: if (op_ready_i) st_q <= StExec;
        StExec: begin
          if (ope_valid_i) begin
            st_q <= (ope_rule_i == bdy_pkg::RULE_NONE && note[7:0] != '0 && !silent_q) ? StEvent : StIdle;
          end
        end
        StEvent: if (ev_ready_i) st_q <= StIdle;
        default: st_q <= StIdle;
      endcase
      if (kill_valid_i && kill_idx_i == idx_q && st_q != StIdle) silent_q <= 1'b1;
    end
  end

`ifdef FORMAL
  always_ff @(posedge clk_i) if (rst_ni) assert (st_q <= StEvent);
`endif

endmodule
