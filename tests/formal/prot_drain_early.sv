// SPDX-License-Identifier: Apache-2.0
// H3, never early: no drained answer while a grant whose verdict was not after the revocation is outstanding. One grant and one
// revocation are picked freely among all; grants end whenever they like.
module prot_drain_early #(
  parameter int Depth = 2
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       grant_i,
  input logic       pick_grant_i,   // this grant is the picked one
  input logic [1:0] ret_i,          // other grants end
  input logic [1:0] ret_epoch_i,
  input logic       pick_ret_i,     // the picked one ends
  input logic       revoke_i,
  input logic       pick_revoke_i,
  input logic       ev_i,
  input logic [2:0] ev_seq_i,
  input logic [2:0] ev_done_i,
  input logic       cw_i,
  input logic       cw_busy_i
);

  localparam logic [7:0] Picked = 8'h80;

  logic       epoch, room, idle, answered;
  logic [7:0] tag;

  // The other grants, by epoch; the picked grant; the picked revocation.
  logic [2:0] others0_q, others1_q;
  logic       picked_q, picked_open_q, picked_epoch_q, revoked_q, before_q;

  bdy_drain #(.NOp(1), .NRet(3), .Depth(Depth), .EvW(3), .GrantW(4)) u_dut (
    .clk_i, .rst_ni,
    .idle_o(idle),
    .grant_i,
    .epoch_o(epoch),
    .ret_valid_i({pick_ret_i, ret_i}),
    .ret_epoch_i({picked_epoch_q, ret_epoch_i}),
    .revoke_i,
    .revoke_port_i(2'd0),
    .revoke_tag_i(pick_revoke_i ? Picked : 8'h01),
    .revoke_ev_i(ev_i),
    .revoke_ev_seq_i(ev_seq_i),
    .revoke_cw_i(cw_i),
    .room_o(room),
    .ev_done_seq_i(ev_done_i),
    .cw_busy_i,
    .opd_valid_o(answered),
    .opd_tag_o(tag)
  );


  function automatic logic [2:0] ended(input logic [1:0] valid, input logic [1:0] epochs, input logic which);
    ended = {2'b0, valid[0] && epochs[0] == which} + {2'b0, valid[1] && epochs[1] == which};
  endfunction

  logic other_grant;
  assign other_grant = grant_i && !pick_grant_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      others0_q      <= '0;
      others1_q      <= '0;
      picked_q       <= 1'b0;
      picked_open_q  <= 1'b0;
      picked_epoch_q <= 1'b0;
      revoked_q      <= 1'b0;
      before_q       <= 1'b0;
    end else begin
      others0_q <= others0_q + {2'b0, other_grant && !epoch} - ended(ret_i, ret_epoch_i, 1'b0);
      others1_q <= others1_q + {2'b0, other_grant && epoch} - ended(ret_i, ret_epoch_i, 1'b1);
      if (grant_i && pick_grant_i) begin
        picked_q       <= 1'b1;
        picked_open_q  <= 1'b1;
        picked_epoch_q <= epoch;
      end else if (pick_ret_i) begin
        picked_open_q <= 1'b0;
      end
      if (revoke_i && pick_revoke_i) begin
        revoked_q <= 1'b1;
        // A grant of the same cycle comes before the operation.
        before_q  <= picked_open_q && !pick_ret_i || (grant_i && pick_grant_i);
      end
    end
  end

`ifdef FORMAL
  initial assume (!rst_ni);
  always_comb begin
    assume (!pick_grant_i || (grant_i && !picked_q));
    assume (!pick_ret_i || picked_open_q);
    assume (ended(ret_i, ret_epoch_i, 1'b0) <= others0_q && ended(ret_i, ret_epoch_i, 1'b1) <= others1_q);
    assume (others0_q < 3'd6 && others1_q < 3'd6);
    assume (!pick_revoke_i || (revoke_i && !revoked_q));
    assume (!revoke_i || room);
    if (rst_ni) begin
      assert (!(answered && tag == Picked && before_q && picked_open_q));
      assert (!(answered && tag == Picked) || revoked_q);
      cover (answered && tag == Picked && before_q);
    end
  end
`endif

  logic unused;
  assign unused = idle;

endmodule
