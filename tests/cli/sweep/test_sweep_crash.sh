#!/usr/bin/env bash
# Sweeps that are killed, and sweeps whose disk is full: the same command goes on, and the table
# equals that of a sweep nobody disturbed, row for row, bit for bit. ROUNDS is how often each
# kind of accident is tried (1; the full measure is ROUNDS=20), SEED makes the moments repeat.
#
#   rank      kill -9 of one process of `mpirun -np 3`, at a random moment
#   all       kill -9 of mpirun and all its processes
#   alone     kill -9 of a sweep of one process with two threads
#   disk      a tmpfs that somebody else fills at a random moment; without the right to mount:
#             a limit on the size of files
set -uo pipefail
. "$(dirname "$0")/../cli_lib.sh"
ROUNDS=${ROUNDS:-1}
RANDOM=${SEED:-7}
mounted=
clean() {
    [ -z "$mounted" ] || umount "$W/small" 2>/dev/null
    rm -rf "$W"
}
trap clean EXIT

MPIRUN=
if command -v mpirun >/dev/null && [ -e "$(dirname "$NOSLIP")/noslip-mpi.so" ]; then
    MPIRUN="mpirun --allow-run-as-root --oversubscribe --bind-to none -np 3"
else
    echo "skip MPI is not there: the accidents of several processes are left out"
fi
export OMPI_MCA_rmaps_base_oversubscribe=1 ASAN_OPTIONS=detect_leaks=0

# Rows of very different cost, some of which fail.
cat >"$W/top.mech" <<'MODEL'
title "Sleigh whose rows differ"
param m = 1, J = 1, a = 0.5, w = 1, u = 1
coordinate theta, x, y
let vx = x' - a*sin(theta)*theta', vy = y' + a*cos(theta)*theta'
lagrangian m/2*(vx^2 + vy^2) + J/2*theta'^2
constraint blade: y'*cos(theta) - x'*sin(theta) = 0
start { theta = 0; x = 0; y = 0; theta' = w; x' = u }
event far: x - 8 = 0 stop
run { until 20 }
MODEL
request=(sweep "$W/top.mech" --over "w=-8:8:${COLUMNS_:-60}" --over "a=0.01:3:${LINES_:-50}:log"
    --get x --get y --get "theta'" --get "energy_drift" --quiet)

# Tables are equal if all their numbers are, bit for bit, and all rows are there.
same() { # name, table
    if "$PYTHON" - "$W/whole.h5" "$2" <<'PY'; then pass "$1"; else fail "$1"; fi
import sys, h5py, numpy
a, b = (h5py.File(name, "r") for name in sys.argv[1:])
def arrays(f):
    out = {}
    f.visititems(lambda name, x: out.update({name: x[()]})
                if isinstance(x, h5py.Dataset) else None)
    return out
x, y = arrays(a), arrays(b)
bad = sorted(x.keys() ^ y.keys())
bad += [k for k in x if k in y and x[k].tobytes() != y[k].tobytes()]
if not (x["check"] != 0).all():
    bad.append("rows are missing")
if bad:
    print("     |", bad)
sys.exit(bool(bad))
PY
}

begin=$(date +%s%N)
"$NOSLIP" "${request[@]}" --out "$W/whole.h5" --threads 2 || fail "undisturbed"
took=$((($(date +%s%N) - begin) / 1000000)) # ms
echo "undisturbed: $took ms"

moment() { # somewhere in the sweep, sometimes in its first moments
    local ms=$((RANDOM % (took + 60)))
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
}

rows_there() {
    "$PYTHON" -c 'import sys, h5py; c = h5py.File(sys.argv[1], "r")["check"]
print(int((c[()] != 0).sum()), "of", len(c))' "$1" 2>/dev/null ||
        echo "no table"
}

# start COMMAND...: in the background; $job is its process
start() {
    "$@" >"$W/log" 2>&1 &
    job=$!
}

kill_rank() {
    local ranks
    mapfile -t ranks < <(pgrep -P "$job")
    [ ${#ranks[@]} -gt 0 ] && kill -9 "${ranks[RANDOM % ${#ranks[@]}]}" 2>/dev/null
}

kill_all() {
    local ranks
    mapfile -t ranks < <(pgrep -P "$job")
    kill -9 "$job" "${ranks[@]}" 2>/dev/null
}

accident() { # kind, number
    local table="$W/$1.h5" runner=() threads=1
    rm -f "$table"
    case $1 in rank | all) runner=($MPIRUN) ;; *) threads=2 ;; esac
    start "${runner[@]}" "$NOSLIP" "${request[@]}" --out "$table" --threads $threads
    moment
    case $1 in rank) kill_rank ;; all) kill_all ;; alone) kill -9 "$job" 2>/dev/null ;; esac
    # a launcher that is still starting may miss the end of its process, and wait for ever
    local tenths=0
    while [ $tenths -lt 600 ] && kill -0 "$job" 2>/dev/null; do
        sleep 0.1
        tenths=$((tenths + 1))
    done
    [ $tenths -lt 600 ] || kill_all
    wait "$job" 2>/dev/null
    local kept
    kept=$(rows_there "$table")
    # once more, in another way than before
    start "$NOSLIP" "${request[@]}" --out "$table" --threads 1 --lanes 2
    moment
    kill -9 "$job" 2>/dev/null
    wait "$job" 2>/dev/null
    kept="$kept, $(rows_there "$table")"
    "${runner[@]}" "$NOSLIP" "${request[@]}" --out "$table" --threads $threads >"$W/log" 2>&1 ||
        {
        fail "$1 $2: resume"
        sed 's/^/     | /' "$W/log" | head -5
        return
    }
    same "$1 $2 (kept $kept)" "$table"
}

kinds="alone"
[ -z "$MPIRUN" ] || kinds="rank all alone"
for kind in $kinds; do
    for ((i = 1; i <= ROUNDS; i++)); do accident "$kind" "$i"; done
done

# ---- a full disk -----------------------------------------------------------------------------

size=$(stat -c %s "$W/whole.h5")
mkdir "$W/small"
if mount -t tmpfs -o size=$((size + 400000)) none "$W/small" 2>/dev/null; then
    mounted=1
    for ((i = 1; i <= ROUNDS; i++)); do
        rm -f "$W"/small/*
        # room for half of it: refused or stopped, in words, never half a table that passes for
        # a whole
        head -c $((size / 2 + 400000)) /dev/zero >"$W/small/other"
        "$NOSLIP" "${request[@]}" --out "$W/small/t.h5" --threads 2 >"$W/log" 2>&1
        status=$?
        if [ $status = 3 ] && grep -q 'No space left' "$W/log"; then
            pass "disk $i: said"
        else
            fail "disk $i: status $status, $(head -c 200 "$W/log")"
        fi
        rm -f "$W/small/other"
        start "$NOSLIP" "${request[@]}" --out "$W/small/t.h5" --threads 2
        moment
        cat /dev/zero 2>/dev/null >"$W/small/other" # until it is full
        wait "$job"
        status=$?
        case $status in 0 | 3) ;; *) fail "disk $i: status $status" ;; esac
        rm -f "$W/small/other"
        "$NOSLIP" "${request[@]}" --out "$W/small/t.h5" --threads 2 >"$W/log" 2>&1 ||
            fail "disk $i: resume"
        same "disk $i (status $status when it became full)" "$W/small/t.h5"
    done
else
    echo "skip cannot mount a small tmpfs (needs root); a limit on the size of files instead"
fi
for ((i = 1; i <= ROUNDS; i++)); do
    rm -f "$W/limited.h5"
    (
        ulimit -f $(((size * (10 + RANDOM % 80) / 100) / 1024))
        "$NOSLIP" "${request[@]}" --out "$W/limited.h5" --threads 2
    ) >"$W/log" 2>&1
    status=$?
    if [ $status = 3 ]; then pass "limit $i: said"; else fail \
        "limit $i: status $status: $(head -c 200 "$W/log")"; fi
    "$NOSLIP" "${request[@]}" --out "$W/limited.h5" --threads 2 >"$W/log" 2>&1 ||
        fail "limit $i: resume"
    same "limit $i" "$W/limited.h5"
done
finish
