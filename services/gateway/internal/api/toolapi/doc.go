// Package toolapi serves ToolService: the router for everything that is not a client of a dialect.
//
// Answers leave by reference: the bytes that came from the node's socket, or from the bus, are what gRPC writes, inside
// a few bytes of protobuf made by hand. Marshalling them would copy 200 KiB per call, and clear the buffer for it first.
package toolapi
