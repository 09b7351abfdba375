#!/usr/bin/env bash
# The Python package: its tests and doctests, by Debian's python3 with numpy and pytest.
set -uo pipefail
: "${NOSLIP:?path of the program}" "${TESTS:?folder of the tests}" "${PYTHON:?Python 3}"
library=$(dirname "$NOSLIP")/libnoslip.so
if [ ! -e "$library" ]; then
    echo "SKIP: no $library"
    exit 0
fi
symbols=$(nm -D "$library")
if [[ $symbols == *__asan_init* ]]; then # the runtime must come first; leaks are Python's own
    preload=$(gcc -print-file-name=libasan.so)
    export ASAN_OPTIONS=detect_leaks=0
fi
export NOSLIP_LIBRARY=$library NOSLIP PYTHONPATH=$TESTS/../python PYTHONDONTWRITEBYTECODE=1
exec env ${preload:+LD_PRELOAD="$preload"} "$PYTHON" -m pytest -q -p no:cacheprovider \
    "$TESTS/python" --doctest-modules "$TESTS/../python/noslip"
