package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

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
