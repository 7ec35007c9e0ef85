// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_rnr: RNR NAK timer code to cycles (T5): IBTA's table in units of 10 us, 2500 cycles each
// at 250 MHz.
//
// Combinational.

module bdy_sq_rnr (
  input  logic [4:0]  code_i,
  output logic [63:0] cycles_o
);

  // Codes 1 to 31: 1, 2, 3, 4, 6, 8, 12, ... : powers of two and one and a half of them. Code 0 is
  // the longest.
  function automatic logic [16:0] units(input logic [4:0] code);
    case (code)
      5'd0:    units = 17'd65536;
      5'd1:    units = 17'd1;
      default: units = (code[0] ? 17'd3 : 17'd2) << ((code >> 1) - 5'd1);
    endcase
  endfunction

  assign cycles_o = 64'(units(code_i)) * 64'd2500;

endmodule
