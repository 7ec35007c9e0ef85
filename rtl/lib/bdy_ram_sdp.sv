// SPDX-License-Identifier: Apache-2.0
//
// bdy_ram_sdp: RAM with one write port (lane enables) and one synchronous read port.
//
// Latency:      read data one cycle after rd_en_i; it stays until the next read.
// Throughput:   one write and one read per cycle.
// Backpressure: none.
// Invariants:   a read of a word written in the same cycle gives the old word. No reset: contents
//               start undefined.

module bdy_ram_sdp #(
  parameter int Width = 32,
  parameter int Depth = 16,
  parameter int Lanes = 1    // write enables, each for Width / Lanes bits
) (
  input  logic                                   clk_i,
  input  logic                                   wr_en_i,
  input  logic [Lanes-1:0]                       wr_lane_i,
  input  logic [(Depth > 1 ? $clog2(Depth) : 1)-1:0] wr_addr_i,
  input  logic [Width-1:0]                       wr_data_i,
  input  logic                                   rd_en_i,
  input  logic [(Depth > 1 ? $clog2(Depth) : 1)-1:0] rd_addr_i,
  output logic [Width-1:0]                       rd_data_o
);

  localparam int LaneW = Width / Lanes;

  logic [Width-1:0] mem [Depth];
  logic [Width-1:0] rd_data_q;

  assign rd_data_o = rd_data_q;

  always_ff @(posedge clk_i) begin
    if (wr_en_i) begin
      for (int k = 0; k < Lanes; k++) begin
        if (wr_lane_i[k]) mem[wr_addr_i][LaneW*k+:LaneW] <= wr_data_i[LaneW*k+:LaneW];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rd_en_i) rd_data_q <= mem[rd_addr_i];
  end

endmodule
