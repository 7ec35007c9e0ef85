// SPDX-License-Identifier: Apache-2.0
//
// bdy_hdr_build: lays out a packet's headers: LRH, GRH when asked for, BTH, extension headers
// (H17).
//
// Latency:      combinational.
// Invariants:   with en_i, bytes_o holds words_o 4-byte words, first byte of the LRH in bits 7:0;
//               what lies behind is zero. Wire fields are big-endian; GIDs are in memory order. pad
//               and PktLen follow from paylen.

module bdy_hdr_build (
  input  logic                          en_i,     // else bytes_o is zero: cheap to simulate
  input  logic [bdy_pkg::PKT_HDR_W-1:0] hdr_i,
  input  logic [15:0]                   lid_i,
  input  logic [383:0]                  gids_i,   // source GIDs, entry 0 low
  output logic [703:0]                  bytes_o,
  output logic [4:0]                    words_o
);

  localparam logic [1:0] LnhLocal = 2'd2;   // BTH follows the LRH
  localparam logic [1:0] LnhGlobal = 2'd3;  // GRH follows the LRH
  localparam logic [7:0] NextIba = 8'h1B;
  localparam logic       Migrated = 1'b1;   // no alternate path: always in this state

  bdy_pkg::pkt_hdr_t h;
  assign h = hdr_i;

  function automatic logic [127:0] swap16(input logic [127:0] v);
    integer b;
    for (b = 0; b < 16; b = b + 1) swap16[8*b+:8] = v[8*(15-b)+:8];
  endfunction

  function automatic logic [703:0] swap88(input logic [703:0] v);
    integer b;
    for (b = 0; b < 88; b = b + 1) swap88[8*b+:8] = v[8*(87-b)+:8];
  endfunction

  logic       known, response, no_payload, deth, reth, atomic, aeth, aack, imm, ieth;
  logic [2:0] ext_words;

  bdy_bth_shape u_shape (
    .op_i(h.op),
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

  // Lengths: words from the LRH's first byte to the ICRC's last, bytes behind the GRH.
  logic [1:0]   pad;
  logic [10:0]  transport_words, pkt_words;
  logic [127:0] sgid;

  assign pad             = 2'd0 - h.paylen[1:0];
  assign transport_words = 11'd3 + 11'(ext_words) + h.paylen[12:2]
                         + 11'(h.paylen[1:0] != 2'd0) + 11'd1;
  assign pkt_words       = 11'd2 + (h.grh ? 11'd10 : 11'd0) + transport_words;
  assign words_o         = 5'd5 + (h.grh ? 5'd10 : 5'd0) + 5'(ext_words);

  always_comb begin
    case (h.sgid_index)
      8'd0:    sgid = gids_i[127:0];
      8'd1:    sgid = gids_i[255:128];
      8'd2:    sgid = gids_i[383:256];
      default: sgid = '0;
    endcase
  end

  // Big-endian, first byte at the top.
  logic [63:0]  lrh;
  logic [319:0] grh;
  logic [95:0]  bth;
  logic [223:0] ext;
  logic [31:0]  imm_or_key;

  assign lrh = {4'd0, 4'd0, h.sl, 2'd0, h.grh ? LnhGlobal : LnhLocal, h.dlid, 5'd0, pkt_words,
                lid_i};
  assign grh = {4'd6, h.tclass, h.flow_label, 16'({transport_words, 2'b00}), NextIba, h.hop_limit,
                swap16(sgid), swap16({h.gid_hi, h.gid_lo})};
  assign bth = {h.op, h.se, Migrated, pad, 4'd0, h.pkey, 8'd0, h.dest_qp, h.ackreq, 7'd0, h.psn};
  assign imm_or_key = ieth ? h.ieth : h.imm;

  always_comb begin
    ext     = '0;
    bytes_o = '0;
    if (en_i) begin
      if (reth)             ext = {h.va, h.rkey, h.dmalen, imm ? h.imm : 32'd0, 64'd0};
      else if (atomic)      ext = {h.va, h.rkey, h.swap_add, h.cmp};
      else if (aeth)        ext = {h.syndrome, h.msn, aack ? h.swap_add : 64'd0, 128'd0};
      else if (imm || ieth) ext = {imm_or_key, 192'd0};
      if (deth)             ext = {h.qkey, 8'd0, h.src_qp, ext[223:64]};
      bytes_o = swap88(h.grh ? {lrh, grh, bth, ext} : {lrh, bth, ext, 320'd0});
    end
  end

  // Reserved bits, and fields that only a receiver fills.
  logic unused;
  assign unused = ^{h, known, response, no_payload};

endmodule
