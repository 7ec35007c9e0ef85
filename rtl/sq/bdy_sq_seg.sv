// SPDX-License-Identifier: Apache-2.0
//
// bdy_sq_seg: the packet of a message at a PSN: header, place and length of its payload.
//
//   message  |spsn ......... psn ....... spsn+npk|    packet k = psn - spsn carries [k * MTU, ...)
//
// Types other than RC have RC's opcodes under their own transport. Where a datagram goes says its
// address handle.
//
// Combinational. Opcode, PSN range and length come from the message's record (H11). A READ is one
// packet from psn to the end of its range, so a repeated READ asks for what is missing only.

module bdy_sq_seg (
  input  logic [bdy_pkg::SQ_MSG_W-1:0]  msg_i,
  input  logic [23:0]                   psn_i,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,
  input  logic [bdy_pkg::QP_CTX1_W-1:0] ctx1_i,
  input  logic [23:0]                   qpn_i,   // own
  input  logic [bdy_pkg::AH_CTX_W-1:0]  ah_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] hdr_o,
  output logic [31:0]                   off_o,   // in the message
  output logic                          fin_o,   // last packet of the message
  output logic [23:0]                   span_o,  // PSNs it takes
  output logic [23:0]                   next_o   // PSN behind it
);

  localparam logic [15:0] Pkey = 16'hffff;  // default partition, full member

  // Opcode of a packet by its place.
  function automatic logic [7:0] op_of(input logic [7:0] op, input logic first, input logic last);
    case (op)
      bdy_pkg::WQE_OP_SEND:
        op_of = first ? (last ? bdy_pkg::BTH_OP_SEND_ONLY : bdy_pkg::BTH_OP_SEND_FIRST)
                      : (last ? bdy_pkg::BTH_OP_SEND_LAST : bdy_pkg::BTH_OP_SEND_MIDDLE);
      bdy_pkg::WQE_OP_SEND_IMM:
        op_of = first ? (last ? bdy_pkg::BTH_OP_SEND_ONLY_IMM : bdy_pkg::BTH_OP_SEND_FIRST)
                      : (last ? bdy_pkg::BTH_OP_SEND_LAST_IMM : bdy_pkg::BTH_OP_SEND_MIDDLE);
      bdy_pkg::WQE_OP_SEND_INV:
        op_of = first ? (last ? bdy_pkg::BTH_OP_SEND_ONLY_INV : bdy_pkg::BTH_OP_SEND_FIRST)
                      : (last ? bdy_pkg::BTH_OP_SEND_LAST_INV : bdy_pkg::BTH_OP_SEND_MIDDLE);
      bdy_pkg::WQE_OP_WRITE:
        op_of = first ? (last ? bdy_pkg::BTH_OP_WRITE_ONLY : bdy_pkg::BTH_OP_WRITE_FIRST)
                      : (last ? bdy_pkg::BTH_OP_WRITE_LAST : bdy_pkg::BTH_OP_WRITE_MIDDLE);
      bdy_pkg::WQE_OP_WRITE_IMM:
        op_of = first ? (last ? bdy_pkg::BTH_OP_WRITE_ONLY_IMM : bdy_pkg::BTH_OP_WRITE_FIRST)
                      : (last ? bdy_pkg::BTH_OP_WRITE_LAST_IMM : bdy_pkg::BTH_OP_WRITE_MIDDLE);
      bdy_pkg::WQE_OP_FETCH_ADD: op_of = bdy_pkg::BTH_OP_FETCH_ADD;
      bdy_pkg::WQE_OP_CMP_SWAP:  op_of = bdy_pkg::BTH_OP_CMP_SWAP;
      default: op_of = bdy_pkg::BTH_OP_READ_REQ;
    endcase
  endfunction

  function automatic logic [2:0] transport_of(input logic [2:0] kind);
    case (kind)
      bdy_pkg::QP_KIND_UC:       transport_of = bdy_pkg::BTH_TR_UC;
      bdy_pkg::QP_KIND_UD:       transport_of = bdy_pkg::BTH_TR_UD;
      bdy_pkg::QP_KIND_XRC_SEND: transport_of = bdy_pkg::BTH_TR_XRC;
      default:                   transport_of = bdy_pkg::BTH_TR_RC;
    endcase
  endfunction

  // A packet needs a few fields of each.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::sq_msg_t  msg;
  bdy_pkg::qp_ctx0_t ctx0;
  bdy_pkg::qp_ctx1_t ctx1;
  bdy_pkg::ah_ctx_t  ah;
  bdy_pkg::wqe_ud_t  ud;
  logic [7:0]        rc_op;
  // verilator lint_on UNUSEDSIGNAL
  bdy_pkg::pkt_hdr_t hdr;
  logic [23:0] k;
  logic [3:0]  log_mtu;
  logic [31:0] rest, mtu;
  logic        read, atomic, last, dgram;
  logic        silent;  // nobody acknowledges

  assign msg     = msg_i;
  assign ctx0    = ctx0_i;
  assign ctx1    = ctx1_i;
  assign read    = msg.op == bdy_pkg::WQE_OP_READ;
  assign ah      = ah_i;
  assign ud      = msg.va;
  assign dgram   = ctx0.kind == bdy_pkg::QP_KIND_UD;
  assign silent    = dgram || ctx0.kind == bdy_pkg::QP_KIND_UC;
  assign atomic  = msg.op == bdy_pkg::WQE_OP_FETCH_ADD || msg.op == bdy_pkg::WQE_OP_CMP_SWAP;
  assign rc_op   = op_of(msg.op, k == '0, last);
  assign log_mtu = dgram ? 4'd12 : 4'd7 + 4'(ctx0.mtu);  // a datagram may be as long as the port's
  assign mtu     = 32'd1 << log_mtu;
  assign k       = psn_i - msg.spsn;
  assign last    = k == msg.npk - 24'd1;
  assign off_o   = 32'(k) << log_mtu;
  assign rest    = msg.len - off_o;
  assign fin_o   = read || last;
  assign span_o  = read ? msg.npk - k : 24'd1;
  assign next_o  = psn_i + span_o;

  always_comb begin
    hdr            = '0;
    hdr.op         = {transport_of(ctx0.kind), rc_op[4:0]};
    hdr.se         = msg.se && last && !read && !atomic;
    // A sign of life every 16 packets (T4, T6).
    hdr.ackreq     = !read && !atomic && !silent && (last || psn_i[3:0] == 4'hf);
    hdr.grh        = ctx0.grh;
    hdr.pkey       = Pkey;
    hdr.dest_qp    = ctx0.dest_qpn;
    hdr.sl         = ctx0.sl;
    hdr.psn        = psn_i;
    hdr.va         = dgram ? 64'd0 : msg.va + (read ? 64'(off_o) : 64'd0);
    hdr.rkey       = dgram ? 32'd0 : msg.rkey;
    hdr.dmalen     = read ? rest : (atomic || dgram) ? 32'd0 : msg.len;
    if (msg.op == bdy_pkg::WQE_OP_SEND_INV) hdr.ieth = msg.imm;
    else                                    hdr.imm = msg.imm;
    if (atomic) hdr.swap_add = msg.swap_add;
    if (msg.op == bdy_pkg::WQE_OP_CMP_SWAP) hdr.cmp = msg.cmp;
    if (ctx0.kind == bdy_pkg::QP_KIND_XRC_SEND) hdr.xrc_srqn = 24'(msg.xrc_srqn);
    hdr.paylen     = (read || atomic) ? 13'd0 : (rest > mtu) ? mtu[12:0] : rest[12:0];
    hdr.dlid       = ctx0.dlid;
    hdr.flow_label = ctx1.flow_label;
    hdr.tclass     = ctx1.tclass;
    hdr.hop_limit  = ctx1.hop_limit;
    hdr.sgid_index = ctx1.sgid_index;
    hdr.gid_lo     = ctx1.dgid_lo;
    hdr.gid_hi     = ctx1.dgid_hi;
    if (dgram) begin
      hdr.dest_qp    = ud.qpn;
      hdr.qkey       = ud.qkey[31] ? ctx0.qkey : ud.qkey;
      hdr.src_qp     = qpn_i;
      hdr.grh        = ah.grh;
      hdr.sl         = ah.sl;
      hdr.dlid       = ah.dlid;
      hdr.flow_label = ah.flow_label;
      hdr.tclass     = ah.tclass;
      hdr.hop_limit  = ah.hop_limit;
      hdr.sgid_index = ah.sgid_index;
      hdr.gid_lo     = ah.dgid_lo;
      hdr.gid_hi     = ah.dgid_hi;
    end
  end

  assign hdr_o = hdr;

endmodule
