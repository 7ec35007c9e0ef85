// SPDX-License-Identifier: Apache-2.0
//
// bdy_wbuf: table writes of operations that the table has not yet confirmed. One place per slot: a newer entry replaces one
// that waits, and is written again after one that is under way, so two writes of a slot never race.
//
// Latency:      a write is offered to the table from the next cycle on.
// Throughput:   one operation and one confirmation per cycle.
// Backpressure: room_o (for the slot of the operation that is about to write).
// Invariants:   H8: match_o names the slots whose table content may be older than the operations; reads of them wait.

module bdy_wbuf #(
  parameter int LogKeys = 13,
  parameter int Depth   = 16,
  parameter int EntW    = 448,
  parameter int NMatch  = 3,
  parameter int IdW     = Depth > 1 ? $clog2(Depth) : 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  output logic                      idle_o,

  input  logic                      put_en_i,
  input  logic [LogKeys-1:0]        put_slot_i,
  input  logic [EntW-1:0]           put_entry_i,
  output logic                      room_o,

  input  logic [NMatch*LogKeys-1:0] match_slot_i,
  output logic [NMatch-1:0]         match_o,

  output logic                      wr_valid_o,
  input  logic                      wr_ready_i,
  output logic [IdW-1:0]            wr_id_o,
  output logic [LogKeys-1:0]        wr_slot_o,
  output logic [EntW-1:0]           wr_entry_o,
  input  logic                      b_valid_i,
  input  logic [IdW-1:0]            b_id_i
);

  logic [Depth-1:0]   busy_q, sent_q, again_q, same, offer;
  logic [LogKeys-1:0] slot_q [Depth];
  logic [EntW-1:0]    entry_q [Depth];
  logic [IdW-1:0]     free_id, same_id, put_id;
  logic               any_free;

  assign any_free = busy_q != '1;
  assign room_o   = any_free || same != '0;
  assign put_id   = same != '0 ? same_id : free_id;
  assign offer    = busy_q & ~sent_q;
  assign idle_o   = busy_q == '0;

  always_comb begin
    free_id = '0;
    same_id = '0;
    wr_id_o = '0;
    for (int i = Depth - 1; i >= 0; i--) begin
      if (!busy_q[i]) free_id = IdW'(i);
      if (same[i])    same_id = IdW'(i);
      if (offer[i])   wr_id_o = IdW'(i);
    end
  end

  assign wr_valid_o = offer != '0;
  assign wr_slot_o  = slot_q[wr_id_o];
  assign wr_entry_o = entry_q[wr_id_o];

  for (genvar i = 0; i < Depth; i++) begin : g_place
    logic put_here, sends, confirmed;
    assign same[i]   = busy_q[i] && slot_q[i] == put_slot_i;
    assign put_here  = put_en_i && put_id == IdW'(i);
    assign sends     = wr_valid_o && wr_ready_i && wr_id_o == IdW'(i);
    assign confirmed = b_valid_i && b_id_i == IdW'(i);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        busy_q[i]  <= 1'b0;
        sent_q[i]  <= 1'b0;
        again_q[i] <= 1'b0;
      end else if (confirmed) begin
        busy_q[i]  <= again_q[i] || put_here;
        sent_q[i]  <= 1'b0;
        again_q[i] <= 1'b0;
      end else begin
        if (put_here) busy_q[i] <= 1'b1;
        if (sends)    sent_q[i] <= 1'b1;
`ifndef BUG_WBUF_AGAIN
        if (put_here && (sent_q[i] || sends)) again_q[i] <= 1'b1;
`endif
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (put_en_i) begin
      slot_q[put_id]  <= put_slot_i;
      entry_q[put_id] <= put_entry_i;
    end
  end

  for (genvar m = 0; m < NMatch; m++) begin : g_match
    logic [Depth-1:0] hits;
    for (genvar i = 0; i < Depth; i++) begin : g_place
      assign hits[i] = busy_q[i] && slot_q[i] == match_slot_i[LogKeys*m+:LogKeys];
    end
`ifdef BUG_WBUF_MATCH
    assign match_o[m] = 1'b0;
`else
    assign match_o[m] = hits != '0;
`endif
  end

endmodule
