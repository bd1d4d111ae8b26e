// Package cluster starts a whole Hecaton cluster inside a test: real pods in this process, a real NATS server and a real
// Redis of the test's own, clients over real sockets. What a test does to one cluster no other test sees.
package cluster
