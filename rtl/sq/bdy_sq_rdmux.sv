// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_rdmux: the WQE fetchers of the request half (0) and of the response half (1) share one DMA
// read client.
//
// Latency:      none.
// Throughput:   one request at a time, its data included.
// Backpressure: the other fetcher waits for memory only (H13): memory always answers. The response
//               half goes first.
// Invariants:   data goes to the fetcher whose request was accepted last; a request shown stays
//               until accepted.

module bdy_sq_rdmux (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [1:0]   s_valid_i,
  output logic [1:0]   s_ready_o,
  input  logic [127:0] s_addr_i,
  input  logic [25:0]  s_len_i,
  output logic [1:0]   s_data_valid_o,
  output logic         rdq_valid_o,
  input  logic         rdq_ready_i,
  output logic [63:0]  rdq_addr_o,
  output logic [12:0]  rdq_len_o,
  input  logic         rdd_valid_i,
  input  logic         rdd_last_i
);

  logic busy_q, shown_q, who_q, who;

  assign who         = (shown_q || busy_q) ? who_q : s_valid_i[1];
  assign rdq_valid_o = !busy_q && s_valid_i[who];
  assign rdq_addr_o  = s_addr_i[64*who+:64];
  assign rdq_len_o   = s_len_i[13*who+:13];

  assign s_ready_o[0]      = rdq_valid_o && rdq_ready_i && !who;
  assign s_ready_o[1]      = rdq_valid_o && rdq_ready_i && who;
  assign s_data_valid_o[0] = rdd_valid_i && !who_q;
  assign s_data_valid_o[1] = rdd_valid_i && who_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      shown_q <= 1'b0;
      who_q   <= 1'b0;
    end else begin
      who_q   <= who;
      shown_q <= rdq_valid_o && !rdq_ready_i;
      if (rdq_valid_o && rdq_ready_i) busy_q <= 1'b1;
      if (busy_q && rdd_valid_i && rdd_last_i) busy_q <= 1'b0;
    end
  end

endmodule
