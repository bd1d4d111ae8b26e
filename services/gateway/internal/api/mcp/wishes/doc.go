// Package wishes is what sessions of the older revisions of MCP have subscribed to.
//
// A session is no pod's: its subscription may come in at one pod, and its stream be at another. So each pod tells all others of a
// subscription, and all remember it, a thousand bytes or so for each session. A pod that starts later does not know of it; a client whose
// stream ends there hears nothing of its resources until it subscribes again, which is what the protocol leaves to clients.
package wishes
