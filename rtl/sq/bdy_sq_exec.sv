// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_exec: the request half. One job: take a queue pair with work, begin its next work request
// or go on with the message at its transmit pointer, a few packets at most.
//
//   IDLE > LOAD > EVAL -+- new WQE: FETCH > DEC -+- bind, invalidate: bind pipeline, end of job
//                       |                        +- refused: entry with its error, end of job
//                       |                        +- message: [REST >] SUM > SEG
//                       +- message: MSG > [FETCHM >] SEG > PKT > ARM0 > ARM > NEXT > SEG ...
//
// Two pointers (H11): ei, executed, only moves forward; tm/tpsn, transmit, goes back to the oldest
// unacknowledged PSN when the response half asks. A message is sent again from its record; its WQE
// is read again only for SGEs.
//
// Without acknowledges (UC, UD) a message is done when its last packet has gone out, and nothing is
// sent again. From SQE a queue pair comes back when all that was posted before is flushed and
// retired.
//
// Latency:      pending bit to op port 8 cycles with DMA answering in the next cycle: IDLE 1,
//               LOAD 1, EVAL 1, FETCH 4, DEC 1.
// Throughput:   one packet is collected at a time; Burst packets of a queue pair before another one's turn.
// Backpressure: framer, access, memory, op slot. Never waits for the response half.
// Invariants:   a job that can do nothing ends; who changes that (doorbell, answer, acknowledge,
//               retirement, state change) sets the queue pair's pending bit. State is written by
//               this module only.

module bdy_sq_exec #(
  parameter int LogQps = 8,
  parameter int Burst  = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [63:0]         cycle_i,
  output logic                idle_o,
  output logic                busy_o,
  output logic [LogQps-1:0]   qp_o,

  // Schedule
  input  logic                ready_i,      // may begin jobs
  input  logic                pend_any_i,
  input  logic [LogQps-1:0]   pend_idx_i,
  output logic                take_o,
  output logic                again_o,      // pulse at the end of a job: qp_o has more to do
  output logic                ret_kick_o,   // pulse: retirement has to look at qp_o

  // Life
  input  logic [LogQps-1:0]   life_qp_i,
  input  logic                ending_i,     // begin nothing of life_qp_i
  input  logic                clear_i,
  output logic                cleared_o,
  input  logic                init_i,
  input  logic [1:0]          init_why_i,   // InitFirst, InitSqd, InitAgain of bdy_sq_life
  output logic                inited_o,
  output logic                revive_o,     // pulse: qp_o has come back from SQE
  input  logic                dead_i,       // of qp_o
  input  logic                started_i,

  // State of qp_o: read one cycle after rd_qp_o, live
  output logic [LogQps-1:0]   rd_qp_o,
  input  logic [bdy_pkg::SQ_REQ_W-1:0] req_i,
  input  logic [bdy_pkg::SQ_RSP_W-1:0] rsp_i,
  input  logic [bdy_pkg::SQ_RET_W-1:0] ret_i,
  input  logic [15:0]         pi_i,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,
  input  logic [bdy_pkg::QP_CTX1_W-1:0] ctx1_i,
  input  logic [31:0]         gen_i,
  output logic                req_we_o,
  output logic [LogQps-1:0]   req_qp_o,
  output logic [bdy_pkg::SQ_REQ_W-1:0] req_o,

  // Rings
  output logic                wr_we_o,
  output logic [LogQps+3:0]   wr_idx_o,
  output logic [bdy_pkg::SQ_WR_W-1:0]  wr_o,
  output logic                msg_we_o,
  output logic [LogQps+3:0]   msg_idx_o,
  output logic [bdy_pkg::SQ_MSG_W-1:0] msg_o,
  output logic [LogQps+3:0]   msg_rd_o,
  input  logic [bdy_pkg::SQ_MSG_W-1:0] msg_i,

  // Bind pipeline
  input  logic                op_free_i,
  input  logic                hold_i,
  output logic                op_valid_o,
  output logic [bdy_pkg::PROT_OP_W-1:0] op_o,
  output logic [3:0]          op_wr_o,

  // Timer
  output logic                tm_valid_o,
  input  logic                tm_ready_i,
  output logic [63:0]         tm_at_o,

  // WQE fetcher
  output logic                fe_start_o,
  output logic [63:0]         fe_base_o,
  output logic [3:0]          fe_log_o,
  output logic [15:0]         fe_idx_o,
  output logic [3:0]          fe_first_o,
  output logic [3:0]          fe_n_o,
  input  logic                fe_done_i,
  input  logic                fe_err_i,
  input  logic [511:0]        slot0_i,
  output logic [3:0]          sum_idx_o,    // SGE wanted while summing
  output logic                summing_o,
  input  logic [31:0]         sge_len_i,

  // Address handle of a datagram, one cycle after its number
  output logic [31:0]         ah_num_o,
  input  logic                ah_known_i,
  input  logic [bdy_pkg::AH_CTX_W-1:0] ah_i,

  // Packet engine
  output logic                pk_start_o,
  output logic                pk_chk_o,     // atomic: only where its result will go is checked
  output logic [bdy_pkg::PKT_HDR_W-1:0] pk_hdr_o,
  output logic [31:0]         pk_off_o,
  output logic                pk_inl_o,
  output logic [4:0]          pk_num_sge_o,
  output logic [23:0]         pk_pd_o,
  output logic [23:0]         pk_qpn_o,
  output logic [31:0]         pk_gen_o,
  input  logic                pk_idle_i,    // no packet streams out either
  input  logic                pk_taken_i,
  input  logic                pk_done_i,
  input  logic [7:0]          pk_rule_i,
  input  logic                pk_stale_i
);

  localparam logic [3:0] StIdle   = 4'd0;
  localparam logic [3:0] StLoad   = 4'd1;
  localparam logic [3:0] StEval   = 4'd2;
  localparam logic [3:0] StFetch  = 4'd3;
  localparam logic [3:0] StDec    = 4'd4;
  localparam logic [3:0] StRest   = 4'd5;
  localparam logic [3:0] StSum    = 4'd6;
  localparam logic [3:0] StMsg    = 4'd7;
  localparam logic [3:0] StFetchM = 4'd8;
  localparam logic [3:0] StSeg    = 4'd9;
  localparam logic [3:0] StPkt    = 4'd10;
  localparam logic [3:0] StArm0   = 4'd11;
  localparam logic [3:0] StArm    = 4'd12;
  localparam logic [3:0] StNext   = 4'd13;
  localparam logic [3:0] StInit   = 4'd14;

  localparam logic [36:0] MaxLen  = 37'd1 << bdy_pkg::MAX_MSG_LOG;
  localparam logic [24:0] Window  = 25'd1 << 23;  // T3: behind that an old PSN looks new
  // A flushed bind or invalidate asks for the window's present key (H12) by a bind that P8 refuses,
  // whatever the window's state.
  localparam logic [7:0]  ProbeRights = 8'h80;
  localparam logic [36:0] MaxDgram = 37'd4096;  // U3
  localparam int          BurstW  = $clog2(Burst + 1);

  // ---------------------------------------------------------------- state of the job
  logic [3:0]        st_q, st_d;
  logic [LogQps-1:0] qp_q;
  bdy_pkg::sq_req_t  cur_q, cur_d;
  bdy_pkg::sq_msg_t  msg_q, msg_d, ring_msg;
  logic [36:0]       sum_q;
  logic [4:0]        sge_q;
  logic [BurstW-1:0] burst_q;
  logic              fin_q, kick_q, kick_d, commit, leave, again;
  logic              in_buf_q;               // the fetcher's buffer holds a whole WQE:
  logic [LogQps-1:0] buf_qp_q;
  logic [15:0]       buf_idx_q;

  // A job reads a few fields of each.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::sq_rsp_t  rsp;
  bdy_pkg::sq_ret_t  ret;
  bdy_pkg::qp_ctx0_t ctx0;
  bdy_pkg::wqe_t     wqe;
  bdy_pkg::ah_ctx_t  ah;
  // verilator lint_on UNUSEDSIGNAL

  assign rsp      = rsp_i;
  assign ret      = ret_i;
  assign ctx0     = ctx0_i;
  assign wqe      = slot0_i;
  assign ah       = ah_i;
  assign ring_msg = msg_i;

  assign qp_o    = qp_q;
  assign busy_o  = st_q != StIdle;
  assign idle_o  = st_q == StIdle;
  assign rd_qp_o = (st_q != StIdle) ? qp_q : init_i ? life_qp_i : pend_idx_i;

  // ---------------------------------------------------------------- what may happen
  // Ring arithmetic modulo 32 and 2^16.
  logic [4:0]  ahead, used, reads;
  logic [15:0] posted, undone, ring, bound;
  logic [23:0] late;
  logic        ending, behind, resync, room, bad_pi, more, sendable, in_rts, may_send;
  logic        may_start, has_msg, back, dgram;

  // An acknowledge may overtake a transmit pointer that was set back.
  assign ahead  = rsp.um - cur_q.tm;
  assign late   = rsp.upsn - cur_q.tpsn;
  assign behind = cur_q.unrel   ? 1'b0 :
                  (ahead != '0) ? (ahead < 5'd16 || (ahead == 5'd16 && rsp.um == cur_q.mh))
                                : (cur_q.tm != cur_q.mh && late != '0 && late < 24'h80_0000);
  assign resync = behind || rsp.rw_req != cur_q.rw_ack;

  assign used   = cur_q.wh - ret.wt;
  assign room   = used != 5'd16;
  assign reads  = cur_q.rd_al - rsp.rd_dn;

  // H23: retired <= executed <= posted <= retired + ring.
  assign ring   = 16'd1 << ctx0.sq_log;
  assign posted = pi_i - ret.ri;
  assign undone = cur_q.ei - ret.ri;
  assign bad_pi = posted > ring || undone > posted;
  assign bound  = (dead_i && cur_q.rv) ? cur_q.rvi : pi_i;  // flushing ends there
  assign more   = bound != cur_q.ei && !cur_q.viol;

  assign in_rts   = ctx0.st == bdy_pkg::QP_ST_RTS;
  assign sendable = in_rts || ctx0.st == bdy_pkg::QP_ST_SQD;
  assign ending   = ending_i && life_qp_i == qp_q;
  assign may_send = sendable && !dead_i && !ending && started_i && !rsp.rerr && !rsp.rnrw;
  assign may_start = may_send && in_rts && !cur_q.stop && !hold_i;
  assign back     = cur_q.rv && dead_i && in_rts && !ending && cur_q.ei == cur_q.rvi &&
                    cur_q.wh == ret.wt;
  assign dgram    = ctx0.kind == bdy_pkg::QP_KIND_UD;
  assign has_msg  = cur_q.tm != cur_q.mh && !(cur_q.lerr && cur_q.tm == cur_q.lerr_m);

  // ---------------------------------------------------------------- decode
  logic       torn, bad, is_op, is_read, rd_wait, fence_wait, no_rd;
  logic [7:0] dec_rule;
  logic [3:0] skip;

  bdy_sq_decode u_decode (
    .slot0_i,
    .kind_i(ctx0.kind),
    .idx_i(cur_q.ei),
    .avail_i(bound - cur_q.ei),
    .torn_o(torn),
    .bad_o(bad),
    .rule_o(dec_rule),
    .is_op_o(is_op),
    .is_read_o(is_read),
    .skip_o(skip)
  );

  assign fence_wait = wqe.fence && reads != '0;              // O5
  assign no_rd      = is_read && ctx0.max_rd == '0;
  assign rd_wait    = is_read && reads >= ctx0.max_rd;       // T7

  // ---------------------------------------------------------------- message of a new WQE
  logic [31:0] len;
  logic [32:0] mtu_less_1, rounded;
  logic [3:0]  log_mtu;
  logic [23:0] packets;

  assign log_mtu    = dgram ? 4'd12 : 4'd7 + 4'(ctx0.mtu);
  assign len        = sum_q[31:0];
  assign mtu_less_1 = (33'd1 << log_mtu) - 33'd1;
  assign rounded    = ({1'b0, len} + mtu_less_1) >> log_mtu;
  assign packets    = (len == '0) ? 24'd1 : rounded[23:0];

  // ---------------------------------------------------------------- packet at the transmit pointer
  logic [bdy_pkg::PKT_HDR_W-1:0] hdr;
  logic [31:0] off;
  logic        fin;
  logic [23:0] span, next_psn;
  logic [24:0] reach;

  bdy_sq_seg u_seg (
    .msg_i(msg_q),
    .psn_i(cur_q.tpsn),
    .ctx0_i, .ctx1_i,
    .qpn_i(pk_qpn_o),
    .ah_i,
    .hdr_o(hdr),
    .off_o(off),
    .fin_o(fin),
    .span_o(span),
    .next_o(next_psn)
  );

  logic [23:0] flying;
  assign flying = cur_q.tpsn - rsp.upsn;
  assign reach  = {1'b0, flying} + {1'b0, span};

  // The packet engine needs them stable while the pointers move.
  logic [bdy_pkg::PKT_HDR_W-1:0] hdr_q;
  logic [31:0]                   off_q;
  logic [23:0]                   next_q;
  logic                          seg_fin_q;

  // ---------------------------------------------------------------- entry of the work request ring
  logic             al, al_msg, al_op;
  logic [7:0]       al_st, al_rule;
  logic [3:0]       al_slots;
  bdy_pkg::sq_wr_t  entry;
  bdy_pkg::sq_msg_t fresh;
  bdy_pkg::prot_op_t op;

  always_comb begin
    entry        = '0;
    entry.op     = wqe.op;
    entry.idx    = cur_q.ei;
    entry.slots  = al_slots;
    entry.is_msg = al_msg;
    entry.is_op  = al_op;
    entry.sig    = wqe.signaled || ctx0.sig_all;
    entry.mseq   = cur_q.mh;
    entry.st     = al_st;
    entry.rule   = al_rule;
    entry.len    = len;
    entry.scqn   = ctx0.scqn;
  end

  always_comb begin
    fresh          = '0;
    fresh.op       = wqe.op;
    fresh.slots    = wqe.slots;
    fresh.nsge     = wqe.num_sge;
    fresh.inl      = wqe.inl;
    fresh.se       = wqe.solicited;
    fresh.imm      = (wqe.op == bdy_pkg::WQE_OP_SEND_INV) ? wqe.inv_key : wqe.imm;
    fresh.spsn     = cur_q.npsn;
    fresh.npk      = packets;
    fresh.idx      = cur_q.ei;
    fresh.va       = wqe.addr;
    fresh.rkey     = wqe.rkey;
    fresh.len      = len;
    fresh.swap_add = wqe.w6;
    fresh.cmp      = wqe.w7;
    fresh.xrc_srqn = wqe.xrc_srqn;
  end

  // Verbs and the bind pipeline number binds alike, from different bases.
  function automatic logic [7:0] prot_of(input logic [7:0] wqe_op);
    case (wqe_op)
      bdy_pkg::WQE_OP_BIND1: prot_of = bdy_pkg::PROT_OP_BIND1;
      bdy_pkg::WQE_OP_BIND2: prot_of = bdy_pkg::PROT_OP_BIND2;
      default:               prot_of = bdy_pkg::PROT_OP_LOCAL_INV;
    endcase
  endfunction

  always_comb begin
    op     = '0;
    op.op  = prot_of(wqe.op);
    op.key = wqe.inv_key;
    op.pd  = ctx0.pd;
    op.qpn = pk_qpn_o;
    if (dead_i) begin
      op.op     = bdy_pkg::PROT_OP_BIND1;
      op.rights = ProbeRights;
    end else if (wqe.op != bdy_pkg::WQE_OP_LOCAL_INV) begin
      op.rights  = wqe.rights;
      op.new_key = wqe.new_key;
      op.mr_key  = wqe.rkey;
      op.addr    = wqe.addr;
      op.len     = wqe.w4;
    end
  end

  // ---------------------------------------------------------------- the job
  always_comb begin
    st_d       = st_q;
    cur_d      = cur_q;
    msg_d      = msg_q;
    kick_d     = kick_q;
    commit     = 1'b0;
    leave      = 1'b0;
    again      = 1'b0;
    al         = 1'b0;
    al_msg     = 1'b0;
    al_op      = 1'b0;
    al_st      = bdy_pkg::WC_SUCCESS;
    al_rule    = bdy_pkg::RULE_NONE;
    al_slots   = wqe.slots;
    take_o     = 1'b0;
    cleared_o  = 1'b0;
    inited_o   = 1'b0;
    revive_o   = 1'b0;
    fe_start_o = 1'b0;
    fe_idx_o   = cur_q.ei;
    fe_first_o = 4'd0;
    fe_n_o     = 4'd1;
    pk_start_o = 1'b0;
    tm_valid_o = 1'b0;

    case (st_q)
      StIdle: begin
        kick_d = 1'b0;
        if (clear_i) begin
          cleared_o = pk_idle_i;
        end else if (init_i) begin
          st_d = StInit;
        end else if (ready_i && pend_any_i && op_free_i) begin
          take_o = 1'b1;
          st_d   = StLoad;
        end
      end

      StInit: begin
        cur_d = req_i;
        case (init_why_i)
          2'd0: begin
            cur_d       = '0;
            cur_d.npsn  = ctx0.sq_psn;
            cur_d.tpsn  = ctx0.sq_psn;
            cur_d.sent  = ctx0.sq_psn;
            cur_d.unrel = dgram || ctx0.kind == bdy_pkg::QP_KIND_UC;
          end
          2'd1: begin
            cur_d.sqd    = !ret.sqd;
            cur_d.sqd_on = ctx0.sqd_event;
          end
          default: begin
            cur_d.sqd_on = 1'b0;
            cur_d.rv     = dead_i;
            cur_d.rvi    = pi_i;
          end
        endcase
        commit     = 1'b1;
        inited_o   = 1'b1;
        st_d       = StIdle;
      end

      StLoad: begin
        cur_d = req_i;
        st_d  = StEval;
      end

      StEval: begin
        if (back) begin
          cur_d.rv   = 1'b0;
          cur_d.stop = 1'b0;
          cur_d.lerr = 1'b0;
          cur_d.tm   = cur_q.mh;
          cur_d.tpsn = cur_q.npsn;
          cur_d.sent = cur_q.npsn;
          commit     = 1'b1;
          revive_o   = 1'b1;
          again      = 1'b1;
          leave      = 1'b1;
        end else if (may_send && resync) begin
          cur_d.tm     = rsp.um;
          cur_d.tpsn   = rsp.upsn;
          cur_d.rw_ack = rsp.rw_req;
          commit       = 1'b1;
        end else if (may_send && has_msg) begin
          st_d = StMsg;
        end else if (more && room && !ending && (dead_i || may_start)) begin
          if (bad_pi) begin
            cur_d.viol = 1'b1;
            commit     = 1'b1;
            kick_d     = 1'b1;
            leave      = 1'b1;
          end else begin
            fe_start_o = 1'b1;
            st_d       = StFetch;
          end
        end else begin
          leave = 1'b1;
        end
      end

      StFetch: if (fe_done_i) begin
        if (!fe_err_i) begin
          st_d = StDec;
        end else begin
          // The ring cannot be read: this work request fails, nothing behind it can be told apart.
          if (!dead_i) begin
            al       = 1'b1;
            al_st    = bdy_pkg::WC_LOC_QP_OP_ERR;
            al_rule  = bdy_pkg::RULE_DMA;
            al_slots = 4'd1;
          end
          cur_d.stop = 1'b1;
          cur_d.ei   = dead_i ? bound : cur_q.ei + 16'd1;
          commit     = 1'b1;
          leave      = 1'b1;
        end
      end

      StDec: begin
        if (dead_i) begin
          // Flush: slots that start no WQE are passed over; binds ask for the present key (H12).
          cur_d.ei = cur_q.ei + 16'(skip);
          al       = !torn;
          al_op    = !bad && is_op;
          al_st    = bdy_pkg::WC_WR_FLUSH_ERR;
          al_slots = skip;
          commit   = 1'b1;
          again    = 1'b1;
          leave    = 1'b1;
        end else if (bad || no_rd) begin
          al         = 1'b1;
          al_st      = bdy_pkg::WC_LOC_QP_OP_ERR;
          al_rule    = bad ? dec_rule : bdy_pkg::RULE_T7;
          al_slots   = skip;
          cur_d.stop = 1'b1;
          cur_d.ei   = cur_q.ei + 16'(skip);
          commit     = 1'b1;
          leave      = 1'b1;
        end else if (fence_wait || rd_wait) begin
          leave = 1'b1;  // the end of a READ wakes
        end else if (is_op) begin
          al       = 1'b1;
          al_op    = 1'b1;
          cur_d.ei = cur_q.ei + 16'(wqe.slots);
          commit   = 1'b1;
          leave    = 1'b1;
        end else if (wqe.slots != 4'd1) begin
          fe_start_o = 1'b1;
          fe_first_o = 4'd1;
          fe_n_o     = wqe.slots - 4'd1;
          st_d       = StRest;
        end else begin
          st_d = StSum;
        end
      end

      StRest: if (fe_done_i) begin
        st_d = StSum;
        if (fe_err_i) begin
          al         = 1'b1;
          al_st      = bdy_pkg::WC_LOC_QP_OP_ERR;
          al_rule    = bdy_pkg::RULE_DMA;
          cur_d.stop = 1'b1;
          cur_d.ei   = cur_q.ei + 16'(wqe.slots);
          commit     = 1'b1;
          leave      = 1'b1;
        end
      end

      // One SGE a cycle; sge_q counts them.
      StSum: if (wqe.inl || sge_q == wqe.num_sge) begin
        al       = 1'b1;
        cur_d.ei = cur_q.ei + 16'(wqe.slots);
        commit   = 1'b1;
        if (sum_q > (dgram ? MaxDgram : MaxLen)) begin
          al_st      = bdy_pkg::WC_LOC_LEN_ERR;
          al_rule    = dgram ? bdy_pkg::RULE_U3 : bdy_pkg::RULE_A14;
          cur_d.stop = 1'b1;
          leave      = 1'b1;
        end else begin
          al_msg     = 1'b1;
          msg_d      = fresh;
          cur_d.mh   = cur_q.mh + 5'd1;
          cur_d.npsn = cur_q.npsn + packets;
          if (is_read) cur_d.rd_al = cur_q.rd_al + 5'd1;
          st_d       = StSeg;
        end
      end

      StMsg: begin
        msg_d = ring_msg;
        st_d  = StSeg;
        if (ring_msg.op != bdy_pkg::WQE_OP_READ && ring_msg.len != '0 &&
            !(in_buf_q && buf_qp_q == qp_q && buf_idx_q == ring_msg.idx)) begin
          fe_start_o = 1'b1;
          fe_idx_o   = ring_msg.idx;
          fe_n_o     = ring_msg.slots;
          st_d       = StFetchM;
        end
      end

      StFetchM: if (fe_done_i) begin
        st_d = StSeg;
        if (fe_err_i) begin
          cur_d.lerr      = 1'b1;
          cur_d.lerr_m    = cur_q.tm;
          cur_d.lerr_st   = bdy_pkg::WC_LOC_QP_OP_ERR;
          cur_d.lerr_rule = bdy_pkg::RULE_DMA;
          cur_d.stop      = 1'b1;
          commit          = 1'b1;
          leave           = 1'b1;
        end
      end

      StSeg: begin
        if (!may_send) begin
          leave = 1'b1;
        end else if (resync) begin
          st_d = StEval;
        end else if (reach > Window && !cur_q.unrel) begin
          leave = 1'b1;  // acknowledges wake
        end else if (dgram && (!ah_known_i || ah.pd != ctx0.pd)) begin
          cur_d.lerr      = 1'b1;
          cur_d.lerr_m    = cur_q.tm;
          cur_d.lerr_st   = bdy_pkg::WC_LOC_QP_OP_ERR;
          cur_d.lerr_rule = bdy_pkg::RULE_U4;
          cur_d.stop      = 1'b1;
          commit          = 1'b1;
          leave           = 1'b1;
        end else begin
          pk_start_o = 1'b1;
          st_d       = StPkt;
        end
      end

      StPkt: begin
        if (pk_taken_i) begin
          if (cur_q.sent == cur_q.tpsn) cur_d.sent = next_q;
          if (seg_fin_q) cur_d.tm = cur_q.tm + 5'd1;
          if (seg_fin_q && cur_q.unrel) kick_d = 1'b1;
          cur_d.tpsn = next_q;
          commit     = 1'b1;
        end
        if (pk_done_i) begin
          if (pk_rule_i == bdy_pkg::RULE_NONE) begin
            st_d = StArm0;
          end else if (pk_stale_i) begin
            leave = 1'b1;
          end else if (behind) begin
            st_d = StEval;  // acknowledged meanwhile: its buffer may be gone, nobody waits for it
          end else begin
            cur_d.lerr      = 1'b1;
            cur_d.lerr_m    = cur_q.tm;
            cur_d.lerr_st   = bdy_pkg::WC_LOC_PROT_ERR;
            cur_d.lerr_rule = pk_rule_i;
            cur_d.stop      = 1'b1;
            commit          = 1'b1;
            leave           = 1'b1;
          end
        end
      end

      // The response half sees `sent` before the timer is armed: it cannot disarm for an older one.
      StArm0: st_d = StArm;

      StArm: begin
        tm_valid_o = ctx0.timeout != '0 && !dead_i && !cur_q.unrel && cur_q.sent != rsp.upsn;
        // The response half goes first: it may just have acknowledged everything.
        st_d       = (tm_valid_o && !tm_ready_i) ? StArm0 : StNext;
      end

      StNext: begin
        if (fin_q || (pend_any_i && burst_q == BurstW'(Burst))) begin
          leave = 1'b1;
          again = 1'b1;
        end else begin
          st_d = StSeg;
        end
      end

      default: st_d = StIdle;
    endcase

    if (al) begin
      cur_d.wh = cur_q.wh + 5'd1;
      if (!al_msg) kick_d = kick_d || !al_op;
    end
    if (commit && cur_d.lerr != cur_q.lerr) kick_d = 1'b1;
    if (leave) st_d = StIdle;
  end

  assign again_o    = leave && again;
  assign ret_kick_o = leave && (kick_d || dead_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q      <= StIdle;
      kick_q    <= 1'b0;
      in_buf_q  <= 1'b0;
    end else begin
      st_q   <= st_d;
      kick_q <= kick_d;
      if (fe_start_o || clear_i) in_buf_q <= 1'b0;
      else if ((st_q == StSum || st_q == StFetchM) && st_d == StSeg) in_buf_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (st_q == StIdle) qp_q <= rd_qp_o;
    cur_q <= cur_d;
    msg_q <= msg_d;
    if (st_q == StSum || st_q == StFetchM) begin
      buf_qp_q  <= qp_q;
      buf_idx_q <= msg_d.idx;
    end
    if (st_q == StDec) begin
      sge_q <= '0;
      sum_q <= wqe.inl ? 37'(wqe.inl_len) : '0;
    end else if (st_q == StSum && sge_q != wqe.num_sge) begin
      sge_q <= sge_q + 5'd1;
      sum_q <= sum_q + 37'(sge_len_i);
    end
    if (st_q == StSeg) begin
      hdr_q     <= hdr;
      off_q     <= off;
      next_q    <= next_psn;
      seg_fin_q <= fin;
    end
    if (st_q == StLoad) burst_q <= '0;
    else if (pk_taken_i) burst_q <= burst_q + BurstW'(1);
    if (pk_taken_i) fin_q <= seg_fin_q;
  end

  logic unused;
  assign unused = ^rounded[32:24];  // a message has at most 2^23 packets

  // ---------------------------------------------------------------- outputs
  assign req_we_o = commit || cleared_o;
  assign req_qp_o = cleared_o ? life_qp_i : qp_q;
  assign req_o    = cleared_o ? '0 : cur_d;

  assign wr_we_o  = al;
  assign wr_idx_o = {qp_q, cur_q.wh[3:0]};
  assign wr_o     = entry;

  assign msg_we_o  = al && al_msg;
  assign msg_idx_o = {qp_q, cur_q.mh[3:0]};
  assign msg_o     = fresh;
  assign msg_rd_o  = {qp_q, cur_q.tm[3:0]};

  assign op_valid_o = al && al_op;
  assign op_o       = op;
  assign op_wr_o    = cur_q.wh[3:0];

  assign tm_at_o = cycle_i + (64'd1024 << ctx0.timeout);

  assign fe_base_o = ctx0.sq_base;
  assign fe_log_o  = ctx0.sq_log;

  assign summing_o = st_q == StSum;
  assign sum_idx_o = sge_q[3:0];

  assign pk_hdr_o     = (st_q == StSeg) ? hdr : hdr_q;
  assign pk_off_o     = (st_q == StSeg) ? off : off_q;
  assign ah_num_o = (st_q == StDec || st_q == StRest || st_q == StSum) ? wqe.rkey : msg_d.rkey;

  assign pk_chk_o     = msg_q.op == bdy_pkg::WQE_OP_FETCH_ADD ||
                        msg_q.op == bdy_pkg::WQE_OP_CMP_SWAP;
  assign pk_inl_o     = msg_q.inl;
  assign pk_num_sge_o = msg_q.nsge;
  assign pk_pd_o      = ctx0.pd;
  assign pk_qpn_o     = 24'(bdy_pkg::QPN_BASE) + 24'(qp_q);
  assign pk_gen_o     = gen_i;

endmodule
