// SPDX-License-Identifier: Apache-2.0
//
// bdy_rv_props: properties of one ready/valid channel, for proofs. Instantiate under `ifdef FORMAL.
//
// Invariants:   valid, once up, stays until ready; the payload does not change meanwhile; valid is
//               low in reset. Assume = 1 makes them assumptions (an input of the block under
//               proof), else they are assertions.
//
// Outside of a proof the module is empty.

module bdy_rv_props #(
  parameter int Width  = 8,
  parameter bit Assume = 1'b0
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic             ready_i,
  input logic [Width-1:0] data_i
);

`ifdef FORMAL
  // $past would look back across a reset: own registers instead.
  logic             stalled_q;
  logic [Width-1:0] data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stalled_q <= 1'b0;
    else         stalled_q <= valid_i && !ready_i;
  end

  always_ff @(posedge clk_i) data_q <= data_i;

  // In always_comb: clocked assertions become state bits, many of which z3 does not digest.
  if (Assume) begin : g_assume
    always_comb begin
      if (!rst_ni) assume (!valid_i);
      if (rst_ni && stalled_q) assume (valid_i && data_i == data_q);
    end
  end else begin : g_assert
    always_comb begin
      if (!rst_ni) assert (!valid_i);
      if (rst_ni && stalled_q) assert (valid_i && data_i == data_q);
    end
  end
`else
  logic unused;
  assign unused = ^{clk_i, rst_ni, valid_i, ready_i, data_i, Assume};
`endif

endmodule
