// Package rolling replaces every pod of a cluster, one after the other, under a constant load of calls and runs, as a rollout
// does: SIGTERM to processes, clients behind a load balancer that only knows readiness. No call is lost, none runs twice, and
// those who have to connect again do so spread in time (docs/architecture.md#drain).
package rolling
