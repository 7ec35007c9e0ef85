// SPDX-License-Identifier: Apache-2.0
//
// bdy_switch_lane: one channel's way out of a framer: to the external link, or back into this
// device with the faults of LINK_FAULT.
//
//   framer --> route by DLID --+--> external link
//                              +--> drop | pass | pass and keep a copy | keep --> loopback
//                                                    copy or kept packet --^
//
// Latency:      one cycle per packet for the decision.
// Throughput:   one beat per cycle.
// Backpressure: loopback and external link stall the framer: nothing is lost but by a fault asked
//               for.
// Invariants:   a decision is taken once, at the packet's first beat. A kept packet (reorder)
//               leaves behind the next loopback packet or after HoldCycles, so nothing hangs. While
//               a packet is kept only drops are decided. The generator steps once per loopback
//               packet (H19) and starts anew when fault_i changes.

module bdy_switch_lane #(
  parameter bit Channel    = 1'b0,  // 0 requests, 1 responses: each has its own random sequence
  parameter int HoldCycles = 64
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         idle_o,
  input  logic [15:0]  lid_i,
  input  logic [63:0]  fault_i,     // register LINK_FAULT

  input  logic         s_valid_i,
  output logic         s_ready_o,
  input  logic [255:0] s_data_i,
  input  logic [31:0]  s_keep_i,
  input  logic         s_last_i,

  output logic         x_valid_o,   // external link
  input  logic         x_ready_i,
  output logic [255:0] x_data_o,
  output logic [31:0]  x_keep_o,
  output logic         x_last_o,

  output logic         m_valid_o,   // loopback
  input  logic         m_ready_i,
  output logic [255:0] m_data_o,
  output logic [31:0]  m_keep_o,
  output logic         m_last_o,

  output logic         drop_o,
  output logic         dup_o,
  output logic         reorder_o
);

  localparam int TimerW = $clog2(HoldCycles + 1);

  typedef enum logic [2:0] {
    Idle, External, Pass, PassCopy, Drop, Keep, Replay
  } state_e;

  state_e            state_q, state_d;
  logic              held_q;       // a kept packet waits
  logic [TimerW-1:0] timer_q;
  logic              expired, looped, decide, s_end, m_end, copy;

  assign expired = timer_q == TimerW'(HoldCycles);
  assign looped  = {s_data_i[23:16], s_data_i[31:24]} == lid_i;
  assign s_end   = s_valid_i && s_ready_o && s_last_i;
  assign m_end   = m_valid_o && m_ready_i && m_last_o;
  assign decide  = state_q == Idle && !(held_q && expired) && s_valid_i;

  // -------------------------------------------- random numbers, one a packet
  localparam logic [63:0] Golden = 64'h9E3779B97F4A7C15;

  logic [63:0] fault_q, rand_q;
  logic        want_drop, want_dup, want_keep;

  function automatic logic [63:0] seeded(input logic [15:0] seed);
    seeded = (64'({seed, Channel}) + 64'd1) * Golden;
  endfunction

  function automatic logic [63:0] next_rand(input logic [63:0] x);
    logic [63:0] a, b;
    begin
      a = x ^ (x << 13);
      b = a ^ (a >> 7);
      next_rand = b ^ (b << 17);
    end
  endfunction

  assign want_drop = rand_q[63:48] < fault_q[bdy_pkg::REG_BAR_LINK_FAULT_DROP_LSB+:16];
  assign want_dup  = rand_q[47:32] < fault_q[bdy_pkg::REG_BAR_LINK_FAULT_DUP_LSB+:16];
  assign want_keep = rand_q[31:16] < fault_q[bdy_pkg::REG_BAR_LINK_FAULT_REORDER_LSB+:16];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fault_q <= '0;
      rand_q  <= seeded(16'd0);
    end else if (fault_q != fault_i) begin
      fault_q <= fault_i;
      rand_q  <= seeded(fault_i[bdy_pkg::REG_BAR_LINK_FAULT_SEED_LSB+:16]);
    end else if (decide && looped) begin
      rand_q <= next_rand(rand_q);
    end
  end

  // -------------------------------------------- one packet at a time
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle: begin
        if (held_q && expired) state_d = Replay;
        else if (!s_valid_i)   state_d = Idle;
        else if (!looped)      state_d = External;
        else if (want_drop)    state_d = Drop;
        else if (held_q)       state_d = Pass;
        else if (want_dup)     state_d = PassCopy;
        else if (want_keep)    state_d = Keep;
        else                   state_d = Pass;
      end
      External: if (s_end) state_d = Idle;
      Pass:     if (s_end) state_d = held_q ? Replay : Idle;
      PassCopy: if (s_end) state_d = Replay;
      Drop:     if (s_end) state_d = held_q ? Replay : Idle;
      Keep:     if (s_end) state_d = Idle;
      Replay:   if (m_end) state_d = Idle;
      default:  state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      held_q  <= 1'b0;
      timer_q <= '0;
    end else begin
      state_q <= state_d;
      if (state_q == Keep && s_end) held_q <= 1'b1;
      else if (state_q == Replay)   held_q <= 1'b0;
      if (!held_q)       timer_q <= '0;
      else if (!expired) timer_q <= timer_q + TimerW'(1);
    end
  end

  assign drop_o    = state_q == Drop && s_end;
  assign dup_o     = state_q == PassCopy && s_end;
  assign reorder_o = state_q == Keep && s_end;

  // -------------------------------------------- copy or kept packet
  logic         kept_valid, kept_last, kept_drop, kept_idle;
  logic [255:0] kept_data;
  logic [31:0]  kept_keep;

  assign copy = s_valid_i && s_ready_o && (state_q == PassCopy || state_q == Keep);

  bdy_pkt_fifo #(.Beats(256)) u_kept (
    .clk_i, .rst_ni,
    .idle_o(kept_idle),
    .wr_valid_i(copy),
    .wr_data_i(s_data_i),
    .wr_keep_i(s_keep_i),
    .wr_last_i(s_last_i),
    .drop_o(kept_drop),
    .m_valid_o(kept_valid),
    .m_ready_i(m_ready_i && state_q == Replay),
    .m_data_o(kept_data),
    .m_keep_o(kept_keep),
    .m_last_o(kept_last)
  );

  always_comb begin
    case (state_q)
      External:       s_ready_o = x_ready_i;
      Pass, PassCopy: s_ready_o = m_ready_i;
      Drop, Keep:     s_ready_o = 1'b1;
      default:        s_ready_o = 1'b0;
    endcase
  end

  assign x_valid_o = state_q == External && s_valid_i;
  assign x_data_o  = s_data_i;
  assign x_keep_o  = s_keep_i;
  assign x_last_o  = s_last_i;

  always_comb begin
    m_valid_o = s_valid_i && (state_q == Pass || state_q == PassCopy);
    m_data_o  = s_data_i;
    m_keep_o  = s_keep_i;
    m_last_o  = s_last_i;
    if (state_q == Replay) begin
      m_valid_o = kept_valid;
      m_data_o  = kept_data;
      m_keep_o  = kept_keep;
      m_last_o  = kept_last;
    end
  end

  assign idle_o = state_q == Idle && kept_idle;

  logic unused;
  assign unused = kept_drop;  // a frame is shorter than the store

endmodule
