// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_regfile: the 31 writable registers x1..x31 of the embedded core; x0 is a constant.
//
// Latency:      reads are combinational, a write is visible in the next cycle.
// Throughput:   two reads and one write per cycle.
// Backpressure: none.
// Invariants:   x0 reads as zero whatever was written. The contents are not reset (a RAM, not
//               flip-flops): firmware writes a register before it reads it.

module bdy_mcu_regfile (
  input  logic        clk_i,
  input  logic        we_i,
  input  logic [4:0]  waddr_i,
  input  logic [31:0] wdata_i,
  input  logic [4:0]  raddr_a_i,
  output logic [31:0] rdata_a_o,
  input  logic [4:0]  raddr_b_i,
  output logic [31:0] rdata_b_o
);

  logic [31:0] mem [32];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  assign rdata_a_o = (raddr_a_i == 5'd0) ? 32'd0 : mem[raddr_a_i];
  assign rdata_b_o = (raddr_b_i == 5'd0) ? 32'd0 : mem[raddr_b_i];

`ifdef FORMAL_MCU
  always_comb begin
    if (raddr_a_i == 5'd0) assert (rdata_a_o == 32'd0);
    if (raddr_b_i == 5'd0) assert (rdata_b_o == 32'd0);
  end
`endif

endmodule
