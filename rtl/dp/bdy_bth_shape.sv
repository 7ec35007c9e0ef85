// SPDX-License-Identifier: Apache-2.0
//
// bdy_bth_shape: which extension headers follow a BTH opcode.
//
//   opcode[7:5]: 0 RC, 1 UC, 3 UD; opcode[4:0]: operation. A datagram adds a DETH in front.
//
// Latency:      combinational.
// Invariants:   exactly the opcodes of the IBTA table for RC, UC and UD are known; an unknown
//               opcode has no header and no class.

module bdy_bth_shape (
  input  logic [7:0] op_i,
  output logic       known_o,
  output logic       response_o,   // travels on the response channel (H13)
  output logic       no_payload_o, // a response that carries none
  output logic       deth_o,
  output logic       reth_o,
  output logic       atomic_o,     // AtomicETH
  output logic       aeth_o,
  output logic       aack_o,       // AtomicAckETH
  output logic       imm_o,
  output logic       ieth_o,
  output logic [2:0] words_o       // extension headers, in 4-byte words
);

  localparam logic [2:0] Rc = 3'd0;
  localparam logic [2:0] Uc = 3'd1;
  localparam logic [2:0] Ud = 3'd3;

  logic [2:0] transport;
  logic [7:0] rc_op;   // the same operation in RC's numbering
  logic       offered; // by the transport

  assign transport = op_i[7:5];
  assign rc_op     = {3'd0, op_i[4:0]};

  always_comb begin
    case (transport)
      Rc:      offered = 1'b1;
      Uc:      offered = rc_op <= bdy_pkg::BTH_OP_WRITE_ONLY_IMM;
      Ud:      offered = rc_op == bdy_pkg::BTH_OP_SEND_ONLY
                      || rc_op == bdy_pkg::BTH_OP_SEND_ONLY_IMM;
      default: offered = 1'b0;
    endcase
  end

  always_comb begin
    known_o      = offered;
    response_o   = 1'b0;
    no_payload_o = 1'b0;
    reth_o       = 1'b0;
    atomic_o     = 1'b0;
    aeth_o       = 1'b0;
    aack_o       = 1'b0;
    imm_o        = 1'b0;
    ieth_o       = 1'b0;
    if (offered) begin
      case (rc_op)
        bdy_pkg::BTH_OP_SEND_FIRST, bdy_pkg::BTH_OP_SEND_MIDDLE,
        bdy_pkg::BTH_OP_SEND_LAST, bdy_pkg::BTH_OP_SEND_ONLY,
        bdy_pkg::BTH_OP_WRITE_MIDDLE, bdy_pkg::BTH_OP_WRITE_LAST: ;
        bdy_pkg::BTH_OP_SEND_LAST_IMM, bdy_pkg::BTH_OP_SEND_ONLY_IMM,
        bdy_pkg::BTH_OP_WRITE_LAST_IMM: imm_o = 1'b1;
        bdy_pkg::BTH_OP_WRITE_FIRST, bdy_pkg::BTH_OP_WRITE_ONLY,
        bdy_pkg::BTH_OP_READ_REQ: reth_o = 1'b1;
        bdy_pkg::BTH_OP_WRITE_ONLY_IMM: begin
          reth_o = 1'b1;
          imm_o  = 1'b1;
        end
        bdy_pkg::BTH_OP_READ_RESP_FIRST, bdy_pkg::BTH_OP_READ_RESP_LAST,
        bdy_pkg::BTH_OP_READ_RESP_ONLY: begin
          response_o = 1'b1;
          aeth_o     = 1'b1;
        end
        bdy_pkg::BTH_OP_READ_RESP_MIDDLE: response_o = 1'b1;
        bdy_pkg::BTH_OP_ACK: begin
          response_o   = 1'b1;
          no_payload_o = 1'b1;
          aeth_o       = 1'b1;
        end
        bdy_pkg::BTH_OP_ATOMIC_ACK: begin
          response_o   = 1'b1;
          no_payload_o = 1'b1;
          aeth_o       = 1'b1;
          aack_o       = 1'b1;
        end
        bdy_pkg::BTH_OP_CMP_SWAP, bdy_pkg::BTH_OP_FETCH_ADD: atomic_o = 1'b1;
        bdy_pkg::BTH_OP_SEND_LAST_INV, bdy_pkg::BTH_OP_SEND_ONLY_INV: ieth_o = 1'b1;
        default: known_o = 1'b0;
      endcase
    end
  end

  assign deth_o  = known_o && transport == Ud;
  assign words_o = (deth_o ? 3'd2 : 3'd0) + (reth_o ? 3'd4 : 3'd0) + (atomic_o ? 3'd7 : 3'd0)
                 + (aeth_o ? 3'd1 : 3'd0) + (aack_o ? 3'd2 : 3'd0) + (imm_o ? 3'd1 : 3'd0)
                 + (ieth_o ? 3'd1 : 3'd0);

endmodule
