// SPDX-License-Identifier: Apache-2.0
//
// bdy_scatter: writes one packet's payload from a packet buffer to the memory that a scatter/gather
// list names.
//
// Latency:      bdy_sge_walk's, then host memory's.
// Throughput:   one beat per cycle; access and memory of successive pieces overlap.
// Backpressure: requests wait for acc_ready_i, wrq_ready_i and prq_ready_i; the data stream goes
//               straight through.
// Invariants:   the payload is complete in the buffer before the start (H3), so a grant's life
//               depends on host memory alone. Bytes are written only under a grant (H6), which is
//               returned after its last B (H3); done_o comes once a start, last.

module bdy_scatter #(
  parameter logic [7:0] TagBase = 8'h00,
  parameter bit         Shallow = 1'b0   // every list one deep (H13)
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         idle_o,

  input  logic         start_valid_i,
  output logic         start_ready_o,
  input  logic [4:0]   start_num_sge_i,
  input  logic [31:0]  start_off_i,      // of the packet in the message
  input  logic [12:0]  start_len_i,      // 1 to 4096
  input  logic [12:0]  start_src_off_i,  // of the first byte in the packet's payload
  input  logic         start_local_i,
  input  logic [7:0]   start_rights_i,
  input  logic [23:0]  start_pd_i,
  input  logic [23:0]  start_qpn_i,
  input  logic [31:0]  start_gen_i,
  input  logic [31:0]  start_chk_len_i,  // 0: check what is moved; else bytes to check (H6)

  output logic [3:0]   sge_idx_o,
  input  logic [127:0] sge_i,            // combinational; stable from start to done

  output logic                          acc_valid_o,
  input  logic                          acc_ready_i,
  output logic [bdy_pkg::ACC_REQ_W-1:0] acc_req_o,
  input  logic                          acc_rsp_valid_i,
  input  logic [bdy_pkg::ACC_RSP_W-1:0] acc_rsp_i,
  output logic                          ret_valid_o,
  output logic                          ret_epoch_o,

  output logic         prq_valid_o,
  input  logic         prq_ready_i,
  output logic [12:0]  prq_off_o,
  output logic [12:0]  prq_len_o,
  input  logic         pst_valid_i,
  output logic         pst_ready_o,
  input  logic [255:0] pst_data_i,
  input  logic         pst_last_i,

  output logic         wrq_valid_o,
  input  logic         wrq_ready_i,
  output logic [63:0]  wrq_addr_o,
  output logic [12:0]  wrq_len_o,
  output logic         wrd_valid_o,
  input  logic         wrd_ready_i,
  output logic [255:0] wrd_data_o,
  output logic         wrd_last_o,
  input  logic         wrb_valid_i,
  input  logic         wrb_err_i,

  output logic         done_o,
  output logic [7:0]   done_rule_o,
  output logic         done_stale_o
);

  logic        rng_valid, rng_ready, asked_src_q, asked_dst_q;
  logic [12:0] rng_len, rng_off, cpl_off, cpl_len, src_off_q;

  bdy_sge_walk #(.TagBase(TagBase), .Shallow(Shallow)) u_walk (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .start_num_sge_i, .start_off_i, .start_len_i,
    .start_local_i, .start_rights_i, .start_pd_i, .start_qpn_i, .start_gen_i, .start_chk_len_i,
    .sge_idx_o, .sge_i,
    .acc_valid_o, .acc_ready_i, .acc_req_o, .acc_rsp_valid_i, .acc_rsp_i,
    .ret_valid_o, .ret_epoch_o,
    .rng_valid_o(rng_valid),
    .rng_ready_i(rng_ready),
    .rng_addr_o(wrq_addr_o),
    .rng_len_o(rng_len),
    .rng_off_o(rng_off),
    .cpl_valid_i(wrb_valid_i),
    .cpl_err_i(wrb_err_i),
    .cpl_off_o(cpl_off),
    .cpl_len_o(cpl_len),
    .done_o, .done_rule_o, .done_stale_o
  );

  assign idle_o = start_ready_o;

  // One range is asked for at both ends, in any order.
  assign prq_valid_o = rng_valid && !asked_src_q;
  assign prq_off_o   = src_off_q + rng_off;
  assign prq_len_o   = rng_len;
  assign wrq_valid_o = rng_valid && !asked_dst_q;
  assign wrq_len_o   = rng_len;
  assign rng_ready   = (asked_src_q || prq_ready_i) && (asked_dst_q || wrq_ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_src_q <= 1'b0;
      asked_dst_q <= 1'b0;
    end else if (rng_valid && rng_ready) begin
      asked_src_q <= 1'b0;
      asked_dst_q <= 1'b0;
    end else begin
      if (prq_valid_o && prq_ready_i) asked_src_q <= 1'b1;
      if (wrq_valid_o && wrq_ready_i) asked_dst_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) src_off_q <= start_src_off_i;
  end

  // Both streams are packed and in the order of the ranges.
  assign wrd_valid_o = pst_valid_i;
  assign pst_ready_o = wrd_ready_i;
  assign wrd_data_o  = pst_data_i;
  assign wrd_last_o  = pst_last_i;

  logic unused;
  assign unused = ^{cpl_off, cpl_len};  // ranges complete in order

endmodule
