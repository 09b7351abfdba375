#!/usr/bin/env bash
# The command line of `noslip measure`, and what `noslip equations` prints of frames and
# algebras.
set -u
: "${NOSLIP:?path of the program}"
. "$(dirname "$0")/cli_lib.sh"

expect 0 "Suslov, generic: no measure" "no measure with a smooth positive density" "" -- \
    measure suslov
expect 0 "Suslov, generic: residual" \
    "residual *\(-0.09090909091, 0.3636363636, -0.2727272727\)" "" -- \
    measure suslov
expect 0 "Suslov, principal axis" "Theorem 5.3 *the covectors are eigenvectors" "" -- \
    measure suslov-axis
expect 0 "sleigh on se(2)" "residual *\(0, -0.9756097561, 0\)" "" -- measure sleigh-se2
expect 0 "balanced sleigh on se(2)" "the volume in the velocities is invariant" "" -- \
    measure sleigh-se2 --set a=0
expect 0 "density of a coordinate" "d log\(rho\)/d theta *= -0.2027" "" -- \
    measure falling-disk-frame --until 1
expect 0 "a large system" "not looked for in a system this large" "" \
    -- measure five-rollers-curve --until 0.1
expect 0 "given density" "given density *invariant" "" -- \
    measure veselova --density "sqrt(g.31^2/A + g.32^2/B + g.33^2/C)" --until 5
expect 0 "wrong density" "NOT invariant" "" -- measure veselova --density "1 + g.31^2" --until 5
expect 0 "--json" '"preserved": false' "" -- measure suslov --json
py 'abs(d["algebra"]["residual"][1] - 4/11) < 1e-14 and d["algebra"]["gamma"] == [0] and
    d["vanishes"] is False and d["given"] is None and d["density"] == {}' "--json: content"
expect 0 "--json, density" "theta" "" -- measure falling-disk-frame --until 1 --json
py 'abs(d["density"]["theta"] + math.tan(0.2)) < 1e-14' "--json: density"
expect 0 "density in closed form" "rho = sqrt\(" "" -- measure chaplygin-ball --until 1
expect 0 "density of chosen variables" "Density rho of g.31, g.32, g.33" "" -- \
    measure veselova --on g.31,g.32,g.33 --degree 2 --until 1
expect 0 "no density" "no density of these variables" "" -- measure chaplygin-sleigh --until 1
expect 0 "--json, search" '"closed": true' "" -- measure chaplygin-ball --until 1 --json
py 'd["search"]["exists"] is True and d["search"]["margin"] > 1e8 and
    d["search"]["rho"].startswith("sqrt(")' \
    "--json: search"
expect 2 "--degree out of range" "" "expects a number from 1 to 8" -- \
    measure chaplygin-ball --on s.x --degree 9
expect 2 "density of unknown names" "" "undefined name \`rho\`" -- \
    measure veselova --density rho
expect 2 "density that is a vector" "" "expects a number" -- measure veselova --density "[1, 2]"
expect 2 "no such model" "" "no-such-model" -- measure no-such-model
expect 0 "brackets in closed form" "c\[1,2,1\] = -k\*cos\(k\*theta\)/K" "" -- \
    equations sleigh-conserved-frame
expect 0 "constrained Hamel equations" "p1' = -m\*a\*v1\*v2" "" -- equations sleigh-frame
expect 0 "equations of an algebra" "p1' = v2\*v3\*\(B - C\)" "" -- equations euler-top

finish
