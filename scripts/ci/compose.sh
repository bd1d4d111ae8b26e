#!/usr/bin/env bash
# Starts docker-compose.yml without data, under its own project name and port, with images built on this machine and nothing
# pulled; uses it as docs/getting-started.md says, scales the gateways, and removes all of it.
# Needs scripts/ci/engine.sh and scripts/ci/images.sh to have run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/ci/cluster.sh
nodes=()

before_down() { [ ${#nodes[@]} -eq 0 ] || kill "${nodes[@]}" 2>/dev/null || :; }

cli() { docker compose run --rm cli "$@"; }

# Calls a tool of a user at one gateway, over gRPC.
call_at() { # call_at <container> <user> <tool> <argument>...
  local at=$1 user=$2
  shift 2
  docker compose run --rm -e HECATON_SERVER= cli call --grpc "$at:9080" --user "$user" "$@"
}

gateways() { docker compose ps --format '{{.Name}}' gateway | sort; }

# Prints how many clients a gateway holds, by its own count.
holds() { # holds <container>
  local ip
  ip=$(docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}' "$1")
  curl -fsS -m 5 "http://${ip%% *}:9180/metrics" | sed -n 's/^hecaton_gateway_connections_open //p'
}

# Connects a node of a user and waits until it is.
connect() { # connect <user> <token>
  local log=$work/node-$1.log
  # The program is started directly and not by a function: kill would end only the shell of the function.
  HECATON_TOKEN=$2 dist/hecaton node --server "$url" --user "$1" --dir "$work/files" --tools read_file,list_directory >"$log" 2>&1 &
  nodes+=($!)
  for _ in $(seq 100); do
    grep -q '^connected' "$log" && return
    kill -0 "${nodes[-1]}" 2>/dev/null || break
    sleep .1
  done
  cat "$log" >&2
  fail "the node of $1 does not connect"
}

reads_hello() { # reads_hello <who> <command>...: a call of read_file gives what the file holds
  local who=$1 got
  shift
  got=$("$@" read_file path=hello.txt) || fail "$who: the call failed"
  [[ $got == *"Hello from a node"* ]] || fail "$who: the tool says '$got'"
  say "$who: $got"
}

images
say "images: $(docker images --format '{{.Repository}} {{.Size}}' 'hecaton/*' | sort | tr '\n' ' ')"
up
say 'up and well:'
docker compose ps --format '        {{.Name}}  {{.Status}}'
url=http://$(docker compose port lb 8080)
say "nginx listens on $url"

token=$(cli token --user ana)
mkdir "$work/files"
echo 'Hello from a node behind the load balancer.' >"$work/files/hello.txt"
if dist/hecaton call --server "$url" --user ana read_file path=hello.txt >/dev/null 2>"$work/refused.log"; then
  fail 'a call without a token was let in'
fi
say "without a token: $(sed -n 1p "$work/refused.log")"
connect ana "$token"
HECATON_TOKEN=$token reads_hello 'through the load balancer' dist/hecaton call --server "$url" --user ana
mapfile -t pods < <(gateways)
for pod in "${pods[@]}"; do
  reads_hello "through $pod, which holds $(holds "$pod")" call_at "$pod" ana
done

said=$(HECATON_TOKEN=$token dist/hecaton chat --server "$url" --user ana --approve all -m 'read the file hello.txt') ||
  fail "the agent's run failed: $said"
[[ $said == *"Hello from a node"* ]] || fail "the agent does not know the file: $said"
say 'a run of an agent, through the load balancer:'
sed 's/^/        | /' <<<"$said"

up --scale gateway=3
third=$(gateways | sed -n 3p)
[ -n "$third" ] || fail 'there is no third gateway'
say "scaled to three: $third holds $(holds "$third")"
for i in $(seq 30); do # each is one chance in three
  connect "user$i" "$(cli token --user "user$i")"
  [ "$(holds "$third")" = 0 ] || break
done
[ "$(holds "$third")" -gt 0 ] || fail 'the third gateway takes no connections'
for pod in $(gateways); do say "$pod holds $(holds "$pod")"; done
reads_hello "through $third" call_at "$third" "user$i"
say 'taking it down'
