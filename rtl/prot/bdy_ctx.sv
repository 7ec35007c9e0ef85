// SPDX-License-Identifier: Apache-2.0
//
// bdy_ctx: queue pair contexts with a read port per engine, each a copy of the RAM.
//
// Latency:      read: the cycle after the index; a write is seen two cycles later. The state field is the live one.
// Throughput:   one write of one half and NRd reads per cycle.
// Backpressure: none.
// Invariants:   a port shows the context whose index it had in the cycle before.

module bdy_ctx #(
  parameter int LogQps = 8,
  parameter int NRd    = 7
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   wr_en_i,
  input  logic                   wr_half_i,
  input  logic [LogQps-1:0]      wr_idx_i,
  input  logic [511:0]           wr_data_i,
  input  logic [NRd*LogQps-1:0]  idx_i,
  output logic [NRd*LogQps-1:0]  idx_q_o,   // index shown, for the state
  input  logic [NRd*3-1:0]       st_i,      // live state of it
  output logic [NRd*512-1:0]     half0_o,
  output logic [NRd*512-1:0]     half1_o
);

  logic wrote_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wrote_q <= 1'b1;  // the first cycle reads
    else         wrote_q <= wr_en_i;
  end

  for (genvar r = 0; r < NRd; r++) begin : g_rd
    logic [LogQps-1:0] idx, idx_q;
    logic              moves;
    logic [511:0]      half0;

    assign idx   = idx_i[LogQps*r+:LogQps];
    assign moves = wrote_q || idx != idx_q;
    assign idx_q_o[LogQps*r+:LogQps] = idx_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) idx_q <= '0;
      else         idx_q <= idx;
    end

    bdy_ram_sdp #(.Width(512), .Depth(2**LogQps)) u_half0 (
      .clk_i,
      .wr_en_i(wr_en_i && !wr_half_i),
      .wr_lane_i(1'b1),
      .wr_addr_i(wr_idx_i),
      .wr_data_i,
      .rd_en_i(moves),
      .rd_addr_i(idx),
      .rd_data_o(half0)
    );

    bdy_ram_sdp #(.Width(512), .Depth(2**LogQps)) u_half1 (
      .clk_i,
      .wr_en_i(wr_en_i && wr_half_i),
      .wr_lane_i(1'b1),
      .wr_addr_i(wr_idx_i),
      .wr_data_i,
      .rd_en_i(moves),
      .rd_addr_i(idx),
      .rd_data_o(half1_o[512*r+:512])
    );

    assign half0_o[512*r+:512] = {half0[511:3], st_i[3*r+:3]};

    logic unused;
    assign unused = ^half0[2:0];
  end

endmodule
