#!/usr/bin/env bash
# Runs every fuzz target of the workspace for FUZZTIME each; "go test" takes only one at a time. What a target finds is left
# in testdata/fuzz beside it, to be committed with the fix.
#
# The default is a count of executions: up to Go 1.26 a time may end in "context deadline exceeded" with nothing found
# (https://go.dev/issue/75804).
set -euo pipefail
cd "$(dirname "$0")/.."
found=0 failed=0
while IFS=: read -r file target; do
  found=$((found + 1))
  echo "fuzz $target in ${file%/*} for ${FUZZTIME:=10000x}"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" "./${file%/*}" || failed=$((failed + 1))
done < <(git grep --untracked -oE '^func Fuzz[A-Za-z0-9_]*\(' -- '*_test.go' | sed -e 's/:func /:/' -e 's/($//')
echo "$((found - failed)) passed, $failed failed"
[ "$found" -gt 0 ] && [ "$failed" -eq 0 ]
