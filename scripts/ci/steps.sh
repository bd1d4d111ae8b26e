# shellcheck shell=bash
# Sourced by .ci/run and scripts/ci/nightly.sh: named steps whose durations are printed at the end, on a Debian 12 machine with
# a Docker engine of its own. They leave no process behind, also after a failure.
export CI=true
# CI's own engine has no registry, so the images are built here; and it is stopped at the end, so nothing has to be cleaned up.
export TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX=ci.local TESTCONTAINERS_RYUK_DISABLED=true
# If /.dockerenv exists, testcontainers assumes that it runs in a container, and looks for ports at another address.
export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1

durations=() current='' began=0
step() { # step <name> <command>...
  current=$1 began=$SECONDS
  shift
  printf '\n===== %s\n' "$current"
  "$@"
  durations+=("$(duration $((SECONDS - began)) "$current")")
  current=''
}

duration() { printf '%5d s  %s' "$1" "$2"; }

finish() {
  local code=$?
  trap - EXIT INT TERM
  [ -z "$current" ] || durations+=("$(duration $((SECONDS - began)) "$current: FAILED")")
  scripts/ci/engine.sh stop || code=1
  printf '\n===== tests that may be flaky (scripts/ci/flaky.txt)\n'
  grep -v '^#' scripts/ci/flaky.txt || echo none
  printf '\n===== durations\n'
  printf '%s\n' "${durations[@]}" "$(duration "$SECONDS" 'in all')"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# room refuses to begin where the disk would be full on the way: tests fail then far from the cause.
room() { # room <GiB>
  local free
  free=$(($(df --output=avail -k . | tail -n 1) >> 20))
  [ "$free" -ge "$1" ] && return
  echo "$free GiB of the disk are free, of $1 that the steps need: go clean -cache gives back what Go built before"
  return 1
}

# machine installs what the steps need, starts the engine and builds the images.
machine() {
  local packages=(redis-server postgresql chromium python3-websockets xvfb scrot shellcheck gcc libc6-dev curl openssl prometheus bubblewrap)
  command -v node >/dev/null || packages+=(nodejs)
  step 'room on the disk' room 12
  step 'install' scripts/ci/install.sh "${packages[@]}"
  step 'Docker engine' scripts/ci/engine.sh start
  step 'images' scripts/ci/images.sh
}
