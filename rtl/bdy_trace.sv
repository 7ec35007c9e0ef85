// SPDX-License-Identifier: Apache-2.0
// bdy_trace: the part of the trace port that watches handshakes between blocks: doorbells, WQE slots, packet headers. Verdicts,
// operations, CQEs and EQEs are traced by the blocks that decide them.
//
// Costs nothing when unused: it only listens. Latency: none for doorbells and headers; a WQE slot shows when its second beat arrives.

module bdy_trace #(
  parameter int LogQps = 8
) (
  input  logic          clk_i,

  // Doorbells that are taken in this cycle: send, receive, CQ arm
  input  logic [2:0]    db_take_i,
  input  logic [LogQps-1:0] db_idx_i,
  input  logic [15:0]   db_index_i,
  input  logic [63:0]   db_cq_i,
  output logic          trc_db_valid_o,
  output logic [63:0]   trc_db_o,         // db_wq_t, bit 48 set for receive; bit 63 set: db_cq_t but for its top bit

  // WQE slots as they come from memory
  input  logic          wqe_valid_i,
  input  logic [255:0]  wqe_data_i,
  input  logic          wqe_last_i,
  output logic          trc_wqe_valid_o,
  output logic [511:0]  trc_wqe_o,

  // Headers, 0 requests, 1 responses
  input  logic [1:0]    tx_take_i,
  input  logic [2*bdy_pkg::PKT_HDR_W-1:0] tx_hdr_i,
  input  logic [1:0]    rx_take_i,
  input  logic [2*bdy_pkg::PKT_HDR_W-1:0] rx_hdr_i,
  output logic [1:0]    trc_tx_valid_o,
  output logic [2*bdy_pkg::PKT_HDR_W-1:0] trc_tx_o,
  output logic [1:0]    trc_rx_valid_o,
  output logic [2*bdy_pkg::PKT_HDR_W-1:0] trc_rx_o
);
  assign trc_db_valid_o = (db_take_i != '0);
  assign trc_db_o       = db_take_i[2] ? {1'b1, db_cq_i[62:0]}
                                       : {15'd0, db_take_i[1], db_index_i, 8'd0, bdy_pkg::QPN_BASE[23:LogQps], db_idx_i};

  logic [255:0] low_q;
  always_ff @(posedge clk_i) if (wqe_valid_i && !wqe_last_i) low_q <= wqe_data_i;
  assign trc_wqe_valid_o = wqe_valid_i && wqe_last_i;
  assign trc_wqe_o       = {wqe_data_i, low_q};

  assign trc_tx_valid_o = tx_take_i;
  assign trc_tx_o       = tx_hdr_i;
  assign trc_rx_valid_o = rx_take_i;
  assign trc_rx_o       = rx_hdr_i;

  logic unused;
  assign unused = db_cq_i[63];
endmodule
