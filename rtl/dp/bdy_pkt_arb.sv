// SPDX-License-Identifier: Apache-2.0
//
// bdy_pkt_arb: two packet streams into one, whole packets in turn.
//
// Latency:      none.
// Throughput:   one beat per cycle.
// Backpressure: m_ready_i goes to the stream whose packet is being passed; the other one waits.
// Invariants:   beats of two packets never mix; neither stream waits for more than one packet of
//               the other.

module bdy_pkt_arb (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic [1:0]   s_valid_i,
  output logic [1:0]   s_ready_o,
  input  logic [511:0] s_data_i,
  input  logic [63:0]  s_keep_i,
  input  logic [1:0]   s_last_i,

  output logic         m_valid_o,
  input  logic         m_ready_i,
  output logic [255:0] m_data_o,
  output logic [31:0]  m_keep_o,
  output logic         m_last_o
);

  logic [1:0] gnt;
  logic       which, any;

  bdy_rr_arb #(.N(2)) u_arb (
    .clk_i, .rst_ni,
    .req_i(s_valid_i),
    .take_i(m_valid_o && m_ready_i && m_last_o),
    .valid_o(any),
    .gnt_o(gnt),
    .idx_o(which)
  );

  assign m_valid_o = (gnt & s_valid_i) != 2'b00;
  assign s_ready_o = m_ready_i ? gnt : 2'b00;
  assign m_data_o  = which ? s_data_i[511:256] : s_data_i[255:0];
  assign m_keep_o  = which ? s_keep_i[63:32] : s_keep_i[31:0];
  assign m_last_o  = which ? s_last_i[1] : s_last_i[0];

  logic unused;
  assign unused = any;

endmodule
