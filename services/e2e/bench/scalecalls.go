package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

// outcomes are what became of calls at a steady rate.
type outcomes struct {
	// Calls is how many were made; those that did not succeed are counted by what became of them.
	Calls  int
	Failed map[string]int `json:",omitempty"`
	// Latency is that of all.
	Latency quantiles
}

// steadily makes calls for a time, whatever becomes of them.
func (s *scaling) steadily(ctx context.Context, calls *scaleCalls, lasts time.Duration) (o outcomes, err error) {
	o.Failed = make(map[string]int)
	var mu sync.Mutex
	job := load.Steady{Rate: s.Rate, Size: smallResult, For: lasts, Call: func(ctx context.Context, i int) (int, error) {
		if n, err := calls.call(ctx, i); err != nil || n != smallResult {
			mu.Lock()
			defer mu.Unlock()
			o.Failed[reason(n, err)]++
		}
		return smallResult, nil
	}}
	done, err := load.RunSteady(ctx, job)
	o.Calls, o.Latency = len(done.Samples), quantilesOf(done.Samples)
	return o, err
}

// reason is what became of a call that was not answered.
func reason(size int, err error) string {
	var e *errs.Error
	switch {
	case err == nil:
		return fmt.Sprintf("a result of %d bytes", size)
	case errors.As(err, &e):
		return string(e.Reason)
	}
	return err.Error()
}

// failures are rows of a table.
func (o outcomes) failures() (rows [][]string) {
	for _, reason := range slices.Sorted(maps.Keys(o.Failed)) {
		rows = append(rows, []string{"  " + reason, fmt.Sprint(o.Failed[reason])})
	}
	return rows
}

// scaleCalls makes calls of random nodes, each through the gateway that does not hold the node, as services do.
type scaleCalls struct {
	nodes   int
	clients []*toolclient.Client

	mu  sync.Mutex
	rng *rand.Rand // the same nodes in every run
}

func (s *scaling) newCalls() (*scaleCalls, error) {
	c := &scaleCalls{nodes: s.Nodes, rng: rand.New(rand.NewPCG(1, 2))}
	for _, g := range s.alive() {
		client, err := toolclient.Dial(toolclient.Options{
			Targets: []string{g.GRPC},
			Dial:    []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())},
			// A second try would hide that the first one failed.
			Patience: toolclient.Patience{NotConnected: -1, Busy: -1},
		})
		if err != nil {
			c.close()
			return nil, err
		}
		c.clients = append(c.clients, client)
	}
	return c, nil
}

func (c *scaleCalls) close() {
	for _, client := range c.clients {
		client.Close()
	}
}

func (c *scaleCalls) call(ctx context.Context, _ int) (int, error) {
	c.mu.Lock()
	i := c.rng.IntN(c.nodes)
	c.mu.Unlock()
	user, node := nodes.Name(i, idlePerUser)
	holder := i / (c.nodes / len(c.clients)) // where it was at first
	answer, err := c.clients[(holder+1)%len(c.clients)].Call(ctx, &toolv1.Call{
		UserId: user, NodeId: node, ToolName: tool, ArgumentsJson: []byte(arguments),
	})
	if err != nil {
		return 0, errors.Join(errors.New("call of "+user+", "+node), err)
	}
	return len(answer.GetResultJson()), nil
}
