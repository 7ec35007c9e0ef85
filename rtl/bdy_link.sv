// SPDX-License-Identifier: Apache-2.0
// bdy_link: both packet channels between the transport engines and the port: two framers, the switch, two deframers.
//
//   sq ─► framer (requests)  ─┐            ┌─► deframer (requests)  ─► rx
//                             ├── switch ──┤
//   rx ─► framer (responses) ─┘    │  ▲    └─► deframer (responses) ─► sq
//                                  ▼  │
//                                  link
//
// Requests and responses share no queue (H13). Latency, throughput and backpressure: see the parts.

module bdy_link #(
  parameter bit Shallow = 1'b0  // one frame deep everywhere (H13)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [63:0]                   cycle_i,
  input  logic [15:0]                   lid_i,
  input  logic [383:0]                  gids_i,
  input  logic [63:0]                   fault_i,

  // Transmit, bit or part 0 requests, 1 responses
  input  logic [1:0]                    tx_hdr_valid_i,
  output logic [1:0]                    tx_hdr_ready_o,
  input  logic [2*bdy_pkg::PKT_HDR_W-1:0] tx_hdr_i,
  input  logic [1:0]                    tx_pl_valid_i,
  output logic [1:0]                    tx_pl_ready_o,
  input  logic [511:0]                  tx_pl_data_i,
  input  logic [1:0]                    tx_pl_last_i,

  // Receive, 0 requests, 1 responses
  output logic [1:0]                    rx_hdr_valid_o,
  input  logic [1:0]                    rx_hdr_ready_i,
  output logic [2*bdy_pkg::PKT_HDR_W-1:0] rx_hdr_o,
  input  logic [1:0]                    rx_prq_valid_i,
  output logic [1:0]                    rx_prq_ready_o,
  input  logic [25:0]                   rx_prq_off_i,
  input  logic [25:0]                   rx_prq_len_i,
  output logic [1:0]                    rx_pst_valid_o,
  input  logic [1:0]                    rx_pst_ready_i,
  output logic [511:0]                  rx_pst_data_o,
  output logic [1:0]                    rx_pst_last_o,
  input  logic [1:0]                    rx_pkt_done_i,

  // Port
  output logic                          lnk_tx_valid_o,
  input  logic                          lnk_tx_ready_i,
  output logic [255:0]                  lnk_tx_data_o,
  output logic [31:0]                   lnk_tx_keep_o,
  output logic                          lnk_tx_last_o,
  input  logic                          lnk_rx_valid_i,
  input  logic [255:0]                  lnk_rx_data_i,
  input  logic [31:0]                   lnk_rx_keep_i,
  input  logic                          lnk_rx_last_i,

  // Counter pulses: bad ICRC, bad length, bad opcode, dropped at the port, not for this port, injected drop, duplicate, reorder
  output logic [7:0]                    cnt_o,
  output logic                          idle_o
);
  logic [1:0]   s_valid, s_ready, s_last, m_valid, m_ready, m_last;
  logic [511:0] s_data, m_data;
  logic [63:0]  s_keep, m_keep;
  logic [1:0]   framer_idle, deframer_idle, bad_icrc, bad_len, bad_op, flt_drop, flt_dup, flt_reorder;
  logic         switch_idle, ext_drop, ext_alien;

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    bdy_framer u_framer (
      .clk_i, .rst_ni, .idle_o(framer_idle[c]), .lid_i, .gids_i,
      .hdr_valid_i(tx_hdr_valid_i[c]), .hdr_ready_o(tx_hdr_ready_o[c]),
      .hdr_i(tx_hdr_i[c*bdy_pkg::PKT_HDR_W +: bdy_pkg::PKT_HDR_W]),
      .pl_valid_i(tx_pl_valid_i[c]), .pl_ready_o(tx_pl_ready_o[c]), .pl_data_i(tx_pl_data_i[256*c +: 256]),
      .pl_last_i(tx_pl_last_i[c]),
      .m_valid_o(s_valid[c]), .m_ready_i(s_ready[c]), .m_data_o(s_data[256*c +: 256]), .m_keep_o(s_keep[32*c +: 32]),
      .m_last_o(s_last[c])
    );
    bdy_deframer #(.Shallow(Shallow)) u_deframer (
      .clk_i, .rst_ni, .idle_o(deframer_idle[c]), .cycle_i,
      .s_valid_i(m_valid[c]), .s_ready_o(m_ready[c]), .s_data_i(m_data[256*c +: 256]), .s_keep_i(m_keep[32*c +: 32]),
      .s_last_i(m_last[c]),
      .hdr_valid_o(rx_hdr_valid_o[c]), .hdr_ready_i(rx_hdr_ready_i[c]),
      .hdr_o(rx_hdr_o[c*bdy_pkg::PKT_HDR_W +: bdy_pkg::PKT_HDR_W]),
      .prq_valid_i(rx_prq_valid_i[c]), .prq_ready_o(rx_prq_ready_o[c]), .prq_off_i(rx_prq_off_i[13*c +: 13]),
      .prq_len_i(rx_prq_len_i[13*c +: 13]),
      .pst_valid_o(rx_pst_valid_o[c]), .pst_ready_i(rx_pst_ready_i[c]), .pst_data_o(rx_pst_data_o[256*c +: 256]),
      .pst_last_o(rx_pst_last_o[c]), .pkt_done_i(rx_pkt_done_i[c]),
      .bad_icrc_o(bad_icrc[c]), .bad_len_o(bad_len[c]), .bad_op_o(bad_op[c])
    );
  end

  bdy_switch #(.Shallow(Shallow)) u_switch (
    .clk_i, .rst_ni, .idle_o(switch_idle), .lid_i, .fault_i,
    .rq_s_valid_i(s_valid[0]), .rq_s_ready_o(s_ready[0]), .rq_s_data_i(s_data[255:0]), .rq_s_keep_i(s_keep[31:0]),
    .rq_s_last_i(s_last[0]),
    .rs_s_valid_i(s_valid[1]), .rs_s_ready_o(s_ready[1]), .rs_s_data_i(s_data[511:256]), .rs_s_keep_i(s_keep[63:32]),
    .rs_s_last_i(s_last[1]),
    .rq_m_valid_o(m_valid[0]), .rq_m_ready_i(m_ready[0]), .rq_m_data_o(m_data[255:0]), .rq_m_keep_o(m_keep[31:0]),
    .rq_m_last_o(m_last[0]),
    .rs_m_valid_o(m_valid[1]), .rs_m_ready_i(m_ready[1]), .rs_m_data_o(m_data[511:256]), .rs_m_keep_o(m_keep[63:32]),
    .rs_m_last_o(m_last[1]),
    .ext_m_valid_o(lnk_tx_valid_o), .ext_m_ready_i(lnk_tx_ready_i), .ext_m_data_o(lnk_tx_data_o), .ext_m_keep_o(lnk_tx_keep_o),
    .ext_m_last_o(lnk_tx_last_o),
    .ext_s_valid_i(lnk_rx_valid_i), .ext_s_data_i(lnk_rx_data_i), .ext_s_keep_i(lnk_rx_keep_i), .ext_s_last_i(lnk_rx_last_i),
    .ext_drop_o(ext_drop), .ext_alien_o(ext_alien),
    .flt_drop_o(flt_drop), .flt_dup_o(flt_dup), .flt_reorder_o(flt_reorder)
  );

  assign cnt_o  = {|flt_reorder, |flt_dup, |flt_drop, ext_alien, ext_drop, |bad_op, |bad_len, |bad_icrc};
  assign idle_o = switch_idle && (&framer_idle) && (&deframer_idle);
endmodule
