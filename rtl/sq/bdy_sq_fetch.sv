// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_fetch: reads slots of one send WQE by DMA into a buffer of 8 slots and shows them as slot
// 0, SGEs and lines.
//
//   start --> run up to the ring's end --> if the WQE wraps: run from the ring's start --> done
//
// Latency:      request out one cycle after start; done one cycle after the last beat.
// Throughput:   one WQE at a time.
// Backpressure: waits for rdq_ready_i; data is always taken.
// Invariants:   the buffer holds slots [first, first + n) of the WQE in their places; others keep
//               what was there.

module bdy_sq_fetch (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         idle_o,

  input  logic         start_i,        // only while idle_o
  input  logic [63:0]  start_base_i,   // ring
  input  logic [3:0]   start_log_i,    // log2 of its slots
  input  logic [15:0]  start_idx_i,    // WQE's first slot, running
  input  logic [3:0]   start_first_i,  // first slot to read, counted from there
  input  logic [3:0]   start_n_i,      // slots to read, 1 to 8
  output logic         done_o,
  output logic         done_err_o,

  output logic         rdq_valid_o,
  input  logic         rdq_ready_i,
  output logic [63:0]  rdq_addr_o,
  output logic [12:0]  rdq_len_o,
  input  logic         rdd_valid_i,
  input  logic [255:0] rdd_data_i,
  input  logic         rdd_last_i,
  input  logic         rdd_err_i,

  output logic [511:0] slot0_o,
  input  logic [3:0]   sge_idx_i,
  output logic [127:0] sge_o,
  input  logic [3:0]   line_idx_i,     // 32 bytes
  output logic [255:0] line_o
);

  localparam logic [1:0] StIdle = 2'd0;
  localparam logic [1:0] StAsk  = 2'd1;
  localparam logic [1:0] StData = 2'd2;
  localparam logic [1:0] StDone = 2'd3;

  logic [1:0]   st_q;
  logic [63:0]  base_q, addr_q;
  logic [3:0]   run_q, rest_q, line_q;
  logic         err_q;
  logic [255:0] lines_q [16];

  // ---------------------------------------------------------------- where the runs lie
  logic [14:0] mask, pos;
  logic [15:0] to_end;
  logic [3:0]  run;

  assign mask   = ~(15'h7fff << start_log_i);
  assign pos    = 15'(start_idx_i + 16'(start_first_i)) & mask;
  assign to_end = {1'b0, mask} + 16'd1 - {1'b0, pos};
  assign run    = (to_end < 16'(start_n_i)) ? to_end[3:0] : start_n_i;

  assign idle_o      = st_q == StIdle;
  assign rdq_valid_o = st_q == StAsk;
  assign rdq_addr_o  = addr_q;
  assign rdq_len_o   = {3'd0, run_q, 6'd0};
  assign done_o      = st_q == StDone;
  assign done_err_o  = err_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q <= StIdle;
    end else begin
      case (st_q)
        StIdle: if (start_i) st_q <= StAsk;
        StAsk:  if (rdq_ready_i) st_q <= StData;
        StData: begin
          if (rdd_valid_i && rdd_last_i) st_q <= (rest_q != '0 && !rdd_err_i) ? StAsk : StDone;
        end
        default: st_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (st_q == StIdle && start_i) begin
      base_q <= start_base_i;
      addr_q <= start_base_i + {43'd0, pos, 6'd0};
      run_q  <= run;
      rest_q <= start_n_i - run;
      line_q <= {start_first_i[2:0], 1'b0};
      err_q  <= 1'b0;
    end else if (st_q == StData && rdd_valid_i) begin
      line_q <= line_q + 4'd1;
      if (rdd_last_i) begin
        err_q  <= rdd_err_i;
        addr_q <= base_q;
        run_q  <= rest_q;
        rest_q <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (st_q == StData && rdd_valid_i) lines_q[line_q] <= rdd_data_i;
  end

  // ------------------------------------------------------ views; SGE 0 is the first half of line 1
  logic [255:0] sge_line;

  assign slot0_o  = {lines_q[1], lines_q[0]};
  assign sge_line = lines_q[4'd1 + 4'(sge_idx_i[3:1])];
  assign sge_o    = sge_idx_i[0] ? sge_line[255:128] : sge_line[127:0];
  assign line_o   = lines_q[line_idx_i];

  logic unused;
  assign unused = start_first_i[3];  // 0 to 7

endmodule
