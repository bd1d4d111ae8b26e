#!/usr/bin/env bash
# Makes the secrets of a cluster of docker-compose.yml: a file of variables for each service, with what that service needs
# and nothing else.
# Usage: keys.sh DIRECTORY        then HECATON_KEYS=DIRECTORY docker compose up
#
# KEYS=development makes those of deploy/compose/dev, which everybody knows.
set -euo pipefail
umask 077
out=${1:?where to}
[ ! -e "$out/gateway.env" ] || [ "${KEYS:-}" = development ] || { echo "keys.sh: $out has keys" >&2; exit 1; }
mkdir -p "$out"

# A letter first: NATS would read some words of digits as numbers.
random() { printf 'k%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
if [ "${KEYS:-}" = development ]; then
  random() { printf 'developmentonly'; }
  jwt=development-only-hs256-key-known-to-everybody token=development-only-service-token
  seal=ZGV2ZWxvcG1lbnQtb25seS1zZWFsaW5nLWtleS0wMDE= mcp=ZGV2ZWxvcG1lbnQtb25seS1tY3Ata2V5LS0tLS0wMDE=
  about='# DEVELOPMENT ONLY: everybody who reads this file knows it. scripts/compose/keys.sh makes others.'
else
  jwt=$(random) token=$(random) seal=$(head -c 32 /dev/urandom | base64 | tr -d '\n')
  mcp=$(head -c 32 /dev/urandom | base64 | tr -d '\n')
  about='# Made by scripts/compose/keys.sh.'
fi
postgres=$(random) route=$(random)

servers() { # servers <user> <password> <port>: the three of docker-compose.yml
  local i urls=()
  for i in 1 2 3; do urls+=("nats://$1:$2@nats-$i:$3"); done
  (IFS=, && echo "${urls[*]}")
}

write() { printf '%s\n' "$about" "${@:2}" >"$out/$1.env"; } # write <file> <line>...

nats=("NATS_ROUTE_PASSWORD=$route" "NATS_ROUTES=[$(servers route "$route" 6222)]") redis=()
declare -A bus store
for service in gateway node-registry agent-orchestrator knowledge; do
  variable=${service^^} variable=${variable//-/_} password=$(random)
  nats+=("NATS_${variable}_PASSWORD=$password")
  bus[$service]=NATS_URL=$(servers "$service" "$password" 4222)
  case $service in gateway | knowledge) continue ;; esac # which have no use for Redis
  password=$(random)
  redis+=("REDIS_${variable}_PASSWORD=$password")
  store[$service]=REDIS_URL=redis://$service:$password@redis:6379
done

write nats "${nats[@]}"
write redis "${redis[@]}"
write postgres "POSTGRES_PASSWORD=$postgres"
write gateway "JWT_SECRET=$jwt" "SERVICE_TOKEN=$token" "MCP_KEYS=$mcp" "${bus[gateway]}"
write node-registry "SERVICE_TOKEN=$token" "${bus[node-registry]}" "${store[node-registry]}"
write agent-orchestrator "SERVICE_TOKEN=$token" "SECRET_KEYS=$seal" \
  "DATABASE_URL=postgres://postgres:$postgres@postgres:5432/hecaton?sslmode=disable" "${bus[agent-orchestrator]}" "${store[agent-orchestrator]}"
write knowledge "SERVICE_TOKEN=$token" \
  "DATABASE_URL=postgres://postgres:$postgres@postgres:5432/hecaton?sslmode=disable" "${bus[knowledge]}"
write cli "JWT_SECRET=$jwt" "SERVICE_TOKEN=$token"
