# shellcheck shell=bash disable=SC2034,SC2016
# Sourced by the scripts here: where things lie and how the cluster is laid out.
# Everything may be set from outside.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
K8S_BIN=${K8S_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/hecaton-ci/k8s} # built programs, outside of the tree: a fresh clone has them too
K8S_STATE=${K8S_STATE:-$here/.state} # everything a running cluster writes
K8S_NODES=${K8S_NODES:-2}            # how many nodes up.sh starts
K8S_NET=${K8S_NET:-10.88}            # the /16 the cluster lives in
K8S_NAME=${K8S_NAME:-kube}           # of its interface and cgroup on this machine
# Extra flags, for instance to make an outage be noticed sooner than in real life.
K8S_APISERVER_FLAGS=${K8S_APISERVER_FLAGS:---default-not-ready-toleration-seconds=20 --default-unreachable-toleration-seconds=20}
K8S_CONTROLLER_FLAGS=${K8S_CONTROLLER_FLAGS:---node-monitor-grace-period=20s --horizontal-pod-autoscaler-sync-period=5s --horizontal-pod-autoscaler-cpu-initialization-period=20s --horizontal-pod-autoscaler-initial-readiness-delay=5s}
K8S_ADDONS=${K8S_ADDONS:-1} # 0: no scheduler, DNS, metrics (for checks that run no pods)
export K8S_BIN K8S_STATE K8S_NODES K8S_NET K8S_NAME K8S_APISERVER_FLAGS K8S_CONTROLLER_FLAGS K8S_ADDONS

control=$K8S_NET.0.1 host=$K8S_NET.0.254           # machines: NET.0.0/24
services=$K8S_NET.128.0/20 pods=$K8S_NET.64.0/18   # pods of node i: NET.(64+i).0/24
dns=$K8S_NET.128.10
node_ip() { echo "$K8S_NET.0.$((10 + $1))"; }
node_pods() { echo "$K8S_NET.$((64 + $1)).0/24"; }
kubectl() { "$K8S_BIN/kubectl" --kubeconfig "$K8S_STATE/kubeconfig" "$@"; }

# until_ok SECONDS WHAT COMMAND…: waits for COMMAND to succeed.
until_ok() {
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || { echo "gave up waiting for $what" >&2; return 1; }
		sleep 0.2
	done
}

# A machine is one process with namespaces of its own (processes, network,
# mounts, host name): when that process is killed, all of the machine is gone.
machine_pid() { # NAME: fails when it is not up (a left-over number may be another process's by now)
	local p
	p=$(cat "$K8S_STATE/$1/pid" 2>/dev/null) && grep -qaF "$here/" "/proc/$p/cmdline" 2>/dev/null && echo "$p"
}
in_machine() { local p; p=$(machine_pid "$1"); shift; nsenter -t "$p" -m -n -p -u -- "$@"; }
machine_start() { # NAME SCRIPT ARGS…
	local name=$1
	shift
	mkdir -p "$K8S_STATE/$name"
	setsid unshare --pid --net --mount --uts --fork --mount-proc --kill-child \
		bash -c 'set -e; hostname "$1"; mount --make-rshared /; shift; exec bash "$@"' - "$name" "$@" \
		>"$K8S_STATE/$name/machine.log" 2>&1 </dev/null &
	local starter=$!
	until_ok 5 "$name" pgrep -P "$starter"
	pgrep -P "$starter" >"$K8S_STATE/$name/pid"
}
machine_begins() { # NAME: what a machine's own script calls first: waits for its network
	own=$K8S_STATE/$1 PATH=$K8S_BIN:$PATH
	until [[ -e $own/net ]]; do sleep 0.05; done
	rm "$own/net"
}
keep() { # NAME COMMAND…: in a machine, runs COMMAND and starts it again when it ends
	local name=$1
	shift
	while :; do
		"$@" >>"$own/$name.log" 2>&1 || true
		sleep 1
	done &
}
keep_proxy() { # NAME: in a machine, makes services reachable
	keep proxy kube-proxy --kubeconfig="$K8S_STATE/pki/proxy.conf" --hostname-override="$1" --cluster-cidr="$pods" \
		--conntrack-max-per-core=0 --conntrack-min=0 \
		--conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0
}
machine_kill() { # NAME: at once, as when its power fails
	local p
	p=$(machine_pid "$1") || return 0
	kill -9 "$p"
	until_ok 10 "the end of $1" test ! -e "/proc/$p"
	rm -f "$K8S_STATE/$1/pid"
}

rmdir_cgroups() { # PATH: deletes a cgroup and all below it, where no process is left in it
	local tree
	for tree in /sys/fs/cgroup /sys/fs/cgroup/*; do
		[[ ! -d $tree/$1 ]] || find "$tree/$1" -depth -type d -exec rmdir {} + 2>/dev/null || true
	done
}
