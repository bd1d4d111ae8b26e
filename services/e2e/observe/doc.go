// Package observe holds what the cluster tells of itself to what it does: metrics to their conventions and to those who
// read them, and the spans of one run to one trace, without what users said.
package observe
