#!/usr/bin/env bash
# The language server, asked by the client libraries of editors (from npm; without them or
# without Node the test is left out).
set -u
here=$(cd "$(dirname "$0")" && pwd)
NOSLIP=$(realpath "$NOSLIP")
MODELS=$(realpath "$MODELS")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/lsp/* "$work"
cd "$work" || exit 1
if ! command -v npm >/dev/null || ! npm ci --silent --prefer-offline >log 2>&1; then
    echo "left out: the client libraries are not there"
    exit 0
fi
timeout 100 node client.mjs "$NOSLIP" "$MODELS"
