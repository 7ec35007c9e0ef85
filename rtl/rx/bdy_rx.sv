// SPDX-License-Identifier: Apache-2.0
//
// bdy_rx: the responder of RC queue pairs.
//
//   request deframer ─► bdy_rx_req ─► bdy_scatter ─► host memory
//                          │   ├────► bdy_rq (receive WQEs), receive CQEs
//                          │   └────► bdy_rx_fatal ─► QP_ERR, events
//                          ▼
//                      bdy_rx_rspq ─► bdy_rx_resp ─► response framer            (ACK, NAK, READ responses)
//                                       └─ bdy_gather ◄─ host memory
//
// Purpose: wires the request engine, the response queue, the response engine and the ends of queue pairs.
// Latency, throughput: see the parts; requests and responses proceed independently.
// Backpressure: requests wait for the response queue and host memory, responses for the response framer and host memory;
//   responses never wait for requests (H13).
// Invariants: a queue pair's responses leave in PSN order (H14); a queue pair event for RESET is acknowledged when nothing of
//   the old life is left here.

module bdy_rx #(
  parameter int LogQps = 8,
  parameter int NakDepth = 8      // protection refusals that wait for their time behind the first one (H9)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [63:0]                   cycle_i,
  input  logic [15:0]                   nak_delay_i,

  // Request deframer
  input  logic                          hdr_valid_i,
  output logic                          hdr_ready_o,
  input  logic [bdy_pkg::PKT_HDR_W-1:0] hdr_i,
  output logic                          prq_valid_o,
  input  logic                          prq_ready_i,
  output logic [12:0]                   prq_off_o,
  output logic [12:0]                   prq_len_o,
  input  logic                          pst_valid_i,
  output logic                          pst_ready_o,
  input  logic [255:0]                  pst_data_i,
  input  logic                          pst_last_i,
  output logic                          pkt_done_o,

  // Response framer
  output logic                          rsp_hdr_valid_o,
  input  logic                          rsp_hdr_ready_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] rsp_hdr_o,
  output logic                          rsp_pl_valid_o,
  input  logic                          rsp_pl_ready_i,
  output logic [255:0]                  rsp_pl_data_o,
  output logic                          rsp_pl_last_o,

  // Context ports: requests, responses (data in the next cycle)
  output logic [LogQps-1:0]             req_ctx_idx_o,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] req_ctx0_i,
  input  logic [31:0]                   req_ctx_gen_i,
  output logic [LogQps-1:0]             rsp_ctx_idx_o,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] rsp_ctx0_i,
  input  logic [bdy_pkg::QP_CTX1_W-1:0] rsp_ctx1_i,
  input  logic [31:0]                   rsp_ctx_gen_i,

  // Queue pair events
  input  logic                          qpev_valid_i,
  input  logic [LogQps-1:0]             qpev_idx_i,
  input  logic [2:0]                    qpev_st_i,
  input  logic                          qpev_bump_i,
  output logic                          qpev_ack_o,

  // Access ports: 0 scatter (access port 1), 1 READ gather (access port 2)
  output logic [1:0]                      acc_valid_o,
  input  logic [1:0]                      acc_ready_i,
  output logic [2*bdy_pkg::ACC_REQ_W-1:0] acc_req_o,
  input  logic [1:0]                      acc_rsp_valid_i,
  input  logic [bdy_pkg::ACC_RSP_W-1:0]   acc_rsp_i,
  output logic [1:0]                      ret_valid_o,
  output logic [1:0]                      ret_epoch_o,

  // DMA: write client of the scatter, read client of the READ gather
  output logic                          wrq_valid_o,
  input  logic                          wrq_ready_i,
  output logic [63:0]                   wrq_addr_o,
  output logic [12:0]                   wrq_len_o,
  output logic                          wrd_valid_o,
  input  logic                          wrd_ready_i,
  output logic [255:0]                  wrd_data_o,
  output logic                          wrd_last_o,
  input  logic                          wrb_valid_i,
  input  logic                          wrb_err_i,
  output logic                          rdq_valid_o,
  input  logic                          rdq_ready_i,
  output logic [63:0]                   rdq_addr_o,
  output logic [12:0]                   rdq_len_o,
  input  logic                          rdd_valid_i,
  input  logic [255:0]                  rdd_data_i,
  input  logic                          rdd_last_i,
  input  logic                          rdd_err_i,

  // Receive queue (bdy_rq)
  output logic                          rq_req_valid_o,
  output logic [1:0]                    rq_req_op_o,
  output logic [LogQps-1:0]             rq_req_idx_o,
  output logic [63:0]                   rq_req_base_o,
  output logic [3:0]                    rq_req_log_o,
  output logic [1:0]                    rq_req_log_stride_o,
  input  logic                          rq_rsp_valid_i,
  input  logic                          rq_rsp_empty_i,
  input  logic [7:0]                    rq_rsp_rule_i,
  input  logic [15:0]                   rq_rsp_index_i,
  input  logic [4:0]                    rq_rsp_num_sge_i,
  input  logic [31:0]                   rq_rsp_total_i,
  output logic [3:0]                    rq_sge_idx_o,
  input  logic [bdy_pkg::SGE_W-1:0]     rq_sge_i,
  output logic                          rq_pop_valid_o,
  output logic [LogQps-1:0]             rq_pop_idx_o,
  output logic                          rq_clr_valid_o,
  input  logic                          rq_clr_ready_i,
  output logic [LogQps-1:0]             rq_clr_idx_o,
  input  logic                          rq_err_post_valid_i,
  input  logic [LogQps-1:0]             rq_err_post_idx_i,
  input  logic                          rq_beyond_valid_i,
  output logic                          rq_beyond_ready_o,
  input  logic [LogQps-1:0]             rq_beyond_idx_i,

  // Completions (port 1)
  output logic                          cqe_valid_o,
  input  logic                          cqe_ready_i,
  output logic [23:0]                   cqe_cqn_o,
  output logic [bdy_pkg::CQE_W-1:0]     cqe_o,
  input  logic                          cqe_done_i,
  input  logic                          cqe_err_i,

  // Operation port 2
  output logic                          op_valid_o,
  input  logic                          op_ready_i,
  output logic [bdy_pkg::PROT_OP_W-1:0] op_req_o,
  output logic [7:0]                    op_tag_o,
  input  logic                          ope_valid_i,
  input  logic [7:0]                    ope_rule_i,

  // Events (port 2)
  output logic                          ev_valid_o,
  input  logic                          ev_ready_i,
  output logic [7:0]                    ev_eqn_o,
  output logic [63:0]                   ev_o,

  // Counters: pulses
  output logic                          cnt_unknown_qp_o,
  output logic                          cnt_bad_state_o,
  output logic                          cnt_bad_pkey_o,
  output logic                          cnt_duplicate_o,
  output logic                          cnt_out_of_seq_o,
  output logic                          cnt_rnr_o,
  output logic                          cnt_stale_o,
  output logic                          cnt_refused_o,           // a request, SEND or WRITE or invalid
  output logic [7:0]                    cnt_refused_rule_o,
  output logic                          cnt_read_refused_o,      // a READ, by protection or memory
  output logic [7:0]                    cnt_read_refused_rule_o,

  output logic                          idle_o
);

  localparam int Qps = 1 << LogQps;

  logic                          sc_valid, sc_ready, sc_local, sc_done, sc_stale;
  logic [4:0]                    sc_num_sge;
  logic [31:0]                   sc_off, sc_gen, sc_chk_len;
  logic [12:0]                   sc_len;
  logic [7:0]                    sc_rights, sc_rule;
  logic [23:0]                   sc_pd, sc_qpn;
  logic [bdy_pkg::SGE_W-1:0]     sc_range;

  logic                          cmd_valid, cmd_ready, cmd_dup, cmd_over, cmd_full;
  logic [1:0]                    cmd_op;
  logic [LogQps-1:0]             cmd_idx;
  logic [23:0]                   cmd_psn, cmd_msn;
  logic [7:0]                    cmd_syn;
  logic [31:0]                   cmd_arrival, cmd_rkey, cmd_len;
  logic [63:0]                   cmd_va;
  logic [4:0]                    cmd_limit;
  logic [Qps-1:0]                reads, owes;

  logic                          wk_valid, wk_ready, wk_read, wk_first, fin_valid, fin_ready;
  logic [LogQps-1:0]             wk_idx, fin_idx;
  logic [23:0]                   wk_psn, wk_msn;
  logic [7:0]                    wk_syn, fin_syn;
  logic [63:0]                   wk_va;
  logic [31:0]                   wk_rkey, wk_len;
  logic [1:0]                    fin_op, sending;
  logic [12:0]                   fin_bytes;
  logic [2*LogQps-1:0]           sending_idx;

  logic                          req_fatal_valid, req_fatal_ready, rsp_fatal_valid, rsp_fatal_ready, kill_valid, ending;
  logic [LogQps-1:0]             req_fatal_idx, rsp_fatal_idx, kill_idx, ending_idx;
  logic [7:0]                    req_fatal_ev, req_fatal_rule, rsp_fatal_ev, rsp_fatal_rule;

  logic                          req_idle, rspq_idle, resp_idle, fatal_idle, sc_idle;

  bdy_rx_req #(.LogQps(LogQps)) u_req (
    .clk_i, .rst_ni, .cycle_i,
    .hdr_valid_i, .hdr_ready_o, .hdr_i, .pkt_done_o,
    .ctx_idx_o(req_ctx_idx_o), .ctx0_i(req_ctx0_i), .ctx_gen_i(req_ctx_gen_i),
    .qpev_valid_i, .qpev_idx_i, .qpev_st_i, .qpev_bump_i, .qpev_ack_o,
    .sc_valid_o(sc_valid), .sc_ready_i(sc_ready), .sc_num_sge_o(sc_num_sge), .sc_off_o(sc_off), .sc_len_o(sc_len),
    .sc_local_o(sc_local), .sc_rights_o(sc_rights), .sc_pd_o(sc_pd), .sc_qpn_o(sc_qpn), .sc_gen_o(sc_gen),
    .sc_chk_len_o(sc_chk_len), .sc_range_o(sc_range), .sc_done_i(sc_done), .sc_rule_i(sc_rule), .sc_stale_i(sc_stale),
    .rq_valid_o(rq_req_valid_o), .rq_op_o(rq_req_op_o), .rq_idx_o(rq_req_idx_o), .rq_base_o(rq_req_base_o),
    .rq_log_o(rq_req_log_o), .rq_log_stride_o(rq_req_log_stride_o),
    .rq_rsp_valid_i, .rq_rsp_empty_i, .rq_rsp_rule_i, .rq_rsp_index_i, .rq_rsp_num_sge_i, .rq_rsp_total_i,
    .rq_pop_valid_o, .rq_pop_idx_o, .rq_clr_valid_o, .rq_clr_ready_i, .rq_clr_idx_o,
    .err_post_valid_i(rq_err_post_valid_i), .err_post_idx_i(rq_err_post_idx_i),
    .cqe_valid_o, .cqe_ready_i, .cqe_cqn_o, .cqe_o, .cqe_done_i, .cqe_err_i,
    .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready), .cmd_op_o(cmd_op), .cmd_idx_o(cmd_idx), .cmd_psn_o(cmd_psn),
    .cmd_msn_o(cmd_msn), .cmd_syn_o(cmd_syn), .cmd_arrival_o(cmd_arrival), .cmd_va_o(cmd_va), .cmd_rkey_o(cmd_rkey),
    .cmd_len_o(cmd_len), .cmd_dup_o(cmd_dup), .cmd_limit_o(cmd_limit), .cmd_over_i(cmd_over), .cmd_full_i(cmd_full),
    .reads_i(reads), .owes_i(owes), .sending_i(sending), .sending_idx_i(sending_idx),
    .fatal_valid_o(req_fatal_valid), .fatal_ready_i(req_fatal_ready), .fatal_idx_o(req_fatal_idx),
    .fatal_ev_o(req_fatal_ev), .fatal_rule_o(req_fatal_rule),
    .resp_fatal_i(rsp_fatal_valid && rsp_fatal_ready), .resp_fatal_idx_i(rsp_fatal_idx),
    .kill_valid_o(kill_valid), .kill_idx_o(kill_idx),
    .ending_i(ending), .ending_idx_i(ending_idx),
    .cnt_unknown_qp_o, .cnt_bad_state_o, .cnt_bad_pkey_o, .cnt_duplicate_o, .cnt_out_of_seq_o, .cnt_rnr_o, .cnt_stale_o,
    .cnt_refused_o, .cnt_refused_rule_o,
    .idle_o(req_idle)
  );

  bdy_scatter #(.TagBase(8'h00)) u_scatter (
    .clk_i, .rst_ni, .idle_o(sc_idle),
    .start_valid_i(sc_valid), .start_ready_o(sc_ready), .start_num_sge_i(sc_num_sge), .start_off_i(sc_off),
    .start_len_i(sc_len), .start_src_off_i(13'd0), .start_local_i(sc_local), .start_rights_i(sc_rights),
    .start_pd_i(sc_pd), .start_qpn_i(sc_qpn), .start_gen_i(sc_gen), .start_chk_len_i(sc_chk_len),
    .sge_idx_o(rq_sge_idx_o), .sge_i(sc_local ? rq_sge_i : sc_range),
    .acc_valid_o(acc_valid_o[0]), .acc_ready_i(acc_ready_i[0]), .acc_req_o(acc_req_o[bdy_pkg::ACC_REQ_W-1:0]),
    .acc_rsp_valid_i(acc_rsp_valid_i[0]), .acc_rsp_i, .ret_valid_o(ret_valid_o[0]), .ret_epoch_o(ret_epoch_o[0]),
    .prq_valid_o, .prq_ready_i, .prq_off_o, .prq_len_o, .pst_valid_i, .pst_ready_o, .pst_data_i, .pst_last_i,
    .wrq_valid_o, .wrq_ready_i, .wrq_addr_o, .wrq_len_o, .wrd_valid_o, .wrd_ready_i, .wrd_data_o, .wrd_last_o,
    .wrb_valid_i, .wrb_err_i,
    .done_o(sc_done), .done_rule_o(sc_rule), .done_stale_o(sc_stale)
  );

  bdy_rx_rspq #(.LogQps(LogQps), .NakDepth(NakDepth)) u_rspq (
    .clk_i, .rst_ni, .cycle_i(cycle_i[31:0]), .nak_delay_i,
    .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready), .cmd_op_i(cmd_op), .cmd_idx_i(cmd_idx), .cmd_psn_i(cmd_psn),
    .cmd_msn_i(cmd_msn), .cmd_syn_i(cmd_syn), .cmd_arrival_i(cmd_arrival), .cmd_va_i(cmd_va), .cmd_rkey_i(cmd_rkey),
    .cmd_len_i(cmd_len), .cmd_dup_i(cmd_dup), .cmd_limit_i(cmd_limit), .cmd_over_o(cmd_over), .cmd_full_o(cmd_full),
    .reads_o(reads), .owes_o(owes),
    .wk_valid_o(wk_valid), .wk_ready_i(wk_ready), .wk_read_o(wk_read), .wk_idx_o(wk_idx), .wk_psn_o(wk_psn),
    .wk_msn_o(wk_msn), .wk_syn_o(wk_syn), .wk_va_o(wk_va), .wk_rkey_o(wk_rkey), .wk_len_o(wk_len), .wk_first_o(wk_first),
    .fin_valid_i(fin_valid), .fin_ready_o(fin_ready), .fin_op_i(fin_op), .fin_idx_i(fin_idx), .fin_bytes_i(fin_bytes),
    .fin_syn_i(fin_syn),
    .idle_o(rspq_idle)
  );

  bdy_rx_resp #(.LogQps(LogQps)) u_resp (
    .clk_i, .rst_ni,
    .wk_valid_i(wk_valid), .wk_ready_o(wk_ready), .wk_read_i(wk_read), .wk_idx_i(wk_idx), .wk_psn_i(wk_psn),
    .wk_msn_i(wk_msn), .wk_syn_i(wk_syn), .wk_va_i(wk_va), .wk_rkey_i(wk_rkey), .wk_len_i(wk_len), .wk_first_i(wk_first),
    .fin_valid_o(fin_valid), .fin_ready_i(fin_ready), .fin_op_o(fin_op), .fin_idx_o(fin_idx), .fin_bytes_o(fin_bytes),
    .fin_syn_o(fin_syn),
    .ctx_idx_o(rsp_ctx_idx_o), .ctx0_i(rsp_ctx0_i), .ctx1_i(rsp_ctx1_i), .ctx_gen_i(rsp_ctx_gen_i),
    .fatal_valid_o(rsp_fatal_valid), .fatal_ready_i(rsp_fatal_ready), .fatal_idx_o(rsp_fatal_idx),
    .fatal_ev_o(rsp_fatal_ev), .fatal_rule_o(rsp_fatal_rule),
    .acc_valid_o(acc_valid_o[1]), .acc_ready_i(acc_ready_i[1]),
    .acc_req_o(acc_req_o[2*bdy_pkg::ACC_REQ_W-1:bdy_pkg::ACC_REQ_W]),
    .acc_rsp_valid_i(acc_rsp_valid_i[1]), .acc_rsp_i, .ret_valid_o(ret_valid_o[1]), .ret_epoch_o(ret_epoch_o[1]),
    .rdq_valid_o, .rdq_ready_i, .rdq_addr_o, .rdq_len_o, .rdd_valid_i, .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .hdr_valid_o(rsp_hdr_valid_o), .hdr_ready_i(rsp_hdr_ready_i), .hdr_o(rsp_hdr_o),
    .pl_valid_o(rsp_pl_valid_o), .pl_ready_i(rsp_pl_ready_i), .pl_data_o(rsp_pl_data_o), .pl_last_o(rsp_pl_last_o),
    .sending_o(sending), .sending_idx_o(sending_idx), .idle_o(resp_idle)
  );

  // The receive queue's ends have no cause but the doorbell: P15 names a malformed request.
  bdy_rx_fatal #(.LogQps(LogQps)) u_fatal (
    .clk_i, .rst_ni,
    .set_valid_i({rq_beyond_valid_i, rsp_fatal_valid, req_fatal_valid}),
    .set_ready_o({rq_beyond_ready_o, rsp_fatal_ready, req_fatal_ready}),
    .set_idx_i({rq_beyond_idx_i, rsp_fatal_idx, req_fatal_idx}),
    .set_ev_i({bdy_pkg::EQE_KIND_QP_FATAL, rsp_fatal_ev, req_fatal_ev}),
    .set_rule_i({bdy_pkg::RULE_P15, rsp_fatal_rule, req_fatal_rule}),
    .kill_valid_i(kill_valid), .kill_idx_i(kill_idx),
    .op_valid_o, .op_ready_i, .op_req_o, .ope_valid_i, .ope_rule_i,
    .ev_valid_o, .ev_ready_i, .ev_o,
    .busy_o(ending), .busy_idx_o(ending_idx), .idle_o(fatal_idle)
  );

  assign op_tag_o = 8'd0;
  assign ev_eqn_o = 8'hff;     // the queue for asynchronous events

  assign cnt_read_refused_o      = rsp_fatal_valid && rsp_fatal_ready;
  assign cnt_read_refused_rule_o = rsp_fatal_rule;

  assign idle_o = req_idle && rspq_idle && resp_idle && fatal_idle && sc_idle && !rq_beyond_valid_i;

endmodule
