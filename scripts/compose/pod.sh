#!/usr/bin/env bash
# Breaks and mends one container of a running compose project, as deploy/compose/faults.yaml asks for.
# Usage: pod.sh <what> <service> [<which>]
#
# What is broken, and by what it is mended:
#   kill   / start     SIGKILL; the container starts again
#   pause  / resume    its processes stand still, its sockets stay
#   cut    / join      it is taken off the back network, where NATS, Redis, PostgreSQL and the other services are
#   drop   / pass      every packet from and to it vanishes, its connections stay (root, on the machine of the engine)
# and, with its end inside:
#   roll               every container of the service in turn: SIGTERM, gone, and a new one is well before the next one's turn
#
# <which> counts the service's containers from 1, in the order in which they were made. The service nats is that NATS server
# which has the most connections when it is broken; it is mended by the same name. COMPOSE_PROJECT_NAME names the project,
# hecaton where it is not set.
set -euo pipefail
cd "$(dirname "$0")/../.."
project=${COMPOSE_PROJECT_NAME:-hecaton}
what=${1:?} service=${2:?} which=${3:-1}

containers() {
  docker ps -a --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.service=$service" \
    --filter label=com.docker.compose.oneoff=False --format '{{.Label "com.docker.compose.container-number"}} {{.Names}}' |
    sort -n | cut -d' ' -f2
}

# Prints which of the NATS servers has the most connections.
busiest() {
  local server n most=-1 found
  for server in nats-1 nats-2 nats-3; do
    n=$(docker exec "$(service=$server which=1 pod)" wget -q -T 2 -O - http://127.0.0.1:8222/varz | sed -n 's/^ *"connections": \([0-9]*\),.*/\1/p')
    [ "$n" -le "$most" ] || most=$n found=$server
  done
  echo "$found"
}

pod() {
  local name
  name=$(containers | sed -n "${which}p")
  [ -n "$name" ] || { echo "pod.sh: $project has no $service number $which" >&2; exit 1; }
  echo "$name"
}

rules() { # rules <-I or -D>: in the network namespace of the container
  local pid direction
  pid=$(docker inspect -f '{{.State.Pid}}' "$(pod)")
  for direction in 'INPUT ! -i lo' 'OUTPUT ! -o lo'; do
    # shellcheck disable=SC2086 # words
    nsenter --target "$pid" --net iptables -w 5 "$1" $direction -j DROP
  done
}

roll() {
  local old
  for old in $(containers); do
    docker stop "$old" # for as long as the compose file lets it drain
    docker rm "$old"
    docker compose up --no-deps --no-recreate --wait --wait-timeout 60 "$service"
  done
}

if [ "$service" = nats ]; then
  chosen=${TMPDIR:-/tmp}/$project-busiest
  case $what in
    kill | pause | cut) busiest >"$chosen" ;;
  esac
  service=$(cat "$chosen")
fi
case $what in
  kill) docker kill "$(pod)" ;;
  start) docker start "$(pod)" ;;
  pause) docker pause "$(pod)" ;;
  resume) docker unpause "$(pod)" ;;
  cut) docker network disconnect "${project}_back" "$(pod)" ;;
  join) docker network connect --alias "$service" "${project}_back" "$(pod)" ;;
  drop) rules -I ;;
  pass) rules -D ;;
  roll) roll ;;
  *) echo "usage: $0 kill|start|pause|resume|cut|join|drop|pass|roll <service> [<which>]" >&2; exit 2 ;;
esac
