#!/usr/bin/env bash
# The Python package: its tests and doctests, by Debian's python3 with numpy and pytest.
set -uo pipefail
: "${NOSLIP:?path of the program}" "${TESTS:?folder of the tests}" "${PYTHON:?Python 3}"
library=$(dirname "$NOSLIP")/libnoslip.so
if [ ! -e "$library" ]; then
    echo "SKIP: no $library"
    exit 0
fi
if nm "$library" 2>/dev/null | grep -q __asan_init; then # the runtime must come first
    runtime=$(gcc -print-file-name=libasan.so)
    export LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0
fi
export NOSLIP_LIBRARY=$library NOSLIP PYTHONPATH=$TESTS/../python PYTHONDONTWRITEBYTECODE=1
exec "$PYTHON" -m pytest -q -p no:cacheprovider "$TESTS/python" \
    --doctest-modules "$TESTS/../python/noslip"
