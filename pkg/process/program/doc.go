// Package program is what the services' programs have in common: flags and environment, the log, signals, the healthcheck
// that a container runs, and what the process prints when it cannot go on.
//
// A service exports a [Program], and its main function is Program.Main(version). Whoever runs the service inside another
// program calls [Program.Serve] with settings that it has read itself.
package program
