#!/usr/bin/env bash
# Figures of sweeps: what they show is what the table holds, and the command of a point repeats
# its row.
set -uo pipefail
. "$(dirname "$0")/../cli_lib.sh"

# Falls when the tilt passes 60 degrees: with negative `mu` it may never, with a large one there
# is no start.
cat >"$W/pole.mech" <<'MODEL'
title "Falling pole"
param mu = 1, s = 0.1
coordinate a
lagrangian a'^2/2 - mu*cos(a)
start { a = s*sqrt(4 - mu); a' = 0 }
event fall: a - 60 deg = 0 stop
run { until 10 }
MODEL

expect 0 "map" '12 of 12' '' -- sweep "$W/pole.mech" --over mu=-1:5:4 --over s=0.01:1:3:log \
    --get 'fall=event(fall),a' --method gauss \
    --out "$W/map.h5" --figure "$W/map.svg" --report "$W/map.html"
cat >"$W/look.py" <<'PY'
import base64, json, re, shlex, struct, subprocess, sys
import h5py, numpy
import xml.etree.ElementTree as xml
folder, noslip = sys.argv[1:]
html = open(folder + "/map.html").read()
tag = '<script type="application/json" id="noslip-data">'
data = json.loads(html[html.index(tag) + len(tag):].split("</script>")[0])
def numbers(s):
    assert s.startswith("f64:")
    raw = base64.b64decode(s[4:])
    return numpy.array(struct.unpack("<%dd" % (len(raw) // 8), raw))
table = h5py.File(folder + "/map.h5", "r")
panels = data["figures"][0]["panels"]
assert [p["field"]["label"] for p in panels] == ["fall", "a"]
for p in panels:
    f = p["field"]
    nx, ny = f["columns"], f["rows"]
    assert (nx, ny) == (4, 3)
    value, x, y = numbers(f["value"]), numbers(f["at_x"]), numbers(f["at_y"])
    assert (x == [-1, 1, 3, 5]).all() and p["y"]["log"] and y[0] == 0.01 and y[2] == 1
    assert f["x"] == [-2, 6]
    word = []
    for n, w in zip(f["word"][::2], f["word"][1::2]):
        word += [w] * n
    result = table["results/" + f["label"]][()]
    status, reason = table["status"][()], table["reason"][()]
    notes = dict(f.get("notes", []))
    for i in range(nx):
        for j in range(ny):
            row, cell = i * ny + j, j * nx + i
            assert x[i] == table["parameters/mu"][row] and y[j] == table["parameters/s"][row]
            if word[cell] == 0:
                assert value[cell] == result[row]
            elif f["words"][word[cell] - 1] == "failed":
                assert status[row] not in (0, 1) and notes[cell] == reason[row].decode(), cell
            else:
                assert f["words"][word[cell] - 1] == "does not happen"
                assert numpy.isnan(result[row]) and status[row] == 0
    words = [f["words"][w - 1] if w else "" for w in word]
    assert words.count("failed") == 3, words
    assert all(words[j * nx + 3] == "failed" for j in range(ny)), words
    assert words.count("does not happen") == (3 if f["label"] == "fall" else 0), words
# the command of a point repeats its row
field = panels[0]["field"]
x, y, value = numbers(field["at_x"]), numbers(field["at_y"]), numbers(field["value"])
command = panels[0]["command"].replace("{x}", repr(float(x[2])))
command = command.replace("{y}", repr(float(y[1])))
words = shlex.split(command)
assert words[:2] == ["noslip", "run"] and words[-2:] == ["--report", "motion.html"], words
out = json.loads(subprocess.run([noslip] + words[1:-2] + ["--json"], stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL).stdout)
fall = [e["t"] for e in out["events"] if e["name"] == "fall"][0]
assert abs(fall - value[1 * 4 + 2]) < 1e-13 * fall, (fall, value[6])  # lanes round otherwise
svg = xml.parse(folder + "/map.svg").getroot()
texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
for words in ("does not happen", "failed", "12 motions, 3 failed"):
    assert words in texts, texts
PY
"$PYTHON" "$W/look.py" "$W" "$NOSLIP" && pass "map: cells, words, notes, command" || fail "map"

expect 0 "curve" '' '' -- sweep "$W/pole.mech" --over mu=-1:5:7 --get 'fall=event(fall)' \
    --figure "$W/curve.svg" --quiet
grep -q '>failed<' "$W/curve.svg" && grep -q '>fall' "$W/curve.svg" &&
    pass "curve: failed rows apart" || fail "curve"
expect 0 "states" '' '' -- sweep "$W/pole.mech" --over a=0.1:0.5:3 --over "a'=0:1:2" \
    --get 'event(fall)' --report "$W/states.html" --quiet
grep -q -e "--start a={x} --start 'a.....=.\?{y}" "$W/states.html" && pass "states: --start" ||
    fail "states: $(grep -o 'noslip run.\{120\}' "$W/states.html")"
expect 0 "run --start" '' '' -- run "$W/pole.mech" --start a=0.3 --start "a'=1" --until 0.1 \
    --json
py 'abs(d["values"]["energy"][0] - (0.5 + math.cos(0.3))) < 1e-15' "run --start: energy"
expect 2 "run --start of nothing" '' "\`b\` is neither" -- run "$W/pole.mech" --start b=1
expect 2 "run --start without a value" '' 'expects NAME=EXPR' -- run "$W/pole.mech" --start b
expect 2 "three axes" '' 'one or two varied' -- sweep "$W/pole.mech" --over mu=1:2:2 \
    --over s=1:2:2 --over "a'=0:1:2" --figure "$W/x.svg"
expect 2 "samples" '' 'needs a grid' -- sweep "$W/pole.mech" --over mu=1:2:2 \
    --random "s=uniform(0, 1)" --count 2 --figure "$W/x.svg"
expect 2 "negative ratios" '' 'positive' -- sweep "$W/pole.mech" --over mu=-2:-1:3:log \
    --figure "$W/x.svg"
expect 2 "no svg" '' 'end in .svg' -- sweep "$W/pole.mech" --over mu=1:2:3 --figure "$W/x.png"
expect 2 "no folder" '' 'cannot write' -- sweep "$W/pole.mech" --over mu=1:2:3 \
    --figure "$W/none/x.svg"
[ ! -e "$W/x.svg" ] && pass "nothing written" || fail "something was written"
finish
