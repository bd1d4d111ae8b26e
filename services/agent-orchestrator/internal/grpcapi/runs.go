package grpcapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/live"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Invoke implements AgentService.
func (s *Server) Invoke(req *agentv1.InvokeRequest, stream grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
	ctx := stream.Context()
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return err
	}
	if err := first(s.open(), CheckInvoke(req)); err != nil {
		return err
	}
	if req.GetSessionId() == "" {
		req.SessionId = newSession()
	}
	ref, err := refOf(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	follower := s.Live.Join(ref) // before the first event, so that none has to be read from the store
	defer follower.Leave()
	started, err := s.Engine.Invoke(ctx, user, req)
	if err != nil {
		return err
	}
	if err := stream.SendHeader(nil); err != nil {
		return s.left(ctx, req.GetOnDisconnect(), started, err)
	}
	send := func(e *agentv1.Event) error {
		return stream.Send(&agentv1.InvokeResponse{Event: s.withData(ctx, started.Ref, e)})
	}
	if started.Before { // maybe long ago, in another session
		err = s.Live.FollowRun(ctx, started.Ref, started.After, send)
	} else {
		err = follower.FollowRun(ctx, started.After, send)
	}
	return s.left(ctx, req.GetOnDisconnect(), started, err)
}

// Resume implements AgentService.
func (s *Server) Resume(req *agentv1.ResumeRequest, stream grpc.ServerStreamingServer[agentv1.ResumeResponse]) error {
	ctx := stream.Context()
	ref, err := refOf(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	if err := first(s.open(), checkResume(req)); err != nil {
		return err
	}
	follower := s.Live.Join(ref)
	defer follower.Leave()
	started, err := s.Engine.Resume(ctx, ref.User, req)
	if err != nil {
		return err
	}
	if err := stream.SendHeader(nil); err != nil {
		return s.left(ctx, req.GetOnDisconnect(), started, err)
	}
	err = follower.FollowRun(ctx, started.After, func(e *agentv1.Event) error {
		return stream.Send(&agentv1.ResumeResponse{Event: s.withData(ctx, ref, e)})
	})
	return s.left(ctx, req.GetOnDisconnect(), started, err)
}

// cancelTimeout bounds the cancelling of a run whose client has left.
const cancelTimeout = 10 * time.Second

// left cancels a run whose client has disconnected, if the request said so. A stream that ends because the pod drains does
// not count.
func (s *Server) left(
	ctx context.Context, then agentv1.InvokeRequest_OnDisconnect, started agent.Started, err error,
) error {
	if err == nil || ctx.Err() == nil || then != agentv1.InvokeRequest_ON_DISCONNECT_CANCEL || s.draining.Load() {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	// If the run has ended meanwhile, nothing is cancelled, and neither is a run that was begun after it.
	current, failed := s.Sessions.Session(ctx, started.Ref)
	if failed == nil && current.Run == started.Run {
		_, failed = s.cancel(ctx, started.Ref)
	}
	if failed != nil {
		s.log.WarnContext(ctx, "the run of a client that disconnected could not be cancelled; it goes on", "run", started.Run, "error", failed)
	}
	return err
}

// Follow implements AgentService.
func (s *Server) Follow(req *agentv1.FollowRequest, stream grpc.ServerStreamingServer[agentv1.FollowResponse]) error {
	ctx := stream.Context()
	ref, err := refOf(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	if err := checkFollow(req); err != nil {
		return err
	}
	// The client learns at once that the session exists, even if nothing happens in it for a long time.
	if _, err := s.Sessions.Session(ctx, ref); err != nil {
		return err
	}
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	return s.Live.Follow(ctx, ref, req.GetAfterSeq(), req.GetUntil(), func(e *agentv1.Event) error {
		return stream.Send(&agentv1.FollowResponse{Event: s.withData(ctx, ref, e)})
	})
}

// CancelRun implements AgentService.
func (s *Server) CancelRun(ctx context.Context, req *agentv1.CancelRunRequest) (*agentv1.CancelRunResponse, error) {
	ref, err := refOf(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	cancelled, err := s.cancel(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &agentv1.CancelRunResponse{Success: true, Cancelled: cancelled}, nil
}

// cancel ends a run wherever it is.
func (s *Server) cancel(ctx context.Context, ref store.Ref) (bool, error) {
	active, err := s.Engine.Cancel(ctx, ref)
	if active {
		s.Live.PokeCancel(ref)
	}
	return active, err
}

// endTimeout is how long the deletion of a session waits for its run to end by itself.
const endTimeout = 5 * time.Second

// DeleteSession implements AgentService. A run that does not end in time is cut off: it can store nothing any more.
func (s *Server) DeleteSession(
	ctx context.Context, req *agentv1.DeleteSessionRequest,
) (*agentv1.DeleteSessionResponse, error) {
	ref, err := refOf(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	before, err := s.Sessions.Session(ctx, ref)
	if err != nil {
		return nil, err
	}
	cancelled, err := s.cancel(ctx, ref)
	if err != nil {
		return nil, err
	}
	if cancelled {
		s.awaitEnd(ctx, ref, before.LastSeq)
	}
	if err := s.Sessions.Delete(ctx, ref); err != nil {
		return nil, err
	}
	s.Live.Look(ref)
	return &agentv1.DeleteSessionResponse{Success: true}, nil
}

// awaitEnd returns when the run has ended and its followers on this pod were told. The session is deleted right after, so that
// a follower that the bus has not reached yet could not read the end from the store.
func (s *Server) awaitEnd(ctx context.Context, ref store.Ref, after int64) {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	var last []*agentv1.Event
	_ = s.Live.Follow(ctx, ref, after, live.RunEnds, func(e *agentv1.Event) error {
		last = append(last, e)
		return nil
	})
	s.Live.Publish(ref, last)
}

// newSession returns session_{hex12} (docs/protocols/zeus-agents.md#invoke).
func newSession() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return "session_" + hex.EncodeToString(b[:])
}
