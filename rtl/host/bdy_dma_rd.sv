// SPDX-License-Identifier: Apache-2.0
// bdy_dma_rd: read half of the payload/ring DMA.
//
// Purpose: N clients ask for byte ranges; AXI4 reads go out; each client gets its bytes back as a packed stream (first byte in
//   lane 0), in its own order. The AXI ID is the client, so answers of different clients may overtake and interleave.
// Latency: request to AR 1 cycle; R beat to client beat 1 cycle.
// Throughput: one beat a cycle (one bubble for a request whose last bytes straddle a beat).
// Backpressure: a client asks only with room for all the bytes, so the stream has no ready. At most MaxOut requests a client.
// Invariants: no burst crosses 4 KiB; a request that got an error response ends with err = 1 beside its last beat.

module bdy_dma_rd #(
  parameter int N = 6,
  parameter int IdW = 4,
  parameter int MaxOut = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             enable_i,      // bus mastering on

  input  logic [N-1:0]     rdq_valid_i,
  output logic [N-1:0]     rdq_ready_o,
  input  logic [N*64-1:0]  rdq_addr_i,
  input  logic [N*13-1:0]  rdq_len_i,     // 1..4096
  output logic [N-1:0]     rdd_valid_o,   // one-hot
  output logic [255:0]     rdd_data_o,
  output logic             rdd_last_o,
  output logic             rdd_err_o,

  output logic             arvalid_o,
  input  logic             arready_i,
  output logic [IdW-1:0]   arid_o,
  output logic [63:0]      araddr_o,
  output logic [7:0]       arlen_o,
  input  logic             rvalid_i,
  output logic             rready_o,
  input  logic [IdW-1:0]   rid_i,
  input  logic [255:0]     rdata_i,
  input  logic [1:0]       rresp_i,
  input  logic             rlast_i,

  output logic             stuck_o,       // an answer is overdue (2^24 cycles)
  output logic             idle_o
);
  localparam int CW = $clog2(N);
  localparam int OW = $clog2(MaxOut + 1);

  // ------------------------------------------------------------------ request side: pick, split at 4 KiB, issue
  logic [N-1:0]  room;
  logic [N-1:0]  gnt;
  logic          gnt_any;
  logic [CW-1:0] gnt_idx;
  logic [CW-1:0] last_q;

  logic          busy_q;                  // a request is being issued
  logic [CW-1:0] cl_q;
  logic [63:0]   addr_q;
  logic [12:0]   left_q;                  // bytes not yet asked for

  // Bytes of the fragment that starts at addr_q.
  logic [12:0] to_line, frag_len;
  assign to_line  = 13'd4096 - {1'b0, addr_q[11:0]};
  assign frag_len = (left_q < to_line) ? left_q : to_line;
  logic [13:0] span;
  assign span = {9'd0, addr_q[4:0]} + {1'b0, frag_len} + 14'd31;   // bytes of whole beats, before truncation

  assign arvalid_o = busy_q;
  assign arid_o    = IdW'(cl_q);
  assign araddr_o  = {addr_q[63:5], 5'd0};
  assign arlen_o   = span[12:5] - 8'd1;

  // Round robin: the first valid client after the one served last.
  integer k;
  always_comb begin
    gnt_any = 1'b0;
    gnt_idx = '0;
    for (k = 0; k < 2 * N; k++) begin
      if (!gnt_any && (k > 32'(last_q)) && (k <= 32'(last_q) + N) && rdq_valid_i[k % N] && room[k % N]) begin
        gnt_any = 1'b1;
        gnt_idx = CW'(k % N);
      end
    end
    gnt = '0;
    if (gnt_any && !busy_q && enable_i) gnt[gnt_idx] = 1'b1;
  end
  assign rdq_ready_o = gnt;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      cl_q   <= '0;
      addr_q <= '0;
      left_q <= '0;
      last_q <= '0;
    end else if (!busy_q) begin
      if (|gnt) begin
        busy_q <= 1'b1;
        cl_q   <= gnt_idx;
        last_q <= gnt_idx;
        addr_q <= rdq_addr_i[64*gnt_idx +: 64];
        left_q <= rdq_len_i[13*gnt_idx +: 13];
      end
    end else if (arready_i) begin
      addr_q <= {addr_q[63:12] + 52'd1, 12'd0};
      left_q <= left_q - frag_len;
      busy_q <= (left_q != frag_len);
    end
  end

  // ------------------------------------------------------------------ answer side: per client alignment
  // Queue of what each client has asked for: shift (address mod 32) and length.
  logic [17:0]   q_mem [N*MaxOut];
  logic [OW-1:0] q_cnt_q [N];
  logic [N-1:0]  start_q;                 // next beat is the first of the head request
  logic [N-1:0]  err_q;
  logic [12:0]   rem_q [N];               // bytes of the head request not yet delivered
  logic [255:0]  hold_q [N];

  logic          tail_q;                  // the last, straddling beat of client tail_cl_q is delivered now
  logic [CW-1:0] tail_cl_q;

  logic [CW-1:0] rc;
  assign rc = rid_i[CW-1:0];
  logic [4:0]    shift;
  logic [12:0]   head_len, rem;
  assign shift    = q_mem[32'(rc) * MaxOut][17:13];
  assign head_len = q_mem[32'(rc) * MaxOut][12:0];
  assign rem      = start_q[rc] ? head_len : rem_q[rc];

  logic          beat;
  assign rready_o = !tail_q;
  assign beat     = rvalid_i && rready_o;

  // A beat yields data at once unless it only fills the hold register (first of a shifted request).
  logic          only_hold, emit, finish, need_tail;
  logic [5:0]    avail;                   // bytes of the request in this beat if it is the first one
  assign avail     = 6'd32 - {1'b0, shift};
  assign only_hold = start_q[rc] && (shift != 5'd0) && (rem > {7'd0, avail});
  assign emit      = beat && !only_hold;
  logic [12:0]   emit_bytes;
  // First beat that holds everything: all; else a full beat, or what is left.
  assign emit_bytes = (rem < 13'd32) ? rem : 13'd32;
  // After this emission bytes may be left that are already in the beat just received (shift != 0).
  logic [12:0]   after;
  assign after     = rem - emit_bytes;
  assign need_tail = emit && !start_q[rc] && (shift != 5'd0) && (after != 13'd0) && (after <= {7'd0, avail});
  assign finish    = emit && (after == 13'd0);

  logic [511:0]  pair;
  assign pair = start_q[rc] ? {256'd0, rdata_i} : ((shift == 5'd0) ? {256'd0, rdata_i} : {rdata_i, hold_q[rc]});
  logic [255:0]  shifted;
  assign shifted = 256'(pair >> {shift, 3'd0});

  logic          bad;
  assign bad = (rresp_i != 2'b00);

  logic [255:0]  tail_data;
  logic [4:0]    tail_shift;
  assign tail_shift = q_mem[32'(tail_cl_q) * MaxOut][17:13];
  assign tail_data  = hold_q[tail_cl_q] >> {tail_shift, 3'd0};

  // Registered output beat.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rdd_valid_o <= '0;
      rdd_last_o  <= 1'b0;
      rdd_err_o   <= 1'b0;
    end else begin
      rdd_valid_o <= '0;
      rdd_last_o  <= tail_q || finish;
      if (tail_q) begin
        rdd_valid_o[tail_cl_q] <= 1'b1;
        rdd_err_o              <= err_q[tail_cl_q];
      end else if (emit) begin
        rdd_valid_o[rc] <= 1'b1;
        rdd_err_o       <= (err_q[rc] && !start_q[rc]) || bad;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (tail_q) rdd_data_o <= tail_data;
    else if (emit) rdd_data_o <= shifted;
    if (beat) hold_q[rc] <= rdata_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q    <= 1'b0;
      tail_cl_q <= '0;
      start_q   <= '1;
      err_q     <= '0;
    end else begin
      tail_q <= need_tail;
      if (need_tail) tail_cl_q <= rc;
      if (beat) begin
        start_q[rc] <= finish;
        err_q[rc]   <= bad || (err_q[rc] && !start_q[rc]);
      end
      if (tail_q) start_q[tail_cl_q] <= 1'b1;
    end
  end

  // Bookkeeping per client: the head sits at slot 0, a pop shifts.
  logic [N-1:0] push, pop;
  always_comb begin
    push = gnt;
    pop  = '0;
    if (tail_q) pop[tail_cl_q] = 1'b1;
    else if (finish) pop[rc] = 1'b1;
  end
  for (genvar c = 0; c < N; c++) begin : gen_client
    assign room[c] = (q_cnt_q[c] < OW'(MaxOut));
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) q_cnt_q[c] <= '0;
      else q_cnt_q[c] <= q_cnt_q[c] + OW'(push[c]) - OW'(pop[c]);
    end
    integer j;
    always_ff @(posedge clk_i) begin
      if (pop[c]) begin
        for (j = 0; j < MaxOut - 1; j++) q_mem[c*MaxOut + j] <= q_mem[c*MaxOut + j + 1];
      end
      if (push[c]) begin
        q_mem[c*MaxOut + 32'(q_cnt_q[c]) - 32'(pop[c])] <=
            {rdq_addr_i[64*c +: 5], rdq_len_i[13*c +: 13]};
      end
      if (beat && (rc == CW'(c))) rem_q[c] <= emit ? after : rem;
    end
  end

  // ------------------------------------------------------------------ overdue answers, idle
  logic [24:0]  age_q;
  logic [N-1:0] waiting;
  for (genvar c = 0; c < N; c++) begin : gen_wait
    assign waiting[c] = (q_cnt_q[c] != '0);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) age_q <= '0;
    else if (beat || (waiting == '0)) age_q <= '0;
    else if (!age_q[24]) age_q <= age_q + 25'd1;
  end
  assign stuck_o = age_q[24];
  assign idle_o  = !busy_q && (waiting == '0) && (rdd_valid_o == '0) && (rdq_valid_i == '0);

  logic unused;
  assign unused = ^{rlast_i, rid_i, span[13], span[4:0], 1'b0};
endmodule
