package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// listWorkers is how many lists are asked for at once.
const listWorkers = 4

// measureLists asks for the tools of a device at a pod that does not hold it.
func (c *cluster) measureLists(ctx context.Context, o options, f *front, r *mcpReport) (err error) {
	const user = "mcp-list"
	v, err := nodes.Visit(ctx, c.holder.HTTP, user, "node")
	if err != nil {
		return err
	}
	defer v.Leave()
	tools := make([]string, listedTools)
	for i := range tools {
		tools[i] = fmt.Sprintf("browser_tool_%02d", i)
	}
	if err := v.Offer(tools...); err != nil {
		return err
	}
	m := &mcpCaller{poster: poster{addr: f.HTTP}}
	defer func() { err = errors.Join(err, m.close()) }()
	request := mcpRequest(f.HTTP, user, "tools/list", "", "")
	size, err := m.listed(ctx, request)
	if err != nil {
		return err
	}
	job := load.Job{Workers: listWorkers, Size: size, For: o.MCP.Lists, Calls: 1 << 20, Call: func(ctx context.Context, worker int) (int, error) {
		answer, err := m.ask(ctx, worker, request)
		return len(answer), err
	}}
	busy := map[string]*proc.Child{roleGateway: f.Child, roleRegistry: c.registries[0].Child, roleNATS: c.nats.Child}
	before, err := cpuOf(busy)
	if err != nil {
		return err
	}
	result, err := load.Run(ctx, job)
	if err != nil {
		return err
	}
	if r.ListCPU, err = cpuOf(busy); err != nil {
		return err
	}
	for name := range r.ListCPU {
		r.ListCPU[name] = (r.ListCPU[name] - before[name]) / time.Duration(len(result.Samples))
	}
	r.List = quantilesOf(result.Samples)
	if o.Profiles == "" {
		return nil
	}
	stop, err := o.profile(busy, "mcp lists")
	if err != nil {
		return err
	}
	job.For = o.ProfileFor
	_, err = load.Run(ctx, job)
	return errors.Join(err, stop())
}

// listed waits until the list has all tools, and returns the size of the answer.
func (c *mcpCaller) listed(ctx context.Context, request string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	for {
		raw, err := c.ask(ctx, 0, request)
		if err != nil {
			return 0, err
		}
		var answer struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return 0, err
		}
		if len(answer.Result.Tools) == listedTools+1 { // and the list of devices
			return len(raw), nil
		}
		select {
		case <-time.After(listEvery):
		case <-ctx.Done():
			return 0, fmt.Errorf("%d tools are listed, not %d", len(answer.Result.Tools), listedTools+1)
		}
	}
}
