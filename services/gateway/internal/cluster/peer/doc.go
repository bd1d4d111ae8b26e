// Package peer takes large answers straight from the pod that holds a node to the pod that waits for the call, past the
// bus: at 200 KiB the bus server's copies were 40 % of the CPU of a call.
//
// It is a shortcut and never the only way: where a pod has no reachable address, or a link is down or full, the answer
// goes over the bus in parts. So a link needs no acknowledgements: what it could not write is handed back to be
// published, and an answer that arrives twice ends its call once.
//
// A link is one TCP connection, with mutual TLS where services have it. In its preface both sides show that they know a key
// that the listening pod makes at its start and tells over the bus, to gateways only: a program that merely reaches the port can
// bring no answer, and one that has taken over the address gets none. After that each message is a call's number and its answer.
package peer
