package grpcapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// maxEpoch is the greatest epoch that Redis's scripts can tell from its neighbours: they count in doubles.
const maxEpoch = 1 << 53

// latest is the last moment that fits into 64 bits of nanoseconds since 1970.
var latest = time.Unix(0, math.MaxInt64)

// Register implements NodeRegistryService.
func (s *Server) Register(ctx context.Context, req *nodev1.RegisterRequest) (*nodev1.RegisterResponse, error) {
	results := make([]*nodev1.RegisterResult, len(req.GetRegistrations()))
	regs := make([]store.Registration, 0, len(results))
	at := make([]int, 0, len(results)) // where each of regs stands in the request
	for i, r := range req.GetRegistrations() {
		reg, err := registration(r)
		if err != nil {
			results[i] = &nodev1.RegisterResult{Outcome: nodev1.RegisterResult_OUTCOME_INVALID, Error: oneLine(err)}
			continue
		}
		regs, at = append(regs, reg), append(at, i)
	}
	var stored failures
	for j, r := range s.Keeper.Register(ctx, regs) {
		stored.count(r.Err)
		result := &nodev1.RegisterResult{Outcome: r.Outcome, Epoch: int64(r.Epoch)}
		if r.Err != nil {
			// Others of the batch may have been stored; what became of this one is not known, and it may be registered
			// again.
			result.Error = public(r.Err).Message()
		}
		results[at[j]] = result
	}
	if err := stored.all(); err != nil {
		return nil, err
	}
	s.logPartial(ctx, "register", stored)
	return &nodev1.RegisterResponse{Results: results}, nil
}

func registration(r *nodev1.Registration) (store.Registration, error) {
	info, infoErr := store.NewInfo(r.GetInfo())
	err := errors.Join(ids.Check("user_id", r.GetUserId()), ids.Check("gateway_id", r.GetGatewayId()), infoErr)
	if epoch := r.GetEpoch(); epoch < 0 || epoch > maxEpoch {
		err = errors.Join(err, fmt.Errorf("epoch %d is out of range", epoch))
	}
	if _, known := nodev1.NodeStatus_name[int32(r.GetStatus())]; !known {
		err = errors.Join(err, fmt.Errorf("status %d is unknown", r.GetStatus()))
	}
	if tools := r.GetTools(); len(tools) > 0 {
		if _, unpackErr := tooldef.Unpack(tools, r.GetInfo().GetToolsDigest()); unpackErr != nil {
			err = errors.Join(err, fmt.Errorf("tools: %w", unpackErr))
		}
	}
	var connected time.Time
	if t := r.GetConnectedAt(); t != nil {
		if connected = t.AsTime(); !t.IsValid() || connected.Before(time.Unix(0, 0)) || connected.After(latest) {
			err = errors.Join(err, fmt.Errorf("connected_at %v is out of range", t))
		}
	}
	return store.Registration{
		User:        ids.UserID(r.GetUserId()),
		Gateway:     ids.GatewayID(r.GetGatewayId()),
		Epoch:       ids.Epoch(r.GetEpoch()),
		Status:      r.GetStatus(),
		Tasks:       r.GetCurrentTasks(),
		ConnectedAt: connected,
		Info:        info,
		Tools:       r.GetTools(),
	}, err
}

// Heartbeat implements NodeRegistryService.
func (s *Server) Heartbeat(ctx context.Context, req *nodev1.HeartbeatRequest) (*nodev1.HeartbeatResponse, error) {
	if err := ids.Check("gateway_id", req.GetGatewayId()); err != nil {
		return nil, err
	}
	results := make([]nodev1.BeatResult, len(req.GetBeats()))
	beats := make([]store.Beat, 0, len(results))
	at := make([]int, 0, len(results))
	for i, b := range req.GetBeats() {
		node, ok := connection(b.GetUserId(), b.GetNodeId(), b.GetEpoch())
		if !ok {
			// An id that is not valid has nothing stored; registering it reports what is wrong.
			results[i] = nodev1.BeatResult_BEAT_RESULT_UNKNOWN
			continue
		}
		status := b.GetStatus()
		if _, known := nodev1.NodeStatus_name[int32(status)]; !known {
			status = nodev1.NodeStatus_NODE_STATUS_UNSPECIFIED
		}
		beats = append(beats, store.Beat{Node: node, Epoch: ids.Epoch(b.GetEpoch()), Status: status, Tasks: b.GetCurrentTasks()})
		at = append(at, i)
	}
	var renewed failures
	for j, b := range s.Keeper.Heartbeat(ctx, beats) {
		renewed.count(b.Err)
		results[at[j]] = b.Result // unspecified where it failed
	}
	if err := renewed.all(); err != nil {
		return nil, err
	}
	s.logPartial(ctx, "heartbeat", renewed)
	return &nodev1.HeartbeatResponse{Results: results}, nil
}

// Deregister implements NodeRegistryService. Where one removal fails, the whole request fails, since "removed" cannot
// express that; repeating the request is harmless.
func (s *Server) Deregister(ctx context.Context, req *nodev1.DeregisterRequest) (*nodev1.DeregisterResponse, error) {
	if id := req.GetGatewayId(); id != "" { // gateways of earlier versions do not say it
		if err := ids.Check("gateway_id", id); err != nil {
			return nil, err
		}
	}
	removed := make([]bool, len(req.GetNodes()))
	refs := make([]store.Ref, 0, len(removed))
	at := make([]int, 0, len(removed))
	for i, n := range req.GetNodes() {
		if node, ok := connection(n.GetUserId(), n.GetNodeId(), n.GetEpoch()); ok {
			refs, at = append(refs, store.Ref{Node: node, Epoch: ids.Epoch(n.GetEpoch())}), append(at, i)
		}
	}
	var failed error
	for j, d := range s.Keeper.Deregister(ctx, ids.GatewayID(req.GetGatewayId()), refs) {
		if d.Err != nil {
			failed = d.Err
		}
		removed[at[j]] = d.Event != nil
	}
	if failed != nil {
		return nil, failed
	}
	return &nodev1.DeregisterResponse{Removed: removed}, nil
}

// connection returns the node of a connection that may have been registered; ok is false where it cannot have been.
func connection(user, node string, epoch int64) (n ids.Node, ok bool) {
	ok = ids.Check("user_id", user) == nil && ids.Check("node_id", node) == nil && epoch > 0 && epoch <= maxEpoch
	return ids.Node{User: ids.UserID(user), Node: ids.NodeID(node)}, ok
}

// failures counts the items of a batch that the store could not do.
type failures struct {
	items, failed int
	last          error
}

func (f *failures) count(err error) {
	f.items++
	if err != nil {
		f.failed++
		f.last = err
	}
}

// all returns the error where no item got through: then the request failed, rather than its items.
func (f *failures) all() error {
	if f.failed > 0 && f.failed == f.items {
		return f.last
	}
	return nil
}

func (s *Server) logPartial(ctx context.Context, what string, f failures) {
	if f.failed > 0 {
		s.Logger.WarnContext(ctx, "part of a batch failed", "rpc", what, "failed", f.failed, "of", f.items, "error", errs.Cause(f.last))
	}
}
