package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// measureListeners opens streams at a pod of their own, each of another user, which is the most expensive case.
func (c *cluster) measureListeners(ctx context.Context, o options, r *mcpReport) error {
	streams := o.MCP.Streams
	if err := checkLimits(streams); err != nil {
		return err
	}
	p, err := c.gateway("listened to", "")
	if err != nil {
		return err
	}
	defer p.Kill()
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close() // the pod is gone, too
		}
	}()
	// Code and pools that the first streams bring in do not grow with the number of streams.
	first := min(warmNodes, streams)
	if open, err = listenAll(ctx, p.HTTP, 0, first); err != nil {
		return err
	}
	base, err := collected(p)
	if err != nil {
		return err
	}
	more, err := listenAll(ctx, p.HTTP, first, streams)
	open = append(open, more...)
	if err != nil {
		return err
	}
	select {
	case <-time.After(o.MCP.Settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	quiet, err := p.Usage()
	if err != nil {
		return err
	}
	if o.Profiles != "" {
		if err := p.Do("HeapProfile", o.profilePath("mcp streams heap")); err != nil {
			return err
		}
	}
	end, err := collected(p)
	if err != nil {
		return err
	}
	r.Streams, r.Quiet, r.Collected = streams, growth(base, quiet, streams), growth(base, end, streams)
	return nil
}

// listenAll opens count streams; those that were opened are returned with an error, too.
func listenAll(ctx context.Context, addr string, from, count int) ([]net.Conn, error) {
	conns := make([]net.Conn, count)
	var work errgroup.Group
	work.SetLimit(maxWorkers / 8)
	for i := range conns {
		work.Go(func() (err error) {
			conns[i], err = listenTo(ctx, addr, fmt.Sprintf("mcp-listen-%05d", from+i))
			return err
		})
	}
	err := work.Wait()
	return slices.DeleteFunc(conns, func(c net.Conn) bool { return c == nil }), err
}
