// Package grpcapi is AgentService: it checks each request and the user for whom it is made, passes it to the engine or the
// store, and streams events.
//
// What the package promises:
//
//   - A request with a wrong field is refused before anything happens; the error names the field.
//   - A stream that ends leaves its run going, unless the request said that the run ends with it.
//   - A pod that drains takes no new runs, and ends its streams with errs.AgentUnavailable: they are followed elsewhere.
package grpcapi
