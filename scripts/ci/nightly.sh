#!/usr/bin/env bash
# The checks that .ci/run leaves out, since they take long and seldom fail: about an hour, as root, on a Debian 12 machine with Go and
# Node.js. It runs every night, and before a release.
# Usage: nightly.sh [<step>]...     all of them where none is named; FUZZTIME and BENCHFLAGS as for make
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/ci/steps.sh
export REFUSE_FLAKY=1 # a night has the time to find out why a test passes at its second try only

bare() { step 'tests with nothing but Go' scripts/ci/bare.sh make test; }
faults() { step 'faults' make faults; }
scaling() { step 'scaling' make demo-scale; }
kubernetes() {
  step 'Kubernetes, built' make k8s
  step 'Kubernetes' make k8s-test
}
moves() { step 'two thousand moves of a node' make moves; }
ledger() { step 'a thousand scheduled tasks' make ledger; }
conformance() {
  command -v npm >/dev/null || step 'install npm' scripts/ci/install.sh npm
  step 'conformance of MCP' make mcp-conformance
}
fuzz() { step 'fuzz' make fuzz; }
bench() { step 'benchmark' make bench; }

[ $# -gt 0 ] || set -- bare faults moves ledger conformance scaling kubernetes fuzz bench
for part; do
  [[ $part =~ ^(bare|faults|moves|ledger|conformance|scaling|kubernetes|fuzz|bench)$ ]] || { echo "nightly.sh: no step $part" >&2; exit 2; }
done
machine
for part; do "$part"; done
