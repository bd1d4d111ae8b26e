#!/bin/sh
# The part of the official image's start that docker-compose.yml relies on: where there is no cluster yet it makes one, with
# POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB and POSTGRES_INITDB_ARGS, and accepts over TCP who knows the password.
set -eu
[ "$1" = postgres ] || exec "$@"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=${POSTGRES_USER:-postgres}
  db=${POSTGRES_DB:-$user}
  password=$(mktemp)
  echo "${POSTGRES_PASSWORD:?must be set where the database is new}" >"$password"
  # Its words are split as the official image splits them.
  # shellcheck disable=SC2086
  initdb --username="$user" --pwfile="$password" --auth-local=trust --auth-host=scram-sha-256 ${POSTGRES_INITDB_ARGS:-}
  rm "$password"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  [ "$db" = postgres ] || echo "CREATE DATABASE \"$db\"" | postgres --single -j postgres
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/tmp
