// SPDX-License-Identifier: Apache-2.0
// A counter that wraps at LIMIT: the subject of the proof runner's own test.
module counter #(
    parameter int LIMIT = 5
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    output logic [3:0] count_o
);
  logic [3:0] count_q;
  assign count_o = count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 4'd0;
`ifdef BUG_WRAP
    end else if (count_q == LIMIT[3:0] + 4'd1) begin
`else
    end else if (count_q == LIMIT[3:0]) begin
`endif
      count_q <= 4'd0;
    end else begin
      count_q <= count_q + 4'd1;
    end
  end

`ifdef FORMAL
  initial assume (!rst_ni);
`ifndef NO_ASSERT
  always_ff @(posedge clk_i) begin
    assert (count_q <= LIMIT[3:0]);
  end
`endif
  always_ff @(posedge clk_i) begin
    cover (count_q == LIMIT[3:0]);
`ifdef COVER_TOO_FAR
    cover (count_q == LIMIT[3:0] + 4'd1);
`endif
  end
`endif
endmodule
