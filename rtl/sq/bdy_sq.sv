// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq: the requester: doorbell, schedule, WQE fetch, execution in order, packets, acknowledges,
// retries, completions in order.
//
//   doorbell --> pending --> exec --+--> ops (bind pipeline) ------------+
//                 ^  ^  ^           +--> pkt (gather, request framer)    +--> retire --> CQE
//                 |  |  +-- retire                                       |
//                 |  +----- ops, life                                    |
//                 +-------- resp <-- response deframer, timer -----------+   (READ data: scatter)
//
// Each word of a queue pair's state has one writer: producer index (doorbell), sq_req (exec),
// sq_rsp (resp), sq_ret (retire). The others read; what they read is never ahead of the truth, so
// acting on it is safe, and whoever changes it wakes the readers.
//
// Latency:      doorbell to op port 9 cycles with DMA answering in the next cycle; bind pipeline's
//               answer to CQE 2 cycles.
// Throughput:   140 cycles per packet of 4 KiB: it is gathered while the one before streams out.
//               Request and response half work independently.
// Backpressure: the request half waits for framer, access and memory; the response half for access
//               and memory (H13).
// Invariants:   H11 (executed pointer forward only, record-based rewind), W2, W5, W6 (one CQE or
//               silent retirement per work request, in order); nothing is polled: an idle requester
//               changes no state (H19).

module bdy_sq #(
  parameter int LogQps  = bdy_pkg::LOG_QPS,
  parameter bit Shallow = 1'b0   // every list one deep (H13); the rings of a queue pair are state
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [63:0]  cycle_i,
  output logic         idle_o,        // nothing to do but for timers
  output logic [63:0]  next_timer_o,  // all ones: none

  // Doorbells, checked against the context
  input  logic         db_valid_i,
  output logic         db_ready_o,
  input  logic [7:0]   db_idx_i,
  input  logic [15:0]  db_index_i,

  // Context ports: 0 request half, 1 response half
  output logic [2*8-1:0]                   ctx_idx_o,
  input  logic [2*bdy_pkg::QP_CTX0_W-1:0]  ctx0_i,
  input  logic [2*bdy_pkg::QP_CTX1_W-1:0]  ctx1_i,
  input  logic [2*32-1:0]                  ctx_gen_i,
  // State changes; qpev_valid_i is this engine's own, it may stay up after qpev_ack_o for the next
  // one
  input  logic         qpev_valid_i,
  input  logic [7:0]   qpev_idx_i,
  input  logic [2:0]   qpev_st_i,
  input  logic         qpev_bump_i,
  output logic         qpev_ack_o,

  // Bind pipeline
  output logic         op_valid_o,
  input  logic         op_ready_i,
  output logic [bdy_pkg::PROT_OP_W-1:0] op_req_o,
  output logic [7:0]   op_tag_o,
  input  logic         ope_valid_i,
  input  logic [7:0]   ope_tag_i,
  input  logic [7:0]   ope_rule_i,
  input  logic [31:0]  ope_res_i,
  input  logic         ope_drain_i,
  input  logic         opd_valid_i,
  input  logic [7:0]   opd_tag_i,

  // Access: ga = gather of payload, sc = scatter of READ data
  output logic         ga_acc_valid_o,
  input  logic         ga_acc_ready_i,
  output logic [bdy_pkg::ACC_REQ_W-1:0] ga_acc_req_o,
  input  logic         ga_acc_rsp_valid_i,
  output logic         ga_ret_valid_o,
  output logic         ga_ret_epoch_o,
  output logic         sc_acc_valid_o,
  input  logic         sc_acc_ready_i,
  output logic [bdy_pkg::ACC_REQ_W-1:0] sc_acc_req_o,
  input  logic         sc_acc_rsp_valid_i,
  output logic         sc_ret_valid_o,
  output logic         sc_ret_epoch_o,
  input  logic [bdy_pkg::ACC_RSP_W-1:0] acc_rsp_i,

  // DMA: wq = WQEs, ga = payload, sc = READ data
  output logic         wq_rdq_valid_o,
  input  logic         wq_rdq_ready_i,
  output logic [63:0]  wq_rdq_addr_o,
  output logic [12:0]  wq_rdq_len_o,
  input  logic         wq_rdd_valid_i,
  output logic         ga_rdq_valid_o,
  input  logic         ga_rdq_ready_i,
  output logic [63:0]  ga_rdq_addr_o,
  output logic [12:0]  ga_rdq_len_o,
  input  logic         ga_rdd_valid_i,
  input  logic [255:0] rdd_data_i,
  input  logic         rdd_last_i,
  input  logic         rdd_err_i,
  output logic         sc_wrq_valid_o,
  input  logic         sc_wrq_ready_i,
  output logic [63:0]  sc_wrq_addr_o,
  output logic [12:0]  sc_wrq_len_o,
  output logic         sc_wrd_valid_o,
  input  logic         sc_wrd_ready_i,
  output logic [255:0] sc_wrd_data_o,
  output logic         sc_wrd_last_o,
  input  logic         sc_wrb_valid_i,
  input  logic         wrb_err_i,

  // Request framer
  output logic         hdr_valid_o,
  input  logic         hdr_ready_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] hdr_o,
  output logic         pl_valid_o,
  input  logic         pl_ready_i,
  output logic [255:0] pl_data_o,
  output logic         pl_last_o,

  // Response deframer
  input  logic         rsp_hdr_valid_i,
  output logic         rsp_hdr_ready_o,
  input  logic [bdy_pkg::PKT_HDR_W-1:0] rsp_hdr_i,
  output logic         prq_valid_o,
  input  logic         prq_ready_i,
  output logic [12:0]  prq_off_o,
  output logic [12:0]  prq_len_o,
  input  logic         pst_valid_i,
  output logic         pst_ready_o,
  input  logic [255:0] pst_data_i,
  input  logic         pst_last_i,
  output logic         pkt_done_o,

  // Completions and events
  output logic         cqe_valid_o,
  input  logic         cqe_ready_i,
  output logic [23:0]  cqe_cqn_o,
  output logic [bdy_pkg::CQE_W-1:0] cqe_o,
  input  logic         cqe_done_i,
  input  logic         cqe_err_i,
  output logic         ev_valid_o,
  input  logic         ev_ready_i,
  output logic [7:0]   ev_eqn_o,
  output logic [63:0]  ev_o,

  // Address handles
  input  logic         ctxw_valid_i,
  input  logic [15:0]  ctxw_idx_i,
  input  logic [511:0] ctxw_data_i,
  output logic         ctxw_ack_o
);

  localparam int Qps     = 1 << LogQps;
  localparam int Entries = 16 * Qps;

  // ---------------------------------------------------------------- life
  logic [LogQps-1:0] life_qp, ex_qp, rs_qp, rt_qp, dead_qp;
  logic [3:0]        clear, cleared;
  logic [1:0]        init, inited, init_why;
  logic              life_ready, life_idle, quiet, is_quiet, drop, ending, ops_busy;
  logic              life_end, life_kick, dying;
  logic              dead_pulse, started, revive;
  logic [2:0]        dead;

  bdy_sq_life #(.LogQps(LogQps)) u_life (
    .clk_i, .rst_ni,
    .ready_o(life_ready),
    .idle_o(life_idle),
    .qpev_valid_i, .qpev_idx_i, .qpev_st_i, .qpev_bump_i, .qpev_ack_o,
    .qp_o(life_qp),
    .clear_o(clear),
    .cleared_i(cleared),
    .init_o(init),
    .init_why_o(init_why),
    .inited_i(inited),
    .quiet_o(quiet),
    .is_quiet_i(is_quiet),
    .drop_o(drop),
    .ending_o(ending),
    .ops_busy_i(ops_busy),
    .end_o(life_end),
    .kick_o(life_kick),
    .dying_o(dying),
    .revive_i(revive),
    .dead_i(dead_pulse),
    .dead_qp_i(dead_qp),
    .look_qp_i({rt_qp, rs_qp, ex_qp}),
    .dead_o(dead),
    .started_o(started)
  );

  // ---------------------------------------------------------------- doorbells and schedule
  logic              db;
  logic [LogQps-1:0] ex_rd_qp, rs_rd_qp, rt_rd_qp;
  logic [15:0]       pi;

  assign db_ready_o = life_ready && !clear[3];
  assign db         = db_valid_i && db_ready_o;
  assign cleared[3] = 1'b1;

  bdy_sq_ram #(.Width(16), .Depth(Qps)) u_pi (
    .clk_i,
    .wr_en_i(db || clear[3]),
    .wr_addr_i(clear[3] ? life_qp : db_idx_i[LogQps-1:0]),
    .wr_data_i(clear[3] ? 16'd0 : db_index_i),
    .rd_addr_i(ex_rd_qp),
    .rd_data_o(pi)
  );

  logic              ex_any, ex_take, ex_again, ex_ret_kick, ex_busy, ex_idle;
  logic              rs_req_kick, rs_ret_kick, rs_busy, rs_idle;
  logic              rt_any, rt_take, rt_again, rt_req_kick, rt_idle;
  logic              op_done, op_taken, op_fresh, go, done2, lost_kick;
  logic [LogQps-1:0] ex_pick, rt_pick, op_done_qp, go_qp, done2_qp, lost_qp;

  bdy_sq_pend #(.LogQps(LogQps), .Sets(7)) u_ex_pend (
    .clk_i, .rst_ni,
    .set_valid_i({db, ex_again, rs_req_kick, rt_req_kick, go, life_kick, dead_pulse}),
    .set_idx_i({db_idx_i[LogQps-1:0], ex_qp, rs_qp, rt_qp, go_qp, life_qp, dead_qp}),
    .any_o(ex_any),
    .idx_o(ex_pick),
    .take_i(ex_take)
  );

  bdy_sq_pend #(.LogQps(LogQps), .Sets(8)) u_rt_pend (
    .clk_i, .rst_ni,
    .set_valid_i({op_done && !op_taken, done2, ex_ret_kick,
                  rs_ret_kick, rt_again, life_kick, dead_pulse, lost_kick}),
    .set_idx_i({op_done_qp, done2_qp, ex_qp, rs_qp, rt_qp, life_qp, dead_qp, lost_qp}),
    .any_o(rt_any),
    .idx_o(rt_pick),
    .take_i(rt_take)
  );

  // ---------------------------------------------------------------- state: one writer each
  logic                          req_we, rsp_we, ret_we, wr_we, msg_we;
  logic [LogQps-1:0]             req_qp, rsp_qp, ret_qp;
  logic [bdy_pkg::SQ_REQ_W-1:0]  req_new, req_ex, req_rs, req_rt;
  logic [bdy_pkg::SQ_RSP_W-1:0]  rsp_new, rsp_ex, rsp_rs, rsp_rt;
  logic [bdy_pkg::SQ_RET_W-1:0]  ret_new, ret_ex, ret_rt;
  logic [LogQps+3:0]             wr_idx, wr_rd, msg_idx, msg_rd_ex, msg_rd_rs;
  logic [bdy_pkg::SQ_WR_W-1:0]   wr_new, wr_old;
  logic [bdy_pkg::SQ_MSG_W-1:0]  msg_new, msg_ex, msg_rs;

  bdy_sq_ram #(.Width(bdy_pkg::SQ_REQ_W), .Depth(Qps), .Ports(3)) u_req (
    .clk_i,
    .wr_en_i(req_we),
    .wr_addr_i(req_qp),
    .wr_data_i(req_new),
    .rd_addr_i({rt_rd_qp, rs_rd_qp, ex_rd_qp}),
    .rd_data_o({req_rt, req_rs, req_ex})
  );

  bdy_sq_ram #(.Width(bdy_pkg::SQ_RSP_W), .Depth(Qps), .Ports(3)) u_rsp (
    .clk_i,
    .wr_en_i(rsp_we),
    .wr_addr_i(rsp_qp),
    .wr_data_i(rsp_new),
    .rd_addr_i({rt_rd_qp, rs_rd_qp, ex_rd_qp}),
    .rd_data_o({rsp_rt, rsp_rs, rsp_ex})
  );

  bdy_sq_ram #(.Width(bdy_pkg::SQ_RET_W), .Depth(Qps), .Ports(2)) u_ret (
    .clk_i,
    .wr_en_i(ret_we),
    .wr_addr_i(ret_qp),
    .wr_data_i(ret_new),
    .rd_addr_i({rt_rd_qp, ex_rd_qp}),
    .rd_data_o({ret_rt, ret_ex})
  );

  bdy_sq_ram #(.Width(bdy_pkg::SQ_WR_W), .Depth(Entries)) u_wr (
    .clk_i,
    .wr_en_i(wr_we),
    .wr_addr_i(wr_idx),
    .wr_data_i(wr_new),
    .rd_addr_i(wr_rd),
    .rd_data_o(wr_old)
  );

  bdy_sq_ram #(.Width(bdy_pkg::SQ_MSG_W), .Depth(Entries), .Ports(2)) u_msg (
    .clk_i,
    .wr_en_i(msg_we),
    .wr_addr_i(msg_idx),
    .wr_data_i(msg_new),
    .rd_addr_i({msg_rd_rs, msg_rd_ex}),
    .rd_data_o({msg_rs, msg_ex})
  );

  // ---------------------------------------------------------------- WQE fetchers
  logic         fx_start, fx_done, fx_err, fx_idle, fr_start, fr_done, fr_err, fr_idle;
  logic [63:0]  fx_base, fr_base;
  logic [3:0]   fx_log, fr_log, fx_first, fx_n, fr_n, sum_idx, pk_sge_idx, pk_line_idx, sc_sge_idx;
  logic [15:0]  fx_idx, fr_idx;
  logic [1:0]   f_valid, f_ready, f_data;
  logic [127:0] f_addr, ex_sge, rs_sge;
  logic [25:0]  f_len;
  logic [511:0] slot0, rs_slot0;
  logic [255:0] pk_line, rs_line;
  logic         summing;

  bdy_sq_fetch u_ex_fetch (
    .clk_i, .rst_ni,
    .idle_o(fx_idle),
    .start_i(fx_start),
    .start_base_i(fx_base),
    .start_log_i(fx_log),
    .start_idx_i(fx_idx),
    .start_first_i(fx_first),
    .start_n_i(fx_n),
    .done_o(fx_done),
    .done_err_o(fx_err),
    .rdq_valid_o(f_valid[0]),
    .rdq_ready_i(f_ready[0]),
    .rdq_addr_o(f_addr[63:0]),
    .rdq_len_o(f_len[12:0]),
    .rdd_valid_i(f_data[0]),
    .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .slot0_o(slot0),
    .sge_idx_i(summing ? sum_idx : pk_sge_idx),
    .sge_o(ex_sge),
    .line_idx_i(pk_line_idx),
    .line_o(pk_line)
  );

  bdy_sq_fetch u_rs_fetch (
    .clk_i, .rst_ni,
    .idle_o(fr_idle),
    .start_i(fr_start),
    .start_base_i(fr_base),
    .start_log_i(fr_log),
    .start_idx_i(fr_idx),
    .start_first_i(4'd0),
    .start_n_i(fr_n),
    .done_o(fr_done),
    .done_err_o(fr_err),
    .rdq_valid_o(f_valid[1]),
    .rdq_ready_i(f_ready[1]),
    .rdq_addr_o(f_addr[127:64]),
    .rdq_len_o(f_len[25:13]),
    .rdd_valid_i(f_data[1]),
    .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .slot0_o(rs_slot0),
    .sge_idx_i(sc_sge_idx),
    .sge_o(rs_sge),
    .line_idx_i(4'd0),
    .line_o(rs_line)
  );

  bdy_sq_rdmux u_rdmux (
    .clk_i, .rst_ni,
    .s_valid_i(f_valid),
    .s_ready_o(f_ready),
    .s_addr_i(f_addr),
    .s_len_i(f_len),
    .s_data_valid_o(f_data),
    .rdq_valid_o(wq_rdq_valid_o),
    .rdq_ready_i(wq_rdq_ready_i),
    .rdq_addr_o(wq_rdq_addr_o),
    .rdq_len_o(wq_rdq_len_o),
    .rdd_valid_i(wq_rdd_valid_i),
    .rdd_last_i
  );

  // ---------------------------------------------------------------- bind pipeline
  logic                          bind_valid, bind_free, err_valid, err_free, err_sqe, hold;
  logic                          ops_idle;
  logic                          res_done;
  logic [bdy_pkg::PROT_OP_W-1:0] bind_op;
  logic [3:0]                    bind_wr, op_done_wr;
  logic [39:0]                   res, op_fresh_res;

  bdy_sq_ops #(.LogQps(LogQps), .Shallow(Shallow)) u_ops (
    .clk_i, .rst_ni,
    .idle_o(ops_idle),
    .bind_valid_i(bind_valid),
    .bind_free_o(bind_free),
    .bind_op_i(bind_op),
    .bind_qp_i(ex_qp),
    .bind_wr_i(bind_wr),
    .err_valid_i(err_valid),
    .err_free_o(err_free),
    .err_qp_i(rt_qp),
    .err_sqe_i(err_sqe),
    .life_qp_i(life_qp),
    .life_busy_o(ops_busy),
    .drop_i(drop),
    .clear_i(life_end),
    .hold_qp_i(ex_qp),
    .hold_o(hold),
    .free_hold_i(revive),
    .res_idx_i(wr_rd),
    .res_done_o(res_done),
    .res_o(res),
    .op_done_o(op_done),
    .op_done_qp_o(op_done_qp),
    .op_done_wr_o(op_done_wr),
    .op_fresh_o(op_fresh),
    .op_fresh_res_o(op_fresh_res),
    .go_o(go),
    .go_qp_o(go_qp),
    .done2_o(done2),
    .done2_qp_o(done2_qp),
    .dead_o(dead_pulse),
    .dead_qp_o(dead_qp),
    .op_valid_o, .op_ready_i, .op_req_o, .op_tag_o,
    .ope_valid_i, .ope_tag_i, .ope_rule_i, .ope_res_i, .ope_drain_i, .opd_valid_i, .opd_tag_i
  );

  // ---------------------------------------------------------------- timers
  logic              tx_tm_valid, tx_tm_ready, rs_tm_valid, rs_tm_arm, exp_valid, exp_ready;
  logic              timer_busy;
  logic [63:0]       tx_tm_at, rs_tm_at;
  logic [LogQps-1:0] exp_qp;

  bdy_sq_timer #(.LogQps(LogQps)) u_timer (
    .clk_i, .rst_ni, .cycle_i,
    .busy_o(timer_busy),
    .rsp_valid_i(rs_tm_valid),
    .rsp_arm_i(rs_tm_arm),
    .rsp_qp_i(rs_qp),
    .rsp_at_i(rs_tm_at),
    .req_valid_i(tx_tm_valid),
    .req_ready_o(tx_tm_ready),
    .req_qp_i(ex_qp),
    .req_at_i(tx_tm_at),
    .kill_i(dying || dead_pulse || life_end),
    .kill_qp_i(dead_pulse ? dead_qp : life_qp),
    .exp_valid_o(exp_valid),
    .exp_ready_i(exp_ready),
    .exp_qp_o(exp_qp),
    .next_o(next_timer_o)
  );

  // ---------------------------------------------------------------- address handles
  logic                         ah_known;
  logic [31:0]                  ah_num;
  logic [bdy_pkg::AH_CTX_W-1:0] ah;

  bdy_sq_ah u_ah (
    .clk_i, .rst_ni,
    .ctxw_valid_i, .ctxw_idx_i, .ctxw_data_i, .ctxw_ack_o,
    .rd_num_i(ah_num),
    .rd_known_o(ah_known),
    .rd_ah_o(ah)
  );

  // ---------------------------------------------------------------- request half
  logic         pk_chk, pk_start, pk_inl, pk_taken, pk_done, pk_stale, pk_idle;
  logic [31:0]  pk_off, pk_gen;
  logic [4:0]   pk_num_sge;
  logic [23:0]  pk_pd, pk_qpn;
  logic [7:0]   pk_rule;
  logic [bdy_pkg::PKT_HDR_W-1:0] pk_hdr;

  bdy_sq_exec #(.LogQps(LogQps)) u_exec (
    .clk_i, .rst_ni, .cycle_i,
    .idle_o(ex_idle),
    .busy_o(ex_busy),
    .qp_o(ex_qp),
    .ready_i(life_ready),
    .pend_any_i(ex_any),
    .pend_idx_i(ex_pick),
    .take_o(ex_take),
    .again_o(ex_again),
    .ret_kick_o(ex_ret_kick),
    .life_qp_i(life_qp),
    .ending_i(ending),
    .clear_i(clear[0]),
    .cleared_o(cleared[0]),
    .init_i(init[0]),
    .init_why_i(init_why),
    .inited_o(inited[0]),
    .revive_o(revive),
    .dead_i(dead[0]),
    .started_i(started),
    .rd_qp_o(ex_rd_qp),
    .req_i(req_ex),
    .rsp_i(rsp_ex),
    .ret_i(ret_ex),
    .pi_i(pi),
    .ctx0_i(ctx0_i[0+:bdy_pkg::QP_CTX0_W]),
    .ctx1_i(ctx1_i[0+:bdy_pkg::QP_CTX1_W]),
    .gen_i(ctx_gen_i[31:0]),
    .req_we_o(req_we),
    .req_qp_o(req_qp),
    .req_o(req_new),
    .wr_we_o(wr_we),
    .wr_idx_o(wr_idx),
    .wr_o(wr_new),
    .msg_we_o(msg_we),
    .msg_idx_o(msg_idx),
    .msg_o(msg_new),
    .msg_rd_o(msg_rd_ex),
    .msg_i(msg_ex),
    .op_free_i(bind_free),
    .hold_i(hold),
    .op_valid_o(bind_valid),
    .op_o(bind_op),
    .op_wr_o(bind_wr),
    .tm_valid_o(tx_tm_valid),
    .tm_ready_i(tx_tm_ready),
    .tm_at_o(tx_tm_at),
    .fe_start_o(fx_start),
    .fe_base_o(fx_base),
    .fe_log_o(fx_log),
    .fe_idx_o(fx_idx),
    .fe_first_o(fx_first),
    .fe_n_o(fx_n),
    .fe_done_i(fx_done),
    .fe_err_i(fx_err),
    .slot0_i(slot0),
    .sum_idx_o(sum_idx),
    .summing_o(summing),
    .sge_len_i(ex_sge[bdy_pkg::SGE_LEN_LSB+:bdy_pkg::SGE_LEN_W]),
    .ah_num_o(ah_num),
    .ah_known_i(ah_known),
    .ah_i(ah),
    .pk_start_o(pk_start),
    .pk_chk_o(pk_chk),
    .pk_hdr_o(pk_hdr),
    .pk_off_o(pk_off),
    .pk_inl_o(pk_inl),
    .pk_num_sge_o(pk_num_sge),
    .pk_pd_o(pk_pd),
    .pk_qpn_o(pk_qpn),
    .pk_gen_o(pk_gen),
    .pk_idle_i(pk_idle),
    .pk_taken_i(pk_taken),
    .pk_done_i(pk_done),
    .pk_rule_i(pk_rule),
    .pk_stale_i(pk_stale)
  );

  bdy_sq_pkt #(.Shallow(Shallow)) u_pkt (
    .clk_i, .rst_ni,
    .idle_o(pk_idle),
    .start_i(pk_start),
    .start_hdr_i(pk_hdr),
    .start_off_i(pk_off),
    .start_inl_i(pk_inl),
    .start_chk_i(pk_chk),
    .start_num_sge_i(pk_num_sge),
    .start_pd_i(pk_pd),
    .start_qpn_i(pk_qpn),
    .start_gen_i(pk_gen),
    .taken_o(pk_taken),
    .done_o(pk_done),
    .done_rule_o(pk_rule),
    .done_stale_o(pk_stale),
    .sge_idx_o(pk_sge_idx),
    .sge_i(ex_sge),
    .line_idx_o(pk_line_idx),
    .line_i(pk_line),
    .acc_valid_o(ga_acc_valid_o),
    .acc_ready_i(ga_acc_ready_i),
    .acc_req_o(ga_acc_req_o),
    .acc_rsp_valid_i(ga_acc_rsp_valid_i),
    .acc_rsp_i,
    .ret_valid_o(ga_ret_valid_o),
    .ret_epoch_o(ga_ret_epoch_o),
    .rdq_valid_o(ga_rdq_valid_o),
    .rdq_ready_i(ga_rdq_ready_i),
    .rdq_addr_o(ga_rdq_addr_o),
    .rdq_len_o(ga_rdq_len_o),
    .rdd_valid_i(ga_rdd_valid_i),
    .rdd_data_i, .rdd_last_i, .rdd_err_i,
    .hdr_valid_o, .hdr_ready_i, .hdr_o, .pl_valid_o, .pl_ready_i, .pl_data_o, .pl_last_o
  );

  // ---------------------------------------------------------------- response half
  logic         sc_valid, sc_ready, sc_done, sc_stale, sc_idle;
  logic [4:0]   sc_num_sge;
  logic [31:0]  sc_off, sc_gen;
  logic [12:0]  sc_len;
  logic [23:0]  sc_pd, sc_qpn;
  logic [7:0]   sc_rule;

  bdy_sq_resp #(.LogQps(LogQps)) u_resp (
    .clk_i, .rst_ni, .cycle_i,
    .idle_o(rs_idle),
    .busy_o(rs_busy),
    .qp_o(rs_qp),
    .hdr_valid_i(rsp_hdr_valid_i),
    .hdr_ready_o(rsp_hdr_ready_o),
    .hdr_i(rsp_hdr_i),
    .pkt_done_o,
    .life_qp_i(life_qp),
    .ending_i(ending),
    .clear_i(clear[1]),
    .cleared_o(cleared[1]),
    .init_i(init[1]),
    .inited_o(inited[1]),
    .dead_i(dead[1]),
    .rd_qp_o(rs_rd_qp),
    .rsp_i(rsp_rs),
    .req_i(req_rs),
    .ctx0_i(ctx0_i[bdy_pkg::QP_CTX0_W+:bdy_pkg::QP_CTX0_W]),
    .gen_i(ctx_gen_i[63:32]),
    .rsp_we_o(rsp_we),
    .rsp_qp_o(rsp_qp),
    .rsp_o(rsp_new),
    .msg_rd_o(msg_rd_rs),
    .msg_i(msg_rs),
    .req_kick_o(rs_req_kick),
    .ret_kick_o(rs_ret_kick),
    .exp_valid_i(exp_valid),
    .exp_ready_o(exp_ready),
    .exp_qp_i(exp_qp),
    .tm_valid_o(rs_tm_valid),
    .tm_arm_o(rs_tm_arm),
    .tm_at_o(rs_tm_at),
    .fe_start_o(fr_start),
    .fe_base_o(fr_base),
    .fe_log_o(fr_log),
    .fe_idx_o(fr_idx),
    .fe_n_o(fr_n),
    .fe_done_i(fr_done),
    .fe_err_i(fr_err),
    .sc_valid_o(sc_valid),
    .sc_ready_i(sc_ready),
    .sc_num_sge_o(sc_num_sge),
    .sc_off_o(sc_off),
    .sc_len_o(sc_len),
    .sc_pd_o(sc_pd),
    .sc_qpn_o(sc_qpn),
    .sc_gen_o(sc_gen),
    .sc_done_i(sc_done),
    .sc_rule_i(sc_rule),
    .sc_stale_i(sc_stale)
  );

  bdy_scatter #(.TagBase(8'h00), .Shallow(Shallow)) u_scatter (
    .clk_i, .rst_ni,
    .idle_o(sc_idle),
    .start_valid_i(sc_valid),
    .start_ready_o(sc_ready),
    .start_num_sge_i(sc_num_sge),
    .start_off_i(sc_off),
    .start_len_i(sc_len),
    .start_src_off_i(13'd0),
    .start_local_i(1'b1),
    .start_rights_i(bdy_pkg::ACCESS_BIT_LOCAL_WRITE),  // M8
    .start_pd_i(sc_pd),
    .start_qpn_i(sc_qpn),
    .start_gen_i(sc_gen),
    .start_chk_len_i(32'd0),
    .sge_idx_o(sc_sge_idx),
    .sge_i(rs_sge),
    .acc_valid_o(sc_acc_valid_o),
    .acc_ready_i(sc_acc_ready_i),
    .acc_req_o(sc_acc_req_o),
    .acc_rsp_valid_i(sc_acc_rsp_valid_i),
    .acc_rsp_i,
    .ret_valid_o(sc_ret_valid_o),
    .ret_epoch_o(sc_ret_epoch_o),
    .prq_valid_o, .prq_ready_i, .prq_off_o, .prq_len_o,
    .pst_valid_i, .pst_ready_o, .pst_data_i, .pst_last_i,
    .wrq_valid_o(sc_wrq_valid_o),
    .wrq_ready_i(sc_wrq_ready_i),
    .wrq_addr_o(sc_wrq_addr_o),
    .wrq_len_o(sc_wrq_len_o),
    .wrd_valid_o(sc_wrd_valid_o),
    .wrd_ready_i(sc_wrd_ready_i),
    .wrd_data_o(sc_wrd_data_o),
    .wrd_last_o(sc_wrd_last_o),
    .wrb_valid_i(sc_wrb_valid_i),
    .wrb_err_i,
    .done_o(sc_done),
    .done_rule_o(sc_rule),
    .done_stale_o(sc_stale)
  );

  // ---------------------------------------------------------------- retirement
  bdy_sq_retire #(.LogQps(LogQps), .Shallow(Shallow)) u_retire (
    .clk_i, .rst_ni,
    .idle_o(rt_idle),
    .pend_any_i(rt_any),
    .pend_idx_i(rt_pick),
    .take_o(rt_take),
    .again_o(rt_again),
    .req_kick_o(rt_req_kick),
    .qp_o(rt_qp),
    .life_qp_i(life_qp),
    .quiet_i(quiet),
    .is_quiet_o(is_quiet),
    .clear_i(clear[2]),
    .cleared_o(cleared[2]),
    .dead_i(dead[2]),
    .rd_qp_o(rt_rd_qp),
    .ret_i(ret_rt),
    .req_i(req_rt),
    .rsp_i(rsp_rt),
    .ret_we_o(ret_we),
    .ret_qp_o(ret_qp),
    .ret_o(ret_new),
    .wr_rd_o(wr_rd),
    .wr_i(wr_old),
    .busy_i({rs_busy, ex_busy}),
    .busy_qp_i({rs_qp, ex_qp}),
    .op_done_i(op_done),
    .op_taken_o(op_taken),
    .op_qp_i(op_done_qp),
    .op_wr_i(op_done_wr),
    .op_fresh_i(op_fresh),
    .op_fresh_res_i(op_fresh_res),
    .res_done_i(res_done),
    .res_i(res),
    .err_valid_o(err_valid),
    .err_sqe_o(err_sqe),
    .err_free_i(err_free),
    .cqe_valid_o, .cqe_ready_i, .cqe_cqn_o, .cqe_o, .cqe_done_i, .cqe_err_i,
    .lost_kick_o(lost_kick),
    .lost_qp_o(lost_qp),
    .ev_valid_o, .ev_ready_i, .ev_o
  );

  assign ev_eqn_o  = 8'hff;  // asynchronous events
  assign ctx_idx_o = {8'(rs_rd_qp), 8'(ex_rd_qp)};
  assign idle_o    = life_idle && ex_idle && !ex_any && rs_idle && rt_idle && !rt_any && ops_idle &&
                     !timer_busy && fx_idle && fr_idle && pk_idle && sc_idle && !db_valid_i;

  logic unused;
  assign unused = ^{db_idx_i, ctx1_i[bdy_pkg::QP_CTX1_W+:bdy_pkg::QP_CTX1_W], rs_slot0, rs_line};

endmodule
