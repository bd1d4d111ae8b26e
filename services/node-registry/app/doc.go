// Package app is the node-registry as a part of a program: configuration, wiring, start and stop.
//
// Every replica answers every request, since all state is in Redis and all events go over NATS; so a replica may stop at
// any moment. It needs neither to start: without Redis it answers UNAVAILABLE, without NATS nobody hears of changes, and
// /readyz says so until they are back.
package app
