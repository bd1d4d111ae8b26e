// Package rest is the REST API of nodes, as the public reference of the Zeus backend has it: under /api/node and, for
// older clients, under /node. Successful answers have the reference's shapes; what a failed call means is in `reason` and
// `outcome` of its problem+json (docs/architecture.md, "What every call promises").
package rest
