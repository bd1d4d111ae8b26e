#!/usr/bin/env bash
# Draws the pictures of the documents into docs/pictures: what "make run" prints, from a run of it here (the ports that it uses have to
# be free), the bench chart, from the table in docs/performance.md, and the way of a call.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o bin/hecaton ./services/hecaton/cmd/hecaton
GOWORK=off go build -C scripts/tools -o "$work/" ./pictures

bin/hecaton up --gateways 2 --demo >"$work/output" 2>"$work/log" </dev/null &
hecaton=$!
for _ in $(seq 150); do
  ! grep -q '^Ctrl-C stops it' "$work/output" || break
  kill -0 "$hecaton" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep .2
done
kill -INT "$hecaton"
wait "$hecaton" || { cat "$work/log" >&2; exit 1; }

mkdir -p docs/pictures
"$work/pictures" terminal 'make run' "$work/output" >"$work/run.svg"
"$work/pictures" bench docs/performance.md >"$work/bench.svg"
"$work/pictures" cluster >"$work/cluster.svg"
mv "$work"/*.svg docs/pictures/
