// SPDX-License-Identifier: Apache-2.0
//
// bdy_bind_check: the verdict of BIND1, BIND2, LOCAL_INV and REMOTE_INV, one pure function per rule.
//
// Latency:      combinational.
// Throughput:   one verdict per cycle.
// Backpressure: none.
// Invariants:   no side effect; rule_o is NONE only if every condition of the operation holds.
//
//   bind                                                    invalidate
//   Q1  posting QP alive, in RTS or SQD                     Q1  the same; REMOTE_INV also in RTR
//   P8  only known rights asked for                         H8  table answered
//   P7  strict mode: no zero-based type 1                   I3  window exists, full key equal
//   H8  table answered                                      I13 not a region
//   B1  window exists, full key equal (B24: also stale)     I2  not type 1
//   P2  opcode fits the window's type                       H5  PD alive
//   H5  PD alive                                            I6  bound
//   B4  PD of the QP = PD of the window                     I5  by this QP
//       type 1, length 0: unbind, granted here (B15-B17)    H4  in this QP's present life
//   B18 type 2: length not 0
//   B20 type 2: not bound yet (type 1 may be rebound, B19)
//   B3  region is no window      B2  region open, full key equal      B5  PD of the region = PD of the window
//   B6  region has MW_BIND       B7  remote write, atomic need its local write (B8: nothing else compared)
//   B14 region is not zero-based
//   B11 addr + len within 2^64   B10 range inside the region (B13 when zero-based)
//   L11 count of the region does not overflow

module bdy_bind_check (
  input  logic         inv_i,          // LOCAL_INV or REMOTE_INV
  input  logic         remote_i,       // REMOTE_INV
  input  logic         type2_i,        // BIND2
  input  logic [31:0]  key_i,
  input  logic [31:0]  mr_key_i,
  input  logic [23:0]  pd_i,
  input  logic [23:0]  qpn_i,
  input  logic [7:0]   rights_i,
  input  logic [63:0]  addr_i,
  input  logic [63:0]  len_i,
  input  logic [447:0] win_i,          // entry under key_i's slot, zero when none
  input  logic         win_err_i,
  input  logic [447:0] reg_i,          // entry under mr_key_i's slot, zero when none
  input  logic         reg_err_i,
  input  logic         strict_i,
  input  logic         qp_alive_i,     // of qpn_i, at the verdict
  input  logic [2:0]   qp_st_i,
  input  logic [31:0]  qp_gen_i,       // present generation of qpn_i
  input  logic         pd_alive_i,     // of the window's PD
  input  logic         count_full_i,   // count of the region is at its maximum
  output logic         unbind_o,       // BIND1 of length 0
  output logic [7:0]   rule_o
);

  bdy_pkg::mpt_entry_t win, mr;
  assign win = {64'b0, win_i};
  assign mr  = {64'b0, reg_i};

  // Not every field of an entry takes part in a verdict; slots were used to find the entries.
  logic unused;
  assign unused = ^{win, mr, key_i[31:12], mr_key_i[31:12]};

  localparam logic [7:0] Allowed = bdy_pkg::ACCESS_BIT_LOCAL_WRITE | bdy_pkg::ACCESS_BIT_REMOTE_WRITE |
      bdy_pkg::ACCESS_BIT_REMOTE_READ | bdy_pkg::ACCESS_BIT_REMOTE_ATOMIC | bdy_pkg::ACCESS_BIT_ZERO_BASED;
  localparam logic [7:0] NeedsLocalWrite = bdy_pkg::ACCESS_BIT_REMOTE_WRITE | bdy_pkg::ACCESS_BIT_REMOTE_ATOMIC;

  // What left RTS before its turn is flushed and changes nothing (H12, Q2).
  function automatic logic q1_not_working(input logic alive, input logic [2:0] st, input logic remote);
    q1_not_working = !alive || !(st == bdy_pkg::QP_ST_RTS || st == bdy_pkg::QP_ST_SQD ||
                                 (remote && st == bdy_pkg::QP_ST_RTR));
  endfunction

  function automatic logic p8_unknown_right(input logic [7:0] asked);
    p8_unknown_right = (asked & ~Allowed) != 8'h0;
  endfunction

  function automatic logic asks(input logic [7:0] rights, input logic [7:0] bits);
    asks = (rights & bits) != 8'h0;
  endfunction

  function automatic logic is_window(input logic [1:0] kind);
    is_window = kind == bdy_pkg::MPT_KIND_MW1 || kind == bdy_pkg::MPT_KIND_MW2;
  endfunction

  function automatic logic key_differs(input logic [11:0] held, input logic [11:0] given);
`ifdef BUG_BIND_KEY
    key_differs = held[7:0] != given[7:0];
`else
    key_differs = held != given;
`endif
  endfunction

  function automatic logic b2_not_open(input logic [1:0] st, input logic [1:0] kind);
    b2_not_open = st != bdy_pkg::MPT_ST_VALID || kind != bdy_pkg::MPT_KIND_MR;
  endfunction

  function automatic logic b7_no_local_write(input logic [7:0] asked, input logic [7:0] held);
`ifdef BUG_BIND_B7
    b7_no_local_write = asks(asked, bdy_pkg::ACCESS_BIT_REMOTE_WRITE) && !asks(held, bdy_pkg::ACCESS_BIT_LOCAL_WRITE);
`else
    b7_no_local_write = asks(asked, NeedsLocalWrite) && !asks(held, bdy_pkg::ACCESS_BIT_LOCAL_WRITE);
`endif
  endfunction

  // addr + len > 2^64, without a 65th bit; ending at 2^64 is legal (B12).
  function automatic logic b11_wraps(input logic [63:0] addr, input logic [63:0] len);
    b11_wraps = len != 64'h0 && (len - 64'h1) > ~addr;
  endfunction

  function automatic logic b10_outside(input logic [63:0] addr, input logic [63:0] len, input logic [63:0] start,
                                       input logic [63:0] size);
    logic [63:0] off;
    off = addr - start;
`ifdef BUG_BIND_BOUNDS
    b10_outside = addr < start || off > size || len > size;
`else
    b10_outside = addr < start || off > size || len > size - off;
`endif
  endfunction

  logic [7:0] bind_rule, region_rule, inv_rule;
  logic       zero_based;

  assign zero_based = asks(rights_i, bdy_pkg::ACCESS_BIT_ZERO_BASED);
  assign unbind_o   = !inv_i && !type2_i && len_i == 64'h0;

  always_comb begin
    region_rule = bdy_pkg::RULE_NONE;
    if (reg_err_i)                                           region_rule = bdy_pkg::RULE_H8;
    else if (is_window(mr.kind))                             region_rule = bdy_pkg::RULE_B3;
    else if (b2_not_open(mr.st, mr.kind))                    region_rule = bdy_pkg::RULE_B2;
    else if (key_differs({mr.nonce, mr.key}, mr_key_i[11:0])) region_rule = bdy_pkg::RULE_B2;
    else if (mr.pd != win.pd)                                region_rule = bdy_pkg::RULE_B5;
    else if (!asks(mr.rights, bdy_pkg::ACCESS_BIT_MW_BIND))  region_rule = bdy_pkg::RULE_B6;
    else if (b7_no_local_write(rights_i, mr.rights))         region_rule = bdy_pkg::RULE_B7;
    else if (mr.zero_based)                                  region_rule = bdy_pkg::RULE_B14;
    else if (b11_wraps(addr_i, len_i))                       region_rule = bdy_pkg::RULE_B11;
    else if (b10_outside(addr_i, len_i, mr.start, mr.len)) begin
      region_rule = zero_based ? bdy_pkg::RULE_B13 : bdy_pkg::RULE_B10;
    end else if (count_full_i)                               region_rule = bdy_pkg::RULE_L11;
  end

  always_comb begin
    bind_rule = bdy_pkg::RULE_NONE;
    if (q1_not_working(qp_alive_i, qp_st_i, 1'b0))             bind_rule = bdy_pkg::RULE_Q1;
    else if (p8_unknown_right(rights_i))                       bind_rule = bdy_pkg::RULE_P8;
    else if (strict_i && !type2_i && zero_based)               bind_rule = bdy_pkg::RULE_P7;
    else if (win_err_i)                                        bind_rule = bdy_pkg::RULE_H8;
    else if (!is_window(win.kind))                             bind_rule = bdy_pkg::RULE_B1;
    else if (key_differs({win.nonce, win.key}, key_i[11:0]))   bind_rule = bdy_pkg::RULE_B1;
    else if (type2_i != (win.kind == bdy_pkg::MPT_KIND_MW2))   bind_rule = bdy_pkg::RULE_P2;
    else if (!pd_alive_i)                                      bind_rule = bdy_pkg::RULE_H5;
    else if (pd_i != win.pd)                                   bind_rule = bdy_pkg::RULE_B4;
    else if (unbind_o)                                         bind_rule = bdy_pkg::RULE_NONE;
    else if (type2_i && len_i == 64'h0)                        bind_rule = bdy_pkg::RULE_B18;
    else if (type2_i && win.st == bdy_pkg::MPT_ST_VALID)       bind_rule = bdy_pkg::RULE_B20;
    else                                                       bind_rule = region_rule;
  end

  always_comb begin
    inv_rule = bdy_pkg::RULE_NONE;
    if (q1_not_working(qp_alive_i, qp_st_i, remote_i))         inv_rule = bdy_pkg::RULE_Q1;
    else if (win_err_i)                                        inv_rule = bdy_pkg::RULE_H8;
    else if (win.kind == bdy_pkg::MPT_KIND_NONE)               inv_rule = bdy_pkg::RULE_I3;
    else if (key_differs({win.nonce, win.key}, key_i[11:0]))   inv_rule = bdy_pkg::RULE_I3;
    else if (win.kind == bdy_pkg::MPT_KIND_MR)                 inv_rule = bdy_pkg::RULE_I13;
    else if (win.kind == bdy_pkg::MPT_KIND_MW1)                inv_rule = bdy_pkg::RULE_I2;
    else if (!pd_alive_i)                                      inv_rule = bdy_pkg::RULE_H5;
    else if (win.st != bdy_pkg::MPT_ST_VALID)                  inv_rule = bdy_pkg::RULE_I6;
    else if (win.pd != pd_i || win.qpn != qpn_i)               inv_rule = bdy_pkg::RULE_I5;
    else if (win.qp_gen != qp_gen_i)                           inv_rule = bdy_pkg::RULE_H4;
  end

  assign rule_o = inv_i ? inv_rule : bind_rule;

endmodule
