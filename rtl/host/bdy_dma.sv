// SPDX-License-Identifier: Apache-2.0
// bdy_dma: AXI4 master for payload and rings; see bdy_dma_rd and bdy_dma_wr. Reads and writes share nothing but the port, so a
// stalled write never holds a read (H13). Client numbers are those of bdy_hca.

module bdy_dma #(
  parameter int NRd = 7,
  parameter int NWr = 6,
  parameter int IdW = 4,
  parameter bit Shallow = 1'b0            // one request a client in flight (H13)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               enable_i,

  input  logic [NRd-1:0]     rdq_valid_i,
  output logic [NRd-1:0]     rdq_ready_o,
  input  logic [NRd*64-1:0]  rdq_addr_i,
  input  logic [NRd*13-1:0]  rdq_len_i,
  output logic [NRd-1:0]     rdd_valid_o,
  output logic [255:0]       rdd_data_o,
  output logic               rdd_last_o,
  output logic               rdd_err_o,

  input  logic [NWr-1:0]     wrq_valid_i,
  output logic [NWr-1:0]     wrq_ready_o,
  input  logic [NWr*64-1:0]  wrq_addr_i,
  input  logic [NWr*13-1:0]  wrq_len_i,
  input  logic [NWr-1:0]     wrd_valid_i,
  output logic [NWr-1:0]     wrd_ready_o,
  input  logic [NWr*256-1:0] wrd_data_i,
  output logic [NWr-1:0]     wrb_valid_o,
  output logic               wrb_err_o,

  output logic               m_axi_awvalid_o,
  input  logic               m_axi_awready_i,
  output logic [IdW-1:0]     m_axi_awid_o,
  output logic [63:0]        m_axi_awaddr_o,
  output logic [7:0]         m_axi_awlen_o,
  output logic               m_axi_wvalid_o,
  input  logic               m_axi_wready_i,
  output logic [255:0]       m_axi_wdata_o,
  output logic [31:0]        m_axi_wstrb_o,
  output logic               m_axi_wlast_o,
  input  logic               m_axi_bvalid_i,
  output logic               m_axi_bready_o,
  input  logic [IdW-1:0]     m_axi_bid_i,
  input  logic [1:0]         m_axi_bresp_i,
  output logic               m_axi_arvalid_o,
  input  logic               m_axi_arready_i,
  output logic [IdW-1:0]     m_axi_arid_o,
  output logic [63:0]        m_axi_araddr_o,
  output logic [7:0]         m_axi_arlen_o,
  input  logic               m_axi_rvalid_i,
  output logic               m_axi_rready_o,
  input  logic [IdW-1:0]     m_axi_rid_i,
  input  logic [255:0]       m_axi_rdata_i,
  input  logic [1:0]         m_axi_rresp_i,
  input  logic               m_axi_rlast_i,

  output logic               stuck_o,     // a transfer never answered: the device must go fatal (H3)
  output logic               idle_o
);
  localparam int MaxOut = Shallow ? 1 : 4;
  logic rd_stuck, wr_stuck, rd_idle, wr_idle;
  assign stuck_o = rd_stuck || wr_stuck;
  assign idle_o  = rd_idle && wr_idle;

  bdy_dma_rd #(.N(NRd), .IdW(IdW), .MaxOut(MaxOut)) u_rd (
    .clk_i, .rst_ni, .enable_i,
    .rdq_valid_i, .rdq_ready_o, .rdq_addr_i, .rdq_len_i,
    .rdd_valid_o, .rdd_data_o, .rdd_last_o, .rdd_err_o,
    .arvalid_o(m_axi_arvalid_o), .arready_i(m_axi_arready_i), .arid_o(m_axi_arid_o),
    .araddr_o(m_axi_araddr_o), .arlen_o(m_axi_arlen_o),
    .rvalid_i(m_axi_rvalid_i), .rready_o(m_axi_rready_o), .rid_i(m_axi_rid_i), .rdata_i(m_axi_rdata_i),
    .rresp_i(m_axi_rresp_i), .rlast_i(m_axi_rlast_i),
    .stuck_o(rd_stuck), .idle_o(rd_idle)
  );

  bdy_dma_wr #(.N(NWr), .IdW(IdW), .MaxOut(MaxOut)) u_wr (
    .clk_i, .rst_ni, .enable_i,
    .wrq_valid_i, .wrq_ready_o, .wrq_addr_i, .wrq_len_i,
    .wrd_valid_i, .wrd_ready_o, .wrd_data_i, .wrb_valid_o, .wrb_err_o,
    .awvalid_o(m_axi_awvalid_o), .awready_i(m_axi_awready_i), .awid_o(m_axi_awid_o),
    .awaddr_o(m_axi_awaddr_o), .awlen_o(m_axi_awlen_o),
    .wvalid_o(m_axi_wvalid_o), .wready_i(m_axi_wready_i), .wdata_o(m_axi_wdata_o),
    .wstrb_o(m_axi_wstrb_o), .wlast_o(m_axi_wlast_o),
    .bvalid_i(m_axi_bvalid_i), .bready_o(m_axi_bready_o), .bid_i(m_axi_bid_i), .bresp_i(m_axi_bresp_i),
    .stuck_o(wr_stuck), .idle_o(wr_idle)
  );
endmodule
