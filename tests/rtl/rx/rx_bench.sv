// SPDX-License-Identifier: Apache-2.0
//
// rx_bench: the responder and its receive queues, wired as in the HCA; everything else is a port for the test.

module rx_bench #(
  parameter int LogQps = 8
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [63:0]                   cycle_i,
  input  logic [15:0]                   nak_delay_i,

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

  output logic                          rsp_hdr_valid_o,
  input  logic                          rsp_hdr_ready_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] rsp_hdr_o,
  output logic                          rsp_pl_valid_o,
  input  logic                          rsp_pl_ready_i,
  output logic [255:0]                  rsp_pl_data_o,
  output logic                          rsp_pl_last_o,

  // Context ports: 0 requests, 1 receive queue, 2 responses
  output logic [3*LogQps-1:0]           ctx_idx_o,
  input  logic [3*512-1:0]              ctx0_i,
  input  logic [511:0]                  ctx1_i,
  input  logic [2*32-1:0]               ctx_gen_i,     // requests, responses

  input  logic                          qpev_valid_i,
  input  logic [LogQps-1:0]             qpev_idx_i,
  input  logic [2:0]                    qpev_st_i,
  input  logic                          qpev_bump_i,
  output logic                          qpev_ack_o,

  output logic [1:0]                    acc_valid_o,
  input  logic [1:0]                    acc_ready_i,
  output logic [2*bdy_pkg::ACC_REQ_W-1:0] acc_req_o,
  input  logic [1:0]                    acc_rsp_valid_i,
  input  logic [bdy_pkg::ACC_RSP_W-1:0] acc_rsp_i,
  output logic [1:0]                    ret_valid_o,
  output logic [1:0]                    ret_epoch_o,

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
  // Read clients: 0 receive WQEs, 1 READ responses
  output logic [1:0]                    rdq_valid_o,
  input  logic [1:0]                    rdq_ready_i,
  output logic [2*64-1:0]               rdq_addr_o,
  output logic [2*13-1:0]               rdq_len_o,
  input  logic [1:0]                    rdd_valid_i,
  input  logic [255:0]                  rdd_data_i,
  input  logic                          rdd_last_i,
  input  logic                          rdd_err_i,

  input  logic                          db_valid_i,
  output logic                          db_ready_o,
  input  logic [LogQps-1:0]             db_idx_i,
  input  logic [15:0]                   db_index_i,

  output logic                          cqe_valid_o,
  input  logic                          cqe_ready_i,
  output logic [23:0]                   cqe_cqn_o,
  output logic [bdy_pkg::CQE_W-1:0]     cqe_o,
  input  logic                          cqe_done_i,
  input  logic                          cqe_err_i,

  output logic                          op_valid_o,
  input  logic                          op_ready_i,
  output logic [bdy_pkg::PROT_OP_W-1:0] op_req_o,
  output logic [7:0]                    op_tag_o,
  input  logic                          ope_valid_i,
  input  logic [7:0]                    ope_rule_i,
  output logic                          ev_valid_o,
  input  logic                          ev_ready_i,
  output logic [7:0]                    ev_eqn_o,
  output logic [63:0]                   ev_o,

  // Counters: unknown QP, state, P_Key, duplicate, out of sequence, RNR, stale, refused, READ refused
  output logic [8:0]                    cnt_o,
  output logic [7:0]                    refused_rule_o,
  output logic [7:0]                    read_refused_rule_o,
  output logic                          idle_o
);

  logic                      q_req_valid, q_rsp_valid, q_rsp_empty, q_pop, q_clr, q_clr_ready, q_post, q_beyond, q_beyond_ready;
  logic [1:0]                q_op, q_log_stride;
  logic [LogQps-1:0]         q_idx, q_pop_idx, q_clr_idx, q_post_idx, q_beyond_idx;
  logic [63:0]               q_base;
  logic [3:0]                q_log, q_sge_idx;
  logic [7:0]                q_rule;
  logic [15:0]               q_index;
  logic [4:0]                q_num_sge;
  logic [31:0]               q_total;
  logic [bdy_pkg::SGE_W-1:0] q_sge;
  logic                      rx_idle, rq_idle;

  bdy_rx #(.LogQps(LogQps)) u_rx (
    .clk_i, .rst_ni, .cycle_i, .nak_delay_i,
    .hdr_valid_i, .hdr_ready_o, .hdr_i, .prq_valid_o, .prq_ready_i, .prq_off_o, .prq_len_o,
    .pst_valid_i, .pst_ready_o, .pst_data_i, .pst_last_i, .pkt_done_o,
    .rsp_hdr_valid_o, .rsp_hdr_ready_i, .rsp_hdr_o, .rsp_pl_valid_o, .rsp_pl_ready_i, .rsp_pl_data_o, .rsp_pl_last_o,
    .req_ctx_idx_o(ctx_idx_o[0+:LogQps]), .req_ctx0_i(ctx0_i[511:0]), .req_ctx_gen_i(ctx_gen_i[31:0]),
    .rsp_ctx_idx_o(ctx_idx_o[2*LogQps+:LogQps]), .rsp_ctx0_i(ctx0_i[1535:1024]), .rsp_ctx1_i(ctx1_i),
    .rsp_ctx_gen_i(ctx_gen_i[63:32]),
    .qpev_valid_i, .qpev_idx_i, .qpev_st_i, .qpev_bump_i, .qpev_ack_o,
    .acc_valid_o, .acc_ready_i, .acc_req_o, .acc_rsp_valid_i, .acc_rsp_i, .ret_valid_o, .ret_epoch_o,
    .wrq_valid_o, .wrq_ready_i, .wrq_addr_o, .wrq_len_o, .wrd_valid_o, .wrd_ready_i, .wrd_data_o, .wrd_last_o,
    .wrb_valid_i, .wrb_err_i,
    .rdq_valid_o(rdq_valid_o[1]), .rdq_ready_i(rdq_ready_i[1]), .rdq_addr_o(rdq_addr_o[127:64]),
    .rdq_len_o(rdq_len_o[25:13]), .rdd_valid_i(rdd_valid_i[1]), .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .rq_req_valid_o(q_req_valid), .rq_req_op_o(q_op), .rq_req_idx_o(q_idx), .rq_req_base_o(q_base), .rq_req_log_o(q_log),
    .rq_req_log_stride_o(q_log_stride), .rq_rsp_valid_i(q_rsp_valid), .rq_rsp_empty_i(q_rsp_empty), .rq_rsp_rule_i(q_rule),
    .rq_rsp_index_i(q_index), .rq_rsp_num_sge_i(q_num_sge), .rq_rsp_total_i(q_total), .rq_sge_idx_o(q_sge_idx),
    .rq_sge_i(q_sge), .rq_pop_valid_o(q_pop), .rq_pop_idx_o(q_pop_idx), .rq_clr_valid_o(q_clr),
    .rq_clr_ready_i(q_clr_ready), .rq_clr_idx_o(q_clr_idx), .rq_err_post_valid_i(q_post), .rq_err_post_idx_i(q_post_idx),
    .rq_beyond_valid_i(q_beyond), .rq_beyond_ready_o(q_beyond_ready), .rq_beyond_idx_i(q_beyond_idx),
    .cqe_valid_o, .cqe_ready_i, .cqe_cqn_o, .cqe_o, .cqe_done_i, .cqe_err_i,
    .op_valid_o, .op_ready_i, .op_req_o, .op_tag_o, .ope_valid_i, .ope_rule_i,
    .ev_valid_o, .ev_ready_i, .ev_eqn_o, .ev_o,
    .cnt_unknown_qp_o(cnt_o[0]), .cnt_bad_state_o(cnt_o[1]), .cnt_bad_pkey_o(cnt_o[2]), .cnt_duplicate_o(cnt_o[3]),
    .cnt_out_of_seq_o(cnt_o[4]), .cnt_rnr_o(cnt_o[5]), .cnt_stale_o(cnt_o[6]), .cnt_refused_o(cnt_o[7]),
    .cnt_refused_rule_o(refused_rule_o), .cnt_read_refused_o(cnt_o[8]), .cnt_read_refused_rule_o(read_refused_rule_o),
    .idle_o(rx_idle)
  );

  bdy_rq #(.LogQps(LogQps)) u_rq (
    .clk_i, .rst_ni, .db_valid_i, .db_ready_o, .db_idx_i, .db_index_i,
    .ctx_idx_o(ctx_idx_o[LogQps+:LogQps]), .ctx0_i(ctx0_i[1023:512]),
    .rdq_valid_o(rdq_valid_o[0]), .rdq_ready_i(rdq_ready_i[0]), .rdq_addr_o(rdq_addr_o[63:0]), .rdq_len_o(rdq_len_o[12:0]),
    .rdd_valid_i(rdd_valid_i[0]), .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .req_valid_i(q_req_valid), .req_op_i(q_op), .req_idx_i(q_idx), .req_base_i(q_base), .req_log_i(q_log),
    .req_log_stride_i(q_log_stride), .rsp_valid_o(q_rsp_valid), .rsp_empty_o(q_rsp_empty), .rsp_rule_o(q_rule),
    .rsp_index_o(q_index), .rsp_num_sge_o(q_num_sge), .rsp_total_o(q_total), .sge_idx_i(q_sge_idx), .sge_o(q_sge),
    .pop_valid_i(q_pop), .pop_idx_i(q_pop_idx), .clr_valid_i(q_clr), .clr_ready_o(q_clr_ready), .clr_idx_i(q_clr_idx),
    .err_post_valid_o(q_post), .err_post_idx_o(q_post_idx), .beyond_valid_o(q_beyond), .beyond_ready_i(q_beyond_ready),
    .beyond_idx_o(q_beyond_idx), .idle_o(rq_idle)
  );

  assign idle_o = rx_idle && rq_idle;

endmodule
