#!/usr/bin/env bash
# The commands of the studies: exit status, messages, files.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# expect STATUS WORDS COMMAND...: the exit status, and that the output (both streams) contains
# the words
expect()
{
    local status=$1 words=$2
    shift 2
    local output
    output=$("$NOSLIP" "$@" 2>&1)
    local got=$?
    if [ $got -ne "$status" ] || ! grep -qF -- "$words" <<<"$output"; then
        echo "FAILED: noslip $*"
        echo "  status $got, expected $status with: $words"
        head -20 <<<"$output"
        failed=1
    fi
}

cat >wheel.mech <<'END'
param rate = 3, turning = 0
ground plane
body disk(0.2) { mass 1; uniform }
start { tilt 90 deg; omega [0, turning, rate] }
END
cat >swing.mech <<'END'
param l = 1
coordinate q
lagrangian l^2*q'^2/2 + 9.81*l*cos(q)
start { q = 0.5 }
run { until 5 }
END
cat >two.mech <<'END'
coordinate x, y
lagrangian (x'^2 + y'^2)/2 - x^2/2 - y^2
start { x = 1 }
END

expect 0 "8 on the manifold: 4 along symmetries, 2 along neighbouring steady motions, \
2 that decide" \
    equilibria wheel.mech
expect 0 "rate = 4.0435133238311" equilibria wheel.mech --over rate=2:8
expect 0 "asymptotically" equilibria - <<<"state x' = -x"
expect 0 "unstable: deviations grow by e in 0.319275 s" equilibria swing.mech --from q=3
expect 0 "error.omega   0 " equilibria "$MODELS/chaplygin-sleigh.mech" --set omega0=0
expect 0 "deviations grow by e in 1.28125 s" equilibria "$MODELS/chaplygin-sleigh.mech" \
    --set omega0=0 # K^2/(a v)
expect 0 "bad       undefined" equilibria - \
    <<<"state value' = -value; observe bad = sqrt(value - 1)"
expect 2 "did you mean \`rate\`" equilibria wheel.mech --over rat=2:8
expect 2 "expects NAME=LOW:HIGH" equilibria wheel.mech --over rate=2
expect 2 "is not a state" equilibria swing.mech --from p=3
expect 2 "time enters the equations" equilibria - <<<"state x' = -x + sin(t)"
expect 1 "no steady motion" equilibria - <<<"state x' = 1 + x^2"
expect 2 "must end in .csv, .json, .h5 or .svg" equilibria wheel.mech --out a.txt

expect 0 "none in this family except the energy" invariants swing.mech --search polynomial
expect 0 "margin between found and not found" invariants two.mech --out family.csv \
    --out family.svg --out family.h5
grep -q "^\"\?integral" family.csv && grep -q "<svg" family.svg ||
    { echo "FAILED: files of invariants"; failed=1; }
expect 0 "1 new" invariants two.mech --basis "x'^2 + x^2"
expect 2 "lower --degree" invariants two.mech --degree 12,12
expect 2 "--degree expects" invariants two.mech --degree 2,x
expect 2 "undefined name \`z\`" invariants two.mech --shape z
expect 2 "is not for --search polynomial" invariants two.mech --search polynomial --along x
expect 2 "with the NAME of --along" invariants two.mech --search linear --along x --region y=0:1
expect 0 "functions of" invariants two.mech --search linear

expect 0 "largest diff." compare swing.mech swing.mech --within 0
expect 1 "differ by more" compare swing.mech swing.mech --set-b l=1.01 --within 1e-3
expect 2 "no values of the same name" compare swing.mech - <<<"state x' = 1"
expect 0 "q=x" compare swing.mech - --match q=x --until 1 <<<"state x' = 1"

expect 0 "period" section swing.mech --on q --periodic 1 --from q=0,"q'=1"
expect 0 "1 start, 7 crossings" section swing.mech --on q=0.1 --crossings 7
expect 0 "3 starts, 6 crossings" section two.mech --on x --grid y=0.1:0.3:3 --energy 0.5 \
    --crossings 2
expect 0 "3 starts, 6 crossings" section two.mech --on x --grid y=0.1:0.3:3 --energy 0.5 \
    --crossings 2 --method dop853
expect 2 "unknown method \`euler\`" section swing.mech --on q --method euler
# in lanes, whatever the threads: the same crossings to the bit, and those of gauss
for threads in 1 2; do
    "$NOSLIP" section two.mech --on x --grid y=0.1:0.4:11 --energy 0.5 --crossings 20 \
        --method dop853 \
        --threads $threads --out lanes$threads.csv --quiet || failed=1
done
cmp lanes1.csv lanes2.csv || failed=1
"$NOSLIP" section two.mech --on x --grid y=0.1:0.4:11 --energy 0.5 --crossings 20 \
    --out gauss.csv --quiet || failed=1
"$PYTHON" - <<'P' || failed=1
def rows(name):
    return [[float(v) for v in line.split(',')] for line in open(name) if line[0] not in '#s']
a, b = rows('lanes1.csv'), rows('gauss.csv')
assert len(a) == len(b) == 220, (len(a), len(b))
assert max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)) < 1e-9
P
expect 0 "no measure with a smooth positive density" measure suslov --out measure.csv \
    --out measure.svg
[ "$(grep -vc '^#' measure.csv)" -gt 20 ] || failed=1
expect 2 "no start is left" section swing.mech --on q --grid "q'=1:3:3" --energy -5 \
    --crossings 2
expect 2 "--on EXPR says where" section swing.mech
expect 2 "rising, falling or both" section swing.mech --on q --direction up

expect 0 "Kaplan-Yorke" lyapunov swing.mech --until 20
expect 2 "use --until" lyapunov wheel.mech

expect 0 "centre" portrait swing.mech
expect 2 "no two states" portrait wheel.mech
expect 2 "two different states" portrait swing.mech --plane "q',q'"

"$NOSLIP" equilibria wheel.mech --over rate=2:8 --out b.csv --out b.json --out b.h5 \
    --out b.svg --quiet || failed=1
"$NOSLIP" portrait swing.mech --out p.svg --quiet || failed=1
"$NOSLIP" section swing.mech --on q --crossings 9 --json >s.json || failed=1
"$PYTHON" - <<'END' || failed=1
import csv, json
import xml.dom.minidom as dom
b = json.load(open("b.json"))
assert b["study"] == "equilibria" and b["tables"]["special"]["label"] == ["double zero"], \
    b["tables"]["special"]
rows = [r for r in csv.reader(l for l in open("b.csv") if not l.startswith("#"))]
assert len(rows) - 1 == len(b["tables"]["branch"]["rate"])
assert [float(r[0]) for r in rows[1:]] == b["tables"]["branch"]["rate"]
assert open("b.h5", "rb").read(8) == b"\x89HDF\r\n\x1a\n"
dom.parse("b.svg"); dom.parse("p.svg")
s = json.load(open("s.json"))["tables"]["section"]
assert len(s["t"]) == 9 and max(abs(q) for q in s["q"]) < 1e-12 and min(s["q'"]) > 0
END
# one page with everything; nothing of it can end the element that holds the data
expect 0 "(report: open it in a browser)" lyapunov swing.mech --until 3 --report page.html
expect 2 "given twice" lyapunov swing.mech --until 3 --out x.svg --report x.svg
expect 2 "cannot write" lyapunov swing.mech --until 3 --report no/such/folder.html
for words in '"study":"lyapunov"' '"results":[{"name":"status","text":"done"}' \
    '"tables":[{"name":"exponents","rows":2,' \
    '"figures":[{"title":"running Lyapunov exponents"' '"levels":[{"at":0}]' \
        '"command":"noslip lyapunov swing.mech'; do
    grep -qF -- "$words" page.html || { echo "FAILED: page.html lacks $words"; failed=1; }
done

# long motions from one period and powers of its shift: the same rows as direct integration
cat >drift.mech <<'END'
coordinate x, y
lagrangian (x'^2 + y'^2)/2 - x^2/2 + x'*y'/2
start { x = 1; x' = 0.3; y' = 0.7 }
run { until 800 }
END
expect 0 "147 times; built from one of them" run drift.mech --periodic --every 7 --out built.csv
expect 0 "" run drift.mech --every 7 --out direct.csv --quiet
paste -d, built.csv direct.csv | awk -F, \
    '/^[0-9]/ { n++; for (i = 1; i <= 5; i++) {
        d = $i - $(i + NF/2); if (d < 0) d = -d; if (d > most) most = d } }
    END { if (n != 115 || most > 1e-10) { print "FAILED: built rows differ by " most " in " n;
          exit 1 } }' || failed=1
expect 0 '"period": 5.44139' run drift.mech --periodic --json
sed "s|start.*|start { x = 1; y = 0.3 }|" two.mech >both.mech
expect 2 "is not periodic" run both.mech --periodic --until 50
expect 2 "has no report" run drift.mech --periodic --report p.html
expect 2 "exclude each other" run drift.mech --periodic --digits
expect 0 "y: move 4.625" period drift.mech --until 50 --out drift.svg --out drift.json
expect 1 "not left in place" section wheel.mech --on contact.x --periodic 1 --modulo --until 20

cat >fall.mech <<'M'
ground plane
body cylinder(0.1, 0.3) { mass 1; uniform }
start { tilt 40 deg; omega [0.3, 0.2, 1] }
event passing: omega.y = 0 stop
run { until 3 }
M
for method in gauss dop853; do
    expect 1 "the cylinder falls on its side" section fall.mech --on omega.x --crossings 2 \
        --method $method
done
expect 1 "the cylinder falls on its side" lyapunov fall.mech

exit $failed
