// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_core: control of the embedded RV32IM core: fetch, execute, wait for memory, units or events.
//
//        ┌───────────────────── taken jump ────────────────────┐
//        ▼                                                      │
//     Fetch ──▶ Exec ─┬─ next instruction fetched meanwhile ──▶ Exec …
//                     ├─ RAM load ──▶ Load ────────────────────▶ Exec
//                     ├─ MMIO ──────▶ Mmio (until ready) ──────▶ Exec
//                     ├─ mul, div ──▶ MulDiv (until done) ─────▶ Exec
//                     ├─ WFI ───────▶ Sleep (until event_i) ───▶ Exec
//                     └─ fault ─────▶ Halt (until run_i falls)
//
// Latency:      cycles per instruction: 1 ALU, FENCE, RAM store, branch not taken; 2 RAM load, taken
//               branch, jump; 2 + wait states MMIO; 6 multiply; 34 divide.
// Throughput:   one instruction at a time.
// Backpressure: mmio_ready_i alone; the RAM always answers in the next cycle.
// Invariants:   an instruction that faults changes nothing and does not retire. MMIO outputs are
//               stable from valid to ready. An instruction is fetched no earlier than the one
//               before it executes: a store is seen by the second instruction after it, so FENCE.I
//               has nothing to do. In Sleep and Halt no register changes until event_i rises or
//               run_i falls.

module bdy_mcu_core #(
  parameter int RamAw = 16               // log2 of the RAM's bytes
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             run_i,
  input  logic             event_i,
  // RAM, word addresses, read data in the next cycle.
  output logic             ram_rd_en_o,
  output logic [RamAw-3:0] ram_rd_addr_o,
  input  logic [31:0]      ram_rd_data_i,
  output logic             ram_wr_en_o,
  output logic [3:0]       ram_wr_be_o,
  output logic [RamAw-3:0] ram_wr_addr_o,
  output logic [31:0]      ram_wr_data_o,
  // Peripherals.
  output logic             mmio_valid_o,
  output logic             mmio_we_o,
  output logic [15:0]      mmio_addr_o,
  output logic [31:0]      mmio_wdata_o,
  output logic [3:0]       mmio_be_o,
  input  logic             mmio_ready_i,
  input  logic [31:0]      mmio_rdata_i,
  // State.
  output logic             sleep_o,
  output logic             halt_o,
  output logic [7:0]       halt_code_o,
  output logic [31:0]      halt_pc_o,
  // Retired instructions.
  output logic             ret_valid_o,
  output logic [31:0]      ret_pc_o,
  output logic [31:0]      ret_insn_o,
  output logic [4:0]       ret_rd_o,
  output logic             ret_rd_we_o,
  output logic [31:0]      ret_rd_data_o,
  output logic             ret_st_valid_o,
  output logic [31:0]      ret_st_addr_o,
  output logic [31:0]      ret_st_data_o,
  output logic [3:0]       ret_st_be_o
);

  localparam logic [31:0] RamBase = 32'h8000_0000;

  localparam logic [7:0] HaltNone       = 8'h00;
  localparam logic [7:0] HaltIllegal    = 8'h01;
  localparam logic [7:0] HaltLoadAlign  = 8'h02;
  localparam logic [7:0] HaltStoreAlign = 8'h03;
  localparam logic [7:0] HaltJumpAlign  = 8'h04;
  localparam logic [7:0] HaltLoadRange  = 8'h05;
  localparam logic [7:0] HaltStoreRange = 8'h06;
  localparam logic [7:0] HaltFetchRange = 8'h07;

  typedef enum logic [2:0] {
    StFetch,
    StExec,
    StLoad,
    StMmio,
    StMulDiv,
    StSleep,
    StHalt
  } state_e;

  state_e      state_q;
  state_e      state_d;
  logic [31:0] pc_q;
  logic [31:0] insn_q;
  logic [7:0]  halt_code_q;

  // The word just fetched, kept for instructions of several cycles.
  logic        in_exec;
  logic [31:0] insn;
  assign in_exec = (state_q == StExec);
  assign insn    = in_exec ? ram_rd_data_i : insn_q;

  // Decode.
  logic [4:0]  rd;
  logic [4:0]  rs1;
  logic [4:0]  rs2;
  logic [2:0]  funct3;
  logic [31:0] imm;
  logic [2:0]  alu_op;
  logic        alu_alt;
  logic        a_zero;
  logic        a_pc;
  logic        b_imm;
  logic        rd_we;
  logic        load;
  logic        store;
  logic        branch;
  logic        jal;
  logic        jalr;
  logic        muldiv;
  logic        wfi;
  logic        illegal;

  bdy_mcu_decode u_decode (
    .insn_i    (insn),
    .rd_o      (rd),
    .rs1_o     (rs1),
    .rs2_o     (rs2),
    .funct3_o  (funct3),
    .imm_o     (imm),
    .alu_op_o  (alu_op),
    .alu_alt_o (alu_alt),
    .a_zero_o  (a_zero),
    .a_pc_o    (a_pc),
    .b_imm_o   (b_imm),
    .rd_we_o   (rd_we),
    .load_o    (load),
    .store_o   (store),
    .branch_o  (branch),
    .jal_o     (jal),
    .jalr_o    (jalr),
    .muldiv_o  (muldiv),
    .wfi_o     (wfi),
    .illegal_o (illegal)
  );

  // Operands.
  logic        retire;
  logic        wb_en;
  logic [31:0] wb_data;
  logic [31:0] rs1_data;
  logic [31:0] rs2_data;
  logic [31:0] op_a;
  logic [31:0] op_b;

  bdy_mcu_regfile u_regfile (
    .clk_i     (clk_i),
    .we_i      (wb_en),
    .waddr_i   (rd),
    .wdata_i   (wb_data),
    .raddr_a_i (rs1),
    .rdata_a_o (rs1_data),
    .raddr_b_i (rs2),
    .rdata_b_o (rs2_data)
  );

  assign op_a = a_zero ? 32'd0 : a_pc ? pc_q : rs1_data;
  assign op_b = b_imm ? imm : rs2_data;

  // Units.
  logic [31:0] alu_result;
  logic        eq;
  logic        lt;
  logic        ltu;
  logic        md_done;
  logic [31:0] md_result;
  logic        in_ram;
  logic        in_mmio;
  logic        misaligned;
  logic [3:0]  lane_be;
  logic [31:0] lane_wdata;
  logic [31:0] load_data;

  bdy_mcu_alu u_alu (
    .op_i     (alu_op),
    .alt_i    (alu_alt),
    .a_i      (op_a),
    .b_i      (op_b),
    .result_o (alu_result),
    .eq_o     (eq),
    .lt_o     (lt),
    .ltu_o    (ltu)
  );

  bdy_mcu_muldiv u_muldiv (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .clear_i  (!run_i),
    .start_i  (state_d == StMulDiv && in_exec),
    .op_i     (funct3),
    .a_i      (rs1_data),
    .b_i      (rs2_data),
    .done_o   (md_done),
    .result_o (md_result)
  );

  bdy_mcu_lsu #(
    .RamAw (RamAw)
  ) u_lsu (
    .addr_i       (alu_result),
    .funct3_i     (funct3),
    .wdata_i      (rs2_data),
    .rdata_i      ((state_q == StMmio) ? mmio_rdata_i : ram_rd_data_i),
    .ram_o        (in_ram),
    .mmio_o       (in_mmio),
    .misaligned_o (misaligned),
    .be_o         (lane_be),
    .wdata_o      (lane_wdata),
    .load_o       (load_data)
  );

  // Where the program goes next.
  function automatic logic branch_taken(input logic [2:0] cond, input logic is_eq,
                                        input logic is_lt, input logic is_ltu);
    case (cond[2:1])
      2'b00:   branch_taken = is_eq ^ cond[0];
      2'b10:   branch_taken = is_lt ^ cond[0];
      default: branch_taken = is_ltu ^ cond[0];
    endcase
  endfunction

  logic        jump;
  logic [31:0] pc_plus4;
  logic [31:0] target;
  assign jump     = jal | jalr | (branch & branch_taken(funct3, eq, lt, ltu));
  assign pc_plus4 = pc_q + 32'd4;
  assign target   = jalr ? {alu_result[31:1], 1'b0} : pc_q + imm;

  // Why it must stop.
  logic [7:0] fault;
  always_comb begin
    fault = HaltNone;
    if (pc_q[31:RamAw] != RamBase[31:RamAw])  fault = HaltFetchRange;
    else if (illegal)                         fault = HaltIllegal;
    else if (jump && target[1])               fault = HaltJumpAlign;
    else if (load && misaligned)              fault = HaltLoadAlign;
    else if (store && misaligned)             fault = HaltStoreAlign;
    else if (load && !(in_ram || in_mmio))    fault = HaltLoadRange;
    else if (store && !(in_ram || in_mmio))   fault = HaltStoreRange;
  end

  // What it waits for.
  logic ram_load;
  logic mmio;
  logic waits;
  assign ram_load = load & in_ram;
  assign mmio     = (load | store) & in_mmio;
  assign waits    = ram_load | mmio | muldiv | (wfi & !event_i);

  always_comb begin
    case (state_q)
      StExec:          retire = run_i && (fault == HaltNone) && !waits;
      StLoad:          retire = run_i;
      StMmio:          retire = run_i && mmio_ready_i;
      StMulDiv:        retire = run_i && md_done;
      StSleep:         retire = run_i && event_i;
      default:         retire = 1'b0;
    endcase
  end

  // The next instruction is read while this one retires, unless it is elsewhere.
  logic fetch_next;
  assign fetch_next = retire & !jump;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StFetch: state_d = StExec;
      StExec: begin
        if (fault != HaltNone) state_d = StHalt;
        else if (ram_load)     state_d = StLoad;
        else if (mmio)         state_d = StMmio;
        else if (muldiv)       state_d = StMulDiv;
        else if (!retire)      state_d = StSleep;
        else                   state_d = fetch_next ? StExec : StFetch;
      end
      StLoad, StMmio, StMulDiv, StSleep: begin
        if (retire) state_d = StExec;
      end
`ifdef BUG_MCU_HALT
      StHalt: state_d = event_i ? StFetch : StHalt;
`endif
      default: state_d = StHalt;
    endcase
    if (!run_i) state_d = StFetch;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StFetch;
      pc_q        <= RamBase;
      halt_code_q <= HaltNone;
    end else if (!run_i) begin
      state_q     <= StFetch;
      pc_q        <= RamBase;
      halt_code_q <= HaltNone;
    end else begin
      state_q <= state_d;
      if (retire)  pc_q        <= jump ? target : pc_plus4;
      if (in_exec) halt_code_q <= fault;
    end
  end

  always_ff @(posedge clk_i) begin
`ifndef BUG_MCU_INSN
    if (in_exec)
`endif
      insn_q <= ram_rd_data_i;
  end

  // Write-back.
  always_comb begin
    if (load)            wb_data = load_data;
    else if (muldiv)     wb_data = md_result;
    else if (jal | jalr) wb_data = pc_plus4;
    else                 wb_data = alu_result;
  end
`ifdef BUG_MCU_X0
  assign wb_en = retire & rd_we;
`else
  assign wb_en = retire & rd_we & (rd != 5'd0);
`endif

  // RAM: loads in Exec, else the next instruction; stores as they retire.
  logic             data_read;
  logic [RamAw-3:0] fetch_addr;
  assign data_read     = in_exec & ram_load;
  assign fetch_addr    = (state_q == StFetch) ? pc_q[RamAw-1:2] : pc_plus4[RamAw-1:2];
  assign ram_rd_en_o   = data_read | fetch_next | (state_q == StFetch);
  assign ram_rd_addr_o = data_read ? alu_result[RamAw-1:2] : fetch_addr;
`ifdef BUG_MCU_STORE
  assign ram_wr_en_o   = in_exec & store & in_ram;
`else
  assign ram_wr_en_o   = retire & store & in_ram;
`endif
  assign ram_wr_be_o   = lane_be;
  assign ram_wr_addr_o = alu_result[RamAw-1:2];
  assign ram_wr_data_o = lane_wdata;

  assign mmio_valid_o = run_i & (state_q == StMmio);
  assign mmio_we_o    = store;
  assign mmio_addr_o  = {alu_result[15:2], 2'b00};
  assign mmio_wdata_o = lane_wdata;
  assign mmio_be_o    = lane_be;

  assign sleep_o     = (state_q == StSleep) & !event_i;
  assign halt_o      = (state_q == StHalt);
  assign halt_code_o = halt_code_q;
  assign halt_pc_o   = halt_o ? pc_q : 32'd0;

  assign ret_valid_o    = retire;
  assign ret_pc_o       = pc_q;
  assign ret_insn_o     = insn;
  assign ret_rd_o       = rd;
  assign ret_rd_we_o    = wb_en;
  assign ret_rd_data_o  = wb_data;
  assign ret_st_valid_o = retire & store;
  assign ret_st_addr_o  = {alu_result[31:2], 2'b00};
  assign ret_st_data_o  = lane_wdata;
  assign ret_st_be_o    = lane_be;

`ifdef FORMAL_MCU
  // Properties of the control: the RAM's data, and so the program, is free.
  logic        f_wait_q;
  logic [52:0] f_request_q;
  logic        f_halted_q;
  logic [39:0] f_halt_q;
  logic [52:0] f_request;

  initial assume (!rst_ni);
  assign f_request = {mmio_addr_o, mmio_we_o, mmio_be_o, mmio_wdata_o};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f_wait_q   <= 1'b0;
      f_halted_q <= 1'b0;
    end else begin
      f_wait_q   <= mmio_valid_o & !mmio_ready_i;
      f_halted_q <= halt_o & run_i;
    end
  end

  always_ff @(posedge clk_i) begin
    f_request_q <= f_request;
    f_halt_q    <= {halt_code_o, halt_pc_o};
  end

  // Combinational, since registered checks make the solver's transition relation too deep to read.
  always_comb begin
    if (rst_ni) begin
      assert (state_q <= StHalt);
      // A waiting request stands, unchanged.
      if (f_wait_q && run_i) assert (mmio_valid_o && f_request == f_request_q);
      // A halt is sticky, has a reason, and nothing happens in it.
      if (f_halted_q) assert (halt_o && {halt_code_o, halt_pc_o} == f_halt_q);
      if (halt_o) assert (!ret_valid_o && !ram_wr_en_o && !mmio_valid_o);
      assert (halt_o == (halt_code_o != HaltNone));
      // What executes was fetched from the RAM, aligned; nothing happens while held.
      if (ret_valid_o) assert (pc_q[31:RamAw] == RamBase[31:RamAw]);
      if (state_q == StLoad)   assert (pc_q[31:RamAw] == RamBase[31:RamAw] && ram_load);
      if (state_q == StMmio)   assert (pc_q[31:RamAw] == RamBase[31:RamAw] && mmio);
      if (state_q == StMulDiv) assert (pc_q[31:RamAw] == RamBase[31:RamAw] && muldiv);
      if (state_q == StSleep)  assert (pc_q[31:RamAw] == RamBase[31:RamAw] && wfi);
      if (state_q == StFetch || in_exec) assert (halt_code_q == HaltNone);
      assert (pc_q[1:0] == 2'b00);
      if (!run_i) assert (!ret_valid_o && !mmio_valid_o && !ram_wr_en_o);
      // A store goes where it says, to the RAM or, by a handshake, to the peripherals.
      if (ret_st_valid_o) assert (ram_wr_en_o != (mmio_valid_o && mmio_ready_i && mmio_we_o));
      if (ram_wr_en_o) begin
        assert (ret_st_valid_o && ret_st_addr_o[31:RamAw] == RamBase[31:RamAw]);
        assert (ret_st_addr_o[RamAw-1:2] == ram_wr_addr_o);
      end
      if (ret_rd_we_o) assert (ret_rd_o != 5'd0);
      cover (ret_valid_o && muldiv && funct3 == 3'b000);
      cover (f_wait_q && ret_valid_o);
      cover (state_q == StSleep && ret_valid_o);
      cover (halt_o);
    end
  end
`endif

endmodule
