// SPDX-License-Identifier: Apache-2.0
//
// bdy_switch: joins two framers, two deframers and the external link. Requests and responses share
// nothing but the outgoing link wire (H13).
//
//   request framer  --> lane 0 --+--> loopback --> arb --> request deframer
//                                +--> ext arb --> link out   ^
//   response framer --> lane 1 --+--> loopback --> arb -------|--> response deframer
//   link in --> bdy_link_rx --+-- requests -------------------+       ^
//                             +-- responses --------------------------+
//
// Latency:      one cycle per looped packet; bdy_link_rx's for external ones.
// Throughput:   one beat per cycle and channel.
// Backpressure: loopback is credit based: a deframer's free buffer is the credit, s_ready its
//               return; so loopback never drops but on request (LINK_FAULT). The link in is never
//               stalled: no room drops and counts. The link out may stall both lanes while both
//               have a packet for it.
// Invariants:   loopback iff the DLID is ours (H17). Packets leave whole.

module bdy_switch #(
  parameter bit Shallow  = 1'b0,                // room for one frame of a link in each channel (H13)
  parameter int ExtBeats = Shallow ? 256 : 512  // that room in beats, power of two, at least one frame's
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         idle_o,
  input  logic [15:0]  lid_i,
  input  logic [63:0]  fault_i,      // register LINK_FAULT

  input  logic         rq_s_valid_i, // request framer
  output logic         rq_s_ready_o,
  input  logic [255:0] rq_s_data_i,
  input  logic [31:0]  rq_s_keep_i,
  input  logic         rq_s_last_i,
  input  logic         rs_s_valid_i, // response framer
  output logic         rs_s_ready_o,
  input  logic [255:0] rs_s_data_i,
  input  logic [31:0]  rs_s_keep_i,
  input  logic         rs_s_last_i,

  output logic         rq_m_valid_o, // request deframer
  input  logic         rq_m_ready_i,
  output logic [255:0] rq_m_data_o,
  output logic [31:0]  rq_m_keep_o,
  output logic         rq_m_last_o,
  output logic         rs_m_valid_o, // response deframer
  input  logic         rs_m_ready_i,
  output logic [255:0] rs_m_data_o,
  output logic [31:0]  rs_m_keep_o,
  output logic         rs_m_last_o,

  output logic         ext_m_valid_o, // link out
  input  logic         ext_m_ready_i,
  output logic [255:0] ext_m_data_o,
  output logic [31:0]  ext_m_keep_o,
  output logic         ext_m_last_o,
  input  logic         ext_s_valid_i, // link in
  input  logic [255:0] ext_s_data_i,
  input  logic [31:0]  ext_s_keep_i,
  input  logic         ext_s_last_i,

  output logic         ext_drop_o,    // pulses: no room for an external frame
  output logic         ext_alien_o,   // external frame not for this port
  output logic [1:0]   flt_drop_o,    // faults injected, bit 0 requests, 1 responses
  output logic [1:0]   flt_dup_o,
  output logic [1:0]   flt_reorder_o
);

  // Per channel, 0 requests, 1 responses.
  logic [1:0]   s_valid, s_ready, s_last;
  logic [511:0] s_data;
  logic [63:0]  s_keep;
  logic [1:0]   loop_valid, loop_ready, loop_last;
  logic [511:0] loop_data;
  logic [63:0]  loop_keep;
  logic [1:0]   out_valid, out_ready, out_last;
  logic [511:0] out_data;
  logic [63:0]  out_keep;
  logic [1:0]   in_valid, in_ready, in_last;
  logic [511:0] in_data;
  logic [63:0]  in_keep;
  logic [1:0]   m_valid, m_ready, m_last;
  logic [511:0] m_data;
  logic [63:0]  m_keep;
  logic [1:0]   lane_idle;
  logic         rx_idle;

  assign s_valid = {rs_s_valid_i, rq_s_valid_i};
  assign s_data  = {rs_s_data_i, rq_s_data_i};
  assign s_keep  = {rs_s_keep_i, rq_s_keep_i};
  assign s_last  = {rs_s_last_i, rq_s_last_i};
  assign {rs_s_ready_o, rq_s_ready_o} = s_ready;

  assign {rs_m_valid_o, rq_m_valid_o} = m_valid;
  assign {rs_m_data_o, rq_m_data_o}   = m_data;
  assign {rs_m_keep_o, rq_m_keep_o}   = m_keep;
  assign {rs_m_last_o, rq_m_last_o}   = m_last;
  assign m_ready = {rs_m_ready_i, rq_m_ready_i};

  for (genvar c = 0; c < 2; c++) begin : g_channel
    bdy_switch_lane #(.Channel(c == 1)) u_lane (
      .clk_i, .rst_ni,
      .idle_o(lane_idle[c]),
      .lid_i, .fault_i,
      .s_valid_i(s_valid[c]),
      .s_ready_o(s_ready[c]),
      .s_data_i(s_data[256*c+:256]),
      .s_keep_i(s_keep[32*c+:32]),
      .s_last_i(s_last[c]),
      .x_valid_o(out_valid[c]),
      .x_ready_i(out_ready[c]),
      .x_data_o(out_data[256*c+:256]),
      .x_keep_o(out_keep[32*c+:32]),
      .x_last_o(out_last[c]),
      .m_valid_o(loop_valid[c]),
      .m_ready_i(loop_ready[c]),
      .m_data_o(loop_data[256*c+:256]),
      .m_keep_o(loop_keep[32*c+:32]),
      .m_last_o(loop_last[c]),
      .drop_o(flt_drop_o[c]),
      .dup_o(flt_dup_o[c]),
      .reorder_o(flt_reorder_o[c])
    );

    bdy_pkt_arb u_arb (
      .clk_i, .rst_ni,
      .s_valid_i({in_valid[c], loop_valid[c]}),
      .s_ready_o({in_ready[c], loop_ready[c]}),
      .s_data_i({in_data[256*c+:256], loop_data[256*c+:256]}),
      .s_keep_i({in_keep[32*c+:32], loop_keep[32*c+:32]}),
      .s_last_i({in_last[c], loop_last[c]}),
      .m_valid_o(m_valid[c]),
      .m_ready_i(m_ready[c]),
      .m_data_o(m_data[256*c+:256]),
      .m_keep_o(m_keep[32*c+:32]),
      .m_last_o(m_last[c])
    );
  end

  bdy_pkt_arb u_out_arb (
    .clk_i, .rst_ni,
    .s_valid_i(out_valid),
    .s_ready_o(out_ready),
    .s_data_i(out_data),
    .s_keep_i(out_keep),
    .s_last_i(out_last),
    .m_valid_o(ext_m_valid_o),
    .m_ready_i(ext_m_ready_i),
    .m_data_o(ext_m_data_o),
    .m_keep_o(ext_m_keep_o),
    .m_last_o(ext_m_last_o)
  );

  bdy_link_rx #(.Beats(ExtBeats)) u_rx (
    .clk_i, .rst_ni,
    .idle_o(rx_idle),
    .lid_i,
    .s_valid_i(ext_s_valid_i),
    .s_data_i(ext_s_data_i),
    .s_keep_i(ext_s_keep_i),
    .s_last_i(ext_s_last_i),
    .m_valid_o(in_valid),
    .m_ready_i(in_ready),
    .m_data_o(in_data),
    .m_keep_o(in_keep),
    .m_last_o(in_last),
    .drop_o(ext_drop_o),
    .alien_o(ext_alien_o)
  );

  assign idle_o = lane_idle == 2'b11 && rx_idle;

endmodule
