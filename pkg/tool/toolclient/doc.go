// Package toolclient is how a service of ours calls tools: through any gateway, many calls over one stream to each
// (docs/architecture.md#services).
//
// What the package promises:
//
//   - Calls go to all gateways in turn. A name is looked up again and again, so new gateways are used and old ones dropped;
//     while a look-up fails, the known ones stay.
//   - A call that may have reached a gateway is never sent again. When its stream breaks it ends HOLDER_LOST: the outcome
//     is unknown. A call that was still waiting to be written goes to another gateway.
//   - Of what a gateway answers only "not delivered" is tried again, and of that only what heals by itself, for as long as
//     [Patience] and the call's own deadline allow: DRAINING and BUS_UNAVAILABLE at once on another gateway,
//     NODE_NOT_CONNECTED and NODE_BUSY after a short pause, but for a call that names its node's connection (Call.epoch).
//     REQUIRES_SELECTION, TOOL_NOT_OFFERED and TOO_LARGE are not. A budget bounds the retries of all calls together, so that
//     retries do not make an overloaded cluster worse.
//   - Every failed call ends with an *[errs.Error], but for a call that no gateway could understand: that is a gRPC status
//     of codes.InvalidArgument, or of codes.Internal where the gateway itself failed.
//   - A call ends at once when its caller cancels; the gateway is told, and tells the node.
//   - One call that is too large, or not valid UTF-8, fails alone: it is refused before it can end the stream it shares.
//   - Questions about nodes and sessions go to the gateways in turn like calls, and to the next one where a gateway cannot
//     answer.
//   - When a gateway shuts down, calls that are open on it still get their answers.
package toolclient
