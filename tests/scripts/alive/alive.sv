// SPDX-License-Identifier: Apache-2.0
// A module whose assertion fails when told to: proves that the builds of the tests have assertions on.
module alive (
    input logic clk_i,
    input logic break_i
);
  always_ff @(posedge clk_i) begin
    assert (!break_i);
  end
endmodule
