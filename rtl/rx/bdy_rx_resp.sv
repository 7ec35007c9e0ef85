// SPDX-License-Identifier: Apache-2.0
//
// bdy_rx_resp: the response engine: ACKs, NAKs and READ responses (H14), one packet at a time from the response queue.
//
//   FETCH:  take work ─► context ─► [gather one packet's payload into a free buffer] ─► report ─► hand the packet to SEND
//   SEND:   header, payload stream to the framer, in the order in which the packets were fetched
//
// Purpose: READ responses are fetched and sent here and nowhere else; each packet's range is checked again by the gather, the
//   first one for the whole of what is left (H6, A23, T8). A refusal is a NAK Remote Access at that PSN, by way of the queue.
// Latency: work to header offered 3 cycles for an ACK or NAK; a READ packet adds its gather.
// Throughput: two buffers: the next packet is gathered while one is sent.
// Backpressure: the framer stops SEND; with both buffers full FETCH takes no work. Never waits for a request (H13).
// Invariants: packets leave in the order of the queue; READ data leaves only in RTR, RTS, SQD.

module bdy_rx_resp #(
  parameter int LogQps = 8
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,

  // Work and report (bdy_rx_rspq)
  input  logic                          wk_valid_i,
  output logic                          wk_ready_o,
  input  logic                          wk_read_i,
  input  logic [LogQps-1:0]             wk_idx_i,
  input  logic [23:0]                   wk_psn_i,
  input  logic [23:0]                   wk_msn_i,
  input  logic [7:0]                    wk_syn_i,
  input  logic [63:0]                   wk_va_i,
  input  logic [31:0]                   wk_rkey_i,
  input  logic [31:0]                   wk_len_i,
  input  logic                          wk_first_i,
  output logic                          fin_valid_o,
  input  logic                          fin_ready_i,
  output logic [1:0]                    fin_op_o,
  output logic [LogQps-1:0]             fin_idx_o,
  output logic [12:0]                   fin_bytes_o,
  output logic [7:0]                    fin_syn_o,

  // Queue pair context
  output logic [LogQps-1:0]             ctx_idx_o,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,
  input  logic [bdy_pkg::QP_CTX1_W-1:0] ctx1_i,
  input  logic [31:0]                   ctx_gen_i,

  // A refused READ ends its queue pair (E1).
  output logic                          fatal_valid_o,
  input  logic                          fatal_ready_i,
  output logic [LogQps-1:0]             fatal_idx_o,
  output logic [7:0]                    fatal_ev_o,
  output logic [7:0]                    fatal_rule_o,

  // Access port, grant return, DMA read client
  output logic                          acc_valid_o,
  input  logic                          acc_ready_i,
  output logic [bdy_pkg::ACC_REQ_W-1:0] acc_req_o,
  input  logic                          acc_rsp_valid_i,
  input  logic [bdy_pkg::ACC_RSP_W-1:0] acc_rsp_i,
  output logic                          ret_valid_o,
  output logic                          ret_epoch_o,
  output logic                          rdq_valid_o,
  input  logic                          rdq_ready_i,
  output logic [63:0]                   rdq_addr_o,
  output logic [12:0]                   rdq_len_o,
  input  logic                          rdd_valid_i,
  input  logic [255:0]                  rdd_data_i,
  input  logic                          rdd_last_i,
  input  logic                          rdd_err_i,

  // Response framer
  output logic                          hdr_valid_o,
  input  logic                          hdr_ready_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] hdr_o,
  output logic                          pl_valid_o,
  input  logic                          pl_ready_i,
  output logic [255:0]                  pl_data_o,
  output logic                          pl_last_o,

  // Queue pairs whose packets wait in the buffers
  output logic [1:0]                    sending_o,
  output logic [2*LogQps-1:0]           sending_idx_o,
  output logic                          idle_o
);

  localparam logic [1:0] FinTaken = 2'd0;
  localparam logic [1:0] FinRead = 2'd1;
  localparam logic [1:0] FinRefused = 2'd2;
  localparam logic [1:0] FinDropped = 2'd3;

  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StCtx = 3'd1;
  localparam logic [2:0] StStart = 3'd2;
  localparam logic [2:0] StGather = 3'd3;
  localparam logic [2:0] StFatal = 3'd4;
  localparam logic [2:0] StFin = 3'd5;

  // Much of a context is the requester's.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::qp_ctx0_t ctx0;
  bdy_pkg::qp_ctx1_t ctx1;
  // verilator lint_on UNUSEDSIGNAL
  assign ctx0 = ctx0_i;
  assign ctx1 = ctx1_i;

  // ---------------------------------------------------------------- FETCH
  logic [2:0]        st_q;
  logic              read_q, first_q;
  logic [LogQps-1:0] idx_q;
  logic [23:0]       psn_q, msn_q;
  logic [7:0]        syn_q, rule_q;
  logic [63:0]       va_q;
  logic [31:0]       rkey_q, len_q, gen_q;
  logic [1:0]        fin_op_q;
  logic              buf_q;                     // buffer to fill
  logic [1:0]        full_q;                    // packet waits in buffer
  logic              take, receiving, is_last;
  logic [12:0]       mtu, bytes;
  logic [7:0]        opcode;
  logic              g_ready, g_done, g_stale;
  logic [7:0]        g_rule;
  logic              hand_over;                 // the packet is complete: to SEND

  assign wk_ready_o = st_q == StIdle && !full_q[buf_q];
  assign take       = wk_valid_i && wk_ready_o;
  assign ctx_idx_o  = take ? wk_idx_i : idx_q;

  assign receiving = ctx0.st == bdy_pkg::QP_ST_RTR || ctx0.st == bdy_pkg::QP_ST_RTS || ctx0.st == bdy_pkg::QP_ST_SQD;
  assign mtu       = 13'd128 << ctx0.mtu;
  assign is_last   = len_q <= 32'(mtu);
  assign bytes     = is_last ? len_q[12:0] : mtu;
  assign opcode    = !read_q              ? bdy_pkg::BTH_OP_ACK :
                     (first_q && is_last) ? bdy_pkg::BTH_OP_READ_RESP_ONLY :
                     first_q              ? bdy_pkg::BTH_OP_READ_RESP_FIRST :
                     is_last              ? bdy_pkg::BTH_OP_READ_RESP_LAST : bdy_pkg::BTH_OP_READ_RESP_MIDDLE;

  assign hand_over = (st_q == StCtx && (!read_q || (receiving && len_q == '0))) ||
                     (st_q == StGather && g_done && g_rule == bdy_pkg::RULE_NONE && !g_stale);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q     <= StIdle;
      read_q   <= 1'b0;
      first_q  <= 1'b0;
      idx_q    <= '0;
      psn_q    <= '0;
      msn_q    <= '0;
      syn_q    <= '0;
      va_q     <= '0;
      rkey_q   <= '0;
      len_q    <= '0;
      gen_q    <= '0;
      rule_q   <= '0;
      fin_op_q <= '0;
      buf_q    <= 1'b0;
    end else begin
      case (st_q)
        StIdle: begin
          if (take) begin
            st_q    <= StCtx;
            read_q  <= wk_read_i;
            first_q <= wk_first_i;
            idx_q   <= wk_idx_i;
            psn_q   <= wk_psn_i;
            msn_q   <= wk_msn_i;
            syn_q   <= wk_syn_i;
            va_q    <= wk_va_i;
            rkey_q  <= wk_rkey_i;
            len_q   <= wk_len_i;
          end
        end
        StCtx: begin
          gen_q    <= ctx_gen_i;
          fin_op_q <= !read_q ? FinTaken : receiving ? FinRead : FinDropped;
          st_q     <= (read_q && receiving && len_q != '0) ? StStart : StFin;
        end
        StStart: if (g_ready) st_q <= StGather;
        StGather: begin
          if (g_done) begin
            rule_q <= g_rule;
            if (g_stale) fin_op_q <= FinDropped;
            else if (g_rule != bdy_pkg::RULE_NONE) fin_op_q <= FinRefused;
            st_q <= (g_rule != bdy_pkg::RULE_NONE && !g_stale) ? StFatal : StFin;
          end
        end
        StFatal: if (fatal_ready_i) st_q <= StFin;
        StFin: if (fin_ready_i) st_q <= StIdle;
        default: st_q <= StIdle;
      endcase
      if (hand_over) buf_q <= !buf_q;
    end
  end

  assign fin_valid_o = st_q == StFin;
  assign fin_op_o    = fin_op_q;
  assign fin_idx_o   = idx_q;
  assign fin_bytes_o = bytes;
  assign fin_syn_o   = rule_q == bdy_pkg::RULE_DMA ? bdy_pkg::AETH_NAK_OP : bdy_pkg::AETH_NAK_ACC;

  assign fatal_valid_o = st_q == StFatal;
  assign fatal_idx_o   = idx_q;
  assign fatal_ev_o    = rule_q == bdy_pkg::RULE_DMA ? bdy_pkg::EQE_KIND_QP_FATAL : bdy_pkg::EQE_KIND_QP_ACCESS_ERR;
  assign fatal_rule_o  = rule_q;

  // ---------------------------------------------------------------- payload
  logic         pw_valid;
  logic [12:0]  pw_off;
  logic [5:0]   pw_bytes;
  logic [255:0] pw_data;
  logic [1:0]   pq_valid, pq_ready, pr_valid, pr_last;
  logic [511:0] pr_data;
  // A READ is one range: SGE 0, whichever is asked for. A buffer takes every write. The states tell what is idle.
  // verilator lint_off UNUSEDSIGNAL
  logic [3:0]   sge_idx;
  logic [1:0]   pw_ready, buf_idle;
  logic         g_idle;
  // verilator lint_on UNUSEDSIGNAL

  bdy_gather u_gather (
    .clk_i, .rst_ni, .idle_o(g_idle),
    .start_valid_i(st_q == StStart), .start_ready_o(g_ready),
    .start_num_sge_i(5'd1), .start_off_i(32'd0), .start_len_i(bytes), .start_local_i(1'b0),
    .start_rights_i(bdy_pkg::ACCESS_BIT_REMOTE_READ), .start_pd_i(ctx0.pd),
    .start_qpn_i(bdy_pkg::QPN_BASE[23:0] + 24'(idx_q)), .start_gen_i(gen_q),
    .start_chk_len_i(first_q ? len_q : 32'd0),
    .sge_idx_o(sge_idx), .sge_i({rkey_q, len_q, va_q}),
    .pb_wr_valid_o(pw_valid), .pb_wr_off_o(pw_off), .pb_wr_bytes_o(pw_bytes), .pb_wr_data_o(pw_data),
    .acc_valid_o, .acc_ready_i, .acc_req_o, .acc_rsp_valid_i, .acc_rsp_i, .ret_valid_o, .ret_epoch_o,
    .rdq_valid_o, .rdq_ready_i, .rdq_addr_o, .rdq_len_o, .rdd_valid_i, .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .done_o(g_done), .done_rule_o(g_rule), .done_stale_o(g_stale)
  );

  for (genvar b = 0; b < 2; b++) begin : g_buf
    bdy_paybuf u_buf (
      .clk_i, .rst_ni, .idle_o(buf_idle[b]),
      .wr_valid_i(pw_valid && buf_q == (b == 1)), .wr_ready_o(pw_ready[b]), .wr_off_i(pw_off), .wr_bytes_i(pw_bytes),
      .wr_data_i(pw_data),
      .rq_valid_i(pq_valid[b]), .rq_ready_o(pq_ready[b]), .rq_off_i('0), .rq_len_i(s_bytes_q[13*b+:13]),
      .rd_valid_o(pr_valid[b]), .rd_ready_i(pl_ready_i && out_q == (b == 1)),
      .rd_data_o(pr_data[256*b+:256]), .rd_last_o(pr_last[b])
    );
  end

  // ---------------------------------------------------------------- SEND
  localparam int HdrW = bdy_pkg::PKT_HDR_W;
  localparam logic [1:0] SendHdr = 2'd0;
  localparam logic [1:0] SendAsk = 2'd1;
  localparam logic [1:0] SendData = 2'd2;

  logic [1:0]          send_q;
  logic                out_q;                 // buffer being sent
  logic [25:0]         s_bytes_q;
  logic [2*LogQps-1:0] s_idx_q;
  logic [2*HdrW-1:0]   s_hdr_q;
  logic [HdrW-1:0]     hdr;
  logic                sent;

  bdy_pkg::pkt_hdr_t h;
  always_comb begin
    h             = '0;
    h.op          = opcode;
    h.grh         = ctx0.grh;
    h.pkey        = 16'hffff;
    h.dest_qp     = ctx0.dest_qpn;
    h.sl          = ctx0.sl;
    h.psn         = psn_q;
    h.syndrome    = syn_q;
    h.msn         = msn_q;
    h.paylen      = read_q ? bytes : 13'd0;
    h.dlid        = ctx0.dlid;
    h.flow_label  = ctx1.flow_label;
    h.tclass      = ctx1.tclass;
    h.hop_limit   = ctx1.hop_limit;
    h.sgid_index  = ctx1.sgid_index;
    h.gid_lo      = ctx1.dgid_lo;
    h.gid_hi      = ctx1.dgid_hi;
  end
  assign hdr = h;

  assign hdr_valid_o = send_q == SendHdr && full_q[out_q];
  assign hdr_o       = out_q ? s_hdr_q[2*HdrW-1:HdrW] : s_hdr_q[HdrW-1:0];
  assign pq_valid    = {send_q == SendAsk && out_q, send_q == SendAsk && !out_q};
  assign pl_valid_o  = send_q == SendData && pr_valid[out_q];
  assign pl_data_o   = out_q ? pr_data[511:256] : pr_data[255:0];
  assign pl_last_o   = pr_last[out_q];
  assign sent        = (hdr_valid_o && hdr_ready_i && s_bytes_q[13*out_q+:13] == '0) ||
                       (pl_valid_o && pl_ready_i && pl_last_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      send_q    <= SendHdr;
      out_q     <= 1'b0;
      full_q    <= '0;
      s_bytes_q <= '0;
      s_idx_q   <= '0;
      s_hdr_q   <= '0;
    end else begin
      case (send_q)
        SendHdr: if (hdr_valid_o && hdr_ready_i && !sent) send_q <= SendAsk;
        SendAsk: if (pq_ready[out_q]) send_q <= SendData;
        SendData: if (sent) send_q <= SendHdr;
        default: send_q <= SendHdr;
      endcase
      if (sent) begin
        out_q         <= !out_q;
        full_q[out_q] <= 1'b0;
      end
      if (hand_over) begin
        full_q[buf_q]                  <= 1'b1;
        s_bytes_q[13*buf_q+:13]        <= read_q ? bytes : 13'd0;
        s_idx_q[LogQps*buf_q+:LogQps]  <= idx_q;
        s_hdr_q[HdrW*buf_q+:HdrW]      <= hdr;
      end
    end
  end

  assign sending_o     = full_q;
  assign sending_idx_o = s_idx_q;
  assign idle_o        = st_q == StIdle && full_q == '0;

`ifdef FORMAL
  always_ff @(posedge clk_i) if (rst_ni) begin
    assert (st_q <= StFin);
    assert (send_q != 2'd3);
    assert (!hand_over || !full_q[buf_q]);
  end
`endif

endmodule
