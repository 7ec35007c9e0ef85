#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the RTL with every mutant of a list planted behind one run-time selector.

usage: plant_mutants.py LIST OUT_DIR RTL_FILE...

LIST holds blocks of lines `name:`, `file:`, `at:` (optional text just before), `from:` (an
expression), `to:` (the wrong one), `found_by:`, separated by blank lines. Mutant N, counted from 1,
is active while bdy_plant_pkg::sel is N; 0 is the unchanged design. Each text must occur exactly
once, so that a list that no longer fits the RTL fails here.
"""

import pathlib
import re
import sys

PACKAGE = """// SPDX-License-Identifier: Apache-2.0
package bdy_plant_pkg;
  int unsigned sel /*verilator public_flat_rw*/;
endpackage
"""


def parse(text):
    """The list as dictionaries, in order."""
    mutants = []
    for block in text.split("\n\n"):
        fields = {}
        for line in block.splitlines():
            if line and not line.startswith("#"):
                key, _, value = line.partition(":")
                fields[key] = value[1:]
        if fields:
            mutants.append(fields)
    return mutants


def find(source, before, expression):
    """Where the expression lies; blanks may part it from the text before."""
    pattern = (re.escape(before) + r"\s*" if before else "") + "(" + re.escape(expression) + ")"
    places = [m.span(1) for m in re.finditer(pattern, source)]
    if len(places) != 1:
        sys.exit(f"plant_mutants: {before!r} {expression!r}: {len(places)} places, want 1")
    return places[0]


def plant(source, mutants):
    """Replaces each expression by a choice between the mutants of it and itself."""
    places = {}
    for number, mutant in mutants:
        span = find(source, mutant.get("at", ""), mutant["from"])
        places.setdefault(span, []).append((number, mutant["to"]))
    spans = sorted(places)
    for (_, end), (start, _) in zip(spans, spans[1:]):
        if start < end:
            sys.exit(f"plant_mutants: two mutants overlap at {source[start:end]!r}")
    for start, end in reversed(spans):
        chosen = f"({source[start:end]})"
        for number, wrong in places[start, end]:
            chosen = f"((bdy_plant_pkg::sel == 32'd{number}) ? ({wrong}) : {chosen})"
        source = source[:start] + chosen + source[end:]
    return source


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    numbered = list(enumerate(parse(pathlib.Path(sys.argv[1]).read_text()), start=1))
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    names = {pathlib.Path(f).name for f in sys.argv[3:]}
    for number, mutant in numbered:
        if mutant["file"] not in names:
            sys.exit(f"plant_mutants: mutant {number} names {mutant['file']}, not given")
    for path in map(pathlib.Path, sys.argv[3:]):
        here = [(n, m) for n, m in numbered if m["file"] == path.name]
        (out / path.name).write_text(plant(path.read_text(), here))
    (out / "bdy_plant_pkg.sv").write_text(PACKAGE)


if __name__ == "__main__":
    main()
