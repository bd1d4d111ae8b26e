// Package echotest has a throw-away dialect for tests: it shows that a protocol with frames, an identity and topics of its own
// is served like any other. No program links it.
//
// Its frames are binary: one letter, then fields with a zero byte between them.
//
//	client  H user node    first: who it is
//	server  W              it is connected
//	server  C id tool args a call
//	server  X id           nobody waits for the call any more
//	client  A id text      the answer
//	client  N id text      news of a call in progress
//	both    P              a sign of life, asked for by the server
//	both    J room         it wants to hear what is said in a room; it does
//	client  S room text    it says something in a room
//	server  S text         somebody said it
package echotest
