// Package envelope is the format of the bus: headers (docs/protocols/bus.md#call), and the frames between them.
//
// A call is a JSON-RPC tools/call request, its answer a JSON-RPC response; the codec of the node's dialect translates them at
// the socket, where the client speaks something else. Frames that clients of one dialect send each other travel as they came.
package envelope
