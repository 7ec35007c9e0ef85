// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_ah: the address handles: where datagrams may go.
//
//   CTX_WRITE --> entry, valid bit --> acknowledged     number --> entry, known or not
//
// Latency:      a read shows one cycle after its number; a write is acknowledged in the next cycle.
// Throughput:   a read per cycle, a write every two cycles.
// Backpressure: none.
// Invariants:   after reset no handle is known. A header is made from the entry in one cycle: after
//               the acknowledgement of a removal nothing uses it.

module bdy_sq_ah #(
  parameter int LogAhs = bdy_pkg::LOG_AHS
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         ctxw_valid_i,  // until acknowledged
  input  logic [15:0]                  ctxw_idx_i,
  input  logic [511:0]                 ctxw_data_i,
  output logic                         ctxw_ack_o,
  input  logic [31:0]                  rd_num_i,
  output logic                         rd_known_o,
  output logic [bdy_pkg::AH_CTX_W-1:0] rd_ah_o
);

  localparam int Width = 256;  // words with content

  logic [(1<<LogAhs)-1:0] valid_q;
  logic                   ack_q, known_q, wr;
  logic [Width-1:0]       entry;

  assign wr         = ctxw_valid_i && !ack_q;
  assign ctxw_ack_o = ack_q;
  assign rd_known_o = known_q;
  assign rd_ah_o    = bdy_pkg::AH_CTX_W'(entry);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      ack_q   <= 1'b0;
      known_q <= 1'b0;
    end else begin
      ack_q   <= wr;
      known_q <= rd_num_i[31:LogAhs] == '0 && valid_q[rd_num_i[LogAhs-1:0]];
      if (wr) valid_q[ctxw_idx_i[LogAhs-1:0]] <= ctxw_data_i[bdy_pkg::AH_CTX_VALID_LSB];
    end
  end

  bdy_sq_ram #(.Width(Width), .Depth(1 << LogAhs)) u_entries (
    .clk_i,
    .wr_en_i(wr),
    .wr_addr_i(ctxw_idx_i[LogAhs-1:0]),
    .wr_data_i(ctxw_data_i[Width-1:0]),
    .rd_addr_i(rd_num_i[LogAhs-1:0]),
    .rd_data_o(entry)
  );

  logic unused;
  assign unused = ^{ctxw_idx_i, ctxw_data_i};

endmodule
