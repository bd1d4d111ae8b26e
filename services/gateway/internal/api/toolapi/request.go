package toolapi

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
)

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// checkIDs takes names and values in turn; an empty value is one that was not given.
func checkIDs(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if err := ids.Check(pairs[i], pairs[i+1]); err != nil {
			return invalid("%v", err)
		}
	}
	return nil
}

// object checks that raw is a JSON object, or empty.
func object(field string, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	if err := jsonrpc.ValidRequest(raw); err != nil {
		return invalid("%s: %v", field, err)
	}
	if !jsonrpc.IsObject(raw) {
		return invalid("%s must be a JSON object without white space before it", field)
	}
	return nil
}

// deadline is when a call that may take d, or deflt where unset, has to be over.
func deadline(d *durationpb.Duration, deflt time.Duration) (time.Time, error) {
	if d == nil {
		return time.Now().Add(deflt), nil
	}
	if err := d.CheckValid(); err != nil || d.AsDuration() <= 0 {
		return time.Time{}, invalid("timeout must be a positive duration")
	}
	return time.Now().Add(d.AsDuration()), nil
}

// request checks what a caller wants.
func request(ctx context.Context, c *toolv1.Call) (router.Request, error) {
	if c.GetUserId() == "" {
		return router.Request{}, invalid("user_id is required")
	}
	if c.GetToolName() == "" {
		return router.Request{}, invalid("tool_name is required")
	}
	if err := checkIDs("user_id", c.GetUserId(), "session_id", c.GetSessionId(),
		"preferred_node_id", c.GetPreferredNodeId()); err != nil {
		return router.Request{}, err
	}
	if c.GetEpoch() < 0 || c.GetEpoch() > 0 && c.GetNodeId() == "" {
		return router.Request{}, invalid("epoch must be that of a connection of the node that node_id names, or 0")
	}
	if err := object("arguments_json", c.GetArgumentsJson()); err != nil {
		return router.Request{}, err
	}
	end, err := deadline(c.GetTimeout(), router.DefaultTimeout)
	if err != nil {
		return router.Request{}, err
	}
	return router.Request{
		Target: router.Target{
			User: ids.UserID(c.GetUserId()), Node: ids.NodeID(c.GetNodeId()), Type: c.GetNodeType(),
			Session: ids.SessionID(c.GetSessionId()), Preferred: ids.NodeID(c.GetPreferredNodeId()),
		},
		Epoch: ids.Epoch(c.GetEpoch()),
		Tool:  c.GetToolName(), Arguments: c.GetArgumentsJson(), Deadline: end, Traceparent: cmp.Or(c.GetTraceparent(), obs.Traceparent(ctx)),
	}, nil
}
