// SPDX-License-Identifier: Apache-2.0
//
// bdy_life_check: the verdict of the life-cycle operations that firmware posts, one pure function per rule.
//
// Latency:      combinational.
// Throughput:   one verdict per cycle.
// Backpressure: none.
// Invariants:   no side effect; rule_o is NONE only if every condition of the operation holds; an opcode that is not of
//               this list is refused (N1).
//
//   MR_OPEN     key = body's key, fits the table; slot empty, or the same region FREE and now opened; image sound
//               (N1), range does not wrap (M5), PD alive (H5)
//   MR_REPLACE  the named region is open (N1), no window bound (L3), image as for MR_OPEN
//   MR_CLOSE    the named region exists (N1), no window bound (L3)
//   MW_ALLOC    key = body's key, slot empty, a window, FREE (N1), PD alive (H5)
//   MW_FREE     a window lives under the 24-bit index (L2); its key byte is not looked at
//   MTT_WRITE   the named region is FREE (else H2 when open, N1), index is of its range, image aligned (N1); the old
//               entry is not inside an open region (H2)
//   QP_BUMP     QP number exists (N1)
//   QP_ERR      QP number exists (N1), alive, not in RESET or ERR (Q1, E4); SQE only from a state that sends (Q1)
//   PD_OPEN, PD_KILL  PD number exists (N1)
//   CTX_WRITE   kind, half, index, reserved bits (N1), state transition (N5), QP number not retired (H4)

module bdy_life_check #(
  parameter int LogKeys = 13,
  parameter int LogMtt  = 16,
  parameter int LogQps  = 8,
  parameter int LogPds  = 10
) (
  input  logic [7:0]   op_i,
  input  logic [31:0]  key_i,
  input  logic [3:0]   ctx_kind_i,
  input  logic         half_i,
  input  logic         sqe_i,
  input  logic [23:0]  pd_i,
  input  logic [31:0]  index_i,
  input  logic [511:0] body_i,
  input  logic [447:0] ent_i,        // entry under key_i's slot, zero when none
  input  logic         ent_err_i,
  input  logic [447:0] owner_i,      // MTT_WRITE: entry of the old translation's owner, zero when none
  input  logic         owner_err_i,
  input  logic         mtt_err_i,    // MTT_WRITE: the old translation could not be read
  input  logic         bound_i,      // region's bound-window count is not zero
  input  logic         qp_ok_i,      // the QP number is one of this device
  input  logic         qp_alive_i,
  input  logic [2:0]   qp_st_i,
  input  logic         qp_retired_i, // generation is all-ones
  input  logic         body_pd_alive_i,
  output logic [7:0]   rule_o
);

  localparam int MttIdxW = LogMtt + 1;

  bdy_pkg::mpt_entry_t ent, body, owner;
  bdy_pkg::mtt_entry_t mtt;
  assign ent   = {64'b0, ent_i};
  assign owner = {64'b0, owner_i};
  assign body  = body_i;
  assign mtt   = body_i[127:0];

  // Not every field of an image takes part in a verdict.
  logic unused;
  assign unused = ^{ent, owner, mtt, body};

  function automatic logic slot_fits(input logic [19:0] slot);
    slot_fits = (slot >> LogKeys) == 20'h0;
  endfunction

  // The image must name the slot's own nonce and key byte.
  function automatic logic key_same(input logic [3:0] nonce, input logic [7:0] low, input logic [11:0] given);
    key_same = {nonce, low} == given;
  endfunction

  function automatic logic is_window(input logic [1:0] kind);
    is_window = kind == bdy_pkg::MPT_KIND_MW1 || kind == bdy_pkg::MPT_KIND_MW2;
  endfunction

  // start + len > 2^64 (M5); a range that ends there is legal.
  function automatic logic wraps(input logic [63:0] start, input logic [63:0] len);
    wraps = len != 64'h0 && (len - 64'h1) > ~start;
  endfunction

  function automatic logic page_size_bad(input logic [5:0] log_ps);
    page_size_bad = log_ps < 6'd12 || log_ps > 6'd30;
  endfunction

  // A paged region lies inside its own list, and the list inside the table.
  function automatic logic list_bad(input logic [63:0] base, input logic [31:0] npages, input logic [5:0] log_ps,
                                    input logic [63:0] list_off, input logic [63:0] len);
    logic [63:0] bytes;
    bytes = {32'h0, npages} << log_ps;
    list_bad = (npages != 32'h0 && page_size_bad(log_ps)) || (base >> MttIdxW) != 64'h0 || (npages >> MttIdxW) != 32'h0 ||
               base[MttIdxW:0] + npages[MttIdxW:0] > (LogMtt + 2)'(2 ** LogMtt) ||
               list_off > bytes || len > bytes - list_off;
  endfunction

  // A direct region is one bus range.
  function automatic logic direct_bad(input logic [63:0] base, input logic [31:0] npages, input logic [63:0] list_off,
                                      input logic [63:0] len);
    direct_bad = npages != 32'h0 || list_off > ~base || wraps(base + list_off, len);
  endfunction

  localparam logic [7:0] RegionRights = bdy_pkg::ACCESS_BIT_LOCAL_WRITE | bdy_pkg::ACCESS_BIT_REMOTE_WRITE |
      bdy_pkg::ACCESS_BIT_REMOTE_READ | bdy_pkg::ACCESS_BIT_REMOTE_ATOMIC | bdy_pkg::ACCESS_BIT_MW_BIND;

  // Allow-lists of an image (all but range and PD).
  function automatic logic region_image_bad(input logic [7:0] rights, input logic zero_based, input logic [63:0] start,
                                            input logic [79:0] window_fields);
    region_image_bad = (rights & ~(RegionRights | (zero_based ? bdy_pkg::ACCESS_BIT_ZERO_BASED : 8'h0))) != 8'h0 ||
                       (zero_based && start != 64'h0) || window_fields != 80'h0;
  endfunction

  function automatic logic covers(input logic [63:0] base, input logic [31:0] npages, input logic [31:0] index);
    covers = {32'h0, index} >= base && {32'h0, index} - base < {32'h0, npages};
  endfunction

  function automatic logic misaligned(input logic [63:0] addr, input logic [5:0] log_ps);
    misaligned = (addr & ~(~64'h0 << log_ps)) != 64'h0;
  endfunction

  // Legal transitions of a QP's state by CTX_WRITE.
  function automatic logic n5_illegal(input logic [2:0] from, input logic [2:0] to);
    case (to)
      bdy_pkg::QP_ST_RESET: n5_illegal = 1'b0;
      bdy_pkg::QP_ST_ERR:   n5_illegal = 1'b0;
      bdy_pkg::QP_ST_INIT:  n5_illegal = from != bdy_pkg::QP_ST_RESET && from != bdy_pkg::QP_ST_INIT;
      bdy_pkg::QP_ST_RTR:   n5_illegal = from != bdy_pkg::QP_ST_INIT && from != bdy_pkg::QP_ST_RTR;
      bdy_pkg::QP_ST_RTS:   n5_illegal = from != bdy_pkg::QP_ST_RTR && from != bdy_pkg::QP_ST_RTS &&
                                         from != bdy_pkg::QP_ST_SQD && from != bdy_pkg::QP_ST_SQE;
      bdy_pkg::QP_ST_SQD:   n5_illegal = from != bdy_pkg::QP_ST_RTS && from != bdy_pkg::QP_ST_SQD;
      bdy_pkg::QP_ST_SQE:   n5_illegal = from != bdy_pkg::QP_ST_SQE;
      default:              n5_illegal = 1'b1;
    endcase
  endfunction

  function automatic logic sends(input logic [2:0] st);
    sends = st == bdy_pkg::QP_ST_RTS || st == bdy_pkg::QP_ST_SQD || st == bdy_pkg::QP_ST_SQE;
  endfunction

  // ---------------------------------------------------------------- images
  logic       body_key_bad, image_bad;
  logic [7:0] image_rule;

  always_comb begin
    body_key_bad = 1'b0;
    image_bad    = 1'b0;
    if (op_i == bdy_pkg::PROT_OP_MR_OPEN || op_i == bdy_pkg::PROT_OP_MR_REPLACE || op_i == bdy_pkg::PROT_OP_MW_ALLOC) begin
      body_key_bad = !slot_fits(key_i[31:12]) || body.nonce != key_i[11:8] || body.null_mr ||
                     (body_i & bdy_pkg::MPT_ENTRY_RSVD_MASK) != '0;
      image_bad    = body.kind != bdy_pkg::MPT_KIND_MR ||
          region_image_bad(body.rights, body.zero_based, body.start, {body.qpn, body.mr_slot, body.mr_nonce, body.qp_gen}) ||
          (body.direct ? direct_bad(body.base, body.npages, body.list_off, body.len) :
                         list_bad(body.base, body.npages, body.log_ps, body.list_off, body.len));
    end
  end

  always_comb begin
    image_rule = bdy_pkg::RULE_NONE;
    if (image_bad)                         image_rule = bdy_pkg::RULE_N1;
    else if (wraps(body.start, body.len))  image_rule = bdy_pkg::RULE_M5;
    else if (!body_pd_alive_i)             image_rule = bdy_pkg::RULE_H5;
  end

  // ---------------------------------------------------------------- one verdict per operation
  logic [7:0] open_rule, replace_rule, close_rule, alloc_rule, free_rule, mtt_rule, err_rule, ctx_rule;
  logic       named, opens;  // the region that the whole key names exists; a reserved region is opened

  assign named = slot_fits(key_i[31:12]) && ent.kind == bdy_pkg::MPT_KIND_MR && key_same(ent.nonce, ent.key, key_i[11:0]);
  assign opens = named && ent.st == bdy_pkg::MPT_ST_FREE && body.st == bdy_pkg::MPT_ST_VALID;

  always_comb begin
    open_rule = image_rule;
    if (ent_err_i) open_rule = bdy_pkg::RULE_H8;
    else if (body_key_bad || body.key != key_i[7:0]) open_rule = bdy_pkg::RULE_N1;
    else if (body.st != bdy_pkg::MPT_ST_FREE && body.st != bdy_pkg::MPT_ST_VALID) open_rule = bdy_pkg::RULE_N1;
    else if (ent.kind != bdy_pkg::MPT_KIND_NONE && !opens) open_rule = bdy_pkg::RULE_N1;
  end

  always_comb begin
    replace_rule = image_rule;
    if (ent_err_i) replace_rule = bdy_pkg::RULE_H8;
    else if (body_key_bad || body.st != bdy_pkg::MPT_ST_VALID) replace_rule = bdy_pkg::RULE_N1;
    else if (!named || ent.st != bdy_pkg::MPT_ST_VALID) replace_rule = bdy_pkg::RULE_N1;
    else if (bound_i) replace_rule = bdy_pkg::RULE_L3;
  end

  always_comb begin
    close_rule = bdy_pkg::RULE_NONE;
    if (ent_err_i)    close_rule = bdy_pkg::RULE_H8;
    else if (!named)  close_rule = bdy_pkg::RULE_N1;
`ifndef BUG_LIFE_L3
    else if (bound_i) close_rule = bdy_pkg::RULE_L3;
`endif
  end

  always_comb begin
    alloc_rule = bdy_pkg::RULE_NONE;
    if (ent_err_i) alloc_rule = bdy_pkg::RULE_H8;
    else if (body_key_bad || body.key != key_i[7:0]) alloc_rule = bdy_pkg::RULE_N1;
    else if (!is_window(body.kind) || body.st != bdy_pkg::MPT_ST_FREE) alloc_rule = bdy_pkg::RULE_N1;
    else if (ent.kind != bdy_pkg::MPT_KIND_NONE) alloc_rule = bdy_pkg::RULE_N1;
    else if (!body_pd_alive_i) alloc_rule = bdy_pkg::RULE_H5;
  end

  always_comb begin
    free_rule = bdy_pkg::RULE_NONE;
    if (ent_err_i) free_rule = bdy_pkg::RULE_H8;
    else if (!slot_fits(key_i[31:12]) || !is_window(ent.kind) || ent.nonce != key_i[11:8]) free_rule = bdy_pkg::RULE_L2;
  end

  always_comb begin
    mtt_rule = bdy_pkg::RULE_NONE;
    if (op_i != bdy_pkg::PROT_OP_MTT_WRITE) mtt_rule = bdy_pkg::RULE_NONE;
    else if (ent_err_i || owner_err_i || mtt_err_i) mtt_rule = bdy_pkg::RULE_H8;
    else if (!named || ent.direct || !covers(ent.base, ent.npages, index_i)) mtt_rule = bdy_pkg::RULE_N1;
    else if ((body_i & {384'h0, bdy_pkg::MTT_ENTRY_RSVD_MASK}) != '0 || body_i[511:128] != '0) mtt_rule = bdy_pkg::RULE_N1;
    else if (misaligned(mtt.addr, ent.log_ps)) mtt_rule = bdy_pkg::RULE_N1;
    else if ((mtt.owner != 20'h0 && mtt.owner != key_i[31:12]) || (mtt.nonce != 4'h0 && mtt.nonce != key_i[11:8]))
      mtt_rule = bdy_pkg::RULE_N1;
    else if (ent.st != bdy_pkg::MPT_ST_FREE) mtt_rule = bdy_pkg::RULE_H2;
    else if (owner.kind == bdy_pkg::MPT_KIND_MR && owner.st == bdy_pkg::MPT_ST_VALID && !owner.direct &&
             covers(owner.base, owner.npages, index_i)) mtt_rule = bdy_pkg::RULE_H2;
  end

  always_comb begin
    err_rule = bdy_pkg::RULE_NONE;
    if (!qp_ok_i) err_rule = bdy_pkg::RULE_N1;
    else if (!qp_alive_i || qp_st_i == bdy_pkg::QP_ST_RESET) err_rule = bdy_pkg::RULE_Q1;
    else if (qp_st_i == bdy_pkg::QP_ST_ERR) err_rule = bdy_pkg::RULE_Q1;  // E4: no second event
    else if (sqe_i && !sends(qp_st_i)) err_rule = bdy_pkg::RULE_Q1;
  end

  always_comb begin
    ctx_rule = bdy_pkg::RULE_NONE;
    if (op_i == bdy_pkg::PROT_OP_CTX_WRITE) case (ctx_kind_i)
      bdy_pkg::CTX_KIND_QP: begin
        if ((index_i >> LogQps) != 32'h0) ctx_rule = bdy_pkg::RULE_N1;
        else if (half_i) begin
          if ((body_i & bdy_pkg::QP_CTX1_RSVD_MASK) != '0) ctx_rule = bdy_pkg::RULE_N1;
        end else if ((body_i & bdy_pkg::QP_CTX0_RSVD_MASK) != '0) ctx_rule = bdy_pkg::RULE_N1;
        else if (n5_illegal(qp_st_i, body_i[2:0])) ctx_rule = bdy_pkg::RULE_N5;
        else if (qp_retired_i && body_i[2:0] != bdy_pkg::QP_ST_RESET) ctx_rule = bdy_pkg::RULE_H4;
      end
      bdy_pkg::CTX_KIND_CQ: begin
        if (half_i || (index_i >> bdy_pkg::LOG_CQS) != 32'h0) ctx_rule = bdy_pkg::RULE_N1;
        else if ((body_i & bdy_pkg::CQ_CTX_RSVD_MASK) != '0) ctx_rule = bdy_pkg::RULE_N1;
      end
      bdy_pkg::CTX_KIND_EQ: begin
        if (half_i || (index_i >> bdy_pkg::LOG_EQS) != 32'h0) ctx_rule = bdy_pkg::RULE_N1;
        else if ((body_i & bdy_pkg::EQ_CTX_RSVD_MASK) != '0) ctx_rule = bdy_pkg::RULE_N1;
      end
      default: ctx_rule = bdy_pkg::RULE_N1;
    endcase
  end

  always_comb begin
    case (op_i)
      bdy_pkg::PROT_OP_NOP:        rule_o = bdy_pkg::RULE_NONE;
      bdy_pkg::PROT_OP_MR_OPEN:    rule_o = open_rule;
      bdy_pkg::PROT_OP_MR_CLOSE:   rule_o = close_rule;
      bdy_pkg::PROT_OP_MR_REPLACE: rule_o = replace_rule;
      bdy_pkg::PROT_OP_MW_ALLOC:   rule_o = alloc_rule;
      bdy_pkg::PROT_OP_MW_FREE:    rule_o = free_rule;
      bdy_pkg::PROT_OP_MTT_WRITE:  rule_o = mtt_rule;
      bdy_pkg::PROT_OP_QP_BUMP:    rule_o = qp_ok_i ? bdy_pkg::RULE_NONE : bdy_pkg::RULE_N1;
      bdy_pkg::PROT_OP_QP_ERR:     rule_o = err_rule;
      bdy_pkg::PROT_OP_PD_OPEN,
      bdy_pkg::PROT_OP_PD_KILL:    rule_o = (pd_i >> LogPds) == 24'h0 ? bdy_pkg::RULE_NONE : bdy_pkg::RULE_N1;
      bdy_pkg::PROT_OP_CTX_WRITE:  rule_o = ctx_rule;
      default:                     rule_o = bdy_pkg::RULE_N1;
    endcase
  end

endmodule
