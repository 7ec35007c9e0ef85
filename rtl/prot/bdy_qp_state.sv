// SPDX-License-Identifier: Apache-2.0
//
// bdy_qp_state: state, generation and alive bit of every queue pair number (H4), written by operations only.
//
// Latency:      read: combinational. Write: seen from the next cycle on.
// Throughput:   one write and NRd reads per cycle.
// Backpressure: none.
// Invariants:   after reset every queue pair is RESET, generation 0, not alive; the RAM needs no clearing because a word
//               counts only once it was written.

module bdy_qp_state #(
  parameter int LogQps = 8,
  parameter int NRd    = 9
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   wr_en_i,
  input  logic [LogQps-1:0]      wr_idx_i,
  input  logic [35:0]            wr_data_i,  // {alive, st, gen}
  input  logic [NRd*LogQps-1:0]  rd_idx_i,
  output logic [NRd*36-1:0]      rd_data_o
);

  logic [35:0]            state [2**LogQps];
  logic [2**LogQps-1:0]   written_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      written_q <= '0;
    else if (wr_en_i) written_q[wr_idx_i] <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (wr_en_i) state[wr_idx_i] <= wr_data_i;
  end

  for (genvar r = 0; r < NRd; r++) begin : g_rd
    logic [LogQps-1:0] idx;
    assign idx = rd_idx_i[LogQps*r+:LogQps];
    assign rd_data_o[36*r+:36] = written_q[idx] ? state[idx] : 36'h0;
  end

endmodule
