// Package grpcapi serves NodeRegistryService: it checks requests, passes them on and translates the results.
//
// What the package promises: a malformed id in a field of the whole request is INVALID_ARGUMENT, in an item of a batch it
// fails that item only; a store or bus that cannot be reached is UNAVAILABLE with a reason of [errs]; callers are told
// nothing else about internal errors.
package grpcapi
