// Package builtin has the tools that an orchestrator brings along (docs/protocols/zeus-agents.md#tool-layers): the todo list
// of a run ([Todos]), sub-agents ([NewTask]), and the files of the user's workspace ([NewFiles]).
//
// What the package promises:
//
//   - What a tool cannot do is a result that the model can read, not a failure: a file that is not there, arguments that make
//     no sense.
//   - No result is greater than what a model is told of one (64 KiB): a large file is read in parts, a long listing is cut,
//     and both say how to go on.
//   - The names of the public reference are kept where it has them (write_todos, read_todos, task). The files' names begin
//     with workspace_, so that they do not take those of a node's tools, such as read_file.
//
// There is no web search: it needs a provider, which MCP servers bring along.
package builtin
