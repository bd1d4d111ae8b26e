#!/usr/bin/env bash
# Does what the README promises a newcomer: `make run`, both gateways answer, and Ctrl-C stops it cleanly.
set -euo pipefail
cd "$(dirname "$0")/../.."
log=$(mktemp)
set -m # a process group of its own, to be interrupted whole as a terminal does
make run >"$log" 2>&1 </dev/null &
run=$!
set +m
trap 'kill -KILL -- "-$run" 2>/dev/null || :; rm -f "$log"' EXIT

fail() { echo "first-call.sh: $*" >&2; cat "$log" >&2; exit 1; }
healthy() { curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$1/health" 2>/dev/null; }

for port in 8080 8081; do
  for _ in $(seq 600); do
    healthy "$port" && break
    kill -0 "$run" 2>/dev/null || fail 'make run ended by itself'
    sleep .2
  done
  healthy "$port" || fail "no gateway on port $port"
done
kill -INT -- "-$run"
for _ in $(seq 150); do kill -0 "$run" 2>/dev/null || break; sleep .2; done
! kill -0 "$run" 2>/dev/null || fail 'still there 30 s after Ctrl-C'
cat "$log"
