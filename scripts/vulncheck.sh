#!/usr/bin/env bash
# Looks for known vulnerabilities in what the programs call, with govulncheck of the pinned version. It needs the Go
# vulnerability database: the public one, or a copy of it where there is no network.
# Usage: vulncheck.sh <database>     https://vuln.go.dev, or file:///directory
set -euo pipefail
cd "$(dirname "$0")/.."
GOWORK=off go build -C scripts/tools/vuln -o "$PWD/bin/" golang.org/x/vuln/cmd/govulncheck
failed=0
mapfile -t modules < <(sed -n 's|^\t\./||p' go.work)
for m in "${modules[@]}"; do
  echo "== $m"
  (cd "$m" && "$OLDPWD/bin/govulncheck" -db "$1" ./...) || failed=1
done
exit "$failed"
