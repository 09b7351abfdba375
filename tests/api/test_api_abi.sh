# The binary interface is the one of tests/api/abi.txt.
set -euo pipefail
build=$(cd "$(dirname "$NOSLIP")" && pwd)
if [ ! -e "$build/libnoslip.so" ] ||
    nm -D "$build/libnoslip.so" | grep -E '__(a|t)san_' >/dev/null; then
    echo "no plain shared library here: skipped"
    exit 0
fi
exec "$TESTS/../scripts/check-abi" "$build"
