// Package errs is the one table of the reasons for which Hecaton does not do what it was asked
// (docs/protocols/outcomes.md).
//
// An [Error] has a [Reason], and each reason is of one of three classes. Two are of calls that no node answered.
// [NotDelivered]: the node never saw the call, so the caller may try again. [Unknown]: the node may have run it, so only the
// caller can decide whether to try again. The third is of all other requests. [Refused]: the server has answered that it
// will not serve the request, and has changed nothing.
//
// The package maps each reason to gRPC, HTTP and back, so that it survives every hop; [errors.Is] works on reasons. An error
// about a limit carries it, as a [LimitMet].
package errs
