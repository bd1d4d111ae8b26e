// Package cli is the command line of hecaton: one file for each command, over what the services export.
//
// Standard output has what was asked for, standard error what went wrong and what goes on meanwhile. The exit code says how
// it ended, see [Code]; of a call it says what its caller may assume (docs/architecture.md#what-every-call-promises).
package cli
