// SPDX-License-Identifier: Apache-2.0
// H8: for a freely chosen slot, at most one table write is under way, the table ends with the last entry put, and while it does
// not have it, reads of the slot are held.
module prot_wbuf (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       put_en_i,
  input logic [1:0] put_slot_i,
  input logic [1:0] put_entry_i,
  input logic       wr_ready_i,
  input logic       b_valid_i,
  input logic       b_id_i
);

  (* anyconst *) logic [1:0] slot;

  logic       room, held, wr_valid, wr_id, idle;
  logic [1:0] wr_slot, wr_entry;

  bdy_wbuf #(.LogKeys(2), .Depth(2), .EntW(2), .NMatch(1)) u_dut (
    .clk_i, .rst_ni,
    .idle_o(idle),
    .put_en_i, .put_slot_i, .put_entry_i,
    .room_o(room),
    .match_slot_i(slot),
    .match_o(held),
    .wr_valid_o(wr_valid),
    .wr_ready_i,
    .wr_id_o(wr_id),
    .wr_slot_o(wr_slot),
    .wr_entry_o(wr_entry),
    .b_valid_i, .b_id_i
  );

  // Writes under way, by place; what the table holds for the slot once they are confirmed.
  logic [1:0] flying_q, mine_q;
  logic [1:0] last_q, flying_entry_q, table_q;
  logic       put_q;
  logic       sends;
  assign sends = wr_valid && wr_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flying_q       <= '0;
      mine_q         <= '0;
      last_q         <= '0;
      flying_entry_q <= '0;
      table_q        <= '0;
      put_q          <= 1'b0;
    end else begin
      if (put_en_i && put_slot_i == slot) begin
        last_q <= put_entry_i;
        put_q  <= 1'b1;
      end
      if (b_valid_i) flying_q[b_id_i] <= 1'b0;
      if (b_valid_i && mine_q[b_id_i]) begin
        mine_q[b_id_i] <= 1'b0;
        table_q        <= flying_entry_q;
      end
      if (sends) flying_q[wr_id] <= 1'b1;
      if (sends && wr_slot == slot) begin
        mine_q[wr_id]  <= 1'b1;
        flying_entry_q <= wr_entry;
      end
    end
  end

`ifdef FORMAL
  initial assume (!rst_ni);
  always_comb begin
    assume (!put_en_i || room);
    assume (!b_valid_i || flying_q[b_id_i]);
    if (rst_ni) begin
      assert (!(sends && flying_q[wr_id]));
      assert (!(sends && wr_slot == slot && mine_q != 2'b00 && !(b_valid_i && mine_q[b_id_i])));
      if (put_q && !held) assert (table_q == last_q && mine_q == 2'b00);
      cover (put_q && !held && last_q == 2'd3);
      cover (mine_q != 2'b00 && put_en_i && put_slot_i == slot);
    end
  end
`endif

  logic unused;
  assign unused = idle;

endmodule
