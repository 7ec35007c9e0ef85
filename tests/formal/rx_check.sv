// SPDX-License-Identifier: Apache-2.0
// What a request packet leads to, against conditions written out one by one in wide arithmetic: exactly one outcome, nothing
// executed without every condition, every refusal with the first broken rule in H7's order.
module rx_check (
  input logic [bdy_pkg::PKT_HDR_W-1:0] hdr_i,
  input logic [bdy_pkg::QP_CTX0_W-1:0] ctx0_i,
  input logic                          live_i,
  input logic [63:0]                   live_at_i,
  input logic [23:0]                   epsn_i,
  input logic [1:0]                    seq_i,
  input logic [31:0]                   off_i,
  input logic [31:0]                   wr_len_i
);

  logic        drop, gap, dup, refuse, exec, is_send, is_write, is_read, starts, ends, imm;
  logic [1:0]  why;
  logic [7:0]  rule;
  logic [23:0] psns;

  bdy_rx_check #(.LogQps(8)) u_dut (
    .hdr_i, .ctx0_i, .live_i, .live_at_i, .epsn_i, .seq_i, .off_i, .wr_len_i,
    .drop_o(drop), .drop_why_o(why), .gap_o(gap), .dup_o(dup), .refuse_o(refuse), .rule_o(rule), .exec_o(exec),
    .is_send_o(is_send), .is_write_o(is_write), .is_read_o(is_read), .starts_o(starts), .ends_o(ends), .imm_o(imm),
    .psns_o(psns)
  );

  bdy_pkg::pkt_hdr_t hdr;
  bdy_pkg::qp_ctx0_t ctx;
  assign hdr = hdr_i;
  assign ctx = ctx0_i;

  // ---------------------------------------------------------------- reference
  logic        send, write, read, first, middle, last, only, known_qp, receives, member;
  logic        t1, a19, a14, t2, expected, behind, inside;
  logic [39:0] mtu, length, so_far, after, count, distance;

  assign send   = hdr.op <= 8'h05;
  assign write  = hdr.op >= 8'h06 && hdr.op <= 8'h0b;
  assign read   = hdr.op == 8'h0c;
  assign first  = hdr.op == 8'h00 || hdr.op == 8'h06;
  assign middle = hdr.op == 8'h01 || hdr.op == 8'h07;
  assign last   = hdr.op == 8'h02 || hdr.op == 8'h03 || hdr.op == 8'h08 || hdr.op == 8'h09;
  assign only   = hdr.op == 8'h04 || hdr.op == 8'h05 || hdr.op == 8'h0a || hdr.op == 8'h0b || read;

  assign known_qp = hdr.dest_qp >= 24'h100 && hdr.dest_qp < 24'h200;
  assign receives = live_i && ctx.kind == bdy_pkg::QP_KIND_RC && hdr.arrival >= live_at_i &&
                    (ctx.st == bdy_pkg::QP_ST_RTR || ctx.st == bdy_pkg::QP_ST_RTS || ctx.st == bdy_pkg::QP_ST_SQD);
  assign member   = hdr.pkey == 16'hffff || hdr.pkey == 16'h7fff;
  assign distance = {16'b0, hdr.psn - epsn_i};
  assign expected = hdr.psn == epsn_i;
  assign behind   = distance >= 40'h80_0000;

  always_comb begin
    case (ctx.mtu)
      3'd1: mtu = 40'd256;
      3'd2: mtu = 40'd512;
      3'd3: mtu = 40'd1024;
      3'd4: mtu = 40'd2048;
      default: mtu = 40'd4096;
    endcase
  end
  assign length = {27'b0, hdr.paylen};
  assign so_far = (first || only) ? 40'd0 : {8'b0, off_i};
  assign after  = so_far + length;
  assign count  = {16'b0, psns};
  // The PSNs taken are the fewest packets that carry the READ.
  assign inside = count >= 40'd1 && count * mtu >= {8'b0, hdr.dmalen} &&
                  (count == 40'd1 || (count - 40'd1) * mtu < {8'b0, hdr.dmalen});

  assign t1  = !(send || write || read) || (seq_i == 2'd0 && !(first || only)) ||
               (seq_i == 2'd1 && !(send && (middle || last))) || (seq_i >= 2'd2 && !(write && (middle || last)));
  assign a19 = (write && !ctx.rights[1]) || (read && !ctx.rights[2]);
  assign a14 = (((write && (first || only)) || read) && hdr.dmalen > 32'h8000_0000) || (send && after > 40'h80000000);

  always_comb begin
    t2 = hdr.pad != 2'((40'd4 - (length % 40'd4)) % 40'd4);
    if (first || middle) t2 = t2 || length != mtu;
    if (last) t2 = t2 || length == 40'd0 || length > mtu;
    if (only && !read) t2 = t2 || length > mtu;
    if (read) t2 = length != 40'd0 || hdr.pad != 2'd0;
    if (write && first) t2 = t2 || {8'b0, hdr.dmalen} <= mtu;
    if (write && only) t2 = t2 || {8'b0, hdr.dmalen} != length;
    if (write && middle) t2 = t2 || {8'b0, wr_len_i} <= so_far + mtu;
    if (write && last) t2 = t2 || {8'b0, wr_len_i} != after;
  end

`ifdef FORMAL
  always_comb begin
    assume (ctx.mtu >= 3'd1 && ctx.mtu <= 3'd5);
    assume (hdr.paylen <= 13'd4096);
    assume (seq_i != 2'd3);
    // What the engine keeps: a message in progress has not passed its length.
    assume (off_i <= 32'h8000_0000 && wr_len_i <= 32'h8000_0000);
    assume (seq_i != 2'd2 || off_i < wr_len_i);

    assert ({2'b0, drop} + {2'b0, gap} + {2'b0, dup} + {2'b0, refuse} + {2'b0, exec} == 3'd1);
    assert ((drop && why == 2'd0) == !known_qp);
    assert ((drop && why == 2'd1) == (known_qp && !receives));
    assert ((drop && why == 2'd2) == (known_qp && receives && !member));
    assert (gap == (known_qp && receives && member && !expected && !behind));
    assert (exec == (known_qp && receives && member && expected && !t1 && !a19 && !a14 && !t2));
    if (refuse && expected) assert (rule == (t1 ? bdy_pkg::RULE_T1 : a19 ? bdy_pkg::RULE_A19 :
                                             a14 ? bdy_pkg::RULE_A14 : bdy_pkg::RULE_T2));
    if (dup) assert (behind && (!read || (!a19 && !a14 && !t2)));
    // A duplicate READ ends before the PSN that is expected.
    if (dup && read) assert (distance + count <= 40'h100_0000);
    if (!read) assert (psns == 24'd1);
    if (exec && ends) assert (last || only);
    if (exec && starts) assert (first || only);
    if (exec) assert (is_send == send && is_write == write && is_read == read);
    if (exec && imm) assert (hdr.op == 8'h03 || hdr.op == 8'h05 || hdr.op == 8'h09 || hdr.op == 8'h0b);

    cover (exec && read && hdr.dmalen == 32'h8000_0000);
    cover (exec && write && last);
    cover (refuse && rule == bdy_pkg::RULE_A14);
    cover (refuse && rule == bdy_pkg::RULE_T2 && write && middle);
    cover (dup && read);
    cover (drop && why == 2'd3);
  end
`endif

endmodule
