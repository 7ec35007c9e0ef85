// SPDX-License-Identifier: Apache-2.0
// bdy_bar: BAR 0 as an AXI4-Lite slave: registers, MSI-X table, counters, UAR doorbells.
//
// Purpose: takes aligned 64-bit writes strictly in order (posted: B as soon as the write is taken), answers reads, and passes a
//   send or receive doorbell on only if its queue pair belongs to the UAR page written (else counted and reported, no effect).
// Latency: W handshake to doorbell out 3 cycles; AR to R 2 cycles.
// Throughput: a register write every 2 cycles, a doorbell every 4.
// Backpressure: awready/wready low while a write is being carried out.
// Invariants: a write that is not aligned, not whole (wstrb) or names no register changes nothing and answers SLVERR.

module bdy_bar #(
  parameter int LogQps = 8,
  parameter int Vectors = 8
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // AXI4-Lite
  input  logic         awvalid_i,
  output logic         awready_o,
  input  logic [20:0]  awaddr_i,
  input  logic         wvalid_i,
  output logic         wready_o,
  input  logic [63:0]  wdata_i,
  input  logic [7:0]   wstrb_i,
  output logic         bvalid_o,
  input  logic         bready_i,
  output logic [1:0]   bresp_o,
  input  logic         arvalid_i,
  output logic         arready_o,
  input  logic [20:0]  araddr_i,
  output logic         rvalid_o,
  input  logic         rready_i,
  output logic [63:0]  rdata_o,
  output logic [1:0]   rresp_o,

  // Status in
  input  logic [63:0]  cycle_i,
  input  logic [3:0]   dev_st_i,
  input  logic [7:0]   health_i,
  input  logic [7:0]   halt_code_i,
  input  logic [31:0]  halt_pc_i,
  input  logic [63:0]  cnt_i,             // pulses: counter n counts cnt_i[n]
  input  logic [Vectors-1:0] msix_pending_i,

  // Configuration out
  output logic         soft_reset_o,      // pulse
  output logic [63:0]  cmdq_base_o,
  output logic [3:0]   cmdq_log_o,
  output logic [15:0]  cmd_pi_o,
  output logic         cmdq_set_o,        // pulse: CMDQ was written
  output logic [7:0]   dly_max_o,
  output logic         dly_reorder_o,
  output logic [31:0]  dly_seed_o,
  output logic [63:0]  link_fault_o,
  output logic [15:0]  lid_o,
  output logic         port_eth_o,
  output logic         port_up_o,
  output logic [15:0]  nak_delay_o,
  output logic         bus_master_o,
  output logic [383:0] gids_o,
  output logic         eq_db_valid_o,
  output logic [2:0]   eq_db_eqn_o,
  output logic [31:0]  eq_db_ci_o,
  output logic         eq_db_arm_o,
  output logic [Vectors*64-1:0] msix_tbl_addr_o,
  output logic [Vectors*32-1:0] msix_tbl_data_o,
  output logic [Vectors-1:0]    msix_mask_o,

  // Queue pair context read (one cycle)
  output logic [LogQps-1:0] ctx_idx_o,
  input  logic [511:0] ctx0_i,

  // Doorbells out
  output logic         db_sq_valid_o,
  input  logic         db_sq_ready_i,
  output logic         db_rq_valid_o,
  input  logic         db_rq_ready_i,
  output logic [LogQps-1:0] db_idx_o,     // of either
  output logic [15:0]  db_index_o,
  output logic         db_cq_valid_o,
  input  logic         db_cq_ready_i,
  output logic [63:0]  db_cq_o,
  output logic [7:0]   db_cq_uar_o,
  input  logic         db_cq_bad_i,
  output logic         db_srq_valid_o,
  input  logic         db_srq_ready_i,
  output logic [63:0]  db_srq_o,
  output logic [7:0]   db_srq_uar_o,
  input  logic         db_srq_bad_i,      // pulse, any time after the doorbell was taken
  input  logic [7:0]   db_srq_bad_uar_i,

  // Violation report to the event queue: at most one a page until the driver has consumed asynchronous events
  output logic         ev_valid_o,
  input  logic         ev_ready_i,
  output logic [63:0]  ev_o,
  output logic         viol_o,            // pulse: a doorbell was refused

  output logic         idle_o
);
  localparam int NCnt = 64;

  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StReg = 3'd1;
  localparam logic [2:0] StCtx = 3'd2;
  localparam logic [2:0] StCheck = 3'd3;
  localparam logic [2:0] StPush = 3'd4;

  logic [2:0]  st_q;
  logic [20:0] waddr_q;
  logic [63:0] wdata_q;

  // Nothing is taken while in reset: it would be lost.
  logic up_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else up_q <= 1'b1;
  end

  // ------------------------------------------------------------------ write channel
  logic take;
  assign take      = up_q && !soft_reset_o && (st_q == StIdle) && awvalid_i && wvalid_i && (!bvalid_o || bready_i);
  assign awready_o = take;
  assign wready_o  = take;

  logic        is_uar, is_sq, is_rq, is_cq, is_srq;
  logic [11:0] uar_off;
  assign is_uar  = waddr_q[20];
  assign uar_off = waddr_q[11:0];
  assign is_sq   = is_uar && (uar_off == 12'h000);
  assign is_rq   = is_uar && (uar_off == 12'h008);
  assign is_cq   = is_uar && (uar_off == 12'h010);
  assign is_srq  = is_uar && (uar_off == bdy_pkg::UAR_DB_SRQ[11:0]);

  // The queue itself checks a doorbell that names no queue pair.
  logic take_unchecked;
  assign take_unchecked = (awaddr_i[11:0] == 12'h010) || (awaddr_i[11:0] == bdy_pkg::UAR_DB_SRQ[11:0]);
  logic take_uar, take_known, take_ok;
  assign take_uar   = awaddr_i[20];
  assign take_known = take_uar ? (awaddr_i[11:0] == 12'h000 || awaddr_i[11:0] == 12'h008 || take_unchecked)
                               : (awaddr_i[19:0] < 20'(bdy_pkg::REG_BAR_SIZE));
  assign take_ok    = (awaddr_i[2:0] == 3'd0) && (wstrb_i == 8'hff) && take_known;

  // ------------------------------------------------------------------ doorbell check
  bdy_pkg::qp_ctx0_t ctx;
  assign ctx = ctx0_i;
  logic [23:0] db_qpn;
  assign db_qpn    = wdata_q[23:0];
  assign ctx_idx_o = db_qpn[LogQps-1:0];
  assign db_idx_o  = db_qpn[LogQps-1:0];
  assign db_index_o = wdata_q[47:32];
  logic db_ok;
  assign db_ok = (db_qpn[23:LogQps] == bdy_pkg::QPN_BASE[23:LogQps]) && (ctx.uar == {8'd0, waddr_q[19:12]})
                 && (ctx.st != bdy_pkg::QP_ST_RESET) && (wdata_q[31:24] == '0) && (wdata_q[63:48] == '0);

  assign db_sq_valid_o = (st_q == StPush) && is_sq;
  assign db_rq_valid_o = (st_q == StPush) && is_rq;
  assign db_cq_valid_o = (st_q == StPush) && is_cq;
  assign db_cq_o       = wdata_q;
  assign db_cq_uar_o   = waddr_q[19:12];
  assign db_srq_valid_o = (st_q == StPush) && is_srq;
  assign db_srq_o       = wdata_q;
  assign db_srq_uar_o   = waddr_q[19:12];
  logic pushed;
  assign pushed = (db_sq_valid_o && db_sq_ready_i) || (db_rq_valid_o && db_rq_ready_i) || (db_cq_valid_o && db_cq_ready_i)
                  || (db_srq_valid_o && db_srq_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q     <= StIdle;
      bvalid_o <= 1'b0;
      bresp_o  <= 2'b00;
    end else begin
      if (take) begin
        bvalid_o <= 1'b1;
        bresp_o  <= take_ok ? 2'b00 : 2'b10;
      end else if (bready_i) bvalid_o <= 1'b0;
      case (st_q)
        StIdle: if (take) st_q <= (!take_ok) ? StIdle : (!take_uar ? StReg : (take_unchecked ? StPush : StCtx));
        StReg: st_q <= StIdle;
        StCtx: st_q <= StCheck;
        StCheck: st_q <= db_ok ? StPush : StIdle;
        StPush: if (pushed) st_q <= StIdle;
        default: st_q <= StIdle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      waddr_q <= awaddr_i;
      wdata_q <= wdata_i;
    end
  end

  // ------------------------------------------------------------------ registers
  logic [19:0] roff;
  assign roff = waddr_q[19:0];
  logic wr;
  assign wr = (st_q == StReg);
  logic [Vectors*64-1:0] tbl_addr_q;
  logic [Vectors*32-1:0] tbl_data_q;
  logic [Vectors-1:0]    tbl_mask_q;

  function automatic logic hit(input logic [19:0] off, input logic [31:0] reg_off);
    hit = ({12'd0, off} == reg_off);
  endfunction
  // Is `off` in an array of `count` registers `stride` apart from `base`?
  function automatic logic in_array(input logic [19:0] off, input logic [31:0] base, input logic [31:0] bytes);
    in_array = ({12'd0, off} >= base) && ({12'd0, off} - base < bytes);
  endfunction

  logic wr_msix;
  assign wr_msix = wr && in_array(roff, bdy_pkg::REG_BAR_MSIX_ADDR_OFFSET, 32'(Vectors * 16));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      soft_reset_o  <= 1'b0;
      cmdq_base_o   <= '0;
      cmdq_log_o    <= '0;
      cmd_pi_o      <= '0;
      cmdq_set_o    <= 1'b0;
      dly_max_o     <= '0;
      dly_reorder_o <= 1'b0;
      dly_seed_o    <= '0;
      link_fault_o  <= '0;
      lid_o         <= '0;
      port_eth_o    <= 1'b0;
      port_up_o     <= 1'b0;
      nak_delay_o   <= '0;
      bus_master_o  <= 1'b0;
      gids_o        <= '0;
      eq_db_valid_o <= 1'b0;
      eq_db_eqn_o   <= '0;
      eq_db_ci_o    <= '0;
      eq_db_arm_o   <= 1'b0;
      tbl_addr_q    <= '0;
      tbl_data_q    <= '0;
      tbl_mask_q    <= '1;
    end else begin
      soft_reset_o  <= wr && hit(roff, bdy_pkg::REG_BAR_CTRL_OFFSET) && wdata_q[0];
      cmdq_set_o    <= wr && hit(roff, bdy_pkg::REG_BAR_CMDQ_OFFSET);
      eq_db_valid_o <= wr && in_array(roff, bdy_pkg::REG_BAR_EQ_DB_OFFSET, 32'd64);
      if (wr) begin
        eq_db_eqn_o <= roff[5:3];
        eq_db_ci_o  <= wdata_q[31:0];
        eq_db_arm_o <= wdata_q[32];
        if (hit(roff, bdy_pkg::REG_BAR_CMDQ_OFFSET)) begin
          cmdq_base_o <= {wdata_q[63:12], 12'd0};
          cmdq_log_o  <= wdata_q[3:0];
          cmd_pi_o    <= '0;
        end
        if (hit(roff, bdy_pkg::REG_BAR_CMDQ_DB_OFFSET)) cmd_pi_o <= wdata_q[15:0];
        if (hit(roff, bdy_pkg::REG_BAR_TBL_DELAY_OFFSET)) begin
          dly_max_o     <= wdata_q[7:0];
          dly_reorder_o <= wdata_q[8];
          dly_seed_o    <= wdata_q[63:32];
        end
        if (hit(roff, bdy_pkg::REG_BAR_LINK_FAULT_OFFSET)) link_fault_o <= wdata_q;
        if (hit(roff, bdy_pkg::REG_BAR_PORT_OFFSET)) begin
          lid_o      <= wdata_q[15:0];
          port_eth_o <= wdata_q[16];
          port_up_o  <= wdata_q[17];
        end
        if (hit(roff, bdy_pkg::REG_BAR_NAK_DELAY_OFFSET)) nak_delay_o <= wdata_q[15:0];
        if (hit(roff, bdy_pkg::REG_BAR_BUS_MASTER_OFFSET)) bus_master_o <= wdata_q[0];
        if (in_array(roff, bdy_pkg::REG_BAR_GID_OFFSET, 32'd48)) gids_o[64*roff[5:3] +: 64] <= wdata_q;
      end
      if (wr_msix && !roff[3]) tbl_addr_q[64*roff[6:4] +: 64] <= wdata_q;
      if (wr_msix && roff[3]) begin
        tbl_data_q[32*roff[6:4] +: 32] <= wdata_q[31:0];
        tbl_mask_q[roff[6:4]]          <= wdata_q[32];
      end
    end
  end
  assign msix_tbl_addr_o = tbl_addr_q;
  assign msix_tbl_data_o = tbl_data_q;
  assign msix_mask_o     = tbl_mask_q;

  // ------------------------------------------------------------------ counters
  logic [47:0] cnt_q [NCnt];
  for (genvar c = 0; c < NCnt; c++) begin : gen_cnt
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) cnt_q[c] <= '0;
      else if (cnt_i[c]) cnt_q[c] <= cnt_q[c] + 48'd1;
    end
  end

  // ------------------------------------------------------------------ violations
  logic [255:0] told_q;                   // pages reported since asynchronous events were last consumed
  logic         viol;
  logic [7:0]   viol_page_q;
  // A CQ's answer comes when the next write may already be here, a shared receive queue's at any time: it waits for a free cycle.
  logic         here_bad, srq_bad_q;
  logic [7:0]   cq_page_q, srq_page_q;
  assign here_bad = (st_q == StCheck) && !db_ok;
  assign viol     = here_bad || db_cq_bad_i || srq_bad_q;
  logic [7:0]   viol_page;
  assign viol_page = here_bad ? waddr_q[19:12] : (db_cq_bad_i ? cq_page_q : srq_page_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      srq_bad_q  <= 1'b0;
      cq_page_q  <= '0;
      srq_page_q <= '0;
    end else begin
      if (db_cq_valid_o) cq_page_q <= waddr_q[19:12];
      if (db_srq_bad_i) srq_page_q <= db_srq_bad_uar_i;
      srq_bad_q <= db_srq_bad_i || (srq_bad_q && (here_bad || db_cq_bad_i));
    end
  end
  assign viol_o = viol;
  logic         ev_q;
  assign ev_valid_o = ev_q;
  assign ev_o = {32'd0, 16'd0, viol_page_q, bdy_pkg::EQE_KIND_DB_VIOLATION};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      told_q      <= '0;
      ev_q        <= 1'b0;
      viol_page_q <= '0;
    end else begin
      if (ev_q && ev_ready_i) ev_q <= 1'b0;
      if (eq_db_valid_o && (eq_db_eqn_o == 3'd0)) told_q <= '0;
      else if (viol && !ev_q && !told_q[viol_page]) begin
        ev_q              <= 1'b1;
        viol_page_q       <= viol_page;
        told_q[viol_page] <= 1'b1;
      end
    end
  end

  // ------------------------------------------------------------------ read channel
  logic        rbusy_q;
  logic [20:0] raddr_q;
  // A read waits for the write before it; one that is taken is answered even when that write resets the device.
  assign arready_o = up_q && !soft_reset_o && (st_q == StIdle) && !take && !rbusy_q && !rvalid_o;
  logic [19:0] o;
  assign o = raddr_q[19:0];
  logic [63:0] rval;
  logic        rok;
  always_comb begin
    rval = '0;
    rok  = !raddr_q[20] && (raddr_q[2:0] == 3'd0) && (o < 20'(bdy_pkg::REG_BAR_SIZE));
    case (o)
      bdy_pkg::REG_BAR_ID_OFFSET[19:0]: rval = {16'd1, bdy_pkg::ABI_VERSION[15:0], bdy_pkg::DEV_MAGIC};
      bdy_pkg::REG_BAR_CAP_OFFSET[19:0]: rval = {8'd0, bdy_pkg::UAR_COUNT[15:0], bdy_pkg::LOG_EQS[7:0], bdy_pkg::LOG_CQS[7:0],
                                                 8'(LogQps), bdy_pkg::LOG_MTT[7:0], bdy_pkg::LOG_KEYS[7:0]};
      bdy_pkg::REG_BAR_CYCLE_OFFSET[19:0]: rval = cycle_i;
      bdy_pkg::REG_BAR_STATE_OFFSET[19:0]: rval = {halt_pc_i, 8'd0, halt_code_i, health_i, 4'd0, dev_st_i};
      bdy_pkg::REG_BAR_CMDQ_OFFSET[19:0]: rval = {cmdq_base_o[63:12], 8'd0, cmdq_log_o};
      bdy_pkg::REG_BAR_CMDQ_DB_OFFSET[19:0]: rval = {48'd0, cmd_pi_o};
      bdy_pkg::REG_BAR_TBL_DELAY_OFFSET[19:0]: rval = {dly_seed_o, 23'd0, dly_reorder_o, dly_max_o};
      bdy_pkg::REG_BAR_LINK_FAULT_OFFSET[19:0]: rval = link_fault_o;
      bdy_pkg::REG_BAR_PORT_OFFSET[19:0]: rval = {46'd0, port_up_o, port_eth_o, lid_o};
      bdy_pkg::REG_BAR_NAK_DELAY_OFFSET[19:0]: rval = {48'd0, nak_delay_o};
      bdy_pkg::REG_BAR_BUS_MASTER_OFFSET[19:0]: rval = {63'd0, bus_master_o};
      bdy_pkg::REG_BAR_MSIX_PBA_OFFSET[19:0]: rval = 64'(msix_pending_i);
      default: begin
        if (in_array(o, bdy_pkg::REG_BAR_CNT_OFFSET, 32'(NCnt * 8))) rval = {16'd0, cnt_q[o[8:3]]};
        else if (in_array(o, bdy_pkg::REG_BAR_GID_OFFSET, 32'd48)) rval = gids_o[64*o[5:3] +: 64];
        else if (in_array(o, bdy_pkg::REG_BAR_MSIX_ADDR_OFFSET, 32'(Vectors * 16))) begin
          rval = o[3] ? {31'd0, tbl_mask_q[o[6:4]], tbl_data_q[32*o[6:4] +: 32]} : tbl_addr_q[64*o[6:4] +: 64];
        end
      end
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rbusy_q  <= 1'b0;
      rvalid_o <= 1'b0;
      rresp_o  <= 2'b00;
    end else begin
      if (arvalid_i && arready_o) rbusy_q <= 1'b1;
      else if (rbusy_q) begin
        rbusy_q  <= 1'b0;
        rvalid_o <= 1'b1;
        rresp_o  <= rok ? 2'b00 : 2'b10;
      end else if (rready_i) rvalid_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (arvalid_i && arready_o) raddr_q <= araddr_i;
    if (rbusy_q) rdata_o <= rok ? rval : '1;
  end

  assign idle_o = (st_q == StIdle) && !awvalid_i && !wvalid_i && !arvalid_i && !rbusy_q && !rvalid_o && !bvalid_o && !ev_q && !srq_bad_q
                  && !soft_reset_o && !cmdq_set_o && !eq_db_valid_o;

  logic unused;
  assign unused = ^{ctx, ctx0_i};
endmodule
