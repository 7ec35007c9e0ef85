// SPDX-License-Identifier: Apache-2.0
// bdy_hca: the adapter. This module only wires blocks; each block's page is in docs/blocks.
//
//              AXI4-Lite                                  AXI4 (payload, rings)        MSI-X
//                  │                                            │                       ▲
//               ┌──▼──┐  doorbells   ┌────┐  WQE, payload    ┌──▼──┐   CQE, EQE      ┌──┴─┐
//               │ bar ├─────────────►│ sq ├─────────────────►│ dma │◄────────────────┤ eq │◄─ cq ◄─ sq, rx
//               └──┬──┘              └┬──┬┘                  └──▲──┘                 └────┘
//      commands ┌──▼──┐  operations  ┌▼─┐│ packets  ┌──────┐   │
//         mcu ──┤ cmd ├─────────────►│  ││─────────►│ link ├───┼──► port
//               └─────┘              │prot◄─────────┤      │   │
//                           checks ┌─►  ││          └──┬───┘   │
//                                  │ └──┘│             ▼       │
//                                  └─────┴──────────  rx, rq ──┘
//
// idle_o: nothing is in flight and no request is outstanding; the clock may stop until an input changes, and cycle_o may be
// moved to at most next_timer_o by skip_*.

module bdy_hca #(
  parameter int LogKeys = 13,
  parameter int LogMtt = 16,
  parameter int LogQps = 8
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  // Time: move the cycle counter while idle
  input  logic          skip_valid_i,
  input  logic [63:0]   skip_to_i,
  output logic [63:0]   cycle_o,
  output logic [63:0]   next_timer_o,     // all-ones: none
  output logic          idle_o,
  output logic          fatal_o,

  // Firmware: boot_run_i 0 holds the embedded core and opens its RAM
  input  logic          boot_run_i,
  input  logic          boot_valid_i,
  input  logic [16:0]   boot_addr_i,
  input  logic [31:0]   boot_data_i,

  // BAR
  input  logic          s_axil_awvalid_i,
  output logic          s_axil_awready_o,
  input  logic [20:0]   s_axil_awaddr_i,
  input  logic          s_axil_wvalid_i,
  output logic          s_axil_wready_o,
  input  logic [63:0]   s_axil_wdata_i,
  input  logic [7:0]    s_axil_wstrb_i,
  output logic          s_axil_bvalid_o,
  input  logic          s_axil_bready_i,
  output logic [1:0]    s_axil_bresp_o,
  input  logic          s_axil_arvalid_i,
  output logic          s_axil_arready_o,
  input  logic [20:0]   s_axil_araddr_i,
  output logic          s_axil_rvalid_o,
  input  logic          s_axil_rready_i,
  output logic [63:0]   s_axil_rdata_o,
  output logic [1:0]    s_axil_rresp_o,

  // Host memory
  output logic          m_axi_awvalid_o,
  input  logic          m_axi_awready_i,
  output logic [3:0]    m_axi_awid_o,
  output logic [63:0]   m_axi_awaddr_o,
  output logic [7:0]    m_axi_awlen_o,
  output logic          m_axi_wvalid_o,
  input  logic          m_axi_wready_i,
  output logic [255:0]  m_axi_wdata_o,
  output logic [31:0]   m_axi_wstrb_o,
  output logic          m_axi_wlast_o,
  input  logic          m_axi_bvalid_i,
  output logic          m_axi_bready_o,
  input  logic [3:0]    m_axi_bid_i,
  input  logic [1:0]    m_axi_bresp_i,
  output logic          m_axi_arvalid_o,
  input  logic          m_axi_arready_i,
  output logic [3:0]    m_axi_arid_o,
  output logic [63:0]   m_axi_araddr_o,
  output logic [7:0]    m_axi_arlen_o,
  input  logic          m_axi_rvalid_i,
  output logic          m_axi_rready_o,
  input  logic [3:0]    m_axi_rid_i,
  input  logic [255:0]  m_axi_rdata_i,
  input  logic [1:0]    m_axi_rresp_i,
  input  logic          m_axi_rlast_i,

  output logic          msix_valid_o,
  input  logic          msix_ready_i,
  output logic [63:0]   msix_addr_o,
  output logic [31:0]   msix_data_o,

  // Link
  output logic          lnk_tx_valid_o,
  input  logic          lnk_tx_ready_i,
  output logic [255:0]  lnk_tx_data_o,
  output logic [31:0]   lnk_tx_keep_o,
  output logic          lnk_tx_last_o,
  input  logic          lnk_rx_valid_i,
  output logic          lnk_rx_ready_o,   // always: the port never holds the link back (H13)
  input  logic [255:0]  lnk_rx_data_i,
  input  logic [31:0]   lnk_rx_keep_i,
  input  logic          lnk_rx_last_i,

  // Trace port; events of one cycle are ordered as listed
  output logic          trc_db_valid_o,
  output logic [63:0]   trc_db_o,         // db_wq_t or, bit 63 set, db_cq_t's low half
  output logic          trc_wqe_valid_o,
  output logic [511:0]  trc_wqe_o,
  output logic          trc_acc_valid_o,
  output logic [511:0]  trc_acc_o,
  output logic          trc_op_valid_o,
  output logic [1023:0] trc_op_o,
  output logic [1:0]    trc_tx_valid_o,   // pkt_hdr_t; 0 requests, 1 responses
  output logic [2047:0] trc_tx_o,
  output logic [1:0]    trc_rx_valid_o,
  output logic [2047:0] trc_rx_o,
  output logic          trc_cqe_valid_o,
  output logic [511:0]  trc_cqe_o,
  output logic          trc_eqe_valid_o,
  output logic [511:0]  trc_eqe_o
);
  // ------------------------------------------------------------------ clock count, resets
  logic [63:0] cycle_q;
  assign cycle_o = cycle_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycle_q <= '0;
    else cycle_q <= (skip_valid_i && idle_o) ? skip_to_i : cycle_q + 64'd1;
  end

  // CTRL.reset holds every block in reset for 16 cycles; the cycle counter and the firmware's RAM survive.
  logic       soft_reset;
  logic [3:0] soft_cnt_q;
  logic       rst_core_nq;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      soft_cnt_q  <= '0;
      rst_core_nq <= 1'b0;
    end else begin
      soft_cnt_q  <= soft_reset ? 4'd15 : ((soft_cnt_q != '0) ? soft_cnt_q - 4'd1 : '0);
      rst_core_nq <= !soft_reset && (soft_cnt_q == '0);
    end
  end

  // ------------------------------------------------------------------ configuration and status
  logic [63:0]  cmdq_base, link_fault;
  logic [3:0]   cmdq_log, dev_st;
  logic [15:0]  cmd_pi, lid, nak_delay;
  logic         cmdq_set, dly_reorder, port_eth, port_up, bus_master, strict;
  logic [7:0]   dly_max, health, async_eqn, mcu_halt_code;
  logic [31:0]  dly_seed, mcu_halt_pc;
  logic [383:0] gids;
  logic         mcu_halt, mcu_sleep, prot_fatal, dma_stuck, eq_overflow;
  logic [7:0]   health_seen;
  logic [3:0]   dev_st_seen;
  logic         bar_idle, cmd_idle, dma_idle, cq_idle, eq_idle, sq_idle, rx_idle, rq_idle, prot_idle, link_idle;

  // The first cause of death stays.
  logic [7:0] health_q, cause;
  assign cause = mcu_halt ? bdy_pkg::HEALTH_MCU_HALT : prot_fatal ? bdy_pkg::HEALTH_TABLE_WRITE :
                 dma_stuck ? bdy_pkg::HEALTH_DMA_TIMEOUT : eq_overflow ? bdy_pkg::HEALTH_EQ_OVERFLOW : health;
  always_ff @(posedge clk_i or negedge rst_core_nq) begin
    if (!rst_core_nq) health_q <= '0;
    else if (health_q == '0) health_q <= cause;
  end
  assign health_seen = health_q;
  assign dev_st_seen = (health_q != '0) ? bdy_pkg::DEV_ST_FATAL : dev_st;
  assign fatal_o     = (health_q != '0);

  // ------------------------------------------------------------------ DMA clients
  localparam int NRd = 7;                 // 0 sq WQE, 1 rq, 2 cmd, 3 sq gather, 4 READ gather, 5 cq record, 6 atomics
  localparam int NWr = 6;                 // 0 rx scatter, 1 READ sink, 2 cq, 3 eq, 4 cmd, 5 atomics
  logic [NRd-1:0]     rdq_valid, rdq_ready, rdd_valid;
  logic [NRd*64-1:0]  rdq_addr;
  logic [NRd*13-1:0]  rdq_len;
  logic [255:0]       rdd_data;
  logic               rdd_last, rdd_err;
  logic [NWr-1:0]     wrq_valid, wrq_ready, wrd_valid, wrd_ready, wrb_valid;
  logic [NWr*64-1:0]  wrq_addr;
  logic [NWr*13-1:0]  wrq_len;
  logic [NWr*256-1:0] wrd_data;
  logic               wrb_err;
  // Nothing executes atomics here yet.
  assign rdq_valid[6]           = 1'b0;
  assign rdq_addr[64*6 +: 64]   = '0;
  assign rdq_len[13*6 +: 13]    = '0;
  assign wrq_valid[5]           = 1'b0;
  assign wrq_addr[64*5 +: 64]   = '0;
  assign wrq_len[13*5 +: 13]    = '0;
  assign wrd_valid[5]           = 1'b0;
  assign wrd_data[256*5 +: 256] = '0;

  bdy_dma #(.NRd(NRd), .NWr(NWr)) u_dma (
    .clk_i, .rst_ni(rst_core_nq), .enable_i(bus_master && !fatal_o),
    .rdq_valid_i(rdq_valid), .rdq_ready_o(rdq_ready), .rdq_addr_i(rdq_addr), .rdq_len_i(rdq_len),
    .rdd_valid_o(rdd_valid), .rdd_data_o(rdd_data), .rdd_last_o(rdd_last), .rdd_err_o(rdd_err),
    .wrq_valid_i(wrq_valid), .wrq_ready_o(wrq_ready), .wrq_addr_i(wrq_addr), .wrq_len_i(wrq_len),
    .wrd_valid_i(wrd_valid), .wrd_ready_o(wrd_ready), .wrd_data_i(wrd_data),
    .wrb_valid_o(wrb_valid), .wrb_err_o(wrb_err),
    .m_axi_awvalid_o, .m_axi_awready_i, .m_axi_awid_o, .m_axi_awaddr_o, .m_axi_awlen_o,
    .m_axi_wvalid_o, .m_axi_wready_i, .m_axi_wdata_o, .m_axi_wstrb_o, .m_axi_wlast_o,
    .m_axi_bvalid_i, .m_axi_bready_o, .m_axi_bid_i, .m_axi_bresp_i,
    .m_axi_arvalid_o, .m_axi_arready_i, .m_axi_arid_o, .m_axi_araddr_o, .m_axi_arlen_o,
    .m_axi_rvalid_i, .m_axi_rready_o, .m_axi_rid_i, .m_axi_rdata_i, .m_axi_rresp_i, .m_axi_rlast_i,
    .stuck_o(dma_stuck), .idle_o(dma_idle)
  );

  // ------------------------------------------------------------------ BAR
  localparam int NCtx = 6;                // 0 bar, 1 sq engine, 2 sq responses, 3 rx requests, 4 rq, 5 rx responses
  logic [NCtx*LogQps-1:0] ctx_idx;
  logic [NCtx*512-1:0]    ctx0, ctx1;
  logic [NCtx*32-1:0]     ctx_gen;

  logic                   db_sq_valid, db_sq_ready, db_rq_valid, db_rq_ready, db_cq_valid, db_cq_ready, db_cq_bad;
  logic [LogQps-1:0]      db_idx;
  logic [15:0]            db_index;
  logic [63:0]            db_cq;
  logic [7:0]             db_cq_uar;
  // No shared receive queues here yet: their doorbells are taken and counted as refused.
  logic                   db_srq_valid, db_srq_bad_q;
  logic [63:0]            db_srq;
  logic [7:0]             db_srq_uar, db_srq_bad_uar_q;
  always_ff @(posedge clk_i or negedge rst_core_nq) begin
    if (!rst_core_nq) begin
      db_srq_bad_q     <= 1'b0;
      db_srq_bad_uar_q <= '0;
    end else begin
      db_srq_bad_q <= db_srq_valid;
      if (db_srq_valid) db_srq_bad_uar_q <= db_srq_uar;
    end
  end
  logic                   eq_db_valid, eq_db_arm, viol;
  logic [2:0]             eq_db_eqn;
  logic [31:0]            eq_db_ci;
  logic [511:0]           msix_tbl_addr;
  logic [255:0]           msix_tbl_data;
  logic [7:0]             msix_mask, msix_pending;
  logic [63:0]            cnt;

  localparam int NEv = 6;                 // 0 cmd, 1 cq, 2 rx, 3 sq, 4 bar, 5 prot
  logic [NEv-1:0]         ev_valid, ev_ready, ev_done;
  logic [NEv*8-1:0]       ev_eqn;
  logic [NEv*64-1:0]      ev;
  assign ev_eqn[8*4 +: 16] = 16'hffff;

  bdy_bar #(.LogQps(LogQps)) u_bar (
    .clk_i, .rst_ni(rst_core_nq),
    .awvalid_i(s_axil_awvalid_i), .awready_o(s_axil_awready_o), .awaddr_i(s_axil_awaddr_i),
    .wvalid_i(s_axil_wvalid_i), .wready_o(s_axil_wready_o), .wdata_i(s_axil_wdata_i), .wstrb_i(s_axil_wstrb_i),
    .bvalid_o(s_axil_bvalid_o), .bready_i(s_axil_bready_i), .bresp_o(s_axil_bresp_o),
    .arvalid_i(s_axil_arvalid_i), .arready_o(s_axil_arready_o), .araddr_i(s_axil_araddr_i),
    .rvalid_o(s_axil_rvalid_o), .rready_i(s_axil_rready_i), .rdata_o(s_axil_rdata_o), .rresp_o(s_axil_rresp_o),
    .cycle_i(cycle_q), .dev_st_i(dev_st_seen), .health_i(health_seen), .halt_code_i(mcu_halt_code),
    .halt_pc_i(mcu_halt_pc), .cnt_i(cnt), .msix_pending_i(msix_pending),
    .soft_reset_o(soft_reset), .cmdq_base_o(cmdq_base), .cmdq_log_o(cmdq_log), .cmd_pi_o(cmd_pi), .cmdq_set_o(cmdq_set),
    .dly_max_o(dly_max), .dly_reorder_o(dly_reorder), .dly_seed_o(dly_seed), .link_fault_o(link_fault),
    .lid_o(lid), .port_eth_o(port_eth), .port_up_o(port_up), .nak_delay_o(nak_delay), .bus_master_o(bus_master),
    .gids_o(gids), .eq_db_valid_o(eq_db_valid), .eq_db_eqn_o(eq_db_eqn), .eq_db_ci_o(eq_db_ci), .eq_db_arm_o(eq_db_arm),
    .msix_tbl_addr_o(msix_tbl_addr), .msix_tbl_data_o(msix_tbl_data), .msix_mask_o(msix_mask),
    .ctx_idx_o(ctx_idx[0 +: LogQps]), .ctx0_i(ctx0[511:0]),
    .db_sq_valid_o(db_sq_valid), .db_sq_ready_i(db_sq_ready), .db_rq_valid_o(db_rq_valid), .db_rq_ready_i(db_rq_ready),
    .db_idx_o(db_idx), .db_index_o(db_index), .db_cq_valid_o(db_cq_valid), .db_cq_ready_i(db_cq_ready), .db_cq_o(db_cq),
    .db_cq_uar_o(db_cq_uar), .db_cq_bad_i(db_cq_bad),
    .db_srq_valid_o(db_srq_valid), .db_srq_ready_i(1'b1), .db_srq_o(db_srq), .db_srq_uar_o(db_srq_uar),
    .db_srq_bad_i(db_srq_bad_q), .db_srq_bad_uar_i(db_srq_bad_uar_q),
    .ev_valid_o(ev_valid[4]), .ev_ready_i(ev_ready[4]), .ev_o(ev[64*4 +: 64]), .viol_o(viol), .idle_o(bar_idle)
  );

  // ------------------------------------------------------------------ embedded core and its peripherals
  logic         mmio_valid, mmio_we, mmio_ready, mcu_event;
  logic [15:0]  mmio_addr;
  logic [31:0]  mmio_wdata, mmio_rdata;
  logic [3:0]   mmio_be;
  logic         mcu_run;
  assign mcu_run = boot_run_i && rst_core_nq;

  bdy_mcu #(.RamBytes(bdy_pkg::FW_RAM_BYTES)) u_mcu (
    .clk_i, .rst_ni, .run_i(mcu_run), .boot_valid_i, .boot_addr_i, .boot_data_i, .event_i(mcu_event),
    .mmio_valid_o(mmio_valid), .mmio_we_o(mmio_we), .mmio_addr_o(mmio_addr), .mmio_wdata_o(mmio_wdata), .mmio_be_o(mmio_be),
    .mmio_ready_i(mmio_ready), .mmio_rdata_i(mmio_rdata),
    .sleep_o(mcu_sleep), .halt_o(mcu_halt), .halt_code_o(mcu_halt_code), .halt_pc_o(mcu_halt_pc),
    // The instruction trace is for the core's own bench.
    /* verilator lint_off PINCONNECTEMPTY */
    .ret_valid_o(), .ret_pc_o(), .ret_insn_o(), .ret_rd_o(), .ret_rd_we_o(), .ret_rd_data_o(), .ret_st_valid_o(),
    .ret_st_addr_o(), .ret_st_data_o(), .ret_st_be_o()
    /* verilator lint_on PINCONNECTEMPTY */
  );

  localparam int NOp = 3;                 // 0 cmd, 1 sq, 2 rx
  logic [NOp-1:0]         op_valid, op_ready, ope_valid, opd_valid;
  logic [NOp*1024-1:0]    op_req;
  logic [NOp*8-1:0]       op_tag;
  logic [7:0]             ope_tag, ope_rule, opd_tag;
  logic [31:0]            ope_res;
  logic                   ope_drain;
  logic                   raw_valid, raw_done, raw_err;
  logic [3:0]             raw_what;
  logic [23:0]            raw_idx;
  logic [511:0]           raw_data;
  logic [31:0]            viol_limit;
  logic                   raw_srq_valid;
  logic [7:0]             raw_srq_idx;
  logic [63:0]            cmd_dma_addr;
  logic [12:0]            cmd_dma_len;
  assign op_tag[7:0] = '0;
  assign rdq_addr[64*2 +: 64] = cmd_dma_addr;
  assign rdq_len[13*2 +: 13]  = cmd_dma_len;
  assign wrq_addr[64*4 +: 64] = cmd_dma_addr;
  assign wrq_len[13*4 +: 13]  = cmd_dma_len;

  bdy_cmd #(.LogKeys(LogKeys), .LogMtt(LogMtt), .LogQps(LogQps)) u_cmd (
    .clk_i, .rst_ni(rst_core_nq), .cycle_i(cycle_q),
    .mmio_valid_i(mmio_valid), .mmio_we_i(mmio_we), .mmio_addr_i(mmio_addr), .mmio_wdata_i(mmio_wdata), .mmio_be_i(mmio_be),
    .mmio_ready_o(mmio_ready), .mmio_rdata_o(mmio_rdata), .event_o(mcu_event),
    .cmdq_base_i(cmdq_base), .cmdq_log_i(cmdq_log), .cmd_pi_i(cmd_pi), .cmdq_set_i(cmdq_set),
    .dev_st_o(dev_st), .health_o(health), .strict_o(strict), .async_eqn_o(async_eqn),
    .viol_limit_o(viol_limit), .rd_srq_valid_o(raw_srq_valid), .rd_srq_idx_o(raw_srq_idx), .rd_srq_done_i(1'b0), .rd_srq_data_i('0),
    .rdq_valid_o(rdq_valid[2]), .rdq_ready_i(rdq_ready[2]), .dma_addr_o(cmd_dma_addr), .dma_len_o(cmd_dma_len),
    .rdd_valid_i(rdd_valid[2]), .rdd_data_i(rdd_data), .rdd_last_i(rdd_last), .rdd_err_i(rdd_err),
    .wrq_valid_o(wrq_valid[4]), .wrq_ready_i(wrq_ready[4]), .wrd_valid_o(wrd_valid[4]), .wrd_ready_i(wrd_ready[4]),
    .wrd_data_o(wrd_data[256*4 +: 256]), .wrb_valid_i(wrb_valid[4]), .wrb_err_i(wrb_err),
    .op_valid_o(op_valid[0]), .op_ready_i(op_ready[0]), .op_o(op_req[1023:0]), .ope_valid_i(ope_valid[0]),
    .ope_rule_i(ope_rule), .ope_res_i(ope_res), .ope_drain_i(ope_drain), .opd_valid_i(opd_valid[0]),
    .rd_valid_o(raw_valid), .rd_what_o(raw_what), .rd_idx_o(raw_idx), .rd_done_i(raw_done), .rd_err_i(raw_err),
    .rd_data_i(raw_data),
    .ev_valid_o(ev_valid[0]), .ev_ready_i(ev_ready[0]), .ev_eqn_o(ev_eqn[7:0]), .ev_o(ev[63:0]), .ev_done_i(ev_done[0]),
    .idle_o(cmd_idle)
  );

  // ------------------------------------------------------------------ protection: access, bind, drain, tables, contexts
  localparam int NAcc = 4;                // 0 sq gather, 1 rx scatter, 2 READ gather, 3 READ sink
  logic [NAcc-1:0]     acc_valid, acc_ready, acc_rsp_valid, ret_valid, ret_epoch;
  logic [NAcc*512-1:0] acc_req;
  logic [255:0]        acc_rsp;
  logic [1:0]          qpev_valid;      // 0 sq, 1 rx
  logic                qpev_bump;
  logic [LogQps-1:0]   qpev_idx;
  logic [2:0]          qpev_st;
  logic [1:0]          qpev_ack;
  logic                ctxw_valid, ctxw_ack, ctxw_ack_cq, ctxw_ack_eq, ctxw_ack_ah;
  logic [3:0]          ctxw_kind;
  logic [15:0]         ctxw_idx;
  logic [511:0]        ctxw_data;
  assign ctxw_ack = ctxw_ack_cq || ctxw_ack_eq || ctxw_ack_ah;

  bdy_prot #(.LogKeys(LogKeys), .LogMtt(LogMtt), .LogQps(LogQps)) u_prot (
    .clk_i, .rst_ni(rst_core_nq), .strict_ibta_i(strict),
    .dly_max_i(dly_max), .dly_reorder_i(dly_reorder), .dly_seed_i(dly_seed),
    .acc_valid_i(acc_valid), .acc_ready_o(acc_ready), .acc_req_i(acc_req),
    .acc_rsp_valid_o(acc_rsp_valid), .acc_rsp_o(acc_rsp), .ret_valid_i(ret_valid), .ret_epoch_i(ret_epoch),
    .op_valid_i(op_valid), .op_ready_o(op_ready), .op_req_i(op_req), .op_tag_i(op_tag),
    .ope_valid_o(ope_valid), .ope_tag_o(ope_tag), .ope_rule_o(ope_rule), .ope_res_o(ope_res), .ope_drain_o(ope_drain),
    .opd_valid_o(opd_valid), .opd_tag_o(opd_tag),
    .qpev_valid_o(qpev_valid), .qpev_idx_o(qpev_idx), .qpev_st_o(qpev_st), .qpev_bump_o(qpev_bump), .qpev_ack_i(qpev_ack),
    .ctx_idx_i(ctx_idx), .ctx0_o(ctx0), .ctx1_o(ctx1), .ctx_gen_o(ctx_gen),
    .ctxw_valid_o(ctxw_valid), .ctxw_kind_o(ctxw_kind), .ctxw_idx_o(ctxw_idx), .ctxw_data_o(ctxw_data),
    .ctxw_ack_i(ctxw_ack),
    .rd_valid_i(raw_valid), .rd_what_i(raw_what), .rd_idx_i(raw_idx), .rd_done_o(raw_done), .rd_err_o(raw_err),
    .rd_data_o(raw_data),
    .ev_valid_o(ev_valid[5]), .ev_ready_i(ev_ready[5]), .ev_o(ev[64*5 +: 64]),
    .trc_acc_valid_o, .trc_acc_o, .trc_op_valid_o, .trc_op_o,
    .fatal_o(prot_fatal), .idle_o(prot_idle)
  );

  // ------------------------------------------------------------------ link
  logic [1:0]    tx_hdr_valid, tx_hdr_ready, tx_pl_valid, tx_pl_ready, tx_pl_last;
  logic [2047:0] tx_hdr, rx_hdr;
  logic [511:0]  tx_pl_data, rx_pst_data;
  logic [1:0]    rx_hdr_valid, rx_hdr_ready, rx_prq_valid, rx_prq_ready, rx_pst_valid, rx_pst_ready, rx_pst_last, rx_pkt_done;
  logic [25:0]   rx_prq_off, rx_prq_len;
  logic [7:0]    link_cnt;
  assign lnk_rx_ready_o = 1'b1;

  bdy_link u_link (
    .clk_i, .rst_ni(rst_core_nq), .cycle_i(cycle_q), .lid_i(lid), .gids_i(gids), .fault_i(link_fault),
    .tx_hdr_valid_i(tx_hdr_valid), .tx_hdr_ready_o(tx_hdr_ready), .tx_hdr_i(tx_hdr),
    .tx_pl_valid_i(tx_pl_valid), .tx_pl_ready_o(tx_pl_ready), .tx_pl_data_i(tx_pl_data), .tx_pl_last_i(tx_pl_last),
    .rx_hdr_valid_o(rx_hdr_valid), .rx_hdr_ready_i(rx_hdr_ready), .rx_hdr_o(rx_hdr),
    .rx_prq_valid_i(rx_prq_valid), .rx_prq_ready_o(rx_prq_ready), .rx_prq_off_i(rx_prq_off), .rx_prq_len_i(rx_prq_len),
    .rx_pst_valid_o(rx_pst_valid), .rx_pst_ready_i(rx_pst_ready), .rx_pst_data_o(rx_pst_data), .rx_pst_last_o(rx_pst_last),
    .rx_pkt_done_i(rx_pkt_done),
    .lnk_tx_valid_o, .lnk_tx_ready_i, .lnk_tx_data_o, .lnk_tx_keep_o, .lnk_tx_last_o,
    .lnk_rx_valid_i, .lnk_rx_data_i, .lnk_rx_keep_i, .lnk_rx_last_i,
    .cnt_o(link_cnt), .idle_o(link_idle)
  );

  // ------------------------------------------------------------------ completion and event queues
  logic [1:0]    cqe_valid, cqe_ready, cqe_done;
  logic [47:0]   cqe_cqn;
  logic [1023:0] cqe;
  logic          cqe_err, eq_dropped;

  bdy_cq u_cq (
    .clk_i, .rst_ni(rst_core_nq), .cycle_i(cycle_q),
    .cqe_valid_i(cqe_valid), .cqe_ready_o(cqe_ready), .cqe_cqn_i(cqe_cqn), .cqe_i(cqe), .cqe_done_o(cqe_done),
    .cqe_err_o(cqe_err),
    .db_valid_i(db_cq_valid), .db_ready_o(db_cq_ready), .db_i(db_cq), .db_uar_i(db_cq_uar), .db_bad_o(db_cq_bad),
    .ctxw_valid_i(ctxw_valid && (ctxw_kind == bdy_pkg::CTX_KIND_CQ)), .ctxw_idx_i(ctxw_idx), .ctxw_data_i(ctxw_data),
    .ctxw_ack_o(ctxw_ack_cq),
    .rdq_valid_o(rdq_valid[5]), .rdq_ready_i(rdq_ready[5]), .rdq_addr_o(rdq_addr[64*5 +: 64]), .rdq_len_o(rdq_len[13*5 +: 13]),
    .rdd_valid_i(rdd_valid[5]), .rdd_data_i(rdd_data), .rdd_err_i(rdd_err),
    .wrq_valid_o(wrq_valid[2]), .wrq_ready_i(wrq_ready[2]), .wrq_addr_o(wrq_addr[64*2 +: 64]), .wrq_len_o(wrq_len[13*2 +: 13]),
    .wrd_valid_o(wrd_valid[2]), .wrd_ready_i(wrd_ready[2]), .wrd_data_o(wrd_data[256*2 +: 256]),
    .wrb_valid_i(wrb_valid[2]), .wrb_err_i(wrb_err),
    .ev_valid_o(ev_valid[1]), .ev_ready_i(ev_ready[1]), .ev_eqn_o(ev_eqn[15:8]), .ev_o(ev[127:64]),
    .trc_valid_o(trc_cqe_valid_o), .trc_o(trc_cqe_o), .idle_o(cq_idle)
  );

  bdy_eq #(.NPorts(NEv)) u_eq (
    .clk_i, .rst_ni(rst_core_nq), .cycle_i(cycle_q), .async_eqn_i(async_eqn),
    .ev_valid_i(ev_valid), .ev_ready_o(ev_ready), .ev_eqn_i(ev_eqn), .ev_i(ev), .ev_done_o(ev_done),
    .ctxw_valid_i(ctxw_valid && (ctxw_kind == bdy_pkg::CTX_KIND_EQ)), .ctxw_idx_i(ctxw_idx), .ctxw_data_i(ctxw_data),
    .ctxw_ack_o(ctxw_ack_eq),
    .db_valid_i(eq_db_valid), .db_eqn_i(eq_db_eqn), .db_ci_i(eq_db_ci), .db_arm_i(eq_db_arm),
    .wrq_valid_o(wrq_valid[3]), .wrq_ready_i(wrq_ready[3]), .wrq_addr_o(wrq_addr[64*3 +: 64]), .wrq_len_o(wrq_len[13*3 +: 13]),
    .wrd_valid_o(wrd_valid[3]), .wrd_ready_i(wrd_ready[3]), .wrd_data_o(wrd_data[256*3 +: 256]),
    .wrb_valid_i(wrb_valid[3]), .wrb_err_i(wrb_err),
    .msix_tbl_addr_i(msix_tbl_addr), .msix_tbl_data_i(msix_tbl_data), .msix_mask_i(msix_mask), .msix_pending_o(msix_pending),
    .msix_valid_o, .msix_ready_i, .msix_addr_o, .msix_data_o,
    .overflow_o(eq_overflow), .dropped_o(eq_dropped), .trc_valid_o(trc_eqe_valid_o), .trc_o(trc_eqe_o), .idle_o(eq_idle)
  );

  // ------------------------------------------------------------------ responder
  logic          rqr_valid, rqp_valid, rqc_valid, rqc_ready, rq_err_post, rq_beyond, rq_beyond_ready;
  logic [1:0]    rqr_op, rqr_log_stride;
  logic [LogQps-1:0] rqr_idx, rqp_idx, rqc_idx, rq_err_post_idx, rq_beyond_idx;
  logic [63:0]   rqr_base;
  logic [3:0]    rqr_log, rq_sge_idx;
  logic          rqs_valid, rqs_empty;
  logic [7:0]    rqs_rule;
  logic [15:0]   rqs_index;
  logic [4:0]    rqs_num_sge;
  logic [31:0]   rqs_total;
  logic [127:0]  rq_sge;
  logic          c_unknown, c_state, c_pkey, c_dup, c_oos, c_rnr, c_stale, c_refused, c_rd_refused;
  logic [7:0]    c_rule, c_rd_rule;
  logic          rx_wrd_last;

  bdy_rq #(.LogQps(LogQps)) u_rq (
    .clk_i, .rst_ni(rst_core_nq),
    .db_valid_i(db_rq_valid), .db_ready_o(db_rq_ready), .db_idx_i(db_idx), .db_index_i(db_index),
    .ctx_idx_o(ctx_idx[4*LogQps +: LogQps]), .ctx0_i(ctx0[512*4 +: 512]),
    .rdq_valid_o(rdq_valid[1]), .rdq_ready_i(rdq_ready[1]), .rdq_addr_o(rdq_addr[64 +: 64]), .rdq_len_o(rdq_len[13 +: 13]),
    .rdd_valid_i(rdd_valid[1]), .rdd_data_i(rdd_data), .rdd_last_i(rdd_last), .rdd_err_i(rdd_err),
    .req_valid_i(rqr_valid), .req_op_i(rqr_op), .req_idx_i(rqr_idx), .req_base_i(rqr_base), .req_log_i(rqr_log),
    .req_log_stride_i(rqr_log_stride),
    .rsp_valid_o(rqs_valid), .rsp_empty_o(rqs_empty), .rsp_rule_o(rqs_rule), .rsp_index_o(rqs_index),
    .rsp_num_sge_o(rqs_num_sge), .rsp_total_o(rqs_total), .sge_idx_i(rq_sge_idx), .sge_o(rq_sge),
    .pop_valid_i(rqp_valid), .pop_idx_i(rqp_idx), .clr_valid_i(rqc_valid), .clr_ready_o(rqc_ready), .clr_idx_i(rqc_idx),
    .err_post_valid_o(rq_err_post), .err_post_idx_o(rq_err_post_idx),
    .beyond_valid_o(rq_beyond), .beyond_ready_i(rq_beyond_ready), .beyond_idx_o(rq_beyond_idx), .idle_o(rq_idle)
  );

  bdy_rx #(.LogQps(LogQps)) u_rx (
    .clk_i, .rst_ni(rst_core_nq), .cycle_i(cycle_q), .nak_delay_i(nak_delay),
    .hdr_valid_i(rx_hdr_valid[0]), .hdr_ready_o(rx_hdr_ready[0]), .hdr_i(rx_hdr[1023:0]),
    .prq_valid_o(rx_prq_valid[0]), .prq_ready_i(rx_prq_ready[0]), .prq_off_o(rx_prq_off[12:0]), .prq_len_o(rx_prq_len[12:0]),
    .pst_valid_i(rx_pst_valid[0]), .pst_ready_o(rx_pst_ready[0]), .pst_data_i(rx_pst_data[255:0]), .pst_last_i(rx_pst_last[0]),
    .pkt_done_o(rx_pkt_done[0]),
    .rsp_hdr_valid_o(tx_hdr_valid[1]), .rsp_hdr_ready_i(tx_hdr_ready[1]), .rsp_hdr_o(tx_hdr[2047:1024]),
    .rsp_pl_valid_o(tx_pl_valid[1]), .rsp_pl_ready_i(tx_pl_ready[1]), .rsp_pl_data_o(tx_pl_data[511:256]),
    .rsp_pl_last_o(tx_pl_last[1]),
    .req_ctx_idx_o(ctx_idx[3*LogQps +: LogQps]), .req_ctx0_i(ctx0[512*3 +: 512]), .req_ctx_gen_i(ctx_gen[32*3 +: 32]),
    .rsp_ctx_idx_o(ctx_idx[5*LogQps +: LogQps]), .rsp_ctx0_i(ctx0[512*5 +: 512]), .rsp_ctx1_i(ctx1[512*5 +: 512]),
    .rsp_ctx_gen_i(ctx_gen[32*5 +: 32]),
    .qpev_valid_i(qpev_valid[1]), .qpev_idx_i(qpev_idx), .qpev_st_i(qpev_st), .qpev_bump_i(qpev_bump),
    .qpev_ack_o(qpev_ack[1]),
    .acc_valid_o(acc_valid[2:1]), .acc_ready_i(acc_ready[2:1]), .acc_req_o(acc_req[512 +: 1024]),
    .acc_rsp_valid_i(acc_rsp_valid[2:1]), .acc_rsp_i(acc_rsp), .ret_valid_o(ret_valid[2:1]), .ret_epoch_o(ret_epoch[2:1]),
    .wrq_valid_o(wrq_valid[0]), .wrq_ready_i(wrq_ready[0]), .wrq_addr_o(wrq_addr[63:0]), .wrq_len_o(wrq_len[12:0]),
    .wrd_valid_o(wrd_valid[0]), .wrd_ready_i(wrd_ready[0]), .wrd_data_o(wrd_data[255:0]), .wrd_last_o(rx_wrd_last),
    .wrb_valid_i(wrb_valid[0]), .wrb_err_i(wrb_err),
    .rdq_valid_o(rdq_valid[4]), .rdq_ready_i(rdq_ready[4]), .rdq_addr_o(rdq_addr[64*4 +: 64]), .rdq_len_o(rdq_len[13*4 +: 13]),
    .rdd_valid_i(rdd_valid[4]), .rdd_data_i(rdd_data), .rdd_last_i(rdd_last), .rdd_err_i(rdd_err),
    .rq_req_valid_o(rqr_valid), .rq_req_op_o(rqr_op), .rq_req_idx_o(rqr_idx), .rq_req_base_o(rqr_base), .rq_req_log_o(rqr_log),
    .rq_req_log_stride_o(rqr_log_stride),
    .rq_rsp_valid_i(rqs_valid), .rq_rsp_empty_i(rqs_empty), .rq_rsp_rule_i(rqs_rule), .rq_rsp_index_i(rqs_index),
    .rq_rsp_num_sge_i(rqs_num_sge), .rq_rsp_total_i(rqs_total), .rq_sge_idx_o(rq_sge_idx), .rq_sge_i(rq_sge),
    .rq_pop_valid_o(rqp_valid), .rq_pop_idx_o(rqp_idx), .rq_clr_valid_o(rqc_valid), .rq_clr_ready_i(rqc_ready),
    .rq_clr_idx_o(rqc_idx), .rq_err_post_valid_i(rq_err_post), .rq_err_post_idx_i(rq_err_post_idx),
    .rq_beyond_valid_i(rq_beyond), .rq_beyond_ready_o(rq_beyond_ready), .rq_beyond_idx_i(rq_beyond_idx),
    .cqe_valid_o(cqe_valid[1]), .cqe_ready_i(cqe_ready[1]), .cqe_cqn_o(cqe_cqn[47:24]), .cqe_o(cqe[1023:512]),
    .cqe_done_i(cqe_done[1]), .cqe_err_i(cqe_err),
    .op_valid_o(op_valid[2]), .op_ready_i(op_ready[2]), .op_req_o(op_req[1024*2 +: 1024]), .op_tag_o(op_tag[23:16]),
    .ope_valid_i(ope_valid[2]), .ope_rule_i(ope_rule),
    .ev_valid_o(ev_valid[2]), .ev_ready_i(ev_ready[2]), .ev_eqn_o(ev_eqn[23:16]), .ev_o(ev[191:128]),
    .cnt_unknown_qp_o(c_unknown), .cnt_bad_state_o(c_state), .cnt_bad_pkey_o(c_pkey), .cnt_duplicate_o(c_dup),
    .cnt_out_of_seq_o(c_oos), .cnt_rnr_o(c_rnr), .cnt_stale_o(c_stale), .cnt_refused_o(c_refused), .cnt_refused_rule_o(c_rule),
    .cnt_read_refused_o(c_rd_refused), .cnt_read_refused_rule_o(c_rd_rule), .idle_o(rx_idle)
  );

  // ------------------------------------------------------------------ requester
  logic sq_wrd_last;
  bdy_sq #(.LogQps(LogQps)) u_sq (
    .clk_i, .rst_ni(rst_core_nq), .cycle_i(cycle_q), .idle_o(sq_idle), .next_timer_o,
    .db_valid_i(db_sq_valid), .db_ready_o(db_sq_ready), .db_idx_i(db_idx), .db_index_i(db_index),
    .ctx_idx_o(ctx_idx[LogQps +: 2*LogQps]), .ctx0_i(ctx0[512 +: 1024]), .ctx1_i(ctx1[512 +: 1024]), .ctx_gen_i(ctx_gen[32 +: 64]),
    .qpev_valid_i(qpev_valid[0]), .qpev_idx_i(qpev_idx), .qpev_st_i(qpev_st), .qpev_bump_i(qpev_bump), .qpev_ack_o(qpev_ack[0]),
    .op_valid_o(op_valid[1]), .op_ready_i(op_ready[1]), .op_req_o(op_req[1024 +: 1024]), .op_tag_o(op_tag[15:8]),
    .ope_valid_i(ope_valid[1]), .ope_tag_i(ope_tag), .ope_rule_i(ope_rule), .ope_res_i(ope_res), .ope_drain_i(ope_drain),
    .opd_valid_i(opd_valid[1]), .opd_tag_i(opd_tag),
    .ga_acc_valid_o(acc_valid[0]), .ga_acc_ready_i(acc_ready[0]), .ga_acc_req_o(acc_req[511:0]),
    .ga_acc_rsp_valid_i(acc_rsp_valid[0]), .ga_ret_valid_o(ret_valid[0]), .ga_ret_epoch_o(ret_epoch[0]),
    .sc_acc_valid_o(acc_valid[3]), .sc_acc_ready_i(acc_ready[3]), .sc_acc_req_o(acc_req[512*3 +: 512]),
    .sc_acc_rsp_valid_i(acc_rsp_valid[3]), .sc_ret_valid_o(ret_valid[3]), .sc_ret_epoch_o(ret_epoch[3]), .acc_rsp_i(acc_rsp),
    .wq_rdq_valid_o(rdq_valid[0]), .wq_rdq_ready_i(rdq_ready[0]), .wq_rdq_addr_o(rdq_addr[63:0]), .wq_rdq_len_o(rdq_len[12:0]),
    .wq_rdd_valid_i(rdd_valid[0]),
    .ga_rdq_valid_o(rdq_valid[3]), .ga_rdq_ready_i(rdq_ready[3]), .ga_rdq_addr_o(rdq_addr[64*3 +: 64]),
    .ga_rdq_len_o(rdq_len[13*3 +: 13]), .ga_rdd_valid_i(rdd_valid[3]),
    .rdd_data_i(rdd_data), .rdd_last_i(rdd_last), .rdd_err_i(rdd_err),
    .sc_wrq_valid_o(wrq_valid[1]), .sc_wrq_ready_i(wrq_ready[1]), .sc_wrq_addr_o(wrq_addr[127:64]), .sc_wrq_len_o(wrq_len[25:13]),
    .sc_wrd_valid_o(wrd_valid[1]), .sc_wrd_ready_i(wrd_ready[1]), .sc_wrd_data_o(wrd_data[511:256]), .sc_wrd_last_o(sq_wrd_last),
    .sc_wrb_valid_i(wrb_valid[1]), .wrb_err_i(wrb_err),
    .hdr_valid_o(tx_hdr_valid[0]), .hdr_ready_i(tx_hdr_ready[0]), .hdr_o(tx_hdr[1023:0]),
    .pl_valid_o(tx_pl_valid[0]), .pl_ready_i(tx_pl_ready[0]), .pl_data_o(tx_pl_data[255:0]), .pl_last_o(tx_pl_last[0]),
    .rsp_hdr_valid_i(rx_hdr_valid[1]), .rsp_hdr_ready_o(rx_hdr_ready[1]), .rsp_hdr_i(rx_hdr[2047:1024]),
    .prq_valid_o(rx_prq_valid[1]), .prq_ready_i(rx_prq_ready[1]), .prq_off_o(rx_prq_off[25:13]), .prq_len_o(rx_prq_len[25:13]),
    .pst_valid_i(rx_pst_valid[1]), .pst_ready_o(rx_pst_ready[1]), .pst_data_i(rx_pst_data[511:256]), .pst_last_i(rx_pst_last[1]),
    .pkt_done_o(rx_pkt_done[1]),
    .cqe_valid_o(cqe_valid[0]), .cqe_ready_i(cqe_ready[0]), .cqe_cqn_o(cqe_cqn[23:0]), .cqe_o(cqe[511:0]),
    .cqe_done_i(cqe_done[0]), .cqe_err_i(cqe_err),
    .ev_valid_o(ev_valid[3]), .ev_ready_i(ev_ready[3]), .ev_eqn_o(ev_eqn[31:24]), .ev_o(ev[255:192]),
    .ctxw_valid_i(ctxw_valid && (ctxw_kind == bdy_pkg::CTX_KIND_AH)), .ctxw_idx_i(ctxw_idx), .ctxw_data_i(ctxw_data),
    .ctxw_ack_o(ctxw_ack_ah)
  );

  // ------------------------------------------------------------------ counters (docs/COUNTERS.md)
  // An access or READ refused counts once by kind; which rule it was is on the trace port.
  logic c_invalid;
  assign c_invalid = (c_rule == bdy_pkg::RULE_A14) || (c_rule == bdy_pkg::RULE_A19) || (c_rule[7:4] == 4'hd);
  assign cnt = {42'd0,
                trc_eqe_valid_o, trc_cqe_valid_o, trc_op_valid_o, trc_acc_valid_o,                 // 21..18
                eq_dropped, viol, link_cnt,                                                        // 17..8
                c_rd_refused && (c_rd_rule != '0), c_refused && c_invalid, c_refused && !c_invalid, c_stale,  // 7..4
                c_rnr, c_oos, c_dup, c_unknown || c_state || c_pkey};                              // 3..0

  // ------------------------------------------------------------------ trace
  bdy_trace #(.LogQps(LogQps)) u_trace (
    .clk_i,
    .db_take_i({db_cq_valid && db_cq_ready, db_rq_valid && db_rq_ready, db_sq_valid && db_sq_ready}),
    .db_idx_i(db_idx), .db_index_i(db_index), .db_cq_i(db_cq), .trc_db_valid_o, .trc_db_o,
    .wqe_valid_i(rdd_valid[0]), .wqe_data_i(rdd_data), .wqe_last_i(rdd_last), .trc_wqe_valid_o, .trc_wqe_o,
    .tx_take_i(tx_hdr_valid & tx_hdr_ready), .tx_hdr_i(tx_hdr), .rx_take_i(rx_hdr_valid & rx_hdr_ready), .rx_hdr_i(rx_hdr),
    .trc_tx_valid_o, .trc_tx_o, .trc_rx_valid_o, .trc_rx_o
  );

  assign idle_o = bar_idle && cmd_idle && dma_idle && cq_idle && eq_idle && sq_idle && rx_idle && rq_idle && prot_idle && link_idle
                  && (mcu_sleep || mcu_halt || !mcu_run) && rst_core_nq;

  // Port state and link layer are shown to the driver; there is one framing. Some blocks offer more than is asked of them here.
  logic unused;
  assign unused = ^{port_eth, port_up, db_srq, viol_limit, raw_srq_valid, raw_srq_idx, rdd_valid[6], rdq_ready[6], wrq_ready[5],
                    wrd_ready[5], wrb_valid[5], ctx1, ctx_gen, ev_done, opd_valid, rx_wrd_last, sq_wrd_last};
endmodule
