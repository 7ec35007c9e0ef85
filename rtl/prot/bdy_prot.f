// SPDX-License-Identifier: Apache-2.0
// Protection engine, in order of dependence.
rtl/prot/bdy_access_check.sv
rtl/prot/bdy_bind_check.sv
rtl/prot/bdy_life_check.sv
rtl/prot/bdy_entry_do.sv
rtl/prot/bdy_entry_cache.sv
rtl/prot/bdy_miss.sv
rtl/prot/bdy_access.sv
rtl/prot/bdy_translate.sv
rtl/prot/bdy_verdict_log.sv
rtl/prot/bdy_op_exec.sv
rtl/prot/bdy_op.sv
rtl/prot/bdy_bound_count.sv
rtl/prot/bdy_wbuf.sv
rtl/prot/bdy_qp_state.sv
rtl/prot/bdy_ctx.sv
rtl/prot/bdy_qpev.sv
rtl/prot/bdy_drain.sv
rtl/prot/bdy_raw_read.sv
rtl/prot/bdy_prot_event.sv
rtl/prot/bdy_prot_core.sv
rtl/prot/bdy_tbl_delay.sv
rtl/prot/bdy_table.sv
rtl/prot/bdy_prot.sv
