package agentapi

import (
	"errors"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/rest"
)

// problem describes an error of ours or of an orchestrator.
func problem(err error) edge.Problem { return edge.NewProblem(reasoned(err), rest.Available) }

// reasoned gives an orchestrator's status its reason, and the statuses that gRPC makes by itself a reason of ours.
func reasoned(err error) error {
	err = errs.FromGRPC(err)
	if hasReason(err) {
		return err
	}
	switch {
	case unreachable(err):
		return errs.New(errs.AgentUnavailable, "no agent server can be reached right now: try again: %w", err)
	case status.Code(err) == codes.ResourceExhausted:
		return &edge.TooLarge{}
	}
	return err
}

func hasReason(err error) bool {
	var reasoned *errs.Error
	return errors.As(err, &reasoned)
}

// unreachable reports whether an orchestrator was not there, or says of itself that it cannot serve: another may.
func unreachable(err error) bool {
	err = errs.FromGRPC(err)
	if hasReason(err) {
		return errors.Is(err, errs.AgentUnavailable) || errors.Is(err, errs.Draining) || errors.Is(err, errs.BusUnavailable)
	}
	code := status.Code(err)
	return errors.Is(err, io.EOF) || code == codes.Unavailable || code == codes.Canceled
}

// refused reports whether an orchestrator has answered an RPC with a reason for which asking again is no use. Anything
// else that ends an RPC that was accepted means that its orchestrator was lost.
func refused(err error) bool {
	return hasReason(errs.FromGRPC(err)) && !unreachable(err)
}
