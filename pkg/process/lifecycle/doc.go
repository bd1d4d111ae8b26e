// Package lifecycle starts the parts of a program in order and stops them in reverse.
//
// A [Group] promises: a part is started only when those before it work; the first that fails stops all; each stops only
// when those after it have stopped; all of this within one deadline; and when Run returns, every goroutine it started
// has ended, or the error names the one that would not. [Signals] turns SIGINT and SIGTERM into the end of a context.
// [Ready] is what /readyz answers from.
package lifecycle
