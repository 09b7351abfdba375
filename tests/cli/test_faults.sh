#!/usr/bin/env bash
# Files under attack: two writers, names given twice, what killed processes leave, code of
# another model in the cache, tables and checkpoints that were damaged or forged.
set -u
. "$(dirname "$0")/cli_lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
cd "$W" || exit 1
O=oscillator.mech

# ---- one file for two things ----------------------------------------------------------------

cp $O model.csv
ln -s model.csv link.csv
cp $O kept.csv
expect 2 "an output over the model" "" "would overwrite \`model.csv\`" -- \
    run model.csv --every 1 --out link.csv
cmp -s model.csv kept.csv && pass "... which is still there" || fail "the model was overwritten"
expect 2 "an output over the checkpoint" "" "given twice" -- run $O --every 1 --out a.csv \
    --checkpoint ./a.csv
expect 2 "a page over a table" "" "given twice" -- run $O --out a.csv --report "$PWD/a.csv"
expect 0 "a checkpoint" "" "" -- run $O --until 3 --every 1 --checkpoint c.ckpt
expect 2 "an output over what is continued" "" "would overwrite the file of --resume" -- \
    run $O --until 5 --every 1 --resume c.ckpt --out c.ckpt
expect 0 "a checkpoint may follow itself" "" "" -- run $O --until 5 --every 1 --resume c.ckpt \
    --checkpoint c.ckpt

# ---- what cannot be continued to the bit is not ---------------------------------------------

for method in bdf adams; do
    expect 2 "no checkpoints of $method" "" "no checkpoint holds" -- run $O --method $method \
        --checkpoint m.ckpt
done
cat >stiff.mech <<'M'
coordinate x
lagrangian x'^2/2 - 1e8*x^2/2
force x = -1e6*x'
start { x = 1; x' = 0 }
run { until 200 }
M
expect 0 "auto with a checkpoint" "" "" -- run stiff.mech --method auto --tol 1e-6 \
    --checkpoint auto.ckpt
expect 0 "... continues with the same method" "" "" -- run stiff.mech --method auto --tol 1e-6 \
    --until 201 --resume auto.ckpt

# ---- tables of inputs are part of what is continued -----------------------------------------

cat >pushed.mech <<'M'
coordinate x
input push from "push.csv"
lagrangian x'^2/2 - x^2/2
force x = push
start { x = 1; x' = 0 }
run { until 5 }
M
printf 't,push\n0,1\n10,2\n' >push.csv
expect 0 "a run with a table" "" "" -- run pushed.mech --checkpoint p.ckpt
printf 't,push\n0,1\n10,3\n' >push.csv
expect 2 "another table" "" "with other inputs" -- run pushed.mech --until 6 --resume p.ckpt

# ---- two sweeps on one table ----------------------------------------------------------------

lost=0
for i in 1 2 3; do
    rm -f two.h5
    for k in 1 2; do
        "$NOSLIP" sweep $O --over k=1:9:3000 --get x --out two.h5 --quiet >out.$k 2>err.$k &
        eval "pid$k=\$!"
    done
    wait $pid1; one=$?
    wait $pid2; two=$?
    # one writes; the other is told so, or came later and found all rows
    case $one$two in
    00) "$NOSLIP" sweep $O --over k=1:9:3000 --get x --out two.h5 |
        grep -q "3000 of them from" || lost=$((lost + 1)) ;;
    02) grep -q "another process is writing" err.2 || lost=$((lost + 1)) ;;
    20) grep -q "another process is writing" err.1 || lost=$((lost + 1)) ;;
    *) lost=$((lost + 1)) ;;
    esac
done
[ $lost = 0 ] && pass "two sweeps on one table" ||
    fail "two sweeps on one table: $lost of 3: $one $two $(cat err.1 err.2)"

# ---- what killed processes leave ------------------------------------------------------------

"$NOSLIP" run $O --until 1e9 --every 1 --out k.csv >out 2>err &
pid=$!
until ls k.csv.*.part >/dev/null 2>&1; do sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
touch k.csv.12345678-999999999-0.part # of another machine
if ls k.csv.*-$pid-*.part >/dev/null 2>&1; then
    expect 0 "the next run" "" "" -- run $O --every 1 --out k.csv
    ls k.csv.*-$pid-*.part >/dev/null 2>&1 && fail "a temporary file is left for good" ||
        pass "... removes what a killed one left"
    [ -e k.csv.12345678-999999999-0.part ] && pass "... and nothing of other machines" ||
        fail "a file of another machine was removed"
else
    fail "temporary files have another name: $(ls k.csv*)"
fi

# ---- a disk that is full --------------------------------------------------------------------

(
    ulimit -f 5
    exec "$NOSLIP" run $O --every 0.001 --out big.svg
) >out 2>err
status=$?
if [ $status = 3 ] && ! [ -e big.svg ] && ! grep -q "holds" err && ! grep -q "big.svg" out; then
    pass "a picture that does not fit: no file, and no word of one"
else
    fail "a picture that does not fit: status $status: $(cat err) $(grep svg out)"
fi

# ---- code of another model in the cache -----------------------------------------------------

if command -v cc >/dev/null; then
    export XDG_CACHE_HOME=$W/cache NOSLIP_NATIVE=c
    sed 's|k/2|k|' $O >other.mech
    value() { "$NOSLIP" run "$1" --engine native --json --every 5 |
        sed -E 's/"(seconds|model)": [^,}]*//g; s/"name".*//' | md5sum; }
    right=$(value $O)
    first=$(ls cache/noslip/*.so)
    value other.mech >/dev/null
    second=$(ls cache/noslip/*.so | grep -v "$first")
    if [ -n "$second" ]; then
        cp "$second" "$first"
        [ "$(value $O)" = "$right" ] && pass "code of another model is not taken" ||
            fail "code of another model was taken from the cache"
    else
        fail "the cache has no two files: $(ls cache/noslip)"
    fi
    unset NOSLIP_NATIVE
fi

# ---- lies -----------------------------------------------------------------------------------

if "$PYTHON" "$HERE/../torture/files.py" "$NOSLIP" --count "${COUNT:-60}" \
    --seconds "${SECONDS_EACH:-15}" >said 2>&1; then
    pass "$(tr '\n' ';' <said)"
else
    fail "$(cat said)"
fi
if "$PYTHON" "$HERE/../torture/models.py" "$NOSLIP" --count "${COUNT:-12}" \
    --seconds "${SECONDS_EACH:-15}" >said 2>&1; then
    pass "$(tr '\n' ';' <said)"
else
    fail "$(cat said)"
fi
# an HDF5 file of anybody that is none
head -c 3000 /dev/urandom >noise.h5
printf '\211HDF\r\n\032\n' | dd of=noise.h5 conv=notrunc 2>/dev/null
expect 2 "values from a file that is none" "" "cannot read noise.h5" -- sweep $O \
    --from noise.h5 --get x

# ---- texts that are not quite ----------------------------------------------------------------

printf '\357\273\277k\r\n1\r\n2\r\n' >windows.csv
expect 0 "rows with a byte order mark" "^k,x," "" -- sweep $O --from windows.csv --get x
printf 'k\n1\n\0002\n3\n' >zero.csv
expect 2 "rows after a zero byte are not left out in silence" "" "is not a CSV file" -- \
    sweep $O --from zero.csv --get x
printf '\357\273\277t,push\r\n0,1\r\n10,2\r\n' >push.csv
expect 0 "a table with a byte order mark" "" "" -- run pushed.mech
(printf '\357\273\277' && cat $O) >mark.mech
expect 0 "a model with a byte order mark" "" "" -- check mark.mech
sed 's/$/\r/' $O >windows.mech
expect 0 "a model with the line ends of Windows" "" "" -- check windows.mech
iconv -t UTF-16 $O >wide.mech
expect 2 "a model in UTF-16" "" "this is not text" -- check wide.mech
for k in $(seq 2000); do echo "param unused$k = $k"; done | cat - $O >unused.mech
expect 0 "notes without end" "" "further notes are not shown" -- check unused.mech

# ---- outputs that are no files ---------------------------------------------------------------

mkdir folder.csv
expect 2 "an output that is a folder" "" "Is a directory" -- run $O --every 1 --out folder.csv
ln -s /dev/full full.csv
expect 3 "an output that is full" "" "No space left" -- run $O --every 1 --out full.csv
ln -s round.csv around.csv
ln -s around.csv round.csv
expect 2 "a ring of links" "" "symbolic links" -- run $O --every 1 --out round.csv
expect 2 "a name that is too long" "" "name too long" -- run $O --every 1 \
    --out "$(printf 'a%.0s' $(seq 300)).csv"
mkfifo pipe.csv
head -1 pipe.csv >head.csv &
"$NOSLIP" run $O --every 1 --out pipe.csv >out 2>err
wait $!
grep -q "^t,x" head.csv && pass "a pipe" || fail "a pipe: $(cat head.csv err)"
name=$(printf 'a\nb.csv')
expect 0 "a name of two lines" "" "" -- run $O --every 1 --out "$name"
[ -s "$name" ] && pass "... is kept" || fail "a name of two lines: no file"
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
    rm -f closed.csv
    eval "\"\$NOSLIP\" run $O --every 1 --out closed.csv $closed" >out 2>err
    status=$?
    [ $status -le 3 ] && head -1 closed.csv 2>/dev/null | grep -q "^t,x" &&
        pass "streams closed: $closed" || fail "streams closed, $closed: status $status"
done
(
    ulimit -n 6
    exec "$NOSLIP" run $O --every 1 --out few.csv --out few.json --out few.h5 --report few.html
) >out 2>err
status=$?
{ [ $status = 2 ] || [ $status = 3 ]; } && grep -q "Too many open files" err &&
    pass "few descriptors" || fail "few descriptors: status $status: $(cat err)"
(
    ulimit -s 128
    exec "$NOSLIP" run $O --every 1 --report small.html
) >out 2>err && pass "a small stack" || fail "a small stack: $(cat err)"
(
    unset HOME TMPDIR XDG_CACHE_HOME
    TZ=:/dev/zero LC_ALL=de_DE.UTF-8 exec "$NOSLIP" run $O --engine native
) >out 2>err && pass "no home, strange time zone" || fail "no home: $(cat err)"
for words in "--every -1" "--every 1e-300" "--every nan" "--until inf" "--tol -1" \
    "--max-steps -5" "--threads 99999999999999999999"; do
    expect 2 "$words" "" "." -- run $O $words
done
for words in "--over k=1:2:1e19" "--over k=1:2:3 --shard 3/18446744073709551617" \
    "--over k=1:2:3 --threads 4294967297"; do
    expect 2 "sweep $words" "" "." -- sweep $O --get x $words
done

# ---- words that command ----------------------------------------------------------------------

for bytes in '\033[31m' '\302\23331m' '\342\200\256' '\342\201\246'; do
    printf "title \"a ${bytes}b\"\ncoordinate x\nlagrangian x'^2/2\n" >words.mech
    expect 2 "a title that commands the terminal" "" "this is not text" -- check words.mech
    grep -q "$(printf "$bytes" | head -c 3 | sed 's/\[/./')" "$W/err" &&
        fail "... is shown as it is" || pass "... is not shown as it is"
done
name=$(printf 'no\033[31m')
expect 2 "a name of a file that does" "" "no\?\[31m" -- run $O --resume "$name"
cat >hostile.mech <<'M'
title "x</script><script>alert(1)</script> */ %s%n $(id) `id` & ]]> --> \end{document} '"
coordinate x
lagrangian x'^2/2 - x^2/2
start { x = 1; x' = 0 }
draw side { "a</script><b>*/": ball [x, 0], 0.1 }
run { until 3 }
M
expect 0 "a hostile title" "" "" -- run hostile.mech --every 1 --out e.json --out e.svg \
    --out e.h5 --report e.html
if "$PYTHON" - <<'PY'; then pass "... in JSON, SVG, HTML"; else fail "... breaks out"; fi
import json, sys, xml.dom.minidom
xml.dom.minidom.parse("e.svg")
json.load(open("e.json"))
page = open("e.html", encoding="utf-8").read()
sys.exit("<script>alert(1)" in page or "</script><b>" in page)
PY
"$NOSLIP" emit c hostile.mech >e.c && cc -Wall -Werror -Wno-unused -c e.c -o e.o 2>err &&
    pass "... in emitted C" || fail "... in emitted C: $(head -3 err)"
finish
