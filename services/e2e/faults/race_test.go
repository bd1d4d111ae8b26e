package faults_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// Without the registry's epochs two pods have only their clocks to tell who came later.
func TestOfTwoConnectionsAtTheSameMomentExactlyOneSurvivesWithoutRedis(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	named(t, c.Gateways[0], "warm", "n", "n")
	c.Redis.Stop()
	for round := range 20 {
		user := fmt.Sprint("u", round)
		var sockets [2]*cluster.Client
		var dialling sync.WaitGroup
		for i, g := range c.Gateways {
			dialling.Go(func() {
				s, err := g.TryDial(t, "/ws/extension", url.Values{"client_id": {"user_" + user}, "node_id": {"n"}}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				s.Serve(func(cluster.ToolCall) string { return cluster.Text(fmt.Sprint("I am ", i)) })
				sockets[i] = s
			})
		}
		dialling.Wait()
		if t.Failed() {
			t.FailNow()
		}
		soon(t, func() bool { return !sockets[0].Open() || !sockets[1].Open() }, "one is closed")
		left := 0
		if sockets[0].Open() {
			left = 1
		}
		if code := sockets[left].Ended(); code != 4409 {
			t.Errorf("round %d: closed with %d", round, code)
		}
		if !reaches(t, c, call(user, "n"), fmt.Sprint(1-left)) {
			t.Errorf("round %d: the survivor cannot be called", round)
		}
		if !sockets[1-left].Open() {
			t.Fatalf("round %d: neither survived", round)
		}
	}
}
