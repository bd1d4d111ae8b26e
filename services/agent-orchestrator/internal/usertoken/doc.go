// Package usertoken keeps the tokens that users make for their programs (docs/architecture.md#identity).
//
// A token is random, is shown once, and is kept as a hash: neither the database nor a gateway has it. What a gateway believes of a
// token comes from here, and a revoked one is told to all of them over the bus.
package usertoken
