// SPDX-License-Identifier: Apache-2.0
// toy_hca: a device with the ports of bdy_hca and nothing of its insides, so that the contract of
// seam S3 is tested on two devices and the host side has one whose every move a test can order.
//
// Latency: a register write acts two cycles after both handshakes.
// Throughput: one AXI beat a cycle in each direction.
// Backpressure: STALL holds the BAR.
// Invariants: it moves only when told to by a register write or its timer.
//
//   0x000 ID, 0x010 CYCLE, 0x018 CTRL, 0x020 STATE, 0x080 scratch[6], 0x200 MSI-X table: as bdy_hca
//   0x1000 ORDER   write: rotate left by 5, xor; a record of the order of writes
//   0x1008 STALL   the BAR takes nothing for that many cycles
//   0x1010 DIE     1 $fatal 2 $stop 3 $finish 4 failed assertion 5 $display 6 read across 4 KiB
//                  7 never settles 8 early WLAST 9 fatal_o
//   0x1018 TIMER   at that cycle: MSI-X of vector 0 (0: none)
//   0x1020 MSIX    send the message of that vector
//   0x1028 TRACE   the ports of the mask, all in one cycle
//   0x1030 BOOT    words and a sum of what the boot port brought
//   0x1100 + 0x40 c, channel c of 4, AXI ID c:
//     +00 SRC  +08 DST  +10 GO  +18 RESULT  +20 LATENCY
//     GO: [1:0] 1 read, 2 write, 3 copy of one burst; [15:8] beats a burst; [23:16] bursts,
//       4 KiB apart; [31] message of vector c when done; [63:32] strobes (copy: all)
//     RESULT: [0] busy, [15:8] beats or bursts with an error, [63:32] sum over the beats read, in
//       order of arrival
//     LATENCY: cycles from the last AR or AW handshake to the first answer after it

module toy_hca (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          skip_valid_i,
  input  logic [63:0]   skip_to_i,
  input  logic          boot_run_i,
  input  logic          boot_valid_i,
  input  logic [16:0]   boot_addr_i,
  input  logic [31:0]   boot_data_i,

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

  output logic          lnk_tx_valid_o,
  input  logic          lnk_tx_ready_i,
  output logic [255:0]  lnk_tx_data_o,
  output logic [31:0]   lnk_tx_keep_o,
  output logic          lnk_tx_last_o,
  input  logic          lnk_rx_valid_i,
  output logic          lnk_rx_ready_o,
  input  logic [255:0]  lnk_rx_data_i,
  input  logic [31:0]   lnk_rx_keep_i,
  input  logic          lnk_rx_last_i,

  output logic          trc_acc_valid_o,
  output logic [511:0]  trc_acc_o,
  output logic          trc_op_valid_o,
  output logic [1023:0] trc_op_o,
  output logic          trc_cqe_valid_o,
  output logic [511:0]  trc_cqe_o,
  output logic          trc_eqe_valid_o,
  output logic [511:0]  trc_eqe_o,
  output logic          trc_db_valid_o,
  output logic [63:0]   trc_db_o,
  output logic          trc_wqe_valid_o,
  output logic [511:0]  trc_wqe_o,
  output logic          trc_tx_valid_o,
  output logic [1023:0] trc_tx_o,
  output logic          trc_rx_valid_o,
  output logic [1023:0] trc_rx_o,

  output logic          idle_o,
  output logic [63:0]   next_timer_o,
  output logic [63:0]   cycle_o,
  output logic          fatal_o
);
  localparam int N = 4;

  // ------------------------------------------------------------------ time
  logic [63:0] cycle_q;
  assign cycle_o = cycle_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycle_q <= '0;
    else cycle_q <= skip_valid_i ? skip_to_i : cycle_q + 64'd1;
  end
  always_ff @(posedge clk_i) if (skip_valid_i) assert (idle_o);

  // ---------------------------------------------------------- BAR, write: AW and W are taken apart
  logic        aw_q, w_q, act_q;
  logic [20:0] waddr_q;
  logic [63:0] wdata_q;
  logic [31:0] stall_q;
  logic        w_bad;
  assign s_axil_awready_o = !aw_q && (stall_q == '0);
  assign s_axil_wready_o  = aw_q && !w_q && (stall_q == '0);
  assign w_bad = (waddr_q[2:0] != '0) || (!waddr_q[20] && (waddr_q[19:0] >= 20'h01200)) ||
                 (waddr_q[20] && (waddr_q[11:0] > 12'h010));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_q            <= 1'b0;
      w_q             <= 1'b0;
      act_q           <= 1'b0;
      s_axil_bvalid_o <= 1'b0;
      s_axil_bresp_o  <= '0;
    end else begin
      act_q <= aw_q && w_q && !act_q;
      if (s_axil_awvalid_i && s_axil_awready_o) aw_q <= 1'b1;
      if (s_axil_wvalid_i && s_axil_wready_o) w_q <= 1'b1;
      if (act_q) begin
        aw_q            <= 1'b0;
        w_q             <= 1'b0;
        s_axil_bvalid_o <= 1'b1;
        s_axil_bresp_o  <= w_bad ? 2'b10 : 2'b00;
      end else if (s_axil_bready_i) s_axil_bvalid_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (s_axil_awvalid_i && s_axil_awready_o) waddr_q <= s_axil_awaddr_i;
    if (s_axil_wvalid_i && s_axil_wready_o) wdata_q <= s_axil_wdata_i;
  end

  logic wr;
  assign wr = act_q && !w_bad && !waddr_q[20];
  logic [19:0] wo;
  assign wo = waddr_q[19:0];
  logic wr_ctrl, wr_order, wr_stall, wr_die, wr_timer, wr_msix, wr_trace, wr_chan;
  assign wr_ctrl  = wr && (wo == 20'h00018) && wdata_q[0];
  assign wr_order = wr && (wo == 20'h01000);
  assign wr_stall = wr && (wo == 20'h01008);
  assign wr_die   = wr && (wo == 20'h01010);
  assign wr_timer = wr && (wo == 20'h01018);
  assign wr_msix  = wr && (wo == 20'h01020);
  assign wr_trace = wr && (wo == 20'h01028);
  assign wr_chan  = wr && (wo[19:8] == 12'h011);

  // ------------------------------------------------------------------ registers
  logic [63:0] scratch_q [6];
  logic [63:0] tbl_addr_q [8];
  logic [31:0] tbl_data_q [8];
  logic [63:0] order_q, timer_q;
  logic [15:0] ready_q;                   // cycles since boot or CTRL.reset
  logic [31:0] boot_sum_q, boot_words_q;
  logic [8:0]  msix_pend_q;               // bit 8: the timer's
  logic        fatal_q;
  assign fatal_o = fatal_q;

  logic timer_due, msix_fire;
  logic [3:0] msix_pick;
  assign timer_due = (timer_q != '0) && (cycle_q >= timer_q);
  logic [N-1:0] chan_msix;

  integer i;
  always_comb begin
    msix_pick = '0;
    for (i = 8; i >= 0; i--) if (msix_pend_q[i]) msix_pick = 4'(i);
  end
  assign msix_valid_o = (msix_pend_q != '0);
  assign msix_addr_o  = tbl_addr_q[msix_pick[2:0]];
  assign msix_data_o  = tbl_data_q[msix_pick[2:0]];
  assign msix_fire    = msix_valid_o && msix_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stall_q      <= '0;
      order_q      <= '0;
      timer_q      <= '0;
      ready_q      <= '0;
      boot_sum_q   <= '0;
      boot_words_q <= '0;
      msix_pend_q  <= '0;
      fatal_q      <= 1'b0;
    end else begin
      if (stall_q != '0) stall_q <= stall_q - 32'd1;
      if (wr_stall) stall_q <= wdata_q[31:0];
      if (wr_order) order_q <= {order_q[58:0], order_q[63:59]} ^ wdata_q;
      if (wr_timer) timer_q <= wdata_q;
      else if (timer_due) timer_q <= '0;
      if (wr_die && (wdata_q == 64'd9)) fatal_q <= 1'b1;
      ready_q <= (!boot_run_i || wr_ctrl) ? '0 : ready_q + 16'(ready_q != 16'd200);
      if (boot_valid_i && !boot_run_i) begin
        boot_words_q <= boot_words_q + 32'd1;
        boot_sum_q   <= {boot_sum_q[30:0], boot_sum_q[31]} ^ boot_data_i ^ {15'd0, boot_addr_i};
      end
      for (int v = 0; v < 8; v++) begin
        if ((wr_msix && (wdata_q[2:0] == 3'(v))) || ((v < N) && chan_msix[v % N])) begin
          msix_pend_q[v] <= 1'b1;
        end
        else if (msix_fire && (msix_pick == 4'(v))) msix_pend_q[v] <= 1'b0;
      end
      if (timer_due) msix_pend_q[8] <= 1'b1;
      else if (msix_fire && (msix_pick == 4'd8)) msix_pend_q[8] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int g = 0; g < 6; g++) if (wr && (wo == 20'h00080 + 20'(8 * g))) scratch_q[g] <= wdata_q;
    for (int v = 0; v < 8; v++) begin
      if (wr && (wo == 20'h00200 + 20'(16 * v))) tbl_addr_q[v] <= wdata_q;
      if (wr && (wo == 20'h00208 + 20'(16 * v))) tbl_data_q[v] <= wdata_q[31:0];
    end
  end

  // ------------------------------------------------------------------ ways to die
  logic spin;
  // A loop on purpose: never settles while `spin`.
  // verilator lint_off UNOPTFLAT
  logic [7:0] twist;
  // verilator lint_on UNOPTFLAT
  assign spin  = wr_die && (wdata_q == 64'd7);
  assign twist = spin ? twist + 8'd1 : 8'd0;
  always_ff @(posedge clk_i) begin
    if (wr_die) begin
      if (wdata_q == 64'd1) $fatal(1, "toy says fatal");
      if (wdata_q == 64'd2) $stop;
      if (wdata_q == 64'd3) $finish;
      if (wdata_q == 64'd5) $display("toy says hello");
      assert (wdata_q != 64'd4);
    end
  end

  // ------------------------------------------------------------------ channels
  localparam logic [1:0] OpRead  = 2'd1;
  localparam logic [1:0] OpWrite = 2'd2;
  localparam logic [1:0] OpCopy  = 2'd3;

  logic [63:0] src_q [N];
  logic [63:0] dst_q [N];
  logic [63:0] go_q [N];
  logic [N-1:0] busy_q;
  logic [7:0]  ar_left_q [N];             // bursts not yet asked for
  logic [7:0]  r_left_q [N];              // bursts not yet answered
  logic [7:0]  aw_left_q [N];
  logic [7:0]  b_left_q [N];
  logic [7:0]  r_beat_q [N];
  logic [7:0]  err_q [N];
  logic [31:0] sum_q [N];
  logic [15:0] age_q [N];                 // cycles since the last request
  logic [15:0] lat_q [N];
  logic [N-1:0] fresh_q;                  // no answer yet since the last request
  logic [255:0] buf_q [N*128];

  logic [N-1:0] want_ar, want_aw, done;
  logic [1:0]  ar_ch, aw_ch;
  logic        ar_any, aw_any;
  integer k;
  always_comb begin
    ar_any = 1'b0;
    ar_ch  = '0;
    aw_any = 1'b0;
    aw_ch  = '0;
    for (k = N - 1; k >= 0; k--) begin
      if (want_ar[k]) begin
        ar_any = 1'b1;
        ar_ch  = 2'(k);
      end
      if (want_aw[k]) begin
        aw_any = 1'b1;
        aw_ch  = 2'(k);
      end
    end
  end

  // AR: registered so that a lower channel becoming ready does not change what is offered.
  logic        ar_q;
  logic [1:0]  arc_q;
  logic [7:0]  ar_idx;
  logic        cross_q;
  assign ar_idx          = go_q[arc_q][23:16] - ar_left_q[arc_q];
  assign m_axi_arvalid_o = ar_q || cross_q;
  assign m_axi_arid_o    = cross_q ? 4'd15 : {2'd0, arc_q};
  assign m_axi_araddr_o  = cross_q ? 64'hfe0 : src_q[arc_q] + {44'd0, ar_idx, 12'd0};
  assign m_axi_arlen_o   = cross_q ? 8'd3 : go_q[arc_q][15:8] - 8'd1;

  // AW and W: W starts a cycle after its AW has been offered, whether it has been taken or not.
  logic        wr_busy_q, aw_taken_q;
  logic [1:0]  awc_q;
  logic [7:0]  w_beat_q, aw_idx;
  logic        w_over_q;
  logic        early_q;
  assign aw_idx          = go_q[awc_q][23:16] - aw_left_q[awc_q];
  assign m_axi_awvalid_o = wr_busy_q && !aw_taken_q;
  assign m_axi_awid_o    = {2'd0, awc_q};
  assign m_axi_awaddr_o  = dst_q[awc_q] + {44'd0, aw_idx, 12'd0};
  assign m_axi_awlen_o   = go_q[awc_q][15:8] - 8'd1;
  assign m_axi_wvalid_o  = wr_busy_q && !w_over_q;
  assign m_axi_wlast_o   = (w_beat_q == m_axi_awlen_o) || early_q;
  assign m_axi_wstrb_o   = (go_q[awc_q][1:0] == OpCopy) ? 32'hffff_ffff : go_q[awc_q][63:32];
  logic [255:0] pattern;
  always_comb begin
    for (int l = 0; l < 4; l++) begin
      pattern[64*l +: 64] = {6'd41, awc_q, aw_idx, w_beat_q, 8'(l), 32'h5a5a_1234};
    end
  end
  assign m_axi_wdata_o  = (go_q[awc_q][1:0] == OpCopy) ? buf_q[{awc_q, w_beat_q[6:0]}] : pattern;
  assign m_axi_bready_o = 1'b1;
  assign m_axi_rready_o = (cycle_q[2:0] != 3'd5);   // not always, for the sake of the other end

  logic ar_hs, aw_hs, w_hs, r_hs;
  assign ar_hs = ar_q && m_axi_arready_i;
  assign aw_hs = m_axi_awvalid_o && m_axi_awready_i;
  assign w_hs  = m_axi_wvalid_o && m_axi_wready_i;
  assign r_hs  = m_axi_rvalid_i && m_axi_rready_o;
  logic [1:0] rc, bc;
  assign rc = m_axi_rid_i[1:0];
  assign bc = m_axi_bid_i[1:0];
  logic [31:0] fold;
  always_comb begin
    fold = '0;
    for (int w = 0; w < 8; w++) fold = fold ^ m_axi_rdata_i[32*w +: 32];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_q       <= 1'b0;
      arc_q      <= '0;
      cross_q    <= 1'b0;
      wr_busy_q  <= 1'b0;
      aw_taken_q <= 1'b0;
      awc_q      <= '0;
      w_beat_q   <= '0;
      w_over_q   <= 1'b0;
      early_q    <= 1'b0;
    end else begin
      if (wr_die && (wdata_q == 64'd6)) cross_q <= 1'b1;
      if (wr_die && (wdata_q == 64'd8)) early_q <= 1'b1;
      if (ar_hs) ar_q <= 1'b0;
      else if (!ar_q && ar_any) begin
        ar_q  <= 1'b1;
        arc_q <= ar_ch;
      end
      if (!wr_busy_q && aw_any) begin
        wr_busy_q  <= 1'b1;
        awc_q      <= aw_ch;
        aw_taken_q <= 1'b0;
        w_over_q   <= 1'b0;
        w_beat_q   <= '0;
      end else if (wr_busy_q) begin
        if (aw_hs) aw_taken_q <= 1'b1;
        if (w_hs) w_beat_q <= w_beat_q + 8'd1;
        if (w_hs && m_axi_wlast_o) w_over_q <= 1'b1;
        if ((aw_hs || aw_taken_q) && (w_over_q || (w_hs && m_axi_wlast_o))) wr_busy_q <= 1'b0;
      end
    end
  end

  logic wr_end;                           // the burst of awc_q has left
  assign wr_end = wr_busy_q && (aw_hs || aw_taken_q) && (w_over_q || (w_hs && m_axi_wlast_o));

  for (genvar c = 0; c < N; c++) begin : gen_chan
    logic go, sel, r_me, b_me;
    logic [1:0] new_op;
    assign sel    = wr_chan && (wo[7:6] == 2'(c));
    assign go     = sel && (wo[5:0] == 6'h10);
    assign new_op = wdata_q[1:0];
    assign r_me   = r_hs && (m_axi_rid_i == 4'(c));
    assign b_me   = m_axi_bvalid_i && (m_axi_bid_i == 4'(c));
    assign want_ar[c] = busy_q[c] && (ar_left_q[c] != '0) && !(ar_q && (arc_q == 2'(c)));
    // A copy writes once all has been read.
    assign want_aw[c] = busy_q[c] && (aw_left_q[c] != '0) && (r_left_q[c] == '0) &&
                        !(wr_busy_q && (awc_q == 2'(c)));
    assign done[c]    = busy_q[c] && (r_left_q[c] == '0) && (b_left_q[c] == '0);
    assign chan_msix[c] = done[c] && go_q[c][31];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        busy_q[c]    <= 1'b0;
        ar_left_q[c] <= '0;
        r_left_q[c]  <= '0;
        aw_left_q[c] <= '0;
        b_left_q[c]  <= '0;
        r_beat_q[c]  <= '0;
        err_q[c]     <= '0;
        sum_q[c]     <= '0;
        age_q[c]     <= '0;
        lat_q[c]     <= '0;
        fresh_q[c]   <= 1'b0;
        src_q[c]     <= '0;
        dst_q[c]     <= '0;
        go_q[c]      <= '0;
      end else begin
        if (sel && (wo[5:0] == 6'h00)) src_q[c] <= wdata_q;
        if (sel && (wo[5:0] == 6'h08)) dst_q[c] <= wdata_q;
        if (done[c]) busy_q[c] <= 1'b0;
        if (go) begin
          busy_q[c]    <= (new_op != 2'd0);
          go_q[c]      <= wdata_q;
          ar_left_q[c] <= (new_op == OpWrite) ? '0 : wdata_q[23:16];
          r_left_q[c]  <= (new_op == OpWrite) ? '0 : wdata_q[23:16];
          aw_left_q[c] <= (new_op == OpRead) ? '0 : wdata_q[23:16];
          b_left_q[c]  <= (new_op == OpRead) ? '0 : wdata_q[23:16];
          r_beat_q[c]  <= '0;
          err_q[c]     <= '0;
          sum_q[c]     <= '0;
        end else begin
          if (ar_hs && (arc_q == 2'(c))) ar_left_q[c] <= ar_left_q[c] - 8'd1;
          if (wr_end && (awc_q == 2'(c))) aw_left_q[c] <= aw_left_q[c] - 8'd1;
          if (r_me) begin
            sum_q[c]    <= {sum_q[c][30:0], sum_q[c][31]} ^ fold;
            r_beat_q[c] <= m_axi_rlast_i ? '0 : r_beat_q[c] + 8'd1;
            if (m_axi_rlast_i) r_left_q[c] <= r_left_q[c] - 8'd1;
          end
          if (b_me) b_left_q[c] <= b_left_q[c] - 8'd1;
          if ((r_me && (m_axi_rresp_i != '0)) || (b_me && (m_axi_bresp_i != '0))) begin
            err_q[c] <= err_q[c] + 8'd1;
          end
        end
        if ((ar_hs && (arc_q == 2'(c))) || (aw_hs && (awc_q == 2'(c)))) begin
          age_q[c]   <= 16'd1;
          fresh_q[c] <= 1'b1;
        end else begin
          if (fresh_q[c]) age_q[c] <= age_q[c] + 16'd1;
          if (fresh_q[c] && ((m_axi_rvalid_i && (m_axi_rid_i == 4'(c))) || b_me)) begin
            lat_q[c]   <= age_q[c];
            fresh_q[c] <= 1'b0;
          end
        end
      end
    end
    // AXI: RLAST at the end of a burst and nowhere else.
    always_ff @(posedge clk_i) begin
      if (r_me) assert (m_axi_rlast_i == (r_beat_q[c] + 8'd1 == go_q[c][15:8]));
      if (r_me) assert (r_left_q[c] > ar_left_q[c]);
      if (b_me) assert (b_left_q[c] > aw_left_q[c]);
    end
  end
  always_ff @(posedge clk_i) if (r_hs) buf_q[{rc, r_beat_q[rc][6:0]}] <= m_axi_rdata_i;

  // AXI: R and B stay while they are not taken (B always is).
  logic r_stalled_q;
  logic [3:0] rid_last_q;
  logic [255:0] rdata_last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) r_stalled_q <= 1'b0;
    else r_stalled_q <= m_axi_rvalid_i && !m_axi_rready_o;
  end
  always_ff @(posedge clk_i) begin
    rid_last_q   <= m_axi_rid_i;
    rdata_last_q <= m_axi_rdata_i;
    if (r_stalled_q) begin
      assert (m_axi_rvalid_i && (m_axi_rid_i == rid_last_q) && (m_axi_rdata_i == rdata_last_q));
    end
  end

  // ------------------------------------------------------------------ BAR, read
  logic        rd_q;
  logic [20:0] raddr_q;
  logic [19:0] ro;
  assign ro = raddr_q[19:0];
  assign s_axil_arready_o = !rd_q && !s_axil_rvalid_o && (stall_q == '0);
  logic [63:0] rval;
  logic        rbad;
  always_comb begin
    rval = '0;
    rbad = raddr_q[20] || (raddr_q[2:0] != '0) || (ro >= 20'h01200);
    case (ro)
      20'h00000: rval = {32'd0, bdy_pkg::DEV_MAGIC};
      20'h00010: rval = cycle_q;
      20'h00020: rval = {60'd0, !boot_run_i ? bdy_pkg::DEV_ST_RESET :
                         (ready_q == 16'd200) ? bdy_pkg::DEV_ST_READY : bdy_pkg::DEV_ST_BOOT};
      20'h01000: rval = order_q;
      20'h01018: rval = timer_q;
      20'h01030: rval = {boot_sum_q, boot_words_q};
      default: begin
        for (int g = 0; g < 6; g++) if (ro == 20'h00080 + 20'(8 * g)) rval = scratch_q[g];
        for (int c = 0; c < N; c++) begin
          if (ro == 20'h01118 + 20'(64 * c)) rval = {sum_q[c], 16'd0, err_q[c], 7'd0, busy_q[c]};
          if (ro == 20'h01120 + 20'(64 * c)) rval = {48'd0, lat_q[c]};
        end
      end
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_q            <= 1'b0;
      s_axil_rvalid_o <= 1'b0;
      s_axil_rresp_o  <= '0;
    end else begin
      rd_q <= s_axil_arvalid_i && s_axil_arready_o;
      if (rd_q) begin
        s_axil_rvalid_o <= 1'b1;
        s_axil_rresp_o  <= rbad ? 2'b10 : 2'b00;
      end else if (s_axil_rready_i) s_axil_rvalid_o <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (s_axil_arvalid_i && s_axil_arready_o) raddr_q <= s_axil_araddr_i;
    if (rd_q) s_axil_rdata_o <= rval;
  end

  // ------------------------------------------------------------------ trace
  logic [7:0] mask;
  assign mask = wr_trace ? wdata_q[7:0] : 8'd0;
  assign trc_db_valid_o  = mask[0] || (act_q && !w_bad && waddr_q[20]);
  assign trc_db_o        = wdata_q;
  assign trc_wqe_valid_o = mask[1];
  assign trc_wqe_o       = {8{wdata_q}};
  assign trc_acc_valid_o = mask[2];
  assign trc_acc_o       = {8{~wdata_q}};
  assign trc_op_valid_o  = mask[3];
  assign trc_op_o        = {16{wdata_q}};
  assign trc_tx_valid_o  = mask[4];
  assign trc_tx_o        = {16{~wdata_q}};
  assign trc_rx_valid_o  = mask[5];
  assign trc_rx_o        = {16{wdata_q}};
  // A channel that ends is told like a completion, a message like an event.
  assign trc_cqe_valid_o = mask[6] || (done != '0);
  assign trc_cqe_o       = {248'd0, 4'd0, done, sum_q[3], sum_q[2], sum_q[1], sum_q[0],
                            err_q[3], err_q[2], err_q[1], err_q[0], 32'd0, wdata_q};
  assign trc_eqe_valid_o = mask[7] || msix_fire;
  assign trc_eqe_o       = {348'd0, msix_pick, msix_addr_o, msix_data_o, wdata_q};

  assign idle_o = !aw_q && !w_q && !act_q && !rd_q && !s_axil_bvalid_o && !s_axil_rvalid_o &&
                  (stall_q == '0) && (busy_q == '0) && !ar_q && !wr_busy_q && !msix_valid_o &&
                  !timer_due && !cross_q && (!boot_run_i || (ready_q == 16'd200));
  assign next_timer_o = (timer_q == '0) ? '1 : timer_q;

  assign lnk_tx_valid_o = 1'b0;
  assign lnk_tx_data_o  = '0;
  assign lnk_tx_keep_o  = '0;
  assign lnk_tx_last_o  = 1'b0;
  assign lnk_rx_ready_o = 1'b1;
  logic unused;
  assign unused = ^{s_axil_wstrb_i, lnk_tx_ready_i, lnk_rx_valid_i, lnk_rx_data_i, lnk_rx_keep_i,
                    lnk_rx_last_i, twist, m_axi_bid_i[3:2], bc};
endmodule
