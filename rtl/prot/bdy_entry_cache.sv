// SPDX-License-Identifier: Apache-2.0
//
// bdy_entry_cache: direct-mapped cache of protection table entries, three lookups and one write per cycle (H1) by three
// copies of the RAM.
//
// Latency:      hit and entry one cycle after the lookup; they count for that cycle only.
// Throughput:   three lookups and one write per cycle.
// Backpressure: none.
// Invariants:   a write is seen by every lookup of its own cycle and later. A line that a write of the same cycle takes from
//               another slot is a miss. A write without wr_keep_i drops the line: an empty slot is never cached (H8).

module bdy_entry_cache #(
  parameter int LogKeys = 13,
  parameter int Entries = 256,  // power of two, less than 2^LogKeys
  parameter int EntW    = 448
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [2:0]           rd_en_i,
  input  logic [3*LogKeys-1:0] rd_slot_i,
  output logic [2:0]           hit_o,
  output logic [3*EntW-1:0]    entry_o,
  input  logic                 wr_en_i,
  input  logic                 wr_keep_i,
  input  logic [LogKeys-1:0]   wr_slot_i,
  input  logic [EntW-1:0]      wr_entry_i   // zero when the line is dropped
);

  localparam int IdxW = $clog2(Entries);
  localparam int TagW = LogKeys - IdxW;

  logic [Entries-1:0] valid_q;
  logic [IdxW-1:0]    wr_idx;
  logic [EntW-1:0]    fwd_entry_q;

  assign wr_idx = wr_slot_i[IdxW-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      valid_q <= '0;
`ifdef BUG_CACHE_DROP
    else if (wr_en_i && wr_keep_i) valid_q[wr_idx] <= 1'b1;
`else
    else if (wr_en_i) valid_q[wr_idx] <= wr_keep_i;
`endif
  end

  always_ff @(posedge clk_i) begin
    if (wr_en_i) fwd_entry_q <= wr_entry_i;
  end

  for (genvar p = 0; p < 3; p++) begin : g_port
    logic [LogKeys-1:0]  slot;
    logic [TagW-1:0]     tag_q;
    logic                valid_rd_q, fwd_q, line_taken_q;
    logic [TagW+EntW-1:0] line;

    assign slot = rd_slot_i[LogKeys*p+:LogKeys];

    bdy_ram_sdp #(.Width(TagW + EntW), .Depth(Entries)) u_ram (
      .clk_i,
      .wr_en_i(wr_en_i && wr_keep_i),
      .wr_lane_i(1'b1),
      .wr_addr_i(wr_idx),
      .wr_data_i({wr_slot_i[LogKeys-1:IdxW], wr_entry_i}),
      .rd_en_i(rd_en_i[p]),
      .rd_addr_i(slot[IdxW-1:0]),
      .rd_data_o(line)
    );

    always_ff @(posedge clk_i) begin
      if (rd_en_i[p]) begin
        tag_q        <= slot[LogKeys-1:IdxW];
        valid_rd_q   <= valid_q[slot[IdxW-1:0]];
`ifdef BUG_CACHE_FORWARD
        fwd_q        <= 1'b0;
`else
        fwd_q        <= wr_en_i && wr_slot_i == slot;
`endif
`ifdef BUG_CACHE_TAKEN
        line_taken_q <= wr_en_i && wr_slot_i == slot;
`else
        line_taken_q <= wr_en_i && wr_idx == slot[IdxW-1:0];
`endif
      end
    end

    assign hit_o[p] = fwd_q || (valid_rd_q && !line_taken_q && line[EntW+:TagW] == tag_q);
    assign entry_o[EntW*p+:EntW] = fwd_q ? fwd_entry_q : line[EntW-1:0];
  end

endmodule
