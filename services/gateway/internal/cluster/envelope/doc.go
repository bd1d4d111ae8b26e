// Package envelope is what routers and holders write around frames on the bus: the headers of docs/architecture.md,
// "Bus". A frame itself travels as the message's payload, byte for byte as it goes to or came from the socket.
package envelope
