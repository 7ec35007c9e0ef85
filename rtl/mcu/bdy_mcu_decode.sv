// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu_decode: one RV32IM instruction word into control signals, by allow-list.
//
// Latency:      combinational.
// Backpressure: none.
// Invariants:   exactly what RV32IM, FENCE, FENCE.I and WFI encode is legal; all else, ECALL, EBREAK
//               and CSR accesses included, is illegal_o with no other class signal set.

module bdy_mcu_decode (
  input  logic [31:0] insn_i,
  output logic [4:0]  rd_o,
  output logic [4:0]  rs1_o,
  output logic [4:0]  rs2_o,
  output logic [2:0]  funct3_o,
  output logic [31:0] imm_o,
  // What the ALU does.
  output logic [2:0]  alu_op_o,
  output logic        alu_alt_o,
  output logic        a_zero_o,    // operand a is 0 (LUI)
  output logic        a_pc_o,      // operand a is the pc (AUIPC)
  output logic        b_imm_o,     // operand b is the immediate
  // What kind of instruction it is.
  output logic        rd_we_o,
  output logic        load_o,
  output logic        store_o,
  output logic        branch_o,
  output logic        jal_o,
  output logic        jalr_o,
  output logic        muldiv_o,
  output logic        wfi_o,
  output logic        illegal_o
);

  localparam logic [6:0] OpLoad   = 7'b0000011;
  localparam logic [6:0] OpFence  = 7'b0001111;
  localparam logic [6:0] OpImm    = 7'b0010011;
  localparam logic [6:0] OpAuipc  = 7'b0010111;
  localparam logic [6:0] OpStore  = 7'b0100011;
  localparam logic [6:0] OpReg    = 7'b0110011;
  localparam logic [6:0] OpLui    = 7'b0110111;
  localparam logic [6:0] OpBranch = 7'b1100011;
  localparam logic [6:0] OpJalr   = 7'b1100111;
  localparam logic [6:0] OpJal    = 7'b1101111;

  localparam logic [6:0] F7Base   = 7'b0000000;
  localparam logic [6:0] F7Alt    = 7'b0100000;
  localparam logic [6:0] F7MulDiv = 7'b0000001;

  localparam logic [31:0] InsnWfi = 32'h1050_0073;

  logic [6:0] opcode;
  logic [6:0] funct7;
  assign opcode   = insn_i[6:0];
  assign rd_o     = insn_i[11:7];
  assign funct3_o = insn_i[14:12];
  assign rs1_o    = insn_i[19:15];
  assign rs2_o    = insn_i[24:20];
  assign funct7   = insn_i[31:25];

  // Immediates by format.
  logic [31:0] imm_i;
  logic [31:0] imm_s;
  logic [31:0] imm_b;
  logic [31:0] imm_u;
  logic [31:0] imm_j;
  assign imm_i = {{20{insn_i[31]}}, insn_i[31:20]};
  assign imm_s = {{20{insn_i[31]}}, insn_i[31:25], insn_i[11:7]};
  assign imm_b = {{20{insn_i[31]}}, insn_i[7], insn_i[30:25], insn_i[11:8], 1'b0};
  assign imm_u = {insn_i[31:12], 12'd0};
  assign imm_j = {{12{insn_i[31]}}, insn_i[19:12], insn_i[20], insn_i[30:21], 1'b0};

  always_comb begin
    case (opcode)
      OpStore:         imm_o = imm_s;
      OpBranch:        imm_o = imm_b;
      OpLui, OpAuipc:  imm_o = imm_u;
      OpJal:           imm_o = imm_j;
      default:         imm_o = imm_i;
    endcase
  end

  // Which encodings exist.
  logic shift;
  logic legal_imm;
  logic legal_reg;
  logic legal_load;
  assign shift      = (funct3_o[1:0] == 2'b01);
  assign legal_imm  = !shift || (funct7 == F7Base) || (funct7 == F7Alt && funct3_o == 3'b101);
  assign legal_reg  = (funct7 == F7Base) || (funct7 == F7MulDiv) ||
                      (funct7 == F7Alt && (funct3_o == 3'b000 || funct3_o == 3'b101));
  assign legal_load = (funct3_o[1:0] != 2'b11) && (funct3_o != 3'b110);

  // Classes.
  logic op_imm;
  logic op_reg;
  logic lui;
  logic auipc;
  logic fence;
  assign op_imm   = (opcode == OpImm) && legal_imm;
  assign op_reg   = (opcode == OpReg) && legal_reg && (funct7 != F7MulDiv);
  assign muldiv_o = (opcode == OpReg) && (funct7 == F7MulDiv);
  assign lui      = (opcode == OpLui);
  assign auipc    = (opcode == OpAuipc);
  assign load_o   = (opcode == OpLoad) && legal_load;
  assign store_o  = (opcode == OpStore) && !funct3_o[2] && (funct3_o[1:0] != 2'b11);
  assign branch_o = (opcode == OpBranch) && (funct3_o[2:1] != 2'b01);
  assign jal_o    = (opcode == OpJal);
  assign jalr_o   = (opcode == OpJalr) && (funct3_o == 3'b000);
  assign fence    = (opcode == OpFence) && (funct3_o[2:1] == 2'b00);
  assign wfi_o    = (insn_i == InsnWfi);

  assign rd_we_o   = op_imm | op_reg | muldiv_o | lui | auipc | load_o | jal_o | jalr_o;
  assign illegal_o = !(rd_we_o | store_o | branch_o | fence | wfi_o);

  // The ALU adds, but for OP and OP-IMM.
  assign alu_op_o  = (op_imm | op_reg) ? funct3_o : 3'b000;
  assign alu_alt_o = (op_reg | (op_imm & shift)) & funct7[5];
  assign a_zero_o  = lui;
  assign a_pc_o    = auipc;
  assign b_imm_o   = !(op_reg | branch_o);

endmodule
