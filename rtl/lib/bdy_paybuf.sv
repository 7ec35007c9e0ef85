// SPDX-License-Identifier: Apache-2.0
//
// bdy_paybuf: payload buffer, written and read at any byte offset. Two RAM banks hold the even and
// the odd 32-byte lines, so that a beat that spans two lines takes one cycle.
//
// Latency:      written bytes can be read by a request of the next cycle; the first beat of a read
//               comes two cycles after its request.
// Throughput:   one beat of up to 32 bytes written and one read per cycle; read requests follow
//               each other without a gap.
// Backpressure: wr_ready_o is always 1. The read stream stalls on rd_ready_i.
// Invariants:   a read is a packed stream: byte 0 in lane 0, rd_last_o on the last beat, lanes
//               behind the end are zero. rq_len_i is 1 to 4096; offset + length stays below Bytes
//               (the user's duty).

module bdy_paybuf #(
  parameter int Bytes = 4096 + 32
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  output logic                     idle_o,      // no read in progress

  input  logic                     wr_valid_i,
  output logic                     wr_ready_o,
  input  logic [$clog2(Bytes)-1:0] wr_off_i,
  input  logic [5:0]               wr_bytes_i,  // 1 to 32
  input  logic [255:0]             wr_data_i,

  input  logic                     rq_valid_i,
  output logic                     rq_ready_o,
  input  logic [$clog2(Bytes)-1:0] rq_off_i,
  input  logic [12:0]              rq_len_i,
  output logic                     rd_valid_o,
  input  logic                     rd_ready_i,
  output logic [255:0]             rd_data_o,
  output logic                     rd_last_o
);

  localparam int OffW  = $clog2(Bytes);
  localparam int LineW = OffW - 5;
  localparam int BankLines = ((Bytes + 31) / 32 + 1) / 2;
  localparam int BankW = $clog2(BankLines);

  // Bank address of the even and odd line among two neighbours, the first of which is given.
  function automatic logic [BankW-1:0] even_addr(input logic [LineW-1:0] line);
    even_addr = BankW'(line >> 1) + BankW'(line[0]);
  endfunction

  function automatic logic [BankW-1:0] odd_addr(input logic [LineW-1:0] line);
    odd_addr = BankW'(line >> 1);
  endfunction

  // -------------------------------------------- write
  logic [LineW-1:0] wr_line;
  logic [511:0]     wr_window;  // the two lines, first one low
  logic [63:0]      wr_lanes;
  logic [255:0]     wr_even, wr_odd;
  logic [31:0]      wr_even_lanes, wr_odd_lanes;

  assign wr_ready_o = 1'b1;
  assign wr_line    = wr_off_i[OffW-1:5];

  always_comb begin
    wr_window = '0;
    wr_lanes  = '0;
    if (wr_valid_i) begin
      wr_window = {256'b0, wr_data_i} << {wr_off_i[4:0], 3'b0};
      wr_lanes  = {32'b0, 32'(33'd1 << wr_bytes_i) - 32'd1} << wr_off_i[4:0];
    end
  end

  assign wr_even       = wr_line[0] ? wr_window[511:256] : wr_window[255:0];
  assign wr_odd        = wr_line[0] ? wr_window[255:0] : wr_window[511:256];
  assign wr_even_lanes = wr_line[0] ? wr_lanes[63:32] : wr_lanes[31:0];
  assign wr_odd_lanes  = wr_line[0] ? wr_lanes[31:0] : wr_lanes[63:32];

  // -------------------------------------------- read
  logic             busy_q;      // beats are still to be issued to the RAMs
  logic [OffW-1:0]  off_q;
  logic [12:0]      left_q;
  logic             issue, final_issue;
  logic             out_valid_q, out_last_q, out_odd_q;
  logic [4:0]       out_shift_q;
  logic [5:0]       out_bytes_q;
  logic [255:0]     rd_even, rd_odd;
  logic [511:0]     rd_window;

  assign issue       = busy_q && (!out_valid_q || rd_ready_i);
  assign final_issue = issue && left_q <= 13'd32;
  assign rq_ready_o  = !busy_q || final_issue;
  assign rd_valid_o  = out_valid_q;
  assign rd_last_o   = out_last_q;
  assign rd_window   = out_odd_q ? {rd_even, rd_odd} : {rd_odd, rd_even};
  assign idle_o      = !busy_q && !out_valid_q;

  always_comb begin
    rd_data_o = '0;
    if (out_valid_q) begin
      rd_data_o = 256'(rd_window >> {out_shift_q, 3'b0});
      if (out_bytes_q != 6'd32) rd_data_o = rd_data_o & ~(~256'b0 << {out_bytes_q[4:0], 3'b0});
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (rq_valid_i && rq_ready_o) busy_q <= 1'b1;
      else if (final_issue)         busy_q <= 1'b0;
      if (issue)           out_valid_q <= 1'b1;
      else if (rd_ready_i) out_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rq_valid_i && rq_ready_o) begin
      off_q  <= rq_off_i;
      left_q <= rq_len_i;
    end else if (issue) begin
      off_q  <= off_q + OffW'(32);
      left_q <= left_q - 13'd32;
    end
    if (issue) begin
      out_last_q  <= left_q <= 13'd32;
      out_odd_q   <= off_q[5];
      out_shift_q <= off_q[4:0];
      out_bytes_q <= (left_q <= 13'd32) ? left_q[5:0] : 6'd32;
    end
  end

  // -------------------------------------------- banks
  bdy_ram_sdp #(.Width(256), .Depth(BankLines), .Lanes(32)) u_even (
    .clk_i,
    .wr_en_i(wr_even_lanes != '0),
    .wr_lane_i(wr_even_lanes),
    .wr_addr_i(even_addr(wr_line)),
    .wr_data_i(wr_even),
    .rd_en_i(issue),
    .rd_addr_i(even_addr(off_q[OffW-1:5])),
    .rd_data_o(rd_even)
  );

  bdy_ram_sdp #(.Width(256), .Depth(BankLines), .Lanes(32)) u_odd (
    .clk_i,
    .wr_en_i(wr_odd_lanes != '0),
    .wr_lane_i(wr_odd_lanes),
    .wr_addr_i(odd_addr(wr_line)),
    .wr_data_i(wr_odd),
    .rd_en_i(issue),
    .rd_addr_i(odd_addr(off_q[OffW-1:5])),
    .rd_data_o(rd_odd)
  );

endmodule
