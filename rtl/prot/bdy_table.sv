// SPDX-License-Identifier: Apache-2.0
//
// bdy_table: on-chip table behind a tagged request and response port, in banks so that a row and its successor are read at
// once and a reset clears several rows per cycle.
//
// Latency:      response in the cycle after the request.
// Throughput:   one request per cycle.
// Backpressure: requests wait while a response is not taken, and for 2^(LogRows - LogBanks) cycles after reset.
// Invariants:   every row is zero after reset. The row behind the last one is not there: its data means nothing.

module bdy_table #(
  parameter int LogRows  = 13,
  parameter int LogBanks = 1,   // at least 1
  parameter int Width    = 448,
  parameter int TagW     = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic               idle_o,

  input  logic               req_valid_i,
  output logic               req_ready_o,
  input  logic               req_write_i,
  input  logic [TagW-1:0]    req_tag_i,
  input  logic [LogRows-1:0] req_row_i,
  input  logic [Width-1:0]   req_data_i,
  output logic               rsp_valid_o,
  input  logic               rsp_ready_i,
  output logic [TagW-1:0]    rsp_tag_o,
  output logic [2*Width-1:0] rsp_data_o   // row, and the one behind it
);

  localparam int NBanks = 2 ** LogBanks;
  localparam int AddrW  = LogRows - LogBanks;

  logic                      cleared_q, rsp_valid_q, take;
  logic [AddrW-1:0]          clear_q;
  logic [LogBanks-1:0]       bank, next_bank, bank_q, next_bank_q;
  logic [TagW-1:0]           tag_q;
  logic [NBanks*Width-1:0]   data;

  assign req_ready_o = cleared_q && (!rsp_valid_q || rsp_ready_i);
  assign take        = req_valid_i && req_ready_o;
  assign bank        = req_row_i[LogBanks-1:0];
  assign next_bank   = bank + LogBanks'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cleared_q   <= 1'b0;
      clear_q     <= '0;
      rsp_valid_q <= 1'b0;
    end else begin
      if (!cleared_q) begin
        clear_q   <= clear_q + AddrW'(1);
        cleared_q <= clear_q == '1;
      end
      if (take)             rsp_valid_q <= 1'b1;
      else if (rsp_ready_i) rsp_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      tag_q       <= req_tag_i;
      bank_q      <= bank;
      next_bank_q <= next_bank;
    end
  end

  for (genvar b = 0; b < NBanks; b++) begin : g_bank
    logic             mine, next_mine;
    logic [AddrW-1:0] addr;

    assign mine      = bank == LogBanks'(b);
    assign next_mine = next_bank == LogBanks'(b);
    // The successor of a row in the last bank lies one line further, in bank 0.
    assign addr      = req_row_i[LogRows-1:LogBanks] + AddrW'(next_mine && bank == '1);

    bdy_ram_sdp #(.Width(Width), .Depth(2**AddrW)) u_ram (
      .clk_i,
      .wr_en_i(!cleared_q || (take && req_write_i && mine)),
      .wr_lane_i(1'b1),
      .wr_addr_i(cleared_q ? addr : clear_q),
      .wr_data_i(cleared_q ? req_data_i : '0),
      .rd_en_i(take && !req_write_i && (mine || next_mine)),
      .rd_addr_i(addr),
      .rd_data_o(data[Width*b+:Width])
    );
  end

  always_comb begin
    rsp_data_o = '0;
    if (rsp_valid_q) rsp_data_o = {data[Width*next_bank_q+:Width], data[Width*bank_q+:Width]};
  end

  assign rsp_valid_o = rsp_valid_q;
  assign rsp_tag_o   = tag_q;
  assign idle_o      = cleared_q && !rsp_valid_q;

endmodule
