// SPDX-License-Identifier: Apache-2.0
//
// bdy_sge_walk: walks a scatter/gather list for one packet: cuts [off, off + len) of the message
// into pieces that lie in one SGE, asks the protection engine for each, and hands out the granted
// bus ranges in byte order. bdy_gather and bdy_scatter move the bytes.
//
//   SGEs --> piece --> access request (tag = slot) ... verdict --> slot --> one or two ranges
//        --> in flight --> grant returned
//
// Latency:      two cycles from start to the first access request, one from its verdict to the
//               range.
// Throughput:   one piece or one skipped SGE per cycle; up to Slots verdicts outstanding (Shallow: one
//               piece at a time).
// Backpressure: acc_ready_i, rng_ready_i. Verdicts and completions are always taken.
// Invariants:   a range is handed out only if its verdict granted (H6) and no piece before it was
//               refused. Every granted verdict is returned exactly once (H3): after the completion
//               of its last range, or unused behind a refusal. done_o comes when all of them are
//               returned. The first error in byte order is reported; host memory's errors come from
//               pieces before any refused one.

module bdy_sge_walk #(
  parameter logic [7:0] TagBase = 8'h00,          // multiple of Slots
  parameter bit         Shallow = 1'b0,           // every list one deep (H13)
  parameter int         Slots   = Shallow ? 1 : 4 // power of two
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         start_valid_i,
  output logic         start_ready_o,
  input  logic [4:0]   start_num_sge_i,
  input  logic [31:0]  start_off_i,
  input  logic [12:0]  start_len_i,      // 1 to 4096
  input  logic         start_local_i,
  input  logic [7:0]   start_rights_i,
  input  logic [23:0]  start_pd_i,
  input  logic [23:0]  start_qpn_i,
  input  logic [31:0]  start_gen_i,
  input  logic [31:0]  start_chk_len_i,  // 0: check the piece; else bytes to check (H6)

  output logic [3:0]   sge_idx_o,
  input  logic [127:0] sge_i,            // combinational answer to sge_idx_o

  output logic                          acc_valid_o,
  input  logic                          acc_ready_i,
  output logic [bdy_pkg::ACC_REQ_W-1:0] acc_req_o,
  input  logic                          acc_rsp_valid_i,
  input  logic [bdy_pkg::ACC_RSP_W-1:0] acc_rsp_i,
  output logic                          ret_valid_o,
  output logic                          ret_epoch_o,

  output logic         rng_valid_o,
  input  logic         rng_ready_i,
  output logic [63:0]  rng_addr_o,
  output logic [12:0]  rng_len_o,
  output logic [12:0]  rng_off_o,        // of the range in the packet
  input  logic         cpl_valid_i,      // oldest range is complete
  input  logic         cpl_err_i,
  output logic [12:0]  cpl_off_o,        // the oldest range in flight
  output logic [12:0]  cpl_len_o,

  output logic         done_o,
  output logic [7:0]   done_rule_o,
  output logic         done_stale_o
);

  localparam int SlotW = Slots > 1 ? $clog2(Slots) : 1;
  localparam int Words = Slots > 1 ? Slots : 2;  // one slot has no address; the second stays unused
  localparam int FlyDepth = Slots > 1 ? 2 * Slots : 1;
  localparam int UsedW = $clog2(Slots + 1);

  // -------------------------------------------- walk: one piece or one SGE passed over per cycle
  logic        busy_q, walk_q, short_q, refused_q, dma_err_q, stale_q;
  logic [7:0]  rule_q;
  logic [4:0]  num_q, idx_q;
  logic [31:0] skip_q, chk_len_q, gen_q;
  logic [12:0] left_q, off_q;
  logic        local_q;
  logic [7:0]  rights_q;
  logic [23:0] pd_q, qpn_q;

  logic [63:0] sge_addr;
  logic [31:0] sge_len, sge_key, sge_left;
  logic [12:0] piece;
  logic        start, in_list, pass_over, make, out_of_list, sge_ends;
  logic        slot_free, acc_free;

  assign sge_addr = sge_i[bdy_pkg::SGE_ADDR_LSB+:bdy_pkg::SGE_ADDR_W];
  assign sge_len  = sge_i[bdy_pkg::SGE_LEN_LSB+:bdy_pkg::SGE_LEN_W];
  assign sge_key  = sge_i[bdy_pkg::SGE_LKEY_LSB+:bdy_pkg::SGE_LKEY_W];

  assign start_ready_o = !busy_q;
  assign start         = start_valid_i && start_ready_o;
  assign sge_idx_o     = idx_q[3:0];
  assign sge_left      = sge_len - skip_q;
  assign sge_ends      = sge_left <= 32'(left_q);
  assign piece         = sge_ends ? sge_left[12:0] : left_q;
  assign in_list       = walk_q && !refused_q && idx_q != num_q;
  assign out_of_list   = walk_q && !refused_q && idx_q == num_q;
  assign pass_over     = in_list && skip_q >= sge_len;
  assign make          = in_list && !pass_over && slot_free && acc_free;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      walk_q  <= 1'b0;
      short_q <= 1'b0;
    end else if (start) begin
      busy_q  <= 1'b1;
      walk_q  <= 1'b1;
      short_q <= 1'b0;
    end else begin
      if (done_o) busy_q <= 1'b0;
      if ((make && piece == left_q) || out_of_list || refused_q) walk_q <= 1'b0;
      if (out_of_list) short_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      num_q     <= start_num_sge_i;
      idx_q     <= '0;
      skip_q    <= start_off_i;
      left_q    <= start_len_i;
      off_q     <= '0;
      local_q   <= start_local_i;
      rights_q  <= start_rights_i;
      pd_q      <= start_pd_i;
      qpn_q     <= start_qpn_i;
      gen_q     <= start_gen_i;
      chk_len_q <= start_chk_len_i;
    end else if (pass_over) begin
      idx_q  <= idx_q + 5'd1;
      skip_q <= skip_q - sge_len;
    end else if (make) begin
      left_q <= left_q - piece;
      off_q  <= off_q + piece;
      skip_q <= sge_ends ? '0 : skip_q + 32'(piece);
      if (sge_ends) idx_q <= idx_q + 5'd1;
    end
  end

  // -------------------------------------------- access request, held until taken
  logic                acc_valid_q;
  bdy_pkg::acc_req_t   acc_req_q, acc_req_d;
  logic [SlotW-1:0]    tail_q, head_q;
  logic [UsedW-1:0]    used_q;
  logic                pop;

  assign slot_free   = used_q != UsedW'(Slots);
  assign acc_free    = !acc_valid_q || acc_ready_i;
  assign acc_valid_o = acc_valid_q;
  assign acc_req_o   = acc_req_q;

  always_comb begin
    acc_req_d           = '0;
    acc_req_d.tag       = TagBase | 8'(tail_q);
    acc_req_d.local_key = local_q;
    acc_req_d.rights    = rights_q;
    acc_req_d.key       = sge_key;
    acc_req_d.va        = sge_addr + 64'(skip_q);
    acc_req_d.len       = (chk_len_q != '0) ? chk_len_q : 32'(piece);
    acc_req_d.xlen      = piece;
    acc_req_d.pd        = pd_q;
    acc_req_d.qpn       = qpn_q;
    acc_req_d.qp_gen    = gen_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      acc_valid_q <= 1'b0;
      tail_q      <= '0;
      head_q      <= '0;
      used_q      <= '0;
    end else begin
      if (make)             acc_valid_q <= 1'b1;
      else if (acc_ready_i) acc_valid_q <= 1'b0;
      if (make && Slots > 1) tail_q <= tail_q + SlotW'(1);
      if (pop && Slots > 1)  head_q <= head_q + SlotW'(1);
      if (make && !pop) used_q <= used_q + UsedW'(1);
      if (pop && !make) used_q <= used_q - UsedW'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (make) acc_req_q <= acc_req_d;
  end

  // -------------------------------------------- slots: verdicts may overtake each other
  logic [Words-1:0] answered_q;
  logic [12:0]      slot_off_q [Words];
  logic [255:0]     verdict_q  [Words];
  logic [SlotW-1:0] rsp_slot;

  assign rsp_slot = acc_rsp_i[bdy_pkg::ACC_RSP_TAG_LSB+:SlotW];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answered_q <= '0;
    end else begin
      if (make)            answered_q[tail_q] <= 1'b0;
      if (acc_rsp_valid_i) answered_q[rsp_slot] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (make)            slot_off_q[tail_q] <= off_q;
    if (acc_rsp_valid_i) verdict_q[rsp_slot] <= acc_rsp_i;
  end

  // -------------------------------------------- the oldest verdict: one or two ranges, or none
  logic [255:0] head;
  logic [7:0]   head_rule;
  logic         head_answered, granted, epoch, second_q;
  logic [12:0]  head_off, len0, len1;
  logic         fly_ready, fly_valid, fly_last, fly_epoch;
  logic         rng, last_rng, cpl_ret, ret_unused;
  logic [$clog2(FlyDepth+1)-1:0] fly_count;

  assign head          = verdict_q[head_q];
  assign head_off      = slot_off_q[head_q];
  assign head_answered = used_q != '0 && answered_q[head_q];
  assign head_rule     = head[bdy_pkg::ACC_RSP_RULE_LSB+:bdy_pkg::ACC_RSP_RULE_W];
  assign epoch         = head[bdy_pkg::ACC_RSP_EPOCH_LSB];
  assign len0          = head[bdy_pkg::ACC_RSP_LEN0_LSB+:bdy_pkg::ACC_RSP_LEN0_W];
  assign len1          = head[bdy_pkg::ACC_RSP_LEN1_LSB+:bdy_pkg::ACC_RSP_LEN1_W];
`ifdef BUG_WALK_REFUSED
  assign granted       = 1'b1;
`else
  assign granted       = head_rule == bdy_pkg::RULE_NONE;
`endif

  assign rng_valid_o = head_answered && granted && !refused_q && fly_ready;
  assign rng_addr_o  = second_q ? head[bdy_pkg::ACC_RSP_BUS1_LSB+:bdy_pkg::ACC_RSP_BUS1_W]
                                : head[bdy_pkg::ACC_RSP_BUS0_LSB+:bdy_pkg::ACC_RSP_BUS0_W];
  assign rng_len_o   = second_q ? len1 : len0;
  assign rng_off_o   = second_q ? head_off + len0 : head_off;
  assign last_rng    = second_q || len1 == '0;
  assign rng         = rng_valid_o && rng_ready_i;

  // A completion and an unused grant may want to return in one cycle: the completion goes first.
`ifdef BUG_WALK_RETURN
  assign cpl_ret     = cpl_valid_i && fly_valid;
`else
  assign cpl_ret     = cpl_valid_i && fly_valid && fly_last;
`endif
  assign ret_unused  = head_answered && granted && refused_q && !cpl_ret;
  assign ret_valid_o = cpl_ret || ret_unused;
  assign ret_epoch_o = cpl_ret ? fly_epoch : epoch;
  assign pop         = (rng && last_rng) || ret_unused || (head_answered && !granted);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      second_q  <= 1'b0;
      refused_q <= 1'b0;
      dma_err_q <= 1'b0;
    end else begin
      if (rng) second_q <= !last_rng;
      if (start) begin
        refused_q <= 1'b0;
        dma_err_q <= 1'b0;
      end else begin
        if (head_answered && !granted) refused_q <= 1'b1;
        if (cpl_valid_i && cpl_err_i)  dma_err_q <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (head_answered && !granted && !refused_q) begin
      rule_q  <= head_rule;
      stale_q <= head[bdy_pkg::ACC_RSP_STALE_LSB];
    end
  end

  // -------------------------------------------- ranges in flight
  bdy_fifo #(.Width(28), .Depth(FlyDepth)) u_fly (
    .clk_i, .rst_ni,
    .wr_valid_i(rng),
    .wr_ready_o(fly_ready),
    .wr_data_i({rng_off_o, rng_len_o, last_rng, epoch}),
    .rd_valid_o(fly_valid),
    .rd_ready_i(cpl_valid_i),
    .rd_data_o({cpl_off_o, cpl_len_o, fly_last, fly_epoch}),
    .count_o(fly_count)
  );

  assign done_o = busy_q && !walk_q && used_q == '0 && !fly_valid;

  always_comb begin
    done_stale_o = 1'b0;
    if (dma_err_q) begin
      done_rule_o = bdy_pkg::RULE_DMA;
    end else if (refused_q) begin
      done_rule_o  = rule_q;
      done_stale_o = stale_q;
    end else begin
      done_rule_o = short_q ? bdy_pkg::RULE_T9 : bdy_pkg::RULE_NONE;
    end
  end

  logic unused;
  assign unused = ^{head, fly_count};  // reserved bits and the tag

`ifdef FORMAL_WALK
  // Environment: verdicts answer requests once, completions answer ranges.
  logic [Slots-1:0] f_asked_q;
  logic [3:0]       f_granted_q, f_returned_q, f_open_ranges_q;
  logic             f_rsp_granted;

  initial assume (!rst_ni);
  assign f_rsp_granted = acc_rsp_valid_i
                      && acc_rsp_i[bdy_pkg::ACC_RSP_RULE_LSB+:bdy_pkg::ACC_RSP_RULE_W] == 8'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_asked_q       <= '0;
      f_granted_q     <= '0;
      f_returned_q    <= '0;
      f_open_ranges_q <= '0;
    end else begin
      if (acc_rsp_valid_i) f_asked_q[rsp_slot] <= 1'b0;
      if (acc_valid_o && acc_ready_i) f_asked_q[acc_req_o[SlotW-1:0]] <= 1'b1;
      if (rng && !cpl_valid_i) f_open_ranges_q <= f_open_ranges_q + 4'd1;
      if (cpl_valid_i && !rng) f_open_ranges_q <= f_open_ranges_q - 4'd1;
      if (f_rsp_granted) f_granted_q <= f_granted_q + 4'd1;
      if (ret_valid_o)   f_returned_q <= f_returned_q + 4'd1;
    end
  end

  always_comb begin
    assume (f_granted_q != '1);
    // Small numbers take every path of the walk.
    if (start) assume (start_len_i != '0 && start_len_i < 13'd8 && start_off_i < 32'd8);
    assume (sge_len < 32'd8);
    if (acc_rsp_valid_i) assume (f_asked_q[rsp_slot]);
    if (acc_rsp_valid_i) assume (acc_rsp_i[bdy_pkg::ACC_RSP_LEN0_LSB+:13] != '0);
    if (cpl_valid_i) assume (f_open_ranges_q != '0);
    if (rst_ni) begin
      if (ret_valid_o) assert (f_returned_q < f_granted_q);
      if (done_o) assert (f_returned_q == f_granted_q);
      if (done_o) assert (f_asked_q == '0 && f_open_ranges_q == '0 && !acc_valid_o);
      if (rng_valid_o) assert (head_rule == 8'd0 && f_returned_q < f_granted_q);
      if (!busy_q) assert (f_returned_q == f_granted_q);
      cover (done_o && f_granted_q == 4'd1 && refused_q);
      cover (done_o && f_granted_q == 4'd2 && done_rule_o == 8'd0);
    end
  end

  // Of wide payloads a few bits stand for all.
  bdy_rv_props #(.Width(8)) u_acc_props (
    .clk_i, .rst_ni, .valid_i(acc_valid_o), .ready_i(acc_ready_i), .data_i(acc_req_o[7:0])
  );
  bdy_rv_props #(.Width(4)) u_rng_props (
    .clk_i, .rst_ni, .valid_i(rng_valid_o), .ready_i(rng_ready_i),
    .data_i({rng_addr_o[1:0], rng_len_o[1:0]})
  );
`endif

endmodule
