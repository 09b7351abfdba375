# Files of the library that need each other are those that CONTRIBUTING.md names.
set -euo pipefail
build=$(cd "$(dirname "$NOSLIP")" && pwd)
exec "$PYTHON" "$TESTS/../scripts/check-cycles" "$build"
