// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_alu for proofs of the core's control: addresses and targets are sums, as in the real one; comparisons are free,
// and the other operations only make register data, of which no property speaks.

module bdy_mcu_alu (
  input  logic [2:0]  op_i,
  input  logic        alt_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] result_o,
  output logic        eq_o,
  output logic        lt_o,
  output logic        ltu_o
);

  (* anyseq *) logic [2:0] compare;

  assign result_o            = a_i + b_i;
  assign {eq_o, lt_o, ltu_o} = compare;

endmodule
