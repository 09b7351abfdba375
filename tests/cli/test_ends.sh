#!/usr/bin/env bash
# Everything ends: limits, searches that find nothing, signals, a compiler that hangs.
set -u
. "$(dirname "$0")/cli_lib.sh"
cd "$W" || exit 1

cat >stuck.mech <<'END'
param K = 0.1
let w = 1 + K/(1 - t)^2
state u' = w*v
state v' = -w*u
start { u = 1 }
run { until 10 }
END
cat >swing.mech <<'END'
coordinate q
lagrangian q'^2/2 + 9.81*cos(q)
start { q = 0.5 }
run { until 5 }
END

# ---- no progress, limits ---------------------------------------------------------------------

expect 1 "a run that is stuck" "ended early" "no progress near t = 0.9999.*fastest there" \
    -- run stuck.mech
expect 0 "a row that is stuck" "ended     1 as asked for, 3 early" "" -- \
    sweep stuck.mech --over K=0:0.3:4 --get u --out stuck.csv
[ "$(grep -c ",3,no progress" stuck.csv)" = 3 ] && pass "is a row like any other" ||
    fail "is a row like any other: $(cat stuck.csv)"
expect 1 "--max-steps" "10 steps" "the limit of 10 steps was reached at t = .*fastest there" \
    -- run swing.mech --max-steps 10
expect 0 "--max-steps of rows" "0 as asked for, 3 early" "" -- \
    sweep swing.mech --over q=0.1:0.3:3 --until 1e3 --get q --max-steps 100 --out rows.csv
expect 2 "--max-steps 0" "" "must be positive" -- run swing.mech --max-steps 0
expect 1 "--max-seconds" "ended early" "the limit of time was reached at t" -- run swing.mech \
    --until 1e9 --max-seconds 0.5
expect 2 "--max-seconds -1" "" "must be positive" -- run swing.mech --max-seconds -1
expect 1 "--max-seconds of a study" "" "the limit of time|interrupted" -- lyapunov swing.mech \
    --until 1e9 --max-seconds 0.5
expect 1 "--max-seconds of a sweep" "rows      [0-9]+ of 100000" "continues" -- \
    sweep swing.mech --over q=0.1:0.3:1e5 --until 1e4 --get q --max-seconds 0.5 --out some.h5 \
        --report some.html
grep -q '"status":"stopped"' some.html && grep -q "motions are not computed yet" some.html &&
    pass "its page says so" || fail "its page says so"

# ---- searches --------------------------------------------------------------------------------

expect 1 "a surface that is not crossed" "" "the surface is not crossed: followed to t = " -- \
    section swing.mech --on "q - 2" --periodic 1
expect 1 "nor by a section" "0 crossings" "the surface is not crossed: followed to t = " \
    -- section swing.mech --on "q - 2"
expect 2 "lyapunov --every 1e-300" "" "too short" -- lyapunov swing.mech --every 1e-300

# ---- emit c ----------------------------------------------------------------------------------

cat >names.mech <<'END'
param M_body = 2, M_ = 1
coordinate x
lagrangian M_body/2*x'^2 - M_*x^2/2
start { x = 1 }
END
expect 0 "names that begin with M_" "const double value_M_body = p" "" -- emit c names.mech
"$PYTHON" -c "
print('state x\' = ' + ' + '.join('cos(%d*x)' % k for k in range(1, 100000)))
print('start { x = 1 }')" >long.mech
# Every walk over an expression has a stack of its own: 100,000 terms pass with 512 kB of the
# system's.
long() {
    local name=$1 words=$2
    shift 2
    (ulimit -s 512; exec "$NOSLIP" "$@") >o 2>e && grep -q "$words" o &&
        pass "a long sum: $name" || fail "a long sum: $name: $(head -3 e)"
}
long "emit c" "cos(99999.0\*x" emit c long.mech
long "check" "long.mech" check long.mech
long "equations" "cos(99999\*x)" equations long.mech
long "LaTeX" "cos.*99999" equations long.mech --latex
for how in "--engine native" "--method taylor"; do
    long "run $how" "steps" run long.mech $how --until 1e-9
done

# ---- signals ---------------------------------------------------------------------------------

# stops NAME SECONDS WORDS arguments...: SIGTERM after so long; it must end with status 1
stops() {
    local name=$1 seconds=$2 words=$3
    shift 3
    "$NOSLIP" "$@" >o 2>e &
    local child=$!
    sleep "$seconds"
    kill -TERM $child
    for _ in $(seq 100); do # ten seconds, for a machine that is busy
        kill -0 $child 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL $child 2>/dev/null
    wait $child
    local got=$?
    [ $got = 1 ] && grep -q "$words" e && pass "$name" ||
        fail "$name: status $got: $(tail -2 e)"
}
stops "a signal in a run" 0.5 "interrupted at t" run swing.mech --until 1e9
stops "a signal in a search" 8 "interrupted" invariants bicycle
# the model is open by then, on a busy machine and under sanitizers too
stops "a signal in a study" 8 "interrupted" lyapunov bicycle --until 1e6
printf '#!/bin/sh\nexec sleep 60\n' >hangs
chmod +x hangs
export XDG_CACHE_HOME=$W/cache NOSLIP_CC=$W/hangs NOSLIP_NATIVE=c
stops "a signal while a compiler hangs" 0.5 "interrupted at t = 0" \
    run swing.mech --engine native --until 1e9
finish
