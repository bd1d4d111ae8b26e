#!/usr/bin/env bash
# Runs the official conformance suite of MCP against two gateways and a balancer (services/e2e/mcp/conformance). It needs npm; Node.js
# of the version that the suite needs comes as a package, too. Usage: scripts/mcp-conformance.sh [<arguments of go test>]
set -euo pipefail
cd "$(dirname "$0")/.."
suite=0.2.0-alpha.12 node=22.23.3
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hecaton-ci/mcp-conformance-$suite-$node
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  *) echo "mcp-conformance.sh: no Node.js for $(uname -sm)" >&2; exit 1 ;;
esac
if [ ! -x "$dir/node_modules/node-$platform/bin/node" ] || [ ! -d "$dir/node_modules/@modelcontextprotocol/conformance" ]; then
  mkdir -p "$dir"
  npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts "@modelcontextprotocol/conformance@$suite" "node-$platform@$node"
fi
export NODE=$dir/node_modules/node-$platform/bin/node SUITE=$dir/node_modules/@modelcontextprotocol/conformance/dist/index.js
exec go test -tags conformance -count 1 -v "$@" ./services/e2e/mcp/conformance
