// Package zeus has the scenarios of docs/protocols/zeus-nodes.md over real pods: what a client of the Zeus protocol
// receives, byte for byte.
package zeus
