#!/usr/bin/env bash
# The command line: options, help, exit status, messages about wrong input, files.
# Needs NOSLIP (the program), TESTS (the folder of all tests) and PYTHON (with h5py, for HDF5).
set -u
: "${NOSLIP:?path of the program}"
. "$(dirname "$0")/cli_lib.sh"

# ---- help and commands -----------------------------------------------------------------------

expect 2 "no command" "" "usage: noslip" --
expect 0 "help" "gallery" "" -- help
expect 0 "--help" "Commands" "" -- --help
for topic in run check equations gallery help version methods formulations language units \
    values \
    files json status gauss lagrange; do
    expect 0 "help $topic" "" "" -- help $topic
done
expect 0 "run --help" "--until T" "" -- run --help
expect 0 "help of a method" "tolerance" "" -- help gauss
expect 2 "help about nothing" "" "did you mean \`gauss\`" -- help gaus
expect 0 "version" "noslip [0-9]" "" -- version
expect 0 "--version" "noslip [0-9]" "" -- --version
# A lower instruction set, by option or environment; a higher one than the processor's is
# refused.
for level in plain avx2 avx512; do
    if "$NOSLIP" version --simd $level >"$W/out" 2>"$W/err"; then
        expect 0 "--simd $level" "instructions: $level\$" "" -- version --simd=$level
        NOSLIP_SIMD=$level expect 0 "NOSLIP_SIMD=$level" "instructions: $level\$" "" -- version
    else
        expect 2 "--simd $level" "" "--simd: this processor has no $level" -- version \
            --simd=$level
    fi
done
expect 0 "--simd of the gallery" "method" "" -- gallery coin --simd plain
NOSLIP_SIMD=sse expect 2 "NOSLIP_SIMD=sse" "" "NOSLIP_SIMD: expected plain, avx2 or avx512" \
    -- check "$W/oscillator.mech"
NOSLIP_SIMD= expect 0 "NOSLIP_SIMD=" "" "" -- check "$W/oscillator.mech"
expect 2 "--simd of another name" "" "--simd: expected plain, avx2 or avx512, not \`sse\`" \
    -- run "$W/oscillator.mech" --simd sse
expect 2 "--simd without a value" "" "--simd needs a value" -- run "$W/oscillator.mech" --simd
expect 2 "--simd with an empty value" "" "--simd needs a value" -- run "$W/oscillator.mech" \
    --simd=
expect 2 "--simd twice" "" "--simd is given twice" -- run "$W/oscillator.mech" --simd plain \
    --simd plain
expect 2 "--simd misspelt" "" "did you mean \`--simd\`" -- run "$W/oscillator.mech" --smid plain
# No number comes from a library that chooses its code by the processor.
if command -v ldd >/dev/null; then
    for made in "$NOSLIP" "$(dirname "$NOSLIP")/libnoslip.so"; do
        [ -e "$made" ] || continue
        ldd "$made" >"$W/libraries" && ! grep -iE 'blas|lapack' "$W/libraries" &&
            pass "libraries of $(basename "$made")" ||
            fail "libraries of $(basename "$made"): $(cat "$W/libraries")"
    done
fi
expect 2 "unknown command" "" "did you mean \`run\`" -- rnu x
expect 2 "a file as command" "" "noslip run" -- "$W/oscillator.mech"

expect 0 "emit c" "void model_rhs" "" -- emit c "$W/oscillator.mech"
expect 2 "emit another language" "" "octave and fmu, not \`fortran\`" \
    -- emit fortran "$W/oscillator.mech"
expect 2 "emit nothing" "" "needs more arguments" -- emit c
cat >rubber.mech <<'M'
ground plane { rubber }
body ellipsoid(0.3, 0.2, 0.1) { mass 1; uniform }
start { omega [1, 0, 0] }
M
expect 2 "--form of another distribution" "" "not .rubber." -- check rubber.mech --form
expect 0 "emit fmu" "FMI 3.0, model exchange and co-simulation" "" \
    -- emit fmu "$W/oscillator.mech" --fmi 3 --out "$W/oscillator.fmu"
expect 2 "emit fmu without a file" "" "needs a file: --out MODEL.fmu" \
    -- emit fmu "$W/oscillator.mech"
expect 2 "emit fmu of another version" "" "2 or 3, not \`1\`" \
    -- emit fmu "$W/oscillator.mech" --fmi 1 --out "$W/oscillator.fmu"
expect 2 "emit c to a file" "" "are for .noslip emit fmu" \
    -- emit c "$W/oscillator.mech" --out "$W/oscillator.c"
expect 2 "emit fmu of a motion that jumps" "" "jumps at events" \
    -- emit fmu "$MODELS/superball.mech" --out "$W/superball.fmu"

# ---- options ---------------------------------------------------------------------------------

O=$W/oscillator.mech
expect 2 "run without model" "" "needs a model" -- run
expect 2 "two models" "" "unexpected argument" -- run $O $O
expect 2 "unknown option" "" "did you mean \`--until\`" -- run $O --untl 3
expect 2 "far from any option" "" "unknown option \`--zzzzzz\`" -- run $O --zzzzzz
expect 2 "short option" "" "unknown option \`-q\`" -- run $O -q
expect 2 "value missing" "" "needs a value" -- run $O --until
expect 2 "value of a flag" "" "takes no value" -- run $O --json=1
expect 2 "given twice" "" "given twice" -- run $O --until 1 --until 2
expect 2 "no number" "" "expects a number" -- run $O --until soon
expect 2 "half a number" "" "expects a number" -- run $O --until 3x
expect 2 "not finite" "" "expects a number" -- run $O --until inf
expect 2 "bad list" "" "separated by commas" -- run $O --at 1,,2
expect 2 "tolerance zero" "" "must be positive" -- run $O --tol 0
expect 2 "negative interval" "" "must be positive" -- run $O --every -1
expect 2 "at and every" "" "exclude each other" -- run $O --at 1 --every 1
expect 2 "output time outside" "" "outside of the run" -- run $O --until 1 --at 2
expect 2 "unknown method" "" "did you mean \`gauss\`" -- run $O --method gaus
expect 2 "method far off" "" "unknown method \`euler\`" -- run $O --method euler
expect 0 "method auto says why" \
    "chosen by +gauss, for a run of some [0-9]+ steps is too short" "" -- run $O --method auto
expect 0 "method auto in JSON" '"method_choice": "gauss, for a run' "" -- run $O --method auto \
    --tol 1e-6 --json
expect 0 "help on auto" "clock is read: the same command" "" -- help auto
expect 2 "quad has its own method" "" "leave out --method auto" -- run $O --method auto \
    --precision quad
export XDG_CACHE_HOME=$W/cache
expect 0 "native engine" "" "" -- run $O --engine native
NOSLIP_NATIVE=c expect 0 "native by the compiler" "" "" -- run $O --engine native
NOSLIP_NATIVE=c NOSLIP_CC= expect 0 "native without a compiler" "Oscillator" \
    "without native code: the compiler is switched off" -- run $O --engine native
expect 0 "native beside series" "Oscillator" "" -- run $O --engine native --method taylor
expect 2 "unknown engine" "" "interpreter, native or auto" -- run $O --engine jit
expect 2 "quad precision" "" "method of its own" -- run $O --precision quad --method gauss
expect 0 "report" "a.html \(report" "" -- run $O --report "$W/a.html"
expect 2 "report nowhere" "" "cannot write .*No such file" -- run $O \
    --report "$W/nowhere/a.html"
expect 2 "report over an output" "" "given twice" -- run $O --out "$W/a.csv" --report "$W/a.csv"
expect 0 "digits" "\([0-9]+ digits\)" "" -- run $O --digits
expect 0 "digits in JSON" "\"digits\": \{" "" -- run $O --digits --json
expect 2 "set without =" "" "NAME=EXPR" -- run $O --set k
expect 2 "set unknown" "" "nosuch" -- run $O --set nosuch=1
expect 2 "set nonsense" "" "k" -- run $O "--set" "k=1+*2"
expect 2 "show unknown" "" "did you mean \`energy\`" -- run $O --show enery
expect 0 "engine and precision that exist" "" "" -- run $O --engine interpreter \
    --precision double
expect 0 "option with =" "0 to 2 s" "" -- run $O --until=2
expect 0 "model after --" "0 to 2 s" "" -- run --until 2 -- $O
expect 0 "standard input" "Oscillator" "" -- run - <$O

# ---- bad input -------------------------------------------------------------------------------

cd "$W" || exit 1
model() { cat >"$1"; }

expect 2 "no such file" "" "nosuch.mech" -- run nosuch.mech
expect 2 "a folder" "" "directory" -- run .
: >empty.mech
expect 2 "empty file" "" "empty.mech" -- run empty.mech
head -c 4096 "$NOSLIP" >binary.mech
expect 2 "binary file" "" "binary.mech" -- run binary.mech
{ printf 'coordinate x\nlagrangian '; head -c 5000000 /dev/zero | tr '\0' '('; printf 1
  head -c 5000000 /dev/zero | tr '\0' ')'; } >nested.mech
expect 2 "10 MB of nested parentheses" "" "nested.mech:2:" -- run nested.mech
model name.mech <<'M'
param mass = 1
coordinate x
lagrangian mas/2*x'^2
start { x = 0; x' = 1 }
run { until 1 }
M
expect 2 "undefined name" "" "mass" -- run name.mech
model log.mech <<'M'
state x' = -1
start { x = 1 }
observe l = log(x)
run { until 5 }
M
expect 0 "a value without a number" "l +undefined" "\`l\` is not a finite number at t = 5 s" \
    -- run log.mech
expect 0 "... at output times" "^2 +-1 +undefined" \
    "\`l\` is not a finite number at t = 1 s, and 4 more times" \
    -- run log.mech --every 1
expect 2 "... with its place" "" "name.mech:3:12: error" -- run name.mech
model corner.mech <<'M'
state x' = v, v' = -x - 0.1*sign(v)
start { x = 1; v = 0.5 }
run { until 3 }
M
expect 0 "corners in the equations" "" "have corners" -- run corner.mech
expect 0 "... not with dop853" "" "" -- run corner.mech --method dop853
grep -q corners "$W/err" && fail "... not with dop853: no warning"
model switch.mech <<'M'
state x' = v, v' = -x + sign(t - 1) - sign(t - 5/3)
start { x = 1; v = 0.5 }
run { until 3 }
M
expect 0 "... nor for switches in time" "" "" -- run switch.mech
grep -q corners "$W/err" && fail "... nor for switches in time: no warning"
model smooth.mech <<'M'
ground G height(x^2)
body S sphere(0.1) { mass 1; uniform }
constraint c: rolling(S, G)
force S.torque = -0.01*S.omega.space
start { c.contact ~ [0.3, 0, 0.09]; S.omega = [0, 0, 1] }
run { until 0.1 }
M
expect 0 "... nor where the equations have none" "" "" -- run smooth.mech
grep -q corners "$W/err" && fail "... nor where the equations have none: no warning"
for reduced in "" "reduced;"; do
    model egg.mech <<M
ground plane
body egg(0.1, 0.08, 0.2) { $reduced mass 1; inertia diag(1, 1.2, 1.3)*2e-3 }
start { tilt ~ 20 deg; omega [1, 2, 3] }
run { until 0 }
M
    expect 0 "--start of the contact on a body $reduced" '"s.x": \[0.02' "" -- run egg.mech \
        --start s.x=0.02 --start s.y=0.03 --json
    py 'd["values"]["s.x"] == [0.02] and d["values"]["s.y"] == [0.03] and
        abs((0.0009 + 0.0004)/0.0064*
        (1 + 2*d["values"]["s.z"][0]) + 100*d["values"]["s.z"][0]**2 - 1) < 1e-12' "... is met"
    expect 2 "--start of what follows $reduced" "" "\`com.z\` follows from the states" \
        -- run egg.mech --start com.z=1
done
model vector.mech <<'M'
coordinate x, y
lagrangian dot([x', y'], [x', y', 1])
M
expect 2 "vectors of different sizes" "" "vector.mech:2:" -- run vector.mech
model zero.mech <<'M'
param a = 1/0
coordinate x
lagrangian a*x'^2
start { x = 0; x' = 1 }
run { until 1 }
M
expect 2 "division by the constant zero" "" "zero.mech:1:" -- run zero.mech
model redundant.mech <<'M'
coordinate x, y
lagrangian (x'^2 + y'^2)/2 - x
constraint a: x' - y' = 0
constraint b: 2*x' - 2*y' = 0
start { x = 0; y = 0; x' = 1; y' = 1 }
run { until 1 }
M
expect 2 "redundant constraints" "" "constraint" -- run redundant.mech
model contradiction.mech <<'M'
coordinate x, y
lagrangian (x'^2 + y'^2)/2
constraint a: x - y = 0
constraint b: x - y = 1
start { x = 0; y = 0; x' = 1; y' = 1 }
run { until 1 }
M
expect 2 "contradictory constraints" "" "contradiction.mech:" -- run contradiction.mech
model singular.mech <<'M'
coordinate x, y
lagrangian x'^2/2 - y^2/2
start { x = 0; y = 0; x' = 1; y' = 0 }
run { until 1 }
M
expect 2 "singular mass matrix" "" "constrained" -- run singular.mech
model inconsistent.mech <<'M'
coordinate x, y
lagrangian (x'^2 + y'^2)/2
constraint rail: y - x = 0
start { x = 0; y = 1; x' = 1 }
run { until 1 }
M
expect 2 "inconsistent start" "" "rail" -- run inconsistent.mech
sed 's/until 10/untl 10/' oscillator.mech >setting.mech
expect 2 "unknown setting" "" "did you mean \`until\`" -- run setting.mech
sed 's/until 10/until 10; method gaus/' oscillator.mech >method.mech
expect 2 "unknown method in the model" "" "did you mean \`gauss\`" -- run method.mech
sed '/^run/d' oscillator.mech >open.mech
expect 2 "no end time" "" "how long" -- run open.mech
expect 0 "end time by --until" "0 to 3 s" "" -- run open.mech --until 3
expect 0 "end time by --at" "" "" -- run open.mech --at 1,3
for command in check equations; do
    expect 2 "$command: undefined name" "" "name.mech:3:12: error" -- $command name.mech
    expect 2 "$command: unknown option" "" "did you mean \`--set\`" -- $command $O --st a=1
done

# ---- runs ------------------------------------------------------------------------------------

expect 0 "summary" "method +gauss" "" -- run $O
expect 0 "... time" "0 to 10 s" "" -- run $O
expect 0 "... energy" "energy.*relative change" "" -- run $O
expect 0 "--show" "energy" "" -- run $O --show energy
expect 0 "--quiet prints nothing" "" "" -- run $O --quiet
[ ! -s out ] && [ ! -s err ] || fail "--quiet printed something"
expect 0 "--set" "energy +1" "" -- run $O --set k=2 --set A=1 --show energy
expect 0 "rows at times" "^2\.5 " "" -- run $O --at 2.5,5
expect 0 "backwards" "0 to -3 s" "" -- run $O --until -3
model stop.mech <<'M'
title "Stops"
param v = 1
state x' = v
start { x = 0 }
event wall: x - 1 = 0 stop
run { until 2 }
M
expect 0 "an event that stops" "ended at t = 1 by the event wall$" "" -- run stop.mech
[ ! -s err ] || fail "an end that was asked for is warned of"
expect 0 "... --json" "" "" -- run stop.mech --json
py 'd["status"] == "done" and d["reason"] == "ended at t = 1 by the event wall"' "... its JSON"
expect 0 "... and its page" "" "" -- run stop.mech --quiet --report stop.html
grep -q '"status":"done","reason":"ended at t = 1 by the event wall"' stop.html ||
    fail "the page does not say by which event the motion ended"
expect 0 "... and rows of a sweep" "3 as asked for, 0 early" "" -- \
    sweep stop.mech --over v=0.25:2:3 --get x --out stop.csv
[ "$(cut -d, -f3 stop.csv | tr '\n' ' ')" = "status 0 0 0 " ] || fail "... with their status"
grep -q '^2,1,0,ended at t = 0.5 by the event wall$' stop.csv || fail "... with their reason"
model blow.mech <<'M'
title "Blows up"
state x' = x^2
start { x = 1 }
run { until 2 }
M
expect 1 "a singularity" "ended early" "stopped" -- run blow.mech
expect 1 "a singularity, --json" "" "stopped" -- run blow.mech --json
py 'd["status"] == "stopped" and d["reason"] and abs(d["t"][0] - 1) < 1e-3' "... and its JSON"

expect 0 "--json" "" "" -- run $O --at 2.5,1,2.5 --json
py 'sorted(d) == ["diagnostics", "events", "formulation", "method",
    "model", "parameter_units", "parameters", "reason", "status", "t", "units", "values"]' \
    "keys"
py 'd["t"] == [1, 2.5] and d["status"] == "done" and d["reason"] == ""' \
    "times sorted, once each"
py 'abs(d["values"]["x"][1] - math.cos(2.5)) < 1e-13 and
    abs(d["values"]["x'"'"'"][1] + math.sin(2.5)) < 1e-13' \
    "values against the closed form"
py 'sorted(d["diagnostics"]) == ["constraints", "energy_drift", "evaluations",
    "invariants", "seconds", "steps"]' "diagnostics"
py 'd["diagnostics"]["energy_drift"] < 1e-14 and d["diagnostics"]["steps"] > 0' \
    "diagnostics' values"
model driven.mech <<'M'
coordinate x
lagrangian x'^2/2 - x^2/2
force x = sin(3*t)
start { x ~ 1; x' = 0 }
run { until 5 }
M
expect 0 "driven" "energy +[0-9.]+ +largest relative change: not conserved" "" \
    -- run driven.mech
expect 0 "driven, --json" "" "" -- run driven.mech --json
py 'd["diagnostics"]["energy_drift"] is None and
    d["diagnostics"]["energy_conserved"] is False' "no drift of a driven energy"
py 'd["diagnostics"]["energy_change"] > 0.01 and "notes" not in d["diagnostics"]' \
    "... but its change"
model guessed.mech <<'M'
coordinate x, y
lagrangian (x'^2 + y'^2)/2
constraint circle: x^2 + y^2 = 1
start { x = 0.6; y ~ 1; x' = 1 }
run { until 1 }
M
expect 0 "a guess that changes" "" \
    "guessed.mech:4:.*note: the guess is changed, y from 1 to 0.8, to satisfy .circle" \
    -- run guessed.mech --json
py '"y from 1 to 0.8" in d["diagnostics"]["notes"][0]' "... and its JSON"
expect 0 "events in JSON" "" "" -- run $O --json
py '[e["name"] for e in d["events"]] == ["middle"]*3 and
    abs(d["events"][1]["t"] - 1.5*math.pi) < 1e-13' "events"
py 'd["t"] == [10]' "without --at and --every: the end"
expect 0 "--every" "" "" -- run $O --every 0.1 --json
py 'len(d["t"]) == 101 and d["t"][-1] == 10 and d["t"][0] == 0' "rows of --every"
expect 0 "--at extends the run" "" "" -- run $O --at 20 --json
py 'abs(d["values"]["x"][0] - math.cos(20)) < 1e-13' "... to its last time"

# ---- files -----------------------------------------------------------------------------------

expect 2 "unknown extension" "" "ends* in .h5, .csv, .json, .svg or .glb" -- run $O --out a.txt
expect 2 "no extension" "" "ends* in .h5, .csv, .json, .svg or .glb" -- run $O --out table
expect 2 "no such folder" "" "cannot write nosuch/a.csv" -- run $O --out nosuch/a.csv
expect 2 "a folder as output" "" "cannot write dir.csv" -- run $O --out dir.csv
expect 2 "the same file twice" "" "given twice" -- run $O --out a.csv --out a.csv
expect 0 "three files at once" "101 rows" "" -- run $O --every 0.1 --out a.csv --out a.h5 \
    --out a.json
expect 0 "a picture" "a.svg .picture" "" -- run $O --out a.svg
head -c 4 a.svg | grep -q "<svg" || fail "a.svg is SVG"
expect 0 "a picture of chosen values" "a.svg .picture" "" -- \
    run rattleback --until 1 --show omega.x,omega.z,force.normal --out a.svg
grep -q '>omega.z<' a.svg && grep -q '>force.normal (N)<' a.svg && ! grep -q 'omega.y' a.svg ||
    fail "the picture shows what --show names"
cat >slope.mech <<'END'
title "a ball on a slope: the ground has a place of its own, but rests"
ground plane { turn [0, 1, 0], 20 deg; origin [0, 0, 1] }
body sphere(5 cm) { mass 1; uniform }
start { contact [0, 0, 1] }
run { until 1 }
END
expect 0 "a ground at rest does no work" "largest relative change$" "" -- run slope.mech
printf '%s\n' "state x' = 1" 'start { x = 0 }' 'draw { ball [x, 0], 0.1 }' 'run { until 1 }' \
    >drawn.mech
expect 0 "a scene" "s.glb .scene" "" -- run drawn.mech --out s.glb
head -c 4 s.glb | grep -q "glTF" || fail "s.glb is glTF"
expect 2 "no scene" "" "has no picture; a .draw. block" -- run $O --out n.glb
ls | grep -q part && fail "a temporary file is left"
[ "$(grep -vc '^#' a.csv)" = 102 ] || fail "CSV has a header and 101 rows"
head -1 a.csv | grep -q "^t,x,x',energy" || fail "header of CSV: $(head -1 a.csv)"
grep -q "^# unit: s," a.csv || fail "units in CSV"
expect 0 "the same in JSON" "" "" -- run $O --every 0.1 --json
py 'json.load(open("a.json"))["values"] == d["values"]' "FILE.json holds what --json prints"
"$PYTHON" - <<'P' || fail "CSV, JSON and HDF5 agree to the bit"
import csv, json
j = json.load(open("a.json"))
rows = [r for r in csv.reader(open("a.csv")) if not r[0].startswith("#")]
for i, name in enumerate(rows[0]):
    column = [float(r[i]) for r in rows[1:]]
    assert column == (j["t"] if name == "t" else j["values"][name]), name
import h5py
h = h5py.File("a.h5", "r")
assert list(h["t"][:]) == j["t"] and h["t"].attrs["unit"] == "s"
for name, column in j["values"].items():
    assert list(h["values"][name][:]) == column, name
assert h["values"]["x"].attrs["unit"] == "m"
a = h.attrs
assert "lagrangian" in a["model"] and a["method"] == "gauss" and a["status"] == "done"
assert a["formulation"] == "lagrange" and a["tolerance"] > 0 and a["version"] and a["title"]
assert h["parameters"].attrs["k"] == 1
d = j["diagnostics"]
assert h["diagnostics"].attrs["energy_drift"] == d["energy_drift"]
assert h["diagnostics"].attrs["steps"] == d["steps"]
assert [n.decode() for n in h["events/name"][:]] == ["middle"] * 3
assert list(h["events/t"][:]) == [e["t"] for e in j["events"]]
assert list(h["events/values/x"][:]) == [e["values"]["x"] for e in j["events"]]
P
if command -v h5dump >/dev/null; then
    h5dump -d /values/energy a.h5 >dump && grep -q DATA dump || fail "h5dump reads it"
fi
echo old >kept.csv
expect 2 "a wrong model keeps old files" "" "" -- run name.mech --out kept.csv
[ "$(cat kept.csv)" = old ] || fail "the old file was changed"
printf x >link-target.csv
ln -s link-target.csv link.csv
expect 0 "output through a link" "" "" -- run $O --out link.csv
[ -L link.csv ] && [ "$(wc -l <link-target.csv)" -gt 2 ] || fail "the link was replaced"
if [ -w /dev/full ]; then
    $NOSLIP run $O --json >/dev/full 2>err
    [ $? = 3 ] && grep -q "standard output" err || fail "standard output that is full"
fi

# ---- check, equations, gallery ---------------------------------------------------------------

expect 0 "check" "degrees of freedom +1" "" -- check $O
expect 0 "check: energy" "energy +constant" "" -- check $O
expect 0 "check: parameters" "k +2 .*--set" "" -- check $O --set k=2
expect 0 "check: operations" "operations +[0-9]+ per" "" -- check $O
sed 's/^run/invariant wrong = x\nrun/' oscillator.mech >wrong.mech
expect 2 "check: an invariant that is none" "wrong +NOT constant" "\`wrong\` is not constant" \
    -- check wrong.mech
model rest.mech <<'M'
ground plane
body sphere(0.1) { mass 1; uniform }
run { until 1 }
M
expect 0 "check: a ball at rest" "momentum.x +constant" "" -- check rest.mech
sed 's/^run/invariant fast = cos(1e9*x)\nrun/' oscillator.mech >fast.mech
expect 2 "check: an invariant that is none, by its fast changes" "fast +NOT constant" "" \
    -- check fast.mech
expect 0 "run: the same" "" "warning: \`fast\` is not constant" -- run fast.mech
sed 's/^run/invariant slow = energy^3\nrun/' oscillator.mech >slow.mech
expect 0 "run: an invariant that is one" "slow" "" -- run slow.mech
[ -s err ] && fail "a warning about an invariant"
expect 2 "energy that is not finite" "" "energy is not a finite number at the start" -- run $O \
    --set A=1e300
! grep -Eiq 'nan|inf\b' out || fail "nan or inf was printed"
expect 0 "check without numbers for what is only looked at" "routh +not known" "" \
    -- check ball-in-bowl --set m=1e300
! grep -Eq -w -e '-?nan' out || fail "nan was printed"
for line in "tolerance 2" "tolerance -1" "max_steps 0.5" "every 0"; do
    sed "s/^run .*/run { until 1; $line }/" oscillator.mech >setting.mech
    expect 2 "setting: $line" "" "setting.mech:[0-9]+:[0-9]+: error: \`.*it must be" \
        -- run setting.mech
done
expect 0 "equations" "x" "" -- equations $O
expect 0 "equations --latex" "begin{document}" "" -- equations $O --latex
cp out eq.tex
if command -v pdflatex >/dev/null; then
    pdflatex -interaction=nonstopmode -halt-on-error eq.tex >log && pass "LaTeX compiles it" ||
        fail "LaTeX does not compile it"
fi
expect 0 "gallery" "" "" -- gallery
name=$(awk 'NR == 1 { print $1 }' out)
if [ -n "$name" ] && [ "$name" != no ]; then
    expect 0 "gallery --print" "" "" -- gallery "$name" --print
    cp out printed.mech
    expect 0 "what it prints is a model" "" "" -- check printed.mech
    expect 0 "gallery runs" "formulation" "" -- gallery "$name" --until 0.1
    expect 0 "run by bundled name" "formulation" "bundled" -- run "$name" --until 0.1
    expect 2 "gallery, misspelt" "" "did you mean \`$name\`" -- gallery "${name}x"
fi
expect 2 "gallery, unknown" "" "no bundled model" -- gallery zzzzzzzzzzzzzz
expect 2 "gallery with options only" "" "which model" -- gallery --until 3

finish
