// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_muldiv: the RV32M operations, iterative, on magnitudes with the sign put back at the end.
//
//              hi                lo
//   multiply:  upper product  |  multiplier, shifted out 8 bits a step     4 steps
//   divide:    remainder      |  dividend, shifted out; quotient in        32 steps
//
// Latency:      done_o 5 cycles after start_i for a multiply, 33 for a divide.
// Throughput:   one operation at a time; start_i only when idle.
// Backpressure: none: the result must be taken in the done_o cycle.
// Invariants:   division by zero gives quotient -1 and remainder = dividend; the most negative
//               number divided by -1 gives itself, remainder 0 (both as RV32M defines them).

module bdy_mcu_muldiv (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,    // drop what is running
  input  logic        start_i,
  input  logic [2:0]  op_i,       // funct3: MUL MULH MULHSU MULHU DIV DIVU REM REMU; held until done
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic        done_o,
  output logic [31:0] result_o
);

  localparam logic [5:0] MulSteps = 6'd4;
  localparam logic [5:0] DivSteps = 6'd32;

  logic        busy_q;
  logic [5:0]  steps_q;
  logic [31:0] hi_q;
  logic [31:0] lo_q;
  logic [31:0] b_q;
  logic        neg_q;

  // What the operation is.
  logic is_div;
  logic is_rem;
  logic a_signed;
  logic b_signed;
  assign is_div   = op_i[2];
  assign is_rem   = op_i[1];
  assign a_signed = is_div ? ~op_i[0] : (op_i[1:0] != 2'b11);
  assign b_signed = is_div ? ~op_i[0] : ~op_i[1];

  // Magnitudes, and the sign of the result.
  logic        a_neg;
  logic        b_neg;
  logic        neg;
  logic [31:0] a_mag;
  logic [31:0] b_mag;
  assign a_neg = a_signed & a_i[31];
  assign b_neg = b_signed & b_i[31];
  assign a_mag = a_neg ? -a_i : a_i;
  assign b_mag = b_neg ? -b_i : b_i;
  assign neg   = (is_div & is_rem)       ? a_neg :
                 (is_div & (b_i == '0))  ? 1'b0  : a_neg ^ b_neg;

  // One step of either.
  logic [39:0] mul_sum;
  logic [32:0] div_in;
  logic [32:0] div_diff;
  assign mul_sum  = {8'd0, hi_q} + ({8'd0, b_q} * {32'd0, lo_q[7:0]});
  assign div_in   = {hi_q, lo_q[31]};
  assign div_diff = div_in - {1'b0, b_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      steps_q <= '0;
    end else if (clear_i || done_o) begin
      busy_q  <= 1'b0;
    end else if (start_i) begin
      busy_q  <= 1'b1;
      steps_q <= is_div ? DivSteps : MulSteps;
    end else if (busy_q) begin
      steps_q <= steps_q - 6'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      hi_q  <= '0;
      lo_q  <= a_mag;
      b_q   <= b_mag;
      neg_q <= neg;
    end else if (busy_q && !is_div) begin
      {hi_q, lo_q} <= {mul_sum, lo_q[31:8]};
    end else if (busy_q) begin
      hi_q <= div_diff[32] ? div_in[31:0] : div_diff[31:0];
      lo_q <= {lo_q[30:0], ~div_diff[32]};
    end
  end

  // The result with its sign.
  logic [63:0] magnitude;
  logic [63:0] value;
  assign magnitude = !is_div ? {hi_q, lo_q} : {32'd0, is_rem ? hi_q : lo_q};
  assign value     = neg_q ? -magnitude : magnitude;
  assign result_o  = (!is_div && op_i[1:0] != 2'b00) ? value[63:32] : value[31:0];
  assign done_o    = busy_q && (steps_q == '0);

endmodule
