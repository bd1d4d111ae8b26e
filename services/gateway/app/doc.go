// Package app is the gateway as a part of a program: configuration, wiring, start and stop.
//
// A gateway keeps nothing that another pod needs. [App.Run] starts its parts in the order in which they depend on each
// other, and at the end drains before it stops them in reverse.
package app
