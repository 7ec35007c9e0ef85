// SPDX-License-Identifier: Apache-2.0
//
// bdy_prot: the protection engine with its on-chip tables. Wires only: bdy_prot_core, the two tables, and on both sides of
// each table a stage that delays and reorders.
//
// Latency:      as bdy_prot_core with dly_max_i 0; each table access takes up to dly_max_i cycles more, and a few.
// Throughput:   as bdy_prot_core.
// Backpressure: as bdy_prot_core; after reset the tables are cleared first (8192 cycles in the default build).
// Invariants:   access answers may overtake each other, never verdicts (H1); in one cycle the access comes before the
//               operation.

module bdy_prot #(
  parameter int LogKeys      = bdy_pkg::LOG_KEYS,
  parameter int LogMtt       = bdy_pkg::LOG_MTT,
  parameter int LogQps       = bdy_pkg::LOG_QPS,
  parameter int LogPds       = 10,
  parameter int CacheEntries = 256,
  parameter int NCtx         = 6,
  parameter int NAcc         = 4,
  parameter int NOp          = 3,
  parameter bit Shallow      = 1'b0,  // every queue one deep, one miss at a time (H13)
  parameter int NMiss        = Shallow ? 1 : 64,
  parameter int LogLog       = Shallow ? 2 : 8,
  parameter int FifoDepth    = Shallow ? 1 : 8,
  parameter int ReqDepth     = Shallow ? 1 : 2,
  parameter int WbufDepth    = Shallow ? 1 : 16,
  parameter int OpLogDepth   = Shallow ? 1 : 16,
  parameter int DrainDepth   = Shallow ? 1 : 256,
  parameter int EvDepth      = Shallow ? 1 : 512
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  output logic                               idle_o,        // nothing under way
  input  logic                               strict_ibta_i,
  output logic                               fatal_o,       // a table write failed; stays
  input  logic [7:0]                         dly_max_i,     // most extra cycles of a table access
  input  logic                               dly_reorder_i, // table accesses overtake each other
  input  logic [31:0]                        dly_seed_i,

  // access ports: 0 sq gather, 1 rx, 2 READ response gather, 3 READ sink
  input  logic [NAcc-1:0]                    acc_valid_i,
  output logic [NAcc-1:0]                    acc_ready_o,
  input  logic [NAcc*bdy_pkg::ACC_REQ_W-1:0] acc_req_i,     // acc_req_t each
  output logic [NAcc-1:0]                    acc_rsp_valid_o, // at most one
  output logic [bdy_pkg::ACC_RSP_W-1:0]      acc_rsp_o,     // acc_rsp_t
  input  logic [NAcc-1:0]                    ret_valid_i,   // a grant is over
  input  logic [NAcc-1:0]                    ret_epoch_i,

  // operation ports: 0 firmware, 1 sq, 2 rx
  input  logic [NOp-1:0]                     op_valid_i,
  output logic [NOp-1:0]                     op_ready_o,
  input  logic [NOp*bdy_pkg::PROT_OP_W-1:0]  op_req_i,      // prot_op_t each
  input  logic [NOp*8-1:0]                   op_tag_i,
  output logic [NOp-1:0]                     ope_valid_o,   // executed or refused, at most one
  output logic [7:0]                         ope_tag_o,
  output logic [7:0]                         ope_rule_o,
  output logic [31:0]                        ope_res_o,
  output logic                               ope_drain_o,   // a drained answer follows
  output logic [NOp-1:0]                     opd_valid_o,   // drained, at most one
  output logic [7:0]                         opd_tag_o,

  // queue pair events: valid per engine (0 sq, 1 rx) until its acknowledge
  output logic [1:0]                         qpev_valid_o,
  output logic [LogQps-1:0]                  qpev_idx_o,
  output logic [2:0]                         qpev_st_o,
  output logic                               qpev_bump_o,
  input  logic [1:0]                         qpev_ack_i,

  // contexts
  input  logic [NCtx*LogQps-1:0]             ctx_idx_i,
  output logic [NCtx*512-1:0]                ctx0_o,
  output logic [NCtx*512-1:0]                ctx1_o,
  output logic [NCtx*32-1:0]                 ctx_gen_o,
  output logic                               ctxw_valid_o,
  output logic [3:0]                         ctxw_kind_o,
  output logic [15:0]                        ctxw_idx_o,
  output logic [511:0]                       ctxw_data_o,
  input  logic                               ctxw_ack_i,

  // firmware's reads
  input  logic                               rd_valid_i,
  input  logic [3:0]                         rd_what_i,
  input  logic [23:0]                        rd_idx_i,
  output logic                               rd_done_o,
  output logic                               rd_err_o,
  output logic [511:0]                       rd_data_o,

  // events for the host: a table read has failed (H8)
  output logic                               ev_valid_o,
  input  logic                               ev_ready_i,
  output logic [63:0]                        ev_o,

  // trace
  output logic                               trc_acc_valid_o,
  output logic [bdy_pkg::TRC_ACCESS_W-1:0]   trc_acc_o,
  output logic                               trc_op_valid_o,
  output logic [bdy_pkg::PROT_OP_W-1:0]      trc_op_o
);

  localparam int EntW     = 448;
  localparam int MttW     = 89;
  localparam int MptTagW  = 8;
  localparam int MttTagW  = LogLog + 2;
  localparam int MptReqW  = 1 + MptTagW + LogKeys + EntW;
  localparam int MptRspW  = MptTagW + EntW;
  localparam int MttReqW  = 1 + MttTagW + LogMtt + MttW;
  localparam int MttRspW  = MttTagW + 2 * MttW;

  logic core_idle;

  // Way of an entry request: core, delay, table, delay, core. The same for translations.
  logic               mpt_req_valid, mpt_req_ready, mpt_t_valid, mpt_t_ready, mpt_tr_valid, mpt_tr_ready, mpt_rsp_valid,
                      mpt_rsp_ready;
  logic [MptReqW-1:0] mpt_req, mpt_t_req;
  logic [MptRspW-1:0] mpt_t_rsp, mpt_rsp;
  logic               mtt_req_valid, mtt_req_ready, mtt_t_valid, mtt_t_ready, mtt_tr_valid, mtt_tr_ready, mtt_rsp_valid,
                      mtt_rsp_ready;
  logic [MttReqW-1:0] mtt_req, mtt_t_req;
  logic [MttRspW-1:0] mtt_t_rsp, mtt_rsp;
  logic [7:0]         dly_before, dly_after;
  logic [5:0]         idle;

  assign dly_before = {1'b0, dly_max_i[7:1]};
  assign dly_after  = dly_max_i - dly_before;
  assign idle_o     = core_idle && idle == '1;

  bdy_prot_core #(
    .LogKeys(LogKeys), .LogMtt(LogMtt), .LogQps(LogQps), .LogPds(LogPds), .CacheEntries(CacheEntries), .NCtx(NCtx),
    .NAcc(NAcc), .NOp(NOp), .NMiss(NMiss), .LogLog(LogLog), .FifoDepth(FifoDepth), .ReqDepth(ReqDepth), .WbufDepth(WbufDepth),
    .OpLogDepth(OpLogDepth), .DrainDepth(DrainDepth), .EvDepth(EvDepth)
  ) u_core (
    .clk_i, .rst_ni,
    .idle_o(core_idle),
    .strict_ibta_i, .fatal_o,
    .acc_valid_i, .acc_ready_o, .acc_req_i, .acc_rsp_valid_o, .acc_rsp_o, .ret_valid_i, .ret_epoch_i,
    .op_valid_i, .op_ready_o, .op_req_i, .op_tag_i, .ope_valid_o, .ope_tag_o, .ope_rule_o, .ope_res_o, .ope_drain_o,
    .opd_valid_o, .opd_tag_o,
    .qpev_valid_o, .qpev_idx_o, .qpev_st_o, .qpev_bump_o, .qpev_ack_i,
    .ctx_idx_i, .ctx0_o, .ctx1_o, .ctx_gen_o, .ctxw_valid_o, .ctxw_kind_o, .ctxw_idx_o, .ctxw_data_o, .ctxw_ack_i,
    .rd_valid_i, .rd_what_i, .rd_idx_i, .rd_done_o, .rd_err_o, .rd_data_o,
    .ev_valid_o, .ev_ready_i, .ev_o,
    .trc_acc_valid_o, .trc_acc_o, .trc_op_valid_o, .trc_op_o,
    .mpt_req_valid_o(mpt_req_valid),
    .mpt_req_ready_i(mpt_req_ready),
    .mpt_req_write_o(mpt_req[MptReqW-1]),
    .mpt_req_tag_o(mpt_req[LogKeys+EntW+:MptTagW]),
    .mpt_req_row_o(mpt_req[EntW+:LogKeys]),
    .mpt_req_data_o(mpt_req[EntW-1:0]),
    .mpt_rsp_valid_i(mpt_rsp_valid),
    .mpt_rsp_ready_o(mpt_rsp_ready),
    .mpt_rsp_tag_i(mpt_rsp[EntW+:MptTagW]),
    .mpt_rsp_err_i(1'b0),   // a RAM on chip does not fail
    .mpt_rsp_data_i(mpt_rsp[EntW-1:0]),
    .mtt_req_valid_o(mtt_req_valid),
    .mtt_req_ready_i(mtt_req_ready),
    .mtt_req_write_o(mtt_req[MttReqW-1]),
    .mtt_req_tag_o(mtt_req[LogMtt+MttW+:MttTagW]),
    .mtt_req_row_o(mtt_req[MttW+:LogMtt]),
    .mtt_req_data_o(mtt_req[MttW-1:0]),
    .mtt_rsp_valid_i(mtt_rsp_valid),
    .mtt_rsp_ready_o(mtt_rsp_ready),
    .mtt_rsp_tag_i(mtt_rsp[2*MttW+:MttTagW]),
    .mtt_rsp_err_i(1'b0),
    .mtt_rsp_data_i(mtt_rsp[2*MttW-1:0])
  );

  // ---------------------------------------------------------------- entries
  logic [2*EntW-1:0] mpt_rows;
  assign mpt_t_rsp[EntW-1:0] = mpt_rows[EntW-1:0];

  bdy_tbl_delay #(.Width(MptReqW), .Salt(32'h2545f491)) u_mpt_before (
    .clk_i, .rst_ni,
    .idle_o(idle[0]),
    .max_i(dly_before),
    .reorder_i(dly_reorder_i),
    .seed_i(dly_seed_i),
    .in_valid_i(mpt_req_valid),
    .in_ready_o(mpt_req_ready),
    .in_data_i(mpt_req),
    .out_valid_o(mpt_t_valid),
    .out_ready_i(mpt_t_ready),
    .out_data_o(mpt_t_req)
  );

  bdy_table #(.LogRows(LogKeys), .LogBanks(1), .Width(EntW), .TagW(MptTagW)) u_mpt (
    .clk_i, .rst_ni,
    .idle_o(idle[1]),
    .req_valid_i(mpt_t_valid),
    .req_ready_o(mpt_t_ready),
    .req_write_i(mpt_t_req[MptReqW-1]),
    .req_tag_i(mpt_t_req[LogKeys+EntW+:MptTagW]),
    .req_row_i(mpt_t_req[EntW+:LogKeys]),
    .req_data_i(mpt_t_req[EntW-1:0]),
    .rsp_valid_o(mpt_tr_valid),
    .rsp_ready_i(mpt_tr_ready),
    .rsp_tag_o(mpt_t_rsp[EntW+:MptTagW]),
    .rsp_data_o(mpt_rows)
  );

  bdy_tbl_delay #(.Width(MptRspW), .Salt(32'h6c078965)) u_mpt_after (
    .clk_i, .rst_ni,
    .idle_o(idle[2]),
    .max_i(dly_after),
    .reorder_i(dly_reorder_i),
    .seed_i(dly_seed_i),
    .in_valid_i(mpt_tr_valid),
    .in_ready_o(mpt_tr_ready),
    .in_data_i(mpt_t_rsp),
    .out_valid_o(mpt_rsp_valid),
    .out_ready_i(mpt_rsp_ready),
    .out_data_o(mpt_rsp)
  );

  // ---------------------------------------------------------------- translations
  bdy_tbl_delay #(.Width(MttReqW), .Salt(32'h5851f42d)) u_mtt_before (
    .clk_i, .rst_ni,
    .idle_o(idle[3]),
    .max_i(dly_before),
    .reorder_i(dly_reorder_i),
    .seed_i(dly_seed_i),
    .in_valid_i(mtt_req_valid),
    .in_ready_o(mtt_req_ready),
    .in_data_i(mtt_req),
    .out_valid_o(mtt_t_valid),
    .out_ready_i(mtt_t_ready),
    .out_data_o(mtt_t_req)
  );

  bdy_table #(.LogRows(LogMtt), .LogBanks(3), .Width(MttW), .TagW(MttTagW)) u_mtt (
    .clk_i, .rst_ni,
    .idle_o(idle[4]),
    .req_valid_i(mtt_t_valid),
    .req_ready_o(mtt_t_ready),
    .req_write_i(mtt_t_req[MttReqW-1]),
    .req_tag_i(mtt_t_req[LogMtt+MttW+:MttTagW]),
    .req_row_i(mtt_t_req[MttW+:LogMtt]),
    .req_data_i(mtt_t_req[MttW-1:0]),
    .rsp_valid_o(mtt_tr_valid),
    .rsp_ready_i(mtt_tr_ready),
    .rsp_tag_o(mtt_t_rsp[2*MttW+:MttTagW]),
    .rsp_data_o(mtt_t_rsp[2*MttW-1:0])
  );

  bdy_tbl_delay #(.Width(MttRspW), .Salt(32'h14057b7e)) u_mtt_after (
    .clk_i, .rst_ni,
    .idle_o(idle[5]),
    .max_i(dly_after),
    .reorder_i(dly_reorder_i),
    .seed_i(dly_seed_i),
    .in_valid_i(mtt_tr_valid),
    .in_ready_o(mtt_tr_ready),
    .in_data_i(mtt_t_rsp),
    .out_valid_o(mtt_rsp_valid),
    .out_ready_i(mtt_rsp_ready),
    .out_data_o(mtt_rsp)
  );

  // The entry behind the one asked for is of no use here.
  logic unused;
  assign unused = ^mpt_rows[2*EntW-1:EntW];

endmodule
