// SPDX-License-Identifier: Apache-2.0
//
// bdy_icrc: invariant CRC of an InfiniBand packet, beat by beat (H17).
//
// CRC-32 (polynomial 04C11DB7, reflected, preset and final complement) over the packet from the LRH
// to the last pad byte, with the fields that change on the way taken as ones: LRH virtual lane; GRH
// traffic class, flow label, hop limit; BTH reserved byte.
//
//   state xor first word, further words --right-aligned--> 256-bit parity per bit --> state
//
// Leading zeros do not move a CRC whose preset has been added to the data, so a short beat is
// shifted to the end.
//
// Latency:      crc_o covers a beat in the cycle after its valid_i.
// Throughput:   one beat per cycle. Nothing toggles without valid_i.
// Backpressure: none.
// Invariants:   first_i starts a packet; beats are full but for the last; words_i of 0 leaves the
//               state (a beat that is all ICRC).

module bdy_icrc (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  input  logic         first_i,
  input  logic [255:0] data_i,   // lane 0 first
  input  logic [3:0]   words_i,  // 4-byte words that count, 0 to 8
  output logic [31:0]  crc_o     // as the four bytes of the packet, first byte in bits 7:0
);

  localparam logic [31:0]  Poly = 32'hEDB88320;  // reflected
  localparam logic [1:0]   LnhGlobal = 2'd3;
  // What becomes ones, by byte lane.
  localparam logic [255:0] LrhMask = 256'hF0;
  localparam logic [255:0] GrhMask = (256'hFFFFFF0F << (8 * 8)) | (256'hFF << (8 * 15));
  localparam logic [255:0] BthMask = 256'hFF << (8 * 12);
  localparam logic [255:0] BthBehindGrhMask = 256'hFF << (8 * 20);

  // Data bits whose parity is state bit `k` after 256 bits, the state having been zero before. Bit
  // 255 goes in last.
  function automatic logic [255:0] row(input logic [4:0] k);
    logic [31:0] s;
    begin
      s = Poly;
      for (int b = 255; b >= 0; b--) begin
        row[b] = s[k];
        s = {1'b0, s[31:1]} ^ (s[0] ? Poly : 32'd0);
      end
    end
  endfunction

  logic [31:0]  crc_q;
  logic [1:0]   beat_q;  // 0 first, 1 second, 2 any later
  logic         global_q;
  logic         is_global;
  logic [1:0]   beat;
  logic [255:0] masked, operand;

  assign beat      = first_i ? 2'd0 : beat_q;
  assign is_global = first_i ? data_i[9:8] == LnhGlobal : global_q;
  assign crc_o     = ~crc_q;

  always_comb begin
    masked  = '0;
    operand = '0;
    if (valid_i) begin
      masked = data_i;
      if (beat == 2'd0)              masked = masked | LrhMask | (is_global ? GrhMask : BthMask);
      if (beat == 2'd1 && is_global) masked = masked | BthBehindGrhMask;
      operand = {masked[255:32], masked[31:0] ^ (first_i ? 32'hFFFFFFFF : crc_q)}
              << {4'd8 - words_i, 5'd0};
    end
  end

  for (genvar k = 0; k < 32; k++) begin : g_bit
    localparam logic [255:0] Row = row(5'(k));
    always_ff @(posedge clk_i) begin
      if (valid_i && words_i != 4'd0) crc_q[k] <= ^(operand & Row);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q   <= 2'd0;
      global_q <= 1'b0;
    end else if (valid_i) begin
      beat_q   <= (beat == 2'd2) ? 2'd2 : beat + 2'd1;
      global_q <= is_global;
    end
  end

endmodule
