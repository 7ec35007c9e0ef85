# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts: where things lie, and the five ways a script ends. The last line of output says which.
# shellcheck shell=bash

BDY_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BDY_NAME=$(basename "$0")

# The build folder, and the folder for what a run writes: the build folder, or one under TMPDIR on a read-only tree.
BDY_BUILD=${BUILD:-$BDY_ROOT/build}
case $BDY_BUILD in /*) ;; *) BDY_BUILD=$BDY_ROOT/$BDY_BUILD ;; esac
bdy_out_dir() {
    if mkdir -p "$BDY_BUILD" 2>/dev/null && [ -w "$BDY_BUILD" ]; then
        echo "$BDY_BUILD"
    else
        echo "${TMPDIR:-/tmp}/bindery-$(id -u)"
    fi
}
BDY_OUT=${BDY_OUT:-$(bdy_out_dir)}
export BDY_ROOT BDY_BUILD BDY_OUT

bdy_end() { # code word text
    echo "$BDY_NAME: $2${3:+ ($3)}"
    exit "$1"
}
pass() { bdy_end 0 PASS "$*"; }
fail() { bdy_end 1 FAIL "$*"; }
skip() { bdy_end 77 SKIP "$*"; }
timed_out() { bdy_end 124 TIMEOUT "$*"; }
usage_error() {
    echo "$BDY_NAME: $*" >&2
    usage >&2
    bdy_end 2 USAGE "$*"
}
