#!/usr/bin/env bash
# Checks that every test which docs/threat-model.md names is where its link says.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0 found=0
while IFS=' ' read -r name file; do
  found=$((found + 1))
  grep -q "^func $name(" "docs/$file" || { echo "docs/threat-model.md: there is no $name in docs/$file" >&2; failed=1; }
done < <(grep -oE '\[(Test|Fuzz)[A-Za-z0-9_]+\]\([^)]+\)' docs/threat-model.md | sed -E 's/^\[(.*)\]\((.*)\)$/\1 \2/')
[ "$found" -gt 0 ] && [ "$failed" -eq 0 ]
