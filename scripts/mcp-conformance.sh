#!/usr/bin/env bash
# Runs the official conformance suite of MCP against two gateways and a balancer (services/e2e/mcp/conformance, whose lock file pins all
# that is fetched). It needs npm; Node.js of the version that the suite needs comes as a package on Linux, and is the machine's own elsewhere.
# Usage: scripts/mcp-conformance.sh [<arguments of go test>]
set -euo pipefail
cd "$(dirname "$0")/.."
pins=services/e2e/mcp/conformance
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hecaton-ci/mcp-conformance-$(cksum <"$pins/package-lock.json" | cut -d' ' -f1)
if [ ! -e "$dir/installed" ]; then
  mkdir -p "$dir"
  cp "$pins/package.json" "$pins/package-lock.json" "$dir"
  npm ci --prefix "$dir" --no-audit --no-fund --ignore-scripts
  touch "$dir/installed" # which a download that was cut off has not
fi
node=("$dir"/node_modules/node-linux-*/bin/node)
[ -x "${node[0]}" ] || node=("$(command -v node)")
export NODE=${node[0]} SUITE=$dir/node_modules/@modelcontextprotocol/conformance/dist/index.js
exec go test -tags conformance -count 1 -v "$@" ./services/e2e/mcp/conformance
