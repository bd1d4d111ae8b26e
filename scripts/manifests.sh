#!/usr/bin/env bash
# Writes deploy/kubernetes from the chart: what it makes of its defaults, and of its values for trying.
# Usage: manifests.sh [DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-deploy/kubernetes}
bin=${K8S_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/hecaton-ci/k8s}
helm=$(command -v "$bin/helm" helm | head -n 1) || { echo 'manifests.sh: no helm; scripts/k8s/build.sh builds one' >&2; exit 1; }

render() { # render <file> <values file>...
  local file=$1 values=() f
  shift
  for f; do values+=(-f "$f"); done
  {
    echo '# Made by "make manifests" from deploy/helm/hecaton; README.md there says which Secret it needs.'
    "$helm" template hecaton deploy/helm/hecaton --skip-tests "${values[@]}" | sed '/^# Source: /d'
  } >"$out/$file"
}

mkdir -p "$out"
render hecaton.yaml
render hecaton-trial.yaml deploy/helm/hecaton/values-trial.yaml
