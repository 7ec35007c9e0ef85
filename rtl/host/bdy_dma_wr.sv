// SPDX-License-Identifier: Apache-2.0
// bdy_dma_wr: write half of the payload/ring DMA.
//
// Purpose: N clients hand over byte ranges as packed streams; AXI4 writes go out in ascending order; each client is told, in its own
//   order, when all of a range is in host memory (last B). The AXI ID is the client.
// Latency: request to AW and first W 1 cycle; B to client 1 cycle.
// Throughput: one beat a cycle, one request at a time on the W channel (AXI4 has no W interleaving).
// Backpressure: wrd_ready follows wready; at most MaxOut requests a client are unanswered.
// Invariants: no burst crosses 4 KiB; strobes cover exactly the range; a client must have all data at hand when it asks (H3).

module bdy_dma_wr #(
  parameter int N = 5,
  parameter int IdW = 4,
  parameter int MaxOut = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             enable_i,

  input  logic [N-1:0]     wrq_valid_i,
  output logic [N-1:0]     wrq_ready_o,
  input  logic [N*64-1:0]  wrq_addr_i,
  input  logic [N*13-1:0]  wrq_len_i,     // 1..4096
  input  logic [N-1:0]     wrd_valid_i,
  output logic [N-1:0]     wrd_ready_o,
  input  logic [N*256-1:0] wrd_data_i,
  output logic [N-1:0]     wrb_valid_o,   // one-hot pulse
  output logic             wrb_err_o,

  output logic             awvalid_o,
  input  logic             awready_i,
  output logic [IdW-1:0]   awid_o,
  output logic [63:0]      awaddr_o,
  output logic [7:0]       awlen_o,
  output logic             wvalid_o,
  input  logic             wready_i,
  output logic [255:0]     wdata_o,
  output logic [31:0]      wstrb_o,
  output logic             wlast_o,
  input  logic             bvalid_i,
  output logic             bready_o,
  input  logic [IdW-1:0]   bid_i,
  input  logic [1:0]       bresp_i,

  output logic             stuck_o,
  output logic             idle_o
);
  localparam int CW = $clog2(N);
  localparam int OW = $clog2(MaxOut + 1);

  logic [N-1:0]  room;
  logic          gnt_any;
  logic [CW-1:0] gnt_idx, last_q;
  logic [N-1:0]  gnt;

  logic          busy_q;
  logic [CW-1:0] cl_q;
  logic [63:0]   addr_q;                  // address of the present fragment
  logic [12:0]   len_q;                   // bytes from addr_q to the end of the range
  logic          aw_done_q;               // this fragment's AW has been taken
  logic [4:0]    shift_q;                 // address mod 32 of the range
  logic [12:0]   in_left_q;               // input bytes not yet taken
  logic [255:0]  carry_q;                 // input beat taken last
  logic [12:0]   frag_left_q;             // bytes of the fragment not yet on W, counted from addr_q's beat
  logic [4:0]    lane_q;                  // first valid lane of the next W beat

  logic [12:0] to_line, frag_len;
  assign to_line  = 13'd4096 - {1'b0, addr_q[11:0]};
  assign frag_len = (len_q < to_line) ? len_q : to_line;
  logic [13:0] span;
  assign span = {9'd0, addr_q[4:0]} + {1'b0, frag_len} + 14'd31;

  integer k;
  always_comb begin
    gnt_any = 1'b0;
    gnt_idx = '0;
    for (k = 0; k < 2 * N; k++) begin
      if (!gnt_any && (k > 32'(last_q)) && (k <= 32'(last_q) + N) && wrq_valid_i[k % N] && room[k % N]) begin
        gnt_any = 1'b1;
        gnt_idx = CW'(k % N);
      end
    end
    gnt = '0;
    if (gnt_any && !busy_q && enable_i) gnt[gnt_idx] = 1'b1;
  end
  assign wrq_ready_o = gnt;

  // ------------------------------------------------------------------ W beat: lanes from carry and present input
  logic [5:0]   lanes;                    // bytes in this beat
  logic [5:0]   lanes_max;
  assign lanes_max = 6'd32 - {1'b0, lane_q};
  assign lanes     = (frag_left_q < {7'd0, lanes_max}) ? frag_left_q[5:0] : lanes_max;

  // A new input beat is needed unless the carry alone holds the lanes.
  logic         need_in;
  assign need_in = (in_left_q != 13'd0);
  logic [511:0] pair;
  assign pair = {wrd_data_i[256*cl_q +: 256], carry_q};
  logic [9:0]   sh_bits;                  // select so that lane i = input byte (i - shift)
  assign sh_bits = 10'd256 - {2'd0, shift_q, 3'd0};
  logic [511:0] sh_pair;
  assign sh_pair = pair >> sh_bits;
  assign wdata_o = sh_pair[255:0];
  logic [31:0]  ones;
  assign ones    = (lanes == 6'd32) ? 32'hffff_ffff : ((32'd1 << lanes[4:0]) - 32'd1);
  assign wstrb_o = ones << lane_q;
  assign wlast_o = (frag_left_q == {7'd0, lanes});
  assign wvalid_o = busy_q && (frag_left_q != 13'd0) && (!need_in || wrd_valid_i[cl_q]);

  logic w_beat, aw_beat, frag_end, range_end;
  assign w_beat    = wvalid_o && wready_i;
  assign aw_beat   = awvalid_o && awready_i;
  assign awvalid_o = busy_q && !aw_done_q;
  assign awid_o    = IdW'(cl_q);
  assign awaddr_o  = {addr_q[63:5], 5'd0};
  assign awlen_o   = span[12:5] - 8'd1;
  // A fragment ends once its AW and its last W are taken.
  logic w_over;
  assign w_over    = (frag_left_q == 13'd0) || (w_beat && wlast_o);
  assign frag_end  = busy_q && (aw_done_q || aw_beat) && w_over;
  assign range_end = frag_end && (frag_len == len_q);

  always_comb begin
    wrd_ready_o = '0;
    wrd_ready_o[cl_q] = busy_q && (frag_left_q != 13'd0) && need_in && wready_i;
  end

  logic [12:0] next_len;
  assign next_len = len_q - frag_len;
  logic [12:0] gnt_len, gnt_line;
  assign gnt_len  = wrq_len_i[13*gnt_idx +: 13];
  assign gnt_line = 13'd4096 - {1'b0, wrq_addr_i[64*gnt_idx +: 12]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      cl_q        <= '0;
      last_q      <= '0;
      addr_q      <= '0;
      len_q       <= '0;
      aw_done_q   <= 1'b0;
      shift_q     <= '0;
      in_left_q   <= '0;
      frag_left_q <= '0;
      lane_q      <= '0;
    end else if (!busy_q) begin
      if (|gnt) begin
        busy_q      <= 1'b1;
        cl_q        <= gnt_idx;
        last_q      <= gnt_idx;
        addr_q      <= wrq_addr_i[64*gnt_idx +: 64];
        len_q       <= gnt_len;
        aw_done_q   <= 1'b0;
        shift_q     <= wrq_addr_i[64*gnt_idx +: 5];
        in_left_q   <= gnt_len;
        lane_q      <= wrq_addr_i[64*gnt_idx +: 5];
        frag_left_q <= (gnt_len < gnt_line) ? gnt_len : gnt_line;
      end
    end else begin
      if (aw_beat) aw_done_q <= 1'b1;
      if (w_beat) begin
        lane_q      <= '0;
        frag_left_q <= frag_left_q - {7'd0, lanes};
        if (need_in) in_left_q <= (in_left_q < 13'd32) ? 13'd0 : in_left_q - 13'd32;
      end
      if (frag_end) begin
        addr_q      <= {addr_q[63:12] + 52'd1, 12'd0};
        len_q       <= next_len;
        aw_done_q   <= 1'b0;
        frag_left_q <= next_len;
        busy_q      <= !range_end;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (w_beat && need_in) carry_q <= wrd_data_i[256*cl_q +: 256];
  end

  // ------------------------------------------------------------------ B: a range answers once all its fragments have
  logic [CW-1:0] bc;
  assign bc       = bid_i[CW-1:0];
  assign bready_o = 1'b1;

  logic [OW:0]   frags_q [N];             // fragments issued (AW) and unanswered, all ranges of the client
  logic [OW-1:0] cnt_q [N];               // ranges unanswered
  logic [N-1:0]  two_head;                // the head range has two fragments
  logic [N-1:0]  half_q;                  // first of two fragments of the head range has answered
  logic [N-1:0]  err_q;

  logic [N-1:0] push, pop;
  logic         two_new;
  assign two_new = (gnt_len > gnt_line);
  always_comb begin
    push = gnt;
    pop  = '0;
    if (bvalid_i) pop[bc] = !two_head[bc] || half_q[bc];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wrb_valid_o <= '0;
      wrb_err_o   <= 1'b0;
      half_q      <= '0;
      err_q       <= '0;
    end else begin
      wrb_valid_o <= pop;
      wrb_err_o   <= (bresp_i != 2'b00) || err_q[bc];
      if (bvalid_i) begin
        half_q[bc] <= !pop[bc];
        err_q[bc]  <= !pop[bc] && (bresp_i != 2'b00);
      end
    end
  end
  for (genvar c = 0; c < N; c++) begin : gen_client
    logic [MaxOut-1:0] two_q;             // range k of the client has two fragments
    assign two_head[c] = two_q[0];
    assign room[c] = (cnt_q[c] < OW'(MaxOut));
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        cnt_q[c]   <= '0;
        two_q      <= '0;
        frags_q[c] <= '0;
      end else begin
        cnt_q[c]   <= cnt_q[c] + OW'(push[c]) - OW'(pop[c]);
        frags_q[c] <= frags_q[c] + (OW+1)'(aw_beat && (cl_q == CW'(c))) - (OW+1)'(bvalid_i && (bc == CW'(c)));
        if (pop[c]) two_q <= two_q >> 1;
        if (push[c]) two_q[32'(cnt_q[c]) - 32'(pop[c])] <= two_new;
      end
    end
`ifdef FORMAL
    always_ff @(posedge clk_i) if (rst_ni && bvalid_i && (bc == CW'(c))) assert (frags_q[c] != '0);
`endif
  end

  logic [24:0]  age_q;
  logic [N-1:0] waiting;
  for (genvar c = 0; c < N; c++) begin : gen_wait
    assign waiting[c] = (cnt_q[c] != '0);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) age_q <= '0;
    else if (bvalid_i || w_beat || (waiting == '0)) age_q <= '0;
    else if (!age_q[24]) age_q <= age_q + 25'd1;
  end
  assign stuck_o = age_q[24];
  assign idle_o  = !busy_q && (waiting == '0) && (wrb_valid_o == '0) && (wrq_valid_i == '0);

  logic unused;
  assign unused = ^{bid_i, span[13], span[4:0], sh_pair[511:256]};
endmodule
