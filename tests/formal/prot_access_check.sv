// SPDX-License-Identifier: Apache-2.0
// The access verdict equals a reference with 66-bit arithmetic, for every input; a grant needs every single condition.
module prot_access_check (
  input logic [447:0] entry_i,
  input logic         tbl_err_i,
  input logic [31:0]  key_i,
  input logic         local_i,
  input logic [7:0]   rights_i,
  input logic [63:0]  va_i,
  input logic [31:0]  len_i,
  input logic [12:0]  xlen_i,
  input logic [23:0]  pd_i,
  input logic [23:0]  qpn_i,
  input logic [31:0]  qp_gen_i,
  input logic         qp_alive_i,
  input logic [31:0]  cur_gen_i,
  input logic         pd_alive_i
);

  logic [7:0] rule;
  logic       stale;

  bdy_access_check u_dut (
    .entry_i, .tbl_err_i, .key_i, .local_i, .rights_i, .va_i, .len_i, .xlen_i, .pd_i, .qpn_i, .qp_gen_i, .qp_alive_i,
    .cur_gen_i, .pd_alive_i, .rule_o(rule), .stale_o(stale)
  );

  bdy_pkg::mpt_entry_t ent;
  assign ent = {64'b0, entry_i};

  // Conditions, each by itself, in wide arithmetic.
  logic        live, known, mr, mw1, mw2, same_pd, same_qp, same_life, has_rights, no_wrap, inside, piece;
  logic [65:0] first, behind, low, high;
  assign first      = {2'b0, va_i};
  assign behind     = first + {34'b0, len_i};
  assign low        = {2'b0, ent.start};
  assign high       = low + {2'b0, ent.len};
  assign live       = qp_alive_i && cur_gen_i == qp_gen_i;
  assign mr         = ent.kind == bdy_pkg::MPT_KIND_MR;
  assign mw1        = ent.kind == bdy_pkg::MPT_KIND_MW1;
  assign mw2        = ent.kind == bdy_pkg::MPT_KIND_MW2;
  assign known      = ent.st == bdy_pkg::MPT_ST_VALID && (mr || mw1 || mw2) && ent.nonce == key_i[11:8] && ent.key == key_i[7:0];
  assign same_pd    = ent.pd == pd_i;
  assign same_qp    = ent.qpn == qpn_i;
  assign same_life  = ent.qp_gen == cur_gen_i;
  assign has_rights = (rights_i | ent.rights) == ent.rights;
  assign no_wrap    = behind <= {2'b01, 64'b0};
  assign inside     = first >= low && behind <= high;
  assign piece      = {19'b0, xlen_i} <= len_i && xlen_i <= 13'd4096;

  logic [7:0] pd_rule, ref_rule;
  assign pd_rule = mr ? bdy_pkg::RULE_A2 : mw1 ? bdy_pkg::RULE_A3 : bdy_pkg::RULE_A5;

  always_comb begin
    if (!live)                    ref_rule = bdy_pkg::RULE_H4;
    else if (tbl_err_i)           ref_rule = bdy_pkg::RULE_H8;
    else if (!known)              ref_rule = bdy_pkg::RULE_A1;
    else if (!pd_alive_i)         ref_rule = bdy_pkg::RULE_H5;
    else if (local_i && !mr)      ref_rule = bdy_pkg::RULE_K11;
    else if (!same_pd)            ref_rule = local_i ? bdy_pkg::RULE_M8 : pd_rule;
    else if (mw2 && !same_qp)     ref_rule = bdy_pkg::RULE_A5;
    else if (mw2 && !same_life)   ref_rule = bdy_pkg::RULE_H4;
    else if (!has_rights)         ref_rule = local_i ? bdy_pkg::RULE_M8 : bdy_pkg::RULE_A7;
    else if (!no_wrap)            ref_rule = local_i ? bdy_pkg::RULE_M8 : bdy_pkg::RULE_A10;
    else if (!inside || !piece)   ref_rule = local_i ? bdy_pkg::RULE_M8 : bdy_pkg::RULE_A9;
    else                          ref_rule = bdy_pkg::RULE_NONE;
  end

`ifdef FORMAL
  always_comb begin
    assert (rule == ref_rule);
    assert (stale == !live);
    if (rule == bdy_pkg::RULE_NONE) begin
      assert (live && known && pd_alive_i && same_pd && has_rights && no_wrap && inside && piece && !tbl_err_i);
      assert (!local_i || mr);
      assert (!mw2 || (same_qp && same_life));
    end
    cover (rule == bdy_pkg::RULE_NONE && mw2 && behind == {2'b01, 64'b0});
    cover (rule == bdy_pkg::RULE_A10);
    cover (rule == bdy_pkg::RULE_A9 && behind == high + 66'd1);
  end
`endif

endmodule
