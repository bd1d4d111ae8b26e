package grpcapi

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/watch"
)

// eventStream is one client's stream.
type eventStream interface {
	Send(*nodev1.WatchNodesResponse) error
	Context() context.Context
}

// WatchNodes implements NodeRegistryService.
func (s *Server) WatchNodes(req *nodev1.WatchNodesRequest, stream nodev1.NodeRegistryService_WatchNodesServer) error {
	if user := req.GetUserId(); user != "" {
		if err := ids.Check("user_id", user); err != nil {
			return err
		}
	}
	w, err := s.Watcher.Watch(stream.Context(), ids.UserID(req.GetUserId()))
	if err != nil {
		return err
	}
	defer w.Close()
	ready := &nodev1.NodeEvent{Kind: nodev1.NodeEvent_KIND_READY, UserId: req.GetUserId(), At: timestamppb.Now()}
	if err := stream.Send(&nodev1.WatchNodesResponse{Event: ready}); err != nil {
		return err
	}
	// Send blocks while the client does not read, and only the end of this call releases it: so it has a goroutine of
	// its own, which Wait waits for, and a watcher that fell behind is ended from here.
	ended := make(chan error, 1)
	s.senders.Go(func() { ended <- send(w, stream) })
	select {
	case err := <-ended:
		return err
	case <-w.Failed():
		return w.Err()
	}
}

// send writes events to a stream until the watch or the stream ends.
func send(w *watch.Watch, stream eventStream) error {
	for {
		event, err := w.Next(stream.Context())
		if err != nil {
			return err
		}
		if err := stream.Send(&nodev1.WatchNodesResponse{Event: event}); err != nil {
			return err
		}
	}
}
