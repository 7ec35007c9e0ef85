// SPDX-License-Identifier: Apache-2.0
//
// bdy_miss: accesses that wait for their entry. Each asks the table by itself; what comes back belongs to the waiter, so no
// replacement in the cache can starve it.
//
// Latency:      a miss asks the table from the next cycle on; ret_req_o follows ret_en_i by one cycle.
// Throughput:   one miss and one return per cycle.
// Backpressure: none here: the user counts (busy_count_o) and never has more than NMiss.
// Invariants:   H8: an update of the slot between the miss and its return poisons it; the return then counts as nothing and
//               the access looks up again.

module bdy_miss #(
  parameter int LogKeys = 13,
  parameter int NMiss   = 64,
  parameter int ReqW    = 240
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  output logic [$clog2(NMiss+1)-1:0]           busy_count_o,

  input  logic                                 miss_en_i,
  input  logic [LogKeys-1:0]                   miss_slot_i,
  input  logic [ReqW-1:0]                      miss_req_i,

  input  logic                                 upd_en_i,
  input  logic [LogKeys-1:0]                   upd_slot_i,

  output logic                                 iss_valid_o,
  input  logic                                 iss_ready_i,
  output logic [(NMiss > 1 ? $clog2(NMiss) : 1)-1:0] iss_id_o,
  output logic [LogKeys-1:0]                   iss_slot_o,

  input  logic                                 ret_en_i,
  input  logic [(NMiss > 1 ? $clog2(NMiss) : 1)-1:0] ret_id_i,
  output logic [LogKeys-1:0]                   ret_slot_o,
  output logic                                 ret_poison_o,
  output logic [ReqW-1:0]                      ret_req_o
);

  localparam int IdW    = NMiss > 1 ? $clog2(NMiss) : 1;
  localparam int CountW = $clog2(NMiss + 1);

  logic [NMiss-1:0]   busy_q, poison_q, upd_hit;
  logic [LogKeys-1:0] slot_q [NMiss];
  logic [CountW-1:0]  count_q;
  logic [IdW-1:0]     free_id;

  assign busy_count_o = count_q;

  always_comb begin
    free_id = '0;
    if (miss_en_i) begin
      for (int i = NMiss - 1; i >= 0; i--) begin
        if (!busy_q[i]) free_id = IdW'(i);
      end
    end
  end

  always_comb begin
    upd_hit = '0;
`ifndef BUG_MISS_POISON
    if (upd_en_i) begin
      for (int i = 0; i < NMiss; i++) upd_hit[i] = slot_q[i] == upd_slot_i;
    end
`endif
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= '0;
      poison_q <= '0;
    end else begin
      if (upd_en_i) poison_q <= poison_q | upd_hit;
      if (ret_en_i) busy_q[ret_id_i] <= 1'b0;
      if (miss_en_i) begin
        busy_q[free_id]   <= 1'b1;
        poison_q[free_id] <= upd_en_i && upd_slot_i == miss_slot_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (miss_en_i) slot_q[free_id] <= miss_slot_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
    end else begin
      if (miss_en_i && !ret_en_i) count_q <= count_q + CountW'(1);
      if (ret_en_i && !miss_en_i) count_q <= count_q - CountW'(1);
    end
  end

  assign ret_slot_o   = slot_q[ret_id_i];
  assign ret_poison_o = poison_q[ret_id_i] || upd_hit[ret_id_i];

  bdy_ram_sdp #(.Width(ReqW), .Depth(NMiss)) u_req (
    .clk_i,
    .wr_en_i(miss_en_i),
    .wr_lane_i(1'b1),
    .wr_addr_i(free_id),
    .wr_data_i(miss_req_i),
    .rd_en_i(ret_en_i),
    .rd_addr_i(ret_id_i),
    .rd_data_o(ret_req_o)
  );

  // Asking in order of the misses; as deep as there are misses, so never full.
  logic              iss_room;
  logic [CountW-1:0] iss_count;
  logic              unused;
  assign unused = ^{iss_room, iss_count};

  bdy_fifo #(.Width(IdW + LogKeys), .Depth(NMiss)) u_issue (
    .clk_i,
    .rst_ni,
    .wr_valid_i(miss_en_i),
    .wr_ready_o(iss_room),
    .wr_data_i({free_id, miss_slot_i}),
    .rd_valid_o(iss_valid_o),
    .rd_ready_i(iss_ready_i),
    .rd_data_o({iss_id_o, iss_slot_o}),
    .count_o(iss_count)
  );

endmodule
