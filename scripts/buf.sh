#!/usr/bin/env bash
# Runs buf in the directory of the protos, with those of google/api beside them. They come from a Go module, so that no
# registry is needed. Usage: scripts/buf.sh [-C <other protos' directory>] <buf arguments>
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$root/proto
if [ "${1:-}" = -C ]; then
  dir=$2
  shift 2
fi
if grep -q third_party "$dir/buf.yaml" && [ ! -f "$dir/third_party/google/api/annotations.proto" ]; then
  module=$(cd "$root/scripts/tools" && GOWORK=off go mod download -json github.com/grpc-ecosystem/grpc-gateway@v1.16.0 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  mkdir -p "$dir/third_party/google/api"
  for f in annotations http; do
    cp "$module/third_party/googleapis/google/api/$f.proto" "$dir/third_party/google/api/"
  done
  chmod -R u+w "$dir/third_party"
fi
cd "$dir"
GOWORK=off exec go tool -modfile="$root/scripts/tools/go.mod" buf "$@"
