// Package netguard keeps requests to addresses that users chose, of models, MCP servers and providers, away from what
// only the cluster may reach (docs/architecture.md#agents-at-the-edge).
//
// [Guard.Check] refuses what an address shows by itself, early and with the reason. [Guard.Client] also refuses what it
// resolves to: the address that is dialled is the one that is checked, on redirects too, so that a name that changes its
// mind changes nothing. Proxies of the environment are not used. A redirect to another origin takes no credential along.
package netguard
