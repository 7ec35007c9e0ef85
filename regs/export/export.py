# SPDX-License-Identifier: Apache-2.0
"""export.py DESCRIPTION.rdl OUTDIR: writes bdy_pkg.sv, bdy_regs.h and registers.md.

Exit: 0 written, 1 the description is refused, 2 usage.
"""
import sys
from pathlib import Path

from systemrdl import RDLCompileError

import emit_c
import emit_md
import emit_sv
import rdl
from model import ModelError


def main(argv) -> int:
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        model, _ = rdl.load(argv[1])
        texts = {"bdy_pkg.sv": emit_sv.emit(model), "bdy_regs.h": emit_c.emit(model),
                 "registers.md": emit_md.emit(model)}
    except (ModelError, RDLCompileError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 1
    out = Path(argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
