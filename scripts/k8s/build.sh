#!/usr/bin/env bash
# Builds everything a cluster needs from Go modules, unless it is there already.
# Needs only Go (and docker, for the pause image).
# shellcheck source-path=SCRIPTDIR source=env.sh
source "$(dirname "$0")/env.sh"
export CGO_ENABLED=0 GOWORK=off # kube is a module of its own, outside of the workspace
version=$(cd "$here/kube" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.} minor=${minor%%.*}
cni=v1.9.1 helm=v3.22.0

mkdir -p "$K8S_BIN/cni"
inputs=$(cat "$here/build.sh" "$here"/kube/{go.*,*.go,*/*.go} | sha256sum)
if [[ $(cat "$K8S_BIN/inputs" 2>/dev/null) != "$inputs" ]]; then
	rm -f "$K8S_BIN"/{kube,helm,pause.tar,cni/*}
fi
have() { [[ -e $K8S_BIN/$1 ]]; }

if ! have kube; then
	flags="-s -w"
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		flags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$minor"
	done
	(cd "$here/kube" && nice -n "${K8S_NICE:-15}" go build -trimpath -ldflags "$flags" -o "$K8S_BIN/kube" .)
fi
for name in etcd kubectl kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy coredns metrics; do
	ln -sf kube "$K8S_BIN/$name"
done
for plugin in main/ptp main/loopback ipam/host-local meta/portmap; do
	have "cni/${plugin#*/}" || GOBIN=$K8S_BIN/cni nice -n "${K8S_NICE:-15}" go install -trimpath -ldflags "-s -w" \
		"github.com/containernetworking/plugins/plugins/$plugin@$cni"
done
if ! have helm; then # which is told what cluster to take for granted when it asks none
	flags="-s -w -X helm.sh/helm/v3/internal/version.version=$helm"
	for package in chartutil lint/rules; do
		flags+=" -X helm.sh/helm/v3/pkg/$package.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$package.k8sVersionMinor=$minor"
	done
	GOBIN=$K8S_BIN nice -n "${K8S_NICE:-15}" go install -trimpath -ldflags "$flags" "helm.sh/helm/v3/cmd/helm@$helm"
fi
if ! have pause.tar; then
	work=$(mktemp -d)
	(cd "$here/kube" && go build -trimpath -ldflags "-s -w" -o "$work/pause" ./pause)
	tar -C "$work" -c pause | docker import -c 'ENTRYPOINT ["/pause"]' - localhost/pause:1 >/dev/null
	docker save -o "$K8S_BIN/pause.tar" localhost/pause:1
	rm -r "$work"
fi
echo "$inputs" >"$K8S_BIN/inputs"
