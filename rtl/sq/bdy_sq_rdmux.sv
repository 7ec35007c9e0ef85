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

`ifdef BUG_SQ_RDMUX_SWITCH
  assign who         = busy_q ? who_q : s_valid_i[1];
`else
  assign who         = (shown_q || busy_q) ? who_q : s_valid_i[1];
`endif
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

`ifdef FORMAL_RDMUX
  // The fetchers hold their requests; memory answers only what it took.
  bdy_rv_props #(.Width(77), .Assume(1'b1)) u_in0 (
    .clk_i, .rst_ni, .valid_i(s_valid_i[0]), .ready_i(s_ready_o[0]),
    .data_i({s_addr_i[63:0], s_len_i[12:0]})
  );
  bdy_rv_props #(.Width(77), .Assume(1'b1)) u_in1 (
    .clk_i, .rst_ni, .valid_i(s_valid_i[1]), .ready_i(s_ready_o[1]),
    .data_i({s_addr_i[127:64], s_len_i[25:13]})
  );
  bdy_rv_props #(.Width(77)) u_out (
    .clk_i, .rst_ni, .valid_i(rdq_valid_o), .ready_i(rdq_ready_i), .data_i({rdq_addr_o, rdq_len_o})
  );

  logic       f_open_q, f_owner_q;
  logic [2:0] f_waits_q;

  initial assume (!rst_ni);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_open_q  <= 1'b0;
      f_owner_q <= 1'b0;
      f_waits_q <= '0;
    end else begin
      if (rdq_valid_o && rdq_ready_i) begin
        f_open_q  <= 1'b1;
        f_owner_q <= s_ready_o[1];
      end else if (rdd_valid_i && rdd_last_i) begin
        f_open_q <= 1'b0;
      end
      if (s_ready_o[1] || !s_valid_i[1]) f_waits_q <= '0;
      else if (s_ready_o[0]) f_waits_q <= f_waits_q + 3'd1;
    end
  end

  always_comb begin
    if (rst_ni) begin
      if (rdd_valid_i) assume (f_open_q);
      assert (busy_q == f_open_q);
      if (f_open_q) assert (who_q == f_owner_q);
      assert (s_data_valid_o == (rdd_valid_i ? (f_owner_q ? 2'b10 : 2'b01) : 2'b00));
      assert (!(s_ready_o[0] && s_ready_o[1]));
      assert (!(shown_q && busy_q));
      if (f_waits_q != '0) assert (!(shown_q && !who_q));
      assert (f_waits_q <= 3'd1);  // the response half waits for one request at most (H13)
      cover (f_waits_q == 3'd1);
      cover (s_data_valid_o[1] && s_valid_i[0]);
    end
  end
`endif

endmodule
