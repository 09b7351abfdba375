#!/usr/bin/env bash
# Sweeps under mpirun: the table is the same file, bit for bit, whatever the ranks, threads and
# lanes; wrong requests are said once; a rank that wants something else is found out; a signal
# keeps what there is.
set -uo pipefail
. "$(dirname "$0")/../cli_lib.sh"
export ASAN_OPTIONS=detect_leaks=0
if ! command -v mpirun >/dev/null || [ ! -e "$(dirname "$NOSLIP")/noslip-mpi.so" ]; then
    echo "skip MPI is not there (scripts/setup installs it)"
    exit 0
fi
mpi=(mpirun --allow-run-as-root --oversubscribe --bind-to none)

same() { # name, file, file
    if cmp -s "$2" "$3"; then pass "$1"; else fail "$1: the tables differ"; fi
}

# Motions of different kinds: with events, with constraints, with rows that fail.
sleigh=(sweep "$MODELS/chaplygin-sleigh.mech" --over a=0.1:2:20 --random "m=uniform(0.5, 3)"
    --count 10
    --get "x,y,max(x),x@2.5,energy_drift,steps" --until 5 --quiet)
stone=(sweep "$MODELS/rattleback-turned.mech" --over spin=-6:6:8 --over delta=-0.03:0.03:3
    --get "reversal=event(reversal),n=count(reversal),omega.z,min(force.normal)" --until 1 \
        --quiet)
for model in sleigh stone; do
    declare -n request=$model
    "$NOSLIP" "${request[@]}" --out "$W/$model.h5" --threads 1 --lanes 1 || fail "$model"
    for lanes in 1 2 8; do
        "${mpi[@]}" -np 4 "$NOSLIP" "${request[@]}" --out "$W/$model-4-$lanes.h5" --threads 1 \
            --lanes $lanes ||
            fail "$model: 4 ranks, $lanes lanes"
        same "$model: 4 ranks, $lanes lanes" "$W/$model.h5" "$W/$model-4-$lanes.h5"
    done
    "${mpi[@]}" -np 2 "$NOSLIP" "${request[@]}" --out "$W/$model-2.h5" --threads 2 ||
        fail "$model: 2 ranks"
    same "$model: 2 ranks of 2 threads" "$W/$model.h5" "$W/$model-2.h5"
done

# A table that is complete: nothing to do, nobody waits.
"${mpi[@]}" -np 3 "$NOSLIP" "${sleigh[@]}" --out "$W/sleigh.h5" || fail "complete table"

# What is wrong is said by one.
"${mpi[@]}" -np 3 "$NOSLIP" sweep "$MODELS/chaplygin-sleigh.mech" \
    --over a=0.1:2 >"$W/out" 2>"$W/err"
[ $? = 2 ] && [ "$(grep -c 'noslip: error' "$W/err")" = 1 ] && pass "usage" ||
    fail "usage: $(cat "$W/err")"

# A rank with another request.
"${mpi[@]}" -np 1 "$NOSLIP" "${sleigh[@]}" --out "$W/x.h5" : -np 1 "$NOSLIP" "${stone[@]}" \
    --out "$W/y.h5" >"$W/out" 2>"$W/err"
[ $? = 3 ] && grep -q 'rank 1: .*another' "$W/err" && pass "stranger" ||
    fail "stranger: $(cat "$W/err")"
# A rank whose model is not there.
"${mpi[@]}" -np 1 "$NOSLIP" "${sleigh[@]}" --out "$W/z.h5" : -np 1 "$NOSLIP" sweep \
    "$W/none.mech" --over a=1:2:3 >"$W/out" 2>"$W/err"
[ $? = 3 ] && grep -q 'rank 1: .*none.mech' "$W/err" && pass "model missing on one machine" ||
    fail "model missing: $(cat "$W/err")"

# Without the module the message says what to do.
cp "$NOSLIP" "$W/alone"
"${mpi[@]}" -np 2 "$W/alone" "${sleigh[@]}" >"$W/out" 2>"$W/err"
[ $? = 3 ] && grep -q 'several processes were started (2), but the MPI module .*noslip-mpi.so' \
    "$W/err" && pass "no module" || fail "no module: $(cat "$W/err")"
# One process does not need it.
"${mpi[@]}" -np 1 "$W/alone" "${sleigh[@]}" --out "$W/alone.h5" &&
    same "one rank without the module" "$W/sleigh.h5" "$W/alone.h5"

# A signal to mpirun: stop, keep, go on.
long=(sweep "$MODELS/chaplygin-sleigh.mech" --over a=0.1:2:1000 --over m=0.5:3:1000 --get x
    --quiet)
"${mpi[@]}" -np 3 "$NOSLIP" "${long[@]}" --out "$W/long.h5" --threads 1 >"$W/out" 2>"$W/err" &
job=$!
for ((i = 0; i < 100; i++)); do
    [ -s "$W/long.h5" ] && break
    sleep 0.1
done
sleep 1
kill -TERM $job
wait $job
status=$?
kept=$("$PYTHON" -c 'import sys, h5py
print(int((h5py.File(sys.argv[1], "r")["check"][()] != 0).sum()))' "$W/long.h5")
if [ $status != 0 ] && [ "$kept" -gt 0 ] && grep -q 'the same command continues' "$W/err"; then
    pass "stopped by a signal (status $status, $kept rows kept)"
else
    fail "signal: status $status, $kept rows: $(cat "$W/err")"
fi

# A rank that hangs: the job ends and says which, instead of waiting for ever.
NOSLIP_SILENCE=5 "${mpi[@]}" -np 3 "$NOSLIP" "${long[@]}" --out "$W/hung.h5" --threads 1 \
    >"$W/out" 2>"$W/err" &
job=$!
for ((i = 0; i < 100; i++)); do
    [ -s "$W/hung.h5" ] && break
    sleep 0.1
done
mapfile -t ranks < <(pgrep -P "$job")
kill -STOP "${ranks[2]}"
for ((i = 0; i < 600; i++)); do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
done
kill -9 "$job" 2>/dev/null && fail "a rank that hangs: the job does not end"
kill -9 "${ranks[@]}" 2>/dev/null
wait "$job"
grep -Eq 'rank [12]: no word from it for [0-9]+ s' "$W/err" && pass "a rank that hangs" ||
    fail "a rank that hangs: $(cat "$W/err")"

# One that comes late is waited for.
"${mpi[@]}" -np 1 "$NOSLIP" "${sleigh[@]}" --out "$W/late.h5" : \
    -np 1 sh -c 'sleep 2; exec "$@"' sh "$NOSLIP" "${sleigh[@]}" --out "$W/late.h5" \
    >"$W/out" 2>"$W/err" && same "a rank that comes late" "$W/sleigh.h5" "$W/late.h5" ||
    fail "a rank that comes late: $(cat "$W/err")"

# Launchers of another make: MPICH's, which this module does not know; srun without MPI.
PMI_SIZE=4 PMI_RANK=1 "$NOSLIP" "${sleigh[@]}" --out "$W/pmi.h5" >"$W/out" 2>"$W/err"
[ $? = 3 ] && grep -q 'the launcher is not that of the MPI' "$W/err" && [ ! -e "$W/pmi.h5" ] &&
    pass "a launcher of another make" || fail "another launcher: $(cat "$W/err")"
SLURM_STEP_NUM_TASKS=4 "$NOSLIP" "${sleigh[@]}" --out "$W/srun.h5" >"$W/out" 2>"$W/err"
[ $? = 3 ] && grep -q 'do not know each other: srun --mpi=pmix' "$W/err" &&
    pass "srun without MPI" || fail "srun without MPI: $(cat "$W/err")"
SLURM_STEP_NUM_TASKS=4 "$NOSLIP" "${sleigh[@]}" --shard 1/4 --out "$W/s1.h5" >"$W/out" \
    2>"$W/err" && pass "... with shards" || fail "... with shards: $(cat "$W/err")"
finish
