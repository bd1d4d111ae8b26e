// Package zeus is the dialect of docs/protocols/zeus-nodes.md: /ws/extension, /ws/desktop and /ws/web, to the byte.
//
// Its nodes speak JSON-RPC, so its codec passes calls and answers on as they came. Frames that the server writes have the
// protocol's keys and no other.
package zeus
