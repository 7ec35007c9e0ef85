// SPDX-License-Identifier: Apache-2.0
// H3, never stuck: if every grant ends within three cycles, every revocation is drained within Bound cycles (two longest
// grants and the steps between), whatever grants and revocations come behind it.
module prot_drain_live #(
  parameter int Depth = 3,
  parameter int Bound = 11
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       grant_i,
  input logic [1:0] life_i,         // a grant ends 1 to 3 cycles later
  input logic       revoke_i,
  input logic       pick_revoke_i
);

  localparam logic [7:0] Picked = 8'h80;

  logic       epoch, room, idle, answered;
  logic [7:0] tag;
  logic [3:1] due_q, due_epoch_q;   // grants that end in so many cycles
  logic       waits_q;
  logic [4:0] age_q;

  bdy_drain #(.NOp(1), .NRet(1), .Depth(Depth), .EvW(2), .GrantW(3)) u_dut (
    .clk_i, .rst_ni,
    .idle_o(idle),
    .grant_i,
    .epoch_o(epoch),
    .ret_valid_i(due_q[1]),
    .ret_epoch_i(due_epoch_q[1]),
    .revoke_i,
    .revoke_port_i(2'd0),
    .revoke_tag_i(pick_revoke_i ? Picked : 8'h01),
    .revoke_ev_i(1'b0),
    .revoke_ev_seq_i(2'd0),
    .revoke_cw_i(1'b0),
    .room_o(room),
    .ev_done_seq_i(2'd0),
    .cw_busy_i(1'b0),
    .opd_valid_o(answered),
    .opd_tag_o(tag)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      due_q       <= '0;
      due_epoch_q <= '0;
      waits_q     <= 1'b0;
      age_q       <= '0;
    end else begin
      due_q       <= {1'b0, due_q[3:2]};
      due_epoch_q <= {1'b0, due_epoch_q[3:2]};
      if (grant_i) begin
        due_q[life_i]       <= 1'b1;
        due_epoch_q[life_i] <= epoch;
      end
      if (revoke_i && pick_revoke_i)       waits_q <= 1'b1;
      else if (answered && tag == Picked)  waits_q <= 1'b0;
      age_q <= waits_q ? age_q + 5'd1 : 5'd0;
    end
  end

`ifdef FORMAL
  initial assume (!rst_ni);
  always_comb begin
    // One return port: two grants never end in the same cycle.
    assume (!grant_i || (life_i != 2'd0 && (life_i == 2'd3 || !due_q[life_i+2'd1])));
    assume (!pick_revoke_i || (revoke_i && !waits_q));
    assume (!revoke_i || room);
    if (rst_ni) begin
      assert (age_q < 5'(Bound));
      cover (answered && tag == Picked && age_q == 5'd7);
    end
  end
`endif

  logic unused;
  assign unused = idle;

endmodule
