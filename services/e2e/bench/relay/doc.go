// Package relay is the yardstick: the shortest way from a gRPC caller to a node's socket and back across two pods, with
// no product logic.
//
//	caller → gRPC unary or stream → entry pod → NATS request → holder pod → WebSocket → node, and back the same way
//
// It is what a careful programmer writes in an afternoon: plain libraries, compression off, answers read into pooled
// buffers. It keeps no presence, knows no users, checks nothing, and hands answers to requests in the order of the
// requests. A node or a caller that misbehaves breaks it; the ratios compare against what such a relay costs.
package relay
