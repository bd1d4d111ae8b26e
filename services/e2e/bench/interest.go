package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// interest is what the subscriptions of nodes cost a cluster of two NATS servers, per subscription. The gateways are
// connected to one of them, here; the other one, there, has to know.
type interest struct {
	Subscriptions int
	// SubjectBytes is the mean length of the subjects.
	SubjectBytes float64
	// Came and Went are bytes on the route from here to there when a subscription came and when it went. What TCP and IP add
	// does not count.
	Came, Went float64
	// HereCPU and ThereCPU are what both took.
	HereCPU, ThereCPU time.Duration
	// Here and There are what memory grew by, in bytes, after a garbage collection.
	Here, There memory
}

// measureInterest subscribes to the subjects of so many nodes, as gateways do.
func (c *cluster) measureInterest(ctx context.Context, count int) (r interest, err error) {
	here, err := c.start(roleNATS, wiring{Cluster: routesTaken})
	if err != nil {
		return r, err
	}
	defer here.Kill()
	wire, err := countBytes(here.Routes)
	if err != nil {
		return r, err
	}
	defer wire.close()
	there, err := c.start(roleNATS, wiring{Cluster: wire.addr()})
	if err != nil {
		return r, err
	}
	defer there.Kill()
	conn, err := nats.Connect(here.URL, nats.NoEcho())
	if err != nil {
		return r, err
	}
	defer conn.Close()
	floor, err := routed(ctx, there)
	if err != nil {
		return r, err
	}
	before, err := lookAtInterest(here, there, wire)
	if err != nil {
		return r, err
	}
	if r.Subscriptions, r.SubjectBytes, err = subscribeAll(conn, count); err != nil {
		return r, err
	}
	all := float64(r.Subscriptions)
	if err := settled(ctx, there, func(v natsStats) bool { return v.Subscriptions >= floor+all }); err != nil {
		return r, err
	}
	after, err := lookAtInterest(here, there, wire)
	if err != nil {
		return r, err
	}
	r.Came = float64(after.bytes-before.bytes) / all
	r.HereCPU, r.ThereCPU = (after.here.CPU-before.here.CPU)/time.Duration(r.Subscriptions), (after.there.CPU-before.there.CPU)/time.Duration(r.Subscriptions)
	r.Here, r.There = growth(before.here, after.here, r.Subscriptions), growth(before.there, after.there, r.Subscriptions)
	conn.Close()
	if err := settled(ctx, there, func(v natsStats) bool { return v.Subscriptions <= floor }); err != nil {
		return r, err
	}
	r.Went = float64(wire.there.Load()-after.bytes) / all
	return r, nil
}

// subjectsPerNode is how many subscriptions a gateway has for each node.
const subjectsPerNode = 2

// subscribeAll subscribes to what a gateway subscribes to for each node, and returns how much that is.
func subscribeAll(conn *nats.Conn, count int) (subscriptions int, mean float64, err error) {
	length := 0
	messages := make(chan *nats.Msg)
	for i := range count {
		user, node := nodes.Name(i, idlePerUser)
		prefix := bus.NodePrefix(ids.Node{User: ids.UserID(user), Node: ids.NodeID(node)})
		var e [subjectsPerNode]error
		_, e[0] = conn.ChanQueueSubscribe(prefix+bus.SuffixCall, bus.HolderQueue, messages)
		_, e[1] = conn.ChanSubscribe(prefix+bus.SuffixControl, messages)
		if err := errors.Join(e[:]...); err != nil {
			return 0, 0, err
		}
		subscriptions += len(e)
		for _, suffix := range []string{bus.SuffixCall, bus.SuffixControl} {
			length += len(prefix + suffix)
		}
	}
	return subscriptions, float64(length) / float64(subscriptions), conn.Flush()
}

// routed waits until a server has its routes and has received the subscriptions of the other one, and returns their number.
func routed(ctx context.Context, server pod) (float64, error) {
	var last natsStats
	since := time.Now()
	err := settled(ctx, server, func(v natsStats) bool {
		if v.Routes != last.Routes || v.Subscriptions != last.Subscriptions {
			last, since = v, time.Now()
		}
		return v.Routes > 0 && time.Since(since) > 500*time.Millisecond
	})
	return last.Subscriptions, err
}

// settleWithin is how long the end of many nodes may take.
const settleWithin = 3 * time.Minute

// settled waits until a server's monitoring says what ok wants to hear.
func settled(ctx context.Context, server pod, ok func(natsStats) bool) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	for {
		varz, err := readNATS(ctx, server)
		if err == nil && ok(varz) {
			return nil
		}
		if wait := sleep(ctx, 20*time.Millisecond); wait != nil {
			return fmt.Errorf("the NATS server has %.0f subscriptions: %w", varz.Subscriptions, errors.Join(err, wait))
		}
	}
}

type interestLook struct {
	here, there proc.Usage
	bytes       int64
}

func lookAtInterest(here, there pod, wire *wireTap) (l interestLook, err error) {
	l.bytes = wire.there.Load()
	// The CPU of the garbage collection that comes with the look is not theirs.
	h, err := here.Usage()
	if err != nil {
		return l, err
	}
	t, err := there.Usage()
	if err != nil {
		return l, err
	}
	if l.here, err = collected(here); err != nil {
		return l, err
	}
	if l.there, err = collected(there); err != nil {
		return l, err
	}
	l.here.CPU, l.there.CPU = h.CPU, t.CPU
	return l, nil
}
