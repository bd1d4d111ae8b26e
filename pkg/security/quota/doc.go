// Package quota is how a limit of one user is told to who met it: the same in REST (RateLimit-* and Retry-After), in a gRPC
// status (google.rpc.ErrorInfo's metadata and google.rpc.RetryInfo), and on streams of many calls.
package quota
