// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_alu: the RV32I integer operations and the comparisons that branches need.
//
// Latency:      combinational.
// Backpressure: none.
// Invariants:   eq/lt/ltu compare the operands whatever the operation is.

module bdy_mcu_alu (
  input  logic [2:0]  op_i,      // funct3 of OP and OP-IMM
  input  logic        alt_i,     // SUB instead of ADD, SRA instead of SRL
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] result_o,
  output logic        eq_o,
  output logic        lt_o,      // signed a < b
  output logic        ltu_o      // unsigned a < b
);

  logic [32:0] diff;
  logic [32:0] shift_in;
  logic [32:0] shift_right;
  logic        unused_fill;

  assign diff  = {1'b0, a_i} - {1'b0, b_i};
  assign eq_o  = (a_i == b_i);
  assign ltu_o = diff[32];
  assign lt_o  = diff[32] ^ a_i[31] ^ b_i[31];

  assign shift_in    = {alt_i & a_i[31], a_i};
  assign shift_right = $signed(shift_in) >>> b_i[4:0];
  assign unused_fill = shift_right[32];

  always_comb begin
    case (op_i)
      3'b000:  result_o = alt_i ? diff[31:0] : a_i + b_i;
      3'b001:  result_o = a_i << b_i[4:0];
      3'b010:  result_o = {31'd0, lt_o};
      3'b011:  result_o = {31'd0, ltu_o};
      3'b100:  result_o = a_i ^ b_i;
      3'b101:  result_o = shift_right[31:0];
      3'b110:  result_o = a_i | b_i;
      default: result_o = a_i & b_i;
    endcase
  end

endmodule
