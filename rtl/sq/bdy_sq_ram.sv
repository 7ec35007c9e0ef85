// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_ram: per queue pair state: one writer, several readers.
//
// Latency:      read data one cycle after the address; with the address held it follows writes one
//               cycle later.
// Throughput:   one write and one read per port and cycle.
// Backpressure: none.
// Invariants:   a read of a word written in the same cycle gives the old word. No reset: the owner
//               sweeps what it relies on.

module bdy_sq_ram #(
  parameter int Width = 32,
  parameter int Depth = 256,
  parameter int Ports = 1
) (
  input  logic                           clk_i,
  input  logic                           wr_en_i,
  input  logic [$clog2(Depth)-1:0]       wr_addr_i,
  input  logic [Width-1:0]               wr_data_i,
  input  logic [Ports*$clog2(Depth)-1:0] rd_addr_i,
  output logic [Ports*Width-1:0]         rd_data_o
);

  localparam int AddrW = $clog2(Depth);

  logic [Width-1:0]       mem [Depth];
  logic [Ports*Width-1:0] rd_data_q;

  assign rd_data_o = rd_data_q;

  always_ff @(posedge clk_i) begin
    if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
  end

  for (genvar p = 0; p < Ports; p++) begin : g_read
    always_ff @(posedge clk_i) begin
      rd_data_q[Width*p+:Width] <= mem[rd_addr_i[AddrW*p+:AddrW]];
    end
  end

endmodule
