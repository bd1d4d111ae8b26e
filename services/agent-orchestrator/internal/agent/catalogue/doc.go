// Package catalogue is the tools that an agent has: by all their names, as a model is offered them, and to be searched.
//
// What the package promises:
//
//   - A [Catalogue] never changes once it is made; any number of goroutines may use it.
//   - A name that a model has once used for a tool means that tool to the run's end, whatever sources come and go. [Names]
//     remembers that, and is safe for concurrent use.
//   - One request offers at most 128 tools, and no more of them than fit into the tokens that it may take for tools.
package catalogue
