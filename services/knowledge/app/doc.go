// Package app is a knowledge service: its configuration, its parts in the order in which they start and stop, and the program of its
// own that it is.
package app
