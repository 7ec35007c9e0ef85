// SPDX-License-Identifier: Apache-2.0
// bdy_cmd: peripherals of the embedded core (regs/mcu.rdl): command queue registers, buffer, and four engines, each started by one
// store and ended by a bit in EVENT: DMA, bind pipeline operation, table read, event.
//
// Latency: register access 1 cycle (buffer read 2).  Throughput: one access at a time.
// Backpressure: mmio_ready_o; engines wait for their partners and for nothing else, so commands never stall the data path.
// Invariants: an engine that is busy ignores a second start; a done bit is cleared by the next start only.

module bdy_cmd #(
  parameter int LogKeys = 13,
  parameter int LogMtt = 16,
  parameter int LogQps = 8,
  parameter int LogCqs = 8,
  parameter int LogSrqs = 0,              // 0: no shared receive queues
  parameter int LogAhs = 8
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [63:0]   cycle_i,

  // Embedded core
  input  logic          mmio_valid_i,
  input  logic          mmio_we_i,
  input  logic [15:0]   mmio_addr_i,
  input  logic [31:0]   mmio_wdata_i,
  input  logic [3:0]    mmio_be_i,
  output logic          mmio_ready_o,
  output logic [31:0]   mmio_rdata_o,
  output logic          event_o,

  // BAR
  input  logic [63:0]   cmdq_base_i,
  input  logic [3:0]    cmdq_log_i,
  input  logic [15:0]   cmd_pi_i,
  input  logic          cmdq_set_i,       // pulse: queue moved, indices start over
  output logic [3:0]    dev_st_o,
  output logic [7:0]    health_o,
  output logic          strict_o,
  output logic [7:0]    async_eqn_o,
  output logic [31:0]   viol_limit_o,

  // DMA: read client, write client
  output logic          rdq_valid_o,
  input  logic          rdq_ready_i,
  output logic [63:0]   dma_addr_o,
  output logic [12:0]   dma_len_o,
  input  logic          rdd_valid_i,
  input  logic [255:0]  rdd_data_i,
  input  logic          rdd_last_i,
  input  logic          rdd_err_i,
  output logic          wrq_valid_o,
  input  logic          wrq_ready_i,
  output logic          wrd_valid_o,
  input  logic          wrd_ready_i,
  output logic [255:0]  wrd_data_o,
  input  logic          wrb_valid_i,
  input  logic          wrb_err_i,

  // Bind pipeline, op port 0
  output logic          op_valid_o,
  input  logic          op_ready_i,
  output logic [1023:0] op_o,
  input  logic          ope_valid_i,
  input  logic [7:0]    ope_rule_i,
  input  logic [31:0]   ope_res_i,
  input  logic          ope_drain_i,
  input  logic          opd_valid_i,

  // Raw table read
  output logic          rd_valid_o,
  output logic [3:0]    rd_what_o,
  output logic [23:0]   rd_idx_o,
  input  logic          rd_done_i,
  input  logic          rd_err_i,
  input  logic [511:0]  rd_data_i,
  output logic          rd_srq_valid_o,   // a shared receive queue's context is not the pipeline's (what 8)
  output logic [7:0]    rd_srq_idx_o,
  input  logic          rd_srq_done_i,
  input  logic [511:0]  rd_srq_data_i,

  // Event port 0
  output logic          ev_valid_o,
  input  logic          ev_ready_i,
  output logic [7:0]    ev_eqn_o,
  output logic [63:0]   ev_o,
  input  logic          ev_done_i,

  output logic          idle_o
);
  localparam int BufBase = bdy_pkg::REG_MCU_BUF_OFFSET;

  // ------------------------------------------------------------------ access decode
  logic [15:0] a;
  assign a = mmio_addr_i;
  logic is_buf, is_op, is_rdw;
  assign is_buf = (a >= 16'(BufBase)) && (a < 16'(BufBase + 12288));
  assign is_op  = (a >= 16'(bdy_pkg::REG_MCU_OP_WORD_OFFSET)) && (a < 16'(bdy_pkg::REG_MCU_OP_WORD_OFFSET + 128));
  assign is_rdw = (a >= 16'(bdy_pkg::REG_MCU_RD_WORD_OFFSET)) && (a < 16'(bdy_pkg::REG_MCU_RD_WORD_OFFSET + 64));

  logic        buf_ready, buf_rd_q;       // a buffer read was taken: its word is there now
  logic [31:0] buf_rdata;
  logic        buf_req;
  assign buf_req      = mmio_valid_i && is_buf && !buf_rd_q;
  assign mmio_ready_o = mmio_valid_i && (is_buf ? (mmio_we_i ? buf_ready : buf_rd_q) : 1'b1);

  logic reg_wr;
  assign reg_wr = mmio_valid_i && mmio_we_i && !is_buf && !is_op && (mmio_be_i == 4'hf);
  function automatic logic at(input logic [15:0] addr, input logic [31:0] off);
    at = ({16'd0, addr} == off);
  endfunction

  // ------------------------------------------------------------------ plain registers
  logic [31:0] mask_q;
  logic [15:0] ci_q, buf_q, len_q;
  logic [63:0] host_q;
  logic [63:0] ev_q;
  logic [7:0]  evt_eqn_q;
  logic [31:0] op_q [32];
  logic        rst_seen_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mask_q      <= '0;
      ci_q        <= '0;
      dev_st_o    <= bdy_pkg::DEV_ST_RESET;
      health_o    <= '0;
      strict_o    <= 1'b0;
      async_eqn_o <= 8'hff;
      viol_limit_o <= '0;
      host_q      <= '0;
      buf_q       <= '0;
      len_q       <= '0;
      ev_q        <= '0;
      rst_seen_q  <= 1'b0;
    end else begin
      if (cmdq_set_i) begin
        ci_q       <= '0;
        rst_seen_q <= 1'b1;
      end
      if (reg_wr) begin
        if (at(a, bdy_pkg::REG_MCU_EVENT_MASK_OFFSET)) mask_q <= mmio_wdata_i;
        if (at(a, bdy_pkg::REG_MCU_CMD_CI_OFFSET)) begin
          ci_q       <= mmio_wdata_i[15:0];
          rst_seen_q <= 1'b0;
        end
        if (at(a, bdy_pkg::REG_MCU_DEV_STATE_OFFSET)) dev_st_o <= mmio_wdata_i[3:0];
        if (at(a, bdy_pkg::REG_MCU_HEALTH_OFFSET)) health_o <= mmio_wdata_i[7:0];
        if (at(a, bdy_pkg::REG_MCU_STRICT_OFFSET)) strict_o <= mmio_wdata_i[0];
        if (at(a, bdy_pkg::REG_MCU_ASYNC_EQN_OFFSET)) async_eqn_o <= mmio_wdata_i[7:0];
        if (at(a, bdy_pkg::REG_MCU_VIOL_LIMIT_OFFSET)) viol_limit_o <= mmio_wdata_i;
        if (at(a, bdy_pkg::REG_MCU_DMA_LO_OFFSET)) host_q[31:0] <= mmio_wdata_i;
        if (at(a, bdy_pkg::REG_MCU_DMA_HI_OFFSET)) host_q[63:32] <= mmio_wdata_i;
        if (at(a, bdy_pkg::REG_MCU_DMA_BUF_OFFSET)) buf_q <= mmio_wdata_i[15:0];
        if (at(a, bdy_pkg::REG_MCU_DMA_LEN_OFFSET)) len_q <= mmio_wdata_i[15:0];
        if (at(a, bdy_pkg::REG_MCU_EVT_WORD0_OFFSET)) ev_q[31:0] <= mmio_wdata_i;
        if (at(a, bdy_pkg::REG_MCU_EVT_WORD1_OFFSET)) ev_q[63:32] <= mmio_wdata_i;
      end
    end
  end
  for (genvar w = 0; w < 32; w++) begin : gen_op
    always_ff @(posedge clk_i) begin
      if (mmio_valid_i && mmio_we_i && is_op && (a[6:2] == 5'(w))) op_q[w] <= mmio_wdata_i;
    end
    assign op_o[32*w +: 32] = op_q[w];
  end

  // ------------------------------------------------------------------ DMA engine
  localparam logic [2:0] DmaIdle = 3'd0;
  localparam logic [2:0] DmaAsk = 3'd1;
  localparam logic [2:0] DmaIn = 3'd2;
  localparam logic [2:0] DmaFetch = 3'd3;
  localparam logic [2:0] DmaOut = 3'd4;
  localparam logic [2:0] DmaB = 3'd5;
  logic [2:0]  dma_st_q;
  logic        dma_done_q, dma_err_q, dma_wr_q;
  logic [13:0] pos_q;                     // offset in the buffer
  logic [12:0] left_q;                    // bytes
  logic        dma_go, dma_ok;
  assign dma_go = reg_wr && at(a, bdy_pkg::REG_MCU_DMA_CTRL_OFFSET) && mmio_wdata_i[0] && (dma_st_q == DmaIdle);
  // The core is not trusted to stay inside the buffer.
  assign dma_ok = (len_q != '0) && (len_q <= 16'd4096) && (len_q[2:0] == '0) && (buf_q[2:0] == '0) && (buf_q <= 16'd12288)
                  && (len_q <= 16'd12288 - buf_q);

  assign rdq_valid_o = (dma_st_q == DmaAsk) && !dma_wr_q;
  assign wrq_valid_o = (dma_st_q == DmaAsk) && dma_wr_q;
  assign dma_addr_o  = host_q;
  assign dma_len_o   = len_q[12:0];
  assign wrd_valid_o = (dma_st_q == DmaOut);

  logic         d_valid, d_we;
  logic [2:0]   d_words;
  logic [255:0] d_rdata, out_q;
  logic         out_new_q;                // the beat read last cycle is on d_rdata
  assign d_we    = (dma_st_q == DmaIn);
  assign d_valid = (d_we && rdd_valid_i) || (dma_st_q == DmaFetch);
  assign d_words = (left_q >= 13'd32) ? 3'd4 : left_q[5:3];
  assign wrd_data_o = out_new_q ? d_rdata : out_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dma_st_q   <= DmaIdle;
      dma_done_q <= 1'b0;
      dma_err_q  <= 1'b0;
      dma_wr_q   <= 1'b0;
      pos_q      <= '0;
      left_q     <= '0;
      out_new_q  <= 1'b0;
    end else begin
      out_new_q <= (dma_st_q == DmaFetch);
      case (dma_st_q)
        DmaIdle: if (dma_go) begin
          dma_done_q <= !dma_ok;
          dma_err_q  <= !dma_ok;
          dma_wr_q   <= mmio_wdata_i[1];
          pos_q      <= buf_q[13:0];
          left_q     <= len_q[12:0];
          if (dma_ok) dma_st_q <= DmaAsk;
        end
        DmaAsk: begin
          if (rdq_valid_o && rdq_ready_i) dma_st_q <= DmaIn;
          if (wrq_valid_o && wrq_ready_i) dma_st_q <= DmaFetch;
        end
        DmaIn: if (rdd_valid_i) begin
          pos_q  <= pos_q + 14'd32;
          left_q <= left_q - 13'd32;
          if (rdd_last_i) begin
            dma_st_q   <= DmaIdle;
            dma_done_q <= 1'b1;
            dma_err_q  <= rdd_err_i;
          end
        end
        DmaFetch: dma_st_q <= DmaOut;
        DmaOut: if (wrd_ready_i) begin
          pos_q    <= pos_q + 14'd32;
          left_q   <= left_q - 13'd32;
          dma_st_q <= (left_q > 13'd32) ? DmaFetch : DmaB;
        end
        DmaB: if (wrb_valid_i) begin
          dma_st_q   <= DmaIdle;
          dma_done_q <= 1'b1;
          dma_err_q  <= wrb_err_i;
        end
        default: dma_st_q <= DmaIdle;
      endcase
    end
  end
  always_ff @(posedge clk_i) if (out_new_q) out_q <= d_rdata;

  bdy_cmd_buf u_buf (
    .clk_i,
    .c_valid_i(buf_req), .c_ready_o(buf_ready), .c_we_i(mmio_we_i), .c_addr_i(14'(a - 16'(BufBase))),
    .c_wdata_i(mmio_wdata_i), .c_be_i(mmio_be_i), .c_rdata_o(buf_rdata),
    .d_valid_i(d_valid), .d_we_i(d_we), .d_addr_i(pos_q), .d_words_i(d_words), .d_wdata_i(rdd_data_i), .d_rdata_o(d_rdata)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) buf_rd_q <= 1'b0;
    else buf_rd_q <= buf_req && !mmio_we_i && buf_ready;
  end

  // ------------------------------------------------------------------ operation, table read and event engines
  logic       op_busy_q, op_sent_q, op_done_q;
  logic [7:0] op_rule_q;
  logic [31:0] op_res_q;
  logic       op_go;
  assign op_go      = reg_wr && at(a, bdy_pkg::REG_MCU_OP_CTRL_OFFSET) && mmio_wdata_i[0] && !op_busy_q;
  assign op_valid_o = op_busy_q && !op_sent_q;

  logic        rd_busy_q, rd_ended_q, rd_err_q;
  logic [511:0] rd_data_q;
  logic        rd_go;
  assign rd_go      = reg_wr && at(a, bdy_pkg::REG_MCU_RD_CTRL_OFFSET) && mmio_wdata_i[0] && !rd_busy_q;
  logic        rd_is_srq, rd_got;
  assign rd_is_srq      = (LogSrqs != 0) && (rd_what_o == 4'd8);
  assign rd_valid_o     = rd_busy_q && !rd_is_srq;
  assign rd_srq_valid_o = rd_busy_q && rd_is_srq;
  assign rd_srq_idx_o   = rd_idx_o[7:0];
  assign rd_got         = rd_busy_q && (rd_is_srq ? rd_srq_done_i : rd_done_i);

  logic ev_busy_q, ev_sent_q, ev_ended_q, ev_go;
  assign ev_go      = reg_wr && at(a, bdy_pkg::REG_MCU_EVT_CTRL_OFFSET) && mmio_wdata_i[0] && !ev_busy_q;
  assign ev_valid_o = ev_busy_q && !ev_sent_q;
  assign ev_eqn_o   = evt_eqn_q;
  assign ev_o       = ev_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      op_busy_q  <= 1'b0;
      op_sent_q  <= 1'b0;
      op_done_q  <= 1'b0;
      op_rule_q  <= '0;
      op_res_q   <= '0;
      rd_busy_q  <= 1'b0;
      rd_ended_q <= 1'b0;
      rd_err_q   <= 1'b0;
      rd_what_o  <= '0;
      rd_idx_o   <= '0;
      ev_busy_q  <= 1'b0;
      ev_sent_q  <= 1'b0;
      ev_ended_q <= 1'b0;
      evt_eqn_q  <= '0;
    end else begin
      if (op_go) begin
        op_busy_q <= 1'b1;
        op_sent_q <= 1'b0;
        op_done_q <= 1'b0;
      end
      if (op_valid_o && op_ready_i) op_sent_q <= 1'b1;
      if (op_busy_q && ope_valid_i) begin
        op_rule_q <= ope_rule_i;
        op_res_q  <= ope_res_i;
      end
      if (op_busy_q && ((ope_valid_i && !ope_drain_i) || opd_valid_i)) begin
        op_busy_q <= 1'b0;
        op_done_q <= 1'b1;
      end

      if (rd_go) begin
        rd_busy_q  <= 1'b1;
        rd_ended_q <= 1'b0;
        rd_what_o  <= mmio_wdata_i[7:4];
        rd_idx_o   <= mmio_wdata_i[31:8];
      end else if (rd_got) begin
        rd_busy_q  <= 1'b0;
        rd_ended_q <= 1'b1;
        rd_err_q   <= rd_err_i && !rd_is_srq;
      end

      if (ev_go) begin
        ev_busy_q  <= 1'b1;
        ev_sent_q  <= 1'b0;
        ev_ended_q <= 1'b0;
        evt_eqn_q  <= mmio_wdata_i[15:8];
      end
      if (ev_valid_o && ev_ready_i) ev_sent_q <= 1'b1;
      if (ev_busy_q && ev_done_i) begin
        ev_busy_q  <= 1'b0;
        ev_ended_q <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) if (rd_got) rd_data_q <= rd_is_srq ? rd_srq_data_i : rd_data_i;

  // ------------------------------------------------------------------ events and reads
  logic [31:0] events;
  assign events  = {26'd0, rst_seen_q, ev_ended_q, rd_ended_q, op_done_q, dma_done_q, cmd_pi_i != ci_q};
  assign event_o = ((events & mask_q) != '0);

  logic [31:0] rval;
  always_comb begin
    case ({16'd0, a})
      bdy_pkg::REG_MCU_EVENT_OFFSET: rval = events;
      bdy_pkg::REG_MCU_EVENT_MASK_OFFSET: rval = mask_q;
      bdy_pkg::REG_MCU_CMDQ_LO_OFFSET: rval = cmdq_base_i[31:0];
      bdy_pkg::REG_MCU_CMDQ_HI_OFFSET: rval = cmdq_base_i[63:32];
      bdy_pkg::REG_MCU_CMDQ_LOG_OFFSET: rval = {28'd0, cmdq_log_i};
      bdy_pkg::REG_MCU_CMD_PI_OFFSET: rval = {16'd0, cmd_pi_i};
      bdy_pkg::REG_MCU_CMD_CI_OFFSET: rval = {16'd0, ci_q};
      bdy_pkg::REG_MCU_DEV_STATE_OFFSET: rval = {28'd0, dev_st_o};
      bdy_pkg::REG_MCU_HEALTH_OFFSET: rval = {24'd0, health_o};
      bdy_pkg::REG_MCU_STRICT_OFFSET: rval = {31'd0, strict_o};
      bdy_pkg::REG_MCU_ASYNC_EQN_OFFSET: rval = {24'd0, async_eqn_o};
      bdy_pkg::REG_MCU_CAP_OFFSET: rval = {8'(LogCqs), 8'(LogQps), 8'(LogMtt), 8'(LogKeys)};
      bdy_pkg::REG_MCU_VIOL_LIMIT_OFFSET: rval = viol_limit_o;
      bdy_pkg::REG_MCU_CAP2_OFFSET: rval = {16'd0, 8'(LogAhs), 8'(LogSrqs)};
      bdy_pkg::REG_MCU_CYCLE_LO_OFFSET: rval = cycle_i[31:0];
      bdy_pkg::REG_MCU_CYCLE_HI_OFFSET: rval = cycle_i[63:32];
      bdy_pkg::REG_MCU_DMA_STAT_OFFSET: rval = {30'd0, dma_err_q, dma_done_q};
      bdy_pkg::REG_MCU_OP_STAT_OFFSET: rval = {16'd0, op_rule_q, 7'd0, op_done_q};
      bdy_pkg::REG_MCU_OP_RES_OFFSET: rval = op_res_q;
      bdy_pkg::REG_MCU_RD_STAT_OFFSET: rval = {30'd0, rd_err_q, rd_ended_q};
      bdy_pkg::REG_MCU_EVT_STAT_OFFSET: rval = {31'd0, ev_ended_q};
      default: rval = is_rdw ? rd_data_q[32*a[5:2] +: 32] : 32'd0;
    endcase
  end
  assign mmio_rdata_o = is_buf ? buf_rdata : rval;

  assign idle_o = !mmio_valid_i && (dma_st_q == DmaIdle) && !op_busy_q && !rd_busy_q && !ev_busy_q && !cmdq_set_i;
endmodule
