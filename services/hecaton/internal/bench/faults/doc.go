// Package faults reads a schedule of faults and makes them happen, one after the other, while a load goes on: each is a
// shell command that breaks something, a time in which it stays broken, a command that mends it, and a time in which
// everything settles.
//
// What was broken is mended whatever happens: also where the load is stopped in between.
package faults
