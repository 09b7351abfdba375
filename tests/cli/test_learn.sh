#!/usr/bin/env bash
# What helps newcomers: starting models, codes of messages, hints for habits of other languages.
set -u
. "$(dirname "$0")/cli_lib.sh"
cd "$W" || exit 1

# ---- starting models: they run, and nothing about them is doubted --------------------------

for kind in rolling bodies lagrange frame lie planar; do
    expect 0 "new $kind" "noslip run $kind.mech" "" -- new "$kind" "$kind.mech"
    expect 0 "run $kind" "largest" "" -- run "$kind.mech"
    if grep -v 'guess is changed' err 2>/dev/null | grep -q 'note:\|warning:'; then
        fail "doubts about $kind"
    fi
    expect 0 "check $kind" "" "" -- check "$kind.mech"
    grep -q "noslip run $kind.mech" "$kind.mech" || fail "$kind.mech names its file"
done
cp lie.mech before
expect 2 "an existing file" "" "there is a file \`lie.mech\` already" -- new lie lie.mech
cmp -s lie.mech before || fail "an existing file is kept"
expect 2 "a misspelt kind" "" "did you mean \`rolling\`" -- new roling x.mech
expect 0 "without a file" '^title "A rolling body"' "" -- new rolling

# ---- the help of `rolling` lists the shapes that the message about a wrong one lists -------

for kind in ground body; do
    printf '%s\n' 'ground plane' 'body sphere(1) { mass 1; uniform }' | grep -v "^$kind" >s.mech
    echo "$kind nothing(1) { }" >>s.mech
    "$NOSLIP" check s.mech 2>&1 | grep -o 'there are: .* \[body-shape\]' |
        sed 's/^there are: //; s/ \[body-shape\]$//; s/(), /\n/; s/), /)\n/g' |
        tr -d ' ' >shapes
    [ "$(wc -l <shapes)" -ge 10 ] || fail "shapes of a $kind: $(cat shapes)"
    "$NOSLIP" help rolling | tr -d ' \n' >help
    while read -r shape; do
        grep -qF "$shape" help || fail "help rolling lacks $shape"
    done <shapes
done
pass "help of shapes"

# ---- codes ---------------------------------------------------------------------------------

"$PYTHON" "$TESTS/cli/explain.py" "$NOSLIP" "$(dirname "$DOCS")" && pass "codes of messages" ||
    fail "codes of messages"
expect 0 "the list of codes" '^  undefined-name ' "" -- explain
expect 2 "a misspelt code" "" "did you mean \`undefined-name\`" -- explain undefind-name

# ---- units: what formulations declare; the gallery has no contradictions -------------------

unit() { # what is wrong in the model, what is said about it
    printf '%s\n' 'param r = 10 cm, m = 1 kg, g = 9.81 m/s^2' 'ground plane' "$1" \
        'run { until 1 }' >u.mech
    expect 0 "unit $1" "" "$2" -- check u.mech
}
unit 'body sphere(m) { mass m; uniform }' "this is kg, but a size of \`sphere\` is m"
unit 'body sphere(r) { mass r; uniform }' "this is m, but \`mass\` is kg"
unit 'body sphere(r) { mass m; inertia diag(m*r, m*r, m*r) }' "but \`inertia\` is kg\*m\^2"
unit 'body sphere(r) { mass m; uniform }; start { omega [0, g, 0] }' "but \`omega\` is 1/s"
unit 'body sphere(r) { mass m; uniform }; event e: com.x = m' 'kg, but it is set equal to m'
unit 'body sphere(r) { mass m; uniform }; observe v in m/s = norm(com)' "\`v\` is m/s"
sed 's|9.81 m/s^2|9.81 m/s|' u.mech >v.mech
expect 0 "gravity that formulations use" "" "this is m/s, but \`g\` is m/s\^2" -- check v.mech
wrong=$(for f in "$MODELS"/*.mech; do "$NOSLIP" check "$f" 2>&1 >/dev/null; done |
    grep 'units do not agree')
[ -z "$wrong" ] && pass "units of the gallery agree" || fail "units of the gallery: $wrong"

# ---- habits --------------------------------------------------------------------------------

habit() { # what is written, what the message says
    printf '%s\n' "param m = 1" "coordinate x" "lagrangian m*x'^2/2 - $1" 'run { until 1 }' \
        >h.mech
    expect 2 "habit $1" "" "$2" -- check h.mech
}
habit 'x**2' 'here it is \^'
habit 'x // energy' 'here it is #'
habit 'xdot' "here it is written x'"
habit 'x_ddot' "here it is written x''"
habit '3 Nm' 'written N\*m'
habit 'ln(x)' 'written log'
habit 'np.sin(x)' 'written sin'
habit 'np.arctan2(x, 1)' 'written atan2'
habit 'math.pi' 'written pi'
habit 'x == 2' 'one ='
expect 2 "--set aa=3" "" "it has: m, J, a" -- run chaplygin-sleigh --set aa=3
expect 2 "--digits quad" "" "is --digits=quad meant" -- run chaplygin-sleigh --digits quad
expect 0 "help of --digits" "--digits\[=quad\]" "" -- help run
printf '%s\n' "param m = 1, M = 2" "coordinate x" "lagrangian m*x'^2/2" 'run { until 1 }' \
    >u.mech
expect 0 "an unused parameter" "" "u.mech:1:14: note: the parameter \`M\` is not used" -- \
    check u.mech
expect 0 "nothing unused in the gallery" "" "" -- check bicycle
grep -q "not used" "$W/err" && fail "g counts as used"

# ---- format: twice is once, the meaning stays, and the gallery is laid out by it ------------

expect 0 "the gallery is formatted" "" "" -- format --check "$MODELS"/*.mech
cat >f.mech <<'END'
title "a,b=c"#x
param a=1 m/s ,b=2;let c=a*b
coordinate x


lagrangian a^2*x'^2/2 -
    b*x
start{x=1
  # why
x'~c}
run {; until 1 }   

END
"$NOSLIP" format f.mech >g.mech
"$NOSLIP" format g.mech | cmp -s - g.mech && pass "format is idempotent" || fail "idempotent"
grep -qF 'param a = 1 m/s, b = 2; let c = a*b' g.mech && grep -qF 'title "a,b=c" #x' g.mech &&
    grep -q '^    # why' g.mech && pass "layout" || fail "layout: $(cat g.mech)"
expect 0 "the same motion" "" "" -- compare f.mech g.mech --within 0
expect 1 "--check names what would change" "^f.mech" "" -- format --check f.mech g.mech

expect 0 "the claims are formatted" "" "" -- format --check "$MODELS"/claims/*.claim
cat >f.claim <<'END'

source Anybody, 2001 # = part of it
 model a <<
param l=1 ;coordinate q
lagrangian l*q'^2/2
start {q=1;q'=0.5}
run{ until 1}
>>


run one:a l=2
command c: check "a"
   expect "a,b=c":end(one,q)=1.5 within 1e-12#why
expect "has":has(c,"no,  =such")<0.5
END
"$NOSLIP" format f.claim >g.claim
"$NOSLIP" format g.claim | cmp -s - g.claim && pass "format is idempotent on claims" ||
    fail "idempotent on claims"
"$NOSLIP" format - <f.claim | cmp -s - g.claim && pass "a claim from standard input" ||
    fail "a claim from standard input"
grep -qF 'expect "a,b=c": end(one, q) = 1.5 within 1e-12 #why' g.claim &&
    grep -qF 'has(c, "no,  =such") < 0.5' g.claim &&
    grep -qF "start { q = 1; q' = 0.5 }" g.claim &&
    grep -qF 'run one: a l=2' g.claim && pass "layout of claims" ||
    fail "layout of claims: $(cat g.claim)"
for f in f g; do # what they print, but for the time it took
    "$NOSLIP" reproduce $f.claim | sed '1d; s/; [0-9.]* s$//' >$f.out
done
cmp -s f.out g.out && grep -q "a,b=c" f.out && pass "the same claim" ||
    fail "the same claim: $(diff f.out g.out)"
sed 's/within/withn/' f.claim >bad.claim
expect 2 "no claim" "" "left as it is" -- format bad.claim

expect 2 "a group of values" "" "did you mean .omega.?" -- run rattleback --show omga
expect 2 "a claim" "" "did you mean .b-stability.?" -- reproduce b-stabilty
printf '%s\n' 'coordinate x' "lagrangian x'^2/2 - Sin(x)" 'run { until 1 }' >capital.mech
expect 2 "a capital" "" "did you mean .sin.?" -- run capital.mech

# ---- from the descriptors -------------------------------------------------------------------

# Each shell completes lines by what the program prints: the line, and what it must offer.
mkdir -p shells
for shell in bash zsh fish; do
    expect 0 "completion for $shell" "sensitivity" "" -- completion $shell
    cp "$W/out" shells/$shell
done
cp shells/zsh shells/_noslip
complete_bash() {
    bash -c '. shells/bash
        read -ra COMP_WORDS <<<"$1"
        [[ $1 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _noslip && echo "${COMPREPLY[*]}"' - "$1"
}
complete_fish() {
    HOME=$W fish --no-config -c 'source shells/fish; complete -C $argv[1]' "$1"
}
complete_zsh() { # zsh lists choices only for a person: in a terminal of its own
    zsh -f -c 'zmodload zsh/zpty
        zpty z zsh -f -i
        zpty -w z "fpath=($PWD/shells \$fpath); autoload -Uz compinit; compinit -u -D
            LISTMAX=9999; bindkey ^I list-choices; print REA''DY"
        zpty -r z out "*READY*"
        zpty -w -n z "$1"$'\''\t'\''
        for (( i = 0; i < 200; i++ )); do
            while zpty -r -t z part; do out+=$part; done
            [[ $out != *$2* ]] || break
            sleep 0.05
        done
        print -r -- "$out"
        zpty -d z' - "$1" "$2"
}
for shell in bash zsh fish; do
    command -v $shell >/dev/null || continue
    while IFS=: read -r line wanted; do
        found=$(complete_$shell "$line" "$wanted" 2>&1)
        [[ $found == *"$wanted"* ]] && pass "$shell completes: $line" ||
            fail "$shell completes: $line: $found"
    done <<'END'
noslip equil:equilibria
noslip run rattleback-tur:rattleback-turned
noslip run rattleback --unt:--until
noslip run rattleback --method tay:taylor
noslip explain body:body-shape
noslip new fra:frame
noslip emit oct:octave
noslip help met:methods
END
done
for command in $("$NOSLIP" man); do
    "$NOSLIP" man "$command" >page.1
    grep -q "^.B noslip $command" page.1 || fail "manual page of $command"
    command -v man >/dev/null || continue
    said=$(LC_ALL=C.UTF-8 man --warnings -l page.1 2>&1 >/dev/null)
    [ -z "$said" ] || fail "manual page of $command: $said"
done
expect 0 "words" '"lagrangian"' "" -- words
"$PYTHON" "$(dirname "$DOCS")/scripts/grammar" "$NOSLIP" --check &&
    pass "the TextMate grammar" || fail "the TextMate grammar"

# ---- summaries ------------------------------------------------------------------------------

expect 0 "the worst residuals" "and [0-9]+ more constraints, [0-9]+ rows in all" "" -- \
    run five-rollers --until 0.1
[ "$(wc -l <"$W/out")" -lt 60 ] && pass "a short summary" || fail "$(wc -l <"$W/out") lines"
expect 0 "--verbose" "" "" -- run five-rollers --until 0.1 --verbose
[ "$(grep -c 'largest residual' "$W/out")" -gt 50 ] && pass "all of them" || fail "all of them"
expect 0 "JSON" "" "" -- run chaplygin-sleigh --json --set a=0.5
py "d['parameters']['a'] == 0.5 and d['parameter_units']['m'] == 'kg'" \
    "units and parameters"
cat >stops.mech <<'END'
coordinate x
lagrangian x'^2/2
start { x' = 1 }
event there: x = 1 stop
run { until 3 }
END
expect 0 "compare: done by its own event" "" "is done" -- compare stops.mech stops.mech
expect 0 "section: done by its own event" "" "" -- section stops.mech --on "x - 0.5" --until 3
finish
