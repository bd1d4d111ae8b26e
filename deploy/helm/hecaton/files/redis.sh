#!/bin/sh
# Starts a Redis that keeps nothing, with the users of a file whose passwords are variables of the environment.
# Usage: redis.sh USERS [argument of redis-server]...      Needs nothing but a shell, and writes /tmp/users.acl.
set -eu
umask 077
users=$1
shift
while IFS= read -r line; do
  eval "printf '%s\\n' \"$line\"" # nothing but ${NAME} in it means anything to a shell
done <"$users" >/tmp/users.acl
exec redis-server --save '' --appendonly no --aclfile /tmp/users.acl "$@"
