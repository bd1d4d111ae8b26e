// Package edge is the gateway's public HTTP side: one mux for dialects and REST, errors as application/problem+json
// (RFC 9457), and what belongs to every request: CORS, trace context, panics that end one request only.
package edge
