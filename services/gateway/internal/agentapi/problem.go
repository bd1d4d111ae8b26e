package agentapi

import (
	"errors"
	"io"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/rest"
)

// user wraps a handler of one user's request; an error of it is answered as a problem.
func (a *API) user(h func(http.ResponseWriter, *http.Request, ids.UserID) error) http.Handler {
	return a.identified(func(w http.ResponseWriter, r *http.Request, id auth.Identity) error { return h(w, r, id.User) })
}

// identified is user for handlers that go on for so long that the proof may end before.
func (a *API) identified(h func(http.ResponseWriter, *http.Request, auth.Identity) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := a.cfg.Auth.Authenticate(r)
		if err == nil {
			err = h(w, r, id)
		}
		if err != nil {
			problem(err).Write(w)
		}
	})
}

// problem describes an error of ours or of an orchestrator.
func problem(err error) edge.Problem { return edge.NewProblem(reasoned(err), rest.Available) }

// reasoned gives an orchestrator's status its reason, and the statuses that gRPC makes by itself one of ours.
func reasoned(err error) error {
	err = refusal.FromGRPC(errs.FromGRPC(err))
	if hasReason(err) {
		return err
	}
	switch {
	case unreachable(err):
		return refusal.New(refusal.Unavailable, "no agent server can be reached right now: %w", hidden{err})
	case status.Code(err) == codes.ResourceExhausted:
		return &http.MaxBytesError{}
	}
	return err
}

// hidden is a cause that is not for clients: it holds addresses.
type hidden struct{ err error }

func (hidden) Error() string   { return "try again" }
func (h hidden) Unwrap() error { return h.err }

func hasReason(err error) bool {
	var no *refusal.Error
	var call *errs.Error
	return errors.As(err, &no) || errors.As(err, &call)
}

// unreachable reports whether an orchestrator was not there, or says of itself that it cannot serve: another may.
func unreachable(err error) bool {
	err = refusal.FromGRPC(errs.FromGRPC(err))
	if hasReason(err) {
		return errors.Is(err, refusal.Unavailable) || errors.Is(err, errs.Draining) || errors.Is(err, errs.BusUnavailable)
	}
	code := status.Code(err)
	return errors.Is(err, io.EOF) || code == codes.Unavailable || code == codes.Canceled
}

// refused reports whether an orchestrator has answered an RPC with a reason for which asking again is no use. Anything
// else that ends an RPC that was accepted means that its orchestrator was lost.
func refused(err error) bool {
	return hasReason(refusal.FromGRPC(errs.FromGRPC(err))) && !unreachable(err)
}
