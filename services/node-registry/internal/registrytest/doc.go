// Package registrytest runs tests of presence on every kind of Redis that it must work on: a real server, a real Redis
// Cluster, and miniredis, which the embedded cluster uses.
package registrytest
