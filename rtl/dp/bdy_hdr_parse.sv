// SPDX-License-Identifier: Apache-2.0
//
// bdy_hdr_parse: takes a received frame's headers apart: the counterpart of bdy_hdr_build.
//
// Latency:      combinational.
// Invariants:   bad_op_o and bad_len_o are decided from the frame's real length and an allow-list,
//               in this order: too short for an LRH and BTH, PktLen or PayLen not the real length
//               (len); header version, next header, reserved bit, opcode or transport unknown (op);
//               payload missing for its pad, over 4096 bytes or where none may be (len). At most
//               one is set. hdr_o is meaningful with neither; fields of headers that the packet
//               lacks are zero. The BTH's reserved byte changes on the way (congestion marks) and
//               is not looked at.

module bdy_hdr_parse #(
  parameter logic [7:0] Transports = 8'h01  // accepted values of opcode[7:5]
) (
  input  logic                          en_i,
  input  logic [703:0]                  bytes_i,    // first 88 bytes; behind the end anything
  input  logic [10:0]                   words_i,    // length with the ICRC, in 4-byte words
  input  logic [63:0]                   arrival_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] hdr_o,
  output logic [4:0]                    hdr_words_o,
  output logic                          bad_op_o,
  output logic                          bad_len_o
);

  localparam logic [1:0] LnhLocal = 2'd2;
  localparam logic [1:0] LnhGlobal = 2'd3;
  localparam logic [7:0] NextIba = 8'h1B;

  function automatic logic [127:0] swap16(input logic [127:0] v);
    integer b;
    for (b = 0; b < 16; b = b + 1) swap16[8*b+:8] = v[8*(15-b)+:8];
  endfunction

  function automatic logic [703:0] swap88(input logic [703:0] v);
    integer b;
    for (b = 0; b < 88; b = b + 1) swap88[8*b+:8] = v[8*(87-b)+:8];
  endfunction

  // Big-endian, first byte at the top.
  logic [703:0] wire_be;
  logic [63:0]  lrh;
  logic [319:0] grh;
  logic [95:0]  bth;
  logic [223:0] ext, ext_conn;  // extension headers; those behind a DETH
  logic         is_global;

  always_comb begin
    wire_be = '0;
    if (en_i) wire_be = swap88(bytes_i);
  end

  assign lrh       = wire_be[703:640];
  assign grh       = wire_be[639:320];
  assign is_global = lrh[49:48] == LnhGlobal;
  assign bth       = is_global ? wire_be[319:224] : wire_be[639:544];
  assign ext       = is_global ? wire_be[223:0] : wire_be[543:320];

  logic       known, response, no_payload, deth, reth, atomic, aeth, aack, imm, ieth;
  logic [2:0] ext_words;

  bdy_bth_shape u_shape (
    .op_i(bth[95:88]),
    .known_o(known),
    .response_o(response),
    .no_payload_o(no_payload),
    .deth_o(deth),
    .reth_o(reth),
    .atomic_o(atomic),
    .aeth_o(aeth),
    .aack_o(aack),
    .imm_o(imm),
    .ieth_o(ieth),
    .words_o(ext_words)
  );

  // -------------------------------------------- lengths
  logic [10:0] min_words, rest_words, transport_words;
  logic [12:0] pay_padded;
  logic [1:0]  pad;
  logic        short_frame, wrong_len, wrong_form, wrong_payload;

  assign min_words       = is_global ? 11'd16 : 11'd6;  // LRH, GRH, BTH, ICRC
  assign short_frame     = words_i < min_words;
  assign transport_words = words_i - (is_global ? 11'd12 : 11'd2);
  assign wrong_len       = lrh[26:16] != words_i
                        || (is_global && grh[287:272] != 16'({transport_words, 2'b00}));
  assign hdr_words_o     = 5'd5 + (is_global ? 5'd10 : 5'd0) + 5'(ext_words);
  assign rest_words      = words_i - 11'(hdr_words_o) - 11'd1;
  assign pad             = bth[85:84];
  assign pay_padded      = {rest_words, 2'b00};
  assign wrong_payload   = words_i < 11'(hdr_words_o) + 11'd1 || pay_padded < 13'(pad)
                        || pay_padded - 13'(pad) > 13'd4096 || (no_payload && rest_words != '0);

  // -------------------------------------------- form, by allow-list
  logic lrh_good, grh_good, bth_good;

  assign lrh_good   = lrh[59:56] == 4'd0 && lrh[51:50] == 2'd0 && lrh[31:27] == 5'd0
                   && (is_global || lrh[49:48] == LnhLocal);
  assign grh_good   = !is_global || (grh[319:316] == 4'd6 && grh[271:264] == NextIba);
  assign bth_good   = bth[83:80] == 4'd0 && bth[30:24] == '0 && known && Transports[bth[95:93]]
                   && !(deth && ext[191:184] != '0);
  assign wrong_form = !(lrh_good && grh_good && bth_good);

  assign bad_op_o  = !short_frame && !wrong_len && wrong_form;
  assign bad_len_o = short_frame || wrong_len || (!wrong_form && wrong_payload);

  // -------------------------------------------- fields
  bdy_pkg::pkt_hdr_t h;

  assign ext_conn = deth ? {ext[159:0], 64'd0} : ext;

  always_comb begin
    h = '0;
    if (en_i) begin
      h.sl      = lrh[55:52];
      h.dlid    = lrh[47:32];
      h.slid    = lrh[15:0];
      h.op      = bth[95:88];
      h.se      = bth[87];
      h.pad     = pad;
      h.pkey    = bth[79:64];
      h.dest_qp = bth[55:32];
      h.ackreq  = bth[31];
      h.psn     = bth[23:0];
      h.paylen  = pay_padded - 13'(pad);
      h.arrival = arrival_i;
      if (is_global) begin
        h.grh        = 1'b1;
        h.tclass     = grh[315:308];
        h.flow_label = grh[307:288];
        h.hop_limit  = grh[263:256];
        {h.gid_hi, h.gid_lo} = swap16(grh[255:128]);
      end
      if (deth) begin
        h.qkey   = ext[223:192];
        h.src_qp = ext[183:160];
      end
      if (reth || atomic) begin
        h.va   = ext_conn[223:160];
        h.rkey = ext_conn[159:128];
      end
      if (reth)   h.dmalen = ext_conn[127:96];
      if (atomic) {h.swap_add, h.cmp} = ext_conn[127:0];
      if (aeth)   {h.syndrome, h.msn} = ext_conn[223:192];
      if (aack)   h.swap_add = ext_conn[191:128];
      if (ieth)   h.ieth = ext_conn[223:192];
      if (imm)    h.imm = reth ? ext_conn[95:64] : ext_conn[223:192];
    end
  end

  assign hdr_o = h;

  // Not looked at: virtual lane, migration state, BTH's reserved byte, destination GID (the LID
  // decides).
  logic unused;
  assign unused = ^{lrh, grh, bth, response};

endmodule
