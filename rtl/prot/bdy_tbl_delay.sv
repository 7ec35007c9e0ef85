// SPDX-License-Identifier: Apache-2.0
//
// bdy_tbl_delay: stand-in for a slow memory: each transfer leaves a seeded number of cycles later, out of order if asked.
// A wheel of 256 places, one per coming cycle; a transfer takes the first free place at or behind its drawn one.
//
// Latency:      0 with max_i 0, else 3 plus a number from 0 to max_i, more when places are taken.
// Throughput:   one transfer per cycle.
// Backpressure: no free place near the drawn one; a stalled output stops the wheel.
// Invariants:   nothing is lost or doubled; in order unless reorder_i. The wheel and the generator stand still without work,
//               so skipped idle cycles change nothing (H19).

module bdy_tbl_delay #(
  parameter int          Width = 32,
  parameter logic [31:0] Salt  = 32'h0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             idle_o,
  input  logic [7:0]       max_i,
  input  logic             reorder_i,
  input  logic [31:0]      seed_i,

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);

  localparam int Probes = 16;

  logic [255:0]     taken_q;
  logic [7:0]       now_q, last_q, drawn, first, place, now_next;
  logic [8:0]       count_q;
  logic [31:0]      lfsr_q, seed_q;
  logic             out_valid_q, bypass, put, get, free_found, ordered_far;
  logic [Width-1:0] held;
  logic [16:0]      product;

  // ---------------------------------------------------------------- draw
  assign product = 17'(lfsr_q[7:0]) * (17'(max_i) + 17'd1);
  assign drawn   = product[15:8];

  function automatic logic [31:0] step(input logic [31:0] s);
    logic [31:0] v;
    v = s;
    v = v ^ (v << 13);
    v = v ^ (v >> 17);
    v = v ^ (v << 5);
    step = v;
  endfunction

  // In order: behind the last one put, if it is still to come.
  logic [7:0] last_off, first_off;
  assign last_off    = count_q == '0 ? 8'd0 : last_q - now_q;
  // Not the next place: the wheel may pass it in this very cycle.
  assign first_off   = !reorder_i && last_off > drawn + 8'd1 ? last_off + 8'd1 : drawn + 8'd2;
  assign ordered_far = !reorder_i && last_off > 8'd240;
  assign first       = now_q + first_off;

  always_comb begin
    place      = first;
    free_found = 1'b0;
    if (in_valid_i) begin
      for (int i = Probes - 1; i >= 0; i--) begin
        if (!taken_q[first + 8'(i)] && {1'b0, first_off} + 9'(i) < 9'd256) begin
          place      = first + 8'(i);
          free_found = 1'b1;
        end
      end
    end
  end

  // ---------------------------------------------------------------- wheel
  assign bypass     = max_i == 8'd0 && count_q == '0 && !out_valid_q;
  assign in_ready_o = bypass ? out_ready_i : free_found && !ordered_far && count_q < 9'd128;
  assign put        = in_valid_i && in_ready_o && !bypass;
  assign now_next   = now_q + 8'd1;
  assign get        = count_q != '0 && taken_q[now_next] && (!out_valid_q || out_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q     <= '0;
      now_q       <= '0;
      count_q     <= '0;
      out_valid_q <= 1'b0;
      seed_q      <= '0;
      lfsr_q      <= 32'h9e3779b9;
    end else begin
      if (put) taken_q[place] <= 1'b1;
      if (get) taken_q[now_next] <= 1'b0;
      if (count_q != '0 && (get || !taken_q[now_next])) now_q <= now_next;
      count_q <= count_q + 9'(put) - 9'(get);
      if (get)              out_valid_q <= 1'b1;
      else if (out_ready_i) out_valid_q <= 1'b0;
      seed_q <= seed_i;
      if (seed_q != seed_i) lfsr_q <= (seed_i ^ Salt) == '0 ? 32'h1 : seed_i ^ Salt;
      else if (put)         lfsr_q <= step(lfsr_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (put) last_q <= place;
  end

  bdy_ram_sdp #(.Width(Width), .Depth(256)) u_ram (
    .clk_i,
    .wr_en_i(put),
    .wr_lane_i(1'b1),
    .wr_addr_i(place),
    .wr_data_i(in_data_i),
    .rd_en_i(get),
    .rd_addr_i(now_next),
    .rd_data_o(held)
  );

  assign out_valid_o = bypass ? in_valid_i : out_valid_q;
  assign out_data_o  = bypass ? in_data_i : held;
  assign idle_o      = count_q == '0 && !out_valid_q;

  logic unused;
  assign unused = ^product;

endmodule
