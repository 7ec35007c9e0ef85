// SPDX-License-Identifier: Apache-2.0
// bdy_eq: event queues and MSI-X.
//
// Purpose: writes EQEs (56 bytes, then the 8 with the phase) and raises the queue's MSI-X after the entry's last B, when armed (H16).
// Latency: event in to first write 2 cycles.  Throughput: one event at a time.
// Backpressure: ev_ready_o. Waits for memory and the interrupt port only.
// Invariants: an event for a queue that does not exist is dropped and counted; a full queue is fatal (overflow_o), as a lost
//   event would leave the driver waiting.

module bdy_eq #(
  parameter int LogEqs = 3,
  parameter int NPorts = 5,
  parameter int Vectors = 8
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [63:0]   cycle_i,
  input  logic [7:0]    async_eqn_i,      // queue meant by ev_eqn 0xff

  input  logic [NPorts-1:0]    ev_valid_i,
  output logic [NPorts-1:0]    ev_ready_o,
  input  logic [NPorts*8-1:0]  ev_eqn_i,
  input  logic [NPorts*64-1:0] ev_i,      // eqe bits 63:0
  output logic [NPorts-1:0]    ev_done_o, // pulse: in host memory (or dropped)

  input  logic          ctxw_valid_i,
  input  logic [15:0]   ctxw_idx_i,
  input  logic [511:0]  ctxw_data_i,
  output logic          ctxw_ack_o,

  // Doorbells from the BAR: consumer index and arm.
  input  logic          db_valid_i,       // pulse, always taken
  input  logic [LogEqs-1:0] db_eqn_i,
  input  logic [31:0]   db_ci_i,
  input  logic          db_arm_i,

  output logic          wrq_valid_o,
  input  logic          wrq_ready_i,
  output logic [63:0]   wrq_addr_o,
  output logic [12:0]   wrq_len_o,
  output logic          wrd_valid_o,
  input  logic          wrd_ready_i,
  output logic [255:0]  wrd_data_o,
  input  logic          wrb_valid_i,
  input  logic          wrb_err_i,

  // MSI-X table (BAR) and message port
  input  logic [Vectors*64-1:0] msix_tbl_addr_i,
  input  logic [Vectors*32-1:0] msix_tbl_data_i,
  input  logic [Vectors-1:0]    msix_mask_i,
  output logic [Vectors-1:0]    msix_pending_o,
  output logic          msix_valid_o,
  input  logic          msix_ready_i,
  output logic [63:0]   msix_addr_o,
  output logic [31:0]   msix_data_o,

  output logic          overflow_o,       // sticky
  output logic          dropped_o,        // pulse
  output logic          trc_valid_o,
  output logic [511:0]  trc_o,
  output logic          idle_o
);
  localparam int Eqs = 1 << LogEqs;
  localparam int PW = $clog2(NPorts);
  localparam int VW = $clog2(Vectors);

  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StLook = 3'd1;
  localparam logic [2:0] StBody = 3'd2;
  localparam logic [2:0] StBodyB = 3'd3;
  localparam logic [2:0] StTail = 3'd4;
  localparam logic [2:0] StTailB = 3'd5;

  logic [127:0]   ctx_q [Eqs];
  logic [31:0]    pi_q [Eqs];
  logic [31:0]    ci_q [Eqs];
  logic [Eqs-1:0] armed_q;
  logic [Eqs-1:0] valid_q;

  logic [2:0]    st_q;
  logic [PW-1:0] port_q;
  logic [7:0]    eqn_q;
  logic [63:0]   ev_q;
  logic [63:0]   time_q;
  logic [1:0]    beat_q;

  // ------------------------------------------------------------------ choice
  logic          pick;
  logic [PW-1:0] pick_port;
  integer k;
  always_comb begin
    pick      = 1'b0;
    pick_port = '0;
    for (k = 0; k < 2 * NPorts; k++) begin
      if (!pick && (k > 32'(port_q)) && (k <= 32'(port_q) + NPorts) && ev_valid_i[k % NPorts]) begin
        pick      = (st_q == StIdle) && !(ctxw_valid_i && !ctxw_ack_o);
        pick_port = PW'(k % NPorts);
      end
    end
    ev_ready_o = '0;
    ev_ready_o[pick_port] = pick;
  end

  logic pick_ctx;
  assign pick_ctx = (st_q == StIdle) && ctxw_valid_i && !ctxw_ack_o;

  logic [LogEqs-1:0] slot;
  assign slot = eqn_q[LogEqs-1:0];
  bdy_pkg::eq_ctx_t ctx;
  assign ctx = {384'd0, ctx_q[slot]};
  logic known, full;
  assign known = (eqn_q[7:LogEqs] == '0) && valid_q[slot];
  logic [31:0] size, pi;
  assign size = 32'd1 << ctx.log_size;
  assign pi   = pi_q[slot];
  assign full = ((pi - ci_q[slot]) >= size);

  logic [31:0] in_ring;
  assign in_ring = pi & (size - 32'd1);
  logic [63:0] entry_addr;
  assign entry_addr = ctx.base + {26'd0, in_ring, 6'd0};
  logic [511:0] entry;
  assign entry = {pi, 31'd0, !pi[ctx.log_size], 320'd0, time_q, ev_q};

  assign wrq_valid_o = (st_q == StBody) || (st_q == StTail);
  assign wrq_addr_o  = (st_q == StBody) ? entry_addr : entry_addr + 64'd56;
  assign wrq_len_o   = (st_q == StBody) ? 13'd56 : 13'd8;
  assign wrd_valid_o = (beat_q != 2'd0);
  assign wrd_data_o  = (beat_q == 2'd2) ? entry[255:0] : ((st_q == StBodyB) ? {64'd0, entry[447:256]} : {192'd0, entry[511:448]});

  logic done;
  assign done = ((st_q == StTailB) && wrb_valid_i) || ((st_q == StLook) && (!known || full));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q        <= StIdle;
      port_q      <= '0;
      beat_q      <= '0;
      ev_done_o   <= '0;
      ctxw_ack_o  <= 1'b0;
      overflow_o  <= 1'b0;
      dropped_o   <= 1'b0;
      trc_valid_o <= 1'b0;
      valid_q     <= '0;
    end else begin
      ev_done_o   <= '0;
      ctxw_ack_o  <= pick_ctx;
      dropped_o   <= (st_q == StLook) && !known;
      trc_valid_o <= (st_q == StTailB) && wrb_valid_i;
      if (done) ev_done_o[port_q] <= 1'b1;
      if ((beat_q != 2'd0) && wrd_ready_i) beat_q <= beat_q - 2'd1;
      if (pick_ctx) valid_q[ctxw_idx_i[LogEqs-1:0]] <= ctxw_data_i[0];
      case (st_q)
        StIdle: if (pick) begin
          st_q   <= StLook;
          port_q <= pick_port;
        end
        StLook: begin
          st_q <= (known && !full) ? StBody : StIdle;
          if (known && full) overflow_o <= 1'b1;
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
          st_q <= StIdle;
          if (wrb_err_i) overflow_o <= 1'b1;
        end
        default: st_q <= StIdle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      eqn_q  <= (ev_eqn_i[8*pick_port +: 8] == 8'hff) ? async_eqn_i : ev_eqn_i[8*pick_port +: 8];
      ev_q   <= ev_i[64*pick_port +: 64];
      time_q <= cycle_i;
    end
    trc_o <= entry;
  end

  // ------------------------------------------------------------------ arm: fire when an entry lies beyond ci
  logic [Eqs-1:0] fire;
  for (genvar e = 0; e < Eqs; e++) begin : gen_eq
    logic written, db_here, ctx_here;
    assign written  = (st_q == StTailB) && wrb_valid_i && (slot == LogEqs'(e));
    assign db_here  = db_valid_i && (db_eqn_i == LogEqs'(e));
    assign ctx_here = pick_ctx && (ctxw_idx_i[LogEqs-1:0] == LogEqs'(e));
    assign fire[e]  = valid_q[e] && armed_q[e] && (pi_q[e] != ci_q[e]);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        armed_q[e] <= 1'b0;
        pi_q[e]    <= '0;
        ci_q[e]    <= '0;
      end else if (ctx_here) begin
        armed_q[e] <= 1'b0;
        pi_q[e]    <= '0;
        ci_q[e]    <= '0;
      end else begin
        if (written) pi_q[e] <= pi_q[e] + 32'd1;
        // An impossible consumer index (more than was produced) is not believed.
        if (db_here && ((pi_q[e] - db_ci_i) <= (pi_q[e] - ci_q[e]))) ci_q[e] <= db_ci_i;
        if (db_here && db_arm_i) armed_q[e] <= 1'b1;
        else if (fire[e]) armed_q[e] <= 1'b0;
      end
    end
    always_ff @(posedge clk_i) if (ctx_here) ctx_q[e] <= ctxw_data_i[127:0];
  end

  // ------------------------------------------------------------------ MSI-X: pending bit, then message when not masked
  logic [Vectors-1:0] pend_q, raise;
  logic [VW-1:0]      msg_vec;
  logic               msg_any;
  integer e2, v2;
  always_comb begin
    raise = '0;
    for (e2 = 0; e2 < Eqs; e2++) begin
      if (fire[e2]) raise[ctx_q[e2][32 +: VW]] = 1'b1;
    end
    msg_any = 1'b0;
    msg_vec = '0;
    for (v2 = 0; v2 < Vectors; v2++) begin
      if (!msg_any && pend_q[v2] && !msix_mask_i[v2]) begin
        msg_any = 1'b1;
        msg_vec = VW'(v2);
      end
    end
  end
  logic          out_q;
  logic [VW-1:0] out_vec_q;
  assign msix_valid_o   = out_q;
  assign msix_addr_o    = msix_tbl_addr_i[64*out_vec_q +: 64];
  assign msix_data_o    = msix_tbl_data_i[32*out_vec_q +: 32];
  assign msix_pending_o = pend_q;
  logic take;
  assign take = msg_any && !out_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pend_q    <= '0;
      out_q     <= 1'b0;
      out_vec_q <= '0;
    end else begin
      pend_q <= (pend_q & ~(take ? (Vectors'(1) << msg_vec) : '0)) | raise;
      if (take) begin
        out_q     <= 1'b1;
        out_vec_q <= msg_vec;
      end else if (msix_ready_i) out_q <= 1'b0;
    end
  end

  assign idle_o = (st_q == StIdle) && (ev_valid_i == '0) && !ctxw_valid_i && !out_q && ((pend_q & ~msix_mask_i) == '0) && (fire == '0)
                  && !db_valid_i;

  logic unused;
  assign unused = ^{ctx, ctxw_idx_i[15:LogEqs], ctxw_data_i[511:128]};
endmodule
