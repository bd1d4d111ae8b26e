#!/usr/bin/env bash
# A Docker engine with compose and buildx on a bare Debian 12 machine, from Debian's packages alone.
# Usage: engine.sh start|stop
#
# start installs and starts only what is missing; stop ends only what start started, and leaves the machine's network as it was.
# The engine is Debian 13's: testcontainers asks for a newer API than Debian 12's engine speaks, and it needs nothing newer
# than Debian 12's libc, nor do the plugins. containerd, runc (which does need a newer one) and iptables are Debian 12's own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/trixie.sh"
log=$ci_cache/dockerd.log pid=$ci_cache/dockerd.pid network=$ci_cache/dockerd.network
forward=/proc/sys/net/ipv4/ip_forward

answers() { docker version >/dev/null 2>&1; }

plugin() { docker "$1" version >/dev/null 2>&1; }

# Prints the packages that are missing.
missing() {
  answers || command -v dockerd >/dev/null || echo docker.io
  command -v docker >/dev/null || echo docker-cli
  plugin compose || echo docker-compose
  plugin buildx || echo docker-buildx
}

install_packages() { # install_packages <package of Debian 13>...
  local debs=$ci_cache/engine
  trixie_download "$debs" "$@"
  apt-get -qq update
  # Their postinst would start the engine through an init system where there is one; here start does, everywhere.
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
    "$debs"/*.deb iptables iproute2 >/dev/null
}

# Prints what forget_network restores: how the machine forwards packets, without the rules that Docker adds.
note_network() {
  local tables
  cat "$forward"
  for tables in iptables ip6tables; do # without IPv6 the second fails, and then it has nothing to forget
    "$tables" -S FORWARD 2>/dev/null | sed -n "s/^-P FORWARD /$tables /p" || :
  done
}

# An engine that stops leaves its bridge, its rules, and a FORWARD chain that drops packets.
forget_network() {
  local tables policy
  ! ip link show docker0 >/dev/null 2>&1 || ip link del docker0
  {
    read -r policy && echo "$policy" >"$forward"
    while read -r tables policy; do
      "$tables-save" | sed '/docker/Id' | "$tables-restore"
      "$tables" -P FORWARD "$policy"
    done
  } <"$network"
  rm -f "$network"
}

start() {
  local packages
  mapfile -t packages < <(missing)
  answers && [ ${#packages[@]} -eq 0 ] && return
  [ "$(id -u)" = 0 ] || { echo "engine.sh: only root can install and start an engine" >&2; exit 1; }
  [ ${#packages[@]} -eq 0 ] || install_packages "${packages[@]}"
  if ! answers; then
    mkdir -p "$ci_cache"
    note_network >"$network"
    nohup dockerd >"$log" 2>&1 </dev/null &
    echo $! >"$pid"
    for _ in $(seq 150); do answers && break; sleep .2; done
  fi
  answers || { tail -n 20 "$log" >&2; exit 1; }
  docker version -f 'engine {{.Server.Version}}, API {{.Server.APIVersion}}'
  docker compose version
  docker buildx version
}

stop() {
  [ -e "$pid" ] || return 0
  local p
  p=$(cat "$pid")
  rm -f "$pid"
  [[ $(cat "/proc/$p/comm" 2>/dev/null) == dockerd ]] || return 0 # gone, and its number somebody else's
  kill "$p"
  for _ in $(seq 150); do kill -0 "$p" 2>/dev/null || break; sleep .1; done
  ! kill -0 "$p" 2>/dev/null || { echo "engine.sh: dockerd ($p) is still there 15 s after SIGTERM" >&2; exit 1; }
  forget_network
}

case ${1:-} in
  start | stop) "$1" ;;
  *) echo "usage: $0 start|stop" >&2; exit 2 ;;
esac
