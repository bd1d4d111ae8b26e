// Package outcomes has the scenarios of docs/architecture.md#what-every-call-promises: what a caller is told, how soon, and
// what the node receives, over two and three pods.
package outcomes
