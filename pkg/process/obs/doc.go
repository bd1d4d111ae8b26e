// Package obs is how a pod is seen from outside: logs, metrics, traces and its admin port (docs/architecture.md#ports).
//
// Nothing here is global. Several pods may live in one process, so each has its own [prometheus.Registry], its own
// [Tracing] and its own [Admin] server, and a nil logger or nil *Tracing is one that does nothing.
//
// Traces follow W3C Trace Context over HTTP, gRPC, NATS and, as a bare traceparent, in the frames of a socket. Where
// tracing is off, what a caller sent is still passed on, and a call without it costs no allocation.
//
// Logs carry the trace ids of their context; they never carry the contents of frames or tokens, which is up to those who
// write them.
package obs
