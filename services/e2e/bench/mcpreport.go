package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// mcpOptions say how much of the front door to measure besides calls; without Streams nothing is.
type mcpOptions struct {
	// Lists is how long tools/list is asked.
	Lists time.Duration
	// Streams is how many clients listen at one pod, quiet for Settle before its memory is looked at.
	Streams int
	Settle  time.Duration
	// Changes is how long devices change.
	Changes time.Duration
}

// listedTools is how many tools the device has whose tools are listed.
const listedTools = 50

// Bounds of what the front door costs.
const (
	maxListCPU     = 150 * time.Microsecond
	maxStreamBytes = 20 << 10
	maxChangeP99   = 50 * time.Millisecond
)

// mcpReport is what was measured of the front door besides calls.
type mcpReport struct {
	// List is what tools/list took; ListCPU is the CPU of each, by process.
	List    quantiles
	ListCPU map[string]time.Duration
	// Streams is how many clients listened. Quiet is what the pod's memory grew by for each, Collected the same after a garbage
	// collection whose free pages went back to the system.
	Streams          int
	Quiet, Collected memory
	// Changes is the time from a device's word to each of its user's streams at other pods.
	Changes quantiles
}

func (m *mcpReport) write(w io.Writer) {
	if m.List.P50 > 0 {
		m.writeCalls(w)
	}
	t := load.Table{{fmt.Sprintf("%d streams of changes at one pod, per stream", m.Streams), "RSS ", "Go heap", "stacks"}}
	for _, row := range []struct {
		name string
		memory
	}{{"when quiet", m.Quiet}, {"after a garbage collection", m.Collected}} {
		rss := fmt.Sprintf("%s (≤ %s)%s", kib(row.RSS), kib(maxStreamBytes), mark(row.RSS <= maxStreamBytes))
		t = append(t, []string{row.name, rss, kib(row.Heap), kib(row.Stacks)})
	}
	_ = t.Write(w, "")
	_, _ = fmt.Fprintln(w)
}

func (m *mcpReport) writeCalls(w io.Writer) {
	var cpu time.Duration
	for _, used := range m.ListCPU {
		cpu += used
	}
	t := load.Table{
		{fmt.Sprintf("tools/list of %d tools: CPU", listedTools), fmt.Sprintf("%s (≤ %v)%s", micros(cpu), maxListCPU, mark(cpu <= maxListCPU))},
		{"  of it the gateway", micros(m.ListCPU[roleGateway])},
		{"  of it the registry", micros(m.ListCPU[roleRegistry])},
		{"tools/list: p50", micros(m.List.P50)},
		{"a change on a stream at another pod: p50", micros(m.Changes.P50)},
		{"a change on a stream at another pod: p99", fmt.Sprintf("%s (≤ %v)%s", micros(m.Changes.P99), maxChangeP99, mark(m.Changes.P99 <= maxChangeP99))},
	}
	_ = t.Write(w, "")
	_, _ = fmt.Fprintln(w)
}

// measureMCP measures what clients of MCP do besides calls.
func (c *cluster) measureMCP(ctx context.Context, o options) (r mcpReport, err error) {
	f, err := c.startFront()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.end()) }()
	if o.MCP.Lists > 0 {
		if err := c.measureLists(ctx, o, f, &r); err != nil {
			return r, fmt.Errorf("tools/list: %w", err)
		}
		if err := c.measureChanges(ctx, o.MCP, f, &r); err != nil {
			return r, fmt.Errorf("changes: %w", err)
		}
	}
	if err := c.measureListeners(ctx, o, &r); err != nil {
		return r, fmt.Errorf("streams: %w", err)
	}
	return r, nil
}
