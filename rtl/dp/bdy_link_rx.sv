// SPDX-License-Identifier: Apache-2.0
//
// bdy_link_rx: frames from the external link, sorted into requests and responses.
//
// Latency:      three cycles from the last beat to an offer.
// Throughput:   one beat per cycle.
// Backpressure: none toward the link (H13): a frame without room is dropped and counted.
// Invariants:   a frame goes whole into one channel or is dropped whole. A DLID that is not ours or
//               an LRH without a BTH behind it drops the frame (alien_o). The class comes from the
//               opcode alone; all other checks are the deframer's.

module bdy_link_rx #(
  parameter int Beats = 512  // room per channel, power of two
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         idle_o,
  input  logic [15:0]  lid_i,

  input  logic         s_valid_i,
  input  logic [255:0] s_data_i,
  input  logic [31:0]  s_keep_i,
  input  logic         s_last_i,

  output logic [1:0]   m_valid_o,   // 0 requests, 1 responses
  input  logic [1:0]   m_ready_i,
  output logic [511:0] m_data_o,
  output logic [63:0]  m_keep_o,
  output logic [1:0]   m_last_o,

  output logic         drop_o,
  output logic         alien_o
);

  localparam logic [1:0] LnhLocal = 2'd2;
  localparam logic [1:0] LnhGlobal = 2'd3;

  // One beat waits: behind a GRH the opcode comes with the second.
  logic         wait_valid_q, wait_first_q, wait_last_q, in_frame_q;
  logic [255:0] wait_data_q;
  logic [31:0]  wait_keep_q;
  logic         move;
  logic [1:0]   lnh;
  logic [7:0]   op;
  logic         response, ours, class_now, alien_now, class_q, alien_q, to_response, alien;

  assign move = wait_valid_q && (wait_last_q || s_valid_i);
  assign lnh  = wait_data_q[9:8];
  assign op   = (lnh == LnhGlobal) ? s_data_i[8*16+:8] : wait_data_q[8*8+:8];
  assign ours = {wait_data_q[23:16], wait_data_q[31:24]} == lid_i;
  // A first beat that is also the last has no opcode behind its GRH.
  assign class_now = response && !(lnh == LnhGlobal && wait_last_q);
  assign alien_now = !ours || (lnh != LnhLocal && lnh != LnhGlobal);

  assign to_response = wait_first_q ? class_now : class_q;
  assign alien       = wait_first_q ? alien_now : alien_q;
  assign alien_o     = move && wait_last_q && alien;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_valid_q <= 1'b0;
      in_frame_q   <= 1'b0;
    end else begin
      if (s_valid_i) wait_valid_q <= 1'b1;
      else if (move) wait_valid_q <= 1'b0;
      if (s_valid_i) in_frame_q <= !s_last_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_valid_i) begin
      wait_data_q  <= s_data_i;
      wait_keep_q  <= s_keep_i;
      wait_last_q  <= s_last_i;
      wait_first_q <= !in_frame_q;
    end
    if (move) begin
      class_q <= to_response;
      alien_q <= alien;
    end
  end

  logic [1:0] drop, fifo_idle;

  for (genvar c = 0; c < 2; c++) begin : g_channel
    bdy_pkt_fifo #(.Beats(Beats)) u_fifo (
      .clk_i, .rst_ni,
      .idle_o(fifo_idle[c]),
      .wr_valid_i(move && !alien && to_response == (c == 1)),
      .wr_data_i(wait_data_q),
      .wr_keep_i(wait_keep_q),
      .wr_last_i(wait_last_q),
      .drop_o(drop[c]),
      .m_valid_o(m_valid_o[c]),
      .m_ready_i(m_ready_i[c]),
      .m_data_o(m_data_o[256*c+:256]),
      .m_keep_o(m_keep_o[32*c+:32]),
      .m_last_o(m_last_o[c])
    );
  end

  assign drop_o = drop != 2'b00;
  assign idle_o = !wait_valid_q && !in_frame_q && fifo_idle == 2'b11;

  logic       known, no_payload, deth, reth, atomic, aeth, aack, imm, ieth;
  logic [2:0] ext_words;

  bdy_bth_shape u_shape (
    .op_i(op),
    .known_o(known),
    .response_o(response),
    .no_payload_o(no_payload),
    .deth_o(deth),
    .reth_o(reth),
    .atomic_o(atomic),
    .aeth_o(aeth),
    .aack_o(aack),
    .imm_o(imm),
    .ieth_o(ieth),
    .words_o(ext_words)
  );

  logic unused;
  assign unused = ^{known, no_payload, deth, reth, atomic, aeth, aack, imm, ieth, ext_words};

endmodule
