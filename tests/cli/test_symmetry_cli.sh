#!/usr/bin/env bash
# noslip invariants, noslip period, noslip check and noslip equations on models with a symmetry.
set -u
: "${NOSLIP:?path of the program}" "${MODELS:?folder of the models}" "${PYTHON:=python3}"
W=$(mktemp -d) || exit 1
trap 'rm -rf "$W"' EXIT
cd "$W" || exit 1
failed=0
# expect STATUS TEXT COMMAND...: the exit status, and a text in what it says
expect() {
    local status=$1 text=$2
    shift 2
    "$@" >out.txt 2>&1
    local got=$?
    if [ $got -ne "$status" ] || ! grep -qF -- "$text" out.txt; then
        echo "FAILED (status $got, expected $status and \"$text\"): $*"
        sed 's/^/    /' out.txt | head -20
        failed=1
    fi
}

expect 0 "2 integrals linear in the momenta p1 .. p2, with fields that depend on the shape" \
    "$NOSLIP" invariants "$MODELS/falling-disk.mech" --until 5
expect 0 "2 integrals linear in the momenta p1 .. p2, with fields that depend on theta" \
    "$NOSLIP" invariants "$MODELS/chaplygin-sleigh.mech" --base theta=0
expect 0 "0 integrals linear in the momenta" \
    "$NOSLIP" invariants "$MODELS/sleigh-oscillator-momentum.mech" --until 5
expect 2 "momentum integrals need a \`symmetry\` block" "$NOSLIP" invariants \
    "$MODELS/kepler.mech" --search momentum
expect 2 "that is not a group coordinate" \
    "$NOSLIP" invariants "$MODELS/falling-disk.mech" --along theta
expect 2 "the rate of x depends on theta" \
    "$NOSLIP" invariants "$MODELS/chaplygin-sleigh.mech" --along x
expect 2 "expected NAME=LOW:HIGH" \
    "$NOSLIP" invariants "$MODELS/chaplygin-sleigh.mech" --along theta --region theta=1
expect 2 "\`thta\` is not a coordinate" \
    "$NOSLIP" invariants "$MODELS/falling-disk.mech" --base thta=0
expect 0 "--base phi=1 was not needed" \
    "$NOSLIP" invariants "$MODELS/falling-disk.mech" --base phi=1 --until 2
expect 2 "there is no search \`guess\`" \
    "$NOSLIP" invariants "$MODELS/falling-disk.mech" --search guess

"$NOSLIP" invariants "$MODELS/falling-disk.mech" --until 5 --base theta=0 \
    --region theta=-1.2:1.2 --points 25 --json >disk.json || failed=1
"$PYTHON" - <<'P' || failed=1
import json, math
d = json.load(open("disk.json"))
assert d["found"] == d["momenta"] == 2
eta = d["tables"]["eta"]
worst = max(abs(w - math.cos(t)) for w, t in zip(eta["W"], eta["theta"]))
assert len(eta["W"]) == 25 and worst < 1e-13, worst
assert abs(d["low"] - d["run_low"]) < 1e-10 and abs(d["high"] - d["run_high"]) < 1e-10
assert d["least"] > -1e-12 and max(d["tables"]["integrals"]["drift"]) < 1e-13
P

"$NOSLIP" invariants "$MODELS/falling-disk.mech" --until 2 --out eta.csv --out eta.svg \
    --quiet && grep -q "^theta,eta1.1,eta1.2,eta2.1,eta2.2,W,W_law" eta.csv &&
    grep -q "</svg>" eta.svg || { echo "no files"; failed=1; }

expect 0 "family of dimension 2" "$NOSLIP" period "$MODELS/sleigh-oscillator-momentum.mech"
expect 1 "no period" "$NOSLIP" period "$MODELS/chaplygin-sleigh.mech"
expect 0 "Motion up to symmetries" "$NOSLIP" period "$MODELS/kepler.mech"
expect 0 "period" "$NOSLIP" period "$MODELS/sleigh-oscillator-frame.mech" --until 20 \
    --plot tracks.svg --also p10=0.5,p20=0.1
grep -q "</svg>" tracks.svg || { echo "no picture"; failed=1; }
expect 3 "nowhere/tracks.svg" "$NOSLIP" period "$MODELS/sleigh-oscillator-frame.mech" \
    --until 20 \
    --plot nowhere/tracks.svg

expect 0 "t -> -t, r -> -r: holds" "$NOSLIP" check "$MODELS/sleigh-oscillator-momentum.mech"
expect 0 "reversible" "$NOSLIP" check "$MODELS/falling-disk.mech"
sed 's/r = -r; p2 = -p2/r = -r/' "$MODELS/sleigh-oscillator-momentum.mech" >bad.mech
expect 2 "the map r -> -r is not a symmetry of the equations" "$NOSLIP" check bad.mech
sed 's/lagrangian /lagrangian 0.001*x + /' \
    "$MODELS/sleigh-oscillator-momentum.mech" >bad.mech
expect 2 "the Lagrangian is not invariant" "$NOSLIP" run bad.mech
expect 0 "Nonholonomic connection (Def 4.2)" \
    "$NOSLIP" equations "$MODELS/sleigh-oscillator-momentum.mech"
expect 0 "Momentum equation: tau" "$NOSLIP" equations --latex "$MODELS/falling-disk.mech"
exit $failed
