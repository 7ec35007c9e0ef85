// SPDX-License-Identifier: Apache-2.0
//
// bdy_deframer: receives link frames, stores each whole, checks it, and offers header fields and
// payload (H17).
//
//   link --> packet buffer (whole frame) ------------------------------------------> prq/pst
//        --> first 88 bytes, bdy_icrc --> ICRC, lengths, opcode --> header queue --> hdr
//
// Latency:      the header is offered two cycles after the frame's last beat.
// Throughput:   one beat per cycle, one cycle more per frame, while a buffer is free.
// Backpressure: s_ready_o is down while all NBuf buffers hold good frames, and for one cycle after
//               a frame.
// Invariants:   nothing leaves before the ICRC is right and every length agrees with the bytes
//               received. A bad frame is dropped and counted once: stream form (bad_len), then ICRC
//               (bad_icrc), then what bdy_hdr_parse says (bad_len, bad_op). Frames longer than a
//               buffer are cut and dropped. Headers come in order, the next one after pkt_done_i,
//               which frees the buffer of the one before.

module bdy_deframer #(
  parameter bit         Shallow    = 1'b0,            // one frame buffer, one header (H13)
  parameter int         NBuf       = Shallow ? 1 : 2,
  parameter logic [7:0] Transports = 8'h01  // accepted values of opcode[7:5]: RC
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  output logic                          idle_o,
  input  logic [63:0]                   cycle_i,

  input  logic                          s_valid_i,
  output logic                          s_ready_o,
  input  logic [255:0]                  s_data_i,
  input  logic [31:0]                   s_keep_i,
  input  logic                          s_last_i,

  output logic                          hdr_valid_o,
  input  logic                          hdr_ready_i,
  output logic [bdy_pkg::PKT_HDR_W-1:0] hdr_o,

  input  logic                          prq_valid_i,
  output logic                          prq_ready_o,
  input  logic [12:0]                   prq_off_i,   // in the payload
  input  logic [12:0]                   prq_len_i,
  output logic                          pst_valid_o,
  input  logic                          pst_ready_i,
  output logic [255:0]                  pst_data_o,
  output logic                          pst_last_o,
  input  logic                          pkt_done_i,  // with or after the header's handshake

  output logic                          bad_icrc_o,
  output logic                          bad_len_o,
  output logic                          bad_op_o
);

  localparam int MaxBeats  = 132;  // 88 bytes of headers, 4096 of payload, ICRC: 131 beats
  localparam int SlotBytes = 32 * MaxBeats;
  localparam int BufBytes  = NBuf * SlotBytes;
  localparam int OffW      = $clog2(BufBytes);

  function automatic logic [OffW-1:0] next_slot(input logic [OffW-1:0] base);
    next_slot = (base == OffW'(BufBytes - SlotBytes)) ? '0 : base + OffW'(SlotBytes);
  endfunction

  // -------------------------------------------- frame in
  logic            take, check_q;
  logic            queue_free;
  logic [7:0]      beat_q;
  logic            bad_form_q;  // keep with a gap, or too long
  logic [767:0]    head_q;
  logic [OffW-1:0] wr_base_q, rd_base_q;
  logic [3:0]      words;       // in this beat
  logic            contiguous, fits;
  logic [10:0]     total_q;
  logic [31:0]     got_crc_q, crc;

  assign s_ready_o = queue_free && !check_q;
  assign take      = s_valid_i && s_ready_o;
  assign fits      = beat_q < 8'(MaxBeats);

  // The keep of k words must be exactly their bytes.
  always_comb begin
    words      = 4'd0;
    contiguous = 1'b0;
    for (int k = 1; k <= 8; k++) begin
      if (s_keep_i == 32'hFFFFFFFF >> (32 - 4 * k)) begin
        words      = 4'(k);
        contiguous = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q     <= '0;
      check_q    <= 1'b0;
      bad_form_q <= 1'b0;
    end else begin
      check_q <= take && s_last_i;
      if (take) begin
        beat_q     <= s_last_i ? '0 : (fits ? beat_q + 8'd1 : beat_q);
        bad_form_q <= (bad_form_q && beat_q != '0) || !contiguous || !fits
                   || (!s_last_i && words != 4'd8);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      total_q <= {beat_q, 3'd0} + 11'(words);
      if (beat_q < 8'd3) head_q[256*beat_q[1:0]+:256] <= s_data_i;
      if (s_last_i) got_crc_q <= 32'(s_data_i >> {words - 4'd1, 5'd0});
    end
  end

  bdy_icrc u_icrc (
    .clk_i, .rst_ni,
    .valid_i(take),
    .first_i(beat_q == '0),
    .data_i(s_data_i),
    .words_i(s_last_i ? words - 4'd1 : 4'd8),
    .crc_o(crc)
  );

  // -------------------------------------------- verdict on the frame, one cycle after its end
  logic [bdy_pkg::PKT_HDR_W-1:0] parsed;
  logic [4:0] hdr_words, head_words;
  logic       parse_bad_op, parse_bad_len, crc_good, good;

  bdy_hdr_parse #(.Transports(Transports)) u_parse (
    .en_i(check_q),
    .bytes_i(head_q[703:0]),
    .words_i(total_q),
    .arrival_i(cycle_i),
    .hdr_o(parsed),
    .hdr_words_o(hdr_words),
    .bad_op_o(parse_bad_op),
    .bad_len_o(parse_bad_len)
  );

  assign crc_good   = crc == got_crc_q;
  assign good       = check_q && !bad_form_q && crc_good && !parse_bad_op && !parse_bad_len;
  assign bad_len_o  = check_q && (bad_form_q || (crc_good && parse_bad_len));
  assign bad_icrc_o = check_q && !bad_form_q && !crc_good;
  assign bad_op_o   = check_q && !bad_form_q && crc_good && parse_bad_op;

  // -------------------------------------------- good frames, oldest first
  logic                       queue_valid, taken_q, reader_idle;
  logic [$clog2(NBuf+1)-1:0]  queue_count;

  bdy_fifo #(.Width(bdy_pkg::PKT_HDR_W + 5), .Depth(NBuf)) u_queue (
    .clk_i, .rst_ni,
    .wr_valid_i(good),
    .wr_ready_o(queue_free),
    .wr_data_i({parsed, hdr_words}),
    .rd_valid_o(queue_valid),
    .rd_ready_i(pkt_done_i),
    .rd_data_o({hdr_o, head_words}),
    .count_o(queue_count)
  );

  assign hdr_valid_o = queue_valid && !taken_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q   <= 1'b0;
      wr_base_q <= '0;
      rd_base_q <= '0;
    end else begin
      if (pkt_done_i)                      taken_q <= 1'b0;
      else if (hdr_valid_o && hdr_ready_i) taken_q <= 1'b1;
      if (good)                      wr_base_q <= next_slot(wr_base_q);
      if (pkt_done_i && queue_valid) rd_base_q <= next_slot(rd_base_q);
    end
  end

  logic wr_ready;
  bdy_paybuf #(.Bytes(BufBytes)) u_buf (
    .clk_i, .rst_ni,
    .idle_o(reader_idle),
    .wr_valid_i(take && fits),
    .wr_ready_o(wr_ready),
    .wr_off_i(wr_base_q + OffW'({beat_q, 5'd0})),
    .wr_bytes_i(6'd32),
    .wr_data_i(s_data_i),
    .rq_valid_i(prq_valid_i),
    .rq_ready_o(prq_ready_o),
    .rq_off_i(rd_base_q + OffW'({head_words, 2'd0}) + OffW'(prq_off_i)),
    .rq_len_i(prq_len_i),
    .rd_valid_o(pst_valid_o),
    .rd_ready_i(pst_ready_i),
    .rd_data_o(pst_data_o),
    .rd_last_o(pst_last_o)
  );

  assign idle_o = beat_q == '0 && !check_q && !queue_valid && reader_idle;

  logic unused;
  assign unused = ^{head_q[767:704], queue_count, wr_ready};

endmodule
