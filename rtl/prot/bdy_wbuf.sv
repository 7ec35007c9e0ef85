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
    same    = '0;
    if (busy_q != '0) begin
      for (int i = Depth - 1; i >= 0; i--) begin
        same[i] = busy_q[i] && slot_q[i] == put_slot_i;
        if (!busy_q[i]) free_id = IdW'(i);
        if (same[i])    same_id = IdW'(i);
        if (offer[i])   wr_id_o = IdW'(i);
      end
    end
  end

  logic sends;
  assign wr_valid_o = offer != '0;
  assign wr_slot_o  = slot_q[wr_id_o];
  assign wr_entry_o = entry_q[wr_id_o];
  assign sends      = wr_valid_o && wr_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= '0;
      sent_q  <= '0;
      again_q <= '0;
    end else begin
      if (sends) sent_q[wr_id_o] <= 1'b1;
      if (b_valid_i) begin
        busy_q[b_id_i]  <= again_q[b_id_i];
        sent_q[b_id_i]  <= 1'b0;
        again_q[b_id_i] <= 1'b0;
      end
      if (put_en_i) begin
        busy_q[put_id] <= 1'b1;
`ifndef BUG_WBUF_AGAIN
        // Under way, or leaving just now with the older entry: to be written once more.
        if (!(b_valid_i && b_id_i == put_id)) again_q[put_id] <= sent_q[put_id] || (sends && wr_id_o == put_id);
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

  always_comb begin
    match_o = '0;
`ifndef BUG_WBUF_MATCH
    if (busy_q != '0) begin
      for (int m = 0; m < NMatch; m++) begin
        for (int i = 0; i < Depth; i++) begin
          if (busy_q[i] && slot_q[i] == match_slot_i[LogKeys*m+:LogKeys]) match_o[m] = 1'b1;
        end
      end
    end
`endif
  end

endmodule
