package main

import (
	"context"
	"fmt"
	"sync"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// agentMemory is what runs cost a pod in memory, per run.
type agentMemory struct {
	Way string
	// Waiting are runs that wait for a person. Streaming are runs whose text is on its way, each with its stream.
	Waiting, Streaming memory
}

// measureMemory lets runs wait, and then stream.
func (a *agents) measureMemory(ctx context.Context, o options, r *agentReport) error {
	r.Waiting, r.Streaming = a.Waiting, a.Streams
	for i, p := range a.ours {
		m := agentMemory{Way: p.name}
		if err := a.interruptAll(ctx, p, min(a.Waiting, warmNodes)); err != nil {
			return err
		}
		before, err := collected(p.pod)
		if err != nil {
			return err
		}
		if err := a.interruptAll(ctx, p, a.Waiting); err != nil {
			return err
		}
		after, err := collected(p.pod)
		if err != nil {
			return err
		}
		m.Waiting = growth(before, after, a.Waiting)
		if m.Streaming, err = a.streamingMemory(ctx, i, o); err != nil {
			return err
		}
		r.Memory = append(r.Memory, m)
	}
	return nil
}

// interruptAll begins runs that then wait for an approval.
func (a *agents) interruptAll(ctx context.Context, p *agentPod, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ask := map[string]*agentv1.InterruptRule{noTool: {Enabled: true, RequiresInterrupt: true}}
	sessions := make(chan string)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for session := range sessions {
				h, err := invoke(ctx, p, session, noToolCall, ask, nil)
				if err == nil && h.finish != "interrupt" {
					err = fmt.Errorf("%s: a run that should wait ended with %q", p.name, h.finish)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for range n {
		sessions <- a.newSession()
	}
	close(sessions)
	workers.Wait()
	return context.Cause(ctx)
}

// streamingMemory looks at the pod while all streams are open.
func (a *agents) streamingMemory(ctx context.Context, i int, o options) (m memory, err error) {
	_, starts := a.streamers(3)
	p := a.ours[i]
	if err := a.pace(a.StreamSlow); err != nil {
		return m, err
	}
	before, err := collected(p.pod)
	if err != nil {
		return m, err
	}
	_, err = a.atOnce(ctx, starts[i+1], func() error {
		after, err := collected(p.pod)
		if err != nil {
			return err
		}
		m = growth(before, after, a.Streams)
		if o.Profiles != "" {
			return p.Do("HeapProfile", o.profilePath("agents, streaming heap, "+p.name))
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	return m, a.pace(0)
}
