// SPDX-License-Identifier: Apache-2.0
//
// bdy_access_check: the access verdict, one pure function per rule.
//
// Latency:      combinational.
// Throughput:   one verdict per cycle.
// Backpressure: none.
// Invariants:   rule_o is NONE only if every condition below holds; nothing is translated and no memory is touched here.
//
//   request: key, rights, [va, va + len), PD, QP + generation         entry found under the key's slot
//        |                                                                    |
//        v                                                                    v
//   H4  requester's QP alive, same generation ............ else stale, drop without an answer
//   H8  table answered ................................... else refused, never cached
//   A1  entry VALID, key byte and nonce equal ............ else unknown key
//   H5  entry's PD alive
//   K11 local use: entry is a region
//        |            MR               |           MW1           |              MW2
//        |   A2  PD equal              |  A3  PD equal           |  A5  PD and QP number equal
//        |                             |                         |  H4  bound generation is the present one
//   A7  rights asked for are all there
//   A10 va + len does not pass 2^64 (ending there is legal)
//   A9  [va, va + len) inside [start, start + length); start is 0 when zero-based (A11)
//        |
//        v
//   granted; a local use reports A2, A7, A9 and A10 as M8

module bdy_access_check (
  input  logic [447:0] entry_i,      // mpt_entry, all-zero when there is none
  input  logic         tbl_err_i,
  input  logic [31:0]  key_i,
  input  logic         local_i,
  input  logic [7:0]   rights_i,
  input  logic [63:0]  va_i,
  input  logic [31:0]  len_i,
  input  logic [12:0]  xlen_i,
  input  logic [23:0]  pd_i,
  input  logic [23:0]  qpn_i,
  input  logic [31:0]  qp_gen_i,
  input  logic         qp_alive_i,   // of qpn_i, at the verdict
  input  logic [31:0]  cur_gen_i,    // of qpn_i, at the verdict
  input  logic         pd_alive_i,   // of the entry's PD, at the verdict
  output logic [7:0]   rule_o,
  output logic         stale_o
);

  bdy_pkg::mpt_entry_t ent;
  assign ent = {64'b0, entry_i};

  // Not every field of an entry takes part in a verdict.
  logic unused;
  assign unused = ^{ent, 1'b0};

  function automatic logic h4_stale(input logic alive, input logic [31:0] gen, input logic [31:0] carried);
    h4_stale = !alive || gen != carried;
  endfunction

  // The slot has found the entry; nonce and key byte are the rest of the key.
  function automatic logic a1_unknown(input logic [1:0] st, input logic [1:0] kind, input logic [11:0] low,
                                      input logic [11:0] key_low);
    a1_unknown = st != bdy_pkg::MPT_ST_VALID || kind == bdy_pkg::MPT_KIND_NONE || low != key_low;
  endfunction

  function automatic logic pd_differs(input logic [23:0] pd, input logic [23:0] asker);
    pd_differs = pd != asker;
  endfunction

  function automatic logic a5_other_qp(input logic [23:0] qpn, input logic [23:0] asker);
    a5_other_qp = qpn != asker;
  endfunction

  function automatic logic h4_dead_binding(input logic [31:0] bound, input logic [31:0] gen);
`ifdef BUG_ACCESS_GEN
    h4_dead_binding = bound > gen;
`else
    h4_dead_binding = bound != gen;
`endif
  endfunction

  // Asked for must be a subset, not an overlap.
  function automatic logic a7_right_missing(input logic [7:0] asked, input logic [7:0] held);
`ifdef BUG_ACCESS_RIGHTS
    a7_right_missing = asked != 8'h0 && (asked & held) == 8'h0;
`else
    a7_right_missing = (asked & ~held) != 8'h0;
`endif
  endfunction

  // va + len > 2^64, without a 65th bit: len - 1 > 2^64 - 1 - va.
  function automatic logic a10_wraps(input logic [63:0] va, input logic [31:0] len);
    a10_wraps = len != 32'h0 && ~va[63:32] == 32'h0 && (len - 32'h1) > ~va[31:0];
  endfunction

  function automatic logic a9_outside(input logic [63:0] va, input logic [31:0] len, input logic [63:0] start,
                                      input logic [63:0] size);
    logic [63:0] off;
    off = va - start;
`ifdef BUG_ACCESS_BOUNDS
    a9_outside = va < start || off + {32'h0, len} > size;
`else
    a9_outside = va < start || off > size || {32'h0, len} > size - off;
`endif
  endfunction

  // What is translated must be part of what was checked, and of one packet.
  function automatic logic a9_unchecked(input logic [31:0] len, input logic [12:0] xlen);
    a9_unchecked = {19'h0, xlen} > len || xlen > 13'd4096;
  endfunction

  logic is_mr, is_mw2;
  assign is_mr  = ent.kind == bdy_pkg::MPT_KIND_MR;
  assign is_mw2 = ent.kind == bdy_pkg::MPT_KIND_MW2;

  assign stale_o = h4_stale(qp_alive_i, cur_gen_i, qp_gen_i);

  always_comb begin
    rule_o = bdy_pkg::RULE_NONE;
    if (stale_o) begin
      rule_o = bdy_pkg::RULE_H4;
    end else if (tbl_err_i) begin
      rule_o = bdy_pkg::RULE_H8;
    end else if (a1_unknown(ent.st, ent.kind, {ent.nonce, ent.key}, key_i[11:0])) begin
      rule_o = bdy_pkg::RULE_A1;
    end else if (!pd_alive_i) begin
      rule_o = bdy_pkg::RULE_H5;
    end else if (local_i && !is_mr) begin
      rule_o = bdy_pkg::RULE_K11;
    end else if (pd_differs(ent.pd, pd_i)) begin
      rule_o = is_mr ? (local_i ? bdy_pkg::RULE_M8 : bdy_pkg::RULE_A2) :
               is_mw2 ? bdy_pkg::RULE_A5 : bdy_pkg::RULE_A3;
    end else if (is_mw2 && a5_other_qp(ent.qpn, qpn_i)) begin
      rule_o = bdy_pkg::RULE_A5;
    end else if (is_mw2 && h4_dead_binding(ent.qp_gen, cur_gen_i)) begin
      rule_o = bdy_pkg::RULE_H4;
    end else if (a7_right_missing(rights_i, ent.rights)) begin
      rule_o = local_i ? bdy_pkg::RULE_M8 : bdy_pkg::RULE_A7;
    end else if (a10_wraps(va_i, len_i)) begin
      rule_o = local_i ? bdy_pkg::RULE_M8 : bdy_pkg::RULE_A10;
    end else if (a9_outside(va_i, len_i, ent.start, ent.len) || a9_unchecked(len_i, xlen_i)) begin
      rule_o = local_i ? bdy_pkg::RULE_M8 : bdy_pkg::RULE_A9;
    end
  end

  // The key's upper bits chose the slot.
  logic unused_key;
  assign unused_key = ^key_i[31:12];

endmodule
