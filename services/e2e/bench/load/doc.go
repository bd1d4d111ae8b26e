// Package load makes calls from a fixed number of workers and keeps what each of them took.
//
// The loop is closed: a worker makes its next call when the one before is answered. Every sample is kept, so the
// quantiles are exact.
package load
