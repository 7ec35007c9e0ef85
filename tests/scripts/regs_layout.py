#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: regs_layout.py [--plant]

Holds the generated SystemVerilog structs against the generated C accessors, for every field of every struct:
random words go through a Verilated module that cuts them by the struct, and through the C getters; setters build the
same words again. --plant shifts one C field by a bit and expects the difference to be found.
Runs in a folder of its own below TMPDIR. Exit: 0 equal, 1 not, 2 usage.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GEN = ROOT / "regs" / "gen"


def structs():
    """[(name, width, [(field, width)])], read from the package."""
    text = (GEN / "bdy_pkg.sv").read_text(encoding="utf-8")
    out = []
    for body, name in re.findall(r"typedef struct packed \{(.*?)\} (\w+)_t;", text, flags=re.S):
        fields = [(f, int(msb or 0) + 1) for msb, f in re.findall(r"logic (?:\[(\d+):0\] )?(\w+);", body)]
        named = [(f, w) for f, w in fields if not f.startswith("rsvd_")]
        out.append((name, sum(w for _, w in fields), named))
    return out


def module(found) -> str:
    """One input for the words of each struct, one output for each of its fields."""
    ports, body = [], []
    for name, width, fields in found:
        ports.append(f"input logic [{width - 1}:0] {name}_i")
        body += [f"bdy_pkg::{name}_t {name};", f"assign {name} = {name}_i;"]
        for fld, bits in fields:
            ports.append(f"output logic [{bits - 1}:0] {name}_x_{fld}_o")
            body.append(f"assign {name}_x_{fld}_o = {name}.{fld};")
    return "module layout (" + ",\n".join(ports) + ");\n" + "\n".join(body) + "\nendmodule\n"


def harness(found) -> str:
    """Compares every field of random words, then rebuilds the words with the setters from over-wide values."""
    out = ['#include <cstdio>', '#include <random>', '#include "Vlayout.h"', '#include "bdy_regs.h"',
           "template <typename T> void put(T &port, const uint64_t *w, unsigned n)",
           "{ for (unsigned i = 0; i < 2 * n; i++) port[i] = uint32_t(w[i / 2] >> (32 * (i % 2))); }",
           "void put(QData &port, const uint64_t *w, unsigned) { port = w[0]; }",
           "int main() { Vlayout top; std::mt19937_64 rng(1); unsigned long bad = 0, seen = 0;",
           "auto same = [&](uint64_t a, uint64_t b, const char *what) { seen++; if (a != b && bad++ < 5)",
           '  std::printf("%s: SystemVerilog %llx, C %llx\\n", what, (unsigned long long)a, (unsigned long long)b); };',
           "for (int round = 0; round < 200; round++) {"]
    for name, width, fields in found:
        words = width // 64
        c = f"bdy_{name}"
        out += [f"{{ static_assert({c.upper()}_BYTES == {width // 8}u, \"\");",
                f"uint64_t w[{words}], back[{words}] = {{}}; for (auto &x : w) x = rng();",
                f"put(top.{name}_i, w, {words}); top.eval();"]
        for fld, bits in fields:
            out += [f'same(top.{name}_x_{fld}_o, {c}_get_{fld}(w), "{name}.{fld}");',
                    f"{c}_set_{fld}(back, {c}_get_{fld}(w){' | (rng() << %d)' % bits if bits < 64 else ''});"]
        out += [f'same(1, {c}_rsvd_zero(back), "{name} reserved bits");']
        out += [f'same({c}_get_{fld}(w), {c}_get_{fld}(back), "{name}.{fld} set");' for fld, _ in fields]
        out.append("}")
    out.append('} std::printf("%lu comparisons, %lu differ\\n", seen, bad); return bad || !seen; }')
    return "\n".join(out) + "\n"


def run(folder: Path, plant: bool) -> int:
    found = structs()
    header = (GEN / "bdy_regs.h").read_text(encoding="utf-8")
    if plant:
        name, _, fields = found[0]
        at = re.compile(r"(_%s_get_%s\(.*?\n\{\n    return bdy_field_get\(w\[\d+\], )(\d+)u" % (name, fields[-1][0]))
        header = at.sub(lambda m: f"{m.group(1)}{int(m.group(2)) + 1}u", header)
    (folder / "bdy_regs.h").write_text(header, encoding="utf-8")
    (folder / "layout.sv").write_text(module(found), encoding="utf-8")
    (folder / "main.cpp").write_text(harness(found), encoding="utf-8")
    subprocess.run(["verilator", "--cc", "--exe", "--build", "-j", "1", "--prefix", "Vlayout", "--Mdir", folder / "obj",
                    "-CFLAGS", f"-I{folder} -O0 -fmax-errors=3 -std=c++17 -Wall -Wextra", GEN / "bdy_pkg.sv", folder / "layout.sv",
                    folder / "main.cpp"], check=True, stdout=subprocess.DEVNULL)
    print(f"{len(found)} structs")
    return subprocess.run([folder / "obj" / "Vlayout"], check=False).returncode


def main(argv) -> int:
    if argv[1:] not in ([], ["--plant"]):
        print(__doc__, file=sys.stderr)
        print("regs_layout: USAGE")
        return 2
    plant = bool(argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        differs = run(Path(folder), plant) != 0
    wrong = differs != plant
    print(f"regs_layout: {'FAIL' if wrong else 'PASS'}{' (the planted difference was found)' if plant and differs else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
