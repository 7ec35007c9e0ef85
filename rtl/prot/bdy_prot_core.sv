// SPDX-License-Identifier: Apache-2.0
//
// bdy_prot_core: the protection engine without its tables: access, bind, drain, caches, queue pair state and contexts, wired
// around one verdict stage (H1).
//
//      4 access ports --> bdy_access ---verdict--> bdy_translate --> answers, grants
//                            | ^   \---------------> bdy_verdict_log --> trace
//                  lookup,   | | entries                ^
//                  misses    v |                        |
//                       bdy_entry_cache <--write-- bdy_op <-- 3 op ports
//                            |                    |  |  |
//                       entry table port <-- bdy_wbuf  |  +--> bdy_bound_count, bdy_qp_state, bdy_ctx, PD bits, bdy_qpev
//                       translation table port <-------+------> bdy_drain --> drained answers
//
// Latency:      access hit: answer six cycles after the handshake through a table that answers at once; operation on hits:
//               three.
// Throughput:   one verdict per cycle, one operation per two cycles, at the same time.
// Backpressure: every request port; answers are always taken.
// Invariants:   see the blocks. In one cycle the access verdict comes before the operation.
//
// Table ports: a request is {write, tag, row, data}; every request is answered once under its tag, in any order; a read may
// be answered with the content before or after a write that is under way. A translation read returns the row and its
// successor.

module bdy_prot_core #(
  parameter int LogKeys      = 13,
  parameter int LogMtt       = 16,
  parameter int LogQps       = 8,
  parameter int LogPds       = 10,
  parameter int CacheEntries = 256,
  parameter int NCtx         = 6,
  parameter int NAcc         = 4,
  parameter int NOp          = 3,
  parameter int NMiss        = 64,
  parameter int LogLog       = 8,
  parameter int FifoDepth    = 8,    // queues in front of the table ports and answers
  parameter int ReqDepth     = 2,    // entry requests on their way to the table
  parameter int WbufDepth    = 16,
  parameter int OpLogDepth   = 16,
  parameter int DrainDepth   = 256,
  parameter int EvDepth      = 512,
  // derived
  parameter int EntW         = 448,
  parameter int MttW         = 89,
  parameter int MptTagW      = 8,
  parameter int MttTagW      = LogLog + 2
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  output logic                               idle_o,
  input  logic                               strict_ibta_i,
  output logic                               fatal_o,

  input  logic [NAcc-1:0]                    acc_valid_i,
  output logic [NAcc-1:0]                    acc_ready_o,
  input  logic [NAcc*bdy_pkg::ACC_REQ_W-1:0] acc_req_i,
  output logic [NAcc-1:0]                    acc_rsp_valid_o,
  output logic [bdy_pkg::ACC_RSP_W-1:0]      acc_rsp_o,
  input  logic [NAcc-1:0]                    ret_valid_i,
  input  logic [NAcc-1:0]                    ret_epoch_i,

  input  logic [NOp-1:0]                     op_valid_i,
  output logic [NOp-1:0]                     op_ready_o,
  input  logic [NOp*bdy_pkg::PROT_OP_W-1:0]  op_req_i,
  input  logic [NOp*8-1:0]                   op_tag_i,
  output logic [NOp-1:0]                     ope_valid_o,
  output logic [7:0]                         ope_tag_o,
  output logic [7:0]                         ope_rule_o,
  output logic [31:0]                        ope_res_o,
  output logic                               ope_drain_o,
  output logic [NOp-1:0]                     opd_valid_o,
  output logic [7:0]                         opd_tag_o,

  output logic [1:0]                         qpev_valid_o,
  output logic [LogQps-1:0]                  qpev_idx_o,
  output logic [2:0]                         qpev_st_o,
  output logic                               qpev_bump_o,
  input  logic [1:0]                         qpev_ack_i,

  input  logic [NCtx*LogQps-1:0]             ctx_idx_i,
  output logic [NCtx*512-1:0]                ctx0_o,
  output logic [NCtx*512-1:0]                ctx1_o,
  output logic [NCtx*32-1:0]                 ctx_gen_o,
  output logic                               ctxw_valid_o,
  output logic [3:0]                         ctxw_kind_o,
  output logic [15:0]                        ctxw_idx_o,
  output logic [511:0]                       ctxw_data_o,
  input  logic                               ctxw_ack_i,

  input  logic                               rd_valid_i,
  input  logic [3:0]                         rd_what_i,
  input  logic [23:0]                        rd_idx_i,
  output logic                               rd_done_o,
  output logic                               rd_err_o,
  output logic [511:0]                       rd_data_o,

  output logic                               ev_valid_o,
  input  logic                               ev_ready_i,
  output logic [63:0]                        ev_o,

  output logic                               trc_acc_valid_o,
  output logic [bdy_pkg::TRC_ACCESS_W-1:0]   trc_acc_o,
  output logic                               trc_op_valid_o,
  output logic [bdy_pkg::PROT_OP_W-1:0]      trc_op_o,

  output logic                               mpt_req_valid_o,
  input  logic                               mpt_req_ready_i,
  output logic                               mpt_req_write_o,
  output logic [MptTagW-1:0]                 mpt_req_tag_o,
  output logic [LogKeys-1:0]                 mpt_req_row_o,
  output logic [EntW-1:0]                    mpt_req_data_o,
  input  logic                               mpt_rsp_valid_i,
  output logic                               mpt_rsp_ready_o,
  input  logic [MptTagW-1:0]                 mpt_rsp_tag_i,
  input  logic                               mpt_rsp_err_i,
  input  logic [EntW-1:0]                    mpt_rsp_data_i,

  output logic                               mtt_req_valid_o,
  input  logic                               mtt_req_ready_i,
  output logic                               mtt_req_write_o,
  output logic [MttTagW-1:0]                 mtt_req_tag_o,
  output logic [LogMtt-1:0]                  mtt_req_row_o,
  output logic [MttW-1:0]                    mtt_req_data_o,
  input  logic                               mtt_rsp_valid_i,
  output logic                               mtt_rsp_ready_o,
  input  logic [MttTagW-1:0]                 mtt_rsp_tag_i,
  input  logic                               mtt_rsp_err_i,
  input  logic [2*MttW-1:0]                  mtt_rsp_data_i
);

  localparam int MissIdW = NMiss > 1 ? $clog2(NMiss) : 1;
  localparam int WbufIdW = WbufDepth > 1 ? $clog2(WbufDepth) : 1;
  localparam int EvSeqW  = $clog2(EvDepth + NOp * DrainDepth) + 2;
  localparam int NState  = NCtx + 3;  // context ports, raw read, access, operation
  localparam logic [1:0] TagAccess = 2'd0, TagOp = 2'd1, TagWrite = 2'd2, TagRaw = 2'd3;

  // ---------------------------------------------------------------- entry cache
  logic [2:0]           look_en, look_hit;
  logic [3*LogKeys-1:0] look_slot;
  logic [3*EntW-1:0]    look_entry;
  logic                 cw_en, cw_keep, put_en, put_keep, put_room, fill_en, op_fill_q;
  logic [LogKeys-1:0]   cw_slot, put_slot, fill_slot, op_fill_slot_q;
  logic [EntW-1:0]      cw_entry, put_entry, fill_entry, op_fill_entry_q;

  // An operation's write comes first; a fill may be lost, its waiter has the entry.
  assign cw_en    = put_en || fill_en || op_fill_q;
  assign cw_keep  = put_en ? put_keep : 1'b1;
  assign cw_slot  = put_en ? put_slot : fill_en ? fill_slot : op_fill_slot_q;
  assign cw_entry = put_en ? put_entry : fill_en ? fill_entry : op_fill_entry_q;

  bdy_entry_cache #(.LogKeys(LogKeys), .Entries(CacheEntries), .EntW(EntW)) u_cache (
    .clk_i, .rst_ni,
    .rd_en_i(look_en),
    .rd_slot_i(look_slot),
    .hit_o(look_hit),
    .entry_o(look_entry),
    .wr_en_i(cw_en),
    .wr_keep_i(cw_keep),
    .wr_slot_i(cw_slot),
    .wr_entry_i(cw_entry)
  );

  // ---------------------------------------------------------------- state read at the verdict
  logic [NState*LogQps-1:0] qs_idx;
  logic [NState*36-1:0]     qs_data;
  logic                     qp_wr;
  logic [LogQps-1:0]        op_qp_idx;
  logic [35:0]              qp_wr_data, acc_qp, op_qp, raw_qp;
  logic [23:0]              acc_qpn, acc_qp_off, acc_pd, op_pd;
  logic                     acc_qp_alive, acc_pd_alive, op_pd_alive, pd_wr, pd_set;
  logic [LogPds-1:0]        pd_idx;
  logic [2**LogPds-1:0]     pd_alive_q;

  assign acc_qp_off   = acc_qpn - bdy_pkg::QPN_BASE[23:0];
  assign acc_qp       = qs_data[36*(NCtx+1)+:36];
  assign op_qp        = qs_data[36*(NCtx+2)+:36];
  assign raw_qp       = qs_data[36*NCtx+:36];
  assign acc_qp_alive = (acc_qp_off >> LogQps) == 24'h0 && acc_qp[35];
  assign acc_pd_alive = (acc_pd >> LogPds) == 24'h0 && pd_alive_q[acc_pd[LogPds-1:0]];
  assign op_pd_alive  = (op_pd >> LogPds) == 24'h0 && pd_alive_q[op_pd[LogPds-1:0]];
  assign qs_idx[LogQps*(NCtx+1)+:2*LogQps] = {op_qp_idx, acc_qp_off[LogQps-1:0]};

  // Engines see generation and state; alive is for verdicts, state for operations.
  logic unused_state;
  assign unused_state = ^{qs_data, acc_qp};

  // One bit per domain: death is O(1) (H5).
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)    pd_alive_q <= '0;
    else if (pd_wr) pd_alive_q[pd_idx] <= pd_set;
  end

  bdy_qp_state #(.LogQps(LogQps), .NRd(NState)) u_qp_state (
    .clk_i, .rst_ni,
    .wr_en_i(qp_wr),
    .wr_idx_i(op_qp_idx),
    .wr_data_i(qp_wr_data),
    .rd_idx_i(qs_idx),
    .rd_data_o(qs_data)
  );

  // ---------------------------------------------------------------- contexts
  logic                    ctx_wr, ctx_wr_half;
  logic [511:0]            ctx_wr_data;
  logic [LogQps-1:0]       raw_ctx_idx;
  logic [(NCtx+1)*3-1:0]   ctx_st;
  logic [511:0]            raw_ctx0, raw_ctx1;

  for (genvar c = 0; c <= NCtx; c++) begin : g_ctx_st
    assign ctx_st[3*c+:3] = qs_data[36*c+32+:3];
  end
  for (genvar c = 0; c < NCtx; c++) begin : g_ctx_gen
    assign ctx_gen_o[32*c+:32] = qs_data[36*c+:32];
  end

  bdy_ctx #(.LogQps(LogQps), .NRd(NCtx + 1)) u_ctx (
    .clk_i, .rst_ni,
    .wr_en_i(ctx_wr),
    .wr_half_i(ctx_wr_half),
    .wr_idx_i(op_qp_idx),
    .wr_data_i(ctx_wr_data),
    .idx_i({raw_ctx_idx, ctx_idx_i}),
    .idx_q_o(qs_idx[0+:(NCtx+1)*LogQps]),
    .st_i(ctx_st),
    .half0_o({raw_ctx0, ctx0_o}),
    .half1_o({raw_ctx1, ctx1_o})
  );

  // ---------------------------------------------------------------- access
  logic                          acc_idle, v_valid, v_stale, room, log_room, xlate_room, epoch;
  logic [1:0]                    inflight, v_port;
  logic [bdy_pkg::ACC_REQ_W-1:0] v_req;
  logic [LogKeys-1:0]            v_slot;
  logic [EntW-1:0]               v_entry;
  logic [7:0]                    v_rule;
  logic [LogLog-1:0]             v_log;
  logic                          iss_valid, iss_ready, miss_ret_valid, miss_ret_ready;
  logic [MissIdW-1:0]            iss_id;
  logic [LogKeys-1:0]            iss_slot;

  assign room = log_room && xlate_room;

  bdy_access #(.LogKeys(LogKeys), .NMiss(NMiss), .NAcc(NAcc), .EntW(EntW)) u_access (
    .clk_i, .rst_ni,
    .idle_o(acc_idle),
    .acc_valid_i, .acc_ready_o, .acc_req_i,
    .inflight_o(inflight),
    .room_i(room),
    .rd_en_o(look_en[0]),
    .rd_slot_o(look_slot[0+:LogKeys]),
    .hit_i(look_hit[0]),
    .entry_i(look_entry[0+:EntW]),
    .cw_en_i(cw_en),
    .cw_slot_i(cw_slot),
    .cw_entry_i(cw_entry),
    .upd_en_i(put_en),
    .fill_en_o(fill_en),
    .fill_slot_o(fill_slot),
    .fill_entry_o(fill_entry),
    .iss_valid_o(iss_valid),
    .iss_ready_i(iss_ready),
    .iss_id_o(iss_id),
    .iss_slot_o(iss_slot),
    .ret_valid_i(miss_ret_valid),
    .ret_ready_o(miss_ret_ready),
    .ret_id_i(mpt_rsp_tag_i[MissIdW-1:0]),
    .ret_entry_i(mpt_rsp_data_i),
    .ret_err_i(mpt_rsp_err_i),
    .qpn_o(acc_qpn),
    .qp_alive_i(acc_qp_alive),
    .qp_gen_i(acc_qp[31:0]),
    .pd_o(acc_pd),
    .pd_alive_i(acc_pd_alive),
    .v_valid_o(v_valid),
    .v_port_o(v_port),
    .v_req_o(v_req),
    .v_slot_o(v_slot),
    .v_entry_o(v_entry),
    .v_rule_o(v_rule),
    .v_stale_o(v_stale)
  );

  // ---------------------------------------------------------------- translation and answers
  logic              xlate_idle, fin_valid, xret_valid, xret_epoch;
  logic [LogLog-1:0] fin_log;
  logic              xmtt_valid, xmtt_ready, xmtt_rsp_valid, xmtt_rsp_ready;
  logic [LogLog-1:0] xmtt_id;
  logic [LogMtt-1:0] xmtt_idx;

  bdy_translate #(
    .LogKeys(LogKeys), .LogMtt(LogMtt), .LogLog(LogLog), .NAcc(NAcc), .EntW(EntW), .FifoDepth(FifoDepth), .MttW(MttW)
  ) u_translate (
    .clk_i, .rst_ni,
    .idle_o(xlate_idle),
    .inflight_i(inflight),
    .room_o(xlate_room),
    .v_valid_i(v_valid),
    .v_port_i(v_port),
    .v_req_i(v_req),
    .v_slot_i(v_slot),
    .v_entry_i(v_entry),
    .v_rule_i(v_rule),
    .v_stale_i(v_stale),
    .v_epoch_i(epoch),
    .v_log_i(v_log),
    .mtt_valid_o(xmtt_valid),
    .mtt_ready_i(xmtt_ready),
    .mtt_id_o(xmtt_id),
    .mtt_idx_o(xmtt_idx),
    .mtt_rsp_valid_i(xmtt_rsp_valid),
    .mtt_rsp_ready_o(xmtt_rsp_ready),
    .mtt_rsp_id_i(mtt_rsp_tag_i[LogLog-1:0]),
    .mtt_rsp_err_i,
    .mtt_rsp_data_i,
    .rsp_valid_o(acc_rsp_valid_o),
    .rsp_o(acc_rsp_o),
    .fin_valid_o(fin_valid),
    .fin_log_o(fin_log),
    .ret_valid_o(xret_valid),
    .ret_epoch_o(xret_epoch)
  );

  // ---------------------------------------------------------------- operations
  logic                          op_idle, op_log_valid, op_log_room, ev, ev_bump, ev_room, ctxw, revoke;
  logic [1:0]                    op_port;
  logic [7:0]                    op_tag;
  logic [NOp-1:0]                drain_room;
  logic [bdy_pkg::PROT_OP_W-1:0] op_log;
  logic                          op_mpt_valid, op_mpt_ready, op_mpt_which, op_mpt_rsp;
  logic [LogKeys-1:0]            op_mpt_slot;
  logic                          op_mtt_valid, op_mtt_ready, op_mtt_write, op_mtt_rsp, mttw_busy, mttw_failed;
  logic [LogMtt-1:0]             op_mtt_idx;
  logic [MttW-1:0]               op_mtt_data;
  logic                          count_rd, count_wr;
  logic [2*LogKeys-1:0]          count_slot;
  logic [3*21-1:0]               counts;
  logic [LogKeys-1:0]            count_wr_slot;
  logic [20:0]                   count_wr_count;
  logic [3:0]                    ctxw_kind;
  logic [15:0]                   ctxw_idx;
  logic                          ctxw_busy_q;

  bdy_op #(
    .LogKeys(LogKeys), .LogMtt(LogMtt), .LogQps(LogQps), .LogPds(LogPds), .NOp(NOp), .EntW(EntW), .MttW(MttW)
  ) u_op (
    .clk_i, .rst_ni,
    .idle_o(op_idle),
    .strict_i(strict_ibta_i),
    .op_valid_i, .op_ready_o, .op_req_i, .op_tag_i,
    .ope_valid_o, .ope_tag_o, .ope_rule_o, .ope_res_o, .ope_drain_o,
    .look_en_o(look_en[2:1]),
    .look_slot_o(look_slot[LogKeys+:2*LogKeys]),
    .look_hit_i(look_hit[2:1]),
    .look_entry_i(look_entry[EntW+:2*EntW]),
    .put_en_o(put_en),
    .put_keep_o(put_keep),
    .put_slot_o(put_slot),
    .put_entry_o(put_entry),
    .put_room_i(put_room),
    .mpt_valid_o(op_mpt_valid),
    .mpt_ready_i(op_mpt_ready),
    .mpt_which_o(op_mpt_which),
    .mpt_slot_o(op_mpt_slot),
    .mpt_rsp_valid_i(op_mpt_rsp),
    .mpt_rsp_which_i(mpt_rsp_tag_i[0]),
    .mpt_rsp_entry_i(mpt_rsp_data_i),
    .mpt_rsp_err_i,
    .mtt_valid_o(op_mtt_valid),
    .mtt_ready_i(op_mtt_ready),
    .mtt_write_o(op_mtt_write),
    .mtt_idx_o(op_mtt_idx),
    .mtt_data_o(op_mtt_data),
    .mtt_rsp_valid_i(op_mtt_rsp),
    .mtt_rsp_err_i,
    .mtt_rsp_owner_i({mtt_rsp_data_i[MttW-1], mtt_rsp_data_i[64+:20]}),
    .mtt_busy_o(mttw_busy),
    .mtt_failed_o(mttw_failed),
    .count_rd_o(count_rd),
    .count_slot_o(count_slot),
    .count_i(counts[2*21-1:0]),
    .count_wr_o(count_wr),
    .count_wr_slot_o(count_wr_slot),
    .count_wr_count_o(count_wr_count),
    .qp_idx_o(op_qp_idx),
    .qp_i(op_qp),
    .qp_wr_o(qp_wr),
    .qp_wr_data_o(qp_wr_data),
    .ctx_wr_o(ctx_wr),
    .ctx_wr_half_o(ctx_wr_half),
    .ctx_wr_data_o(ctx_wr_data),
    .pd_o(op_pd),
    .pd_alive_i(op_pd_alive),
    .pd_wr_o(pd_wr),
    .pd_set_o(pd_set),
    .pd_idx_o(pd_idx),
    .ev_o(ev),
    .ev_bump_o(ev_bump),
    .ev_room_i(ev_room),
    .ctxw_o(ctxw),
    .ctxw_kind_o(ctxw_kind),
    .ctxw_idx_o(ctxw_idx),
    .ctxw_busy_i(ctxw_busy_q),
    .revoke_o(revoke),
    .port_o(op_port),
    .tag_o(op_tag),
    .drain_room_i(drain_room),
    .log_valid_o(op_log_valid),
    .log_room_i(op_log_room),
    .log_op_o(op_log)
  );

  logic               raw_count_rd;
  logic [LogKeys-1:0] raw_count_slot;

  bdy_bound_count #(.LogKeys(LogKeys)) u_counts (
    .clk_i,
    .rd_en_i({raw_count_rd, {2{count_rd}}}),
    .rd_slot_i({raw_count_slot, count_slot}),
    .rd_count_o(counts),
    .wr_en_i(count_wr),
    .wr_slot_i(count_wr_slot),
    .wr_count_i(count_wr_count)
  );

  // Entries read for operations are worth keeping.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) op_fill_q <= 1'b0;
    else op_fill_q <= op_mpt_rsp && !mpt_rsp_err_i &&
                      mpt_rsp_data_i[bdy_pkg::MPT_ENTRY_KIND_LSB+:2] != bdy_pkg::MPT_KIND_NONE;
  end

  logic [LogKeys-1:0] op_asked_slot_q [2];  // of the two reads an operation may have under way
  always_ff @(posedge clk_i) begin
    if (op_mpt_valid && op_mpt_ready) op_asked_slot_q[op_mpt_which] <= op_mpt_slot;
    if (op_mpt_rsp) begin
      op_fill_slot_q  <= op_asked_slot_q[mpt_rsp_tag_i[0]];
      op_fill_entry_q <= mpt_rsp_data_i;
    end
  end

  // ---------------------------------------------------------------- events and context writes
  logic              ev_idle;
  logic [EvSeqW-1:0] ev_seq, ev_done_seq;
  logic [2:0]        ev_st;
  assign ev_st = qp_wr_data[34:32];

  bdy_qpev #(.LogQps(LogQps), .NEngine(2), .Depth(EvDepth), .SeqW(EvSeqW)) u_qpev (
    .clk_i, .rst_ni,
    .idle_o(ev_idle),
    .put_i(ev),
    .put_idx_i(op_qp_idx),
    .put_st_i(ev_st),
    .put_bump_i(ev_bump),
    .room_o(ev_room),
    .put_seq_o(ev_seq),
    .done_seq_o(ev_done_seq),
    .ev_valid_o(qpev_valid_o),
    .ev_idx_o(qpev_idx_o),
    .ev_st_o(qpev_st_o),
    .ev_bump_o(qpev_bump_o),
    .ev_ack_i(qpev_ack_i)
  );

  assign ctxw_valid_o = ctxw_busy_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)         ctxw_busy_q <= 1'b0;
    else if (ctxw)       ctxw_busy_q <= 1'b1;
    else if (ctxw_ack_i) ctxw_busy_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (ctxw) begin
      ctxw_kind_o <= ctxw_kind;
      ctxw_idx_o  <= ctxw_idx;
      ctxw_data_o <= ctx_wr_data;
    end
  end

  // ---------------------------------------------------------------- drain
  logic drain_idle, v_grant;
  assign v_grant = v_valid && v_rule == bdy_pkg::RULE_NONE && v_req[bdy_pkg::ACC_REQ_XLEN_LSB+:13] != 13'd0;

  bdy_drain #(.NOp(NOp), .NRet(NAcc + 1), .Depth(DrainDepth), .EvW(EvSeqW)) u_drain (
    .clk_i, .rst_ni,
    .idle_o(drain_idle),
    .grant_i(v_grant),
    .epoch_o(epoch),
    .ret_valid_i({xret_valid, ret_valid_i}),
    .ret_epoch_i({xret_epoch, ret_epoch_i}),
    .revoke_i(revoke),
    .revoke_port_i(op_port),
    .revoke_tag_i(op_tag),
    .revoke_ev_i(ev),
    .revoke_ev_seq_i(ev_seq),
    .revoke_cw_i(ctxw),
    .room_o(drain_room),
    .ev_done_seq_i(ev_done_seq),
    .cw_busy_i(ctxw_busy_q),
    .opd_valid_o, .opd_tag_o
  );

  // ---------------------------------------------------------------- log
  logic log_idle;

  bdy_verdict_log #(.LogLog(LogLog), .OpDepth(OpLogDepth)) u_log (
    .clk_i, .rst_ni,
    .idle_o(log_idle),
    .inflight_i(inflight),
    .room_o(log_room),
    .v_valid_i(v_valid),
    .v_port_i(v_port),
    .v_req_i(v_req),
    .v_epoch_i(epoch),
    .v_log_o(v_log),
    .fin_valid_i(fin_valid),
    .fin_log_i(fin_log),
    .fin_rsp_i(acc_rsp_o),
    .op_valid_i(op_log_valid),
    .op_room_o(op_log_room),
    .op_i(op_log),
    .trc_acc_valid_o, .trc_acc_o, .trc_op_valid_o, .trc_op_o
  );

  // ---------------------------------------------------------------- raw read
  logic               raw_idle, raw_mpt_valid, raw_mpt_ready, raw_mtt_valid, raw_mtt_ready;
  logic [LogKeys-1:0] raw_mpt_slot;
  logic [LogMtt-1:0]  raw_mtt_idx;

  bdy_raw_read #(.LogKeys(LogKeys), .LogMtt(LogMtt), .LogQps(LogQps), .EntW(EntW), .MttW(MttW)) u_raw (
    .clk_i, .rst_ni,
    .idle_o(raw_idle),
    .rd_valid_i, .rd_what_i, .rd_idx_i, .rd_done_o, .rd_err_o, .rd_data_o,
    .mpt_valid_o(raw_mpt_valid),
    .mpt_ready_i(raw_mpt_ready),
    .mpt_slot_o(raw_mpt_slot),
    .mpt_rsp_valid_i(mpt_rsp_valid_i && mpt_rsp_tag_i[MptTagW-1-:2] == TagRaw),
    .mpt_rsp_err_i,
    .mpt_rsp_entry_i(mpt_rsp_data_i),
    .mtt_valid_o(raw_mtt_valid),
    .mtt_ready_i(raw_mtt_ready),
    .mtt_idx_o(raw_mtt_idx),
    .mtt_hold_i(mttw_busy),
    .mtt_rsp_valid_i(mtt_rsp_valid_i && mtt_rsp_tag_i[MttTagW-1-:2] == TagRaw),
    .mtt_rsp_err_i,
    .mtt_rsp_data_i(mtt_rsp_data_i[MttW-1:0]),
    .count_rd_o(raw_count_rd),
    .count_slot_o(raw_count_slot),
    .count_i(counts[42+:21]),
    .ctx_idx_o(raw_ctx_idx),
    .ctx0_i(raw_ctx0),
    .ctx1_i(raw_ctx1),
    .qp_i(raw_qp)
  );

  // ---------------------------------------------------------------- entry table port
  // A read of a slot whose write is not confirmed waits (H8). It gives the port up meanwhile.
  localparam int MptReqW = 1 + MptTagW + LogKeys + EntW;

  logic [2:0]         read_held;
  logic [3:0]         mpt_want, mpt_gnt;
  logic [1:0]         mpt_src;
  logic               mpt_any, mptq_ready, wb_valid, wb_idle, b_valid;
  logic [WbufIdW-1:0] wb_id;
  logic [LogKeys-1:0] wb_slot;
  logic [EntW-1:0]    wb_entry;
  logic [MptReqW-1:0] mptq_in;

  bdy_wbuf #(.LogKeys(LogKeys), .Depth(WbufDepth), .EntW(EntW), .NMatch(3)) u_wbuf (
    .clk_i, .rst_ni,
    .idle_o(wb_idle),
    .put_en_i(put_en),
    .put_slot_i(put_slot),
    .put_entry_i(put_entry),
    .room_o(put_room),
    .match_slot_i({raw_mpt_slot, op_mpt_slot, iss_slot}),
    .match_o(read_held),
    .wr_valid_o(wb_valid),
    .wr_ready_i(mpt_gnt[2] && mptq_ready),
    .wr_id_o(wb_id),
    .wr_slot_o(wb_slot),
    .wr_entry_o(wb_entry),
    .b_valid_i(b_valid),
    .b_id_i(mpt_rsp_tag_i[WbufIdW-1:0])
  );

  assign mpt_want      = {raw_mpt_valid && !read_held[2], wb_valid, op_mpt_valid && !read_held[1],
                          iss_valid && !read_held[0]};
  assign iss_ready     = mpt_gnt[0] && mpt_want[0] && mptq_ready;
  assign op_mpt_ready  = mpt_gnt[1] && mpt_want[1] && mptq_ready;
  assign raw_mpt_ready = mpt_gnt[3] && mpt_want[3] && mptq_ready;

  bdy_rr_arb #(.N(4)) u_mpt_arb (
    .clk_i, .rst_ni,
    .req_i(mpt_want),
    .take_i(mptq_ready || (mpt_gnt & mpt_want) == '0),
    .valid_o(mpt_any),
    .gnt_o(mpt_gnt),
    .idx_o(mpt_src)
  );

  always_comb begin
    mptq_in = '0;
    if (mpt_any) case (mpt_src)
      2'd0:    mptq_in = {1'b0, TagAccess, 6'(iss_id), iss_slot, EntW'(0)};
      2'd1:    mptq_in = {1'b0, TagOp, 5'b0, op_mpt_which, op_mpt_slot, EntW'(0)};
      2'd2:    mptq_in = {1'b1, TagWrite, 6'(wb_id), wb_slot, wb_entry};
      default: mptq_in = {1'b0, TagRaw, 6'b0, raw_mpt_slot, EntW'(0)};
    endcase
  end

  logic [$clog2(ReqDepth+1)-1:0] mptq_count;
  bdy_fifo #(.Width(MptReqW), .Depth(ReqDepth)) u_mptq (
    .clk_i, .rst_ni,
    .wr_valid_i(mpt_any && (mpt_gnt & mpt_want) != '0),
    .wr_ready_o(mptq_ready),
    .wr_data_i(mptq_in),
    .rd_valid_o(mpt_req_valid_o),
    .rd_ready_i(mpt_req_ready_i),
    .rd_data_o({mpt_req_write_o, mpt_req_tag_o, mpt_req_row_o, mpt_req_data_o}),
    .count_o(mptq_count)
  );

  logic [1:0] mpt_rsp_src;
  logic       unused_tag;
  assign unused_tag      = ^mpt_rsp_tag_i;  // small builds need fewer bits
  assign mpt_rsp_src     = mpt_rsp_tag_i[MptTagW-1-:2];
  assign miss_ret_valid  = mpt_rsp_valid_i && mpt_rsp_src == TagAccess;
  assign op_mpt_rsp      = mpt_rsp_valid_i && mpt_rsp_src == TagOp;
  assign b_valid         = mpt_rsp_valid_i && mpt_rsp_src == TagWrite;
  assign mpt_rsp_ready_o = mpt_rsp_src != TagAccess || miss_ret_ready;

  // ---------------------------------------------------------------- translation table port
  logic       mtt_any;
  logic [2:0] mtt_gnt;
  logic [1:0] mtt_src;

  bdy_rr_arb #(.N(3)) u_mtt_arb (
    .clk_i, .rst_ni,
    .req_i({raw_mtt_valid, op_mtt_valid, xmtt_valid}),
    .take_i(mtt_req_ready_i),
    .valid_o(mtt_any),
    .gnt_o(mtt_gnt),
    .idx_o(mtt_src)
  );

  assign mtt_req_valid_o = mtt_any;
  assign {raw_mtt_ready, op_mtt_ready, xmtt_ready} = mtt_gnt & {3{mtt_req_ready_i}};
  assign mtt_req_write_o = mtt_src == 2'd1 && op_mtt_write;
  assign mtt_req_data_o  = op_mtt_data;
  assign mtt_req_row_o   = mtt_src == 2'd0 ? xmtt_idx : mtt_src == 2'd1 ? op_mtt_idx : raw_mtt_idx;
  assign mtt_req_tag_o   = mtt_src == 2'd0 ? {TagAccess, xmtt_id} : {mtt_src == 2'd1 ? TagOp : TagRaw, LogLog'(0)};

  logic [1:0] mtt_rsp_src;
  assign mtt_rsp_src     = mtt_rsp_tag_i[MttTagW-1-:2];
  assign xmtt_rsp_valid  = mtt_rsp_valid_i && mtt_rsp_src == TagAccess;
  assign op_mtt_rsp      = mtt_rsp_valid_i && mtt_rsp_src == TagOp;
  assign mtt_rsp_ready_o = mtt_rsp_src != TagAccess || xmtt_rsp_ready;

  // ---------------------------------------------------------------- events of the tables
  logic tbl_ev_idle;

  bdy_prot_event u_event (
    .clk_i, .rst_ni,
    .idle_o(tbl_ev_idle),
    .entry_failed_i(mpt_rsp_valid_i && mpt_rsp_ready_o && mpt_rsp_err_i && mpt_rsp_src != TagWrite),
    .translation_failed_i(mtt_rsp_valid_i && mtt_rsp_ready_o && mtt_rsp_err_i && !mttw_failed),
    .ev_valid_o, .ev_ready_i, .ev_o
  );

  // ---------------------------------------------------------------- fatal, idle
  // A table write that failed leaves cache and table apart: nothing can be trusted any more (H8).
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fatal_o <= 1'b0;
    else if ((b_valid && mpt_rsp_err_i) || mttw_failed) fatal_o <= 1'b1;
  end

  assign idle_o = acc_idle && xlate_idle && op_idle && drain_idle && log_idle && raw_idle && ev_idle && wb_idle &&
                  !ctxw_busy_q && mptq_count == '0 && tbl_ev_idle && acc_valid_i == '0 && op_valid_i == '0;

endmodule
