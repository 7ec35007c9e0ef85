// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_pkt: sends one packet: collects the payload (gathered from memory, or inline from the
// WQE), then hands header and payload to the request framer.
//
//   start --> [gather | inline copy | check] --> buffer 0 --\
//                                           \--> buffer 1 ---> header, done --> payload stream
//
// check: an atomic sends no payload, but leaves only if its result may land in SGE 0 (M9).
//
// Latency:      header one cycle after the payload is complete (at once when there is none).
// Throughput:   a packet is collected while the one before streams out; Shallow: one packet at a
//               time, one buffer.
// Backpressure: hdr_ready_i, pl_ready_i, access and memory. Nothing of the response channel is
//               waited for (H13).
// Invariants:   the header is offered only when the whole payload is in the buffer (H3). A local
//               error sends nothing.

module bdy_sq_pkt #(
  parameter bit Shallow = 1'b0
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         idle_o,        // nothing is collected or streams out

  input  logic         start_i,       // only after done_o; the other inputs are stable until then
  input  logic [bdy_pkg::PKT_HDR_W-1:0] start_hdr_i,
  input  logic [31:0]  start_off_i,
  input  logic         start_inl_i,
  input  logic         start_chk_i,   // check SGE 0 for writing; no payload
  input  logic [4:0]   start_num_sge_i,
  input  logic [23:0]  start_pd_i,
  input  logic [23:0]  start_qpn_i,
  input  logic [31:0]  start_gen_i,
  output logic         taken_o,       // pulse: the framer has the header, the packet goes out
  output logic         done_o,
  output logic [7:0]   done_rule_o,
  output logic         done_stale_o,

  output logic [3:0]   sge_idx_o,
  input  logic [127:0] sge_i,
  output logic [3:0]   line_idx_o,    // of the WQE, for inline data
  input  logic [255:0] line_i,

  output logic                          acc_valid_o,
  input  logic                          acc_ready_i,
  output logic [bdy_pkg::ACC_REQ_W-1:0] acc_req_o,
  input  logic                          acc_rsp_valid_i,
  input  logic [bdy_pkg::ACC_RSP_W-1:0] acc_rsp_i,
  output logic                          ret_valid_o,
  output logic                          ret_epoch_o,

  output logic         rdq_valid_o,
  input  logic         rdq_ready_i,
  output logic [63:0]  rdq_addr_o,
  output logic [12:0]  rdq_len_o,
  input  logic         rdd_valid_i,
  input  logic [255:0] rdd_data_i,
  input  logic         rdd_last_i,
  input  logic         rdd_err_i,

  output logic         hdr_valid_o,
  input  logic         hdr_ready_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] hdr_o,
  output logic         pl_valid_o,
  input  logic         pl_ready_i,
  output logic [255:0] pl_data_o,
  output logic         pl_last_o
);

  localparam logic [2:0] StIdle   = 3'd0;
  localparam logic [2:0] StAsk    = 3'd1;
  localparam logic [2:0] StGather = 3'd2;
  localparam logic [2:0] StInline = 3'd3;
  localparam logic [2:0] StHdr    = 3'd4;
  localparam logic [2:0] StStream = 3'd5;
  localparam logic [2:0] StDone   = 3'd6;
  localparam logic [2:0] StCheck  = 3'd7;

  logic [2:0]  st_q;
  logic        checking_q;              // the verdict of StCheck is on its way
  logic        asked_q;                 // the buffer was asked for the packet that streams
  logic [7:0]  rule_q;
  logic        stale_q;
  logic [12:0] copied_q, left;
  logic [12:0] paylen;
  logic        ga_ready, ga_done, ga_stale, ga_idle;
  logic [7:0]  ga_rule;
  logic        ga_wr, wr, ask, rq_ready, rd_valid, rd_last;
  logic [12:0] ga_off, wr_off;
  logic [5:0]  ga_bytes, wr_bytes;
  logic [255:0] ga_data, wr_data;

  assign paylen = start_hdr_i[bdy_pkg::PKT_HDR_PAYLEN_LSB+:bdy_pkg::PKT_HDR_PAYLEN_W];
  assign left   = paylen - copied_q;

  // ---------------------------------------------------------------- the packet that streams out
  logic        tx_q, tx_sel_q, wr_sel_q, sel, tx_end;
  logic [12:0] tx_len_q, tx_len;

  assign sel    = tx_q ? tx_sel_q : wr_sel_q;
  assign tx_len = tx_q ? tx_len_q : paylen;
  assign tx_end = tx_q && rd_valid && pl_ready_i && rd_last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tx_q     <= 1'b0;
      tx_sel_q <= 1'b0;
      wr_sel_q <= 1'b0;
      tx_len_q <= '0;
      asked_q  <= 1'b0;
    end else begin
      if (tx_end) begin
        tx_q    <= 1'b0;
        asked_q <= 1'b0;
      end else if (ask && rq_ready) begin
        asked_q <= 1'b1;
      end
      if (taken_o && paylen != '0) begin
        tx_q     <= 1'b1;
        tx_sel_q <= wr_sel_q;
        tx_len_q <= paylen;
        wr_sel_q <= !Shallow && !wr_sel_q;
      end
    end
  end

  assign idle_o       = st_q == StIdle && !tx_q;
  assign hdr_valid_o  = st_q == StHdr && !tx_q;
  assign hdr_o        = start_hdr_i;
  assign taken_o      = hdr_valid_o && hdr_ready_i;
  assign pl_valid_o   = tx_q && rd_valid;
  assign pl_last_o    = rd_last;
  assign done_o       = st_q == StDone;
  assign done_rule_o  = rule_q;
  assign done_stale_o = stale_q;

  // ---------------------------------------------------------------- check of an atomic's result
  // An answer has more fields, and an SGE is three of them.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::acc_rsp_t rsp;
  // verilator lint_on UNUSEDSIGNAL
  bdy_pkg::acc_req_t chk;
  bdy_pkg::sge_t     sge;
  logic              chk_done, ga_acc_valid;
  logic [3:0]        ga_sge_idx;
  logic [bdy_pkg::ACC_REQ_W-1:0] ga_acc_req;

  assign rsp = acc_rsp_i;
  assign sge = sge_i;

  always_comb begin
    chk           = '0;
    chk.local_key = 1'b1;
    chk.rights    = bdy_pkg::ACCESS_BIT_LOCAL_WRITE;
    chk.key       = sge.lkey;
    chk.va        = sge.addr;
    chk.len       = sge.len;
    chk.pd        = start_pd_i;
    chk.qpn       = start_qpn_i;
    chk.qp_gen    = start_gen_i;
  end

  assign chk_done    = st_q == StCheck && acc_rsp_valid_i;
  assign acc_valid_o = (st_q == StCheck) ? !checking_q : ga_acc_valid;
  assign acc_req_o   = (st_q == StCheck) ? chk : ga_acc_req;
  assign sge_idx_o   = (st_q == StCheck) ? 4'd0 : ga_sge_idx;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q <= StIdle;
    end else begin
      case (st_q)
        StIdle: if (start_i) begin
          st_q <= start_chk_i ? StCheck : (paylen == '0) ? StHdr : start_inl_i ? StInline : StAsk;
        end
        StAsk:    if (ga_ready) st_q <= StGather;
        StGather: if (ga_done) st_q <= (ga_rule == bdy_pkg::RULE_NONE) ? StHdr : StDone;
        StCheck:  if (chk_done) st_q <= (rsp.rule == bdy_pkg::RULE_NONE) ? StHdr : StDone;
        StInline: if (left <= 13'd32) st_q <= StHdr;
        StHdr:    if (taken_o) st_q <= (Shallow && paylen != '0) ? StStream : StDone;
        StStream: if (tx_end) st_q <= StDone;
        default:  st_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      checking_q <= 1'b0;
      rule_q     <= bdy_pkg::RULE_NONE;
      stale_q    <= 1'b0;
      copied_q   <= '0;
    end else if (st_q == StIdle) begin
      checking_q <= 1'b0;
      rule_q     <= bdy_pkg::RULE_NONE;
      stale_q    <= 1'b0;
      copied_q   <= '0;
    end else begin
      if (st_q == StInline) copied_q <= copied_q + 13'd32;
      if (st_q == StCheck && acc_ready_i) checking_q <= 1'b1;
      if (chk_done) begin
        rule_q  <= rsp.rule;
        stale_q <= rsp.stale;
      end
      if (st_q == StGather && ga_done) begin
        rule_q  <= ga_rule;
        stale_q <= ga_stale;
      end
    end
  end

  assign ask = (tx_q || (st_q == StHdr && paylen != '0)) && !asked_q;

  // Inline data starts in line 1; a packet starts at a multiple of 256 bytes.
  assign line_idx_o = 4'd1 + start_off_i[8:5] + copied_q[8:5];

  assign wr       = ga_wr || st_q == StInline;
  assign wr_off   = ga_wr ? ga_off : copied_q;
  assign wr_bytes = ga_wr ? ga_bytes : (left > 13'd32) ? 6'd32 : left[5:0];
  assign wr_data  = ga_wr ? ga_data : line_i;

  bdy_gather #(.TagBase(8'h00), .Shallow(Shallow)) u_gather (
    .clk_i, .rst_ni,
    .idle_o(ga_idle),
    .start_valid_i(st_q == StAsk),
    .start_ready_o(ga_ready),
    .start_num_sge_i,
    .start_off_i,
    .start_len_i(paylen),
    .start_local_i(1'b1),
    .start_rights_i(8'd0),
    .start_pd_i, .start_qpn_i, .start_gen_i,
    .start_chk_len_i(32'd0),
    .sge_idx_o(ga_sge_idx),
    .sge_i,
    .acc_valid_o(ga_acc_valid),
    .acc_ready_i(acc_ready_i && st_q != StCheck),
    .acc_req_o(ga_acc_req),
    .acc_rsp_valid_i(acc_rsp_valid_i && st_q != StCheck),
    .acc_rsp_i, .ret_valid_o, .ret_epoch_o,
    .rdq_valid_o, .rdq_ready_i, .rdq_addr_o, .rdq_len_o,
    .rdd_valid_i, .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .pb_wr_valid_o(ga_wr),
    .pb_wr_off_o(ga_off),
    .pb_wr_bytes_o(ga_bytes),
    .pb_wr_data_o(ga_data),
    .done_o(ga_done),
    .done_rule_o(ga_rule),
    .done_stale_o(ga_stale)
  );

  localparam int Buffers = Shallow ? 1 : 2;

  logic [Buffers-1:0]     b_rq_ready, b_rd_valid, b_rd_last, b_idle, b_wr_ready;
  logic [256*Buffers-1:0] b_rd_data;

  for (genvar b = 0; b < Buffers; b++) begin : g_buf
    bdy_paybuf u_buf (
      .clk_i, .rst_ni,
      .idle_o(b_idle[b]),
      .wr_valid_i(wr && wr_sel_q == 1'(b)),
      .wr_ready_o(b_wr_ready[b]),
      .wr_off_i(wr_off),
      .wr_bytes_i(wr_bytes),
      .wr_data_i(wr_data),
      .rq_valid_i(ask && sel == 1'(b)),
      .rq_ready_o(b_rq_ready[b]),
      .rq_off_i(13'd0),
      .rq_len_i(tx_len),
      .rd_valid_o(b_rd_valid[b]),
      .rd_ready_i(tx_q && tx_sel_q == 1'(b) && pl_ready_i),
      .rd_data_o(b_rd_data[256*b+:256]),
      .rd_last_o(b_rd_last[b])
    );
  end

  if (Shallow) begin : g_one
    assign rq_ready  = b_rq_ready[0];
    assign rd_valid  = b_rd_valid[0];
    assign rd_last   = b_rd_last[0];
    assign pl_data_o = b_rd_data;
  end else begin : g_two
    assign rq_ready  = b_rq_ready[sel];
    assign rd_valid  = b_rd_valid[tx_sel_q];
    assign rd_last   = b_rd_last[tx_sel_q];
    assign pl_data_o = tx_sel_q ? b_rd_data[511:256] : b_rd_data[255:0];
  end

  logic unused;
  assign unused = ^{ga_idle, b_idle, b_wr_ready, start_off_i[31:9], start_off_i[4:0]};

endmodule
