# shellcheck shell=bash
# Sourced by scripts that need their own cluster of docker-compose.yml: it starts without data, under its own project name and
# port, and is removed at the end, also after a failure. Where scripts/ci/images.sh has built the images of NATS, Redis,
# PostgreSQL and nginx, those are used and nothing is pulled.
name=${0##*/}
export COMPOSE_PROJECT_NAME=${PROJECT:-hecaton-ci} HECATON_PORT=0 BIN=dist
# Settings that the user may have made for a cluster of their own.
export HECATON_BIND=127.0.0.1 HECATON_KEYS=deploy/compose/dev LLM=offline ALLOWED_ORIGINS='' LOG_LEVEL=info
if [ "${CI:-}" = true ] || docker image inspect ci.local/nginx:stable-alpine >/dev/null 2>&1; then
  export HUB=ci.local/ PULL=never
fi
work=$(mktemp -d)

before_down() { :; } # for a script's own

finish() {
  local code=$?
  trap - EXIT INT TERM
  before_down
  [ "$code" -eq 0 ] || docker compose --ansi never logs --tail 15 >&2
  docker compose down --volumes --remove-orphans --timeout 60 >"$work/down.log" 2>&1 ||
    { cat "$work/down.log" >&2; code=1; }
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }

fail() { echo "$name: $*" >&2; exit 1; }

images() {
  make images >"$work/images.log" 2>&1 || { cat "$work/images.log" >&2; fail 'the images cannot be built'; }
}

up() { # up <argument>...
  docker compose up --wait --wait-timeout 180 "$@" >"$work/up.log" 2>&1 || { cat "$work/up.log" >&2; fail 'it does not come up'; }
}
