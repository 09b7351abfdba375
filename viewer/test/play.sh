#!/usr/bin/env bash
# The playground in a browser. Status 77: there is no compiler for WebAssembly here.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v clang-19 >/dev/null || [ ! -e /usr/lib/wasm32-wasi/libc.a ]; then
    echo "the compiler for WebAssembly is missing: scripts/setup --wasm installs it"
    exit 77
fi
scripts/build-playground
export PLAYGROUND=$PWD/build/playground.html NOSLIP_WASM=$PWD/build/wasm/noslip-page.wasm
node --test viewer/test/play.test.mjs
if command -v firefox-esr >/dev/null && command -v xvfb-run >/dev/null; then
    LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a -s '-screen 0 1400x1000x24' \
        node --test viewer/test/firefox.test.mjs
fi
