#!/usr/bin/env bash
# A ball rolled to any place and orientation (Jachnik 2011, 6.1; Hammersley 1983: three straight
# rolls suffice): `noslip plan` writes the inputs, `noslip run` follows them to the goal.
set -uo pipefail
: "${NOSLIP:?path of the program}" "${PYTHON:?Python 3}"
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
cd "$W" || exit 1
cat > ball.mech <<'M'
param r = 1
input u = 0, v = 0
state x' = u, y' = v
state qw' = (v*qx - u*qy)/(2*r), qx' = (-v*qw + u*qz)/(2*r),
      qy' = (u*qw + v*qz)/(2*r), qz' = (-v*qy - u*qx)/(2*r)
start { x = 0; y = 0; qw = 1; qx = 0; qy = 0; qz = 0 }
run { until 3 }
M
failed=0
# place, and the components of the quaternion that are given (the largest follows)
for goal in x=1,y=0.5,qx=0.3,qy=-0.4,qz=0.5 x=0,y=0,qw=0,qx=0,qy=0 \
        x=0,y=0,qx=0,qy=0,qz=0.479425538604203 x=-3,y=2,qw=0.1,qx=0.2,qy=-0.3; do
    for how in "--pieces 3 --order 0" "--pieces 16"; do
        order=$([[ $how == *0 ]] && echo 0 || echo 3)
        # shellcheck disable=SC2086 # words
        if ! "$NOSLIP" plan ball.mech --to $goal $how --quiet --out p.csv; then
            echo "no plan: $goal, $how"
            failed=1
            continue
        fi
        "$NOSLIP" run ball.mech --set "u=from \"p.csv\" order $order" \
            --set "v=from \"p.csv\" order $order" --json > r.json
        "$PYTHON" - $goal <<'P' || { echo "missed: $goal, $how"; failed=1; }
import json, sys
values = json.load(open("r.json"))["values"]
goal = dict(part.split("=") for part in sys.argv[1].split(","))
end = {name: value[-1] for name, value in values.items()}
off = max(abs(end[name] - float(value)) for name, value in goal.items())
length = abs(sum(end[c] ** 2 for c in ("qw", "qx", "qy", "qz")) - 1)
print(f"{sys.argv[1]}: off by {off:.1e}, length by {length:.1e}")
sys.exit(not (off < 1e-10 and length < 1e-12))
P
    done
done
exit $failed
