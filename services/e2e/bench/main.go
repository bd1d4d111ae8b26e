package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

func main() {
	if role, config, ok := proc.Role(); ok {
		exit(play(role, config))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	exit(err)
}

func exit(err error) {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// run measures what o says, prints tables to out and what is going on to log.
func run(ctx context.Context, o options, out, log io.Writer) (err error) {
	start := time.Now()
	if o.Profiles != "" {
		if err := os.MkdirAll(o.Profiles, 0o755); err != nil {
			return err
		}
	}
	c, err := startCluster(o.shape(), log, o.Level)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	r := newReport()
	if err := r.measure(ctx, o, c, log); err != nil {
		return err
	}
	r.Duration = time.Since(start)
	if o.JSON != "" {
		if err := r.save(o.JSON); err != nil {
			return err
		}
	}
	return r.write(out)
}

func (r *report) measure(ctx context.Context, o options, c *cluster, log io.Writer) error {
	if len(o.Points) > 0 {
		if err := r.measureCalls(ctx, o, c, log); err != nil {
			return err
		}
	}
	if o.Agents.Rounds > 0 {
		if err := r.measureAgents(ctx, o, c, log); err != nil {
			return err
		}
	}
	if o.Flood.Rounds > 0 {
		fmt.Fprintf(log, "beside a flood of %d calls a second\n", o.Flood.Offered)
		result, err := c.measureFlood(ctx, o.Flood)
		if err != nil {
			return err
		}
		r.Flood = &result
	}
	if o.MCP.Streams > 0 {
		fmt.Fprintf(log, "lists, changes and %d streams of MCP clients\n", o.MCP.Streams)
		result, err := c.measureMCP(ctx, o)
		if err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
		r.MCP = &result
	}
	if o.IdleNodes > 0 {
		fmt.Fprintf(log, "%d idle nodes\n", o.IdleNodes)
		result, err := c.measureIdle(ctx, o)
		if err != nil {
			return err
		}
		r.Idle = &result
	}
	if o.Scale.Nodes == 0 {
		return nil
	}
	fmt.Fprintf(log, "%d nodes at %d gateways\n", o.Scale.Nodes, o.Scale.Gateways)
	result, err := c.measureScale(ctx, o)
	r.Scale = &result
	return err
}

func (r *report) measureCalls(ctx context.Context, o options, c *cluster, log io.Writer) error {
	b, err := prepare(o, c)
	if err != nil {
		return err
	}
	defer b.end() // it would only be in the way of the others
	for _, g := range groups {
		var points []point
		for _, p := range o.Points {
			if p.Group == g.name {
				points = append(points, p)
			}
		}
		together := 1
		if g.together {
			together = max(1, len(points))
		}
		for some := range slices.Chunk(points, together) {
			for _, p := range some {
				fmt.Fprintln(log, p.name())
			}
			columns, err := b.measure(ctx, g, some)
			if err != nil {
				return err
			}
			r.Columns = append(r.Columns, columns...)
		}
	}
	return nil
}
