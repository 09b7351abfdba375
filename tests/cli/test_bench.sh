#!/usr/bin/env bash
# noslip bench: the form of what it prints and writes, and that its contenders are as accurate
# as they must be. Nothing is said about times.
set -u
: "${NOSLIP:?path of the program}" "${TESTS:?folder of the tests}"
. "$(dirname "$0")/cli_lib.sh"

expect 0 'help' 'noslip bench \[PROBLEM\]' '' -- help bench
if [ ! -x "$(dirname "$NOSLIP")/noslip-bench" ]; then
    expect 3 'says what is missing' '' 'noslip-bench is not installed.*NOSLIP_BENCH' -- bench P2
    finish
fi
expect 2 'unknown problem' '' "there is no problem 'P9'" -- bench P9
expect 2 'lists the problems' '' 'problems: .*P1c.* P2' -- bench P9
expect 2 'unknown contender' '' "there is no contender 'nobody'" -- bench P2 --with gauss,nobody
expect 2 'rounds' '' "not a number of rounds: '0'" -- bench P2 --rounds 0
expect 2 'a page of all or nothing' '' 'no names with --write' -- bench P2 --write "$W/p.md"
expect 3 'folder that is not there' '' 'cannot write' -- bench --quick P2 --with cvode \
    --csv "$W/no/x.csv"

expect 0 'one problem, two contenders' '^P2: sleigh' '' -- \
    bench --quick P2 --with gauss,derived --csv "$W/rungs.csv"
if ! grep -Eq '^C853, ms +[0-9.]+ .* [0-9]e-1[2-9] ' "$W/out"; then
    fail "no row of C853 that reaches 1e-12"
else
    pass 'row of C853'
fi
for name in gauss derived; do
    if [ "$(grep -Ec "^$name +(- +|[0-9.]+[ ~<>] +)+[0-9]e-1[3-9] " "$W/out")" = 1 ]; then
        pass "row of $name"
    else
        fail "no row of $name that reaches 1e-13"
    fi
done

# every instruction set that the machine has: rows of plain, at least
expect 0 'instruction sets' '^\| P2 \| plain \| gauss-native \|' 'noslip bench: plain' -- \
    bench --sets --quick --rounds 1 --longest 0.01 --write "$W/sets.md"
if grep -q '^| P1c | plain | C853, ms |' "$W/sets.md"; then
    pass 'page of the instruction sets'
else
    fail 'no page of the instruction sets'
fi

# instructions: by the processor, or else by valgrind, which is not found here
mkdir -p "$W/nothing"
PATH="$W/nothing" "$NOSLIP" bench --instructions P2 >"$W/out" 2>"$W/err"
status=$?
if { [ $status = 3 ] && grep -q 'Not counted: .*valgrind is not installed' "$W/out"; } ||
    { [ $status = 0 ] && grep -Eq '^\| P2 \| 1e-09 \| [0-9]+ \| [0-9.]+' "$W/out"; }; then
    pass 'instructions'
else
    fail "instructions: status $status, $(head -c 300 "$W/out")"
fi
counted=$(dirname "$NOSLIP")/noslip-bench-counted
"$counted" P2 C853 >"$W/out" && [ \
    "$(awk '$1 < 1e-9 && $2 < 1e-7 && $3 == 1' "$W/out" | wc -l)" -ge 2 ] &&
    pass 'what is counted' || fail 'noslip-bench-counted'
"$counted" P2 nobody 2>"$W/err"
[ $? = 2 ] && pass 'counted: unknown contender' || fail 'counted: unknown contender'

"$PYTHON" - "$W/rungs.csv" <<'P' && pass 'measurements' || fail 'measurements'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {r['contender'] for r in rows} == {'C853', 'gauss', 'derived'}, 'contenders'
assert all(r['problem'] == 'P2' for r in rows)
for name in ('C853', 'gauss', 'derived'):
    ladder = [r for r in rows if r['contender'] == name]
    assert len(ladder) >= 8, name
    assert all(float(r['seconds']) > 0 and int(r['steps']) > 0 for r in ladder), name
    # the error of 100 s follows the tolerance: at most 1e4 times it down to round-off, where
    # the three ways (by hand, equations given, equations derived) agree with the reference
    for r in ladder:
        assert float(r['error']) < max(1e4*float(r['tolerance']), 1e-12), r
    assert min(float(r['error']) for r in ladder) < 1e-13, name
P
finish
