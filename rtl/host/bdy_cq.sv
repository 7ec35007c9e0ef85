// SPDX-License-Identifier: Apache-2.0
// bdy_cq: completion queues.
//
// Purpose: writes CQEs (56 bytes, then the 8 with the phase, H16), keeps producer index, arm state and overflow (C1, C5) of every
//   CQ, and asks for a COMP event when an armed CQ gets a matching entry or is armed after one.
// Latency: entry in to first write out 2 cycles; done 1 cycle after the last B.
// Throughput: one CQE at a time.
// Backpressure: cqe_ready_o; memory decides the pace. Never waits for anything but memory and the event queue (H13).
// Invariants: an entry is written only where software has consumed; the event follows the entry's last B.
//
//   IDLE ─ cqe ─► LOOK ─ room ─► BODY ─ B ─► TAIL ─ B ─► DONE ─ armed ─► EVENT ─► IDLE
//                  └ full ─► RECORD (read consumer index) ─ room ─► BODY
//                                                         └ full ─► OVERFLOW (event CQ_ERR, once) ─► IDLE

module bdy_cq #(
  parameter int LogCqs = 8
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [63:0]   cycle_i,

  // CQE ports: 0 send side, 1 receive side. cqe_i: cqe_t without phase, index, timestamp.
  input  logic [1:0]    cqe_valid_i,
  output logic [1:0]    cqe_ready_o,
  input  logic [2*24-1:0]  cqe_cqn_i,
  input  logic [2*512-1:0] cqe_i,
  output logic [1:0]    cqe_done_o,       // pulse, in order per port
  output logic          cqe_err_o,        // beside cqe_done_o: the queue is full, dead or does not exist

  // Arm doorbells (db_cq_t) with the UAR page they were written to.
  input  logic          db_valid_i,
  output logic          db_ready_o,
  input  logic [63:0]   db_i,
  input  logic [7:0]    db_uar_i,
  output logic          db_bad_o,         // pulse: foreign, unknown or impossible; nothing changed

  // Context writes from the bind pipeline (kind CQ only).
  input  logic          ctxw_valid_i,
  input  logic [15:0]   ctxw_idx_i,
  input  logic [511:0]  ctxw_data_i,
  output logic          ctxw_ack_o,

  // DMA
  output logic          rdq_valid_o,
  input  logic          rdq_ready_i,
  output logic [63:0]   rdq_addr_o,
  output logic [12:0]   rdq_len_o,
  input  logic          rdd_valid_i,
  input  logic [255:0]  rdd_data_i,
  input  logic          rdd_err_i,
  output logic          wrq_valid_o,
  input  logic          wrq_ready_i,
  output logic [63:0]   wrq_addr_o,
  output logic [12:0]   wrq_len_o,
  output logic          wrd_valid_o,
  input  logic          wrd_ready_i,
  output logic [255:0]  wrd_data_o,
  input  logic          wrb_valid_i,
  input  logic          wrb_err_i,

  // Events
  output logic          ev_valid_o,
  input  logic          ev_ready_i,
  output logic [7:0]    ev_eqn_o,
  output logic [63:0]   ev_o,

  output logic          trc_valid_o,      // an entry is complete in host memory
  output logic [511:0]  trc_o,
  output logic          idle_o
);
  localparam int Cqs = 1 << LogCqs;

  localparam logic [3:0] StIdle = 4'd0;
  localparam logic [3:0] StLook = 4'd1;
  localparam logic [3:0] StBody = 4'd2;
  localparam logic [3:0] StBodyB = 4'd3;
  localparam logic [3:0] StTail = 4'd4;
  localparam logic [3:0] StTailB = 4'd5;
  localparam logic [3:0] StRecord = 4'd6;
  localparam logic [3:0] StRecordD = 4'd7;
  localparam logic [3:0] StOverflow = 4'd8;
  localparam logic [3:0] StEvent = 4'd9;
  localparam logic [3:0] StArm = 4'd10;

  // Per queue: context (static) and running state; both RAMs, one access a step.
  logic [191:0] ctx_mem [Cqs];
  logic [Cqs-1:0] valid_q;
  // Running state: producer index, cached consumer index, end of last solicited entry, armed, solicited-only, sequence, dead.
  logic [100:0] run_mem [Cqs];

  logic [3:0]    st_q;
  logic          port_q, last_port_q;
  logic [511:0]  cqe_q;
  logic [23:0]   cqn_q;
  logic [63:0]   db_q;
  logic [7:0]    db_uar_q;
  logic [1:0]    beat_q;
  logic          rechecked_q;

  logic [LogCqs-1:0] slot;
  assign slot = cqn_q[LogCqs-1:0];
  logic          known;
  assign known = (cqn_q[23:LogCqs] == '0) && valid_q[slot];

  bdy_pkg::cq_ctx_t ctx;
  assign ctx = {320'd0, ctx_mem[slot]};
  logic [31:0] pi, ci, sol_end;
  logic        armed, sol_only, dead;
  logic [1:0]  seq;
  assign {pi, ci, sol_end, armed, sol_only, seq, dead} = run_mem[slot];

  logic [31:0] size, used;
  assign size = 32'd1 << ctx.log_size;
  assign used = pi - ci;

  // ------------------------------------------------------------------ choice in IDLE
  logic pick_ctx, pick_db, pick_cqe, pick_port;
  assign pick_port = cqe_valid_i[1] && (!cqe_valid_i[0] || !last_port_q);
  assign pick_ctx  = (st_q == StIdle) && ctxw_valid_i && !ctxw_ack_o;
  assign pick_db   = (st_q == StIdle) && !pick_ctx && db_valid_i;
  assign pick_cqe  = (st_q == StIdle) && !pick_ctx && !pick_db && (cqe_valid_i != '0);
  assign db_ready_o = pick_db;
  assign cqe_ready_o = {pick_cqe && pick_port, pick_cqe && !pick_port};

  // ------------------------------------------------------------------ the entry
  logic        phase;
  assign phase = !pi[ctx.log_size];       // first pass writes 1
  logic [31:0] in_ring;
  assign in_ring = pi & (size - 32'd1);
  logic [63:0] entry_addr;
  assign entry_addr = ctx.base + {26'd0, in_ring, 6'd0};
  logic [511:0] entry;
  assign entry = {pi, 31'd0, phase, cqe_q[447:0]};

  logic is_sol;                           // counts for a solicited-only arm: solicited, or in error
  assign is_sol = cqe_q[bdy_pkg::CQE_SOLICITED_LSB] || (cqe_q[bdy_pkg::CQE_STATUS_LSB +: 8] != bdy_pkg::WC_SUCCESS);

  assign wrq_valid_o = (st_q == StBody) || (st_q == StTail);
  assign wrq_addr_o  = (st_q == StBody) ? entry_addr : entry_addr + 64'd56;
  assign wrq_len_o   = (st_q == StBody) ? 13'd56 : 13'd8;
  assign wrd_valid_o = (beat_q != 2'd0);
  assign wrd_data_o  = (beat_q == 2'd2) ? entry[255:0] : ((st_q == StBodyB) ? {64'd0, entry[447:256]} : {192'd0, entry[511:448]});

  assign rdq_valid_o = (st_q == StRecord);
  assign rdq_addr_o  = ctx.dbr;
  assign rdq_len_o   = 13'd8;

  // ------------------------------------------------------------------ arm: an entry beyond ci that matches fires at once (H16)
  logic [31:0] db_ci;
  logic        db_ok, arm_fires;
  assign db_ci     = db_q[63:32];
  assign db_ok     = known && (ctx.uar == {8'd0, db_uar_q}) && ((pi - db_ci) <= size) && (db_q[31:27] == '0);
  logic [31:0] beyond, sol_beyond;
  assign beyond     = pi - db_ci;
  assign sol_beyond = sol_end - db_ci;
  assign arm_fires  = db_q[24] ? ((sol_beyond != '0) && !sol_beyond[31]) : (beyond != '0);

  logic full;
  assign full = (used >= size);
  logic fires;                            // the entry just written fires the arm
  assign fires = armed && (is_sol || !sol_only);

  logic ev_is_err_q;
  logic [1:0] ev_seq_q;
  assign ev_valid_o = (st_q == StEvent) || (st_q == StOverflow);
  assign ev_eqn_o   = ctx.eqn;
  assign ev_o       = {30'd0, (ev_is_err_q ? 2'd0 : ev_seq_q), cqn_q, (ev_is_err_q ? bdy_pkg::EQE_KIND_CQ_ERR : bdy_pkg::EQE_KIND_COMP)};

  logic done, done_err;
  assign done     = ((st_q == StTailB) && wrb_valid_i) ||
                    ((st_q == StLook) && (!known || dead)) ||
                    ((st_q == StOverflow) && ev_ready_i);
  assign done_err = (st_q != StTailB) || wrb_err_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q        <= StIdle;
      port_q      <= 1'b0;
      last_port_q <= 1'b0;
      beat_q      <= '0;
      rechecked_q <= 1'b0;
      ev_is_err_q <= 1'b0;
      valid_q     <= '0;
      cqe_done_o  <= '0;
      cqe_err_o   <= 1'b0;
      db_bad_o    <= 1'b0;
      ctxw_ack_o  <= 1'b0;
      trc_valid_o <= 1'b0;
    end else begin
      cqe_done_o  <= {done && port_q, done && !port_q};
      cqe_err_o   <= done_err;
      db_bad_o    <= (st_q == StArm) && !db_ok;
      ctxw_ack_o  <= pick_ctx;
      trc_valid_o <= (st_q == StTailB) && wrb_valid_i;
      if ((beat_q != 2'd0) && wrd_ready_i) beat_q <= beat_q - 2'd1;
      case (st_q)
        StIdle: begin
          rechecked_q <= 1'b0;
          if (pick_ctx) valid_q[ctxw_idx_i[LogCqs-1:0]] <= ctxw_data_i[0];
          else if (pick_db) st_q <= StArm;
          else if (pick_cqe) begin
            st_q        <= StLook;
            port_q      <= pick_port;
            last_port_q <= pick_port;
          end
        end
        StLook: begin
          if (!known || dead) st_q <= StIdle;
          else if (!full) st_q <= StBody;
          else if (!rechecked_q) st_q <= StRecord;
          else begin
            st_q        <= StOverflow;
            ev_is_err_q <= 1'b1;
          end
        end
        StBody: if (wrq_ready_i) begin
          st_q   <= StBodyB;
          beat_q <= 2'd2;
        end
        StBodyB: if (wrb_valid_i) st_q <= StTail;
        StTail: if (wrq_ready_i) begin
          st_q   <= StTailB;
          beat_q <= 2'd1;
        end
        StTailB: if (wrb_valid_i) begin
          ev_is_err_q <= 1'b0;
          st_q        <= fires ? StEvent : StIdle;
        end
        StRecord: if (rdq_ready_i) st_q <= StRecordD;
        StRecordD: if (rdd_valid_i) begin
          rechecked_q <= 1'b1;
          st_q        <= StLook;
        end
        StOverflow, StEvent: if (ev_ready_i) st_q <= StIdle;
        StArm: begin
          ev_is_err_q <= 1'b0;
          st_q        <= (db_ok && arm_fires) ? StEvent : StIdle;
        end
        default: st_q <= StIdle;
      endcase
    end
  end

  // A consumer index from the record counts only if it is possible.
  logic [31:0] rec_ci;
  logic        rec_ok;
  assign rec_ci = rdd_data_i[31:0];
  assign rec_ok = !rdd_err_i && ((pi - rec_ci) <= size);

  always_ff @(posedge clk_i) begin
    if (pick_cqe) begin
      cqn_q <= cqe_cqn_i[24*pick_port +: 24];
      cqe_q <= cqe_i[512*pick_port +: 512];
      cqe_q[bdy_pkg::CQE_TIMESTAMP_LSB +: 64] <= cycle_i;
    end
    if (pick_db) begin
      cqn_q    <= db_i[23:0];
      db_q     <= db_i;
      db_uar_q <= db_uar_i;
    end
    if (pick_ctx) begin
      ctx_mem[ctxw_idx_i[LogCqs-1:0]] <= ctxw_data_i[191:0];
      run_mem[ctxw_idx_i[LogCqs-1:0]] <= '0;
    end else begin
      case (st_q)
        StTailB: if (wrb_valid_i) begin
          run_mem[slot] <= {pi + 32'd1, ci, is_sol ? pi + 32'd1 : sol_end, armed && !fires, sol_only, seq, 1'b0};
          ev_seq_q      <= seq;
        end
        StRecordD: if (rdd_valid_i && rec_ok) run_mem[slot] <= {pi, rec_ci, sol_end, armed, sol_only, seq, dead};
        StOverflow: run_mem[slot] <= {pi, ci, sol_end, armed, sol_only, seq, 1'b1};
        StArm: if (db_ok) begin
          run_mem[slot] <= {pi, db_ci, sol_end, !arm_fires, db_q[24], db_q[26:25], dead};
          ev_seq_q      <= db_q[26:25];
        end
        default: ;
      endcase
    end
    trc_o <= entry;
  end

  assign idle_o = (st_q == StIdle) && (cqe_valid_i == '0) && !db_valid_i && !ctxw_valid_i && (cqe_done_o == '0);

  logic unused;
  assign unused = ^{ctx, db_q[23:0], cqe_q[511:448], rdd_data_i[255:32], ctxw_idx_i[15:LogCqs], ctxw_data_i[511:192]};
endmodule
