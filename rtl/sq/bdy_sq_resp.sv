// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_resp: the response half: acknowledges, NAKs, READ data and expired timers.
//
//   IDLE > LOAD > WALK - message done by a later PSN: MSGW > WALK ...
//                   +- READ data: [FETCH >] SCAT --+
//                   +- anything else --------------+> FIN > END
//
// A response of PSN p acknowledges every message before it. Walking stops at a READ whose data has
// not come: that is a missing response, the request half is asked to go back to the oldest PSN not
// acknowledged (go-back-N).
//
// The original value of an atomic is data of 8 bytes.
//
// Latency:      acknowledge in to state out 5 cycles, 2 more per message passed.
// Throughput:   one response at a time; a READ response takes as long as its data's way to memory.
// Backpressure: access, memory; never the request half (H13).
// Invariants:   the oldest unacknowledged PSN only moves forward and never beyond what was sent;
//               anything else is a ghost and dropped. READ data lands only if it is the next
//               expected piece, of exactly the expected length.

module bdy_sq_resp #(
  parameter int LogQps = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [63:0]         cycle_i,
  output logic                idle_o,
  output logic                busy_o,
  output logic [LogQps-1:0]   qp_o,

  // Response deframer
  input  logic                hdr_valid_i,
  output logic                hdr_ready_o,
  input  logic [bdy_pkg::PKT_HDR_W-1:0] hdr_i,
  output logic                pkt_done_o,

  // Life
  input  logic [LogQps-1:0]   life_qp_i,
  input  logic                ending_i,     // begin nothing of life_qp_i
  input  logic                clear_i,
  output logic                cleared_o,
  input  logic                init_i,
  output logic                inited_o,
  input  logic                dead_i,       // of qp_o

  // State of qp_o: read one cycle after rd_qp_o, live
  output logic [LogQps-1:0]   rd_qp_o,
  input  logic [bdy_pkg::SQ_RSP_W-1:0] rsp_i,
  input  logic [bdy_pkg::SQ_REQ_W-1:0] req_i,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,
  input  logic [31:0]         gen_i,
  output logic                rsp_we_o,
  output logic [LogQps-1:0]   rsp_qp_o,
  output logic [bdy_pkg::SQ_RSP_W-1:0] rsp_o,
  output logic [LogQps+3:0]   msg_rd_o,
  input  logic [bdy_pkg::SQ_MSG_W-1:0] msg_i,

  // Wake-ups of qp_o
  output logic                req_kick_o,
  output logic                ret_kick_o,

  // Timer
  input  logic                exp_valid_i,
  output logic                exp_ready_o,
  input  logic [LogQps-1:0]   exp_qp_i,
  output logic                tm_valid_o,
  output logic                tm_arm_o,
  output logic [63:0]         tm_at_o,

  // WQE fetcher, for the SGEs of a READ
  output logic                fe_start_o,
  output logic [63:0]         fe_base_o,
  output logic [3:0]          fe_log_o,
  output logic [15:0]         fe_idx_o,
  output logic [3:0]          fe_n_o,
  input  logic                fe_done_i,
  input  logic                fe_err_i,

  // Scatter engine
  output logic                sc_valid_o,
  input  logic                sc_ready_i,
  output logic [4:0]          sc_num_sge_o,
  output logic [31:0]         sc_off_o,
  output logic [12:0]         sc_len_o,
  output logic [23:0]         sc_pd_o,
  output logic [23:0]         sc_qpn_o,
  output logic [31:0]         sc_gen_o,
  input  logic                sc_done_i,
  input  logic [7:0]          sc_rule_i,
  input  logic                sc_stale_i
);

  localparam logic [3:0] StIdle  = 4'd0;
  localparam logic [3:0] StLoad  = 4'd1;
  localparam logic [3:0] StMsgW  = 4'd2;
  localparam logic [3:0] StWalk  = 4'd3;
  localparam logic [3:0] StFetch = 4'd4;
  localparam logic [3:0] StScat  = 4'd5;
  localparam logic [3:0] StMove  = 4'd6;
  localparam logic [3:0] StFin   = 4'd7;
  localparam logic [3:0] StEnd   = 4'd8;
  localparam logic [3:0] StInit  = 4'd9;

  // What FIN has to do beside storing progress.
  localparam logic [2:0] ActNone   = 3'd0;
  localparam logic [2:0] ActRewind = 3'd1;
  localparam logic [2:0] ActRnr    = 3'd2;
  localparam logic [2:0] ActFail   = 3'd3;
  localparam logic [2:0] ActExpire = 3'd4;

  // ---------------------------------------------------------------- what came in
  logic [3:0]        st_q, st_d;
  logic [LogQps-1:0] qp_q;
  logic              is_pkt_q;          // else a timer
  logic [2:0]        tr_q;              // transport, and the operation in RC's numbering
  logic [7:0]        op_q, syn_q;
  logic [23:0]       psn_q;
  logic [12:0]       paylen_q;
  logic              addressed_q;       // QP number and P_Key fit

  // The engine reads a few fields of each.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::pkt_hdr_t hdr;
  bdy_pkg::sq_req_t  req;
  bdy_pkg::qp_ctx0_t ctx0;
  bdy_pkg::sq_msg_t  msg;
  logic [23:0]       hdr_slot;
  // verilator lint_on UNUSEDSIGNAL
  bdy_pkg::sq_rsp_t  cur_q, cur_d, loaded;
  logic [2:0]        act_q, act_d;
  logic              prog_q, prog_d, um_q, um_d, req_kick_q, req_kick_d, begun_q, begun_d;
  logic [7:0]        st_err_q, st_err_d, rule_q, rule_d, syn_err_q, syn_err_d;
  logic              take_pkt, take_exp;

  assign hdr      = hdr_i;
  assign req      = req_i;
  assign ctx0     = ctx0_i;
  assign msg      = msg_i;
  assign loaded   = rsp_i;
  assign hdr_slot = hdr.dest_qp - 24'(bdy_pkg::QPN_BASE);

  assign qp_o    = qp_q;
  assign busy_o  = st_q != StIdle;
  assign idle_o  = st_q == StIdle && !hdr_valid_i;
  assign rd_qp_o = (st_q != StIdle)    ? qp_q :
                   (init_i || clear_i) ? life_qp_i :
                   exp_valid_i         ? exp_qp_i : hdr_slot[LogQps-1:0];

  // ---------------------------------------------------------------- where the PSN falls
  logic [23:0] span, flying, left, k;
  logic        known, here, is_last;
  logic        is_read, is_atomic;          // is_read: data comes back
  logic        is_data, is_result, ends_data, usable, same_transport;

  assign span    = psn_q - cur_q.upsn;
  assign flying  = req.sent - cur_q.upsn;
  assign known   = span < flying;
  assign left    = msg.spsn + msg.npk - cur_q.upsn;   // PSNs left of the oldest message
  assign here  = span < left;
  assign is_atomic = msg.op == bdy_pkg::WQE_OP_FETCH_ADD || msg.op == bdy_pkg::WQE_OP_CMP_SWAP;
  assign is_read = msg.op == bdy_pkg::WQE_OP_READ || is_atomic;
  assign k       = cur_q.upsn - msg.spsn;
  assign is_last = left == 24'd1;
  assign usable  = (ctx0.st == bdy_pkg::QP_ST_RTS || ctx0.st == bdy_pkg::QP_ST_SQD) &&
                   same_transport && !dead_i && !loaded.rerr &&
                   !(ending_i && life_qp_i == qp_q);

  // XRC has RC's opcodes under its own transport; others get no responses.
  always_comb begin
    case (ctx0.kind)
      bdy_pkg::QP_KIND_RC:       same_transport = tr_q == bdy_pkg::BTH_TR_RC || !is_pkt_q;
      bdy_pkg::QP_KIND_XRC_SEND: same_transport = tr_q == bdy_pkg::BTH_TR_XRC || !is_pkt_q;
      default:                   same_transport = 1'b0;
    endcase
  end

  always_comb begin
    is_data   = 1'b0;
    is_result = 1'b0;
    ends_data = 1'b0;
    case (op_q)
      bdy_pkg::BTH_OP_ATOMIC_ACK: begin
        is_result = 1'b1;
        ends_data = 1'b1;
      end
      bdy_pkg::BTH_OP_READ_RESP_FIRST, bdy_pkg::BTH_OP_READ_RESP_MIDDLE: is_data = 1'b1;
      bdy_pkg::BTH_OP_READ_RESP_LAST, bdy_pkg::BTH_OP_READ_RESP_ONLY: begin
        is_data   = 1'b1;
        ends_data = 1'b1;
      end
      default: ;
    endcase
  end

  // ---------------------------------------------------------------- READ data
  logic [3:0]  log_mtu;
  logic [31:0] off, rest, mtu;
  logic [12:0] expected;
  logic        fits;
  logic        in_buf_q;
  logic [LogQps-1:0] buf_qp_q;
  logic [15:0] buf_idx_q;

  assign log_mtu  = 4'd7 + 4'(ctx0.mtu);
  assign mtu      = 32'd1 << log_mtu;
  assign off      = 32'(k) << log_mtu;
  assign rest     = msg.len - off;
  assign expected = (rest > mtu) ? mtu[12:0] : rest[12:0];
  assign fits     = paylen_q == expected && ends_data == is_last;

  // ------------------------------------------------------ meaning of an acknowledge (AETH classes)
  logic is_ack, is_rnr, is_nak;
  logic [7:0] nak_st;
  logic [2:0] nak_act;

  assign is_ack = op_q == bdy_pkg::BTH_OP_ACK && syn_q[7:5] == 3'b000;
  assign is_rnr = op_q == bdy_pkg::BTH_OP_ACK && syn_q[7:5] == 3'b001;
  assign is_nak = op_q == bdy_pkg::BTH_OP_ACK && syn_q[7:5] == 3'b011;

  always_comb begin
    nak_act = ActFail;
    nak_st  = bdy_pkg::WC_REM_OP_ERR;
    case (syn_q)
      bdy_pkg::AETH_NAK_SEQ: nak_act = ActRewind;
      bdy_pkg::AETH_NAK_INV: nak_st = bdy_pkg::WC_REM_INV_REQ_ERR;
      bdy_pkg::AETH_NAK_ACC: nak_st = bdy_pkg::WC_REM_ACCESS_ERR;
      bdy_pkg::AETH_NAK_OP: ;
      default: nak_act = ActNone;
    endcase
    if (is_rnr) nak_act = ActRnr;
  end

  // ---------------------------------------------------------------- FIN: counters, rewind, timer
  logic              rewinding, rewind, retrying, fail_retry, rnr_start, fail_rnr;
  logic              expired, resumed, gap;
  logic              timer_arm, timer_off;
  logic [2:0]        retry, rnr;
  logic [63:0]       rnr_cycles;
  bdy_pkg::sq_rsp_t  fin;

  bdy_sq_rnr u_rnr (.code_i(syn_q[4:0]), .cycles_o(rnr_cycles));

  assign rewinding  = cur_q.rw_req != req.rw_ack;
  assign expired    = act_q == ActExpire && !cur_q.rnrw && flying != '0;
  assign resumed    = act_q == ActExpire && cur_q.rnrw;
  assign gap        = act_q == ActRewind && (prog_q || !cur_q.gap);
  assign retrying   = (gap || expired) && !cur_q.rnrw && !rewinding;
  assign retry      = prog_q ? ctx0.retry_cnt : cur_q.retry;
  assign rnr        = prog_q ? ctx0.rnr_retry : cur_q.rnr;
  assign fail_retry = retrying && retry == '0;
  assign rewind     = (retrying && retry != '0) || (resumed && !rewinding);
  assign fail_rnr   = act_q == ActRnr && !cur_q.rnrw && ctx0.rnr_retry != 3'd7 && rnr == '0;
  assign rnr_start  = act_q == ActRnr && !cur_q.rnrw && !fail_rnr;

  always_comb begin
    fin       = cur_q;
    fin.retry = retry;
    fin.rnr   = rnr;
    if (retrying && retry != '0) fin.retry = retry - 3'd1;
    if (rnr_start && ctx0.rnr_retry != 3'd7) fin.rnr = rnr - 3'd1;
    if (prog_q || expired) fin.gap = 1'b0;
    if (act_q == ActRewind) fin.gap = 1'b1;
    if (rewind) fin.rw_req = !cur_q.rw_req;
    if (rnr_start) fin.rnrw = 1'b1;
    if (resumed) fin.rnrw = 1'b0;
    if (act_q == ActFail || fail_retry || fail_rnr) begin
      fin.rerr = 1'b1;
      fin.st   = fail_retry ? bdy_pkg::WC_RETRY_EXC_ERR :
                 fail_rnr   ? bdy_pkg::WC_RNR_RETRY_EXC_ERR : st_err_q;
      fin.rule = (act_q == ActFail) ? rule_q : bdy_pkg::RULE_NONE;
      fin.syn  = (act_q == ActFail) ? syn_err_q : bdy_pkg::RULE_NONE;
    end
  end

  // A rewind stops the timer; the first packet sent again starts it.
  assign timer_off = fin.rerr || rewind ||
                     (prog_q && !fin.rnrw && (flying == '0 || ctx0.timeout == '0));
  assign timer_arm = !timer_off && (rnr_start || (ctx0.timeout != '0 && !fin.rnrw && flying != '0 &&
                                                  (prog_q || act_q == ActExpire)));
  assign tm_valid_o = st_q == StFin && (timer_off || timer_arm);
  assign tm_arm_o   = timer_arm;
  assign tm_at_o    = cycle_i + (rnr_start ? rnr_cycles : 64'd1024 << ctx0.timeout);

  // ---------------------------------------------------------------- the machine
  always_comb begin
    st_d       = st_q;
    cur_d      = cur_q;
    act_d      = act_q;
    prog_d     = prog_q;
    um_d       = um_q;
    req_kick_d = req_kick_q;
    begun_d   = begun_q;
    st_err_d   = st_err_q;
    rule_d     = rule_q;
    syn_err_d  = syn_err_q;
    take_pkt   = 1'b0;
    take_exp   = 1'b0;
    cleared_o  = 1'b0;
    inited_o   = 1'b0;
    fe_start_o = 1'b0;
    sc_valid_o = 1'b0;

    case (st_q)
      StIdle: begin
        act_d      = ActNone;
        prog_d     = 1'b0;
        um_d       = 1'b0;
        req_kick_d = 1'b0;
        begun_d   = 1'b0;
        rule_d     = bdy_pkg::RULE_NONE;
        syn_err_d  = 8'd0;
        if (clear_i) begin
          cleared_o = 1'b1;
        end else if (init_i) begin
          st_d = StInit;
        end else if (exp_valid_i) begin
          take_exp = 1'b1;
          st_d     = StLoad;
        end else if (hdr_valid_i) begin
          take_pkt = 1'b1;
          st_d     = StLoad;
        end
      end

      StInit: begin
        cur_d       = '0;
        cur_d.upsn  = ctx0.sq_psn;
        cur_d.retry = ctx0.retry_cnt;
        cur_d.rnr   = ctx0.rnr_retry;
        inited_o    = 1'b1;
        st_d        = StIdle;
      end

      StLoad: begin
        cur_d = loaded;
        if (!usable || !addressed_q) begin
          st_d = StEnd;
        end else if (is_pkt_q) begin
          st_d = StMsgW;
        end else begin
          act_d = ActExpire;
          st_d  = StFin;
        end
      end

      StMsgW: st_d = StWalk;

      StWalk: begin
        if (!known) begin
          st_d = prog_q ? StFin : StEnd;
        end else if (!here && !is_read) begin
          cur_d.upsn = msg.spsn + msg.npk;
          cur_d.um   = cur_q.um + 5'd1;
          prog_d     = 1'b1;
          um_d       = 1'b1;
          st_d       = StMsgW;
        end else if (is_read && span != '0) begin
          act_d = ActRewind;  // its data is missing
          st_d  = StFin;
        end else if (is_rnr || is_nak) begin
          prog_d     = prog_q || span != '0;
          cur_d.upsn = psn_q;
          act_d      = nak_act;
          st_err_d   = nak_st;
          syn_err_d  = syn_q;
          st_d       = StFin;
        end else if (is_ack && !is_read) begin
          cur_d.upsn = psn_q + 24'd1;
          prog_d     = 1'b1;
          if (span == left - 24'd1) begin
            cur_d.um = cur_q.um + 5'd1;
            um_d     = 1'b1;
          end
          st_d = StFin;
        end else if (is_read && (is_atomic ? is_result : is_data)) begin
          if (!fits) begin
            act_d    = ActFail;
            st_err_d = bdy_pkg::WC_BAD_RESP_ERR;
            rule_d   = bdy_pkg::RULE_T2;
            st_d     = StFin;
          end else if (expected == '0) begin
            st_d = StMove;
          end else if (in_buf_q && buf_qp_q == qp_q && buf_idx_q == msg.idx) begin
            st_d = StScat;
          end else begin
            fe_start_o = 1'b1;
            st_d       = StFetch;
          end
        end else begin
          st_d = prog_q ? StFin : StEnd;  // ghost
        end
      end

      StFetch: if (fe_done_i) begin
        st_d = StScat;
        if (fe_err_i) begin
          act_d    = ActFail;
          st_err_d = bdy_pkg::WC_LOC_QP_OP_ERR;
          rule_d   = bdy_pkg::RULE_DMA;
          st_d     = StFin;
        end
      end

      StScat: begin
        sc_valid_o = !begun_q;
        if (sc_valid_o && sc_ready_i) begun_d = 1'b1;
        if (sc_done_i) begin
          if (sc_rule_i == bdy_pkg::RULE_NONE) begin
            st_d = StMove;
          end else if (sc_stale_i) begin
            st_d = StEnd;
          end else begin
            act_d    = ActFail;
            st_err_d = bdy_pkg::WC_LOC_PROT_ERR;
            rule_d   = sc_rule_i;
            st_d     = StFin;
          end
        end
      end

      // The piece is in host memory.
      StMove: begin
        cur_d.upsn = cur_q.upsn + 24'd1;
        prog_d     = 1'b1;
        if (is_last) begin
          cur_d.um    = cur_q.um + 5'd1;
          cur_d.rd_dn = cur_q.rd_dn + 5'd1;
          um_d        = 1'b1;
        end
        st_d = StFin;
      end

      StFin: begin
        cur_d      = fin;
        req_kick_d = prog_q || rewind || resumed;
        st_d       = StEnd;
      end

      default: st_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q       <= StIdle;
      prog_q     <= 1'b0;
      um_q       <= 1'b0;
      req_kick_q <= 1'b0;
      begun_q   <= 1'b0;
      is_pkt_q   <= 1'b0;
      act_q      <= ActNone;
      in_buf_q   <= 1'b0;
    end else begin
      st_q       <= st_d;
      prog_q     <= prog_d;
      um_q       <= um_d;
      req_kick_q <= req_kick_d;
      begun_q   <= begun_d;
      act_q      <= act_d;
      if (st_q == StIdle) is_pkt_q <= take_pkt;
      // A message that has ended frees its slots.
      if (fe_start_o || clear_i || (st_q == StMove && is_last)) in_buf_q <= 1'b0;
      else if (st_q == StFetch && st_d == StScat) in_buf_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    cur_q     <= cur_d;
    st_err_q  <= st_err_d;
    rule_q    <= rule_d;
    syn_err_q <= syn_err_d;
    if (st_q == StIdle) begin
      qp_q        <= rd_qp_o;
      tr_q        <= hdr.op[7:5];
      op_q        <= {3'd0, hdr.op[4:0]};
      syn_q       <= hdr.syndrome;
      psn_q       <= hdr.psn;
      paylen_q    <= hdr.paylen;
      addressed_q <= take_exp || (hdr_slot[23:LogQps] == '0 && hdr.pkey[14:0] == 15'h7fff);
    end
    if (fe_start_o) begin
      buf_qp_q  <= qp_q;
      buf_idx_q <= msg.idx;
    end
  end

  // ---------------------------------------------------------------- outputs
  assign hdr_ready_o = take_pkt;
  assign exp_ready_o = take_exp;
  assign pkt_done_o  = st_q == StEnd && is_pkt_q;

  assign rsp_we_o = st_q == StFin || cleared_o || inited_o;
  assign rsp_qp_o = cleared_o ? life_qp_i : qp_q;
  assign rsp_o    = cleared_o ? '0 : cur_d;

  assign msg_rd_o   = {qp_q, cur_q.um[3:0]};
  assign req_kick_o = st_q == StEnd && req_kick_q;
  assign ret_kick_o = st_q == StEnd && (um_q || cur_q.rerr || dead_i);

  assign fe_base_o = ctx0.sq_base;
  assign fe_log_o  = ctx0.sq_log;
  assign fe_idx_o  = msg.idx;
  assign fe_n_o    = msg.slots;

  assign sc_num_sge_o = msg.nsge;
  assign sc_off_o     = off;
  assign sc_len_o     = paylen_q;
  assign sc_pd_o      = ctx0.pd;
  assign sc_qpn_o     = 24'(bdy_pkg::QPN_BASE) + 24'(qp_q);
  assign sc_gen_o     = gen_i;

endmodule
