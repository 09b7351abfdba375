#!/usr/bin/env bash
# Sweeps in shards: joined they are the table of the whole, the same file bit for bit.
set -uo pipefail
. "$(dirname "$0")/../cli_lib.sh"
request=(sweep "$MODELS/chaplygin-sleigh.mech" --over a=0.1:2:7 --random "m=uniform(0.5, 3)"
    --count 5 --get "x,y,energy_drift"
    --until 2)
"$NOSLIP" "${request[@]}" --out "$W/whole.h5" --quiet || fail "whole"
for k in 1 2 3 4; do
    expect 0 "shard $k" "rows +(8|9) of (8|9)" '' -- "${request[@]}" --shard $k/4 \
        --out "$W/part-$k.h5"
done
expect 0 "join" 'rows +35 of 35' '' -- "${request[@]}" --join "$W/part-*.h5" --out "$W/all.h5"
cmp -s "$W/whole.h5" "$W/all.h5" && pass "joined: the same file" || fail "joined: another file"
# a part that is missing: said, and computed by the same command without --join
rm "$W/part-2.h5"
expect 0 "three of four" 'rows +26 of 35' 'the same command continues' -- "${request[@]}" \
    --join "$W/part-1.h5" --join "$W/part-[34].h5" --out "$W/some.h5"
expect 0 "the rest" 'computed +9 ' '' -- "${request[@]}" --out "$W/some.h5"
cmp -s "$W/whole.h5" "$W/some.h5" && pass "completed: the same file" ||
    fail "completed: another file"
# parts of another sweep, files that are none, words that are none
expect 2 "another sweep" '' 'another' -- "${request[@]}" --tol 1e-9 --join "$W/part-1.h5" \
    --out "$W/y.h5"
expect 2 "another shard" '' 'another shard' -- "${request[@]}" --shard 2/4 --out "$W/part-1.h5"
expect 2 "no table" '' 'not a table of a sweep' -- "${request[@]}" --join "$MODELS/coin.mech" \
    --out "$W/z.h5"
expect 2 "no file" '' 'no such file' -- "${request[@]}" --join "$W/none-*.h5" --out "$W/z.h5"
expect 2 "no whole" '' 'needs --out' -- "${request[@]}" --join "$W/part-1.h5"
expect 2 "no figure of a shard" '' 'join the shards' -- sweep "$MODELS/coin.mech" \
    --over v=0.2:0.4:8 --shard 1/2 --figure "$W/s.svg"
for word in 0/4 5/4 1 1/ /4 1/0 a/b 1/4x; do
    expect 2 "--shard $word" '' 'expects K/N' -- "${request[@]}" --shard $word
done
expect 2 "too many shards" '' 'only 35 rows' -- "${request[@]}" --shard 1/36
finish
