// Package codec says what a dialect translates at the socket.
//
// The bus has one format: a call is a JSON-RPC tools/call request, an answer is a JSON-RPC response, progress is the params
// of a notifications/progress. A [Codec] turns these into the frames that one client reads, and says of each frame that the
// client sends what it means. Nothing below the dialects (calls, hub, holder, router) looks into a socket's frame.
//
// A codec whose client speaks JSON-RPC itself returns the bytes that it was given: such calls and answers cross the pod
// without a copy (ADR 4).
package codec
