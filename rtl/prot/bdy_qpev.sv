// SPDX-License-Identifier: Apache-2.0
//
// bdy_qpev: tells the engines of every change of a queue pair's state and every new generation, in order, one at a time;
// the next one is shown when all engines have acknowledged.
//
// Latency:      shown from the cycle after the change on.
// Throughput:   one change per cycle while there is room.
// Backpressure: room_o. The queue holds more changes than operations can wait for their drained answer.
// Invariants:   an engine sees a change (ev_valid_o of its own) until it acknowledges it, and each change once.

module bdy_qpev #(
  parameter int LogQps  = 8,
  parameter int NEngine = 2,
  parameter int Depth   = 512,
  parameter int SeqW    = 11
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic               idle_o,

  input  logic               put_i,
  input  logic [LogQps-1:0]  put_idx_i,
  input  logic [2:0]         put_st_i,
  input  logic               put_bump_i,
  output logic               room_o,
  output logic [SeqW-1:0]    put_seq_o,    // number of the change that is put now
  output logic [SeqW-1:0]    done_seq_o,   // changes acknowledged so far

  output logic [NEngine-1:0] ev_valid_o,
  output logic [LogQps-1:0]  ev_idx_o,
  output logic [2:0]         ev_st_o,
  output logic               ev_bump_o,
  input  logic [NEngine-1:0] ev_ack_i
);

  logic                     waiting, over;
  logic [NEngine-1:0]       acked_q, acked;
  logic [SeqW-1:0]          put_q, done_q;
  logic [$clog2(Depth+1)-1:0] count;

  bdy_fifo #(.Width(LogQps + 4), .Depth(Depth)) u_queue (
    .clk_i, .rst_ni,
    .wr_valid_i(put_i),
    .wr_ready_o(room_o),
    .wr_data_i({put_idx_i, put_st_i, put_bump_i}),
    .rd_valid_o(waiting),
    .rd_ready_i(over),
    .rd_data_o({ev_idx_o, ev_st_o, ev_bump_o}),
    .count_o(count)
  );

  assign acked      = acked_q | ev_ack_i;
  assign over       = waiting && acked == '1;
  assign ev_valid_o = waiting ? ~acked_q : '0;
  assign put_seq_o  = put_q + SeqW'(1);
  assign done_seq_o = done_q;
  assign idle_o     = count == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      acked_q <= '0;
      put_q   <= '0;
      done_q  <= '0;
    end else begin
      if (over)         acked_q <= '0;
      else if (waiting) acked_q <= acked;
      if (put_i) put_q <= put_q + SeqW'(1);
      if (over)  done_q <= done_q + SeqW'(1);
    end
  end

endmodule
