#!/usr/bin/env bash
# The page's own tests, with its packages and the template in place.
set -euo pipefail
cd "$(dirname "$0")/.."
../scripts/build-page
exec npm test --silent
