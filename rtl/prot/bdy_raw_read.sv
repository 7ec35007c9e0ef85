// SPDX-License-Identifier: Apache-2.0
//
// bdy_raw_read: firmware's read of tables, counts, contexts and queue pair state (H2: it cannot write).
//
// Latency:      as long as the table takes; four cycles for what is on chip.
// Throughput:   one read at a time.
// Backpressure: rd_valid_i is held until rd_done_o.
// Invariants:   a read sees every operation executed before it: table reads wait for writes of their row.

module bdy_raw_read #(
  parameter int LogKeys = 13,
  parameter int LogMtt  = 16,
  parameter int LogQps  = 8,
  parameter int EntW    = 448,
  parameter int MttW    = 89
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic               idle_o,

  input  logic               rd_valid_i,
  input  logic [3:0]         rd_what_i,   // 0 entry, 1 count, 2 and 3 context halves, 4 generation and state, 5 translation
  input  logic [23:0]        rd_idx_i,
  output logic               rd_done_o,
  output logic               rd_err_o,
  output logic [511:0]       rd_data_o,

  output logic               mpt_valid_o,
  input  logic               mpt_ready_i,
  output logic [LogKeys-1:0] mpt_slot_o,
  input  logic               mpt_rsp_valid_i,
  input  logic               mpt_rsp_err_i,
  input  logic [EntW-1:0]    mpt_rsp_entry_i,

  output logic               mtt_valid_o,
  input  logic               mtt_ready_i,
  output logic [LogMtt-1:0]  mtt_idx_o,
  input  logic               mtt_hold_i,   // a translation write is under way
  input  logic               mtt_rsp_valid_i,
  input  logic               mtt_rsp_err_i,
  input  logic [MttW-1:0]    mtt_rsp_data_i,

  output logic               count_rd_o,
  output logic [LogKeys-1:0] count_slot_o,
  input  logic [20:0]        count_i,

  output logic [LogQps-1:0]  ctx_idx_o,
  input  logic [511:0]       ctx0_i,
  input  logic [511:0]       ctx1_i,
  input  logic [35:0]        qp_i
);

  localparam logic [2:0] StIdle = 3'd0, StMpt = 3'd1, StMtt = 3'd2, StChip = 3'd3, StDone = 3'd4;
  localparam logic [3:0] WhatMpt = 4'd0, WhatCount = 4'd1, WhatCtx0 = 4'd2, WhatCtx1 = 4'd3, WhatGen = 4'd4, WhatMtt = 4'd5;

  logic [2:0]   state_q;
  logic [1:0]   wait_q;
  logic         sent_q, offered_q, err_q, idx_bad;
  logic [511:0] data_q;

  always_comb begin
    case (rd_what_i)
      WhatMpt, WhatCount:          idx_bad = (rd_idx_i >> LogKeys) != 24'h0;
      WhatCtx0, WhatCtx1, WhatGen: idx_bad = (rd_idx_i >> LogQps) != 24'h0;
      WhatMtt:                     idx_bad = (rd_idx_i >> LogMtt) != 24'h0;
      default:                     idx_bad = 1'b1;
    endcase
  end

  assign mpt_valid_o  = state_q == StMpt && !sent_q;
  assign mpt_slot_o   = rd_idx_i[LogKeys-1:0];
  // Once offered it stays: a write that starts meanwhile comes after this read.
  assign mtt_valid_o  = state_q == StMtt && !sent_q && (offered_q || !mtt_hold_i);
  assign mtt_idx_o    = rd_idx_i[LogMtt-1:0];
  assign count_rd_o   = state_q == StChip;
  assign count_slot_o = rd_idx_i[LogKeys-1:0];
  assign ctx_idx_o    = rd_idx_i[LogQps-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      sent_q    <= 1'b0;
      offered_q <= 1'b0;
      wait_q    <= 2'd0;
    end else begin
      offered_q <= mtt_valid_o && !mtt_ready_i;
      case (state_q)
        StIdle: if (rd_valid_i) begin
          sent_q  <= 1'b0;
          wait_q  <= 2'd2;
          state_q <= idx_bad ? StDone : rd_what_i == WhatMpt ? StMpt : rd_what_i == WhatMtt ? StMtt : StChip;
        end
        StMpt: begin
          if (mpt_ready_i) sent_q <= 1'b1;
          if (mpt_rsp_valid_i) state_q <= StDone;
        end
        StMtt: begin
          if (mtt_valid_o && mtt_ready_i) sent_q <= 1'b1;
          if (mtt_rsp_valid_i) state_q <= StDone;
        end
        StChip: begin
          wait_q <= wait_q - 2'd1;
          if (wait_q == 2'd0) state_q <= StDone;
        end
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    case (state_q)
      StIdle: if (rd_valid_i) begin
        err_q  <= idx_bad;
        data_q <= '0;
      end
      StMpt: if (mpt_rsp_valid_i) begin
        err_q  <= mpt_rsp_err_i;
        data_q <= {64'h0, mpt_rsp_entry_i};
      end
      StMtt: if (mtt_rsp_valid_i) begin
        err_q  <= mtt_rsp_err_i;
        data_q <= {416'h0, mtt_rsp_data_i[88], 7'h0, mtt_rsp_data_i[87:0]};
      end
      StChip: case (rd_what_i)
        WhatCount: data_q <= {491'h0, count_i};
        WhatCtx0:  data_q <= ctx0_i;
        WhatCtx1:  data_q <= ctx1_i;
        default:   data_q <= {476'h0, qp_i};
      endcase
      default: ;
    endcase
  end

  assign rd_done_o = state_q == StDone;
  assign rd_err_o  = err_q;
  assign rd_data_o = data_q;
  assign idle_o    = state_q == StIdle && !rd_valid_i;

endmodule
