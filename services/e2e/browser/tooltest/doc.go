// Package tooltest calls a node's tools in tests, whoever carries the call: a stub gateway, a cluster's gRPC or REST.
//
// A Caller is one way to a node. Its methods check what every tool's answer must be: a result with text first, or an error
// with its code.
package tooltest
