// SPDX-License-Identifier: Apache-2.0
// H1, H8: what the entry cache gives on a hit is the last thing written for that slot, up to the write of the lookup's own
// cycle; a dropped line gives nothing.
module prot_entry_cache (
  input logic       clk_i,
  input logic       rst_ni,
  input logic [2:0] rd_en_i,
  input logic [8:0] rd_slot_i,
  input logic       wr_en_i,
  input logic       wr_keep_i,
  input logic [2:0] wr_slot_i,
  input logic [1:0] wr_entry_i
);

  (* anyconst *) logic [2:0] slot;

  logic [2:0] hit;
  logic [5:0] entry;

  bdy_entry_cache #(.LogKeys(3), .Entries(2), .EntW(2)) u_dut (
    .clk_i, .rst_ni, .rd_en_i, .rd_slot_i, .hit_o(hit), .entry_o(entry), .wr_en_i, .wr_keep_i, .wr_slot_i, .wr_entry_i
  );

  // The last write of the chosen slot, and a lookup of it in the cycle before on each port.
  logic [1:0] last_q;
  logic       there_q;     // it may be held: written and not dropped since
  logic       now_q;       // written in the cycle before
  logic       taken_q;     // its line was written for another slot in the cycle before
  logic [2:0] asked_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_q  <= '0;
      there_q <= 1'b0;
      now_q   <= 1'b0;
      taken_q <= 1'b0;
      asked_q <= '0;
    end else begin
      now_q   <= wr_en_i && wr_slot_i == slot;
      taken_q <= wr_en_i && wr_slot_i != slot && wr_slot_i[0] == slot[0];
      if (wr_en_i && wr_slot_i == slot) begin
        last_q  <= wr_entry_i;
        there_q <= wr_keep_i;
      end
      for (int p = 0; p < 3; p++) asked_q[p] <= rd_en_i[p] && rd_slot_i[3*p+:3] == slot;
    end
  end

`ifdef FORMAL
  initial assume (!rst_ni);
  for (genvar p = 0; p < 3; p++) begin : g_port
    always_comb begin
      if (rst_ni && asked_q[p]) begin
        if (hit[p]) assert (entry[2*p+:2] == last_q && (there_q || now_q));
        if (now_q) assert (hit[p]);
        if (taken_q) assert (!hit[p]);
        cover (hit[p] && !now_q);
      end
    end
  end
  always_comb assume (wr_keep_i || wr_entry_i == 2'd0);
`endif

endmodule
