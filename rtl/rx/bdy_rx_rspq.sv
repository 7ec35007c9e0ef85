// SPDX-License-Identifier: Apache-2.0
//
// bdy_rx_rspq: what each queue pair still has to answer, in PSN order (H14).
//
//   per queue pair:   [READ][READ]...[READ]  then one slot {ACK | NAK}
//   work list:        queue pairs with something to send, each at most once, served in turn, one packet a turn
//
// Purpose: decouples the request engine from the response engine. ACKs coalesce in the slot (T4): a newer ACK replaces an
//   older one, an ACK never replaces a NAK it does not reach, a READ drops an ACK or NAK that its response acknowledges.
// Latency: command to answer 3 cycles when idle. Work is offered 3 cycles after it came.
// Throughput: one command, answer or piece of work every 3 cycles.
// Backpressure: commands never wait for the response engine, only (3 cycles each) for its reports and for one pick (H13).
// Invariants: at most 16 READs a queue pair, at most `limit` of them not duplicates (T7); a queue pair is in the work list at
//   most once, so the list cannot overflow; protection refusals go through the timer (H9), nothing else does.
// After reset the RAMs may hold anything: the flags are flip-flops, and counters count as zero while no READ is queued.

module bdy_rx_rspq #(
  parameter int LogQps = 8,
  parameter int NakDepth = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [31:0]         cycle_i,
  input  logic [15:0]         nak_delay_i,

  // Commands of the request engine; answers are valid with cmd_ready_o.
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  logic [1:0]          cmd_op_i,       // 0 ACK or NAK, 1 READ, 2 drop the READs
  input  logic [LogQps-1:0]   cmd_idx_i,
  input  logic [23:0]         cmd_psn_i,
  input  logic [23:0]         cmd_msn_i,
  input  logic [7:0]          cmd_syn_i,
  input  logic [31:0]         cmd_arrival_i,
  input  logic [63:0]         cmd_va_i,
  input  logic [31:0]         cmd_rkey_i,
  input  logic [31:0]         cmd_len_i,
  input  logic                cmd_dup_i,
  input  logic [4:0]          cmd_limit_i,
  output logic                cmd_over_o,     // READ beyond the limit (T7): not queued
  output logic                cmd_full_o,     // no room: not queued

  output logic [(1<<LogQps)-1:0] reads_o,     // READs are queued
  output logic [(1<<LogQps)-1:0] owes_o,      // anything is queued, in the timer or in the response engine's fetch half

  // Work for the response engine: offered only while wk_ready_i, for one cycle.
  output logic                wk_valid_o,
  input  logic                wk_ready_i,
  output logic                wk_read_o,
  output logic [LogQps-1:0]   wk_idx_o,
  output logic [23:0]         wk_psn_o,
  output logic [23:0]         wk_msn_o,
  output logic [7:0]          wk_syn_o,
  output logic [63:0]         wk_va_o,
  output logic [31:0]         wk_rkey_o,
  output logic [31:0]         wk_len_o,       // bytes still to be read
  output logic                wk_first_o,

  // Its report about that work.
  input  logic                fin_valid_i,
  output logic                fin_ready_o,
  input  logic [1:0]          fin_op_i,       // 0 answer taken, 1 READ packet fetched, 2 READ refused, 3 READs dropped
  input  logic [LogQps-1:0]   fin_idx_i,
  input  logic [12:0]         fin_bytes_i,
  input  logic [7:0]          fin_syn_i,

  output logic                idle_o
);

  localparam int Qps = 1 << LogQps;

  localparam logic [1:0] CmdAnswer = 2'd0;
  localparam logic [1:0] CmdRead = 2'd1;
  localparam logic [1:0] FinRead = 2'd1;
  localparam logic [1:0] FinRefused = 2'd2;
  localparam logic [1:0] FinDropped = 2'd3;

  localparam logic [1:0] StIdle = 2'd0;
  localparam logic [1:0] StQueue = 2'd1;      // the queue's record is here, its oldest READ is being read
  localparam logic [1:0] StDo = 2'd2;

  localparam logic [1:0] DoCmd = 2'd0;
  localparam logic [1:0] DoFin = 2'd1;
  localparam logic [1:0] DoPick = 2'd2;
  localparam logic [1:0] DoFire = 2'd3;

  // a < b on the PSN circle
  function automatic logic psn_before(input logic [23:0] a, input logic [23:0] b);
    psn_before = ((a - b) & 24'h80_0000) != '0;
  endfunction

  // ---------------------------------------------------------------- what to do next
  logic [1:0]        st_q, do_q, sel;
  logic              sel_any;
  logic [LogQps-1:0] idx_q, sel_idx;
  logic              list_valid, list_pop, list_push, list_room;
  logic [LogQps-1:0] list_idx;
  logic [LogQps:0]   list_count;
  logic              fire_valid, fire_ready, tm_valid, tm_ready, tm_idle;
  logic [LogQps-1:0] fire_idx;

  always_comb begin
    sel     = DoCmd;
    sel_any = 1'b1;
    sel_idx = cmd_idx_i;
    if (fin_valid_i) begin
      sel     = DoFin;
      sel_idx = fin_idx_i;
    end else if (fire_valid && wk_ready_i) begin
      sel     = DoFire;
      sel_idx = fire_idx;
    end else if (!cmd_valid_i) begin
      sel     = DoPick;
      sel_idx = list_idx;
      sel_any = list_valid && wk_ready_i;
    end
  end

  assign list_pop   = st_q == StIdle && sel_any && sel == DoPick;
  assign fire_ready = st_q == StIdle && sel_any && sel == DoFire;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q  <= StIdle;
      do_q  <= DoCmd;
      idx_q <= '0;
    end else begin
      case (st_q)
        StIdle: begin
          do_q  <= sel;
          idx_q <= sel_idx;
          if (sel_any) st_q <= StQueue;
        end
        StQueue: st_q <= StDo;
        default: st_q <= StIdle;
      endcase
    end
  end

  // ---------------------------------------------------------------- records
  logic [Qps-1:0] reads_q, slot_q, timed_q, listed_q;
  logic           reads, slot, timed, listed;
  logic           reads_d, slot_d, timed_d, listed_d;

  // {head, count, count of originals, slot: psn, msn, syndrome, arrival}
  localparam int RecW = 4 + 5 + 5 + 24 + 24 + 8 + 32;
  logic [RecW-1:0] rec, rec_d;
  logic            rec_wr;
  logic [3:0]      head, head_d;
  logic [4:0]      cnt, cnt_d, orig, orig_d;
  logic [23:0]     slot_psn, slot_psn_d, slot_msn, slot_msn_d;
  logic [7:0]      slot_syn, slot_syn_d;
  logic [31:0]     slot_arrival, slot_arrival_d;

  bdy_ram_sdp #(.Width(RecW), .Depth(Qps)) u_records (
    .clk_i, .wr_en_i(rec_wr), .wr_lane_i(1'b1), .wr_addr_i(idx_q), .wr_data_i(rec_d),
    .rd_en_i(st_q == StIdle), .rd_addr_i(sel_idx), .rd_data_o(rec)
  );
  assign {head, slot_psn, slot_msn, slot_syn, slot_arrival} = {rec[RecW-1-:4], rec[87:0]};
  assign cnt   = reads_q[idx_q] ? rec[97:93] : 5'd0;
  assign orig  = reads_q[idx_q] ? rec[92:88] : 5'd0;
  assign rec_d = {head_d, cnt_d, orig_d, slot_psn_d, slot_msn_d, slot_syn_d, slot_arrival_d};

  assign reads  = reads_q[idx_q];
  assign slot   = slot_q[idx_q];
  assign timed  = timed_q[idx_q];
  assign listed = listed_q[idx_q];

  // {duplicate, first, arrival, msn, psn, rkey, va, len}
  localparam int ReadW = 2 + 32 + 24 + 24 + 32 + 64 + 32;
  logic [ReadW-1:0]  rd, rd_d;
  logic              rd_wr;
  logic [LogQps+3:0] rd_waddr;
  logic              rd_dup, rd_first;
  logic [31:0]       rd_arrival, rd_rkey, rd_len;
  logic [23:0]       rd_msn, rd_psn;
  logic [63:0]       rd_va;

  bdy_ram_sdp #(.Width(ReadW), .Depth(16 * Qps)) u_reads (
    .clk_i, .wr_en_i(rd_wr), .wr_lane_i(1'b1), .wr_addr_i(rd_waddr), .wr_data_i(rd_d),
    .rd_en_i(st_q == StQueue), .rd_addr_i({idx_q, head}), .rd_data_o(rd)
  );
  assign {rd_dup, rd_first, rd_arrival, rd_msn, rd_psn, rd_rkey, rd_va, rd_len} = rd;

  // ---------------------------------------------------------------- the work itself
  logic now_cmd, now_fin, now_pick, now_fire, is_refusal;
  logic push_read, push_answer, drop_reads, covered, keep_nak, read_over;

  assign now_cmd  = st_q == StDo && do_q == DoCmd;
  assign now_fin  = st_q == StDo && do_q == DoFin;
  assign now_pick = st_q == StDo && do_q == DoPick;
  assign now_fire = st_q == StDo && do_q == DoFire;

  assign cmd_ready_o = now_cmd;
  assign fin_ready_o = now_fin;
  assign cmd_over_o  = cmd_op_i == CmdRead && !cmd_dup_i && orig >= cmd_limit_i;
  assign cmd_full_o  = cmd_op_i == CmdRead && cnt >= 5'd16;

  assign push_read = now_cmd && cmd_op_i == CmdRead && !cmd_over_o && !cmd_full_o;
  // The READ's response acknowledges all before it; a NAK for its own PSN is overtaken by its acceptance.
  assign covered   = psn_before(slot_psn, cmd_psn_i) || (slot_syn != bdy_pkg::AETH_ACK && slot_psn == cmd_psn_i);
  // A NAK acknowledges all before its PSN, so an ACK that does not reach it says less.
  assign keep_nak  = timed || (slot && slot_syn != bdy_pkg::AETH_ACK && cmd_syn_i == bdy_pkg::AETH_ACK &&
                               psn_before(cmd_psn_i, slot_psn));
  assign drop_reads  = reads && ((now_cmd && cmd_op_i[1]) || (now_fin && fin_op_i == FinDropped));
  assign push_answer = now_cmd && cmd_op_i == CmdAnswer && !keep_nak;
  assign is_refusal  = slot_syn == bdy_pkg::AETH_NAK_ACC && nak_delay_i != '0;
  assign read_over   = 32'(fin_bytes_i) >= rd_len;

  assign wk_valid_o = (now_pick && (reads || (slot && !is_refusal))) || now_fire;
  assign wk_read_o  = now_pick && reads;
  assign wk_idx_o   = idx_q;
  assign wk_psn_o   = wk_read_o ? rd_psn : slot_psn;
  assign wk_msn_o   = wk_read_o ? rd_msn : slot_msn;
  assign wk_syn_o   = wk_read_o ? bdy_pkg::AETH_ACK : slot_syn;
  assign wk_va_o    = rd_va;
  assign wk_rkey_o  = rd_rkey;
  assign wk_len_o   = rd_len;
  assign wk_first_o = rd_first;

  assign tm_valid = now_pick && !reads && slot && is_refusal;

  always_comb begin
    head_d         = head;
    cnt_d          = cnt;
    orig_d         = orig;
    slot_psn_d     = slot_psn;
    slot_msn_d     = slot_msn;
    slot_syn_d     = slot_syn;
    slot_arrival_d = slot_arrival;
    slot_d         = slot;
    timed_d        = timed;
    rd_d           = rd;
    rd_wr          = 1'b0;
    rd_waddr       = {idx_q, head};

    if (push_read) begin
      rd_wr    = 1'b1;
      rd_waddr = {idx_q, head + cnt[3:0]};
      rd_d     = {cmd_dup_i, 1'b1, cmd_arrival_i, cmd_msn_i, cmd_psn_i, cmd_rkey_i, cmd_va_i, cmd_len_i};
      cnt_d    = cnt + 5'd1;
      orig_d   = orig + 5'(!cmd_dup_i);
      slot_d   = slot && !covered;
    end else if (push_answer) begin
      slot_d         = 1'b1;
      slot_psn_d     = cmd_psn_i;
      slot_msn_d     = cmd_msn_i;
      slot_syn_d     = cmd_syn_i;
      slot_arrival_d = cmd_arrival_i;
    end else if (now_fin && reads && fin_op_i == FinRead) begin
      if (read_over) begin
        head_d = head + 4'd1;
        cnt_d  = cnt - 5'd1;
        orig_d = orig - 5'(!rd_dup);
      end else begin
        rd_wr = 1'b1;
        rd_d  = {rd_dup, 1'b0, rd_arrival, rd_msn, rd_psn + 24'd1, rd_rkey, rd_va + 64'(fin_bytes_i),
                 rd_len - 32'(fin_bytes_i)};
      end
    end else if (now_fin && reads && fin_op_i == FinRefused) begin
      cnt_d          = '0;
      slot_d         = 1'b1;
      slot_psn_d     = rd_psn;
      slot_msn_d     = rd_msn - 24'd1;   // this message did not complete
      slot_syn_d     = fin_syn_i;
      slot_arrival_d = rd_arrival;
    end else if (drop_reads) begin
      // What came before the oldest READ is complete: that much is still acknowledged (T4). Nothing behind it can be.
      cnt_d      = '0;
      slot_d     = rd_first && !rd_dup;
      slot_psn_d = rd_psn - 24'd1;
      slot_msn_d = rd_msn - 24'd1;
      slot_syn_d = bdy_pkg::AETH_ACK;
    end else if (now_pick && !reads && slot) begin
      // Taken by the response engine, or by the timer if that has room.
      slot_d  = is_refusal && !tm_ready;
      timed_d = is_refusal && tm_ready;
    end else if (now_fire) begin
      timed_d = 1'b0;
    end
    reads_d = cnt_d != '0;
  end
  assign rec_wr = now_cmd || now_fin;

  // Listed while in the list or in the response engine's hands.
  always_comb begin
    listed_d  = listed;
    list_push = 1'b0;
    if (now_cmd && (push_read || push_answer) && !listed) begin
      list_push = 1'b1;
      listed_d  = 1'b1;
    end else if (now_fin || (now_pick && !wk_valid_o) || (drop_reads && !listed)) begin
      list_push = reads_d || slot_d;
      listed_d  = list_push;
    end else if (now_fire) begin
      listed_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reads_q  <= '0;
      slot_q   <= '0;
      timed_q  <= '0;
      listed_q <= '0;
    end else if (st_q == StDo) begin
      reads_q[idx_q]  <= reads_d;
      slot_q[idx_q]   <= slot_d;
      timed_q[idx_q]  <= timed_d;
      listed_q[idx_q] <= listed_d;
    end
  end

  assign reads_o = reads_q;
  assign owes_o  = reads_q | slot_q | timed_q | listed_q;
  assign idle_o  = st_q == StIdle && list_count == '0 && !cmd_valid_i && !fin_valid_i && tm_idle;

  bdy_fifo #(.Width(LogQps), .Depth(Qps)) u_list (
    .clk_i, .rst_ni,
    .wr_valid_i(list_push), .wr_ready_o(list_room), .wr_data_i(idx_q),
    .rd_valid_o(list_valid), .rd_ready_i(list_pop), .rd_data_o(list_idx), .count_o(list_count)
  );

  bdy_rx_naktimer #(.LogQps(LogQps), .Depth(NakDepth)) u_timer (
    .clk_i, .rst_ni, .cycle_i, .period_i(nak_delay_i),
    .in_valid_i(tm_valid), .in_ready_o(tm_ready), .in_idx_i(idx_q), .in_arrival_i(slot_arrival),
    .fire_valid_o(fire_valid), .fire_ready_i(fire_ready), .fire_idx_o(fire_idx), .idle_o(tm_idle)
  );
  // Never needed: the list has a place for every queue pair.
  // verilator lint_off UNUSEDSIGNAL
  logic unused_room;   // the list has a place for every queue pair
  // verilator lint_on UNUSEDSIGNAL
  assign unused_room = list_room;

`ifdef FORMAL
  always_ff @(posedge clk_i) if (rst_ni) begin
    assert (!list_push || list_room);
    assert (st_q != 2'd3);
  end
`endif

endmodule
