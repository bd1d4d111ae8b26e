// Package catalogue is what a client of /mcp may see and call: the tools of all sources, narrowed by what the client's URL and
// token leave of them.
//
// A [Source] has the tools of one kind: devices, say. It knows nothing of filters and scopes: [View] applies them, in one place for
// lists and calls, so that what is hidden is refused too.
package catalogue
