package errs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// reasons are those of docs/architecture.md#what-every-call-promises, and what each means elsewhere.
var reasons = []struct {
	reason errs.Reason
	name   string
	class  errs.Class
	http   int
	grpc   codes.Code
}{
	{errs.NodeNotConnected, "NODE_NOT_CONNECTED", errs.NotDelivered, http.StatusConflict, codes.FailedPrecondition},
	{errs.NodeBusy, "NODE_BUSY", errs.NotDelivered, http.StatusTooManyRequests, codes.ResourceExhausted},
	{errs.RequiresSelection, "REQUIRES_SELECTION", errs.NotDelivered, http.StatusConflict, codes.FailedPrecondition},
	{errs.ToolNotOffered, "TOOL_NOT_OFFERED", errs.NotDelivered, http.StatusConflict, codes.FailedPrecondition},
	{errs.TooLarge, "TOO_LARGE", errs.NotDelivered, http.StatusConflict, codes.InvalidArgument},
	{errs.BusUnavailable, "BUS_UNAVAILABLE", errs.NotDelivered, http.StatusServiceUnavailable, codes.Unavailable},
	{errs.Draining, "DRAINING", errs.NotDelivered, http.StatusServiceUnavailable, codes.Unavailable},
	{errs.RateLimited, "RATE_LIMITED", errs.NotDelivered, http.StatusTooManyRequests, codes.ResourceExhausted},
	{errs.ToolTimeout, "TOOL_TIMEOUT", errs.Unknown, http.StatusGatewayTimeout, codes.DeadlineExceeded},
	{errs.NodeDisconnected, "NODE_DISCONNECTED", errs.Unknown, http.StatusGatewayTimeout, codes.Aborted},
	{errs.HolderLost, "HOLDER_LOST", errs.Unknown, http.StatusGatewayTimeout, codes.Aborted},
	{errs.Cancelled, "CANCELLED", errs.Unknown, http.StatusGatewayTimeout, codes.Canceled},
}

func TestReasons(t *testing.T) {
	t.Parallel()
	titles := map[string]errs.Reason{}
	for _, want := range reasons {
		r := want.reason
		if string(r) != want.name || r.Error() != want.name || !r.Known() || r.Class() != want.class ||
			r.HTTPStatus() != want.http || r.GRPCCode() != want.grpc {
			t.Errorf("%s: class %s, status %d, code %s", r, r.Class(), r.HTTPStatus(), r.GRPCCode())
		}
		if other, taken := titles[r.Title()]; taken || r.Title() == "" {
			t.Errorf("%s has the title %q, as %q has", r, r.Title(), other)
		}
		titles[r.Title()] = r
		// gRPC retries Unavailable by itself where it is told to: a reason with this code must not be one that ran.
		if r.GRPCCode() == codes.Unavailable && r.Class() != errs.NotDelivered {
			t.Errorf("%s could be retried although the node may have run it", r)
		}
	}
}

func TestUnknownReasonsAreReadWithCaution(t *testing.T) {
	t.Parallel()
	for _, r := range []errs.Reason{"", "SOMETHING_NEW", "node_busy"} {
		if r.Known() || r.Class() != errs.Unknown || r.HTTPStatus() != http.StatusGatewayTimeout || r.GRPCCode() != codes.Unknown || r.Title() == "" {
			t.Errorf("%q: known %t, class %s, status %d, code %s, title %q", string(r), r.Known(), r.Class(), r.HTTPStatus(), r.GRPCCode(), r.Title())
		}
		if errs.Retryable(errs.New(r, "x")) {
			t.Errorf("%q could be retried", string(r))
		}
	}
}

func TestIsAndAs(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("calling: %w", errs.New(errs.BusUnavailable, "NATS at %s: %w", "n1", io.ErrUnexpectedEOF))
	if !errors.Is(err, errs.BusUnavailable) || errors.Is(err, errs.NodeBusy) {
		t.Error("errors.Is does not go by the reason")
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	var e *errs.Error
	if !errors.As(err, &e) || e.Reason != errs.BusUnavailable || e.Class() != errs.NotDelivered {
		t.Errorf("errors.As gives %+v", e)
	}
	if want := "BUS_UNAVAILABLE: NATS at n1: unexpected EOF"; e.Error() != want {
		t.Errorf("got %q, want %q", e.Error(), want)
	}
	if got := (&errs.Error{Reason: errs.Draining}).Error(); got != "DRAINING" {
		t.Errorf("without a message: %q", got)
	}
	if errs.New(errs.Draining, "no cause").Unwrap() != nil {
		t.Error("a cause from nowhere")
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, want := range reasons {
		if got := errs.Retryable(fmt.Errorf("x: %w", errs.New(want.reason, "m"))); got != (want.class == errs.NotDelivered) {
			t.Errorf("%s: %t", want.name, got)
		}
	}
	for _, err := range []error{nil, io.EOF, context.DeadlineExceeded, errs.NodeBusy} {
		if errs.Retryable(err) {
			t.Errorf("%v says nothing about delivery", err)
		}
	}
}

func TestFailureRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range reasons {
		e := errs.New(want.reason, "why")
		e.Nodes = []*nodev1.Node{{Epoch: 7}}
		e.Limit = &errs.LimitMet{Name: "calls", Limit: 400, Remaining: 1, RetryAfter: time.Second}
		f := e.Failure()
		if f.GetReason() != want.name || f.GetOutcome() != string(want.class) {
			t.Errorf("%s became %v", want.name, f)
		}
		back := errs.FromFailure(f)
		if back.Reason != want.reason || back.Message != "why" || len(back.Nodes) != 1 || back.Nodes[0].GetEpoch() != 7 ||
			*back.Limit != *e.Limit {
			t.Errorf("%s came back as %+v", want.name, back)
		}
	}
	// A newer peer's reason stays what it is, and its outcome unknown.
	if back := errs.FromFailure(&toolv1.Failure{Reason: "SOMETHING_NEW", Outcome: "not_delivered"}); back.Class() != errs.Unknown {
		t.Errorf("got %s", back.Class())
	}
}

func TestCauseIsForLogs(t *testing.T) {
	t.Parallel()
	for want, err := range map[error]error{
		io.EOF:              fmt.Errorf("calling: %w", errs.New(errs.BusUnavailable, "away: %w", io.EOF)),
		io.ErrShortWrite:    io.ErrShortWrite,
		context.Canceled:    errs.New(errs.Internal, "not kept: %w", context.Canceled),
		io.ErrUnexpectedEOF: &errs.Error{Reason: errs.AgentUnavailable, Message: "away", Err: io.ErrUnexpectedEOF},
	} {
		if got := errs.Cause(err); got != want { //nolint:errorlint // the very same error is what is promised
			t.Errorf("the cause of %v is %v", err, got)
		}
	}
}
