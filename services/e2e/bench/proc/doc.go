// Package proc runs the parts of a benchmark in processes of their own: this binary, started again in a role.
//
// The parent speaks to a child by JSON-RPC (net/rpc) over the child's standard input and output. Every child has a
// service "Process" that tells what it consumed and takes profiles; a role adds services of its own. A child ends when
// its standard input does, so none outlives its parent, however that ended.
package proc
