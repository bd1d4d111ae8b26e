// Package auth says who is calling (docs/architecture.md#identity).
//
// Users are known by a JWT, or, in trusted mode, by the id they name: that mode is for a cluster that listens on loopback
// only. [Authenticator.Authenticate] is for REST, [Authenticator.AuthenticateSocket] for WebSockets; pages that may not call
// are kept out before both (package webguard). Services authenticate each other by mutual TLS or a shared token
// ([ServiceAuth]).
//
// What the package promises:
//
//   - The algorithms that a token may be signed with follow from the kind of key that was configured, never from the
//     token. "none" is never among them.
//   - A token without exp or without a usable sub is refused; so is one of another issuer or audience, where those are
//     configured.
//   - Each refusal is an *[Error] of kind [BadRequest], [Unauthenticated] or [Forbidden], and says what would be right
//     without repeating any part of a token.
//   - In jwt mode a user that a request names must be the token's subject.
package auth
