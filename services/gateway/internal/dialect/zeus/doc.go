// Package zeus speaks the protocol of docs/protocols/zeus-nodes.md at the edge: /ws/extension, /ws/desktop and /ws/web, to the
// byte.
//
// It turns frames into calls on the holder, the router and the fan-out, and knows nothing of other dialects. Frames that
// the server writes have the keys of that page and no other; frames that it relays are passed on as they came.
package zeus
