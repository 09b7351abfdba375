# Helpers of the tests of the command line; sourced by tests/test_cli*.sh.
#
#   expect STATUS NAME STDOUT STDERR -- arguments...   runs $NOSLIP; the patterns are extended
#                                                      regular expressions that must match
#   py EXPRESSION NAME     `d` is the JSON object on the last standard output
#   fail NAME, finish

W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
mkdir "$W/dir.csv"
PYTHON=${PYTHON:-python3}
NOSLIP=$(realpath "$NOSLIP")
passed=0
failed=0

fail() {
    echo "FAIL $*"
    failed=$((failed + 1))
}

pass() {
    echo "ok   $*"
    passed=$((passed + 1))
}

expect() {
    local status=$1 name=$2 stdout=$3 stderr=$4 got
    shift 5
    "$NOSLIP" "$@" >"$W/out" 2>"$W/err"
    got=$?
    if [ "$got" != "$status" ]; then
        fail "$name: exit status $got, not $status: noslip $*"
        sed 's/^/     | /' "$W/err" | head -5
    elif [ -n "$stdout" ] && ! grep -Eq -e "$stdout" "$W/out"; then
        fail "$name: no '$stdout' on standard output: noslip $*"
        sed 's/^/     | /' "$W/out" | head -20
    elif [ -n "$stderr" ] && ! grep -Eq -e "$stderr" "$W/err"; then
        fail "$name: no '$stderr' on standard error: noslip $*"
        sed 's/^/     | /' "$W/err" | head -5
    elif [ "$status" = 2 ] && [ ! -s "$W/err" ]; then
        fail "$name: nothing is said: noslip $*"
    else
        pass "$name"
    fi
}

py() {
    if "$PYTHON" -c "import json, math, sys; d = json.load(open('$W/out'))
sys.exit(not ($1))"; then
        pass "$2"
    else
        fail "$2: $1"
    fi
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

cat >"$W/oscillator.mech" <<'M'
# x = A cos(omega t)
title "Oscillator"
param m = 1 kg, k = 1, A = 1 m
coordinate x in m
lagrangian m/2*x'^2 - k/2*x^2
start { x = A; x' = 0 }
event middle: x = 0
run { until 10 }
M
