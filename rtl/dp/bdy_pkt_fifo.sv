// SPDX-License-Identifier: Apache-2.0
//
// bdy_pkt_fifo: FIFO of whole packets whose writer is never stalled.
//
// Latency:      a packet is offered two cycles after its last beat was written.
// Throughput:   one beat written and one read per cycle.
// Backpressure: none on the write side: a packet that does not fit is dropped as a whole (drop_o,
//               at its last beat). m_ready_i stalls the read side.
// Invariants:   only complete packets leave, in order; a dropped one leaves no trace.

module bdy_pkt_fifo #(
  parameter int Beats = 256  // power of two
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         idle_o,

  input  logic         wr_valid_i,
  input  logic [255:0] wr_data_i,
  input  logic [31:0]  wr_keep_i,
  input  logic         wr_last_i,
  output logic         drop_o,

  output logic         m_valid_o,
  input  logic         m_ready_i,
  output logic [255:0] m_data_o,
  output logic [31:0]  m_keep_o,
  output logic         m_last_o
);

  localparam int AddrW = $clog2(Beats);

  // One bit more than the address, so that full and empty differ.
  logic [AddrW:0] rd_ptr_q, end_q, wr_ptr_q;  // end_q: behind the last complete packet
  logic           lost_q, lost, full, store, issue, out_valid_q;

`ifdef BUG_PKT_FULL
  assign full   = 1'b0;
`else
  assign full   = wr_ptr_q - rd_ptr_q == (AddrW + 1)'(Beats);
`endif
  assign lost   = lost_q || full;
  assign store  = wr_valid_i && !lost;
  assign drop_o = wr_valid_i && wr_last_i && lost;
  assign issue  = rd_ptr_q != end_q && (!out_valid_q || m_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_ptr_q    <= '0;
      end_q       <= '0;
      wr_ptr_q    <= '0;
      lost_q      <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (wr_valid_i) lost_q <= lost && !wr_last_i;
      if (store)       wr_ptr_q <= wr_ptr_q + (AddrW + 1)'(1);
      else if (drop_o) wr_ptr_q <= end_q;
`ifdef BUG_PKT_PART
      if (store) end_q <= wr_ptr_q + (AddrW + 1)'(1);
`else
      if (store && wr_last_i) end_q <= wr_ptr_q + (AddrW + 1)'(1);
`endif
      if (issue)          rd_ptr_q <= rd_ptr_q + (AddrW + 1)'(1);
      if (issue)          out_valid_q <= 1'b1;
      else if (m_ready_i) out_valid_q <= 1'b0;
    end
  end

  bdy_ram_sdp #(.Width(289), .Depth(Beats)) u_ram (
    .clk_i,
    .wr_en_i(store),
    .wr_lane_i(1'b1),
    .wr_addr_i(wr_ptr_q[AddrW-1:0]),
    .wr_data_i({wr_last_i, wr_keep_i, wr_data_i}),
    .rd_en_i(issue),
    .rd_addr_i(rd_ptr_q[AddrW-1:0]),
    .rd_data_o({m_last_o, m_keep_o, m_data_o})
  );

  assign m_valid_o = out_valid_q;
  assign idle_o    = wr_ptr_q == rd_ptr_q && !out_valid_q && !lost_q;

`ifdef FORMAL_PKT
  // Packets that went in whole and came out; one data bit of each beat is followed through.
  (* anyconst *) logic [7:0] f_pick;
  logic [7:0] f_kept_q, f_left_q;        // packets kept, packets out
  logic [7:0] f_stored_q, f_out_q;       // beats of kept packets, beats out
  logic [7:0] f_now_q;                   // beats of the packet being written
  logic       f_bit_q, f_seen_q;

  initial assume (!rst_ni);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_kept_q   <= '0;
      f_left_q   <= '0;
      f_stored_q <= '0;
      f_out_q    <= '0;
      f_now_q    <= '0;
      f_seen_q   <= 1'b0;
    end else begin
      if (wr_valid_i) f_now_q <= wr_last_i ? 8'd0 : f_now_q + 8'd1;
      if (wr_valid_i && wr_last_i && !drop_o) begin
        f_kept_q   <= f_kept_q + 8'd1;
        f_stored_q <= f_stored_q + f_now_q + 8'd1;
      end
      if (m_valid_o && m_ready_i) begin
        f_out_q <= f_out_q + 8'd1;
        if (m_last_o) f_left_q <= f_left_q + 8'd1;
      end
      // The beat that would be number f_pick, if its packet is kept.
      if (wr_valid_i && f_stored_q + f_now_q == f_pick) f_seen_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (wr_valid_i && f_stored_q + f_now_q == f_pick) f_bit_q <= wr_data_i[0];
  end

  always_comb begin
    assume (f_stored_q < 8'd200 && f_now_q < 8'd40);
    if (rst_ni) begin
      assert (wr_ptr_q - rd_ptr_q <= (AddrW + 1)'(Beats));
      if (m_valid_o) assert (f_out_q < f_stored_q && f_left_q < f_kept_q);
      if (m_valid_o && f_out_q == f_pick) assert (f_seen_q && m_data_o[0] == f_bit_q);
      if (idle_o) assert (f_out_q == f_stored_q && f_left_q == f_kept_q);
      cover (drop_o);
      cover (f_left_q == 8'd1 && f_kept_q == 8'd2);
    end
  end

  bdy_rv_props #(.Width(3)) u_m_props (
    .clk_i, .rst_ni, .valid_i(m_valid_o), .ready_i(m_ready_i),
    .data_i({m_last_o, m_keep_o[0], m_data_o[0]})
  );
`endif

endmodule
