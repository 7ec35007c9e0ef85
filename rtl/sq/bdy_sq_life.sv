// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_life: follows the states of queue pairs for the requester.
//
//   after reset: clear the state of every queue pair, one by one
//   ERR, SQE     flush from now on; acknowledged at once
//   first RTS    load the PSNs in both halves, then start
//   SQD          the request half notes that SQ_DRAINED is wanted
//   RTS again    go on (after SQD); after SQE flush what was posted, then go on
//   RESET, bump  wait until nothing of the old life is in progress, clear, acknowledge
//
// Latency:      ERR 1 cycle; RESET as long as the work in progress takes: each engine ends its
//               packet, the bind pipeline answers what it has taken, the CQE is stored.
// Throughput:   one state change at a time.
// Backpressure: none toward others but retirement, which starts no CQE while a RESET waits.
// Invariants:   no wait of a RESET depends on another state change (a QP_ERR of ours behind it
//               needs no answer), nor on the peer: the engines end packets without responses.

module bdy_sq_life #(
  parameter int LogQps = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  output logic              ready_o,       // the first clearing is over
  output logic              idle_o,

  input  logic              qpev_valid_i,  // until acknowledged; afterwards it is the next one
  input  logic [7:0]        qpev_idx_i,
  input  logic [2:0]        qpev_st_i,
  input  logic              qpev_bump_i,
  output logic              qpev_ack_o,

  // Engines: 0 request half, 1 response half, 2 retirement, 3 doorbells
  output logic [LogQps-1:0] qp_o,
  output logic [3:0]        clear_o,       // held until taken
  input  logic [3:0]        cleared_i,
  output logic [1:0]        init_o,        // held until taken
  output logic [1:0]        init_why_o,    // first RTS, SQD, RTS again
  input  logic [1:0]        inited_i,
  output logic              quiet_o,       // retirement starts no CQE
  input  logic              is_quiet_i,
  output logic              drop_o,
  output logic              ending_o,      // no engine begins anything of qp_o: it is being ended
  input  logic              ops_busy_i,
  output logic              end_o,         // pulse: the life of qp_o has ended
  output logic              kick_o,        // pulse: qp_o may have work
  output logic              dying_o,       // pulse: qp_o went to ERR

  // The request half has brought look_qp_i 0 back from SQE
  input  logic              revive_i,

  // QP_ERR of ours was executed
  input  logic              dead_i,
  input  logic [LogQps-1:0] dead_qp_i,

  input  logic [3*LogQps-1:0] look_qp_i,
  output logic [2:0]        dead_o,        // look_qp_i: flush
  output logic              started_o      // of look_qp_i 0: its PSNs are loaded
);

  localparam logic [2:0] StSweep = 3'd0;
  localparam logic [2:0] StIdle  = 3'd1;
  localparam logic [2:0] StInit  = 3'd2;
  localparam logic [2:0] StQuiet = 3'd3;
  localparam logic [2:0] StClear = 3'd4;
  localparam logic [2:0] StAck   = 3'd5;

  localparam logic [1:0] InitFirst = 2'd0;
  localparam logic [1:0] InitSqd   = 2'd1;
  localparam logic [1:0] InitAgain = 2'd2;

  localparam int Qps = 1 << LogQps;

  logic [2:0]        st_q;
  logic [LogQps-1:0] qp_q;
  logic [3:0]        cleared_q, cleared;
  logic [1:0]        inited_q, inited, why_q;
  logic              fresh, ends, errs, rts, sqd;
  logic [Qps-1:0]    dead_q, started_q;

  assign fresh = qpev_valid_i && st_q == StIdle;
  assign ends  = qpev_bump_i || qpev_st_i == bdy_pkg::QP_ST_RESET;
  assign errs  = !ends && (qpev_st_i == bdy_pkg::QP_ST_ERR || qpev_st_i == bdy_pkg::QP_ST_SQE);
  assign rts   = !ends && qpev_st_i == bdy_pkg::QP_ST_RTS;
  assign sqd   = !ends && qpev_st_i == bdy_pkg::QP_ST_SQD;

  assign cleared    = cleared_q | (clear_o & cleared_i);
  assign inited     = inited_q | (init_o & inited_i);
  assign qp_o       = (st_q == StIdle) ? qpev_idx_i[LogQps-1:0] : qp_q;
  assign ready_o    = st_q != StSweep;
  assign idle_o     = st_q == StIdle && !qpev_valid_i;
  assign quiet_o    = st_q == StQuiet || st_q == StClear || st_q == StSweep;
  assign drop_o     = st_q == StQuiet;
  assign ending_o   = st_q == StQuiet || st_q == StClear;
  assign end_o      = st_q == StClear && cleared == 4'b1111;
  assign dying_o    = fresh && errs;
  assign kick_o     = dying_o || (st_q == StInit && inited == 2'b11);
  assign init_why_o = why_q;
  assign qpev_ack_o = st_q == StAck;

  always_comb begin
    clear_o = '0;
    init_o  = '0;
    case (st_q)
      StSweep: clear_o = ~cleared_q;
      StInit:  init_o = ~inited_q;
      StQuiet: clear_o = {2'b00, ~cleared_q[1:0]};
      StClear: clear_o = ~cleared_q;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q      <= StSweep;
      qp_q      <= '0;
      cleared_q <= '0;
      inited_q  <= '0;
      why_q     <= InitFirst;
      dead_q    <= '0;
      started_q <= '0;
    end else begin
      case (st_q)
        StSweep: begin
          cleared_q <= (cleared == 4'b1111) ? '0 : cleared;
          if (cleared == 4'b1111) begin
            qp_q <= qp_q + LogQps'(1);
            if (qp_q == '1) st_q <= StIdle;
          end
        end
        StIdle: begin
          qp_q      <= qpev_idx_i[LogQps-1:0];
          cleared_q <= '0;
          inited_q  <= {started_q[qp_o], 1'b0};  // the response half learns the first RTS only
          why_q     <= !started_q[qp_o] ? InitFirst : sqd ? InitSqd : InitAgain;
          if (fresh) st_q <= ends ? StQuiet : (rts || (sqd && started_q[qp_o])) ? StInit : StAck;
        end
        StInit: begin
          inited_q <= inited;
          if (inited == 2'b11) begin
            started_q[qp_q] <= 1'b1;
            st_q            <= StAck;
          end
        end
        StQuiet: begin
          cleared_q <= cleared;
          if (cleared[1:0] == 2'b11 && !ops_busy_i && is_quiet_i) st_q <= StClear;
        end
        StClear: begin
          cleared_q <= cleared;
          if (end_o) begin
            dead_q[qp_q]    <= 1'b0;
            started_q[qp_q] <= 1'b0;
            st_q            <= StAck;
          end
        end
        default: st_q <= StIdle;
      endcase
      if (revive_i) dead_q[look_qp_i[LogQps-1:0]] <= 1'b0;
      if (dying_o) dead_q[qp_o] <= 1'b1;
      if (dead_i)  dead_q[dead_qp_i] <= 1'b1;
    end
  end

  for (genvar k = 0; k < 3; k++) begin : g_look
    assign dead_o[k] = dead_q[look_qp_i[LogQps*k+:LogQps]];
  end
  assign started_o = started_q[look_qp_i[LogQps-1:0]];

  logic unused;
  assign unused = ^{qpev_idx_i};

endmodule
