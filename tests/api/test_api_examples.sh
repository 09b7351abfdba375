# The programs of examples/, built and run as a user would; each must say what it promises.
set -euo pipefail
top=$(cd "$TESTS/.." && pwd)
build=$(cd "$(dirname "$NOSLIP")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "test_api_examples: $*" >&2
    exit 1
}

lines=$(wc -l <"$top/examples/control.c")
[ "$lines" -le 40 ] || fail "control.c has $lines lines"

if [ ! -e "$build/libnoslip.so" ] ||
    nm -D "$build/libnoslip.so" | grep -E '__(a|t)san_' >/dev/null; then
    echo "no plain shared library here: skipped"
    exit 0
fi
flags=(-Wall -Wextra -Werror "-I$top/include")
link=("-L$build" -lnoslip "-Wl,-rpath,$build" -lm)

cc -std=c11 "${flags[@]}" "$top/examples/control.c" "${link[@]}" -o "$work/control"
"$work/control" >"$work/control.txt"
[ "$(wc -l <"$work/control.txt")" -eq 10 ] || fail "control.c does not print ten lines"
awk 'END { phi = $7 < 0 ? -$7 : $7; exit !(phi < 0.01) }' "$work/control.txt" ||
    fail "the pole falls: $(tail -1 "$work/control.txt")"

# every function of the library has an example, and all of them hold
for name in models motions studies; do
    cc -std=c11 "${flags[@]}" "$top/examples/$name.c" "${link[@]}" -o "$work/$name"
    (cd "$work" && "./$name" >"$name.txt") || fail "$name.c: $(tail -1 "$work/$name.txt")"
    grep -q 'all examples hold' "$work/$name.txt" || fail "$name.c ends early"
done
functions=$(grep -oE "\bns_[a-z_]+\(" "$top/include/noslip/noslip.h" | tr -d "(" | sort -u)
for function in $functions; do
    grep -qw "$function" "$top"/examples/*.c || fail "no example shows $function"
done

if command -v c++ >/dev/null; then
    c++ -std=c++17 "${flags[@]}" "$top/examples/sweep.cpp" "${link[@]}" -o "$work/sweep"
    "$work/sweep" >"$work/sweep.txt"
    grep -q 'turns at' "$work/sweep.txt" || fail "no rattleback turns"
    # the same as the program: the row of spin -4.8
    want=$("$NOSLIP" sweep rattleback --over omega.z=-4.8:0:2 --get 'reversal(omega.z)' \
        --until 10 --quiet 2>/dev/null | sed -n 2p | cut -d, -f2)
    have=$(grep -- 'spin -4.8' "$work/sweep.txt" | awk '{ print $6 }')
    awk -v a="$want" -v b="$have" 'BEGIN { exit !(a - b < 0.001 && b - a < 0.001) }' ||
        fail "sweep.cpp says $have, the program $want"
fi

if command -v octave-cli >/dev/null; then
    (cd "$work" && "$NOSLIP" run rattleback --until 10 --every 0.01 --out motion.csv --quiet \
        2>/dev/null && octave-cli --no-history "$top/examples/results.m" motion.csv >octave.txt)
    grep -q '1001 rows to t = 10 s' "$work/octave.txt" ||
        fail "Octave: $(cat "$work/octave.txt")"
    grep -q 'turns near t = 2.61 s' "$work/octave.txt" || fail "Octave sees no reversal"
else
    echo "no Octave: results.m is not run"
fi
