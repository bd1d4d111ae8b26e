// Package pgserver finds the PostgreSQL of this machine, and runs a server of one's own from it: on loopback, with its data
// in a directory that the caller makes and removes. It is below package testkit and for benchmarks, which are no tests.
//
// What the package promises:
//
//   - Programs are those in the directory TEST_POSTGRES_BIN, else on the PATH, else where Debian has them, of the newest
//     version there.
//   - Whoever calls may be root, as whom PostgreSQL refuses to run: then it runs as the user postgres, or nobody, who owns
//     the directory from then on (on Linux).
//   - A server ends at the latest with the program that started it (on Linux; elsewhere only if that stops it).
package pgserver
