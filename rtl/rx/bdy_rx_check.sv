// SPDX-License-Identifier: Apache-2.0
//
// bdy_rx_check: what a request packet is, and which static rule it breaks; everything that needs no memory.
//
//   queue pair ─► state ─► P_Key ─► PSN ──► expected ──► T1 ─► A19 ─► A14 ─► T2 ─► execute        (order: H7)
//       │           │        │       ├────► duplicate ─► READ: A19 ─► A14 ─► T2 ─► READ again (T8), others: acknowledge again
//       └─── drop and count (T11) ───┘└───► ahead: a gap (T3)
// A duplicate READ that fails A14 or T2, or reaches beyond what was asked, is dropped: its original never existed.
//
// Purpose: pure functions named after the rules, then wires. No state.
// Latency: combinational.
// Invariants: exactly one of drop_o, gap_o, dup_o, refuse_o, exec_o. Protection (A1-A11) is not checked here.

module bdy_rx_check #(
  parameter int LogQps = 8
) (
  input  logic [bdy_pkg::PKT_HDR_W-1:0] hdr_i,
  input  logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,
  input  logic                          live_i,      // a receive life has begun and no fatal refusal has ended it
  input  logic [63:0]                   live_at_i,   // cycle of that beginning
  input  logic [23:0]                   epsn_i,
  input  logic [1:0]                    seq_i,       // 0 between messages, 1 inside a SEND, 2 inside a WRITE
  input  logic [31:0]                   off_i,       // bytes of the message so far
  input  logic [31:0]                   wr_len_i,    // length of the WRITE in progress

  output logic                          drop_o,
  output logic [1:0]                    drop_why_o,  // 0 unknown queue pair, 1 state, 2 P_Key, 3 no true duplicate
  output logic                          gap_o,
  output logic                          dup_o,
  output logic                          refuse_o,
  output logic [7:0]                    rule_o,
  output logic                          exec_o,

  output logic                          is_send_o,
  output logic                          is_write_o,
  output logic                          is_read_o,
  output logic                          starts_o,    // FIRST, ONLY, READ
  output logic                          ends_o,      // LAST, ONLY, READ
  output logic                          imm_o,
  output logic [23:0]                   psns_o       // PSNs that the packet takes (READ: response packets)
);

  // The packet carries more than these checks read, the context too.
  // verilator lint_off UNUSEDSIGNAL
  bdy_pkg::pkt_hdr_t hdr;
  bdy_pkg::qp_ctx0_t ctx;
  // verilator lint_on UNUSEDSIGNAL
  assign hdr = hdr_i;
  assign ctx = ctx0_i;

  localparam logic [31:0] MaxMsg = 32'd1 << bdy_pkg::MAX_MSG_LOG;

  // ---------------------------------------------------------------- what it is
  function automatic logic is_send(input logic [7:0] op);
    is_send = op <= bdy_pkg::BTH_OP_SEND_ONLY_IMM;
  endfunction

  function automatic logic is_write(input logic [7:0] op);
    is_write = op >= bdy_pkg::BTH_OP_WRITE_FIRST && op <= bdy_pkg::BTH_OP_WRITE_ONLY_IMM;
  endfunction

  function automatic logic starts_message(input logic [7:0] op);
    case (op)
      bdy_pkg::BTH_OP_SEND_FIRST, bdy_pkg::BTH_OP_SEND_ONLY, bdy_pkg::BTH_OP_SEND_ONLY_IMM,
      bdy_pkg::BTH_OP_WRITE_FIRST, bdy_pkg::BTH_OP_WRITE_ONLY, bdy_pkg::BTH_OP_WRITE_ONLY_IMM,
      bdy_pkg::BTH_OP_READ_REQ: starts_message = 1'b1;
      default: starts_message = 1'b0;
    endcase
  endfunction

  function automatic logic ends_message(input logic [7:0] op);
    case (op)
      bdy_pkg::BTH_OP_SEND_FIRST, bdy_pkg::BTH_OP_SEND_MIDDLE,
      bdy_pkg::BTH_OP_WRITE_FIRST, bdy_pkg::BTH_OP_WRITE_MIDDLE: ends_message = 1'b0;
      default: ends_message = 1'b1;
    endcase
  endfunction

  function automatic logic has_imm(input logic [7:0] op);
    case (op)
      bdy_pkg::BTH_OP_SEND_LAST_IMM, bdy_pkg::BTH_OP_SEND_ONLY_IMM,
      bdy_pkg::BTH_OP_WRITE_LAST_IMM, bdy_pkg::BTH_OP_WRITE_ONLY_IMM: has_imm = 1'b1;
      default: has_imm = 1'b0;
    endcase
  endfunction

  function automatic logic [23:0] read_psns(input logic [31:0] len, input logic [2:0] mtu);
    read_psns = (len == '0) ? 24'd1 : 24'((len + (32'd128 << mtu) - 32'd1) >> (5'd7 + 5'(mtu)));
  endfunction

  // ---------------------------------------------------------------- the rules; each says 'broken'
  // A queue pair receives in RTR, RTS and SQD; what arrived before this life began is of an older one (H4).
  function automatic logic t11_state(input logic live, input logic [2:0] st, input logic [2:0] kind,
                                     input logic [63:0] arrival, input logic [63:0] live_at);
    t11_state = !live || kind != bdy_pkg::QP_KIND_RC || arrival < live_at ||
                !(st == bdy_pkg::QP_ST_RTR || st == bdy_pkg::QP_ST_RTS || st == bdy_pkg::QP_ST_SQD);
  endfunction

  // The one P_Key is the default one, and this port is a full member.
  function automatic logic t11_pkey(input logic [14:0] base);
    t11_pkey = base != 15'h7fff;
  endfunction

  function automatic logic t1(input logic known, input logic send, input logic write, input logic starts,
                              input logic [1:0] seq);
    case (seq)
      2'd0: t1 = !known || !starts;
      2'd1: t1 = !send || starts;
      default: t1 = !write || starts;
    endcase
  endfunction

  function automatic logic a19(input logic write, input logic read, input logic [7:0] rights);
`ifdef BUG_RX_RIGHTS
    a19 = (rights & (bdy_pkg::ACCESS_BIT_REMOTE_WRITE | bdy_pkg::ACCESS_BIT_REMOTE_READ)) == '0 && (write || read);
`else
    a19 = (write && (rights & bdy_pkg::ACCESS_BIT_REMOTE_WRITE) == '0) ||
          (read && (rights & bdy_pkg::ACCESS_BIT_REMOTE_READ) == '0);
`endif
  endfunction

  // T14 is the same bound, for a SEND that grows packet by packet.
  function automatic logic a14(input logic reth, input logic send, input logic [31:0] dmalen,
                               input logic [31:0] off, input logic [12:0] paylen);
    a14 = (reth && dmalen > MaxMsg) || (send && {1'b0, off} + 33'(paylen) > {1'b0, MaxMsg});
  endfunction

  // Packet sizes. `left`: what the WRITE still owes, this packet included.
  function automatic logic t2(input logic read, input logic write, input logic starts, input logic ends,
                              input logic [12:0] paylen, input logic [1:0] pad, input logic [12:0] mtu,
                              input logic [31:0] left);
    logic short_of, total;
    short_of = (!ends && paylen != mtu) || (ends && (paylen > mtu || (!starts && paylen == '0)));
`ifdef BUG_RX_LEFT
    total    = write && (ends ? left != 32'(paylen) : left < 32'(mtu));
`else
    total    = write && (ends ? left != 32'(paylen) : left <= 32'(mtu));
`endif
    t2 = read ? (paylen != '0 || pad != '0) : (short_of || total || pad != (2'd0 - paylen[1:0]));
  endfunction

  // ---------------------------------------------------------------- wires
  logic [23:0] rel;
  logic [23:0] ahead;
  logic        known, reth, unknown_qp, expected, duplicate, bad_t1, bad_a19, bad_a14, bad_t2, bad, beyond;
  logic [12:0] mtu;
  logic [31:0] left;

  assign is_send_o  = is_send(hdr.op);
  assign is_write_o = is_write(hdr.op);
  assign is_read_o  = hdr.op == bdy_pkg::BTH_OP_READ_REQ;
  assign known      = is_send_o || is_write_o || is_read_o;
  assign starts_o   = starts_message(hdr.op);
  assign ends_o     = ends_message(hdr.op);
  assign imm_o      = has_imm(hdr.op);
  assign psns_o     = is_read_o ? read_psns(hdr.dmalen, ctx.mtu) : 24'd1;

  assign rel        = hdr.dest_qp - bdy_pkg::QPN_BASE[23:0];
  assign unknown_qp = (rel >> LogQps) != '0;
  assign ahead      = hdr.psn - epsn_i;
  assign expected   = ahead == '0;
  assign duplicate  = ahead[23];

  assign mtu     = 13'd128 << ctx.mtu;
  assign reth    = is_read_o || (is_write_o && starts_o);
  assign left    = starts_o ? hdr.dmalen : wr_len_i - off_i;
  assign bad_t1  = t1(known, is_send_o, is_write_o, starts_o, seq_i);
  assign bad_a19 = a19(is_write_o, is_read_o, ctx.rights);
  assign bad_a14 = a14(reth, is_send_o, hdr.dmalen, starts_o ? 32'd0 : off_i, hdr.paylen);
  assign bad_t2  = t2(is_read_o, is_write_o, starts_o, ends_o, hdr.paylen, hdr.pad, mtu, left);
  // A duplicate READ lies within what was asked for before: it cannot reach the PSN that is expected next.
`ifdef BUG_RX_BEYOND
  assign beyond  = 1'b0;
`else
  assign beyond  = psns_o > (24'd0 - ahead);
`endif

  always_comb begin
    drop_o     = 1'b0;
    drop_why_o = 2'd0;
    gap_o      = 1'b0;
    dup_o      = 1'b0;
    bad        = 1'b0;
    if (unknown_qp) begin
      drop_o = 1'b1;
    end else if (t11_state(live_i, ctx.st, ctx.kind, hdr.arrival, live_at_i)) begin
      drop_o     = 1'b1;
      drop_why_o = 2'd1;
    end else if (t11_pkey(hdr.pkey[14:0])) begin
      drop_o     = 1'b1;
      drop_why_o = 2'd2;
    end else if (expected) begin
      bad = bad_t1 || bad_a19 || bad_a14 || bad_t2;
    end else if (duplicate && is_read_o && (bad_a14 || bad_t2 || beyond)) begin
      drop_o     = 1'b1;
      drop_why_o = 2'd3;
    end else if (duplicate) begin
      bad   = is_read_o && bad_a19;
      dup_o = !bad;
    end else begin
      gap_o = 1'b1;
    end
  end

  assign refuse_o = bad;
  assign exec_o   = !drop_o && !gap_o && !dup_o && !bad;
`ifdef BUG_RX_ORDER
  assign rule_o   = (bad_t1 && expected) ? bdy_pkg::RULE_T1 :
                    bad_a14              ? bdy_pkg::RULE_A14 :
                    bad_a19              ? bdy_pkg::RULE_A19 : bdy_pkg::RULE_T2;
`else
  assign rule_o   = (bad_t1 && expected) ? bdy_pkg::RULE_T1 :
                    bad_a19              ? bdy_pkg::RULE_A19 :
                    bad_a14              ? bdy_pkg::RULE_A14 : bdy_pkg::RULE_T2;
`endif

endmodule
