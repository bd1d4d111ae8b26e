// Package zeus holds the scenarios of docs/protocols/zeus-nodes.md over real pods: what a client of the Zeus protocol sees, to
// the byte.
package zeus
