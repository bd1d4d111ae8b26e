// Package refusal is the one table of why the agent server does not do what it was asked: each [Reason] has its HTTP
// status and gRPC code, and survives the hop between them as google.rpc.ErrorInfo. What can go wrong with a call of a tool
// is package errs' to say.
package refusal
