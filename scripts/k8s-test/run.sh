#!/usr/bin/env bash
# Installs the chart on a cluster of three nodes of this machine, and does to it what operators do, under load (faults.yaml).
# Exits 0 where the ledgers of callers and nodes agree, and nothing was lost where nothing may be.
# Usage: run.sh [directory for the report]     Needs root, a Docker engine, and the images of make images.
. "$(dirname "$0")/lib.sh"
out=$(realpath -m "${1:-bin/k8s-test}")
images=(hecaton/{gateway,node-registry,agent-orchestrator,knowledge,hecaton}:{dev,next} ci.local/{nats:2.15,redis:8.0,pgvector/pgvector:pg17})

begin() {
  cp "$K8S_STATE/kubeconfig" "$KUBECONFIG"
  kubectl create namespace "$release"
  kubectl config set-context --current --namespace="$release" >/dev/null
  openssl rand -hex 32 | tr -d '\n' >"$K8S_STATE/jwt-secret"
  # shellcheck disable=SC2046 # words
  kubectl create secret generic "$release" --from-file=jwt-secret="$K8S_STATE/jwt-secret" \
    --from-literal=service-token="$(openssl rand -hex 32)" --from-literal=secret-keys="$(openssl rand -base64 32)" --from-literal=mcp-keys="$(openssl rand -base64 32)" \
    --from-literal=postgresql-password="$(openssl rand -hex 16)" \
    $(for of in nats-password-{gateway,node-registry,agent-orchestrator,knowledge,routes} redis-password-{node-registry,agent-orchestrator}; do
      echo "--from-literal=$of=k$(openssl rand -hex 24)"
    done)
  kubectl label nodes node1 node3 example.org/bus=here
  # Every node is this machine: a directory of it is a volume that all of them see.
  install -d -o 65532 -g 65532 "$K8S_STATE/files"
  sed "s|DIRECTORY|$K8S_STATE/files|" scripts/k8s-test/files.yaml | kubectl apply -f -
  helm install "$release" "$chart" -f scripts/k8s-test/values.yaml --wait --timeout 180s >/dev/null
  kubectl get pods -o wide
}

# Kubernetes deletes the logs of a pod with the pod: another link to each file keeps it.
keep_logs() {
  rm -rf "$out/logs"
  mkdir -p "$out/logs"
  while sleep 1; do cp -aln "$K8S_STATE"/node*/var/log/pods/"$release"_* "$out/logs" 2>/dev/null || :; done
}

go build -o bin/hecaton ./services/hecaton/cmd/hecaton
for program in gateway node-registry agent-orchestrator knowledge hecaton; do
  docker tag "hecaton/$program:dev" "hecaton/$program:next" # what the upgrade upgrades to
done
trap 'kill $(jobs -p) 2>/dev/null; scripts/k8s/down.sh' EXIT
scripts/k8s/up.sh
scripts/k8s/load-image.sh "${images[@]}" >/dev/null
begin
helm test "$release" --logs
keep_logs &
gateway=$(kubectl get service "$release-gateway" -o jsonpath='{.spec.clusterIP}')
bin/hecaton bench --server "http://$gateway:8080" --auth-secret-file "$K8S_STATE/jwt-secret" \
  --users 12 --nodes 60 --callers 16 --rate "${RATE:-60}" --runs 3 --payload 200,64KiB:0.05 --think 0-20ms --duration 10s \
  --faults "${FAULTS:-scripts/k8s-test/faults.yaml}" --out "$out"
