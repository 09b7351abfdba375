#!/usr/bin/env bash
# The claims of the literature hold, their figures are written, and a wrong name is an error.
set -euo pipefail
noslip=$NOSLIP
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$noslip" reproduce --out "$folder"
[ "$(ls "$folder"/*.svg | wc -l)" -ge 15 ]
! "$noslip" reproduce nothing-of-this-name 2>/dev/null
[ "$("$noslip" reproduce --list | wc -l)" -ge 45 ]
