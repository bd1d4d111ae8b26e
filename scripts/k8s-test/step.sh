#!/usr/bin/env bash
# One thing that operators do, or that happens to them; returns when it is over. faults.yaml calls it under load.
. "$(dirname "$0")/lib.sh"

# A rollout is over for Kubernetes when the new pods are ready; those that leave still send their clients away then.
gone() { [[ -z $(kubectl get pods -o jsonpath='{.items[*].metadata.deletionTimestamp}') ]]; }
all_gone() { until_ok 120 'the end of the pods that leave' gone; }

rolled_out() { kubectl rollout status --timeout=240s "$1"; }

# gateways N: whether there are exactly so many pods, those that leave included, and all are ready.
gateways() {
  kubectl get pods -l app.kubernetes.io/component=gateway -o jsonpath='{range .items[*]}{.status.containerStatuses[0].ready} {end}' |
    grep -qxE "(true ){$1}"
}

upgrade() { helm upgrade "$release" "$chart" --reuse-values --wait --timeout 240s "$@"; }

case ${1:?what} in
  scale) # scale <gateways>
    kubectl scale "deployment/$release-gateway" --replicas="$2"
    until_ok 120 "$2 gateways" gateways "$2"
    ;;
  autoscale) # autoscale <connections per gateway> <gateways expected>
    upgrade --set gateway.autoscaling.enabled=true,gateway.autoscaling.maxReplicas=5 \
      --set gateway.autoscaling.connections.perPod="$2" --set gateway.autoscaling.cpu=null \
      --set gateway.autoscaling.scaleDown.stabilizationSeconds=10,gateway.autoscaling.scaleDown.periodSeconds=10
    until_ok 150 "$3 gateways" gateways "$3"
    ;;
  restart) # restart <kind/name>...: one after the other
    shift
    for what; do
      kubectl rollout restart "${what/\//\/$release-}"
      rolled_out "${what/\//\/$release-}"
      all_gone
    done
    ;;
  upgrade) upgrade --set image.tag=next,log.level=warn && all_gone ;;
  rollback) helm rollback "$release" --wait --timeout 240s && all_gone ;;
  drain) kubectl drain "$2" --ignore-daemonsets --delete-emptydir-data --timeout=240s ;;
  uncordon) kubectl uncordon "$2" ;;
  lose) scripts/k8s/down.sh "$2" ;;
  return)
    scripts/k8s/up.sh
    for d in gateway node-registry agent-orchestrator knowledge; do rolled_out "deployment/$release-$d"; done
    ;;
  *) echo "step.sh: $1 is no step" >&2; exit 2 ;;
esac
