#!/usr/bin/env bash
# Reports in a real browser: models of every kind of scene, and a hostile one. viewer/check.mjs
# looks at each page (console, requests, play, dragging the time, poses, contact, final values).
# KEEP=folder keeps reports and pictures.
set -uo pipefail
VIEWER=$TESTS/../viewer
failed=0
fail() {
    echo "FAIL $*"
    failed=1
}
chromium=${CHROMIUM:-/usr/bin/chromium}
if ! command -v node >/dev/null || [ ! -x "$chromium" ]; then
    echo "FAIL needs node and chromium: scripts/setup --browser installs them"
    exit 1
fi
"$TESTS/../scripts/build-page" --packages || exit 1
work=${KEEP:-$(mktemp -d)}
mkdir -p "$work"
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT

# chart on a plane, implicit bowl, graph, wire, moving plane, disk in a sphere, torus, can,
# hoop, implicit body, pipe, planar, several bodies, particles with rods, quasivelocities, no
# picture at all, a contact law with its modes
reports=()
for name in rattleback ball-in-bowl ball-on-egg-box ball-on-wire turntable disk-in-sphere \
    torus can hoop \
    egg ball-in-cylinder chaplygin-sleigh four-bar double-pendulum-particles roller-racer \
    harmonic-oscillator-first-order bowling-ball; do
    until=3
    if ! "$NOSLIP" run "$MODELS/$name.mech" --until $until --quiet \
        --report "$work/$name.html"; then
        fail "$name: no report"
        continue
    fi
    reports+=("$work/$name.html")
done

# Names and texts that would be markup if anybody let them.
hostile="$work/x\"><img src=q onerror=injected=1>.mech"
cat >"$hostile" <<'MODEL'
# </script><script>window.injected = 1</script> <img src=x onerror="injected=1">
# &lt;b&gt; ]]> <!--
title "</script><script>injected = 1</script><img src=y onerror=injected=1> <b>&amp;"
ground plane
body sphere(0.1) { mass 1; uniform }
start { omega [1, 2, 3] }
observe angle = omega.x    # "quotes' \ and --> more
run { until 1 }
MODEL
"$NOSLIP" run "$hostile" --quiet --report "$work/hostile.html" || fail "hostile: no report"
[ "$(grep -c '<script' "$work/hostile.html")" = "$(grep -c '<script' "$work/hoop.html")" ] ||
    fail "hostile: more scripts than others"
reports+=("$work/hostile.html")

# Studies: results, tables and figures with hover and zoom.
study() {
    local name=$1
    shift
    if "$NOSLIP" "$@" --quiet --report "$work/$name.html"; then
        reports+=("$work/$name.html")
    else
        fail "$name: no report"
    fi
}
study study-branch equilibria "$MODELS/bicycle.mech" --set kick=0 --over v=4:6.5
study study-section section "$MODELS/rattleback-attractor.mech" --on s.x \
    --plot omega.z,omega.y --crossings 200 --tol 1e-9
study study-hostile lyapunov "$hostile" --until 20
study study-map sweep "$MODELS/coin.mech" --over v=0.1:0.4:7 --over m=0.005:0.01:4 \
    --get 'end,fall=reversal(com.z - a/2)' --until 1
study study-curve sweep "$MODELS/coin.mech" --over v=0.1:0.4:7 --get 'com.x' --until 1

# A run that stops early, with warnings, still has its page.
cat >"$work/stopped.mech" <<'MODEL'
title "Ball that leaves"
ground sphere(1) { liftoff stop }
body sphere(0.2) { mass 1; uniform }
start { omega [0, 1, 0] }
run { until 10 }
MODEL
"$NOSLIP" run "$work/stopped.mech" --quiet --report "$work/stopped.html" 2>"$work/stopped.txt"
[ $? = 1 ] || fail "stopped: status"
grep -q '"status":"stopped"' "$work/stopped.html" || fail "stopped: the page does not say so"
reports+=("$work/stopped.html")

# No address of any host, and not too large.
for report in "${reports[@]}"; do
    grep -qE '(https?|wss?|ftp)://' "$report" && fail "$(basename "$report"): an address"
done
"$NOSLIP" run "$MODELS/rattleback.mech" --quiet --report "$work/whole.html" ||
    fail "rattleback: no report"
[ "$(stat -c %s "$work/whole.html")" -lt 3000000 ] || fail "20 s of rattleback: 3 MB or more"

shots=()
[ -z "${KEEP-}" ] || shots=(--shots "$work/shots")
# One page of each kind is looked at for accessibility too.
plain=()
audited=()
for report in "${reports[@]}"; do
    case $(basename "$report" .html) in
    rattleback | chaplygin-sleigh | four-bar | bowling-ball | stopped | study-branch | \
        study-section | study-hostile | study-map) audited+=("$report") ;;
    *) plain+=("$report") ;;
    esac
done
(cd "$VIEWER" && node check.mjs "${shots[@]}" "${plain[@]}") || failed=1
(cd "$VIEWER" && node check.mjs --audit "${shots[@]}" "${audited[@]}") || failed=1
exit $failed
