// Package grpcapi is AgentService: it checks what a request says, for whom it is made, hands it to the engine and the store,
// and streams events.
//
// What the package promises:
//
//   - What a request says wrong is refused before anything happens, with the name of the field.
//   - A stream that ends leaves its run going, unless the request said that the run ends with it.
//   - A pod that drains takes no new runs, and ends its streams with errs.AgentUnavailable: they are followed elsewhere.
package grpcapi
