package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

const (
	// changingDevices change in turn, changesPerMinute in all. Each has a user of its own, who listens at two pods.
	changingDevices  = 20
	changesPerMinute = 1000
	// heardWithin bounds the wait for a change.
	heardWithin = 10 * time.Second
)

// changing is a device whose tools change, and its user's streams.
type changing struct {
	*nodes.Visitor
	streams []*listener
	changes int
}

// measureChanges has devices change at one pod, and clients listen at two others.
func (c *cluster) measureChanges(ctx context.Context, o mcpOptions, f *front, r *mcpReport) error {
	other, err := c.gateway("listened", "")
	if err != nil {
		return err
	}
	defer other.Kill()
	devices := make([]*changing, changingDevices)
	defer func() {
		for _, d := range devices {
			d.leave()
		}
	}()
	for i := range devices {
		user := fmt.Sprintf("mcp-changes-%02d", i)
		v, err := nodes.Visit(ctx, c.holder.HTTP, user, "node")
		if err != nil {
			return err
		}
		devices[i] = &changing{Visitor: v}
		for _, p := range []pod{f.pod, other} {
			l, err := follow(ctx, p.HTTP, user)
			if err != nil {
				return err
			}
			devices[i].streams = append(devices[i].streams, l)
		}
	}
	for _, d := range devices { // the first change may meet what is left of their coming, and does not count
		if _, err := d.change(); err != nil {
			return err
		}
	}
	var took []time.Duration
	tick := time.NewTicker(time.Minute / changesPerMinute)
	defer tick.Stop()
	end := time.Now().Add(o.Changes)
	for i := 0; time.Now().Before(end); i++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		heard, err := devices[i%len(devices)].change()
		if err != nil {
			return err
		}
		took = append(took, heard...)
	}
	slices.Sort(took)
	r.Changes = quantilesOf(took)
	return nil
}

// change gives the device another tool, and returns when each stream has heard of it.
func (d *changing) change() (took []time.Duration, err error) {
	for _, l := range d.streams {
		l.forget()
	}
	d.changes++
	start := time.Now()
	if err := d.Offer(fmt.Sprintf("tool-%d", d.changes)); err != nil {
		return nil, err
	}
	timeout := time.NewTimer(heardWithin)
	defer timeout.Stop()
	for _, l := range d.streams {
		select {
		case at, ok := <-l.changes:
			if !ok {
				return nil, errors.New("a stream has ended")
			}
			took = append(took, at.Sub(start))
		case <-timeout.C:
			return nil, fmt.Errorf("a change was not heard of within %v", heardWithin)
		}
	}
	return took, nil
}

// leave ends the streams and the device; d may be nil.
func (d *changing) leave() {
	if d == nil {
		return
	}
	for _, l := range d.streams {
		l.close()
	}
	d.Leave()
}
