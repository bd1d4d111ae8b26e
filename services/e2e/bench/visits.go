package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

// quantiles of samples that were measured.
type quantiles struct {
	Samples            int
	P50, P90, P99, Max time.Duration
}

// quantilesOf needs sorted samples; without any it is zero.
func quantilesOf(sorted []time.Duration) quantiles {
	if len(sorted) == 0 {
		return quantiles{}
	}
	return quantiles{
		len(sorted), load.Quantile(sorted, 0.5), load.Quantile(sorted, 0.9), load.Quantile(sorted, 0.99), sorted[len(sorted)-1],
	}
}

// lag is how long after a node did something others knew it.
type lag struct {
	// What the node did.
	What string
	// Watch is the time until a watcher received the event, List until the other gateway's list of nodes showed it,
	// measured every listEvery.
	Watch, List quantiles
	// Missed is how often not both were so in time.
	Missed int
}

const (
	listEvery = 10 * time.Millisecond
	// shown bounds the wait for either; a visit in which it is over ends early.
	shown = 20 * time.Second
	// breath is the longest pause before a visitor's next step. It is as long as the interval in which a gateway handles
	// all heartbeats, so that a step comes at any moment of it.
	breath = time.Second
)

// steps of a visit, in this order.
var steps = []string{"connects", "changes its status", "disconnects"}

// visits has visitors come and go for s.Visits.
func (s *scaling) visits(ctx context.Context) ([]lag, error) {
	w, err := watchAll(ctx, s.registries[0].GRPC)
	if err != nil {
		return nil, err
	}
	defer w.close()
	v := &visitors{scaling: s, watcher: w, end: time.Now().Add(s.Visits)}
	for _, g := range s.gateways {
		conn, err := dial(g.GRPC)
		if err != nil {
			return nil, err
		}
		defer func() { _ = conn.Close() }()
		v.lists = append(v.lists, toolv1.NewToolServiceClient(conn))
	}
	var work sync.WaitGroup
	for i := range s.Visitors {
		work.Go(func() {
			for visit := 0; time.Now().Before(v.end) && ctx.Err() == nil; visit++ {
				v.visit(ctx, fmt.Sprintf("visitor-%d-%d", i, visit), (i+visit)%len(s.gateways))
			}
		})
	}
	work.Wait()
	return v.lags(), errors.Join(v.problem, ctx.Err())
}

type visitors struct {
	*scaling
	*watcher
	lists []toolv1.ToolServiceClient // of each gateway
	end   time.Time

	mu            sync.Mutex
	heard, listed [3][]time.Duration // by step
	missed        [3]int
	problem       error // the first reason for a miss
}

// visit is one node's stay at a gateway.
func (v *visitors) visit(ctx context.Context, user string, at int) {
	const name = "node"
	heard := v.expect(user)
	defer v.forget(user)
	other := v.lists[(at+1)%len(v.lists)]
	var guest *nodes.Visitor
	doing := []func() (err error){
		func() (err error) {
			guest, err = nodes.Visit(ctx, v.gateways[at].HTTP, user, name)
			return err
		},
		func() error { return guest.Say("busy") },
		func() error {
			guest.Leave()
			guest = nil
			return nil
		},
	}
	defer func() {
		if guest != nil {
			guest.Leave()
		}
	}()
	for step, do := range doing {
		if err := sleep(ctx, rand.N(breath)); err != nil {
			return
		}
		if err := v.step(ctx, step, user, do, heard, other); err != nil {
			v.miss(step, fmt.Errorf("%s that %s: %w", user, steps[step], err))
			return
		}
	}
}

// miss notes a step of which others did not learn in time.
func (v *visitors) miss(step int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.missed[step]++
	if v.problem == nil {
		v.problem = err
	}
}

// step does something and waits until it is known.
func (v *visitors) step(ctx context.Context, step int, user string, do func() error, heard <-chan event, list toolv1.ToolServiceClient) error {
	ctx, cancel := context.WithTimeout(ctx, shown)
	defer cancel()
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- do() }()
	listed := make(chan error, 1)
	var inList time.Duration
	go func() {
		err := untilListed(ctx, list, user, want(step))
		inList = time.Since(began)
		listed <- err
	}()
	var atWatcher time.Duration
	var err error
	for atWatcher == 0 && err == nil {
		select {
		case e := <-heard:
			if e.status == want(step) {
				atWatcher = e.at.Sub(began)
			}
		case <-ctx.Done():
			err = errors.New("the watcher did not hear of it")
		}
	}
	err = errors.Join(err, <-done, <-listed)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.heard[step], v.listed[step] = append(v.heard[step], atWatcher), append(v.listed[step], inList)
	return nil
}

// want is the status that a step leads to; that of a node that is gone is unspecified.
func want(step int) nodev1.NodeStatus {
	return [...]nodev1.NodeStatus{
		nodev1.NodeStatus_NODE_STATUS_ONLINE, nodev1.NodeStatus_NODE_STATUS_BUSY, nodev1.NodeStatus_NODE_STATUS_UNSPECIFIED,
	}[step]
}

// untilListed looks at a user's nodes until the only one has a status, or there is none.
func untilListed(ctx context.Context, list toolv1.ToolServiceClient, user string, status nodev1.NodeStatus) error {
	for {
		r, err := list.ListNodes(ctx, &toolv1.ListNodesRequest{UserId: user})
		if err != nil {
			return err
		}
		is := nodev1.NodeStatus_NODE_STATUS_UNSPECIFIED
		for _, n := range r.GetNodes() {
			is = n.GetStatus()
		}
		if is == status {
			return nil
		}
		if err := sleep(ctx, listEvery); err != nil {
			return err
		}
	}
}

func (v *visitors) lags() []lag {
	all := make([]lag, len(steps))
	for i, step := range steps {
		slices.Sort(v.heard[i])
		slices.Sort(v.listed[i])
		all[i] = lag{step, quantilesOf(v.heard[i]), quantilesOf(v.listed[i]), v.missed[i]}
	}
	return all
}
