// Package rest is the REST API of nodes, as the public reference of the Zeus backend has it: under /api/node and, for
// older clients, under /node. Successful answers have the shapes of docs/protocols/nodes-rest.md; what a failed call means is
// in `reason` and `outcome` of its problem+json (docs/architecture.md#what-every-call-promises).
package rest
