// Package grpcapi serves NodeRegistryService: it checks what comes in, asks, and says what came of it.
//
// It promises: a malformed id in a field of the whole request is INVALID_ARGUMENT, one in an item of a batch fails that
// item only; a store or bus that is away is UNAVAILABLE with a reason of [errs]; nothing else of what went wrong inside
// is told outside.
package grpcapi
