// Package nodes simulates nodes: sockets that answer every call at once with a result made beforehand.
//
// They share the machine with what is measured, so they do as little as a WebSocket client can: frames are read into one
// buffer per connection, an answer is three slices of memory of which only the call's id is new, and the masking key is
// zero, which leaves the payload as it is. A pod cannot tell: it unmasks with whatever key comes.
package nodes
