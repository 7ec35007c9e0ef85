// SPDX-License-Identifier: Apache-2.0
// The verdict of binds and invalidates equals a reference with 66-bit arithmetic, for every input; what is granted meets every
// single condition.
module prot_bind_check (
  input logic         inv_i,
  input logic         remote_i,
  input logic         type2_i,
  input logic [31:0]  key_i,
  input logic [31:0]  mr_key_i,
  input logic [23:0]  pd_i,
  input logic [23:0]  qpn_i,
  input logic [7:0]   rights_i,
  input logic [63:0]  addr_i,
  input logic [63:0]  len_i,
  input logic [447:0] win_i,
  input logic         win_err_i,
  input logic [447:0] reg_i,
  input logic         reg_err_i,
  input logic         strict_i,
  input logic         qp_alive_i,
  input logic [2:0]   qp_st_i,
  input logic [31:0]  qp_gen_i,
  input logic         pd_alive_i,
  input logic         count_full_i
);

  logic [7:0] rule;
  logic       unbind;

  bdy_bind_check u_dut (
    .inv_i, .remote_i, .type2_i, .key_i, .mr_key_i, .pd_i, .qpn_i, .rights_i, .addr_i, .len_i, .win_i, .win_err_i, .reg_i,
    .reg_err_i, .strict_i, .qp_alive_i, .qp_st_i, .qp_gen_i, .pd_alive_i, .count_full_i, .unbind_o(unbind), .rule_o(rule)
  );

  bdy_pkg::mpt_entry_t win, mr;
  assign win = {64'b0, win_i};
  assign mr  = {64'b0, reg_i};

  logic rts, works, known_rights, strict_ok, window, win_key, type_fits, pd_same, unbinds, bound, reg_window, reg_open, reg_pd,
        can_bind, write_ok, reg_normal, no_wrap, inside;
  logic [65:0] behind, high;
  assign behind       = {2'b0, addr_i} + {2'b0, len_i};
  assign high         = {2'b0, mr.start} + {2'b0, mr.len};
  assign rts          = qp_st_i == bdy_pkg::QP_ST_RTS || qp_st_i == bdy_pkg::QP_ST_SQD;
  assign works        = qp_alive_i && (rts || (inv_i && remote_i && qp_st_i == bdy_pkg::QP_ST_RTR));
  assign known_rights = !rights_i[4] && !rights_i[6] && !rights_i[7];
  assign strict_ok    = !(strict_i && !type2_i && rights_i[5]);
  assign window       = win.kind == bdy_pkg::MPT_KIND_MW1 || win.kind == bdy_pkg::MPT_KIND_MW2;
  assign win_key      = win.nonce == key_i[11:8] && win.key == key_i[7:0];
  assign type_fits    = win.kind == (type2_i ? bdy_pkg::MPT_KIND_MW2 : bdy_pkg::MPT_KIND_MW1);
  assign pd_same      = pd_i == win.pd;
  assign unbinds      = !type2_i && len_i == 64'h0;
  assign bound        = win.st == bdy_pkg::MPT_ST_VALID;
  assign reg_window   = mr.kind == bdy_pkg::MPT_KIND_MW1 || mr.kind == bdy_pkg::MPT_KIND_MW2;
  assign reg_open     = mr.kind == bdy_pkg::MPT_KIND_MR && mr.st == bdy_pkg::MPT_ST_VALID && mr.nonce == mr_key_i[11:8] &&
                        mr.key == mr_key_i[7:0];
  assign reg_pd       = mr.pd == win.pd;
  assign can_bind     = mr.rights[4];
  assign write_ok     = mr.rights[0] || (!rights_i[1] && !rights_i[3]);
  assign reg_normal   = !mr.zero_based;
  assign no_wrap      = behind <= {2'b01, 64'b0};
  assign inside       = addr_i >= mr.start && behind <= high;

  logic [7:0] reg_rule, bind_rule, inv_rule;
  always_comb begin
    if (reg_err_i)         reg_rule = bdy_pkg::RULE_H8;
    else if (reg_window)   reg_rule = bdy_pkg::RULE_B3;
    else if (!reg_open)    reg_rule = bdy_pkg::RULE_B2;
    else if (!reg_pd)      reg_rule = bdy_pkg::RULE_B5;
    else if (!can_bind)    reg_rule = bdy_pkg::RULE_B6;
    else if (!write_ok)    reg_rule = bdy_pkg::RULE_B7;
    else if (!reg_normal)  reg_rule = bdy_pkg::RULE_B14;
    else if (!no_wrap)     reg_rule = bdy_pkg::RULE_B11;
    else if (!inside)      reg_rule = rights_i[5] ? bdy_pkg::RULE_B13 : bdy_pkg::RULE_B10;
    else if (count_full_i) reg_rule = bdy_pkg::RULE_L11;
    else                   reg_rule = bdy_pkg::RULE_NONE;
  end

  always_comb begin
    if (!works)                  bind_rule = bdy_pkg::RULE_Q1;
    else if (!known_rights)      bind_rule = bdy_pkg::RULE_P8;
    else if (!strict_ok)         bind_rule = bdy_pkg::RULE_P7;
    else if (win_err_i)          bind_rule = bdy_pkg::RULE_H8;
    else if (!window)            bind_rule = bdy_pkg::RULE_B1;
    else if (!win_key)           bind_rule = bdy_pkg::RULE_B1;
    else if (!type_fits)         bind_rule = bdy_pkg::RULE_P2;
    else if (!pd_alive_i)        bind_rule = bdy_pkg::RULE_H5;
    else if (!pd_same)           bind_rule = bdy_pkg::RULE_B4;
    else if (unbinds)            bind_rule = bdy_pkg::RULE_NONE;
    else if (len_i == 64'h0)     bind_rule = bdy_pkg::RULE_B18;
    else if (type2_i && bound)   bind_rule = bdy_pkg::RULE_B20;
    else                         bind_rule = reg_rule;
  end

  always_comb begin
    if (!works)                                        inv_rule = bdy_pkg::RULE_Q1;
    else if (win_err_i)                                inv_rule = bdy_pkg::RULE_H8;
    else if (win.kind == bdy_pkg::MPT_KIND_NONE)       inv_rule = bdy_pkg::RULE_I3;
    else if (!win_key)                                 inv_rule = bdy_pkg::RULE_I3;
    else if (win.kind == bdy_pkg::MPT_KIND_MR)         inv_rule = bdy_pkg::RULE_I13;
    else if (win.kind == bdy_pkg::MPT_KIND_MW1)        inv_rule = bdy_pkg::RULE_I2;
    else if (!pd_alive_i)                              inv_rule = bdy_pkg::RULE_H5;
    else if (!bound)                                   inv_rule = bdy_pkg::RULE_I6;
    else if (!pd_same || win.qpn != qpn_i)             inv_rule = bdy_pkg::RULE_I5;
    else if (win.qp_gen != qp_gen_i)                   inv_rule = bdy_pkg::RULE_H4;
    else                                               inv_rule = bdy_pkg::RULE_NONE;
  end

`ifdef FORMAL
  always_comb begin
    assert (rule == (inv_i ? inv_rule : bind_rule));
    assert (unbind == (!inv_i && unbinds));
    if (rule == bdy_pkg::RULE_NONE) begin
      assert (works && window && win_key && pd_alive_i && pd_same && !win_err_i);
      if (inv_i) assert (win.kind == bdy_pkg::MPT_KIND_MW2 && bound && win.qpn == qpn_i && win.qp_gen == qp_gen_i);
      if (!inv_i) assert (type_fits && known_rights);
      if (!inv_i && !unbind) begin
        assert (reg_open && reg_pd && can_bind && write_ok && reg_normal && no_wrap && inside && !count_full_i && len_i != 64'h0);
        assert (!type2_i || !bound);
      end
    end
    cover (rule == bdy_pkg::RULE_NONE && !inv_i && !unbind && behind == {2'b01, 64'b0});
    cover (rule == bdy_pkg::RULE_NONE && inv_i);
    cover (rule == bdy_pkg::RULE_B11);
  end
`endif

endmodule
