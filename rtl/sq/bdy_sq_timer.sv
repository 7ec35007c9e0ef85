// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_timer: one deadline per queue pair, for the ACK timer (T6) or the RNR wait (T5).
//
//   arm --> deadline RAM, armed bit --> earliest deadline reached, or moved
//       --> scan of the armed ones --> expired: offered
//
// Latency:      a deadline is offered within 2 cycles per armed queue pair after it was reached.
// Throughput:   one arm or disarm per cycle.
// Backpressure: rsp_* (response half) is always taken; req_* (request half) waits for a cycle
//               without it.
// Invariants:   nothing moves while no deadline is reached (H19): the result depends on cycle_i
//               alone, also when it jumps. while busy_o is 0, next_o is the earliest deadline.

module bdy_sq_timer #(
  parameter int LogQps = 8   // at least 5
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [63:0]       cycle_i,
  output logic              busy_o,      // a scan is going on

  input  logic              rsp_valid_i,
  input  logic              rsp_arm_i,   // else disarm
  input  logic [LogQps-1:0] rsp_qp_i,
  input  logic [63:0]       rsp_at_i,

  input  logic              req_valid_i, // arm unless armed
  output logic              req_ready_o,
  input  logic [LogQps-1:0] req_qp_i,
  input  logic [63:0]       req_at_i,

  input  logic              kill_i,      // disarm
  input  logic [LogQps-1:0] kill_qp_i,

  output logic              exp_valid_o, // expired, no longer armed once taken
  input  logic              exp_ready_i,
  output logic [LogQps-1:0] exp_qp_o,

  output logic [63:0]       next_o       // all ones: none
);

  localparam int Qps    = 1 << LogQps;
  localparam int Groups = Qps / 16;

  localparam logic [1:0] StIdle = 2'd0;
  localparam logic [1:0] StPick = 2'd1;
  localparam logic [1:0] StLook = 2'd2;
  localparam logic [1:0] StOffer = 2'd3;

  function automatic logic [3:0] first16(input logic [15:0] bits);
    first16 = 4'd0;
    for (int k = 15; k >= 0; k--) if (bits[k]) first16 = 4'(k);
  endfunction

  function automatic logic [63:0] earlier(input logic [63:0] a, input logic [63:0] b);
    earlier = (a < b) ? a : b;
  endfunction

  // ---------------------------------------------------------------- deadlines
  logic [Qps-1:0]    armed_q;
  logic              arm, req_arm;
  logic [LogQps-1:0] arm_qp;
  logic [63:0]       arm_at, deadline, next_q;
  logic              none;

  assign req_ready_o = !rsp_valid_i;
  assign req_arm     = req_valid_i && req_ready_o && !armed_q[req_qp_i];
  assign arm         = (rsp_valid_i && rsp_arm_i) || req_arm;
  assign arm_qp      = rsp_valid_i ? rsp_qp_i : req_qp_i;
  assign arm_at      = rsp_valid_i ? rsp_at_i : req_at_i;
  assign none        = armed_q == '0;
  assign next_o      = none ? '1 : next_q;

  // ---------------------------------------------------------------- scan
  logic [1:0]           st_q;
  logic [Qps-1:0]       todo_q;
  logic [Groups-1:0]    todo_any;
  logic [$clog2(Groups)-1:0] group;
  logic [LogQps-1:0]    first, scan_qp_q, owner_q;
  logic                 expired, touched, done, stale_q, start, moved_q, moves;

  for (genvar g = 0; g < Groups; g++) begin : g_any
    assign todo_any[g] = todo_q[16*g+:16] != '0;
  end

  always_comb begin
    group = '0;
    for (int g = Groups - 1; g >= 0; g--) if (todo_any[g]) group = ($clog2(Groups))'(g);
  end

  assign first   = {group, first16(todo_q[16*group+:16])};
  assign done    = todo_any == '0;
  // What changes while its deadline is being looked at is looked at by the next scan or not at all.
  assign touched = stale_q || (arm && arm_qp == scan_qp_q) || !armed_q[scan_qp_q] ||
                   (rsp_valid_i && rsp_qp_i == scan_qp_q) || (kill_i && kill_qp_i == scan_qp_q);
  assign expired = deadline <= cycle_i;

  // Candidates for the earliest deadline.
  logic [63:0] armed_at, looked_at;
  assign armed_at  = arm ? arm_at : '1;
  assign looked_at = (st_q == StLook && !touched && !expired) ? deadline : '1;

  bdy_sq_ram #(.Width(64), .Depth(Qps)) u_deadline (
    .clk_i,
    .wr_en_i(arm),
    .wr_addr_i(arm_qp),
    .wr_data_i(arm_at),
    .rd_addr_i(first),
    .rd_data_o(deadline)
  );

  // The earliest deadline is looked for anew when it is reached, put off or taken back.
  assign moves = (arm && arm_qp == owner_q && arm_at != next_q) ||
                 (rsp_valid_i && !rsp_arm_i && rsp_qp_i == owner_q) ||
                 (kill_i && kill_qp_i == owner_q);
  assign start = st_q == StIdle && !none && (moved_q || next_q <= cycle_i);

  assign busy_o      = st_q != StIdle || (moved_q && !none);
  assign exp_valid_o = st_q == StOffer && armed_q[scan_qp_q];
  assign exp_qp_o    = scan_qp_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q      <= StIdle;
      todo_q    <= '0;
      scan_qp_q <= '0;
      stale_q   <= 1'b0;
      armed_q   <= '0;
      next_q    <= '1;
      owner_q   <= '0;
      moved_q   <= 1'b0;
    end else begin
      case (st_q)
        StIdle: begin
          todo_q <= armed_q;
          if (start) st_q <= StPick;
        end
        StPick: begin
          scan_qp_q     <= first;
          stale_q       <= arm && arm_qp == first;  // the RAM shows the old one
          todo_q[first] <= 1'b0;
          st_q          <= done ? StIdle : StLook;
        end
        StLook:  st_q <= (expired && !touched) ? StOffer : StPick;
        default: if (exp_ready_i || touched) st_q <= StPick;
      endcase

      // The earliest deadline of those looked at and of those armed meanwhile.
      if (st_q == StIdle && (none || start)) begin
        next_q  <= armed_at;
        owner_q <= arm_qp;
        moved_q <= 1'b0;
      end else begin
        next_q <= earlier(next_q, earlier(armed_at, looked_at));
        if (looked_at < next_q && looked_at <= armed_at) owner_q <= scan_qp_q;
        else if (armed_at < next_q) owner_q <= arm_qp;
        if (moves) moved_q <= 1'b1;
      end

      if (exp_valid_o && exp_ready_i) armed_q[scan_qp_q] <= 1'b0;
      if (rsp_valid_i && !rsp_arm_i) armed_q[rsp_qp_i] <= 1'b0;
      if (arm) armed_q[arm_qp] <= 1'b1;
      if (kill_i) armed_q[kill_qp_i] <= 1'b0;
    end
  end

endmodule
