// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_decode: what a send WQE asks for, whether its form is allowed (P15) and its queue pair's
// type offers it (P10, I16): everything unknown is refused.
//
//   index -- torn ring? --> reserved bits --> opcode --> flags of its shape --> sizes --> slots -->
//   type of the queue pair
//
// Combinational.

module bdy_sq_decode (
  input  logic [bdy_pkg::WQE_W-1:0] slot0_i,
  input  logic [2:0]                kind_i,   // type of the queue pair
  input  logic [15:0]               idx_i,    // running index of this slot
  input  logic [15:0]               avail_i,  // slots posted from here on
  output logic                      torn_o,   // not the start of a WQE
  output logic                      bad_o,
  output logic [7:0]                rule_o,
  output logic                      is_op_o,  // bind pipeline; else sends packets
  output logic                      is_read_o,  // READ or atomic: data comes back
  output logic [3:0]                skip_o    // slots to pass over when bad
);

  localparam logic [2:0] ShapeBad    = 3'd0;
  localparam logic [2:0] ShapeSend   = 3'd1;  // payload goes out
  localparam logic [2:0] ShapeRead   = 3'd2;
  localparam logic [2:0] ShapeAtomic = 3'd3;  // one SGE of 8 bytes
  localparam logic [2:0] ShapeOp     = 3'd4;

  function automatic logic [2:0] shape_of(input logic [7:0] op);
    case (op)
      bdy_pkg::WQE_OP_SEND, bdy_pkg::WQE_OP_SEND_IMM, bdy_pkg::WQE_OP_SEND_INV,
      bdy_pkg::WQE_OP_WRITE, bdy_pkg::WQE_OP_WRITE_IMM:
        shape_of = ShapeSend;
      bdy_pkg::WQE_OP_READ: shape_of = ShapeRead;
      bdy_pkg::WQE_OP_FETCH_ADD, bdy_pkg::WQE_OP_CMP_SWAP: shape_of = ShapeAtomic;
      bdy_pkg::WQE_OP_BIND1, bdy_pkg::WQE_OP_BIND2, bdy_pkg::WQE_OP_LOCAL_INV: shape_of = ShapeOp;
      default: shape_of = ShapeBad;
    endcase
  endfunction

  // Which types offer a known operation.
  function automatic logic offered(input logic [2:0] kind, input logic [7:0] op);
    logic send, conn;
    send = op == bdy_pkg::WQE_OP_SEND || op == bdy_pkg::WQE_OP_SEND_IMM;
    conn = op == bdy_pkg::WQE_OP_WRITE || op == bdy_pkg::WQE_OP_WRITE_IMM ||
           op == bdy_pkg::WQE_OP_BIND1 || op == bdy_pkg::WQE_OP_BIND2 ||
           op == bdy_pkg::WQE_OP_LOCAL_INV;
    case (kind)
      bdy_pkg::QP_KIND_RC, bdy_pkg::QP_KIND_XRC_SEND: offered = 1'b1;
      bdy_pkg::QP_KIND_UC: offered = send || conn;
      bdy_pkg::QP_KIND_UD: offered = send;
      default:             offered = 1'b0;
    endcase
  endfunction

  // Bytes behind the fixed part: SGEs or inline data.
  function automatic logic [9:0] tail_bytes(input logic [4:0] num_sge, input logic inl,
                                            input logic [9:0] inl_len);
    tail_bytes = inl ? inl_len : {1'b0, num_sge, 4'd0};
  endfunction

  // The other fields are the engine's.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::wqe_t wqe;
  // verilator lint_on UNUSEDSIGNAL
  logic [2:0]  shape;
  logic [9:0]  bytes, slots;
  logic        reserved_ok, flags_ok, sizes_ok, slots_ok, form_bad;

  assign wqe   = slot0_i;
  assign shape = shape_of(wqe.op);
  assign bytes = tail_bytes(wqe.num_sge, wqe.inl, wqe.inl_len);
  assign slots = (bytes + 10'(bdy_pkg::SQ_SGE_OFFSET) + 10'd63) >> 6;

  assign torn_o      = wqe.index != idx_i;
  assign reserved_ok = (slot0_i & bdy_pkg::WQE_RSVD_MASK) == '0;
  assign flags_ok    = shape == ShapeSend || (!wqe.inl && (shape != ShapeOp || !wqe.solicited));
  assign sizes_ok    = wqe.inl ? wqe.num_sge == '0 && wqe.inl_len <= 10'd480
                               : wqe.num_sge <= 5'(bdy_pkg::MAX_SGE) && wqe.inl_len == '0 &&
                                 (shape != ShapeOp || wqe.num_sge == '0) &&
                                 (shape != ShapeAtomic ||
                                  (wqe.num_sge == 5'd1 && wqe.w5[31:0] == 32'd8));
  assign slots_ok    = 10'(wqe.slots) == slots && 16'(wqe.slots) <= avail_i;

  assign form_bad  = torn_o || !reserved_ok || shape == ShapeBad || !flags_ok || !sizes_ok ||
                     !slots_ok;
  assign bad_o     = form_bad || !offered(kind_i, wqe.op);
  assign rule_o    = form_bad ? bdy_pkg::RULE_P15 :
                     bad_o    ? bdy_pkg::RULE_P10 : bdy_pkg::RULE_NONE;
  assign is_op_o   = shape == ShapeOp;
  assign is_read_o = shape == ShapeRead || shape == ShapeAtomic;
  assign skip_o    = (!torn_o && wqe.slots != '0 && wqe.slots <= 4'(bdy_pkg::WQE_MAX_SLOTS) &&
                      16'(wqe.slots) <= avail_i) ? wqe.slots : 4'd1;

endmodule
