# shellcheck shell=bash disable=SC2034
# Sourced by its neighbours: the cluster of scripts/k8s, and the release in it.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export K8S_NODES=3
. scripts/k8s/env.sh
export KUBECONFIG=$K8S_STATE/operator PATH=$K8S_BIN:$PATH # up.sh's, with the release's namespace
unset -f kubectl
release=hecaton chart=deploy/helm/hecaton
