// Package resource tells clients that know nothing but the gateway's address how to get a token for its MCP endpoint: the metadata
// of a protected resource (RFC 9728), without a token, since it is what a client without one asks for.
package resource
