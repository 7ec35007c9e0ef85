// SPDX-License-Identifier: Apache-2.0
//
// bdy_drain: revocation in O(1) by two epochs of granted, unfinished transfers (H3).
//
//   idle      every grant counts in the current epoch
//   revoke    epochs change places; the revoking operation waits until the old epoch's count is zero
//   revoke while one waits: parked; joins the change that follows the end of the running drain
//
// Latency:      with no grant outstanding, drained two cycles after the revocation.
// Throughput:   one grant, one revocation, NRet returns and one drained answer per cycle.
// Backpressure: room_o per port: an operation of that port may be executed.
// Invariants:   a drained answer comes only after every grant whose verdict was not after the revocation is returned; the
//               wait is at most two longest transfers; answers of a port keep the order of execution. No scan, whatever
//               the number of windows or grants.

module bdy_drain #(
  parameter int NOp   = 3,
  parameter int NRet  = 5,
  parameter int Depth = 256,     // revocations of a port that wait for their answer
  parameter int EvW   = 11,
  parameter int GrantW = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  output logic                   idle_o,

  input  logic                   grant_i,
  output logic                   epoch_o,     // of a grant in this cycle
  input  logic [NRet-1:0]        ret_valid_i,
  input  logic [NRet-1:0]        ret_epoch_i,

  input  logic                   revoke_i,
  input  logic [1:0]             revoke_port_i,
  input  logic [7:0]             revoke_tag_i,
  input  logic                   revoke_ev_i,     // also waits for a queue pair event
  input  logic [EvW-1:0]         revoke_ev_seq_i, // its number
  input  logic                   revoke_cw_i,     // also waits for the context write
  output logic [NOp-1:0]         room_o,
  input  logic [EvW-1:0]         ev_done_seq_i,   // events acknowledged so far
  input  logic                   cw_busy_i,

  output logic [NOp-1:0]         opd_valid_o,
  output logic [7:0]             opd_tag_o
);

  // ---------------------------------------------------------------- epochs
  localparam int StepW = $clog2(NRet + 2);

  logic              epoch_q, busy_q, parked_q;
  logic [GrantW-1:0] count0_q, count1_q;
  logic              drained, flip;

  function automatic logic [StepW-1:0] returned(input logic [NRet-1:0] valid, input logic [NRet-1:0] epoch,
                                                input logic which);
    returned = '0;
    for (int i = 0; i < NRet; i++) returned = returned + StepW'(valid[i] && epoch[i] == which);
  endfunction

  assign epoch_o = epoch_q;
`ifdef BUG_DRAIN_EARLY
  assign drained = busy_q;
`else
  assign drained = busy_q && (epoch_q ? count0_q : count1_q) == '0;
`endif
`ifdef BUG_DRAIN_STUCK
  assign flip    = revoke_i && !busy_q;
`else
  assign flip    = (revoke_i && !busy_q) || (drained && (parked_q || revoke_i));
`endif

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      epoch_q  <= 1'b0;
      busy_q   <= 1'b0;
      parked_q <= 1'b0;
      count0_q <= '0;
      count1_q <= '0;
    end else begin
      if (flip) epoch_q <= !epoch_q;
      if (flip)         busy_q <= 1'b1;
      else if (drained) busy_q <= 1'b0;
      if (flip)                    parked_q <= 1'b0;
      else if (revoke_i && busy_q) parked_q <= 1'b1;
      count0_q <= count0_q + GrantW'(grant_i && !epoch_q) - GrantW'(returned(ret_valid_i, ret_epoch_i, 1'b0));
      count1_q <= count1_q + GrantW'(grant_i && epoch_q) - GrantW'(returned(ret_valid_i, ret_epoch_i, 1'b1));
    end
  end

  // ---------------------------------------------------------------- who waits: running group, parked group, over
  localparam int CountW = $clog2(Depth + 1);
  localparam int WaitW  = 8 + 1 + 1 + EvW;

  logic [NOp-1:0]   waiting, may_answer, answer, gnt;
  logic [8*NOp-1:0] tags;
  logic             arb_valid;
  logic [1:0]       arb_idx;

  for (genvar p = 0; p < NOp; p++) begin : g_port
    logic              mine, over_any, has_ev, has_cw, full_n;
    logic [EvW-1:0]    ev_seq, since;
    logic [CountW-1:0] fifo_count, running_q, parked_n_q, over_q, over_d;

    assign mine = revoke_i && revoke_port_i == 2'(p);

    bdy_fifo #(.Width(WaitW), .Depth(Depth)) u_wait (
      .clk_i, .rst_ni,
      .wr_valid_i(mine),
      .wr_ready_o(full_n),
      .wr_data_i({revoke_tag_i, revoke_ev_i, revoke_cw_i, revoke_ev_seq_i}),
      .rd_valid_o(waiting[p]),
      .rd_ready_i(answer[p]),
      .rd_data_o({tags[8*p+:8], has_ev, has_cw, ev_seq}),
      .count_o(fifo_count)
    );
    // One operation may be taken while another reaches its verdict.
    if (Depth == 1) begin : g_one
      logic unused_count;
      assign unused_count = ^fifo_count;
      assign room_o[p] = full_n && !mine;
    end else begin : g_more
      assign room_o[p] = full_n && fifo_count != CountW'(Depth - 1);
    end

    assign over_any = over_q != '0;
    assign since    = ev_done_seq_i - ev_seq;  // below half the range: acknowledged
    assign may_answer[p] = waiting[p] && over_any && !(has_ev && since[EvW-1]) && !(has_cw && cw_busy_i);
    assign answer[p]     = may_answer[p] && arb_valid && arb_idx == 2'(p);

    assign over_d = over_q + (drained ? running_q : '0) - CountW'(answer[p]);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        running_q  <= '0;
        parked_n_q <= '0;
        over_q     <= '0;
      end else begin
        over_q <= over_d;
        if (flip) begin
          running_q  <= parked_n_q + CountW'(mine);
          parked_n_q <= '0;
        end else begin
          if (drained) running_q <= '0;
          parked_n_q <= parked_n_q + CountW'(mine);
        end
      end
    end
  end

  bdy_rr_arb #(.N(NOp)) u_arb (
    .clk_i, .rst_ni,
    .req_i(may_answer),
    .take_i(1'b1),
    .valid_o(arb_valid),
    .gnt_o(gnt),
    .idx_o(arb_idx)
  );

  logic unused;
  assign unused = ^gnt;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) opd_valid_o <= '0;
    else         opd_valid_o <= answer;
  end

  always_ff @(posedge clk_i) begin
    if (arb_valid) opd_tag_o <= tags[8*arb_idx+:8];
  end

  // An unreturned grant is somebody else's work.
  assign idle_o = !busy_q && waiting == '0 && opd_valid_o == '0;

endmodule
