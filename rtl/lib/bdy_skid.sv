// SPDX-License-Identifier: Apache-2.0
//
// bdy_skid: register stage of a ready/valid channel, in both directions.
//
// Latency:      one cycle.
// Throughput:   one transfer per cycle.
// Backpressure: in_ready_o is a register: it falls one cycle after a stall, and the one transfer
//               taken then is kept.
// Invariants:   order is kept, nothing is lost or doubled; no path from an input to an output.

module bdy_skid #(
  parameter int Width = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);

  logic             out_valid_q, spare_valid_q;
  logic [Width-1:0] out_data_q, spare_data_q;
  logic             take, move;

  assign in_ready_o  = !spare_valid_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;
  assign take        = in_valid_i && in_ready_o;
  assign move        = out_ready_i || !out_valid_q;  // the output register may be written

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q   <= 1'b0;
      spare_valid_q <= 1'b0;
    end else if (move) begin
      out_valid_q   <= take || spare_valid_q;
      spare_valid_q <= 1'b0;
`ifdef BUG_SKID_LOSE
    end
`else
    end else if (take) begin
      spare_valid_q <= 1'b1;
    end
`endif
  end

  always_ff @(posedge clk_i) begin
    if (move) out_data_q <= spare_valid_q ? spare_data_q : in_data_i;
    if (take && !move) spare_data_q <= in_data_i;
  end

`ifdef FORMAL_SKID
  (* anyconst *) logic [7:0] f_pick;
  logic [7:0]       f_in_q, f_out_q;
  logic [Width-1:0] f_data_q;
  logic             f_inside;

  initial assume (!rst_ni);
  assign f_inside = f_in_q > f_pick && f_out_q <= f_pick;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_in_q  <= '0;
      f_out_q <= '0;
    end else begin
      if (take) f_in_q <= f_in_q + 8'd1;
      if (out_valid_o && out_ready_i) f_out_q <= f_out_q + 8'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take && f_in_q == f_pick) f_data_q <= in_data_i;
  end

  always_comb begin
    assume (f_in_q != '1);
    if (rst_ni) begin
      assert (f_in_q - f_out_q == 8'(out_valid_q) + 8'(spare_valid_q));
      assert (f_out_q <= f_in_q);
      assert (out_valid_q || !spare_valid_q);
      if (f_inside && f_out_q == f_pick) assert (out_data_q == f_data_q);
      if (f_inside && f_out_q != f_pick) assert (spare_data_q == f_data_q);
      if (out_valid_o && out_ready_i && f_out_q == f_pick) assert (out_data_o == f_data_q);
      cover (spare_valid_q);
      cover (f_out_q == 8'd4 && spare_valid_q);
    end
  end

  bdy_rv_props #(.Width(Width)) u_out_props (
    .clk_i, .rst_ni, .valid_i(out_valid_o), .ready_i(out_ready_i), .data_i(out_data_o)
  );
`endif

endmodule
