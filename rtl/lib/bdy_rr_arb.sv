// SPDX-License-Identifier: Apache-2.0
//
// bdy_rr_arb: round-robin arbiter that holds its grant until it is taken.
//
// Latency:      combinational grant.
// Throughput:   one grant per cycle.
// Backpressure: take_i ends a grant (the handshake, or the last beat of a packet). From the first
//               cycle of a grant until take_i the grant stays, even while its requester pauses.
// Invariants:   gnt_o is one-hot or zero; a new grant goes to a requester only; after take_i the
//               granted requester comes last, so a requester waits for at most N - 1 others.

module bdy_rr_arb #(
  parameter int N = 2
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic [N-1:0]                     req_i,
  input  logic                             take_i,
  output logic                             valid_o,
  output logic [N-1:0]                     gnt_o,
  output logic [(N > 1 ? $clog2(N) : 1)-1:0] idx_o
);

  localparam int IdxW = N > 1 ? $clog2(N) : 1;

  logic            held_q;
  logic [N-1:0]    gnt_q;
  logic [N-1:0]    after_q;  // requesters behind the last one taken
  logic [N-1:0]    pick;
  logic [N-1:0]    preferred;

  function automatic logic [N-1:0] lowest(input logic [N-1:0] v);
    lowest = v & (~v + N'(1));
  endfunction

  // All bits above the one that is set.
  function automatic logic [N-1:0] above(input logic [N-1:0] onehot);
    above = ~(onehot | (onehot - N'(1)));
  endfunction

  assign preferred = req_i & after_q;
  assign pick      = (preferred != '0) ? lowest(preferred) : lowest(req_i);
`ifdef BUG_ARB_HOLD
  assign gnt_o     = pick;
`else
  assign gnt_o     = held_q ? gnt_q : pick;
`endif
  assign valid_o   = gnt_o != '0;

  always_comb begin
    idx_o = '0;
    for (int i = 0; i < N; i++) begin
      if (gnt_o[i]) idx_o = IdxW'(i);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q  <= 1'b0;
      gnt_q   <= '0;
      after_q <= '0;
    end else if (valid_o) begin
      held_q <= !take_i;
      gnt_q  <= gnt_o;
`ifndef BUG_ARB_FAIR
      if (take_i) after_q <= above(gnt_o);
`endif
    end
  end

`ifdef FORMAL_ARB
  // Requester f_me, waiting, sees at most N - 1 grants of others end.
  (* anyconst *) logic [IdxW-1:0] f_me;
  logic [7:0]   f_passed_q;
  logic [N-1:0] f_stalled_req_q, f_stalled_gnt_q;
  logic         f_stalled_q;

  initial assume (!rst_ni);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_passed_q  <= '0;
      f_stalled_q <= 1'b0;
    end else begin
      if (!req_i[f_me] || gnt_o[f_me]) f_passed_q <= '0;
      else if (valid_o && take_i)      f_passed_q <= f_passed_q + 8'd1;
      f_stalled_q <= valid_o && !take_i;
    end
  end

  always_ff @(posedge clk_i) begin
    f_stalled_req_q <= req_i;
    f_stalled_gnt_q <= gnt_o;
  end

  always_comb begin
    assume (32'(f_me) < N);
    if (rst_ni) begin
      assert ((gnt_o & (gnt_o - N'(1))) == '0);
      assert (valid_o == (gnt_o != '0));
      assert (!valid_o || gnt_o[idx_o]);
      if (f_stalled_q) assert (gnt_o == f_stalled_gnt_q);
      if (!f_stalled_q) assert ((gnt_o & ~req_i) == '0);
      if (!f_stalled_q && req_i != '0) assert (valid_o);
      assert (f_passed_q < 8'(N));
      cover (f_passed_q == 8'(N - 1));
      cover (f_stalled_q && req_i != f_stalled_req_q);
    end
  end
`endif

endmodule
