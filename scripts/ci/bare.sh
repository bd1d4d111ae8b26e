#!/usr/bin/env bash
# Runs a command as on a machine that has Go, make and what every Debian has, and nothing else on its PATH.
# Usage: bare.sh make test
set -euo pipefail
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
for tool in go make bash sh; do ln -s "$(command -v "$tool")" "$bin/$tool"; done
dpkg -L coreutils | grep -E '/s?bin/[^/]+$' | xargs -r ln -s -t "$bin"
# PostgreSQL's programs are looked for beside the PATH too.
env -u TEST_REQUIRE_REAL -u TEST_REDIS_URL -u TEST_NATS_URL -u TEST_POSTGRES_URL TEST_POSTGRES_BIN="$bin" PATH="$bin" "$@"
