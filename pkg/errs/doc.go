// Package errs is the one table of what can go wrong with a call (docs/architecture.md#what-every-call-promises).
//
// A call that was not answered ends with an [Error] of one of two classes. Not delivered: the node never saw the call,
// so the caller may try again. Outcome unknown: the node may have done it, so nobody but the caller decides. The package
// maps each [Reason] to gRPC, HTTP and back, so that the class survives every hop; [errors.Is] works on reasons.
package errs
