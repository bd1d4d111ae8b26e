// Package netguard keeps requests to addresses that users chose, of models, MCP servers and providers, away from addresses
// that only the cluster may reach (docs/architecture.md#agents-at-the-edge).
//
// [Guard.Check] looks at an address without resolving it, and refuses it early and with the reason. [Guard.Client] also
// checks what a name resolves to: it checks exactly the IP address that it dials, on redirects too, so that a name that
// resolves differently the second time gains nothing. Proxies of the environment are not used. A redirect to another origin
// carries no credentials.
package netguard
