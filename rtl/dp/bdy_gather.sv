// SPDX-License-Identifier: Apache-2.0
//
// bdy_gather: reads one packet's payload from the memory that a scatter/gather list names into a
// payload buffer.
//
// Latency:      bdy_sge_walk's, then host memory's.
// Throughput:   one beat per cycle; access and memory of successive pieces overlap.
// Backpressure: requests wait for acc_ready_i and rdq_ready_i; verdicts and read data are always
//               taken: the buffer has room for the whole packet (H3, H13).
// Invariants:   bytes are read only under a grant (H6), which is returned after its last beat (H3);
//               done_o comes once a start, last. With done_rule_o not 0 the buffer's contents mean
//               nothing.

module bdy_gather #(
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

  output logic         rdq_valid_o,
  input  logic         rdq_ready_i,
  output logic [63:0]  rdq_addr_o,
  output logic [12:0]  rdq_len_o,
  input  logic         rdd_valid_i,
  input  logic [255:0] rdd_data_i,
  input  logic         rdd_last_i,
  input  logic         rdd_err_i,

  output logic         pb_wr_valid_o,
  output logic [12:0]  pb_wr_off_o,
  output logic [5:0]   pb_wr_bytes_o,
  output logic [255:0] pb_wr_data_o,

  output logic         done_o,
  output logic [7:0]   done_rule_o,
  output logic         done_stale_o
);

  logic [12:0] rng_off, cpl_off, cpl_len;
  logic [12:0] got_q, left;

  bdy_sge_walk #(.TagBase(TagBase), .Shallow(Shallow)) u_walk (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .start_num_sge_i, .start_off_i, .start_len_i,
    .start_local_i, .start_rights_i, .start_pd_i, .start_qpn_i, .start_gen_i, .start_chk_len_i,
    .sge_idx_o, .sge_i,
    .acc_valid_o, .acc_ready_i, .acc_req_o, .acc_rsp_valid_i, .acc_rsp_i,
    .ret_valid_o, .ret_epoch_o,
    .rng_valid_o(rdq_valid_o),
    .rng_ready_i(rdq_ready_i),
    .rng_addr_o(rdq_addr_o),
    .rng_len_o(rdq_len_o),
    .rng_off_o(rng_off),
    .cpl_valid_i(rdd_valid_i && rdd_last_i),
    .cpl_err_i(rdd_err_i),
    .cpl_off_o(cpl_off),
    .cpl_len_o(cpl_len),
    .done_o, .done_rule_o, .done_stale_o
  );

  assign idle_o        = start_ready_o;
  assign left          = cpl_len - got_q;
  assign pb_wr_valid_o = rdd_valid_i;
  assign pb_wr_off_o   = cpl_off + got_q;
  assign pb_wr_bytes_o = (left < 13'd32) ? left[5:0] : 6'd32;
  assign pb_wr_data_o  = rdd_data_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)          got_q <= '0;
    else if (rdd_valid_i) got_q <= rdd_last_i ? '0 : got_q + 13'd32;
  end

  logic unused;
  assign unused = ^rng_off;  // ranges complete in order: cpl_off tells

endmodule
