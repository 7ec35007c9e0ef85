// SPDX-License-Identifier: Apache-2.0
//
// bdy_bound_count: number of windows bound to each region (L11, 21 bits).
//
// Latency:      read: one cycle, kept until the next read; a write of the same cycle is seen.
// Throughput:   one write and three reads per cycle.
// Backpressure: none.
// Invariants:   no reset: opening a region in an empty slot writes zero.

module bdy_bound_count #(
  parameter int LogKeys = 13
) (
  input  logic                 clk_i,
  input  logic [2:0]           rd_en_i,
  input  logic [3*LogKeys-1:0] rd_slot_i,
  output logic [3*21-1:0]      rd_count_o,
  input  logic                 wr_en_i,
  input  logic [LogKeys-1:0]   wr_slot_i,
  input  logic [20:0]          wr_count_i
);

  for (genvar p = 0; p < 3; p++) begin : g_rd
    logic        fwd_q;
    logic [20:0] fwd_count_q, count;

    always_ff @(posedge clk_i) begin
      if (rd_en_i[p]) begin
        fwd_q       <= wr_en_i && wr_slot_i == rd_slot_i[LogKeys*p+:LogKeys];
        fwd_count_q <= wr_count_i;
      end
    end

    bdy_ram_sdp #(.Width(21), .Depth(2**LogKeys)) u_ram (
      .clk_i,
      .wr_en_i,
      .wr_lane_i(1'b1),
      .wr_addr_i(wr_slot_i),
      .wr_data_i(wr_count_i),
      .rd_en_i(rd_en_i[p]),
      .rd_addr_i(rd_slot_i[LogKeys*p+:LogKeys]),
      .rd_data_o(count)
    );

    assign rd_count_o[21*p+:21] = fwd_q ? fwd_count_q : count;
  end

endmodule
