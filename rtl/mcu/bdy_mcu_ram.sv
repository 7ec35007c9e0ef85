// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_ram: firmware RAM, one port, byte write enables.
//
// Latency:      read data one cycle after a read; valid in that cycle.
// Throughput:   one read or one write per cycle.
// Backpressure: none.
// Invariants:   contents survive reset. A write leaves the read data as it was.

module bdy_mcu_ram #(
  parameter int Words = 16384
) (
  input  logic                     clk_i,
  input  logic                     en_i,
  input  logic [3:0]               we_i,     // all zero: read
  input  logic [$clog2(Words)-1:0] addr_i,   // word address
  input  logic [31:0]              wdata_i,
  output logic [31:0]              rdata_o
);

  logic [31:0] mem [Words];

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      for (int k = 0; k < 4; k++) begin
        if (we_i[k]) mem[addr_i][8*k+:8] <= wdata_i[8*k+:8];
      end
      if (we_i == 4'd0) rdata_o <= mem[addr_i];
    end
  end

endmodule
