// Package histogram counts durations in log-linear buckets: each power of two is divided into 128 equal parts, so that a
// quantile is at most 1/128 above the exact one, whatever its size. Its memory is bounded by the longest duration, not by
// how many there are.
package histogram
