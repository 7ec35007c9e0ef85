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
`ifdef BUG_SQ_PEND_UNFAIR
  assign idx_o = {group, first16(pend_q[16*group+:16])};
`else
  assign idx_o = {group, first16(bits)};
`endif

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
`ifdef BUG_SQ_PEND_LOST
        if (set_valid_i[s] && !take_i) pend_q[set_idx_i[LogQps*s+:LogQps]] <= 1'b1;
`else
        if (set_valid_i[s]) pend_q[set_idx_i[LogQps*s+:LogQps]] <= 1'b1;
`endif
      end
    end
  end

`ifdef FORMAL_PEND
  // Queue pair f_me: once set it stays until it is taken, and at most Qps - 1 others go before it.
  (* anyconst *) logic [LogQps-1:0] f_me;
  logic            f_pend_q, f_taken, f_set;
  logic [LogQps:0] f_passed_q;
  logic [LogQps-1:0] f_dist;

  initial assume (!rst_ni);
  assign f_taken = take_i && any_o && idx_o == f_me;
  always_comb begin
    f_set = 1'b0;
    for (int s = 0; s < Sets; s++) begin
      if (set_valid_i[s] && set_idx_i[LogQps*s+:LogQps] == f_me) f_set = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_pend_q   <= 1'b0;
      f_passed_q <= '0;
    end else begin
      f_pend_q <= f_set || (f_pend_q && !f_taken);
      if (!pend_q[f_me] || f_taken) f_passed_q <= '0;
      else if (take_i) f_passed_q <= f_passed_q + (LogQps + 1)'(1);
    end
  end

  // How far the turn is from f_me: every take brings it nearer.
  assign f_dist = f_me - last_q - LogQps'(1);

  always_comb begin
    if (take_i) assume (any_o);
    if (rst_ni) begin
      assert (pend_q[f_me] == f_pend_q);
      if (any_o) assert (pend_q[idx_o]);
      if (f_pend_q) assert (any_o);
      if (f_pend_q) assert (LogQps'(idx_o - last_q - LogQps'(1)) <= f_dist);
      if (!f_pend_q) assert (f_passed_q == '0);
      assert (!f_passed_q[LogQps]);
      assert (!f_pend_q || f_passed_q + {1'b0, f_dist} <= {1'b0, {LogQps{1'b1}}});
      cover (f_passed_q == (LogQps + 1)'(2));
      cover (f_taken && f_set);
    end
  end
`endif

endmodule
