// SPDX-License-Identifier: Apache-2.0
//
// bdy_access: access verdicts: arbitrate, look up, check.
//
//      ports --> arbiter --> S1 lookup --> V verdict --> (granted, refused) translation and log
//                  ^                          |
//                  |                          +--> miss --> table read
//                  +-- return of a miss, with its entry, or poisoned: look up again
//
// Latency:      a hit reaches its verdict two cycles after the handshake.
// Throughput:   one verdict per cycle; a return takes one cycle of the ports.
// Backpressure: a request is taken only when everything that it may need has room (miss entry here, translation and log
//               by room_i), so S1 and V never stall.
// Invariants:   the verdict stage is V: an operation executed in the same cycle comes after the access (H1). An operation
//               executed while an access is in S1 is seen by it (snoop); while it waits for the table, it poisons it (H8).

module bdy_access #(
  parameter int LogKeys = 13,
  parameter int NMiss   = 64,
  parameter int NAcc    = 4,
  parameter int EntW    = 448,
  parameter int MissIdW = NMiss > 1 ? $clog2(NMiss) : 1
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  output logic                            idle_o,

  input  logic [NAcc-1:0]                 acc_valid_i,
  output logic [NAcc-1:0]                 acc_ready_o,
  input  logic [NAcc*bdy_pkg::ACC_REQ_W-1:0] acc_req_i,

  // room behind the verdict, for one more than those in flight here
  output logic [1:0]                      inflight_o,
  input  logic                            room_i,

  // entry cache, port 0, and every write to it
  output logic                            rd_en_o,
  output logic [LogKeys-1:0]              rd_slot_o,
  input  logic                            hit_i,
  input  logic [EntW-1:0]                 entry_i,
  input  logic                            cw_en_i,
  input  logic [LogKeys-1:0]              cw_slot_i,
  input  logic [EntW-1:0]                 cw_entry_i,
  input  logic                            upd_en_i,   // the write is an operation's
  // fill of the cache, dropped when an operation writes
  output logic                            fill_en_o,
  output logic [LogKeys-1:0]              fill_slot_o,
  output logic [EntW-1:0]                 fill_entry_o,

  // table
  output logic                            iss_valid_o,
  input  logic                            iss_ready_i,
  output logic [MissIdW-1:0]              iss_id_o,
  output logic [LogKeys-1:0]              iss_slot_o,
  input  logic                            ret_valid_i,
  output logic                            ret_ready_o,
  input  logic [MissIdW-1:0]              ret_id_i,
  input  logic [EntW-1:0]                 ret_entry_i,
  input  logic                            ret_err_i,

  // state read at the verdict
  output logic [23:0]                     qpn_o,
  input  logic                            qp_alive_i,
  input  logic [31:0]                     qp_gen_i,
  output logic [23:0]                     pd_o,
  input  logic                            pd_alive_i,

  // verdict
  output logic                            v_valid_o,
  output logic [1:0]                      v_port_o,
  output logic [bdy_pkg::ACC_REQ_W-1:0]   v_req_o,
  output logic [LogKeys-1:0]              v_slot_o,
  output logic [EntW-1:0]                 v_entry_o,
  output logic [7:0]                      v_rule_o,
  output logic                            v_stale_o
);

  // What is kept of a request: its fields, without the gaps.
  localparam int ReqW = 2 + 8 + 1 + 8 + 32 + 64 + 32 + 13 + 24 + 24 + 32;

  function automatic logic [ReqW-1:0] pack_req(input logic [1:0] port, input logic [bdy_pkg::ACC_REQ_W-1:0] r);
    pack_req = {port,
                r[bdy_pkg::ACC_REQ_TAG_LSB+:8],
                r[bdy_pkg::ACC_REQ_LOCAL_KEY_LSB],
                r[bdy_pkg::ACC_REQ_RIGHTS_LSB+:8],
                r[bdy_pkg::ACC_REQ_KEY_LSB+:32],
                r[bdy_pkg::ACC_REQ_VA_LSB+:64],
                r[bdy_pkg::ACC_REQ_LEN_LSB+:32],
                r[bdy_pkg::ACC_REQ_XLEN_LSB+:13],
                r[bdy_pkg::ACC_REQ_PD_LSB+:24],
                r[bdy_pkg::ACC_REQ_QPN_LSB+:24],
                r[bdy_pkg::ACC_REQ_QP_GEN_LSB+:32]};
  endfunction

  // With fewer slots than 2^20 the upper bits of a key are zero (H10); else no entry can match.
  function automatic logic slot_fits(input logic [19:0] slot);
    slot_fits = (slot >> LogKeys) == 20'h0;
  endfunction

  // ---------------------------------------------------------------- arbitration
  localparam int CountW = $clog2(NMiss + 1);

  logic                          s1_valid_q, v_valid_q;
  logic [CountW-1:0]             busy_count;
  logic                          miss_room, take, ret_take, arb_valid;
  logic [NAcc-1:0]               gnt;
  logic [$clog2(NAcc)-1:0]       port;
  logic [19:0]                   req_slot;
  logic [LogKeys-1:0]            ret_slot;
  logic                          ret_poison;

  assign inflight_o  = {1'b0, s1_valid_q} + {1'b0, v_valid_q};
  assign miss_room   = (CountW + 2)'(busy_count) + (CountW + 2)'(inflight_o) < (CountW + 2)'(NMiss);
  assign ret_ready_o = room_i;
  assign ret_take    = ret_valid_i && ret_ready_o;
  assign take        = arb_valid && room_i && miss_room && !ret_valid_i;
  assign acc_ready_o = take ? gnt : '0;
  assign req_slot    = acc_req_i[bdy_pkg::ACC_REQ_W*port+bdy_pkg::ACC_REQ_KEY_LSB+12+:20];
  assign rd_en_o     = take || (ret_take && ret_poison);
  assign rd_slot_o   = ret_take ? ret_slot : LogKeys'(req_slot);

  bdy_rr_arb #(.N(NAcc)) u_arb (
    .clk_i, .rst_ni,
    .req_i(acc_valid_i),
    .take_i(take),
    .valid_o(arb_valid),
    .gnt_o(gnt),
    .idx_o(port)
  );

  // ---------------------------------------------------------------- S1: lookup
  logic               s1_ret_q, s1_fill_q, s1_err_q, s1_fits_q;
  logic [LogKeys-1:0] s1_slot_q;
  logic [ReqW-1:0]    s1_req_q, s1_req, miss_req;
  logic [EntW-1:0]    s1_fill_entry_q, s1_entry;
  logic               s1_snoop, s1_hit, s1_err;

  assign s1_req   = s1_ret_q ? miss_req : s1_req_q;
  assign s1_snoop = cw_en_i && cw_slot_i == s1_slot_q;
  assign s1_hit   = !s1_fits_q || s1_snoop || s1_fill_q || hit_i;
  assign s1_err   = s1_fits_q && s1_fill_q && s1_err_q && !s1_snoop;
  assign s1_entry = !s1_fits_q ? '0 : s1_snoop ? cw_entry_i : s1_fill_q ? s1_fill_entry_q : entry_i;

  // Only what is there is cached (H8).
  assign fill_en_o    = s1_valid_q && s1_fill_q && !s1_err_q &&
                        s1_fill_entry_q[bdy_pkg::MPT_ENTRY_KIND_LSB+:2] != bdy_pkg::MPT_KIND_NONE;
  assign fill_slot_o  = s1_slot_q;
  assign fill_entry_o = s1_fill_entry_q;

  // ---------------------------------------------------------------- V: verdict
  logic               v_hit_q, v_err_q, miss;
  logic [LogKeys-1:0] v_slot_q;
  logic [ReqW-1:0]    v_req_q;
  logic [EntW-1:0]    v_entry_q;

  logic [1:0]  v_port;
  logic [7:0]  v_tag, v_rights;
  logic        v_local;
  logic [31:0] v_key, v_len, v_gen;
  logic [63:0] v_va;
  logic [12:0] v_xlen;
  logic [23:0] v_pd, v_qpn;
  assign {v_port, v_tag, v_local, v_rights, v_key, v_va, v_len, v_xlen, v_pd, v_qpn, v_gen} = v_req_q;

  assign qpn_o = v_qpn;
  assign pd_o  = v_entry_q[bdy_pkg::MPT_ENTRY_PD_LSB+:24];

  bdy_access_check u_check (
    .entry_i(v_entry_q),
    .tbl_err_i(v_err_q),
    .key_i(v_key),
    .local_i(v_local),
    .rights_i(v_rights),
    .va_i(v_va),
    .len_i(v_len),
    .xlen_i(v_xlen),
    .pd_i(v_pd),
    .qpn_i(v_qpn),
    .qp_gen_i(v_gen),
    .qp_alive_i,
    .cur_gen_i(qp_gen_i),
    .pd_alive_i,
    .rule_o(v_rule_o),
    .stale_o(v_stale_o)
  );

  assign v_valid_o = v_valid_q && v_hit_q;
  assign v_port_o  = v_port;
  assign v_slot_o  = v_slot_q;
  assign v_entry_o = v_entry_q;
  assign miss      = v_valid_q && !v_hit_q;

  always_comb begin
    v_req_o = '0;
    v_req_o[bdy_pkg::ACC_REQ_TAG_LSB+:8]      = v_tag;
    v_req_o[bdy_pkg::ACC_REQ_LOCAL_KEY_LSB]   = v_local;
    v_req_o[bdy_pkg::ACC_REQ_RIGHTS_LSB+:8]   = v_rights;
    v_req_o[bdy_pkg::ACC_REQ_KEY_LSB+:32]     = v_key;
    v_req_o[bdy_pkg::ACC_REQ_VA_LSB+:64]      = v_va;
    v_req_o[bdy_pkg::ACC_REQ_LEN_LSB+:32]     = v_len;
    v_req_o[bdy_pkg::ACC_REQ_XLEN_LSB+:13]    = v_xlen;
    v_req_o[bdy_pkg::ACC_REQ_PD_LSB+:24]      = v_pd;
    v_req_o[bdy_pkg::ACC_REQ_QPN_LSB+:24]     = v_qpn;
    v_req_o[bdy_pkg::ACC_REQ_QP_GEN_LSB+:32]  = v_gen;
  end

  bdy_miss #(.LogKeys(LogKeys), .NMiss(NMiss), .ReqW(ReqW)) u_miss (
    .clk_i, .rst_ni,
    .busy_count_o(busy_count),
    .miss_en_i(miss),
    .miss_slot_i(v_slot_q),
    .miss_req_i(v_req_q),
    .upd_en_i(upd_en_i && cw_en_i),
    .upd_slot_i(cw_slot_i),
    .iss_valid_o, .iss_ready_i, .iss_id_o, .iss_slot_o,
    .ret_en_i(ret_take),
    .ret_id_i,
    .ret_slot_o(ret_slot),
    .ret_poison_o(ret_poison),
    .ret_req_o(miss_req)
  );

  // ---------------------------------------------------------------- registers
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      v_valid_q  <= 1'b0;
    end else begin
      s1_valid_q <= take || ret_take;
      v_valid_q  <= s1_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    s1_ret_q  <= ret_take;
    s1_fill_q <= ret_take && !ret_poison;
    if (take) begin
      s1_req_q  <= pack_req(port, acc_req_i[bdy_pkg::ACC_REQ_W*port+:bdy_pkg::ACC_REQ_W]);
      s1_slot_q <= rd_slot_o;
      s1_fits_q <= slot_fits(req_slot);
    end
    if (ret_take) begin
      s1_slot_q       <= ret_slot;
      s1_fits_q       <= 1'b1;
      s1_err_q        <= ret_err_i;
      s1_fill_entry_q <= ret_entry_i;
    end
    if (s1_valid_q) begin
      v_hit_q   <= s1_hit;
      v_err_q   <= s1_err;
      v_slot_q  <= s1_slot_q;
      v_req_q   <= s1_req;
      v_entry_q <= s1_entry;
    end
  end

  assign idle_o = !s1_valid_q && !v_valid_q && busy_count == '0;

  // Bits of a request that no field owns.
  logic unused;
  assign unused = ^acc_req_i;

endmodule
