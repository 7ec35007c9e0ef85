// SPDX-License-Identifier: Apache-2.0
//
// bdy_framer: makes a link frame of header fields and payload: headers, payload, pad, ICRC (H17).
// No VCRC.
//
//   hdr --> bdy_hdr_build --> [head words | payload words] --> beat --+--> beat, ICRC --> link
//                                                                     +--> bdy_icrc --^
//
// Latency:      two cycles from the header to the first beat.
// Throughput:   one beat per cycle within a packet; two cycles more per packet.
// Backpressure: m_ready_i stalls everything; hdr_ready_o is up between packets.
// Invariants:   a header is offered only when its payload is complete and pl_valid_i then waits for
//               no peer (H13). Beats are full but for the last, keep is contiguous. Payload bytes
//               counted are hdr.paylen; pad is zero.

module bdy_framer (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  output logic                          idle_o,
  input  logic [15:0]                   lid_i,
  input  logic [383:0]                  gids_i,

  input  logic                          hdr_valid_i,
  output logic                          hdr_ready_o,
  input  logic [bdy_pkg::PKT_HDR_W-1:0] hdr_i,
  input  logic                          pl_valid_i,
  output logic                          pl_ready_o,
  input  logic [255:0]                  pl_data_i,
  input  logic                          pl_last_i,

  output logic                          m_valid_o,
  input  logic                          m_ready_i,
  output logic [255:0]                  m_data_o,
  output logic [31:0]                   m_keep_o,
  output logic                          m_last_o
);

  // -------------------------------------------- what is left of the packet
  logic [703:0] built, head_q;
  logic [4:0]   built_words, words_q;  // words in head_q
  logic [12:0]  left_q;                // payload bytes not yet taken
  logic         busy_q, first_q;
  logic         start;

  assign hdr_ready_o = !busy_q;
  assign start       = hdr_valid_i && hdr_ready_o;

  bdy_hdr_build u_build (
    .en_i(start),
    .hdr_i, .lid_i, .gids_i,
    .bytes_o(built),
    .words_o(built_words)
  );

  // -------------------------------------------- next beat
  logic         from_head, from_payload, pl_end;
  logic [3:0]   pl_words, total;       // of this payload beat; with the words in front of it
  logic [255:0] pl_masked, carry;
  logic [511:0] window;
  logic         a_valid, a_ready, a_last;
  logic [255:0] a_data;
  logic [3:0]   a_words;

  assign from_head    = busy_q && (words_q >= 5'd8 || left_q == 13'd0);
  assign from_payload = busy_q && !from_head;
  assign pl_end       = left_q <= 13'd32;
  assign pl_words     = pl_end ? 4'(left_q[5:2]) + 4'(left_q[1:0] != 2'd0) : 4'd8;
  assign total        = {1'b0, words_q[2:0]} + pl_words;

  always_comb begin
    pl_masked = '0;
    window    = '0;
    if (from_payload) begin
      pl_masked = pl_end ? pl_data_i & ~(~256'b0 << {left_q[5:0], 3'b0}) : pl_data_i;
      window    = {256'b0, pl_masked} << {words_q[2:0], 5'b0};
    end
  end
  assign carry = window[511:256];

  always_comb begin
    a_valid = from_head || (from_payload && pl_valid_i);
    a_data  = head_q[255:0];
    a_words = 4'd8;
    a_last  = 1'b0;
    if (from_payload) begin
      a_data = a_data | window[255:0];
      if (pl_end && total <= 4'd8) begin
        a_words = total;
        a_last  = 1'b1;
      end
    end else begin
      a_words = (words_q >= 5'd8) ? 4'd8 : words_q[3:0];
      a_last  = left_q == 13'd0 && words_q <= 5'd8;
    end
  end

  assign pl_ready_o = from_payload && a_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                           busy_q <= 1'b0;
    else if (start)                        busy_q <= 1'b1;
    else if (a_valid && a_ready && a_last) busy_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      head_q  <= built;
      words_q <= built_words;
      left_q  <= hdr_i[bdy_pkg::PKT_HDR_PAYLEN_LSB+:bdy_pkg::PKT_HDR_PAYLEN_W];
      first_q <= 1'b1;
    end else if (a_valid && a_ready) begin
      first_q <= 1'b0;
      if (from_payload) begin
        head_q  <= 704'(carry);
        words_q <= pl_end ? 5'(total) - 5'd8 : 5'(words_q[2:0]);
        left_q  <= pl_end ? 13'd0 : left_q - 13'd32;
      end else begin
        head_q  <= {256'b0, head_q[703:256]};
        words_q <= words_q - 5'd8;
      end
    end
  end

  // -------------------------------------------- beat on its way out, ICRC behind its last word
  logic         b_valid_q, b_last_q, b_tail_q;  // tail: the ICRC did not fit and follows alone
  logic [255:0] b_data_q;
  logic [3:0]   b_words_q;
  logic         fits;
  logic [31:0]  crc;

  assign fits    = b_words_q != 4'd8;
  assign a_ready = !b_valid_q || (m_ready_i && (!b_last_q || fits || b_tail_q));

  bdy_icrc u_icrc (
    .clk_i, .rst_ni,
    .valid_i(a_valid && a_ready),
    .first_i(first_q),
    .data_i(a_data),
    .words_i(a_words),
    .crc_o(crc)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      b_tail_q  <= 1'b0;
    end else begin
      if (a_ready) b_valid_q <= a_valid;
      if (m_valid_o && m_ready_i) b_tail_q <= b_last_q && !fits && !b_tail_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (a_valid && a_ready) begin
      b_data_q  <= a_data;
      b_words_q <= a_words;
      b_last_q  <= a_last;
    end
  end

  assign m_valid_o = b_valid_q;
  assign m_last_o  = b_last_q && (fits || b_tail_q);
  assign idle_o    = !busy_q && !b_valid_q;

  always_comb begin
    m_data_o = b_data_q;
    m_keep_o = '1;
    if (b_tail_q) begin
      m_data_o = 256'(crc);
      m_keep_o = 32'hF;
    end else if (b_last_q && fits) begin
      m_data_o = b_data_q | (256'(crc) << {b_words_q[2:0], 5'b0});
      m_keep_o = ~(32'hFFFFFFF0 << {b_words_q[2:0], 2'b0});
    end
  end

`ifdef VERILATOR
  // The stream's own end agrees with the header's length.
  logic up_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else begin
      up_q <= 1'b1;
      if (up_q && pl_valid_i && pl_ready_o) assert (pl_last_i == pl_end);
    end
  end
`else
  logic unused;
  assign unused = pl_last_i;
`endif

endmodule
