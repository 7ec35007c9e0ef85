// SPDX-License-Identifier: Apache-2.0
//
// bdy_entry_do: the entry that an executed operation leaves behind. It cannot fail: its check has granted.
//
// Latency:      combinational.
// Throughput:   one entry per cycle.
// Backpressure: none.
// Invariants:   the upper 24 key bits never change (K2); a window's rights hold neither LOCAL_WRITE nor MW_BIND (P8); an
//               unbound window keeps kind, key, nonce and PD and nothing else.

module bdy_entry_do (
  input  logic [7:0]   op_i,
  input  logic         unbind_i,     // BIND1 of length 0
  input  logic [31:0]  key_i,
  input  logic [7:0]   new_key_i,
  input  logic [7:0]   rights_i,
  input  logic [63:0]  addr_i,
  input  logic [63:0]  len_i,
  input  logic [23:0]  qpn_i,
  input  logic [31:0]  qp_gen_i,
  input  logic [31:0]  mr_key_i,
  input  logic [447:0] image_i,      // body of MR_OPEN, MR_REPLACE, MW_ALLOC
  input  logic [447:0] win_i,        // present entry
  input  logic [447:0] reg_i,        // region named by mr_key_i
  output logic [447:0] entry_o
);

  localparam logic [7:0] WindowRights = bdy_pkg::ACCESS_BIT_REMOTE_WRITE | bdy_pkg::ACCESS_BIT_REMOTE_READ |
      bdy_pkg::ACCESS_BIT_REMOTE_ATOMIC;

  bdy_pkg::mpt_entry_t win, mr, image, bound, idle, alloc;
  logic                type2, zero_based;

  assign win   = {64'b0, win_i};
  assign mr    = {64'b0, reg_i};
  assign image = {64'b0, image_i};

  assign type2      = op_i == bdy_pkg::PROT_OP_BIND2;
  assign zero_based = (rights_i & bdy_pkg::ACCESS_BIT_ZERO_BASED) != 8'h0;

  // A check of the window needs no other entry: it takes a copy of the region's translation.
  always_comb begin
    bound            = '0;
    bound.st         = bdy_pkg::MPT_ST_VALID;
    bound.kind       = win.kind;
    bound.zero_based = zero_based;
    bound.direct     = mr.direct;
    bound.log_ps     = mr.log_ps;
    bound.key        = type2 ? new_key_i : win.key + 8'h1;  // K4, K3
    bound.nonce      = win.nonce;
    bound.rights     = rights_i & WindowRights;
    bound.pd         = win.pd;
    bound.start      = zero_based ? 64'h0 : addr_i;
    bound.len        = len_i;
    bound.base       = mr.base;
    bound.list_off   = mr.list_off + (addr_i - mr.start);
    bound.qpn        = type2 ? qpn_i : 24'h0;
    bound.qp_gen     = type2 ? qp_gen_i : 32'h0;
    bound.mr_slot    = mr_key_i[31:12];
    bound.mr_nonce   = mr_key_i[11:8];
  end

  always_comb begin
    idle       = '0;
    idle.st    = bdy_pkg::MPT_ST_FREE;
    idle.kind  = win.kind;
    idle.key   = (op_i == bdy_pkg::PROT_OP_BIND1) ? win.key + 8'h1 : win.key;  // B16: an unbind moves the key
    idle.nonce = win.nonce;
    idle.pd    = win.pd;
  end

  always_comb begin
    alloc       = '0;
    alloc.st    = bdy_pkg::MPT_ST_FREE;
    alloc.kind  = image.kind;
    alloc.key   = image.key;
    alloc.nonce = image.nonce;
    alloc.pd    = image.pd;
  end

  always_comb begin
    case (op_i)
      bdy_pkg::PROT_OP_BIND1:      entry_o = unbind_i ? idle[447:0] : bound[447:0];
      bdy_pkg::PROT_OP_BIND2:      entry_o = bound[447:0];
      bdy_pkg::PROT_OP_LOCAL_INV,
      bdy_pkg::PROT_OP_REMOTE_INV: entry_o = idle[447:0];
      bdy_pkg::PROT_OP_MR_OPEN,
      bdy_pkg::PROT_OP_MR_REPLACE: entry_o = image[447:0];
      bdy_pkg::PROT_OP_MW_ALLOC:   entry_o = alloc[447:0];
      default:                     entry_o = '0;  // MR_CLOSE, MW_FREE: the slot is empty
    endcase
  end

  // The key's slot is the entry's place; the images' reserved bits were checked.
  logic unused;
  assign unused = ^{key_i, mr_key_i[7:0], win, mr, image, bound[511:448], idle, alloc};

endmodule
