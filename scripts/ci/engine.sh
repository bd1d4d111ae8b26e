#!/usr/bin/env bash
# A Docker engine on a bare Debian 12 machine, from Debian's packages alone. Usage: engine.sh start|stop
#
# start does nothing where an engine answers already; stop ends only what start started.
# The engine is Debian 13's: testcontainers asks for a newer API than Debian 12's engine speaks, and it needs nothing newer
# than Debian 12's libc. containerd, runc (which does need a newer one) and iptables are Debian 12's own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/trixie.sh"
log=$ci_cache/dockerd.log pid=$ci_cache/dockerd.pid

answers() { docker version >/dev/null 2>&1; }

install_engine() {
  local debs=$ci_cache/engine
  trixie_download "$debs" docker.io docker-cli
  set -- "$debs"/docker.io_*.deb
  command -v docker >/dev/null || set -- "$@" "$debs"/docker-cli_*.deb
  apt-get -qq update
  # Its postinst would start the engine through an init system where there is one; here start does, everywhere.
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
    "$@" iptables >/dev/null
}

start() {
  answers && return
  [ "$(id -u)" = 0 ] || { echo "engine.sh: only root can install and start an engine" >&2; exit 1; }
  command -v dockerd >/dev/null || install_engine
  if ! answers; then
    mkdir -p "$ci_cache"
    nohup dockerd >"$log" 2>&1 </dev/null &
    echo $! >"$pid"
    for _ in $(seq 150); do answers && break; sleep .2; done
  fi
  docker version -f 'engine {{.Server.Version}}, API {{.Server.APIVersion}}' || { tail -n 20 "$log" >&2; exit 1; }
}

stop() {
  [ -e "$pid" ] || return 0
  local p
  p=$(cat "$pid")
  rm -f "$pid"
  [[ $(cat "/proc/$p/comm" 2>/dev/null) == dockerd ]] || return 0 # gone, and its number somebody else's
  kill "$p"
  for _ in $(seq 150); do kill -0 "$p" 2>/dev/null || return 0; sleep .1; done
  echo "engine.sh: dockerd ($p) is still there 15 s after SIGTERM" >&2
}

case ${1:-} in
  start | stop) "$1" ;;
  *) echo "usage: $0 start|stop" >&2; exit 2 ;;
esac
