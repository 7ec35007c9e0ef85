# SPDX-License-Identifier: Apache-2.0
"""usage: PYTHON export_refuses.py, PYTHON being build/venv-regs/bin/python; run by scripts/check_regs --regenerate.

Each planted fault in a small description must be refused, with a message that names it. Exit: 0 all refused, 1 not.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

EXPORTER = Path(__file__).resolve().parent.parent.parent / "regs" / "export" / "export.py"
GOOD = """
property bdy_struct { type = string; component = reg; };
enum rule { NONE = 8'h00; A1 = 8'h01 { desc = "unknown"; }; };
reg const32 #(longint unsigned V = 0) { field { sw = r; hw = na; } value[31:0] = V; };
addrmap constants { default regwidth = 32; const32 #(.V(8)) LOG_QPS; const32 #(.V(8)) LOG_CQS; };
addrmap layouts { default sw = rw; default hw = rw;
  reg { bdy_struct = "entry"; regwidth = 128; field { encode = rule; } why[7:0]; field {} va[127:64]; } entry; };
addrmap bar { default regwidth = 64; default accesswidth = 64;
  reg { field { sw = r; hw = na; reset = 5; } magic[31:0]; } id @ 0; reg { field {} x[7:0]; } arr[4] @ 0x100; };
addrmap mcu { reg { field {} go[0:0]; } ctl @ 0; };
"""
FAULTS = [  # (text, its replacement, what the message must name)
    ("va[127:64]", "va[96:33]", "crosses"),
    ("va[127:64]", "rsvd[127:64]", "kept for reserved"),
    ("va[127:64]", "endmodule[127:64]", "SystemVerilog word"),
    ("va[127:64]", "va[71:7]", ""),
    ("A1 = 8'h01", "A1 = 7'h01", "one width"),
    ("A1 = 8'h01", "A1 = 1", "one width"),
    ("A1 = 8'h01", "A1 = 8'h00", ""),
    ("regwidth = 128;", "regwidth = 32;", ""),
    ("magic[31:0]; } id", "magic[31:0]; } arr", ""),
    ("const32 #(.V(8)) LOG_CQS", "const32 #(.V(8)) RULE_A1", "two items"),
    ("reg { field {} go[0:0]; } ctl", "reg { regwidth = 64; field {} go[0:0]; } ctl", "32 bits wide"),
    ("arr[4]", "arr[4][2]", "one array dimension"),
    ("addrmap mcu", "addrmap other", ""),
]


def export(folder: Path, text: str):
    (folder / "t.rdl").write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, EXPORTER, folder / "t.rdl", folder / "out"], capture_output=True, text=True,
                          check=False)


def main() -> int:
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        good = export(folder, GOOD)
        if good.returncode:
            print(f"the good description was refused:\n{good.stderr}")
            bad += 1
        for old, new, named in FAULTS:
            assert GOOD.count(old) == 1, old
            done = export(folder, GOOD.replace(old, new))
            if done.returncode != 1 or named not in done.stderr or "Traceback" in done.stderr:
                print(f"{new}: code {done.returncode}, {done.stderr.strip()[-300:]}")
                bad += 1
    print(f"export_refuses: {'FAIL' if bad else 'PASS'} ({len(FAULTS)} faults)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
