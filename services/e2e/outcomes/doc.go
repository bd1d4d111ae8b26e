// Package outcomes holds the scenarios of docs/architecture.md, "What every call promises" and "One connection": what a
// caller hears, how soon, and what the node sees of it, over two and three pods.
package outcomes
