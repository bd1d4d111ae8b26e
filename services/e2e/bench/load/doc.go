// Package load makes calls, from a fixed number of workers or at a fixed rate, and keeps what each of them took.
//
// The workers are a closed loop: each makes its next call when the one before is answered. Every sample is kept, so the
// quantiles are exact.
package load
