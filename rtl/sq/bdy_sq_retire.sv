// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_retire: retires work requests in the order they were posted and writes their completions.
//
//   IDLE > WORDS > ENTRY > - done, no completion wanted: pointer moves
//      \__ op answer ___/  - done or failed: CQE
//                          - first failure of a queue pair: QP_ERR, then the CQE
//
// Latency:      bind pipeline's answer to CQE out 2 cycles when idle.
// Throughput:   one work request in about 5 cycles.
// Backpressure: cqe_ready_i; the engines never wait for retirement but for room in a ring.
// Invariants:   a failed work request always gets a CQE (W2); after the first CQE in error every
//               later one is a FLUSH (W5); each entry retires once (W6). The retired slot is stored
//               before its CQE is offered. An entry in error retires only while no engine works on
//               its queue pair: no byte of its buffers moves behind its CQE.

module bdy_sq_retire #(
  parameter int LogQps  = 8,
  parameter bit Shallow = 1'b0   // one completion on its way (H13)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                idle_o,

  // Schedule
  input  logic                pend_any_i,
  input  logic [LogQps-1:0]   pend_idx_i,
  output logic                take_o,
  output logic                again_o,       // pulse: look at qp_o again
  output logic                req_kick_o,    // pulse: room for the request half of qp_o
  output logic [LogQps-1:0]   qp_o,

  // Life
  input  logic [LogQps-1:0]   life_qp_i,
  input  logic                quiet_i,       // begin nothing
  output logic                is_quiet_o,    // nothing begun, no CQE on its way
  input  logic                clear_i,
  output logic                cleared_o,
  input  logic                dead_i,        // of qp_o

  // State of qp_o: read one cycle after rd_qp_o, live
  output logic [LogQps-1:0]   rd_qp_o,
  input  logic [bdy_pkg::SQ_RET_W-1:0] ret_i,
  input  logic [bdy_pkg::SQ_REQ_W-1:0] req_i,
  input  logic [bdy_pkg::SQ_RSP_W-1:0] rsp_i,
  output logic                ret_we_o,
  output logic [LogQps-1:0]   ret_qp_o,
  output logic [bdy_pkg::SQ_RET_W-1:0] ret_o,
  output logic [LogQps+3:0]   wr_rd_o,
  input  logic [bdy_pkg::SQ_WR_W-1:0] wr_i,
  input  logic [1:0]          busy_i,        // request, response half
  input  logic [2*LogQps-1:0] busy_qp_i,

  // Bind pipeline
  input  logic                op_done_i,
  output logic                op_taken_o,    // pulse: op_done_i is handled at once
  input  logic [LogQps-1:0]   op_qp_i,
  input  logic [3:0]          op_wr_i,
  input  logic                op_fresh_i,
  input  logic [39:0]         op_fresh_res_i,
  input  logic                res_done_i,    // of wr_rd_o's entry, one cycle later, as is res_i
  input  logic [39:0]         res_i,
  output logic                err_valid_o,   // post QP_ERR for qp_o
  output logic                err_sqe_o,     // to SQE: no acknowledges, and no fatal error (Q5)
  input  logic                err_free_i,

  // Completions
  output logic                cqe_valid_o,
  input  logic                cqe_ready_i,
  output logic [23:0]         cqe_cqn_o,
  output logic [bdy_pkg::CQE_W-1:0] cqe_o,
  input  logic                cqe_done_i,
  input  logic                cqe_err_i,
  output logic                lost_kick_o,   // pulse: lost_qp_o's completion queue is dead
  output logic [LogQps-1:0]   lost_qp_o,

  // Event
  output logic                ev_valid_o,
  input  logic                ev_ready_i,
  output logic [63:0]         ev_o
);

  localparam logic [2:0] StIdle  = 3'd0;
  localparam logic [2:0] StWords = 3'd1;
  localparam logic [2:0] StFast  = 3'd2;
  localparam logic [2:0] StEntry = 3'd3;
  localparam logic [2:0] StCqe   = 3'd4;
  localparam logic [2:0] StEvent = 3'd5;

  localparam int Qps = 1 << LogQps;
  localparam int Flying = Shallow ? 1 : 8;

  // Retirement reads a few fields of each.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::sq_req_t req;
  bdy_pkg::sq_rsp_t rsp;
  bdy_pkg::sq_wr_t  wr;
  // verilator lint_on UNUSEDSIGNAL
  bdy_pkg::sq_ret_t ret, ret_d;
  bdy_pkg::cqe_t    cqe, cqe_q;
  logic [23:0]      cqn_q;
  logic [2:0]       st_q, st_d;
  logic [LogQps-1:0] qp_q;
  logic [3:0]       fast_wr_q;
  logic             fresh_q;
  logic [39:0]      fresh_res_q;
  logic             drained_q;            // the event is SQ_DRAINED
  logic [Qps-1:0]   lost_q;               // its completion queue took no entry

  assign req = req_i;
  assign rsp = rsp_i;
  assign ret = ret_i;
  assign wr  = wr_i;

  // ------------------------------------------------------------ completions on their way, in order
  logic fl_ready, fl_valid, cqe_out;
  logic [LogQps-1:0]  fl_qp;
  logic [$clog2(Flying+1)-1:0] fl_count;

  assign cqe_out = cqe_valid_o && cqe_ready_i;

  bdy_fifo #(.Width(LogQps), .Depth(Flying)) u_flying (
    .clk_i, .rst_ni,
    .wr_valid_i(cqe_out),
    .wr_ready_o(fl_ready),
    .wr_data_i(qp_q),
    .rd_valid_o(fl_valid),
    .rd_ready_i(cqe_done_i),
    .rd_data_o(fl_qp),
    .count_o(fl_count)
  );

  assign lost_kick_o = cqe_done_i && cqe_err_i;
  assign lost_qp_o   = fl_qp;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lost_q <= '0;
    end else begin
      if (cleared_o)   lost_q[life_qp_i] <= 1'b0;
      if (lost_kick_o) lost_q[fl_qp] <= 1'b1;
    end
  end

  // ---------------------------------------------------------------- the oldest entry
  // How an entry stands.
  localparam logic [1:0] Waits  = 2'd0;
  localparam logic [1:0] Good   = 2'd1;
  localparam logic [1:0] Failed = 2'd2;
  localparam logic [1:0] Flush  = 2'd3;

  logic        acked, engaged, empty, lost, fatal, executed, probe, back, drained;
  logic [1:0]  stand;
  logic [7:0]  status, rule, syndrome;
  logic [39:0] result;
  logic [7:0]  op_rule;

  assign empty    = req.wh == ret.wt;
  assign acked    = (req.unrel ? req.tm : rsp.um) != wr.mseq;
  assign back     = ret.errd && !dead_i;  // from SQE: its errors are history
  assign engaged  = (busy_i[0] && busy_qp_i[0+:LogQps] == qp_q) ||
                    (busy_i[1] && busy_qp_i[LogQps+:LogQps] == qp_q);
  assign result   = fresh_q ? fresh_res_q : res_i;
  assign op_rule  = result[7:0];
  assign probe    = wr.st == bdy_pkg::WC_WR_FLUSH_ERR;
  assign executed = wr.is_op && !probe && op_rule == bdy_pkg::RULE_NONE;
  assign lost     = lost_q[qp_q];
  assign fatal    = req.viol || lost;

  always_comb begin
    stand    = Waits;
    status   = bdy_pkg::WC_WR_FLUSH_ERR;
    rule     = bdy_pkg::RULE_NONE;
    syndrome = 8'd0;
    if (wr.is_op) begin
      // A refusal because the queue pair had left RTS is no fault of the request (H12).
      if (res_done_i || st_q == StFast) begin
        if (probe) begin
          stand = Flush;
        end else if (op_rule == bdy_pkg::RULE_NONE) begin
          stand = Good;
        end else if (op_rule == bdy_pkg::RULE_Q1) begin
          stand = dead_i ? Flush : Waits;
        end else begin
          stand  = Failed;
          status = bdy_pkg::WC_MW_BIND_ERR;
          rule   = op_rule;
        end
      end
    end else if (!wr.is_msg) begin
      stand  = probe ? Flush : Failed;
      status = wr.st;
      rule   = wr.rule;
    end else if (acked) begin
      stand = Good;
    end else if (rsp.rerr) begin
      stand    = Failed;
      status   = rsp.st;
      rule     = rsp.rule;
      syndrome = rsp.syn;
    end else if (req.lerr && req.lerr_m == wr.mseq) begin
      stand  = Failed;
      status = req.lerr_st;
      rule   = req.lerr_rule;
    end else if (dead_i) begin
      stand = Flush;
    end
  end

  function automatic logic [7:0] cqe_op(input logic [7:0] op);
    case (op)
      bdy_pkg::WQE_OP_WRITE, bdy_pkg::WQE_OP_WRITE_IMM: cqe_op = bdy_pkg::CQE_OP_WRITE;
      bdy_pkg::WQE_OP_READ:                             cqe_op = bdy_pkg::CQE_OP_READ;
      bdy_pkg::WQE_OP_FETCH_ADD:                        cqe_op = bdy_pkg::CQE_OP_FETCH_ADD;
      bdy_pkg::WQE_OP_CMP_SWAP:                         cqe_op = bdy_pkg::CQE_OP_CMP_SWAP;
      bdy_pkg::WQE_OP_BIND1, bdy_pkg::WQE_OP_BIND2:     cqe_op = bdy_pkg::CQE_OP_BIND_MW;
      bdy_pkg::WQE_OP_LOCAL_INV:                        cqe_op = bdy_pkg::CQE_OP_LOCAL_INV;
      default:                                          cqe_op = bdy_pkg::CQE_OP_SEND;
    endcase
  endfunction

  function automatic logic brings(input logic [7:0] op);
    brings = op == bdy_pkg::WQE_OP_READ || op == bdy_pkg::WQE_OP_FETCH_ADD ||
             op == bdy_pkg::WQE_OP_CMP_SWAP;
  endfunction

  logic success, ready_to_fail, need_err, retire, errd;

  // Once a completion in error was written, the rest is flushed whatever became of it (W5).
  assign errd          = ret.errd && !back;
  assign success       = stand == Good && !errd;
  assign ready_to_fail = stand != Waits && !success && dead_i && !engaged;
  assign drained       = empty && !dead_i && req.sqd_on && req.sqd != ret.sqd;
  assign need_err      = !dead_i && (!ret.qperr || back) && (fatal || (!empty && stand == Failed));
  assign retire        = !empty && (success || ready_to_fail);

  always_comb begin
    cqe           = '0;
    cqe.qpn       = 24'(bdy_pkg::QPN_BASE) + 24'(qp_q);
    cqe.op        = cqe_op(wr.op);
    cqe.status    = success ? bdy_pkg::WC_SUCCESS : errd ? bdy_pkg::WC_WR_FLUSH_ERR : status;
    cqe.wqe_index = wr.idx;
    cqe.byte_len  = (success && brings(wr.op)) ? wr.len : 32'd0;
    if (wr.is_op) begin
      cqe.rkey     = result[39:8];
      cqe.executed = executed;
    end
    if (!success && !errd) begin
      cqe.rule     = rule;
      cqe.syndrome = syndrome;
    end
  end

  // ---------------------------------------------------------------- the machine
  logic load_cqe;

  always_comb begin
    st_d        = st_q;
    ret_d       = ret;
    if (back) begin
      ret_d.errd  = 1'b0;
      ret_d.qperr = 1'b0;
    end
    ret_we_o    = 1'b0;
    take_o      = 1'b0;
    again_o     = 1'b0;
    req_kick_o  = 1'b0;
    op_taken_o  = 1'b0;
    cleared_o   = 1'b0;
    err_valid_o = 1'b0;
    load_cqe    = 1'b0;

    case (st_q)
      StIdle: begin
        if (clear_i) begin
          cleared_o = 1'b1;
          ret_d     = '0;
          ret_we_o  = 1'b1;
        end else if (!quiet_i && fl_ready) begin
          if (op_done_i) begin
            op_taken_o = 1'b1;
            st_d       = StFast;
          end else if (pend_any_i) begin
            take_o = 1'b1;
            st_d   = StWords;
          end
        end
      end

      StWords: st_d = StEntry;

      // In StFast the entry read is the one just answered: it counts only if it is the oldest.
      StFast, StEntry: begin
        st_d = StIdle;
        if (st_q == StFast && (empty || ret.wt[3:0] != fast_wr_q)) begin
          again_o = 1'b0;
        end else if (need_err) begin
          err_valid_o = err_free_i;
          again_o     = !err_free_i;
          if (err_free_i) begin
            ret_d.qperr = 1'b1;
            ret_we_o    = 1'b1;
            if (fatal) st_d = StEvent;
          end
        end else if (retire) begin
          ret_d.wt   = ret.wt + 5'd1;
          ret_d.ri   = wr.idx + 16'(wr.slots);
          ret_d.errd = errd || !success;
          ret_we_o   = 1'b1;
          again_o    = 1'b1;
          req_kick_o = 1'b1;
          if (wr.sig || !success) begin
            load_cqe = !lost;
            if (!lost) st_d = StCqe;
          end
        end else if (drained) begin
          ret_d.sqd = req.sqd;
          ret_we_o  = 1'b1;
          st_d      = StEvent;
        end
      end

      StCqe:   if (cqe_ready_i) st_d = StIdle;
      StEvent: if (ev_valid_o && ev_ready_i) st_d = StIdle;
      default: st_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q    <= StIdle;
      fresh_q <= 1'b0;
    end else begin
      st_q    <= st_d;
      fresh_q <= op_taken_o && op_fresh_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (st_q == StIdle) begin
      qp_q        <= rd_qp_o;
      fast_wr_q   <= op_wr_i;
      fresh_res_q <= op_fresh_res_i;
    end
    if (st_q == StEntry || st_q == StFast) drained_q <= !need_err;
    if (load_cqe) begin
      cqe_q <= cqe;
      cqn_q <= wr.scqn;
    end
  end

  // ---------------------------------------------------------------- outputs
  assign qp_o       = qp_q;
  assign rd_qp_o    = (st_q != StIdle) ? qp_q : op_done_i ? op_qp_i : pend_idx_i;
  assign ret_qp_o   = cleared_o ? life_qp_i : qp_q;
  assign ret_o      = ret_d;
  assign wr_rd_o    = (st_q == StIdle) ? {op_qp_i, op_wr_i} :
                      (st_q == StFast) ? {qp_q, fast_wr_q} : {qp_q, ret.wt[3:0]};
  assign idle_o     = st_q == StIdle && !fl_valid;
  assign is_quiet_o = idle_o;

  assign cqe_valid_o = st_q == StCqe;
  assign cqe_cqn_o   = cqn_q;
  assign cqe_o       = cqe_q;

  bdy_pkg::eqe_t ev;
  always_comb begin
    ev        = '0;
    ev.kind   = drained_q ? bdy_pkg::EQE_KIND_SQ_DRAINED : bdy_pkg::EQE_KIND_QP_FATAL;
    ev.number = 24'(bdy_pkg::QPN_BASE) + 24'(qp_q);
  end
  assign ev_valid_o = st_q == StEvent && !fl_valid;  // behind its completions (H16)
  assign err_sqe_o  = req.unrel && !fatal;
  assign ev_o       = ev[63:0];

  logic unused;
  assign unused = ^{fl_count, ev[bdy_pkg::EQE_W-1:64]};

endmodule
