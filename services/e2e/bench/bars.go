package main

import "fmt"

// target is what a ratio should be.
type target struct {
	bound float64
	least bool // the bound is the least, not the most
}

func atMost(bound float64) target  { return target{bound: bound} }
func atLeast(bound float64) target { return target{bound, true} }

func (t target) met(ratio float64) bool {
	if t.least {
		return ratio >= t.bound
	}
	return ratio <= t.bound
}

func (t target) String() string {
	if t.least {
		return fmt.Sprintf("≥ %.2f", t.bound)
	}
	return fmt.Sprintf("≤ %.2f", t.bound)
}

// figure is what ratios are of.
type figure struct {
	name string
	of   func(figures) float64
}

var (
	figureP50 = figure{"p50", func(f figures) float64 { return float64(f.P50) }}
	figureP99 = figure{"p99", func(f figures) float64 { return float64(f.P99) }}
	figureCPS = figure{"calls per second", perSecond}
	figureCPU = figure{"CPU per call", cpuPerCall}

	allFigures = []figure{figureP50, figureP99, figureCPS, figureCPU}
)

func perSecond(f figures) float64  { return f.PerSecond }
func cpuPerCall(f figures) float64 { return float64(f.CPUPerCall) }

// cell is a ratio in a table.
type cell struct{ group, column, row, figure string }

// Rows of ways that are compared with a relay of another kind too.
const (
	rowAcrossUnary = wayAcross + " / " + wayRelay
	rowLocalUnary  = wayLocal + " / " + wayRelay
)

// bars are the targets of ratios to the relay's. Those of streams are in relation to the unary relay, which is what calls
// would be made through without them.
var bars = map[cell]target{
	{groupStreams, "200 B, c=1", rowAcrossUnary, "p50"}:                 atMost(1.15),
	{groupStreams, "200 B, c=64", rowAcrossUnary, "p50"}:                atMost(1.05),
	{groupStreams, "200 B, c=512", rowAcrossUnary, "p50"}:               atMost(1.05),
	{groupStreams, "200 KiB, c=64", rowAcrossUnary, "p50"}:              atMost(0.95),
	{groupStreams, "200 B, c=64", rowAcrossUnary, "calls per second"}:   atLeast(1.0),
	{groupStreams, "200 B, c=512", rowAcrossUnary, "calls per second"}:  atLeast(1.0),
	{groupStreams, "200 KiB, c=64", rowAcrossUnary, "calls per second"}: atLeast(1.1),
	{groupStreams, "200 B, c=1", rowAcrossUnary, "CPU per call"}:        atMost(1.15),
	{groupStreams, "200 B, c=64", rowAcrossUnary, "CPU per call"}:       atMost(1.0),
	{groupStreams, "200 B, c=512", rowAcrossUnary, "CPU per call"}:      atMost(1.0),
	{groupStreams, "200 KiB, c=64", rowAcrossUnary, "CPU per call"}:     atMost(0.85),
	{groupStreams, "200 B, c=1", rowLocalUnary, "p50"}:                  atMost(0.35),
	{groupStreams, "200 B, c=64", rowLocalUnary, "p50"}:                 atMost(0.55),
	{groupStreams, "200 B, c=512", rowLocalUnary, "p50"}:                atMost(0.55),
	{groupStreams, "200 KiB, c=64", rowLocalUnary, "p50"}:               atMost(0.40),
	{groupStreams, "200 B, c=1", rowLocalUnary, "CPU per call"}:         atMost(0.35),
	{groupStreams, "200 B, c=64", rowLocalUnary, "CPU per call"}:        atMost(0.55),
	{groupStreams, "200 B, c=512", rowLocalUnary, "CPU per call"}:       atMost(0.55),
	{groupStreams, "200 KiB, c=64", rowLocalUnary, "CPU per call"}:      atMost(0.40),

	{groupUnary, "200 B, c=64", wayUnary, "p50"}:           atMost(1.0),
	{groupUnary, "200 B, c=64", wayUnary, "CPU per call"}:  atMost(1.0),
	{groupUnary, "200 B, c=512", wayUnary, "p50"}:          atMost(1.0),
	{groupUnary, "200 B, c=512", wayUnary, "CPU per call"}: atMost(1.0),

	{groupREST, "200 B, c=64", wayREST, "CPU per call"}:   atMost(1.1),
	{groupREST, "200 B, c=512", wayREST, "CPU per call"}:  atMost(1.1),
	{groupREST, "200 KiB, c=1", wayREST, "CPU per call"}:  atMost(0.8),
	{groupREST, "200 KiB, c=64", wayREST, "CPU per call"}: atMost(0.75),

	{groupMCP, "200 B, c=1", wayMCP, "p50"}:             atMost(1.15),
	{groupMCP, "200 B, c=64", wayMCP, "p50"}:            atMost(1.15),
	{groupMCP, "200 KiB, c=64", wayMCP, "CPU per call"}: atMost(1.1),

	{groupUnnamed, "200 B, c=64", wayUnnamed, "CPU per call"}:         atMost(1.15),
	{groupUnnamed, "200 B, c=64", wayUnnamed, "calls per second"}:     atLeast(0.95),
	{groupUnnamed, "200 B, c=64", wayRESTUnnamed, "CPU per call"}:     atMost(1.15),
	{groupUnnamed, "200 B, c=64", wayRESTUnnamed, "calls per second"}: atLeast(0.95),
}

// growths are the targets of a column's figure beside that of the group's first column, the way itself alone.
var growths = map[cell]target{
	{groupNodes, "10000 nodes, c=64", wayUnary, "CPU per call"}:   atMost(1.10),
	{groupNodes, "10000 nodes, c=64", wayAcross, "CPU per call"}:  atMost(1.10),
	{groupPods, "entry pods: 3, c=64", wayUnary, "CPU per call"}:  atMost(1.13),
	{groupPods, "entry pods: 3, c=64", wayAcross, "CPU per call"}: atMost(1.13),
}
