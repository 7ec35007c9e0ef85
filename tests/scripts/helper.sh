# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the scripts. shellcheck shell=bash
set -u
scripts=$BDY_SOURCE_DIR/scripts
bad=0

# want CODE LAST-LINE-PATTERN command...: the command must end so, with this last line.
want() {
    local code=$1 pattern=$2 out got
    shift 2
    out=$("$@" 2>&1)
    got=$?
    local last
    last=$(tail -n 1 <<<"$out")
    # shellcheck disable=SC2053 # the pattern is one
    if [ $got -ne "$code" ] || [[ $last != $pattern ]]; then
        echo "$*: ended with $got and \"$last\", wanted $code and \"$pattern\""
        echo "$out" | tail -n 20
        bad=1
    fi
}

# put FILE: standard input into a file below the scratch folder.
put() {
    mkdir -p "$(dirname "$TMPDIR/$1")"
    cat >"$TMPDIR/$1"
}

finish() {
    [ $bad -eq 0 ] && echo "$(basename "$0"): PASS" || echo "$(basename "$0"): FAIL"
    exit $bad
}
