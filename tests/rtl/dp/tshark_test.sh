#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tshark_test.sh DP_PCAP-PROGRAM
# tshark, which knows nothing of us, finds in the framer's frames the fields that went in, and nothing malformed (H17).
set -uo pipefail

command -v tshark >/dev/null || { echo "tshark is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1" "$work/frames.pcap" >"$work/expected" || exit 1
# tshark guesses RPC over RDMA in any payload and stumbles over short ones.
tshark=(tshark -n --disable-protocol rpcordma -r "$work/frames.pcap")
fields=(infiniband.bth.opcode infiniband.lrh.pktlen infiniband.bth.psn infiniband.bth.destqp infiniband.grh.flowlabel
    infiniband.reth.va infiniband.reth.dmalen infiniband.aeth.msn infiniband.invariant.crc)
"${tshark[@]}" -T fields "${fields[@]/#/-e}" 2>"$work/errors" >"$work/raw" || { cat "$work/errors"; exit 1; }

# Numbers to decimal, the ICRC to eight digits, so that both sides read alike.
python3 - "$work/raw" >"$work/found" <<'PY'
import sys
for line in open(sys.argv[1]):
    cells = line.rstrip("\n").split("\t")
    cells += [""] * (9 - len(cells))
    out = [str(int(c, 0)) if c else "" for c in cells[:8]]
    out[4] = out[4] or "0"
    print("\t".join(out + ["%08x" % int(cells[8], 0) if cells[8] else ""]))
PY

frames=$(wc -l <"$work/expected")
[ "$frames" -ge 80 ] || { echo "only $frames frames"; exit 1; }
diff "$work/expected" "$work/found" || { echo "tshark reads something else (above: < ours, > tshark)"; exit 1; }
if "${tshark[@]}" -V 2>/dev/null | grep -i "malformed\|bad icrc\|expert info (error"; then
    echo "tshark reports errors"
    exit 1
fi
echo "$frames frames as tshark reads them"
