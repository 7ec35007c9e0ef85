// SPDX-License-Identifier: Apache-2.0
//
// bdy_prot_event: tells the host that a table read has failed (H8).
//
// Latency:      offered in the cycle after the failure.
// Throughput:   one event at a time; failures while one waits are told by it.
// Backpressure: the event waits for the event queue; nothing here waits for the event (H13).
// Invariants:   an event offered does not change until it is taken.

module bdy_prot_event (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        idle_o,
  input  logic        entry_failed_i,        // pulses
  input  logic        translation_failed_i,
  output logic        ev_valid_o,
  input  logic        ev_ready_i,
  output logic [63:0] ev_o                   // eqe, bits 63:0
);

  logic waits_q, translation_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)         waits_q <= 1'b0;
    else if (!waits_q)   waits_q <= entry_failed_i || translation_failed_i;
    else if (ev_ready_i) waits_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!waits_q) translation_q <= !entry_failed_i;
  end

  assign ev_valid_o = waits_q;
  assign ev_o       = {31'h0, translation_q, 24'h0, bdy_pkg::EQE_KIND_TABLE_READ};
  assign idle_o     = !waits_q;

endmodule
