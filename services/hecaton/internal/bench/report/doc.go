// Package report is what a bench says at its end: as text for people, as JSON for programs, and as a chart of latency over
// time, in text and as SVG.
package report
