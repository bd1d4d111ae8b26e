// Package oauth lets agents act for a user at GitHub, Gmail, Google Drive, Slack and Notion
// (docs/protocols/zeus-agents.md#oauth): it turns authorization codes into tokens, keeps tokens fresh, and has a first set of
// tools for each.
//
// What it promises:
//
//   - A code is exchanged for who began the authorization only: on a page that was configured, and with a secret of ours where
//     the provider knows such (PKCE).
//   - A token goes to its provider's own origin and nowhere else, and is in no error and no log.
//   - A token that has expired is refreshed before a call, and once after a 401; the new one is kept with the user's saved
//     configuration. Two pods that refresh at once both go on with the token that won.
//   - A call is sent once. It is sent again only after a 401, which says that it did not run.
//   - What a provider answers is cut down to what an agent needs. An error of the provider is an answer; a call that was not
//     answered says whether it may have run.
//   - Identifiers in arguments are one segment of a path: they lead to no other endpoint.
package oauth
