#!/usr/bin/env bash
# Sweeps on the command line: the table, its refusals, signals, kills, and what does not change
# it. Needs NOSLIP (the program), MODELS, TESTS (the folder of all tests) and PYTHON (with
# h5py).
set -u
: "${NOSLIP:?path of the program}"
. "$(dirname "$0")/../cli_lib.sh"
cd "$W" || exit 1
R=$MODELS/rattleback.mech
S=$MODELS/chaplygin-sleigh.mech

same() { # NAME A B: files equal to the byte
    if cmp -s "$2" "$3"; then pass "$1"; else fail "$1: $2 and $3 differ"; fi
}

check() { # NAME EXPRESSION, with h5py, numpy and csv
    if "$PYTHON" -c "
import sys, csv, math, h5py, numpy as np
def rows(f): return list(csv.DictReader(open(f)))
sys.exit(0 if ($2) else 1)" 2>"$W/err"; then pass "$1"; else
        fail "$1: $2"
        tail -3 "$W/err"
    fi
}

# ---- what is wrong ---------------------------------------------------------------------------

expect 2 "nothing to vary" "" "nothing to vary" -- sweep "$S"
expect 2 "unknown name" "" "did you mean \`theta0\`" -- sweep "$S" --over thata0=0:1:3
expect 2 "grid without a number" "" "LOW:HIGH:N" -- sweep "$S" --over m=1:2
expect 2 "grid of none" "" "whole number of values" -- sweep "$S" --over m=1:2:0
expect 2 "ratios over zero" "" "same sign" -- sweep "$S" --over m=0:2:3:log
expect 2 "varied twice" "" "varied twice" -- sweep "$S" --over m=1:2:2 --over m=1:2:3
expect 2 "no count" "" "needs --count" -- sweep "$S" --random "m=uniform(1,2)"
expect 2 "no such distribution" "" "uniform.*normal" -- sweep "$S" --random "m=cauchy(1,2)" \
    --count 3
expect 2 "count alone" "" "goes with --random" -- sweep "$S" --over m=1:2:2 --count 3
expect 2 "no such event" "" "no event \`fall\`; it has halt" -- sweep "$S" --over m=1:2:2 \
    --get "event(fall)"
expect 2 "no such value" "" "--get" -- sweep "$S" --over m=1:2:2 --get zz
expect 2 "time outside" "" "time from 0 to 10" -- sweep "$S" --over m=1:2:2 --get x@11
expect 2 "asked twice" "" "twice" -- sweep "$S" --over m=1:2:2 --get x,x
expect 2 "lanes" "" "1, 2, 4 or 8" -- sweep "$S" --over m=1:2:2 --lanes 3
expect 2 "kind of file" "" "must end in .h5 or .csv" -- sweep "$S" --over m=1:2:2 --out x.txt
expect 2 "no such method" "" "did you mean \`gauss\`" -- sweep "$S" --over m=1:2:2 --method gaus
expect 2 "start property" "" "give it a parameter" -- sweep "$R" --over roll=0:1:2
printf 'state x'"'"' = k*x\nparam k = 1, T = 2*k\nstart { x = 1 }\nrun { until T }\n' >grow.mech
expect 2 "end depends on it" "" "give --until" -- sweep grow.mech --over k=1:2:3
expect 0 "end given" "" "" -- sweep grow.mech --over k=0:2:5 --until 1 --out grow.csv
check "closed form" \
    "all(abs(float(r['x']) - math.exp(float(r['k']))) < 2e-13*float(r['x'])
        for r in rows('grow.csv'))"
expect 0 "start" "" "" -- sweep grow.mech --over start.x=1:2:3 --until 1 --out start.csv
check "its column" \
    "[float(r['x'])/float(r['start.x'])/math.e for r in rows('start.csv')] and
        all(abs(float(r['x'])/float(r['start.x']) - math.e) < 1e-13 for r in rows('start.csv'))"
[ -e start.csv.part.h5 ] && fail "the work file of a CSV is left"

# ---- rows and runs ---------------------------------------------------------------------------

expect 0 "grid" "rows      6 of 6" "" -- sweep "$S" --over m=1:2:3 --over omega0=0.1:0.5:2 \
    --get x,y,v@2 --until 3 --method gauss --alone --out g.csv
expect 0 "grid in lanes" "rows      6 of 6" "" -- sweep "$S" --over m=1:2:3 \
    --over omega0=0.1:0.5:2 --get x,y,v@2 --until 3 --out l.csv
expect 0 "grid in lanes of gauss" "rows      6 of 6" "" -- sweep "$S" --over m=1:2:3 \
    --over omega0=0.1:0.5:2 --get x,y,v@2 --until 3 --method gauss --out lg.csv
check "gauss in lanes, the same to round-off" \
    "all(abs(float(a[k]) - float(b[k])) < 1e-14
        for a, b in zip(rows('g.csv'), rows('lg.csv')) for k in a if k != 'reason')"
expect 2 "alone in lanes" "" "--alone" -- sweep "$S" --over m=1:2:3 --until 3 --alone --lanes 4
check "the same to round-off" \
    "all(abs(float(a[k]) - float(b[k])) < 1e-13
        for a, b in zip(rows('g.csv'), rows('l.csv')) for k in a if k != 'reason')"
i=0
for m in 1 1.5 2; do
    for o in 0.1 0.5; do
        i=$((i + 1))
        expect 0 "run $m $o" "" "" -- run "$S" --set m=$m --set omega0=$o --until 3 --json
        cp out run.json
        check "row $i as its run" \
            "(lambda r, d: float(r['x']) == d['x'][-1] and
                float(r['y']) == d['y'][-1])
                (rows('g.csv')[$i - 1], __import__('json').load(open('run.json'))['values'])"
    done
done
printf 'm,start.omega.z\n# a comment\n1,-5\n 2 ,4\n"3",-1\n' >from.csv
expect 0 "from CSV" "" "" -- sweep "$R" --from from.csv --until 0.1 --out f1.h5
check "its rows" "list(h5py.File('f1.h5')['parameters/start.omega.z']) == [-5, 4, -1]"
expect 0 "from HDF5" "" "" -- sweep "$R" --from f1.h5 --until 0.1 --out f2.h5
check "the same results" \
    "all(np.array_equal(h5py.File('f1.h5')['results'][k][:],
        h5py.File('f2.h5')['results'][k][:])
        for k in h5py.File('f1.h5')['results'])"
printf 'm\n1\nx\n' >bad.csv
expect 2 "no number in CSV" "" "bad.csv:3: \`x\` in column m" -- sweep "$R" --from bad.csv
printf 'm\n1,2\n' >bad.csv
expect 2 "too many numbers" "" "bad.csv:2: expected 1" -- sweep "$R" --from bad.csv

# ---- threads, lanes, engines: the same bytes -------------------------------------------------

A="--random a=uniform(-0.02,0.25) --random omega.z=normal(-3,2) --sobol --count 60 --until 0.4"
G="omega.z,min(omega.z),event(reversal),energy_drift,happened(liftoff)"
expect 0 "table" "no start: size" "" -- sweep "$R" $A --get "$G" --out a.h5 --threads 1 \
    --lanes 1
n=0
for more in "--threads 2" "--lanes 2" "--threads 2 --lanes 8" \
    "--threads 3 --engine interpreter" "--engine native --lanes 4"; do
    n=$((n + 1))
    expect 0 "with $more" "" "" -- sweep "$R" $A --get "$G" --out "b$n.h5" --quiet $more
    same "the same bytes with $more" a.h5 "b$n.h5"
done
check "rows that fail" \
    "(lambda f: all((f['status'][i] == -1) == (f['parameters/a'][i] <= 0) ==
        np.isnan(f['results/omega.z'][i]) == (f['reason'][i] != b'')
        for i in range(60)))(h5py.File('a.h5'))"
check "some do" "0 < sum(h5py.File('a.h5')['status'][:] != 0) < 60"
expect 0 "again" "60 of 60, 60 of them from before" "" -- sweep "$R" $A --get "$G" --out a.h5
expect 2 "another plan" "" "another plan" -- sweep "$R" $A --seed 2 --get "$G" --out a.h5
expect 2 "other quantities" "" "other quantities" -- sweep "$R" $A --get "$G,steps" --out a.h5
expect 2 "another model" "" "another model" -- sweep "$MODELS/rattleback-p1c.mech" $A \
    --get "omega.z" --out a.h5
expect 2 "other values" "" "other values of --set" -- sweep "$R" $A --get "$G" --out a.h5 \
    --set m=2
expect 2 "another time" "" "another method, tolerance or time" -- sweep "$R" $A --get "$G" \
    --out a.h5 --tol 1e-9
expect 2 "another least size" "" "another method, tolerance or time" -- sweep "$R" $A \
    --get "$G" --out a.h5 --least 1
expect 2 "negative least size" "" "must not be negative: -1" -- sweep "$R" $A --get "$G" \
    --least -1
same "refusals change nothing" a.h5 b1.h5
echo nonsense >n.h5
expect 2 "no table" "" "not the table of a sweep" -- sweep "$R" $A --out n.h5
check "refused file is as it was" "open('n.h5').read() == 'nonsense\n'"

# ---- signals and kills -----------------------------------------------------------------------

# as many rows as take about a second here, with or without sanitizers
begin=$(date +%s%N)
"$NOSLIP" sweep "$R" --over a=0.15:0.25:200 --until 1 --get "omega.z,max(com.z)" \
    --engine interpreter --quiet >o 2>e
rows=$((200 * 1000000000 / ($(date +%s%N) - begin)))
rows=$((rows < 200 ? 200 : rows > 4000 ? 4000 : rows))
B="--over a=0.15:0.25:$rows --until 1 --get omega.z,max(com.z) --engine interpreter"
expect 0 "undisturbed" "" "" -- sweep "$R" $B --out whole.h5 --quiet
kills=0
for way in INT TERM KILL KILL KILL; do
    rm -f cut.h5
    rounds=0
    while :; do
        rounds=$((rounds + 1))
        "$NOSLIP" sweep "$R" $B --out cut.h5 --quiet >o 2>e &
        pid=$!
        if [ $rounds = 1 ]; then # signals are heeded from before the table is made
            for _ in {1..200}; do
                [ -e cut.h5 ] && break
                sleep 0.05
            done
        fi
        if [ $rounds -lt 4 ]; then
            sleep 0.1$((RANDOM % 9))
            kill -$way $pid 2>/dev/null && kills=$((kills + 1))
        fi
        wait $pid 2>/dev/null
        got=$?
        [ $got = 0 ] && break
        if [ $way != KILL ] && [ $rounds = 1 ] &&
            [ $got != 1 ]; then fail "$way: exit status $got"; fi
        if [ $way != KILL ] && [ $rounds = 1 ] &&
            ! grep -q "the same command continues" e; then fail "$way: $(cat e)"; fi
        [ -e cut.h5 ] && ! "$PYTHON" -c "import h5py; h5py.File('cut.h5')['status'][:]" &&
            fail "$way: the file cannot be read"
        [ $rounds -gt 9 ] && break
    done
    same "stopped by $way, continued" whole.h5 cut.h5
done
[ $kills -gt 2 ] || fail "nothing was killed"

# a row that did not get to the disk is computed again
cp whole.h5 torn.h5
"$PYTHON" -c "
import h5py
f = h5py.File('torn.h5', 'r+')
f['results/omega.z'][7] = 0
f['check'][11] = 0
f['parameters/a'][13:17] = 0"
expect 0 "torn rows" "computed  6" "" -- sweep "$R" $B --out torn.h5
check "are mended" \
    "all(np.array_equal(h5py.File('torn.h5')[k][:], h5py.File('whole.h5')[k][:])
        for k in ['results/omega.z', 'check', 'parameters/a'])"

# ---- space -----------------------------------------------------------------------------------

if [ "$(id -u)" = 0 ] || [ -w /dev/shm ]; then
    (ulimit -f 2000; "$NOSLIP" sweep "$R" --over a=0.1:0.2:1e6 --get omega.z \
        --out big.h5 >o 2>e)
    got=$?
    [ $got = 3 ] && grep -q "cannot write big.h5" e && pass "no room for the table" ||
        fail "no room for the table: $got $(cat e)"
    [ -e big.h5 ] && fail "a table without room is left"
fi
finish
