#!/usr/bin/env bash
# Wrong answers and runs without end that a review met at the edges (docs/reliability.md names
# them T, H and F): each once more, by the program alone, so that any version can be asked:
#     NOSLIP=/path/to/another/noslip MODELS=models tests/cli/test_truth.sh
set -u
. "$(dirname "$0")/cli_lib.sh"
cd "$W" || exit 1

# says STATUS NAME STDOUT STDERR -- arguments: expect, with an end after 300 s
says() {
    local status=$1 name=$2 stdout=$3 stderr=$4
    shift 5
    timeout 300 "$NOSLIP" "$@" >"$W/out" 2>"$W/err" </dev/null
    local got=$?
    if [ $got != "$status" ]; then
        fail "$name: exit status $got, not $status: $(grep -v note "$W/err" | head -2)"
    elif [ -n "$stdout" ] && ! grep -Eq -e "$stdout" "$W/out"; then
        fail "$name: no '$stdout'"
    elif [ -n "$stderr" ] && ! grep -Eq -e "$stderr" "$W/err"; then
        fail "$name: no '$stderr' on standard error: $(grep -v note "$W/err" | head -2)"
    else
        pass "$name"
    fi
}

# never NAME PATTERN: not in what the last one printed
never() {
    if grep -Eq -e "$2" "$W/out" "$W/err"; then
        fail "$1: $(grep -Eh -e "$2" "$W/out" "$W/err" | head -1)"
    else
        pass "$1"
    fi
}

# near NAME VALUE TOLERANCE NUMBER: the last state's value, from JSON
near() {
    py "abs(d['values']['$2'][-1] - ($4)) <= $3" "$1"
}

# ---- T: wrong answers ------------------------------------------------------------------------

# T1: Meijaard's formulas in 50 digits; a BLAS with kernels of its own shows in the eleventh
OPENBLAS_CORETYPE=Haswell "$NOSLIP" equilibria "$MODELS/bicycle.mech" --set kick=0 \
    --over v=6:6.1 --json >out 2>err
py "abs(d['tables']['special']['v'][0]/6.024262015388359 - 1) < 1e-13" \
    "T1 capsize speed"

for model in bicycle ball-on-ball two-rollers snakeboard-parts spherical-robot \
    sleigh-se2; do
    says 0 "T2 $model runs" "agrees to" "" -- run "$MODELS/$model.mech" --digits
    never "T2 $model: no false alarm" "right to three digits until"
done
says 0 "T2 erratic-disk: the true alarm" "right to three digits until 3[0-9]" "" -- \
    run "$MODELS/erratic-disk.mech" --digits

cat >cancels.mech <<'M'
param a = 0.3
state x' = -x
start { x = a*3 - 0.9 + 1e-10 }
run { until 1 }
M
says 0 "T3 quad keeps what cancels" "x  +1\.00000000000000000000" "" -- \
    run cancels.mech --precision quad --until 1e-30
says 0 "T4 digits know rounding of given numbers" "x .*\((5|6) digits\)" "" -- \
    run cancels.mech --digits
cat >inside.mech <<'M'
state x' = v, v' = -x
start { x = 1e-3; v = 0 }
observe y = 1 - cos(x)
run { until 1 }
M
says 0 "T4 and inside values" "y .*\((8|9) digits\)" "" -- run inside.mech --digits

printf "state x' = 1\nrun { until 1 }\n" >constant.mech
printf 'ground plane\nbody sphere(0.1) { mass 1; uniform }\nrun { until 1 }\n' >rest.mech
says 0 "T5 quad with constant rates" "x  +1$" "" -- run constant.mech --precision quad
says 0 "T5 quad of a ball at rest" "0 to 1 s" "" -- run rest.mech --precision quad

cat >guess.mech <<'M'
ground plane
body W disk(0.3) { mass 5; uniform }
constraint c: rolling(W)
start { W.quat = [cos(45 deg), sin(45 deg), 0, 0]; W.position' ~ [2, 0, 0] }
run { until 0.1 }
M
says 0 "T6 a guess is kept" "W\.x'  +2  " "" -- run guess.mech
sed 's/\[2, 0, 0\] }/[2, 0, 1] }/' guess.mech >guess2.mech
says 0 "T6 what is changed is said" "" "W\.z' from 1 to 0" -- run guess2.mech
says 0 "T7 check of a ball at rest" "momentum.x +constant" "" -- check rest.mech

for start in "contact ~ [0.1, 0, 0]" "contact [0.01, 0]" "contact ~ [0, 0, 0]"; do
    cat >chart.mech <<M
ground parametric([cos(u)*cos(v), sin(u)*cos(v), 1 + sin(v)]) { side inside }
body ellipsoid(0.1, 0.15, 0.2) { mass 1; uniform }
start { $start }
observe depth = 1 - sqrt(com.x^2 + com.y^2 + (com.z - 1)^2), push = force.normal
run { until 1e-9 }
M
    says 0 "T8 $start" "" "" -- run chart.mech --json --show depth,push
    py "all(d['values'][n][-1] > 0.09 for n in ('depth', 'push'))" \
        "T8 $start: inside"
done

cat >turns.mech <<'M'
ground plane { turn [0, 0, 1], 5*t }
body sphere(0.1) { mass 1; uniform }
observe a = ground.u', b = contact', c = com'', d = velocity'
run { until 1 }
M
says 0 "T9 rates on a moving ground" "" "" -- run turns.mech --show a,b,c,d
cat >void.mech <<'M'
coordinate x
lagrangian x'^2/2
observe r = atanh(1 + x')*x'
start { x = 1 }
M
says 0 "T10 a value without a meaning is called so" " r +undefined" "" -- equilibria void.mech
never "T10 without nan" "nan"
says 0 "T10 energy of what is driven" "" "" -- run "$MODELS/snakeboard.mech" --json
py "d['diagnostics']['energy_drift'] is None" "T10 has no drift"

cat >group.mech <<'M'
param R = 2
coordinate x, y, r
lagrangian (x'^2 + y'^2 + r'^2)/2 - r^2
symmetry { shape r; group R(2) }
start { x = 0; y = 0; r = 1 }
M
says 0 "T11 a parameter called R" "" "" -- check group.mech
cat >ball.mech <<'M'
body ball { mass 1; inertia diag(1, 1, 1) }
body tower { mass 1; inertia diag(1, 1, 1) }
constraint c: ball(ball, tower)
M
says 0 "T11 a body called ball" "" "" -- check ball.mech

"$NOSLIP" sweep oscillator.mech --over A=0.1:1:20000 --until 1000 --get x --out i.h5 \
    --report i.html >out 2>err &
child=$!
sleep 2
kill -INT $child
wait $child
grep -q '"status":"stopped"' i.html && pass "T12 an interrupted sweep says so" ||
    fail "T12 an interrupted sweep says so"

cat >pulse.mech <<'M'
coordinate x
lagrangian x'^2/2 - 2*x^2
force x = 10*exp(-((t-5)/0.1)^2)
run { until 10 }
M
true_x='math.sqrt(math.pi)/2*math.sin(10)*math.exp(-0.01)'
# x(10) = integral of sin(2 (10 - s))/2 F(s) ds = sqrt(pi)/2 sin(10) exp(-0.01)
for method in gauss dop853 taylor bdf auto; do
    says 0 "T13 a pulse, $method" "" "" -- run pulse.mech --json --method $method --tol 1e-10
    near "T13 a pulse, $method: right" x 1e-7 "$true_x"
done
cat >pulse50.mech <<'M'
state x' = v, v' = -x + exp(-((t-50)/.3)^2)/(.3*sqrt(pi))
run { until 100 }
M
says 0 "T13 a late pulse" "x +-0\.25653733781" "" -- run pulse50.mech --digits
cat >ms.mech <<'M'
state x' = v, v' = -x + 1000*exp(-((t-5)/0.001)^2)/sqrt(pi)
start { x = 1 }
run { until 10 }
M
# cos(10) + sin(5) exp(-(0.001)^2/4)
says 0 "T13 a pulse of 1 ms" "x +-1\.797995" "" -- run ms.mech --digits

cat >turns.mech <<'M'
coordinate th
lagrangian th'^2/2
start { th = 0.1; th' = 100 }
event rev: sin(th) rising
run { until 100 }
M
for method in gauss dop853; do
    says 0 "T14 events, $method" "" "" -- run turns.mech --json --method $method
    py "len(d['events']) == 1591" "T14 all of them, $method"
done
says 0 "T14 counted by a sweep" "" "" -- sweep turns.mech --over th=0.1:0.1:1 \
    --get 'count(rev)' --out turns.csv
grep -q '1591' turns.csv && pass "T14 all of them, sweep" ||
    fail "T14 all of them, sweep: $(tail -1 turns.csv)"
sed -i 's/rising/rising stop/' turns.mech
"$NOSLIP" run turns.mech --json >out 2>err
py "abs(d['t'][-1] - (2*math.pi - 0.1)/100) < 1e-14" "T14 the first stops"

cat >off.mech <<'M'
ground sphere(1)
body B sphere(0.1) { mass 1; uniform }
constraint c: rolling(B, ground)
start { B.position = [0.011, 0, sqrt(1.1^2 - 0.011^2)] }
run { until 5 }
M
says 0 "T15 a contact that pulls" "" "would lift off: its normal force is negative" -- \
    run off.mech
says 0 "T15 ball-on-ball" "" "would lift off.* -20\.8 N" -- run "$MODELS/ball-on-ball.mech"
printf 'ground height(1000*x^4)\nbody ellipsoid(.2,.03,.02) { mass 1; uniform }\n' >walls.mech
says 0 "T15 inside the walls" "" "into the ground at the start" -- run walls.mech --until 0.01

cat >wild.mech <<'M'
state x' = v, v' = -x
start { x = 1 }
invariant i = cos(1e9*x)
run { until 10 }
M
says 0 "T16 an invariant that is none" "" ".i. is not constant" -- run wild.mech
says 2 "T16 lyapunov --every 1e-300" "" "too short" -- lyapunov inside.mech --every 1e-300
for cpu in Haswell Nehalem; do
    OPENBLAS_CORETYPE=$cpu "$NOSLIP" run "$MODELS/bicycle.mech" --until 0.1 --json |
        grep -v seconds >bits.$cpu
done
cmp -s bits.Haswell bits.Nehalem && pass "T16 the same bits whatever the kernels" ||
    fail "T16 the same bits whatever the kernels"

# ---- H: runs that do not end -----------------------------------------------------------------

says 0 "H1 a disk near its flat position" "0 to 10 s" "" -- run "$MODELS/falling-disk.mech" \
    --set tilt0=0.1 --set rolling0=-2 --set turning0=-3 --until 10
says 1 "H2 a surface that is not crossed" "" "is not crossed" -- \
    section "$MODELS/regular-motion.mech" --on omega.x --periodic 1 --modulo
"$NOSLIP" invariants "$MODELS/bicycle.mech" --search linear >out 2>err &
child=$!
sleep 4
kill -TERM $child
for _ in $(seq 80); do # eight seconds, for a machine that is busy
    kill -0 $child 2>/dev/null || break
    sleep 0.1
done
kill -KILL $child 2>/dev/null
wait $child
[ $? = 1 ] && pass "H3 a signal in a long search" || fail "H3 a signal in a long search"
cat >pole.mech <<'M'
param A = 1, C = 2, g = 0
coordinate th, ph, ps
lagrangian A/2*(th'^2+ph'^2*sin(th)^2)+C/2*(ps'+ph'*cos(th))^2 - g*cos(th)
start { th = 1; th' = -1; ph' = 1e-4 }
run { until 5 }
M
says 0 "H4 through the pole of a chart" "0 to 5 s" "" -- run pole.mech
says 0 "H4 with gravity" "0 to 5 s" "" -- run pole.mech --set g=5
printf "param M_body = 2\ncoordinate x\nlagrangian M_body/2*x'^2 - x^2/2\nstart { x = 1 }\n" \
    >names.mech
# (the old code filled the memory; a build with sanitizers needs terabytes of addresses)
if (ulimit -v 2000000; "$NOSLIP" version >out 2>err); then
    (ulimit -v 2000000; timeout 60 "$NOSLIP" emit c names.mech >out 2>err)
    grep -q M_body out && pass "H5 emit c of names with M_" || fail "H5 emit c of names with M_"
fi
# little memory: 150 MB of addresses
if (ulimit -v 150000; "$NOSLIP" version >out 2>err); then
    (ulimit -v 150000; timeout 20 "$NOSLIP" check "$MODELS/suslov.mech" >out 2>err)
    [ $? = 0 ] && pass "H6 check in little memory" || fail "H6 check in little memory"
fi

# ---- F1, F5 ----------------------------------------------------------------------------------

printf 'ground plane\nbody sphere(foo) { mass 1; uniform }\n' >f1.mech
says 2 "F1 a typo" "" "f1.mech:2:13: error: undefined name .foo." -- check f1.mech
for change in 's/a = 1, /a = 1e300, /' 's/wa = 4/wa = 1e300/'; do
    sed "$change" "$MODELS/snakeboard.mech" >large.mech
    says 2 "F5 $change" "" "large.mech:.*not a finite number" -- check large.mech
    never "F5 without nan and inf" "(^|[ =-])(nan|inf)"
done
sed 's/J = 0.5/J = -4/' "$MODELS/chaplygin-sleigh.mech" >minus.mech
says 2 "F5 a moment of inertia of -4" "" "minus.mech:[0-9]+:[0-9]+: error" -- check minus.mech
never "F5 without nan" "nan"
printf "coordinate x\nlagrangian x'^2/2 - x^2\ninvariant a = x\nstart { x = 1; x' = 1 }\n" \
    >claim.mech
says 2 "F5 an invariant that is none has a place" "" \
    "claim.mech:3:11: error: .a. is not constant" -- check claim.mech
finish
