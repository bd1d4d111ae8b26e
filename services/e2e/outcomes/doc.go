// Package outcomes holds the scenarios of docs/architecture.md#what-every-call-promises: what a
// caller hears, how soon, and what the node sees of it, over two and three pods.
package outcomes
