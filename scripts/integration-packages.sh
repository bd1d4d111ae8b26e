#!/usr/bin/env bash
# Prints the packages that have tests behind the build tag integration, one a line.
set -euo pipefail
cd "$(dirname "$0")/.."
git grep --untracked -lE '^//go:build .*\bintegration\b' -- '*_test.go' | xargs -rn1 dirname | sort -u | sed 's|^|./|'
