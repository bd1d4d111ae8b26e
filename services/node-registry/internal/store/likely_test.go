package store_test

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// trips counts the round trips of a client.
type trips struct{ n atomic.Int64 }

func (t *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmd)
	}
}

func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmds)
	}
}

// A pod that remembers which nodes a user had reads them and what is bound in one round trip, and never says what it remembers:
// other pods add nodes, change them and take them away between its questions.
func testNodesThatWereThere(f *fixture) {
	other := f.with(func(*store.Rules) {}) // another pod
	var counted trips
	f.client.AddHook(&counted)
	own, err := store.New(f.client, store.DefaultRules)
	if err != nil {
		f.Fatal(err)
	}
	ask := func(want ...string) (connected int64, took int64) {
		f.Helper()
		before := counted.n.Load()
		_, nodes, err := own.SessionAndNodes(f.ctx, "ana", "s", true)
		if err != nil {
			f.Fatal(err)
		}
		took = counted.n.Load() - before
		var got []string
		for _, n := range nodes {
			got = append(got, n.GetInfo().GetNodeId())
			connected = n.GetEpoch()
		}
		if !slices.Equal(got, want) {
			f.Errorf("nodes %q, want %q", got, want)
		}
		return connected, took
	}
	ask()
	a := f.register(other, "ana", "a")
	ask("a")
	if epoch, took := ask("a"); epoch != int64(a) || took != 1 {
		f.Errorf("epoch %d of %d, after %d round trips, want one", epoch, a, took)
	}
	again := f.register(other, "ana", "a")
	if epoch, _ := ask("a"); epoch != int64(again) {
		f.Errorf("epoch %d, want that of the new connection, %d", epoch, again)
	}
	b := f.register(other, "ana", "b")
	ask("a", "b")
	f.deregister(other, "ana", "a", again)
	if epoch, _ := ask("b"); epoch != int64(b) {
		f.Errorf("epoch %d, want %d", epoch, b)
	}
	if err := f.client.ScriptFlush(f.ctx).Err(); err != nil {
		f.Fatal(err)
	}
	ask("b") // Redis has forgotten the script, as after a failover
	f.deregister(other, "ana", "b", b)
	ask()
}
