#!/usr/bin/env bash
# Checks the chart without a cluster: helm's own checks, values that must be refused, an API server that accepts or refuses
# every object, and the manifests made of it. Needs what scripts/k8s/build.sh builds; no root.
set -euo pipefail
cd "$(dirname "$0")/../.."
chart=deploy/helm/hecaton
operator=v0.85.0 # of Prometheus: brings the definition of ServiceMonitor
issuer=v1.21.2   # of cert-manager: that of Certificate
export PATH=${K8S_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/hecaton-ci/k8s}:$PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
good=("$chart"/values.yaml "$chart"/values-*.yaml "$chart"/ci/*.yaml)

fail() { printf 'chart.sh: %s\n' "$*" >&2; exit 1; }

lint() {
  local f
  for f in "${good[@]}"; do helm lint --strict --quiet "$chart" -f "$f" || fail "helm lint with $f"; done
}

# The first line of each file is a part of the error that helm must report for it.
bad_values_are_refused() {
  local f want got
  for f in "$chart"/ci/refused/*.yaml; do
    want=$(sed -n '1s/^# //p' "$f")
    ! got=$(helm template x "$chart" -f "$f" 2>&1 >/dev/null) || fail "$f is not refused"
    [[ $got == *"$want"* ]] || fail "$f is refused, but not with \"$want\": $got"
  done
}

# A program ignores variables that it does not know, so nobody would notice that one was renamed.
variables_are_known() {
  local program help f name
  for program in gateway node-registry agent-orchestrator knowledge; do
    help=$(go run "./services/$program/cmd/$program" --help)
    for f in "${good[@]}"; do
      helm template x "$chart" -f "$f" -s "templates/$program.yaml" >"$tmp/one" 2>/dev/null || continue # not with these
      for name in $(grep -oP '^\s+- (\{name|name): \K[A-Z][A-Z0-9_]+' "$tmp/one" | sort -u); do
        case $name in GOGC | AWS_* | PGSSL* | *_PASSWORD) continue ;; esac # of the values file, of PostgreSQL's client, and ingredients
        grep -qw -- "$name" <<<"$help" || fail "$program does not know $name"
      done
    done
  done
}

manifests_are_made_of_it() {
  scripts/manifests.sh "$tmp/manifests"
  diff -r deploy/kubernetes "$tmp/manifests" || fail 'deploy/kubernetes is not what the chart makes: run make manifests'
}

# Against an API server, called below: whatever it refuses or warns of is wrong. The namespace asks of pods what the strictest
# of Kubernetes' standards asks.
objects_are_accepted() {
  local f definitions=("${@/#/--filename=}")
  kubectl create "${definitions[@]}" >/dev/null
  kubectl label namespace default pod-security.kubernetes.io/{enforce,warn}=restricted >/dev/null
  kubectl wait --for=condition=Established --timeout=30s "${definitions[@]}" >/dev/null
  for f in "${good[@]}" deploy/kubernetes/*.yaml; do
    case $f in
      deploy/kubernetes/*) cp "$f" "$tmp/objects" ;;
      *) helm template hecaton "$chart" -f "$f" >"$tmp/objects" ;;
    esac
    kubectl apply --dry-run=server --validate=strict -f "$tmp/objects" >"$tmp/said" 2>&1 || fail "$f: $(cat "$tmp/said")"
    ! grep -i '^warning' "$tmp/said" || fail "$f"
    printf '%4d objects of %s\n' "$(wc -l <"$tmp/said")" "$f"
  done
}

if [ "${1:-}" = with-api ]; then
  objects_are_accepted "${@:2}"
  exit
fi
lint
bad_values_are_refused
manifests_are_made_of_it
variables_are_known
directory() { go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'; } # of a module
prometheus=$(directory "github.com/prometheus-operator/prometheus-operator@$operator")
certificates=$(directory "github.com/cert-manager/cert-manager@$issuer")
scripts/k8s/api.sh scripts/k8s/checks/run.sh
scripts/k8s/api.sh "$0" with-api "$prometheus/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" \
  "$certificates/deploy/crds/cert-manager.io_certificates.yaml"
