// SPDX-License-Identifier: Apache-2.0
//
// bdy_mcu: the embedded processor: an RV32IM core, its firmware RAM and the boot port that fills it.
//
//   0x8000_0000 + RamBytes  firmware RAM (reset pc = 0x8000_0000)
//   0x4000_0000 + 64 KiB    peripherals on the MMIO port
//
// Latency:      see bdy_mcu_core.
// Throughput:   boot port: one word per cycle while run_i is 0.
// Backpressure: mmio_ready_i; the boot port is always accepted, and ignored while run_i is 1.
// Invariants:   RAM contents survive reset and run_i. No CSRs, no traps: what cannot be executed halts
//               the core with a code and its pc until run_i falls. The clock may be skipped while
//               sleep_o, halt_o or !run_i (without a boot write): no register would change.

module bdy_mcu #(
  parameter int RamBytes = 65536                        // a power of two
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        run_i,            // 0: core in reset, RAM open to the boot port
  // Boot port.
  input  logic                        boot_valid_i,
  input  logic [$clog2(RamBytes)-1:0] boot_addr_i,      // byte address in the RAM, word aligned
  input  logic [31:0]                 boot_data_i,
  // WFI waits for this level.
  input  logic                        event_i,
  // Peripherals: request stable until ready, read data taken in the ready cycle.
  output logic                        mmio_valid_o,
  output logic                        mmio_we_o,
  output logic [15:0]                 mmio_addr_o,      // word aligned; lanes in mmio_be_o
  output logic [31:0]                 mmio_wdata_o,
  output logic [3:0]                  mmio_be_o,
  input  logic                        mmio_ready_i,
  input  logic [31:0]                 mmio_rdata_i,
  // State.
  output logic                        sleep_o,          // in WFI and event_i is 0
  output logic                        halt_o,           // stopped until run_i falls
  output logic [7:0]                  halt_code_o,      // why; 0: not stopped
  output logic [31:0]                 halt_pc_o,        // where
  // Retired instructions, in the cycle in which they retire.
  output logic                        ret_valid_o,
  output logic [31:0]                 ret_pc_o,
  output logic [31:0]                 ret_insn_o,
  output logic [4:0]                  ret_rd_o,
  output logic                        ret_rd_we_o,      // never for x0
  output logic [31:0]                 ret_rd_data_o,
  output logic                        ret_st_valid_o,
  output logic [31:0]                 ret_st_addr_o,    // word aligned
  output logic [31:0]                 ret_st_data_o,    // meaningful on the lanes of ret_st_be_o
  output logic [3:0]                  ret_st_be_o
);

  localparam int RamAw = $clog2(RamBytes);

  if (RamBytes != (1 << RamAw)) begin : gen_bad_size
    $error("RamBytes must be a power of two");
  end

  logic             rd_en;
  logic [RamAw-3:0] rd_addr;
  logic [31:0]      rd_data;
  logic             wr_en;
  logic [3:0]       wr_be;
  logic [RamAw-3:0] wr_addr;
  logic [31:0]      wr_data;
  logic             unused_boot_addr;

  assign unused_boot_addr = ^boot_addr_i[1:0];

  bdy_mcu_core #(
    .RamAw (RamAw)
  ) u_core (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .run_i          (run_i),
    .event_i        (event_i),
    .ram_rd_en_o    (rd_en),
    .ram_rd_addr_o  (rd_addr),
    .ram_rd_data_i  (rd_data),
    .ram_wr_en_o    (wr_en),
    .ram_wr_be_o    (wr_be),
    .ram_wr_addr_o  (wr_addr),
    .ram_wr_data_o  (wr_data),
    .mmio_valid_o   (mmio_valid_o),
    .mmio_we_o      (mmio_we_o),
    .mmio_addr_o    (mmio_addr_o),
    .mmio_wdata_o   (mmio_wdata_o),
    .mmio_be_o      (mmio_be_o),
    .mmio_ready_i   (mmio_ready_i),
    .mmio_rdata_i   (mmio_rdata_i),
    .sleep_o        (sleep_o),
    .halt_o         (halt_o),
    .halt_code_o    (halt_code_o),
    .halt_pc_o      (halt_pc_o),
    .ret_valid_o    (ret_valid_o),
    .ret_pc_o       (ret_pc_o),
    .ret_insn_o     (ret_insn_o),
    .ret_rd_o       (ret_rd_o),
    .ret_rd_we_o    (ret_rd_we_o),
    .ret_rd_data_o  (ret_rd_data_o),
    .ret_st_valid_o (ret_st_valid_o),
    .ret_st_addr_o  (ret_st_addr_o),
    .ret_st_data_o  (ret_st_data_o),
    .ret_st_be_o    (ret_st_be_o)
  );

  bdy_ram_sdp #(
    .Width (32),
    .Depth (RamBytes / 4),
    .Lanes (4)
  ) u_ram (
    .clk_i     (clk_i),
    .wr_en_i   (run_i ? wr_en : boot_valid_i),
    .wr_lane_i (run_i ? wr_be : 4'b1111),
    .wr_addr_i (run_i ? wr_addr : boot_addr_i[RamAw-1:2]),
    .wr_data_i (run_i ? wr_data : boot_data_i),
    .rd_en_i   (rd_en),
    .rd_addr_i (rd_addr),
    .rd_data_o (rd_data)
  );

endmodule
