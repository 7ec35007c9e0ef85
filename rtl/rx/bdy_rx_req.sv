// SPDX-License-Identifier: Apache-2.0
//
// bdy_rx_req: the request engine: checks and executes request packets in order, one at a time (H7, H14), flushes receive
// queues and answers queue pair events.
//
//   IDLE ─ event ──► EV ─► drop READs ─► [RESET: wait until nothing is owed] ─► acknowledge
//        ─ flush ──► FL ─► peek ─► pop ─► CQE FLUSH
//        ─ packet ─► PK ─► DO ─┬► drop
//                              ├► answer: ACK again, NAK sequence                                    ─► ANSWER
//                              ├► READ: to the response queue                                        ─► READ ─► UPDATE
//                              ├► SEND, WRITE: [receive WQE] ─► [scatter] ─► [pop, CQE] ─► UPDATE [─► ANSWER]
//                              └► refusal: [pop, CQE] ─► NAK ─► note the queue pair's end              ─► FAIL…
//
// Purpose: see the picture. A SEND, a WRITE or a refusal waits until the queue pair's earlier READs have been fetched (H14);
//   meanwhile the packet is put aside and looked at again, so that events and flushes go on.
// Latency: packet to verdict 3 cycles, then memory.
// Throughput: one packet at a time.
// Backpressure: packets wait here; the response queue takes commands without waiting for responses (H13).
// Invariants: state moves at the end of a packet only; the CQE is in host memory before its ACK is queued; the WQE is popped
//   before its CQE is written, so software never sees a full ring that it has just emptied.

module bdy_rx_req #(
  parameter int LogQps = 8
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [63:0]                   cycle_i,

  // Request deframer
  input  logic                          hdr_valid_i,
  output logic                          hdr_ready_o,
  input  logic [bdy_pkg::PKT_HDR_W-1:0] hdr_i,
  output logic                          pkt_done_o,

  // Queue pair context and events
  output logic [LogQps-1:0]             ctx_idx_o,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,
  input  logic [31:0]                   ctx_gen_i,
  input  logic                          qpev_valid_i,
  input  logic [LogQps-1:0]             qpev_idx_i,
  input  logic [2:0]                    qpev_st_i,
  input  logic                          qpev_bump_i,
  output logic                          qpev_ack_o,

  // Scatter
  output logic                          sc_valid_o,
  input  logic                          sc_ready_i,
  output logic [4:0]                    sc_num_sge_o,
  output logic [31:0]                   sc_off_o,
  output logic [12:0]                   sc_len_o,
  output logic                          sc_local_o,
  output logic [7:0]                    sc_rights_o,
  output logic [23:0]                   sc_pd_o,
  output logic [23:0]                   sc_qpn_o,
  output logic [31:0]                   sc_gen_o,
  output logic [31:0]                   sc_chk_len_o,
  output logic [bdy_pkg::SGE_W-1:0]     sc_range_o,      // the WRITE's range, SGE 0 of a remote scatter
  input  logic                          sc_done_i,
  input  logic [7:0]                    sc_rule_i,
  input  logic                          sc_stale_i,

  // Receive queue (bdy_rq)
  output logic                          rq_valid_o,
  output logic [1:0]                    rq_op_o,
  output logic [LogQps-1:0]             rq_idx_o,
  output logic [63:0]                   rq_base_o,
  output logic [3:0]                    rq_log_o,
  output logic [1:0]                    rq_log_stride_o,
  input  logic                          rq_rsp_valid_i,
  input  logic                          rq_rsp_empty_i,
  input  logic [7:0]                    rq_rsp_rule_i,
  input  logic [15:0]                   rq_rsp_index_i,
  input  logic [4:0]                    rq_rsp_num_sge_i,
  input  logic [31:0]                   rq_rsp_total_i,
  output logic                          rq_pop_valid_o,
  output logic [LogQps-1:0]             rq_pop_idx_o,
  output logic                          rq_clr_valid_o,
  input  logic                          rq_clr_ready_i,
  output logic [LogQps-1:0]             rq_clr_idx_o,
  input  logic                          err_post_valid_i,
  input  logic [LogQps-1:0]             err_post_idx_i,

  // Completion queue
  output logic                          cqe_valid_o,
  input  logic                          cqe_ready_i,
  output logic [23:0]                   cqe_cqn_o,
  output logic [bdy_pkg::CQE_W-1:0]     cqe_o,
  input  logic                          cqe_done_i,
  input  logic                          cqe_err_i,

  // Response queue
  output logic                          cmd_valid_o,
  input  logic                          cmd_ready_i,
  output logic [1:0]                    cmd_op_o,
  output logic [LogQps-1:0]             cmd_idx_o,
  output logic [23:0]                   cmd_psn_o,
  output logic [23:0]                   cmd_msn_o,
  output logic [7:0]                    cmd_syn_o,
  output logic [31:0]                   cmd_arrival_o,
  output logic [63:0]                   cmd_va_o,
  output logic [31:0]                   cmd_rkey_o,
  output logic [31:0]                   cmd_len_o,
  output logic                          cmd_dup_o,
  output logic [4:0]                    cmd_limit_o,
  input  logic                          cmd_over_i,
  input  logic                          cmd_full_i,
  input  logic [(1<<LogQps)-1:0]        reads_i,
  input  logic [(1<<LogQps)-1:0]        owes_i,
  input  logic [1:0]                    sending_i,
  input  logic [2*LogQps-1:0]           sending_idx_i,

  // Ends of queue pairs: ours, and those that the response engine notes
  output logic                          fatal_valid_o,
  input  logic                          fatal_ready_i,
  output logic [LogQps-1:0]             fatal_idx_o,
  output logic [7:0]                    fatal_ev_o,
  output logic [7:0]                    fatal_rule_o,
  input  logic                          resp_fatal_i,
  input  logic [LogQps-1:0]             resp_fatal_idx_i,
  output logic                          kill_valid_o,
  output logic [LogQps-1:0]             kill_idx_o,
  input  logic                          ending_i,        // the operation that ends this queue pair is under way
  input  logic [LogQps-1:0]             ending_idx_i,

  // Counters, pulses
  output logic                          cnt_unknown_qp_o,
  output logic                          cnt_bad_state_o,
  output logic                          cnt_bad_pkey_o,
  output logic                          cnt_duplicate_o,
  output logic                          cnt_out_of_seq_o,
  output logic                          cnt_rnr_o,
  output logic                          cnt_stale_o,
  output logic                          cnt_refused_o,
  output logic [7:0]                    cnt_refused_rule_o,
  output logic                          idle_o
);

  localparam int Qps = 1 << LogQps;

  localparam logic [4:0] StIdle = 5'd0;
  localparam logic [4:0] StEvent = 5'd1;
  localparam logic [4:0] StEvDrop = 5'd2;
  localparam logic [4:0] StEvWait = 5'd3;
  localparam logic [4:0] StFlush = 5'd4;
  localparam logic [4:0] StFlPeek = 5'd5;
  localparam logic [4:0] StPacket = 5'd6;
  localparam logic [4:0] StDo = 5'd7;
  localparam logic [4:0] StRq = 5'd8;
  localparam logic [4:0] StStart = 5'd9;
  localparam logic [4:0] StMove = 5'd10;
  localparam logic [4:0] StPop = 5'd11;
  localparam logic [4:0] StCqe = 5'd12;
  localparam logic [4:0] StCqeDone = 5'd13;
  localparam logic [4:0] StRead = 5'd14;
  localparam logic [4:0] StUpdate = 5'd15;
  localparam logic [4:0] StAnswer = 5'd16;
  localparam logic [4:0] StFail = 5'd17;
  localparam logic [4:0] StFailNote = 5'd18;
  localparam logic [4:0] StSettle = 5'd19;

  localparam logic [1:0] RqPeek = 2'd0;
  localparam logic [1:0] RqGet = 2'd1;
  localparam logic [1:0] RqLoad = 2'd2;

  localparam logic [1:0] CmdAnswer = 2'd0;
  localparam logic [1:0] CmdRead = 2'd1;
  localparam logic [1:0] CmdDrop = 2'd2;

  localparam logic [1:0] SeqNone = 2'd0;
  localparam logic [1:0] SeqSend = 2'd1;
  localparam logic [1:0] SeqWrite = 2'd2;

  // ---------------------------------------------------------------- state
  logic [4:0]        st_q;
  logic [LogQps-1:0] idx_q, idx_d;
  logic              flush_turn_q;          // flushes and packets take turns
  logic              held_q;                // a packet is here
  logic              over_q;                // it is a READ beyond the limit (T7), found earlier
  logic [31:0]       gen_q;

  logic [Qps-1:0]    live_q, dead_q, flush_q;
  logic              flush_any;
  logic [LogQps-1:0] flush_first;

  // A packet has more fields than a responder reads, a context more than this half needs.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::pkt_hdr_t hdr_q;
  bdy_pkg::qp_ctx0_t ctx;
  // verilator lint_on UNUSEDSIGNAL
  assign ctx = ctx0_i;

  // Record of a queue pair's receive side.
  localparam int RecW = 24 + 24 + 2 + 1 + 5 + 32 + 32 + 64 + 32 + 32 + 64 + 16;
  logic [RecW-1:0] rec, rec_d;
  logic            rec_wr;
  logic [23:0]     epsn, msn, epsn_d, msn_d;
  logic [1:0]      seq, seq_d;
  logic            nak_sent, nak_sent_d;    // a NAK for epsn left: gaps stay silent until recovery (T3)
  logic [4:0]      num_sge, num_sge_d;      // SEND: of its receive WQE
  logic [31:0]     total, total_d;          // SEND: room of its receive WQE
  logic [31:0]     off, off_d;              // bytes of the message so far
  logic [63:0]     wr_va, wr_va_d;          // WRITE: its range and key
  logic [31:0]     wr_rkey, wr_rkey_d, wr_len, wr_len_d;
  logic [63:0]     live_at, live_at_d;
  logic [15:0]     wqe, wqe_d;              // SEND: index of its receive WQE

  assign {epsn, msn, seq, nak_sent, num_sge, total, off, wr_va, wr_rkey, wr_len, live_at, wqe} = rec;
  assign rec_d = {epsn_d, msn_d, seq_d, nak_sent_d, num_sge_d, total_d, off_d, wr_va_d, wr_rkey_d, wr_len_d, live_at_d,
                  wqe_d};

  bdy_ram_sdp #(.Width(RecW), .Depth(Qps)) u_records (
    .clk_i, .wr_en_i(rec_wr), .wr_lane_i(1'b1), .wr_addr_i(idx_q), .wr_data_i(rec_d),
    .rd_en_i(st_q == StIdle), .rd_addr_i(idx_d), .rd_data_o(rec)
  );

  // ---------------------------------------------------------------- verdict on the packet
  logic        v_drop, v_gap, v_dup, v_refuse, v_exec, v_send, v_write, v_read, v_starts, v_ends, v_imm;
  logic [1:0]  v_why;
  logic [7:0]  v_rule;
  logic [23:0] v_psns;
  logic        drop_q, gap_q, dup_q, refuse_q, exec_q, send_q, write_q, read_q, starts_q, ends_q, imm_q;
  logic [1:0]  why_q;
  logic [7:0]  rule_q;
  logic [23:0] psns_q;

  bdy_rx_check #(.LogQps(LogQps)) u_check (
    .hdr_i(hdr_q), .ctx0_i, .live_i(live_q[idx_q] && !dead_q[idx_q]), .live_at_i(live_at), .epsn_i(epsn), .seq_i(seq),
    .off_i(off), .wr_len_i(wr_len),
    .drop_o(v_drop), .drop_why_o(v_why), .gap_o(v_gap), .dup_o(v_dup), .refuse_o(v_refuse), .rule_o(v_rule),
    .exec_o(v_exec), .is_send_o(v_send), .is_write_o(v_write), .is_read_o(v_read), .starts_o(v_starts), .ends_o(v_ends),
    .imm_o(v_imm), .psns_o(v_psns)
  );

  // ---------------------------------------------------------------- choosing what to do
  logic              pick_ev, pick_fl, pick_pk, blocked, drop_held;
  logic [23:0]       rel;
  logic              ev_kills;

  assign rel      = hdr_q.dest_qp - bdy_pkg::QPN_BASE[23:0];
  assign ev_kills = qpev_bump_i || qpev_st_i == bdy_pkg::QP_ST_RESET;
  assign pick_ev  = qpev_valid_i;
  assign pick_fl  = !pick_ev && flush_any && (flush_turn_q || !held_q);
  assign pick_pk  = !pick_ev && !pick_fl && held_q;
  assign idx_d    = st_q != StIdle ? idx_q : pick_ev ? qpev_idx_i : pick_fl ? flush_first : rel[LogQps-1:0];
  assign ctx_idx_o = idx_d;

  // H14, and a refusal's NAK must not overtake a READ's response.
  assign blocked = reads_i[idx_q] && (refuse_q || over_q || (exec_q && !read_q));

  always_comb begin
    flush_first = '0;
    flush_any   = 1'b0;
    for (int i = Qps - 1; i >= 0; i--) begin
      if (flush_q[i]) begin
        flush_first = LogQps'(i);
        flush_any   = 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- what the packet leads to
  logic [7:0]  ans_syn_q, ans_syn_d;        // NAK or ACK to queue
  logic [23:0] ans_psn_q, ans_psn_d;
  logic        fail_q;                      // the CQE being written is of a failure: FAIL follows
  logic        flushing_q;                  // the CQE being written is a flush
  logic [7:0]  fail_ev_q, fail_rule_q, cqe_status_q;
  logic        answers;                     // this packet, done, is acknowledged (or refused)
  logic        pop_needed;                  // this packet, done, completes a receive WQE
  logic [31:0] off_before, room_after;
  logic        too_long;

  assign off_before = starts_q ? 32'd0 : off;
  assign room_after = off_before + 32'(hdr_q.paylen);
  assign answers    = !read_q && (hdr_q.ackreq || ans_syn_q != bdy_pkg::AETH_ACK);   // T4
  assign pop_needed = ends_q && (send_q || imm_q);

  // A SEND's WQE is known from its FIRST packet on.
  logic [4:0]  got_num_sge_q;
  logic [31:0] got_total_q;
  logic [15:0] got_wqe_q;
  assign too_long = room_after > got_total_q;

  // Receive side refusals by the scatter's verdict.
  logic       sc_dma;
  assign sc_dma = sc_rule_i == bdy_pkg::RULE_DMA;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q          <= StIdle;
      idx_q         <= '0;
      flush_turn_q  <= 1'b0;
      over_q        <= 1'b0;
      gen_q         <= '0;
      ans_syn_q     <= '0;
      ans_psn_q     <= '0;
      fail_q        <= 1'b0;
      flushing_q    <= 1'b0;
      fail_ev_q     <= '0;
      fail_rule_q   <= '0;
      cqe_status_q  <= '0;
      got_num_sge_q <= '0;
      got_total_q   <= '0;
      got_wqe_q     <= '0;
      {drop_q, gap_q, dup_q, refuse_q, exec_q, send_q, write_q, read_q, starts_q, ends_q, imm_q} <= '0;
      why_q         <= '0;
      rule_q        <= '0;
      psns_q        <= '0;
    end else begin
      idx_q <= idx_d;
      if (pkt_done_o) over_q <= 1'b0;

      case (st_q)
        StIdle: begin
          fail_q     <= 1'b0;
          flushing_q <= 1'b0;
          if (pick_ev) begin
            st_q <= StEvent;
          end else if (pick_fl) begin
            st_q         <= StFlush;
            flush_turn_q <= 1'b0;
          end else if (pick_pk) begin
            st_q         <= StPacket;
            flush_turn_q <= 1'b1;
          end
        end

        // -------- queue pair events
        StEvent: st_q <= (ev_kills || qpev_st_i == bdy_pkg::QP_ST_ERR) ? StEvDrop : StSettle;
        StEvDrop: if (cmd_ready_i) st_q <= ev_kills ? StEvWait : StSettle;
        StEvWait: if (rq_clr_valid_o && rq_clr_ready_i) st_q <= StSettle;
        StSettle: st_q <= StIdle;

        // -------- flush
        StFlush: st_q <= ctx.st == bdy_pkg::QP_ST_ERR ? StFlPeek : StIdle;
        StFlPeek: begin
          if (rq_rsp_valid_i) begin
            got_wqe_q    <= rq_rsp_index_i;
            flushing_q   <= 1'b1;
            cqe_status_q <= bdy_pkg::WC_WR_FLUSH_ERR;
            fail_rule_q  <= bdy_pkg::RULE_NONE;
            st_q         <= rq_rsp_empty_i ? StIdle : StPop;
          end
        end

        // -------- packet
        StPacket: begin
          {drop_q, gap_q, dup_q, refuse_q, exec_q}           <= {v_drop, v_gap, v_dup, v_refuse, v_exec};
          {send_q, write_q, read_q, starts_q, ends_q, imm_q} <= {v_send, v_write, v_read, v_starts, v_ends, v_imm};
          why_q  <= v_why;
          rule_q <= v_rule;
          psns_q <= v_psns;
          gen_q  <= ctx_gen_i;
          st_q   <= StDo;
        end
        StDo: begin
          got_num_sge_q <= num_sge;
          got_total_q   <= total;
          got_wqe_q     <= wqe;
          ans_psn_q     <= ans_psn_d;
          ans_syn_q     <= ans_syn_d;
          cqe_status_q  <= bdy_pkg::WC_SUCCESS;
          fail_ev_q     <= bdy_pkg::EQE_KIND_QP_REQ_ERR;
          fail_rule_q   <= over_q ? bdy_pkg::RULE_T7 : refuse_q ? rule_q : bdy_pkg::RULE_NONE;
          if (drop_q || blocked || (gap_q && nak_sent)) st_q <= StIdle;
          else if (refuse_q || over_q) st_q <= StFail;
          else if (gap_q) st_q <= StUpdate;
          else if (dup_q) st_q <= read_q ? StRead : StAnswer;
          else if (read_q) st_q <= StRead;
          else if (send_q || imm_q) st_q <= StRq;
          else st_q <= hdr_q.paylen == '0 ? StUpdate : StStart;
        end
        StRq: begin
          if (rq_rsp_valid_i) begin
            if (rq_op_o != RqLoad) got_wqe_q <= rq_rsp_index_i;
            if (rq_op_o == RqGet) begin
              got_num_sge_q <= rq_rsp_num_sge_i;
              got_total_q   <= rq_rsp_total_i;
            end
            if (rq_op_o != RqLoad && rq_rsp_empty_i) begin
              ans_syn_q <= bdy_pkg::AETH_RNR | 8'(ctx.min_rnr);
              st_q      <= StUpdate;
            end else if (rq_op_o == RqGet && rq_rsp_rule_i != bdy_pkg::RULE_NONE) begin
              fail_q       <= 1'b1;
              fail_ev_q    <= '0;
              fail_rule_q  <= rq_rsp_rule_i;
              cqe_status_q <= bdy_pkg::WC_LOC_QP_OP_ERR;
              ans_syn_q    <= bdy_pkg::AETH_NAK_OP;
              st_q         <= StPop;
            end else begin
              st_q <= StStart;
            end
          end
        end
        StStart: begin
          if (send_q && too_long) begin
            fail_q       <= 1'b1;
            fail_ev_q    <= '0;
            fail_rule_q  <= bdy_pkg::RULE_T9;
            cqe_status_q <= bdy_pkg::WC_LOC_LEN_ERR;
            ans_syn_q    <= bdy_pkg::AETH_NAK_INV;
            st_q         <= StPop;
          end else if (hdr_q.paylen == '0) begin
            st_q <= pop_needed ? StPop : StUpdate;
          end else if (sc_ready_i) begin
            st_q <= StMove;
          end
        end
        StMove: begin
          if (sc_done_i) begin
            fail_rule_q <= sc_rule_i;
            if (sc_stale_i) begin
              st_q <= StIdle;
            end else if (sc_rule_i == bdy_pkg::RULE_NONE) begin
              st_q <= pop_needed ? StPop : StUpdate;
            end else if (send_q) begin
              fail_q       <= 1'b1;
              fail_ev_q    <= '0;
              cqe_status_q <= bdy_pkg::WC_LOC_PROT_ERR;
              ans_syn_q    <= bdy_pkg::AETH_NAK_OP;
              st_q         <= StPop;
            end else begin
              // A refused WRITE with immediate completes the receive WQE it would have taken, without an event (A25, E2).
              fail_q       <= 1'b1;
              fail_ev_q    <= imm_q ? 8'd0 : sc_dma ? bdy_pkg::EQE_KIND_QP_FATAL : bdy_pkg::EQE_KIND_QP_ACCESS_ERR;
              fail_rule_q  <= (imm_q && !sc_dma) ? bdy_pkg::RULE_A25 : sc_rule_i;
              cqe_status_q <= bdy_pkg::WC_LOC_ACCESS_ERR;
              ans_syn_q    <= sc_dma ? bdy_pkg::AETH_NAK_OP : bdy_pkg::AETH_NAK_ACC;
              st_q         <= imm_q ? StPop : StFail;
            end
          end
        end
        StPop: st_q <= StCqe;
        StCqe: if (cqe_ready_i) st_q <= StCqeDone;
        StCqeDone: begin
          if (cqe_done_i) begin
            if (flushing_q) begin
              st_q <= StIdle;
            end else if (fail_q) begin
              st_q <= StFail;
            end else if (cqe_err_i) begin
              // The completion is lost (C1): so is the queue pair; the completion queue has raised its own event.
              fail_ev_q <= '0;
              ans_syn_q <= bdy_pkg::AETH_NAK_OP;
              st_q      <= StFail;
            end else begin
              st_q <= StUpdate;
            end
          end
        end
        StRead: begin
          if (cmd_ready_i) begin
            if (cmd_over_i) over_q <= 1'b1;
            st_q <= (cmd_over_i || cmd_full_i || dup_q) ? StIdle : StUpdate;
          end
        end
        StUpdate: st_q <= answers ? StAnswer : StIdle;
        StAnswer: if (cmd_ready_i) st_q <= StIdle;
        StFail: if (cmd_ready_i) st_q <= StFailNote;
        StFailNote: if (fatal_ready_i) st_q <= StIdle;
        default: st_q <= StIdle;
      endcase
    end
  end

  // ---------------------------------------------------------------- the packet at hand
  logic finished;
  // Ends here whatever did not come from a put-aside or from an event or flush.
  assign finished = (st_q == StDo && !blocked && (drop_q || (gap_q && nak_sent))) ||
                    (st_q == StMove && sc_done_i && sc_stale_i) ||
                    (st_q == StRead && cmd_ready_i && !cmd_over_i && (cmd_full_i || dup_q)) ||
                    (st_q == StUpdate && !answers) ||
                    (st_q == StAnswer && cmd_ready_i) ||
                    (st_q == StFailNote && fatal_ready_i);
  assign drop_held  = st_q == StEvent && ev_kills && held_q && rel == 24'(idx_q);
  assign pkt_done_o = finished || drop_held;
  assign hdr_ready_o = !held_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
      hdr_q  <= '0;
    end else if (hdr_valid_i && hdr_ready_o) begin
      held_q <= 1'b1;
      hdr_q  <= hdr_i;
    end else if (pkt_done_o) begin
      held_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- answer and record
  logic advance, updating, starting;   // the packet was executed; its record is written; a life begins

  assign advance  = exec_q && ans_syn_q == bdy_pkg::AETH_ACK;
  assign updating = st_q == StUpdate;
  assign starting = st_q == StSettle && !ev_kills && qpev_st_i == bdy_pkg::QP_ST_RTR;
  assign rec_wr   = updating || starting;

  always_comb begin
    ans_psn_d = hdr_q.psn;
    ans_syn_d = bdy_pkg::AETH_ACK;
    if (refuse_q || over_q) begin
      ans_syn_d = bdy_pkg::AETH_NAK_INV;
    end else if (gap_q) begin
      ans_syn_d = bdy_pkg::AETH_NAK_SEQ;
      ans_psn_d = epsn;
    end else if (dup_q) begin
      ans_psn_d = epsn - 24'd1;      // all that is complete (H11)
    end
  end

  always_comb begin
    epsn_d     = epsn;
    msn_d      = msn;
    seq_d      = seq;
    nak_sent_d = nak_sent;
    num_sge_d  = num_sge;
    total_d    = total;
    off_d      = off;
    wr_va_d    = wr_va;
    wr_rkey_d  = wr_rkey;
    wr_len_d   = wr_len;
    live_at_d  = live_at;
    wqe_d      = wqe;
    if (starting) begin
      epsn_d     = ctx.rq_psn;
      msn_d      = '0;
      seq_d      = SeqNone;
      nak_sent_d = 1'b0;
      off_d      = '0;
      live_at_d  = cycle_i;
    end else if (advance) begin
      epsn_d     = epsn + psns_q;
      msn_d      = msn + 24'(ends_q);
      seq_d      = ends_q ? SeqNone : send_q ? SeqSend : SeqWrite;
      nak_sent_d = 1'b0;
      off_d      = room_after;
      num_sge_d  = got_num_sge_q;
      total_d    = got_total_q;
      wqe_d      = got_wqe_q;
      if (write_q && starts_q) begin
        wr_va_d   = hdr_q.va;
        wr_rkey_d = hdr_q.rkey;
        wr_len_d  = hdr_q.dmalen;
      end
    end else begin
      nak_sent_d = 1'b1;
    end
  end

  assign cmd_valid_o   = st_q == StEvDrop || st_q == StRead || st_q == StAnswer || st_q == StFail;
  assign cmd_op_o      = st_q == StEvDrop ? CmdDrop : st_q == StRead ? CmdRead : CmdAnswer;
  assign cmd_idx_o     = idx_q;
  assign cmd_psn_o     = st_q == StRead ? hdr_q.psn : ans_psn_q;
  assign cmd_msn_o     = advance ? msn_d : msn;
  assign cmd_syn_o     = ans_syn_q;
  assign cmd_arrival_o = hdr_q.arrival[31:0];
  assign cmd_va_o      = hdr_q.va;
  assign cmd_rkey_o    = hdr_q.rkey;
  assign cmd_len_o     = hdr_q.dmalen;
  assign cmd_dup_o     = dup_q;
  assign cmd_limit_o   = ctx.max_dest_rd;

  // ---------------------------------------------------------------- scatter
  logic [63:0] range_va;
  logic [31:0] range_len, range_rkey;

  assign range_va     = starts_q ? hdr_q.va : wr_va;
  assign range_len    = starts_q ? hdr_q.dmalen : wr_len;
  assign range_rkey   = starts_q ? hdr_q.rkey : wr_rkey;
  assign sc_valid_o   = st_q == StStart && !(send_q && too_long) && hdr_q.paylen != '0;
  assign sc_num_sge_o = send_q ? got_num_sge_q : 5'd1;
  assign sc_off_o     = off_before;
  assign sc_len_o     = hdr_q.paylen;
  assign sc_local_o   = send_q;
  assign sc_rights_o  = send_q ? bdy_pkg::ACCESS_BIT_LOCAL_WRITE : bdy_pkg::ACCESS_BIT_REMOTE_WRITE;
  assign sc_pd_o      = ctx.pd;
  assign sc_qpn_o     = bdy_pkg::QPN_BASE[23:0] + 24'(idx_q);
  assign sc_gen_o     = gen_q;
  assign sc_chk_len_o = (write_q && starts_q) ? hdr_q.dmalen : 32'd0;   // H6
  assign sc_range_o   = {range_rkey, range_len, range_va};

  // ---------------------------------------------------------------- receive queue
  assign rq_valid_o      = st_q == StRq || st_q == StFlPeek;
  assign rq_op_o         = (st_q == StFlPeek || !send_q) ? RqPeek : starts_q ? RqGet : RqLoad;
  assign rq_idx_o        = idx_q;
  assign rq_base_o       = ctx.rq_base;
  assign rq_log_o        = ctx.rq_log;
  assign rq_log_stride_o = ctx.rq_log_stride;
  assign rq_pop_valid_o  = st_q == StPop;
  assign rq_pop_idx_o    = idx_q;

  // ---------------------------------------------------------------- completions
  bdy_pkg::cqe_t cqe;
  always_comb begin
    cqe           = '0;
    cqe.qpn       = sc_qpn_o;
    cqe.op        = bdy_pkg::CQE_OP_RECV;
    cqe.status    = cqe_status_q;
    cqe.recv      = 1'b1;
    cqe.wqe_index = got_wqe_q;
    cqe.rule      = fail_rule_q;
    if (!flushing_q) begin
      cqe.op        = write_q ? bdy_pkg::CQE_OP_RECV_WRITE_IMM : bdy_pkg::CQE_OP_RECV;
      cqe.with_imm  = imm_q;
      cqe.solicited = hdr_q.se;
      cqe.grh       = hdr_q.grh;
      cqe.imm       = imm_q ? hdr_q.imm : 32'd0;
      cqe.byte_len  = write_q ? range_len : room_after;
    end
  end
  assign cqe_valid_o = st_q == StCqe;
  assign cqe_cqn_o   = ctx.rcqn;
  assign cqe_o       = cqe;

  // ---------------------------------------------------------------- lives and ends
  logic quiet, kills, errs;
  assign quiet = !owes_i[idx_q] && !(ending_i && ending_idx_i == idx_q) &&
                 !(sending_i[0] && sending_idx_i[0+:LogQps] == idx_q) &&
                 !(sending_i[1] && sending_idx_i[LogQps+:LogQps] == idx_q);
  assign kills = st_q == StSettle && ev_kills;
  assign errs  = st_q == StSettle && !ev_kills && qpev_st_i == bdy_pkg::QP_ST_ERR;

  assign rq_clr_valid_o = st_q == StEvWait && quiet;
  assign rq_clr_idx_o   = idx_q;
  assign qpev_ack_o     = st_q == StSettle;
  // The response engine may note an end while it finishes its last packet: forget that one too.
  assign kill_valid_o   = kills || (st_q == StEvent && ev_kills);
  assign kill_idx_o     = idx_q;
  assign fatal_valid_o  = st_q == StFailNote;
  assign fatal_idx_o    = idx_q;
  assign fatal_ev_o     = fail_ev_q;
  assign fatal_rule_o   = fail_rule_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q  <= '0;
      dead_q  <= '0;
      flush_q <= '0;
    end else begin
      if (starting) live_q[idx_q] <= 1'b1;
      if (kills) live_q[idx_q] <= 1'b0;
      if (starting || kills) dead_q[idx_q] <= 1'b0;
      if (st_q == StFail) dead_q[idx_q] <= 1'b1;
      if (resp_fatal_i) dead_q[resp_fatal_idx_i] <= 1'b1;
      // Cleared before the queue is looked at, so that what is posted meanwhile sets it again.
      if (kills || st_q == StFlush) flush_q[idx_q] <= 1'b0;
      if (flushing_q && st_q == StPop) flush_q[idx_q] <= 1'b1;
      if (errs) flush_q[idx_q] <= 1'b1;
      if (err_post_valid_i) flush_q[err_post_idx_i] <= 1'b1;
    end
  end

  // ---------------------------------------------------------------- counters
  assign cnt_unknown_qp_o   = finished && drop_q && why_q == 2'd0;
  assign cnt_bad_state_o    = finished && drop_q && why_q == 2'd1;
  assign cnt_bad_pkey_o     = finished && drop_q && why_q == 2'd2;
  assign cnt_duplicate_o    = finished && (dup_q || (drop_q && why_q == 2'd3));
  assign cnt_out_of_seq_o   = finished && gap_q;
  assign cnt_rnr_o          = finished && exec_q && st_q == StAnswer && ans_syn_q[7:5] == 3'b001;
  assign cnt_stale_o        = (st_q == StMove && finished) || drop_held;
  assign cnt_refused_o      = st_q == StFailNote && fatal_ready_i;
  assign cnt_refused_rule_o = fail_rule_q;
  assign idle_o             = st_q == StIdle && !held_q && !hdr_valid_i && !flush_any && !qpev_valid_i;

`ifdef FORMAL
  always_ff @(posedge clk_i) if (rst_ni) begin
    assert (st_q <= StSettle);
    if (finished) assert (held_q);
    if (st_q == StUpdate && advance) assert (!reads_i[idx_q] || read_q);
  end
`endif

endmodule
