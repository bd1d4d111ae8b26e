// Package rolling replaces every pod of a cluster, one after the other, under a constant load of calls and runs, as a
// rollout does: processes get SIGTERM, and clients are behind a load balancer that knows only readiness. No call is lost,
// none runs twice, and clients reconnect spread over time (docs/architecture.md#drain).
package rolling
