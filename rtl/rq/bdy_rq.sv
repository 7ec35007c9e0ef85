// SPDX-License-Identifier: Apache-2.0
//
// bdy_rq: receive queues: producer and consumer indices, and the SGEs of the receive WQEs in use.
//
//   doorbell ─► context ─► beyond the ring? (H23) ─► producer index
//   request  ─► empty? ─► fetch the WQE by DMA ─► check ─► SGEs to the current file and, for later packets, to RAM
//
// Purpose: gives the responder the oldest posted WQE of a queue pair without consuming it; `pop` consumes.
// Latency: peek 3 cycles; get 4 cycles and one DMA read; load 2 cycles if the file still holds the queue pair's SGEs, else 11.
// Throughput: one request and one doorbell at a time.
// Backpressure: requests wait for memory alone; doorbells for nothing (H13).
// Invariants: consumer <= producer <= consumer + ring; the WQE is read once (H23): what was checked is what is used.
//   After reset all indices count as zero, whatever the RAMs hold.

module bdy_rq #(
  parameter int LogQps = 8
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,

  // Receive doorbells, checked for ownership
  input  logic                          db_valid_i,
  output logic                          db_ready_o,
  input  logic [LogQps-1:0]             db_idx_i,
  input  logic [15:0]                   db_index_i,

  // Context of the doorbell's queue pair
  output logic [LogQps-1:0]             ctx_idx_o,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,

  // DMA read client
  output logic                          rdq_valid_o,
  input  logic                          rdq_ready_i,
  output logic [63:0]                   rdq_addr_o,
  output logic [12:0]                   rdq_len_o,
  input  logic                          rdd_valid_i,
  input  logic [255:0]                  rdd_data_i,
  input  logic                          rdd_last_i,
  input  logic                          rdd_err_i,

  // Requests of the responder, which gives the ring from the context it works with. req_valid_i is held until rsp_valid_o.
  input  logic                          req_valid_i,
  input  logic [1:0]                    req_op_i,        // 0 peek, 1 get, 2 load the SGEs of the WQE got before
  input  logic [LogQps-1:0]             req_idx_i,
  input  logic [63:0]                   req_base_i,
  input  logic [3:0]                    req_log_i,
  input  logic [1:0]                    req_log_stride_i,
  output logic                          rsp_valid_o,     // pulse
  output logic                          rsp_empty_o,
  output logic [7:0]                    rsp_rule_o,      // get: P15 malformed, DMA not readable
  output logic [15:0]                   rsp_index_o,     // peek, get
  output logic [4:0]                    rsp_num_sge_o,   // get
  output logic [31:0]                   rsp_total_o,     // get: bytes of room, saturated
  input  logic [3:0]                    sge_idx_i,
  output logic [bdy_pkg::SGE_W-1:0]     sge_o,           // of the queue pair got or loaded last

  input  logic                          pop_valid_i,     // consume the oldest WQE; not while a request is out
  input  logic [LogQps-1:0]             pop_idx_i,
  input  logic                          clr_valid_i,     // empty the queue (RESET); held until ready
  output logic                          clr_ready_o,
  input  logic [LogQps-1:0]             clr_idx_i,

  output logic                          err_post_valid_o, // pulse: WQEs were posted in ERR: flush them (Q2)
  output logic [LogQps-1:0]             err_post_idx_o,
  output logic                          beyond_valid_o,   // producer index beyond the ring: queue pair to ERR (H23)
  input  logic                          beyond_ready_i,
  output logic [LogQps-1:0]             beyond_idx_o,
  output logic                          idle_o
);

  localparam int Qps = 1 << LogQps;

  localparam logic [1:0] OpPeek = 2'd0;
  localparam logic [1:0] OpLoad = 2'd2;

  // ---------------------------------------------------------------- indices
  // Two copies of each, for two readers: 0 doorbells, 1 requests.
  logic [Qps-1:0]    pi_known_q, ci_known_q;
  logic              pi_wr, ci_wr;
  logic [31:0]       pi_raw, ci_raw;
  logic [15:0]       db_pi, db_ci, req_pi, req_ci;
  logic [LogQps-1:0] db_idx_q, db_rd_idx;

  for (genvar k = 0; k < 2; k++) begin : g_copy
    bdy_ram_sdp #(.Width(16), .Depth(Qps)) u_pi (
      .clk_i, .wr_en_i(pi_wr), .wr_lane_i(1'b1), .wr_addr_i(db_idx_q), .wr_data_i(db_index_q),
      .rd_en_i(1'b1), .rd_addr_i(k == 0 ? db_rd_idx : req_idx_i), .rd_data_o(pi_raw[16*k+:16])
    );
    bdy_ram_sdp #(.Width(16), .Depth(Qps)) u_ci (
      .clk_i, .wr_en_i(ci_wr), .wr_lane_i(1'b1), .wr_addr_i(pop_idx_i), .wr_data_i(req_ci + 16'd1),
      .rd_en_i(1'b1), .rd_addr_i(k == 0 ? db_rd_idx : req_idx_i), .rd_data_o(ci_raw[16*k+:16])
    );
  end
  assign db_pi  = pi_known_q[db_idx_q] ? pi_raw[15:0] : 16'd0;
  assign db_ci  = ci_known_q[db_idx_q] ? ci_raw[15:0] : 16'd0;
  assign req_pi = pi_known_q[req_idx_i] ? pi_raw[31:16] : 16'd0;
  assign req_ci = ci_known_q[req_idx_i] ? ci_raw[31:16] : 16'd0;
  // pop follows a peek or get of the same queue pair, so req_ci is its index.
  assign ci_wr  = pop_valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pi_known_q <= '0;
      ci_known_q <= '0;
    end else begin
      if (pi_wr) pi_known_q[db_idx_q] <= 1'b1;
      if (ci_wr) ci_known_q[pop_idx_i] <= 1'b1;
      if (clr_valid_i && clr_ready_o) begin
        pi_known_q[clr_idx_i] <= 1'b0;
        ci_known_q[clr_idx_i] <= 1'b0;
      end
    end
  end

  // ---------------------------------------------------------------- doorbells
  localparam logic [1:0] DbIdle = 2'd0;
  localparam logic [1:0] DbCheck = 2'd1;
  localparam logic [1:0] DbBeyond = 2'd2;

  // Only state and ring size matter here.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::qp_ctx0_t db_ctx;
  // verilator lint_on UNUSEDSIGNAL
  assign db_ctx = ctx0_i;

  logic [1:0]  db_st_q;
  logic [15:0] db_index_q, db_posted, db_had;
  logic        db_dead, db_beyond, db_newer;

  assign db_ready_o = db_st_q == DbIdle;
  assign db_rd_idx  = db_st_q == DbIdle ? db_idx_i : db_idx_q;
  assign ctx_idx_o  = db_rd_idx;
  assign db_posted  = db_index_q - db_ci;
  assign db_had     = db_pi - db_ci;
  assign db_dead    = db_ctx.st == bdy_pkg::QP_ST_RESET;
  assign db_beyond  = db_posted > (16'd1 << db_ctx.rq_log);
  assign db_newer   = db_posted > db_had;    // an older doorbell changes nothing
  assign pi_wr      = db_st_q == DbCheck && !db_dead && !db_beyond && db_newer;

  assign err_post_valid_o = pi_wr && db_ctx.st == bdy_pkg::QP_ST_ERR;
  assign err_post_idx_o   = db_idx_q;
  assign beyond_valid_o   = db_st_q == DbBeyond;
  assign beyond_idx_o     = db_idx_q;
  assign clr_ready_o      = db_st_q == DbIdle && !db_valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      db_st_q    <= DbIdle;
      db_idx_q   <= '0;
      db_index_q <= '0;
    end else begin
      case (db_st_q)
        DbIdle: begin
          db_idx_q   <= db_idx_i;
          db_index_q <= db_index_i;
          if (db_valid_i) db_st_q <= DbCheck;
        end
        DbCheck: db_st_q <= (!db_dead && db_beyond) ? DbBeyond : DbIdle;
        DbBeyond: if (beyond_ready_i) db_st_q <= DbIdle;
        default: db_st_q <= DbIdle;
      endcase
    end
  end

  // ---------------------------------------------------------------- requests
  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StLook = 3'd1;
  localparam logic [2:0] StAsk = 3'd2;
  localparam logic [2:0] StData = 3'd3;
  localparam logic [2:0] StCheck = 3'd4;
  localparam logic [2:0] StLoad = 3'd5;
  localparam logic [2:0] StRsp = 3'd6;

  // A WQE with 16 SGEs ends at byte 272; a smaller stride holds fewer.
  function automatic logic [12:0] fetch_bytes(input logic [1:0] log_stride);
    fetch_bytes = (log_stride == 2'd3) ? 13'd272 : 13'd64 << log_stride;
  endfunction

  logic [2:0]          st_q;
  logic [3:0]          beat_q;              // beat of the fetch, or pair being loaded
  logic [7:0]          rule_q;
  logic [127:0]        head_q;              // the WQE's first 16 bytes
  logic [127:0]        carry_q;             // upper half of the beat before: the lower SGE of a pair
  logic [35:0]         total_q;
  logic [2047:0]       file_q;              // SGEs of queue pair file_idx_q
  logic                file_valid_q;
  logic [LogQps-1:0]   file_idx_q;
  logic                empty, hit, pair_wr, malformed;
  logic                empty_q;             // as it was when the request was looked at: a doorbell may come meanwhile
  logic [2:0]          pair;
  logic [255:0]        pair_data, pair_ram;
  logic [4:0]          num_sge;
  logic [15:0]         slot;

  assign empty   = req_pi == req_ci;
  assign hit     = file_valid_q && file_idx_q == req_idx_i;
  assign slot    = req_ci & ((16'd1 << req_log_i) - 16'd1);
  assign num_sge = head_q[4:0];

  assign rdq_valid_o = st_q == StAsk;
  assign rdq_addr_o  = req_base_i + (64'(slot) << (4'd6 + 4'(req_log_stride_i)));
  assign rdq_len_o   = fetch_bytes(req_log_stride_i);

  // Beat 0 is {SGE 0, header}, beat k is {SGE 2k, SGE 2k-1}. Pair k is {SGE 2k+1, SGE 2k}: complete with the beat after, or
  // half empty after the last beat.
  assign pair_wr   = (st_q == StData && rdd_valid_i && beat_q != '0) || (st_q == StCheck && beat_q <= 4'd8);
  assign pair      = beat_q[2:0] - 3'd1;
  assign pair_data = {st_q == StData ? rdd_data_i[127:0] : 128'b0, carry_q};

  bdy_ram_sdp #(.Width(256), .Depth(8 * Qps)) u_sges (
    .clk_i, .wr_en_i(pair_wr), .wr_lane_i(1'b1), .wr_addr_i({req_idx_i, pair}), .wr_data_i(pair_data),
    .rd_en_i(st_q == StLook || st_q == StLoad), .rd_addr_i({req_idx_i, st_q == StLook ? 3'd0 : beat_q[2:0] + 3'd1}),
    .rd_data_o(pair_ram)
  );

  // Bytes that a pair adds to the room: SGEs beyond num_sge count nothing.
  function automatic logic [35:0] pair_len(input logic [31:0] even, input logic [31:0] odd, input logic [2:0] number,
                                           input logic [4:0] sges);
    pair_len = (5'({number, 1'b0}) < sges ? 36'(even) : 36'd0) + (5'({number, 1'b1}) < sges ? 36'(odd) : 36'd0);
  endfunction

  assign malformed = (head_q & bdy_pkg::RWQE_RSVD_MASK[127:0]) != '0 || head_q[47:32] != req_ci ||
                     num_sge > bdy_pkg::MAX_SGE[4:0] || 13'd16 + (13'(num_sge) << 4) > fetch_bytes(req_log_stride_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      st_q         <= StIdle;
      beat_q       <= '0;
      rule_q       <= bdy_pkg::RULE_NONE;
      empty_q      <= 1'b0;
      file_valid_q <= 1'b0;
      file_idx_q   <= '0;
    end else begin
      case (st_q)
        StIdle: if (req_valid_i) st_q <= StLook;
        StLook: begin
          beat_q  <= '0;
          rule_q  <= bdy_pkg::RULE_NONE;
          empty_q <= empty;
          if (req_op_i == OpLoad) st_q <= hit ? StRsp : StLoad;
          else st_q <= (empty || req_op_i == OpPeek) ? StRsp : StAsk;
        end
        StAsk: begin
          file_valid_q <= 1'b0;
          if (rdq_ready_i) st_q <= StData;
        end
        StData: begin
          if (rdd_valid_i) begin
            beat_q <= beat_q + 4'd1;
            if (rdd_last_i) begin
              st_q <= StCheck;
              if (rdd_err_i) rule_q <= bdy_pkg::RULE_DMA;
            end
          end
        end
        StCheck: begin
          st_q         <= StRsp;
          file_valid_q <= 1'b1;
          file_idx_q   <= req_idx_i;
          if (rule_q == bdy_pkg::RULE_NONE && malformed) rule_q <= bdy_pkg::RULE_P15;
        end
        StLoad: begin
          beat_q       <= beat_q + 4'd1;
          file_valid_q <= 1'b1;
          file_idx_q   <= req_idx_i;
          if (beat_q == 4'd7) st_q <= StRsp;
        end
        default: st_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (st_q == StLook) total_q <= '0;
    if (st_q == StData && rdd_valid_i) begin
      carry_q <= rdd_data_i[255:128];
      if (beat_q == '0) head_q <= rdd_data_i[127:0];
    end
    if (pair_wr) begin
      file_q[256*pair+:256] <= pair_data;
      total_q               <= total_q + pair_len(pair_data[95:64], pair_data[223:192], pair, num_sge);
    end
    if (st_q == StLoad) file_q[256*beat_q[2:0]+:256] <= pair_ram;
  end

  assign rsp_valid_o   = st_q == StRsp;
  assign rsp_empty_o   = empty_q;
  assign rsp_rule_o    = rule_q;
  assign rsp_index_o   = req_ci;
  assign rsp_num_sge_o = num_sge;
  assign rsp_total_o   = total_q[35:32] != '0 ? 32'hffff_ffff : total_q[31:0];
  assign sge_o         = file_q[128*sge_idx_i+:128];
  assign idle_o        = st_q == StIdle && db_st_q == DbIdle && !db_valid_i && !req_valid_i;

`ifdef FORMAL
  always_ff @(posedge clk_i) if (rst_ni) begin
    assert (st_q <= StRsp);
    assert (db_st_q != 2'd3);
    if (clr_valid_i && clr_ready_o) assert (!pi_wr);
  end
`endif

endmodule
