#!/usr/bin/env bash
# Long runs: files survive a kill and a full disk, signals end a run cleanly, checkpoints
# continue it, the progress bar appears on terminals only.
set -u
: "${NOSLIP:?path of the program}"
. "$(dirname "$0")/cli_lib.sh"
cd "$W" || exit 1
O=oscillator.mech
ENDLESS="--until 1e9 --every 1"

# All rows of a file are there, complete and right; prints their number and the status in it.
cat >look.py <<'P'
import csv, json, math, sys
path = sys.argv[1]
if path.endswith(".h5"):
    import h5py
    h = h5py.File(path, "r")
    t, x, status = list(h["t"][:]), list(h["values/x"][:]), h.attrs["status"]
    assert h.attrs["reason"] or status == "done"
elif path.endswith(".json"):
    j = json.load(open(path))
    t, x, status = j["t"], j["values"]["x"], j["status"]
else:
    text = open(path).read()
    assert text.endswith("\n"), "last line is cut"
    rows = [r for r in csv.reader(text.splitlines()) if not r[0].startswith("#")]
    assert all(len(r) == len(rows[0]) for r in rows)
    t, x, status = [float(r[0]) for r in rows[1:]], [float(r[1]) for r in rows[1:]], ""
assert len(t) == len(x) > 0
assert t == [float(i) for i in range(len(t))]
assert all(abs(math.cos(a) - b) < 1e-8 for a, b in zip(t, x))
print(len(t), status)
P

look() { # file, least number of rows, status, name
    local said
    said=$("$PYTHON" look.py "$1" 2>&1)
    set -- "$@" $said
    if [ "${5:-0}" -ge "$2" ] 2>/dev/null && [ "${6:-}" = "$3" ]; then
        pass "$4 ($5 rows)"
    else
        fail "$4: $said"
    fi
}

begin() { # runs in the background, waits until its files are there and it is well on its way
    "$NOSLIP" run $O $ENDLESS "$@" >out 2>err &
    pid=$!
    local file tries=0
    for file in "$@"; do
        case $file in
        --* | *.ckpt) ;;
        *) until [ -s "$file" ] || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done ;;
        esac
    done
    sleep 0.$((RANDOM % 10))
}

# ---- kill ------------------------------------------------------------------------------------

for i in 1 2; do
    rm -f k.*
    begin --out k.h5 --out k.csv --out k.json
    kill -9 $pid
    wait $pid 2>/dev/null
    look k.h5 100 stopped "HDF5 after kill -9"
    look k.csv 100 "" "CSV after kill -9"
    look k.json 100 stopped "JSON after kill -9"
done

# ---- signals ---------------------------------------------------------------------------------

for signal in INT TERM; do
    rm -f s.*
    begin --out s.h5 --out s.csv --checkpoint s.ckpt
    kill -$signal $pid
    wait $pid
    status=$?
    [ $status = 1 ] && grep -q "stopped: interrupted" err && grep -q "^At t = " out &&
        pass "SIG$signal: status 1 and a summary" ||
            fail "SIG$signal: status $status: $(cat err)"
    look s.h5 100 stopped "... HDF5 is complete"
    look s.csv 100 "" "... CSV is complete"
    ls s.*.part >/dev/null 2>&1 && fail "a temporary file is left" # those of the killed runs \
        above may be
done

# ---- checkpoints -----------------------------------------------------------------------------

rows=$(grep -vc '^#' s.csv)
expect 0 "resume" "" "" -- run $O --until $((rows + 500)) --every 1 --resume s.ckpt --out r.csv
expect 0 "undisturbed" "" "" -- run $O --until $((rows + 500)) --every 1 --out u.csv
cmp -s r.csv u.csv && pass "the same to the bit" || fail "a continued run differs"
expect 2 "resume with another parameter" "" "parameters" -- run $O $ENDLESS --resume s.ckpt \
    --set k=2
expect 2 "resume with another method" "" "method" -- run $O $ENDLESS --resume s.ckpt \
    --method dop853
expect 2 "resume with other output" "" "output" -- run $O --until 1e9 --every 2 --resume s.ckpt
expect 2 "resume beyond the end" "" "beyond the end" -- run $O --until 1 --every 1 \
    --resume s.ckpt
expect 2 "resume from nothing" "" "nosuch.ckpt" -- run $O --resume nosuch.ckpt
expect 2 "resume from a model" "" "not a checkpoint" -- run $O --resume $O
head -c 1000 s.ckpt >short.ckpt
expect 2 "resume from half a checkpoint" "" "damaged" -- run $O $ENDLESS --resume short.ckpt
expect 2 "unwritable checkpoint" "" "cannot write nosuch/c" -- run $O --checkpoint nosuch/c

# ---- full disk -------------------------------------------------------------------------------

full() { # folder, size in the name of the test
    for format in h5 csv json; do
        (
            [ "$1" = . ] && ulimit -f 2000
            exec "$NOSLIP" run $O --until 1e6 --every 1 --out "$1/f.$format"
        ) >out 2>err
        status=$?
        [ $status = 3 ] && grep -q "cannot write $1/f.$format" err && pass "$2: status 3" ||
            fail "$2, $format: status $status: $(cat err)"
        look "$1/f.$format" 1000 "$([ $format = csv ] || echo stopped)" \
            "$2: $format is readable"
        rm -f "$1"/f.*
    done
}
full . "limit on file size"
mkdir small
if mount -t tmpfs -o size=2m tmpfs small 2>/dev/null; then
    full small "full disk"
    echo 'the only result' >small/old.csv
    head -c 4000000 /dev/zero >small/ballast 2>/dev/null
    expect 3 "nothing fits" "" "No space left" -- run $O --every 0.001 --out small/old.csv
    [ "$(cat small/old.csv)" = 'the only result' ] && pass "... the old file is kept" ||
        fail "the old file was lost"
    umount small
else
    echo "skip a full disk (tmpfs cannot be mounted)"
fi

# ---- memory ----------------------------------------------------------------------------------

limited() { (ulimit -v 80000 && exec timeout -s KILL 200 "$NOSLIP" "$@"); } # seconds: should \
    it hang
if limited version >/dev/null 2>&1; then
    limited run $O --until 1e9 --every 1 --method dop853 --tol 1e-6 --json >out 2>err
    status=$?
    [ $status = 3 ] && grep -q "out of memory" err && pass "out of memory: status 3" ||
        fail "out of memory: status $status: $(cat err)"
    limited check "${MODELS:-$(dirname "$0")/../../models}/suslov.mech" >out 2>err &&
        pass "a little memory is enough" ||
        fail "little memory: status $?: $(cat err)"
else
    echo "skip out of memory (this build needs more address space)"
fi

# ---- terminal --------------------------------------------------------------------------------

cat >terminal.py <<'P'
# Runs a command on a pseudo terminal; prints all that came, then the exit status.
import os, pty, signal, sys, threading
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
timer = threading.Timer(float(sys.argv[1]), os.kill, (pid, signal.SIGINT))
timer.start()
data = b""
try:
    while True:
        block = os.read(fd, 4096)
        if not block:
            break
        data += block
except OSError:
    pass
timer.cancel()
sys.stdout.buffer.write(data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
export TERM=xterm
"$PYTHON" terminal.py 2 "$NOSLIP" run $O --until 1e9 >out
[ $? = 1 ] && grep -q ' % .*t = .* of 1e+09, .* left' out && pass "progress bar" ||
    fail "progress bar: $(tail -3 out)"
tr '\r' '\n' <out | grep -A1 'left' | tail -1 | grep -q '^.\[K' &&
    pass "... cleared at the end" ||
    fail "progress bar is not cleared"
grep -q $'\033\[1m' out && pass "... headings in bold" || fail "no bold on a terminal"
NO_COLOR=1 "$PYTHON" terminal.py 20 "$NOSLIP" run $O >out
grep -q $'\033' out && fail "NO_COLOR is ignored" || pass "NO_COLOR"
TERM=dumb "$PYTHON" terminal.py 2 "$NOSLIP" run $O --until 1e9 >out
grep -q $'\033' out && fail "escapes on a dumb terminal" || pass "dumb terminal"
"$PYTHON" terminal.py 2 "$NOSLIP" run $O --until 1e9 --quiet >out
grep -q 'left' out && fail "progress in spite of --quiet" || pass "no progress with --quiet"
grep -q 'stopped' out && pass "... but the early end is said" || fail "early end is not said"

finish
