// SPDX-License-Identifier: Apache-2.0
// bdy_cmd_buf: the 12 KiB buffer between the embedded core (32-bit words) and the DMA (packed beats of 32 bytes).
//
// Four banks of 64 bits; a beat at any 8-byte offset touches each bank once. One port: the DMA side goes first.
// Latency: core read 1 cycle after the request is taken; beat read 1 cycle.

module bdy_cmd_buf #(
  parameter int Rows = 384                // 32 bytes each
) (
  input  logic         clk_i,

  // Core: a taken read shows its word in the next cycle.
  input  logic         c_valid_i,
  output logic         c_ready_o,
  input  logic         c_we_i,
  input  logic [13:0]  c_addr_i,          // byte offset, word aligned
  input  logic [31:0]  c_wdata_i,
  input  logic [3:0]   c_be_i,
  output logic [31:0]  c_rdata_o,

  // DMA: a beat of up to four 8-byte words at an 8-byte aligned offset.
  input  logic         d_valid_i,
  input  logic         d_we_i,
  input  logic [13:0]  d_addr_i,
  input  logic [2:0]   d_words_i,         // 1..4, for writes
  input  logic [255:0] d_wdata_i,
  output logic [255:0] d_rdata_o
);
  localparam int RW = $clog2(Rows);

  assign c_ready_o = !d_valid_i;

  logic [1:0]    rot, rot_q;
  logic          hi_q;                    // core read: upper half of the bank's word
  logic [1:0]    cbank_q;
  assign rot = d_addr_i[4:3];
  logic [255:0]  bank_q;                  // what the banks gave last

  for (genvar b = 0; b < 4; b++) begin : gen_bank
    logic [63:0]   mem [Rows];
    logic [1:0]    k;                     // which word of the beat falls on this bank
    logic [RW-1:0] row;
    logic          we;
    logic [63:0]   wd;
    logic [7:0]    be;
    assign k   = 2'(b) - rot;
    assign row = d_valid_i ? RW'(d_addr_i[13:5]) + ((3'(b) < {1'b0, rot}) ? RW'(1) : RW'(0)) : RW'(c_addr_i[13:5]);
    assign we  = d_valid_i ? (d_we_i && ({1'b0, k} < d_words_i)) : (c_valid_i && c_we_i && (c_addr_i[4:3] == 2'(b)));
    assign wd  = d_valid_i ? d_wdata_i[64*k +: 64] : {c_wdata_i, c_wdata_i};
    assign be  = d_valid_i ? 8'hff : (c_addr_i[2] ? {c_be_i, 4'd0} : {4'd0, c_be_i});
    integer i;
    always_ff @(posedge clk_i) begin
      if (we) begin
        for (i = 0; i < 8; i++) if (be[i]) mem[row][8*i +: 8] <= wd[8*i +: 8];
      end
      bank_q[64*b +: 64] <= mem[row];
    end
  end

  always_ff @(posedge clk_i) begin
    rot_q   <= rot;
    hi_q    <= c_addr_i[2];
    cbank_q <= c_addr_i[4:3];
  end
  logic [511:0] twice;
  assign twice     = {bank_q, bank_q} >> {rot_q, 6'd0};
  assign d_rdata_o = twice[255:0];
  assign c_rdata_o = hi_q ? bank_q[64*cbank_q + 32 +: 32] : bank_q[64*cbank_q +: 32];

  logic unused;
  assign unused = ^{twice[511:256], d_addr_i[2:0], c_addr_i[1:0]};
endmodule
