// SPDX-License-Identifier: Apache-2.0
//
// bdy_rx_naktimer: keeps protection refusals until arrival + R cycles or the next multiple of R (H9).
//
// Purpose: the moment a refusal leaves tells nothing of the reason, nor of what was in a cache.
// Latency: fire_valid_o is up in the cycle in which cycle_i equals the due time.
// Throughput: refusals end a queue pair, so they are rare; one waits at the head, Depth more behind it.
// Backpressure: in_ready_o falls when full, for at most Depth + 1 times R cycles: time alone frees it (H13).
// Invariants: in order; a refusal fires only at arrival + n x R, n >= 1; one that misses its time waits for the next.

module bdy_rx_naktimer #(
  parameter int LogQps = 8,
  parameter int Depth = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [31:0]       cycle_i,
  input  logic [15:0]       period_i,       // R; 0 never comes here

  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  logic [LogQps-1:0] in_idx_i,
  input  logic [31:0]       in_arrival_i,

  output logic              fire_valid_o,
  input  logic              fire_ready_i,
  output logic [LogQps-1:0] fire_idx_o,
  output logic              idle_o
);

  localparam int CountW = $clog2(Depth + 1);

  logic                     next_valid, take;
  logic [LogQps+31:0]       next;
  logic [CountW-1:0]        count;
  logic                     head_valid_q, fire_q;
  logic [LogQps-1:0]        head_idx_q;
  logic [31:0]              due_q;
  logic [31:0]              late;            // cycles since the due time, negative before it
  logic                     hit;

  bdy_fifo #(.Width(LogQps + 32), .Depth(Depth)) u_waiting (
    .clk_i, .rst_ni,
    .wr_valid_i(in_valid_i), .wr_ready_o(in_ready_o), .wr_data_i({in_idx_i, in_arrival_i}),
    .rd_valid_o(next_valid), .rd_ready_i(take), .rd_data_o(next), .count_o(count)
  );

  assign take = next_valid && !head_valid_q;
  assign late = cycle_i - due_q;
`ifdef BUG_NAK_EARLY
  assign hit  = head_valid_q && !fire_q && (late + 32'd1 == '0 || late == '0);
`elsif BUG_NAK_LATE
  assign hit  = head_valid_q && !fire_q && !late[31];
`else
  assign hit  = head_valid_q && !fire_q && (late == '0 || (!late[31] && period_i <= 16'd1));
`endif

  assign fire_valid_o = fire_q || hit;
  assign fire_idx_o   = head_idx_q;
  assign idle_o       = !head_valid_q && count == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_valid_q <= 1'b0;
      fire_q       <= 1'b0;
      head_idx_q   <= '0;
      due_q        <= '0;
    end else begin
      if (take) begin
        head_valid_q <= 1'b1;
        head_idx_q   <= next[LogQps+31:32];
        due_q        <= next[31:0] + 32'(period_i);
      end else if (head_valid_q && !fire_valid_o && !late[31]) begin
        due_q <= due_q + 32'(period_i);
      end
      if (hit) fire_q <= 1'b1;
      if (fire_valid_o && fire_ready_i) begin
        fire_q       <= 1'b0;
        head_valid_q <= 1'b0;
      end
    end
  end

`ifdef FORMAL
  // The head's distance from its arrival, followed beside the due time.
  logic [31:0] f_arrival_q;
  logic [31:0] f_cycle_q;
  logic [15:0] f_period_q;
  logic        f_past_q;
  logic [31:0] f_age;
  initial assume (!rst_ni);
  initial f_past_q = 1'b0;
  assign f_age = cycle_i - f_arrival_q;

  always_ff @(posedge clk_i) begin
    f_past_q   <= 1'b1;
    f_cycle_q  <= cycle_i;
    f_period_q <= period_i;
    if (take) f_arrival_q <= next[31:0];
    // Short periods let the bound reach several multiples; powers of two spare the solver a division.
    assume (period_i == 16'd2 || period_i == 16'd4);
    assume (cycle_i < 32'd100);
    if (f_past_q) assume (period_i == f_period_q && cycle_i == f_cycle_q + 32'd1);
    if (in_valid_i) assume (in_arrival_i <= cycle_i && cycle_i - in_arrival_i < 32'd8);
    if (rst_ni && hit) begin
      assert (f_age != '0);
      assert ((f_age & (32'(period_i) - 32'd1)) == '0);
    end
    cover (rst_ni && hit && f_age == 32'(period_i));
    cover (rst_ni && hit && period_i == 16'd4 && f_age == 32'd12);
  end
`endif

endmodule
