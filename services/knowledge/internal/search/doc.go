// Package search finds the passages of knowledge bases that answer a query best: the nearest by vector and the best by keywords, joined
// by weighted reciprocal ranks.
package search
