#!/usr/bin/env bash
# Every command in README.md, docs/*.md and the manual page does what it should: see
# doc_commands.py.
exec "$PYTHON" "$(dirname "$0")/doc_commands.py" "$NOSLIP" "$(dirname "$DOCS")"
