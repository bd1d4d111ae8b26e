#!/usr/bin/env bash
# Checks the alerts and runs their tests. Needs promtool (Debian's package prometheus).
set -euo pipefail
cd "$(dirname "$0")/../../deploy/alerts"
promtool check rules hecaton.yaml
promtool test rules hecaton_test.yaml
# Each alert needs a test in which it fires, one in which it does not, and a section in the runbook.
mapfile -t alerts < <(sed -n 's/^ *- alert: //p' hecaton.yaml)
for alert in "${alerts[@]}"; do
  for case in fires 'is quiet'; do
    grep -q "name: $alert $case\$" hecaton_test.yaml || { echo "alerts.sh: no test that $alert $case" >&2; exit 1; }
  done
  grep -q "^### $alert\$" ../../docs/operations.md || { echo "alerts.sh: docs/operations.md does not know $alert" >&2; exit 1; }
done
