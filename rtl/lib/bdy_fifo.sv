// SPDX-License-Identifier: Apache-2.0
//
// bdy_fifo: first in, first out.
//
// Latency:      an entry is offered in the cycle after it was written.
// Throughput:   one write and one read per cycle; at Depth 1 one entry every two cycles.
// Backpressure: wr_ready_o falls when full. No path from an input to an output.
// Invariants:   order is kept; no write when full, no read when empty; count_o is the number of
//               entries.

module bdy_fifo #(
  parameter int Width = 8,
  parameter int Depth = 2
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       wr_valid_i,
  output logic                       wr_ready_o,
  input  logic [Width-1:0]           wr_data_i,
  output logic                       rd_valid_o,
  input  logic                       rd_ready_i,
  output logic [Width-1:0]           rd_data_o,
  output logic [$clog2(Depth+1)-1:0] count_o
);

  localparam int CountW = $clog2(Depth + 1);
  localparam int PtrW = Depth > 1 ? $clog2(Depth) : 1;
  localparam int Words = Depth > 1 ? Depth : 2;  // one word has no address; the second stays unused
  localparam logic [PtrW-1:0] LastPtr = PtrW'(Depth - 1);

  logic [Width-1:0]  mem [Words];
  logic [PtrW-1:0]   wr_ptr_q, rd_ptr_q;
  logic [CountW-1:0] count_q;
  logic              wr, rd;

`ifdef BUG_FIFO_FULL
  assign wr_ready_o = 1'b1;
`else
  assign wr_ready_o = count_q != CountW'(Depth);
`endif
  assign rd_valid_o = count_q != '0;
`ifdef BUG_FIFO_STABLE
  assign rd_data_o  = wr_valid_i ? wr_data_i : mem[rd_ptr_q];
`else
  assign rd_data_o  = mem[rd_ptr_q];
`endif
  assign count_o    = count_q;
  assign wr         = wr_valid_i && wr_ready_o;
  assign rd         = rd_valid_o && rd_ready_i;

  function automatic logic [PtrW-1:0] after(input logic [PtrW-1:0] ptr);
`ifdef BUG_FIFO_WRAP
    after = ptr + PtrW'(1);
`else
    after = (ptr == LastPtr) ? '0 : ptr + PtrW'(1);
`endif
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      count_q  <= '0;
    end else begin
      if (wr) wr_ptr_q <= after(wr_ptr_q);
      if (rd) rd_ptr_q <= after(rd_ptr_q);
      if (wr && !rd) count_q <= count_q + CountW'(1);
      if (rd && !wr) count_q <= count_q - CountW'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (wr) mem[wr_ptr_q] <= wr_data_i;
  end

`ifdef FORMAL_FIFO
  // Whatever write is chosen, its data comes out as the read of the same number.
  (* anyconst *) logic [7:0] f_pick;
  logic [7:0]       f_writes_q, f_reads_q;
  logic [Width-1:0] f_data_q;
  logic             f_inside;
  logic [7:0]       f_slot;

  function automatic logic [7:0] wrapped(input logic [7:0] sum);
    wrapped = (sum >= 8'(Depth)) ? sum - 8'(Depth) : sum;
  endfunction

  initial assume (!rst_ni);
  assign f_inside = f_writes_q > f_pick && f_reads_q <= f_pick;
  assign f_slot   = 8'(rd_ptr_q) + (f_pick - f_reads_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_writes_q <= '0;
      f_reads_q  <= '0;
    end else begin
      if (wr) f_writes_q <= f_writes_q + 8'd1;
      if (rd) f_reads_q <= f_reads_q + 8'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (wr && f_writes_q == f_pick) f_data_q <= wr_data_i;
  end

  always_comb begin
    assume (f_writes_q != '1);
    if (rst_ni) begin
      assert (f_reads_q <= f_writes_q);
      assert (f_writes_q - f_reads_q == 8'(count_q));
      assert (count_q <= CountW'(Depth));
      assert (wr_ptr_q <= LastPtr && rd_ptr_q <= LastPtr);
      assert (8'(wr_ptr_q) == wrapped(8'(rd_ptr_q) + 8'(count_q)));
      if (f_inside) assert (mem[PtrW'(wrapped(f_slot))] == f_data_q);
      if (rd && f_reads_q == f_pick) assert (rd_data_o == f_data_q);
      cover (count_q == CountW'(Depth));
      cover (f_reads_q == 8'(Depth + 1));
    end
  end

  bdy_rv_props #(.Width(Width)) u_rd_props (
    .clk_i, .rst_ni, .valid_i(rd_valid_o), .ready_i(rd_ready_i), .data_i(rd_data_o)
  );
`endif

endmodule
