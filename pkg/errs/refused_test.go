package errs_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// refusals are every reason of a request that was refused.
func refusals() (refused []errs.Reason) {
	for _, reason := range errs.Reasons() {
		if !reason.OfCall() {
			refused = append(refused, reason)
		}
	}
	return refused
}

// Every reason is of a call or of a refusal, and the refusals are the same on the other side of the wire.
func TestRefusalsSurviveTheHop(t *testing.T) {
	t.Parallel()
	if got, want := len(errs.CallReasons()), len(reasons); got != want {
		t.Errorf("%d reasons of calls, want %d", got, want)
	}
	if len(refusals())+len(reasons) != len(errs.Reasons()) {
		t.Errorf("%d refusals and %d reasons of calls are not all %d", len(refusals()), len(reasons), len(errs.Reasons()))
	}
	for _, reason := range refusals() {
		sent := errs.New(reason, "because of %s", reason)
		sent.Limit = &errs.LimitMet{Name: "runs", Limit: 64, RetryAfter: time.Second}
		got := errs.FromGRPC(status.Convert(sent).Err())
		var e *errs.Error
		if !errors.As(got, &e) || e.Reason != reason || e.Message != sent.Message || !errors.Is(got, reason) || *e.Limit != *sent.Limit {
			t.Errorf("%s came back as %v", reason, got)
		}
		if reason.Class() != errs.Refused || reason.HTTPStatus() < 400 || reason.GRPCCode() == codes.OK || reason.Title() == "" {
			t.Errorf("%s: class %s, status %d, code %s, title %q", reason, reason.Class(), reason.HTTPStatus(), reason.GRPCCode(), reason.Title())
		}
		if errs.Retryable(got) {
			t.Errorf("%s says that a node did not see a call", reason)
		}
	}
}

// A status says of a call what became of it, and of a refusal nothing of the sort; on a stream of calls a refusal is a call
// that was not delivered.
func TestRefusalsHaveNoOutcome(t *testing.T) {
	t.Parallel()
	for _, reason := range refusals() {
		refused := errs.New(reason, "because")
		details := refused.GRPCStatus().Details()
		if len(details) != 1 {
			t.Fatalf("%s has the details %v", reason, details)
		}
		if info, ok := details[0].(*errdetails.ErrorInfo); !ok || len(info.GetMetadata()) != 0 {
			t.Errorf("%s has the detail %v", reason, details[0])
		}
		if f := refused.Failure(); f.GetOutcome() != string(errs.NotDelivered) || f.GetReason() != string(reason) {
			t.Errorf("%s became %v", reason, f)
		}
	}
}

func TestRefusalsKeepTheirCause(t *testing.T) {
	t.Parallel()
	err := errs.New(errs.Internal, "not kept: %w", io.ErrUnexpectedEOF)
	if !errors.Is(err, io.ErrUnexpectedEOF) || err.Message != "not kept" || status.Convert(err).Message() != "not kept" {
		t.Errorf("got %v, to callers %q", err, err.Message)
	}
}
