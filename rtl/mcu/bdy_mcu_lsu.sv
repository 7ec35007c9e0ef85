// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_lsu: where a load or store goes, whether it may, and its byte lanes.
//
//   addr ─┬─ region: RAM / MMIO / outside
//         ├─ natural alignment of the size
//         └─ lanes: store data out, load data in and extended
//
// Latency:      combinational.
// Backpressure: none.
// Invariants:   at most one of ram_o, mmio_o; a misaligned access is in neither way legal.

module bdy_mcu_lsu #(
  parameter int RamAw = 16        // log2 of the RAM's bytes
) (
  input  logic [31:0] addr_i,
  input  logic [2:0]  funct3_i,   // size in [1:0], zero-extend in [2]
  input  logic [31:0] wdata_i,
  input  logic [31:0] rdata_i,    // the word that holds the loaded bytes
  output logic        ram_o,
  output logic        mmio_o,
  output logic        misaligned_o,
  output logic [3:0]  be_o,
  output logic [31:0] wdata_o,
  output logic [31:0] load_o
);

  localparam logic [31:0] RamBase  = 32'h8000_0000;
  localparam logic [31:0] MmioBase = 32'h4000_0000;

  logic unused_addr;
  assign unused_addr = ^addr_i[15:2];

  assign ram_o  = (addr_i[31:RamAw] == RamBase[31:RamAw]);
  assign mmio_o = (addr_i[31:16] == MmioBase[31:16]);

  // Stores: the data on every lane that it may take, the enables say which.
  always_comb begin
    case (funct3_i[1:0])
      2'b00: begin
        misaligned_o = 1'b0;
        be_o         = 4'b0001 << addr_i[1:0];
        wdata_o      = {4{wdata_i[7:0]}};
      end
      2'b01: begin
        misaligned_o = addr_i[0];
        be_o         = 4'b0011 << {addr_i[1], 1'b0};
        wdata_o      = {2{wdata_i[15:0]}};
      end
      default: begin
        misaligned_o = (addr_i[1:0] != 2'b00);
        be_o         = 4'b1111;
        wdata_o      = wdata_i;
      end
    endcase
  end

  // Loads: pick the lanes, extend the sign.
  logic [15:0] half;
  logic [7:0]  octet;
  logic        sign;
  assign half  = addr_i[1] ? rdata_i[31:16] : rdata_i[15:0];
  assign octet = addr_i[0] ? half[15:8] : half[7:0];
  assign sign  = !funct3_i[2] & (funct3_i[0] ? half[15] : octet[7]);

  always_comb begin
    case (funct3_i[1:0])
      2'b00:   load_o = {{24{sign}}, octet};
      2'b01:   load_o = {{16{sign}}, half};
      default: load_o = rdata_i;
    endcase
  end

endmodule
