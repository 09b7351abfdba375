#!/usr/bin/env bash
# Instructions of whole runs, counted by valgrind: a guard against losing half of the speed
# without anybody's noticing. Time says nothing on a busy machine; these counts vary by less
# than a per cent. The limits are one and a half times what was counted when they were set, in
# a release build with AVX2 (valgrind has no AVX-512).
set -u
: "${NOSLIP:?path of the program}"
. "$(dirname "$0")/cli_lib.sh"

skip() { # REASON
    echo "# skipped: $1"
    exit 0
}
command -v valgrind >/dev/null || skip 'valgrind is not installed'
NOSLIP_SIMD=avx2 "$NOSLIP" version 2>/dev/null | grep -q avx2 || skip 'no AVX2 here'
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$(dirname "$NOSLIP")/CMakeCache.txt" ||
    skip 'not a release build'
grep -q '^NOSLIP_SANITIZE:[A-Z]*=..*$' "$(dirname "$NOSLIP")/CMakeCache.txt" &&
    skip 'sanitizers count too'

# at_most MILLIONS WHAT WORDS...: this many instructions the command may take
at_most() {
    local limit=$1 what=$2 count
    shift 2
    count=$(NOSLIP_SIMD=avx2 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$NOSLIP" "$@" 2>&1 >/dev/null | sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
    if [ -z "$count" ]; then
        fail "$what: nothing was counted"
    elif [ $((count / 1000000)) -gt "$limit" ]; then
        fail "$what: $((count / 1000000)) million instructions, at most $limit are allowed"
    else
        pass "$what: $((count / 1000000)) million instructions of $limit"
    fi
}

at_most 120 'one motion by gauss' run rattleback --until 10 --quiet
at_most 45 'a short system' run sleigh-oscillator --until 200 --quiet
at_most 195 'two thousand rows' run rattleback --until 4 --every 0.002 --quiet \
    --out "$W/rows.csv"
at_most 60 'an ensemble' sweep rattleback --over a=0.19:0.21:8 --until 1 --tol 1e-9 --threads 1
finish
