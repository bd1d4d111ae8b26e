// Package stubgateway is the server's side of the Zeus WebSocket protocol for one process and no product logic: real
// sockets, over which a test hears what a client says and says what it likes, also what a good gateway never would.
//
// It registers nodes, acknowledges heartbeats, sends {"type":"ping"} every 20 s and matches answers to calls; it keeps no
// presence, no limits and no queue, and believes every id.
package stubgateway
