package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// watcher hands everybody's node events to those who wait for a user's.
type watcher struct {
	conn *grpc.ClientConn
	end  context.CancelFunc
	work sync.WaitGroup

	watched sync.Mutex
	users   map[string]chan event
}

// event is what a watcher heard of a node.
type event struct {
	at     time.Time
	status nodev1.NodeStatus // unspecified when it is gone
}

func watchAll(ctx context.Context, registry string) (*watcher, error) {
	conn, err := grpc.NewClient(registry, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	w := &watcher{conn: conn, users: make(map[string]chan event)}
	ctx, w.end = context.WithCancel(ctx)
	stream, err := nodev1.NewNodeRegistryServiceClient(conn).WatchNodes(ctx, &nodev1.WatchNodesRequest{})
	if err == nil {
		_, err = stream.Recv() // it is live from here
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("watch: %w", err)
	}
	w.work.Go(func() { w.listen(stream) })
	return w, nil
}

func (w *watcher) close() {
	w.end()
	_ = w.conn.Close() // nothing is on its way
	w.work.Wait()
}

func (w *watcher) listen(stream grpc.ServerStreamingClient[nodev1.WatchNodesResponse]) {
	for {
		r, err := stream.Recv()
		if err != nil {
			return // those who wait find out by themselves
		}
		e := event{time.Now(), r.GetEvent().GetNode().GetStatus()}
		if r.GetEvent().GetKind() == nodev1.NodeEvent_KIND_OFFLINE {
			e.status = nodev1.NodeStatus_NODE_STATUS_UNSPECIFIED
		}
		w.watched.Lock()
		to := w.users[r.GetEvent().GetUserId()]
		w.watched.Unlock()
		select {
		case to <- e:
		default: // nobody waits, or has enough
		}
	}
}

func (w *watcher) expect(user string) <-chan event {
	c := make(chan event, 16)
	w.watched.Lock()
	defer w.watched.Unlock()
	w.users[user] = c
	return c
}

func (w *watcher) forget(user string) {
	w.watched.Lock()
	defer w.watched.Unlock()
	delete(w.users, user)
}
