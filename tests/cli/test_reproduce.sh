#!/usr/bin/env bash
# The claims of the literature hold, their figures are written, a wrong name is an error; and
# all models pass `noslip check`.
set -euo pipefail
noslip=$NOSLIP
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$noslip" reproduce --out "$folder"
[ "$(ls "$folder"/*.svg | wc -l)" -ge 15 ]
! "$noslip" reproduce nothing-of-this-name 2>/dev/null
[ "$("$noslip" reproduce --list | wc -l)" -ge 45 ]
# each says what it is held against
for claim in "$MODELS"/claims/*.claim; do
    grep -qE '^against (literature|closed form|formulation)' "$claim" || {
        echo "FAIL $claim: against what?"
        exit 1
    }
done
# and every model of the gallery passes its own check
status=0
for model in "$MODELS"/*.mech; do
    "$noslip" check "$model" >"$folder/check" 2>&1 || {
        echo "FAIL check $model"
        cat "$folder/check"
        status=1
    }
done
exit $status
