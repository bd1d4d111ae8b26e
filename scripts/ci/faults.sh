#!/usr/bin/env bash
# Starts docker-compose.yml without data, and runs the faults of a schedule against it, one after the other, under the
# load of "hecaton bench": nodes, runs of agents and half of the callers through the load balancer, the other callers by
# gRPC at the gateways. Prints the report, with the ledgers of callers and nodes compared, and writes it to OUT (bin/faults).
# Fails if the ledgers disagree, if something was lost that must not be, or if calls were not answered again soon enough.
# Usage: faults.sh [<schedule>]           deploy/compose/faults.yaml where none is named
#   LONGER=30    makes each fault last so many seconds longer
#   LOAD=...     instead of the usual load: flags of hecaton bench
# Needs root on the machine of the engine, and scripts/ci/engine.sh and scripts/ci/images.sh to have run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/ci/cluster.sh
[ "$(id -u)" = 0 ] || fail 'only root can enter the network of a container'

# Adds LONGER to the duration of each fault, and to the time by which calls must be answered again.
awk -v longer="${LONGER:-0}" '
  function add(key, text,   at, n) {
    if (!match(text, key ": [0-9]+s")) return text
    at = RSTART + length(key) + 2
    n = substr(text, at, RSTART + RLENGTH - at - 1)
    return substr(text, 1, at - 1) (n + longer) substr(text, RSTART + RLENGTH - 1)
  }
  { print add("recover", add("hold", $0)) }' "${1:-deploy/compose/faults.yaml}" >"$work/faults.yaml"

images
say 'images are built'
up
say 'up and well'
set -a
. deploy/compose/dev/cli.env
set +a

# The load is made in the load balancer's network: there Docker's DNS knows all gateways, also those to come.
echo 'nameserver 127.0.0.11' >"$work/resolv.conf"
lb=$(docker inspect -f '{{.State.Pid}}' "$(docker compose ps -q lb)")
inside() { # inside <command>...
  # shellcheck disable=SC2016 # expanded inside
  nsenter --target "$lb" --net unshare --mount sh -c 'mount --bind "$0" /etc/resolv.conf; exec "$@"' "$work/resolv.conf" "$@"
}

# There are many callers with few calls each, so that those that wait for something broken do not block the others.
usual='--nodes 100 --callers 600 --rate 80 --runs 4 --payload 200,64KiB:0.05 --answer 200,64KiB:0.05 --think 0-20ms'
# shellcheck disable=SC2086 # words
inside dist/hecaton bench --server http://127.0.0.1:8080 --grpc gateway:9080 --both --faults "$work/faults.yaml" \
  --out "${OUT:-bin/faults}" --timeout 20s --calm 5s --duration 10s --seed 1 ${LOAD:-$usual}
say 'the ledger reconciles'
