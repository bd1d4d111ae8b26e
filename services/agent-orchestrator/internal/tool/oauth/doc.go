// Package oauth lets agents act for a user at GitHub, Gmail, Google Drive, Slack and Notion
// (docs/protocols/zeus-agents.md#oauth): it turns authorization codes into tokens, keeps tokens fresh, and has a first set of
// tools for each.
//
// What it promises:
//
//   - A code is exchanged only for the user who began the authorization: with a configured page, and with a secret of ours if
//     the provider supports it (PKCE).
//   - A token goes to its provider's own origin and nowhere else, and is in no error and no log.
//   - A token is refreshed before a call if it has expired, and once after a 401; the new one is stored with the user's saved
//     configuration. If two pods refresh at once, one token is stored, and a pod whose own refresh failed uses it.
//   - A call is sent once. It is sent again only after a 401, which says that it did not run.
//   - Of a provider's answer an agent gets only what it needs. An error of the provider is an answer; the error of a call that
//     was not answered says whether it may have run.
//   - An identifier in the arguments is always one segment of a path, so it cannot reach another endpoint.
package oauth
