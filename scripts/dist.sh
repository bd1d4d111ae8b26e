#!/bin/sh
# Builds what the images hold: the five programs, static and with the time zones inside, the certificate authorities, and an
# empty directory. Usage: dist.sh DIRECTORY. It is plain sh: deploy/docker/Dockerfile runs it in the golang image too.
set -eu
cd "$(dirname "$0")/.."
out=$1
mkdir -p "$out/empty"
GOOS=linux CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags timetzdata \
  -ldflags "-s -w -X main.version=${VERSION:-dev}" -o "$out/" \
  ./services/gateway/cmd/gateway ./services/node-registry/cmd/node-registry \
  ./services/agent-orchestrator/cmd/agent-orchestrator ./services/knowledge/cmd/knowledge ./services/hecaton/cmd/hecaton
# Where Debian and Alpine, Red Hat, and macOS keep them.
for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
  [ ! -e "$bundle" ] || { cp -L "$bundle" "$out/ca-certificates.crt" && exit; }
done
echo "dist.sh: this machine has no certificate authorities; install its package ca-certificates" >&2
exit 1
