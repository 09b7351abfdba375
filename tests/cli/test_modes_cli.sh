#!/usr/bin/env bash
# Modes and jumps at the command line: messages, sweeps, sections through jumps, resuming.
set -euo pipefail
fail() { echo "test_modes_cli: $*" >&2; exit 1; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT && cd "$dir"

# everything that is wrong has its place
base='mode fly, lie
state z'"'"' = w, w'"'"' = -mode.fly
start { z = 1; mode fly }
run { until 1 }
'
refused() { # LINE, WORDS
    printf '%s%s\n' "$base" "$1" > bad.mech
    if "$NOSLIP" run bad.mech > out 2> err; then fail "'$1' is accepted"; fi
    grep -q 'bad.mech:5:' err && grep -qF "$2" err || { cat err; fail "'$1': no word of '$2'"; }
}
refused 'event a: z = 0 { q = 1 }' 'not a state of the system'
refused 'event a: z = 0 { mode = 1 }' 'no state but a value'
refused 'event a: z = 0 { }' 'nothing changes at this event'
refused 'event a: z = 0 stop { z = 1 }' 'an event that stops the run changes nothing'
refused 'event a: z = 0 in fli { z = 1 }' "did you mean \`fly\`"
refused 'event a: z = 0 { mode walk }' "there is no mode \`walk\`"
refused 'event a: z = 0 { z = 1; z = 2 }' 'changed twice'
refused 'event a: z = 0 { z = [1, 2] }' 'has 1 component'
refused 'event a: z = 0 { z = y }' "undefined name \`y\`"
refused 'event a: z = 0 { rest { rest { z = 1 } } }' 'does not stand inside'
refused 'param p = mode.fly' 'cannot contain'
refused 'start { mode walk }' 'said twice'
refused 'mode fly' 'two modes named'
"$NOSLIP" run "$MODELS/bouncing-ball.mech" --until -1 > out 2> err && fail "backwards"
grep -q 'goes forward only' err || { cat err; fail "backwards: no word of it"; }
"$NOSLIP" emit c "$MODELS/superball.mech" > out 2> err && fail "emit"
grep -q 'jumps at events' err || fail "emit says nothing"
"$NOSLIP" lyapunov "$MODELS/stick-slip.mech" > out 2> err && fail "lyapunov"
grep -q '2 modes' err || fail "lyapunov says nothing"
"$NOSLIP" check "$MODELS/rocking-block.mech" > out || fail "check"
grep -q 'right (at the start), left, flat' out || fail "check tells no modes"

# values that differ between modes: at the end and at events; elsewhere they are refused
"$NOSLIP" sweep "$MODELS/bowling-ball.mech" --over mu=0.05:0.2:2 --until 2 --out modes.csv \
    --get 'mode,force.ratio,mode@sticks' > /dev/null
"$PYTHON" - << 'EOF'
import csv
slides, rolls = csv.DictReader(l for l in open("modes.csv") if l[0] != "#")
assert slides["mode"] == "1" and abs(float(slides["force.ratio"]) - 0.05) < 1e-12, slides
assert rolls["mode"] == "0" and float(rolls["force.ratio"]) < 1e-12, rolls
assert rolls["mode@sticks"] == "1" and slides["mode@sticks"] == "nan", (slides, rolls)
EOF
"$NOSLIP" sweep "$MODELS/bowling-ball.mech" --over mu=0.05:0.2:2 --get 'max(force.ratio)' \
    > /dev/null 2> err && fail "an extreme over modes"
grep -q 'differs between modes' err || fail "an extreme over modes: no word"

# a sweep gives what runs give, to the bit
"$NOSLIP" sweep "$MODELS/bouncing-ball.mech" --method gauss --over e=0.5:0.8:4 \
    --get 'lost,count(bounce),n=z@1.3' --out table.csv > /dev/null
for e in 0.5 0.8; do
    "$NOSLIP" run "$MODELS/bouncing-ball.mech" --method gauss --set "e=$e" --json > run.json
    "$PYTHON" - "$e" << 'EOF'
import csv, json, sys
rows = csv.DictReader(l for l in open("table.csv") if l[0] != "#")
row = [r for r in rows if r["e"] == sys.argv[1]][0]
run = json.load(open("run.json"))
assert float(row["lost"]) == run["values"]["lost"][-1], (row, run["values"])
assert int(float(row["count(bounce)"])) == len(run["events"])
assert [m["mode"] for m in run["modes"]] == ["fly", "lie"]
assert run["events"][-1]["accumulation"] and run["events"][-1]["to_mode"] == "lie"
EOF
done

# resumed in the middle, the same bits
"$NOSLIP" run "$MODELS/stick-slip.mech" --json > whole.json
"$NOSLIP" run "$MODELS/stick-slip.mech" --until 20.5 --checkpoint half.bin > /dev/null
"$NOSLIP" run "$MODELS/stick-slip.mech" --resume half.bin --until 40 --json > rest.json
"$PYTHON" - << 'EOF'
import json
a, b = json.load(open("whole.json")), json.load(open("rest.json"))
assert len(a["events"]) == len(b["events"]) and a["modes"][:5] == b["modes"][:5]
for x, y in zip(a["events"], b["events"]):  # the end of the first part cuts a step
    assert abs(x["t"] - y["t"]) < 1e-13, (x, y)
EOF

# the simplest walker: the multipliers through the heel strike do not depend on the section, and
# are those of Garcia et al. (1998); the gait becomes unstable at slope 0.0151
multiplier() { # MODEL, SURFACE, DIRECTION, OPTION...
    "$NOSLIP" section "$1" --on "$2" --direction "$3" --periodic 1 --json "${@:4}"
}
w="$MODELS/simplest-walker.mech"
multiplier "$w" theta falling > one.json
"$NOSLIP" section "$w" --on "phi - 0.1" --direction falling --crossings 1 --out there.csv \
    > /dev/null
"$PYTHON" - "$w" << 'EOF'
import csv, re, sys
row = list(csv.DictReader(l for l in open("there.csv") if l[0] != "#"))[-1]
text = open(sys.argv[1]).read()
start = "start { theta = %(theta)s; w = %(w)s; phi = %(phi)s; u = %(u)s }" % row
open("there.mech", "w").write(re.sub(r"start \{.*?\}", start, text))
EOF
multiplier there.mech 'phi - 0.1' falling > two.json
multiplier "$w" theta falling --set slope=0.0150 > below.json
multiplier "$w" theta falling --set slope=0.0152 > above.json
"$PYTHON" - << 'EOF'
import json
def found(name):
    table = json.load(open(name))["tables"]["multipliers"]
    return sorted(map(complex, table["re"], table["im"]), key=lambda z: (-abs(z), z.imag))
one, two = found("one.json"), found("two.json")
for a, b in zip(one, two):
    assert abs(a - b) < 1e-10, (one, two)
assert abs(one[0] - complex(-0.1901, -0.5576)) < 1e-4, one
assert max(map(abs, found("below.json"))) < 1 < max(map(abs, found("above.json")))
EOF
echo "modes: all well"
