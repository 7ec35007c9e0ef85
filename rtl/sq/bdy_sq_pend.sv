// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_pend: which queue pairs have work for an engine, and whose turn it is: round robin, no
// polling.
//
//   bits in groups of 16; first those behind the last one served in its group, then the next group
//   with any bit, then the beginning of its own group.
//
// Latency:      a bit set is offered in the next cycle.
// Throughput:   one pick per cycle, any number of sets.
// Backpressure: take_i.
// Invariants:   a set in the cycle of its take is kept: the engine reads state after the take, so
//               no wake-up is lost.

module bdy_sq_pend #(
  parameter int LogQps = 8,   // at least 5
  parameter int Sets   = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [Sets-1:0]        set_valid_i,
  input  logic [Sets*LogQps-1:0] set_idx_i,
  output logic                   any_o,
  output logic [LogQps-1:0]      idx_o,
  input  logic                   take_i
);

  localparam int Qps    = 1 << LogQps;
  localparam int Groups = Qps / 16;
  localparam int GroupW = LogQps - 4;

  function automatic logic [3:0] first16(input logic [15:0] bits);
    first16 = 4'd0;
    for (int k = 15; k >= 0; k--) if (bits[k]) first16 = 4'(k);
  endfunction

  logic [Qps-1:0]    pend_q;
  logic [LogQps-1:0] last_q;
  logic [Groups-1:0] group_any, later;
  logic [GroupW-1:0] own, group;
  logic [15:0]       own_rest, bits;
  logic              in_own;

  assign own      = last_q[LogQps-1:4];
  assign own_rest = pend_q[16*own+:16] & ~(16'hffff >> (4'd15 - last_q[3:0]));
  assign in_own   = own_rest != '0;

  for (genvar g = 0; g < Groups; g++) begin : g_any
    assign group_any[g] = pend_q[16*g+:16] != '0;
  end

  assign later = group_any & ~({Groups{1'b1}} >> (GroupW'(Groups - 1) - own));

  always_comb begin
    group = '0;
    for (int g = Groups - 1; g >= 0; g--) begin
      if ((later != '0) ? later[g] : group_any[g]) group = GroupW'(g);
    end
    if (in_own) group = own;
  end

  assign bits  = in_own ? own_rest : pend_q[16*group+:16];
  assign any_o = group_any != '0;
  assign idx_o = {group, first16(bits)};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pend_q <= '0;
      last_q <= '0;
    end else begin
      if (take_i) begin
        pend_q[idx_o] <= 1'b0;
        last_q        <= idx_o;
      end
      for (int s = 0; s < Sets; s++) begin
        if (set_valid_i[s]) pend_q[set_idx_i[LogQps*s+:LogQps]] <= 1'b1;
      end
    end
  end

endmodule
