#!/usr/bin/env bash
# Claims as files: the example of docs/claims.md holds and writes its figures; an expectation
# that fails gives status 1; what is wrong is named with file, line and column, with status 2.
set -euo pipefail
noslip=$NOSLIP
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "FAIL $*"
    exit 1
}

# expect STATUS TEXT FILE: reproduce FILE ends with STATUS and prints TEXT, to either stream
expect() {
    local status=0
    "$noslip" reproduce "$3" >printed 2>&1 || status=$?
    [ $status = "$1" ] || { cat printed; fail "$3: status $status, expected $1"; }
    grep -qF -- "$2" printed || { cat printed; fail "$3: expected '$2'"; }
}

sed -n '/^```claim$/,/^```$/p' "$DOCS/claims.md" | sed '/^```/d' >pendulum.claim
[ "$(wc -l <pendulum.claim)" -gt 20 ] || fail "the manual has no example"
"$noslip" reproduce pendulum.claim --out figures
grep -q '<svg' figures/pendulum.svg && grep -q '<svg' figures/excess.svg
"$noslip" reproduce - <pendulum.claim | grep -q '1 claims, 8 expectations, 0 failed'
against='closed form: 2 pi sqrt(l/g)/M(1, cos(a/2))'
"$noslip" reproduce - <pendulum.claim >printed
grep -qxF "  against $against" printed || fail "it does not say against what"
# every one of its expectations can fail
grep -n '^expect' pendulum.claim | cut -d: -f1 | while read -r line; do
    sed -e "${line}s/ within [^ ]*$/ + 1 within 1e-9/" -e "${line}s/ < / > /" \
        -e "${line}s/ > 0\.5$/ > 1.5/" pendulum.claim >negated.claim
    expect 1 '1 failed' negated.claim
done
# bundled and own ones together; one that ends with the text, without a newline
printf 'run a: falling-disk\nexpect "time": time(a) > 0' >short.claim
"$noslip" reproduce x-off-sphere short.claim | grep -q '2 claims, 2 expectations, 0 failed'

# a model in a file beside the claim, in runs and in commands
mkdir -p sub
cat >sub/own.mech <<'MODEL'
coordinate q
lagrangian q'^2/2 - q^2/2
start { q = 1; q' = 0 }
run { until 1 }
MODEL
cat >sub/file.claim <<'CLAIM'
run a: own.mech until=pi
command c: check own.mech
expect "half a period": end(a, q) = -1 within 1e-12
expect "named": has(c, "q") > 0.5
CLAIM
expect 0 '2 expectations, 0 failed' sub/file.claim

# what is wrong, where
wrong() { # LINE:COLUMN TEXT STATEMENT
    cat - >wrong.claim <<CLAIM
model m <<
param k = 2
coordinate q
lagrangian q'^2/2 - k*q^2/2
start { q = 1 }
run { until 1 }
>>
run a: m
$3
expect "something": 1 > 0
CLAIM
    expect 2 "wrong.claim:$1: error: $2" wrong.claim
}
wrong 9:1 "unknown statement \`expct\`" 'expct "x": 1 < 2'
wrong 9:8 'expected a label between " ", found' 'expect x: 1 < 2'
wrong 9:13 "expected an expression, found \`<\`" 'expect "x": < 2'
wrong 9:15 'expected =, < or >, found' 'expect "x": 1 # 2'
wrong 9:18 "expected within TOLERANCE" 'expect "x": 1 = 2'
wrong 9:19 "expected the end of the line, found \`3\`" 'expect "x": 1 < 2 3'
wrong 9:13 "undefined function \`strat\`; did you mean \`start\`?" 'expect "x": strat(a, q) < 2'
wrong 9:13 'start takes 2 arguments, found 1' 'expect "x": start(a) < 2'
wrong 9:19 "there is no run \`b\`" 'expect "x": start(b, q) < 2'
wrong 9:22 "run \`a\` has no value \`p\`" 'expect "x": start(a, p) < 2'
wrong 9:20 'expected the name of a value' 'expect "x": end(a, 1+1) < 2'
wrong 9:13 "undefined name \`a\`" 'expect "x": a + 1 < 2'
wrong 9:8 "there is no model \`none\`" 'run b: none'
wrong 9:15 "\`furlong\` is not a unit" 'expect "x": 1 furlong < 2'
wrong 9:16 "undefined name \`soon\`" 'run b: m until=soon'
wrong 9:11 'expected a command of noslip, found the end of the line' 'command c:'
wrong 9:12 "noslip has no command \`fly\`" 'command c: fly me'
wrong 9:11 "a series needs a parameter with several values" 'series    s: m k=1'
wrong 9:9 'the model that begins here has no end' 'model x <<'
# a claim is somebody's text: it writes figures, and nothing else
only='a claim writes figures only'
wrong 9:12 "$only: --out figures/FILE, not" 'command c: run pendulum --every 1 --out own.csv'
wrong 9:12 "$only: --report" 'command c: run pendulum --report /tmp/own.html'
wrong 9:12 "$only: --checkpoint" 'command c: run pendulum --checkpoint own'
wrong 9:12 "$only" 'command c: new rolling own.mech'
wrong 9:12 "$only" 'command c: format own.mech --write'
wrong 9:12 "$only" 'command c: reproduce other.claim --out own'
wrong 9:8 'a figure stays in its folder' 'figure ../own.svg "out": a q q'
[ ! -e own.csv ] && [ ! -e own ] && [ ! -e own.mech ] || fail "a claim wrote a file"
deep=$(printf '(%.0s' $(seq 300))
wrong 9:213 'the expression is nested more than 200 levels deep' "expect \"x\": ${deep}1 < 2"
# a claim that could not fail
printf '# nothing\nrun a: falling-disk\n' >empty.claim
expect 2 'empty.claim:1:1: error: this claims nothing' empty.claim
# a model of the claim: lines are those of the claim
printf '%s\n' '# one' 'model m <<' 'coordinate q' 'lagrangian p' '>>' 'run a: m' \
    'expect "t": time(a) > 0' >model.claim
expect 2 "m:4:12: error: undefined name \`p\`" model.claim
status=0
"$noslip" reproduce missing.claim 2>message || status=$?
[ $status = 3 ] && grep -q 'cannot read missing.claim' message || fail "a missing file: $status"
